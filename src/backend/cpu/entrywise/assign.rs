//! What an assignment leaves of C: old and new entries merged, with the region and the reach looked up.
use super::merge::{entry_blocks, meet, part};
use crate::algebra::Scalar;
use crate::backend::cpu::assemble::assemble;
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::mxm::analysis::OnMask;
use crate::backend::cpu::rows::Rows;
use crate::backend::cpu::structure::ascending::below;
use crate::backend::host::HostCsr;
use crate::backend::places::Assigned;
use crate::error::Result;
use crate::operation::Accumulate;

pub(crate) fn assign<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    c: &HostCsr<C>,
    t: &HostCsr<T>,
    how: &Assigned,
    mask: OnMask,
) -> Result<HostCsr<C>> {
    let operation = "assign";
    let (region, reach) = (&how.region, &how.reach);
    let blocks = match mask {
        Some(m) => entry_blocks(operation, &[&c.pattern, &t.pattern, &m.pattern])?,
        None => entry_blocks(operation, &[&c.pattern, &t.pattern])?,
    };
    let complement = mask.is_none_or(|m| m.complement);
    let kernel = |block: &Block, rows: &mut Rows<C>, _: &mut ()| {
        for r in block.rows.clone() {
            let (columns, values) = part(c, block, r);
            if !reach.rows.has(r as u32) || (!region.rows.has(r as u32) && mask.is_none()) {
                rows.reserve(operation, columns.len())?;
                for (column, x) in columns.iter().zip(values) {
                    // SAFETY: room was reserved.
                    unsafe { rows.push_unchecked(*column, *x) };
                }
                rows.end_row();
                continue;
            }
            let inside = region.rows.has(r as u32);
            let mut listed = mask.map_or(&[][..], |m| &m.pattern.indices[block.range(&m.pattern, r)]);
            meet(operation, (columns, values), part(t, block, r), rows, |column, old, new| {
                if !listed.is_empty() {
                    listed = &listed[below(listed, column)..];
                }
                if !reach.cols.has(column) {
                    return old;
                }
                match (listed.first() == Some(&column)) != complement {
                    true if inside && region.cols.has(column) => F::combine(old, new),
                    false if how.replace => None,
                    _ => old,
                }
            })?;
        }
        Ok(())
    };
    let bound = (c.pattern.nnz() + t.pattern.nnz()) as u64;
    assemble::<C, ()>(operation, (c.pattern.nrows, c.pattern.ncols), bound, &blocks, &kernel)
}
