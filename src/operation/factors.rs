//! The operands of a product on their way to a kernel: checked, laid out on common axes, compiled once for three scalars.
use super::{Core, MaskParts, mask_parts, oriented, shape_of};
use crate::algebra::Scalar;
use crate::backend::ring::{Fold, MxmRing, MxvRing, VxmRing};
use crate::backend::{Body, MaskBody, MxmOptions, Positions, on_backend};
use crate::container::Owned;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::mask::Mask;
use crate::spgemm::Strategy;
use crate::storage::axis::Axis;
use crate::storage::store::{Store, same_device};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Mxm,
    Mxv,
    Vxm,
}

/// A product by one semiring.
pub(super) type Run<A, B, C> = fn(&Aligned<A, B>) -> Result<Body<C>>;

/// A product without its semiring's name.
#[derive(Debug)]
pub(super) struct Factors<A, B, C> {
    pub(super) kind: Kind,
    pub(super) a: (Store<A>, bool),
    pub(super) b: (Store<B>, bool),
    pub(super) options: MxmOptions,
    run: Run<A, B, C>,
    /// The same by the transposed kernel: mxv of a transposed matrix pushes, vxm of one pulls.
    run_flipped: Run<A, B, C>,
}
impl<A, B, C> Clone for Factors<A, B, C> {
    fn clone(&self) -> Self {
        Self { a: self.a.clone(), b: self.b.clone(), ..*self }
    }
}

/// Operands and mask on common axes, ready for a kernel.
pub(super) struct Aligned<A, B> {
    pub(super) a: Store<A>,
    pub(super) b: Store<B>,
    mask: Option<MaskBody>,
    at: Positions,
    options: MxmOptions,
}

/// Where the operands go, whatever they hold.
struct Layout {
    /// Whether an operand is turned before it goes to its axes.
    turned: (bool, bool),
    a: (Axis, Axis),
    b: (Axis, Axis),
    out: (Axis, Axis),
    mask: Option<MaskBody>,
    at: Positions,
    options: MxmOptions,
    /// Whether the flipped kernel is the one.
    flipped: bool,
}

/// The axes of an operand as it is stored, and whether it is to be read transposed.
type Placed<'a> = (&'a Axis, &'a Axis, bool);

fn layout(kind: Kind, a: Placed, b: Placed, mut options: MxmOptions, mask: Option<&MaskParts>) -> Result<Layout> {
    let operation = kind.name();
    let plain_mask = mask.is_some_and(|m| !m.complement);
    // A kernel that dots wants B as it is; vectors choose push or pull by how the matrix is stored.
    let flipped = (kind == Kind::Mxv && a.2) || (kind == Kind::Vxm && b.2);
    options.transposed_b = kind == Kind::Mxm && b.2 && (plain_mask || options.strategy == Strategy::Dot);
    let turned = (a.2 && !flipped, b.2 && !flipped && !options.transposed_b);
    // The three axes of the product, whichever way the operands lie.
    let a_swapped = turned.0 || (flipped && kind == Kind::Mxv);
    let b_lies_swapped = options.transposed_b || (flipped && kind == Kind::Vxm) || kind == Kind::Mxv;
    let a_axes = if a_swapped { (a.1, a.0) } else { (a.0, a.1) };
    let b_axes = if b_lies_swapped != turned.1 { (b.1, b.0) } else { (b.0, b.1) };
    let (mut i, k, mut j) = (a_axes.0.clone(), a_axes.1.union(b_axes.0, operation)?, b_axes.1.clone());
    let mask_axes =
        |i: &Axis, j: &Axis| if kind == Kind::Mxv { (j.clone(), i.clone()) } else { (i.clone(), j.clone()) };
    if let Some(m) = mask {
        let (mi, mj) = mask_axes(&m.pattern.rows, &m.pattern.cols);
        (i, j) = (i.union(&mi, operation)?, j.union(&mj, operation)?);
    }
    let out = mask_axes(&i, &j);
    let mask = match mask {
        None => None,
        Some(m) => Some(MaskBody::new(&m.pattern.on_axes(&out.0, &out.1, operation)?.body, m.complement)),
    };
    let a = if flipped && kind == Kind::Mxv { (k.clone(), i.clone()) } else { (i.clone(), k.clone()) };
    let b = if b_lies_swapped { (j.clone(), k.clone()) } else { (k.clone(), j.clone()) };
    // A flipped kernel computes the transposed product: its i is our j.
    let at = match flipped {
        false => Positions { i: i.ids(), k: k.ids(), j: j.ids() },
        true => Positions { i: j.ids(), k: k.ids(), j: i.ids() },
    };
    Ok(Layout { turned, a, b, out, mask, at, options, flipped })
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Mxm => "mxm",
            Kind::Mxv => "mxv",
            Kind::Vxm => "vxm",
        }
    }
    /// Shape of the result. The operands are m×k and k×n, a right-hand vector is a column.
    fn check(self, a: (u64, u64), b: (u64, u64)) -> Result<(u64, u64)> {
        let (left_name, right_name) = match self {
            Kind::Mxm => ("A", "B"),
            Kind::Mxv => ("A", "x"),
            Kind::Vxm => ("x", "A"),
        };
        let b = if self == Kind::Mxv { (b.1, b.0) } else { b };
        if a.1 != b.0 {
            let operation = self.name();
            return Err(Error::DimensionMismatch { operation, left_name, left: a, right_name, right: b });
        }
        Ok(if self == Kind::Mxv { (b.1, a.0) } else { (a.0, b.1) })
    }
    fn check_strategy(self, strategy: Strategy, mask: Option<&MaskParts>) -> Result<()> {
        if strategy == Strategy::Dot && mask.is_none_or(|m| m.complement) {
            let reason = "the strategy `dot` needs a mask that is not complemented".to_string();
            return Err(Error::InvalidValue { operation: self.name(), reason });
        }
        Ok(())
    }
    fn check_device(self, a: Device, b: Device) -> Result<Device> {
        match self {
            Kind::Mxm => same_device(self.name(), ("A", a), ("B", b)),
            Kind::Mxv => same_device(self.name(), ("A", a), ("x", b)),
            Kind::Vxm => same_device(self.name(), ("x", a), ("A", b)),
        }
    }
}

impl<A: Scalar, B: Scalar, C: Scalar> Factors<A, B, C> {
    #[inline(never)]
    pub(super) fn new(kind: Kind, a: &Store<A>, b: &Store<B>, run: Run<A, B, C>, run_flipped: Run<A, B, C>) -> Self {
        Self { kind, a: (a.clone(), false), b: (b.clone(), false), options: MxmOptions::default(), run, run_flipped }
    }
    /// Operands as the kernel takes them; the axes of the result, and whether the flipped kernel is the one.
    fn aligned(&self, mask: Option<&MaskParts>) -> Result<(Aligned<A, B>, (Axis, Axis), bool)> {
        let (operation, (a, ta), (b, tb)) = (self.name(), &self.a, &self.b);
        let to = layout(self.kind, (&a.rows, &a.cols, *ta), (&b.rows, &b.cols, *tb), self.options, mask)?;
        let a = oriented(a, to.turned.0)?.on_axes(&to.a.0, &to.a.1, operation)?;
        let b = oriented(b, to.turned.1)?.on_axes(&to.b.0, &to.b.1, operation)?;
        Ok((Aligned { a, b, mask: to.mask, at: to.at, options: to.options }, to.out, to.flipped))
    }
    /// ⊕ of all entries of the product by a monoid; `None` where it has none.
    pub(super) fn reduced(&self, mask: Option<&Mask>, ring: &MxmRing<A, B, C>, fold: &Fold<C>) -> Result<Option<C>> {
        let (shape, device) = self.check()?;
        let mask = mask_parts(self.name(), mask, shape, device)?;
        let (o, _, _) = self.aligned(mask.as_ref())?;
        Ok(on_backend!(device, |backend| {
            let (a, b, mask) = (backend.csr(&o.a.body)?, backend.csr(&o.b.body)?, backend.mask(o.mask.as_ref())?);
            backend.mxm_reduce(ring, fold, a, b, mask, &o.at, &o.options)?
        }))
    }
}

impl<A: Scalar, B: Scalar, C: Scalar> Core<C> for Factors<A, B, C> {
    fn name(&self) -> &'static str {
        self.kind.name()
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        let shape = self.kind.check(shape_of(&self.a.0, self.a.1), shape_of(&self.b.0, self.b.1))?;
        Ok((shape, self.kind.check_device(self.a.0.device, self.b.0.device)?))
    }
    fn compute(&self, mask: Option<&MaskParts>) -> Result<(Owned<C>, bool)> {
        self.admitted(mask).map(|t| (t, true))
    }
    fn admitted(&self, mask: Option<&MaskParts>) -> Result<Owned<C>> {
        self.kind.check_strategy(self.options.strategy, mask)?;
        let (operands, (rows, cols), flipped) = self.aligned(mask)?;
        let body = if flipped { (self.run_flipped)(&operands)? } else { (self.run)(&operands)? };
        Ok(Owned(Store { rows, cols, body, device: operands.a.device }))
    }
}

pub(super) fn multiplied<A: Scalar, B: Scalar, C: Scalar>(
    o: &Aligned<A, B>,
    ring: &MxmRing<A, B, C>,
) -> Result<Body<C>> {
    Ok(on_backend!(o.a.device, |backend| {
        let (a, b, mask) = (backend.csr(&o.a.body)?, backend.csr(&o.b.body)?, backend.mask(o.mask.as_ref())?);
        Body::from(backend.mxm(ring, a, b, mask, &o.at, &o.options)?)
    }))
}

pub(super) fn pulled<P, Q, A: Scalar, X: Scalar, C: Scalar>(
    o: &Aligned<P, Q>,
    a: &Store<A>,
    x: &Store<X>,
    ring: &MxvRing<A, X, C>,
) -> Result<Body<C>> {
    Ok(on_backend!(a.device, |backend| {
        let (a, x, mask) = (backend.csr(&a.body)?, backend.csr(&x.body)?, backend.mask(o.mask.as_ref())?);
        Body::from(backend.mxv(ring, a, x, mask, &o.at)?)
    }))
}

pub(super) fn pushed<P, Q, X: Scalar, A: Scalar, C: Scalar>(
    o: &Aligned<P, Q>,
    x: &Store<X>,
    a: &Store<A>,
    ring: &VxmRing<X, A, C>,
) -> Result<Body<C>> {
    Ok(on_backend!(a.device, |backend| {
        let (x, a, mask) = (backend.csr(&x.body)?, backend.csr(&a.body)?, backend.mask(o.mask.as_ref())?);
        Body::from(backend.vxm(ring, x, a, mask, &o.at)?)
    }))
}
