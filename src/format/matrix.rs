//! The formats of a matrix, and the ways between them.
use super::Format;
use crate::algebra::Scalar;
use crate::backend::Body;
use crate::backend::host::HostCsr;
use crate::container::Matrix;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::storage::axis::{Axis, counted};
use crate::storage::frame::{Form, Frame};
use crate::storage::held::Held;
use crate::storage::pattern::Pattern;
use crate::storage::store::Store;
use std::sync::Arc;

const OPERATION: &str = "to_format";

impl<T: Scalar, S> Matrix<T, S> {
    /// How it is stored. O(1).
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::build(3, 3, &[(0, 0, 1.0), (1, 1, 2.0), (2, 2, 3.0)])?;
    /// let huge: Matrix<f64> = Matrix::build(1 << 40, 1 << 40, &[(1 << 39, 7, 1.0)])?;
    /// assert_eq!((a.format(), huge.format()), (Format::Csr, Format::Hypersparse));
    /// assert_eq!(a.to_format(Format::Dia)?.format(), Format::Dia);
    /// # Ok(()) }
    /// ```
    pub fn format(&self) -> Format {
        let listed =
            matches!((&self.store.rows, &self.store.cols), (Axis::Listed { .. }, _) | (_, Axis::Listed { .. }));
        let rows = if listed { Format::Hypersparse } else { Format::Csr };
        #[cfg(feature = "cuda")]
        if let Body::CudaHeld(held) = &self.store.body {
            return super::device::format(held);
        }
        let Body::Held(held) = &self.store.body else { return rows };
        match &held.frame.form {
            Form::Rows(_) => rows,
            Form::Columns(_) => Format::Csc,
            Form::Cells(cells) if cells.words.is_none() => Format::Full,
            Form::Cells(_) => Format::Bitmap,
            Form::Diagonals(_) => Format::Dia,
        }
    }
    /// The same entries in this format; [iso](Self::is_iso) matrices stay iso. Whatever reads it gives the same result.
    ///
    /// O(nnz + m + n) to `Csr` and `Hypersparse`, and to `Csc` of a matrix in rows; O(m n) to `Bitmap` and `Full`;
    /// O(m d) to `Dia` for d diagonals in use. Going [`to`](Self::to) another device a matrix stays in its format.
    ///
    /// # Errors
    /// `InvalidValue` for `Full` where an entry is missing; `OutOfMemory` with the bytes needed where the format's places are
    /// too many; `IndexOverflow` for `Csr` and `Dia`, and for `Bitmap` and `Full` of fewer than 2⁴⁰ places, where a dimension is 2³² or more.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 1.0), (1, 0, 2.0)])?;
    /// for format in [Format::Csr, Format::Csc, Format::Hypersparse, Format::Bitmap, Format::Dia] {
    ///     let same = a.to_format(format)?;
    ///     assert_eq!((same.format(), same.mxm(&a)?.entries()?), (format, a.mxm(&a)?.entries()?));
    /// }
    /// assert!(matches!(a.to_format(Format::Full), Err(Error::InvalidValue { .. })));
    /// let large: Matrix<f64> = Matrix::new(1 << 20, 1 << 20)?;
    /// assert!(matches!(large.to_format(Format::Bitmap), Err(Error::OutOfMemory { needed, .. }) if needed > 1 << 43));
    /// # Ok(()) }
    /// ```
    pub fn to_format(&self, format: Format) -> Result<Self> {
        converted(&self.store, format, self.format()).map(Self::of)
    }
}

// Knows T and not S: compiled once for all labels.
fn converted<T: Scalar>(store: &Store<T>, format: Format, now: Format) -> Result<Store<T>> {
    if format == now {
        return Ok(store.clone());
    }
    let store = &of_list(store)?;
    let format = match (format, &store.rows, &store.cols) {
        (Format::Sparse, Axis::Full(_), Axis::Full(_)) => Format::Csr,
        (Format::Sparse, ..) => Format::Hypersparse,
        _ => format,
    };
    match format {
        Format::Hypersparse => return in_rows(store)?.in_use((true, true), OPERATION),
        Format::Csc => return formed(store, format, |list, one| Held::by_columns(list, one)),
        _ => {}
    }
    let store = full_axes(store, format)?;
    let (m, n) = (store.rows.places(), store.cols.places());
    if format == Format::Full && store.nvals() as u128 != m as u128 * n as u128 {
        let reason = format!("a full matrix has an entry everywhere, this {m}×{n} one has {}", store.nvals());
        return Err(Error::InvalidValue { operation: OPERATION, reason });
    }
    match format {
        Format::Bitmap | Format::Full => formed(&store, format, |list, one| {
            Held::of(OPERATION, Frame::cells(OPERATION, &list.pattern, value_size(one))?, list, one)
        }),
        Format::Dia => formed(&store, format, |list, one| {
            Held::of(OPERATION, Frame::diagonals(OPERATION, &list.pattern, value_size(one))?, list, one)
        }),
        _ => in_rows(&store),
    }
}

/// A row that has bits, as vectors that are written into again and again, as its list; all else as it is.
fn of_list<T: Scalar>(store: &Store<T>) -> Result<Store<T>> {
    Ok(match &store.body {
        Body::Dense(d) => store.holding(Body::Host(d.listed(OPERATION)?.clone())),
        #[cfg(feature = "cuda")]
        Body::CudaDense(d) => store.holding(Body::Cuda(d.listed()?.clone())),
        _ => store.clone(),
    })
}

fn value_size<T>(one: Option<T>) -> usize {
    if one.is_some() { 0 } else { size_of::<T>() }
}

/// A dimension with a place for every index.
fn full(axis: &Axis, what: &'static str) -> Result<Axis> {
    counted(OPERATION, what, axis.n()).map(Axis::Full)
}

/// With a place for every row and column, where that can be for this format.
fn full_axes<T: Scalar>(store: &Store<T>, format: Format) -> Result<Store<T>> {
    if let Format::Bitmap | Format::Full = format {
        // What would be needed says more than that a dimension is long.
        let (m, n) = store.shape();
        let size = value_size(store.one());
        crate::storage::frame::slots(
            OPERATION,
            store.device,
            usize::try_from(m).unwrap_or(usize::MAX),
            usize::try_from(n).unwrap_or(usize::MAX),
            size,
        )?;
    }
    let (rows, cols) = (full(&store.rows, "number of rows")?, full(&store.cols, "number of columns")?);
    store.on_axes(&rows, &cols, OPERATION)
}

/// The entries in the memory of `device`, in the format that they have here; `None` for lists.
pub(crate) fn kept<T: Scalar>(body: &Body<T>, device: Device) -> Result<Option<Body<T>>> {
    match (body, device) {
        (Body::Held(h), Device::Cpu | Device::Reference) if !h.is_rows() => Ok(Some(Body::Held(h.clone()))),
        #[cfg(feature = "cuda")]
        _ => super::device::kept(body, device),
        #[cfg(not(feature = "cuda"))]
        _ => Ok(None),
    }
}

/// In compressed rows.
fn in_rows<T: Scalar>(store: &Store<T>) -> Result<Store<T>> {
    #[cfg(feature = "cuda")]
    if let Body::CudaHeld(held) = &store.body {
        return Ok(store.holding(Body::Cuda(held.listed()?.clone())));
    }
    let Body::Held(held) = &store.body else { return Ok(store.clone()) };
    Ok(store.holding(match held.one() {
        Some(value) => Body::Held(Held::iso(held.frame.pattern(OPERATION)?.clone(), value)),
        None => Body::Host(held.listed(OPERATION)?.clone()),
    }))
}

/// A format that is no list; in host memory made of the list, or of its positions and the one value.
fn formed<T: Scalar>(
    store: &Store<T>,
    _format: Format,
    make: impl FnOnce(&HostCsr<T>, Option<T>) -> Result<Held<T>>,
) -> Result<Store<T>> {
    #[cfg(feature = "cuda")]
    if let Some(made) = super::device::formed(store, _format)? {
        return Ok(store.holding(Body::CudaHeld(made)));
    }
    let positions = |pattern: &Arc<Pattern>| HostCsr { pattern: pattern.clone(), values: Arc::default() };
    let made = match &store.body {
        Body::Host(list) => make(list, None)?,
        Body::Held(held) => match held.one() {
            Some(value) => make(&positions(held.frame.pattern(OPERATION)?), Some(value))?,
            None => make(held.listed(OPERATION)?, None)?,
        },
        _ => return Ok(store.clone()),
    };
    Ok(store.holding(Body::Held(made)))
}
