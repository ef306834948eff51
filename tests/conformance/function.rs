//! Operators value by value, by name and type.
use crate::call::{Call, told};
use crate::case::{Fault, Value};
use oplus::prelude::*;

/// What each library rounds as it can: within some units of the last place.
const ROUNDED: [&str; 27] = [
    "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp2", "expm1", "log2", "log10", "log1p", "asin",
    "acos", "atan", "asinh", "acosh", "atanh", "cbrt", "erf", "erfc", "lgamma", "tgamma", "pow", "atan2", "hypot",
];

/// A value whose distance to another can be told.
trait Near: Value {
    /// Within so many units of the last place of the other or of `floor`.
    fn near(self, other: Self, units: f64, floor: f64) -> bool;
}
macro_rules! whole { ($($t:ident)*) => {$(
    impl Near for $t {
        fn near(self, other: Self, _: f64, _: f64) -> bool { self.same(other) }
    }
)*} }
whole!(bool i8 u8 i16 u16 i32 u32 i64 u64);
macro_rules! floats { ($($t:ident $c:ident)*) => {$(
    impl Near for $t {
        fn near(self, other: Self, units: f64, floor: f64) -> bool {
            let (x, y) = (f64::from(self), f64::from(other));
            self.same(other) || (x - y).abs() <= units * f64::from($t::EPSILON) * y.abs().max(floor)
        }
    }
    impl Near for $c {
        // Of the larger part: what cancels in the smaller one is not in its last place. Roots and quotients round in steps.
        fn near(self, other: Self, units: f64, floor: f64) -> bool {
            let floor = floor.max(other.re.abs().max(other.im.abs()).into());
            let units = units.max(1.0) * 4.0;
            self.re.near(other.re, units, floor) && self.im.near(other.im, units, floor)
        }
    }
)*} }
floats!(f32 c32 f64 c64);

fn compare<T: Near>(call: &Call, found: Vec<T>, of: &dyn Fn(usize) -> String) -> Fault<()> {
    let expected = call.operand('R')?.coo::<T>()?.values;
    if expected.len() != found.len() {
        return Err(format!("{} values, not {}", found.len(), expected.len()));
    }
    let f = call.case.word("f");
    let units = if ROUNDED.contains(&f) { 16.0 } else { 0.0 };
    let floor = if f == "lgamma" { 1.0 } else { 0.0 };
    match (0..found.len()).find(|&i| !found[i].near(expected[i], units, floor)) {
        Some(i) => Err(format!("{f}({}) is {:?}, not {:?}", of(i), found[i], expected[i])),
        None => Ok(()),
    }
}

fn values<T: Value>(made: oplus::error::Result<Vector<T>>) -> Fault<Vec<T>> {
    Ok(told(told(made)?.entries())?.into_iter().map(|(_, value)| value).collect())
}

/// By itself on the reference, as that of an operation elsewhere. In loops: this is compiled for each operator and type.
fn one<T: Value, F: UnaryOp<T, Out: Near> + Default>(call: &Call) -> Fault<()> {
    let x = call.operand('A')?.coo::<T>()?.values;
    let found = match call.device {
        Device::Reference => {
            let mut found = Vec::new();
            for x in &x {
                found.push(F::apply(*x));
            }
            found
        }
        _ => values(apply(&call.vector::<T>('A')?, F::default()).eval())?,
    };
    compare(call, found, &|i| format!("{:?}", x[i]))
}

/// [`one`] of two arguments.
fn two<T: Value, U: Value, F: BinaryOp<T, U, Out: Near> + Default>(call: &Call) -> Fault<()> {
    let (x, y) = (call.operand('A')?.coo::<T>()?.values, call.operand('B')?.coo::<U>()?.values);
    let found = match call.device {
        Device::Reference => {
            let mut found = Vec::new();
            for (x, y) in x.iter().zip(&y) {
                found.push(F::apply(*x, *y));
            }
            found
        }
        _ => values(ewise_mult(&call.vector::<T>('A')?, &call.vector::<U>('B')?, F::default()).eval())?,
    };
    compare(call, found, &|i| format!("{:?}, {:?}", x[i], y[i]))
}

macro_rules! among {
    ($call:ident $t:ident: { $($name:literal $op:ident)* } { $($other:literal $binary:ident)* } $($shift:literal)?) => {
        match $call.case.word("f") {
            $($name => one::<$t, $op>($call),)*
            $($other => two::<$t, $t, $binary>($call),)*
            $($shift => two::<$t, i8, Bshift>($call),)?
            other => Err(format!("no operator {other} of {}", stringify!($t))),
        }
    };
}
macro_rules! integer { ($call:ident $t:ident) => { among!($call $t:
    { "bnot" Bnot "lnot" IsZero }
    {
        "bor" Bor "band" Band "bxor" Bxor "bxnor" Bxnor "bget" Bget "bset" Bset "bclr" Bclr "pow" Pow "rminus" Rminus "rdiv" Rdiv
        "iseq" IsEq "isne" IsNe "isgt" IsGt "islt" IsLt "isge" IsGe "isle" IsLe "lor" IsLor "land" IsLand "lxor" IsLxor
    } "bshift")
} }
macro_rules! float { ($call:ident $t:ident) => { among!($call $t:
    {
        "lnot" IsZero "sqrt" Sqrt "exp" Exp "log" Log "sin" Sin "cos" Cos "tan" Tan "sinh" Sinh "cosh" Cosh "tanh" Tanh
        "ceil" Ceil "floor" Floor "round" Round "trunc" Trunc "signum" Signum "isinf" IsInf "isnan" IsNan
        "isfinite" IsFinite "exp2" Exp2 "expm1" Expm1 "log2" Log2 "log10" Log10 "log1p" Log1p "asin" Asin "acos" Acos
        "atan" Atan "asinh" Asinh "acosh" Acosh "atanh" Atanh "cbrt" Cbrt "erf" Erf "erfc" Erfc "lgamma" Lgamma
        "tgamma" Tgamma "frexpx" Frexpx "frexpe" Frexpe
    }
    {
        "pow" Pow "rminus" Rminus "rdiv" Rdiv "iseq" IsEq "isne" IsNe "isgt" IsGt "islt" IsLt "isge" IsGe "isle" IsLe "lor" IsLor
        "land" IsLand "lxor" IsLxor "atan2" Atan2 "hypot" Hypot "fmod" Fmod "remainder" Remainder "copysign" CopySign
        "ldexp" Ldexp
    })
} }
macro_rules! complex { ($call:ident $t:ident) => { among!($call $t:
    {
        "sqrt" Sqrt "exp" Exp "log" Log "sin" Sin "cos" Cos "tan" Tan "sinh" Sinh "cosh" Cosh "tanh" Tanh "ceil" Ceil
        "floor" Floor "round" Round "trunc" Trunc "signum" Signum "isinf" IsInf "isnan" IsNan "isfinite" IsFinite
        "exp2" Exp2 "expm1" Expm1 "log2" Log2 "log10" Log10 "log1p" Log1p "asin" Asin "acos" Acos "atan" Atan "asinh" Asinh
        "acosh" Acosh "atanh" Atanh
    }
    { "pow" Pow "rminus" Rminus "rdiv" Rdiv "iseq" IsEq "isne" IsNe })
} }

macro_rules! boolean { ($call:ident $t:ident) => { among!($call $t: {}
    { "pow" Pow "isgt" IsGt "islt" IsLt "isge" IsGe "isle" IsLe "iseq" IsEq "isne" IsNe })
} }

pub fn run(call: &Call) -> Fault<()> {
    match call.operand('A')?.scalar {
        "bool" => boolean!(call bool),
        "i8" => integer!(call i8),
        "u8" => integer!(call u8),
        "i16" => integer!(call i16),
        "u16" => integer!(call u16),
        "i32" => integer!(call i32),
        "u32" => integer!(call u32),
        "i64" => integer!(call i64),
        "u64" => integer!(call u64),
        "f32" => float!(call f32),
        "f64" => float!(call f64),
        "c32" => complex!(call c32),
        "c64" => complex!(call c64),
        other => Err(format!("no functions of {other}")),
    }
}
