//! Scalars, operators, monoids, semirings: zero-sized types, resolved at compile time.
pub mod bits;
pub mod cast;
mod checked;
pub mod complex;
mod define;
pub mod elementary;
#[cfg(feature = "half")]
pub(crate) mod float16;
pub mod operator;
pub mod portable;
pub mod scalar;
pub mod semiring;
pub(crate) mod texts;

#[cfg(feature = "half")]
pub use ::half::{bf16, f16};
pub use bits::Bits;
pub use cast::Cast;
#[doc(hidden)]
pub use checked::{ascii_name, defined_structs, one_value, own_name, typed_literal};
pub use complex::{ComplexNumber, Part, c32, c64};
pub use elementary::{Elementary, Floating, Power};
pub use operator::*;
pub use oplus_codegen::SemiringText;
#[doc(hidden)]
pub use oplus_codegen::names;
pub use oplus_codegen::text::{Atomic, OperatorText, Reads, ScalarText, Terminal};
pub use scalar::{Arithmetic, Comparable, Flag, Number, Ordered, Ranked, Scalar, Truth, finite_bounds};
pub use semiring::*;
