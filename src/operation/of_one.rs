//! An operation on one operand, which may be read transposed.
use super::assignment::marked;
use super::ewise::intersected;
use super::{Compute, Core, MaskParts, Operation, oriented, shape_of};
use crate::algebra::{First, Scalar};
use crate::backend::Body;
use crate::container::{Container, OfMatrices, Owned, Parts};
use crate::device::Device;
use crate::error::Result;
use crate::storage::store::Store;
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

/// An operation on one operand.
pub struct OfOne<A, C: Container> {
    pub(super) core: One<A, C::Scalar>,
}

pub(super) struct One<A, T> {
    pub(super) name: &'static str,
    pub(super) a: Store<A>,
    pub(super) transposed: bool,
    pub(super) shape: fn((u64, u64)) -> (u64, u64),
    pub(super) run: Run<A, T>,
    /// The same of Aᵀ where that needs no Aᵀ.
    pub(super) turned: Option<Turned<A, T>>,
    /// Whether each entry is made of the one at its place alone.
    pub(super) apart: bool,
}

/// What is made of Aᵀ, without it; `None` where that takes Aᵀ after all.
type Turned<A, T> = fn(&Store<A>) -> Result<Option<Store<T>>>;

/// What an operand, as it is read, makes.
pub(crate) type Run<A, T> = Arc<dyn Fn(&Store<A>) -> Result<Store<T>> + Send + Sync>;

impl<A, C: Container> OfOne<A, C> {
    pub(super) fn new(name: &'static str, (a, transposed): (Parts<'_, A>, bool), run: Run<A, C::Scalar>) -> Self {
        Self { core: One { name, a: a.0.clone(), transposed, shape: |s| s, run, turned: None, apart: false } }
    }
    /// Each entry is made of the one at its place alone.
    pub(super) fn apart(mut self) -> Self {
        self.core.apart = true;
        self
    }
}

impl<A, C: Container> Debug for OfOne<A, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct(self.core.name).field("transposed", &self.core.transposed).finish_non_exhaustive()
    }
}

impl<A, C: Container> Clone for OfOne<A, C> {
    fn clone(&self) -> Self {
        Self { core: One { a: self.core.a.clone(), run: self.core.run.clone(), ..self.core } }
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
    fn compute(&self, mask: Option<&MaskParts>) -> Result<(Owned<T>, bool)> {
        if let (true, Some(turned)) = (self.transposed, self.turned)
            && let Some(made) = turned(&self.a)?
        {
            return Ok((Owned(made), false));
        }
        let a = oriented(&self.a, self.transposed)?;
        if let (true, Some(mask)) = (self.apart, mask)
            && let Some(few) = few_admitted(self.name, &a, mask)?
        {
            return Ok((Owned((self.run)(&few)?), true));
        }
        Ok((Owned((self.run)(&a)?), false))
    }
}

/// The entries of A that a mask admits where they are few on the CPU: then the others are not looked at.
fn few_admitted<A: Scalar>(name: &'static str, a: &Store<A>, mask: &MaskParts) -> Result<Option<Store<A>>> {
    const FEW: u64 = 8;
    let listed = matches!(a.body, Body::Host(_) | Body::Dense(_)) && a.device == Device::Cpu;
    let at = &mask.pattern;
    if !listed || mask.complement || at.body.nnz().saturating_mul(FEW) > a.nvals() {
        return Ok(None);
    }
    if !a.rows.same(&at.rows) || !a.cols.same(&at.cols) {
        return Ok(None);
    }
    intersected::<A, u8, First>(a, &marked(at)?).map(Some).map_err(|e| e.in_operation(name))
}

/// The descriptor's transpose options exist for matrices only.
impl<A: Scalar, C: Container<Kind = OfMatrices>, F> Operation<OfOne<A, C>, F> {
    /// A is read transposed. O(1) here; at the end O(m + n + nnz) at most, where the matrix keeps no transpose.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 3, &[(0, 2, 7)])?;
    /// assert_eq!(apply(&a, Negate).transpose_a().eval()?.entries()?, [(2, 0, -7)]);
    /// # Ok(()) }
    /// ```
    pub fn transpose_a(mut self) -> Self {
        self.kernel.core.transposed = !self.kernel.core.transposed;
        self
    }
}
