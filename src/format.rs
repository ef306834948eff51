//! How matrices and vectors are stored, and entries that are written where they lie.
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::host::HostCsr;
use crate::backend::{Body, MaskBody, PatternBody};
use crate::container::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory;
use crate::operation::{Accumulate, MaskParts};
use crate::storage::axis::Axis;
use crate::storage::dense::{Dense, Places};
use crate::storage::held::Values;
use crate::storage::pattern::Pattern;
use crate::storage::store::{PatternStore, Store};
use crate::storage::update::Admits;
use std::sync::atomic::Ordering;

#[cfg(feature = "cuda")]
mod device;
mod fast;
mod full_rows;
mod iso;
mod matrix;

#[cfg(feature = "cuda")]
pub(crate) use device::{assigned, filled_up, patched, placed, rows_counted, rows_summed, summed, window, written};
pub(crate) use fast::{applied, blank, full_where_full, intersected, selected, still_iso, united};
pub(crate) use iso::{everywhere, filled, found};
pub(crate) use matrix::kept;

/// How a matrix or vector is stored. Operations give the same result, bit for bit, whatever the format.
///
/// A matrix is `Csr`, or `Hypersparse` where a dimension is 2³² or more, or 2²⁴ and built of fewer entries than a 64th of that,
/// unless [`Matrix::to_format`](crate::container::Matrix::to_format)
/// says otherwise; results are in the format that the operation makes, which for element-wise operations on `Bitmap` and
/// `Full` operands is theirs, as for transposes of `Full` and `Dia` and `select` of cells; on CUDA also for transposes of bitmaps, parts taken
/// out of them, and what is assigned or written into them under a mask. What reads a format it does not know makes the list of it once and keeps it. Whether all values
/// are one, [`is_iso`](crate::container::Matrix::is_iso), is a matter of its own.
///
/// A vector to which [`into`](crate::operation::Operation::into) accumulates a few entries again and again, on the CPU or on CUDA,
/// turns to `Bitmap` by itself, once copying its list has cost as much as that; on the CPU also one that then has entries at an eighth
/// of its places, unless it or what is added has them at all, one to parts of which that much is [assigned](crate::operation::assign_vector),
/// and what [`select`](crate::operation::select) keeps of a full one, if it is that much. Other results are lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// A vector's list of entries, ascending. Of a matrix, `Csr` or `Hypersparse`.
    Sparse,
    /// Compressed rows: 8 bytes a row, 4 and a value an entry.
    Csr,
    /// Compressed columns, with the rows beside them where it was made of rows or an operation has asked for them: a transpose costs
    /// nothing. [`memory_bytes`](crate::container::Matrix::memory_bytes) counts both.
    Csc,
    /// Compressed rows of the rows and columns in use alone: dimensions of up to 2⁶⁴ − 1 cost what their entries cost.
    Hypersparse,
    /// A bit and a value for every place, of a matrix every cell: elements are read and set without a search; accumulating into it takes
    /// the time of what is added, and masks of a vector's structure are looked up.
    Bitmap,
    /// An entry at every place: nothing is searched or looked up. A matrix of two rows or more, and of 2¹² entries or more, that is made full
    /// is that by itself; not where all its values are equal and an operation kept them as one ([`is_iso`](crate::container::Matrix::is_iso)): its
    /// format is `Csr` then. [`Matrix::full`](crate::container::Matrix::full) is both, full and iso.
    Full,
    /// The diagonals in use, a value for every row of each.
    Dia,
}

impl<T: Scalar, S> Vector<T, S> {
    /// How it is stored. O(1).
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<f64> = Vector::build(100, &[(3, 1.0), (7, 2.0)])?;
    /// assert_eq!(x.format(), Format::Sparse);
    /// assert_eq!(x.to_bitmap()?.format(), Format::Bitmap);
    /// assert_eq!(x.to_bitmap()?.entries()?, x.entries()?);
    /// assert_eq!(x.to_bitmap()?.to_sparse()?.format(), Format::Sparse);
    /// assert_eq!(Vector::<f64>::full(100, 1.0)?.format(), Format::Full);
    /// # Ok(()) }
    /// ```
    pub fn format(&self) -> Format {
        match &self.store.body {
            _ if self.nvals() == self.len() && !self.is_empty() => Format::Full,
            Body::Dense(_) => Format::Bitmap,
            #[cfg(feature = "cuda")]
            Body::CudaDense(_) => Format::Bitmap,
            _ => Format::Sparse,
        }
    }
    /// The same entries with a bit and a value for every place. O(n); the vector as it is where it has that already, on the
    /// reference device, where its indices are listed as those of rows of hypersparse matrices are, and from length 2³² on.
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    pub fn to_bitmap(&self) -> Result<Self> {
        #[cfg(feature = "cuda")]
        if let Some(d) = device::dense(&self.store)? {
            return Ok(Self::of(self.store.holding(Body::CudaDense(d))));
        }
        Ok(match dense("to_bitmap", &self.store)? {
            Some(d) => Self::of(self.store.holding(Body::Dense(d))),
            None => self.clone(),
        })
    }
    /// The same entries as a list. O(n) the first time after a change, else O(1).
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    pub fn to_sparse(&self) -> Result<Self> {
        Ok(match &self.store.body {
            Body::Dense(d) => Self::of(self.store.holding(Body::Host(d.listed("to_sparse")?.clone()))),
            Body::Held(h) => Self::of(self.store.holding(Body::Host(h.listed("to_sparse")?.clone()))),
            #[cfg(feature = "cuda")]
            Body::CudaDense(d) => Self::of(self.store.holding(Body::Cuda(d.listed()?.clone()))),
            #[cfg(feature = "cuda")]
            Body::CudaHeld(h) => Self::of(self.store.holding(Body::Cuda(h.listed()?.clone()))),
            _ => self.clone(),
        })
    }
}

/// The row of a store of the CPU with a bit for every place.
pub(crate) fn dense<T: Scalar>(operation: &'static str, store: &Store<T>) -> Result<Option<Dense<T>>> {
    match (&store.body, &store.rows, &store.cols) {
        (Body::Dense(d), ..) => Ok(Some(d.clone())),
        (Body::Host(row), Axis::Full(1), Axis::Full(_)) if store.device == Device::Cpu => {
            Dense::of(operation, row).map(Some)
        }
        (Body::Held(h), Axis::Full(1), Axis::Full(_)) if store.device == Device::Cpu => {
            Dense::of(operation, h.listed(operation)?).map(Some)
        }
        _ => Ok(None),
    }
}

/// F of the entries of two vectors where both have one, if one is short and the other has places to look it up.
pub(crate) fn looked_up<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
    a: &Store<A>,
    b: &Store<B>,
) -> Result<Option<Body<F::Out>>> {
    let few = |list: &Pattern, places: &Places| list.nnz() <= places.count() / FEW && list.ncols == places.len();
    match (&a.body, &b.body) {
        (Body::Dense(x), Body::Host(list)) if few(&list.pattern, x.places()) => {
            met(list, |j, y| Some(F::apply(x.get(j)?, y))).map(|made| Some(made.into()))
        }
        (Body::Host(list), Body::Dense(y)) if few(&list.pattern, y.places()) => {
            met(list, |j, x| Some(F::apply(x, y.get(j)?))).map(|made| Some(made.into()))
        }
        #[cfg(feature = "cuda")]
        (Body::CudaDense(_), Body::Cuda(_)) | (Body::Cuda(_), Body::CudaDense(_)) => device::met::<A, B, F>(a, b),
        _ => Ok(None),
    }
}

/// What `f` makes of the entries of a row.
fn met<T: Scalar, C: Scalar>(list: &HostCsr<T>, f: impl Fn(u32, T) -> Option<C>) -> Result<HostCsr<C>> {
    let (mut indices, mut values) = room("ewise_mult", list.pattern.nnz())?;
    // As little as may be: this is compiled for every operator.
    for (e, j) in list.pattern.indices.iter().enumerate() {
        if let Some(made) = f(*j, list.values[e]) {
            indices.push(*j);
            values.push(made);
        }
    }
    Ok(row(list.pattern.ncols, indices, values))
}

/// Room for so many entries.
fn room<T>(operation: &'static str, n: usize) -> Result<(Vec<u32>, Vec<T>)> {
    Ok((memory::with_capacity(operation, n)?, memory::with_capacity(operation, n)?))
}

/// A row of these entries.
fn row<T>(ncols: usize, indices: Vec<u32>, values: Vec<T>) -> HostCsr<T> {
    HostCsr::new(Pattern::new(1, ncols, vec![0, indices.len() as u64], indices), values)
}

/// Copying so many entries is nothing.
const SHORT: usize = 1 << 10;
/// A few entries are this part of what is there.
const FEW: usize = 4;
/// Many are this part of all places.
const MANY: usize = 8;

/// Entries copied so far by writing a little again and again, with those that the next time would copy.
fn merged(row: &Pattern) -> usize {
    row.facts.merged.load(Ordering::Relaxed) + row.nnz()
}

/// Remembers that writing a few entries to a list copied it.
pub(crate) fn copied<C: Scalar>(from: &Store<C>, few: u64, to: &Store<C>) {
    if let (Body::Host(from), Body::Host(to)) = (&from.body, &to.body)
        && few <= (from.pattern.nnz() / FEW) as u64
    {
        to.pattern.facts.merged.store(merged(&from.pattern), Ordering::Relaxed);
    }
    #[cfg(feature = "cuda")]
    device::copied(from, few, to);
}

/// c⟨m⟩ ⊙= t where c lies, if c is a vector with places for that, or becomes one, or a matrix of cells: whether it was done. Nothing of c is
/// deleted by an accumulator, so only entries of t are looked at.
pub(crate) fn updated<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    operation: &'static str,
    c: &mut Store<C>,
    t: &Store<T>,
    mask: Option<&MaskParts>,
    replace: bool,
) -> Result<bool> {
    let aligned = |rows: &Axis, cols: &Axis| c.rows.same(rows) && c.cols.same(cols);
    if replace
        || F::TEXT.is_none()
        || !aligned(&t.rows, &t.cols)
        || mask.is_some_and(|m| !aligned(&m.pattern.rows, &m.pattern.cols))
    {
        return Ok(false);
    }
    #[cfg(feature = "cuda")]
    if let Device::Cuda(_) = c.device {
        return device::updated::<C, T, F>(c, t, mask);
    }
    // An accumulator makes an entry of what is new, always.
    let f = |old, new| F::combine(old, Some(new)).unwrap_or_else(C::zeroed);
    if let Body::Held(h) = &mut c.body
        && (!matches!(c.rows, Axis::Full(1)) || h.frame.has_cells())
    {
        let (positions, values) = match &t.body {
            Body::Host(list) => (&list.pattern, &Values::All(list.values.clone())),
            Body::Held(h) if h.one().is_some() => (h.frame.pattern(operation)?, &*h.values),
            Body::Held(h) => {
                let list = h.listed(operation)?;
                (&list.pattern, &Values::All(list.values.clone()))
            }
            _ => return Ok(false),
        };
        return admitted(mask, |admits| h.update(operation, (positions, values), admits, f));
    }
    let row = match &t.body {
        Body::Host(row) => row,
        Body::Held(h) => h.listed(operation)?,
        _ => return Ok(false),
    };
    if let (Body::Host(list), Device::Cpu) = (&mut c.body, c.device)
        && list.pattern.is_full_row()
    {
        return admitted(mask, |admits| full_rows::update(operation, list, row, admits, f).map(|()| true));
    }
    // A row in another format gets bits as its list does, or stays.
    if let Body::Held(h) = &c.body {
        let mut list = c.holding(Body::Host(h.listed(operation)?.clone()));
        if grown(operation, &mut list, row.pattern.nnz(), true)?.is_none() {
            return Ok(false);
        }
        c.body = list.body;
    }
    let Some(d) = grown(operation, c, row.pattern.nnz(), true)? else { return Ok(false) };
    match mask.map(|m| MaskBody::new(&m.pattern.body, m.complement)) {
        None => d.update(operation, row, |_| true, f)?,
        Some(MaskBody::Bits(m, _)) => d.update(operation, row, |j| m.pattern.get(j) != m.complement, f)?,
        Some(MaskBody::Host(m)) => d.update(operation, row, |j| m.pattern.find(0, j).is_some() != m.complement, f)?,
        Some(MaskBody::Cells(m, _)) => {
            d.update(operation, row, |j| m.pattern.slot(0, j).is_some() != m.complement, f)?
        }
        #[cfg(feature = "cuda")]
        Some(MaskBody::Cuda(_) | MaskBody::CudaBits(..) | MaskBody::CudaCells(..)) => return Ok(false),
    }
    Ok(true)
}

/// What `put` does where a mask of the host admits; nothing where it is another's.
fn admitted(mask: Option<&MaskParts>, put: impl FnOnce(Admits<'_>) -> Result<bool>) -> Result<bool> {
    match mask.map(|m| MaskBody::new(&m.pattern.body, m.complement)) {
        None => put(None),
        Some(MaskBody::Host(m)) => put(Some(&|i, j| m.pattern.find(i, j).is_some() != m.complement)),
        Some(MaskBody::Bits(m, _)) => put(Some(&|_, j| m.pattern.get(j) != m.complement)),
        Some(MaskBody::Cells(m, _)) => put(Some(&|i, j| m.pattern.slot(i, j).is_some() != m.complement)),
        #[cfg(feature = "cuda")]
        Some(MaskBody::Cuda(_) | MaskBody::CudaBits(..) | MaskBody::CudaCells(..)) => Ok(false),
    }
}

/// The bits and values of a vector on the CPU that has them, or gets them because a few entries were written to its list often enough, or
/// because it will have so many, if these are `added`, that putting lists together takes longer.
pub(crate) fn grown<'a, C: Scalar>(
    operation: &'static str,
    c: &'a mut Store<C>,
    entries: usize,
    added: bool,
) -> Result<Option<&'a mut Dense<C>>> {
    if let Body::Host(list) = &c.body {
        let (n, there) = (list.pattern.ncols, list.pattern.nnz());
        let often = entries <= there / FEW && merged(&list.pattern) >= (n / 2).max(SHORT);
        let filled = added && n >= SHORT && there + entries >= n / MANY && entries < n && there < n;
        if often || filled {
            match dense(operation, c) {
                Ok(Some(grown)) => c.body = Body::Dense(grown),
                // There is room for the list alone.
                Ok(None) | Err(Error::OutOfMemory { .. }) => {}
                Err(other) => return Err(other),
            }
        }
    }
    if let Body::Dense(d) = &mut c.body { Ok(Some(d)) } else { Ok(None) }
}

/// Removes the entries of c at these positions where c lies, if it is a vector on the CPU with places for that, or becomes one: whether it did.
pub(crate) fn removed<C: Scalar>(operation: &'static str, c: &mut Store<C>, at: &PatternStore) -> Result<bool> {
    if c.device != Device::Cpu || !c.rows.same(&at.rows) || !c.cols.same(&at.cols) {
        return Ok(false);
    }
    let list = match &at.body {
        PatternBody::Host(list) => list,
        PatternBody::Bits(places) => places.listed(operation)?,
        PatternBody::Cells(frame) => frame.pattern(operation)?,
        #[cfg(feature = "cuda")]
        PatternBody::Cuda(_) | PatternBody::CudaBits(_) | PatternBody::CudaCells(_) => return Ok(false),
    };
    match grown(operation, c, list.nnz(), false)? {
        Some(d) => d.remove(operation, &list.indices).map(|()| true),
        None => Ok(false),
    }
}
