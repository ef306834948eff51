//! Element-wise operations one after the other, evaluated together.
use super::ewise::{Ways, adding, filling, multiplying};
use super::follow::begun;
use super::fused::{Step, Steps, kept, largest, mapped, replaced_early, steps};
use super::places::too_long;
use super::{
    Compute, Core, MaskParts, OfTwo, Operand, Operation, RunTwo, ScalarOf, mask_parts, oriented, same_shape, shape_of,
    within,
};
use crate::algebra::{BinaryOp, BindFirst, BindSecond, Comparable, IndexUnaryOp, OfValue, Scalar, UnaryOp};
#[cfg(feature = "cuda")]
use crate::backend::chain::ChainText;
use crate::backend::chain::{Each, Join};
use crate::backend::cpu::Cpu;
use crate::backend::cpu::chain::{Admitting, Ending, Making, Merge, Merging, Source, There, chained};
use crate::backend::ends::End;
#[cfg(feature = "cuda")]
use crate::backend::untyped::{Reading, UntypedBody, UntypedStore};
use crate::backend::{Backend, Body, MaskBody, Positions};
use crate::container::{Container, Owned};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::mask::Mask;
use crate::storage::axis::Axis;
use crate::storage::store::{Store, same_device};
use std::borrow::Cow;
use std::sync::Arc;

/// Element-wise operations and what is done to their entries, one after the other; `C` is what they make.
///
/// The result is that of the operations one by one, to the bit. On the CPU all are done to some rows before the next rows,
/// so that nothing between them is ever stored. A mask given before a step restricts what is there, one given after the last
/// what is written; `replace`, which is about the writing, is refused before a step. What begins a chain and is not element by element on two
/// operands (a product with a vector, sums of rows, `apply`, `select`) is made first, as by `eval`, and the rest follows. Of 64 steps and more
/// some are made first too; more than 400 in one expression, masks between them counted, are `InvalidValue`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 1.0), (0, 1, 2.0)])?;
/// let b: Matrix<f64> = Matrix::build(2, 2, &[(0, 1, 3.0), (1, 1, 4.0)])?;
/// // max(0, (A + B) × B): one pass over A and B.
/// let c = ewise_add(&a, &b, Plus).ewise_mult(&b, Times).apply_second(Max, 0.0).eval()?;
/// assert_eq!(c.entries()?, [(0, 1, 15.0), (1, 1, 16.0)]);
/// # Ok(()) }
/// ```
pub struct Chain<C: Container> {
    root: Root<C::Scalar>,
}

/// Steps of one expression: each takes room on the stack of whoever asks all of them.
pub(super) const MOST_STEPS: usize = 400;
/// Steps that rows go through one after the other, on threads that have less room; what they make is stored in between.
const ROW_STEPS: usize = 64;

/// What an expression has come to, and by how many steps.
pub(super) struct Root<T>(pub(super) Arc<dyn Node<T>>, pub(super) usize);

impl<T: Scalar> Root<T> {
    fn new(node: Arc<dyn Node<T>>, steps: usize) -> Self {
        match steps {
            // What is refused is forgotten: it would take as much room to drop.
            _ if steps > MOST_STEPS => Root(Arc::new(TooMany(node.name())), 0),
            _ if steps.is_multiple_of(ROW_STEPS) => Root(begun(Root(node, steps), None, false).0, steps),
            _ => Root(node, steps),
        }
    }
}
impl<T> Clone for Root<T> {
    fn clone(&self) -> Self {
        Root(self.0.clone(), self.1)
    }
}
impl<C: Container> Clone for Chain<C> {
    fn clone(&self) -> Self {
        Self { root: self.root.clone() }
    }
}

/// In place of more steps than there may be.
struct TooMany(&'static str);
pub(super) fn too_many(operation: &'static str, most: usize) -> Error {
    let reason = format!("an expression of more than {most} steps: evaluate some of them before the rest");
    Error::InvalidValue { operation, reason }
}
impl<T: Scalar> Node<T> for TooMany {
    fn name(&self) -> &'static str {
        self.0
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        Err(too_many(self.0, MOST_STEPS))
    }
    fn axes(&self) -> Result<(Axis, Axis)> {
        Err(too_many(self.0, MOST_STEPS))
    }
    fn ready(&self, _: &Axis, _: &Axis) -> Result<Source<T>> {
        Err(too_many(self.0, MOST_STEPS))
    }
    fn made(&self) -> Result<Store<T>> {
        Err(too_many(self.0, MOST_STEPS))
    }
    #[cfg(feature = "cuda")]
    fn partial(&self) -> Result<Partial> {
        Err(too_many(self.0, MOST_STEPS))
    }
}

impl<C: Container> std::fmt::Debug for Chain<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ewise").finish_non_exhaustive()
    }
}

/// An expression of element-wise operations.
pub(super) trait Node<T: Scalar>: Send + Sync {
    fn name(&self) -> &'static str;
    fn check(&self) -> Result<((u64, u64), Device)>;
    /// The axes with room for all that is in it.
    fn axes(&self) -> Result<(Axis, Axis)>;
    /// Ready to make rows on these axes.
    fn ready(&self, rows: &Axis, cols: &Axis) -> Result<Source<T>>;
    /// The result by the operations' own kernels.
    fn made(&self) -> Result<Store<T>>;
    /// What can be left to one generated kernel, with the operands for that.
    #[cfg(feature = "cuda")]
    fn partial(&self) -> Result<Partial>;
}

/// Operands on CUDA and what a kernel makes of them; one and no text: itself.
#[cfg(feature = "cuda")]
pub(super) struct Partial {
    leaves: Vec<UntypedStore>,
    text: Option<ChainText>,
}
#[cfg(feature = "cuda")]
impl Partial {
    fn of<T: Scalar>(store: &Store<T>) -> Self {
        Self { leaves: vec![UntypedStore::of(store)], text: None }
    }
    /// By the kernel, where there is something to do.
    fn made<T: Scalar>(self) -> Result<Store<T>> {
        let misplaced = || crate::backend::misplaced(Device::Cpu);
        let Some(first) = self.leaves.first() else { return Err(misplaced()) };
        let (device, mut axes) = (first.device, (first.rows.clone(), first.cols.clone()));
        let Some(text) = self.text else { return Store::made(axes.0, axes.1, &first.body, device) };
        for leaf in &self.leaves[1..] {
            axes = (axes.0.union(&leaf.rows, "ewise")?, axes.1.union(&leaf.cols, "ewise")?);
        }
        let mut bodies = Vec::with_capacity(3);
        for leaf in self.leaves {
            match leaf.oriented(false, Reading::Each)?.on_axes(&axes.0, &axes.1, "ewise")?.body {
                UntypedBody::Cuda(body) => bodies.push(body),
                _ => return Err(misplaced()),
            }
        }
        let at = Positions { i: axes.0.ids(), k: None, j: axes.1.ids() };
        let body = crate::backend::cuda::chained(&text, &bodies, &at)?;
        Ok(Store { rows: axes.0, cols: axes.1, body: Body::Cuda(body.cast()), device })
    }
}

pub(super) struct Leaf<T>(pub(super) Store<T>, pub(super) bool);
impl<T: Scalar> Node<T> for Leaf<T> {
    #[cfg(feature = "cuda")]
    fn partial(&self) -> Result<Partial> {
        self.made().map(|store| Partial::of(&store))
    }
    fn name(&self) -> &'static str {
        "ewise"
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        Ok((shape_of(&self.0, self.1), self.0.device))
    }
    fn axes(&self) -> Result<(Axis, Axis)> {
        let a = self.listed()?;
        let (rows, cols) = (a.rows.clone(), a.cols.clone());
        Ok(if self.1 { (cols, rows) } else { (rows, cols) })
    }
    fn ready(&self, rows: &Axis, cols: &Axis) -> Result<Source<T>> {
        oriented(&self.0, self.1)?.on_axes(rows, cols, self.name())?.to_host().map(Source::There)
    }
    fn made(&self) -> Result<Store<T>> {
        oriented(&*self.listed()?, self.1)
    }
}
impl<T: Scalar> Leaf<T> {
    /// A matrix of few entries for its dimensions meets others as one that lists them.
    fn listed(&self) -> Result<Cow<'_, Store<T>>> {
        let matrix = self.0.rows.n() > 1;
        Ok(self.0.listed((matrix, matrix), self.name())?.map_or(Cow::Borrowed(&self.0), Cow::Owned))
    }
}

struct Two<A, B, T> {
    name: &'static str,
    a: Arc<dyn Node<A>>,
    b: Arc<dyn Node<B>>,
    run: RunTwo<A, B, T>,
    merge: Merge<A, B, T>,
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    join: Join,
}
impl<A: Scalar, B: Scalar, T: Scalar> Node<T> for Two<A, B, T> {
    #[cfg(feature = "cuda")]
    fn partial(&self) -> Result<Partial> {
        let (mut a, b, join) = (self.a.partial()?, self.b.partial()?, self.join.clone());
        let full = a.text.as_ref().is_some_and(|text| text.again.is_some() || text.keep.is_some());
        if full {
            a = Partial::of(&a.made::<A>()?);
        }
        a.leaves.extend(b.leaves);
        match &mut a.text {
            Some(text) => text.again = Some(join),
            None => a.text = Some(ChainText { join, map: None, again: None, map_again: None, keep: None }),
        }
        Ok(a)
    }
    fn name(&self) -> &'static str {
        self.name
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        let (a, b) = (self.a.check()?, self.b.check()?);
        same_shape(self.name, ("A", a.0), ("B", b.0))?;
        Ok((a.0, same_device(self.name, ("A", a.1), ("B", b.1))?))
    }
    fn axes(&self) -> Result<(Axis, Axis)> {
        let (a, b) = (self.a.axes()?, self.b.axes()?);
        Ok((a.0.union(&b.0, self.name)?, a.1.union(&b.1, self.name)?))
    }
    fn ready(&self, rows: &Axis, cols: &Axis) -> Result<Source<T>> {
        let (a, b) = (self.a.ready(rows, cols)?, self.b.ready(rows, cols)?);
        Ok(Source::Made(Box::new(Merging { a, b, merge: self.merge.clone() })))
    }
    fn made(&self) -> Result<Store<T>> {
        let (a, b) = (self.a.made()?, self.b.made()?);
        let (rows, cols) = (a.rows.union(&b.rows, self.name)?, a.cols.union(&b.cols, self.name)?);
        (self.run)(&a.on_axes(&rows, &cols, self.name)?, &b.on_axes(&rows, &cols, self.name)?)
    }
}

struct Then<C, T> {
    from: Arc<dyn Node<C>>,
    end: Arc<dyn End<C, T>>,
    steps: Steps<C, T>,
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    each: Option<Each>,
}
impl<C: Scalar, T: Scalar> Node<T> for Then<C, T> {
    #[cfg(feature = "cuda")]
    fn partial(&self) -> Result<Partial> {
        let mut from = self.from.partial()?;
        let room = match (&mut from.text, &self.each) {
            (Some(ChainText { keep: keep @ None, .. }), Some(each)) if each.select => Some(keep),
            (Some(ChainText { map: map @ None, again: None, keep: None, .. }), Some(each)) if !each.select => Some(map),
            (Some(ChainText { again: Some(_), map_again: map @ None, keep: None, .. }), Some(each)) if !each.select => {
                Some(map)
            }
            _ => None,
        };
        match room {
            Some(room) => *room = self.each.clone(),
            None => from = Partial::of(&(self.steps)(&from.made()?)?),
        }
        Ok(from)
    }
    fn name(&self) -> &'static str {
        self.from.name()
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        self.from.check()
    }
    fn axes(&self) -> Result<(Axis, Axis)> {
        self.from.axes()
    }
    fn ready(&self, rows: &Axis, cols: &Axis) -> Result<Source<T>> {
        let at = Positions { i: rows.ids(), k: None, j: cols.ids() };
        let from = making(self.from.ready(rows, cols)?);
        Ok(Source::Made(Box::new(Ending { from, end: self.end.clone(), at })))
    }
    fn made(&self) -> Result<Store<T>> {
        (self.steps)(&self.from.made()?)
    }
}

struct Admitted<T> {
    from: Arc<dyn Node<T>>,
    mask: Option<Mask>,
    /// Whether `replace` stood before a step.
    replaced: bool,
}
impl<T: Scalar> Admitted<T> {
    /// Of the mask that was checked.
    fn parts(&self) -> Result<MaskParts> {
        // There is one, or the check has refused `replace`.
        let mask = self.mask.as_ref().ok_or_else(|| crate::backend::misplaced(Device::Cpu))?;
        Ok(MaskParts { pattern: mask.pattern.clone()?, complement: mask.complement })
    }
}
impl<T: Scalar> Node<T> for Admitted<T> {
    #[cfg(feature = "cuda")]
    fn partial(&self) -> Result<Partial> {
        let made = self.from.partial()?.made()?;
        self.admitted(made).map(|store| Partial::of(&store))
    }
    fn name(&self) -> &'static str {
        self.from.name()
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        if self.replaced {
            return Err(replaced_early(self.name()));
        }
        let (shape, device) = self.from.check()?;
        mask_parts(self.name(), self.mask.as_ref(), shape, device)?;
        Ok((shape, device))
    }
    fn axes(&self) -> Result<(Axis, Axis)> {
        let ((rows, cols), mask) = (self.from.axes()?, self.parts()?.pattern);
        Ok((rows.union(&mask.rows, self.name())?, cols.union(&mask.cols, self.name())?))
    }
    fn ready(&self, rows: &Axis, cols: &Axis) -> Result<Source<T>> {
        let mask = self.parts()?;
        let on = mask.pattern.on_axes(rows, cols, self.name())?;
        let mask = MaskBody::new(&on.body, mask.complement);
        let from = making(self.from.ready(rows, cols)?);
        let mask = Cpu.mask(Some(&mask))?.cloned().ok_or_else(|| crate::backend::misplaced(on.device))?;
        Ok(Source::Made(Box::new(Admitting { from, mask })))
    }
    fn made(&self) -> Result<Store<T>> {
        self.admitted(self.from.made()?)
    }
}
impl<T: Scalar> Admitted<T> {
    fn admitted(&self, t: Store<T>) -> Result<Store<T>> {
        within(self.from.name(), t, Some(&self.parts()?), None)
    }
}

/// Rows that are there as rows to be made.
fn making<T: Scalar>(source: Source<T>) -> Box<dyn Making<T>> {
    match source {
        Source::Made(making) => making,
        Source::There(list) => Box::new(There(list)),
    }
}

impl<C: Container> Compute for Chain<C> {
    type Target = C;
    fn core(&self) -> &dyn Core<C::Scalar> {
        &self.root
    }
}
impl<T: Scalar> Core<T> for Root<T> {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        self.0.check()
    }
    fn compute(&self, _: Option<&MaskParts>) -> Result<(Owned<T>, bool)> {
        let (shape, device) = self.0.check()?;
        if too_long(shape) {
            return self.0.made().map(|t| (Owned(t), false));
        }
        #[cfg(feature = "cuda")]
        if let Device::Cuda(_) = device {
            return self.0.partial()?.made().map(|t| (Owned(t), false));
        }
        if device != Device::Cpu {
            return self.0.made().map(|t| (Owned(t), false));
        }
        let (rows, cols) = self.0.axes()?;
        let body = match self.0.ready(&rows, &cols)? {
            Source::There(list) => list,
            Source::Made(making) => chained(self.name(), &*making)?,
        };
        Ok((Owned(Store { rows, cols, body: Body::Host(body), device }), false))
    }
}

impl<A: Scalar, B: Scalar, C: Container> Operation<OfTwo<A, B, C>> {
    fn node(self) -> Root<C::Scalar> {
        let super::of_two::Two { name, a, b, run, merge, join } = self.kernel.core;
        let two = Two { name, a: Arc::new(Leaf(a.0, a.1)), b: Arc::new(Leaf(b.0, b.1)), run, merge, join };
        masked(Root(Arc::new(two), 1), self.mask, self.replace)
    }
}
impl<C: Container> Operation<Chain<C>> {
    fn node(self) -> Root<C::Scalar> {
        masked(self.kernel.root, self.mask, self.replace)
    }
}
fn masked<T: Scalar>(from: Root<T>, mask: Option<Mask>, replaced: bool) -> Root<T> {
    let Root(node, steps) = from;
    if mask.is_some() || replaced {
        return Root::new(Arc::new(Admitted { from: node, mask, replaced }), steps + 1);
    }
    Root(node, steps)
}

pub(super) type Chained<C, T> = Operation<Chain<<C as Container>::Of<T, <C as Container>::Label>>>;

pub(super) fn after<C: Scalar, K: Container>(from: Root<C>, step: Step<C, K::Scalar>) -> Operation<Chain<K>> {
    let (Step { end, steps, each }, Root(from, before)) = (step, from);
    Operation::new(Chain { root: Root::new(Arc::new(Then { from, end, steps, each }), before + 1) })
}
pub(super) fn with<A: Scalar, Z: Operand, K: Container>(
    name: &'static str,
    Root(a, before): Root<A>,
    z: &Z,
    (run, merge, join): Ways<A, ScalarOf<Z>, K::Scalar>,
) -> Operation<Chain<K>> {
    let (b, transposed) = z.operand();
    let b = Arc::new(Leaf(b.0.clone(), transposed));
    Operation::new(Chain { root: Root::new(Arc::new(Two { name, a, b, run, merge, join }), before + 1) })
}

macro_rules! joins {
    ([$($generic:tt)*] $on:ty, $c:ty) => {
        impl<$($generic)*> $on {
            /// C = T ⊕ B, as [`ewise_add`](super::ewise_add()); T and B of one shape. O(1) here, O(nnz(T) + nnz(B)) at the end.
            /// ```
            /// use oplus::prelude::*;
            /// # fn main() -> oplus::Result<()> {
            /// let x: Vector<i32> = Vector::build(3, &[(0, 1), (1, 2)])?;
            /// let y: Vector<i32> = Vector::build(3, &[(1, 3), (2, 4)])?;
            /// assert_eq!(ewise_mult(&x, &y, Times).ewise_add(&y, Plus).eval()?.entries()?, [(1, 9), (2, 4)]);
            /// # Ok(()) }
            /// ```
            pub fn ewise_add<Z, F>(self, b: &Z, _op: F) -> Chained<$c, <$c as Container>::Scalar>
            where
                Z: Operand<Container: Container<Scalar = <$c as Container>::Scalar, Kind = <$c as Container>::Kind>>,
                F: BinaryOp<<$c as Container>::Scalar, <$c as Container>::Scalar, Out = <$c as Container>::Scalar>,
            {
                with("ewise_add", self.node(), b, adding::<<$c as Container>::Scalar, F>())
            }
            /// C = T ⊗ B, as [`ewise_mult`](super::ewise_mult()); T and B of one shape. O(1) here, O(nnz(T) + nnz(B)) at the end.
            /// ```
            /// use oplus::prelude::*;
            /// # fn main() -> oplus::Result<()> {
            /// let x: Vector<i32> = Vector::build(3, &[(0, 1), (1, 2)])?;
            /// let y: Vector<i32> = Vector::build(3, &[(1, 3), (2, 4)])?;
            /// assert_eq!(ewise_add(&x, &y, Plus).ewise_mult(&y, Times).eval()?.entries()?, [(1, 15), (2, 16)]);
            /// # Ok(()) }
            /// ```
            pub fn ewise_mult<Z, F>(self, b: &Z, _op: F) -> Chained<$c, F::Out>
            where
                Z: Operand<Container: Container<Kind = <$c as Container>::Kind>>,
                F: BinaryOp<<$c as Container>::Scalar, ScalarOf<Z>>,
            {
                with("ewise_mult", self.node(), b, multiplying::<<$c as Container>::Scalar, ScalarOf<Z>, F>())
            }
            /// C = f(T, B) where either has an entry, `alpha` in place of one that T lacks and `beta` of one that B does, as
            /// [`ewise_union`](super::ewise_union()); T and B of one shape. O(1) here, O(nnz(T) + nnz(B)) at the end.
            /// ```
            /// use oplus::prelude::*;
            /// # fn main() -> oplus::Result<()> {
            /// let x: Vector<i32> = Vector::build(4, &[(0, 1), (1, 2)])?;
            /// let y: Vector<i32> = Vector::build(4, &[(1, 3), (2, 4)])?;
            /// // x + y − y, and −y where x + y is not: there 100 stands for it.
            /// let z = ewise_mult(&x, &y, Plus).ewise_union(100, &y, 0, Minus).eval()?;
            /// assert_eq!(z.entries()?, [(1, 2), (2, 96)]);
            /// # Ok(()) }
            /// ```
            pub fn ewise_union<Z, F>(
                self,
                alpha: <$c as Container>::Scalar,
                b: &Z,
                beta: ScalarOf<Z>,
                _op: F,
            ) -> Chained<$c, F::Out>
            where
                Z: Operand<Container: Container<Kind = <$c as Container>::Kind>>,
                F: BinaryOp<<$c as Container>::Scalar, ScalarOf<Z>>,
            {
                with("ewise_union", self.node(), b, filling::<<$c as Container>::Scalar, ScalarOf<Z>, F>(alpha, beta))
            }
        }
    };
}
pub(super) use joins;
joins!([A: Scalar, B: Scalar, C: Container] Operation<OfTwo<A, B, C>>, C);
joins!([C: Container] Operation<Chain<C>>, C);
steps!([A: Scalar, B: Scalar, C: Container] Operation<OfTwo<A, B, C>>, C::Scalar, Chained<C>, |self, step| {
    after(self.node(), step)
});
steps!([C: Container] Operation<Chain<C>>, C::Scalar, Chained<C>, |self, step| {
    after(self.node(), step)
});
