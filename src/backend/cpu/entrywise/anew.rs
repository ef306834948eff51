//! Some rows of a matrix made anew, all others copied as they lie, stretch by stretch.
use crate::algebra::Scalar;
use crate::backend::cpu::assemble::assemble;
use crate::backend::cpu::blocks::{Block, partition, target};
use crate::backend::cpu::rows::Rows;
use crate::backend::host::HostCsr;
use crate::error::Result;
use std::ops::Range;

/// What makes a row: which of those asked for it is, the columns and values that it had, where it goes, and a thread's scratch.
type Make<'a, C, W> = dyn Fn(usize, (&[u32], &[C]), &mut Rows<C>, &mut W) -> Result<()> + Sync + 'a;

/// C with the ascending `rows` made by `make`, which appends a row and ends it: some `more` entries than before. O(m + nnz).
pub(crate) fn anew<C: Scalar, W: Default + Send>(
    operation: &'static str,
    c: &HostCsr<C>,
    rows: &[usize],
    more: usize,
    make: &Make<'_, C, W>,
) -> Result<HostCsr<C>> {
    let (pattern, offsets) = (&c.pattern, &c.pattern.offsets[..]);
    let copy = |stretch: Range<usize>, out: &mut Rows<C>| -> Result<()> {
        let entries = offsets[stretch.start] as usize..offsets[stretch.end] as usize;
        out.reserve(operation, entries.len())?;
        let (from, to) = (offsets[stretch.start], out.indices.len() as u64);
        out.indices.extend_from_slice(&pattern.indices[entries.clone()]);
        out.values.extend_from_slice(&c.values[entries]);
        out.ends.extend(offsets[stretch.start + 1..=stretch.end].iter().map(|o| o - from + to));
        Ok(())
    };
    let kernel = |block: &Block, out: &mut Rows<C>, scratch: &mut W| {
        let first = rows.partition_point(|row| *row < block.rows.start);
        let mut next = block.rows.start;
        for (k, row) in rows.iter().enumerate().skip(first).take_while(|(_, row)| **row < block.rows.end) {
            copy(next..*row, out)?;
            make(k, c.row(*row), out, scratch)?;
            next = row + 1;
        }
        copy(next..block.rows.end, out)
    };
    let (shape, before) = ((pattern.nrows, pattern.ncols), |r: usize| offsets[r] + r as u64);
    let blocks = partition(operation, shape, target(before(shape.0)), &before, &|_, _| Ok(Vec::new()))?;
    assemble::<C, W>(operation, shape, (pattern.nnz() + more) as u64, &blocks, &kernel)
}
