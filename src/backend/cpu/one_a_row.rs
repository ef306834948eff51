//! One entry a row at most, where it is known in which column: a column, a diagonal.
use super::assemble::assemble;
use super::blocks::Block;
use super::rows::Rows;
use super::vector::row_blocks;
use crate::algebra::Scalar;
use crate::backend::host::HostCsr;
use crate::error::Result;

/// Rows up to this long are looked through.
const SHORT: usize = 16;

/// Row r's entry in the column `at(r)`, if it has one, as entry r of one row.
pub(super) fn one_a_row<T: Scalar>(a: &HostCsr<T>, at: &(dyn Fn(usize) -> Option<u32> + Sync)) -> Result<HostCsr<T>> {
    let operation = "extract";
    let kernel = |block: &Block, rows: &mut Rows<T>, _: &mut ()| {
        rows.reserve(operation, block.columns.len())?;
        for i in block.columns.clone() {
            let Some(column) = at(i as usize) else { continue };
            let (columns, values) = a.row(i as usize);
            let found = match columns.len() <= SHORT {
                true => columns.iter().position(|c| *c == column),
                false => columns.binary_search(&column).ok(),
            };
            if let Some(e) = found {
                // SAFETY: room for every row of the block was reserved.
                unsafe { rows.push_unchecked(i, values[e]) };
            }
        }
        rows.end_row();
        Ok(())
    };
    let n = a.pattern.nrows;
    assemble::<T, ()>(operation, (1, n), n as u64, &row_blocks(operation, &a.pattern)?, &kernel)
}
