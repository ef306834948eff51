//! Matrices and vectors whose entries share one value, which is stored once; and the memory that entries take.
use crate::algebra::Scalar;
use crate::algebra::scalar::as_bytes;
use crate::backend::{Body, PatternBody};
use crate::container::{Matrix, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::storage::axis::Axis;
use crate::storage::footprint::Footprint;
use crate::storage::held::{Held, Values, uniform};
use crate::storage::store::{PatternStore, Store};

macro_rules! iso {
    ($($name:ident)*) => {$(
        impl<T: Scalar, S> $name<T, S> {
            /// Whether all entries share one value, which is stored once. Matrices that are built or read on the CPU of
            /// equal values, also where they are taken to another device, results of [`with_value`](Self::with_value), of an
            /// operator that looks at no value, and of operations that keep equal values equal are; what reads values one by
            /// one gets them all for as long as it runs, a product with a vector that is not full, on CUDA any product but one of ones that
            /// are added, for as long as the matrix lives. Never visible in a result, but for the last bits of [some functions](crate::algebra::operator#bits). O(1).
            pub fn is_iso(&self) -> bool {
                self.store.one().is_some()
            }
            /// The same positions, all of `value`, stored once. O(1).
            ///
            /// # Errors
            /// `OutOfMemory`; on CUDA `Driver`.
            /// ```
            /// use oplus::prelude::*;
            /// # fn main() -> oplus::Result<()> {
            /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 1, 3.0), (1, 0, 4.0)])?;
            /// let ones = a.with_value(1u8)?;
            /// assert_eq!((ones.is_iso(), ones.get(1, 0)?), (true, Some(1)));
            /// assert!(a.to_iso().is_err() && ones.to_iso()?.is_iso());
            /// # Ok(()) }
            /// ```
            pub fn with_value<U: Scalar>(&self, value: U) -> Result<$name<U, S>> {
                filled(&self.store, value).map($name::of)
            }
            /// The same entries with their value stored once; as it is on CUDA and where there are no entries. O(nnz).
            ///
            /// # Errors
            /// `InvalidValue` naming the first entry that differs from the ones before; `OutOfMemory`.
            pub fn to_iso(&self) -> Result<Self> {
                shared(&self.store).map(Self::of)
            }
            /// Bytes of entries and positions, and of all that is kept with them for operations that come later: lists of what is stored
            /// otherwise, the transpose of what was read by columns again and again, rows in batches or tiles, diagonals. What clones and
            /// matrices of the same positions share counts in each; what a device rounds up or keeps for the next that asks does not. O(1).
            pub fn memory_bytes(&self) -> u64 {
                bytes(&self.store)
            }
        }
    )*};
}
iso!(Matrix Vector);

pub(super) fn on_host(device: Device) -> bool {
    matches!(device, Device::Cpu | Device::Reference)
}

/// `value` at all positions of a store.
pub(crate) fn filled<T: Scalar, U: Scalar>(store: &Store<T>, value: U) -> Result<Store<U>> {
    match &store.body {
        Body::Held(h) => Ok(store.holding(Body::Held(h.with(value)))),
        #[cfg(feature = "cuda")]
        Body::CudaHeld(h) => Ok(store.holding(Body::CudaHeld(h.with(value)?))),
        _ => everywhere(store.pattern()?, value),
    }
}

/// `value` at all positions.
pub(crate) fn everywhere<T: Scalar>(at: PatternStore, value: T) -> Result<Store<T>> {
    let body = match at.body {
        PatternBody::Host(pattern) if on_host(at.device) => Body::Held(Held::iso(pattern, value)),
        PatternBody::Cells(frame) if on_host(at.device) => Body::Held(Held::new(frame, Values::One(value))),
        PatternBody::Bits(places) if on_host(at.device) => {
            Body::Held(Held::iso(places.listed("with_value")?.clone(), value))
        }
        body => crate::backend::on_backend!(at.device, |backend| {
            Body::from(backend.filled(backend.pattern(&body)?, value)?)
        }),
    };
    Ok(Store { rows: at.rows, cols: at.cols, body, device: at.device })
}

/// A store of the host whose values are all the same, with that stored once; `None` where it is another or has no entries.
pub(crate) fn found<T: Scalar>(store: &Store<T>) -> Result<Option<Store<T>>> {
    let values = match &store.body {
        Body::Host(list) if on_host(store.device) => uniform(&list.values).map(|v| (list.pattern.clone(), v)),
        Body::Dense(d) => {
            let list = d.listed("to_iso")?;
            uniform(&list.values).map(|v| (list.pattern.clone(), v))
        }
        Body::Held(h) if h.one().is_none() => {
            let list = h.listed("to_iso")?;
            return Ok(uniform(&list.values).map(|v| store.holding(Body::Held(h.with(v)))));
        }
        _ => None,
    };
    Ok(values.map(|(pattern, value)| store.holding(Body::Held(Held::iso(pattern, value)))))
}

fn shared<T: Scalar>(store: &Store<T>) -> Result<Store<T>> {
    if store.one().is_some() || store.nvals() == 0 || !on_host(store.device) {
        return Ok(store.clone());
    }
    if let Some(found) = found(store)? {
        return Ok(found);
    }
    let list = store.to_host()?;
    let differs = |v: &T| as_bytes(&[*v]) != as_bytes(&list.values[..1]);
    let position = list.values.iter().position(differs).unwrap_or_default();
    let row = list.pattern.offsets.partition_point(|o| *o <= position as u64).saturating_sub(1);
    let (i, j) = (store.rows.id(row), store.cols.id(list.pattern.indices[position] as usize));
    let reason = format!("the entry ({i}, {j}) is {:?}, others are {:?}", list.values[position], list.values[0]);
    Err(Error::InvalidValue { operation: "to_iso", reason })
}

fn bytes<T: Scalar>(store: &Store<T>) -> u64 {
    let axis = |axis: &Axis| if let Axis::Listed { ids, .. } = axis { ids.len() as u64 * 8 } else { 0 };
    let mut all = Footprint::default();
    match &store.body {
        Body::Host(list) => list.footprint(&mut all),
        Body::Dense(d) => d.footprint(&mut all),
        Body::Held(h) => h.footprint(&mut all),
        #[cfg(feature = "cuda")]
        Body::Cuda(d) => d.footprint(&mut all),
        #[cfg(feature = "cuda")]
        Body::CudaDense(d) => d.footprint(&mut all),
        #[cfg(feature = "cuda")]
        Body::CudaHeld(h) => h.footprint(&mut all),
    }
    all.bytes + axis(&store.rows) + axis(&store.cols)
}
