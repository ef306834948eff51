//! One definition, two languages: the macros for scalars, operators and semirings.
//!
//! They allow no lint, as a program may forbid that. Those that warn of a macro's own text, as of an import that a body does not need, are
//! silent in other crates; in this one modules of definitions allow `unused_imports`.

/// Rejects what is Rust but not CUDA C++, or is both with different meanings.
#[macro_export]
#[doc(hidden)]
macro_rules! portable {
    () => {};
    (true $($r:tt)*) => { $crate::portable!{ $($r)* } };
    (false $($r:tt)*) => { $crate::portable!{ $($r)* } };
    (as $($r:tt)*) => { ::core::compile_error!("`as` is not CUDA C++, and float-to-int casts differ there: use a named conversion"); };
    (if $($r:tt)*) => { ::core::compile_error!("`if` is a statement in CUDA C++: use select(condition, yes, no)"); };
    (match $($r:tt)*) => { ::core::compile_error!("`match` does not exist in CUDA C++: use select(condition, yes, no)"); };
    (let $($r:tt)*) => { ::core::compile_error!("one expression only: no `let`"); };
    (return $($r:tt)*) => { ::core::compile_error!("`return` is no expression: leave it out"); };
    (; $($r:tt)*) => { ::core::compile_error!("one expression only: no `;`"); };
    (= $($r:tt)*) => { ::core::compile_error!("one expression only: no assignment"); };
    (. $m:ident ( $($i:tt)* ) $($r:tt)*) => { ::core::compile_error!(::core::concat!(
        "method call `.", ::core::stringify!($m), "()`: scalars have no methods in CUDA; use a function: add, mul, min, max, select, …")); };
    (:: < $($r:tt)*) => { ::core::compile_error!("`::<…>` is not CUDA C++"); };
    ($m:ident ! ($($i:tt)*) $($r:tt)*) => { ::core::compile_error!("no macro calls"); };
    (+ $($r:tt)*) => { ::core::compile_error!("`+` overflows differently (Rust panics or wraps, C++ is undefined): use add or add_sat"); };
    (- $($r:tt)*) => { ::core::compile_error!("`-` overflows differently: use sub, or neg of a number"); };
    (* $($r:tt)*) => { ::core::compile_error!("`*` overflows differently: use mul"); };
    (/ $($r:tt)*) => { ::core::compile_error!("`/` traps in Rust on integers: use div"); };
    (% $($r:tt)*) => { ::core::compile_error!("`%` traps in Rust on integers: use fmod or remainder on floats"); };
    (<< $($r:tt)*) => { ::core::compile_error!("`<<` differs where the shift is too large: use bit_shift"); };
    (>> $($r:tt)*) => { ::core::compile_error!("`>>` differs where the shift is too large: use bit_shift"); };
    (^ $($r:tt)*) => { ::core::compile_error!("`^` of small integers is an int in CUDA: use bit_xor, or `!=` on booleans"); };
    (& $($r:tt)*) => { ::core::compile_error!("no references; use &&, or bit_and of integers"); };
    (| $($r:tt)*) => { ::core::compile_error!("no closures; use ||, or bit_or of integers"); };
    (? $($r:tt)*) => { ::core::compile_error!("`?` is not CUDA C++"); };
    ({ $($i:tt)* } $($r:tt)*) => { ::core::compile_error!("no blocks or struct literals: use Type::make(…)"); };
    ([ $($i:tt)* ] $($r:tt)*) => { ::core::compile_error!("no indexing or arrays"); };
    ( ( $($f:tt)* ) ( $($i:tt)* ) $($r:tt)*) => { ::core::compile_error!("a function is called by its name alone"); };
    ( ( $($i:tt)* ) $($r:tt)*) => {
        const _: () = $crate::algebra::one_value(::core::stringify!($($i)*));
        $crate::portable!{ $($i)* }
        $crate::portable!{ $($r)* }
    };
    // A struct is known by its own name alone.
    ($t:ident :: make ( $($i:tt)* ) $($r:tt)*) => {
        const _: () = $crate::algebra::own_name(::core::stringify!($t), <$t as $crate::algebra::Scalar>::TEXT.name);
        $crate::portable!{ $($i)* }
        $crate::portable!{ $($r)* }
    };
    ($t:ident :: $($r:tt)*) => { ::core::compile_error!(::core::concat!(
        "`", ::core::stringify!($t), "::…`: CUDA knows no path but Type::make(…) of a scalar")); };
    (:: $($r:tt)*) => { ::core::compile_error!("CUDA knows no path but Type::make(…) of a scalar"); };
    // CUDA has these functions and no others: this import does not resolve where it is another.
    ($f:ident ( $($i:tt)* ) $($r:tt)*) => {
        use $crate::algebra::portable::$f as _;
        $crate::portable!{ $($i)* }
        $crate::portable!{ $($r)* }
    };
    (. $f:ident $($r:tt)*) => { $crate::portable!{ $($r)* } };
    // A parameter binds; a constant or static of this name, which CUDA does not know, is no pattern for this.
    ($p:ident $($r:tt)*) => {
        const _: () = { let $p = 0u8; let _ = $p; };
        $crate::portable!{ $($r)* }
    };
    // With its type it is written for CUDA by its bits.
    ($l:literal $($r:tt)*) => { const _: () = $crate::algebra::typed_literal(::core::stringify!($l)); $crate::portable!{ $($r)* } };
    (, $($r:tt)*) => { $crate::portable!{ $($r)* } };
    (&& $($r:tt)*) => { $crate::portable!{ $($r)* } };
    (|| $($r:tt)*) => { $crate::portable!{ $($r)* } };
    (! $($r:tt)*) => { $crate::portable!{ $($r)* } };
    (== $($r:tt)*) => { $crate::portable!{ $($r)* } };
    (!= $($r:tt)*) => { $crate::portable!{ $($r)* } };
    (< $($r:tt)*) => { $crate::portable!{ $($r)* } };
    (<= $($r:tt)*) => { $crate::portable!{ $($r)* } };
    (> $($r:tt)*) => { $crate::portable!{ $($r)* } };
    (>= $($r:tt)*) => { $crate::portable!{ $($r)* } };
    // An expression that another macro took as one is in parentheses for Rust alone, and nobody can look into it.
    ($t:tt $($r:tt)*) => { ::core::compile_error!(::core::concat!(
        "`", ::core::stringify!($t), "` is no part of an operator's text; an expression of another macro: pass it as `$($e:tt)+`")); };
}

// Parameters are bound behind the import of functions: those called like one are what they are in CUDA.

#[macro_export]
#[doc(hidden)]
macro_rules! is_read {
    (_) => {
        false
    };
    ($p:tt) => {
        true
    };
}

/// What is asserted of an operator, used or not: its parameters' names, and its text where its types are given.
#[macro_export]
#[doc(hidden)]
macro_rules! asserted {
    ([] $text:expr, $($p:tt)*) => {
        const _: () = { $($crate::algebra::ascii_name(::core::stringify!($p));)* };
        const _: $crate::algebra::OperatorText = $text;
    };
    ([$($g:tt)+] $text:expr, $($p:tt)*) => {
        const _: () = { $($crate::algebra::ascii_name(::core::stringify!($p));)* };
    };
}
/// An operator's text, of what it takes and gives.
#[macro_export]
#[doc(hidden)]
macro_rules! operator_text { ([$($p:tt)*] [$($t:ty),*] $($e:tt)+) => {{
    $crate::algebra::defined_structs(::core::stringify!($($e)+), &[$(<$t as $crate::algebra::Scalar>::TEXT.name),*]);
    $crate::algebra::OperatorText { parameters: &[$(::core::stringify!($p)),*], expression: ::core::stringify!($($e)+) }
}} }

/// A binary operator, in Rust and CUDA from one text.
///
/// A parameter written `_` is not read: kernels then never load those values. The body is one expression over the
/// functions of [`algebra::portable`](crate::algebra::portable) (arithmetic, bits, elementary functions), comparisons, `&&`,
/// `||`, `!`, field access and numbers that say their type: `1u8`, `0.5f32`. The operators `+ - * / % << >> ^ & |` are refused,
/// with the function to take instead: C++ turns small integers into `int` and leaves what traps or wraps in Rust undefined. So are
/// functions, constants and paths of the program's own, which a GPU does not know: a constant is written as a number with its type, or
/// is a value of the operation (a bound scalar, a thunk). `Type::make(…)` of a [`scalar!`](crate::scalar) is known by the type's own name,
/// where the operator takes or gives this type. So are tuples, and what another macro took as `$e:expr`: take it as `$($e:tt)+`.
///
/// Of a struct CUDA knows `==` and `!=`, of all its fields. What a program implements for it beyond that (`PartialOrd`, `Not`) is not seen
/// by the macros: `x < y` of structs compiles, runs on the CPU and is [`Error::Compile`](crate::Error::Compile) on the device. Compare fields.
///
/// Parameters and fields may have any name of ASCII letters, digits and `_`, words of C++ among them. The macros name the standard
/// library in full; in a module of `#![no_implicit_prelude]` only [`scalar!`](crate::scalar) and [`semiring!`](crate::semiring) compile.
/// ```
/// oplus::operator! { /// The larger of x and 2y.
///     pub Steep[T: oplus::algebra::Number](T, T) -> T = |x, y| max(x, add(y, y)) }
/// use oplus::algebra::BinaryOp;
/// assert_eq!(<Steep as BinaryOp<i32, i32>>::apply(3, 2), 4);
///
/// oplus::operator! { /// √(x² + 2y²), 0 below 10⁻³.
///     pub Stretch[](f64, f64) -> f64 = |x, y| select(hypot(x, y) < 1e-3f64, 0f64, sqrt(add(mul(x, x), mul(2f64, mul(y, y))))) }
/// assert_eq!(<Stretch as BinaryOp<f64, f64>>::apply(1.0, 2.0), 3.0);
/// ```
#[macro_export]
macro_rules! operator {
    ($(#[$m:meta])* $v:vis $name:ident [$($g:ident : $bound:path),*] ($a:ty, $b:ty) -> $out:ty = |$x:tt, $y:tt| $($e:tt)+) => {
        $(#[$m])*
        #[::core::prelude::v1::derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::default::Default)]
        $v struct $name;
        const _: () = { $crate::portable!{ $($e)+ } $crate::asserted!{ [$($g)*] <$name as $crate::algebra::BinaryOp<$a, $b>>::TEXT, $x $y } };
        #[diagnostic::do_not_recommend]
        impl<$($g: $bound),*> $crate::algebra::BinaryOp<$a, $b> for $name {
            type Out = $out;
            const TEXT: $crate::algebra::OperatorText = $crate::operator_text!([$x $y] [$a, $b, $out] $($e)+);
            #[inline(always)]
            fn apply(oplus_x: $a, oplus_y: $b) -> $out {
                use $crate::algebra::portable::*; let ($x, $y) = (oplus_x, oplus_y); $($e)+ }
        }
        #[diagnostic::do_not_recommend]
        impl<$($g: $bound),*> $crate::algebra::Multiply<$a, $b> for $name {
            type Out = $out;
            const TEXT: $crate::algebra::OperatorText = $crate::operator_text!([$x $y _] [$a, $b, $out] $($e)+);
            const READS: $crate::algebra::Reads =
                $crate::algebra::Reads { a: $crate::is_read!($x), b: $crate::is_read!($y), position: false, flipped: false };
            #[inline(always)]
            fn multiply(oplus_a: $a, oplus_b: $b, _: $crate::algebra::At) -> $out {
                <Self as $crate::algebra::BinaryOp<$a, $b>>::apply(oplus_a, oplus_b) }
        }
    };
}

/// A unary operator: `unary_operator!{ pub Negate[T: Number](T) -> T = |x| neg(x) }`.
#[macro_export]
macro_rules! unary_operator {
    ($(#[$m:meta])* $v:vis $name:ident [$($g:ident : $bound:path),*] ($a:ty) -> $out:ty = |$x:tt| $($e:tt)+) => {
        $(#[$m])*
        #[::core::prelude::v1::derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::default::Default)]
        $v struct $name;
        const _: () = { $crate::portable!{ $($e)+ } $crate::asserted!{ [$($g)*] <$name as $crate::algebra::UnaryOp<$a>>::TEXT, $x } };
        #[diagnostic::do_not_recommend]
        impl<$($g: $bound),*> $crate::algebra::UnaryOp<$a> for $name {
            type Out = $out;
            const TEXT: $crate::algebra::OperatorText = $crate::operator_text!([$x] [$a, $out] $($e)+);
            #[inline(always)]
            fn apply(oplus_x: $a) -> $out { use $crate::algebra::portable::*; let $x = oplus_x; $($e)+ }
        }
    };
}

/// An operator of value, row, column and thunk: `index_operator!{ pub Tril[A: Scalar](A, i64) -> bool = |_, i, j, k| … }`.
#[macro_export]
macro_rules! index_operator {
    ($(#[$m:meta])* $v:vis $name:ident [$($g:ident : $bound:path),*] ($a:ty, $y:ty) -> $out:ty
     = |$x:tt, $i:tt, $j:tt, $t:tt| $($e:tt)+) => {
        $(#[$m])*
        #[::core::prelude::v1::derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::default::Default)]
        $v struct $name;
        const _: () = { $crate::portable!{ $($e)+ } $crate::asserted!{ [$($g)*] <$name as $crate::algebra::IndexUnaryOp<$a, $y>>::TEXT, $x $i $j $t } };
        #[diagnostic::do_not_recommend]
        impl<$($g: $bound),*> $crate::algebra::IndexUnaryOp<$a, $y> for $name {
            type Out = $out;
            const TEXT: $crate::algebra::OperatorText = $crate::operator_text!([$x $i $j $t] [$a, $y, $out] $($e)+);
            #[inline(always)]
            fn apply(oplus_x: $a, oplus_i: ::core::primitive::i64, oplus_j: ::core::primitive::i64, oplus_y: $y) -> $out {
                use $crate::algebra::portable::*;
                let ($x, $i, $j, $t) = (oplus_x, oplus_i, oplus_j, oplus_y); $($e)+ }
        }
    };
}

/// A user's semiring, Rust and CUDA from one text. Its name is that of ⊕ too, as an operator and a monoid: `.accumulate(Shortest)`,
/// `reduce(&x, Shortest)`.
///
/// ```
/// use oplus::{algebra::*, scalar, semiring};
/// scalar! { /// A road length and a number of roads.
///     pub struct Hop { dist: f32, hops: u32 } }
/// semiring! {
///     /// Shortest, then fewest hops.
///     pub struct Shortest[](Hop, Hop) -> Hop;
///     identity = Hop::make(f32::INFINITY, u32::MAX);
///     add = |x, y| (select(x.dist < y.dist || (x.dist == y.dist && x.hops <= y.hops), x, y));
///     multiply = |a, b, _| (Hop::make(add(a.dist, b.dist), add(a.hops, b.hops)));
/// }
/// let hop = Hop::make(1.0, 1);
/// let two = <<Shortest as Semiring<Hop, Hop>>::Multiply as Multiply<Hop, Hop>>::multiply(hop, hop, At::default());
/// assert_eq!(two, Hop::make(2.0, 2));
///
/// // D ⊕= D ⊕.⊗ A: ⊕ by the semiring's name.
/// use oplus::prelude::*;
/// let roads: Matrix<Hop, Shortest> = Matrix::build(3, 3, &[(0, 1, hop), (1, 2, hop), (0, 2, Hop::make(5.0, 1))])?;
/// let mut d = roads.clone();
/// mxm(&d, &roads).accumulate(Shortest).into(&mut d)?;
/// assert_eq!(d.get(0, 2)?, Some(two));
/// assert_eq!(reduce(&extract_row(&d, 0, ..).eval()?, Shortest)?, hop);
/// # Ok::<(), oplus::Error>(())
/// ```
#[macro_export]
macro_rules! semiring {
    ($(#[$m:meta])* $v:vis struct $name:ident [$($g:ident : $bound:path),*] ($a:ty, $b:ty) -> $out:ty;
     identity = $id:expr;
     $(terminal = $term:expr;)?
     add = |$x:tt, $y:tt| ($($add:tt)+);
     multiply = |$p:tt, $q:tt, $at:tt| ($($mul:tt)+);) => {
        $(#[$m])*
        #[::core::prelude::v1::derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::default::Default)]
        $v struct $name;
        const _: () = {
            $crate::portable!{ $($add)+ }
            $crate::portable!{ $($mul)+ }
            $crate::asserted!{ [$($g)*] <$name as $crate::algebra::BinaryOp<$out, $out>>::TEXT, $x $y }
            $crate::asserted!{ [$($g)*] <__OplusMultiply as $crate::algebra::Multiply<$a, $b>>::TEXT, $p $q $at }
            impl<$($g: $bound),*> $crate::algebra::BinaryOp<$out, $out> for $name {
                type Out = $out;
                const TEXT: $crate::algebra::OperatorText = $crate::operator_text!([$x $y] [$out] $($add)+);
                #[inline(always)]
                fn apply(oplus_x: $out, oplus_y: $out) -> $out {
                    use $crate::algebra::portable::*; let ($x, $y) = (oplus_x, oplus_y); $($add)+ }
            }
            // A second type for the multiply: $name is already the monoid's operator. Called as nothing of a user's is.
            #[::core::prelude::v1::derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)] pub struct __OplusMultiply;
            impl<$($g: $bound),*> $crate::algebra::Multiply<$a, $b> for __OplusMultiply {
                type Out = $out;
                const TEXT: $crate::algebra::OperatorText = $crate::operator_text!([$p $q $at] [$a, $b, $out] $($mul)+);
                const READS: $crate::algebra::Reads = $crate::algebra::Reads {
                    a: $crate::is_read!($p), b: $crate::is_read!($q), position: $crate::is_read!($at), flipped: false };
                #[inline(always)]
                fn multiply(oplus_a: $a, oplus_b: $b, oplus_at: $crate::algebra::At) -> $out {
                    use $crate::algebra::portable::*;
                    let ($p, $q, $at) = (oplus_a, oplus_b, oplus_at); $($mul)+ }
            }
            impl<$($g: $bound),*> $crate::algebra::Monoid<$out> for $name {
                fn identity() -> $out { $id }
                $(fn terminal() -> $crate::algebra::Terminal<$out> { $crate::algebra::Terminal::Value($term) })?
            }
            impl<$($g: $bound),*> $crate::algebra::Semiring<$a, $b> for $name {
                type Out = $out;
                type Add = Self;
                type Multiply = __OplusMultiply;
            }
        };
    };
}

/// A struct scalar: `repr(C)`, no padding, aligned as its fields are, the same definition in CUDA, `Type::make(…)`, `==` and `!=` in both.
/// Fields are the library's own scalars, or aliases of them: a struct among them is refused. Names are of ASCII letters, digits and `_`; no
/// field has the struct's own.
///
/// Attributes are the Rust struct's alone: with `#[derive(PartialOrd)]` a program may sort, but [operators](crate::operator!) compare fields.
#[macro_export]
macro_rules! scalar {
    ($(#[$m:meta])* $v:vis struct $name:ident { $($(#[$fm:meta])* $fv:vis $f:ident : $t:ident),+ $(,)? }) => {
        $(#[$m])* #[repr(C)]
        #[::core::prelude::v1::derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq)]
        $v struct $name { $($(#[$fm])* $fv $f: $t),+ }
        impl $name {
            /// One of these fields, which are in the order of the definition; the same in CUDA.
            #[inline(always)]
            $v const fn make($($f: $t),+) -> Self { Self { $($f),+ } }
        }
        const _: () = ::core::assert!(::core::mem::size_of::<$name>() == 0 $(+ ::core::mem::size_of::<$t>())+, "padding bytes: reorder the fields or add one");
        const _: () = ::core::assert!(::core::mem::align_of::<$name>() == ::core::mem::align_of::<($($t,)+)>(),
            "another alignment than in CUDA, which has that of the fields: no repr(packed) or repr(align)");
        const _: () = { $crate::algebra::ascii_name(::core::stringify!($name)); $($crate::algebra::ascii_name(::core::stringify!($f));)+ };
        const _: () = ::core::assert!(true $(&& !$crate::algebra::names::clash(::core::stringify!($name), ::core::stringify!($f)))+,
            "a field has another name than its struct: in CUDA it would hide the struct");
        const _: () = ::core::assert!(true $(&& <$t as $crate::algebra::Scalar>::TEXT.definition.is_empty())+,
            "a field is one of the library's own scalars: in CUDA a struct knows no other struct");
        // SAFETY: repr(C), no padding (asserted above), fields are Scalars in the same order as in the CUDA text.
        unsafe impl $crate::algebra::Scalar for $name {
            const TEXT: $crate::algebra::ScalarText = $crate::algebra::ScalarText {
                name: $crate::joined!($crate::algebra::names::structure(::core::stringify!($name))),
                definition: $crate::joined!(
                    ["struct ", ""], $crate::algebra::names::structure(::core::stringify!($name)), [" { ", ""],
                    $([<$t as $crate::algebra::Scalar>::TEXT.name, " "], $crate::algebra::names::variable(::core::stringify!($f)), ["; ", ""],)+
                    ["static __device__ ", ""], $crate::algebra::names::structure(::core::stringify!($name)), [" make(", ""],
                    [$crate::algebra::names::list($crate::joined!(
                        $([<$t as $crate::algebra::Scalar>::TEXT.name, " "], $crate::algebra::names::variable(::core::stringify!($f)), [", ", ""]),+)), ""],
                    [") { return {", ""],
                    [$crate::algebra::names::list($crate::joined!(
                        $($crate::algebra::names::variable(::core::stringify!($f)), [", ", ""]),+)), ""],
                    ["}; } __device__ bool operator==(const ", ""], $crate::algebra::names::structure(::core::stringify!($name)),
                    ["& oplus_y) const { return ", ""],
                    $(["this->", ""], $crate::algebra::names::variable(::core::stringify!($f)),
                        [" == oplus_y.", ""], $crate::algebra::names::variable(::core::stringify!($f)), [" && ", ""],)+
                    ["true; } __device__ bool operator!=(const ", ""], $crate::algebra::names::structure(::core::stringify!($name)),
                    ["& oplus_y) const { return !(*this == oplus_y); } };", ""]),
                size: ::core::mem::size_of::<$name>(),
            };
            fn cuda_literal(self) -> ::std::string::String {
                let oplus_fields: &[::std::string::String] = &[$($crate::algebra::Scalar::cuda_literal(self.$f)),+];
                ::std::format!("{}::make({})", <Self as $crate::algebra::Scalar>::TEXT.name, oplus_fields.join(", "))
            }
            fn is_valid(oplus_bytes: &[::core::primitive::u8]) -> ::core::primitive::bool {
                $(let (oplus_field, oplus_bytes) = oplus_bytes.split_at(::core::mem::size_of::<$t>());
                if !<$t as $crate::algebra::Scalar>::is_valid(oplus_field) { return false; })+
                oplus_bytes.is_empty()
            }
        }
    };
}
/// Constant texts, each in two parts, as one.
#[macro_export]
#[doc(hidden)]
macro_rules! joined { ($($text:expr),+ $(,)?) => {{
    const OPLUS_TEXTS: &[[&::core::primitive::str; 2]] = &[$($text),+];
    const OPLUS_BYTES: &[::core::primitive::u8] = &$crate::algebra::names::joined::<{ $crate::algebra::names::length(OPLUS_TEXTS) }>(OPLUS_TEXTS);
    $crate::algebra::names::text(OPLUS_BYTES)
}} }
