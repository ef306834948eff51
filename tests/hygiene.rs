//! The macros compile where a program calls its own things as the standard library and the macros call theirs.
#![allow(dead_code, unused_macros, non_camel_case_types, non_upper_case_globals, non_snake_case)]

/// What the macros make.
macro_rules! definitions { () => {
    structs!();
    ::oplus::operator! { pub Longer[T: ::oplus::algebra::Number](T, T) -> T = |x, y| max(x, y) }
    ::oplus::unary_operator! { pub Length[](Hop) -> f32 = |x| x.dist }
    ::oplus::index_operator! { pub Below[A: ::oplus::algebra::Scalar](A, f64) -> f64 = |_, i, j, k| select(i > j, k, 0.5f64) }
} }
macro_rules! structs {
    () => {
        ::oplus::scalar! { #[allow(unused)] pub struct Hop { pub dist: f32, pub hops: u32 } }
        ::oplus::semiring! {
            pub struct Shortest[](Hop, Hop) -> Hop;
            identity = Hop::make(f32::INFINITY, u32::MAX);
            terminal = Hop::make(0.0, 0);
            add = |x, y| (select(x.dist < y.dist || !(x.hops > y.hops), x, y));
            multiply = |p, q, _| (Hop::make(add(p.dist, q.dist), add(p.hops, 1u32)));
        }
    };
}

mod types {
    struct String;
    struct Option;
    struct Product;
    struct Self_;
    struct At;
    trait Clone {}
    trait Copy {}
    trait Debug {}
    trait Default {}
    trait PartialEq {}
    trait Scalar {}
    fn size_of() {}
    fn joined() {}
    definitions!();
}
/// Constants and structs of this name are patterns, not parameters.
mod values {
    const a: u8 = 1;
    const b: u8 = 1;
    const fields: u8 = 1;
    static field: u8 = 1;
    struct bytes;
    const oplus: u8 = 1;
    definitions!();
}
mod functions {
    fn max() {}
    fn add() {}
    fn select() {}
    definitions!();
}
#[rustfmt::skip]
mod macros {
    macro_rules! assert { () => {} }
    macro_rules! concat { () => {} }
    macro_rules! stringify { () => {} }
    macro_rules! format { () => {} }
    macro_rules! compile_error { () => {} }
    definitions!();
}
/// Operators need `diagnostic`, which no path leads to.
mod alone {
    #![no_implicit_prelude]
    use ::std::primitive::{f32, u32};
    structs!();
}
/// Primitive types are only names.
mod primitives {
    use std::primitive::{f32, f64, u32};
    struct u8;
    struct i64;
    struct bool;
    struct str;
    struct usize;
    definitions!();
}

macro_rules! tests { ($($module:ident)*) => {$(
    #[test]
    fn $module() {
        use oplus::algebra::{BinaryOp, IndexUnaryOp, UnaryOp};
        use $module::*;
        assert_eq!(<Longer as BinaryOp<i32, i32>>::apply(3, 2), 3);
        assert_eq!(<Length as UnaryOp<Hop>>::apply(Hop::make(1.5, 2)), 1.5);
        assert_eq!(<Below as IndexUnaryOp<bool, f64>>::apply(true, 1, 2, 3.0), 0.5);
    }
)*} }
tests!(types values functions macros primitives forbidding);

#[test]
fn alone() {
    use alone::{Hop, Shortest};
    use oplus::algebra::{Monoid, Scalar};
    let hop = Hop::make(1.5, 2);
    assert_eq!(<Shortest as Monoid<Hop>>::identity(), Hop::make(f32::INFINITY, u32::MAX));
    assert_eq!(hop.cuda_literal(), "Hop::make(f32_bits(0x3fc00000ull), (u32)0x2ull)");
    assert!(Hop::TEXT.name == "Hop" && Hop::is_valid(&[0; 8]) && !Hop::is_valid(&[0; 9]));
}

/// In a program that allows no exception to its lints.
mod forbidding {
    #![forbid(missing_docs, missing_debug_implementations, unsafe_code, unreachable_pub, unused_imports, unused_parens)]
    #![forbid(unused_variables, unused_qualifications, non_snake_case, non_camel_case_types, non_upper_case_globals)]
    oplus::scalar! {
        /// A road.
        pub struct Hop {
            /// Kilometres.
            pub dist: f32,
            /// Roads.
            pub hops: u32,
        }
    }
    oplus::semiring! {
        /// Shortest, then fewest roads.
        pub struct Shortest[](Hop, Hop) -> Hop;
        identity = Hop::make(f32::INFINITY, u32::MAX);
        terminal = Hop::make(0.0, 0);
        add = |x, y| (select(x.dist < y.dist || x.hops <= y.hops, x, y));
        multiply = |p, q, at| (Hop::make(add(p.dist, q.dist), select(at.i == at.j, p.hops, 1u32)));
    }
    oplus::semiring! {
        /// The first there is.
        pub struct Earliest[](bool, bool) -> bool;
        identity = false;
        add = |x, _| (x);
        multiply = |_, _, _| (true);
    }
    oplus::operator! { /// The larger.
    pub Longer[T: oplus::algebra::Number](T, T) -> T = |x, y| max(x, y) }
    oplus::unary_operator! { /// Kilometres.
    pub Length[](Hop) -> f32 = |x| x.dist }
    oplus::index_operator! { /// k below the diagonal.
    pub Below[A: oplus::algebra::Scalar](A, f64) -> f64 = |_, i, j, k| select(i > j, k, 0.5f64) }
}
