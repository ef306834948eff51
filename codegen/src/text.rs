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

/// Which inputs a multiply looks at: value-free and positional kernels are chosen by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reads {
    /// The left operand's value.
    pub a: bool,
    /// The right operand's value.
    pub b: bool,
    /// The position (i, k, j) of the product.
    pub position: bool,
    /// The operands were exchanged: row and column of the position are to be exchanged as well.
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

/// The monoid's native-atomic kind: which hardware atomic does ⊕, where the type has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Atomic {
    /// None: a compare-and-swap loop.
    #[default]
    None,
    /// x + y.
    Add,
    /// min(x, y).
    Min,
    /// max(x, y).
    Max,
    /// x ∨ y.
    Or,
    /// x ∧ y.
    And,
    /// x ⊻ y.
    Xor,
    /// The first one stays.
    First,
}

/// All the generator needs to know of a semiring over given scalars.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SemiringText {
    /// For people: `MinPlus`.
    pub name: String,
    /// The left operand's scalar.
    pub a: ScalarText,
    /// The right operand's scalar.
    pub b: ScalarText,
    /// The scalar of products and sums.
    pub c: ScalarText,
    /// ⊕: two parameters.
    pub add: OperatorText,
    /// Which hardware atomic does ⊕.
    pub atomic: Atomic,
    /// ⊗: three parameters, a, b, at.
    pub multiply: OperatorText,
    /// What ⊗ looks at.
    pub reads: Reads,
    /// Bit-exact literal of ⊕'s identity.
    pub identity: String,
    /// When a running sum can stop.
    pub terminal: Terminal<String>,
}
