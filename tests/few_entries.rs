//! A few entries of a long vector, written and looked at: what is said of them, and that they stay where they lie.
#[path = "common/few.rs"]
mod few;

use oplus::prelude::*;

#[test]
fn writes() {
    few::writes_are_what_the_definition_says(&Device::Cpu, 600);
    few::writes_are_what_the_definition_says(&Device::Reference, 60);
}

#[test]
fn reads() {
    few::reads_are_what_the_definition_says(&Device::Cpu, 300);
}

#[test]
fn steps() {
    few::steps_are_what_the_definition_says(&Device::Cpu, 200);
}

/// Each of these wrote all of the vector anew, as a list.
#[test]
fn bitmaps_stay_bitmaps() {
    let n = 100_000;
    let mut c: Vector<i64> = Vector::build(n, &[(1, 10), (50_000, 20)]).unwrap().to_bitmap().unwrap();
    let mask: Vector<bool> = Vector::build(n, &[(1, true), (7, true)]).unwrap();
    assign_scalar_vector(5i64, ..).mask(&mask.structure()).into(&mut c).unwrap();
    assert_eq!((c.format(), c.entries().unwrap()), (Format::Bitmap, vec![(1, 5), (7, 5), (50_000, 20)]));
    assign_scalar_vector(6i64, [99, 7]).into(&mut c).unwrap();
    assert_eq!((c.format(), c.entries().unwrap()), (Format::Bitmap, vec![(1, 5), (7, 6), (99, 6), (50_000, 20)]));
    assign_empty_vector(..).mask(&mask.structure()).into(&mut c).unwrap();
    assert_eq!((c.format(), c.entries().unwrap()), (Format::Bitmap, vec![(99, 6), (50_000, 20)]));
    c.set(3, 4).unwrap();
    c.remove(99).unwrap();
    assert_eq!((c.format(), c.entries().unwrap()), (Format::Bitmap, vec![(3, 4), (50_000, 20)]));
    assert!(c.set(n, 1).is_err() && c.remove(n).is_err());
}

/// A list that little is written to again and again becomes one.
#[test]
fn lists_become_bitmaps() {
    let n = 10_000u64;
    let all: Vec<(u64, i64)> = (0..n / 2).map(|i| (2 * i, 1)).collect();
    let a_few = |k: u64| -> Vector<bool> { Vector::build(n, &[(k, true), (k + 500, true)]).unwrap() };
    let (mut levels, mut open): (Vector<i64>, Vector<i64>) =
        (Vector::build(n, &all).unwrap(), Vector::build(n, &all).unwrap());
    for k in 0..20 {
        assign_scalar_vector(k as i64, ..).mask(&a_few(k).structure()).into(&mut levels).unwrap();
        assign_empty_vector(..).mask(&a_few(k).structure()).into(&mut open).unwrap();
    }
    assert_eq!((levels.format(), open.format()), (Format::Bitmap, Format::Bitmap));
    assert_eq!((levels.nvals(), open.nvals()), (5020, 4980));
}
