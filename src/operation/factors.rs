//! The operands of a product on their way to a kernel: checked, laid out on common axes, compiled once whatever the scalars.
use super::limit::{aligning_bytes, beside, scaling_bytes, union_bytes};
use super::scale::Scaling;
use super::{Core, MaskParts, limited, mask_parts};
use crate::algebra::Scalar;
#[cfg(feature = "cuda")]
use crate::algebra::scalar::from_bytes;
#[cfg(feature = "cuda")]
use crate::backend::Backend;
#[cfg(feature = "cuda")]
use crate::backend::cuda::{Cuda, counting};
use crate::backend::misplaced;
use crate::backend::ring::{AnyRing, Fold, HostOperands, MxmRing, Step};
use crate::backend::untyped::{Reading, UntypedBody, UntypedStore};
use crate::backend::{MaskBody, MaskOn, MxmOptions, Positions};
use crate::container::Owned;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::mask::Mask;
use crate::spgemm::Strategy;
use crate::storage::axis::Axis;
use crate::storage::dense::Places;
use crate::storage::pattern::Pattern;
use crate::storage::store::{PatternStore, Store, same_device};
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Mxm,
    Mxv,
    Vxm,
}

/// A product: its scalars are known to its tables alone.
#[derive(Clone)]
pub(super) struct Factors {
    pub(super) kind: Kind,
    pub(super) a: (UntypedStore, bool),
    pub(super) b: (UntypedStore, bool),
    pub(super) options: MxmOptions,
    /// Whether the operands were given as transposed views.
    pub(super) given: (bool, bool),
    /// What the operands go through on their way into the product.
    pub(super) scaled: (Vec<Arc<dyn Scaling>>, Vec<Arc<dyn Scaling>>),
    pub(super) ring: &'static dyn AnyRing,
    /// The same by the transposed kernel, its operands exchanged: mxv of a transposed matrix pushes, vxm of one pulls.
    pub(super) flipped: &'static dyn AnyRing,
}

/// The operands as they are stored and read, and the options.
impl Debug for Factors {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let mut product = f.debug_struct(self.kind.name());
        product.field("a", &self.a.0).field("a_transposed", &self.a.1);
        product.field("b", &self.b.0).field("b_transposed", &self.b.1);
        product.field("options", &self.options).finish_non_exhaustive()
    }
}

/// Operands and mask on common axes, ready for a kernel.
pub(super) struct Aligned {
    pub(super) a: UntypedStore,
    pub(super) b: UntypedStore,
    pub(super) mask: Option<MaskBody>,
    pub(super) at: Positions,
    pub(super) options: MxmOptions,
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

/// On the `host` what a mask says of rows and columns that the result has none of is dropped; else all get places.
fn layout(
    kind: Kind,
    a: Placed,
    b: Placed,
    mut options: MxmOptions,
    mask: Option<&MaskParts>,
    host: bool,
) -> Result<Layout> {
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
    if let Some(m) = mask.filter(|_| !host) {
        let (mi, mj) = mask_axes(&m.pattern.rows, &m.pattern.cols);
        (i, j) = (i.union(&mi, operation)?, j.union(&mj, operation)?);
    }
    let out = mask_axes(&i, &j);
    let mask = match mask {
        None => None,
        Some(m) => {
            let on = if host { PatternStore::within } else { PatternStore::on_axes };
            Some(MaskBody::new(&on(&m.pattern, &out.0, &out.1, operation)?.body, m.complement))
        }
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
    pub(super) fn name(self) -> &'static str {
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
            let vectors = (self == Kind::Vxm, self == Kind::Mxv);
            return Err(Error::DimensionMismatch { operation, left_name, left: a, right_name, right: b, vectors });
        }
        Ok(if self == Kind::Mxv { (b.1, a.0) } else { (a.0, b.1) })
    }
    pub(super) fn check_strategy(self, strategy: Strategy, mask: Option<&MaskParts>) -> Result<()> {
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

/// Whether a mask of bits leaves more of a row than a look at its list would take.
fn admits_many(m: &MaskOn<Arc<Places>>) -> bool {
    m.complement || m.pattern.count() >= m.pattern.len() / 4
}

/// Whether the products of xᵀA are looked up in bits for less than listing these takes, which is a look at each word and entry.
fn looks_up(x: &Pattern, a: &Pattern, m: &MaskOn<Arc<Places>>) -> bool {
    admits_many(m) || few_products(x, a, m.pattern.count().max(m.pattern.len() / 64))
}

/// Whether xᵀA has so few products that to search a mask of so many entries for each is less than to go through it.
fn few_products(x: &Pattern, a: &Pattern, listed: usize) -> bool {
    const SEARCHED: usize = 64;
    let most = listed / SEARCHED;
    let mut rows = x.indices.iter().map(|k| a.range(*k as usize).len());
    x.nnz() <= most && rows.try_fold(0, |sum: usize, n| Some(sum + n).filter(|sum| *sum <= most)).is_some()
}

/// Where one of a product's operands and mask lists an axis, those of few entries list theirs: the mask, if it does.
fn thinned(
    operation: &'static str,
    a: &mut UntypedStore,
    b: &mut UntypedStore,
    mask: Option<&MaskParts>,
) -> Result<Option<MaskParts>> {
    let listed = |rows: &Axis, cols: &Axis| rows.is_listed() || cols.is_listed();
    if !listed(&a.rows, &a.cols)
        && !listed(&b.rows, &b.cols)
        && !mask.is_some_and(|m| listed(&m.pattern.rows, &m.pattern.cols))
    {
        return Ok(None);
    }
    const BOTH: (bool, bool) = (true, true);
    for operand in [a, b] {
        if let Some(fewer) = operand.listed(BOTH, operation)? {
            *operand = fewer;
        }
    }
    let Some(m) = mask else { return Ok(None) };
    let pattern = m.pattern.clone().listed(BOTH, operation)?;
    Ok(Some(MaskParts { pattern, complement: m.complement }))
}

/// An operand as the product reads it.
fn scaled(operand: &(UntypedStore, bool), by: &[Arc<dyn Scaling>]) -> Result<(UntypedStore, bool)> {
    if by.is_empty() {
        return Ok(operand.clone());
    }
    let made =
        by.iter().try_fold(operand.0.oriented(operand.1, Reading::Each)?, |factor, scaling| scaling.scaled(factor))?;
    Ok((made, false))
}

impl Factors {
    pub(super) fn new(
        kind: Kind,
        a: (UntypedStore, bool),
        b: (UntypedStore, bool),
        ring: &'static dyn AnyRing,
        flipped: &'static dyn AnyRing,
    ) -> Box<Self> {
        let given = (a.1, b.1);
        Box::new(Self { kind, a, b, options: MxmOptions::default(), given, scaled: Default::default(), ring, flipped })
    }
    /// The same product of other operands.
    pub(super) fn with(&self, a: UntypedStore, b: UntypedStore) -> Self {
        Self { a: (a, self.a.1), b: (b, self.b.1), scaled: self.scaled.clone(), ..*self }
    }
    pub(super) fn check(&self) -> Result<((u64, u64), Device)> {
        let (a, b) = (self.a.0.shape(self.a.1), self.b.0.shape(self.b.1));
        let shape = self.kind.check(a, b)?;
        let device = self.kind.check_device(self.a.0.device, self.b.0.device)?;
        self.scaled.0.iter().try_for_each(|scaling| scaling.check(a, device))?;
        self.scaled.1.iter().try_for_each(|scaling| scaling.check(b, device))?;
        Ok((shape, device))
    }
    /// Operands as the kernel takes them; the axes of the result, and whether the flipped kernel is the one.
    pub(super) fn aligned(&self, mask: Option<&MaskParts>) -> Result<(Aligned, (Axis, Axis), bool)> {
        let limit = self.options.memory_limit.filter(|_| self.a.0.body.is_host());
        // Before it is taken.
        let check = |bytes: &dyn Fn() -> u64| limit.map_or(Ok(0), |limit| beside(self.kind.name(), limit, bytes()));
        let held = |made: &(UntypedStore, bool), by: &[_]| if by.is_empty() { 0 } else { made.0.bytes() };
        check(&|| scaling_bytes(&self.a, &self.scaled.0))?;
        let mut a = scaled(&self.a, &self.scaled.0)?;
        let held_a = held(&a, &self.scaled.0);
        check(&|| held_a.saturating_add(scaling_bytes(&self.b, &self.scaled.1)))?;
        let mut b = scaled(&self.b, &self.scaled.1)?;
        let held = held_a.saturating_add(held(&b, &self.scaled.1));
        let thinned = thinned(self.kind.name(), &mut a.0, &mut b.0, mask)?;
        let mask = thinned.as_ref().or(mask);
        // A limit is of what each of these steps takes on common axes.
        let host = self.a.0.body.is_host() && limit.is_none();
        if host {
            // Entries of a vector that the matrix has no row or column for meet nothing: it goes to the matrix, not the other way.
            match self.kind {
                Kind::Vxm => a.0 = a.0.within(if b.1 { &b.0.cols } else { &b.0.rows }, self.kind.name())?,
                Kind::Mxv => b.0 = b.0.within(if a.1 { &a.0.rows } else { &a.0.cols }, self.kind.name())?,
                Kind::Mxm => {}
            }
        }
        let (operation, (a, ta), (b, tb)) = (self.kind.name(), (&a.0, &a.1), (&b.0, &b.1));
        let inner = || {
            let a = if *ta { &a.rows } else { &a.cols };
            union_bytes(a, if *tb || self.kind == Kind::Mxv { &b.cols } else { &b.rows })
        };
        check(&|| held.saturating_add(inner()))?;
        let to = layout(self.kind, (&a.rows, &a.cols, *ta), (&b.rows, &b.cols, *tb), self.options, mask, host)?;
        check(&|| {
            let aligning = [aligning_bytes(a, to.turned.0, &to.a), aligning_bytes(b, to.turned.1, &to.b)];
            aligning.into_iter().fold(held.saturating_add(inner()), u64::saturating_add)
        })?;
        let (reads_a, reads_b) = self.ring.reads();
        // A push may look at a few rows alone, again and again: what it lists is kept. So is, once it is there, what stands for values that
        // nobody reads: memory that is not touched.
        let once = |store: &UntypedStore, reads: Reading| match reads {
            Reading::Each | Reading::Shared if self.kind == Kind::Mxm => store.once(),
            _ => store.clone(),
        };
        let reading = |reads, with: Option<&UntypedStore>| match (reads, with) {
            (false, _) => Reading::Nothing,
            // A matrix that meets a full vector.
            (true, Some(x)) if mask.is_none() && x.body.nnz() == x.cols.places() as u64 => Reading::Shared,
            (true, _) => Reading::Each,
        };
        let reads_a = reading(reads_a, (self.kind == Kind::Mxv).then_some(b));
        let reads_b = reading(reads_b, (self.kind == Kind::Vxm).then_some(a));
        let a = once(a, reads_a).oriented(to.turned.0, reads_a)?.on_axes(&to.a.0, &to.a.1, operation)?;
        let b = once(b, reads_b).oriented(to.turned.1, reads_b)?.on_axes(&to.b.0, &to.b.1, operation)?;
        Ok((Aligned { a, b, mask: to.mask, at: to.at, options: to.options }, to.out, to.flipped))
    }
    /// What the limit leaves beside operands that had to be turned or put on other axes. Devices that count do it themselves.
    pub(super) fn left_beside(&self, o: &Aligned) -> Result<Option<u64>> {
        let Some(limit) = self.options.memory_limit.filter(|_| o.a.body.is_host()) else { return Ok(None) };
        let bytes = |made: &UntypedStore, given: &UntypedStore, scaled: &[_]| {
            if made.shares(given) && scaled.is_empty() { 0 } else { made.bytes() }
        };
        let (a, b) = (bytes(&o.a, &self.a.0, &self.scaled.0), bytes(&o.b, &self.b.0, &self.scaled.1));
        // The list of what both have in common, if there is a new one.
        let given = [&self.a.0.rows, &self.a.0.cols, &self.b.0.rows, &self.b.0.cols];
        let listed = match &o.a.cols {
            inner @ Axis::Listed { .. } if !given.iter().any(|axis| axis.same(inner)) => 8 * inner.places() as u64,
            _ => 0,
        };
        // A product looks positions up in a list.
        let mask = match &o.mask {
            Some(MaskBody::Cells(m, list)) if self.kind == Kind::Mxm && list.get().is_none() => m.pattern.list_bytes(),
            _ => 0,
        };
        let made = a.saturating_add(b).saturating_add(listed).saturating_add(mask);
        let left = beside(self.kind.name(), limit, made)?;
        if self.kind != Kind::Mxm {
            // A vector spread over all its places, marks and sums for each thread; products put in bins, and in vectors that
            // grow by doubling.
            let places = o.a.rows.places() + o.a.cols.places() + o.b.rows.places() + o.b.cols.places();
            let value = self.ring.text().c.size as u64;
            let spread = (rayon::current_num_threads() as u64 + 1) * (40 + 8 * value) * places as u64;
            let products = o.a.body.nnz().max(o.b.body.nnz()).saturating_mul(3 * (8 + value));
            beside(self.kind.name(), left, spread.saturating_add(products))?;
        }
        Ok(Some(left))
    }
    fn multiplied(&self, mask: Option<&MaskParts>) -> Result<(UntypedBody, (Axis, Axis), Device)> {
        self.kind.check_strategy(self.options.strategy, mask)?;
        let (mut o, axes, flipped) = self.aligned(mask)?;
        o.options.memory_limit = self.left_beside(&o)?;
        let (ring, a, b) = if flipped { (self.flipped, &o.b, &o.a) } else { (self.ring, &o.a, &o.b) };
        let (device, at, options) = (a.device, &o.at, &o.options);
        let body = match (&a.body, &b.body, &o.mask) {
            // Few products are looked for in a long list.
            (UntypedBody::Host(a), UntypedBody::Host(b), Some(MaskBody::Host(m)))
                if device == Device::Cpu
                    && matches!(ring.step(), Step::Vxm)
                    && few_products(a.pattern(), b.pattern(), m.pattern.nnz()) =>
            {
                let t = ring.on_host(device, &HostOperands { a, b, mask: None, at, options })?;
                UntypedBody::Host(t.admitted_by_list(m)?)
            }
            // A push looks at its products alone: they are asked for one by one, and nobody lists the places.
            (UntypedBody::Host(a), UntypedBody::Host(b), Some(MaskBody::Bits(m, _)))
                if device == Device::Cpu
                    && matches!(ring.step(), Step::Vxm)
                    && looks_up(a.pattern(), b.pattern(), m) =>
            {
                let t = ring.on_host(device, &HostOperands { a, b, mask: None, at, options })?;
                UntypedBody::Host(t.admitted(m)?)
            }
            (UntypedBody::Host(a), UntypedBody::Host(b), mask) => {
                UntypedBody::Host(ring.on_host(device, &HostOperands { a, b, mask: mask.as_ref(), at, options })?)
            }
            #[cfg(feature = "cuda")]
            (UntypedBody::Cuda(a), UntypedBody::Cuda(b), mask) => {
                let cuda = Cuda::on(device)?;
                let (mask, equals) = (mask.as_ref(), ring.foreseen(a.one_bytes(), b.one_bytes())?);
                UntypedBody::Cuda(match &equals {
                    Some(e) if e.kept => cuda.multiply_iso((ring.text().c, &e.product), a, b, mask, at, options)?,
                    _ => {
                        let text = counting(ring.text(), equals.as_ref(), (a, b), mask.is_some(), options);
                        cuda.multiply_masked(ring.step(), text, a, b, mask, at, options)?
                    }
                })
            }
            _ => return Err(misplaced(device)),
        };
        Ok((body, axes, device))
    }
    /// ⊕ of all entries of the product by a monoid; `None` where it has none.
    pub(super) fn reduced<A: Scalar, B: Scalar, C: Scalar>(
        &self,
        mask: Option<&Mask>,
        ring: &MxmRing<A, B, C>,
        fold: &Fold<C>,
    ) -> Result<Option<C>> {
        let (shape, device) = self.check()?;
        let mask = mask_parts(self.kind.name(), mask, shape, device)?;
        let work = || self.reduced_within(mask.as_ref(), ring, fold, device);
        let sum = limited(self.kind.name(), self.options.memory_limit, device, work);
        // Operands' lists may not fit either.
        sum.map_err(|e| e.in_operation(self.kind.name()))
    }
    fn reduced_within<A: Scalar, B: Scalar, C: Scalar>(
        &self,
        mask: Option<&MaskParts>,
        ring: &MxmRing<A, B, C>,
        fold: &Fold<C>,
        device: Device,
    ) -> Result<Option<C>> {
        self.kind.check_strategy(self.options.strategy, mask)?;
        let (mut o, _, _) = self.aligned(mask)?;
        o.options.memory_limit = self.left_beside(&o)?;
        match (&o.a.body, &o.b.body) {
            (UntypedBody::Host(a), UntypedBody::Host(b)) => {
                let mask = o.mask.as_ref();
                ring.reduced(device, &HostOperands { a, b, mask, at: &o.at, options: &o.options }, fold)
            }
            #[cfg(feature = "cuda")]
            (UntypedBody::Cuda(a), UntypedBody::Cuda(b)) => {
                let cuda = Cuda::on(device)?;
                let mask = cuda.mask(o.mask.as_ref())?;
                let (text, reduce) = (ring.text.shared(), (fold.text)("reduce"));
                let mut total = None;
                for bytes in cuda.multiply_and_reduce(text, reduce, a, b, mask, &o.at, &o.options)? {
                    let sum = from_bytes("mxm", &bytes)?.first().copied();
                    total = match (total, sum) {
                        (Some(x), Some(y)) => Some((fold.two)(x, y)),
                        (x, y) => x.or(y),
                    };
                }
                Ok(total)
            }
            _ => Err(misplaced(device)),
        }
    }
}

impl<C: Scalar> Core<C> for Factors {
    fn name(&self) -> &'static str {
        self.kind.name()
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        self.check()
    }
    fn compute(&self, mask: Option<&MaskParts>) -> Result<(Owned<C>, bool)> {
        self.admitted(mask).map(|t| (t, true))
    }
    fn memory_limit(&self) -> Option<u64> {
        self.options.memory_limit
    }
    fn admitted(&self, mask: Option<&MaskParts>) -> Result<Owned<C>> {
        let (body, (rows, cols), device) = self.multiplied(mask)?;
        Store::made(rows, cols, &body, device).map(Owned)
    }
}
