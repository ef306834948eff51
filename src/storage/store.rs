//! What a matrix or vector is made of: two axes and a body on some device. Knows the scalar, not the semiring.
use super::axis::Axis;
use super::pattern::Pattern;
use crate::algebra::Scalar;
use crate::backend::{Body, PatternBody, host::HostCsr, on_backend};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::format::{everywhere, kept};
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

/// Entries on two axes. A vector of length n is the only row of a 1 × n store.
pub(crate) struct Store<T> {
    pub(crate) rows: Axis,
    pub(crate) cols: Axis,
    pub(crate) body: Body<T>,
    pub(crate) device: Device,
}

impl<T> Clone for Store<T> {
    // Everywhere, and never in a loop.
    #[inline(never)]
    fn clone(&self) -> Self {
        Self { rows: self.rows.clone(), cols: self.cols.clone(), body: self.body.clone(), device: self.device }
    }
}

/// The positions of a store, without values: masks.
#[derive(Clone)]
pub(crate) struct PatternStore {
    pub(crate) rows: Axis,
    pub(crate) cols: Axis,
    pub(crate) body: PatternBody,
    pub(crate) device: Device,
}

/// Shape, number of entries and device: entries are shown by who knows their scalar.
impl<T> Debug for Store<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (rows, cols) = (self.rows.n(), self.cols.n());
        write!(f, "{rows}×{cols}, {} entries on {}", self.body.nnz(), self.device)
    }
}
impl Debug for PatternStore {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (rows, cols) = self.shape();
        write!(f, "{rows}×{cols}, {} positions on {}", self.body.nnz(), self.device)
    }
}

/// The axes of a store with so many entries. A vector has a place for every index: it lists its entries anyway.
pub(crate) fn axes_for((nrows, ncols): (u64, u64), entries: u64) -> (Axis, Axis) {
    let axis = |n| if nrows > 1 { Axis::with_entries(n, entries) } else { Axis::new(n) };
    (axis(nrows), axis(ncols))
}

/// Rows without entries, of any scalar.
fn no_entries(operation: &'static str, (nrows, ncols): (usize, usize), device: Device) -> Result<Body<u8>> {
    Ok(on_backend!(device, |backend| { Body::from(backend.empty::<u8>(operation, nrows, ncols)?) }))
}

impl<T: Scalar> Store<T> {
    pub(crate) fn host(rows: Axis, cols: Axis, pattern: Pattern, values: Vec<T>, device: Device) -> Self {
        let body = Body::Host(HostCsr::at(Arc::new(pattern), values));
        Self { rows, cols, body, device }
    }
    /// No entries, in the memory of `device`.
    pub(crate) fn empty(operation: &'static str, nrows: u64, ncols: u64, device: Device) -> Result<Self> {
        let (rows, cols) = axes_for((nrows, ncols), 0);
        Self::empty_on(operation, rows, cols, device)
    }
    pub(crate) fn empty_on(operation: &'static str, rows: Axis, cols: Axis, device: Device) -> Result<Self> {
        let body = (T::entries().blank)(no_entries(operation, (rows.places(), cols.places()), device)?);
        Ok(Self { rows, cols, body, device })
    }
    /// Other entries on the same axes.
    pub(crate) fn holding<U>(&self, body: Body<U>) -> Store<U> {
        Store { rows: self.rows.clone(), cols: self.cols.clone(), body, device: self.device }
    }
    /// The same entries, for an operation that looks at all of them once: what it lists is not kept.
    pub(crate) fn once(&self) -> Self {
        match &self.body {
            Body::Held(h) => self.holding(Body::Held(h.once())),
            _ => self.clone(),
        }
    }
    /// The one value that all entries have, where it is stored once.
    pub(crate) fn one(&self) -> Option<T> {
        match &self.body {
            Body::Held(h) => h.one(),
            #[cfg(feature = "cuda")]
            Body::Cuda(d) => d.one(),
            #[cfg(feature = "cuda")]
            Body::CudaHeld(h) => h.one(),
            _ => None,
        }
    }
    pub(crate) fn shape(&self) -> (u64, u64) {
        (self.rows.n(), self.cols.n())
    }
    pub(crate) fn nvals(&self) -> u64 {
        self.body.nnz()
    }
    pub(crate) fn pattern(&self) -> Result<PatternStore> {
        Ok(PatternStore {
            rows: self.rows.clone(),
            cols: self.cols.clone(),
            body: self.body.pattern()?,
            device: self.device,
        })
    }
    /// The same entries in the memory of `device`.
    pub(crate) fn to(&self, device: Device) -> Result<Self> {
        if let Some(body) = kept(&self.body, device)? {
            return Ok(Self { rows: self.rows.clone(), cols: self.cols.clone(), body, device });
        }
        let on_device = |device| matches!(device, Device::Cuda(_));
        if let Some(value) = self.one()
            && (on_device(device) || on_device(self.device))
        {
            // Positions travel, the value is known.
            let positions = self.pattern()?;
            let host =
                on_backend!(self.device, |backend| { backend.download_pattern(backend.pattern(&positions.body)?)? });
            let body = on_backend!(device, |backend| { PatternBody::from(backend.upload_pattern(&host)?) });
            return everywhere(PatternStore { body, device, ..positions }, value);
        }
        let host = self.to_host()?;
        let body = on_backend!(device, |backend| { Body::from(backend.upload(&host)?) });
        Ok(Self { rows: self.rows.clone(), cols: self.cols.clone(), body, device })
    }
    /// On the host without the most of its listed places where nearly none is in use: those of rows, and of columns that nobody shares. What
    /// there is no room to move stays as it is. O(1) where it does.
    pub(crate) fn trimmed(self, operation: &'static str) -> Result<Self> {
        if let Device::Cuda(_) = self.device {
            return Ok(self);
        }
        let n = self.nvals();
        let rows = self.rows.is_loose(n);
        let cols = self.cols.is_loose(n) && (rows || !self.cols.is_shared());
        if !rows && !cols {
            return Ok(self);
        }
        match self.in_use((rows, cols), operation) {
            Err(Error::OutOfMemory { .. }) => Ok(self),
            made => made,
        }
    }
    /// The entries in host memory; no copy where they are there already.
    pub(crate) fn to_host(&self) -> Result<HostCsr<T>> {
        let once = self.once();
        on_backend!(self.device, |backend| { backend.download(backend.csr(&once.body)?) })
    }
    /// The same entries on axes that have at least these places.
    pub(crate) fn on_axes(&self, rows: &Axis, cols: &Axis, operation: &'static str) -> Result<Self> {
        if self.rows.same(rows) && self.cols.same(cols) {
            return Ok(self.once());
        }
        let on = self.pattern()?.on_axes(rows, cols, operation)?;
        Ok(Self { rows: on.rows, cols: on.cols, body: self.body.at(on.body)?, device: self.device })
    }
}

impl PatternStore {
    pub(crate) fn shape(&self) -> (u64, u64) {
        (self.rows.n(), self.cols.n())
    }
    /// Those positions in host memory that have places on these axes.
    pub(crate) fn within(&self, rows: &Axis, cols: &Axis, operation: &'static str) -> Result<Self> {
        if rows.has_all(&self.rows) && cols.has_all(&self.cols) {
            return self.on_axes(rows, cols, operation);
        }
        let host = on_backend!(self.device, |backend| { backend.download_pattern(backend.pattern(&self.body)?)? });
        let pattern = Arc::new(host.within((&self.rows, &self.cols), (rows, cols), operation)?);
        let (rows, cols) = (rows.clone(), cols.clone());
        Ok(Self { rows, cols, body: PatternBody::Host(pattern), device: self.device })
    }
    /// The same positions on axes that have at least these places, or those in use where they are lists.
    pub(crate) fn on_axes(&self, rows: &Axis, cols: &Axis, operation: &'static str) -> Result<Self> {
        if self.rows.same(rows) && self.cols.same(cols) {
            return Ok(self.clone());
        }
        let shorter = (!self.rows.is_listed() && rows.is_listed(), !self.cols.is_listed() && cols.is_listed());
        if shorter != (false, false) {
            return self.in_use(shorter, operation)?.on_axes(rows, cols, operation);
        }
        // Names of places are the host's, what stands there may not be.
        if let Device::Cuda(_) = self.device {
            let map = |from: &Axis, to: &Axis| match from.same(to) {
                true => Ok(None),
                false => from.map_to(to, operation).map(Some),
            };
            let (down, across) = (map(&self.rows, rows)?, map(&self.cols, cols)?);
            let shape = (rows.places(), cols.places());
            let body = on_backend!(self.device, |backend| {
                let pattern = backend.pattern(&self.body)?;
                backend.spread(pattern, shape, down.as_deref(), across.as_deref())?.map(PatternBody::from)
            });
            if let Some(body) = body {
                return Ok(Self { rows: rows.clone(), cols: cols.clone(), body, device: self.device });
            }
        }
        let host = on_backend!(self.device, |backend| { backend.download_pattern(backend.pattern(&self.body)?)? });
        let pattern = Arc::new(host.spread((&self.rows, &self.cols), (rows, cols), operation)?);
        let body = on_backend!(self.device, |backend| { PatternBody::from(backend.upload_pattern(&pattern)?) });
        Ok(Self { rows: rows.clone(), cols: cols.clone(), body, device: self.device })
    }
}

/// Both operands on one device, or an error that says which is where.
pub(crate) fn same_device(
    operation: &'static str,
    left: (&'static str, Device),
    right: (&'static str, Device),
) -> Result<Device> {
    if left.1 == right.1 {
        return Ok(left.1);
    }
    Err(Error::DeviceMismatch { operation, left_name: left.0, left: left.1, right_name: right.0, right: right.1 })
}
