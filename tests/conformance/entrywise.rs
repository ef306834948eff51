//! Operations entry by entry, by operator and type.
use crate::call::{Accumulated, Call, told};
use crate::case::{Fault, Value};
use oplus::algebra::Eq;
use oplus::prelude::*;

/// The operation on matrices or vectors, whichever A is, with the transpose options of matrices.
macro_rules! either {
    ($call:ident, |$a:ident: $t:ty| $operation:expr) => {
        // The operation alone holds A while it runs.
        if $call.operand('A')?.vector {
            let $a = $call.vector::<$t>('A')?;
            let operation = $operation;
            drop($a);
            $call.vectors(operation)
        } else {
            let $a = $call.matrix::<$t>('A')?;
            let operation = if !$call.case.has("ta") {
                $operation
            } else if $call.case.number.is_multiple_of(2) {
                $operation.transpose_a()
            } else {
                let $a = $a.transposed();
                $operation
            };
            drop($a);
            $call.matrices(operation)
        }
    };
}

fn added<T: Accumulated, F: BinaryOp<T, T, Out = T> + Default>(call: &Call) -> Fault<()> {
    if call.operand('A')?.vector {
        return call.vectors(ewise_add(&call.vector::<T>('A')?, &call.vector::<T>('B')?, F::default()));
    }
    let sum = ewise_add(&call.matrix::<T>('A')?, &call.matrix::<T>('B')?, F::default());
    let sum = if call.case.has("ta") { sum.transpose_a() } else { sum };
    call.matrices(if call.case.has("tb") { sum.transpose_b() } else { sum })
}

fn multiplied<T: Value, U: Value, F: BinaryOp<T, U, Out: Accumulated> + Default>(call: &Call) -> Fault<()> {
    if call.operand('A')?.vector {
        return call.vectors(ewise_mult(&call.vector::<T>('A')?, &call.vector::<U>('B')?, F::default()));
    }
    let product = ewise_mult(&call.matrix::<T>('A')?, &call.matrix::<U>('B')?, F::default());
    let product = if call.case.has("ta") { product.transpose_a() } else { product };
    call.matrices(if call.case.has("tb") { product.transpose_b() } else { product })
}

fn bound<T: Value, F: BinaryOp<T, T, Out: Accumulated> + Default>(call: &Call) -> Fault<()> {
    let value = call.scalar::<T>()?;
    if call.case.word("op") == "apply_first" {
        either!(call, |a: T| apply_first(value, F::default(), &a))
    } else {
        either!(call, |a: T| apply_second(&a, F::default(), value))
    }
}

fn with<T: Value, F: BinaryOp<T, T, Out: Accumulated> + Default>(call: &Call) -> Fault<()> {
    if call.case.word("op") == "ewise_mult" { multiplied::<T, T, F>(call) } else { bound::<T, F>(call) }
}

fn closed<T: Accumulated, F: BinaryOp<T, T, Out = T> + Default>(call: &Call) -> Fault<()> {
    if call.case.word("op") == "ewise_add" { added::<T, F>(call) } else { with::<T, F>(call) }
}

/// Products of operands of two types.
fn mixed(call: &Call) -> Fault<()> {
    match (call.operand('A')?.scalar, call.operand('B')?.scalar, call.case.word("f")) {
        ("i32", "i8", "bshift") => multiplied::<i32, i8, Bshift>(call),
        ("f64", "u8", "first") => multiplied::<f64, u8, First>(call),
        ("bool", "i32", "second") => multiplied::<bool, i32, Second>(call),
        other => Err(format!("no operator {other:?}")),
    }
}

macro_rules! operators { ($($t:ident { $($name:literal $op:ident)* } { $($other:literal $compare:ident)* })*) => {
    /// ewise_add, ewise_mult, apply_first and apply_second.
    pub fn binary(call: &Call) -> Fault<()> {
        if call.operand('B').is_ok_and(|b| Ok(b.scalar) != call.operand('A').map(|a| a.scalar)) {
            return mixed(call);
        }
        match (call.operand('A')?.scalar, call.case.word("f")) {
            $($((stringify!($t), $name) => closed::<$t, $op>(call),)*
            $((stringify!($t), $other) => with::<$t, $compare>(call),)*)*
            other => Err(format!("no operator {other:?}")),
        }
    }
} }
operators! {
    bool { "lor" Lor "land" Land "lxor" Lxor "lxnor" Lxnor "first" First "second" Second }
        { "eq" Eq "ne" Ne "lt" Lt "le" Le "gt" Gt "ge" Ge }
    u8 {
        "plus" Plus "minus" Minus "times" Times "div" Div "min" Min "max" Max "first" First "second" Second "bor" Bor
        "band" Band "bxor" Bxor "bxnor" Bxnor
    }
       { "eq" Eq "ne" Ne "lt" Lt "le" Le "gt" Gt "ge" Ge }
    i32 {
        "plus" Plus "minus" Minus "times" Times "div" Div "min" Min "max" Max "first" First "second" Second "bget" Bget
        "bset" Bset "bclr" Bclr "rminus" Rminus "iseq" IsEq
    }
        { "eq" Eq "ne" Ne "lt" Lt "le" Le "gt" Gt "ge" Ge }
    f64 {
        "plus" Plus "minus" Minus "times" Times "div" Div "min" Min "max" Max "first" First "second" Second "rdiv" Rdiv
        "fmod" Fmod "isgt" IsGt "copysign" CopySign
    }
        { "eq" Eq "ne" Ne "lt" Lt "le" Le "gt" Gt "ge" Ge }
    c64 { "plus" Plus "minus" Minus "times" Times "div" Div "first" First "second" Second } { "eq" Eq "ne" Ne }
    // Of the other types some each: whatever a type has, and every operator.
    i8 { "plus" Plus "minus" Minus "min" Min } { "lt" Lt }
    i16 { "times" Times "max" Max "div" Div } { "eq" Eq }
    u16 { "plus" Plus "div" Div } { "gt" Gt }
    u32 { "minus" Minus "second" Second } { "ne" Ne }
    i64 { "plus" Plus "times" Times "min" Min } { "le" Le }
    u64 { "plus" Plus "max" Max "first" First } { "ge" Ge }
    f32 { "plus" Plus "minus" Minus "times" Times "div" Div "min" Min "max" Max } { "lt" Lt }
    c32 { "plus" Plus "minus" Minus "times" Times } { "ne" Ne }
}

fn mapped<T: Value, F: UnaryOp<T, Out: Accumulated> + Default>(call: &Call) -> Fault<()> {
    either!(call, |a: T| apply(&a, F::default()))
}

pub fn unary(call: &Call) -> Fault<()> {
    macro_rules! by_type { ($($t:ident { $($name:literal $op:ident)* })*) => {
        match (call.operand('A')?.scalar, call.case.word("f")) {
            $($((stringify!($t), $name) => mapped::<$t, $op>(call),)*)*
            other => Err(format!("no operator {other:?}")),
        }
    } }
    by_type! {
        bool { "identity" Identity "lnot" Not }
        u8 { "identity" Identity "ainv" Negate "minv" Inverse "bnot" Bnot }
        i32 { "identity" Identity "ainv" Negate "abs" Abs "minv" Inverse "lnot" IsZero }
        f64 {
            "identity" Identity "ainv" Negate "abs" Abs "minv" Inverse "sqrt" Sqrt "floor" Floor "signum" Signum
        }
        c64 {
            "identity" Identity "ainv" Negate "abs" Abs "minv" Inverse "conj" Conjugate "creal" RealPart
            "cimag" ImaginaryPart "round" Round
        }
        i8 { "identity" Identity "ainv" Negate "abs" Abs }
        i16 { "ainv" Negate "minv" Inverse }
        u16 { "identity" Identity "bnot" Bnot }
        u32 { "lnot" IsZero "minv" Inverse }
        i64 { "ainv" Negate "abs" Abs }
        u64 { "identity" Identity "bnot" Bnot }
        f32 { "ainv" Negate "abs" Abs "minv" Inverse "sqrt" Sqrt }
        c32 { "ainv" Negate "abs" Abs "conj" Conjugate }
    }
}

fn indexed<T: Value>(call: &Call) -> Fault<()> {
    let thunk = call.scalar::<i64>()?;
    match call.case.word("f") {
        "rowindex" => either!(call, |a: T| apply_index(&a, RowIndex, thunk)),
        "colindex" => either!(call, |a: T| apply_index(&a, ColIndex, thunk)),
        _ => either!(call, |a: T| apply_index(&a, DiagIndex, thunk)),
    }
}

pub fn index(call: &Call) -> Fault<()> {
    match call.operand('A')?.scalar {
        "bool" => indexed::<bool>(call),
        "u16" => indexed::<u16>(call),
        "f32" => indexed::<f32>(call),
        "c32" => indexed::<c32>(call),
        _ => indexed::<f64>(call),
    }
}

fn at_position<T: Accumulated, F: IndexUnaryOp<T, i64, Out = bool>>(call: &Call, f: F) -> Fault<()> {
    let thunk = call.scalar::<i64>()?;
    either!(call, |a: T| select(&a, f, thunk))
}

fn by_position<T: Accumulated>(call: &Call) -> Fault<()> {
    match call.case.word("f") {
        "tril" => at_position::<T, _>(call, Tril),
        "triu" => at_position::<T, _>(call, Triu),
        "diag" => at_position::<T, _>(call, Diag),
        "offdiag" => at_position::<T, _>(call, Offdiag),
        "rowle" => at_position::<T, _>(call, RowLe),
        "rowgt" => at_position::<T, _>(call, RowGt),
        "colle" => at_position::<T, _>(call, ColLe),
        "colgt" => at_position::<T, _>(call, ColGt),
        other => Err(format!("no predicate {other}")),
    }
}

fn by_value<T: Accumulated, F: IndexUnaryOp<T, T, Out = bool>>(call: &Call, f: F) -> Fault<()> {
    let thunk = call.scalar::<T>()?;
    either!(call, |a: T| select(&a, f, thunk))
}

fn by_order<T: Accumulated + Comparable>(call: &Call) -> Fault<()> {
    match call.case.word("f") {
        "valuelt" => by_value::<T, _>(call, ValueLt),
        "valuele" => by_value::<T, _>(call, ValueLe),
        "valuegt" => by_value::<T, _>(call, ValueGt),
        "valuege" => by_value::<T, _>(call, ValueGe),
        _ => by_truth::<T>(call),
    }
}

fn by_truth<T: Accumulated>(call: &Call) -> Fault<()> {
    match call.case.word("f") {
        "valueeq" => by_value::<T, _>(call, ValueEq),
        "valuene" => by_value::<T, _>(call, ValueNe),
        _ => by_position::<T>(call),
    }
}

fn by_some<T: Accumulated + Number>(call: &Call) -> Fault<()> {
    match call.case.word("f") {
        "valuelt" => by_value::<T, _>(call, ValueLt),
        "valuege" => by_value::<T, _>(call, ValueGe),
        _ => by_few::<T>(call),
    }
}

fn by_few<T: Accumulated>(call: &Call) -> Fault<()> {
    match call.case.word("f") {
        "valuene" => by_value::<T, _>(call, ValueNe),
        "triu" => at_position::<T, _>(call, Triu),
        other => Err(format!("no predicate {other}")),
    }
}

pub fn selection(call: &Call) -> Fault<()> {
    match call.operand('A')?.scalar {
        "bool" => by_order::<bool>(call),
        "u8" => by_order::<u8>(call),
        "i32" => by_order::<i32>(call),
        "c64" => by_truth::<c64>(call),
        "i8" => by_some::<i8>(call),
        "i16" => by_some::<i16>(call),
        "u16" => by_some::<u16>(call),
        "u32" => by_some::<u32>(call),
        "i64" => by_some::<i64>(call),
        "u64" => by_some::<u64>(call),
        "f32" => by_some::<f32>(call),
        "c32" => by_few::<c32>(call),
        _ => by_order::<f64>(call),
    }
}

/// Conversion of every type to every other; with a mask, accumulator or output of some.
pub fn conversion(call: &Call) -> Fault<()> {
    fn to<T: Value, U: Value>(call: &Call) -> Fault<()>
    where
        Cast<U>: UnaryOp<T, Out = U>,
    {
        if call.operand('A')?.vector {
            let c = told(cast::<U, _>(&call.vector::<T>('A')?))?;
            return call.is_vector(&c);
        }
        let c = told(cast::<U, _>(&call.matrix::<T>('A')?))?;
        call.is(&c)
    }
    fn written<T: Value, U: Accumulated>(call: &Call) -> Fault<()>
    where
        Cast<U>: UnaryOp<T, Out = U>,
    {
        either!(call, |a: T| apply(&a, Cast::<U>::default()))
    }
    // Of the types that other operations make of these as well.
    macro_rules! written { ($($t:ident $u:ident;)*) => {
        match (call.operand('A')?.scalar, call.operand('C')?.scalar) {
            $((stringify!($t), stringify!($u)) => return written::<$t, $u>(call),)*
            other => Err(format!("no conversion {other:?} into an output")),
        }
    } }
    if call.case.has("written") {
        return written! {
            i8 bool; u8 bool; i16 bool; u32 bool; i64 bool; f64 bool; c64 bool; bool i64; u16 i64; f32 i64; f64 i64; c32 i64; c32 f32;
            c64 f64; i32 f64; f64 i32;
        };
    }
    macro_rules! pairs {
        ($($t:ident)* , $all:tt) => {
            match call.operand('A')?.scalar {
                $(stringify!($t) => pairs!(@ $t $all),)*
                other => Err(format!("no conversion from {other}")),
            }
        };
        (@ $t:ident [$($u:ident)*]) => {
            match call.operand('C')?.scalar {
                $(stringify!($u) => to::<$t, $u>(call),)*
                other => Err(format!("no conversion to {other}")),
            }
        };
    }
    pairs!(bool i8 u8 i16 u16 u32 i32 i64 u64 f32 f64 c32 c64, [bool i8 u8 i16 u16 u32 i32 i64 u64 f32 f64 c32 c64])
}
