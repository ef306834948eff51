//! The generated part of a kernel: user scalars, `struct Semiring`, functions, flags, numbers; and tuning.
use crate::error::Error;
use crate::key::flat;
use crate::literal::translated;
use crate::names::variable;
use crate::spec::{FunctionText, SemiringText, Spec};
use crate::text::{Atomic, OperatorText, ScalarText, Terminal};
use crate::tuning::Tuning;
use std::fmt::Write as _;

const BUILT_IN: [&str; 15] =
    ["bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64", "c32", "c64", "f16", "bf16"];

/// Files for scalars and functions that few kernels have, and the names by which these come in.
const EXTENSIONS: [(&str, &[&str]); 4] = [
    ("complex.cuh", &["c32", "c64", "complex", "to_c32", "to_c64"]),
    ("half.cuh", &["f16", "bf16", "to_f16", "to_bf16"]),
    ("bits.cuh", &["bit_get", "bit_set", "bit_clear", "bit_shift"]),
    ("math.cuh", MATH),
];

#[rustfmt::skip]
const MATH: &[&str] = &[
    "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "ceil", "floor", "round", "trunc", "signum", "cbrt", "erf", "erfc", "lgamma",
    "tgamma", "is_inf", "is_finite", "frexpx", "frexpe", "pow", "atan2", "hypot", "fmod", "remainder", "copysign", "ldexp",
    "is_eq", "is_ne", "is_lt", "is_le", "is_gt", "is_ge", "is_lor", "is_land", "is_lxor", "is_zero",
];

/// The files a preamble needs besides `portable.cuh`.
pub(crate) fn extensions(preamble: &str) -> impl Iterator<Item = &'static str> {
    let words = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let has = move |names: &[&str]| preamble.split(words).any(|word| names.contains(&word));
    EXTENSIONS.into_iter().filter(move |(_, names)| has(names)).map(|(file, _)| file)
}

fn identifier(of: &'static str, name: &str) -> Result<(), Error> {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Ok(())
    } else {
        Err(Error::Name { of, name: name.to_string() })
    }
}

/// A scalar's name as seen from `namespace oplus`.
fn type_name(scalar: &ScalarText) -> String {
    if scalar.definition.is_empty() { scalar.name.to_string() } else { format!("user::{}", scalar.name) }
}

/// Every scalar of the specification, in the order of first use.
fn scalars(spec: &Spec) -> Vec<ScalarText> {
    let semiring = spec.semiring.iter().flat_map(|s| [s.a, s.b, s.c, s.written()]);
    let functions = spec.functions.iter().flat_map(|f| f.parameters.iter().copied().chain([f.output]));
    semiring.chain(functions).chain(spec.types.iter().map(|t| t.1)).collect()
}

fn definitions(spec: &Spec) -> Result<String, Error> {
    let mut seen: Vec<(&str, String)> = Vec::new();
    let mut text = String::new();
    for s in scalars(spec) {
        identifier("scalar", s.name)?;
        let built_in = BUILT_IN.contains(&s.name);
        let definition = flat(s.definition);
        if built_in != definition.is_empty() {
            return Err(Error::Name { of: "scalar", name: s.name.to_string() });
        }
        match seen.iter().find(|d| d.0 == s.name) {
            Some(d) if d.1 == definition => continue,
            Some(_) => return Err(Error::ScalarConflict { name: s.name.to_string() }),
            None => seen.push((s.name, definition.clone())),
        }
        if !built_in {
            let _ = writeln!(text, "{definition}");
            let _ = writeln!(text, "static_assert(sizeof({}) == {}, \"layout differs from Rust\");", s.name, s.size);
        }
    }
    Ok(text)
}

/// A free function in a namespace of its own: type names and parameters cannot meet anything else's.
fn function(
    name: &str,
    inputs: &[&ScalarText],
    output: &ScalarText,
    op: &OperatorText,
    at: bool,
) -> Result<String, Error> {
    let expected = inputs.len() + usize::from(at);
    let found = op.parameters.len();
    if found != expected && !(at && found == inputs.len()) {
        return Err(Error::Parameters { function: name.to_string(), found, expected });
    }
    let mut text = format!("namespace {name} {{\n");
    for (alias, input) in ["A", "B", "D", "E"].iter().zip(inputs) {
        let _ = writeln!(text, "typedef {} {alias};", type_name(input));
    }
    let _ = writeln!(text, "typedef {} C;", type_name(output));
    let mut parameters = Vec::new();
    for i in 0..expected {
        let parameter = variable(op.parameters.get(i).copied().unwrap_or("_")).concat();
        identifier("parameter", &parameter)?;
        // A user's scalar may be called At too.
        let r#type = inputs.get(i).map_or_else(|| "::oplus::At".to_string(), |s| type_name(s));
        parameters.push(if parameter == "_" { r#type } else { format!("{type} {parameter}") });
    }
    let _ = writeln!(
        text,
        "__device__ inline C apply({}) {{ return {}; }}",
        parameters.join(", "),
        translated(&flat(op.expression))
    );
    text += "}\n";
    Ok(text)
}

/// Identity and terminal value, written where the user's type names are known.
fn constants(name: &str, output: &ScalarText, identity: Option<&String>, terminal: &Terminal<String>) -> String {
    let mut text = format!("namespace {name} {{\n");
    if let Some(identity) = identity {
        let _ = writeln!(text, "__device__ inline {} identity() {{ return {}; }}", type_name(output), flat(identity));
    }
    if let Terminal::Value(value) = terminal {
        let _ =
            writeln!(text, "__device__ inline {} terminal_value() {{ return {}; }}", type_name(output), flat(value));
    }
    text + "}\n"
}

/// The members that say how a monoid may be evaluated.
fn monoid_members(name: &str, output: &str, identity: bool, terminal: &Terminal<String>, atomic: Atomic) -> String {
    let atomic = format!("{atomic:?}").to_lowercase();
    let kind = match terminal {
        Terminal::Never => "never",
        Terminal::Always => "always",
        Terminal::Value(_) => "value",
    };
    let mut text = format!(
        "  static constexpr int atomic = atomic_{atomic};\n  static constexpr int terminal = terminal_{kind};\n"
    );
    if identity {
        let _ = writeln!(text, "  static __device__ {output} identity() {{ return user::{name}::identity(); }}");
    }
    let test = match terminal {
        Terminal::Never => "false".to_string(),
        Terminal::Always => "true".to_string(),
        Terminal::Value(_) => format!("same_bits(x, user::{name}::terminal_value())"),
    };
    let x = if matches!(terminal, Terminal::Value(_)) { " x" } else { "" };
    let _ = writeln!(text, "  static __device__ bool is_terminal({output}{x}) {{ return {test}; }}");
    text
}

fn semiring(s: &SemiringText) -> Result<(String, String), Error> {
    let mut bodies = function("semiring_add", &[&s.c, &s.c], &s.c, &s.add, false)?;
    bodies += &function("semiring_multiply", &[&s.a, &s.b], &s.c, &s.multiply, true)?;
    bodies += &constants("semiring_add", &s.c, Some(&s.identity), &s.terminal);
    let [a, b, c, written] = [&s.a, &s.b, &s.c, &s.written()].map(type_name);
    let mut text =
        format!("typedef {a} A;\ntypedef {b} B;\ntypedef {c} C;\ntypedef {written} Written;\n\nstruct Semiring {{\n");
    let value_free = !(s.reads.a || s.reads.b || s.reads.position);
    let keeps = matches!(s.atomic, Atomic::Min | Atomic::Max | Atomic::Or | Atomic::And | Atomic::First);
    let constant = value_free && (keeps || matches!(s.terminal, Terminal::Always));
    for (member, value) in [
        ("reads_a", s.reads.a),
        ("reads_b", s.reads.b),
        ("positional", s.reads.position),
        ("value_free", value_free),
        ("constant", constant),
    ] {
        let _ = writeln!(text, "  static constexpr bool {member} = {value};");
    }
    text += &monoid_members("semiring_add", &c, true, &s.terminal, s.atomic);
    text += "  static __device__ C add(C x, C y) { return user::semiring_add::apply(x, y); }\n";
    // Exchanged operands compute the transposed product: its row is the operator's column.
    let at = if s.reads.flipped { "At{at.j, at.k, at.i}" } else { "at" };
    let _ = writeln!(
        text,
        "  static __device__ C multiply(A a, B b, At at) {{ return user::semiring_multiply::apply(a, b, {at}); }}\n}};"
    );
    Ok((bodies, text))
}

fn function_struct(f: &FunctionText) -> Result<(String, String), Error> {
    identifier("function", f.name)?;
    let name = format!("function_{}", f.name);
    let inputs: Vec<&ScalarText> = f.parameters.iter().collect();
    let mut bodies = function(&name, &inputs, &f.output, &f.text, false)?;
    bodies += &constants(&name, &f.output, f.identity.as_ref(), &f.terminal);
    let output = type_name(&f.output);
    let mut text = format!("struct {} {{\n  typedef {output} Output;\n", f.name);
    for (i, p) in f.parameters.iter().enumerate() {
        let _ = writeln!(text, "  typedef {} Input{i};", type_name(p));
    }
    text += &monoid_members(&name, &output, f.identity.is_some(), &f.terminal, f.atomic);
    let list = |with: bool| {
        let one = |i: usize| if with { format!("Input{i} x{i}") } else { format!("x{i}") };
        (0..inputs.len()).map(one).collect::<Vec<_>>().join(", ")
    };
    let _ = writeln!(
        text,
        "  static __device__ Output apply({}) {{ return user::{name}::apply({}); }}\n}};",
        list(true),
        list(false)
    );
    Ok((bodies, text))
}

/// The generated text that follows `portable.cuh`.
pub(crate) fn preamble(spec: &Spec) -> Result<String, Error> {
    let template = spec.template;
    let unknown = |what: String| Error::Unknown { template: template.name(), what };
    let missing = |what: String| Error::Missing { template: template.name(), what };
    let mut user = definitions(spec)?;
    let mut text = String::new();
    match (&spec.semiring, template.needs_semiring()) {
        (Some(s), true) => {
            let (bodies, members) = semiring(s)?;
            user += &bodies;
            text += &members;
        }
        (None, true) => return Err(missing("a semiring".to_string())),
        (Some(_), false) => return Err(unknown("semiring".to_string())),
        (None, false) => {}
    }
    for alias in template.types() {
        let (_, s) = spec.types.iter().find(|t| t.0 == *alias).ok_or_else(|| missing(format!("type `{alias}`")))?;
        let _ = writeln!(text, "typedef {} {alias};", type_name(s));
    }
    if let Some((alias, _)) = spec.types.iter().find(|t| !template.types().contains(&t.0)) {
        return Err(unknown(format!("type `{alias}`")));
    }
    text += "namespace function {\n";
    for name in template.functions() {
        let f = spec.functions.iter().find(|f| f.name == *name).ok_or_else(|| missing(format!("function `{name}`")))?;
        let (bodies, members) = function_struct(f)?;
        user += &bodies;
        text += &members;
    }
    if let Some(f) = spec.functions.iter().find(|f| !template.functions().contains(&f.name)) {
        return Err(unknown(format!("function `{}`", f.name)));
    }
    text += "}  // namespace function\nnamespace flag {\n";
    for name in template.flags() {
        let value = spec.flags.iter().any(|f| f.0 == *name && f.1);
        let _ = writeln!(text, "constexpr bool {name} = {value};");
    }
    if let Some((name, _)) = spec.flags.iter().find(|f| !template.flags().contains(&f.0)) {
        return Err(unknown(format!("flag `{name}`")));
    }
    text += "}  // namespace flag\nnamespace number {\n";
    for (name, default) in template.numbers() {
        let value = spec.numbers.iter().find(|n| n.0 == *name).map_or(*default, |n| n.1);
        let _ = writeln!(text, "#define OPLUS_NUMBER_{name} {value}\nconstexpr u64 {name} = {value}ull;");
    }
    if let Some((name, _)) = spec.numbers.iter().find(|n| !template.numbers().iter().any(|m| m.0 == n.0)) {
        return Err(unknown(format!("number `{name}`")));
    }
    text += "}  // namespace number\n";
    text += &spec.shared_bytes();
    Ok(format!(
        "namespace oplus {{\n\nnamespace user {{\n{user}}}  // namespace user\n\n{text}\n}}  // namespace oplus\n"
    ))
}

/// The tuning numbers that a text asks for, so that another number's change leaves it, and what was compiled of it, as it is. Names may
/// be put together by macros: `tuning::table##T` asks for all that begin like that.
pub(crate) fn tuning(architecture: u32, text: &str) -> String {
    let asked: Vec<(&str, bool)> = text
        .split("tuning::")
        .skip(1)
        .map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            (&rest[..end], rest[end..].starts_with("##"))
        })
        .collect();
    let is_asked = |name: &str| asked.iter().any(|(n, more)| if *more { name.starts_with(n) } else { name == *n });
    let mut numbers = String::new();
    for (name, value) in Tuning::of(architecture).entries().into_iter().filter(|(name, _)| is_asked(name)) {
        let _ = writeln!(numbers, "constexpr u32 {name} = {value};");
    }
    match numbers.is_empty() {
        true => numbers,
        false => format!(
            "#line 1 \"tuning\"\nnamespace oplus {{\nnamespace tuning {{\n{numbers}}}  // namespace tuning\n\n}}  // namespace oplus\n"
        ),
    }
}

#[test]
fn tuning_numbers_are_those_asked_for() {
    let text = tuning(90, "u32 x = tuning::scan_items + SIZE(tuning::table##T##_slots);");
    let has = |name: &str| text.contains(&format!("constexpr u32 {name} = "));
    assert!(has("scan_items") && has("table0_slots") && has("table4_bytes"), "{text}");
    assert!(!has("scan_u32_items") && !has("sort_items"), "{text}");
    assert_eq!(tuning(90, "nothing"), "");
}
