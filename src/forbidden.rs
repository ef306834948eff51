//! What does not compile: each program here is one step away from one that does.
//!
//! E11: a mask of a type without truth is structural.
//! ```
//! use oplus::prelude::*;
//! oplus::scalar! { pub struct Pixel { red: u8, green: u8 } }
//! fn masked(a: Matrix<f64>, m: Matrix<Pixel>) -> oplus::Result<Matrix<f64>> { apply(&a, Abs).mask(&m.structure()).eval() }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! oplus::scalar! { pub struct Pixel { red: u8, green: u8 } }
//! fn masked(a: Matrix<f64>, m: Matrix<Pixel>) -> oplus::Result<Matrix<f64>> { apply(&a, Abs).mask(&m).eval() }
//! ```
//! E12: a result has the output's type; conversions are written.
//! ```
//! use oplus::prelude::*;
//! fn written(a: Matrix<f64>, c: &mut Matrix<i32>) -> oplus::Result<()> { apply(&a, Cast::<i32>::default()).into(c) }
//! ```
//! ```compile_fail,E0271
//! use oplus::prelude::*;
//! fn written(a: Matrix<f64>, c: &mut Matrix<i32>) -> oplus::Result<()> { apply(&a, Identity).into(c) }
//! ```
//! So does an accumulator's result.
//! ```
//! use oplus::prelude::*;
//! fn added(a: Matrix<i32>, c: &mut Matrix<i32>) -> oplus::Result<()> { apply(&a, Abs).accumulate(Plus).into(c) }
//! ```
//! ```compile_fail,E0271
//! use oplus::prelude::*;
//! fn added(a: Matrix<i32>, c: &mut Matrix<i32>) -> oplus::Result<()> { apply(&a, Abs).accumulate(Lt).into(c) }
//! ```
//! Two operands of a product have one semiring.
//! ```
//! use oplus::prelude::*;
//! fn product(a: Matrix<f64, MinPlus>, b: Matrix<f64>) -> oplus::Result<Matrix<f64, MinPlus>> { mxm(&a, &b.over()).eval() }
//! ```
//! ```compile_fail,E0271
//! use oplus::prelude::*;
//! fn product(a: Matrix<f64, MinPlus>, b: Matrix<f64>) -> oplus::Result<Matrix<f64, MinPlus>> { mxm(&a, &b).eval() }
//! ```
//! R3, R10: a semiring takes the scalars it has operators for, and booleans have no arithmetic.
//! ```
//! use oplus::prelude::*;
//! fn square(a: Matrix<bool>) -> oplus::Result<Matrix<bool, LorLand>> { a.over::<LorLand>().mxm(&a.over()) }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn square(a: Matrix<bool>) -> oplus::Result<Matrix<bool>> { a.mxm(&a) }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn square(a: Matrix<f64>) -> oplus::Result<Matrix<bool, LorLand>> { a.over::<LorLand>().mxm(&a.over()) }
//! ```
//! Edges and values of two types meet where ⊗ looks at one of them, or are converted.
//! ```
//! use oplus::prelude::*;
//! fn right(a: Matrix<bool>, b: Matrix<f64>) -> oplus::Result<Matrix<f64, PlusSecond>> { mxm(&a.over::<PlusSecond>(), &b.over()).eval() }
//! fn left(x: Vector<f64>, a: Matrix<bool>) -> oplus::Result<Vector<f64, PlusFirst>> { vxm(&x.over::<PlusFirst>(), &a.over()).eval() }
//! fn least(a: Matrix<bool>, x: Vector<f64>) -> oplus::Result<Vector<f64, MinSecond>> { mxv(&a.over::<MinSecond>(), &x.over()).eval() }
//! fn cast(a: Matrix<bool>, b: Matrix<f64>) -> oplus::Result<Matrix<f64>> { mxm(&a.cast::<f64>()?, &b).eval() }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn product(a: Matrix<bool>, b: Matrix<f64>) -> oplus::Result<Matrix<f64>> { mxm(&a, &b).eval() }
//! ```
//! So do operands of element-wise operations.
//! ```
//! use oplus::prelude::*;
//! fn root(a: Matrix<bool>) -> oplus::Result<Matrix<f64>> { apply(&a.cast::<f64>()?, Sqrt).eval() }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn root(a: Matrix<bool>) -> oplus::Result<Matrix<bool>> { apply(&a, Sqrt).eval() }
//! ```
//! Complex numbers have no order: no minimum, no <, nothing to sort by but what is given.
//! ```
//! use oplus::prelude::*;
//! fn square(a: Matrix<c64>) -> oplus::Result<Matrix<c64>> { a.mxm(&a) }
//! fn largest(a: Matrix<c64>) -> oplus::Result<f64> { reduce(&apply(&a, Abs).eval()?, Max) }
//! fn lower(a: Matrix<c64>) -> oplus::Result<Matrix<c64>> { select(&a, ValueNe, c64::ZERO).eval() }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn square(a: Matrix<c64>) -> oplus::Result<Matrix<c64, MinPlus>> { a.over::<MinPlus>().mxm(&a.over()) }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn largest(a: Matrix<c64>) -> oplus::Result<c64> { reduce(&a, Max) }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn lower(a: Matrix<c64>) -> oplus::Result<Matrix<c64>> { select(&a, ValueLt, c64::ZERO).eval() }
//! ```
//! A matrix that others read is not written: what changes one takes it `&mut`.
//! ```
//! use oplus::prelude::*;
//! fn written(a: &mut Matrix<i32>) -> oplus::Result<()> { a.set(0, 0, 1) }
//! fn erased(a: &mut Matrix<i32>) -> oplus::Result<()> { a.remove(0, 0) }
//! fn updated(a: &mut Matrix<i32>, u: &Updates<i32>) -> oplus::Result<()> { a.update(u) }
//! ```
//! ```compile_fail,E0596
//! use oplus::prelude::*;
//! fn written(a: &Matrix<i32>) -> oplus::Result<()> { a.set(0, 0, 1) }
//! ```
//! ```compile_fail,E0596
//! use oplus::prelude::*;
//! fn erased(a: &Matrix<i32>) -> oplus::Result<()> { a.remove(0, 0) }
//! ```
//! ```compile_fail,E0596
//! use oplus::prelude::*;
//! fn updated(a: &Matrix<i32>, u: &Updates<i32>) -> oplus::Result<()> { a.update(u) }
//! ```
//! An accumulator meets what is there: a new container has nothing.
//! ```
//! use oplus::prelude::*;
//! fn made(a: Matrix<i32>) -> oplus::Result<Matrix<i32>> { apply(&a, Abs).eval() }
//! ```
//! ```compile_fail,E0599
//! use oplus::prelude::*;
//! fn made(a: Matrix<i32>) -> oplus::Result<Matrix<i32>> { apply(&a, Abs).accumulate(Plus).eval() }
//! ```
//! What goes by an order does not take complex numbers.
//! ```
//! use oplus::prelude::*;
//! fn least(a: Matrix<f64>) -> oplus::Result<Vector<u64>> { argmin_rows(&a).eval() }
//! fn first(a: Matrix<bool>) -> oplus::Result<Vector<u64>> { argmax_rows(&a).eval() }
//! fn most(a: Matrix<bool>) -> oplus::Result<Matrix<bool>> { top_k(&a, 2).eval() }
//! fn sorted(a: Matrix<bool>) -> oplus::Result<Matrix<bool>> { Ok(sort(&a, Lt)?.0) }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn least(a: Matrix<c64>) -> oplus::Result<Vector<u64>> { argmin_rows(&a).eval() }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn most(a: Matrix<c64>) -> oplus::Result<Matrix<c64>> { top_k(&a, 2).eval() }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn sorted(a: Matrix<c64>) -> oplus::Result<Matrix<c64>> { Ok(sort(&a, Lt)?.0) }
//! ```
//! Bits are of integers, elementary functions of floats, sums and minima not of booleans.
//! ```
//! use oplus::prelude::*;
//! fn bits(a: Matrix<u32>) -> oplus::Result<Matrix<u32>> { apply(&a, Bnot).eval() }
//! fn root(a: Matrix<f32>) -> oplus::Result<Matrix<f32>> { apply(&a, Sqrt).eval() }
//! fn cube_root(a: Matrix<f32>) -> oplus::Result<Matrix<f32>> { apply(&a, Cbrt).eval() }
//! fn any(a: Matrix<bool>) -> oplus::Result<bool> { reduce(&a, Lor) }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn bits(a: Matrix<f32>) -> oplus::Result<Matrix<f32>> { apply(&a, Bnot).eval() }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn bits(a: Matrix<f32>) -> oplus::Result<Matrix<f32>> { ewise_add(&a, &a, Bor).eval() }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn root(a: Matrix<u32>) -> oplus::Result<Matrix<u32>> { apply(&a, Sqrt).eval() }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn cube_root(a: Matrix<c32>) -> oplus::Result<Matrix<c32>> { apply(&a, Cbrt).eval() }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn any(a: Matrix<bool>) -> oplus::Result<bool> { reduce(&a, Max) }
//! ```
//! A product's options stand before what follows it.
//! ```
//! use oplus::prelude::*;
//! fn kept(a: Matrix<f64>, x: Vector<f64>) -> oplus::Result<Vector<f64>> { mxv(&a, &x).reproducible().select(ValueGt, 0.0).eval() }
//! ```
//! ```compile_fail,E0599
//! use oplus::prelude::*;
//! fn kept(a: Matrix<f64>, x: Vector<f64>) -> oplus::Result<Vector<f64>> { mxv(&a, &x).select(ValueGt, 0.0).reproducible().eval() }
//! ```
//! Parts and conjugates are of complex numbers.
//! ```
//! use oplus::prelude::*;
//! fn adjoint(a: Matrix<c32>) -> oplus::Result<Matrix<c32>> { apply(&a.transposed(), Conjugate).eval() }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn adjoint(a: Matrix<f32>) -> oplus::Result<Matrix<f32>> { apply(&a.transposed(), Conjugate).eval() }
//! ```
//! Sums of 16-bit floats are made in f32.
//! ```
//! # #[cfg(feature = "half")] mod it {
//! use oplus::prelude::*;
//! fn square(a: Matrix<f16>) -> oplus::Result<Matrix<f32>> { a.mxm(&a) }
//! fn sum(a: Matrix<f16>) -> oplus::Result<f32> { reduce(&a, Plus) }
//! # }
//! ```
//! ```compile_fail,E0308
//! use oplus::prelude::*;
//! fn square(a: Matrix<f16>) -> oplus::Result<Matrix<f16>> { a.mxm(&a) }
//! ```
//! ```compile_fail,E0308
//! use oplus::prelude::*;
//! fn sum(a: Matrix<f16>) -> oplus::Result<f16> { reduce(&a, Plus) }
//! ```
//! A sum is by a monoid.
//! ```
//! use oplus::prelude::*;
//! fn sum(a: Matrix<i32>) -> oplus::Result<i32> { reduce(&a, Plus) }
//! ```
//! ```compile_fail,E0277
//! use oplus::prelude::*;
//! fn sum(a: Matrix<i32>) -> oplus::Result<i32> { reduce(&a, Minus) }
//! ```
//! A number in an operator's body says its type, as CUDA has to know it too; what C++ does otherwise is no part of it.
//! ```
//! oplus::operator! { Half[](f32, f32) -> f32 = |x, _| mul(x, 0.5f32) }
//! oplus::operator! { Mixed[](u8, u8) -> u8 = |x, y| bit_xor(x, bit_shift(y, 3i8)) }
//! ```
//! ```compile_fail,E0080
//! oplus::operator! { Half[](f32, f32) -> f32 = |x, _| mul(x, 0.5) }
//! ```
//! ```compile_fail,E0080
//! oplus::operator! { Hexadecimal[](u32, u32) -> u32 = |x, _| add(x, 0x1f32) }
//! ```
//! ```compile_fail
//! oplus::operator! { Mixed[](u8, u8) -> u8 = |x, y| x ^ y }
//! ```
//! It is one expression of portable functions, parameters and scalars' own names: CUDA knows no function, constant, path or alias of a
//! program's.
//! ```
//! oplus::scalar! { struct Way { length: f64 } }
//! oplus::operator! { Longer[](f64, f64) -> f64 = |x, y| max(x, y) }
//! oplus::operator! { Joined[](Way, Way) -> Way = |x, y| Way::make(add(x.length, mul(2f64, y.length))) }
//! ```
//! ```compile_fail
//! oplus::operator! { Longer[](f64, f64) -> f64 = |x, y| return max(x, y) }
//! ```
//! ```compile_fail
//! oplus::operator! { Longer[](f64, f64) -> f64 = |x, y| min(x, y); max(x, y) }
//! ```
//! ```compile_fail,E0432
//! fn helper(x: f64) -> f64 { x }
//! oplus::operator! { Longer[](f64, f64) -> f64 = |x, y| max(x, helper(y)) }
//! ```
//! ```compile_fail,E0308
//! const TWICE: f64 = 2.0;
//! oplus::operator! { Longer[](f64, f64) -> f64 = |x, y| max(x, mul(y, TWICE)) }
//! ```
//! ```compile_fail,E0005
//! const NONE: u8 = 0;
//! oplus::operator! { Longer[](u8, u8) -> u8 = |x, y| max(x, max(NONE, y)) }
//! ```
//! ```compile_fail,E0530
//! static TWICE: f64 = 2.0;
//! oplus::operator! { Longer[](f64, f64) -> f64 = |x, y| max(x, mul(y, TWICE)) }
//! ```
//! ```compile_fail
//! oplus::operator! { Longer[](f64, f64) -> f64 = |x, y| select(x < f64::MAX, x, y) }
//! ```
//! ```compile_fail
//! mod roads { oplus::scalar! { pub struct Way { pub length: f64 } } }
//! use roads::Way;
//! oplus::operator! { Joined[](Way, Way) -> Way = |x, y| roads::Way::make(add(x.length, y.length)) }
//! ```
//! ```compile_fail,E0080
//! oplus::scalar! { struct Way { length: f64 } }
//! type Path = Way;
//! oplus::operator! { Joined[](Way, Way) -> Way = |x, y| Path::make(add(x.length, y.length)) }
//! ```
//! A struct in it is one that the operator takes or gives: others are not defined in CUDA.
//! ```
//! oplus::scalar! { struct Way { length: f64 } }
//! oplus::unary_operator! { Begun[](f64) -> Way = |x| Way::make(x,) }
//! oplus::operator! { Longer[](f64, Way) -> f64 = |x, y| max(Way::make(x).length, y.length) }
//! ```
//! ```compile_fail,E0080
//! oplus::scalar! { struct Way { length: f64 } }
//! oplus::operator! { Longer[](f64, f64) -> f64 = |x, y| max(Way::make(x).length, y) }
//! ```
//! ```compile_fail,E0080
//! oplus::scalar! { struct Way { length: f64 } }
//! oplus::semiring! { struct Longest[](Way, Way) -> f64;
//!     identity = 0.0;
//!     add = |x, y| (max(Way::make(x).length, y));
//!     multiply = |a, b, _| (add(a.length, b.length)); }
//! ```
//! Parentheses hold one value: tuples are compared in Rust, and their commas are operators in C++.
//! ```
//! oplus::scalar! { struct Hop { length: f32, hops: u32 } }
//! oplus::operator! { Shorter[](Hop, Hop) -> Hop =
//!     |x, y| select((x.length < y.length) || (x.length == y.length && x.hops <= max(y.hops, (1u32))), x, y) }
//! ```
//! ```compile_fail,E0080
//! oplus::scalar! { struct Hop { length: f32, hops: u32 } }
//! oplus::operator! { Shorter[](Hop, Hop) -> Hop = |x, y| select((x.length, x.hops) <= (y.length, y.hops), x, y) }
//! ```
//! ```compile_fail,E0080
//! oplus::operator! { Larger[](u32, u32) -> u32 = |x, y| select((x,) < (y,), y, x) }
//! ```
//! ```compile_fail,E0080
//! oplus::operator! { Larger[](u32, u32) -> u32 = |x, y| select(() == (), y, x) }
//! ```
//! ```compile_fail
//! oplus::operator! { Larger[](u32, u32) -> bool = |x, y| (x..y) == (y..x) }
//! ```
//! ```compile_fail
//! fn helper(x: u32) -> u32 { x }
//! oplus::operator! { Larger[](u32, u32) -> u32 = |x, y| max(x, (helper)(y)) }
//! ```
//! What another macro passes on is tokens: an expression of its own, `$e:expr`, is in parentheses in Rust alone, and may be a constant.
//! ```
//! macro_rules! both { ($name:ident $x:ident $y:ident $($e:tt)+) => {
//!     oplus::operator! { $name[](bool, bool) -> bool = |$x, $y| $x && ($($e)+) }
//! } }
//! both!(Both x y x || y);
//! macro_rules! least { ($name:ident $limit:literal $with:literal) => {
//!     oplus::operator! { $name[](f64, f64) -> f64 = |x, y| select($with, min(x, $limit), y) }
//! } }
//! least!(Least 1.5f64 true);
//! ```
//! ```compile_fail
//! macro_rules! both { ($name:ident $x:ident $y:ident $e:expr) => {
//!     oplus::operator! { $name[](bool, bool) -> bool = |$x, $y| $x && $e }
//! } }
//! both!(Both x y x || y);
//! ```
//! ```compile_fail
//! macro_rules! least { ($name:ident $limit:expr) => {
//!     oplus::operator! { $name[](f64, f64) -> f64 = |x, y| min(x, min(y, $limit)) }
//! } }
//! const LIMIT: f64 = 1.5;
//! least!(Least LIMIT);
//! ```
//! ```compile_fail,E0080
//! macro_rules! least { ($name:ident $limit:literal) => {
//!     oplus::operator! { $name[](f64, f64) -> f64 = |x, y| min(x, min(y, $limit)) }
//! } }
//! least!(Least -1.5f64);
//! ```
//! Names are of ASCII letters, digits and `_`, whatever else Rust allows.
//! ```
//! oplus::scalar! { struct Size { size: f32, r#in: u32 } }
//! oplus::operator! { Sum[](f32, f32) -> f32 = |b, r#final| add(b, r#final) }
//! ```
//! ```compile_fail,E0080
//! oplus::scalar! { struct Size { größe: f32, r#in: u32 } }
//! ```
//! ```compile_fail,E0080
//! oplus::scalar! { struct Größe { size: f32, r#in: u32 } }
//! ```
//! ```compile_fail,E0080
//! oplus::operator! { Sum[](f32, f32) -> f32 = |β, y| add(β, y) }
//! ```
//! ```compile_fail,E0080
//! oplus::operator! { Sum[T: oplus::algebra::Number](T, T) -> T = |β, y| add(β, y) }
//! ```
//! No field has its struct's name.
//! ```
//! oplus::scalar! { struct Size { size: f32 } }
//! ```
//! ```compile_fail,E0080
//! oplus::scalar! { struct Size { Size: f32 } }
//! ```
//! T5: a bound scalar is there.
//! ```
//! use oplus::prelude::*;
//! fn raised(a: Matrix<i32>) -> oplus::Result<Matrix<i32>> { apply_second(&a, Plus, 1).eval() }
//! ```
//! ```compile_fail,E0308
//! use oplus::prelude::*;
//! fn raised(a: Matrix<i32>) -> oplus::Result<Matrix<i32>> { apply_second(&a, Plus, None).eval() }
//! ```
//! A select takes a predicate.
//! ```
//! use oplus::prelude::*;
//! fn lower(a: Matrix<i32>) -> oplus::Result<Matrix<i32>> { select(&a, Tril, 0).eval() }
//! ```
//! ```compile_fail,E0271
//! use oplus::prelude::*;
//! fn lower(a: Matrix<i32>) -> oplus::Result<Matrix<i32>> { select(&a, RowIndex, 0).eval() }
//! ```
//! Matrices and vectors are not of one kind.
//! ```
//! use oplus::prelude::*;
//! fn sum(a: Vector<i32>, x: Vector<i32>) -> oplus::Result<Vector<i32>> { ewise_add(&a, &x, Plus).eval() }
//! ```
//! ```compile_fail,E0271
//! use oplus::prelude::*;
//! fn sum(a: Matrix<i32>, x: Vector<i32>) -> oplus::Result<Matrix<i32>> { ewise_add(&a, &x, Plus).eval() }
//! ```
//! B7: indices are u64.
//! ```
//! use oplus::prelude::*;
//! fn built(i: u32, j: u64) -> oplus::Result<Matrix<i32>> { Matrix::build(9, 9, &[(u64::from(i), j, 1)]) }
//! ```
//! ```compile_fail,E0308
//! use oplus::prelude::*;
//! fn built(i: u32, j: u64) -> oplus::Result<Matrix<i32>> { Matrix::build(9, 9, &[(i, j, 1)]) }
//! ```
//! A scalar has no padding, whose bytes would be no value.
//! ```
//! oplus::scalar! { pub struct Tight { wide: u64, narrow: u64 } }
//! ```
//! ```compile_fail,E0080
//! oplus::scalar! { pub struct Padded { wide: u64, narrow: u8 } }
//! ```
//! It is aligned as its fields are.
//! ```
//! oplus::scalar! { #[derive(PartialOrd)] struct Code { letter: u32, number: u32 } }
//! ```
//! ```compile_fail,E0080
//! oplus::scalar! { #[repr(packed)] struct Code { letter: u8, number: u32 } }
//! ```
//! ```compile_fail,E0080
//! oplus::scalar! { #[repr(align(8))] struct Code { letter: u32, number: u32 } }
//! ```
//! Nor are structs in it: its definition in CUDA would name what is not defined there.
//! ```
//! use oplus::algebra::c32;
//! oplus::scalar! { pub struct Flat { first: c32, second: u64 } }
//! ```
//! ```compile_fail,E0080
//! oplus::scalar! { pub struct Inner { wide: u64 } }
//! oplus::scalar! { pub struct Outer { first: Inner, second: Inner } }
//! ```
//! An operator means the same in Rust and in CUDA.
//! ```
//! oplus::operator! { pub Sum[](i32, i32) -> i32 = |x, y| add(x, y) }
//! ```
//! ```compile_fail
//! oplus::operator! { pub Sum[](i32, i32) -> i32 = |x, y| x + y }
//! ```
//! A builder does not write by itself: leaving out its end is at least a warning.
//! ```compile_fail
//! #![deny(unused_must_use)]
//! use oplus::prelude::*;
//! fn forgotten(a: Matrix<i32>) { apply(&a, Negate); }
//! ```
//! So is leaving a matrix where it was made: nothing is changed by that.
//! ```
//! #![deny(unused_must_use)]
//! use oplus::prelude::*;
//! fn taken(a: Matrix<i32>) -> Result<Matrix<i32>> { a.to(&Device::Cpu)?.to_format(Format::Csc) }
//! ```
//! ```compile_fail
//! #![deny(unused_must_use)]
//! use oplus::prelude::*;
//! fn forgotten(a: Matrix<i32>) -> Result<()> { a.to(&Device::Cpu)?; Ok(()) }
//! ```
//! ```compile_fail
//! #![deny(unused_must_use)]
//! use oplus::prelude::*;
//! fn forgotten(x: Vector<i32>) -> Result<()> { x.to_bitmap()?; Ok(()) }
//! ```
//! ```compile_fail
//! #![deny(unused_must_use)]
//! use oplus::prelude::*;
//! fn forgotten(a: Matrix<i32>) { a.transposed(); }
//! ```
