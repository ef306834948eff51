//! assign and subassign: a part of a matrix or vector written.
use super::assignment::{Assignment, Shape, Source};
use super::indices::Indices;
use super::{Operand, ScalarOf};
use crate::algebra::Scalar;
use crate::container::{Container, Matrix, OfMatrices, OfVectors};

/// C(rows, cols)⟨M⟩ ⊙= A: the entry A(p, q) goes to (`rows[p]`, `cols[q]`); where an index occurs more than once, the last
/// counts. Mask and replace reach all of C. O(nnz(C) + nnz(A)), and of A's rows times the logarithm of their lengths
/// where columns are not ascending; on the host a small A over a range that C has entries at already costs what A does.
///
/// A has as many rows and columns as there are indices. GraphBLAS C API 2.1, GrB_assign.
///
/// # Errors
/// At the end, see [`Assignment::into`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut c: Matrix<i32> = Matrix::build(3, 3, &[(0, 0, 1), (1, 1, 2), (2, 2, 3)])?;
/// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 7), (1, 0, 8)])?;
/// assign(&a, 1.., [2, 0]).into(&mut c)?;
/// assert_eq!(c.entries()?, [(0, 0, 1), (1, 0, 7), (1, 1, 2), (2, 2, 8)]);
/// # Ok(()) }
/// ```
#[doc(alias = "GrB_assign")]
pub fn assign<T: Scalar, S>(
    a: &impl Operand<Container = Matrix<T, S>>,
    rows: impl Into<Indices>,
    cols: impl Into<Indices>,
) -> Assignment<T, OfMatrices> {
    Assignment::of("assign", a, rows.into(), cols.into())
}

/// w(indices)⟨m⟩ ⊙= u; mask and replace reach all of w. O(nnz(w) + nnz(u)), as [`assign`]; without a mask O(indices) where w is full or a
/// [`Bitmap`](crate::Format::Bitmap) on the CPU that nobody shares, which a w with much assigned to it becomes by itself.
///
/// u is as long as there are indices. GraphBLAS C API 2.1, GrB_assign.
///
/// # Errors
/// At the end, see [`Assignment::into`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut w: Vector<i32> = Vector::build(4, &[(0, 1), (2, 2), (3, 3)])?;
/// let u: Vector<i32> = Vector::build(2, &[(0, 7)])?;
/// assign_vector(&u, 1..3).into(&mut w)?;
/// assert_eq!(w.entries()?, [(0, 1), (1, 7), (3, 3)]);
/// # Ok(()) }
/// ```
#[doc(alias = "GrB_assign")]
pub fn assign_vector<X>(u: &X, indices: impl Into<Indices>) -> Assignment<ScalarOf<X>, OfVectors>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
{
    let mut assignment = Assignment::of("assign_vector", u, (..).into(), indices.into());
    assignment.core.names.1 = "index";
    assignment
}

/// C(i, cols)⟨m⟩ ⊙= u; the mask is a vector as long as the row, and it and replace reach this row alone.
/// O(nnz(C) + nnz(u)); without a mask on the host what is not the row is moved along at most, or stays.
///
/// u is as long as there are columns asked for. GraphBLAS C API 2.1, GrB_Row_assign.
///
/// # Errors
/// At the end, see [`Assignment::into`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut c: Matrix<i32> = Matrix::build(2, 3, &[(0, 0, 1), (1, 0, 2), (1, 1, 3)])?;
/// let u: Vector<i32> = Vector::build(2, &[(1, 7)])?;
/// assign_row(&u, 1, 1..).into(&mut c)?;
/// assert_eq!(c.entries()?, [(0, 0, 1), (1, 0, 2), (1, 2, 7)]);
/// # Ok(()) }
/// ```
#[doc(alias = "GrB_Row_assign")]
pub fn assign_row<X>(u: &X, row: u64, cols: impl Into<Indices>) -> Assignment<ScalarOf<X>, OfMatrices>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
{
    let mut assignment = Assignment::of("assign_row", u, Indices::one(row), cols.into());
    assignment.core.shape = Shape::Row;
    assignment
}

/// C(rows, j)⟨m⟩ ⊙= u; the mask is a vector as long as the column, and it and replace reach this column alone.
/// O(nnz(C) + nnz(u)).
///
/// u is as long as there are rows asked for. GraphBLAS C API 2.1, GrB_Col_assign.
///
/// # Errors
/// At the end, see [`Assignment::into`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut c: Matrix<i32> = Matrix::build(3, 2, &[(0, 1, 1), (1, 0, 2), (2, 1, 3)])?;
/// let u: Vector<i32> = Vector::build(2, &[(1, 7)])?;
/// assign_column(&u, ..2, 1).into(&mut c)?;
/// assert_eq!(c.entries()?, [(1, 0, 2), (1, 1, 7), (2, 1, 3)]);
/// # Ok(()) }
/// ```
#[doc(alias = "GrB_Col_assign")]
pub fn assign_column<X>(u: &X, rows: impl Into<Indices>, column: u64) -> Assignment<ScalarOf<X>, OfMatrices>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
{
    let (u, _) = u.operand();
    let mut assignment =
        Assignment::new("assign_column", Source::Store(u.0.clone(), true), rows.into(), Indices::one(column));
    assignment.core.shape = Shape::Column;
    assignment
}

/// C(rows, cols)⟨M⟩ ⊙= x at every position of the region; mask and replace reach all of C. With a mask that is not
/// complemented O(nnz(C) + nnz(M)), else O(nnz(C) + rows · cols).
///
/// GraphBLAS C API 2.1, GrB_assign of a value.
///
/// # Errors
/// At the end, see [`Assignment::into`]; `InvalidValue` for a value at every index of a dimension of 2³² or more, `IndexOverflow` for
/// one at so many of its indices.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut c: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (1, 1, 2)])?;
/// assign_scalar(9, .., 1..).into(&mut c)?;
/// assert_eq!(c.entries()?, [(0, 0, 1), (0, 1, 9), (1, 1, 9)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_assign", "fill"))]
pub fn assign_scalar<T: Scalar>(
    value: T,
    rows: impl Into<Indices>,
    cols: impl Into<Indices>,
) -> Assignment<T, OfMatrices> {
    Assignment::new("assign_scalar", Source::Value(Some(value)), rows.into(), cols.into())
}

/// w(indices)⟨m⟩ ⊙= x at every index; mask and replace reach all of w. With a mask that is not complemented
/// O(nnz(w) + nnz(m)), else O(nnz(w) + indices); without the nnz(w) where w is full or a [`Bitmap`](crate::Format::Bitmap) that nobody shares,
/// which a w to which little is assigned again and again becomes by itself.
///
/// GraphBLAS C API 2.1, GrB_assign of a value.
///
/// # Errors
/// As [`assign_scalar`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let frontier: Vector<bool> = Vector::build(4, &[(1, true), (2, true)])?;
/// let mut levels: Vector<u32> = Vector::build(4, &[(0, 0)])?;
/// assign_scalar_vector(1, ..).mask(&frontier).into(&mut levels)?;
/// assert_eq!(levels.entries()?, [(0, 0), (1, 1), (2, 1)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_assign", "fill"))]
pub fn assign_scalar_vector<T: Scalar>(value: T, indices: impl Into<Indices>) -> Assignment<T, OfVectors> {
    let mut assignment =
        Assignment::new("assign_scalar_vector", Source::Value(Some(value)), (..).into(), indices.into());
    assignment.core.names.1 = "index";
    assignment
}

/// C(rows, cols)⟨M⟩ = nothing: the empty scalar assigned. The region's entries are deleted where the mask of C's shape
/// admits; with an accumulator nothing is. O(nnz(C)).
///
/// GraphBLAS C API 2.1, GrB_assign of an empty GrB_Scalar.
///
/// # Errors
/// At the end, see [`Assignment::into`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut c: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (1, 0, 2), (1, 1, 3)])?;
/// assign_empty::<i32>(1.., ..).into(&mut c)?;
/// assert_eq!(c.entries()?, [(0, 0, 1)]);
/// # Ok(()) }
/// ```
pub fn assign_empty<T: Scalar>(rows: impl Into<Indices>, cols: impl Into<Indices>) -> Assignment<T, OfMatrices> {
    Assignment::new("assign_empty", Source::Value(None), rows.into(), cols.into())
}

/// w(indices)⟨m⟩ = nothing, as [`assign_empty`]. O(nnz(w)); O(nnz(m)) of all indices of a [`Bitmap`](crate::Format::Bitmap) on the CPU
/// that nobody shares, with a mask that is not complemented.
///
/// GraphBLAS C API 2.1, GrB_assign of an empty GrB_Scalar.
///
/// # Errors
/// At the end, see [`Assignment::into`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut w: Vector<i32> = Vector::build(3, &[(0, 1), (2, 2)])?;
/// assign_empty_vector::<i32>(..2).into(&mut w)?;
/// assert_eq!(w.entries()?, [(2, 2)]);
/// # Ok(()) }
/// ```
pub fn assign_empty_vector<T: Scalar>(indices: impl Into<Indices>) -> Assignment<T, OfVectors> {
    let mut assignment = Assignment::new("assign_empty_vector", Source::Value(None), (..).into(), indices.into());
    assignment.core.names.1 = "index";
    assignment
}

/// C(rows, cols)⟨M⟩ ⊙= A as [`assign`], but the mask has the region's shape, A's, and nothing outside the region changes.
/// O(nnz(C) + nnz(A)), as [`assign`].
///
/// SuiteSparse:GraphBLAS, GxB_subassign.
///
/// # Errors
/// At the end, see [`Assignment::into`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut c: Matrix<i32> = Matrix::build(3, 3, &[(0, 0, 1), (1, 1, 2), (2, 2, 3)])?;
/// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 7), (1, 0, 8)])?;
/// let mask: Matrix<bool> = Matrix::build(2, 2, &[(1, 0, true)])?;
/// subassign(&a, 1.., 1..).mask(&mask).replace().into(&mut c)?;
/// assert_eq!(c.entries()?, [(0, 0, 1), (2, 1, 8)]);
/// # Ok(()) }
/// ```
#[doc(alias = "GxB_subassign")]
pub fn subassign<T: Scalar, S>(
    a: &impl Operand<Container = Matrix<T, S>>,
    rows: impl Into<Indices>,
    cols: impl Into<Indices>,
) -> Assignment<T, OfMatrices> {
    assign(a, rows, cols).sub("subassign")
}

/// w(indices)⟨m⟩ ⊙= u as [`assign_vector`], with a mask as long as u that reaches these indices alone. O(nnz(w) + nnz(u)).
///
/// SuiteSparse:GraphBLAS, GxB_subassign.
///
/// # Errors
/// At the end, see [`Assignment::into`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut w: Vector<i32> = Vector::build(4, &[(0, 1), (2, 2), (3, 3)])?;
/// let (u, mask) = (Vector::<i32>::build(2, &[(0, 7), (1, 8)])?, Vector::<bool>::build(2, &[(1, true)])?);
/// subassign_vector(&u, 2..).mask(&mask).replace().into(&mut w)?;
/// assert_eq!(w.entries()?, [(0, 1), (3, 8)]);
/// # Ok(()) }
/// ```
#[doc(alias = "GxB_subassign")]
pub fn subassign_vector<X>(u: &X, indices: impl Into<Indices>) -> Assignment<ScalarOf<X>, OfVectors>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
{
    assign_vector(u, indices).sub("subassign_vector")
}

/// C(i, cols)⟨m⟩ ⊙= u as [`assign_row`], with a mask as long as u that reaches these columns alone. O(nnz(C) + nnz(u)).
///
/// SuiteSparse:GraphBLAS, GxB_Row_subassign.
///
/// # Errors
/// At the end, see [`Assignment::into`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut c: Matrix<i32> = Matrix::build(2, 3, &[(0, 0, 1), (1, 0, 2), (1, 1, 3)])?;
/// let (u, mask) = (Vector::<i32>::build(2, &[(0, 7), (1, 8)])?, Vector::<bool>::build(2, &[(1, true)])?);
/// subassign_row(&u, 1, 1..).mask(&mask).replace().into(&mut c)?;
/// assert_eq!(c.entries()?, [(0, 0, 1), (1, 0, 2), (1, 2, 8)]);
/// # Ok(()) }
/// ```
#[doc(alias = "GxB_Row_subassign")]
pub fn subassign_row<X>(u: &X, row: u64, cols: impl Into<Indices>) -> Assignment<ScalarOf<X>, OfMatrices>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
{
    assign_row(u, row, cols).sub("subassign_row")
}

/// C(rows, j)⟨m⟩ ⊙= u as [`assign_column`], with a mask as long as u that reaches these rows alone. O(nnz(C) + nnz(u)).
///
/// SuiteSparse:GraphBLAS, GxB_Col_subassign.
///
/// # Errors
/// At the end, see [`Assignment::into`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut c: Matrix<i32> = Matrix::build(3, 2, &[(0, 1, 1), (1, 1, 2), (2, 0, 3)])?;
/// let (u, mask) = (Vector::<i32>::build(2, &[(0, 7), (1, 8)])?, Vector::<bool>::build(2, &[(1, true)])?);
/// subassign_column(&u, 1.., 1).mask(&mask).replace().into(&mut c)?;
/// assert_eq!(c.entries()?, [(0, 1, 1), (2, 0, 3), (2, 1, 8)]);
/// # Ok(()) }
/// ```
#[doc(alias = "GxB_Col_subassign")]
pub fn subassign_column<X>(u: &X, rows: impl Into<Indices>, column: u64) -> Assignment<ScalarOf<X>, OfMatrices>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
{
    assign_column(u, rows, column).sub("subassign_column")
}

/// C(rows, cols)⟨M⟩ ⊙= x as [`assign_scalar`], with a mask of the region's shape that reaches the region alone.
/// O(nnz(C) + nnz(M)) with a mask that is not complemented, else O(nnz(C) + rows · cols).
///
/// SuiteSparse:GraphBLAS, GxB_subassign of a value.
///
/// # Errors
/// As [`assign_scalar`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut c: Matrix<i32> = Matrix::build(3, 3, &[(0, 0, 1), (1, 1, 2), (2, 2, 3)])?;
/// let mask: Matrix<bool> = Matrix::build(2, 2, &[(0, 1, true)])?;
/// subassign_scalar(9, 1.., 1..).mask(&mask).replace().into(&mut c)?;
/// assert_eq!(c.entries()?, [(0, 0, 1), (1, 2, 9)]);
/// # Ok(()) }
/// ```
#[doc(alias = "GxB_subassign")]
pub fn subassign_scalar<T: Scalar>(
    value: T,
    rows: impl Into<Indices>,
    cols: impl Into<Indices>,
) -> Assignment<T, OfMatrices> {
    assign_scalar(value, rows, cols).sub("subassign_scalar")
}

/// w(indices)⟨m⟩ ⊙= x as [`assign_scalar_vector`], with a mask as long as the indices that reaches these alone.
/// O(nnz(w) + nnz(m)) with a mask that is not complemented, else O(nnz(w) + indices).
///
/// SuiteSparse:GraphBLAS, GxB_subassign of a value.
///
/// # Errors
/// As [`assign_scalar`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut w: Vector<i32> = Vector::build(4, &[(0, 1), (2, 2), (3, 3)])?;
/// let mask: Vector<bool> = Vector::build(2, &[(1, true)])?;
/// subassign_scalar_vector(9, 2..).mask(&mask).replace().into(&mut w)?;
/// assert_eq!(w.entries()?, [(0, 1), (3, 9)]);
/// # Ok(()) }
/// ```
#[doc(alias = "GxB_subassign")]
pub fn subassign_scalar_vector<T: Scalar>(value: T, indices: impl Into<Indices>) -> Assignment<T, OfVectors> {
    assign_scalar_vector(value, indices).sub("subassign_scalar_vector")
}
