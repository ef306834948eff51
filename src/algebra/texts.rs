//! Texts that kernels are generated from, made once in a process for what they are of: to write one, and to look at all of it for its
//! hash, takes as long as to start a kernel.
use super::operator::{BinaryOp, IndexUnaryOp};
use super::scalar::Scalar;
use oplus_codegen::{FunctionText, SemiringText, Shared};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

/// Those of semirings over their scalars.
pub(crate) static SEMIRINGS: Texts<SemiringText> = Texts::new();
/// Those of operators and monoids over their scalars.
pub(crate) static FUNCTIONS: Texts<FunctionText> = Texts::new();

/// By the type and what it is taken as: a type may be an operator of several kinds.
type Key = (TypeId, &'static str);

pub(crate) struct Texts<T>(RwLock<BTreeMap<Key, Shared<T>>>);

impl<T: Clone + Hash> Texts<T> {
    const fn new() -> Self {
        Self(RwLock::new(BTreeMap::new()))
    }
    /// What is known by the key, or else what `make` makes, which is the same each time. It is no type of its own: this is compiled once,
    /// not for every operator.
    pub(crate) fn get(&self, key: Key, make: &dyn Fn() -> T) -> Shared<T> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            // Not under the lock: literals are a user's code where the scalar is.
            let made = Shared::from(make());
            self.0.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(made).clone()
        })
    }
}

/// F as the function of a template that is called so.
pub(crate) fn binary_text<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(name: &'static str) -> Shared<FunctionText> {
    FUNCTIONS.get((TypeId::of::<(A, B, F)>(), name), &|| {
        FunctionText::new(name, vec![A::TEXT, B::TEXT], <F::Out as Scalar>::TEXT, F::TEXT)
    })
}

/// The same of an operator that sees an entry's place and what it is bound to.
pub(crate) fn index_text<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(name: &'static str) -> Shared<FunctionText> {
    FUNCTIONS.get((TypeId::of::<(A, i64, Y, F)>(), name), &|| {
        let place = <i64 as Scalar>::TEXT;
        FunctionText::new(name, vec![A::TEXT, place, place, Y::TEXT], <F::Out as Scalar>::TEXT, F::TEXT)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::semiring::monoid_text;
    use crate::algebra::{MinPlus, Plus, Times, semiring::SemiringParts, semiring_text};

    #[test]
    fn texts_are_those_of_their_types_and_roles_each_time() {
        for _ in 0..2 {
            let text = SemiringParts::of::<f64, f64, MinPlus>().shared();
            assert_eq!(*text, semiring_text::<f64, f64, MinPlus>());
            let other = SemiringParts::of::<i32, i32, MinPlus>().shared();
            assert_eq!(*other, semiring_text::<i32, i32, MinPlus>());
            assert_ne!(text, other);
        }
        let (op, join) = (binary_text::<f64, f64, Plus>("op"), binary_text::<f64, f64, Plus>("join"));
        assert_eq!((op.name, join.name), ("op", "join"));
        let sum = monoid_text::<f64, Plus>("op");
        assert_eq!((op.identity.is_some(), sum.identity.is_some()), (false, true));
        assert_ne!(op, binary_text::<f64, f64, Times>("op"));
        assert_ne!(op, binary_text::<f32, f32, Plus>("op"));
    }
}
