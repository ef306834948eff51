//! Diagonals: matrices made of one, the one of a matrix, and what lies below and above.
use super::places::reaches_beyond;
use super::region::{Part, spread, taken};
use super::{Compute, Core, MaskParts, OfOne, Operand, Operation, ScalarOf, select, shape_of};
use crate::algebra::{Any, Diag, Scalar, Tril, Triu};
use crate::backend::cpu::among;
use crate::backend::places::NONE;
use crate::backend::{Body, Positions, on_backend};
use crate::container::{Container, Matrix, OfMatrices, Owned, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::operation::indices::Chosen;
use crate::storage::axis::Axis;
use crate::storage::store::Store;
use std::marker::PhantomData;

/// A vector on a diagonal, or a diagonal as a vector: `C`.
#[derive(Debug)]
pub struct Diagonal<T, C> {
    core: On<T>,
    target: PhantomData<fn() -> C>,
}
#[derive(Debug)]
struct On<T> {
    a: Store<T>,
    transposed: bool,
    k: i64,
    extract: bool,
}
impl<T, C> Clone for Diagonal<T, C> {
    fn clone(&self) -> Self {
        Self { core: On { a: self.core.a.clone(), ..self.core }, target: PhantomData }
    }
}

/// T = the square matrix of v's length + |k| whose k-th diagonal is v: T(i, i + k) = v(i) for k ≥ 0, else
/// T(i − k, i) = v(i). O(n + nnz(v)).
///
/// GraphBLAS C API 2.1, GrB_Matrix_diag. Values are moved, the same bits on every device.
///
/// # Errors
/// At the end: `IndexOverflow` where the length passes 2⁶⁴ − 1, `OutOfMemory`, and the device's own.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let v: Vector<i32> = Vector::build(2, &[(0, 3), (1, 4)])?;
/// assert_eq!(diag(&v, 0).eval()?.entries()?, [(0, 0, 3), (1, 1, 4)]);
/// assert_eq!(diag(&v, -1).eval()?.entries()?, [(1, 0, 3), (2, 1, 4)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_Matrix_diag", "diags"))]
pub fn diag<T: Scalar, S>(v: &Vector<T, S>, k: i64) -> Operation<Diagonal<T, Matrix<T, S>>> {
    let core = On { a: v.parts().0.clone(), transposed: false, k, extract: false };
    Operation::new(Diagonal { core, target: PhantomData })
}

/// t = the k-th diagonal of A: t(i) = A(i, i + k) for k ≥ 0, else A(i − k, i); empty beyond the corners.
/// O(nnz(A)).
///
/// Of A m × n, t has the length of the diagonal. SuiteSparse:GraphBLAS, GxB_Vector_diag. Values are moved, the same bits on every device.
///
/// # Errors
/// At the end: `OutOfMemory`, and the device's own.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 3, &[(0, 0, 1), (0, 1, 2), (1, 2, 3)])?;
/// let d = diag_extract(&a, 1).eval()?;
/// assert_eq!((d.len(), d.entries()?), (2, vec![(0, 2), (1, 3)]));
/// # Ok(()) }
/// ```
#[doc(alias("GxB_Vector_diag", "diagonal"))]
pub fn diag_extract<T: Scalar, S>(
    a: &impl Operand<Container = Matrix<T, S>>,
    k: i64,
) -> Operation<Diagonal<T, Vector<T, S>>> {
    let (a, transposed) = a.operand();
    let core = On { a: a.0.clone(), transposed, k, extract: true };
    Operation::new(Diagonal { core, target: PhantomData })
}

impl<T: Scalar, S, F> Operation<Diagonal<T, Vector<T, S>>, F> {
    /// A is read transposed: the diagonal −k. O(1).
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 2), (1, 0, 3)])?;
    /// assert_eq!(diag_extract(&a, 1).transpose_a().eval()?.entries()?, [(0, 3)]);
    /// # Ok(()) }
    /// ```
    pub fn transpose_a(mut self) -> Self {
        self.kernel.core.transposed = !self.kernel.core.transposed;
        self
    }
}

/// T = the entries of A on and below the k-th diagonal: j − i ≤ k. O(nnz(A)).
///
/// A and T are m × n. GraphBLAS C API 2.1, GrB_select by GrB_TRIL. Values are moved, the same bits on every device.
///
/// # Errors
/// At the end: `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (0, 1, 2), (1, 0, 3)])?;
/// assert_eq!(tril(&a, 0).eval()?.entries()?, [(0, 0, 1), (1, 0, 3)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_TRIL", "lower_triangle"))]
pub fn tril<X>(a: &X, k: i64) -> Operation<OfOne<ScalarOf<X>, X::Container>>
where
    X: Operand<Container: Container<Kind = OfMatrices>>,
{
    select(a, Tril, k)
}

/// T = the entries of A on and above the k-th diagonal: j − i ≥ k. O(nnz(A)).
///
/// A and T are m × n. GraphBLAS C API 2.1, GrB_select by GrB_TRIU. Values are moved, the same bits on every device.
///
/// # Errors
/// At the end: `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (0, 1, 2), (1, 0, 3)])?;
/// assert_eq!(triu(&a, 1).eval()?.entries()?, [(0, 1, 2)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_TRIU", "upper_triangle"))]
pub fn triu<X>(a: &X, k: i64) -> Operation<OfOne<ScalarOf<X>, X::Container>>
where
    X: Operand<Container: Container<Kind = OfMatrices>>,
{
    select(a, Triu, k)
}

impl<T: Scalar, C: Container<Scalar = T>> Compute for Diagonal<T, C> {
    type Target = C;
    fn core(&self) -> &dyn Core<T> {
        &self.core
    }
}

impl<T: Scalar> On<T> {
    /// The first row and column of the diagonal, and its length.
    fn line(&self) -> (u64, u64, u64) {
        let (m, n) = shape_of(&self.a, self.transposed);
        let (down, right) = if self.k < 0 { (self.k.unsigned_abs(), 0) } else { (0, self.k.unsigned_abs()) };
        (down, right, m.saturating_sub(down).min(n.saturating_sub(right)))
    }
}

impl<T: Scalar> Core<T> for On<T> {
    fn name(&self) -> &'static str {
        if self.extract { "diag_extract" } else { "diag" }
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        if self.extract {
            return Ok(((1, self.line().2), self.a.device));
        }
        let value = u128::from(self.a.cols.n()) + u128::from(self.k.unsigned_abs());
        let n = u64::try_from(value).map_err(|_| Error::IndexOverflow {
            operation: "diag",
            what: "length",
            value,
            limit: u128::from(u64::MAX),
        })?;
        Ok(((n, n), self.a.device))
    }
    fn compute(&self, _: Option<&MaskParts>) -> Result<(Owned<T>, bool)> {
        let ((n, _), name) = (self.check()?.0, self.name());
        let t = if self.extract { self.extracted()? } else { self.placed(n, name)? };
        Ok((Owned(t), false))
    }
}

impl<T: Scalar> On<T> {
    fn placed(&self, n: u64, name: &'static str) -> Result<Store<T>> {
        let (fewer, shift) = (self.a.listed((false, true), name)?, self.k.unsigned_abs());
        let v = fewer.as_ref().unwrap_or(&self.a);
        let body = on_backend!(v.device, |backend| { Body::from(backend.diagonal(backend.csr(&v.body)?)?) });
        let square = Store { rows: v.cols.clone(), cols: v.cols.clone(), body, device: v.device };
        let length = v.cols.n();
        if shift == 0 {
            return Ok(square);
        }
        let (low, high) = (Chosen::Range(0..length), Chosen::Range(shift..shift + length));
        let part = if self.k < 0 { Part { rows: high, cols: low } } else { Part { rows: low, cols: high } };
        let target = v.cols.like(n);
        spread(name, &square, &part, (&target, &target))
    }
    fn extracted(&self) -> Result<Store<T>> {
        let (down, right, length) = self.line();
        let (k, first) = match self.transposed {
            true => (-i128::from(self.k), right),
            false => (i128::from(self.k), down),
        };
        if length == 0 {
            return Store::empty(self.name(), 1, length, self.a.device);
        }
        let a = &self.a;
        // Beyond what an operator compares, the host looks for columns.
        let beyond = i64::try_from(k).is_err() || reaches_beyond(&a.rows) || reaches_beyond(&a.cols);
        if beyond && a.device != Device::Cpu {
            return On { a: a.to(Device::Cpu)?, ..*self }.extracted()?.to(a.device);
        }
        let at = Positions { i: a.rows.ids(), k: None, j: a.cols.ids() };
        // The diagonal's column in a row.
        let index = |row: usize| u64::try_from(i128::from(a.rows.id(row)) + k).ok();
        let listed = match (&a.cols, a.device) {
            (Axis::Listed { ids, .. }, Device::Cpu) => Some(among(self.name(), a.rows.places(), index, ids)?),
            _ => None,
        };
        let column = |row: usize| match &listed {
            Some(places) => places.get(row).copied().filter(|place| *place != NONE),
            None => index(row).and_then(|j| a.cols.place(j)).map(|place| place as u32),
        };
        let body = on_backend!(a.device, |backend| {
            match backend.one_a_row(backend.csr(&a.body)?, &column)? {
                Some(found) => Body::from(found),
                // One entry a row at most: their sum is that entry.
                None => {
                    let kept = backend.select::<T, i64, Diag>(backend.csr(&a.body)?, k as i64, &at)?;
                    Body::from(backend.reduce_rows::<T, Any>(&kept)?)
                }
            }
        });
        let rows = Store { rows: Axis::Full(1), cols: a.rows.clone(), body, device: a.device };
        if (first, length) == (0, rows.cols.n()) {
            return Ok(rows);
        }
        let part = Part { rows: Chosen::All(1), cols: Chosen::Range(first..first + length) };
        taken(self.name(), &rows, &part)
    }
}
