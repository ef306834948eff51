//! Matrices and vectors: a store under a semiring's label.
use crate::algebra::{BinaryOp, PlusTimes, Scalar};
use crate::backend::cpu::{in_order, mapped, ranks};
use crate::backend::{Body, on_backend};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::format::{found, full_where_full};
use crate::mask::Mask;
use crate::memory::Buffer;
use crate::storage::{
    Coo,
    axis::Axis,
    store::{Store, axes_for},
};
use rayon::prelude::*;
use std::marker::PhantomData;
use std::sync::Arc;

mod compare;
mod full;
mod make;
mod matrix;
mod vector;

mod sealed {
    pub trait Sealed {}
}

/// A [`Matrix`] or a [`Vector`]: what element-wise operations take and `.into(&mut c)` writes to.
pub trait Container: sealed::Sealed + Clone {
    /// The type of its values.
    type Scalar: Scalar;
    /// Its semiring's label.
    type Label;
    /// [`OfMatrices`] or [`OfVectors`].
    type Kind;
    /// The same kind with other values and another label.
    type Of<T: Scalar, S>: Container<Scalar = T, Label = S>;
    /// Whether it is a vector.
    #[doc(hidden)]
    const VECTOR: bool;
    #[doc(hidden)]
    fn told(e: Error) -> Error;
    #[doc(hidden)]
    fn parts(&self) -> Parts<'_, Self::Scalar>;
    #[doc(hidden)]
    fn parts_mut(&mut self) -> PartsMut<'_, Self::Scalar>;
    #[doc(hidden)]
    fn replace_with(&mut self, parts: Owned<Self::Scalar>);
    #[doc(hidden)]
    fn made_of(parts: Owned<Self::Scalar>) -> Self;
}
/// The kind of matrices.
#[derive(Debug)]
pub enum OfMatrices {}
/// The kind of vectors.
#[derive(Debug)]
pub enum OfVectors {}
/// A container's store, borrowed: opaque outside.
#[derive(Debug)]
pub struct Parts<'a, T>(pub(crate) &'a Store<T>);
/// A container's store, to be changed: opaque outside.
#[derive(Debug)]
pub struct PartsMut<'a, T>(pub(crate) &'a mut Store<T>);
/// A container's store, owned: opaque outside.
#[derive(Debug)]
pub struct Owned<T>(pub(crate) Store<T>);

/// A sparse m × n matrix of `T` whose products are taken over the semiring `S`.
///
/// `S` is a label: [`over`](Matrix::over) changes it without copying, and which scalars a semiring takes is asked where
/// a product is made, so that a bool matrix is a legal operand of [`PlusSecond`](crate::algebra::PlusSecond). Clones
/// share their entries. Indices are u64, in storage 32 bits whatever the dimension; how entries are stored is a
/// [`Format`](crate::Format) that never shows in a result.
///
/// Made by [`build`](Matrix::build), [`build_with`](Matrix::build_with) where positions come twice, [`from_pattern`](Matrix::from_pattern),
/// [`from_csr`](Matrix::from_csr), [`from_full`](Matrix::from_full), [`identity`](Matrix::identity), [`read`](Matrix::read); looked at by
/// [`get`](Matrix::get), [`iter`](Matrix::iter), [`rows`](Matrix::rows), [`entries`](Matrix::entries), [`to_full`](Matrix::to_full).
/// What is computed of it is a function of [`operation`](crate::operation):
///
/// | | |
/// | --- | --- |
/// | products | [`mxm`](crate::operation::mxm()), [`mxv`](crate::operation::mxv()), [`vxm`](crate::operation::vxm()), [`triple_product`](crate::operation::triple_product()), [`kronecker`](crate::operation::kronecker()) |
/// | entry by entry | [`ewise_add`](crate::operation::ewise_add()), [`ewise_mult`](crate::operation::ewise_mult()), [`ewise_union`](crate::operation::ewise_union()), [`apply`](crate::operation::apply()), [`cast`](Matrix::cast), [`scale_rows`](crate::operation::scale_rows()), [`scale_columns`](crate::operation::scale_columns()) |
/// | a part of it | [`select`](crate::operation::select()), [`tril`](crate::operation::tril()), [`triu`](crate::operation::triu()), [`top_k`](crate::operation::top_k()), [`extract`](crate::operation::extract()), [`extract_rows`](crate::operation::extract_rows()), [`extract_row`](crate::operation::extract_row()), [`extract_column`](crate::operation::extract_column()), [`diag_extract`](crate::operation::diag_extract()) |
/// | sums | [`reduce`](crate::operation::reduce()), [`reduce_rows`](crate::operation::reduce_rows()), [`count_rows`](crate::operation::count_rows()), [`argmin_rows`](crate::operation::argmin_rows()), [`argmax_rows`](crate::operation::argmax_rows()) |
/// | moved | [`transposed`](Matrix::transposed), [`transpose`](crate::operation::transpose()), [`reshape`](crate::operation::reshape()), [`sort`](crate::operation::sort()), [`concat`](crate::operation::concat()), [`split`](crate::operation::split()) |
/// | written to | [`set`](Matrix::set), [`update`](Matrix::update), [`assign`](crate::operation::assign()), [`subassign`](crate::operation::subassign()), [`Operation::into`](crate::operation::Operation::into) |
/// | as a mask | [`Operation::mask`](crate::operation::Operation::mask), [`structure`](Matrix::structure) |
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let roads: Matrix<f32, MinPlus> = Matrix::build(3, 3, &[(0, 1, 1.0), (1, 2, 2.0)])?;
/// let two_hops = roads.mxm(&roads)?;
/// assert_eq!(two_hops.entries()?, [(0, 2, 3.0)]);
/// # Ok(()) }
/// ```
#[must_use = "what makes a matrix changes none: the result is the new one"]
#[doc(alias("GrB_Matrix", "csr_matrix", "csr_array", "sparse"))]
pub struct Matrix<T, S = PlusTimes> {
    pub(crate) store: Store<T>,
    label: PhantomData<fn() -> S>,
}

/// A sparse vector of length n, under the label of a semiring `S` as a [`Matrix`] is.
///
/// Made by [`build`](Vector::build), [`build_with`](Vector::build_with) where indices come twice, [`from_pattern`](Vector::from_pattern),
/// [`full`](Vector::full), [`from_full`](Vector::from_full); looked at by [`get`](Vector::get), [`iter`](Vector::iter),
/// [`entries`](Vector::entries), [`to_full`](Vector::to_full). What is computed of it is a function of [`operation`](crate::operation):
/// [`mxv`](crate::operation::mxv()) and [`vxm`](crate::operation::vxm()) with a matrix, [`ewise_add`](crate::operation::ewise_add()),
/// [`ewise_mult`](crate::operation::ewise_mult()), [`ewise_union`](crate::operation::ewise_union()), [`apply`](crate::operation::apply()),
/// [`cast`](Vector::cast), [`select`](crate::operation::select()), [`extract_vector`](crate::operation::extract_vector()),
/// [`assign_vector`](crate::operation::assign_vector()), [`reduce`](crate::operation::reduce()), [`argmin`](crate::operation::argmin()),
/// [`argmax`](crate::operation::argmax()), [`sort`](crate::operation::sort()), [`diag`](crate::operation::diag()); as a mask
/// [`structure`](Vector::structure).
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<f64> = Vector::build(3, &[(0, 1.5), (2, 2.0)])?;
/// assert_eq!((x.len(), x.nvals(), x.get(1)?), (3, 2, None));
/// # Ok(()) }
/// ```
#[must_use = "what makes a vector changes none: the result is the new one"]
#[doc(alias = "GrB_Vector")]
pub struct Vector<T, S = PlusTimes> {
    pub(crate) store: Store<T>,
    label: PhantomData<fn() -> S>,
}

macro_rules! container {
    ($name:ident $kind:ident $vector:literal $told:expr) => {
        impl<T, S> Clone for $name<T, S> {
            fn clone(&self) -> Self {
                Self { store: self.store.clone(), label: PhantomData }
            }
        }
        impl<T, S> sealed::Sealed for $name<T, S> {}
        impl<T: Scalar, S> Container for $name<T, S> {
            type Scalar = T;
            type Label = S;
            type Kind = $kind;
            type Of<U: Scalar, R> = $name<U, R>;
            const VECTOR: bool = $vector;
            fn told(e: Error) -> Error {
                $told(e)
            }
            fn parts(&self) -> Parts<'_, T> {
                Parts(&self.store)
            }
            fn parts_mut(&mut self) -> PartsMut<'_, T> {
                PartsMut(&mut self.store)
            }
            fn replace_with(&mut self, parts: Owned<T>) {
                self.store = parts.0;
            }
            fn made_of(parts: Owned<T>) -> Self {
                Self::of(parts.0)
            }
        }
        impl<T, S> $name<T, S> {
            pub(crate) fn of(store: Store<T>) -> Self {
                Self { store, label: PhantomData }
            }
            /// The same entries under another semiring: a few pointers are copied, O(1).
            #[doc(alias("semiring", "with_semiring"))]
            pub fn over<R>(&self) -> $name<T, R> {
                $name::of(self.store.clone())
            }
            /// Where the entries are and operations run.
            pub fn device(&self) -> Device {
                self.store.device
            }
        }
        impl<T: Scalar, S> $name<T, S> {
            /// Number of entries stored, zeros among them.
            #[doc(alias("nnz", "GrB_Matrix_nvals", "GrB_Vector_nvals"))]
            pub fn nvals(&self) -> u64 {
                self.store.nvals()
            }
            /// C = A in the memory of `device`; A stays where it is. Nothing is copied where the entries are there already. O(m + nnz), of what is stored: one
            /// value where all are equal, and of hypersparse matrices the rows in use.
            ///
            /// # Errors
            /// `Unavailable` without such a device, `OutOfMemory`.
            /// ```
            /// use oplus::prelude::*;
            /// # fn main() -> oplus::Result<()> {
            /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 1, 3.0)])?;
            /// let on_device = a.to(&Device::best())?;   // operations on it run there
            /// assert_eq!(on_device.mxm(&on_device)?.to(&Device::Cpu)?.nvals(), 0);
            /// # Ok(()) }
            /// ```
            pub fn to(&self, device: &Device) -> Result<Self> {
                if *device == self.store.device { Ok(self.clone()) } else { self.store.to(*device).map(Self::of) }
            }
            /// The positions of the entries as a structural mask: a stored zero counts. O(1); by columns and along diagonals positions are
            /// listed the first time.
            /// ```
            /// use oplus::prelude::*;
            /// # fn main() -> oplus::Result<()> {
            /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 0.0), (0, 1, 2.0), (1, 0, 3.0)])?;
            /// let all: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 1.0), (1, 1, 1.0)])?;
            /// assert_eq!(select(&all, ValueGt, 0.0).mask(&a.structure()).eval()?.entries()?, [(0, 0, 1.0)]);
            /// assert_eq!(select(&all, ValueGt, 0.0).mask(&a).eval()?.nvals(), 0);   // by values: 0 is false
            /// # Ok(()) }
            /// ```
            #[doc(alias("GrB_STRUCTURE", "pattern"))]
            pub fn structure(&self) -> Mask {
                Mask::of(self.store.pattern(), $vector)
            }
        }
    };
}
container!(Matrix OfMatrices false std::convert::identity);
container!(Vector OfVectors true Error::of_vectors);

/// Indices looked at by one thread at a time.
const PIECE: usize = 1 << 14;

/// Checked indices in places, for `build` and `reshape`; the axis lists those in use where it is one that does.
pub(crate) fn places(
    operation: &'static str,
    what: &'static str,
    axis: &mut Axis,
    indices: &[u64],
) -> Result<Vec<u32>> {
    let n = axis.n();
    let outside = |some: &[u64]| some.iter().any(|i| *i >= n);
    // The largest one says it where those in use are listed.
    let (places, wrong) = if let Axis::Listed { ids, .. } = axis {
        let (used, places) = ranks(operation, indices)?;
        let wrong = used.last() >= Some(&n);
        *ids = Arc::new(used);
        (places, wrong)
    } else {
        // Few are not worth waking a thread.
        let few = indices.len() <= PIECE;
        let wrong = if few { outside(indices) } else { indices.par_chunks(PIECE).any(outside) };
        (mapped(operation, if wrong { &[] } else { indices }, |i| i as u32)?, wrong)
    };
    match indices.iter().position(|i| wrong && *i >= n) {
        Some(position) => {
            let index = indices[position];
            Err(Error::IndexOutOfBounds { operation, what, position: Some(position as u64), index, bound: n })
        }
        None => Ok(places),
    }
}

fn axes_of<T>(coo: &Coo<T>) -> (Axis, Axis) {
    axes_for((coo.nrows, coo.ncols), coo.values.len() as u64)
}

// On these axes; what is in use is put into those that list it.
// Work on entries knows T and not S: a method of Matrix<T, S> would be compiled once more for every label.
pub(crate) fn built<T: Scalar, F: BinaryOp<T, T, Out = T>>(
    operation: &'static str,
    axes: (Axis, Axis),
    entries: (&[u64], &[u64], &[T]),
    refuse: bool,
    device: Device,
) -> Result<Store<T>> {
    put_together::<T, F>(operation, axes, entries, refuse, device)
        .map_err(|e| e.in_operation(operation).of_parts("build", operation))
}

fn put_together<T: Scalar, F: BinaryOp<T, T, Out = T>>(
    operation: &'static str,
    (mut row_axis, mut col_axis): (Axis, Axis),
    (rows, columns, values): (&[u64], &[u64], &[T]),
    refuse: bool,
    device: Device,
) -> Result<Store<T>> {
    if rows.len() != values.len() || columns.len() != values.len() {
        let reason = format!("{} rows, {} columns and {} values", rows.len(), columns.len(), values.len());
        return Err(Error::InvalidValue { operation, reason });
    }
    let full = matches!((&row_axis, &col_axis), (Axis::Full(_), Axis::Full(_)));
    let shape = (row_axis.places(), col_axis.places());
    if full
        && device == Device::Cpu
        && let Some(made) = in_order(shape, (rows, columns, values))?
    {
        return Ok(Store { rows: row_axis, cols: col_axis, body: Body::from(made), device });
    }
    // Their room is the next one's again.
    let i = Buffer::from(places(operation, "row", &mut row_axis, rows)?);
    let j = Buffer::from(places(operation, "column", &mut col_axis, columns)?);
    let shape = (row_axis.places(), col_axis.places());
    if !full
        && device == Device::Cpu
        && let Some(made) = in_order(shape, (&i, &j, values))?
    {
        return Ok(Store { rows: row_axis, cols: col_axis, body: Body::from(made), device });
    }
    let body = on_backend!(device, |backend| { backend.build::<T, F>(shape, &i, &j, values, refuse)?.map(Body::from) });
    let body =
        body.map_err(|e| Error::DuplicateEntry { operation, row: rows[e], column: columns[e], position: e as u64 })?;
    Ok(Store { rows: row_axis, cols: col_axis, body, device })
}

/// With its value stored once, where all entries have the same, and as cells, where all have an entry.
fn iso_where_equal<T: Scalar>(operation: &'static str, store: Store<T>) -> Result<Store<T>> {
    let found = found(&store).map_err(|e| e.in_operation(operation))?;
    Ok(found.unwrap_or_else(|| full_where_full(store)))
}

fn entries<T: Scalar>(store: &Store<T>) -> Result<Vec<(u64, u64, T)>> {
    let host = store.to_host().map_err(|e| e.in_operation("entries"))?;
    let mut all = crate::memory::with_capacity("entries", host.values.len())?;
    for row in 0..host.pattern.nrows {
        let (columns, values) = host.row(row);
        all.extend(columns.iter().zip(values).map(|(c, v)| (store.rows.id(row), store.cols.id(*c as usize), *v)));
    }
    Ok(all)
}

/// As [`looked_up`]; without a call where that finds compressed rows of all rows: of elements asked for one by one several are loaded at once then.
#[inline]
fn element<T: Scalar>(store: &Store<T>, row: u64, column: u64) -> Result<Option<T>> {
    if let (Axis::Full(m), Axis::Full(n), Body::Host(list)) = (&store.rows, &store.cols, &store.body)
        && row < u64::from(*m)
        && column < u64::from(*n)
    {
        return Ok(list.pattern.find(row as usize, column as u32).map(|e| list.values[e]));
    }
    looked_up(store, row, column)
}

fn looked_up<T: Scalar>(store: &Store<T>, row: u64, column: u64) -> Result<Option<T>> {
    let operation = "get";
    for (what, index, bound) in [("row", row, store.rows.n()), ("column", column, store.cols.n())] {
        if index >= bound {
            return Err(Error::IndexOutOfBounds { operation, what, position: None, index, bound });
        }
    }
    let (Some(row), Some(column)) = (store.rows.place(row), store.cols.place(column)) else { return Ok(None) };
    if let Body::Dense(d) = &store.body {
        return Ok(d.get(column as u32));
    }
    if let Body::Held(h) = &store.body {
        return Ok(h.get(row, column as u32));
    }
    #[cfg(feature = "cuda")]
    if let Body::CudaDense(d) = &store.body {
        return d.get(column as u32);
    }
    #[cfg(feature = "cuda")]
    if let Body::CudaHeld(h) = &store.body {
        return h.get(row, column as u32);
    }
    on_backend!(store.device, |backend| { backend.get(backend.csr(&store.body)?, row, column as u32) })
}
