//! Products on CUDA whose rows have few columns, summed by threads with hash tables of their own, against the reference, and that it is
//! this kernel that runs; and rows of so many products that a look at some of them comes after the analysis.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/shapes.rs"]
mod shapes;

use common::emulator;
use oplus::prelude::*;
use oplus::primitive::Context;
use shapes::{Hop, Shape, Shortest};

const GPU: Device = Device::Cuda(0);
const KERNEL: &str = "spgemm_hash_thread";

/// Neighbouring rows name neighbouring rows, on twelve diagonals with gaps; the first has more, or no row could have many columns.
fn mesh(rows: u64) -> Shape {
    let steps = [0, 1, 2, 3, 90, 91, 92, 93, 180, 181, 182, 183];
    let places = (0..rows).flat_map(|i| steps.iter().map(move |s| (i, i + s)));
    let first = (0..30).map(|k| (0, k * 5));
    Shape::new((rows, rows), places.filter(|(i, k)| *k < rows && (i * 31 + k * 17) % 23 != 0).chain(first))
}

/// What every so many rows have in common, and some of them with the next ones; columns enough that the matrix is not taken for small.
fn aggregates(rows: u64, each: u64, most: u64) -> Shape {
    let apart = 70_000 * each / rows + 10;
    let places = (0..rows)
        .flat_map(|k| (0..if k == 0 { 10 } else { most - k % most / 2 }).map(move |s| (k, k / each * apart + s)));
    let columns = rows / each * apart + 10;
    Shape::new((rows, columns), places)
}

/// Rows of so many entries, and B's of one or two, but the first.
fn long_rows(rows: u64, entries: u64) -> (Shape, Shape) {
    let a = (0..rows).flat_map(|i| (0..entries).map(move |k| (i, (i + k * 3) % rows)));
    let b = (0..rows).flat_map(|k| (0..if k == 0 { 10 } else { 1 + k % 2 }).map(move |s| (k, k / 100 + s)));
    (Shape::new((rows, rows), a), Shape::new((rows, rows / 100 + 2), b))
}

/// The mask's part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Masked {
    No,
    Only,
    Except,
}

/// What it makes, and the kernels that ran.
fn product<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    (left, right): (&Shape, &Shape),
    (a, b): (fn(u64) -> A, fn(u64) -> B),
    masked: Masked,
    device: &Device,
) -> (Vec<(u64, u64, S::Out)>, Vec<String>) {
    let (a, b) = (left.matrix::<A, S>(a).to(device).unwrap(), right.matrix::<B, S>(b).to(device).unwrap());
    let mask = Shape::random((left.rows, right.columns), left.rows * 4, 9).matrix::<bool, PlusTimes>(|_| true);
    let mask = mask.to(device).unwrap().structure();
    let product = mxm(&a, &b);
    let made = match masked {
        Masked::No => product.traced(),
        Masked::Only => product.mask(&mask).traced(),
        Masked::Except => product.mask(&mask.complement()).traced(),
    };
    let (c, trace) = made.unwrap();
    (c.entries().unwrap(), trace.kernels.into_iter().map(|k| k.name).collect())
}

/// On the device as on the reference, by this kernel alone.
fn check<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    case: (&Shape, &Shape),
    values: (fn(u64) -> A, fn(u64) -> B),
    masked: Masked,
) {
    let (expected, _) = product::<A, B, S>(case, values, masked, &Device::Reference);
    let (found, ran) = product::<A, B, S>(case, values, masked, &GPU);
    assert!(found == expected, "{} {masked:?}", std::any::type_name::<S>());
    // Of so many products as there are on a GPU those under a mask are looked up in it.
    let looked_up = masked == Masked::Only && emulator::emulator().is_none();
    assert!(looked_up || ran.iter().any(|k| k == KERNEL), "{} {masked:?} {ran:?}", std::any::type_name::<S>());
}

/// Sums of any order that are exact.
fn check_numbers(case: (&Shape, &Shape)) {
    check::<bool, bool, AnyPair>(case, (|_| true, |_| true), Masked::No);
    check::<i64, i64, MinFirst>(case, (|v| v as i64 - 50, |v| v as i64), Masked::Except);
    check::<bool, bool, LxorLand>(case, (|v| v % 2 == 0, |v| v % 3 == 0), Masked::No);
    check::<i32, i32, MinPlus>(case, (|v| v as i32 - 9, |v| v as i32), Masked::No);
    check::<f64, f64, PlusTimes>(case, (|v| v as f64, |v| v as f64 - 30.0), Masked::No);
}

/// The same, and values of sixteen bytes: of those a block has no room for tables of over sixteen slots.
fn check_all(case: (&Shape, &Shape)) {
    check_numbers(case);
    let hop = |v: u64| Hop::make(v as f64, v);
    check::<Hop, Hop, Shortest>(case, (hop, |v| Hop::make((v % 7) as f64, 1)), Masked::No);
}

#[test]
fn a_thread_a_row() {
    let Some(_one) = emulator::alone() else { return };
    if emulator::emulator().is_none() {
        return; // rows for a device of many multiprocessors are below
    }
    let rows = 8500;
    check_all((&mesh(rows), &aggregates(rows, 200, 3)));
    check::<u64, u64, AnySecondI>((&mesh(rows), &aggregates(rows, 200, 3)), (|v| v, |v| v), Masked::No);
    // Sixteen slots are too few.
    check::<i64, i64, PlusTimes>((&mesh(rows), &aggregates(rows, 40, 4)), (|v| v as i64, |v| v as i64 - 3), Masked::No);
}

#[test]
fn a_thread_a_row_of_many() {
    let Some(_one) = emulator::alone() else { return };
    if emulator::emulator().is_some() {
        return; // too much for it
    }
    let rows = 400_000;
    check_all((&mesh(rows), &aggregates(rows, 200, 3)));
    check::<u64, u64, AnySecondI>((&mesh(rows), &aggregates(rows, 200, 3)), (|v| v, |v| v), Masked::No);
    check_numbers((&mesh(rows), &aggregates(rows, 40, 4)));
    check::<i64, i64, PlusTimes>(
        (&mesh(rows), &aggregates(rows, 200, 3)),
        (|v| v as i64, |v| v as i64 - 3),
        Masked::Only,
    );
}

/// Rows of so many entries that name rows of B in no order, and B's of up to two.
fn scattered_rows(rows: u64, entries: u64) -> (Shape, Shape) {
    let mut state = 7u64;
    let mut any = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % rows
    };
    // Their columns are few: those of one neighbourhood. The first is longer, or it would be sure that no row has many.
    let lengths = (0..rows).flat_map(|i| (0..if i == 0 { 9 * entries } else { entries }).map(move |_| i));
    let a = lengths.map(|i| (i, (i / 50 * 50 + any() % 170) * 7919 % rows));
    let mut inverse = vec![0; rows as usize];
    (0..rows).for_each(|n| inverse[(n * 7919 % rows) as usize] = n);
    let b = (0..rows).flat_map(|k| (0..k % 3).map(move |s| (k, s)));
    let b: Vec<_> = b.map(|(k, s)| (k, inverse[k as usize] / 100 + s)).collect();
    (Shape::new((rows, rows), a.collect::<Vec<_>>()), Shape::new((rows, rows / 100 + 2), b))
}

#[test]
fn rows_of_b_in_no_order_are_packed() {
    let Some(_one) = emulator::alone() else { return };
    // No multiple of 7919, a prime.
    let rows = if emulator::emulator().is_some() { 1300 } else { 60_000 };
    let (a, b) = scattered_rows(rows, 40);
    check_all((&a, &b));
    check::<i64, i64, PlusTimes>((&a, &b), (|v| v as i64, |v| v as i64 - 3), Masked::Except);
    let (_, ran) = product::<f64, f64, PlusTimes>((&a, &b), (|v| v as f64, |v| v as f64), Masked::No, &GPU);
    assert!(ran.iter().any(|k| k == "pack_rows"), "{ran:?}");
    let (_, ran) = product::<f64, f64, PlusTimes>((&mesh(rows), &b), (|v| v as f64, |v| v as f64), Masked::No, &GPU);
    assert!(ran.iter().all(|k| k != "pack_rows"), "{ran:?}");
}

/// B's rows are taken as they lie.
#[test]
fn without_room_to_pack_rows() {
    let Some(_one) = emulator::alone() else { return };
    let Some(emulator) = emulator::emulator() else { return };
    let (a, b) = scattered_rows(1300, 40);
    let on = |device: &Device| {
        product::<i64, i64, PlusTimes>((&a, &b), (|v| v as i64, |v| v as i64 - 3), Masked::No, device)
    };
    let (expected, _) = on(&Device::Reference);
    let operands = (a.matrix::<i64, PlusTimes>(|v| v as i64), b.matrix::<i64, PlusTimes>(|v| v as i64 - 3));
    let (a, b) = (operands.0.to(&GPU).unwrap(), operands.1.to(&GPU).unwrap());
    let mut unpacked = 0;
    for n in 0..12 {
        // What was kept is given back and asked for again before it is an error.
        Context::get(0).unwrap().trim().unwrap();
        emulator.fail_allocations(n, 2);
        let (c, trace) = mxm(&a, &b).traced().unwrap();
        emulator.fail_allocations(-1, 0);
        assert!(c.entries().unwrap() == expected, "{n}");
        let ran = |name: &str| trace.kernels.iter().any(|k| k.name == name);
        unpacked += u32::from(ran(KERNEL) && !ran("pack_rows"));
    }
    assert!(unpacked > 0);
}

#[test]
fn threads_that_share_a_row() {
    let Some(_one) = emulator::alone() else { return };
    let rows = if emulator::emulator().is_some() { 1200 } else { 30_000 };
    let (a, b) = long_rows(rows, 40);
    check_all((&a, &b));
    check::<i64, i64, PlusTimes>((&a, &b), (|v| v as i64, |v| v as i64 - 3), Masked::Only);
}

/// A row that no sample saw has more columns than any table of a thread has slots: others make the product.
#[test]
fn rows_that_do_not_fit() {
    let Some(_one) = emulator::alone() else { return };
    let rows = if emulator::emulator().is_some() { 1200 } else { 30_000 };
    let mut seen = 0;
    for far in [7, rows / 3, rows / 2 + 1] {
        let (mut a, b) = long_rows(rows, 40);
        let b =
            Shape::new((rows, b.columns + 45), b.places.into_iter().chain((0..45).map(|s| (far, s + rows / 100 + 2))));
        a.places.push((far, far));
        let values: (fn(u64) -> i64, fn(u64) -> i64) = (|v| v as i64, |v| v as i64 - 3);
        let (expected, _) = product::<i64, i64, PlusTimes>((&a, &b), values, Masked::No, &Device::Reference);
        let (found, ran) = product::<i64, i64, PlusTimes>((&a, &b), values, Masked::No, &GPU);
        assert!(found == expected, "{far}");
        seen +=
            usize::from(ran.iter().any(|k| k == KERNEL) && ran.iter().any(|k| k.starts_with("spgemm_") && k != KERNEL));
    }
    assert!(seen > 0, "every such row was in the sample");
}

/// Sums of floats: of one thread those of the reference to the bit, and those of several the same in every run.
#[test]
fn the_order_of_sums() {
    let Some(_one) = emulator::alone() else { return };
    let (rows, few) = if emulator::emulator().is_some() { (8500, 1200) } else { (400_000, 30_000) };
    let values: (fn(u64) -> f64, fn(u64) -> f64) = (|v| v as f64 * 0.1, |v| 1.0 / (v as f64 + 3.0));
    check::<f64, f64, PlusTimes>((&mesh(rows), &aggregates(rows, 200, 3)), values, Masked::No);
    let (a, b) = long_rows(few, 40);
    let (once, ran) = product::<f64, f64, PlusTimes>((&a, &b), values, Masked::No, &GPU);
    assert!(ran.iter().any(|k| k == KERNEL), "{ran:?}");
    for _ in 0..3 {
        assert!(product::<f64, f64, PlusTimes>((&a, &b), values, Masked::No, &GPU).0 == once);
    }
    let on = |device: &Device| {
        let (a, b) = (a.matrix::<f64, PlusTimes>(values.0), b.matrix::<f64, PlusTimes>(values.1));
        let (a, b) = (a.to(device).unwrap(), b.to(device).unwrap());
        mxm(&a, &b).reproducible().eval().unwrap().entries().unwrap()
    };
    assert!(on(&GPU) == on(&Device::Reference));
}

/// Rows of 64 entries that name rows of B of 64 of the same `among` columns, which are far from each other; and of fewer. The products
/// are more than a look at some rows costs.
fn far_columns(among: u64) -> (Shape, Shape) {
    let (rows, groups) = (emulator::sized(8800, 280), 16);
    let a = (0..rows).flat_map(|i| (0..64 - i % 3).map(move |t| (i, (i % groups) + groups * ((i / groups + t) % 80))));
    let b = (0..80 * groups).flat_map(|k| {
        (0..64).map(move |t| (k, k % groups + 71_000 / among * ((k / groups * 7 + t * (among / 64)) % among)))
    });
    (Shape::new((rows, 80 * groups), a), Shape::new((80 * groups, 71_040), b))
}

/// What runs, and what `explain` says of it: `looked` at some rows after the analysis, in which there are `few` columns.
fn check_far<T: Scalar, S: Semiring<T, T>>(case: (&Shape, &Shape), value: fn(u64) -> T, (looked, few): (bool, bool)) {
    // The reference would take a GPU's number of products for minutes.
    let host = if emulator::emulator().is_some() { Device::Reference } else { Device::Cpu };
    let (expected, _) = product::<T, T, S>(case, (value, value), Masked::No, &host);
    let (found, ran) = product::<T, T, S>(case, (value, value), Masked::No, &GPU);
    assert!(found == expected, "{}", std::any::type_name::<S>());
    let ran = |name: &str| ran.iter().any(|k| k == name);
    assert!(ran("spgemm_analyze") && ran("spgemm_hash_count") == looked, "{}", std::any::type_name::<S>());
    assert!(ran("spgemm_hash") == few && ran("spgemm_block") != few, "{}", std::any::type_name::<S>());
    let a = case.0.matrix::<T, S>(value).to(&GPU).unwrap();
    let said = mxm(&a, &case.1.matrix::<T, S>(value).to(&GPU).unwrap()).explain().unwrap();
    let names: Vec<&str> = said.analysis.bins.iter().map(|bin| &*bin.name).collect();
    let otherwise = said.analysis.otherwise.len();
    assert!((names == ["hash"]) == looked && otherwise == usize::from(looked), "{said}");
}

#[test]
fn many_products_in_few_columns_far_apart() {
    let Some(_one) = emulator::alone() else { return };
    let (a, b) = far_columns(128);
    check_far::<i64, PlusTimes>((&a, &b), |v| v as i64 - 50, (true, true));
    check_far::<f32, MinPlus>((&a, &b), |v| v as f32 - 9.0, (true, true));
    // One value for all: bits over the columns.
    check_far::<bool, AnyPair>((&a, &b), |_| true, (false, false));
    // Too many columns, of which a part is seen.
    let (a, b) = far_columns(640);
    check_far::<bool, LxorLand>((&a, &b), |v| v % 3 == 0, (true, false));
}
