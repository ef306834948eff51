//! Rows and columns met by the entries of a vector, and a vector as a diagonal.
use super::ascending::below;
use super::assemble::{Block, Rows, assemble};
use super::merge::{entry_blocks, part};
use super::parallel::{Shared, scan, unwritten, written};
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// f(row, column, x) at every entry: the pattern stays.
fn values_alone<A: Scalar, T: Scalar>(
    operation: &'static str,
    a: &HostCsr<A>,
    f: impl Fn(usize, usize, A) -> T + Sync,
) -> Result<HostCsr<T>> {
    let mut values = unwritten::<T>(operation, a.values.len())?;
    let target = Shared::new(&mut values);
    let fill = |block: &Block| {
        for r in block.rows.clone() {
            let range = block.range(&a.pattern, r);
            // SAFETY: blocks have disjoint entries.
            let out = unsafe { target.part(range.clone()) };
            let columns = &a.pattern.indices[range.clone()];
            for ((z, x), c) in out.iter_mut().zip(&a.values[range]).zip(columns) {
                *z = MaybeUninit::new(f(r, *c as usize, *x));
            }
        }
    };
    let blocks = entry_blocks(operation, &[&a.pattern])?;
    if blocks.len() < 2 {
        blocks.iter().for_each(fill)
    } else {
        blocks.par_iter().for_each(fill)
    }
    let n = values.len();
    // SAFETY: the blocks cover every entry.
    let values = unsafe { written(values, n) };
    Ok(HostCsr { pattern: a.pattern.clone(), values: Arc::new(values) })
}

pub(super) fn scale_rows<V: Scalar, A: Scalar, F: BinaryOp<V, A>>(
    v: &HostCsr<V>,
    a: &HostCsr<A>,
) -> Result<HostCsr<F::Out>> {
    let operation = "scale_rows";
    if v.pattern.nnz() == a.pattern.nrows {
        return values_alone(operation, a, |r, _, y| F::apply(v.values[r], y));
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

pub(super) fn scale_columns<A: Scalar, V: Scalar, F: BinaryOp<A, V>>(
    a: &HostCsr<A>,
    v: &HostCsr<V>,
) -> Result<HostCsr<F::Out>> {
    let operation = "scale_columns";
    let (wanted, factors) = v.row(0);
    if wanted.len() == a.pattern.ncols {
        return values_alone(operation, a, |_, c, x| F::apply(x, factors[c]));
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
pub(super) fn diagonal<T: Scalar>(v: &HostCsr<T>) -> Result<HostCsr<T>> {
    let operation = "diag";
    let (n, columns) = (v.pattern.ncols, v.pattern.row(0));
    let offsets = if columns.len() == n {
        scan(operation, n, |_| 1)?
    } else {
        let mut offsets = memory::filled(operation, n + 1, 0u64)?;
        columns.iter().for_each(|c| offsets[*c as usize + 1] = 1);
        (0..n).for_each(|r| offsets[r + 1] += offsets[r]);
        offsets
    };
    let indices = memory::copied(operation, columns)?;
    Ok(HostCsr { pattern: Arc::new(Pattern::new(n, n, offsets, indices)), values: v.values.clone() })
}
