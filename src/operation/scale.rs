//! Rows and columns of a matrix met by the entries of a vector.
use super::limit::made_anew;
use super::operand::Like;
use super::{Compute, Core, MaskParts, Operand, Operation, ScalarOf, oriented, same_shape, shape_of};
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::untyped::UntypedStore;
use crate::backend::{Body, on_backend};
use crate::container::{Container, Matrix, OfMatrices, Owned, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::storage::store::{Store, same_device};
use std::marker::PhantomData;
use std::sync::Arc;

/// A matrix of `A` whose rows or columns meet the entries of a vector of `V`; `C` is what it makes.
pub struct Scale<A, V, C: Container> {
    core: Scaled<A, V, C::Scalar>,
    target: PhantomData<fn() -> C>,
}
#[derive(Debug)]
pub(super) struct Scaled<A, V, T> {
    name: &'static str,
    a: Store<A>,
    transposed: bool,
    v: Store<V>,
    /// By rows, else by columns.
    rows: bool,
    run: fn(&Store<A>, &Store<V>) -> Result<Body<T>>,
}
impl<A, V, C: Container> Clone for Scale<A, V, C> {
    fn clone(&self) -> Self {
        Self { core: Scaled { a: self.core.a.clone(), v: self.core.v.clone(), ..self.core }, target: PhantomData }
    }
}
impl<A, V, C: Container> std::fmt::Debug for Scale<A, V, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct(self.core.name).field("transposed", &self.core.transposed).finish_non_exhaustive()
    }
}

/// T(i, j) = f(v(i), A(i, j)) where both are there: diag(v) A with f for ⊗. O(nnz(A)).
///
/// A and T are m × n, v has length m; the same bits on every device [where f gives them](crate::algebra::operator#bits).
///
/// # Errors
/// At the end: `DimensionMismatch`, `DeviceMismatch`, `OutOfMemory`, and the device's own.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 1.0), (0, 1, 2.0), (1, 0, 3.0)])?;
/// let v: Vector<f64> = Vector::build(2, &[(0, 10.0)])?;
/// assert_eq!(scale_rows(&v, &a, Times).eval()?.entries()?, [(0, 0, 10.0), (0, 1, 20.0)]);
/// # Ok(()) }
/// ```
#[doc(alias = "row_scale")]
pub fn scale_rows<X, V, R, F>(v: &Vector<V, R>, a: &X, _op: F) -> Operation<Scale<ScalarOf<X>, V, Like<X, F::Out>>>
where
    X: Operand<Container: Container<Kind = OfMatrices>>,
    V: Scalar,
    F: BinaryOp<V, ScalarOf<X>>,
{
    new("scale_rows", a, v, true, rows::<V, ScalarOf<X>, F>)
}

/// T(i, j) = f(A(i, j), v(j)) where both are there: A diag(v) with f for ⊗. O(nnz(A)).
///
/// A and T are m × n, v has length n; the same bits on every device [where f gives them](crate::algebra::operator#bits).
///
/// # Errors
/// As [`scale_rows`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 1.0), (0, 1, 2.0), (1, 0, 3.0)])?;
/// let v: Vector<f64> = Vector::build(2, &[(0, 10.0)])?;
/// assert_eq!(scale_columns(&a, &v, Div).eval()?.entries()?, [(0, 0, 0.1), (1, 0, 0.3)]);
/// # Ok(()) }
/// ```
#[doc(alias = "column_scale")]
pub fn scale_columns<X, V, R, F>(a: &X, v: &Vector<V, R>, _op: F) -> Operation<Scale<ScalarOf<X>, V, Like<X, F::Out>>>
where
    X: Operand<Container: Container<Kind = OfMatrices>>,
    V: Scalar,
    F: BinaryOp<ScalarOf<X>, V>,
{
    new("scale_columns", a, v, false, columns::<ScalarOf<X>, V, F>)
}

/// A factor of a product, scaled on its way into it. Its scalar is known here alone.
pub(super) trait Scaling: std::fmt::Debug + Send + Sync {
    /// Whether this fits a factor of this shape.
    fn check(&self, shape: (u64, u64), device: Device) -> Result<()>;
    /// The most host memory that scaling a factor takes, the result among it.
    fn bytes(&self, factor: &UntypedStore) -> u64;
    /// The factor, not to be transposed any more.
    fn scaled(&self, factor: UntypedStore) -> Result<UntypedStore>;
}

/// Rows or columns of factors of `A` met by v.
#[derive(Debug)]
pub(super) struct ScaledFactor<A, V> {
    name: &'static str,
    v: Store<V>,
    rows: bool,
    run: fn(&Store<A>, &Store<V>) -> Result<Body<A>>,
}
impl<A: Scalar, V: Scalar> ScaledFactor<A, V> {
    pub(super) fn rows<F: BinaryOp<V, A, Out = A>>(v: &Store<V>) -> Arc<dyn Scaling> {
        Arc::new(Self { name: "scale_rows", v: v.clone(), rows: true, run: rows::<V, A, F> })
    }
    pub(super) fn columns<F: BinaryOp<A, V, Out = A>>(name: &'static str, v: &Store<V>) -> Arc<dyn Scaling> {
        Arc::new(Self { name, v: v.clone(), rows: false, run: columns::<A, V, F> })
    }
}
impl<A: Scalar, V: Scalar> Scaling for ScaledFactor<A, V> {
    fn check(&self, shape: (u64, u64), device: Device) -> Result<()> {
        let (what, n) = if self.rows { ("a column of the factor", shape.0) } else { ("a row of the factor", shape.1) };
        same_shape(self.name, ("v", self.v.shape()), (what, (1, n))).map_err(Error::of_vectors)?;
        same_device(self.name, ("the factor", device), ("v", self.v.device)).map(|_| ())
    }
    fn bytes(&self, factor: &UntypedStore) -> u64 {
        let (entries, value) = (factor.body.nnz(), size_of::<A>());
        if factor.device == Device::Cpu && self.v.nvals() == self.v.shape().1 {
            return entries.saturating_mul(value as u64);
        }
        // The oracle looks v up in an ordered map.
        let looked_up = if factor.device == Device::Reference { 64 * self.v.nvals() } else { 0 };
        made_anew(factor.device, factor.rows.places().max(factor.cols.places()), entries, value) + looked_up
    }
    fn scaled(&self, factor: UntypedStore) -> Result<UntypedStore> {
        let a = Store::made(factor.rows, factor.cols, &factor.body, factor.device)?;
        let &Self { name, rows, run, .. } = self;
        let made = Scaled { name, a, transposed: false, v: self.v.clone(), rows, run }.compute(None)?;
        Ok(UntypedStore::of(&made.0.0))
    }
}

fn rows<V: Scalar, A: Scalar, F: BinaryOp<V, A>>(a: &Store<A>, v: &Store<V>) -> Result<Body<F::Out>> {
    Ok(on_backend!(a.device, |backend| {
        Body::from(backend.scale_rows::<V, A, F>(backend.csr(&v.body)?, backend.csr(&a.body)?)?)
    }))
}
fn columns<A: Scalar, V: Scalar, F: BinaryOp<A, V>>(a: &Store<A>, v: &Store<V>) -> Result<Body<F::Out>> {
    Ok(on_backend!(a.device, |backend| {
        Body::from(backend.scale_columns::<A, V, F>(backend.csr(&a.body)?, backend.csr(&v.body)?)?)
    }))
}

fn new<X: Operand, V: Scalar, R, C: Container>(
    name: &'static str,
    a: &X,
    v: &Vector<V, R>,
    rows: bool,
    run: fn(&Store<ScalarOf<X>>, &Store<V>) -> Result<Body<C::Scalar>>,
) -> Operation<Scale<ScalarOf<X>, V, C>> {
    let (a, transposed) = a.operand();
    let core = Scaled { name, a: a.0.clone(), transposed, v: v.parts().0.clone(), rows, run };
    Operation::new(Scale { core, target: PhantomData })
}

impl<A: Scalar, V: Scalar, T: Scalar, S, G> Operation<Scale<A, V, Matrix<T, S>>, G> {
    /// A is read transposed. O(1) here; O(m + n + nnz(A)) at the end where no transpose is kept.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 2)])?;
    /// let v: Vector<i32> = Vector::build(2, &[(1, 10)])?;
    /// assert_eq!(scale_rows(&v, &a, Times).transpose_a().eval()?.entries()?, [(1, 0, 20)]);
    /// # Ok(()) }
    /// ```
    pub fn transpose_a(mut self) -> Self {
        self.kernel.core.transposed = !self.kernel.core.transposed;
        self
    }
}

impl<A: Scalar, V: Scalar, C: Container> Compute for Scale<A, V, C> {
    type Target = C;
    fn core(&self) -> &dyn Core<C::Scalar> {
        &self.core
    }
}
impl<A: Scalar, V: Scalar, T: Scalar> Core<T> for Scaled<A, V, T> {
    fn name(&self) -> &'static str {
        self.name
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        let shape = shape_of(&self.a, self.transposed);
        let (what, n) = if self.rows { ("a column of A", shape.0) } else { ("a row of A", shape.1) };
        same_shape(self.name, ("v", self.v.shape()), (what, (1, n))).map_err(Error::of_vectors)?;
        Ok((shape, same_device(self.name, ("A", self.a.device), ("v", self.v.device))?))
    }
    fn compute(&self, _: Option<&MaskParts>) -> Result<(Owned<T>, bool)> {
        let a = oriented(&self.a, self.transposed)?;
        let of = |a: &Store<A>| if self.rows { a.rows.clone() } else { a.cols.clone() };
        let listed = of(&a).is_listed() || self.v.cols.is_listed();
        let fewer = a.listed((listed && self.rows, listed && !self.rows), self.name)?;
        let (a, v) = (fewer.unwrap_or(a), self.v.listed((false, listed), self.name)?);
        let v = v.as_ref().unwrap_or(&self.v);
        let axis = of(&a).union(&v.cols, self.name)?;
        let v = v.on_axes(&self.v.rows, &axis, self.name)?;
        let a = if self.rows { a.on_axes(&axis, &a.cols, self.name)? } else { a.on_axes(&a.rows, &axis, self.name)? };
        let body = (self.run)(&a, &v)?;
        Ok((Owned(a.holding(body)), false))
    }
}
