//! Matrices and vectors: a store under a semiring's label.
use crate::algebra::{BinaryOp, First, PlusTimes, Scalar};
use crate::backend::cpu::{in_order, mapped, ranks};
use crate::backend::{Body, on_backend};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::format::{filled, found, full_where_full};
use crate::mask::Mask;
use crate::storage::{
    Coo,
    axis::Axis,
    pattern::Pattern,
    store::{Store, axes_for},
};
use rayon::prelude::*;
use std::marker::PhantomData;
use std::sync::Arc;

mod compare;
mod make;

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
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let roads: Matrix<f32, MinPlus> = Matrix::build(3, 3, &[(0, 1, 1.0), (1, 2, 2.0)])?;
/// let two_hops = roads.mxm(&roads)?;
/// assert_eq!(two_hops.entries()?, [(0, 2, 3.0)]);
/// # Ok(()) }
/// ```
pub struct Matrix<T, S = PlusTimes> {
    pub(crate) store: Store<T>,
    label: PhantomData<fn() -> S>,
}

/// A sparse vector of length n.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<f64> = Vector::build(3, &[(0, 1.5), (2, 2.0)])?;
/// assert_eq!((x.len(), x.nvals(), x.get(1)?), (3, 2, None));
/// # Ok(()) }
/// ```
pub struct Vector<T, S = PlusTimes> {
    pub(crate) store: Store<T>,
    label: PhantomData<fn() -> S>,
}

macro_rules! container {
    ($name:ident $kind:ident) => {
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
            /// The same entries under another semiring: a few pointers are copied.
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
            pub fn nvals(&self) -> u64 {
                self.store.nvals()
            }
            /// The same entries in the memory of `device`; nothing is copied where they are there already.
            ///
            /// # Errors
            /// `Unavailable` without such a device, `OutOfMemory`.
            pub fn to(&self, device: &Device) -> Result<Self> {
                if *device == self.store.device { Ok(self.clone()) } else { self.store.to(*device).map(Self::of) }
            }
            /// The positions of the entries as a structural mask: a stored zero counts.
            pub fn structure(&self) -> Mask {
                Mask::structural(self.store.pattern())
            }
        }
    };
}
container!(Matrix OfMatrices);
container!(Vector OfVectors);

/// Indices looked at by one thread at a time.
const PIECE: usize = 1 << 14;

/// Checked indices in places, for `build`; the axis lists those in use where it is one that does.
fn places(operation: &'static str, what: &'static str, axis: &mut Axis, indices: &[u64]) -> Result<Vec<u32>> {
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
            Err(Error::IndexOutOfBounds { operation, what, position: position as u64, index, bound: n })
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
    let i = places(operation, "row", &mut row_axis, rows)?;
    let j = places(operation, "column", &mut col_axis, columns)?;
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
fn iso_where_equal<T: Scalar>(store: Store<T>) -> Result<Store<T>> {
    Ok(found(&store)?.unwrap_or_else(|| full_where_full(store)))
}

impl<T: Scalar, S> Matrix<T, S> {
    /// No entries.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn new(nrows: u64, ncols: u64) -> Result<Self> {
        Store::empty("new", nrows, ncols, Device::Cpu).map(Self::of)
    }
    /// From (row, column, value) in any order. O(e log e) in the worst case.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `DuplicateEntry` (see [`build_with`](Self::build_with)), `OutOfMemory`.
    pub fn build(nrows: u64, ncols: u64, entries: &[(u64, u64, T)]) -> Result<Self> {
        let coo = split(nrows, ncols, entries)?;
        Self::from_coo(&coo)
    }
    /// From triplets; the same position twice is an error.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `DuplicateEntry`, `OutOfMemory`.
    pub fn from_coo(coo: &Coo<T>) -> Result<Self> {
        let arrays = (&coo.rows[..], &coo.columns[..], &coo.values[..]);
        built::<T, First>("build", axes_of(coo), arrays, true, Device::Cpu)
            .and_then(|store| iso_where_equal(store).map(Self::of))
    }
    /// From triplets; values of one position are folded by `fold` in input order.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `OutOfMemory`.
    pub fn build_with<F: BinaryOp<T, T, Out = T>>(coo: &Coo<T>, _fold: F) -> Result<Self> {
        let arrays = (&coo.rows[..], &coo.columns[..], &coo.values[..]);
        built::<T, F>("build", axes_of(coo), arrays, false, Device::Cpu)
            .and_then(|store| iso_where_equal(store).map(Self::of))
    }
    /// As [`build_with`](Self::build_with), in the memory of `device` and by its kernels.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `OutOfMemory`, `Unavailable`.
    pub fn build_on<F: BinaryOp<T, T, Out = T>>(coo: &Coo<T>, _fold: F, device: &Device) -> Result<Self> {
        let arrays = (&coo.rows[..], &coo.columns[..], &coo.values[..]);
        built::<T, F>("build", axes_of(coo), arrays, false, *device).map(Self::of)
    }
    /// `value` at each of these positions, given in any order and counted once: it is stored once. O(e log e) in the worst case.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `OutOfMemory`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let graph: Matrix<f64> = Matrix::from_pattern(3, 3, &[(0, 1), (2, 0)], 1.0)?;
    /// assert!(graph.is_iso());
    /// assert_eq!(graph.entries()?, [(0, 1, 1.0), (2, 0, 1.0)]);
    /// # Ok(()) }
    /// ```
    pub fn from_pattern(nrows: u64, ncols: u64, positions: &[(u64, u64)], value: T) -> Result<Self> {
        let mut rows = crate::memory::with_capacity("build", positions.len())?;
        let mut columns = crate::memory::with_capacity("build", positions.len())?;
        rows.extend(positions.iter().map(|p| p.0));
        columns.extend(positions.iter().map(|p| p.1));
        let marks = crate::memory::zeroed("build", positions.len())?;
        let axes = axes_for((nrows, ncols), positions.len() as u64);
        let marks = built::<u8, First>("build", axes, (&rows, &columns, &marks), false, Device::Cpu)?;
        filled(&marks, value).map(Self::of)
    }
    /// From compressed rows; everything is checked, O(e).
    ///
    /// # Errors
    /// `InvalidValue` or `IndexOutOfBounds` naming row and position.
    pub fn from_csr(nrows: u32, ncols: u32, offsets: Vec<u64>, indices: Vec<u32>, values: Vec<T>) -> Result<Self> {
        let pattern = Pattern::new(nrows as usize, ncols as usize, offsets, indices);
        pattern.validate("from_csr", values.len())?;
        let store = Store::host(Axis::Full(nrows), Axis::Full(ncols), pattern, values, Device::Cpu);
        iso_where_equal(store).map(Self::of)
    }
    /// Rows and columns.
    pub fn shape(&self) -> (u64, u64) {
        self.store.shape()
    }
    /// Number of rows.
    pub fn nrows(&self) -> u64 {
        self.store.rows.n()
    }
    /// Number of columns.
    pub fn ncols(&self) -> u64 {
        self.store.cols.n()
    }
    /// All entries as (row, column, value), ascending by row, then column.
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    pub fn entries(&self) -> Result<Vec<(u64, u64, T)>> {
        entries(&self.store)
    }
    /// All entries as triplets, ascending by row, then column.
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    pub fn to_coo(&self) -> Result<Coo<T>> {
        let host = self.store.to_host()?;
        let mut coo = Coo::new(self.nrows(), self.ncols());
        coo.values = crate::memory::copied("to_coo", &host.values)?;
        coo.rows = crate::memory::with_capacity("to_coo", host.values.len())?;
        coo.columns = crate::memory::with_capacity("to_coo", host.values.len())?;
        for row in 0..host.pattern.nrows {
            let columns = host.pattern.row(row);
            coo.rows.extend(std::iter::repeat_n(self.store.rows.id(row), columns.len()));
            coo.columns.extend(columns.iter().map(|c| self.store.cols.id(*c as usize)));
        }
        Ok(coo)
    }
    /// The value at (row, column), `None` where there is no entry. O(log of the row's length).
    ///
    /// # Errors
    /// `IndexOutOfBounds`.
    pub fn get(&self, row: u64, column: u64) -> Result<Option<T>> {
        element(&self.store, row, column)
    }
}

impl<T: Scalar, S> Vector<T, S> {
    /// No entries.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn new(n: u64) -> Result<Self> {
        Store::empty("new", 1, n, Device::Cpu).map(Self::of)
    }
    /// From (index, value) in any order; the same index twice is an error.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `DuplicateEntry`, `OutOfMemory`.
    pub fn build(n: u64, entries: &[(u64, T)]) -> Result<Self> {
        let (rows, indices, values) = split_vector(entries)?;
        built::<T, First>("build", axes_for((1, n), 0), (&rows, &indices, &values), true, Device::Cpu).map(Self::of)
    }
    /// From (index, value); values of one index are folded by `fold` in input order.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `OutOfMemory`.
    pub fn build_with<F: BinaryOp<T, T, Out = T>>(n: u64, entries: &[(u64, T)], _fold: F) -> Result<Self> {
        let (rows, indices, values) = split_vector(entries)?;
        built::<T, F>("build", axes_for((1, n), 0), (&rows, &indices, &values), false, Device::Cpu).map(Self::of)
    }
    /// An entry at every index.
    ///
    /// # Errors
    /// `OutOfMemory`; `InvalidValue` from 2³² on.
    pub fn full(n: u64, value: T) -> Result<Self> {
        let operation = "full";
        let places = u32::try_from(n).map_err(|_| Error::InvalidValue {
            operation,
            reason: format!("a full vector of length {n} is too long"),
        })?;
        let mut indices = crate::memory::with_capacity(operation, places as usize)?;
        indices.extend(0..places);
        let pattern = Pattern::new(1, places as usize, vec![0, n], indices);
        let values = crate::memory::filled(operation, places as usize, value)?;
        Ok(Self::of(Store::host(Axis::Full(1), Axis::Full(places), pattern, values, Device::Cpu)))
    }
    /// Its length, entries or not.
    pub fn len(&self) -> u64 {
        self.store.cols.n()
    }
    /// Whether its length is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// All entries as (index, value), ascending.
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    pub fn entries(&self) -> Result<Vec<(u64, T)>> {
        Ok(entries(&self.store)?.into_iter().map(|(_, j, v)| (j, v)).collect())
    }
    /// The value at `index`, `None` where there is no entry.
    ///
    /// # Errors
    /// `IndexOutOfBounds`.
    pub fn get(&self, index: u64) -> Result<Option<T>> {
        element(&self.store, 0, index)
    }
}

fn split<T: Scalar>(nrows: u64, ncols: u64, entries: &[(u64, u64, T)]) -> Result<Coo<T>> {
    let (mut rows, mut columns) =
        (crate::memory::with_capacity("build", entries.len())?, crate::memory::with_capacity("build", entries.len())?);
    let mut values = crate::memory::with_capacity("build", entries.len())?;
    rows.extend(entries.iter().map(|e| e.0));
    columns.extend(entries.iter().map(|e| e.1));
    values.extend(entries.iter().map(|e| e.2));
    Ok(Coo { nrows, ncols, rows, columns, values })
}

fn split_vector<T: Scalar>(entries: &[(u64, T)]) -> Result<(Vec<u64>, Vec<u64>, Vec<T>)> {
    let mut indices = crate::memory::with_capacity("build", entries.len())?;
    indices.extend(entries.iter().map(|e| e.0));
    let mut values = crate::memory::with_capacity("build", entries.len())?;
    values.extend(entries.iter().map(|e| e.1));
    Ok((crate::memory::filled("build", entries.len(), 0)?, indices, values))
}

fn entries<T: Scalar>(store: &Store<T>) -> Result<Vec<(u64, u64, T)>> {
    let host = store.to_host()?;
    let mut all = crate::memory::with_capacity("entries", host.values.len())?;
    for row in 0..host.pattern.nrows {
        let (columns, values) = host.row(row);
        all.extend(columns.iter().zip(values).map(|(c, v)| (store.rows.id(row), store.cols.id(*c as usize), *v)));
    }
    Ok(all)
}

fn element<T: Scalar>(store: &Store<T>, row: u64, column: u64) -> Result<Option<T>> {
    let operation = "get";
    for (what, index, bound) in [("row", row, store.rows.n()), ("column", column, store.cols.n())] {
        if index >= bound {
            return Err(Error::IndexOutOfBounds { operation, what, position: 0, index, bound });
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
    on_backend!(store.device, |backend| { backend.get(backend.csr(&store.body)?, row, column as u32) })
}
