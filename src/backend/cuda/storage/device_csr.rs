//! Compressed rows in device memory.
use super::asked::Asked;
use super::band::Band;
use super::column_sets::ColumnSets;
use super::row_bits::RowBits;
use super::row_tiles::RowTiles;
use super::turned::Columns;
use super::values::Values;
use crate::algebra::{Scalar, scalar::as_bytes, scalar::from_bytes};
use crate::backend::cuda::mxv::full::Remembered;
use crate::backend::cuda::runtime::program::resident;
use crate::backend::cuda::spgemm::Costs;
use crate::backend::cuda::{Buffer, Context, entries, lock};
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::footprint::Footprint;
use crate::storage::pattern::Pattern;
use std::marker::PhantomData;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};

/// Positions: u64 offsets (nrows + 1), u32 columns.
#[derive(Debug)]
pub(crate) struct DevicePattern {
    pub(crate) nrows: usize,
    pub(crate) ncols: usize,
    pub(crate) nnz: u64,
    /// Entries of the longest row, where it is known.
    pub(crate) longest: Option<u64>,
    pub(crate) offsets: Buffer,
    pub(crate) indices: Buffer,
    /// Entries that were copied so far by writing a little to a vector again and again.
    pub(crate) merged: AtomicU64,
    /// Its diagonals, once somebody has asked; `None` where they are many.
    pub(crate) band: OnceLock<Option<Box<Band>>>,
    /// Its rows with entries, in tiles, once it was multiplied with a vector.
    pub(crate) row_tiles: OnceLock<Box<RowTiles>>,
    /// A single row with an entry for every column that has any, once it is known.
    pub(crate) filled_columns: OnceLock<Arc<DevicePattern>>,
    /// Its columns as rows, once they were asked for twice.
    pub(crate) columns: Mutex<Columns>,
    /// Its neighbouring rows with the same columns, once they were asked for twice.
    pub(crate) supernodes: Mutex<Asked<Buffer>>,
    /// Its rows of many entries as bits, once they were asked for twice.
    pub(crate) row_bits: Mutex<Asked<RowBits>>,
    /// Its rows as column sets, once they were asked for twice.
    pub(crate) column_sets: Mutex<Asked<ColumnSets>>,
    /// Where its last product with a matrix without gaps had entries.
    pub(crate) full_product: Mutex<Remembered>,
    /// What the last product under it as a mask was found to cost.
    pub(crate) costs: Mutex<Option<Costs>>,
}

/// Positions and values, shared.
#[derive(Debug)]
pub(crate) struct DeviceCsr<T> {
    pub(crate) pattern: Arc<DevicePattern>,
    pub(crate) values: Values,
    scalar: PhantomData<fn() -> T>,
}
impl<T> Clone for DeviceCsr<T> {
    fn clone(&self) -> Self {
        Self { pattern: self.pattern.clone(), values: self.values.clone(), scalar: PhantomData }
    }
}

impl DevicePattern {
    pub(crate) fn new((nrows, ncols): (usize, usize), nnz: u64, offsets: Buffer, indices: Buffer) -> Self {
        let (band, row_tiles, filled_columns) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (columns, supernodes) = (Mutex::default(), Mutex::default());
        let (row_bits, column_sets) = (Mutex::default(), Mutex::default());
        let (full_product, costs) = (Mutex::default(), Mutex::default());
        Self {
            nrows,
            ncols,
            nnz,
            longest: None,
            offsets,
            indices,
            band,
            row_tiles,
            filled_columns,
            columns,
            supernodes,
            row_bits,
            column_sets,
            full_product,
            costs,
            merged: AtomicU64::new(0),
        }
    }
    pub(crate) fn with_longest(self, longest: u64) -> Self {
        Self { longest: Some(longest), ..self }
    }
    /// Where it is known only sometimes.
    pub(crate) fn with_longest_if(self, longest: Option<u64>) -> Self {
        Self { longest, ..self }
    }
    pub(crate) fn upload(context: &Arc<Context>, host: &Pattern) -> Result<Self> {
        let longest = host.offsets.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        let (offsets, indices) =
            (Buffer::from_host(context, &host.offsets)?, Buffer::from_host(context, &host.indices)?);
        Ok(Self::new((host.nrows, host.ncols), host.nnz() as u64, offsets, indices).with_longest(longest))
    }
    /// Counts offsets and indices, and what is kept of them.
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        if !self.offsets.footprint(to) {
            return;
        }
        self.indices.footprint(to);
        if let Some(Some(band)) = self.band.get() {
            band.footprint(to);
        }
        if let Some(tiles) = self.row_tiles.get() {
            tiles.footprint(to);
        }
        if let Some(columns) = self.filled_columns.get() {
            columns.footprint(to);
        }
        // No lock is held while others are looked at: what is kept may keep this one.
        let columns = lock(&self.columns).kept();
        if let Some(columns) = columns {
            columns.footprint(to);
        }
        let (joined, bits) = (lock(&self.supernodes).kept(), lock(&self.row_bits).kept());
        if let Some(joined) = joined {
            joined.footprint(to);
        }
        if let Some(bits) = bits {
            bits.footprint(to);
        }
        let sets = lock(&self.column_sets).kept();
        if let Some(sets) = sets {
            sets.footprint(to);
        }
        let product = lock(&self.full_product).kept();
        if let Some(product) = product {
            product.footprint(to);
        }
    }
    /// How many times the mean row's entries the longest has, as far as that is known; at least 1, at most `most`.
    pub(crate) fn unevenness(&self, most: u64) -> u64 {
        let times = self.longest.map_or(most, |longest| longest.saturating_mul(self.nrows as u64) / self.nnz.max(1));
        times.clamp(1, most)
    }
    /// Whether both have the same entries. Waits for the device.
    pub(crate) fn same(&self, other: &Self) -> Result<bool> {
        if (self.nrows, self.ncols, self.nnz) != (other.nrows, other.ncols, other.nnz) {
            return Ok(false);
        }
        let context = self.offsets.context();
        let found = Buffer::zeroed_for::<u32>(context, 1)?;
        let (kernel, block) = (entries::structure(context, "compare_words")?, entries::block_and_tile(context).0);
        let sizes = [2 * (self.nrows as u64 + 1), self.nnz];
        for (words, (x, y)) in sizes.into_iter().zip([(&self.offsets, &other.offsets), (&self.indices, &other.indices)])
        {
            let grid = resident(&kernel, block, 0, words.div_ceil(u64::from(block)))?;
            let launch = kernel.launch(grid, block, 0).arg(words).arg(x).arg(y).arg(&found);
            // SAFETY: parameters as the README lists them; both arrays have as many words, as both patterns have one size.
            unsafe { launch.run()? };
        }
        Ok(found.read_one::<u32>(0)? == 0)
    }
    pub(crate) fn download(&self) -> Result<Pattern> {
        let (offsets, indices) = (self.offsets.to_host()?, self.indices.to_host()?);
        Ok(Pattern::new(self.nrows, self.ncols, offsets, indices))
    }
}

impl<T> DeviceCsr<T> {
    pub(crate) fn new(pattern: DevicePattern, values: Buffer) -> Self {
        Self::on(Arc::new(pattern), values)
    }
    /// Other values at the same positions.
    pub(crate) fn on(pattern: Arc<DevicePattern>, values: Buffer) -> Self {
        Self::with(pattern, Values::All(Arc::new(values)))
    }
    pub(crate) fn with(pattern: Arc<DevicePattern>, values: Values) -> Self {
        Self { pattern, values, scalar: PhantomData }
    }
    /// The same bytes by another name.
    pub(crate) fn cast<U>(&self) -> DeviceCsr<U> {
        DeviceCsr { pattern: self.pattern.clone(), values: self.values.clone(), scalar: PhantomData }
    }
    /// The positions alone.
    pub(crate) fn without_values(&self) -> Result<Self> {
        let none = Buffer::alloc(self.pattern.offsets.context(), 0)?;
        Ok(Self::on(self.pattern.clone(), none))
    }
    /// The same values at other positions.
    pub(crate) fn at(&self, pattern: Arc<DevicePattern>) -> Self {
        Self { pattern, values: self.values.clone(), scalar: PhantomData }
    }
    pub(crate) fn nnz(&self) -> u64 {
        self.pattern.nnz
    }
    /// Counts what it holds.
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        self.pattern.footprint(to);
        self.values.footprint(to);
    }
}

impl<T: Scalar> DeviceCsr<T> {
    pub(crate) fn upload(context: &Arc<Context>, host: &HostCsr<T>) -> Result<Self> {
        let pattern = DevicePattern::upload(context, &host.pattern)?;
        Ok(Self::new(pattern, Buffer::from_host(context, as_bytes(&host.values))?))
    }
    pub(crate) fn download(&self) -> Result<HostCsr<T>> {
        // Where a single row begins and ends is known.
        if let (1, Values::All(all)) = (self.pattern.nrows, &self.values) {
            let (indices, values) = Buffer::both_to_host::<u32, u8>(&self.pattern.indices, all)?;
            let offsets = memory::copied("download", &[0, self.pattern.nnz])?;
            let pattern = Pattern::new(1, self.pattern.ncols, offsets, indices);
            return Ok(HostCsr::new(pattern, from_bytes("download", &values)?));
        }
        Ok(HostCsr::new(self.pattern.download()?, self.on_host()?))
    }
}
