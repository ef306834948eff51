//! Products with matrices that have an entry at every place, on any device against the reference.
#![allow(dead_code)] // each of the tests uses a part
#[path = "shapes.rs"]
mod shapes;

use oplus::prelude::*;
pub use shapes::{Hop, Shape, Shortest};

oplus::scalar! { /// 12 bytes: no power of two.
pub struct Span { from: f32, to: f32, count: u32 } }
oplus::semiring! { pub struct Spans[](Span, Span) -> Span;
    identity = Span::make(f32::INFINITY, f32::NEG_INFINITY, 0);
    add = |x, y| (Span::make(min(x.from, y.from), max(x.to, y.to), add(x.count, y.count)));
    multiply = |a, b, _| (Span::make(add(a.from, b.to), add(a.to, b.from), mul(a.count, b.count)));
}
// Factors of two types, neither of which becomes the other.
oplus::semiring! { pub struct Turned[](Span, bool) -> Span;
    identity = Span::make(f32::INFINITY, f32::NEG_INFINITY, 0);
    add = |x, y| (Span::make(min(x.from, y.from), max(x.to, y.to), add(x.count, y.count)));
    multiply = |a, b, _| (select(b, a, Span::make(a.to, a.from, 1u32)));
}
oplus::scalar! { /// 128 bytes: long rows are not cut.
pub struct Large { a: c64, b: c64, c: c64, d: c64, e: c64, f: c64, g: c64, h: c64 } }
oplus::semiring! { pub struct Larges[](Large, Large) -> Large;
    identity = Large::make(c64::ZERO, c64::ZERO, c64::ZERO, c64::ZERO, c64::ZERO, c64::ZERO, c64::ZERO, c64::ZERO);
    add = |x, y| (Large::make(add(x.a, y.a), add(x.b, y.b), add(x.c, y.c), add(x.d, y.d), add(x.e, y.e), add(x.f, y.f), add(x.g, y.g), add(x.h, y.h)));
    multiply = |a, b, _| (Large::make(mul(a.a, b.b), mul(a.b, b.a), mul(a.c, b.c), b.d, a.e, b.f, a.g, mul(a.h, b.h)));
}

fn large(n: u64) -> Large {
    let z = |m: u64| c64::new((n % m) as f64, -((n % 3) as f64));
    Large::make(z(2), z(3), z(4), z(5), z(6), z(7), z(8), z(9))
}

/// Short rows, empty ones, long ones, and one of several parts.
pub fn uneven() -> Shape {
    let row = |i: u64| match i % 23 {
        4 => 0..0,
        7 => 0..300 + i,
        9 => 5..6,
        r => r..r + r % 9 + 1,
    };
    let all = (0..70).flat_map(|i| if i == 30 { 0..4300 } else { row(i) }.map(move |k| (i, k * 7 % 4300)));
    Shape::new((70, 4300), all)
}

/// A of its rows and columns exchanged, and a matrix without gaps from the left: of so many rows that it is worth while.
pub const ROWS: [u64; 4] = [90, 97, 161, 1];

pub fn every_kind_of_semiring_from_the_left(device: Device) {
    let shape = uneven().turned();
    let a = shape.matrix::<i64, _>(|v| v as i64 - 40);
    let (small, byte) = (shape.matrix::<f32, _>(|v| v as f32), shape.matrix::<bool, _>(|v| v % 3 != 0));
    for k in ROWS {
        let full = Shape::full((k, 4300));
        let x = full.matrix::<i64, _>(|v| v as i64 * 3 - 90);
        same::<PlusTimes, _, _>(device, &x, &a);
        let spans = |s: &Shape| s.matrix::<Span, _>(|v| Span::make((v % 11) as f32, (v % 7) as f32, v as u32 % 3));
        same::<Turned, _, _>(device, &spans(&full), &byte);
        same::<AnyPair, _, _>(device, &x, &a);
        same::<Compose<Max, FirstI>, _, _>(device, &x, &a);
        same::<Compose<Max, SecondJ>, _, _>(device, &x, &a);
        same::<Compose<Min, Minus>, _, _>(device, &x, &a);
        if k == ROWS[0] {
            same::<AnySecond, _, _>(device, &x, &a);
            same::<PlusPair, _, _>(device, &x, &a);
            same::<PlusFirst, _, _>(device, &x, &a);
            same::<AnySecondI, _, _>(device, &x, &a);
            same::<LorLand, _, _>(device, &full.matrix::<bool, _>(|v| v % 5 == 1), &byte);
            same::<MaxMin, _, _>(device, &full.matrix::<f32, _>(|v| v as f32 - 30.0), &small);
            same::<Spans, _, _>(device, &spans(&full), &spans(&shape));
            same::<Larges, _, _>(device, &full.matrix::<Large, _>(large), &shape.matrix::<Large, _>(large));
        }
    }
}

/// Numbers of columns about those at which other loops take over.
pub const COLUMNS: [u64; 13] = [1, 2, 3, 4, 5, 7, 11, 12, 13, 16, 33, 66, 130];

/// The product and its transpose: its entries are where they are, other operations can go on.
pub fn product<S: Semiring<A, B>, A: Scalar, B: Scalar>(
    device: Device,
    a: &Matrix<A>,
    x: &Matrix<B>,
) -> [Vec<(u64, u64, S::Out)>; 2] {
    let (a, x) = (a.to(&device).unwrap().over::<S>(), x.to(&device).unwrap().over::<S>());
    let c = mxm(&a, &x).eval().unwrap();
    [c.entries().unwrap(), transpose(&c).eval().unwrap().entries().unwrap()]
}

pub fn same<S: Semiring<A, B>, A: Scalar, B: Scalar>(device: Device, a: &Matrix<A>, x: &Matrix<B>) {
    let (ours, expected) = (product::<S, A, B>(device, a, x), product::<S, A, B>(Device::Reference, a, x));
    assert!(ours == expected, "{} {:?} x {:?}", std::any::type_name::<S>(), a.shape(), x.shape());
}

pub fn every_number_of_columns(device: Device) {
    let a = uneven().matrix::<i64, _>(|v| v as i64 - 40);
    for k in COLUMNS {
        same::<PlusTimes, _, _>(device, &a, &Shape::full((4300, k)).matrix::<i64, _>(|v| v as i64 - 50));
    }
}

pub fn every_kind_of_semiring(device: Device) {
    let shape = uneven();
    let a = shape.matrix::<i64, _>(|v| v as i64 - 40);
    let (small, byte) = (shape.matrix::<f32, _>(|v| v as f32), shape.matrix::<bool, _>(|v| v % 3 != 0));
    for k in [1, 6, 12] {
        let full = Shape::full((4300, k));
        let x = full.matrix::<i64, _>(|v| v as i64 * 3 - 90);
        same::<MinPlus, _, _>(device, &a, &x);
        same::<AnySecond, _, _>(device, &a, &x);
        same::<PlusPair, _, _>(device, &a, &x);
        same::<AnyPair, _, _>(device, &a, &x);
        same::<PlusFirst, _, _>(device, &a, &x);
        same::<AnySecondI, _, _>(device, &a, &x);
        same::<Compose<Max, FirstI>, _, _>(device, &a, &x);
        same::<Compose<Max, SecondJ>, _, _>(device, &a, &x);
        same::<LorLand, _, _>(device, &byte, &full.matrix::<bool, _>(|v| v % 5 == 1));
        same::<MaxMin, _, _>(device, &small, &full.matrix::<f32, _>(|v| v as f32 - 30.0));
        same::<MaxPlus, _, _>(device, &shape.matrix::<u8, _>(|v| v as u8), &full.matrix::<u8, _>(|v| v as u8 / 2));
        let hops = |s: &Shape| s.matrix::<Hop, _>(|v| Hop::make(v as f64, v % 4));
        same::<Shortest, _, _>(device, &hops(&shape), &hops(&full));
        let spans = |s: &Shape| s.matrix::<Span, _>(|v| Span::make((v % 11) as f32, (v % 7) as f32, v as u32 % 3));
        same::<Turned, _, _>(device, &spans(&shape), &full.matrix::<bool, _>(|v| v % 4 == 1));
        same::<Spans, _, _>(device, &spans(&shape), &spans(&full));
        same::<Larges, _, _>(device, &shape.matrix::<Large, _>(large), &full.matrix::<Large, _>(large));
    }
}
