//! What a product will do: the way that would be taken, rows by class, a few rows computed.
use super::analysis::{Limits, PerRow, analyze, uncounted_places};
use super::dot;
use super::masked::MaskedRows;
use super::ordered::is_exact;
use super::short::{self, Kind};
use super::whole::Whole;
use super::{
    BLOCK, BLOCK_SIZES, CLASS_COPY, CLASS_COUNT, Job, LARGEST, PRODUCTS, SLICES, SORTED, STAGED, TABLE, TABLES, THREAD,
    UNITS,
};
use crate::backend::cuda::Buffer;
use crate::backend::cuda::entries::{listed_pattern, listed_rows};
use crate::backend::cuda::mxv::full::Side;
use crate::backend::cuda::product::{Operand, Product};
use crate::backend::cuda::storage::places;
use crate::backend::{MaskOn, MxmOptions};
use crate::error::Result;
use crate::spgemm::{Analysis, Bin, Sample, Strategy};
use std::sync::Arc;

/// Rows of a sample at most, and products of them.
const ROWS: u64 = 256;
const WORK: u64 = 1 << 26;

/// What `mxm` will do with these operands; `dots`: by dot products, B given by columns or not; `whole`: operands with an entry at every
/// place are read whole.
pub(in crate::backend::cuda) fn explain(
    product: &Product,
    options: &MxmOptions,
    dots: Option<bool>,
    whole: bool,
) -> Result<Analysis> {
    let (strategy, mask, size) = (options.strategy, product.mask, product.semiring.written().size);
    let in_order = options.reproducible && dots.is_none() && !is_exact(&product.semiring);
    let job = Job { in_order: in_order && !strategy.sums_in_order(), ..Job::new(product)? };
    let control = job.control(job.limits(strategy))?;
    let dense = job.rows.saturating_mul(u64::from(job.columns));
    let admitted = mask.filter(|m| !m.complement).map_or(u64::MAX, |m| m.pattern.nnz);
    let mut analysis = Analysis {
        products: control[PRODUCTS],
        largest_row: control[LARGEST],
        bound: control[PRODUCTS].min(dense).min(admitted),
        sample: job.sample(&control, product)?,
        ..Analysis::default()
    };
    match dots {
        Some(transposed_b) => dot::explain(product, strategy, transposed_b, &mut analysis),
        None if whole && job.explain_full(strategy, &mut analysis) => {}
        None => job.choose(strategy, &control, &mut analysis)?,
    }
    if product.semiring.counted.is_some() {
        analysis.reason += "; all products are 1, they are counted";
    }
    if in_order {
        analysis.reason += "; what does not sum in the order of k is summed again so";
    }
    Ok(analysis.sized(job.rows, size))
}

impl Job<'_> {
    /// The control block after the analysis.
    pub(super) fn control(&self, limits: Limits) -> Result<Vec<u64>> {
        let nrows = self.a.pattern.nrows;
        let counts = Buffer::alloc_for::<u64>(self.context, nrows + 1)?;
        let kinds = Buffer::alloc_for::<u32>(self.context, nrows)?;
        let room = Buffer::alloc_for::<u64>(self.context, nrows + 1)?;
        if self.rows == 0 {
            return Ok(vec![0; super::CONTROL]);
        }
        Ok(analyze(self, limits, &PerRow::Product { counts: &counts, kinds: &kinds, room: &room })?.1)
    }

    /// Some rows, spread over all, computed; fewer where rows are long.
    fn sample(&self, control: &[u64], product: &Product) -> Result<Option<Sample>> {
        let mean = control[PRODUCTS] / self.rows.max(1) + 1;
        let wanted = ROWS.min(WORK / mean + 1).min(self.rows);
        if control[PRODUCTS] == 0 || wanted == 0 || control[LARGEST] > WORK {
            return Ok(None);
        }
        let list: Vec<u32> = (0..wanted).map(|r| ((2 * r + 1) * self.rows / (2 * wanted)) as u32).collect();
        let list = places::list(self.context, &list)?;
        let (pattern, values) = listed_rows(self.semiring.a, self.a, &list)?;
        let mask = match self.mask {
            None => None,
            Some(m) => Some(MaskOn { pattern: Arc::new(listed_pattern(&m.pattern, &list)?), complement: m.complement }),
        };
        let a = Operand { pattern: &pattern, values: &values };
        // Which places rows have matters to their values alone.
        let sampled = Product { a, mask: mask.as_ref(), ..product.clone() };
        let job = Job::new(&sampled)?;
        let products = job.control(job.limits(Strategy::Hash))?[PRODUCTS];
        let made = super::mxm(&sampled, Strategy::Hash)?;
        Ok((products > 0).then(|| Sample::of(wanted, products, made.0.nnz)))
    }

    /// Says that operands are read whole; false where none has an entry at every place.
    fn explain_full(&self, strategy: Strategy, to: &mut Analysis) -> bool {
        let (left, right) = ((self.a.pattern, self.semiring.a.size), (self.b.pattern, self.semiring.b.size));
        let Some(side) = Side::of(left, right, self.mask.is_some(), strategy) else { return false };
        let rows = self.rows;
        to.strategy = "full";
        let about = if side == Side::Left {
            let (n, size) = (self.a.pattern.nnz + to.entries(), (right.1 + self.semiring.c.size) as u64);
            to.reason = "A has an entry at every place".into();
            // Both turned, and B's columns, should they not be there.
            to.workspace = n.saturating_mul(size) + self.b.pattern.nnz * (4 + right.1 as u64);
            "columns of A read whole, for each column of B"
        } else {
            to.reason = "B has an entry at every place".into();
            // The rows with entries, in tiles.
            to.workspace = 4 * rows + (rows + self.a.pattern.nnz) / 64;
            "rows of B read whole: a group of lanes a row, a block a part of a long one"
        };
        to.bins = vec![Bin::new("full", about, rows)];
        true
    }

    /// The way that `mxm` takes where operands have gaps, in its order.
    pub(super) fn choose(&self, strategy: Strategy, control: &[u64], to: &mut Analysis) -> Result<()> {
        let rows = self.rows;
        if let Some(masked) = MaskedRows::of(self).filter(|m| m.suits(strategy)) {
            masked.explain(strategy, to);
            return Ok(());
        }
        if self.explain_by_name(strategy, to)? {
            return Ok(());
        }
        if strategy == Strategy::Auto
            && let Some(bands) = self.bands()?
        {
            let (left, right) = (bands.a.shifts.len() as u64, bands.b.shifts.len() as u64);
            let count = bands.pairs.count;
            to.strategy = "band";
            to.reason = format!("A has {left} diagonals and B {right}, mostly full: C has {count}");
            to.bins = vec![Bin::new("band", "products by groups of diagonals", rows)];
            let laid_out = left * rows * self.semiring.a.size as u64
                + right * self.b.pattern.nrows as u64 * self.semiring.b.size as u64;
            // Which rows have gaps, and their diagonals of C.
            to.workspace = laid_out + rows * (12 + bands.pairs.groups());
            return Ok(());
        }
        if self.explain_by_sets(strategy, to)? {
            return Ok(());
        }
        self.choose_rows(strategy, control, to);
        if self.looks_for_sets(strategy) {
            let otherwise = std::mem::take(&mut to.reason);
            to.reason = format!(
                "B's rows are looked at first: where their columns are neighbours these are united, 32 of them together; else {otherwise}"
            );
        }
        Ok(())
    }

    /// The way that it takes row by row: by one kernel for all rows, or after the analysis.
    fn choose_rows(&self, strategy: Strategy, control: &[u64], to: &mut Analysis) {
        let (rows, entry) = (self.rows, 4 + self.semiring.written().size as u64);
        if let Some(whole) = self.whole(strategy) {
            let longest = (self.a.pattern.longest.unwrap_or(0), self.b.pattern.longest.unwrap_or(0));
            to.strategy = "whole rows";
            to.reason = format!(
                "rows of A have at most {} entries, of B {}: all are made in one pass, without analysis",
                longest.0, longest.1
            );
            to.bins = vec![self.whole_rows(whole)];
            to.otherwise = self.otherwise_by(whole, strategy, control);
            to.workspace = to.entries().saturating_mul(entry) / 16 + rows / 4 + 8 * super::CONTROL as u64;
            return;
        }
        to.strategy = match strategy {
            Strategy::Esc => "sorting",
            Strategy::Hash => "tables",
            Strategy::Window => "windows, else tables",
            Strategy::BitmapRank => "bits and ranks",
            _ => "by row",
        };
        to.reason = match strategy {
            Strategy::Auto => "rows differ: each goes where its products and their columns are cheapest".into(),
            asked => format!("{asked} was asked for"),
        };
        (to.bins, to.workspace) = self.by_class(control);
        if strategy == Strategy::Auto && self.may_be_hashed_far(control) {
            let about = "a hash table a row, if a sample of rows has few columns";
            to.otherwise = vec![std::mem::replace(&mut to.bins, vec![Bin::new("hash", about, rows)])];
            to.reason = "no row has many more products than the others, nearly all have their columns far apart".into();
        }
    }

    /// All rows made in one way.
    fn whole_rows(&self, whole: Whole) -> Bin {
        let (name, about) = match whole {
            Whole::Thread(width) => ("thread", format!("at most {width} products: sorted by a thread each")),
            Whole::Hash if self.may_not_suit(whole) => {
                ("hash", "a hash table a row, if a sample of rows has few columns".to_string())
            }
            Whole::Hash => ("hash", "a hash table a row, which has room for all its columns".to_string()),
            Whole::Esc(width, _) if self.may_not_suit(whole) => {
                ("sort", format!("sorted by a warp, {width} products at a time, if no row has more"))
            }
            Whole::Esc(width, rows) => {
                ("sort", format!("sorted by a warp, {rows} rows of together at most {width} products at a time"))
            }
            Whole::Block => ("block", "a small matrix: a block a row, a bit a column".to_string()),
        };
        Bin::new(name, about, self.rows)
    }

    /// The ways that are tried one after the other, should rows not suit `whole`: the last one suits all. Which of them it will be
    /// nobody knows without the look at rows that the product takes.
    fn otherwise_by(&self, mut whole: Whole, strategy: Strategy, control: &[u64]) -> Vec<Vec<Bin>> {
        let mut ways = Vec::new();
        while self.may_not_suit(whole) {
            let Some(other) = self.otherwise(whole, strategy) else {
                ways.push(self.by_class(control).0);
                break;
            };
            ways.push(vec![self.whole_rows(other)]);
            whole = other;
        }
        ways
    }

    /// Rows by class, and the bytes beside them.
    fn by_class(&self, control: &[u64]) -> (Vec<Bin>, u64) {
        let (bins, mut workspace) = (self.bins(control), self.workspace(control));
        if control[UNITS + SORTED] > 0 {
            let products = control[PRODUCTS].min(self.most_products());
            workspace = workspace.saturating_add(products.saturating_mul(self.product_bytes()));
        }
        (bins, workspace)
    }

    /// Rows by class, those without products last; beside rows that are cut the analysis does not tell them.
    fn bins(&self, control: &[u64]) -> Vec<Bin> {
        let counts = &control[UNITS..][..CLASS_COUNT];
        let mut bins: Vec<Bin> = (CLASS_COPY..CLASS_COUNT)
            .filter(|class| counts[*class] > 0)
            .map(|class| {
                let (name, about) = describe(class);
                Bin::new(name, about, counts[class])
            })
            .collect();
        let listed: u64 = counts[CLASS_COPY..].iter().sum();
        if control[SLICES] > 0 {
            let about = "too many products for one block";
            let about =
                format!("{about}: {} ranges of columns; rows without a product are among them", control[SLICES]);
            bins.push(Bin::new("slices", about, self.rows.saturating_sub(listed)));
        } else if self.rows > listed {
            bins.push(Bin::new("empty", "no product, or nothing admitted: nothing to do", self.rows - listed));
        }
        bins
    }

    /// Bytes of the analysis, of tables' lists and of room for rows made in one pass.
    fn workspace(&self, control: &[u64]) -> u64 {
        let rows = self.rows;
        let tabled = control[SLICES] > 0 || control[UNITS + TABLE..][..TABLES].iter().any(|n| *n > 0);
        let places = 2 * self.tuning.slice_units as u64 + 64;
        let lists =
            if tabled { 4 * rows + 4 * places + 24 * control[PRODUCTS].min(rows + (1 << 16)) + 8 * rows } else { 0 };
        let staged = control[STAGED].saturating_mul(4 + self.semiring.c.size as u64);
        let staged = if staged > self.context.properties().total_memory / 8 { 0 } else { staged };
        let units = 4 * uncounted_places(self).unwrap_or(rows);
        (24 * rows + units + 8 * places + lists).saturating_add(staged)
    }
}

/// What a class of rows that have a block each is called.
fn block_name(size: usize) -> String {
    format!("block {size}")
}

/// What a class of rows is called and what happens to it.
fn describe(class: usize) -> (String, String) {
    match Kind::of(class) {
        Some(Kind::Thread(width)) => {
            return (format!("thread {width}"), format!("at most {width} products: sorted by a thread each"));
        }
        Some(Kind::Esc(width)) => {
            return (format!("sort {width}"), format!("at most {width} products: sorted by a warp each"));
        }
        Some(Kind::Sort(width)) => {
            return (format!("sort {width}"), format!("at most {width} products: sorted by a block each"));
        }
        Some(Kind::Window(width)) => {
            return (format!("window {width}"), format!("columns within {width}: a warp's window of sums"));
        }
        Some(Kind::Dense(width)) => {
            return (
                format!("dense {width}"),
                format!("many products, columns within {width}: a block's sum for each"),
            );
        }
        Some(Kind::Rows(..)) | None => {}
    }
    match class {
        CLASS_COPY => ("copy".into(), "one entry in A: a row of B times that".into()),
        BLOCK..TABLE => {
            let about = ["few products", "many products", "columns far apart"].get(class - BLOCK).unwrap_or(&"");
            (block_name(class - BLOCK), format!("{about}: a block a row, bits over its columns"))
        }
        SORTED => ("sort tiles".into(), "more products: tiles sorted by a block each, those of a row merged".into()),
        _ => {
            let about = match class - TABLE {
                0 | 1 => "a table a warp",
                2 | 3 => "a table a block",
                _ => "tables one after the other, sums in device memory",
            };
            (format!("table {}", class - TABLE), format!("{about}: words of columns, sums at their ranks"))
        }
    }
}

const _: () = assert!(THREAD < short::END && BLOCK + BLOCK_SIZES == TABLE);
