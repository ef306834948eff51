//! mxm, mxv, vxm: products over a semiring.
//!
//! The semiring is known where a product is asked for; from there on it is a table of its operators and kernels, so that
//! everything here but the doors is compiled once for three scalars.
use super::{Compute, Core, MaskParts, Operation, mask_parts, oriented, shape_of};
use crate::algebra::{Flipped, Monoid, Scalar, Semiring};
use crate::backend::ring::{Fold, MxmRing, MxvRing, Of, VxmRing};
use crate::backend::{Backend, Body, MaskOn, MxmOptions, Positions, on_backend};
use crate::container::{Container, Matrix, Owned, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::mask::Mask;
use crate::spgemm::Strategy;
use crate::storage::axis::Axis;
use crate::storage::store::{PatternStore, Store, same_device};
use std::marker::PhantomData;

/// A product by one semiring.
type Run<A, B, C> = fn(&Aligned<A, B>) -> Result<Body<C>>;

/// Operands and mask on common axes, ready for a kernel.
pub(crate) struct Aligned<A, B> {
    a: Store<A>,
    b: Store<B>,
    mask: Option<MaskParts>,
    at: Positions,
    options: MxmOptions,
}

impl<A, B> Aligned<A, B> {
    fn mask_on<D: Backend>(&self, backend: &D) -> Result<Option<MaskOn<D::Pattern>>> {
        let Some(m) = &self.mask else { return Ok(None) };
        Ok(Some(MaskOn { pattern: backend.pattern(&m.pattern.body)?, complement: m.complement }))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Mxm,
    Mxv,
    Vxm,
}

/// A product of a matrix with a matrix or vector; `C` is what it makes.
#[derive(Debug)]
pub struct Product<A, B, C: Container, S> {
    core: Factors<A, B, C::Scalar>,
    label: PhantomData<fn() -> (C, S)>,
}

/// A product without its semiring's name.
#[derive(Debug)]
struct Factors<A, B, C> {
    kind: Kind,
    a: (Store<A>, bool),
    b: (Store<B>, bool),
    options: MxmOptions,
    run: Run<A, B, C>,
    /// The same by the transposed kernel: mxv of a transposed matrix pushes, vxm of one pulls.
    run_flipped: Run<A, B, C>,
}

impl<A, B, C: Container, S> Clone for Product<A, B, C, S> {
    fn clone(&self) -> Self {
        let core = Factors { a: self.core.a.clone(), b: self.core.b.clone(), ..self.core };
        Self { core, label: PhantomData }
    }
}

/// T = A ⊕.⊗ B: an entry exactly where a product exists, T(i, j) = ⊕ₖ A(i, k) ⊗ B(k, j).
///
/// Both operands carry the same semiring: a disagreement is a compile error. Cancellation keeps an explicit zero;
/// no product means no entry. Floating sums run in the order of k on the host. O(products).
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
/// let c = mxm(&a, &a).transpose_b().mask(&a.structure()).eval()?;
/// assert_eq!(c.entries()?, [(0, 0, 13.0), (0, 1, 10.0), (1, 0, 10.0)]);
/// let paths = mxm(&a.over::<MinPlus>(), &a.over()).eval()?;
/// assert_eq!(paths.get(0, 0)?, Some(4.0));
/// # Ok(()) }
/// ```
pub fn mxm<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    a: &Matrix<A, S>,
    b: &Matrix<B, S>,
) -> Operation<Product<A, B, Matrix<S::Out, S>, S>> {
    let run: Run<A, B, S::Out> = |o| multiplied(o, &Of::<A, B, S>::MXM);
    Operation::new(Product::of(Kind::Mxm, &a.store, &b.store, run, run))
}

/// t = A ⊕.⊗ x: t(i) = ⊕ₖ A(i, k) ⊗ x(k), pulled along the rows of A, or pushed with `.transpose_a()`.
/// O(nnz(A)) pulled, O(products) pushed.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let graph: Matrix<bool> = Matrix::build(2, 2, &[(0, 0, true), (0, 1, true)])?;
/// let x: Vector<f64> = Vector::build(2, &[(0, 1.5), (1, 2.0)])?;
/// assert_eq!(mxv(&graph.over::<PlusSecond>(), &x.over()).eval()?.entries()?, [(0, 3.5)]);
/// # Ok(()) }
/// ```
pub fn mxv<A: Scalar, X: Scalar, S: Semiring<A, X>>(
    a: &Matrix<A, S>,
    x: &Vector<X, S>,
) -> Operation<Product<A, X, Vector<S::Out, S>, S>> {
    let run: Run<A, X, S::Out> = |o| pulled(o, &o.a, &o.b, &Of::<A, X, S>::MXV);
    let run_flipped: Run<A, X, S::Out> = |o| pushed(o, &o.b, &o.a, &Of::<X, A, Flipped<S>>::VXM);
    Operation::new(Product::of(Kind::Mxv, &a.store, &x.store, run, run_flipped))
}

/// t = xᵀ ⊕.⊗ A: t(j) = ⊕ₖ x(k) ⊗ A(k, j), pushed along the rows of A, or pulled with `.transpose_b()`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let graph: Matrix<bool, LorLand> = Matrix::build(3, 3, &[(0, 1, true), (1, 2, true)])?;
/// let frontier: Vector<bool, LorLand> = Vector::build(3, &[(0, true)])?;
/// assert_eq!(vxm(&frontier, &graph).eval()?.entries()?, [(1, true)]);
/// # Ok(()) }
/// ```
pub fn vxm<X: Scalar, B: Scalar, S: Semiring<X, B>>(
    x: &Vector<X, S>,
    b: &Matrix<B, S>,
) -> Operation<Product<X, B, Vector<S::Out, S>, S>> {
    let run: Run<X, B, S::Out> = |o| pushed(o, &o.a, &o.b, &Of::<X, B, S>::VXM);
    let run_flipped: Run<X, B, S::Out> = |o| pulled(o, &o.b, &o.a, &Of::<B, X, Flipped<S>>::MXV);
    Operation::new(Product::of(Kind::Vxm, &x.store, &b.store, run, run_flipped))
}

fn multiplied<A: Scalar, B: Scalar, C: Scalar>(o: &Aligned<A, B>, ring: &MxmRing<A, B, C>) -> Result<Body<C>> {
    Ok(on_backend!(o.a.device, |backend| {
        let (a, b, mask) = (backend.csr(&o.a.body)?, backend.csr(&o.b.body)?, o.mask_on(&backend)?);
        Body::from(backend.mxm(ring, &a, &b, mask.as_ref(), &o.at, &o.options)?)
    }))
}

fn multiplied_and_reduced<A: Scalar, B: Scalar, C: Scalar>(
    o: &Aligned<A, B>,
    ring: &MxmRing<A, B, C>,
    fold: &Fold<C>,
) -> Result<Option<C>> {
    Ok(on_backend!(o.a.device, |backend| {
        let (a, b, mask) = (backend.csr(&o.a.body)?, backend.csr(&o.b.body)?, o.mask_on(&backend)?);
        backend.mxm_reduce(ring, fold, &a, &b, mask.as_ref(), &o.at, &o.options)?
    }))
}

fn pulled<P, Q, A: Scalar, X: Scalar, C: Scalar>(
    o: &Aligned<P, Q>,
    a: &Store<A>,
    x: &Store<X>,
    ring: &MxvRing<A, X, C>,
) -> Result<Body<C>> {
    Ok(on_backend!(a.device, |backend| {
        let (a, x, mask) = (backend.csr(&a.body)?, backend.csr(&x.body)?, o.mask_on(&backend)?);
        Body::from(backend.mxv(ring, &a, &x, mask.as_ref(), &o.at)?)
    }))
}

fn pushed<P, Q, X: Scalar, A: Scalar, C: Scalar>(
    o: &Aligned<P, Q>,
    x: &Store<X>,
    a: &Store<A>,
    ring: &VxmRing<X, A, C>,
) -> Result<Body<C>> {
    Ok(on_backend!(a.device, |backend| {
        let (x, a, mask) = (backend.csr(&x.body)?, backend.csr(&a.body)?, o.mask_on(&backend)?);
        Body::from(backend.vxm(ring, &x, &a, mask.as_ref(), &o.at)?)
    }))
}

impl<A, B, C: Container, S> Product<A, B, C, S> {
    fn of(
        kind: Kind,
        a: &Store<A>,
        b: &Store<B>,
        run: Run<A, B, C::Scalar>,
        run_flipped: Run<A, B, C::Scalar>,
    ) -> Self {
        let (a, b, options) = ((a.clone(), false), (b.clone(), false), MxmOptions::default());
        Self { core: Factors { kind, a, b, options, run, run_flipped }, label: PhantomData }
    }
}

impl<A: Scalar, B: Scalar, C: Scalar> Factors<A, B, C> {
    /// Shapes of the operands as an m×k and a k×n matrix; a right-hand vector is a column.
    fn shapes(&self) -> ((u64, u64), (u64, u64)) {
        let b = shape_of(&self.b.0, self.b.1);
        (shape_of(&self.a.0, self.a.1), if self.kind == Kind::Mxv { (b.1, b.0) } else { b })
    }
    /// Operands as the kernel takes them, on common axes; whether the flipped kernel is the one.
    fn aligned(&self, mask: Option<&MaskParts>) -> Result<(Aligned<A, B>, (Axis, Axis), bool)> {
        let (operation, mut options) = (self.name(), self.options);
        let plain_mask = mask.is_some_and(|m| !m.complement);
        // A kernel that dots wants B as it is; vectors choose push or pull by how the matrix is stored.
        let flipped = (self.kind == Kind::Mxv && self.a.1) || (self.kind == Kind::Vxm && self.b.1);
        options.transposed_b = self.kind == Kind::Mxm && self.b.1 && (plain_mask || options.strategy == Strategy::Dot);
        let a = oriented(&self.a.0, self.a.1 && !flipped)?;
        let b = oriented(&self.b.0, self.b.1 && !flipped && !options.transposed_b)?;
        // The three axes of the product, whichever way the operands lie.
        let a_axes = if flipped && self.kind == Kind::Mxv { (&a.cols, &a.rows) } else { (&a.rows, &a.cols) };
        let b_swapped = options.transposed_b || (flipped && self.kind == Kind::Vxm) || self.kind == Kind::Mxv;
        let b_axes = if b_swapped { (&b.cols, &b.rows) } else { (&b.rows, &b.cols) };
        let (mut i, k, mut j) = (a_axes.0.clone(), a_axes.1.union(b_axes.0, operation)?, b_axes.1.clone());
        if let Some(m) = mask {
            let (mi, mj) = if self.kind == Kind::Mxv {
                (&m.pattern.cols, &m.pattern.rows)
            } else {
                (&m.pattern.rows, &m.pattern.cols)
            };
            (i, j) = (i.union(mi, operation)?, j.union(mj, operation)?);
        }
        let a = if flipped && self.kind == Kind::Mxv {
            a.on_axes(&k, &i, operation)?
        } else {
            a.on_axes(&i, &k, operation)?
        };
        let b = if b_swapped { b.on_axes(&j, &k, operation)? } else { b.on_axes(&k, &j, operation)? };
        let mask = match mask {
            None => None,
            Some(m) => {
                let (rows, cols) = if self.kind == Kind::Mxv { (&j, &i) } else { (&i, &j) };
                let pattern: PatternStore = m.pattern.on_axes(rows, cols, operation)?;
                Some(MaskParts { pattern, complement: m.complement })
            }
        };
        // A flipped kernel computes the transposed product: its i is our j.
        let at = match flipped {
            false => Positions { i: i.ids(), k: k.ids(), j: j.ids() },
            true => Positions { i: j.ids(), k: k.ids(), j: i.ids() },
        };
        let axes = if self.kind == Kind::Mxv { (j, i) } else { (i, j) };
        Ok((Aligned { a, b, mask, at, options }, axes, flipped))
    }
}

impl<A: Scalar, B: Scalar, C: Scalar> Factors<A, B, C> {
    fn reduced(&self, mask: Option<&Mask>, ring: &MxmRing<A, B, C>, fold: &Fold<C>) -> Result<Option<C>> {
        let (shape, device) = self.check()?;
        let mask = mask_parts(self.name(), mask, shape, device)?;
        let (operands, _, _) = self.aligned(mask.as_ref())?;
        multiplied_and_reduced(&operands, ring, fold)
    }
}

impl<A: Scalar, B: Scalar, C: Container, S> Compute for Product<A, B, C, S> {
    type Target = C;
    fn core(&self) -> &dyn Core<C::Scalar> {
        &self.core
    }
}

impl<A: Scalar, B: Scalar, C: Scalar> Core<C> for Factors<A, B, C> {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Mxm => "mxm",
            Kind::Mxv => "mxv",
            Kind::Vxm => "vxm",
        }
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        let (a, b) = self.shapes();
        let (left, right) = match self.kind {
            Kind::Mxm => ("A", "B"),
            Kind::Mxv => ("A", "x"),
            Kind::Vxm => ("x", "A"),
        };
        if a.1 != b.0 {
            let operation = self.name();
            return Err(Error::DimensionMismatch { operation, left_name: left, left: a, right_name: right, right: b });
        }
        let device = same_device(self.name(), (left, self.a.0.device), (right, self.b.0.device))?;
        Ok((if self.kind == Kind::Mxv { (b.1, a.0) } else { (a.0, b.1) }, device))
    }
    fn compute(&self, mask: Option<&MaskParts>) -> Result<(Owned<C>, bool)> {
        self.admitted(mask).map(|t| (t, true))
    }
    fn admitted(&self, mask: Option<&MaskParts>) -> Result<Owned<C>> {
        let (operands, (rows, cols), flipped) = self.aligned(mask)?;
        if operands.options.strategy == Strategy::Dot && mask.is_none_or(|m| m.complement) {
            let reason = "the strategy `dot` needs a mask that is not complemented".to_string();
            return Err(Error::InvalidValue { operation: self.name(), reason });
        }
        let body = if flipped { (self.run_flipped)(&operands)? } else { (self.run)(&operands)? };
        Ok(Owned(Store { rows, cols, body, device: operands.a.device }))
    }
}

impl<A: Scalar, B: Scalar, C: Container, S, F> Operation<Product<A, B, C, S>, F> {
    /// How the product is computed; every strategy gives the same result.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.kernel.core.options.strategy = strategy;
        self
    }
}
impl<A: Scalar, B: Scalar, T: Scalar, R, S, F> Operation<Product<A, B, Matrix<T, R>, S>, F> {
    /// A is read transposed.
    pub fn transpose_a(mut self) -> Self {
        self.kernel.core.a.1 = !self.kernel.core.a.1;
        self
    }
    /// B is read transposed.
    pub fn transpose_b(mut self) -> Self {
        self.kernel.core.b.1 = !self.kernel.core.b.1;
        self
    }
}
impl<A: Scalar, B: Scalar, T: Scalar, R, S, F> Operation<Product<A, B, Vector<T, R>, S>, F> {
    /// The matrix is read transposed: mxv pushes, vxm pulls.
    pub fn transpose(mut self) -> Self {
        match self.kernel.core.kind {
            Kind::Vxm => self.kernel.core.b.1 = !self.kernel.core.b.1,
            _ => self.kernel.core.a.1 = !self.kernel.core.a.1,
        }
        self
    }
}

impl<A: Scalar, B: Scalar, C: Scalar, S: Semiring<A, B, Out = C>> Operation<Product<A, B, Matrix<C, S>, S>> {
    /// ⊕ of all entries of (A ⊕.⊗ B)⟨M⟩ by a monoid, without storing the product; the identity where it has none.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let l: Matrix<bool> = Matrix::build(3, 3, &[(1, 0, true), (2, 0, true), (2, 1, true)])?;
    /// let triangles: u64 = mxm(&l.over::<PlusPair>(), &l.over()).mask(&l.structure()).reduce(Plus)?;
    /// assert_eq!(triangles, 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Those of [`eval`](Operation::eval).
    pub fn reduce<M: Monoid<C>>(self, _monoid: M) -> Result<C> {
        let sum = self.kernel.core.reduced(self.mask.as_ref(), &Of::<A, B, S>::MXM, &Fold::<C>::by::<M>())?;
        Ok(sum.unwrap_or_else(M::identity))
    }
}

/// `S: Same<R>` instead of one name for both: while R is open, method lookup cannot reject the method (E0599),
/// so a misfit is reported as the semiring's own error.
#[diagnostic::on_unimplemented(
    message = "the operands carry different semirings, `{Self}` and `{R}`",
    note = "relabel one: `.over()`"
)]
pub trait Same<R> {}
impl<S> Same<S> for S {}

impl<T: Scalar, S> Matrix<T, S> {
    /// C = A ⊕.⊗ B, the plain form of [`mxm`].
    ///
    /// # Errors
    /// `DimensionMismatch`, `DeviceMismatch`, `OutOfMemory`, and the device's own.
    pub fn mxm<U: Scalar, R>(&self, b: &Matrix<U, R>) -> Result<Matrix<R::Out, R>>
    where
        R: Semiring<T, U>,
        S: Same<R>,
    {
        mxm(&self.over(), b).eval()
    }
    /// t = A ⊕.⊗ x, the plain form of [`mxv`].
    ///
    /// # Errors
    /// Those of [`mxm`](Self::mxm).
    pub fn mxv<U: Scalar, R>(&self, x: &Vector<U, R>) -> Result<Vector<R::Out, R>>
    where
        R: Semiring<T, U>,
        S: Same<R>,
    {
        mxv(&self.over(), x).eval()
    }
}
