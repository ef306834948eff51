//! Matrices of many tiles and blocks, of values of every size, with full rows and columns: the devices that the test binary
//! names (`large_devices`) against the reference.
#[path = "random.rs"]
mod random;

use oplus::prelude::*;
use random::Rng;
use std::fmt::Debug;

oplus::scalar! { pub struct Colour { red: f32, green: f32, blue: f32 } }
oplus::scalar! { pub struct Wide { a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64, i: u64 } }
// Neither commutative nor associative: the order of everything shows.
oplus::operator! { pub Mix[T: Number](T, T) -> T = |x, y| sub(x, add(y, y)) }
oplus::operator! { pub Blend[](Colour, Colour) -> Colour = |x, y| Colour::make(sub(x.red, y.blue), y.red, max(x.blue, y.green)) }
oplus::operator! { pub Redder[](Colour, Colour) -> bool = |x, y| x.red > y.red }
oplus::operator! { pub Taller[](Wide, Wide) -> Wide = |x, y| select(x.a > y.a, x, Wide::make(y.i, y.a, x.a, y.d, y.e, y.f, y.g, y.h, x.i)) }
oplus::operator! { pub Higher[](Wide, Wide) -> bool = |x, y| x.a > y.a }

/// Random entries, a full row and a full column, and rows without any.
fn coo<T: Scalar>(rng: &mut Rng, (m, n): (u64, u64), entries: u64, value: fn(u64) -> T) -> Coo<T> {
    let mut coo = Coo::new(m, n);
    for _ in 0..entries {
        let (i, j) = (rng.below(m), rng.below(n));
        if i % 7 != 3 {
            coo.push(i, j, value(rng.below(120)));
        }
    }
    let (row, column) = (rng.below(m), rng.below(n));
    (0..n).for_each(|j| coo.push(row, j, value(rng.below(120))));
    (0..m).for_each(|i| coo.push(i, column, value(rng.below(120))));
    coo
}

type All<T> = Vec<(u64, u64, T)>;

/// Everything on one device.
fn run<T: Scalar, F, B>(
    device: Device,
    (m, n, entries): (u64, u64, u64),
    value: fn(u64) -> T,
    f: F,
    before: B,
) -> (Vec<All<T>>, All<u64>)
where
    F: BinaryOp<T, T, Out = T>,
    B: BinaryOp<T, T, Out = bool>,
{
    let mut rng = Rng(77);
    let on = |coo: Coo<T>| Matrix::<T>::build_on(&coo, Second, &device).unwrap();
    let (a, b) = (on(coo(&mut rng, (m, n), entries, value)), on(coo(&mut rng, (m, n), entries, value)));
    let mask = on(coo(&mut rng, (m, n), entries, value)).structure();
    let (by_row, by_column) = (extract_column(&b, .., 0).eval().unwrap(), extract_row(&b, 0, ..).eval().unwrap());
    let list = |rng: &mut Rng, n: u64, count: u64| -> Vec<u64> { (0..count).map(|_| rng.below(n)).collect() };
    let (rows, cols) = (list(&mut rng, m, m / 2), list(&mut rng, n, n / 2));
    let ascending: Vec<u64> = (0..n).filter(|j| j % 3 != 1).collect();
    let mut out = vec![];
    let mut keep = |m: Matrix<T>| {
        assert_eq!(m.device(), device);
        out.push(m.entries().unwrap());
    };
    keep(extract(&a, &rows, &cols).eval().unwrap());
    keep(extract(&a, m / 5.., &ascending).eval().unwrap());
    keep(extract(&a.transposed(), 3..n - 9, ..).eval().unwrap());
    keep(extract(&a, .., Indices::stride(n - 1, -2, n / 2)).mask(&extract_mask(&a, n)).eval().unwrap());
    let part = extract(&b, ..m / 2, ..n / 2).eval().unwrap();
    for (complement, replace) in [(false, false), (false, true), (true, false), (true, true)] {
        let mask = if complement { mask.clone().complement() } else { mask.clone() };
        let mut c = a.clone();
        let assignment = assign(&part, &rows, &cols).mask(&mask);
        if replace { assignment.replace() } else { assignment }.accumulate(f).into(&mut c).unwrap();
        keep(c);
        let mut c = a.clone();
        let mask = part.structure();
        let mask = if complement { mask.complement() } else { mask };
        let assignment = subassign(&part, m / 4..m / 4 + m / 2, &cols).mask(&mask);
        if replace { assignment.replace() } else { assignment }.into(&mut c).unwrap();
        keep(c);
    }
    let mut c = a.clone();
    assign(&part, ..m / 2, 5..5 + n / 2).into(&mut c).unwrap();
    assign_row(&by_column, 5, ..).into(&mut c).unwrap();
    assign_column(&by_row, .., 6).accumulate(f).into(&mut c).unwrap();
    assign_scalar(value(5), ..m / 9, ..n / 9).into(&mut c).unwrap();
    assign_scalar(value(6), .., 2..).mask(&mask).into(&mut c).unwrap();
    keep(c);
    keep(ewise_union(&a, value(1), &b, value(2), f).eval().unwrap());
    let (small, other) = (extract(&a, ..40, ..30).eval().unwrap(), extract(&b, 2..42, 3..45).eval().unwrap());
    keep(kronecker(&small, &other, f).eval().unwrap());
    keep(scale_rows(&by_row, &a, f).eval().unwrap());
    keep(scale_columns(&a, &by_column, f).eval().unwrap());
    keep(diag(&by_row, -2).eval().unwrap());
    let tiles = split(&a, &[m / 3, 0, m - m / 3], &[n / 2, n - n / 2]).unwrap();
    keep(tiles[2][1].clone());
    let around: Vec<Vec<&Matrix<T>>> = tiles.iter().rev().map(|line| line.iter().collect()).collect();
    keep(concat(&around).unwrap());
    keep(reshape(&a, n, m).unwrap());
    let (mut c, mut updates) = (a.clone(), Updates::new());
    for k in 0..m {
        updates.set(k, k * 5 % n, value(k % 120)).unwrap();
        updates.remove((k * 3) % m, (k * 15) % n).unwrap();
    }
    c.update(&updates).unwrap();
    keep(c);
    let (values, columns) = sort(&a, before).unwrap();
    keep(values);
    let lying = extract_vector(&by_column, Indices::stride(n - 1, -1, n)).eval().unwrap();
    keep(diag(&lying, 0).eval().unwrap());
    (out, columns.entries().unwrap())
}

fn extract_mask<T: Scalar>(a: &Matrix<T>, n: u64) -> Mask {
    extract(a, .., ..n / 2).eval().unwrap().structure()
}

fn check<T: Scalar, F, B>(size: (u64, u64, u64), value: fn(u64) -> T, f: F, before: B)
where
    F: BinaryOp<T, T, Out = T>,
    B: BinaryOp<T, T, Out = bool>,
{
    let expected = run(Device::Reference, size, value, f, before);
    for device in super::large_devices() {
        let found = run(device, size, value, f, before);
        for (step, (x, y)) in found.0.iter().zip(&expected.0).enumerate() {
            assert!(x == y, "step {step} of {} on {device}", std::any::type_name::<T>());
        }
        assert!(found.1 == expected.1, "columns sorted on {device}");
    }
}

#[test]
fn values_of_every_size_agree() {
    if super::large_devices().is_empty() {
        return;
    }
    let (size, small) = super::LARGE;
    check(size, |v| v as i64 - 50, Mix, Lt);
    check(small, |v| v as u8, Mix, Gt);
    check(small, |v| v as u16 * 300, Mix, Lt);
    check(small, |v| v as f32 * 0.5, Mix, Lt);
    check(small, |v| Colour::make(v as f32, 3.0 - v as f32, 0.25 * v as f32), Blend, Redder);
    check(small, |v| Wide::make(v / 9, 2, 3, 4, v, 6, 7, 8, !v), Taller, Higher);
}

/// Where the best is, in rows of all lengths.
#[test]
fn arguments_of_large_matrices_agree() {
    let run = |device: Device| {
        let mut rng = Rng(5);
        let ((m, n, e), _) = super::LARGE;
        let a = Matrix::<f64>::build_on(&coo(&mut rng, (m, n), e, |v| v as f64), Second, &device).unwrap();
        let lines = |v: Vector<u64>| v.entries().unwrap();
        let row = extract_row(&a, 1, ..).eval().unwrap();
        let ends = (argmin(&row).unwrap(), argmax(&row).unwrap());
        (
            lines(argmin_rows(&a).eval().unwrap()),
            lines(argmax_rows(&a).transpose_a().eval().unwrap()),
            ends,
            diag_extract(&a, 3).eval().unwrap().entries().unwrap(),
        )
    };
    fn same<R: PartialEq + Debug>(x: R, y: R, device: Device) {
        assert!(x == y, "{device}");
    }
    for device in super::large_devices() {
        same(run(device), run(Device::Reference), device);
    }
}
