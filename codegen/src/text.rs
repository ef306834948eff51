//! The CUDA text of scalars and operators: what the algebra hands to the generator.

/// The CUDA side of a scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScalarText {
    /// Its name in CUDA: `f32`, `u64`, `Hop`.
    pub name: &'static str,
    /// The struct's definition; empty for built-in types.
    pub definition: &'static str,
    /// `size_of` in bytes, the same on both sides.
    pub size: usize,
}

/// One operator's CUDA text: parameter names (`_` where an input is not read) and the expression they occur in.
///
/// The expression is written with the portable functions alone (`add`, `mul`, `min`, `select`, …), which mean the same
/// in Rust and in the CUDA preamble. In it the type names `A`, `B` stand for the inputs and `C` for the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperatorText {
    /// Names of the inputs, in order.
    pub parameters: &'static [&'static str],
    /// The body.
    pub expression: &'static str,
}

impl OperatorText {
    /// Whether it looks at its n-th input. O(1).
    pub const fn reads(&self, n: usize) -> bool {
        n < self.parameters.len() && !matches!(self.parameters[n].as_bytes(), b"_")
    }
    /// Whether it gives its n-th input back as it is, where the two are of one type. O(1).
    pub fn gives_back(&self, n: usize) -> bool {
        self.parameters.get(n) == Some(&self.expression)
    }
}

/// Which inputs a multiply looks at: value-free and positional kernels are chosen by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reads {
    /// The left operand's value.
    pub a: bool,
    /// The right operand's value.
    pub b: bool,
    /// The position (i, k, j) of the product.
    pub position: bool,
    /// The operands were exchanged: row and column of the position are exchanged as well.
    pub flipped: bool,
}

/// When a running sum can stop early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Terminal<T> {
    /// It cannot.
    Never,
    /// After the first term (`Any`).
    Always,
    /// Once it has this value.
    Value(T),
}

/// The monoid as a native atomic operation, as far as it is one; the kernel decides by type whether to use it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Atomic {
    /// No native operation: a compare-and-swap loop, or exclusive ownership.
    #[default]
    None,
    /// Wrapping integer or floating sum.
    Add,
    /// Smallest value (NaN loses against a number).
    Min,
    /// Largest value (NaN loses against a number).
    Max,
    /// Bitwise or, or logical or on `bool`.
    Or,
    /// Bitwise and, or logical and on `bool`.
    And,
    /// Bitwise or logical exclusive or.
    Xor,
    /// `Any`: the term with the smallest inner index k.
    First,
}
