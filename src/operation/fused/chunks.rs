//! A product and what follows it on CUDA, some rows at a time, where the product does not fit.
use super::Ended;
use crate::algebra::Scalar;
use crate::backend::cuda::{Cuda, DeviceCsr};
use crate::backend::untyped::UntypedBody;
use crate::backend::{Backend, Body, MaskOn, Positions, misplaced, ring};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory;
use crate::operation::MaskParts;
use crate::storage::axis::Axis;
use crate::storage::store::Store;
use std::sync::Arc;

impl<A: Scalar, B: Scalar, C: Scalar, T: Scalar> Ended<A, B, C, T> {
    /// All steps for some rows before the next, where the product does not fit.
    pub(super) fn by_chunks(&self, mask: Option<&MaskParts>, device: Device) -> Result<Store<T>> {
        let (o, (rows, cols), _) = self.factors.aligned(mask)?;
        let (UntypedBody::Cuda(a), UntypedBody::Cuda(b)) = (&o.a.body, &o.b.body) else {
            return Err(misplaced(device));
        };
        let cuda = Cuda::on(device)?;
        let mask = match cuda.mask(o.mask.as_ref())? {
            Some(mask) => Some((cuda.filled(&mask.pattern, 0u8)?, mask.complement)),
            None => None,
        };
        let (places, mut first) = (rows.places(), 0);
        let (mut parts, mut size): (Vec<DeviceCsr<T>>, _) = (Vec::new(), places.div_ceil(2));
        let a: DeviceCsr<A> = a.cast();
        while first < places {
            let last = places.min(first + size);
            let part = || {
                let mut list = memory::with_capacity("mxm", last - first)?;
                list.extend(first as u32..last as u32);
                let mut ids = memory::with_capacity("mxm", last - first)?;
                ids.extend((first..last).map(|place| rows.id(place)));
                let axis = Axis::Listed { n: rows.n(), ids: Arc::new(ids) };
                let mask = match &mask {
                    Some((marks, complement)) => {
                        let pattern = cuda.extract_rows(marks, &list)?.pattern.clone();
                        Some(MaskOn { pattern, complement: *complement })
                    }
                    None => None,
                };
                let (a, at) = (cuda.extract_rows(&a, &list)?, Positions { i: axis.ids(), ..o.at.clone() });
                let text = self.ring.text.shared();
                let c = cuda.multiply(ring::Step::Mxm, text, &a.cast(), b, mask.as_ref(), &at, &o.options)?;
                (self.steps)(&Store { rows: axis, cols: cols.clone(), body: Body::Cuda(c.cast()), device })
            };
            match part() {
                Ok(made) => {
                    memory::reserve("mxm", &mut parts, 1)?;
                    parts.push(cuda.csr(&made.body)?.clone());
                    first = last;
                }
                Err(Error::OutOfMemory { .. }) if last - first > 1 => size = (last - first).div_ceil(2),
                Err(e) => return Err(e),
            }
        }
        let tiles: Vec<Vec<&DeviceCsr<T>>> = parts.iter().map(|part| vec![part]).collect();
        let body = match tiles.is_empty() {
            true => cuda.empty("mxm", places, cols.places())?,
            false => cuda.concat(&tiles)?,
        };
        Ok(Store { rows, cols, body: Body::Cuda(body), device })
    }
}
