//! assign and subassign: a part of a matrix or vector written.
use super::indices::{Chosen, Indices};
use super::region::{Part, dense, spread, within};
use super::{MaskParts, Operand, Overwrite, ScalarOf, With, mask_parts, oriented, same_shape, shape_of};
use crate::algebra::Scalar;
use crate::backend::places::{Assigned, Region, Within};
use crate::backend::{Body, MaskBody, on_backend};
use crate::container::{Container, Matrix, OfMatrices, OfVectors, Owned};
use crate::error::Result;
use crate::mask::{AsMask, Mask};
use crate::operation::Accumulate;
use crate::storage::store::{PatternStore, Store, same_device};
use std::marker::PhantomData;

/// An assignment that has not run yet: of values of `T`, into a container of the kind `K`; `F` is how they meet old ones.
///
/// Let Z be C, but inside the region C ⊙ T with an accumulator and T without one: there entries of C that T lacks are
/// deleted. Where the mask admits, C becomes Z; elsewhere it stays, or is deleted with [`replace`](Assignment::replace).
/// The functions `assign…` have a mask of the shape of C, which replace reaches all of (of one of its rows or columns
/// for `assign_row` and `assign_column`); the functions `subassign…` have a mask of the shape of the region, and nothing
/// outside the region changes.
#[must_use = "a builder does nothing until .into()"]
#[derive(Debug)]
pub struct Assignment<T, K, F = Overwrite> {
    core: Core<T>,
    replace: bool,
    mask: Option<Mask>,
    kind: PhantomData<fn() -> (K, F)>,
}
#[derive(Debug)]
struct Core<T> {
    name: &'static str,
    source: Source<T>,
    rows: Indices,
    cols: Indices,
    names: (&'static str, &'static str),
    shape: Shape,
    /// The mask is the region's.
    sub: bool,
}
#[derive(Debug)]
enum Source<T> {
    /// A store, to be read transposed or not.
    Store(Store<T>, bool),
    /// One value everywhere, or no value anywhere.
    Value(Option<T>),
}
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    All,
    Row,
    /// Vectors of its shape lie down.
    Column,
}
impl<T, K, F> Clone for Assignment<T, K, F>
where
    T: Copy,
{
    fn clone(&self) -> Self {
        let source = match &self.core.source {
            Source::Store(store, transposed) => Source::Store(store.clone(), *transposed),
            Source::Value(value) => Source::Value(*value),
        };
        let core = Core { source, rows: self.core.rows.clone(), cols: self.core.cols.clone(), ..self.core };
        Self { core, mask: self.mask.clone(), ..*self }
    }
}

impl<T: Scalar, K> Assignment<T, K> {
    fn new(name: &'static str, source: Source<T>, rows: Indices, cols: Indices) -> Self {
        let core = Core { name, source, rows, cols, names: ("row", "column"), shape: Shape::All, sub: false };
        Self { core, replace: false, mask: None, kind: PhantomData }
    }
    fn of(
        name: &'static str,
        a: &impl Operand<Container: Container<Scalar = T>>,
        rows: Indices,
        cols: Indices,
    ) -> Self {
        let (a, transposed) = a.operand();
        Self::new(name, Source::Store(a.0.clone(), transposed), rows, cols)
    }
    fn sub(mut self, name: &'static str) -> Self {
        self.core.name = name;
        self.core.sub = true;
        self
    }
}

impl<T, K, F> Assignment<T, K, F> {
    /// Only what the mask admits is written. The last call counts.
    pub fn mask(mut self, mask: &impl AsMask) -> Self {
        self.mask = Some(mask.as_mask());
        self
    }
    /// Entries within the mask's reach that it does not admit are deleted.
    pub fn replace(mut self) -> Self {
        self.replace = true;
        self
    }
    /// The values meet old entries by `op`; nothing is deleted for want of a value.
    pub fn accumulate<G>(self, _op: G) -> Assignment<T, K, With<G>> {
        Assignment { core: self.core, replace: self.replace, mask: self.mask, kind: PhantomData }
    }
}

impl<T: Scalar, K, F> Assignment<T, K, F> {
    /// The part of `c` is written. `c` is untouched on error, and may be an operand or the mask.
    ///
    /// # Errors
    /// `IndexOutOfBounds` naming the position, `DimensionMismatch`, `DeviceMismatch`, `OutOfMemory`, and the device's own.
    pub fn into<C>(self, c: &mut C) -> Result<()>
    where
        C: Container<Kind = K>,
        F: Accumulate<C::Scalar, T>,
    {
        let made = self.core.assigned::<_, F>(self.mask.as_ref(), self.replace, c.parts().0)?;
        c.replace_with(made);
        Ok(())
    }
}

impl<T: Scalar, F> Assignment<T, OfMatrices, F> {
    /// A is read transposed; a vector or a scalar is what it is.
    pub fn transpose_a(mut self) -> Self {
        if let (Source::Store(_, transposed), Shape::All) = (&mut self.core.source, self.core.shape) {
            *transposed = !*transposed;
        }
        self
    }
}

impl<T: Scalar> Core<T> {
    /// What `c` becomes.
    fn assigned<C: Scalar, F: Accumulate<C, T>>(
        &self,
        mask: Option<&Mask>,
        replace: bool,
        c: &Store<C>,
    ) -> Result<Owned<C>> {
        let (name, (nrows, ncols)) = (self.name, c.shape());
        let part = Part {
            rows: self.rows.within(name, self.names.0, nrows)?,
            cols: self.cols.within(name, self.names.1, ncols)?,
        };
        if let Source::Store(a, transposed) = &self.source {
            same_shape(name, ("A", shape_of(a, *transposed)), ("the region", part.shape()))?;
            same_device(name, ("A", a.device), ("the output", c.device))?;
        }
        let (mask, reach) = self.reach(mask, c, &part)?;
        let t = self.values(c, &part, mask.as_ref())?;
        let (mut rows, mut cols) = (c.rows.union(&t.rows, name)?, c.cols.union(&t.cols, name)?);
        if let Some(m) = &mask {
            (rows, cols) = (rows.union(&m.pattern.rows, name)?, cols.union(&m.pattern.cols, name)?);
        }
        let how = Assigned {
            region: Region { rows: within(name, &rows, &part.rows)?, cols: within(name, &cols, &part.cols)? },
            reach: match reach {
                None => Region { rows: Within::All, cols: Within::All },
                Some(reach) => {
                    Region { rows: within(name, &rows, &reach.rows)?, cols: within(name, &cols, &reach.cols)? }
                }
            },
            replace,
        };
        let (c, t) = (c.on_axes(&rows, &cols, name)?, t.on_axes(&rows, &cols, name)?);
        let mask = match &mask {
            Some(m) => Some(MaskBody::new(&m.pattern.on_axes(&rows, &cols, name)?.body, m.complement)),
            None => None,
        };
        let body = on_backend!(c.device, |backend| {
            let (c, t, mask) = (backend.csr(&c.body)?, backend.csr(&t.body)?, backend.mask(mask.as_ref())?);
            Body::from(backend.assign::<C, T, F>(c, t, &how, mask)?)
        });
        Ok(Owned(Store { rows, cols, body, device: c.device }))
    }

    /// The mask where its positions stand in C, and what it reaches; `None`: everything.
    fn reach<C: Scalar>(
        &self,
        mask: Option<&Mask>,
        c: &Store<C>,
        part: &Part,
    ) -> Result<(Option<MaskParts>, Option<Part>)> {
        let (nrows, ncols) = c.shape();
        // The part that the mask covers.
        let reach = match (self.sub, self.shape) {
            (true, _) => part.clone(),
            (false, Shape::All) => Part { rows: Chosen::All(nrows), cols: Chosen::All(ncols) },
            (false, Shape::Row) => Part { rows: part.rows.clone(), cols: Chosen::All(ncols) },
            (false, Shape::Column) => Part { rows: Chosen::All(nrows), cols: part.cols.clone() },
        };
        let lies = self.shape == Shape::Column;
        let shape = if lies { reach.clone().transposed().shape() } else { reach.shape() };
        let Some(mut mask) = mask_parts(self.name, mask, shape, c.device)? else {
            return Ok((None, None));
        };
        if !self.sub && self.shape == Shape::All {
            return Ok((Some(mask), None));
        }
        let marks = oriented(&marked(&mask.pattern)?, lies)?;
        mask.pattern = spread(self.name, &marks, &reach, (&c.rows, &c.cols))?.pattern();
        Ok((Some(mask), Some(reach)))
    }

    /// T, where it stands in C.
    fn values<C: Scalar>(&self, c: &Store<C>, part: &Part, mask: Option<&MaskParts>) -> Result<Store<T>> {
        let (name, target) = (self.name, (&c.rows, &c.cols));
        match (&self.source, mask) {
            (Source::Store(a, transposed), _) => spread(name, &oriented(a, *transposed)?, part, target),
            (Source::Value(None), _) => Store::empty_on(name, c.rows.clone(), c.cols.clone(), c.device),
            // What the mask does not admit need not be there.
            (Source::Value(Some(value)), Some(mask)) if !mask.complement => filled(&mask.pattern, *value),
            (Source::Value(Some(value)), _) => dense(name, *value, part, target, c.device),
        }
    }
}

/// `value` at all positions.
fn filled<T: Scalar>(positions: &PatternStore, value: T) -> Result<Store<T>> {
    let body = on_backend!(positions.device, |backend| {
        Body::from(backend.filled(backend.pattern(&positions.body)?, value)?)
    });
    Ok(Store { rows: positions.rows.clone(), cols: positions.cols.clone(), body, device: positions.device })
}

/// Positions as a store of something.
fn marked(positions: &PatternStore) -> Result<Store<u8>> {
    filled(positions, 0)
}

/// C(rows, cols)⟨M⟩ ⊙= A: the entry A(p, q) goes to (`rows[p]`, `cols[q]`); where an index occurs more than once, the last
/// counts. Mask and replace reach all of C. O(nnz(C) + nnz(A)), and of A's rows times the logarithm of their lengths
/// where columns are not ascending.
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
pub fn assign<T: Scalar, S>(
    a: &impl Operand<Container = Matrix<T, S>>,
    rows: impl Into<Indices>,
    cols: impl Into<Indices>,
) -> Assignment<T, OfMatrices> {
    Assignment::of("assign", a, rows.into(), cols.into())
}

/// w(indices)⟨m⟩ ⊙= u; mask and replace reach all of w.
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
pub fn assign_vector<X>(u: &X, indices: impl Into<Indices>) -> Assignment<ScalarOf<X>, OfVectors>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
{
    let mut assignment = Assignment::of("assign", u, (..).into(), indices.into());
    assignment.core.names.1 = "index";
    assignment
}

/// C(i, cols)⟨m⟩ ⊙= u; the mask is a vector as long as the row, and it and replace reach this row alone.
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
pub fn assign_row<X>(u: &X, row: u64, cols: impl Into<Indices>) -> Assignment<ScalarOf<X>, OfMatrices>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
{
    let mut assignment = Assignment::of("assign", u, Indices::one(row), cols.into());
    assignment.core.shape = Shape::Row;
    assignment
}

/// C(rows, j)⟨m⟩ ⊙= u; the mask is a vector as long as the column, and it and replace reach this column alone.
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
pub fn assign_column<X>(u: &X, rows: impl Into<Indices>, column: u64) -> Assignment<ScalarOf<X>, OfMatrices>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
{
    let (u, _) = u.operand();
    let mut assignment = Assignment::new("assign", Source::Store(u.0.clone(), true), rows.into(), Indices::one(column));
    assignment.core.shape = Shape::Column;
    assignment
}

/// C(rows, cols)⟨M⟩ ⊙= x at every position of the region; mask and replace reach all of C. With a mask that is not
/// complemented O(nnz(C) + nnz(M)), else O(nnz(C) + rows · cols).
///
/// # Errors
/// At the end, see [`Assignment::into`]; `InvalidValue` for a value at every index of a dimension of 2³² or more.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut c: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (1, 1, 2)])?;
/// assign_scalar(9, .., 1..).into(&mut c)?;
/// assert_eq!(c.entries()?, [(0, 0, 1), (0, 1, 9), (1, 1, 9)]);
/// # Ok(()) }
/// ```
pub fn assign_scalar<T: Scalar>(
    value: T,
    rows: impl Into<Indices>,
    cols: impl Into<Indices>,
) -> Assignment<T, OfMatrices> {
    Assignment::new("assign", Source::Value(Some(value)), rows.into(), cols.into())
}

/// w(indices)⟨m⟩ ⊙= x at every index; mask and replace reach all of w.
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
pub fn assign_scalar_vector<T: Scalar>(value: T, indices: impl Into<Indices>) -> Assignment<T, OfVectors> {
    let mut assignment = Assignment::new("assign", Source::Value(Some(value)), (..).into(), indices.into());
    assignment.core.names.1 = "index";
    assignment
}

/// C(rows, cols)⟨M⟩ = nothing: the empty scalar assigned. The region's entries are deleted where the mask of C's shape
/// admits; with an accumulator nothing is.
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
    Assignment::new("assign", Source::Value(None), rows.into(), cols.into())
}

/// w(indices)⟨m⟩ = nothing, as [`assign_empty`].
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
    let mut assignment = Assignment::new("assign", Source::Value(None), (..).into(), indices.into());
    assignment.core.names.1 = "index";
    assignment
}

/// C(rows, cols)⟨M⟩ ⊙= A as [`assign`], but the mask has the region's shape, A's, and nothing outside the region changes.
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
pub fn subassign<T: Scalar, S>(
    a: &impl Operand<Container = Matrix<T, S>>,
    rows: impl Into<Indices>,
    cols: impl Into<Indices>,
) -> Assignment<T, OfMatrices> {
    assign(a, rows, cols).sub("subassign")
}

/// w(indices)⟨m⟩ ⊙= u as [`assign_vector`], with a mask as long as u that reaches these indices alone.
///
/// # Errors
/// At the end, see [`Assignment::into`].
pub fn subassign_vector<X>(u: &X, indices: impl Into<Indices>) -> Assignment<ScalarOf<X>, OfVectors>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
{
    assign_vector(u, indices).sub("subassign")
}

/// C(i, cols)⟨m⟩ ⊙= u as [`assign_row`], with a mask as long as u that reaches these columns alone.
///
/// # Errors
/// At the end, see [`Assignment::into`].
pub fn subassign_row<X>(u: &X, row: u64, cols: impl Into<Indices>) -> Assignment<ScalarOf<X>, OfMatrices>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
{
    assign_row(u, row, cols).sub("subassign")
}

/// C(rows, j)⟨m⟩ ⊙= u as [`assign_column`], with a mask as long as u that reaches these rows alone.
///
/// # Errors
/// At the end, see [`Assignment::into`].
pub fn subassign_column<X>(u: &X, rows: impl Into<Indices>, column: u64) -> Assignment<ScalarOf<X>, OfMatrices>
where
    X: Operand<Container: Container<Kind = OfVectors>>,
{
    assign_column(u, rows, column).sub("subassign")
}

/// C(rows, cols)⟨M⟩ ⊙= x as [`assign_scalar`], with a mask of the region's shape that reaches the region alone.
///
/// # Errors
/// As [`assign_scalar`].
pub fn subassign_scalar<T: Scalar>(
    value: T,
    rows: impl Into<Indices>,
    cols: impl Into<Indices>,
) -> Assignment<T, OfMatrices> {
    assign_scalar(value, rows, cols).sub("subassign")
}

/// w(indices)⟨m⟩ ⊙= x as [`assign_scalar_vector`], with a mask as long as the indices that reaches these alone.
///
/// # Errors
/// As [`assign_scalar`].
pub fn subassign_scalar_vector<T: Scalar>(value: T, indices: impl Into<Indices>) -> Assignment<T, OfVectors> {
    assign_scalar_vector(value, indices).sub("subassign")
}
