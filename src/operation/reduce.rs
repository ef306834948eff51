//! reduce: rows to a vector, everything to a scalar.
use super::of_one::One;
use super::{Compute, Core, Operand, Operation, ScalarOf, oriented};
use crate::algebra::scalar::same;
use crate::algebra::{Any, Identity, Monoid, OfValue, Plus, Reduction, Scalar};
use crate::backend::{Body, cpu, on_backend};
use crate::container::{Container, Matrix, Parts, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::format::filled;
use crate::storage::{axis::Axis, store::Store};
use std::any::{Any as Anything, TypeId};
use std::borrow::Cow;
use std::sync::Arc;

/// t(i) = ⊕ⱼ A(i, j); rows without entries have none in t. `.transpose_a()` reduces columns. O(nnz(A)); on the CPU O(m) where all entries are
/// one value, stored once, and integers, booleans, min or max are asked for: degrees.
///
/// Integers, booleans, min and max give the same bits everywhere, [those of NaN](crate::algebra::operator#bits) aside. Floating
/// sums run in column order on the host; on CUDA too in rows of up to 64 entries, longer ones in a tree that depends on where the
/// entries of A are, and on nothing else.
///
/// A is m × n, t of length m. GraphBLAS C API 2.1, GrB_reduce. Sums and products of `f16` and `bf16` are made in f32, the type of t
/// ([`Reduction`]), of values that are copied as f32.
///
/// # Errors
/// At the end: `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(3, 2, &[(0, 0, 1), (0, 1, 2), (2, 1, 5)])?;
/// assert_eq!(reduce_rows(&a, Plus).eval()?.entries()?, [(0, 3), (2, 5)]);
/// assert_eq!(reduce_rows(&a, Plus).transpose_a().eval()?.entries()?, [(0, 1), (1, 7)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_reduce", "sum"))]
pub fn reduce_rows<T: Scalar, S, M: Reduction<T>>(
    a: &impl Operand<Container = Matrix<T, S>>,
    _monoid: M,
) -> Operation<Lines<T, Vector<M::Sum, S>>> {
    let mut lines =
        Lines::new("reduce_rows", a.operand(), |a| rows_summed::<M::Sum, M::Monoid>(terms::<T, M>(a)?.as_ref()));
    lines.core.turned = Some(|a| columns_summed::<M::Sum, M::Monoid>(terms::<T, M>(a)?.as_ref()));
    Operation::new(lines)
}

/// t(i) = |{j : A(i, j) is there}|, how many entries row i has, zeros among them: the degrees of a graph's vertices. Rows without entries
/// have none in t. `.transpose_a()` counts those of columns. On the CPU O(m), of columns O(m + nnz(A)); on CUDA O(m + nnz(A)).
///
/// A is m × n, t of length m. What [`reduce_rows`] by Plus makes of ones in place of A's values; the same bits on every device.
///
/// # Errors
/// At the end: `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let graph: Matrix<bool> = Matrix::build(3, 3, &[(0, 1, true), (0, 2, true), (2, 0, false)])?;
/// assert_eq!(count_rows(&graph).eval()?.entries()?, [(0, 2), (2, 1)]);
/// let mut degrees: Vector<u64> = Vector::full(3, 0)?;
/// count_rows(&graph).accumulate(Plus).into(&mut degrees)?;
/// count_rows(&graph.transposed()).accumulate(Plus).into(&mut degrees)?;
/// assert_eq!(degrees.into_full(0)?, [3, 1, 2]);
/// # Ok(()) }
/// ```
#[doc(alias("degree", "getnnz"))]
pub fn count_rows<T: Scalar, S>(a: &impl Operand<Container = Matrix<T, S>>) -> Operation<Lines<T, Vector<u64, S>>> {
    let mut lines = Lines::new("count_rows", a.operand(), rows_counted);
    lines.core.turned = Some(|a| columns_summed::<u64, Plus>(&filled(a, 1)?));
    Operation::new(lines)
}

fn rows_counted<T: Scalar>(a: &Store<T>) -> Result<Store<u64>> {
    #[cfg(feature = "cuda")]
    if let Some(body) = crate::format::rows_counted(a)? {
        return Ok(Store { rows: Axis::Full(1), cols: a.rows.clone(), body, device: a.device });
    }
    rows_summed::<u64, Plus>(&filled(a, 1)?)
}

/// The values as terms of sums; themselves where they are.
fn terms<T: Scalar, M: Reduction<T>>(a: &Store<T>) -> Result<Cow<'_, Store<M::Sum>>> {
    if TypeId::of::<M::Term>() == TypeId::of::<Identity>()
        && let Some(a) = (a as &dyn Anything).downcast_ref()
    {
        return Ok(Cow::Borrowed(a));
    }
    super::apply::mapping::<T, bool, OfValue<M::Term>>(false)(a).map(Cow::Owned)
}

/// What all sums are, where all entries are one value and sums of it are it, to the bit.
fn alike<T: Scalar, M: Monoid<T>>(a: &Store<T>) -> Option<T> {
    a.one().filter(|one| same(M::apply(*one, *one), *one))
}

fn rows_summed<T: Scalar, M: Monoid<T>>(a: &Store<T>) -> Result<Store<T>> {
    let Some(sum) = alike::<T, M>(a) else { return counted::<T, M>(a)?.map_or_else(|| by_rows::<T, M>(a), Ok) };
    filled(&by_rows::<u8, Any>(&filled(a, 0)?)?, sum)
}
fn columns_summed<T: Scalar, M: Monoid<T>>(a: &Store<T>) -> Result<Option<Store<T>>> {
    let Some(sum) = alike::<T, M>(a) else { return by_columns::<T, M>(a) };
    by_columns::<u8, Any>(&filled(a, 0)?)?.map(|met| filled(&met, sum)).transpose()
}

/// The sums of rows on the CPU whose entries are one value each of them, such as degrees: how many there are is all that counts.
fn counted<T: Scalar, M: Monoid<T>>(a: &Store<T>) -> Result<Option<Store<T>>> {
    let (Device::Cpu, Body::Held(held), Some(one)) = (a.device, &a.body, a.one()) else { return Ok(None) };
    let sums = cpu::rows_of_one::<T, M>(held.frame.pattern("reduce_rows")?, one)?;
    Ok(sums.map(|sums| Store { rows: Axis::Full(1), cols: a.rows.clone(), body: Body::from(sums), device: a.device }))
}

fn by_rows<T: Scalar, M: Monoid<T>>(a: &Store<T>) -> Result<Store<T>> {
    #[cfg(feature = "cuda")]
    if let Some(body) = crate::format::rows_summed::<T, M>(a)? {
        return Ok(Store { rows: Axis::Full(1), cols: a.rows.clone(), body, device: a.device });
    }
    let body = on_backend!(a.device, |backend| { Body::from(backend.reduce_rows::<T, M>(backend.csr(&a.body)?)?) });
    Ok(Store { rows: Axis::Full(1), cols: a.rows.clone(), body, device: a.device })
}
fn by_columns<T: Scalar, M: Monoid<T>>(a: &Store<T>) -> Result<Option<Store<T>>> {
    let body =
        on_backend!(a.device, |backend| { backend.reduce_columns::<T, M>(backend.csr(&a.body)?)?.map(Body::from) });
    Ok(body.map(|body| Store { rows: Axis::Full(1), cols: a.cols.clone(), body, device: a.device }))
}

/// An operation that makes one entry of each row of a matrix of `A`: a vector `C`. Only these make vectors of matrices:
/// ```compile_fail,E0599
/// use oplus::prelude::*;
/// let x: Vector<i32> = Vector::new(3).unwrap();
/// let _ = apply(&x, Negate).transpose_a();
/// ```
pub struct Lines<A, C: Container> {
    pub(super) core: One<A, C::Scalar>,
}
impl<A: Scalar, C: Container> Lines<A, C> {
    pub(super) fn new(
        name: &'static str,
        (a, transposed): (Parts<'_, A>, bool),
        run: fn(&Store<A>) -> Result<Store<C::Scalar>>,
    ) -> Self {
        let (a, run) = (a.0.clone(), Arc::new(run));
        Self { core: One { name, a, transposed, shape: |s| (1, s.0), run, turned: None, apart: false } }
    }
}
impl<A, C: Container> Clone for Lines<A, C> {
    fn clone(&self) -> Self {
        Self { core: One { a: self.core.a.clone(), run: self.core.run.clone(), ..self.core } }
    }
}
impl<A, C: Container> std::fmt::Debug for Lines<A, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct(self.core.name).field("transposed", &self.core.transposed).finish_non_exhaustive()
    }
}
impl<A: Scalar, C: Container> Compute for Lines<A, C> {
    type Target = C;
    fn core(&self) -> &dyn Core<C::Scalar> {
        &self.core
    }
}
impl<A: Scalar, C: Container, F> Operation<Lines<A, C>, F> {
    /// A is read transposed: its columns are looked at. O(1) here; on the CPU columns are summed without a transpose, unless entries are few.
    pub fn transpose_a(mut self) -> Self {
        self.kernel.core.transposed = !self.kernel.core.transposed;
        self
    }
}

/// s = ⊕ of all entries; the identity where there are none, 0 by [`Any`]. O(nnz(A)), or O(log nnz(A)) where all are one value, stored once, and no sum rounds.
///
/// `f16` and `bf16` by Plus and Times: as [`reduce_rows`] has them.
/// GraphBLAS C API 2.1, GrB_reduce to a scalar. Floating sums run in another order on CUDA than on the host, each fixed by the places of the entries alone: all runs agree,
/// for any number of threads.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<f64> = Vector::build(3, &[(0, 1.5), (1, 2.0)])?;
/// assert_eq!(reduce(&x, Max)?, 2.0);
/// # Ok(()) }
/// ```
///
/// # Errors
/// `OutOfMemory`; on CUDA `Driver`.
#[doc(alias("GrB_reduce", "sum", "fold"))]
pub fn reduce<X: Operand, M: Reduction<ScalarOf<X>>>(a: &X, monoid: M) -> Result<M::Sum> {
    Ok(reduced("reduce", a, monoid)?.unwrap_or_else(<M::Monoid as Monoid<M::Sum>>::identity))
}

/// s = ⊕ of all entries, or `None` where there are none: the empty scalar. O(nnz(A)).
///
/// GraphBLAS C API 2.1, GrB_reduce to a GrB_Scalar. Sums as those of [`reduce`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let (x, none): (Vector<f64>, Vector<f64>) = (Vector::build(3, &[(1, 2.0)])?, Vector::new(3)?);
/// assert_eq!((reduce_stored(&x, Min)?, reduce_stored(&none, Min)?), (Some(2.0), None));
/// # Ok(()) }
/// ```
///
/// # Errors
/// `OutOfMemory`; on CUDA `Driver`.
#[doc(alias = "GrB_reduce")]
pub fn reduce_stored<X: Operand, M: Reduction<ScalarOf<X>>>(a: &X, monoid: M) -> Result<Option<M::Sum>> {
    reduced("reduce_stored", a, monoid)
}

fn reduced<X: Operand, M: Reduction<ScalarOf<X>>>(
    operation: &'static str,
    a: &X,
    _monoid: M,
) -> Result<Option<M::Sum>> {
    let (a, transposed) = a.operand();
    let sum = || sum::<M::Sum, M::Monoid>(terms::<ScalarOf<X>, M>(&oriented(a.0, transposed)?)?.as_ref());
    sum().map_err(|e| e.in_operation(operation))
}

fn sum<T: Scalar, M: Monoid<T>>(a: &Store<T>) -> Result<Option<T>> {
    if let (Some(one), 1..) = (a.one(), a.nvals())
        && let Some(sum) = alike::<T, M>(a).or_else(|| match a.device {
            // The oracle adds them up.
            Device::Reference => None,
            _ => cpu::repeated::<T, M>(one, a.nvals()),
        })
    {
        return Ok(Some(sum));
    }
    #[cfg(feature = "cuda")]
    if let Some(sum) = crate::format::summed::<T, M>(a)? {
        return Ok(sum);
    }
    on_backend!(a.device, |backend| { backend.reduce::<T, M>(backend.csr(&a.body)?) })
}
