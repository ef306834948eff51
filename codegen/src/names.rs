//! Names that are free in Rust and taken in CUDA: a user's parameters, fields and structs may be called so.

/// Words of C++ that Rust does not keep to itself, and names that the text of a kernel has where a user's may stand.
#[rustfmt::skip]
const TAKEN: &[&str] = &[
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "case", "catch", "char", "char16_t", "char32_t", "char8_t",
    "class", "co_await", "co_return", "co_yield", "compl", "concept", "const_cast", "consteval", "constexpr", "constinit", "decltype",
    "default", "delete", "double", "dynamic_cast", "explicit", "export", "float", "friend", "goto", "inline", "int", "linux", "long", "mutable",
    "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
    "reinterpret_cast", "requires", "short", "signed", "sizeof", "static_assert", "static_cast", "switch", "template", "this", "thread_local",
    "throw", "typedef", "typeid", "typename", "typeof", "union", "unix", "unsigned", "using", "void", "volatile", "wchar_t", "xor", "xor_eq",
    "NULL", "NOMINMAX", "STD", "THROWBADALLOC", "alloca", "assert", "va_arg", "va_copy", "va_end", "va_start", "warpSize",
    "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64", "c32", "c64", "f16", "bf16", "f32_bits", "f64_bits", "make",
];
/// Names that the functions of a kernel have for their types: no struct is called so there, nor by a name that begins with a small letter,
/// as namespaces and functions do.
const TYPES: &[&str] = &["A", "B", "C", "D", "E"];

const fn is(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
const fn among(name: &str, names: &[&str]) -> bool {
    let mut i = 0;
    while i < names.len() && !is(name.as_bytes(), names[i].as_bytes()) {
        i += 1;
    }
    i < names.len()
}
const fn raw(name: &str) -> bool {
    matches!(name.as_bytes(), [b'r', b'#', ..])
}
/// Whether it is one that C++ keeps, begins as CUDA's macros do, or as names that are made here.
const fn reserved(name: &str) -> bool {
    matches!(
        name.as_bytes(),
        [b'_', b'_' | b'A'..=b'Z', ..]
            | [b'N', b'V', b'_', ..]
            | [b'C', b'U', b'_', ..]
            | [b'C', b'U', b'D', b'A', b'_' | b'R', ..]
            | [b'c', b'u', b'd', b'a', b'A'..=b'Z', ..]
            | [b'o', b'p', b'l', b'u', b's', b'_', ..]
    )
}

const fn is_taken(name: &str) -> bool {
    raw(name) || reserved(name) || among(name, TAKEN)
}
const fn bare(name: &str) -> &str {
    if raw(name) { name.split_at(2).1 } else { name }
}

/// What a parameter or field is called in CUDA, in two parts.
#[must_use]
pub const fn variable(name: &str) -> [&str; 2] {
    [if is_taken(name) { "oplus_" } else { "" }, bare(name)]
}
/// What a struct is called, which no field that is taken is.
#[must_use]
pub const fn structure(name: &str) -> [&str; 2] {
    let large = matches!(name.as_bytes(), [b'A'..=b'Z', ..]);
    [if !large || is_taken(name) || among(name, TYPES) { "Oplus_" } else { "" }, bare(name)]
}
/// Whether a field of a struct would be called as the struct is.
#[must_use]
pub const fn clash(of: &str, field: &str) -> bool {
    let [[before, of], [sign, field]] = [structure(of), variable(field)];
    is(before.as_bytes(), sign.as_bytes()) && is(of.as_bytes(), field.as_bytes())
}
/// Whether what is written as a struct's name is called this in CUDA.
#[must_use]
pub const fn is_called(written: &str, name: &str) -> bool {
    let [before, bare] = structure(written);
    match name.split_at_checked(before.len()) {
        Some((start, end)) => is(start.as_bytes(), before.as_bytes()) && is(end.as_bytes(), bare.as_bytes()),
        None => false,
    }
}

/// The length of texts, for [`joined`].
#[must_use]
pub const fn length(texts: &[[&str; 2]]) -> usize {
    let (mut all, mut i) = (0, 0);
    while i < texts.len() {
        all += texts[i][0].len() + texts[i][1].len();
        i += 1;
    }
    all
}
/// Texts put together, of N bytes.
#[must_use]
pub const fn joined<const N: usize>(texts: &[[&str; 2]]) -> [u8; N] {
    let (mut out, mut n, mut i) = ([0; N], 0, 0);
    while i < 2 * texts.len() {
        let text = texts[i / 2][i % 2].as_bytes();
        out.split_at_mut(n).1.split_at_mut(text.len()).0.copy_from_slice(text);
        n += text.len();
        i += 1;
    }
    out
}
/// The text of such bytes.
#[must_use]
pub const fn text(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}
/// What each item of a list has behind it only stands between them.
#[must_use]
pub const fn list(text: &str) -> &str {
    match text.len().checked_sub(", ".len()) {
        Some(end) => text.split_at(end).0,
        None => text,
    }
}
