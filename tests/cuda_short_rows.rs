//! Products on CUDA whose rows are all short: made in one pass into room that is guessed.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/meeting.rs"]
mod meeting;

use common::emulator;
use meeting::meeting;
use oplus::prelude::*;

type Entries<T> = Vec<(u64, u64, T)>;

fn masked<S: Semiring<i64, i64>>(a: &Matrix<i64>, mask: &Matrix<bool>, device: Device, which: u32) -> Entries<S::Out> {
    masked_by::<S>(a, mask, device, which, Strategy::Auto)
}

fn masked_by<S: Semiring<i64, i64>>(
    a: &Matrix<i64>,
    mask: &Matrix<bool>,
    device: Device,
    which: u32,
    strategy: Strategy,
) -> Entries<S::Out> {
    let (a, m) = (a.to(&device).unwrap().over::<S>(), mask.to(&device).unwrap());
    let product = match which {
        0 => mxm(&a, &a),
        1 => mxm(&a, &a).mask(&m.structure()),
        _ => mxm(&a, &a).mask(&m.structure().complement()),
    };
    let c = product.strategy(strategy).eval().unwrap();
    // A product of products: the length of the longest row is known of those too.
    assert_eq!(c.nvals(), c.entries().unwrap().len() as u64);
    c.entries().unwrap()
}

/// Sums with every mask, places and presence with one each: cuda_strategies has each semiring with each.
fn in_turns(a: &Matrix<i64>, mask: &Matrix<bool>, strategy: Strategy) {
    fn same<S: Semiring<i64, i64>>(of: (&Matrix<i64>, &Matrix<bool>, Strategy), all: &[u32]) {
        let oracle = emulator::oracle(of.0.nvals());
        for which in all {
            let on = |device| masked_by::<S>(of.0, of.1, device, *which, of.2);
            assert_eq!(on(Device::Cuda(0)), on(oracle), "{}, mask {which}", std::any::type_name::<S>());
        }
    }
    same::<PlusTimes>((a, mask, strategy), &[0, 1, 2]);
    same::<AnySecondI>((a, mask, strategy), &[2]);
    same::<AnyPair>((a, mask, strategy), &[1]);
}

fn square(a: &Matrix<i64>, device: Device) -> Entries<i64> {
    let a = a.to(&device).unwrap();
    mxm(&a, &a).eval().unwrap().entries().unwrap()
}

/// Rows of `length` entries and fewer, some empty, columns anywhere and near.
fn matrix(length: u64, n: u64) -> Matrix<i64> {
    matrix_of(|_| length, n)
}

fn matrix_of(length: impl Fn(u64) -> u64, n: u64) -> Matrix<i64> {
    let mut coo = Coo::<i64>::new(n, n);
    let mut state = 9u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for row in 0..n {
        for e in 0..if row % 7 == 3 { 0 } else { length(row) - row % 2 } {
            let column = if row % 3 == 0 { next(n) } else { (row + e * e) % n };
            coo.push(row, column, next(100) as i64 - 50);
        }
    }
    Matrix::build_with(&coo, Plus).unwrap()
}

#[test]
fn every_width_masked_and_not() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = 66_000;
    let mut mask = Coo::<bool>::new(n, n);
    let pattern = oplus::generate::uniform(n, n, 20, 4).unwrap();
    pattern.rows.iter().zip(&pattern.columns).for_each(|(i, j)| mask.push(*i, *j, true));
    let mask: Matrix<bool> = Matrix::build_with(&mask, First).unwrap();
    in_turns(&matrix(5, n), &mask, Strategy::Auto);
}

/// Rows of more products than a warp sorts, of few entries in A and of many: a block sorts each.
#[test]
fn rows_sorted_by_a_block() {
    if emulator::cuda().is_none() {
        return;
    }
    let long = |row| match row % 512 {
        0 => 140,
        1 => 340,
        2 => 12,
        _ => 3,
    };
    let n = 4099;
    let mut mask = Coo::<bool>::new(n, n);
    let pattern = oplus::generate::uniform(n, n, 900, 4).unwrap();
    pattern.rows.iter().zip(&pattern.columns).filter(|e| e.0 % 512 < 4).for_each(|(i, j)| mask.push(*i, *j, true));
    let mask: Matrix<bool> = Matrix::build_with(&mask, First).unwrap();
    let a = matrix_of(long, n);
    let bins = mxm(&a.to(&Device::Cuda(0)).unwrap(), &a.to(&Device::Cuda(0)).unwrap()).strategy(Strategy::Esc);
    let bins = bins.explain().unwrap().analysis.bins;
    for width in [1024, 2048] {
        assert!(bins.iter().any(|b| b.name == format!("sort {width}")), "{width}: {bins:?}");
    }
    in_turns(&a, &mask, Strategy::Esc);
}

/// A warp sorts many rows at once, and fewer where some next to each other are long.
#[test]
fn rows_sorted_together() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = 8300;
    let pattern = oplus::generate::uniform(n, n, 20, 4).unwrap();
    let mut mask = Coo::<bool>::new(n, n);
    pattern.rows.iter().zip(&pattern.columns).for_each(|(i, j)| mask.push(*i, *j, true));
    let mask: Matrix<bool> = Matrix::build_with(&mask, First).unwrap();
    let a = matrix_of(|row| if row / 16 % 40 == 0 { 20 } else { 3 }, n);
    let (d, r) = (Device::Cuda(0), Device::Reference);
    for which in 0..3 {
        assert_eq!(masked::<PlusTimes>(&a, &mask, d, which), masked::<PlusTimes>(&a, &mask, r, which));
    }
    assert_eq!(masked::<AnySecondI>(&a, &mask, d, 2), masked::<AnySecondI>(&a, &mask, r, 2));
    assert_eq!(masked::<AnyPair>(&a, &mask, d, 0), masked::<AnyPair>(&a, &mask, r, 0));
}

/// Rows of more products than a thread takes: sorted by a warp, or in its hash table where they are many.
#[test]
fn rows_of_warps() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = 1500;
    let pattern = oplus::generate::uniform(n, n, 40, 4).unwrap();
    let mut mask = Coo::<bool>::new(n, n);
    pattern.rows.iter().zip(&pattern.columns).for_each(|(i, j)| mask.push(*i, *j, true));
    let mask: Matrix<bool> = Matrix::build_with(&mask, First).unwrap();
    for length in [9, 20] {
        in_turns(&matrix(length, n), &mask, Strategy::Auto);
    }
    // Long rows of B, and many products a column.
    let mut coo = Coo::<i64>::new(1200, 1200);
    for row in 0..1200u64 {
        (row.saturating_sub(30)..(row + 31).min(1200))
            .for_each(|column| coo.push(row, column, (row * column % 97) as i64));
    }
    let a: Matrix<i64> = Matrix::build_with(&coo, Plus).unwrap();
    assert_eq!(square(&a, Device::Cuda(0)), square(&a, Device::Reference));
}

/// A row has as many lanes as rows of B have entries, and takes longer ones in steps.
#[test]
fn rows_of_parts_of_warps() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = 1300;
    let pattern = oplus::generate::uniform(n, n, 40, 4).unwrap();
    let mut mask = Coo::<bool>::new(n, n);
    pattern.rows.iter().zip(&pattern.columns).for_each(|(i, j)| mask.push(*i, *j, true));
    let mask: Matrix<bool> = Matrix::build_with(&mask, First).unwrap();
    let a = matrix_of(|row| if row % 3 == 0 { 90 } else { 30 }, n);
    for length in [3, 6, 12] {
        let b = matrix_of(|row| if row % 50 == 1 { 39 } else { length }, n);
        let on = |d: Device, which: u32| {
            let (a, b, m) = (a.to(&d).unwrap(), b.to(&d).unwrap(), mask.to(&d).unwrap());
            let m = if which < 2 { m.structure() } else { m.structure().complement() };
            let product = match which {
                0 => mxm(&a, &b),
                _ => mxm(&a, &b).mask(&m),
            };
            product.eval().unwrap().entries().unwrap()
        };
        for which in 0..3 {
            assert_eq!(on(Device::Cuda(0), which), on(Device::Reference, which), "{length}, {which}");
        }
    }
}

/// A sample tells whether rows of few products are worth tables.
#[test]
fn many_rows_of_few_products() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = 8_400u64;
    for spread in [1u64, 3000] {
        let mut coo = Coo::<i64>::new(n, n);
        for row in 0..n {
            (0..10).for_each(|e| coo.push(row, (row + e * spread + (e * row) % spread) % n, (row * e % 19) as i64 - 9));
        }
        let a: Matrix<i64> = Matrix::build_with(&coo, Plus).unwrap();
        assert_eq!(square(&a, Device::Cuda(0)), square(&a, Device::Cpu));
    }
}

/// Tables asked for by name take many short rows in one pass, and rows by class where some have more columns than a table holds.
#[test]
fn many_rows_of_tables_by_name() {
    if emulator::cuda().is_none() {
        return;
    }
    // So many that a sample pays for itself on as many multiprocessors.
    let multiprocessors = oplus::backend::cuda::Context::get(0).unwrap().properties().multiprocessors;
    let (n, d) = (8_200u64.max(u64::from(multiprocessors) * 800), Device::Cuda(0));
    for longest in [4u64, 40] {
        let (mut a, mut b) = (Coo::<i64>::new(n, n), Coo::<i64>::new(n, n));
        for row in 0..n {
            let entries = if row % 512 == 300 { longest } else { 3 };
            (0..entries).for_each(|e| a.push(row, (row * 7 + e * 131) % n, (row + e) as i64 % 19 - 9));
            (0..16).for_each(|e| b.push(row, (row * 31 + e * 97) % n, (row * e) as i64 % 23 - 11));
        }
        let [a, b]: [Matrix<i64>; 2] = [a, b].map(|coo| Matrix::build_with(&coo, Plus).unwrap());
        let expected = mxm(&a.to(&Device::Cpu).unwrap(), &b.to(&Device::Cpu).unwrap()).eval().unwrap();
        let [a, b] = [a, b].map(|m| m.to(&d).unwrap());
        let by_name = || mxm(&a, &b).strategy(Strategy::Hash);
        let said = by_name().explain().unwrap().to_string();
        assert!(said.contains("a hash table a row") && said.contains("should rows not suit"), "{said}");
        let (c, trace) = by_name().traced().unwrap();
        assert_eq!(c.entries().unwrap(), expected.entries().unwrap());
        let ran = |name: &str| trace.kernels.iter().any(|k| k.name.starts_with(name));
        assert!(ran("spgemm_hash"), "{trace}");
        assert_eq!(ran("spgemm_numeric_table"), longest > 4, "{trace}");
        assert!(!ran("spgemm_esc") && !ran("spgemm_block") && !ran("spgemm_window"), "{trace}");
        assert_eq!(by_name().reproducible().eval().unwrap().entries().unwrap(), expected.entries().unwrap());
    }
}

/// Few products of many entries of A, most of which name rows of B without any: several rounds of a warp's 32 entries, whose ends are
/// anywhere in rows, and rows without a single product between.
#[test]
fn few_products_of_long_rows() {
    if emulator::cuda().is_none() {
        return;
    }
    fn product<S: Semiring<i64, i64>>(
        a: &Matrix<i64>,
        b: &Matrix<i64>,
        mask: &Matrix<bool>,
        (device, strategy, which): (Device, Strategy, u32),
    ) -> Entries<S::Out> {
        let [a, b] = [a, b].map(|x| x.to(&device).unwrap().over::<S>());
        let m = mask.to(&device).unwrap();
        let product = match which {
            0 => mxm(&a, &b),
            1 => mxm(&a, &b).mask(&m.structure()),
            _ => mxm(&a, &b).mask(&m.structure().complement()),
        };
        product.strategy(strategy).eval().unwrap().entries().unwrap()
    }
    for most in [90, 45] {
        let (rows, middle, columns) = (700u64, 120u64, 3000u64);
        let (mut a, mut b, mut mask) =
            (Coo::new(rows, middle), Coo::new(middle, columns), Coo::<bool>::new(rows, columns));
        for i in 0..rows {
            for e in 0..if i % 11 == 4 { 0 } else { i * 37 % most } {
                a.push(i, (i * 7 + e * (1 + i % 5)) % middle, (i + e) as i64 % 17 - 8);
            }
            (0..40).for_each(|e| mask.push(i, (i + e * 61) % columns, true));
        }
        for k in (0..middle).filter(|k| k % 9 == 0 || k % 31 == 5) {
            for e in 0..1 + k % 4 {
                b.push(k, (k * 13 + e * 61) % columns, k as i64 - 50);
            }
        }
        let (a, b) = (Matrix::build_with(&a, Plus).unwrap(), Matrix::build_with(&b, Plus).unwrap());
        let mask = Matrix::build_with(&mask, First).unwrap();
        fn same<S: Semiring<i64, i64>>(a: &Matrix<i64>, b: &Matrix<i64>, mask: &Matrix<bool>) {
            for which in 0..3 {
                let on = |device, strategy| product::<S>(a, b, mask, (device, strategy, which));
                let expected = on(Device::Reference, Strategy::Auto);
                for strategy in [Strategy::Auto, Strategy::Esc] {
                    assert_eq!(on(Device::Cuda(0), strategy), expected, "{strategy}, mask {which}");
                }
            }
        }
        same::<PlusTimes>(&a, &b, &mask);
        same::<MinPlus>(&a, &b, &mask);
        same::<MinSecondI>(&a, &b, &mask);
        same::<AnyPair>(&a, &b, &mask);
    }
}

/// Kernels tell one page of the host what they have found, and leave their zeros for the next: by turns, and after these are gone.
#[test]
fn small_products_of_many_threads() {
    if emulator::cuda().is_none() {
        return;
    }
    let context = oplus::backend::cuda::Context::get(0).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let context = &context;
            scope.spawn(move || {
                // By a thread, a warp and a block a row.
                for (length, n) in [(3, 40), (12, 200), (60, 150), (2, 2000)] {
                    let a = matrix(length, n + thread);
                    let expected = square(&a, Device::Cpu);
                    assert_eq!(square(&a, Device::Cuda(0)), expected);
                    context.trim().unwrap();
                    assert_eq!(square(&a, Device::Cuda(0)), expected);
                }
            });
        }
    });
}

/// Rows where the sample does not look have more columns than any table holds.
#[test]
fn rows_that_do_not_fit_go_another_way() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = 3000;
    let mut coo = Coo::<i64>::new(n, n);
    for row in (0..n).filter(|row| row % 256 >= 4) {
        (0..30).for_each(|e| coo.push(row, (row * 131 + e * 977 + e * e * row) % n, (row + e) as i64 % 100));
    }
    let a: Matrix<i64> = Matrix::build_with(&coo, Plus).unwrap();
    assert_eq!(square(&a, Device::Cuda(0)), square(&a, Device::Reference));
    assert!(foretold(&a.to(&Device::Cuda(0)).unwrap()) > 1);
}

/// How many ways A² tries before one suits its rows: those that `explain` lists, in its order, and all rows by each.
fn foretold(a: &Matrix<i64>) -> usize {
    let said = mxm(a, a).explain().unwrap();
    let (_, trace) = mxm(a, a).traced().unwrap();
    let ran = |name: &str| trace.kernels.iter().any(|k| k.name.starts_with(name));
    let mut ways = vec![said.analysis.bins.clone()];
    ways.extend(said.analysis.otherwise.clone());
    let tried: Vec<bool> = ways
        .iter()
        .map(|bins| match &bins[..] {
            [way] if way.name == "hash" => ran("spgemm_hash"),
            [way] if way.name == "sort" => ran("spgemm_esc"),
            [way] if way.name == "block" => ran("spgemm_block"),
            [way] if way.name == "thread" => ran("spgemm_thread"),
            _ => ran("spgemm_analyze"),
        })
        .collect();
    let count = tried.iter().take_while(|tried| **tried).count();
    assert!(count > 0 && !tried[count..].contains(&true), "{said}{trace}");
    for bins in &ways {
        assert_eq!(bins.iter().map(|b| b.rows).sum::<u64>(), a.nrows(), "{said}");
        assert!(bins.iter().all(|b| said.to_string().contains(&b.about)), "{said}");
    }
    assert_eq!(said.to_string().matches("should rows not suit").count(), ways.len() - 1, "{said}");
    count
}

/// Longest rows of A that meet longest rows of B have more products than a warp sorts at once; others do not.
#[test]
fn long_rows_that_meet_or_do_not() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = 9000;
    for meet in [false, true] {
        let mut coo = Coo::<i64>::new(n, n);
        for row in 0..n {
            let (length, first) = match (row % 1000, meet) {
                (7, _) => (60, row + 1),
                // Where they meet row 7 of each thousand reaches rows of 20 entries, else of two.
                (8..68, true) => (20, row * 13),
                (500, _) => (20, row * 7),
                _ => (2, row * 31),
            };
            let step = if row % 1000 == 7 { 1 } else { 97 };
            (0..length).for_each(|e| coo.push(row, (first + e * step) % n, (row + e) as i64 % 100));
        }
        let a: Matrix<i64> = Matrix::build_with(&coo, Plus).unwrap();
        assert_eq!(square(&a, Device::Cuda(0)), square(&a, Device::Reference));
        let a = a.to(&Device::Cuda(0)).unwrap();
        let (_, trace) = mxm(&a, &a).traced().unwrap();
        let ran = |name: &str| trace.kernels.iter().any(|k| k.name == name);
        let tried = foretold(&a);
        assert!(!ran("spgemm_esc") || tried == 1 + usize::from(meet), "{tried}: {trace}");
        match ran("spgemm_esc") {
            // By class, or where there is memory enough for all that C could be by a block a row.
            true => assert_eq!(ran("spgemm_analyze") || ran("spgemm_block"), meet, "{trace}"),
            // A device of many processors may do all rows by a block each at once.
            false => assert!(ran("spgemm_block"), "{trace}"),
        }
    }
}

#[test]
fn floats_are_summed_in_the_order_of_k() {
    if emulator::cuda().is_none() {
        return;
    }
    let grid = |n| -> Matrix<f64> { Matrix::build_with(&oplus::generate::stencil_5(n, n).unwrap(), First).unwrap() };
    let square = |a: &Matrix<f64>, d| mxm(&a.to(&d).unwrap(), &a.to(&d).unwrap()).eval().unwrap();
    let bits = |c: &Matrix<f64>| -> Vec<_> { c.entries().unwrap().iter().map(|e| (e.0, e.1, e.2.to_bits())).collect() };
    let both = |a: &Matrix<f64>| (square(a, Device::Cuda(0)), square(a, Device::Reference));
    // Of more rows than 16 bits count.
    let (cuda, reference) = both(&grid(257));
    assert_eq!(bits(&cuda), bits(&reference));
    // The result's longest row is known, so its product goes the same way where it fits.
    let (cuda, reference) = both(&grid(emulator::sized(257, 90)));
    let (cuda, reference) = (mxm(&cuda, &cuda).eval().unwrap(), mxm(&reference, &reference).eval().unwrap());
    assert_eq!(bits(&cuda), bits(&reference));
}

/// Rows that are empty wherever the sample looks: the guess is far too small, and the pass is made again.
#[test]
fn a_wrong_guess_only_costs_time() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = 128 * 520;
    let mut coo = Coo::<i64>::new(n, n);
    for row in (0..n).filter(|row| row / 128 % 64 != 0) {
        (0..5).for_each(|e| coo.push(row, (row * 31 + e * 977) % n, (row + e) as i64 % 100));
    }
    let a: Matrix<i64> = Matrix::build_with(&coo, Plus).unwrap();
    assert_eq!(square(&a, Device::Cuda(0)), square(&a, Device::Reference));
}

/// How often the kernels of that name ran.
fn ran(trace: &oplus::spgemm::Trace, name: &str) -> usize {
    trace.kernels.iter().filter(|k| k.name == name).count()
}

/// Rows of B that nearly all entries name have many entries, and C far more than its guess: the pass ends at the first row that has no
/// room, and another one goes on from there.
#[test]
fn much_more_than_guessed() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = 30_000;
    let a = meeting(n, |_| true);
    assert_eq!(square(&a, Device::Cuda(0)), square(&a, Device::Reference));
    let of = |device: Device| {
        let a = a.to(&device).unwrap();
        mxm(&a.over::<AnyFirstI>(), &a.over()).eval().unwrap().entries().unwrap()
    };
    assert_eq!(of(Device::Cuda(0)), of(Device::Reference), "the second pass knows which rows are its own");
    let a = a.to(&Device::Cuda(0)).unwrap();
    let (c, trace) = mxm(&a, &a).traced().unwrap();
    assert!(ran(&trace, "spgemm_esc") == 2 && ran(&trace, "count_products") == 0, "{trace}");
    assert!(c.nvals() > 4 * a.nvals() * a.nvals() / n);
}

/// … and the rows after that one are fuller still: products are counted, and the third pass has room for all.
#[test]
fn much_more_than_guessed_twice() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = 30_000;
    let a = meeting(n, |row| row % 8 == 0 || row > n / 2);
    assert_eq!(square(&a, Device::Cuda(0)), square(&a, Device::Reference));
    let a = a.to(&Device::Cuda(0)).unwrap();
    let (_, trace) = mxm(&a, &a).traced().unwrap();
    assert!(ran(&trace, "spgemm_esc") == 3 && ran(&trace, "count_products") == 1, "{trace}");
}

/// Rows of most entries first: the others are nothing like these, so products are counted.
#[test]
fn the_fullest_rows_first() {
    if emulator::cuda().is_none() {
        return;
    }
    let (rows, inner, columns, long) = (40_000, 20_000, 10_000, 100);
    let (mut a, mut b) = (Coo::<i64>::new(rows, inner), Coo::<i64>::new(inner, columns));
    for row in 0..rows {
        match row < 800 {
            true => (0..2).for_each(|e| a.push(row, row % 50 + 50 * e, row as i64 % 100)),
            false => a.push(row, long + row % (inner - long), row as i64 % 100),
        }
    }
    for row in 0..inner {
        (0..if row < long { 128 } else { 1 }).for_each(|e| b.push(row, (row * 128 + e) % columns, e as i64 + 1));
    }
    let (a, b): (Matrix<i64>, Matrix<i64>) =
        (Matrix::build_with(&a, Plus).unwrap(), Matrix::build_with(&b, Plus).unwrap());
    let expected = mxm(&a, &b).eval().unwrap();
    let (a, b) = (a.to(&Device::Cuda(0)).unwrap(), b.to(&Device::Cuda(0)).unwrap());
    let (c, trace) = mxm(&a, &b).traced().unwrap();
    assert_eq!(c.entries().unwrap(), expected.entries().unwrap());
    assert!(ran(&trace, "spgemm_esc") == 2 && ran(&trace, "count_products") == 1, "{trace}");
}

/// One tile of rows has a large part of C, and there is memory for one C only: what was guessed without that tile is not guessed again.
#[test]
fn a_tile_of_much_of_c_under_a_limit() {
    if emulator::cuda().is_none() {
        return;
    }
    let (rows, inner, columns, full) = (110_080, 1000, 8192, 128);
    let (mut a, mut b) = (Coo::<f32>::new(rows, inner), Coo::<f32>::new(inner, columns));
    for row in 0..rows {
        match row < rows - full {
            true => a.push(row, 16 + row * 7 % 484, 1.0),
            false => (0..16).for_each(|e| a.push(row, e, 1.0)),
        }
    }
    for row in 0..500 {
        (0..if row < 16 { 16 } else { 1 }).for_each(|e| b.push(row, row * 16 + e, 1.0));
    }
    let (a, b): (Matrix<f32>, Matrix<f32>) =
        (Matrix::build_with(&a, Plus).unwrap(), Matrix::build_with(&b, Plus).unwrap());
    let expected = mxm(&a, &b).eval().unwrap();
    let (a, b) = (a.to(&Device::Cuda(0)).unwrap(), b.to(&Device::Cuda(0)).unwrap());
    let (c, trace) = mxm(&a, &b).memory_limit(2_500_000).traced().unwrap();
    assert_eq!(c.entries().unwrap(), expected.entries().unwrap());
    assert!(ran(&trace, "shift_offsets") == 0, "{trace}");
}

/// Short rows and a few long ones of near columns, made in one pass: several warps move 32 rows to where they belong.
#[test]
fn long_rows_among_short_ones() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = emulator::sized(24_000, 10_000);
    let mut coo = Coo::<i64>::new(n, n);
    for row in 0..n {
        if row % 97 == 0 {
            (0..700).for_each(|e| coo.push(row, (row + e) % n, (row + e) as i64 % 100));
        } else {
            let near = |e: u64| (row + e * 11) % n;
            (0..3).for_each(|e| coo.push(row, near(e) + u64::from(near(e) % 97 == 0), (row + e) as i64 % 100));
        }
    }
    let a: Matrix<i64> = Matrix::build_with(&coo, Plus).unwrap();
    assert_eq!(square(&a, Device::Cuda(0)), square(&a, Device::Reference));
    let a = a.to(&Device::Cuda(0)).unwrap();
    let (_, trace) = mxm(&a, &a).traced().unwrap();
    let moved = trace.kernels.iter().find(|k| k.name == "spgemm_compact").expect("rows are made in one pass");
    assert!(moved.launch.0 * moved.launch.1 >= 2 * n, "{trace}");
}

/// Rows of hardly any entry among columns so many that keys of many products had room for few rows.
#[test]
fn narrow_keys_of_many_rows() {
    if emulator::cuda().is_none() {
        return;
    }
    let (n, columns) = (40_000, 1 << 22);
    let (mut a, mut b) = (Coo::<i64>::new(n, n), Coo::<i64>::new(n, columns));
    for row in 0..n {
        (0..row % 5 / 3).for_each(|e| a.push(row, (row * 46 + e * 4001) % n, (row + e) as i64 % 100));
        (0..row % 7 / 2).for_each(|e| b.push(row, (row * 77_003 + e * 99_991) % columns, (row + e) as i64 % 99));
    }
    let (a, b): (Matrix<i64>, Matrix<i64>) =
        (Matrix::build_with(&a, Plus).unwrap(), Matrix::build_with(&b, Plus).unwrap());
    let on = |device: Device| (a.to(&device).unwrap(), b.to(&device).unwrap());
    let ((x, y), (a, b)) = (on(Device::Reference), on(Device::Cuda(0)));
    assert_eq!(mxm(&a, &b).eval().unwrap().entries().unwrap(), mxm(&x, &y).eval().unwrap().entries().unwrap());
    let said = mxm(&a, &b).strategy(Strategy::Esc).explain().unwrap().to_string();
    // A device of many processors has fewer rows for each of its warps.
    let narrow = ["at most 64 products", "at most 128 products"].iter().any(|width| said.contains(width));
    assert!(said.contains("at a time") && narrow, "{said}");
}

/// A row so long that twice as many products as the longest rows might have are no number of 32 bits.
#[test]
fn longest_rows_beyond_powers_of_two() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = 70_000;
    let mut coo = Coo::<i64>::new(n, n);
    (0..60_000).for_each(|e| coo.push(1, e + 9000, e as i64 % 50));
    (0..n).filter(|row| *row != 1).for_each(|row| coo.push(row, (row * 31 + 2) % n, row as i64 % 100));
    let a: Matrix<i64> = Matrix::build_with(&coo, Plus).unwrap();
    assert_eq!(square(&a, Device::Cuda(0)), square(&a, Device::Reference));
}
