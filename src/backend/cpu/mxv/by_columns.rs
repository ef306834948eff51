//! vxm of a full vector by the columns of the matrix: a sum for each, as mxv has one for each row.
//!
//! Where rows are walked sums are in memory, far from each other, and each thread looks at all rows for what lies in its columns. Here
//! they are in registers, and values are read in the order of columns, for which where these have entries is kept with the pattern.
use super::even::Batch;
use super::pull::{lines, soon_final, sums};
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::cpu::mxm::job::at;
use crate::backend::cpu::structure::layout::columns_kept;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::storage::facts::Turned;
use std::mem::MaybeUninit;
use std::ops::Range;

/// The sums of some columns, of those that have entries, one behind the other; their batches, where they are known.
type ColumnsKernel<X, A, C> =
    fn(&[X], &Turned, &[A], &Positions, Range<usize>, Option<&[Batch]>, &mut [MaybeUninit<C>]) -> usize;

/// The loops, compiled for one semiring.
#[derive(Debug)]
pub(crate) struct ColumnKernels<X, A, C> {
    sums: ColumnsKernel<X, A, C>,
    soon_final: fn() -> bool,
}
impl<X: Scalar, A: Scalar, C: Scalar> ColumnKernels<X, A, C> {
    pub(crate) const fn of<S: Semiring<X, A, Out = C>>() -> Self {
        Self { sums: columns::<X, A, S>, soon_final: soon_final::<C, S::Add> }
    }
}

/// Products before columns are worth finding: it takes about three times as long as one by rows.
const OFTEN: usize = if cfg!(test) { 1 } else { 2 };

/// t = xᵀ ⊕.⊗ A for a full x, once the columns of A are kept. A may have one value for all its entries.
pub(crate) fn vxm<X: Scalar, A: Scalar, C: Scalar>(
    kernels: &ColumnKernels<X, A, C>,
    x: &HostCsr<X>,
    a: &HostCsr<A>,
    at: &Positions,
) -> Result<Option<HostCsr<C>>> {
    let Some(turned) = columns_kept(&a.pattern, OFTEN) else { return Ok(None) };
    let sums = |of: Range<usize>, batches: Option<&[Batch]>, out: &mut [MaybeUninit<C>]| {
        (kernels.sums)(&x.values, &turned, &a.values, at, of, batches, out)
    };
    lines("vxm", &turned.pattern, &x.pattern, (kernels.soon_final)(), &sums).map(Some)
}

/// A [`ColumnsKernel`].
fn columns<X: Scalar, A: Scalar, S: Semiring<X, A>>(
    x: &[X],
    turned: &Turned,
    values: &[A],
    positions: &Positions,
    of: Range<usize>,
    batches: Option<&[Batch]>,
    out: &mut [MaybeUninit<S::Out>],
) -> usize {
    let (pattern, from, first) = (&*turned.pattern, &turned.from[..], of.start);
    let (offsets, indices) = (&pattern.offsets[first..=of.end], &pattern.indices[..]);
    assert!(pattern.ncols <= x.len() && from.len() == indices.len());
    let with = move |v: A, c: usize, e: usize| {
        // SAFETY: entries of columns lie within the array, and rows below their number, which is at most the length of x:
        // asserted, or the pattern's promise.
        let (k, x) = unsafe {
            let k = *indices.get_unchecked(e);
            (k, *x.get_unchecked(k as usize))
        };
        S::Multiply::multiply(x, v, at::<X, A, S>(positions, 0, k as usize, first + c))
    };
    // Of other columns' entries products may be made and forgotten, unless someone looks at where they stand.
    let most = if S::Multiply::READS.position { 0 } else { indices.len() };
    match values {
        // What reads no values is compiled once.
        [one] if S::Multiply::READS.b => {
            let one = *one;
            sums::<S::Out, S::Add>(offsets, batches, out, most, move |c, e| with(one, c, e))
        }
        _ => {
            assert!(values.len() == indices.len());
            // SAFETY: `from` is a permutation of A's entries, of which it has as many: asserted, or `Turned`'s promise.
            let value = move |e: usize| unsafe { *values.get_unchecked(*from.get_unchecked(e) as usize) };
            sums::<S::Out, S::Add>(offsets, batches, out, most, move |c, e| with(value(e), c, e))
        }
    }
}
