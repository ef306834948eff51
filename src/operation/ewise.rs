//! ewise_add and ewise_mult: the union and the intersection of two patterns.
use super::{OfTwo, Operation};
use crate::algebra::BinaryOp;
use crate::backend::{Body, on_backend};
use crate::container::Container;
use crate::storage::store::Store;
use std::sync::Arc;

/// T = A ⊕ B: f where both have an entry, the entry where one has. O(nnz(A) + nnz(B)).
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<i32> = Vector::build(3, &[(0, 1), (1, 2)])?;
/// let y: Vector<i32> = Vector::build(3, &[(1, 3), (2, 4)])?;
/// assert_eq!(ewise_add(&x, &y, Minus).eval()?.entries()?, [(0, 1), (1, -1), (2, 4)]);
/// # Ok(()) }
/// ```
pub fn ewise_add<X, Z, F>(a: &X, b: &Z, _op: F) -> Operation<OfTwo<X::Scalar, X::Scalar, X>>
where
    X: Container,
    Z: Container<Scalar = X::Scalar, Kind = X::Kind>,
    F: BinaryOp<X::Scalar, X::Scalar, Out = X::Scalar>,
{
    let run = |a: &Store<X::Scalar>, b: &Store<X::Scalar>| {
        let body = on_backend!(a.device, |backend| {
            Body::from(backend.union::<X::Scalar, F>(&backend.csr(&a.body)?, &backend.csr(&b.body)?)?)
        });
        Ok(Store { rows: a.rows.clone(), cols: a.cols.clone(), body, device: a.device })
    };
    let (a, b) = ((a.parts().0.clone(), false), (b.parts().0.clone(), false));
    Operation::new(OfTwo { name: "ewise_add", a, b, run: Arc::new(run) })
}

/// T = A ⊗ B: f where both have an entry. O(nnz(A) + nnz(B)).
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<i32> = Vector::build(3, &[(0, 1), (1, 2)])?;
/// let y: Vector<i32> = Vector::build(3, &[(1, 3), (2, 4)])?;
/// assert_eq!(ewise_mult(&x, &y, Times).eval()?.entries()?, [(1, 6)]);
/// # Ok(()) }
/// ```
pub fn ewise_mult<X, Z, F>(a: &X, b: &Z, _op: F) -> Operation<OfTwo<X::Scalar, Z::Scalar, X::Of<F::Out, X::Label>>>
where
    X: Container,
    Z: Container<Kind = X::Kind>,
    F: BinaryOp<X::Scalar, Z::Scalar>,
{
    let run = |a: &Store<X::Scalar>, b: &Store<Z::Scalar>| {
        let body = on_backend!(a.device, |backend| {
            Body::from(backend.intersection::<X::Scalar, Z::Scalar, F>(&backend.csr(&a.body)?, &backend.csr(&b.body)?)?)
        });
        Ok(Store { rows: a.rows.clone(), cols: a.cols.clone(), body, device: a.device })
    };
    let (a, b) = ((a.parts().0.clone(), false), (b.parts().0.clone(), false));
    Operation::new(OfTwo { name: "ewise_mult", a, b, run: Arc::new(run) })
}
