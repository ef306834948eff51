//! vxm of a full vector by the columns of the matrix: a sum for each, as mxv has one for each row.
//!
//! Where rows are walked sums are in memory, far from each other, and each thread looks at all rows for what lies in its columns. Here
//! they are in registers. Where columns have entries is kept with the pattern, and of a matrix that comes again its values in their order.
use super::even::Batch;
use super::pull::{How, Lines, how, lines, sums};
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::cpu::mxm::job::at;
use crate::backend::cpu::structure::layout::{columns_kept, moved};
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::storage::facts::Turned;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;

/// The sums of some columns, of those that have entries, one behind the other; their batches, where they are known.
type ColumnsKernel<X, A, C> =
    fn(&[X], &Turned, Values<A>, &Positions, Lines, Option<&[Batch]>, &mut [MaybeUninit<C>]) -> usize;

/// A's values as they lie, or those of columns one after the other.
#[derive(Clone, Copy)]
struct Values<'a, A> {
    all: &'a [A],
    moved: bool,
}

/// The loops, compiled for one semiring.
#[derive(Debug)]
pub(crate) struct ColumnKernels<X, A, C> {
    sums: ColumnsKernel<X, A, C>,
    reads_values: bool,
    how: fn() -> How<C>,
}
impl<X: Scalar, A: Scalar, C: Scalar> ColumnKernels<X, A, C> {
    pub(crate) const fn of<S: Semiring<X, A, Out = C>>() -> Self {
        Self { sums: columns::<X, A, S>, reads_values: S::Multiply::READS.b, how: how::<C, S::Add> }
    }
    /// Whether a sum of some products hardly ever needs the others.
    pub(super) fn soon_final(&self) -> bool {
        (self.how)().0
    }
}

/// Products before columns are worth finding: it takes about three times as long as one by rows.
const OFTEN: usize = if cfg!(test) { 1 } else { 2 };

/// Whether [`vxm`] finds columns: they are kept, or are looked for the next time.
pub(super) fn are_kept(a: &Pattern) -> bool {
    let asked = a.facts.turns.load(Ordering::Relaxed);
    a.facts.turned.get().is_some() || (asked >= OFTEN && u32::try_from(a.nnz()).is_ok())
}

/// t = xᵀ ⊕.⊗ A for a full x, once the columns of A are kept. A may have one value for all its entries.
pub(crate) fn vxm<X: Scalar, A: Scalar, C: Scalar>(
    kernels: &ColumnKernels<X, A, C>,
    x: &HostCsr<X>,
    a: &HostCsr<A>,
    at: &Positions,
) -> Result<Option<HostCsr<C>>> {
    let Some(turned) = columns_kept(&a.pattern, OFTEN) else { return Ok(None) };
    let reads = kernels.reads_values && a.values.len() == a.pattern.nnz();
    let kept = if reads { turned.moved(&a.values, || moved(&turned, &a.values)) } else { None };
    let values = Values { all: kept.as_ref().unwrap_or(&a.values), moved: kept.is_some() };
    let sums = |of: Lines, batches: Option<&[Batch]>, out: &mut [MaybeUninit<C>]| {
        (kernels.sums)(&x.values, &turned, values, at, of, batches, out)
    };
    lines("vxm", &turned.pattern, &x.pattern, (kernels.how)(), &sums).map(Some)
}

/// A [`ColumnsKernel`].
fn columns<X: Scalar, A: Scalar, S: Semiring<X, A>>(
    x: &[X],
    turned: &Turned,
    values: Values<A>,
    positions: &Positions,
    (first, offsets): Lines,
    batches: Option<&[Batch]>,
    out: &mut [MaybeUninit<S::Out>],
) -> usize {
    let (pattern, from, indices) = (&*turned.pattern, &turned.from[..], &turned.pattern.indices[..]);
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
    match values.all {
        // What reads no values is compiled once.
        [one] if S::Multiply::READS.b => {
            let one = *one;
            sums::<S::Out, S::Add>(offsets, batches, out, most, move |c, e| with(one, c, e))
        }
        _ => {
            assert!(values.all.len() == indices.len());
            let value = move |e: usize| {
                // SAFETY: entries lie within the array, and `from` is a permutation of A's, of which it has as many: asserted, or
                // `Turned`'s promise.
                unsafe {
                    let place = if values.moved { e } else { *from.get_unchecked(e) as usize };
                    *values.all.get_unchecked(place)
                }
            };
            sums::<S::Out, S::Add>(offsets, batches, out, most, move |c, e| with(value(e), c, e))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;

    /// What is kept of a matrix is that of its values as they are now.
    #[test]
    fn columns_are_those_of_the_values() -> Result<()> {
        let mut coo = Coo::new(90, 120);
        (0..2000).for_each(|e| coo.push(e * 7 % 90, (e * 31 + e / 90) % 120, e as f64 * 0.3 - 250.0));
        let x: Vec<_> = (0..90).map(|k| (k, k as f64 * 0.7 - 20.0)).collect();
        let x: Vector<f64> = Vector::build(90, &x)?;
        let check = |a: &Matrix<f64>| -> Result<()> {
            let kept = vxm(&x, a).eval()?.entries()?;
            assert_eq!(kept, vxm(&x.to(&Device::Reference)?, &a.to(&Device::Reference)?).eval()?.entries()?);
            Ok(())
        };
        let mut a: Matrix<f64> = Matrix::build_with(&coo, Plus)?;
        let (bytes, (row, column, _)) = (a.memory_bytes(), a.entries()?[777]);
        for round in 0..5 {
            (0..4).try_for_each(|_| check(&a))?;
            // In place; then nobody else has the values, so that they may lie where others did.
            a.set(row, column, f64::from(round) * 1e6)?;
            check(&a)?;
            check(&a)?;
            a = apply(&a, Negate).eval()?;
            let others = apply(&a, Abs).eval()?;
            // Same positions: by turns, and twice each.
            for of in [&a, &others, &a, &others, &others, &others, &a, &a, &a] {
                check(of)?;
            }
        }
        // Positions by columns, where each of them was, and the values.
        assert!(a.memory_bytes() > bytes + 16 * a.nvals());
        Ok(())
    }
}
