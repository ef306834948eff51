//! Hypersparse matrices whose dimensions are below 2³², where each index could have a place.
#[path = "common/allocator.rs"]
mod allocator;
#[path = "common/long_axes.rs"]
mod long_axes;

use oplus::prelude::*;

const LENGTHS: [u64; 3] = [1 << 26, 4_200_000_000, 1 << 40];

fn long_devices() -> impl Iterator<Item = Device> {
    [Device::Reference, Device::Cpu].into_iter()
}

/// Nothing is as large as a place for every index.
fn cheap<R>(run: impl FnOnce() -> R) -> R {
    let _alone = allocator::alone();
    let (made, peak) = allocator::measured(run);
    assert!(peak < 4 << 20, "{peak} bytes");
    made
}

/// What becomes of an output.
fn into<C: Clone>(c: &C, write: impl FnOnce(&mut C) -> Result<()>) -> Result<C> {
    let mut c = c.clone();
    write(&mut c).map(|()| c)
}

/// A place for every index on one side, and few entries: the other side's lists stay lists.
#[test]
fn full_axes_meet_listed_ones() {
    let (_alone, n) = (allocator::alone(), 1 << 24);
    let listed = Matrix::<i64>::build(n, n, &[(0, 5, 2), (5, n - 1, 3)]).unwrap();
    let full = Matrix::<i64>::build(n, n, &[(5, 0, 7), (n - 1, 5, 1)]).unwrap();
    let full = full.to_format(Format::Csr).unwrap();
    assert_eq!((listed.format(), full.format()), (Format::Hypersparse, Format::Csr));
    let made = |a: Result<Matrix<i64>>| {
        let a = a.unwrap();
        assert_eq!(a.format(), Format::Hypersparse);
        a.entries().unwrap()
    };
    assert_eq!(made(mxm(&listed, &full).eval()), [(0, 0, 14), (5, 5, 3)]);
    assert_eq!(made(ewise_add(&full, &listed, Plus).eval()), [(0, 5, 2), (5, 0, 7), (5, n - 1, 3), (n - 1, 5, 1)]);
    let masked = into(&listed, |c| apply(&full, Negate).mask(&full.structure()).accumulate(Plus).into(c));
    assert_eq!(made(masked), [(0, 5, 2), (5, 0, -7), (5, n - 1, 3), (n - 1, 5, -1)]);
    assert_eq!(made(concat(&[[&listed], [&full]])), [(0, 5, 2), (5, n - 1, 3), (n + 5, 0, 7), (2 * n - 1, 5, 1)]);
}
