//! Rows and columns met by the entries of a vector, and a vector as a diagonal.
use super::entries::at_entries;
use super::merge::{entry_blocks, part};
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::cpu::assemble::assemble;
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::parallel::{in_pieces, mapped};
use crate::backend::cpu::rows::Rows;
use crate::backend::cpu::structure::ascending::below;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use std::sync::Arc;

pub(crate) fn scale_rows<V: Scalar, A: Scalar, F: BinaryOp<V, A>>(
    v: &HostCsr<V>,
    a: &HostCsr<A>,
) -> Result<HostCsr<F::Out>> {
    let operation = "scale_rows";
    if v.pattern.nnz() == a.pattern.nrows {
        let factors = &v.values[..];
        return at_entries(operation, a, move |r, _, y| F::apply(factors[r], y));
    }
    let kernel = |block: &Block, rows: &mut Rows<F::Out>, _: &mut ()| {
        for r in block.rows.clone() {
            if let Some(e) = v.pattern.find(0, r as u32) {
                let (x, (columns, values)) = (v.values[e], part(a, block, r));
                rows.reserve(operation, columns.len())?;
                for (c, y) in columns.iter().zip(values) {
                    // SAFETY: room for the row was reserved.
                    unsafe { rows.push_unchecked(*c, F::apply(x, *y)) };
                }
            }
            rows.end_row();
        }
        Ok(())
    };
    let blocks = entry_blocks(operation, &[&a.pattern])?;
    assemble::<F::Out, ()>(operation, (a.pattern.nrows, a.pattern.ncols), a.pattern.nnz() as u64, &blocks, &kernel)
}

pub(crate) fn scale_columns<A: Scalar, V: Scalar, F: BinaryOp<A, V>>(
    a: &HostCsr<A>,
    v: &HostCsr<V>,
) -> Result<HostCsr<F::Out>> {
    let operation = "scale_columns";
    let (wanted, factors) = v.row(0);
    if wanted.len() == a.pattern.ncols {
        return at_entries(operation, a, move |_, c, x| F::apply(x, factors[c]));
    }
    let kernel = |block: &Block, rows: &mut Rows<F::Out>, _: &mut ()| {
        for r in block.rows.clone() {
            let (columns, values) = part(a, block, r);
            rows.reserve(operation, columns.len())?;
            let mut q = 0;
            for (c, x) in columns.iter().zip(values) {
                q += below(&wanted[q..], *c);
                match wanted.get(q) {
                    // SAFETY: room for the row was reserved.
                    Some(w) if w == c => unsafe { rows.push_unchecked(*c, F::apply(*x, factors[q])) },
                    Some(_) => {}
                    None => break,
                }
            }
            rows.end_row();
        }
        Ok(())
    };
    let blocks = entry_blocks(operation, &[&a.pattern])?;
    assemble::<F::Out, ()>(operation, (a.pattern.nrows, a.pattern.ncols), a.pattern.nnz() as u64, &blocks, &kernel)
}

/// The square matrix with a row's entries on its diagonal: the row's values, at other positions.
pub(crate) fn diagonal<T: Scalar>(v: &HostCsr<T>) -> Result<HostCsr<T>> {
    let operation = "diag";
    let (n, columns) = (v.pattern.ncols, v.pattern.row(0));
    let offsets = if columns.len() == n {
        in_pieces(operation, n + 1, |r| r as u64)?
    } else {
        let mut offsets = memory::with_capacity(operation, n + 1)?;
        for (e, c) in columns.iter().enumerate() {
            offsets.resize(*c as usize + 1, e as u64);
        }
        offsets.resize(n + 1, columns.len() as u64);
        offsets
    };
    let indices = mapped(operation, columns, |c| c)?;
    Ok(HostCsr { pattern: Arc::new(Pattern::new(n, n, offsets, indices)), values: v.values.clone() })
}
