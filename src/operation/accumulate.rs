//! How a result meets what is there already.
use crate::algebra::{BinaryOp, OperatorText, Scalar, Second};
use crate::container::Owned;
use std::marker::PhantomData;

/// No accumulator: the result replaces what the mask admits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overwrite;
/// `.accumulate(op)`: c ⊙ t where both are, t where only t is, c where only c is.
#[derive(Clone, Copy, Debug, Default)]
pub struct With<F>(PhantomData<F>);

/// How a result `T` meets an old entry `C`. Wrapping the operator in `With` keeps the two impls apart.
///
/// `T` is `C`, with an accumulator too: a new entry that meets no old one stands as it is, and nothing is converted that does not say so.
/// The standard, whose accumulators have types of their own, converts it to the output's.
#[diagnostic::on_unimplemented(
    message = "a result of type `{T}` cannot be written into a container of `{C}` this way",
    note = "the types must be equal: `.cast::<{C}>()` of the result, or `.apply(Cast::<{C}>::default())` before it is written",
    note = "`.accumulate(op)` needs op: BinaryOp<{C}, {C}, Out = {C}>"
)]
pub trait Accumulate<C: Scalar, T: Scalar>: Copy + Send + Sync + 'static {
    /// The same where there is a new entry, and where there is none the old one stays.
    type Keeping: Accumulate<C, T>;
    /// ⊙ in CUDA; `None` without an accumulator.
    const TEXT: Option<OperatorText>;
    /// The entry of Z, where it has one.
    fn combine(old: Option<C>, new: Option<T>) -> Option<C>;
    /// The result itself, where it replaces everything.
    #[doc(hidden)]
    fn adopt(t: Owned<T>) -> Result<Owned<C>, Owned<T>>;
}
impl<T: Scalar> Accumulate<T, T> for Overwrite {
    type Keeping = With<Second>;
    const TEXT: Option<OperatorText> = None;
    #[inline(always)]
    fn combine(_: Option<T>, new: Option<T>) -> Option<T> {
        new
    }
    fn adopt(t: Owned<T>) -> Result<Owned<T>, Owned<T>> {
        Ok(t)
    }
}
impl<C: Scalar, F: BinaryOp<C, C, Out = C>> Accumulate<C, C> for With<F> {
    type Keeping = Self;
    const TEXT: Option<OperatorText> = Some(F::TEXT);
    #[inline(always)]
    fn combine(old: Option<C>, new: Option<C>) -> Option<C> {
        match (old, new) {
            (Some(c), Some(t)) => Some(F::apply(c, t)),
            (c, t) => c.or(t),
        }
    }
    fn adopt(t: Owned<C>) -> Result<Owned<C>, Owned<C>> {
        Err(t)
    }
}
