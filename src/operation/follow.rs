//! What follows operations that make what a chain begins with, and sums over what is made.
use super::chain::{Chained, Leaf, Node, Root, after, joins, with};
use super::ewise::{adding, filling, multiplying};
use super::factors::Factors;
use super::fused::{kept, largest, mapped, replaced_early, steps};
use super::of_one::One;
use super::{Chain, Core, Fused, Lines, OfOne, OfTwo, Operand, Operation, Product, ScalarOf, made, mask_parts, reduce};
use crate::algebra::{BinaryOp, BindFirst, BindSecond, Comparable, IndexUnaryOp, OfValue, Reduction, Scalar, UnaryOp};
use crate::backend::cpu::chain::Source;
use crate::container::{Container, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::mask::Mask;
use crate::storage::axis::Axis;
use crate::storage::store::Store;
use std::sync::{Arc, OnceLock};

/// What an operation makes, once: then an operand like any other.
struct Begun<K, T> {
    core: K,
    mask: Option<Mask>,
    /// Whether `replace` stood before a step.
    replaced: bool,
    made: OnceLock<Store<T>>,
}
impl<T: Scalar, K: Core<T>> Begun<K, T> {
    fn leaf(&self) -> Result<Leaf<T>> {
        if let Some(store) = self.made.get() {
            return Ok(Leaf(store.clone(), false));
        }
        let store = made(&self.core, self.mask.as_ref())?.0;
        Ok(Leaf(self.made.get_or_init(|| store).clone(), false))
    }
}
impl<T: Scalar, K: Core<T> + Send + Sync> Node<T> for Begun<K, T> {
    #[cfg(feature = "cuda")]
    fn partial(&self) -> Result<super::chain::Partial> {
        self.leaf()?.partial()
    }
    fn name(&self) -> &'static str {
        self.core.name()
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        if self.replaced {
            return Err(replaced_early(self.core.name()));
        }
        let (shape, device) = self.core.check()?;
        mask_parts(self.core.name(), self.mask.as_ref(), shape, device)?;
        Ok((shape, device))
    }
    fn axes(&self) -> Result<(Axis, Axis)> {
        self.leaf()?.axes()
    }
    fn ready(&self, rows: &Axis, cols: &Axis) -> Result<Source<T>> {
        self.leaf()?.ready(rows, cols)
    }
    fn made(&self) -> Result<Store<T>> {
        self.leaf()?.made()
    }
}
pub(super) fn begun<T: Scalar, K>(core: K, mask: Option<Mask>, replaced: bool) -> Root<T>
where
    K: Core<T> + Send + Sync + 'static,
{
    Root(Arc::new(Begun { core, mask, replaced, made: OnceLock::new() }), 1)
}

impl<A: Scalar, B: Scalar, T: Scalar, S> Operation<Product<A, B, Vector<T, S>, S>> {
    fn node(self) -> Root<T> {
        begun::<T, Factors>(*self.kernel.core, self.mask, self.replace)
    }
}
impl<A: Scalar, C: Container> Operation<OfOne<A, C>> {
    fn node(self) -> Root<C::Scalar> {
        begun::<C::Scalar, One<A, C::Scalar>>(self.kernel.core, self.mask, self.replace)
    }
}
impl<A: Scalar, C: Container> Operation<Lines<A, C>> {
    fn node(self) -> Root<C::Scalar> {
        begun::<C::Scalar, One<A, C::Scalar>>(self.kernel.core, self.mask, self.replace)
    }
}

joins!([A: Scalar, B: Scalar, T: Scalar, S] Operation<Product<A, B, Vector<T, S>, S>>, Vector<T, S>);
joins!([A: Scalar, C: Container] Operation<OfOne<A, C>>, C);
joins!([A: Scalar, C: Container] Operation<Lines<A, C>>, C);
steps!([A: Scalar, B: Scalar, T: Scalar, S] Operation<Product<A, B, Vector<T, S>, S>>, T, Chained<Vector<T, S>>, |self, step| {
    after(self.node(), step)
});
steps!([A: Scalar, C: Container] Operation<OfOne<A, C>>, C::Scalar, Chained<C>, |self, step| {
    after(self.node(), step)
});
steps!([A: Scalar, C: Container] Operation<Lines<A, C>>, C::Scalar, Chained<C>, |self, step| {
    after(self.node(), step)
});

macro_rules! summed {
    ([$($generic:tt)*] $on:ty, $t:ty) => {
        impl<$($generic)*> $on {
            /// s = ⊕ of all entries of the result, as [`reduce`](super::reduce()) has it; the identity where there are none. O(nnz) more.
            ///
            /// # Errors
            /// Those of [`eval`](Operation::eval).
            /// ```
            /// use oplus::prelude::*;
            /// # fn main() -> oplus::Result<()> {
            /// let (x, y): (Vector<f64>, Vector<f64>) = (Vector::build(3, &[(0, 2.0), (1, 3.0)])?, Vector::full(3, 0.5)?);
            /// let dot = ewise_mult(&x, &y, Times).reduce(Plus)?;
            /// let farthest = ewise_add(&x, &y, Minus).apply(Abs).reduce(Max)?;
            /// assert_eq!((dot, farthest), (2.5, 2.5));
            /// # Ok(()) }
            /// ```
            pub fn reduce<M: Reduction<$t>>(self, monoid: M) -> Result<M::Sum> {
                reduce(&self.eval()?, monoid)
            }
        }
    };
}
summed!([A: Scalar, B: Scalar, T: Scalar, S] Operation<Product<A, B, Vector<T, S>, S>>, T);
summed!([A: Scalar, B: Scalar, C: Scalar, T: Scalar, S] Operation<Fused<A, B, C, T, S>>, T);
summed!([A: Scalar, B: Scalar, C: Container] Operation<OfTwo<A, B, C>>, C::Scalar);
summed!([A: Scalar, C: Container] Operation<OfOne<A, C>>, C::Scalar);
summed!([A: Scalar, C: Container] Operation<Lines<A, C>>, C::Scalar);
summed!([C: Container] Operation<Chain<C>>, C::Scalar);
