//! What the macros assert of an operator's or scalar's text before it comes to CUDA: constants that stop the compiler.
use oplus_codegen::names::is_called;

/// Stops the compiler at a literal without its type: 1.0 is a double in CUDA, and no function there takes a double and an f32.
pub const fn typed_literal(text: &str) {
    const TYPES: [&[u8]; 10] = [b"u8", b"u16", b"u32", b"u64", b"i8", b"i16", b"i32", b"i64", b"f32", b"f64"];
    let text = text.as_bytes();
    // In hexadecimal f32 is digits.
    let hexadecimal = text.len() > 1 && text[1] == b'x';
    let (mut typed, mut i) = (false, 0);
    while i < TYPES.len() {
        typed |= ends(text, TYPES[i]) && !(hexadecimal && TYPES[i][0] == b'f');
        i += 1;
    }
    // Behind another macro's `$x:literal`.
    let truth = matches!(text, b"true" | b"false");
    assert!(text[0] != b'-', "a negative number is neg of one, as neg(1i8): it differs in CUDA");
    assert!(
        truth || typed && text[0].is_ascii_digit(),
        "a literal says its type, as 1u8 and 0.5f32 do: it differs in CUDA"
    );
}
/// Stops the compiler at parentheses around more or less than a value: `,` is another operator in CUDA.
pub const fn one_value(text: &str) {
    let text = text.as_bytes();
    let (mut depth, mut empty, mut i) = (0usize, true, 0);
    while i < text.len() {
        match text[i] {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' => assert!(depth > 0, "no tuples, which CUDA does not have: compare field by field with && and ||"),
            _ => {}
        }
        empty &= text[i].is_ascii_whitespace();
        i += 1;
    }
    assert!(!empty, "no tuples, which CUDA does not have: () is no value there");
}
/// Stops the compiler at a parameter, field or struct whose name is none in CUDA.
pub const fn ascii_name(text: &str) {
    let (text, mut i) = (text.as_bytes(), if matches!(text.as_bytes(), [b'r', b'#', ..]) { 2 } else { 0 });
    while i < text.len() {
        let is = text[i].is_ascii_alphanumeric() || text[i] == b'_';
        assert!(
            is,
            "a name of a parameter, a field or a struct is of ASCII letters, digits and `_` alone: CUDA knows no other"
        );
        i += 1;
    }
}
/// Stops the compiler at a struct that is none of these, which an operator takes and gives: no other is defined in CUDA.
pub const fn defined_structs(expression: &str, scalars: &[&str]) {
    let text = expression.as_bytes();
    let mut i = 0;
    while i + 1 < text.len() {
        if text[i] == b':' && text[i + 1] == b':' {
            let mut end = i;
            while end > 0 && text[end - 1].is_ascii_whitespace() {
                end -= 1;
            }
            let mut start = end;
            while start > 0 && (text[start - 1].is_ascii_alphanumeric() || matches!(text[start - 1], b'_' | b'#')) {
                start -= 1;
            }
            let written = expression.split_at(end).0.split_at(start).1;
            let (mut known, mut n) = (false, 0);
            while n < scalars.len() {
                known |= is_called(written, scalars[n]);
                n += 1;
            }
            assert!(
                known,
                "Type::make(…) is of a type that the operator takes or gives: CUDA has the definitions of these alone"
            );
            i += 1;
        }
        i += 1;
    }
}
/// Stops the compiler at an alias of a scalar: CUDA knows its name alone.
pub const fn own_name(written: &str, name: &str) {
    let same = is_called(written, name);
    assert!(same, "a scalar is called by its own name, not by an alias: CUDA does not know that");
}
const fn ends(text: &[u8], with: &[u8]) -> bool {
    let mut i = 0;
    while i < with.len() && text.len() > with.len() && text[text.len() - with.len() + i] == with[i] {
        i += 1;
    }
    i == with.len()
}
