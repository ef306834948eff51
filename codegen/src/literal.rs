//! Rust's expressions in CUDA: bit-exact literals of scalars, `!`, and names.
use crate::names::{structure, variable};
use std::borrow::Cow;

/// Rust's literals with a type (`1u8`, `0.5f32`) by their bits, `!x` as a function, as C++'s `!` is of truth alone, and what is taken in
/// CUDA by another name. All else stays.
#[must_use]
pub fn translated(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut out, mut copied, mut i) = (String::new(), 0, 0);
    while i < bytes.len() {
        let (end, translation) = match bytes[i] {
            b'!' if bytes.get(i + 1) != Some(&b'=') => {
                let end = operand(bytes, i + 1);
                (end, Some(format!("::oplus::bit_not({})", translated(text[i + 1..end].trim_start()))))
            }
            c if is_word(c) => {
                let end = word(bytes, i);
                let word = if c.is_ascii_digit() { typed(&text[i..end]) } else { renamed(text, i, end) };
                (end, word)
            }
            _ => (i + 1, None),
        };
        if let Some(translation) = translation {
            out += &text[copied..i];
            out += &translation;
            copied = end;
        }
        i = end;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out += &text[copied..];
    Cow::Owned(out)
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_'
}

/// A user's name that is taken in CUDA: of a parameter, a field, or a struct before its `::make`.
fn renamed(text: &str, start: usize, end: usize) -> Option<String> {
    let (before, name, after) = (text[..start].trim_end(), &text[start..end], text[end..].trim_start());
    let argument = before.ends_with('<') && after.starts_with('>');
    if before.ends_with("::") || after.starts_with('(') || argument {
        return None;
    }
    let new = match after.strip_prefix("::") {
        Some(path) if path.trim_start().starts_with("make") => structure(name),
        Some(_) => return None,
        None => variable(name),
    };
    (!new[0].is_empty()).then(|| new.concat())
}

/// The end of the name or number that begins here.
fn word(text: &[u8], start: usize) -> usize {
    if let [b'r', b'#', c, ..] = text[start..]
        && is_word(c)
    {
        return word(text, start + 2);
    }
    let number = text[start].is_ascii_digit();
    let decimal = !(text[start] == b'0' && text.get(start + 1).is_some_and(|c| b"xbo".contains(c)));
    let mut i = start;
    while i < text.len() {
        let fraction = text[i] == b'.' && text.get(i + 1).is_some_and(u8::is_ascii_digit);
        let exponent = b"+-".contains(&text[i]) && b"eE".contains(&text[i - 1]);
        if !(is_word(text[i]) || number && decimal && (fraction || exponent)) {
            break;
        }
        i += 1;
    }
    i
}

/// The end of what a `!` is of: more of them, then a value with its calls and fields.
fn operand(text: &[u8], start: usize) -> usize {
    let skip = |from: usize, c: fn(&u8) -> bool| from + text[from..].iter().take_while(|x| c(x)).count();
    let blank = |from| skip(from, u8::is_ascii_whitespace);
    let value = |from: usize| match text.get(from) {
        Some(b'(') => closing(text, from),
        Some(&c) if is_word(c) => word(text, from),
        _ => from,
    };
    let mut end = value(skip(start, |c| c.is_ascii_whitespace() || *c == b'!'));
    loop {
        let next = blank(end);
        end = match text[next..] {
            [b'(', ..] => closing(text, next),
            [b'.', ..] => value(blank(next + 1)),
            [b':', b':', ..] => value(blank(next + 2)),
            _ => return end,
        }
    }
}

/// Behind the parenthesis that closes the one here.
fn closing(text: &[u8], open: usize) -> usize {
    let mut depth = 0;
    for (i, c) in text.iter().enumerate().skip(open) {
        match c {
            b'(' => depth += 1,
            b')' if depth == 1 => return i + 1,
            b')' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// A number with its type.
fn typed(text: &str) -> Option<String> {
    let digits = text.replace('_', "");
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, digits.as_str()),
    };
    macro_rules! integers { ($($t:ident)*) => {$(
        if let Some(digits) = digits.strip_suffix(stringify!($t)) {
            return $t::from_str_radix(digits, radix).ok().map($t);
        }
    )*} }
    integers!(u8 u16 u32 u64 i8 i16 i32 i64);
    match digits {
        _ if radix != 10 => None,
        d if d.ends_with("f32") => d.strip_suffix("f32")?.parse().ok().map(f32),
        d => d.strip_suffix("f64")?.parse().ok().map(f64),
    }
}

#[test]
fn literals_with_a_type_are_written_by_their_bits() {
    let is = |rust: &str, cuda: &str| assert_eq!(translated(rust), cuda, "{rust}");
    is("add(x, 1u8)", "add(x, (u8)0x1u)");
    is("select(x<1_000i64,0xffu64,0b101u16)", "select(x<(i64)0x3e8ull,(u64)0xffull,(u16)0x5u)");
    is("mul(x1f32, 1.5e-3f32)", "mul(x1f32, f32_bits(0x3ac49ba6u))");
    is("1e3f64", "f64_bits(0x408f400000000000ull)");
    is("2f64", "f64_bits(0x4000000000000000ull)");
    // What is called as a number is none.
    for text in ["add(inf_f32, y)", "nan_f64", "infinity_f32", "_1u8", "x._0i64", "r#inf_f32"] {
        is(text, &text.replace("r#", "oplus_"));
    }
    // What is CUDA already.
    for text in ["at.i + 1", "f32_bits(0x3f800000u)", "f64_bits(0x4000000000000000ull)", "x.f == to_u8(y)", "0x1f32"] {
        is(text, text);
    }
}

#[test]
fn what_is_taken_has_another_name() {
    let is = |rust: &str, cuda: &str| assert_eq!(translated(rust), cuda, "{rust}");
    is("select(old<new,new.long,old . int)", "select(old<oplus_new,oplus_new.oplus_long,old . oplus_int)");
    is("long::make(!x.r#type, r#in).f32", "Oplus_long::make(::oplus::bit_not(x.oplus_type), oplus_in).oplus_f32");
    is("A::make(A.A, u8)", "Oplus_A::make(A.A, oplus_u8)");
    is(
        "user::make(CUDART_VERSION, x.NULL, _x.__CUDACC__)",
        "Oplus_user::make(oplus_CUDART_VERSION, x.oplus_NULL, _x.oplus___CUDACC__)",
    );
    is("oplus_x(x.oplus_x, cudaStreamLegacy)", "oplus_x(x.oplus_oplus_x, oplus_cudaStreamLegacy)");
    for text in [
        "cuda_cores<NVALS",
        "::oplus::max(x, user::y)",
        "one<C>()",
        "zero<u64>()",
        "bool(x)",
        "Hop::make(x.news, anew, t::int)",
        "x.i<y.k",
    ] {
        is(text, text);
    }
}

#[test]
fn not_is_a_function() {
    let is = |rust: &str, cuda: &str| assert_eq!(translated(rust), cuda.replace("not(", "::oplus::bit_not("), "{rust}");
    is("!x", "not(x)");
    is("!!x&&y", "not(not(x))&&y");
    is("! ! x == y", "not(not(x)) == y");
    is("!(a<b)||!f(x, !y).z<!x.field", "not((a<b))||not(f(x, not(y)).z)<not(x.field)");
    is("!Hop::make(!0u8, x != !y) .on!=!1u8", "not(Hop::make(not((u8)0x0u), x != not(y)) .on)!=not((u8)0x1u)");
    is("x!=y", "x!=y");
    // What is no expression does not stop it.
    for text in ["!", "!(", "!x.", "!x::", "!f(x", "! !", "!)"] {
        assert!(translated(text).starts_with("::oplus::bit_not("), "{text}");
    }
}

/// A `bool`.
#[must_use]
pub fn bool(x: bool) -> String {
    x.to_string()
}
/// An `f32`, by its bits.
#[must_use]
pub fn f32(x: f32) -> String {
    format!("f32_bits(0x{:08x}u)", x.to_bits())
}
/// An `f64`, by its bits.
#[must_use]
pub fn f64(x: f64) -> String {
    format!("f64_bits(0x{:016x}ull)", x.to_bits())
}
macro_rules! integers {
    ($($(#[$doc:meta])* $t:ident)*) => { $(
        $(#[$doc])*
        #[must_use]
        pub fn $t(x: $t) -> String {
            // By way of the two's complement: C++ has no literal for the smallest signed number.
            format!("({})0x{:x}{}", stringify!($t), x, if size_of::<$t>() == 8 { "ull" } else { "u" })
        }
    )* };
}
integers! {
    /// A `u8`.
    u8
    /// A `u16`.
    u16
    /// A `u32`.
    u32
    /// A `u64`.
    u64
    /// An `i8`.
    i8
    /// An `i16`.
    i16
    /// An `i32`.
    i32
    /// An `i64`.
    i64
}
