//! An operation on two operands of one shape, each of which may be read transposed.
use super::{Compute, Core, MaskParts, Operation, common, ewise, oriented, same_shape, shape_of};
use crate::algebra::Scalar;
use crate::backend::chain::Join;
use crate::backend::cpu::chain::Merge;
use crate::container::{Container, OfMatrices, Owned, Parts};
use crate::device::Device;
use crate::error::Result;
use crate::storage::store::{Store, same_device};
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

/// An operation on two operands of one shape.
pub struct OfTwo<A, B, C: Container> {
    pub(super) core: Two<A, B, C::Scalar>,
}

pub(super) struct Two<A, B, T> {
    pub(super) name: &'static str,
    pub(super) a: (Store<A>, bool),
    pub(super) b: (Store<B>, bool),
    pub(super) run: RunTwo<A, B, T>,
    pub(super) merge: Merge<A, B, T>,
    pub(super) join: Join,
}

/// What two operands of one shape and on the same axes make.
pub(crate) type RunTwo<A, B, T> = Arc<dyn Fn(&Store<A>, &Store<B>) -> Result<Store<T>> + Send + Sync>;

impl<A, B, C: Container> OfTwo<A, B, C> {
    pub(super) fn new(
        name: &'static str,
        a: (Parts<'_, A>, bool),
        b: (Parts<'_, B>, bool),
        (run, merge, join): ewise::Ways<A, B, C::Scalar>,
    ) -> Self {
        Self { core: Two { name, a: (a.0.0.clone(), a.1), b: (b.0.0.clone(), b.1), run, merge, join } }
    }
}

impl<A, B, C: Container> Debug for OfTwo<A, B, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct(self.core.name).finish_non_exhaustive()
    }
}

impl<A, B, C: Container> Clone for OfTwo<A, B, C> {
    fn clone(&self) -> Self {
        let Two { name, a, b, run, merge, join } = &self.core;
        let (run, merge, join) = (run.clone(), merge.clone(), join.clone());
        Self { core: Two { name, a: a.clone(), b: b.clone(), run, merge, join } }
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

impl<A: Scalar, B: Scalar, C: Container<Kind = OfMatrices>, F> Operation<OfTwo<A, B, C>, F> {
    /// A is read transposed. O(1) here; at the end O(m + n + nnz) at most, where the matrix keeps no transpose.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 3, &[(0, 2, 7)])?;
    /// let b: Matrix<i32> = Matrix::build(3, 2, &[(2, 0, 1)])?;
    /// assert_eq!(ewise_add(&a, &b, Plus).transpose_a().eval()?.entries()?, [(2, 0, 8)]);
    /// assert_eq!(ewise_add(&a, &b, Plus).transpose_b().eval()?.entries()?, [(0, 2, 8)]);
    /// # Ok(()) }
    /// ```
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
