//! The operations of the GraphBLAS: C⟨M, replace⟩ ⊙= op(inputs).
//!
//! Each is a function that returns a builder; the builder owns its operands (a few shared pointers), so the output may
//! be one of them: inputs count as if copied first. Ends: [`eval`](Operation::eval) makes a new container,
//! [`into`](Operation::into) writes by the standard's rule, a product's [`reduce`](Operation::reduce) never stores it.
//! Let Z = C ⊙ T with an accumulator, else Z = T. Where the mask admits, C becomes Z, entries absent from Z are
//! deleted; elsewhere C stays, or is deleted with [`replace`](Operation::replace).
//!
//! **What is the same everywhere.** Operations that sum nothing give the same bits on every device and in every run, whatever the
//! formats of their operands, where [their operators do](crate::algebra::operator#bits); so do sums of integers and booleans, minima
//! and maxima. Floating sums are each operation's business: on the host their order depends on the operands alone, never on the number of threads; what differs on CUDA is said where it
//! does, and [`reproducible`](Operation::reproducible) products do not.
//!
//! **What an error means.** `DimensionMismatch` names both shapes, `DeviceMismatch` both devices, `IndexOutOfBounds` the position in
//! the list, `OutOfMemory` the bytes; `Driver`, on CUDA alone, what the driver says. Nothing was changed, and a call may be repeated.
//!
//! Names, masks and rules are those of the *GraphBLAS C API Specification* 2.1; what is SuiteSparse:GraphBLAS's says so.
use crate::algebra::Scalar;
use crate::backend::{Body, MaskBody, on_backend};
use crate::container::{Container, Owned};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::format::{copied, full_where_full, updated};
use crate::mask::{AsMask, Mask};
use crate::storage::axis::Axis;
use crate::storage::listing::lists;
use crate::storage::store::{PatternStore, Store, same_device};
use limit::{fits, limited};
use std::fmt::{Debug, Formatter};
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
mod follow;
mod fused;
mod gather;
mod indices;
pub(crate) mod kronecker;
mod limit;
mod of_one;
mod of_two;
mod operand;
mod oriented;
mod places;
mod plan;
mod product;
mod reduce;
mod region;
mod reshape;
mod row;
mod scale;
mod select;
mod some;
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
pub use indices::{IndexInteger, Indices};
pub use kronecker::{Kronecker, kronecker};
pub use of_one::OfOne;
pub(crate) use of_one::Run;
pub use of_two::OfTwo;
pub(crate) use of_two::RunTwo;
pub use operand::{Operand, ScalarOf, Transposed};
pub(crate) use oriented::{oriented, shape_of};
pub use plan::Plan;
pub use product::{Product, Same, mxm, mxv, vxm};
pub use reduce::{Lines, count_rows, reduce, reduce_rows, reduce_stored};
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
        within(self.name(), t.0, mask, self.memory_limit()).map(Owned)
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
#[derive(Clone)]
pub struct Operation<K, F = Overwrite> {
    pub(crate) kernel: K,
    mask: Option<Mask>,
    replace: bool,
    accumulate: PhantomData<F>,
}

impl<K: Debug, F> Debug for Operation<K, F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let mut operation = f.debug_struct("Operation");
        operation.field("kernel", &self.kernel).field("mask", &self.mask).field("replace", &self.replace).finish()
    }
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
    #[doc(alias = "GrB_Descriptor")]
    pub fn mask(mut self, mask: &impl AsMask) -> Self {
        self.mask = Some(mask.as_mask().given(K::Target::VECTOR));
        self
    }
}

impl<K, F> Operation<K, F> {
    /// Entries that the mask does not admit are deleted; without a mask it means nothing. O(1).
    #[doc(alias = "GrB_REPLACE")]
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
    #[doc(alias = "accum")]
    pub fn accumulate<G>(self, _op: G) -> Operation<K, With<G>> {
        Operation { kernel: self.kernel, mask: self.mask, replace: self.replace, accumulate: PhantomData }
    }
}

impl<K: Compute, F> Operation<K, F> {
    /// C⟨M, replace⟩ ⊙= T. `c` is untouched on error, and may be an operand or the mask. A panic of an operator of the caller's own is no
    /// error: accumulating in place it may leave some entries of `c` done and others not, but `c` is a well-formed matrix or vector still.
    ///
    /// Besides the operation O(1) where T takes the place of `c`, else O(m + nnz(C) + nnz(T) + nnz(M)), and O(nnz(T)) where `c` is a
    /// [`Bitmap`](crate::Format::Bitmap) or full and nobody shares it: an operand that is `c` itself does, and a mask made of `c` shares the
    /// positions, a bit a cell, which are copied then. The bits of T are those of [`eval`](Self::eval).
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
    let made = mask_parts(core.name(), mask, shape, device)
        .and_then(|mask| limited(core.name(), core.memory_limit(), device, || core.admitted(mask.as_ref())));
    let made = made.and_then(|made| settled(core, made.0));
    made.map_err(|e| e.in_operation(core.name()))
}

/// Full where all is there, and without places that nobody uses, where there is room to leave them.
fn settled<C: Scalar, T: Scalar>(core: &dyn Core<T>, made: Store<C>) -> Result<Owned<C>> {
    let made = full_where_full(made);
    if core.memory_limit().is_some() { Ok(Owned(made)) } else { made.trimmed(core.name()).map(Owned) }
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
    same_device(operation, ("the result", device), ("the output", c.device))?;
    let mask = mask_parts(operation, mask, shape, device)?;
    limited(operation, core.memory_limit(), device, || {
        let (mut t, masked) = core.compute(mask.as_ref())?;
        if mask.is_none() || (masked && replace) {
            t = match F::adopt(t) {
                Ok(all) => return settled(core, all.0).map(Some),
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
        settled(core, made).map(Some)
    })
    .map_err(|e| e.in_operation(operation))
}

/// The entries of T that the mask admits; T and what becomes of it take at most `limit` bytes at once, on the host.
fn within<T: Scalar>(
    operation: &'static str,
    t: Store<T>,
    mask: Option<&MaskParts>,
    limit: Option<u64>,
) -> Result<Store<T>> {
    let none = Store::<T>::empty_on(operation, t.rows.clone(), t.cols.clone(), t.device)?;
    if let Some(limit) = limit {
        fits(operation, limit, &none, &t)?;
    }
    write::<_, _, Overwrite>(operation, &none, t, mask, true)
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
    #[cfg(feature = "cuda")]
    if let Some(made) = crate::format::written::<C, T, F>(&c, &t, mask.as_ref(), replace)? {
        return Ok(made);
    }
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
