//! Products under a memory limit on the (emulated) device: the measured peak stays below it, the result is the same, and
//! what cannot fit is refused with figures. Without a limit, a device that runs out is enough for chunks.
#![cfg(all(feature = "cuda", target_os = "linux"))]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::backend::cuda::{Buffer, Context};
use oplus::prelude::*;
use random::Rng;

/// With the limit, if there is one.
macro_rules! limited {
    ($operation:expr, $limit:expr) => {{
        let operation = $operation;
        match $limit {
            Some(limit) => operation.memory_limit(limit),
            None => operation,
        }
    }};
}

const GPU: Device = Device::Cuda(0);

fn coo(rows: u64, columns: u64, entries: u64, seed: u64) -> Coo<f64> {
    let mut coo = Coo::new(rows, columns);
    let mut random = Rng(seed | 1);
    let mut next = |below| random.below(below);
    for e in 0..entries {
        let row = if e % 5 == 0 { next(3) + 17 } else { next(rows) };
        coo.push(row, next(columns), next(1000) as f64 * 0.25 - 100.0);
    }
    coo
}

fn matrix(rows: u64, columns: u64, entries: u64, seed: u64) -> Matrix<f64> {
    Matrix::build_with(&coo(rows, columns, entries, seed), Plus).unwrap()
}

/// What `run` makes, and the most bytes that buffers held at once beyond those before.
fn measured<R>(run: impl FnOnce() -> R) -> (R, u64) {
    let context = Context::get(0).unwrap();
    let held = context.memory_in_use();
    context.reset_peak();
    let made = run();
    (made, context.peak() - held)
}

/// Runs under every limit from what it takes freely down, until it is refused; how many limits below the free peak did.
fn narrowed<T: PartialEq + std::fmt::Debug>(name: &str, run: impl Fn(Option<u64>) -> Result<T>) -> usize {
    let (expected, free) = measured(|| run(None).unwrap());
    let (mut limit, mut kept) = (free, 0);
    loop {
        let (made, peak) = measured(|| run(Some(limit)));
        assert!(peak <= limit, "{name}: {peak} bytes under a limit of {limit}");
        match made {
            Ok(made) => assert_eq!(made, expected, "{name} within {limit} of {free}"),
            Err(Error::OutOfMemory { operation, device, needed, available: Some(available) }) => {
                let asked = if name == "triple" { "triple_product" } else { "mxm" };
                assert_eq!((operation, device.as_str(), available), (asked, "cuda:0", limit), "{name}");
                assert!(needed > limit, "{name}: {needed} bytes are needed and {limit} are there");
                break;
            }
            Err(e) => panic!("{name} within {limit}: {e:?}"),
        }
        kept += 1;
        limit = lower(limit, 4);
    }
    kept
}

/// The next limit to try: an n-th less, on the emulator three times.
fn lower(limit: u64, n: u64) -> u64 {
    (0..emulator::every(3)).fold(limit, |limit, _| limit - limit / n)
}

/// With integers any order of sums gives the same, so that every strategy can be compared.
fn whole(m: &Matrix<f64>) -> Matrix<i64> {
    let entries: Vec<_> = m.entries().unwrap().into_iter().map(|(i, j, v)| (i, j, (v * 4.0) as i64)).collect();
    Matrix::build(m.nrows(), m.ncols(), &entries).unwrap().to(&GPU).unwrap()
}

#[test]
fn g6_the_peak_stays_below_the_limit() {
    let Some(_one) = emulator::alone() else { return };
    let (a, b) = (whole(&matrix(300, 200, 1500, 3)), whole(&matrix(200, 400, 1800, 5)));
    let m = whole(&matrix(300, 400, 3000, 7));
    // Rows of some 4000 products.
    let (long, wide) = (whole(&matrix(20, 200, 4500, 3)), whole(&matrix(200, 400, 6000, 9)));
    // Of three unknowns a node: what is found out about it the second time takes memory too.
    let near = (0..80u64).flat_map(|v| (v.saturating_sub(9)..=v).flat_map(move |w| (0..9).map(move |e| (v, w, e))));
    let near: Vec<_> = near.map(|(v, w, e)| (3 * v + e / 3, 3 * w + e % 3, (v + e) as f64)).collect();
    let s = whole(&Matrix::build(240, 240, &near).unwrap());
    let band = (0..500u64).flat_map(|i| (i.saturating_sub(1)..(i + 2).min(500)).map(move |j| (i, j, (i + j) as f64)));
    let d = whole(&Matrix::build(500, 500, &band.collect::<Vec<_>>()).unwrap());
    type Run<'a> = Box<dyn Fn(Option<u64>) -> Result<Vec<(u64, u64, i64)>> + 'a>;
    let runs: Vec<(&str, Run)> = vec![
        ("plain", Box::new(|l| limited!(mxm(&a, &b), l).eval()?.entries())),
        ("supernodes", Box::new(|l| limited!(mxm(&s, &s).strategy(Strategy::BitmapRank), l).eval()?.entries())),
        ("tables", Box::new(|l| limited!(mxm(&a, &b).strategy(Strategy::Hash), l).eval()?.entries())),
        ("sorting", Box::new(|l| limited!(mxm(&a, &b).strategy(Strategy::Esc), l).eval()?.entries())),
        ("tiles", Box::new(|l| limited!(mxm(&long, &wide).strategy(Strategy::Esc), l).eval()?.entries())),
        ("slices", Box::new(|l| limited!(mxm(&a, &b).strategy(Strategy::EscGlobal), l).eval()?.entries())),
        ("merges", Box::new(|l| limited!(mxm(&a, &b).strategy(Strategy::SegmentedMerge), l).eval()?.entries())),
        ("scattered", Box::new(|l| limited!(mxm(&a, &b).strategy(Strategy::RowRow), l).eval()?.entries())),
        ("outer", Box::new(|l| limited!(mxm(&a, &b).strategy(Strategy::ColumnRow), l).eval()?.entries())),
        ("windows", Box::new(|l| limited!(mxm(&a, &b).strategy(Strategy::Window), l).eval()?.entries())),
        ("bits", Box::new(|l| limited!(mxm(&a, &b).strategy(Strategy::BitmapRank), l).eval()?.entries())),
        ("band", Box::new(|l| limited!(mxm(&d, &d).strategy(Strategy::Band), l).eval()?.entries())),
        ("triple", Box::new(|l| limited!(triple_product(&a.transposed(), &a, &b), l).eval()?.entries())),
        ("dots", Box::new(|l| limited!(mxm(&a, &b).mask(&m.structure()).strategy(Strategy::Dot), l).eval()?.entries())),
        ("masked", Box::new(|l| limited!(mxm(&a, &b).mask(&m.structure()), l).eval()?.entries())),
        ("complement", Box::new(|l| limited!(mxm(&a, &b).mask(&m.structure().complement()), l).eval()?.entries())),
        ("transposed", Box::new(|l| limited!(mxm(&b, &a).transpose_a().transpose_b(), l).eval()?.entries())),
        (
            "positions",
            Box::new(|l| {
                let c = limited!(mxm(&a.over::<Compose<Min, FirstI>>(), &b.over()), l).eval()?;
                Ok(c.entries()?.into_iter().map(|(i, j, v)| (i, j, v as i64)).collect())
            }),
        ),
        (
            "reduced",
            Box::new(|l| limited!(mxm(&a, &b).mask(&m.structure()), l).reduce(Plus).map(|sum| vec![(0, 0, sum)])),
        ),
        (
            "accumulated",
            Box::new(|l| {
                let mut c = m.clone();
                limited!(mxm(&a, &b).accumulate(Plus), l).into(&mut c)?;
                c.entries()
            }),
        ),
    ];
    for (name, run) in &runs {
        let kept = narrowed(name, run);
        assert!(
            kept * emulator::every(3) > 1
                || ["accumulated", "reduced", "supernodes", "scattered", "band"].contains(name),
            "{name} was done within {kept} limits only"
        );
    }
}

/// Hypersparse matrices without entries have no rows: where such a product ran out, its offsets were never written.
#[test]
fn products_of_no_rows() {
    // Beside tests that measure what is in use.
    let Some(_one) = emulator::alone() else { return };
    let none = Matrix::<f64>::new(35, 35).unwrap().to(&GPU).unwrap().to_format(Format::Hypersparse).unwrap();
    let some = matrix(35, 35, 90, 3).to(&GPU).unwrap();
    // What was freed before is not zero.
    let dirty = || {
        let context = Context::get(0).unwrap();
        for n in [1usize, 2, 16, 64, 256] {
            drop(Buffer::from_host(&context, &vec![!0u64; n]).unwrap());
        }
    };
    let products: [(&str, &dyn Fn(u64) -> Result<Matrix<f64>>); 4] = [
        ("mxm", &|limit| mxm(&none, &some).memory_limit(limit).eval()),
        ("mxm turned", &|limit| mxm(&none, &none).transpose_a().transpose_b().memory_limit(limit).eval()),
        ("mxm then apply", &|limit| mxm(&none, &some).memory_limit(limit).apply(Negate).eval()),
        ("mxm in order", &|limit| mxm(&none, &some).reproducible().memory_limit(limit).eval()),
    ];
    for (name, product) in products {
        for limit in [1, 16, 64, 1 << 10, 1 << 12, 1 << 15] {
            dirty();
            let made = match product(limit) {
                Err(Error::OutOfMemory { .. }) if limit < 1 << 15 => continue,
                made => made.unwrap_or_else(|e| panic!("{name} within {limit}: {e}")),
            };
            assert_eq!(made.entries().unwrap(), [], "{name} within {limit}");
            let mut written = some.clone();
            assign_scalar(2.0, .., ..).mask(&made.structure()).replace().into(&mut written).unwrap();
            assert_eq!(written.entries().unwrap(), [], "{name} within {limit}: a mask");
            assert_eq!(ewise_add(&made, &some, Plus).eval().unwrap(), some, "{name} within {limit}: a sum");
        }
    }
}

/// Preparing one and running it, each by itself; where all rows at once have no room they are made by chunks.
#[test]
fn plans_keep_to_it() {
    let Some(_one) = emulator::alone() else { return };
    let (a, b) = (whole(&matrix(300, 200, 1500, 3)), whole(&matrix(200, 400, 1800, 5)));
    let mask = whole(&matrix(300, 400, 3000, 7)).structure();
    let asked = |masked: bool, strategy| {
        let operation = mxm(&a, &b).strategy(strategy);
        if masked { operation.mask(&mask) } else { operation }
    };
    let mut chunked = 0;
    for (masked, strategy) in
        [(false, Strategy::Auto), (false, Strategy::Esc), (true, Strategy::Auto), (true, Strategy::Dot)]
    {
        let name = format!("{strategy}, masked: {masked}");
        let expected = asked(masked, strategy).eval().unwrap().entries().unwrap();
        let (mut limit, mut kept, mut by_chunks) = (measured(|| asked(masked, strategy).plan().unwrap()).1, 0, 0);
        loop {
            let context = Context::get(0).unwrap();
            let (traced, peak) = measured(|| context.trace(|| asked(masked, strategy).memory_limit(limit).plan()));
            assert!(peak <= limit, "{name}: {peak} bytes under a limit of {limit}");
            let (plan, launches) = match traced {
                Ok(made) => made,
                Err(Error::OutOfMemory { operation: "mxm", available: Some(available), .. }) => {
                    assert_eq!(available, limit);
                    break;
                }
                Err(e) => panic!("{name} within {limit}: {e:?}"),
            };
            by_chunks += usize::from(launches.iter().any(|l| l.kernel == "shift_offsets"));
            let (made, peak) = measured(|| plan.run(&a, &b));
            assert!(peak <= limit, "{name}: {peak} bytes under a limit of {limit} in a run");
            match made {
                Ok(c) => assert_eq!(c.entries().unwrap(), expected, "{name} within {limit}"),
                Err(Error::OutOfMemory { operation: "mxm", available: Some(available), .. }) => {
                    assert_eq!(available, limit);
                    break;
                }
                Err(e) => panic!("{name} within {limit}: {e:?}"),
            }
            kept += 1;
            limit = lower(limit, 5);
        }
        assert!(kept > 0, "{name}");
        chunked += by_chunks;
    }
    assert!(chunked > 1, "nothing was made by chunks");
}

/// Rows or columns of an operand are read whole, unless there is no room for that: then values are made as the product is.
#[test]
fn plans_of_matrices_without_gaps_run_wherever_the_product_has_room() {
    let Some(_one) = emulator::alone() else { return };
    let all = |m: u64, n: u64| (0..m * n).map(move |e| (e / n, e % n, (e % 90) as i64 - 40)).collect::<Vec<_>>();
    let full: Matrix<i64> = Matrix::build(90, 90, &all(90, 90)).unwrap().to(&GPU).unwrap();
    let sparse = whole(&matrix(90, 90, 900, 5));
    for (name, a, b) in [("left", &full, &sparse), ("right", &sparse, &full)] {
        let expected = mxm(a, b).eval().unwrap().entries().unwrap();
        let (mut limit, mut by_rows) = (measured(|| mxm(a, b).eval().unwrap()).1, 0);
        while mxm(a, b).memory_limit(limit).eval().is_ok() {
            let plan = mxm(a, b).memory_limit(limit).plan().unwrap_or_else(|e| panic!("{name} within {limit}: {e}"));
            let context = Context::get(0).unwrap();
            let (traced, peak) = measured(|| context.trace(|| plan.run(a, b)));
            let (made, launches) = traced.unwrap_or_else(|e| panic!("{name} within {limit}: {e}"));
            assert!(peak <= limit, "{name}: {peak} bytes under a limit of {limit}");
            assert_eq!(made.entries().unwrap(), expected, "{name} within {limit}");
            by_rows += usize::from(launches.iter().any(|l| l.kernel.starts_with("spgemm")));
            limit = lower(limit, 8);
        }
        assert!(by_rows > 0 || name == "right", "{name}: never as other products are");
    }
}

/// Of one row no fewer can be made, and what is guessed of it need not be there twice, nor beside the result.
#[test]
fn one_row_takes_little_more_than_it_has() {
    let Some(_one) = emulator::alone() else { return };
    // 60,000 products, and 10,000 entries far apart: 120 kB.
    let b: Vec<_> = (0..60u64).flat_map(|k| (0..1000).map(move |e| (k, 6 * (k % 10 * 1000 + e), 1i64))).collect();
    let b: Matrix<i64> = Matrix::build(60, 60_000, &b).unwrap().to(&GPU).unwrap();
    for (rows, limits) in [(1, &[400_000, 200_000, 140_000][..]), (3, &[400_000, 300_000])] {
        let a: Vec<_> = (0..60u64).map(|k| (0, k, 1i64)).chain((1..rows).map(|i| (i, 7, 2))).collect();
        let a: Matrix<i64> = Matrix::build(rows, 60, &a).unwrap().to(&GPU).unwrap();
        let expected = mxm(&a, &b).eval().unwrap().entries().unwrap();
        assert_eq!(expected.len() as u64, 10_000 + 1000 * (rows - 1));
        for limit in limits.iter().copied() {
            let (made, peak) = measured(|| mxm(&a, &b).memory_limit(limit).eval());
            let made = made.unwrap_or_else(|e| panic!("{rows} rows within {limit}: {e}"));
            assert!(peak <= limit, "{peak} bytes under a limit of {limit}");
            assert!(made.entries().unwrap() == expected, "{rows} rows within {limit}");
        }
    }
}

/// A matrix of one value is written out where values are read one by one; without room for that, some rows at a time.
#[test]
fn a_value_of_all_entries_is_written_for_some_rows() {
    let Some(_one) = emulator::alone() else { return };
    let Some(emulator) = emulator::emulator() else { return };
    let positions: Vec<_> = (0..900u64).flat_map(|i| (0..40).map(move |e| (i, (i + 7 * e) % 300))).collect();
    let a = Matrix::<i64>::from_pattern(900, 300, &positions, 3).unwrap();
    let (b, m) = (whole(&matrix(300, 20, 500, 5)), whole(&matrix(900, 20, 3000, 7)));
    type Run<'a> = &'a dyn Fn(&Matrix<i64>) -> Result<Vec<(u64, u64, i64)>>;
    let runs: [(&str, Run); 6] = [
        ("mxm", &|a| mxm(a, &b).eval()?.entries()),
        ("masked", &|a| mxm(a, &b).mask(&m.structure()).strategy(Strategy::Hash).eval()?.entries()),
        ("reproducible", &|a| mxm(a, &b).reproducible().eval()?.entries()),
        ("reduced", &|a| Ok(vec![(0, 0, mxm(a, &b).reduce(Plus)?)])),
        ("applied", &|a| mxm(a, &b).apply(Negate).eval()?.entries()),
        ("planned", &|a| mxm(a, &b).plan()?.run(a, &b)?.entries()),
    ];
    for (name, run) in runs {
        let expected = run(&a.to(&GPU).unwrap()).unwrap();
        let a = a.to(&GPU).unwrap();
        assert!(a.is_iso());
        emulator.fail_large(8 * positions.len(), i64::MAX);
        let made = run(&a);
        emulator.fail_large(0, 0);
        assert_eq!(made.unwrap_or_else(|e| panic!("{name}: {e}")), expected, "{name}");
    }
}

/// What was short for a moment is not for the rest of the product.
#[test]
fn chunks_grow_again_after_a_short_shortage() {
    let Some(_one) = emulator::alone() else { return };
    let Some(emulator) = emulator::emulator() else { return };
    let context = Context::get(0).unwrap();
    let of = |(rows, columns): (u64, u64), each: u64| {
        let entries = (0..rows).flat_map(|i| (0..each).map(move |e| (i, (i + 37 * e) % columns, 1i64)));
        Matrix::<i64>::build(rows, columns, &entries.collect::<Vec<_>>()).unwrap().to(&GPU).unwrap()
    };
    let counted = |kernel: &str, run: &dyn Fn() -> i64| {
        let (made, launches) = context.trace(|| Ok(run())).unwrap();
        (made, launches.iter().filter(|l| l.kernel == kernel).count())
    };
    // Chunks of 2048 rows and fewer, down to 16. Each allocation is tried twice.
    let a = of((4096, 4096), 2);
    let summed = || mxm(&a, &a).reduce(Plus).unwrap();
    let expected = summed();
    emulator.fail_allocations(0, 16);
    let (made, chunks) = counted("spgemm_analyze", &summed);
    emulator.fail_allocations(-1, 0);
    assert_eq!(made, expected);
    assert!((16..60).contains(&chunks), "{chunks} chunks of rows");
    // Slices of 400,000 products and fewer, down to 6,250.
    let (a, b) = (of((400, 400), 10), of((400, 4000), 100));
    let sliced = || reduce(&mxm(&a, &b).strategy(Strategy::EscGlobal).eval().unwrap(), Plus).unwrap();
    let expected = sliced();
    emulator.fail_large(150_000, 6);
    let (made, slices) = counted("spgemm_expand", &sliced);
    emulator.fail_large(0, 0);
    assert_eq!(made, expected);
    assert!((12..24).contains(&slices), "{slices} slices");
}

/// Others do, and are not made before it is known.
#[test]
fn one_row_that_cannot_fit_changes_nothing() {
    let Some(_one) = emulator::alone() else { return };
    let n = 20_000u64;
    let entries: Vec<_> =
        (0..100u64).flat_map(|i| (0..if i == 70 { 100 } else { 1 }).map(move |k| (i, k, 1i64))).collect();
    let a: Matrix<i64> = Matrix::build(100, 100, &entries).unwrap().to(&GPU).unwrap();
    let b: Vec<_> = (0..100u64).flat_map(|k| (0..n / 100).map(move |j| (k, j * 100 + k, 2i64))).collect();
    let b: Matrix<i64> = Matrix::build(100, n, &b).unwrap().to(&GPU).unwrap();
    let mut c: Matrix<i64> = Matrix::build(100, n, &[(3, 4, 5i64)]).unwrap().to(&GPU).unwrap();
    let before = c.entries().unwrap();
    // Twelve bytes for each of the longest row's 20,000 entries; the other rows together have as many.
    let limit = 12 * n * 3 / 4;
    match mxm(&a, &b).memory_limit(limit).into(&mut c) {
        Err(Error::OutOfMemory { operation: "mxm", needed, available, .. }) => {
            assert_eq!(available, Some(limit));
            assert!(needed > limit, "{needed}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(c.entries().unwrap(), before);
    assert!(mxm(&a, &b).into(&mut c).is_ok());
    assert_eq!(c.nvals(), n + 99 * (n / 100));
}

#[test]
fn g6_a_row_that_cannot_fit_changes_nothing() {
    let Some(_one) = emulator::alone() else { return };
    let (a, b) = (whole(&matrix(300, 200, 1500, 3)), whole(&matrix(200, 400, 1800, 5)));
    let mut c = whole(&matrix(300, 400, 100, 9));
    let before = c.entries().unwrap();
    match mxm(&a, &b).memory_limit(100).into(&mut c) {
        Err(Error::OutOfMemory { operation: "mxm", needed, available: Some(100), .. }) => assert!(needed > 100),
        other => panic!("{other:?}"),
    }
    assert_eq!(c.entries().unwrap(), before);
    // Nothing stays limited.
    assert!(mxm(&a, &b).into(&mut c).is_ok());
}

#[test]
fn a_device_that_runs_out_is_enough_for_chunks() {
    let Some(_one) = emulator::alone() else { return };
    let Some(emulator) = emulator::emulator() else { return };
    let (a, b) = (whole(&matrix(120, 90, 500, 3)), whole(&matrix(90, 130, 600, 5)));
    let expected = mxm(&a, &b).eval().unwrap().entries().unwrap();
    let held = emulator.live();
    let mut reached = 0;
    for n in 0.. {
        // An allocation is tried twice; so many fail that the first chunks fail too.
        emulator.fail_allocations(n, 5);
        let before = emulator.live();
        let made = mxm(&a, &b).eval();
        emulator.fail_allocations(-1, 0);
        assert_eq!(before, held);
        assert_eq!(made.unwrap().entries().unwrap(), expected, "failure {n}");
        let (again, peak) = measured(|| mxm(&a, &b).eval().unwrap());
        assert!(peak > 0 && again.nvals() == expected.len() as u64);
        reached = n;
        if n > 40 {
            break;
        }
    }
    assert!(reached > 20);
}

/// Nothing more is kept of a matrix by products that are held to a limit.
#[test]
fn vectors_keep_to_it() {
    if emulator::cuda().is_none() {
        return;
    }
    let a = matrix(300, 300, 30_000, 3).to(&Device::Cuda(0)).unwrap();
    let x = Vector::<f64>::full(300, 0.5).unwrap().to(&Device::Cuda(0)).unwrap();
    for nth in 0..4 {
        let (made, peak) = measured(|| vxm(&x, &a).memory_limit(64 << 10).eval());
        assert!(made.is_ok() && peak <= 64 << 10, "{nth}: {:?}, {peak} bytes", made.err());
    }
}
