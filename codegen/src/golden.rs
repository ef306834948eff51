//! The built-in specialisations that are checked in under `kernels/generated/`, to read and to compare against.
use crate::catalog::Template;
use crate::error::Error;
use crate::literal;
use crate::spec::{SemiringText, Spec};
use crate::text::{Atomic, OperatorText, Reads, ScalarText, Terminal};

/// A scalar that CUDA knows under its Rust name.
#[must_use]
pub const fn built_in(name: &'static str, size: usize) -> ScalarText {
    ScalarText { name, definition: "", size }
}

const XY: &[&str] = &["x", "y"];
const BOTH: Reads = Reads { a: true, b: true, position: false, flipped: false };

fn uniform(name: &str, scalar: ScalarText, add: &'static str, atomic: Atomic, multiply: &'static str) -> SemiringText {
    SemiringText {
        name: name.to_string(),
        a: scalar,
        b: scalar,
        c: scalar,
        add: OperatorText { parameters: XY, expression: add },
        atomic,
        multiply: OperatorText { parameters: XY, expression: multiply },
        reads: BOTH,
        identity: String::new(),
        terminal: Terminal::Never,
    }
}

/// (+, ×), (min, +) in both floats, and (∨, ∧).
#[must_use]
pub fn semirings() -> Vec<SemiringText> {
    let (f32, f64) = (built_in("f32", 4), built_in("f64", 8));
    let plus = |scalar, zero| SemiringText {
        identity: zero,
        ..uniform("plus_times", scalar, "add(x, y)", Atomic::Add, "mul(x, y)")
    };
    let min = |scalar, infinity, terminal| SemiringText {
        identity: infinity,
        terminal: Terminal::Value(terminal),
        ..uniform("min_plus", scalar, "min(x, y)", Atomic::Min, "add(x, y)")
    };
    vec![
        plus(f64, literal::f64(0.0)),
        plus(f32, literal::f32(0.0)),
        min(f64, literal::f64(f64::INFINITY), literal::f64(f64::NEG_INFINITY)),
        min(f32, literal::f32(f32::INFINITY), literal::f32(f32::NEG_INFINITY)),
        SemiringText {
            identity: literal::bool(false),
            terminal: Terminal::Value(literal::bool(true)),
            ..uniform("lor_land", built_in("bool", 1), "x || y", Atomic::Or, "x && y")
        },
    ]
}

/// Paths under `kernels/generated/` and the texts that belong there.
///
/// # Errors
/// None for the built-in semirings, unless a template is broken.
pub fn files() -> Result<Vec<(String, String)>, Error> {
    let mut files = Vec::new();
    for semiring in semirings() {
        for template in Template::ALL.iter().filter(|t| t.needs_semiring() && t.functions().is_empty()) {
            let path = format!("{}_{}/{}.cu", semiring.name, semiring.c.name, template.name());
            files.push((path, Spec::new(*template, 90).semiring(semiring.clone()).source()?));
        }
    }
    for template in
        Template::ALL.iter().filter(|t| !t.needs_semiring() && t.functions().is_empty() && t.types().is_empty())
    {
        files.push((format!("{}.cu", template.name()), Spec::new(*template, 90).source()?));
    }
    Ok(files)
}
