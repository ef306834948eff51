//! Conversion between scalar types, as a unary operator.
use super::operator::UnaryOp;
use super::scalar::{Arithmetic, Scalar, Truth};
use oplus_codegen::text::OperatorText;
use std::marker::PhantomData;

/// x as a `U`, by Rust's `as`: integers modulo 2ⁿ, floats towards zero and saturating, NaN to 0; bool is 0 or 1, and
/// anything but 0 is `true` (NaN too).
#[derive(Clone, Copy, Debug)]
pub struct Cast<U>(PhantomData<U>);
impl<U> Default for Cast<U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

macro_rules! from_number { ($u:ident: $($t:ident)*) => {$(
    impl UnaryOp<$t> for Cast<$u> {
        type Out = $u;
        const TEXT: OperatorText = OperatorText { parameters: &["x"], expression: concat!("to_", stringify!($u), "(x)") };
        #[inline(always)]
        fn apply(x: $t) -> $u { x as $u }
    }
)*} }
macro_rules! casts { ($($u:ident)*) => {$(
    from_number!($u: u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);
    impl UnaryOp<bool> for Cast<$u> {
        type Out = $u;
        const TEXT: OperatorText = OperatorText { parameters: &["x"], expression: concat!("to_", stringify!($u), "(x)") };
        #[inline(always)]
        fn apply(x: bool) -> $u { if x { <$u as Arithmetic>::ONE } else { <$u as Arithmetic>::ZERO } }
    }
)*} }
casts!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

impl<T: Scalar + Truth> UnaryOp<T> for Cast<bool> {
    type Out = bool;
    const TEXT: OperatorText = OperatorText { parameters: &["x"], expression: "truth(x)" };
    #[inline(always)]
    fn apply(x: T) -> bool {
        x.truth()
    }
}
