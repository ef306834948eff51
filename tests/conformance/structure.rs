//! reduce, transpose, extract and build, by type.
use crate::call::{Accumulated, Call, of_type, told};
use crate::case::{Fault, Value};
use oplus::prelude::*;

fn folded<T: Accumulated, M: Monoid<T> + Default>(call: &Call) -> Fault<()> {
    if call.case.word("op") == "reduce_rows" {
        let a = call.matrix::<T>('A')?;
        let rows = if !call.case.has("ta") {
            reduce_rows(&a, M::default())
        } else if call.case.number.is_multiple_of(2) {
            reduce_rows(&a, M::default()).transpose_a()
        } else {
            reduce_rows(&a.transposed(), M::default())
        };
        drop(a);
        return call.vectors(rows);
    }
    let sum = if call.operand('A')?.vector {
        reduce(&call.vector::<T>('A')?, M::default())
    } else {
        reduce(&call.matrix::<T>('A')?, M::default())
    };
    call.compare((1, 1), vec![(0, 0, told(sum)?)])
}

pub fn reduction(call: &Call) -> Fault<()> {
    macro_rules! by_type { ($($t:ident { $($name:literal $op:ident)* })*) => {
        match (call.operand('A')?.scalar, call.case.word("f")) {
            $($((stringify!($t), $name) => folded::<$t, $op>(call),)*)*
            other => Err(format!("no monoid {other:?}")),
        }
    } }
    by_type! {
        bool { "lor" Lor "land" Land "lxor" Lxor "lxnor" Lxnor }
        u8 {
            "plus" Plus "times" Times "min" Min "max" Max "bor" Bor "band" Band "bxor" Bxor "bxnor" Bxnor
        }
        i32 { "plus" Plus "times" Times "min" Min "max" Max }
        f64 { "plus" Plus "times" Times "min" Min "max" Max }
        c64 { "plus" Plus "times" Times }
        i8 { "plus" Plus "min" Min }
        i16 { "times" Times "max" Max }
        u16 { "plus" Plus "bor" Bor }
        u32 { "min" Min "bxor" Bxor }
        i64 { "plus" Plus "max" Max }
        u64 { "plus" Plus "min" Min }
        f32 { "plus" Plus "times" Times "min" Min "max" Max }
        c32 { "plus" Plus }
    }
}

fn moved<T: Accumulated>(call: &Call) -> Fault<()> {
    let (a, ta) = (call.matrix::<T>('A')?, call.case.has("ta"));
    if call.case.word("op") == "transpose" {
        let turned = if ta { transpose(&a).transpose_a() } else { transpose(&a) };
        drop(a);
        return call.matrices(turned);
    }
    let rows = &call.operand('I')?.columns;
    let some = if ta { extract_rows(&a.transposed(), rows) } else { extract_rows(&a, rows) };
    drop(a);
    call.matrices(some)
}

fn built<T: Value, F: BinaryOp<T, T, Out = T> + Default>(call: &Call) -> Fault<()> {
    let coo = call.operand('A')?.coo::<T>()?;
    if !call.operand('A')?.vector {
        let c: Matrix<T> = told(Matrix::build_on(&coo, F::default(), &call.device))?;
        return call.is(&c);
    }
    let entries: Vec<_> = coo.columns.into_iter().zip(coo.values).collect();
    let c: Vector<T> = told(Vector::build_on(coo.ncols, &entries, F::default(), &call.device))?;
    call.is_vector(&c)
}

pub fn movement(call: &Call) -> Fault<()> {
    of_type!(call, call.operand('A')?.scalar, moved)
}

pub fn building(call: &Call) -> Fault<()> {
    fn numbers<T: Value + Number>(call: &Call) -> Fault<()> {
        if call.case.word("f") == "min" { built::<T, Min>(call) } else { arithmetic::<T>(call) }
    }
    fn arithmetic<T: Value + Arithmetic>(call: &Call) -> Fault<()> {
        match call.case.word("f") {
            "plus" => built::<T, Plus>(call),
            "minus" => built::<T, Minus>(call),
            "first" => built::<T, First>(call),
            _ => built::<T, Second>(call),
        }
    }
    match (call.operand('A')?.scalar, call.case.word("f")) {
        ("bool", "lor") => built::<bool, Lor>(call),
        ("bool", "lxor") => built::<bool, Lxor>(call),
        ("bool", "first") => built::<bool, First>(call),
        ("bool", _) => built::<bool, Second>(call),
        ("u8", _) => numbers::<u8>(call),
        ("i32", _) => numbers::<i32>(call),
        ("c64", _) => arithmetic::<c64>(call),
        ("i8", _) => built::<i8, Minus>(call),
        ("i16", _) => built::<i16, First>(call),
        ("u16", _) => built::<u16, Plus>(call),
        ("u32", _) => built::<u32, Second>(call),
        ("i64", _) => built::<i64, Min>(call),
        ("u64", _) => built::<u64, Plus>(call),
        ("f32", _) => built::<f32, Plus>(call),
        ("c32", _) => built::<c32, Plus>(call),
        _ => numbers::<f64>(call),
    }
}
