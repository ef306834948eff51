//! What a product will do, and what it did.
use super::factors::{Aligned, Factors, Kind};
use super::product::Product;
use super::{Accumulate, Compute, Operation, mask_parts};
use crate::algebra::Scalar;
#[cfg(feature = "cuda")]
use crate::backend::cuda::{Cuda, counting, of_positions};
use crate::backend::misplaced;
use crate::backend::ring::HostOperands;
use crate::backend::untyped::UntypedBody;
use crate::container::Container;
use crate::device::Device;
use crate::error::Result;
use crate::mask::Mask;
use crate::spgemm::{Analysis, Explanation, Extent, KernelTrace, MaskExtent, Trace};
use std::time::Instant;

impl<A: Scalar, B: Scalar, C: Container, S, F> Operation<Product<A, B, C, S>, F> {
    /// What the product will do and why: products, how far they are compressed, rows by how they are computed, memory.
    /// Some rows are computed for the estimates, the product is not. O(nnz(A) + nnz(M) + m), and the sample.
    ///
    /// That takes memory of its own, and can run out of it where the product does not: B is turned where it is given transposed, though
    /// dot products take it as it lies; the one value of all entries is written out for each; and of a product with a vector on CUDA the
    /// positions of both operands and of the mask, O(nnz(A)), are copied to the host, where products are counted.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
    /// let explanation = mxm(&a, &a).explain()?;
    /// assert_eq!(explanation.analysis.products, 5);
    /// println!("{explanation}");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Those of [`eval`](Operation::eval).
    pub fn explain(&self) -> Result<Explanation> {
        let core = &self.kernel.core;
        core.explained(self.mask.as_ref()).map_err(|e| e.in_operation(core.kind.name()))
    }
}

impl<A: Scalar, B: Scalar, C: Container, S> Operation<Product<A, B, C, S>> {
    /// The product, and what ran: on a GPU each kernel with its milliseconds and bytes, one waited for before the next
    /// starts; elsewhere the whole. Costs what [`eval`](Operation::eval) does, O(products), and the waiting; the same bits.
    ///
    /// # Errors
    /// Those of [`eval`](Operation::eval).
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
    /// let (mut c, trace) = mxm(&a, &a).traced()?;
    /// println!("{trace}{:.3} ms in all", trace.milliseconds());
    /// let again = mxm(&a, &a).accumulate(Plus).traced_into(&mut c)?;
    /// assert_eq!((c.get(0, 0)?, again.kernels.is_empty()), (Some(38.0), false));
    /// # Ok(()) }
    /// ```
    pub fn traced(self) -> Result<(C, Trace)> {
        let (name, device) = (self.kernel.core().name(), self.kernel.core.a.0.device);
        named(name, device, || self.eval())
    }
}

impl<A: Scalar, B: Scalar, K: Container, S, F> Operation<Product<A, B, K, S>, F> {
    /// C⟨M, replace⟩ ⊙= T as [`into`](Operation::into) does it, and what ran: O(products) and the waiting, see [`traced`](Operation::traced).
    ///
    /// # Errors
    /// Those of [`into`](Operation::into).
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut c: Matrix<f64> = Matrix::identity(2)?;
    /// mxm(&c, &c).accumulate(Plus).traced_into(&mut c)?;
    /// assert_eq!(c.entries()?, [(0, 0, 2.0), (1, 1, 2.0)]);
    /// # Ok(()) }
    /// ```
    pub fn traced_into<C>(self, c: &mut C) -> Result<Trace>
    where
        C: Container<Kind = K::Kind>,
        F: Accumulate<C::Scalar, K::Scalar>,
    {
        let (name, device) = (self.kernel.core().name(), self.kernel.core.a.0.device);
        Ok(named(name, device, || self.into(c))?.1)
    }
}

/// What `work` makes, and what it ran on the device: on a GPU each kernel of all its operations on the calling thread with its
/// milliseconds and bytes, one waited for before the next starts; elsewhere the whole. For what has no [`traced`](Operation::traced) of its own: sums of products,
/// runs of a [`Plan`](super::Plan), triple products, a whole algorithm. Costs what the work does, O(its operations), and the waiting; the
/// same bits.
///
/// # Errors
/// Those of `work`; on CUDA `Unavailable` where the device is not there.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<u64> = Matrix::build(3, 3, &[(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 0, 1)])?;
/// let (paths, trace) = traced(&a.device(), || mxm(&a, &a).reduce(Plus))?;
/// assert_eq!((paths, trace.kernels.is_empty()), (5, false));
/// # Ok(()) }
/// ```
pub fn traced<R>(device: &Device, work: impl FnOnce() -> Result<R>) -> Result<(R, Trace)> {
    named("work", *device, work)
}

fn named<R>(name: &str, device: Device, work: impl FnOnce() -> Result<R>) -> Result<(R, Trace)> {
    #[cfg(feature = "cuda")]
    if let Device::Cuda(_) = device {
        return Cuda::on(device)?.traced(work);
    }
    let start = Instant::now();
    let made = work()?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    Ok((made, Trace::of(vec![KernelTrace::new(format!("{name} on {device}"), ms, None, (0, 0))], None)))
}

impl Factors {
    fn explained(&self, mask: Option<&Mask>) -> Result<Explanation> {
        let (shape, device) = self.check()?;
        let mask = mask_parts(self.kind.name(), mask, shape, device)?;
        self.kind.check_strategy(self.options.strategy, mask.as_ref())?;
        let entries = |body: &UntypedBody| body.nnz();
        let (a, b) = (&self.a.0, &self.b.0);
        let extents =
            (Extent::of(a.shape(self.a.1), entries(&a.body)), Extent::of(b.shape(self.b.1), entries(&b.body)));
        let (mut o, _, flipped) = self.aligned(mask.as_ref())?;
        if let Some(left) = self.left_beside(&o)? {
            o.options.memory_limit = Some(left);
        }
        Ok(Explanation {
            operation: self.kind.name(),
            device,
            a: extents.0,
            b: extents.1,
            mask: o.mask.as_ref().map(|m| MaskExtent::of(m.nnz(), m.is_complement())),
            shape,
            analysis: self.analysis(&o, flipped, device)?,
            memory_limit: self.options.memory_limit,
            in_order: self.in_order(device),
        })
    }
    fn in_order(&self, device: Device) -> bool {
        let named = self.kind == Kind::Mxm && self.options.strategy.sums_in_order();
        !matches!(device, Device::Cuda(_)) || self.options.reproducible || named
    }
    fn analysis(&self, o: &Aligned, flipped: bool, device: Device) -> Result<Analysis> {
        let (ring, a, b) = if flipped { (self.flipped, &o.b, &o.a) } else { (self.ring, &o.a, &o.b) };
        let (at, options) = (&o.at, &o.options);
        match (&a.body, &b.body) {
            (UntypedBody::Host(a), UntypedBody::Host(b)) => {
                let mask = o.mask.as_ref();
                ring.explain(device, &HostOperands { a, b, mask, at, options })
            }
            #[cfg(feature = "cuda")]
            (UntypedBody::Cuda(a), UntypedBody::Cuda(b)) => {
                let cuda = Cuda::on(device)?;
                let equals = ring.foreseen(a.one_bytes(), b.one_bytes())?;
                let iso = equals.as_ref().is_some_and(|e| e.kept);
                let counted = || counting(ring.text(), equals.as_ref(), (a, b), o.mask.is_some(), options);
                let text = if iso { of_positions() } else { counted() };
                cuda.explain(ring.step(), (text, iso), a, b, o.mask.as_ref(), at, options)
            }
            _ => Err(misplaced(device)),
        }
    }
}
