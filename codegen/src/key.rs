//! The name of a specialised kernel: readable, and unique by a hash of everything it depends on.
use crate::spec::Spec;
use std::fmt::Write as _;

/// White space collapsed: `stringify!` spaces its tokens differently from release to release.
/// Blanks survive only between two words; Rust's `::<` (turbofish) becomes C++'s `<`.
pub(crate) fn flat(text: &str) -> String {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    for c in text.chars() {
        if c.is_whitespace() {
            blank = true;
            continue;
        }
        let glued = |last: char| (word(last) && word(c)) || ("&|<>=!-+".contains(last) && last == c);
        if blank && out.chars().last().is_some_and(glued) {
            out.push(' ');
        }
        blank = false;
        // Rust's lists may end so, C++'s may not.
        if c == ')' && out.ends_with(',') {
            out.pop();
        }
        out.push(c);
    }
    out.replace("::<", "<")
}

/// 128 bits of FNV-1a.
pub(crate) fn hash(text: &str) -> u128 {
    text.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |h, b| {
        (h ^ u128::from(b)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}

impl Spec {
    /// A name for the kernel: template, semiring, types and flags in words, then a hash of all the texts.
    ///
    /// Equal specifications have equal keys, whatever the white space in their expressions.
    #[must_use]
    pub fn key(&self) -> String {
        let mut name = self.template.name().to_string();
        if let Some(s) = &self.semiring {
            let _ = write!(name, "-{}-{}_{}_{}", s.name, s.a.name, s.b.name, s.written().name);
        }
        for (_, scalar) in &self.types {
            let _ = write!(name, "-{}", scalar.name);
        }
        for (flag, _) in self.flags.iter().filter(|f| f.1) {
            let _ = write!(name, "-{flag}");
        }
        let _ = write!(name, "-sm_{}", self.architecture);
        name.retain(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        name.truncate(120);
        format!("{name}-{:032x}", hash(&self.canonical()))
    }

    /// Everything the source depends on, as text.
    fn canonical(&self) -> String {
        let mut text = format!("{:?}|{}", self.template, self.architecture);
        let operator = |o: &crate::text::OperatorText| format!("({})=>{}", o.parameters.join(","), flat(o.expression));
        let scalar = |s: &crate::text::ScalarText| format!("{}:{}:{}", s.name, s.size, flat(s.definition));
        if let Some(s) = &self.semiring {
            let _ = write!(text, "|{}|{}|{}|{}", s.name, scalar(&s.a), scalar(&s.b), scalar(&s.c));
            let _ = write!(text, "|{}", scalar(&s.written()));
            let _ = write!(text, "|{}|{}|{:?}", operator(&s.add), operator(&s.multiply), s.reads);
            let _ = write!(text, "|{:?}|{}|{:?}", s.atomic, flat(&s.identity), s.terminal);
        }
        for f in &self.functions {
            let inputs: Vec<_> = f.parameters.iter().map(scalar).collect();
            let _ = write!(text, "|{}|{inputs:?}|{}|{}", f.name, scalar(&f.output), operator(&f.text));
            let _ = write!(text, "|{:?}|{:?}|{:?}", f.identity, f.terminal, f.atomic);
        }
        for (alias, s) in &self.types {
            let _ = write!(text, "|{alias}={}", scalar(s));
        }
        let mut flags: Vec<_> = self.flags.iter().filter(|f| f.1).collect();
        flags.sort();
        let mut numbers = self.numbers.clone();
        numbers.sort();
        let _ = write!(text, "|{flags:?}|{numbers:?}|{:?}", self.only);
        text
    }
}

#[test]
fn lists_end_without_a_comma() {
    assert_eq!(flat("Hop :: make(add(x, y,), 1u32 , )"), "Hop::make(add(x,y),1u32)");
}
