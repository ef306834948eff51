//! Unions, intersections and masked writes of many tiles, of keys of every width, of masks of every density.
use super::random::Rng;
use super::{Mix, both, emulator, entries, matrix, random, same};
use oplus::prelude::*;

/// Many tiles, most of which begin inside a row.
#[test]
fn merges_of_many_tiles() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(8);
    // Rows of about 20, one of all columns, runs of empty ones.
    let mut positions = |salt: u64| {
        let (m, n) = (3000u64, 700u64);
        let mut all: Vec<_> =
            (0..45_000).map(|_| (rng.below(m), rng.below(n))).filter(|p| p.0 % 500 > 40 + salt).collect();
        all.extend((0..n).map(|j| (1234, j)));
        all.sort_unstable();
        all.dedup();
        (m, n, all)
    };
    let (a, b, mask) = (positions(0), positions(9), positions(3));
    both::<f64, Mix>(&a, &b);
    let (x, y, m): (Matrix<f64>, Matrix<f64>, Matrix<bool>) = (matrix(&a, 0), matrix(&b, 3), matrix(&mask, 1));
    same("filled, written", |d| {
        let (x, y, m) = (x.to(&d).unwrap(), y.to(&d).unwrap(), m.to(&d).unwrap());
        let filled = ewise_union(&x, 2.0, &y, -3.0, Mix).eval().unwrap();
        let (mut c, mut e) = (x.clone(), x.clone());
        apply(&y, Identity).mask(&m.structure()).accumulate(Mix).into(&mut c).unwrap();
        apply(&y, Identity).mask(&m.structure().complement()).replace().into(&mut e).unwrap();
        (entries(filled), entries(c), entries(e))
    });
}

/// Keys of rows and columns that fit 32 bits, and just do not; tiles of more rows than are marked; columns up to the last there can be.
#[test]
fn merges_of_wide_and_of_sparse_rows() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(31);
    let last = u64::from(u32::MAX);
    for (m, n, count) in
        [(6u64, 1 << 29, 400), (4, 1 << 30, 400), (900, last, 5000), (300_000, 40, 4000), (300_000, last, 3000)]
    {
        // Few columns at both ends of what there are, so that many meet.
        let mut positions = || {
            let column = |k: u64| if k.is_multiple_of(2) { k % n } else { n - 1 - k % n };
            let mut all: Vec<_> = (0..count).map(|_| (rng.below(m), column(rng.below(1500)))).collect();
            all.extend([(0, 0), (0, n - 1), (m - 1, n - 1)]);
            all.sort_unstable();
            all.dedup();
            (m, n, all)
        };
        let (a, b, mask) = (positions(), positions(), positions());
        let csr = |x: Matrix<i32>| x.to_format(Format::Csr).unwrap();
        let (x, y, mask) = (csr(matrix(&a, 0)), csr(matrix(&b, 3)), csr(matrix(&mask, 1)));
        same(&format!("{m}×{n}"), |d| {
            let (x, y, mask) = (x.to(&d).unwrap(), y.to(&d).unwrap(), mask.to(&d).unwrap());
            let mut c = x.clone();
            apply(&y, Identity).mask(&mask.structure().complement()).replace().into(&mut c).unwrap();
            let union = ewise_add(&x, &y, Mix).eval().unwrap();
            (entries(union), entries(ewise_mult(&x, &y, Mix).eval().unwrap()), entries(c))
        });
    }
}

/// Masks of about as many entries as what they mask, of some times as many, and of so many that each entry looks for itself.
#[test]
fn masks_of_every_density() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(41);
    let (m, n) = (40, 3000);
    let (c, t) = (random(&mut rng, m, n, 1500), random(&mut rng, m, n, 1500));
    for count in [0, 10, 2000, 9000, 60_000] {
        let mask: Matrix<bool> = matrix(&random(&mut rng, m, n, count), 1);
        let (c, t): (Matrix<i32>, Matrix<i32>) = (matrix(&c, 0), matrix(&t, 3));
        same(&format!("{count} in the mask"), |d| {
            let (c, t, mask) = (c.to(&d).unwrap(), t.to(&d).unwrap(), mask.to(&d).unwrap());
            let (mut with, mut without, mut part) = (c.clone(), c.clone(), c.clone());
            apply(&t, Identity).mask(&mask.structure()).accumulate(Mix).into(&mut with).unwrap();
            apply(&t, Identity).mask(&mask.structure().complement()).replace().into(&mut without).unwrap();
            let source = extract(&t, 1.., ..2000).eval().unwrap();
            assign(&source, 1.., ..2000).mask(&mask.structure()).into(&mut part).unwrap();
            (entries(with), entries(without), entries(part))
        });
    }
}

/// Tiles end between the two entries of a pair, which the mask admits both.
#[test]
fn masked_pairs_in_two_tiles() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut t = random(&mut Rng(43), 50, 300, 3000);
    t.2.retain(|&position| position != (0, 0));
    let mut c = t.clone();
    c.2.insert(0, (0, 0));
    let (c, t, mask): (Matrix<i32>, Matrix<i32>, Matrix<bool>) = (matrix(&c, 0), matrix(&t, 3), matrix(&t, 1));
    same("pairs", |d| {
        let (mut c, t, mask) = (c.to(&d).unwrap(), t.to(&d).unwrap(), mask.to(&d).unwrap());
        apply(&t, Identity).mask(&mask.structure()).accumulate(Mix).into(&mut c).unwrap();
        entries(c)
    });
}
