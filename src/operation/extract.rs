//! extract: a part of a matrix or vector, by rows and columns.
use super::indices::{Chosen, Indices};
use super::operand::Like;
use super::region::{Part, taken};
use super::{Compute, Core, MaskParts, Operand, Operation, ScalarOf, oriented, shape_of};
use crate::algebra::Scalar;
use crate::backend::{Body, on_backend};
use crate::container::{Container, Matrix, OfMatrices, OfVectors, Owned, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::storage::axis::Axis;
use crate::storage::store::Store;
use std::marker::PhantomData;

/// Rows and columns of an operand, in the order of their indices, as a `C`.
#[derive(Debug)]
pub struct Extract<T, C> {
    core: Taking<T>,
    target: PhantomData<fn() -> C>,
}
impl<T, C> Clone for Extract<T, C> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone(), target: PhantomData }
    }
}
#[derive(Debug)]
struct Taking<T> {
    a: Store<T>,
    transposed: bool,
    rows: Indices,
    cols: Indices,
    /// A column lies down: it becomes a vector.
    column: bool,
    /// What was called, and what its indices are.
    name: &'static str,
    names: (&'static str, &'static str),
}
impl<T> Clone for Taking<T> {
    fn clone(&self) -> Self {
        Self { a: self.a.clone(), rows: self.rows.clone(), cols: self.cols.clone(), ..*self }
    }
}

impl<T: Scalar, C> Extract<T, C> {
    fn new(
        name: &'static str,
        a: &impl Operand<Container: Container<Scalar = T>>,
        rows: impl Into<Indices>,
        cols: impl Into<Indices>,
    ) -> Self {
        let ((a, transposed), rows, cols) = (a.operand(), rows.into(), cols.into());
        let core = Taking { a: a.0.clone(), transposed, rows, cols, column: false, name, names: ("row", "column") };
        Self { core, target: PhantomData }
    }
}

/// T(p, q) = A(`rows[p]`, `cols[q]`): a sub-matrix; indices may come in any order and more than once.
/// O(entries of the rows taken), times the logarithm of a row's length where columns are not ascending; of few columns of a
/// [`Csc`](crate::Format::Csc) O(their entries), and the same of a matrix seen transposed whose few rows are asked for.
///
/// T has as many rows and columns as there are indices. GraphBLAS C API 2.1, GrB_extract. Values are moved, the same bits on every device.
///
/// # Errors
/// At the end: `IndexOutOfBounds` naming the position in the list; `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(3, 3, &[(0, 1, 7), (1, 0, 8), (2, 2, 9)])?;
/// assert_eq!(extract(&a, 1.., ..2).eval()?.entries()?, [(0, 0, 8)]);
/// assert_eq!(extract(&a, [2, 0], [2, 1]).eval()?.entries()?, [(0, 0, 9), (1, 1, 7)]);
/// assert_eq!(extract(&a, .., Indices::stride(2, -1, 3)).transpose_a().eval()?.entries()?, [(0, 1, 8), (1, 2, 7), (2, 0, 9)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_extract", "submatrix", "subgraph", "slice"))]
pub fn extract<T: Scalar, S>(
    a: &impl Operand<Container = Matrix<T, S>>,
    rows: impl Into<Indices>,
    cols: impl Into<Indices>,
) -> Operation<Extract<T, Matrix<T, S>>> {
    Operation::new(Extract::new("extract", a, rows, cols))
}

/// T(r, :) = A(`rows[r]`, :); an index may occur more than once. O(rows + nnz(T)).
///
/// T has as many rows as there are indices, and the columns of A. Values are moved, the same bits on every device.
///
/// # Errors
/// At the end: `IndexOutOfBounds` naming the position in the list; `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 7), (1, 0, 8)])?;
/// assert_eq!(extract_rows(&a, [1, 1, 0]).eval()?.entries()?, [(0, 0, 8), (1, 0, 8), (2, 1, 7)]);
/// assert_eq!(extract_rows(&a, 1..).eval()?.entries()?, [(0, 0, 8)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_extract", "take"))]
pub fn extract_rows<T: Scalar, S>(
    a: &impl Operand<Container = Matrix<T, S>>,
    rows: impl Into<Indices>,
) -> Operation<Extract<T, Matrix<T, S>>> {
    Operation::new(Extract::new("extract_rows", a, rows, ..))
}

/// t(p) = u(`indices[p]`). O(nnz(u)), times the logarithm of that where indices are not ascending; on the CPU O(indices), that times the
/// logarithm of nnz(u), or O(length of u), whichever is least.
///
/// t is as long as there are indices. GraphBLAS C API 2.1, GrB_extract. Values are moved, the same bits on every device.
///
/// # Errors
/// As [`extract`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let u: Vector<i32> = Vector::build(4, &[(1, 7), (3, 8)])?;
/// assert_eq!(extract_vector(&u, [3, 0, 3]).eval()?.entries()?, [(0, 8), (2, 8)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_extract", "slice"))]
pub fn extract_vector<X>(u: &X, indices: impl Into<Indices>) -> Operation<Extract<ScalarOf<X>, Like<X, ScalarOf<X>>>>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
{
    let mut kernel = Extract::new("extract_vector", u, .., indices);
    kernel.core.names.1 = "index";
    Operation::new(kernel)
}

/// t(q) = A(i, `cols[q]`): a row as a vector. O(cols + the row's entries); of a matrix seen transposed as [`extract_column`].
///
/// t is as long as there are columns asked for. Values are moved, the same bits on every device.
///
/// # Errors
/// As [`extract`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 3, &[(0, 1, 7), (1, 0, 8), (1, 2, 9)])?;
/// assert_eq!(extract_row(&a, 1, ..).eval()?.entries()?, [(0, 8), (2, 9)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_extract", "getrow"))]
pub fn extract_row<T: Scalar, S>(
    a: &impl Operand<Container = Matrix<T, S>>,
    row: u64,
    cols: impl Into<Indices>,
) -> Operation<Extract<T, Vector<T, S>>> {
    Operation::new(Extract::new("extract_row", a, Indices::one(row), cols))
}

/// t(p) = A(`rows[p]`, j): a column as a vector. O(entries of the rows), of a [`Csc`](crate::Format::Csc) and of a matrix whose transpose is
/// kept O(rows + the column's entries); of a matrix seen transposed as [`extract_row`].
///
/// t is as long as there are rows asked for. GraphBLAS C API 2.1, GrB_Col_extract. Values are moved, the same bits on every device.
///
/// # Errors
/// As [`extract`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(3, 2, &[(0, 1, 7), (1, 0, 8), (2, 1, 9)])?;
/// assert_eq!(extract_column(&a, .., 1).eval()?.entries()?, [(0, 7), (2, 9)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_Col_extract", "getcol"))]
pub fn extract_column<T: Scalar, S>(
    a: &impl Operand<Container = Matrix<T, S>>,
    rows: impl Into<Indices>,
    column: u64,
) -> Operation<Extract<T, Vector<T, S>>> {
    let mut kernel = Extract::new("extract_column", a, rows, Indices::one(column));
    kernel.core.column = true;
    Operation::new(kernel)
}

impl<T: Scalar, C: Container<Kind = OfMatrices>, F> Operation<Extract<T, C>, F> {
    /// A is read transposed. O(1) here; at the end its rows are columns of A, O(m + n + nnz) where no transpose is kept.
    pub fn transpose_a(mut self) -> Self {
        self.kernel.core.transposed = !self.kernel.core.transposed;
        self
    }
}

impl<T: Scalar, C: Container<Scalar = T>> Compute for Extract<T, C> {
    type Target = C;
    fn core(&self) -> &dyn Core<T> {
        &self.core
    }
}
impl<T: Scalar> Taking<T> {
    fn part(&self) -> Result<Part> {
        let (rows, cols) = shape_of(&self.a, self.transposed);
        Ok(Part {
            rows: self.rows.within(self.name, self.names.0, rows)?,
            cols: self.cols.within(self.name, self.names.1, cols)?,
        })
    }
}
impl<T: Scalar> Core<T> for Taking<T> {
    fn name(&self) -> &'static str {
        self.name
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        let (rows, cols) = self.part()?.shape();
        Ok((if self.column { (cols, rows) } else { (rows, cols) }, self.a.device))
    }
    fn compute(&self, _: Option<&MaskParts>) -> Result<(Owned<T>, bool)> {
        let part = self.part()?;
        // What is taken is turned, not what it is taken from.
        let part = if self.transposed { part.transposed() } else { part };
        let turns = self.transposed != self.column;
        if by_columns(&self.a, &part) {
            let taken = taken(self.name, &oriented(&self.a, true)?, &part.transposed())?;
            return Ok((Owned(oriented(&taken, !turns)?), false));
        }
        if turns && matches!(part.rows, Chosen::All(_)) && part.cols.count() == 1 {
            let (a, place) = (&self.a, self.a.cols.place(part.cols.index(0)).map(|place| place as u32));
            let body = on_backend!(a.device, |backend| {
                let csr = backend.csr(&a.body)?;
                match place {
                    Some(column) => backend.one_column(csr, column)?,
                    None => backend.one_a_row(csr, &|_| None)?,
                }
                .map(Body::from)
            });
            if let Some(body) = body {
                let line = Store { rows: Axis::Full(1), cols: a.rows.clone(), body, device: a.device };
                return Ok((Owned(crate::format::still_iso(a, line)?), false));
            }
        }
        if !turns
            && part.rows.count() == 1
            && let Some(row) = super::gather::gathered(self.name, &self.a, &part.cols)?
        {
            return Ok((Owned(row), false));
        }
        let taken = taken(self.name, &self.a, &part)?;
        Ok((Owned(oriented(&taken, turns)?), false))
    }
}

/// Whether few columns of a matrix that is stored by columns are asked for, and more of its rows: its columns are there to be taken.
fn by_columns<T: Scalar>(a: &Store<T>, part: &Part) -> bool {
    // Less than this part of a dimension is few beside all of the other: what is taken has to be turned, if it is a matrix.
    const FEW: u128 = 4;
    let stored = match &a.body {
        Body::Held(h) => h.frame.has_columns(),
        #[cfg(feature = "cuda")]
        Body::CudaHeld(h) => h.frame.has_columns(),
        _ => false,
    };
    let ((m, n), (rows, cols)) = (a.shape(), part.shape());
    stored && u128::from(cols) * u128::from(m) * FEW <= u128::from(rows) * u128::from(n)
}
