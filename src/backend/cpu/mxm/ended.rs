//! Rows handed on before they are stored: after a product, and after rows that are there.
use super::analysis::OnMask;
use super::ended_exactly::ended_exactly;
use super::fits::{budget, ended_fits, what_is_left};
use super::in_parts::InParts;
use super::product;
use crate::algebra::Scalar;
use crate::backend::cpu::assemble::assemble;
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::entrywise::merge::entry_blocks;
use crate::backend::cpu::rows::Rows;
use crate::backend::ends::{End, Most};
use crate::backend::host::HostCsr;
use crate::backend::ring::MxmRing;
use crate::backend::{MxmOptions, Positions};
use crate::error::{Error, Result};

/// What an end makes of T⟨M⟩ = A ⊕.⊗ B, of which no more is stored than some rows; in little memory where a limit asks for that or
/// the usual way runs out of it.
pub(crate) fn mxm_ended<A: Scalar, B: Scalar, C: Scalar, T: Scalar>(
    ring: &MxmRing<A, B, C>,
    end: &dyn End<C, T>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    options: &MxmOptions,
) -> Result<HostCsr<T>> {
    let mut left = budget(options);
    if options.memory_limit.is_none() || ended_fits::<B, C, T>(end, &a.pattern, &b.pattern, mask, options) {
        match product::mxm_ended("mxm", &ring.cpu, end, a, b, mask, at, options) {
            Err(Error::OutOfMemory { .. }) if options.memory_limit.is_none() => left = what_is_left(),
            made => return made,
        }
    }
    let columns = if options.transposed_b { b.pattern.nrows } else { b.pattern.ncols };
    let product = InParts { ring, a, b, mask, at, transposed_b: options.transposed_b };
    ended_exactly(end, &product, columns, left)
}

/// Parts of a row put together again: an end that looks at whole rows leaves each to one thread.
pub(crate) fn uncut(blocks: &mut Vec<Block>) {
    blocks.dedup_by(|next, block| {
        let same = next.rows == block.rows && !block.whole;
        if same {
            block.columns.end = next.columns.end;
        }
        same
    });
    blocks.iter_mut().for_each(|block| block.whole = true);
}

/// What an end makes of rows.
pub(crate) fn ended<C: Scalar, T: Scalar>(
    operation: &'static str,
    end: &dyn End<C, T>,
    a: &HostCsr<C>,
    at: &Positions,
) -> Result<HostCsr<T>> {
    let (nrows, ncols, nnz) = (a.pattern.nrows, a.pattern.ncols, a.pattern.nnz() as u64);
    let mut blocks = entry_blocks(operation, &[&a.pattern])?;
    if end.whole_rows() {
        uncut(&mut blocks);
    }
    let kernel = |block: &Block, to: &mut Rows<T>, rows: &mut Rows<C>| {
        rows.clear();
        rows.reserve_rows(operation, block.rows.len())?;
        for r in block.rows.clone() {
            let range = block.range(&a.pattern, r);
            rows.reserve(operation, range.len())?;
            rows.indices.extend_from_slice(&a.pattern.indices[range.clone()]);
            rows.values.extend_from_slice(&a.values[range]);
            rows.end_row();
        }
        end.rows(operation, block.rows.start, at, rows, to)
    };
    let bound = match end.most() {
        Most::Row(k) => nnz.min((nrows as u64).saturating_mul(k as u64)),
        _ => nnz,
    };
    assemble::<T, Rows<C>>(operation, (nrows, ncols), bound, &blocks, &kernel)
}
