//! What a product will do and what it did, as data that prints itself.
use crate::device::Device;
use std::fmt::{Display, Formatter};

/// What [`explain`](crate::operation::Operation::explain) finds out about a product without computing it.
///
/// `Display` gives it as lines for people. The bytes are those of the strategy that is taken; `.strategy(s)` before `.explain()` gives those
/// of another one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// mxm, mxv or vxm.
    pub operation: &'static str,
    /// Where it will run.
    pub device: Device,
    /// The left operand, transposes applied.
    pub a: Extent,
    /// The right operand, transposes applied; of mxv and vxm the matrix or vector that stands on the right.
    pub b: Extent,
    /// The mask, where there is one.
    pub mask: Option<MaskExtent>,
    /// Rows and columns of the result.
    pub shape: (u64, u64),
    /// What will be done, and what it costs.
    pub analysis: Analysis,
    /// The limit that was asked for.
    pub memory_limit: Option<u64>,
    /// Whether every sum is known to run in the order of k, so that floating values have the same bits on every device and in every
    /// run: always on the host, on CUDA for [`reproducible`](crate::operation::Operation::reproducible) products and strategies that
    /// [`sums_in_order`](crate::spgemm::Strategy::sums_in_order).
    pub in_order: bool,
}

/// Rows, columns and entries of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extent {
    /// Number of rows.
    pub rows: u64,
    /// Number of columns.
    pub columns: u64,
    /// Number of entries stored.
    pub entries: u64,
}

/// A mask as far as it matters for the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaskExtent {
    /// Positions in it.
    pub entries: u64,
    /// Whether it admits all others instead.
    pub complement: bool,
}

/// What a backend says about a product.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Analysis {
    /// Products a(i, k) ⊗ b(k, j), before the mask.
    pub products: u64,
    /// Products of the row that has most.
    pub largest_row: u64,
    /// No more entries than this are in the result.
    pub bound: u64,
    /// The rows that were looked at to estimate how far products are compressed; `None` where none were.
    pub sample: Option<Sample>,
    /// The way that was chosen.
    pub strategy: &'static str,
    /// Why.
    pub reason: String,
    /// Rows by how they are computed.
    pub bins: Vec<Bin>,
    /// What is tried instead, one way after the other, should rows turn out not to suit: rows by how they are computed then. Empty where
    /// all rows are sure to suit the way before. On CUDA a way without analysis looks at rows as it runs; `explain` does not.
    pub otherwise: Vec<Vec<Bin>>,
    /// Bytes beside the operands and the result, estimated.
    pub workspace: u64,
    /// Bytes of the result, estimated from the sample, else by the bound.
    pub output: u64,
}

/// Some rows, computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// How many.
    pub rows: u64,
    /// Their products.
    pub products: u64,
    /// Their entries in the result.
    pub entries: u64,
}

/// Rows that are computed in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bin {
    /// Its name.
    pub name: String,
    /// Which rows go there, and what is done with them.
    pub about: String,
    /// How many they are.
    pub rows: u64,
}

impl Extent {
    pub(crate) fn of((rows, columns): (u64, u64), entries: u64) -> Self {
        Self { rows, columns, entries }
    }
}

impl MaskExtent {
    pub(crate) fn of(entries: u64, complement: bool) -> Self {
        Self { entries, complement }
    }
}

impl Sample {
    pub(crate) fn of(rows: u64, products: u64, entries: u64) -> Self {
        Self { rows, products, entries }
    }
}

impl Bin {
    pub(crate) fn new(name: impl Into<String>, about: impl Into<String>, rows: u64) -> Self {
        Self { name: name.into(), about: about.into(), rows }
    }
}

impl Analysis {
    /// Products of an entry of the result in the mean, estimated; `None` where no row of the sample has any.
    pub fn compression(&self) -> Option<f64> {
        let sample = self.sample.filter(|s| s.entries > 0)?;
        Some(sample.products as f64 / sample.entries as f64)
    }
    /// Entries of the result, estimated: the sample's share of its products, no more than the bound.
    pub fn entries(&self) -> u64 {
        match self.sample {
            Some(s) if s.products > 0 => {
                let entries = u128::from(s.entries) * u128::from(self.products) / u128::from(s.products);
                u64::try_from(entries).unwrap_or(u64::MAX).min(self.bound)
            }
            _ => self.bound,
        }
    }
    /// With the bytes of a result of so many rows whose values have this size.
    pub(crate) fn sized(mut self, rows: u64, value: usize) -> Self {
        let entries = self.entries().saturating_mul(4 + value as u64);
        self.output = rows.saturating_add(1).saturating_mul(8).saturating_add(entries);
        self
    }
}

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (a, b, analysis) = (&self.a, &self.b, &self.analysis);
        let names = match self.operation {
            "mxv" => ("A", "x"),
            "vxm" => ("x", "A"),
            _ => ("A", "B"),
        };
        write!(
            f,
            "{} on {}: {} {}×{}, {} entries",
            self.operation, self.device, names.0, a.rows, a.columns, a.entries
        )?;
        writeln!(f, "; {} {}×{}, {} entries", names.1, b.rows, b.columns, b.entries)?;
        if let Some(mask) = &self.mask {
            writeln!(f, "mask: {}{} positions", if mask.complement { "all but " } else { "" }, mask.entries)?;
        }
        writeln!(f, "products: {}, at most {} in a row", analysis.products, analysis.largest_row)?;
        write!(f, "result: {}×{}, at most {} entries", self.shape.0, self.shape.1, analysis.bound)?;
        if let (Some(sample), Some(compression)) = (analysis.sample, analysis.compression()) {
            let entries = analysis.entries();
            write!(f, ", about {entries}: {compression:.2} products an entry in {} sampled rows", sample.rows)?;
        }
        writeln!(f, "\nstrategy: {}: {}", analysis.strategy, analysis.reason)?;
        writeln!(f, "sums: {}", if self.in_order { "in the order of k" } else { "of floats in no fixed order" })?;
        for (way, bins) in std::iter::once(&analysis.bins).chain(&analysis.otherwise).enumerate() {
            if way > 0 {
                writeln!(f, "should rows not suit that, which is seen as they are made:")?;
            }
            for bin in bins {
                writeln!(f, "  {:>12} rows  {:<12} {}", bin.rows, bin.name, bin.about)?;
            }
        }
        write!(f, "memory: about {} bytes of workspace, {} of result", analysis.workspace, analysis.output)?;
        if let Some(limit) = self.memory_limit {
            // On the host the strategy says what a limit asks for.
            let enough = analysis.workspace.saturating_add(analysis.output) <= limit;
            let chunks = !enough && matches!(self.device, Device::Cuda(_));
            write!(f, "; held to {limit} together{}", if chunks { ", which may take chunks of rows" } else { "" })?;
        }
        writeln!(f)
    }
}

/// What ran, and how long it took.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Trace {
    /// In the order in which it was started; on a GPU a kernel each.
    pub kernels: Vec<KernelTrace>,
    /// The most bytes of workspace and result at once; `None` where nobody counts.
    pub peak: Option<u64>,
}

/// One launch, or on the host the whole operation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KernelTrace {
    /// Its name.
    pub name: String,
    /// Milliseconds: of the device, on the host by the clock.
    pub milliseconds: f64,
    /// Bytes of the arrays it was given: what it reads and writes at most once over; `None` where nobody counts.
    pub bytes: Option<u64>,
    /// Blocks and threads of a block; 0 on the host.
    pub launch: (u64, u64),
}

impl KernelTrace {
    pub(crate) fn new(name: impl Into<String>, milliseconds: f64, bytes: Option<u64>, launch: (u64, u64)) -> Self {
        Self { name: name.into(), milliseconds, bytes, launch }
    }
}

impl Trace {
    pub(crate) fn of(kernels: Vec<KernelTrace>, peak: Option<u64>) -> Self {
        Self { kernels, peak }
    }
    /// Milliseconds of all together.
    pub fn milliseconds(&self) -> f64 {
        self.kernels.iter().map(|k| k.milliseconds).sum()
    }
}

impl Display for Trace {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for k in &self.kernels {
            write!(f, "{:>12.4} ms  {}", k.milliseconds, k.name)?;
            if let Some(bytes) = k.bytes {
                write!(f, ", {bytes} bytes")?;
            }
            match k.launch {
                (0, _) => writeln!(f)?,
                (blocks, threads) => writeln!(f, ", {blocks}×{threads} threads")?,
            }
        }
        write!(f, "{:>12.4} ms in all", self.milliseconds())?;
        if let Some(peak) = self.peak {
            write!(f, ", {peak} bytes at once")?;
        }
        writeln!(f)
    }
}
