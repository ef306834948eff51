//! What a kernel is for, as plain data.
use crate::catalog::Template;
use crate::launch::BlockShape;
use crate::shared::Shared;
use crate::text::{Atomic, OperatorText, Reads, ScalarText, Terminal};

/// A semiring's CUDA side: C += A ⊗ B over ⊕.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SemiringText {
    /// For keys and logs: `plus_times`.
    pub name: String,
    /// Scalar of the left operand.
    pub a: ScalarText,
    /// Scalar of the right operand.
    pub b: ScalarText,
    /// Scalar of the result.
    pub c: ScalarText,
    /// What sums are written as, where they are numbers of products and the result is of another scalar.
    pub counted: Option<ScalarText>,
    /// ⊕ : C × C → C.
    pub add: OperatorText,
    /// ⊕ as a native atomic operation.
    pub atomic: Atomic,
    /// ⊗ : A × B × At → C; the third parameter, the position (i, k, j), may be left out.
    pub multiply: OperatorText,
    /// What ⊗ looks at.
    pub reads: Reads,
    /// Identity of ⊕, a bit-exact CUDA literal (see [`crate::literal`]).
    pub identity: String,
    /// When a sum can stop early; a value is a bit-exact CUDA literal.
    pub terminal: Terminal<String>,
}

/// An operator of an element-wise template, and monoids where `identity` is set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionText {
    /// Its part in the template: "op", "accumulate", "predicate".
    pub name: &'static str,
    /// Types of the inputs, in order. The text's type names A, B, D, E mean the 1st to 4th input, C the output.
    pub parameters: Vec<ScalarText>,
    /// Type of the result.
    pub output: ScalarText,
    /// The body.
    pub text: OperatorText,
    /// Identity, where the function is a monoid: a bit-exact CUDA literal.
    pub identity: Option<String>,
    /// When a reduction can stop early.
    pub terminal: Terminal<String>,
    /// The function as a native atomic operation.
    pub atomic: Atomic,
}

impl FunctionText {
    /// A function that is no monoid.
    #[must_use]
    pub fn new(name: &'static str, parameters: Vec<ScalarText>, output: ScalarText, text: OperatorText) -> Self {
        Self { name, parameters, output, text, identity: None, terminal: Terminal::Never, atomic: Atomic::None }
    }
    /// Makes it a monoid.
    #[must_use]
    pub fn monoid(mut self, identity: String, terminal: Terminal<String>, atomic: Atomic) -> Self {
        self.identity = Some(identity);
        self.terminal = terminal;
        self.atomic = atomic;
        self
    }
}

/// One specialised kernel file: a template and all that it is specialised for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spec {
    /// Which template.
    pub template: Template,
    /// Compute capability the tuning numbers are for: 75, 80, 90, 100, …
    pub architecture: u32,
    /// The semiring, for templates over one.
    pub semiring: Option<Shared<SemiringText>>,
    /// Further operators.
    pub functions: Vec<Shared<FunctionText>>,
    /// Further type names the template uses.
    pub types: Vec<(&'static str, ScalarText)>,
    /// Variants; a flag of the template that is left out is false.
    pub flags: Vec<(&'static str, bool)>,
    /// Numbers; one of the template that is left out has its default.
    pub numbers: Vec<(&'static str, u64)>,
    /// The one kernel of the template that is wanted; all if none is named.
    pub only: Option<String>,
}

impl Spec {
    /// A template with nothing filled in.
    #[must_use]
    #[inline]
    pub fn new(template: Template, architecture: u32) -> Self {
        let (functions, types, flags, numbers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { template, architecture, semiring: None, functions, types, flags, numbers, only: None }
    }
    /// Sets the semiring.
    #[must_use]
    #[inline]
    pub fn semiring(mut self, semiring: impl Into<Shared<SemiringText>>) -> Self {
        self.semiring = Some(semiring.into());
        self
    }
    /// Adds an operator.
    #[must_use]
    #[inline]
    pub fn function(mut self, function: impl Into<Shared<FunctionText>>) -> Self {
        self.functions.push(function.into());
        self
    }
    /// Adds a type name.
    #[must_use]
    #[inline]
    pub fn scalar(mut self, alias: &'static str, scalar: ScalarText) -> Self {
        self.types.push((alias, scalar));
        self
    }
    /// Sets a flag.
    #[must_use]
    #[inline]
    pub fn flag(mut self, name: &'static str, value: bool) -> Self {
        self.flags.push((name, value));
        self
    }
    /// Sets the numbers of a block's shape.
    #[must_use]
    #[inline]
    pub fn block(self, shape: BlockShape) -> Self {
        let spec = self.number("width", shape.width.into()).number("threads", shape.threads.into());
        if spec.semiring.is_some() { spec.number("bytes", shape.sums.into()) } else { spec }
    }
    /// Leaves all kernels out but this one, which the template writes out.
    #[must_use]
    #[inline]
    pub fn only(mut self, kernel: impl Into<String>) -> Self {
        self.only = Some(kernel.into());
        self
    }
    /// Sets a number.
    #[must_use]
    #[inline]
    pub fn number(mut self, name: &'static str, value: u64) -> Self {
        self.numbers.push((name, value));
        self
    }
}
