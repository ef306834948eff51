//! A semiring as a value. A product is asked for with the semiring's type; every function between there and the inner
//! loops takes one of these tables instead, and is compiled once for the scalars.
use super::cpu::{MxmKernels, MxvKernels, VxmKernels};
use crate::algebra::semiring::monoid_text;
use crate::algebra::*;
use oplus_codegen::{FunctionText, SemiringText};
use std::marker::PhantomData;

/// ⊗ and ⊕ one product at a time: for what is not in a loop, and for the oracle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operators<A, B, C> {
    pub(crate) reads: Reads,
    pub(crate) multiply: fn(A, B, At) -> C,
    pub(crate) add: fn(C, C) -> C,
}

/// What the backends need of a semiring over these scalars; `K` are the CPU's loops for one operation.
#[derive(Debug)]
pub(crate) struct Ring<A, B, C, K> {
    /// What a kernel for CUDA is generated from.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    pub(crate) text: fn() -> SemiringText,
    pub(crate) operators: Operators<A, B, C>,
    pub(crate) cpu: K,
}
pub(crate) type MxmRing<A, B, C> = Ring<A, B, C, MxmKernels<A, B, C>>;
pub(crate) type MxvRing<A, X, C> = Ring<A, X, C, MxvKernels<A, X, C>>;
pub(crate) type VxmRing<X, A, C> = Ring<X, A, C, VxmKernels<X, A, C>>;

/// The tables of the semiring S over A and B: one for each operation, so that only what is called is compiled.
pub(crate) struct Of<A, B, S>(PhantomData<(A, B, S)>);

impl<A: Scalar, B: Scalar, S: Semiring<A, B>> Of<A, B, S> {
    const OPERATORS: Operators<A, B, S::Out> = Operators {
        reads: <S::Multiply as Multiply<A, B>>::READS,
        multiply: <S::Multiply as Multiply<A, B>>::multiply,
        add: <S::Add as BinaryOp<S::Out, S::Out>>::apply,
    };
    pub(crate) const MXM: MxmRing<A, B, S::Out> =
        Ring { text: semiring_text::<A, B, S>, operators: Self::OPERATORS, cpu: MxmKernels::of::<S>() };
    pub(crate) const MXV: MxvRing<A, B, S::Out> =
        Ring { text: semiring_text::<A, B, S>, operators: Self::OPERATORS, cpu: MxvKernels::of::<S>() };
    pub(crate) const VXM: VxmRing<A, B, S::Out> =
        Ring { text: semiring_text::<A, B, S>, operators: Self::OPERATORS, cpu: VxmKernels::of::<S>() };
}

/// A monoid as a value: what a product that is not stored is folded by.
#[derive(Debug)]
pub(crate) struct Fold<T> {
    /// What a kernel for CUDA is generated from, but for the name.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    pub(crate) text: fn(&'static str) -> FunctionText,
    pub(crate) two: fn(T, T) -> T,
    /// ⊕ of some values in order; `None` where there are none.
    pub(crate) all: fn(&[T]) -> Option<T>,
}

impl<T: Scalar> Fold<T> {
    pub(crate) fn by<M: Monoid<T>>() -> Self {
        Fold { text: monoid_text::<T, M>, two: M::apply, all: |values| values.iter().copied().reduce(M::apply) }
    }
}
