//! Products under a memory limit on the host: a counting allocator measures the peak, which stays below the limit; the
//! result is the same, and what cannot fit is refused with figures.
#[path = "common/allocator.rs"]
mod allocator;
#[path = "common/random.rs"]
mod random;

use allocator::{alone, measured};
use oplus::prelude::*;
use random::Rng;
use std::fmt::Debug;

fn coo(rows: u64, columns: u64, entries: u64, seed: u64) -> Coo<f64> {
    let mut coo = Coo::new(rows, columns);
    let mut random = Rng(seed | 1);
    let mut next = |below| random.below(below);
    for e in 0..entries {
        let row = if e % 5 == 0 { next(3) + 17 } else { next(rows) };
        coo.push(row, next(columns), next(1000) as f64 * 0.1 - 37.0);
    }
    coo
}

fn matrix(rows: u64, columns: u64, entries: u64, seed: u64, device: Device) -> Matrix<f64> {
    Matrix::build_with(&coo(rows, columns, entries, seed), Plus).unwrap().to(&device).unwrap()
}

type Run<'a, T> = Box<dyn Fn(Option<u64>) -> Result<T> + 'a>;

/// Runs under every limit from more than it takes freely down, until it is refused; the smallest limit that did, and what
/// it takes freely.
fn narrowed<T: PartialEq + Debug>(name: &str, run: &Run<T>) -> (u64, u64) {
    run(None).unwrap();
    let (expected, free) = measured(|| run(None).unwrap());
    let (mut limit, mut kept) = (free * 64, u64::MAX);
    loop {
        let (made, peak) = measured(|| run(Some(limit)));
        assert!(peak <= limit, "{name}: {peak} bytes under a limit of {limit}");
        match made {
            Ok(made) => assert!(made == expected, "{name} within {limit} of {free}"),
            Err(Error::OutOfMemory { operation, device, needed, available: Some(available) }) => {
                assert!(["mxm", "mxv", "vxm"].contains(&operation) && device == "host", "{name}");
                assert!(needed > available && available <= limit, "{name}: {needed} {available} {limit}");
                return (kept, free);
            }
            Err(e) => panic!("{name} within {limit}: {e:?}"),
        }
        kept = limit;
        // Close steps where it matters.
        limit = if limit > 4 * free { limit / 2 } else { limit * 4 / 5 };
    }
}

macro_rules! limited {
    ($operation:expr, $limit:expr) => {{
        let operation = $operation;
        match $limit {
            Some(limit) => operation.memory_limit(limit),
            None => operation,
        }
    }};
}

fn bits(c: Matrix<f64>) -> Vec<(u64, u64, u64)> {
    c.entries().unwrap().into_iter().map(|(i, j, v)| (i, j, v.to_bits())).collect()
}

#[test]
fn g6_the_peak_stays_below_the_limit() {
    let _one = alone();
    let on = |threads, cases: &[(Device, u64)]| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| peaks(cases));
    };
    // The reference has one thread, however many there are.
    on(2, &[(Device::Cpu, 5), (Device::Reference, 1)]);
    on(8, &[(Device::Cpu, 5)]);
}

fn peaks(cases: &[(Device, u64)]) {
    for &(device, scale) in cases {
        let (rows, inner, columns) = (300 * scale, 200 * scale, 400 * scale);
        let (a, b) = (matrix(rows, inner, 1500 * scale, 3, device), matrix(inner, columns, 1800 * scale, 5, device));
        let m = matrix(rows, columns, 3000 * scale, 7, device);
        let d = Vector::<f64>::full(rows, 0.5).unwrap().to(&device).unwrap();
        let some: Vec<(u64, f64)> = (0..rows).step_by(2).map(|i| (i, 0.25)).collect();
        let some = Vector::<f64>::build(rows, &some).unwrap().to(&device).unwrap();
        let (columns, full) =
            (transpose(&b).eval().unwrap(), Matrix::full(inner, 40, 0.5).unwrap().to(&device).unwrap());
        let full = apply(&full, Identity).eval().unwrap();
        let (before, positions) = (bits(m.clone()), a.over::<Compose<Min, FirstI>>());
        let runs: Vec<(&str, Run<Matrix<f64>>)> = vec![
            ("plain", Box::new(|l| limited!(mxm(&a, &b), l).eval())),
            ("min plus", Box::new(|l| Ok(limited!(mxm(&a.over::<MinPlus>(), &b.over()), l).eval()?.over()))),
            ("max min", Box::new(|l| Ok(limited!(mxm(&a.over::<MaxMin>(), &b.over()), l).eval()?.over()))),
            ("masked", Box::new(|l| limited!(mxm(&a, &b).mask(&m.structure()), l).eval())),
            ("complement", Box::new(|l| limited!(mxm(&a, &b).mask(&m.structure().complement()), l).eval())),
            ("columns", Box::new(|l| limited!(mxm(&a, &columns).transpose_b().mask(&m.structure()), l).eval())),
            ("full", Box::new(|l| limited!(mxm(&a, &full), l).eval())),
            ("transposed", Box::new(|l| limited!(mxm(&b, &a).transpose_a().transpose_b(), l).eval())),
            ("dot", Box::new(|l| limited!(mxm(&a, &b).mask(&m.structure()).strategy(Strategy::Dot), l).eval())),
            ("then apply", Box::new(|l| limited!(mxm(&a, &b), l).apply(Negate).eval())),
            ("then select", Box::new(|l| limited!(mxm(&a, &b), l).select(ValueGt, 0.0).eval())),
            ("then top k", Box::new(|l| limited!(mxm(&a, &b), l).top_k(9).eval())),
            ("then masked", Box::new(|l| limited!(mxm(&a, &b), l).apply(Negate).mask(&m.structure()).eval())),
            (
                "masked between",
                Box::new(|l| {
                    let negative = limited!(mxm(&a, &b), l).apply(Negate);
                    negative.mask(&m.structure().complement()).select(ValueGt, 0.0).eval()
                }),
            ),
            ("scaled", Box::new(|l| limited!(mxm(&a, &b).scale_rows(&d, Times), l).eval())),
            ("scaled by some", Box::new(|l| limited!(mxm(&a, &b).scale_rows(&some, Times), l).eval())),
            (
                "accumulated",
                Box::new(|l| {
                    let mut c = m.clone();
                    let result = limited!(mxm(&a, &b).accumulate(Plus), l).into(&mut c);
                    assert!(result.is_ok() || bits(c.clone()) == before);
                    result.map(|()| c)
                }),
            ),
        ];
        for (name, run) in &runs {
            let run: Run<Same> = Box::new(|l| run(l).map(Same));
            let (least, free) = narrowed(&format!("{name} on {device}"), &run);
            assert!(least < u64::MAX, "{name} on {device} takes {free} bytes, and was refused 64 times that");
            let output = 12 * run(None).unwrap().0.nvals();
            // Little more than the result is needed, of what is not merged with something.
            let merged = ["accumulated", "transposed", "columns", "then masked", "masked between"].contains(name);
            if device == Device::Cpu && !merged {
                assert!(least < 2 * output + (1 << 18), "{name}: {least} bytes for {output} of entries");
            }
        }
        let x = Vector::<f64>::build(inner, &[(1, 2.0), (7, 3.0), (inner - 1, 0.5)]).unwrap().to(&device).unwrap();
        let vectors: Vec<(&str, Run<Vec<(u64, f64)>>)> = vec![
            ("mxv", Box::new(|l| limited!(mxv(&a, &x), l).eval()?.entries())),
            ("vxm", Box::new(|l| limited!(vxm(&x, &b), l).eval()?.entries())),
            (
                "any pair",
                Box::new(|l| Ok(vec![(limited!(mxm(&a.over::<AnyPair>(), &b.over()), l).eval()?.nvals(), 0.0)])),
            ),
            // The largest value: sums depend on how they are grouped.
            ("reduce masked", Box::new(|l| Ok(vec![(0, limited!(mxm(&a, &b).mask(&m.structure()), l).reduce(Max)?)]))),
            ("reduce", Box::new(|l| Ok(vec![(0, limited!(mxm(&a, &b), l).reduce(Max)?)]))),
            (
                "plan",
                Box::new(|l| {
                    let plan = limited!(mxm(&a, &b), l).plan()?;
                    let c = plan.run(&a, &b)?;
                    Ok(vec![(c.nvals(), reduce(&c, Max)?)])
                }),
            ),
        ];
        for (name, run) in &vectors {
            let (least, _) = narrowed(&format!("{name} on {device}"), run);
            if device == Device::Cpu && name == &"reduce" {
                let product = 12 * mxm(&a, &b).eval().unwrap().nvals();
                assert!(least < product / 4, "{name}: {least} bytes for a product of {product}");
            }
        }
        let run: Run<Vec<(u64, u64, u64)>> = Box::new(|l| {
            let c = limited!(mxm(&positions, &b.over()), l).eval()?;
            c.entries()
        });
        run(None).unwrap();
        let expected = run(None).unwrap();
        for limit in [1 << 30, 6 * 16 * expected.len() as u64] {
            assert_eq!(run(Some(limit)).unwrap(), expected, "positions on {device}");
        }
    }
}

/// Dot products take B's columns as they lie.
#[test]
fn dots_turn_nothing() {
    let _one = alone();
    let (a, b) = (matrix(200, 2000, 600, 3, Device::Cpu), matrix(300, 2000, 200_000, 5, Device::Cpu));
    let m = matrix(200, 300, 300, 7, Device::Cpu);
    let product = || mxm(&a, &b).transpose_b().mask(&m.structure());
    let expected = bits(product().eval().unwrap());
    for limit in [1 << 30, 4 << 20] {
        let (made, peak) = measured(|| product().memory_limit(limit).eval().unwrap());
        assert_eq!(bits(made), expected);
        assert!(peak < b.nvals() * 4, "{peak} bytes within {limit}");
        let (sum, peak) = measured(|| product().memory_limit(limit).reduce(Max).unwrap());
        assert_eq!(sum, reduce(&product().eval().unwrap(), Max).unwrap());
        assert!(peak < b.nvals() * 4, "{peak} bytes of a sum within {limit}");
        let (made, peak) = measured(|| product().memory_limit(limit).apply(Negate).eval().unwrap());
        assert_eq!(made.nvals(), expected.len() as u64);
        assert!(peak < b.nvals() * 4, "{peak} bytes of what is applied within {limit}");
    }
}

/// Sums of few dot products of many columns: what is handed out is cut by products that nobody makes, and counts.
#[test]
fn sums_of_dots_take_no_more_than_is_handed_out() {
    let _one = alone();
    let mut coo = Coo::new(20_000, 64);
    (0..20_000).for_each(|i| (0..64).for_each(|k| coo.push(i, k, (i * 31 + k * 7) as f64 % 17.0 * 0.1 - 0.7)));
    let a = Matrix::<f64>::build_with(&coo, Plus).unwrap().to_format(Format::Csr).unwrap();
    let diagonal = Matrix::<f64>::identity(20_000).unwrap().to_format(Format::Csr).unwrap();
    let product = || mxm(&a, &a).transpose_b().mask(&diagonal.structure());
    for threads in [1, 2] {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let expected = product().reduce(Plus).unwrap();
            for limit in [6 << 20, 12 << 20, 1 << 30] {
                let (sum, peak) = measured(|| product().memory_limit(limit).reduce(Plus).unwrap());
                assert_eq!(sum.to_bits(), expected.to_bits());
                assert!(peak <= limit, "{peak} bytes within {limit} on {threads} threads");
            }
            let (largest, peak) = measured(|| product().memory_limit(6 << 20).reduce(Max).unwrap());
            assert!(largest > 0.0 && peak <= 6 << 20, "{peak} bytes");
        });
    }
}

/// Of short rows of B that differ no more room is taken beforehand than there are products.
#[test]
fn short_rows_that_differ() {
    let _one = alone();
    let mut b = Coo::new(1000, 1000);
    (0..16).for_each(|j| b.push(0, j * 61, 0.5 + j as f64));
    (1..1000).for_each(|k| b.push(k, k * 7 % 1000, 1.0 / k as f64));
    let mut a = Coo::new(4000, 1000);
    (0..4000).for_each(|i| (0..8).for_each(|e| a.push(i, (i * 13 + e * 97) % 1000, 0.25 + (i + e) as f64)));
    let [a, b] = [a, b].map(|coo| Matrix::<f64>::build_with(&coo, Plus).unwrap());
    rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap().install(|| {
        let runs: [(&str, Run<Same>); 3] = [
            ("values", Box::new(|l| limited!(mxm(&a, &b), l).eval().map(Same))),
            (
                "positions",
                Box::new(|l| Ok(Same(limited!(mxm(&a.over::<AnyPair>(), &b.over()), l).eval()?.cast()?.over()))),
            ),
            ("applied", Box::new(|l| limited!(mxm(&a, &b), l).apply(Negate).eval().map(Same))),
        ];
        for (name, run) in &runs {
            let expected = run(None).unwrap();
            for limit in [500_000, 1_500_000, 3_000_000, 4_500_000, 1 << 30] {
                let (made, peak) = measured(|| run(Some(limit)));
                assert!(peak <= limit, "{name}: {peak} bytes within {limit}");
                match made {
                    Ok(made) => assert!(made == expected, "{name} within {limit}"),
                    Err(e) => assert!(matches!(e, Error::OutOfMemory { .. }) && limit < 3_000_000, "{name}: {e:?}"),
                }
            }
        }
    });
}

/// Room for all that a mask lists or leaves may be taken beforehand, and counts.
#[test]
fn masks_of_more_than_there_are_products() {
    let _one = alone();
    let (a, b) = (matrix(600, 600, 900, 3, Device::Cpu), matrix(600, 600, 900, 5, Device::Cpu));
    let m = matrix(600, 600, 150_000, 7, Device::Cpu);
    for strategy in [Strategy::Auto, Strategy::Hash] {
        let product = || mxm(&a, &b).mask(&m.structure()).strategy(strategy);
        let expected = bits(product().eval().unwrap());
        for limit in [256 << 10, 512 << 10, 1 << 20, 2 << 20, 8 << 20, 1 << 30] {
            let (made, peak) = measured(|| product().memory_limit(limit).eval().unwrap());
            assert!(bits(made) == expected && peak <= limit, "{peak} bytes within {limit}");
        }
    }
    let (a, b) = (matrix(600, 600, 20_000, 3, Device::Cpu), matrix(600, 600, 20_000, 5, Device::Cpu));
    let all: Matrix<bool> = Matrix::full(600, 600, true).unwrap();
    let all = all.to_format(Format::Csr).unwrap();
    for limit in [256 << 10, 512 << 10, 1 << 20, 2 << 20, 8 << 20, 64 << 20] {
        let product = || mxm(&a, &b).mask(&all.structure().complement()).memory_limit(limit).eval();
        let (made, peak) = measured(|| product().unwrap());
        assert!(made.nvals() == 0 && peak <= limit, "{peak} bytes within {limit}");
    }
}

/// Of a mask that is no list one is made, which counts.
#[test]
fn the_list_of_a_mask_counts() {
    let _one = alone();
    let (a, b) = (matrix(600, 600, 50, 3, Device::Cpu), matrix(600, 600, 50, 5, Device::Cpu));
    for complement in [false, true] {
        let product = |limit| {
            let mask: Matrix<bool> = Matrix::full(600, 600, true).unwrap().to_format(Format::Bitmap).unwrap();
            let mask = if complement { !mask.structure() } else { mask.structure() };
            measured(|| mxm(&a, &b).mask(&mask).memory_limit(limit).eval())
        };
        // 4 bytes a position.
        let (made, peak) = product(1 << 20);
        assert!(matches!(made, Err(Error::OutOfMemory { .. })) && peak < 1 << 20, "{made:?}, {peak} bytes");
        let (made, peak) = product(8 << 20);
        assert!(made.is_ok() && peak < 8 << 20, "{made:?}, {peak} bytes");
    }
}

#[test]
fn operands_are_not_copied_beyond_the_limit() {
    let _one = alone();
    for device in [Device::Cpu, Device::Reference] {
        let (a, b) = (matrix(3000, 2000, 15_000, 3, device), matrix(2000, 300, 18_000, 5, device));
        let vector = |n: u64, step: usize| {
            let entries: Vec<(u64, f64)> = (0..n).step_by(step).map(|i| (i, 0.25)).collect();
            Vector::<f64>::build(n, &entries).unwrap().to(&device).unwrap()
        };
        let (rows, inner, some) = (vector(3000, 1), vector(300, 1), vector(3000, 3));
        // Rows that are listed, of others than B's columns.
        let entries: Vec<(u64, u64, f64)> = (0..9000).map(|e| ((e * 7919) << 30, e % 2000, 0.5)).collect();
        let (far, wide) = (Matrix::<f64>::build(1 << 60, 2000, &entries).unwrap().to(&device).unwrap(), 1 << 60);
        let entries: Vec<(u64, u64, f64)> = (0..9000).map(|e| ((e * 2 * 7919) << 30, e % 300, 0.5)).collect();
        let deep = Matrix::<f64>::build(wide, 300, &entries).unwrap().to(&device).unwrap();
        let runs: Vec<(&str, Run<Matrix<f64>>)> = vec![
            ("rows", Box::new(|l| limited!(mxm(&a, &b).scale_rows(&rows, Times), l).eval())),
            ("some rows", Box::new(|l| limited!(mxm(&a, &b).scale_rows(&some, Times), l).eval())),
            ("columns", Box::new(|l| limited!(mxm(&a, &b).scale_columns(&inner, Times), l).eval())),
            (
                "both",
                Box::new(|l| limited!(mxm(&a, &b).scale_rows(&some, Times).scale_columns(&inner, Times), l).eval()),
            ),
            ("turned", Box::new(|l| limited!(mxm(&b, &a).transpose_a().transpose_b(), l).eval())),
            ("other axes", Box::new(|l| limited!(mxm(&far.transposed(), &deep), l).eval())),
        ];
        for (name, run) in &runs {
            let expected = bits(run(None).unwrap());
            for limit in [8, 1 << 10, 1 << 13, 1 << 16, 1 << 18, 1 << 20, 1 << 28] {
                let (made, peak) = measured(|| run(Some(limit)));
                assert!(peak <= limit, "{name} on {device}: {peak} bytes under a limit of {limit}");
                match made {
                    Ok(c) => assert!(bits(c) == expected, "{name} on {device} within {limit}"),
                    Err(e) => assert!(matches!(e, Error::OutOfMemory { .. }) && limit < 1 << 28, "{name}: {e:?}"),
                }
            }
        }
    }
}

/// Compared by bits: the order of sums is kept.
struct Same(Matrix<f64>);
impl PartialEq for Same {
    fn eq(&self, other: &Self) -> bool {
        bits(self.0.clone()) == bits(other.0.clone())
    }
}
impl Debug for Same {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} entries", self.0.nvals())
    }
}

#[test]
fn wide_rows_take_no_array_of_their_width() {
    let _one = alone();
    // 2³¹ columns: a bit each would be 256 MB.
    let n = 1 << 31;
    let entries: Vec<(u64, u64, f64)> = (0..2000u64).map(|e| (e % 50, e * 1_000_003 % n, e as f64)).collect();
    let a = Matrix::<f64>::build(40, 50, &(0..400).map(|e| (e % 40, e * 7 % 50, 0.5)).collect::<Vec<_>>());
    let a = a.or_else(|_| {
        let mut coo = Coo::new(40, 50);
        (0..400).for_each(|e| coo.push(e % 40, e * 7 % 50, 0.5));
        Matrix::build_with(&coo, Plus)
    });
    let (a, b) = (a.unwrap(), Matrix::<f64>::build(50, n, &entries).unwrap());
    let expected = bits(mxm(&a, &b).eval().unwrap());
    let (made, peak) = measured(|| mxm(&a, &b).memory_limit(1 << 20).eval().unwrap());
    assert!(peak <= 1 << 20);
    assert_eq!(bits(made), expected);
}
