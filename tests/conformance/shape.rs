//! ewise_union, kronecker, diagonals, tiles, other shapes, sort and single elements, by type.
use crate::call::{Accumulated, Call, of_type, told};
use crate::case::{Fault, Value};
use oplus::prelude::*;

fn united<T: Accumulated, F: BinaryOp<T, T, Out = T>>(call: &Call, f: F) -> Fault<()> {
    let (alpha, beta) = (call.value('s')?, call.value('t')?);
    if call.operand('A')?.vector {
        let (a, b) = (call.vector::<T>('A')?, call.vector::<T>('B')?);
        let union = ewise_union(&a, alpha, &b, beta, f);
        drop((a, b));
        return call.vectors(union);
    }
    let union = ewise_union(&call.matrix::<T>('A')?, alpha, &call.matrix::<T>('B')?, beta, f);
    let union = if call.case.has("ta") { union.transpose_a() } else { union };
    call.matrices(if call.case.has("tb") { union.transpose_b() } else { union })
}

fn multiplied<T: Accumulated, F: BinaryOp<T, T, Out = T>>(call: &Call, f: F) -> Fault<()> {
    kroneckered::<T, T, F>(call, f)
}

fn kroneckered<T: Accumulated, U: Value, F: BinaryOp<T, U, Out = T>>(call: &Call, f: F) -> Fault<()> {
    let product = kronecker(&call.matrix::<T>('A')?, &call.matrix::<U>('B')?, f);
    let product = if call.case.has("ta") { product.transpose_a() } else { product };
    call.matrices(if call.case.has("tb") { product.transpose_b() } else { product })
}

fn scaled<T: Accumulated, F: BinaryOp<T, T, Out = T>>(call: &Call, f: F) -> Fault<()> {
    let (a, v, ta) = (call.matrix::<T>('A')?, call.vector::<T>('B')?, call.case.has("ta"));
    let scaled = match (call.case.word("form"), ta) {
        ("rows", false) => scale_rows(&v, &a, f),
        ("rows", true) => scale_rows(&v, &a, f).transpose_a(),
        (_, false) => scale_columns(&a, &v, f),
        (_, true) => scale_columns(&a.transposed(), &v, f),
    };
    drop((a, v));
    call.matrices(scaled)
}

fn sorted<T: Accumulated, F: BinaryOp<T, T, Out = bool>>(call: &Call, f: F) -> Fault<()> {
    let values = call.case.has("values");
    if call.operand('A')?.vector {
        let (v, p) = told(sort(&call.vector::<T>('A')?, f))?;
        return if values { call.is_vector(&v) } else { call.is_vector(&p) };
    }
    let (v, p) = told(sort(&call.matrix::<T>('A')?, f))?;
    if values { call.is(&v) } else { call.is(&p) }
}

fn joined<T: Accumulated>(call: &Call) -> Fault<()> {
    let size = call.case.word("tiles").split_once('x').and_then(|(h, w)| Some((h.parse().ok()?, w.parse().ok()?)));
    let (height, width): (u32, u32) = size.ok_or("no tiles")?;
    let tile = |n| call.matrix::<T>(char::from_digit(n, 10).ok_or("too many tiles")?);
    let tiles: Vec<_> = (0..height * width).map(tile).collect::<Fault<_>>()?;
    let rows: Vec<Vec<_>> = tiles.chunks(width as usize).map(|row| row.iter().collect()).collect();
    call.is(&told(concat(&rows))?)
}

fn cut<T: Accumulated>(call: &Call) -> Fault<()> {
    let (heights, widths) = (&call.operand('I')?.columns, &call.operand('J')?.columns);
    let tiles = told(split(&call.matrix::<T>('A')?, heights, widths))?;
    let tile = call.number("tile")? as usize;
    call.is(&tiles[tile / widths.len()][tile % widths.len()])
}

fn resized<T: Accumulated>(call: &Call) -> Fault<()> {
    let c = call.operand('C')?;
    if c.vector {
        let mut a = call.vector::<T>('A')?;
        told(a.resize(c.ncols))?;
        return call.is_vector(&a);
    }
    let mut a = call.matrix::<T>('A')?;
    told(a.resize(c.nrows, c.ncols))?;
    call.is(&a)
}

fn reshaped<T: Accumulated>(call: &Call) -> Fault<()> {
    let (a, c) = (call.matrix::<T>('A')?, call.operand('C')?);
    call.is(&told(match call.case.word("form") {
        "columns" => reshape_columns(&a, c.nrows, c.ncols),
        _ => reshape(&a, c.nrows, c.ncols),
    })?)
}

/// A vector as a diagonal, or a diagonal as a vector.
fn diagonal<T: Accumulated>(call: &Call) -> Fault<()> {
    let k = call.number("k")?;
    if call.case.word("op") == "diag" {
        return call.matrices(diag(&call.vector::<T>('A')?, k));
    }
    let a = call.matrix::<T>('A')?;
    call.vectors(match (call.case.has("ta"), call.case.number.is_multiple_of(2)) {
        (false, _) => diag_extract(&a, k),
        (true, false) => diag_extract(&a, k).transpose_a(),
        (true, true) => diag_extract(&a.transposed(), k),
    })
}

/// One by one, or all at once; `removed`: first what is removed, then what is set.
fn updated<T: Accumulated>(call: &Call) -> Fault<()> {
    let (set, removed) = (call.operand('U')?.coo::<T>()?, call.operand('D')?.coo::<T>()?);
    let set: Vec<_> = set.rows.iter().zip(&set.columns).zip(&set.values).collect();
    let removed: Vec<_> = removed.rows.iter().zip(&removed.columns).collect();
    let one_by_one = set.len() + removed.len() < 10;
    let mut updates = Updates::new();
    let (before, after) = if call.case.has("removed") { (&removed[..], &[][..]) } else { (&[][..], &removed[..]) };
    before.iter().try_for_each(|(i, j)| told(updates.remove(**i, **j)))?;
    set.iter().try_for_each(|((i, j), v)| told(updates.set(**i, **j, **v)))?;
    after.iter().try_for_each(|(i, j)| told(updates.remove(**i, **j)))?;
    if call.operand('A')?.vector {
        let mut a = call.vector::<T>('A')?;
        if one_by_one {
            before.iter().try_for_each(|(_, j)| told(a.remove(**j)))?;
            set.iter().try_for_each(|((_, j), v)| told(a.set(**j, **v)))?;
            after.iter().try_for_each(|(_, j)| told(a.remove(**j)))?;
        } else {
            told(a.update(&updates))?;
        }
        return call.is_vector(&a);
    }
    let mut a = call.matrix::<T>('A')?;
    if one_by_one {
        before.iter().try_for_each(|(i, j)| told(a.remove(**i, **j)))?;
        set.iter().try_for_each(|((i, j), v)| told(a.set(**i, **j, **v)))?;
        after.iter().try_for_each(|(i, j)| told(a.remove(**i, **j)))?;
    } else {
        told(a.update(&updates))?;
    }
    call.is(&a)
}

/// What moves entries only.
fn moved<T: Accumulated>(call: &Call) -> Fault<()> {
    match call.case.word("op") {
        "diag" | "diag_extract" => diagonal::<T>(call),
        "resize" => resized::<T>(call),
        "reshape" => reshaped::<T>(call),
        "concat" => joined::<T>(call),
        "split" => cut::<T>(call),
        "update" => updated::<T>(call),
        other => Err(format!("no operation {other}")),
    }
}

macro_rules! operations { ($($op:literal $run:ident { $($name:literal $f:ident: $($t:ident)*;)* })*) => {
    pub fn run(call: &Call) -> Fault<()> {
        // A concatenation has no A.
        let scalar = call.operand('A').or(call.operand('0'))?.scalar;
        // Of two types.
        if (call.case.word("op"), call.operand('B').map_or("", |b| b.scalar)) == ("kronecker", "bool") && scalar == "f64" {
            return kroneckered::<f64, bool, _>(call, First);
        }
        match (call.case.word("op"), call.case.word("f"), scalar) {
            $($($(($op, $name, stringify!($t)) => $run::<$t, _>(call, $f),)*)*)*
            _ => of_type!(call, scalar, moved),
        }
    }
} }
operations! {
    "ewise_union" united {
        "plus" Plus: u8 i32 i64 f64 c64;
        "minus" Minus: u16 i32 f64 c32;
        "times" Times: i8 i32 f64;
        "min" Min: i16 i32 u64 f32 f64;
        "second" Second: bool i32 u32 f64;
    }
    "kronecker" multiplied {
        "times" Times: u8 i32 u64 f64 c32;
        "minus" Minus: i16 i32 f64;
        "first" First: bool i32 u32 f64 c64;
        "min" Min: i8 u16 i32 i64 f32 f64;
    }
    "scale" scaled {
        "times" Times: u16 i32 u32 f32 f64 c64;
        "minus" Minus: i8 i32 i64 f64;
        "second" Second: bool u8 i16 i32 u64 f64 c32;
    }
    "sort" sorted {
        "lt" Lt: u8 u16 i32 i64 f32 f64;
        "gt" Gt: i8 i16 i32 u32 u64 f64;
    }
}
