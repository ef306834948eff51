//! Single elements set and removed, alone and in batches.
use super::{MaskParts, Overwrite, With, write};
use crate::algebra::{Scalar, Second};
use crate::backend::Body;
use crate::container::{Matrix, Vector, built};
use crate::error::{Error, Result};
use crate::format::{copied, dense, updated};
use crate::mask::truths;
use crate::memory;
use crate::storage::{axis::Axis, store::Store};
use std::sync::Arc;

/// Elements to set and to remove, in this order: of one position the last counts. A matrix changes when they are given to
/// [`Matrix::update`], all at once; nothing is pending before or after.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (1, 1, 2)])?;
/// let mut updates = Updates::new();
/// updates.set(0, 1, 7)?;
/// updates.remove(1, 1)?;
/// a.update(&updates)?;
/// assert_eq!(a.entries()?, [(0, 0, 1), (0, 1, 7)]);
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct Updates<T> {
    rows: Vec<u64>,
    columns: Vec<u64>,
    /// Anything where an element is removed.
    values: Vec<T>,
    /// What happens to each: [`SET`] or [`REMOVED`]; empty as long as all are set.
    kinds: Vec<u8>,
}

const SET: u8 = 1;
const REMOVED: u8 = 0;

/// How many there are.
impl<T> std::fmt::Debug for Updates<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Updates of {} elements", self.values.len())
    }
}

impl<T: Scalar> Updates<T> {
    /// None. O(1).
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// assert!(Updates::<i32>::new().is_empty());
    /// # Ok(()) }
    /// ```
    pub fn new() -> Self {
        Self { rows: Vec::new(), columns: Vec::new(), values: Vec::new(), kinds: Vec::new() }
    }
    /// C(row, column) = value, once it is given to a matrix. O(1) amortised.
    ///
    /// # Errors
    /// `OutOfMemory`; the updates are as they were.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (1, 1, 2)])?;
    /// let mut updates = Updates::new();
    /// updates.set(0, 1, 7)?;
    /// updates.set(0, 1, 8)?;
    /// a.update(&updates)?;
    /// assert_eq!(a.get(0, 1)?, Some(8));
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_setElement", "GrB_Vector_setElement", "insert"))]
    #[inline]
    pub fn set(&mut self, row: u64, column: u64, value: T) -> Result<()> {
        self.push(row, column, Some(value))
    }
    /// C(row, column) = nothing: the element is removed, if there is one, once this is given to a matrix. O(1) amortised.
    ///
    /// # Errors
    /// `OutOfMemory`; the updates are as they were.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (1, 1, 2)])?;
    /// let mut updates = Updates::new();
    /// updates.remove(0, 0)?;
    /// a.update(&updates)?;
    /// assert_eq!(a.entries()?, [(1, 1, 2)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_removeElement", "GrB_Vector_removeElement", "delete"))]
    pub fn remove(&mut self, row: u64, column: u64) -> Result<()> {
        self.push(row, column, None)
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
    #[inline]
    fn push(&mut self, row: u64, column: u64, value: Option<T>) -> Result<()> {
        let room = self.rows.capacity().min(self.columns.capacity()).min(self.values.capacity());
        let (n, kinds) = (self.values.len(), value.is_none() || !self.kinds.is_empty());
        if n == room || (kinds && (self.kinds.len() < n || n == self.kinds.capacity())) {
            self.room(kinds)?;
        }
        if kinds {
            self.kinds.push(if value.is_some() { SET } else { REMOVED });
        }
        self.rows.push(row);
        self.columns.push(column);
        self.values.push(value.unwrap_or_else(T::zeroed));
        Ok(())
    }
    /// Room for one more, and for its kind, which all before it have then.
    #[inline(never)]
    fn room(&mut self, kinds: bool) -> Result<()> {
        const OPERATION: &str = "update";
        memory::reserve(OPERATION, &mut self.rows, 1)?;
        memory::reserve(OPERATION, &mut self.columns, 1)?;
        memory::reserve(OPERATION, &mut self.values, 1)?;
        if kinds {
            let before = self.values.len() - self.kinds.len();
            memory::reserve(OPERATION, &mut self.kinds, before + 1)?;
            self.kinds.resize(self.values.len(), SET);
        }
        Ok(())
    }
}

/// C after all updates: it, or nothing of it, changes.
fn update<T: Scalar>(operation: &'static str, c: &mut Store<T>, updates: &Updates<T>) -> Result<()> {
    if updates.is_empty() {
        return Ok(());
    }
    let made = match updates.kinds.iter().all(|kind| *kind == SET) {
        true => put(operation, c, updates),
        false => changed(operation, c, updates).map(Some),
    };
    let made = made.and_then(|made| made.map(|made| made.trimmed(operation)).transpose());
    if let Some(made) = made.map_err(|e| e.in_operation(operation))? {
        *c = made;
    }
    Ok(())
}

/// On axes of the kind that the target has: it gets no place for every index by an element.
fn axes<T>(c: &Store<T>) -> (Axis, Axis) {
    let like = |axis: &Axis| axis.like(axis.n());
    (like(&c.rows), like(&c.cols))
}

/// C where all elements are set; `None` where that was done in place.
fn put<T: Scalar>(operation: &'static str, c: &mut Store<T>, updates: &Updates<T>) -> Result<Option<Store<T>>> {
    let entries = (&updates.rows[..], &updates.columns[..], &updates.values[..]);
    let new = built::<T, Second>(operation, axes(c), entries, false, c.device)?;
    let list = match &c.body {
        Body::Host(_) => true,
        #[cfg(feature = "cuda")]
        Body::Cuda(_) => true,
        _ => false,
    };
    if list && c.nvals() == 0 {
        return Ok(Some(new));
    }
    if updated::<T, T, With<Second>>(operation, c, &new, None, false)? {
        return Ok(None);
    }
    let few = new.nvals();
    let made = write::<T, T, With<Second>>(operation, c, new, None, false)?;
    copied(c, few, &made);
    Ok(Some(made))
}

/// C where elements are removed, too.
fn changed<T: Scalar>(operation: &'static str, c: &Store<T>, updates: &Updates<T>) -> Result<Store<T>> {
    let Updates { rows, columns, .. } = updates;
    let kinds = built::<u8, Second>(operation, axes(c), (rows, columns, &updates.kinds), false, c.device)?;
    let count = updates.kinds.iter().filter(|kind| **kind == SET).count();
    if count == 0 {
        let (rows, cols) = (kinds.rows.clone(), kinds.cols.clone());
        let at = MaskParts { pattern: kinds.pattern()?, complement: false };
        let none = Store::<T>::empty_on(operation, rows, cols, c.device)?;
        return write::<T, T, Overwrite>(operation, c, none, Some(&at), false);
    }
    let (mut set_rows, mut set_columns) =
        (memory::with_capacity(operation, count)?, memory::with_capacity(operation, count)?);
    let mut values = memory::with_capacity(operation, count)?;
    for (e, value) in updates.values.iter().enumerate().filter(|(e, _)| updates.kinds[*e] == SET) {
        set_rows.push(rows[e]);
        set_columns.push(columns[e]);
        values.push(*value);
    }
    let new = built::<T, Second>(operation, axes(c), (&set_rows, &set_columns, &values), false, c.device)?;
    // Set first and removed later: not new.
    let set = MaskParts { pattern: truths(&kinds)?, complement: false };
    let none = Store::<T>::empty_on(operation, new.rows.clone(), new.cols.clone(), c.device)?;
    let new = write::<T, T, Overwrite>(operation, &none, new, Some(&set), true)?;
    let all = MaskParts { pattern: kinds.pattern()?, complement: false };
    write::<T, T, Overwrite>(operation, c, new, Some(&all), false)
}

/// Sets a value where there is one already, if nobody shares it.
fn set_in_place<T: Scalar>(store: &mut Store<T>, row: u64, column: u64, value: T) -> Result<bool> {
    let (Some(row), Some(column)) = (store.rows.place(row), store.cols.place(column)) else { return Ok(false) };
    Ok(match &mut store.body {
        Body::Host(host) => match (host.pattern.find(row, column as u32), Arc::get_mut(&mut host.values)) {
            (Some(e), Some(values)) => {
                values[e] = value;
                true
            }
            _ => false,
        },
        Body::Dense(dense) => dense.set(column as u32, value),
        Body::Held(held) => held.set(row, column as u32, value),
        #[cfg(feature = "cuda")]
        Body::Cuda(_) => false,
        #[cfg(feature = "cuda")]
        Body::CudaDense(dense) => dense.set(column as u32, value)?,
        #[cfg(feature = "cuda")]
        Body::CudaHeld(held) => held.set(row, column as u32, value)?,
    })
}

fn set<T: Scalar>(store: &mut Store<T>, (row, column): (u64, u64), value: Option<T>, vector: bool) -> Result<()> {
    let operation = if value.is_some() { "set" } else { "remove" };
    for (what, index, bound) in [("row", row, store.rows.n()), ("column", column, store.cols.n())] {
        if index >= bound {
            return Err(Error::IndexOutOfBounds { operation, what, position: None, index, bound });
        }
    }
    if let Some(value) = value
        && set_in_place(store, row, column, value)?
    {
        return Ok(());
    }
    // A vector that is no longer full has bits and values, not cells.
    if let (Body::Held(held), true, true) = (&store.body, vector, value.is_none())
        && held.is_full()
        && let Some(dense) = dense(operation, store)?
    {
        store.body = Body::Dense(dense);
    }
    let (places, across) = (store.rows.place(row).zip(store.cols.place(column)), store.cols.places());
    if let (Body::Held(held), Some((row, column))) = (&mut store.body, places)
        && (value.is_some() || !vector)
        && held.put_cells(operation, &[(row * across + column, value)])?
    {
        return Ok(());
    }
    if let (Body::Dense(dense), Some((_, place))) = (&mut store.body, places) {
        return match value {
            Some(value) => dense.put(operation, place as u32, value),
            None => dense.remove(operation, &[place as u32]),
        };
    }
    // New elements go where cells lie.
    #[cfg(feature = "cuda")]
    if let (Body::CudaHeld(_), Some(value), Some(_)) = (&store.body, value, places) {
        let axes = (Axis::like(&store.rows, store.rows.n()), Axis::like(&store.cols, store.cols.n()));
        let new = built::<T, Second>(operation, axes, (&[row], &[column], &[value]), false, store.device)?;
        if updated::<T, T, With<Second>>(operation, store, &new, None, false)? {
            return Ok(());
        }
    }
    let mut updates = Updates::new();
    updates.push(row, column, value)?;
    update(operation, store, &updates)
}

impl<T: Scalar, S> Matrix<T, S> {
    /// A(row, column) = value. O(log of the row's length) where there is one, and the values are shared with no clone and not
    /// stored as one (on CUDA of a `Bitmap`, `Full` or `Dia` alone), O(1) of a `Bitmap` on the CPU that nobody shares and is not
    /// stored as one value, else O(m + nnz): many elements are better set by [`update`](Self::update).
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `OutOfMemory`, and the device's own; the matrix is as it was.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut a: Matrix<i32> = Matrix::new(2, 2)?;
    /// a.set(1, 0, 7)?;
    /// assert_eq!(a.get(1, 0)?, Some(7));
    /// a.remove(1, 0)?;
    /// assert_eq!(a.nvals(), 0);
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_setElement", "GrB_Vector_setElement", "insert"))]
    pub fn set(&mut self, row: u64, column: u64, value: T) -> Result<()> {
        set(&mut self.store, (row, column), Some(value), false)
    }
    /// A(row, column) = nothing: there is no element any more, nor need there be one before. O(m + nnz); O(1) of a `Bitmap` on the CPU that
    /// nobody shares, which a `Full` matrix becomes in O(m n).
    ///
    /// # Errors
    /// As [`set`](Self::set).
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (1, 1, 2)])?;
    /// a.remove(0, 0)?;
    /// a.remove(0, 1)?;
    /// assert_eq!(a.entries()?, [(1, 1, 2)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_removeElement", "GrB_Vector_removeElement", "delete"))]
    pub fn remove(&mut self, row: u64, column: u64) -> Result<()> {
        set(&mut self.store, (row, column), None, false)
    }
    /// A(iₖ, jₖ) = xₖ for all updates k at once, nothing where they remove; of one position the last counts.
    /// O(m + nnz + u log u) for u updates.
    ///
    /// # Errors
    /// `IndexOutOfBounds` naming the update's position, `OutOfMemory`, and the device's own; the matrix is as it was.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (1, 1, 2)])?;
    /// let mut updates = Updates::new();
    /// updates.set(1, 0, 5)?;
    /// updates.remove(1, 1)?;
    /// a.update(&updates)?;
    /// assert_eq!(a.entries()?, [(0, 0, 1), (1, 0, 5)]);
    /// # Ok(()) }
    /// ```
    pub fn update(&mut self, updates: &Updates<T>) -> Result<()> {
        update("update", &mut self.store, updates)
    }
}

impl<T: Scalar, S> Vector<T, S> {
    /// x(index) = value, as [`Matrix::set`]: O(log nnz) on the CPU where there is one, and the values are shared with nobody and not
    /// stored as one, else O(nnz); O(1) of a [`Bitmap`](crate::Format::Bitmap) that nobody shares, on CUDA where there is one.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `OutOfMemory`, and the device's own; the vector is as it was.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut x: Vector<i32> = Vector::new(3)?;
    /// x.set(2, 7)?;
    /// x.set(0, 1)?;
    /// x.remove(2)?;
    /// assert_eq!(x.entries()?, [(0, 1)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_setElement", "GrB_Vector_setElement", "insert"))]
    pub fn set(&mut self, index: u64, value: T) -> Result<()> {
        set(&mut self.store, (0, index), Some(value), true).map_err(Error::of_elements)
    }
    /// x(index) = nothing: there is no element any more. O(nnz); O(1) of a [`Bitmap`](crate::Format::Bitmap) on the CPU that nobody shares.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut x: Vector<i32> = Vector::build(3, &[(0, 1), (2, 2)])?;
    /// x.remove(2)?;
    /// assert_eq!(x.entries()?, [(0, 1)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_removeElement", "GrB_Vector_removeElement", "delete"))]
    pub fn remove(&mut self, index: u64) -> Result<()> {
        set(&mut self.store, (0, index), None, true).map_err(Error::of_elements)
    }
    /// x(jₖ) = yₖ for all updates k at once, which are those of row 0. O(nnz + u log u) for u updates.
    ///
    /// # Errors
    /// As [`Matrix::update`].
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut x: Vector<i32> = Vector::build(3, &[(0, 1), (2, 2)])?;
    /// let mut updates = Updates::new();
    /// updates.set(0, 1, 5)?;
    /// updates.remove(0, 2)?;
    /// x.update(&updates)?;
    /// assert_eq!(x.entries()?, [(0, 1), (1, 5)]);
    /// # Ok(()) }
    /// ```
    pub fn update(&mut self, updates: &Updates<T>) -> Result<()> {
        update("update", &mut self.store, updates).map_err(Error::of_elements)
    }
}
