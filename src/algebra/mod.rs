//! Scalars, operators, monoids, semirings: zero-sized types, resolved at compile time.
pub mod cast;
mod define;
pub mod operator;
pub mod portable;
pub mod scalar;
pub mod semiring;

pub use cast::Cast;
pub use operator::*;
pub use oplus_codegen::SemiringText;
pub use oplus_codegen::text::{Atomic, OperatorText, Reads, ScalarText, Terminal};
pub use scalar::{Number, Scalar, Truth, finite_bounds};
pub use semiring::*;
