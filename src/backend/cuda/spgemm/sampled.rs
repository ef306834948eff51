//! A look at some rows of a product before its kernel is chosen: how many columns they have, and how they lie.
use super::Job;
use super::hashed::Tables;
use super::whole::SAMPLE;
use crate::backend::cuda::runtime::program::resident;
use crate::backend::cuda::runtime::report::SAID;
use crate::error::Result;

/// A sample pays for itself where each multiprocessor has so many products.
const WORTH: u64 = 32 << 10;
/// Where B has far more rows than columns, products most often meet: so many times fewer are enough, and …
const WORTH_TALL: u64 = 8 << 10;
/// … B has so many rows a column then.
const TALL: u64 = 8;
/// Rows are sorted where the sample has fewer products than this of two entries; than this where B is tall.
const COMPRESSION: u64 = 5;
const COMPRESSION_TALL: u64 = 4;

/// What a sample says of C.
pub(super) struct Sampled {
    /// Its entries, with some room to spare.
    pub(super) entries: u64,
    /// Columns of the longest row seen; more than fit if some did not.
    pub(super) most: u64,
    /// Whether they have products enough each for tables to be better than sorting.
    pub(super) compressed: bool,
    /// Whether neighbouring rows of A name neighbouring rows of B, each in its place.
    pub(super) near: bool,
}

impl Job<'_> {
    /// Whether it is worth a look at how far products are compressed.
    pub(super) fn worth_sampling(&self) -> bool {
        let least = if self.tall() { WORTH_TALL } else { WORTH };
        self.likely_products() >= least * u64::from(self.context.properties().multiprocessors)
    }
    /// Whether B has so many more rows than columns that rows of C will have far fewer columns than products.
    pub(super) fn tall(&self) -> bool {
        self.b.pattern.nrows as u64 >= TALL * u64::from(self.columns)
    }

    /// A look at rows spread over all.
    pub(super) fn sampled_by_hash(&self) -> Result<Sampled> {
        let ((program, shared), block) = (self.hash(Tables::WIDEST, false), self.tuning.hash_block);
        let stretches = self.rows.div_ceil(u64::from(block) / 32);
        let kernel = program.kernel(program.spec.template.name())?;
        // No more than are looked at side by side.
        let grid = resident(&kernel, block, shared, stretches.div_ceil(SAMPLE))?;
        let stride = stretches.div_ceil(grid).max(SAMPLE);
        let said = self.context.with_slate(SAID as u64, |slate| {
            let launch = self.patterns(kernel.launch(grid, block, shared)).arg(self.rows).arg(stride);
            // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
            unsafe { launch.arg(slate.control).leaving(slate).run() }
        })?;
        let [columns, _, most, failed, compared, near, products, ..] = said;
        let least = if self.tall() { COMPRESSION_TALL } else { COMPRESSION };
        Ok(Sampled {
            entries: self.estimate(&said),
            most: if failed > 0 { u64::from(Tables::WIDEST.slots) } else { most },
            compressed: products * 2 >= least * columns.max(1),
            near: near * 2 > compared,
        })
    }
}
