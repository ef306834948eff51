//! ewise_add, ewise_union and ewise_mult: the union and the intersection of two patterns.
use super::operand::Like;
use super::{OfTwo, Operand, Operation, RunTwo, ScalarOf};
use crate::algebra::scalar::same;
use crate::algebra::{BinaryOp, First, Scalar};
use crate::backend::chain::{Join, JoinKind};
use crate::backend::cpu::chain::{self, Merge};
use crate::backend::{Body, on_backend};
use crate::container::Container;
use crate::error::Result;
use crate::format::{filled, looked_up};
use crate::storage::store::Store;
use std::sync::Arc;

/// T = A ⊕ B: f where both have an entry, the entry where one has. O(nnz(A) + nnz(B)).
///
/// A, B and T are m × n. GraphBLAS C API 2.1, GrB_eWiseAdd; the same bits on every device [where f gives them](crate::algebra::operator#bits).
///
/// # Errors
/// At the end: `DimensionMismatch`, `DeviceMismatch`, `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<i32> = Vector::build(3, &[(0, 1), (1, 2)])?;
/// let y: Vector<i32> = Vector::build(3, &[(1, 3), (2, 4)])?;
/// assert_eq!(ewise_add(&x, &y, Minus).eval()?.entries()?, [(0, 1), (1, -1), (2, 4)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_eWiseAdd", "eWiseAdd", "elementwise", "union"))]
pub fn ewise_add<X, Z, F>(a: &X, b: &Z, _op: F) -> Operation<OfTwo<ScalarOf<X>, ScalarOf<X>, X::Container>>
where
    X: Operand,
    Z: Operand,
    Z::Container: Container<Scalar = ScalarOf<X>, Kind = <X::Container as Container>::Kind>,
    F: BinaryOp<ScalarOf<X>, ScalarOf<X>, Out = ScalarOf<X>>,
{
    Operation::new(OfTwo::new("ewise_add", a.operand(), b.operand(), adding::<ScalarOf<X>, F>()))
}

/// By the operation's own kernel, row by row, and as text.
pub(super) type Ways<A, B, T> = (RunTwo<A, B, T>, Merge<A, B, T>, Join);

pub(super) fn adding<T: Scalar, F: BinaryOp<T, T, Out = T>>() -> Ways<T, T, T> {
    (Arc::new(united::<T, F>), chain::either::<T, F>(), Join::of::<T, T, F>(JoinKind::Union, None))
}
pub(super) fn multiplying<A: Scalar, B: Scalar, F: BinaryOp<A, B>>() -> Ways<A, B, F::Out> {
    (Arc::new(intersected::<A, B, F>), chain::both::<A, B, F>(), Join::of::<A, B, F>(JoinKind::Intersection, None))
}
pub(super) fn filling<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(alpha: A, beta: B) -> Ways<A, B, F::Out> {
    let run = Arc::new(move |a: &Store<_>, b: &Store<_>| filled_up::<_, _, F>(a, alpha, b, beta));
    (run, chain::filled::<A, B, F>(alpha, beta), Join::of::<A, B, F>(JoinKind::Filled, Some((alpha, beta))))
}

fn united<T: Scalar, F: BinaryOp<T, T, Out = T>>(a: &Store<T>, b: &Store<T>) -> Result<Store<T>> {
    if let Some(made) = crate::format::united::<T, F>(a, b)? {
        return Ok(made);
    }
    let body = on_backend!(a.device, |backend| {
        Body::from(backend.union::<T, F>(backend.csr(&a.body)?, backend.csr(&b.body)?)?)
    });
    Ok(a.holding(body))
}

/// T = f(A, B) where either has an entry; where A has none alpha stands for it, where B has none beta does.
/// O(nnz(A) + nnz(B)).
///
/// A, B and T are m × n. SuiteSparse:GraphBLAS, GxB_eWiseUnion; the same bits on every device [where f gives them](crate::algebra::operator#bits).
///
/// # Errors
/// At the end: `DimensionMismatch`, `DeviceMismatch`, `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<i32> = Vector::build(3, &[(0, 1), (1, 2)])?;
/// let y: Vector<i32> = Vector::build(3, &[(1, 3), (2, 4)])?;
/// assert_eq!(ewise_union(&x, 0, &y, 10, Minus).eval()?.entries()?, [(0, -9), (1, -1), (2, -4)]);
/// # Ok(()) }
/// ```
#[doc(alias("GxB_eWiseUnion", "eWiseUnion"))]
pub fn ewise_union<X, Z, F>(
    a: &X,
    alpha: ScalarOf<X>,
    b: &Z,
    beta: ScalarOf<Z>,
    _op: F,
) -> Operation<OfTwo<ScalarOf<X>, ScalarOf<Z>, Like<X, F::Out>>>
where
    X: Operand,
    Z: Operand,
    Z::Container: Container<Kind = <X::Container as Container>::Kind>,
    F: BinaryOp<ScalarOf<X>, ScalarOf<Z>>,
{
    Operation::new(OfTwo::new("ewise_union", a.operand(), b.operand(), filling::<_, _, F>(alpha, beta)))
}

fn filled_up<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
    a: &Store<A>,
    alpha: A,
    b: &Store<B>,
    beta: B,
) -> Result<Store<F::Out>> {
    if let (Some(x), Some(y)) = (a.one(), b.one()) {
        let z = F::apply(x, y);
        if same(z, F::apply(x, beta)) && same(z, F::apply(alpha, y)) {
            return filled(&united::<u8, First>(&filled(a, 0)?, &filled(b, 0)?)?, z);
        }
    }
    #[cfg(feature = "cuda")]
    if let Some(made) = crate::format::filled_up::<A, B, F>(a, alpha, b, beta)? {
        return Ok(made);
    }
    let body = on_backend!(a.device, |backend| {
        Body::from(backend.ewise_union::<A, B, F>(backend.csr(&a.body)?, alpha, backend.csr(&b.body)?, beta)?)
    });
    Ok(a.holding(body))
}

/// T = A ⊗ B: f where both have an entry. O(nnz(A) + nnz(B)).
///
/// A, B and T are m × n. GraphBLAS C API 2.1, GrB_eWiseMult; the same bits on every device [where f gives them](crate::algebra::operator#bits).
///
/// # Errors
/// At the end: `DimensionMismatch`, `DeviceMismatch`, `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<i32> = Vector::build(3, &[(0, 1), (1, 2)])?;
/// let y: Vector<i32> = Vector::build(3, &[(1, 3), (2, 4)])?;
/// assert_eq!(ewise_mult(&x, &y, Times).eval()?.entries()?, [(1, 6)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_eWiseMult", "eWiseMult", "hadamard", "intersection"))]
pub fn ewise_mult<X, Z, F>(a: &X, b: &Z, _op: F) -> Operation<OfTwo<ScalarOf<X>, ScalarOf<Z>, Like<X, F::Out>>>
where
    X: Operand,
    Z: Operand,
    Z::Container: Container<Kind = <X::Container as Container>::Kind>,
    F: BinaryOp<ScalarOf<X>, ScalarOf<Z>>,
{
    Operation::new(OfTwo::new("ewise_mult", a.operand(), b.operand(), multiplying::<_, _, F>()))
}

pub(super) fn intersected<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
    a: &Store<A>,
    b: &Store<B>,
) -> Result<Store<F::Out>> {
    if let Some(made) = crate::format::intersected::<A, B, F>(a, b)? {
        return Ok(made);
    }
    if let Some(found) = looked_up::<A, B, F>(a, b)? {
        return Ok(a.holding(found));
    }
    let body = on_backend!(a.device, |backend| {
        Body::from(backend.intersection::<A, B, F>(backend.csr(&a.body)?, backend.csr(&b.body)?)?)
    });
    Ok(a.holding(body))
}
