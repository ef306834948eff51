//! The operations of the GraphBLAS: C⟨M, replace⟩ ⊙= op(inputs).
//!
//! Each is a function that returns a builder; the builder owns its operands (a few shared pointers), so the output may
//! be one of them: inputs count as if copied first. Ends: [`eval`](Operation::eval) makes a new container,
//! [`into`](Operation::into) writes by the standard's rule, a product's [`reduce`](Operation::reduce) never stores it.
//! Let Z = C ⊙ T with an accumulator, else Z = T. Where the mask admits, C becomes Z, entries absent from Z are
//! deleted; elsewhere C stays, or is deleted with [`replace`](Operation::replace).
//!
//! **What is the same everywhere.** Operations that sum nothing give the same bits on every device and in every run, whatever the
//! formats of their operands ([`Argument`](crate::algebra::Argument) aside); so do sums of integers and booleans, minima and maxima. Floating sums are each operation's business:
//! on the host their order depends on the operands alone, never on the number of threads; what differs on CUDA is said where it
//! does, and [`reproducible`](Operation::reproducible) products do not.
//!
//! **What an error means.** `DimensionMismatch` names both shapes, `DeviceMismatch` both devices, `IndexOutOfBounds` the position in
//! the list, `OutOfMemory` the bytes; `Driver`, on CUDA alone, what the driver says. Nothing was changed, and a call may be repeated.
//!
//! Names, masks and rules are those of the *GraphBLAS C API Specification* 2.1; what is SuiteSparse:GraphBLAS's says so.
use crate::algebra::Scalar;
use crate::backend::chain::Join;
use crate::backend::cpu::{self, chain::Merge};
use crate::backend::{Body, MaskBody, on_backend};
use crate::container::{Container, Owned, Parts};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::format::{copied, full_where_full, updated};
use crate::mask::{AsMask, Mask};
use crate::memory;
use crate::storage::axis::Axis;
use crate::storage::held::Held;
use crate::storage::listing::lists;
use crate::storage::store::{PatternStore, Store, same_device};
use limit::{fits, limited};
use std::marker::PhantomData;

mod accumulate;
mod apply;
mod arg;
mod assign;
mod assignment;
mod cast;
mod chain;
pub(crate) mod closure;
mod diagonal;
mod ewise;
mod explain;
mod extract;
mod factors;
mod few;
mod fused;
mod indices;
pub(crate) mod kronecker;
mod limit;
mod operand;
mod places;
mod plan;
mod product;
mod reduce;
mod region;
mod reshape;
mod scale;
mod select;
mod sort;
mod tiles;
mod top_k;
mod transpose;
mod triple;
mod update;

pub use accumulate::{Accumulate, Overwrite, With};
pub use apply::{apply, apply_first, apply_index, apply_second};
pub use arg::{argmax, argmax_rows, argmin, argmin_rows};
pub use assign::{
    assign, assign_column, assign_empty, assign_empty_vector, assign_row, assign_scalar, assign_scalar_vector,
    assign_vector, subassign, subassign_column, subassign_row, subassign_scalar, subassign_scalar_vector,
    subassign_vector,
};
pub use assignment::Assignment;
pub use cast::cast;
pub use chain::Chain;
pub use diagonal::{Diagonal, diag, diag_extract, tril, triu};
pub use ewise::{ewise_add, ewise_mult, ewise_union};
pub use explain::traced;
pub use extract::{Extract, extract, extract_column, extract_row, extract_rows, extract_vector};
pub use fused::Fused;
pub use indices::Indices;
pub use kronecker::{Kronecker, kronecker};
pub use operand::{Operand, ScalarOf, Transposed};
pub use plan::Plan;
pub use product::{Product, Same, mxm, mxv, vxm};
pub use reduce::{Lines, reduce, reduce_rows, reduce_stored};
pub use reshape::{reshape, reshape_columns};
pub use scale::{Scale, scale_columns, scale_rows};
pub use select::select;
pub use sort::sort;
pub use tiles::{concat, split};
pub use top_k::top_k;
pub use transpose::{transpose, transpose_merged};
pub use triple::{TriplePlan, TripleProduct, triple_product};
pub use update::Updates;

/// What an operation computes, before mask, accumulator and replace: opaque outside.
pub trait Compute {
    /// What `.eval()` makes.
    type Target: Container;
    /// The computation without the semiring's label, so that what follows is compiled once for a scalar.
    #[doc(hidden)]
    fn core(&self) -> &dyn Core<Out<Self>>;
}

/// A computation whose result has values of `T`: opaque outside.
pub trait Core<T: Scalar> {
    #[doc(hidden)]
    fn name(&self) -> &'static str;
    /// Shape and device of the result; every check of the operands.
    #[doc(hidden)]
    fn check(&self) -> Result<((u64, u64), Device)>;
    /// The result, and whether the mask was applied already.
    #[doc(hidden)]
    fn compute(&self, mask: Option<&MaskParts>) -> Result<(Owned<T>, bool)>;
    /// The most bytes that workspace and result may take at once.
    #[doc(hidden)]
    fn memory_limit(&self) -> Option<u64> {
        None
    }
    /// The result where the mask admits.
    #[doc(hidden)]
    fn admitted(&self, mask: Option<&MaskParts>) -> Result<Owned<T>> {
        let (t, masked) = self.compute(mask)?;
        if mask.is_none() || masked {
            return Ok(t);
        }
        let c = Store::<T>::empty_on(self.name(), t.0.rows.clone(), t.0.cols.clone(), t.0.device)?;
        write::<_, _, Overwrite>(self.name(), &c, t.0, mask, true).map(Owned)
    }
}

/// A checked mask: opaque outside.
#[derive(Clone, Debug)]
pub struct MaskParts {
    pub(crate) pattern: PatternStore,
    pub(crate) complement: bool,
}

/// An operation that has not run yet. `K` is what it computes, `F` how the result meets what is there.
#[must_use = "a builder does nothing until .eval(), .into() or .reduce()"]
#[derive(Debug, Clone)]
pub struct Operation<K, F = Overwrite> {
    pub(crate) kernel: K,
    mask: Option<Mask>,
    replace: bool,
    accumulate: PhantomData<F>,
}

type Out<K> = <<K as Compute>::Target as Container>::Scalar;

impl<K: Compute> Operation<K> {
    pub(crate) fn new(kernel: K) -> Self {
        Self { kernel, mask: None, replace: false, accumulate: PhantomData }
    }
    /// C⟨M⟩ = T, a new container: T where the mask admits. Besides the operation, O(m + nnz(T) + nnz(M)) where the mask is not its own business:
    /// products and chains compute only what it admits.
    ///
    /// # Errors
    /// `DimensionMismatch`, `DeviceMismatch`, `OutOfMemory`, and the device's own.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<i32> = Vector::build(3, &[(0, 1), (2, 2)])?;
    /// let mask: Vector<bool> = Vector::build(3, &[(2, true)])?;
    /// assert_eq!(apply(&x, Negate).mask(&mask).eval()?.entries()?, [(2, -2)]);
    /// # Ok(()) }
    /// ```
    pub fn eval(self) -> Result<K::Target> {
        (<K::Target as Container>::Scalar::entries().made)(self.kernel.core(), self.mask.as_ref())
            .map(K::Target::made_of)
            .map_err(K::Target::told)
    }
}

impl<K: Compute, F> Operation<K, F> {
    /// Only what the mask admits is written. The last call counts. O(1) of a [`Mask`]; of values O(m + nnz(M)): the true ones are found
    /// here.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (0, 1, 2), (1, 1, 3)])?;
    /// let mask: Matrix<bool> = Matrix::build(2, 2, &[(0, 1, true), (1, 1, true)])?;
    /// let mut c: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 7), (0, 1, 8)])?;
    /// apply(&a, Negate).mask(&mask).into(&mut c)?;
    /// assert_eq!(c.entries()?, [(0, 0, 7), (0, 1, -2), (1, 1, -3)]);
    /// apply(&a, Identity).mask(&mask).accumulate(Plus).into(&mut c)?;
    /// assert_eq!(c.entries()?, [(0, 0, 7), (0, 1, 0), (1, 1, 0)]);
    /// apply(&a, Identity).mask(&mask).replace().into(&mut c)?;
    /// assert_eq!(c.entries()?, [(0, 1, 2), (1, 1, 3)]);
    /// # Ok(()) }
    /// ```
    pub fn mask(mut self, mask: &impl AsMask) -> Self {
        self.mask = Some(mask.as_mask().given(K::Target::VECTOR));
        self
    }
}

impl<K, F> Operation<K, F> {
    /// Entries that the mask does not admit are deleted; without a mask it means nothing. O(1).
    pub fn replace(mut self) -> Self {
        self.replace = true;
        self
    }
    /// C ⊙= T: the result meets old entries by `op` = ⊙, op(old, new); where one is missing, the other stands. O(1).
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let t: Vector<i32> = Vector::build(3, &[(0, 1), (1, 2)])?;
    /// let mut w: Vector<i32> = Vector::build(3, &[(1, 10), (2, 20)])?;
    /// apply(&t, Identity).accumulate(Minus).into(&mut w)?;
    /// assert_eq!(w.entries()?, [(0, 1), (1, 8), (2, 20)]);
    /// # Ok(()) }
    /// ```
    pub fn accumulate<G>(self, _op: G) -> Operation<K, With<G>> {
        Operation { kernel: self.kernel, mask: self.mask, replace: self.replace, accumulate: PhantomData }
    }
}

impl<K: Compute, F> Operation<K, F> {
    /// C⟨M, replace⟩ ⊙= T. `c` is untouched on error, and may be an operand or the mask.
    ///
    /// Besides the operation O(1) where T takes the place of `c`, else O(m + nnz(C) + nnz(T) + nnz(M)), and O(nnz(T)) where `c` is a
    /// [`Bitmap`](crate::Format::Bitmap) or full and nobody shares it. The bits of T are those of [`eval`](Self::eval).
    ///
    /// # Errors
    /// `DimensionMismatch`, `DeviceMismatch`, `OutOfMemory`, and the device's own.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut c: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 3), (1, 0, 5)])?;
    /// mxm(&c, &c).accumulate(Plus).into(&mut c)?;
    /// assert_eq!(c.entries()?, [(0, 0, 15), (0, 1, 3), (1, 0, 5), (1, 1, 15)]);
    /// # Ok(()) }
    /// ```
    pub fn into<C>(self, c: &mut C) -> Result<()>
    where
        C: Container<Kind = <K::Target as Container>::Kind>,
        F: Accumulate<C::Scalar, Out<K>>,
    {
        let made =
            met::<_, _, F>(self.kernel.core(), self.mask.as_ref(), self.replace, c.parts_mut().0).map_err(C::told)?;
        if let Some(made) = made {
            c.replace_with(made);
        }
        Ok(())
    }
}

/// [`Operation::eval`].
pub(crate) fn made<T: Scalar>(core: &dyn Core<T>, mask: Option<&Mask>) -> Result<Owned<T>> {
    let (shape, device) = core.check()?;
    let mask = mask_parts(core.name(), mask, shape, device)?;
    let made = limited(core.name(), core.memory_limit(), device, || core.admitted(mask.as_ref()))?;
    Ok(Owned(full_where_full(made.0)))
}

/// [`Operation::into`]: what `c` becomes; `None` where it was changed in place.
fn met<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    core: &dyn Core<T>,
    mask: Option<&Mask>,
    replace: bool,
    c: &mut Store<C>,
) -> Result<Option<Owned<C>>> {
    let operation = core.name();
    let (shape, device) = core.check()?;
    same_shape(operation, ("the result", shape), ("the output", c.shape()))?;
    same_device(operation, ("the operands", device), ("the output", c.device))?;
    let mask = mask_parts(operation, mask, shape, device)?;
    limited(operation, core.memory_limit(), device, || {
        let (mut t, masked) = core.compute(mask.as_ref())?;
        if mask.is_none() || (masked && replace) {
            t = match F::adopt(t) {
                Ok(all) => return Ok(Some(all)),
                Err(t) => t,
            };
        }
        if updated::<_, _, F>(operation, c, &t.0, mask.as_ref(), replace)? {
            return Ok(None);
        }
        if let Some(limit) = core.memory_limit() {
            fits(operation, limit, c, &t.0)?;
        }
        let few = t.0.nvals();
        let made = write::<_, _, F>(operation, c, t.0, mask.as_ref(), replace)?;
        copied(c, few, &made);
        Ok(Some(Owned(made)))
    })
}

/// The mask where it fits the result.
pub(crate) fn mask_parts(
    operation: &'static str,
    mask: Option<&Mask>,
    shape: (u64, u64),
    device: Device,
) -> Result<Option<MaskParts>> {
    let Some(mask) = mask else { return Ok(None) };
    let pattern = mask.pattern.clone()?;
    mask.fits(operation, shape, pattern.shape())?;
    same_device(operation, ("the result", device), ("the mask", pattern.device))?;
    Ok(Some(MaskParts { pattern, complement: mask.complement }))
}

/// The rule of the standard on common axes.
fn write<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    operation: &'static str,
    c: &Store<C>,
    t: Store<T>,
    mask: Option<&MaskParts>,
    replace: bool,
) -> Result<Store<C>> {
    let (rows, cols) = common(operation, c, &t, mask)?;
    let (c, t) = (c.on_axes(&rows, &cols, operation)?, t.on_axes(&rows, &cols, operation)?);
    let mask = match mask {
        Some(m) => Some(MaskBody::new(&m.pattern.on_axes(&rows, &cols, operation)?.body, m.complement)),
        None => None,
    };
    let body = on_backend!(c.device, |backend| {
        let (c, t, mask) = (backend.csr(&c.body)?, backend.csr(&t.body)?, backend.mask(mask.as_ref())?);
        Body::from(backend.write::<C, T, F>(c, t, mask, replace)?)
    });
    Ok(Store { rows, cols, body, device: c.device })
}

/// Axes with room for all that is in C, T and a mask.
fn common<C: Scalar, T: Scalar>(
    operation: &'static str,
    c: &Store<C>,
    t: &Store<T>,
    mask: Option<&MaskParts>,
) -> Result<(Axis, Axis)> {
    let mask = mask.map(|m| &m.pattern);
    let third = mask.map_or((&c.rows, &c.cols), |m| (&m.rows, &m.cols));
    let lists = lists(&[(&c.rows, &c.cols), (&t.rows, &t.cols), third]);
    let (less, fewer) = (c.listed(lists, operation)?, t.listed(lists, operation)?);
    let (c, t) = (less.as_ref().unwrap_or(c), fewer.as_ref().unwrap_or(t));
    let (rows, cols) = (c.rows.union(&t.rows, operation)?, c.cols.union(&t.cols, operation)?);
    let Some(mask) = mask else { return Ok((rows, cols)) };
    let mask = mask.clone().listed(lists, operation)?;
    Ok((rows.union(&mask.rows, operation)?, cols.union(&mask.cols, operation)?))
}

pub(crate) fn same_shape(
    operation: &'static str,
    left: (&'static str, (u64, u64)),
    right: (&'static str, (u64, u64)),
) -> Result<()> {
    if left.1 == right.1 {
        return Ok(());
    }
    let ((left_name, left), (right_name, right)) = (left, right);
    Err(Error::DimensionMismatch { operation, left_name, left, right_name, right, vectors: (false, false) })
}

/// The store, transposed where asked: row i of the result is column i.
pub(crate) fn oriented<T: Scalar>(store: &Store<T>, transposed: bool) -> Result<Store<T>> {
    if !transposed {
        return Ok(store.once());
    }
    let fewer = store.listed((false, true), "transpose")?;
    let store = fewer.as_ref().unwrap_or(store);
    if let Some(body) = turned(store)? {
        return Ok(Store { rows: store.cols.clone(), cols: store.rows.clone(), body, device: store.device });
    }
    let body = on_backend!(store.device, |backend| { Body::from(backend.transpose(backend.csr(&store.body)?)?) });
    Ok(Store { rows: store.cols.clone(), cols: store.rows.clone(), body, device: store.device })
}

/// The transpose where it takes no entries to be sorted.
fn turned<T: Scalar>(store: &Store<T>) -> Result<Option<Body<T>>> {
    #[cfg(feature = "cuda")]
    if let Body::CudaHeld(h) = &store.body {
        return Ok(h.turned()?.map(Body::from));
    }
    let Body::Held(h) = &store.body else { return Ok(None) };
    if let Some(turned) = h.turned("transpose")? {
        return Ok(Some(Body::Held(turned)));
    }
    let Some(value) = h.one() else { return Ok(None) };
    let pattern = h.frame.pattern("transpose")?;
    let turned = cpu::turned(pattern, &memory::filled("transpose", pattern.nnz(), ())?)?;
    Ok(Some(Body::Held(Held::iso(turned.pattern, value))))
}

pub(crate) fn shape_of<T: Scalar>(store: &Store<T>, transposed: bool) -> (u64, u64) {
    let (rows, cols) = store.shape();
    if transposed { (cols, rows) } else { (rows, cols) }
}

/// An operation on one operand.
pub struct OfOne<A, C: Container> {
    core: One<A, C::Scalar>,
}
struct One<A, T> {
    name: &'static str,
    a: Store<A>,
    transposed: bool,
    shape: fn((u64, u64)) -> (u64, u64),
    run: Run<A, T>,
    /// The same of Aᵀ where that needs no Aᵀ.
    turned: Option<Turned<A, T>>,
}
pub(crate) type Turned<A, T> = fn(&Store<A>) -> Result<Option<Store<T>>>;
pub(crate) type Run<A, T> = std::sync::Arc<dyn Fn(&Store<A>) -> Result<Store<T>> + Send + Sync>;

/// An operation on two operands of one shape.
pub struct OfTwo<A, B, C: Container> {
    core: Two<A, B, C::Scalar>,
}
struct Two<A, B, T> {
    name: &'static str,
    a: (Store<A>, bool),
    b: (Store<B>, bool),
    run: RunTwo<A, B, T>,
    merge: Merge<A, B, T>,
    join: Join,
}
/// What two operands of one shape and on the same axes make.
pub(crate) type RunTwo<A, B, T> = std::sync::Arc<dyn Fn(&Store<A>, &Store<B>) -> Result<Store<T>> + Send + Sync>;

impl<A, C: Container> OfOne<A, C> {
    fn new(name: &'static str, (a, transposed): (Parts<'_, A>, bool), run: Run<A, C::Scalar>) -> Self {
        Self { core: One { name, a: a.0.clone(), transposed, shape: |s| s, run, turned: None } }
    }
}
impl<A, B, C: Container> OfTwo<A, B, C> {
    fn new(
        name: &'static str,
        a: (Parts<'_, A>, bool),
        b: (Parts<'_, B>, bool),
        (run, merge, join): ewise::Ways<A, B, C::Scalar>,
    ) -> Self {
        Self { core: Two { name, a: (a.0.0.clone(), a.1), b: (b.0.0.clone(), b.1), run, merge, join } }
    }
}
impl<A, C: Container> std::fmt::Debug for OfOne<A, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct(self.core.name).field("transposed", &self.core.transposed).finish_non_exhaustive()
    }
}
impl<A, B, C: Container> std::fmt::Debug for OfTwo<A, B, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct(self.core.name).finish_non_exhaustive()
    }
}
impl<A, C: Container> Clone for OfOne<A, C> {
    fn clone(&self) -> Self {
        Self { core: One { a: self.core.a.clone(), run: self.core.run.clone(), ..self.core } }
    }
}
impl<A, B, C: Container> Clone for OfTwo<A, B, C> {
    fn clone(&self) -> Self {
        let Two { name, a, b, run, merge, join } = &self.core;
        let (run, merge, join) = (run.clone(), merge.clone(), join.clone());
        Self { core: Two { name, a: a.clone(), b: b.clone(), run, merge, join } }
    }
}

impl<A: Scalar, C: Container> Compute for OfOne<A, C> {
    type Target = C;
    fn core(&self) -> &dyn Core<C::Scalar> {
        &self.core
    }
}
impl<A: Scalar, T: Scalar> Core<T> for One<A, T> {
    fn name(&self) -> &'static str {
        self.name
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        Ok(((self.shape)(shape_of(&self.a, self.transposed)), self.a.device))
    }
    fn compute(&self, _: Option<&MaskParts>) -> Result<(Owned<T>, bool)> {
        if let (true, Some(turned)) = (self.transposed, self.turned)
            && let Some(made) = turned(&self.a)?
        {
            return Ok((Owned(made), false));
        }
        Ok((Owned((self.run)(&oriented(&self.a, self.transposed)?)?), false))
    }
}

impl<A: Scalar, B: Scalar, C: Container> Compute for OfTwo<A, B, C> {
    type Target = C;
    fn core(&self) -> &dyn Core<C::Scalar> {
        &self.core
    }
}
impl<A: Scalar, B: Scalar, T: Scalar> Core<T> for Two<A, B, T> {
    fn name(&self) -> &'static str {
        self.name
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        let shape = shape_of(&self.a.0, self.a.1);
        same_shape(self.name, ("A", shape), ("B", shape_of(&self.b.0, self.b.1)))?;
        Ok((shape, same_device(self.name, ("A", self.a.0.device), ("B", self.b.0.device))?))
    }
    fn compute(&self, _: Option<&MaskParts>) -> Result<(Owned<T>, bool)> {
        let (a, b) = (oriented(&self.a.0, self.a.1)?, oriented(&self.b.0, self.b.1)?);
        let (rows, cols) = common(self.name, &a, &b, None)?;
        let (a, b) = (a.on_axes(&rows, &cols, self.name)?, b.on_axes(&rows, &cols, self.name)?);
        Ok((Owned((self.run)(&a, &b)?), false))
    }
}

/// The descriptor's transpose options exist for matrices only.
impl<A: Scalar, C: Container<Kind = crate::container::OfMatrices>, F> Operation<OfOne<A, C>, F> {
    /// A is read transposed. O(1) here; at the end O(m + n + nnz) at most, where the matrix keeps no transpose.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 3, &[(0, 2, 7)])?;
    /// assert_eq!(apply(&a, Negate).transpose_a().eval()?.entries()?, [(2, 0, -7)]);
    /// let b: Matrix<i32> = Matrix::build(3, 2, &[(2, 0, 1)])?;
    /// assert_eq!(ewise_add(&a, &b, Plus).transpose_b().eval()?.entries()?, [(0, 2, 8)]);
    /// # Ok(()) }
    /// ```
    pub fn transpose_a(mut self) -> Self {
        self.kernel.core.transposed = !self.kernel.core.transposed;
        self
    }
}
impl<A: Scalar, B: Scalar, C: Container<Kind = crate::container::OfMatrices>, F> Operation<OfTwo<A, B, C>, F> {
    /// A is read transposed. O(1) here; at the end O(m + n + nnz) at most, where the matrix keeps no transpose.
    pub fn transpose_a(mut self) -> Self {
        self.kernel.core.a.1 = !self.kernel.core.a.1;
        self
    }
    /// B is read transposed, as [`transpose_a`](Self::transpose_a). O(1) here.
    pub fn transpose_b(mut self) -> Self {
        self.kernel.core.b.1 = !self.kernel.core.b.1;
        self
    }
}
