//! Bit-exact CUDA literals of scalars.
use std::borrow::Cow;

/// Rust's literals with a type (`1u8`, `0.5f32`) by their bits; all else stays.
#[must_use]
pub fn translated(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let word = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
    let (mut out, mut copied, mut i) = (String::new(), 0, 0);
    while i < bytes.len() {
        if !word(bytes[i]) {
            i += 1;
            continue;
        }
        let start = i;
        let number = bytes[i].is_ascii_digit();
        let decimal = !(bytes[i] == b'0' && bytes.get(i + 1).is_some_and(|c| b"xbo".contains(c)));
        while i < bytes.len() {
            let fraction = bytes[i] == b'.' && bytes.get(i + 1).is_some_and(u8::is_ascii_digit);
            let exponent = b"+-".contains(&bytes[i]) && b"eE".contains(&bytes[i - 1]);
            if !(word(bytes[i]) || number && decimal && (fraction || exponent)) {
                break;
            }
            i += 1;
        }
        if let Some(literal) = number.then(|| typed(&text[start..i])).flatten() {
            out += &text[copied..start];
            out += &literal;
            copied = i;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out += &text[copied..];
    Cow::Owned(out)
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
    // What is CUDA already.
    for text in ["at.i + 1", "f32_bits(0x3f800000u)", "f64_bits(0x4000000000000000ull)", "x.f32 == to_u8(y)", "0x1f32"]
    {
        is(text, text);
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
