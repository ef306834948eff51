//! argmin and argmax: where the smallest and largest values are.
use super::apply::mapping;
use super::{Lines, Operand, Operation, ScalarOf, oriented};
use crate::algebra::{OfValue, Ranked};
use crate::backend::{Body, Positions, on_backend};
use crate::container::{Container, Matrix, OfVectors, Vector};
use crate::error::Result;
use crate::storage::{axis::Axis, store::Store};

/// t(i) = min { j : A(i, j) = minₖ A(i, k) }, the column of the smallest value of row i, of equal ones the first; rows without
/// entries have none in t.
/// `.transpose_a()` gives the rows of the columns' smallest values. NaN is passed over, unless a row has nothing else.
/// false < true. O(nnz(A)).
///
/// A is m × n, t of length m. One result, whatever the order it is looked for in: the same bits on every device.
///
/// # Errors
/// At the end: `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<f64> = Matrix::build(3, 3, &[(0, 0, 2.0), (0, 2, 1.0), (2, 1, 5.0)])?;
/// assert_eq!(argmin_rows(&a).eval()?.entries()?, [(0, 2), (2, 1)]);
/// assert_eq!(argmin_rows(&a).transpose_a().eval()?.entries()?, [(0, 0), (1, 2), (2, 0)]);
/// # Ok(()) }
/// ```
pub fn argmin_rows<T: Ranked, S>(a: &impl Operand<Container = Matrix<T, S>>) -> Operation<Lines<T, Vector<u64, S>>> {
    lines("argmin_rows", a, best::<T, false>)
}

/// t(i) = min { j : A(i, j) = maxₖ A(i, k) }, the column of the largest value of row i, otherwise as [`argmin_rows`]. O(nnz(A)).
///
/// # Errors
/// At the end: `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 3, &[(0, 0, 2), (0, 2, 1), (1, 1, 5), (1, 2, 5)])?;
/// assert_eq!(argmax_rows(&a).eval()?.entries()?, [(0, 0), (1, 1)]);
/// # Ok(()) }
/// ```
pub fn argmax_rows<T: Ranked, S>(a: &impl Operand<Container = Matrix<T, S>>) -> Operation<Lines<T, Vector<u64, S>>> {
    lines("argmax_rows", a, best::<T, true>)
}

fn lines<T: Ranked, S>(
    name: &'static str,
    a: &impl Operand<Container = Matrix<T, S>>,
    run: fn(&Store<T>) -> Result<Store<u64>>,
) -> Operation<Lines<T, Vector<u64, S>>> {
    Operation::new(Lines::new(name, a.operand(), run))
}

/// t = min { i : x(i) = minₖ x(k) }, the index of the smallest value, of equal ones the first; `None` without entries. O(nnz(x)).
///
/// # Errors
/// `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<f64> = Vector::build(5, &[(1, 3.0), (3, -1.0), (4, -1.0)])?;
/// assert_eq!((argmin(&x)?, argmax(&x)?), (Some(3), Some(1)));
/// let flags: Vector<bool> = Vector::build(5, &[(1, true), (3, false), (4, true)])?;
/// assert_eq!((argmin(&flags)?, argmax(&flags)?), (Some(3), Some(1)));
/// # Ok(()) }
/// ```
pub fn argmin<X>(x: &X) -> Result<Option<u64>>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
    ScalarOf<X>: Ranked,
{
    one(x, best::<ScalarOf<X>, false>)
}

/// t = min { i : x(i) = maxₖ x(k) }, the index of the largest value, otherwise as [`argmin`]. O(nnz(x)).
///
/// # Errors
/// `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<f64> = Vector::build(5, &[(1, 3.0), (3, f64::NAN), (4, 3.0)])?;
/// assert_eq!(argmax(&x)?, Some(1));
/// # Ok(()) }
/// ```
pub fn argmax<X>(x: &X) -> Result<Option<u64>>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
    ScalarOf<X>: Ranked,
{
    one(x, best::<ScalarOf<X>, true>)
}

fn one<X: Operand>(x: &X, run: fn(&Store<ScalarOf<X>>) -> Result<Store<u64>>) -> Result<Option<u64>> {
    let (x, transposed) = x.operand();
    Ok(run(&oriented(x.0, transposed)?)?.to_host()?.values.first().copied())
}

fn best<T: Ranked, const LARGEST: bool>(a: &Store<T>) -> Result<Store<u64>> {
    let a = mapping::<T, bool, OfValue<T::ToRank>>(false)(a)?;
    let at = Positions { i: a.rows.ids(), k: None, j: a.cols.ids() };
    let body = on_backend!(a.device, |backend| {
        Body::from(backend.arg_rows::<T::Rank, LARGEST>(backend.csr(&a.body)?, &at)?)
    });
    Ok(Store { rows: Axis::Full(1), cols: a.rows.clone(), body, device: a.device })
}
