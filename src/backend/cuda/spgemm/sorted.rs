//! Rows of more products than a block sorts in shared memory, where sorting was asked for or columns lie too far apart for windows: taken
//! out of A, their products expanded in device memory, sorted by blocks a tile each, the tiles of a row merged, contracted, and put among the others.
use super::run::Run;
use super::slices::Sorting;
use super::walked::Known;
use super::{Job, Made, Rows, SORTED, UNITS, places};
use crate::backend::MaskOn;
use crate::backend::cuda::Buffer;
use crate::backend::cuda::entries::{block_and_tile, listed_pattern, listed_rows, movable};
use crate::backend::cuda::product::{DeviceIds, Operand};
use crate::backend::cuda::runtime::program::Program;
use crate::error::Result;
use oplus_codegen::Template;
use std::sync::Arc;

/// These rows of A, and of the product.
#[derive(Debug)]
pub(super) struct LongRows {
    list: Buffer,
    made: Made,
}

impl Job<'_> {
    /// The rows of the product that are listed from this place of `units` on.
    fn long_rows(&self, units: &Buffer, begin: u64, count: u64) -> Result<LongRows> {
        let context = self.context;
        let mut list = Buffer::alloc(context, 4 * count)?;
        list.copy_range(0, units, 4 * begin..4 * (begin + count))?;
        let (pattern, values) = listed_rows(self.semiring.a, self.a, &list)?;
        let mask = match self.mask {
            None => None,
            Some(m) => Some(MaskOn { pattern: Arc::new(listed_pattern(&m.pattern, &list)?), complement: m.complement }),
        };
        let job = Job {
            semiring: self.semiring.clone(),
            a: Operand { pattern: &pattern, values: &values },
            mask: mask.as_ref(),
            ids: self.ids_of(&list, count)?,
            rows: count,
            known: Known::default(),
            ..*self
        };
        let made = job.by_slices(Sorting::Tiles)?;
        Ok(LongRows { list, made })
    }

    /// What a positional multiplication calls the listed rows, and what it calls columns.
    fn ids_of(&self, list: &Buffer, count: u64) -> Result<DeviceIds> {
        let same = |ids: &Option<Buffer>| ids.as_ref().map(Buffer::duplicate).transpose();
        let (k, j) = (same(&self.ids.k)?, same(&self.ids.j)?);
        if !self.semiring.reads.position {
            return Ok(DeviceIds { i: None, k, j });
        }
        let i = Buffer::alloc(self.context, 8 * count)?;
        let (kernel, block) = (self.slicing().kernel("slice_row_ids")?, self.tuning.primitive_block);
        let launch = kernel.launch(count.div_ceil(u64::from(block)), block, 0).arg(count).arg(list);
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(self.ids.i.as_ref()).arg(&i).run()? };
        Ok(DeviceIds { i: Some(i), k, j })
    }
}

impl Run<'_> {
    /// How many rows are sorted in device memory.
    fn long_count(&self) -> u64 {
        self.listed.control[UNITS + SORTED]
    }

    /// These rows, if there are any.
    pub(super) fn made_long(&self) -> Result<Option<LongRows>> {
        let (count, begin) = (self.long_count(), places(SORTED).1 as usize);
        let made = || self.job.long_rows(&self.listed.work.units, self.listed.control[begin], count);
        (count > 0).then(made).transpose()
    }

    /// How many entries they have.
    pub(super) fn count_long(&self, long: &LongRows) -> Result<()> {
        let (count, block) = (self.long_count(), self.job.tuning.primitive_block);
        let kernel = self.job.slicing().kernel("slice_put_counts")?;
        let launch = kernel.launch(count.div_ceil(u64::from(block)), block, 0).arg(count).arg(&long.list);
        // SAFETY: parameters as codegen/templates/README.md lists them; the listed rows exist.
        unsafe { launch.arg(&long.made.0.offsets).arg(&self.listed.c_offsets).run() }
    }

    /// Their entries.
    pub(super) fn put_long(&self, long: &LongRows, c: &Rows) -> Result<()> {
        let (context, (pattern, values)) = (self.job.context, &long.made);
        if pattern.nnz == 0 {
            return Ok(());
        }
        let (block, tile) = block_and_tile(context);
        let value = movable(self.job.semiring.written());
        let kernel = Program::new(context, Template::Entries, |s| s.scalar("V", value)).kernel("entries_put")?;
        let launch = kernel.launch(pattern.nnz.div_ceil(tile), block, 0).arg(pattern.nnz).arg(self.long_count());
        let launch = launch.arg(&long.list).arg(&pattern.offsets).arg(&pattern.indices).arg(values);
        // SAFETY: as above; C's rows have room for the entries that were counted.
        unsafe { launch.arg(c.offsets).arg(c.indices).arg(c.values).run() }
    }
}
