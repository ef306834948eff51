//! A product and what follows it on CUDA: its rows go through all steps on the device, some before the next where they are many.
use super::Ended;
use crate::algebra::Scalar;
use crate::backend::cuda::{Cuda, DeviceCsr, counting};
use crate::backend::ring::{AnyRing, Equals};
use crate::backend::untyped::UntypedBody;
use crate::backend::{Backend, Body, misplaced};
use crate::device::Device;
use crate::error::Result;
use crate::memory;
use crate::operation::MaskParts;
use crate::storage::axis::Axis;
use crate::storage::store::Store;
use std::ops::Range;

impl<A: Scalar, B: Scalar, C: Scalar, T: Scalar> Ended<A, B, C, T> {
    /// All steps on the device.
    pub(super) fn by_chunks(&self, mask: Option<&MaskParts>, device: Device) -> Result<Store<T>> {
        self.factors.kind.check_strategy(self.factors.options.strategy, mask)?;
        let (o, (rows, cols), _) = self.factors.aligned(mask)?;
        let (UntypedBody::Cuda(a), UntypedBody::Cuda(b)) = (&o.a.body, &o.b.body) else {
            return Err(misplaced(device));
        };
        let cuda = Cuda::on(device)?;
        let then = |c: DeviceCsr<()>, places: Range<usize>| {
            let rows = part(&rows, places)?;
            // What a limit leaves the device counts.
            let made = (self.steps)(&Store { rows, cols: cols.clone(), body: Body::Cuda(c.cast()), device }, None)?;
            Ok(cuda.csr(&made.body)?.cast())
        };
        let (mask, equals) = (cuda.mask(o.mask.as_ref())?, self.ring.foreseen(a.one_bytes(), b.one_bytes())?);
        let one = equals.as_ref().and_then(Equals::sum);
        let text = counting(self.ring.text.shared(), equals.as_ref(), (a, b), mask.is_some(), &o.options);
        let body = cuda.multiply_then(text, one, a, b, mask, &o.at, &o.options, (size_of::<T>(), &then))?;
        Ok(Store { rows, cols, body: Body::Cuda(body.cast()), device })
    }
}

/// Some places of an axis.
fn part(axis: &Axis, places: Range<usize>) -> Result<Axis> {
    if places.len() == axis.places() {
        return Ok(axis.clone());
    }
    let mut ids = memory::with_capacity("mxm", places.len())?;
    ids.extend(places.map(|place| axis.id(place)));
    Axis::of_ids("mxm", axis.n(), ids)
}
