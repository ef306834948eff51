//! What `explain` says is true of the product, on every backend; what `traced` gives is the product. A trace lists what other
//! threads launch too: one test at a time.
mod common;
#[path = "common/devices.rs"]
mod devices;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use devices::devices;
use oplus::prelude::*;
use random::Rng;

fn coo(rows: u64, columns: u64, entries: u64, seed: u64) -> Coo<i64> {
    let mut coo = Coo::new(rows, columns);
    let mut random = Rng(seed | 1);
    let mut next = |below| random.below(below);
    for e in 0..entries {
        // Some rows are much longer than the others.
        let row = if e % 3 == 0 { next(4) } else { next(rows) };
        coo.push(row, next(columns), next(9) as i64 - 4);
    }
    coo
}

fn matrix(rows: u64, columns: u64, entries: u64, seed: u64) -> Matrix<i64> {
    Matrix::build_with(&coo(rows, columns, entries, seed), Plus).unwrap()
}

/// Products by the definition: of all, of the row that has most, and the most entries there can be.
fn counted(a: &Matrix<i64>, b: &Matrix<i64>, mask: Option<(&Matrix<i64>, bool)>) -> (u64, u64, u64) {
    let mut lengths = vec![0; b.nrows() as usize];
    b.entries().unwrap().iter().for_each(|e| lengths[e.0 as usize] += 1);
    let mut rows = vec![0u64; a.nrows() as usize];
    a.entries().unwrap().iter().for_each(|e| rows[e.0 as usize] += lengths[e.1 as usize]);
    let mut admitted = vec![b.ncols(); a.nrows() as usize];
    if let Some((m, complement)) = mask {
        let mut has = vec![0; a.nrows() as usize];
        m.entries().unwrap().iter().for_each(|e| has[e.0 as usize] += 1);
        admitted = has.into_iter().map(|n| if complement { b.ncols() - n } else { n }).collect();
    }
    let bound = rows.iter().zip(admitted).map(|(p, m)| (*p).min(m)).sum();
    (rows.iter().sum(), rows.iter().copied().max().unwrap_or(0), bound)
}

#[test]
fn counts_are_those_of_the_product() {
    let _one = emulator::alone();
    let (a, b, m) = (matrix(60, 50, 400, 3), matrix(50, 70, 500, 5), matrix(60, 70, 900, 7));
    for device in devices() {
        let [on_a, on_b, on_m] = [&a, &b, &m].map(|x| x.to(&device).unwrap());
        for (masked, complement) in [(false, false), (true, false), (true, true)] {
            for strategy in Strategy::ALL.iter().copied() {
                // These need bands and a mask; see the tests of their own.
                if matches!(strategy, Strategy::Band | Strategy::Dot) {
                    continue;
                }
                let mut operation = mxm(&on_a, &on_b).strategy(strategy);
                if masked {
                    let mask = on_m.structure();
                    operation = operation.mask(&if complement { mask.complement() } else { mask });
                }
                let e = operation.explain().unwrap();
                let host = !matches!(device, Device::Cuda(_));
                assert_eq!(e.in_order, host || strategy.sums_in_order(), "{strategy:?} on {device}");
                let c = operation.eval().unwrap();
                let what = format!("{device}, {strategy:?}, {masked} {complement}\n{e}");
                let (products, largest, bound) = counted(&a, &b, masked.then_some((&m, complement)));
                assert_eq!((e.analysis.products, e.analysis.largest_row), (products, largest), "{what}");
                assert!(e.analysis.bound >= c.nvals() && e.analysis.bound >= bound.min(c.nvals()), "{what}");
                if device != Device::Cuda(0) {
                    assert_eq!(e.analysis.bound, bound, "{what}");
                }
                assert_eq!((e.shape, e.device, e.operation), (c.shape(), device, "mxm"), "{what}");
                assert_eq!((e.a.entries, e.b.entries), (a.nvals(), b.nvals()), "{what}");
                assert_eq!(e.mask.map(|m| (m.entries, m.complement)), masked.then_some((m.nvals(), complement)));
                // All rows are in the sample: the estimate is exact.
                assert_eq!(e.analysis.entries(), c.nvals(), "{what}");
                assert!(e.analysis.workspace > 0 && e.analysis.output > 12 * c.nvals(), "{what}");
                assert!(!e.analysis.strategy.is_empty() && !e.analysis.reason.is_empty(), "{what}");
                let listed: u64 = e.analysis.bins.iter().map(|b| b.rows).sum();
                assert!(device == Device::Reference || listed == 60, "{what}");
                assert!(what.contains(&format!("products: {products}")) && what.contains("strategy: "), "{what}");
            }
        }
    }
}

#[test]
fn transposes_and_vectors_too() {
    let _one = emulator::alone();
    let (a, x) = (matrix(40, 30, 300, 9), Vector::<i64>::build(30, &[(0, 1), (7, 2), (29, -3)]).unwrap());
    let columns = a.entries().unwrap().iter().filter(|e| [0, 7, 29].contains(&e.1)).count() as u64;
    for device in devices() {
        let (a, x) = (a.to(&device).unwrap(), x.to(&device).unwrap());
        let e = mxm(&a, &a).transpose_b().explain().unwrap();
        let c = mxm(&a, &a).transpose_b().eval().unwrap();
        assert_eq!((e.shape, e.analysis.entries()), ((40, 40), c.nvals()), "{e}");
        let e = mxm(&a, &a).transpose_a().mask(&mxm(&a, &a).transpose_a().eval().unwrap().structure()).explain();
        assert_eq!(e.unwrap().shape, (30, 30));
        for (what, e) in [("mxv", mxv(&a, &x).explain().unwrap()), ("vxm", vxm(&x, &a.transposed()).explain().unwrap())]
        {
            assert_eq!((e.operation, e.analysis.products), (what, columns), "{device}: {e}");
        }
        let pushed = vxm(&x, &transpose(&a).eval().unwrap()).explain().unwrap();
        assert_eq!((pushed.analysis.products, pushed.shape), (columns, (1, 40)), "{device}: {pushed}");
    }
}

#[test]
fn errors_are_those_of_the_product() {
    let _one = emulator::alone();
    for device in devices() {
        let (a, b) = (matrix(6, 5, 9, 3).to(&device).unwrap(), matrix(6, 5, 9, 5).to(&device).unwrap());
        assert!(matches!(mxm(&a, &b).explain(), Err(Error::DimensionMismatch { operation: "mxm", .. })));
        let dot = mxm(&a, &b).transpose_b().strategy(Strategy::Dot).explain();
        assert!(matches!(dot, Err(Error::InvalidValue { operation: "mxm", .. })));
        let empty: Matrix<i64> = Matrix::new(0, 0).unwrap().to(&device).unwrap();
        let e = mxm(&empty, &empty).explain().unwrap();
        assert_eq!((e.analysis.products, e.analysis.compression()), (0, None), "{e}");
    }
}

fn bins(e: &Explanation) -> Vec<(&str, u64)> {
    e.analysis.bins.iter().map(|bin| (&*bin.name, bin.rows)).collect()
}

/// A matrix of ones in rows of these columns.
fn rows_of(ncols: u64, rows: &[Vec<u64>]) -> Matrix<i64> {
    let mut coo = Coo::new(rows.len() as u64, ncols);
    rows.iter().zip(0..).for_each(|(row, i)| row.iter().for_each(|j| coo.push(i, *j, i as i64 % 7 - 3)));
    Matrix::build_with(&coo, Plus).unwrap()
}

/// Rows of more products than a sample has are counted alone.
#[test]
fn long_rows_are_no_sample() {
    let _one = emulator::alone();
    let b = rows_of(1100, &vec![(0..1100).collect(); 1000]);
    for device in [Device::Cpu, Device::Reference] {
        let explained = |rows: &[Vec<u64>]| {
            mxm(&rows_of(1000, rows).to(&device).unwrap(), &b.to(&device).unwrap()).explain().unwrap().analysis
        };
        let alone = explained(&[(0..1000).collect()]);
        assert_eq!((alone.products, alone.sample, alone.entries()), (1_100_000, None, 1100));
        let some = explained(&[vec![3, 4], (0..1000).collect(), vec![5]]);
        let sample = some.sample.unwrap();
        assert_eq!((some.products, sample.rows, sample.products, sample.entries), (1_103_300, 2, 3300, 2200));
    }
}

/// Rows go where they are said to, of short bands, and of positions alone under a mask or far apart.
#[test]
fn rows_on_the_cpu_are_told_as_they_run() {
    // More than 64 products of rows of four columns that touch: no loop is long.
    let short = rows_of(100, &(0..20).map(|k| (3 * k..3 * k + 4).collect()).collect::<Vec<_>>());
    let a = rows_of(20, &vec![(0..20).collect(); 10]);
    let e = mxm(&a, &short).explain().unwrap();
    assert_eq!(bins(&e), [("flat", 10)], "{e}");
    // Longer ones are.
    let long = rows_of(400, &(0..20).map(|k| (12 * k..12 * k + 14).collect()).collect::<Vec<_>>());
    let e = mxm(&a, &long).explain().unwrap();
    assert_eq!(bins(&e), [("window", 10)], "{e}");
    // Of positions alone rows are whole before the mask is asked.
    let (any_a, any_b) = (a.over::<AnyPair>(), long.over::<AnyPair>());
    let mask = rows_of(400, &(0..10).map(|i| vec![7 * i, 200 + i]).collect::<Vec<_>>());
    let e = mxm(&any_a, &any_b).mask(&mask.structure()).strategy(Strategy::Hash).explain().unwrap();
    assert_eq!((e.analysis.strategy, bins(&e)), ("pattern", vec![("window", 10)]), "{e}");
    assert!(e.analysis.reason.contains("whole rows"), "{e}");
    // They are listed and sorted, however many they are.
    let far = rows_of(4_000_000, &[(0..17_000).map(|e| e * 235 % 4_000_000).collect()]);
    let one = rows_of(1, &[vec![0], vec![0]]);
    let e = mxm(&one.over::<AnyPair>(), &far.over::<AnyPair>()).explain().unwrap();
    assert_eq!((e.analysis.strategy, bins(&e)), ("pattern", vec![("sort", 2)]), "{e}");
    // Their one value is stored once.
    assert_eq!(e.analysis.output, 8 * 3 + 4 * 34_000);
}

/// Few products under the complement of bits are all made before the bits are asked, as long as there is no limit.
#[test]
fn a_mask_whose_bits_are_asked_is_told_as_it_runs() {
    let a = rows_of(512, &(0..512).map(|i| vec![i * 7 % 512]).collect::<Vec<_>>());
    let b = rows_of(512, &(0..512).map(|k| vec![k * 5 % 512, (k * 5 + 100) % 512]).collect::<Vec<_>>());
    let list = rows_of(512, &(0..512).map(|i| (0..512).filter(|j| (i + j) % 3 == 0).collect()).collect::<Vec<_>>());
    let ways = |e: &Explanation| {
        let asked = e.analysis.reason.contains("the mask's bits are asked");
        (e.analysis.strategy, asked, bins(e).iter().any(|(name, _)| ["masked", "hash"].contains(name)))
    };
    for (positions, strategy) in [(false, "hash"), (true, "pattern")] {
        let product = |mask: &Matrix<i64>, limit: Option<u64>| {
            let mask = mask.structure().complement();
            let (made, told) = match positions {
                false => {
                    let product = || mxm(&a, &b).mask(&mask);
                    let told =
                        limit.map_or_else(|| product().explain(), |limit| product().memory_limit(limit).explain());
                    (product().eval().unwrap().nvals(), told)
                }
                true => {
                    let (a, b) = (a.over::<AnyPair>(), b.over());
                    let product = || mxm(&a, &b).mask(&mask);
                    let told =
                        limit.map_or_else(|| product().explain(), |limit| product().memory_limit(limit).explain());
                    (product().eval().unwrap().nvals(), told)
                }
            };
            (made, told.unwrap())
        };
        let bits = || list.to_format(Format::Bitmap).unwrap();
        let (listed, e) = product(&list, None);
        assert_eq!(ways(&e), (strategy, false, !positions), "{e}");
        let (made, asked) = product(&bits(), None);
        assert_eq!((ways(&asked), made), ((strategy, true, false), listed), "{asked}");
        assert_eq!((asked.analysis.bound, asked.analysis.entries()), (e.analysis.bound, e.analysis.entries()));
        assert_eq!(asked.mask.map(|m| (m.entries, m.complement)), Some((list.nvals(), true)));
        let (_, e) = product(&bits(), Some(1 << 30));
        assert_eq!(ways(&e), (strategy, false, !positions), "{e}");
    }
}

/// What a limit leaves no room for is counted first, and that is told; dot products and full operands take little.
#[test]
fn a_limit_on_the_cpu_is_told() {
    let told = |e: Explanation| (e.analysis.strategy, e.analysis.bins.iter().map(|b| b.rows).sum::<u64>());
    let (a, b, m) = (matrix(60, 50, 400, 3), matrix(50, 70, 500, 5), matrix(60, 70, 900, 7));
    let plain = |limit| mxm(&a, &b).memory_limit(limit).explain();
    assert_eq!(told(plain(1 << 30).unwrap()), ("hash", 60));
    let tight = plain(100 << 10).unwrap();
    assert_eq!(told(tight.clone()), ("counted", 60));
    assert!(tight.analysis.workspace + tight.analysis.output <= 100 << 10 && !tight.to_string().contains("chunks"));
    assert!(mxm(&a, &b).memory_limit(100 << 10).eval().is_ok());
    let dots = |limit| {
        let columns = transpose(&b).eval().unwrap();
        mxm(&a, &columns).transpose_b().mask(&m.structure()).strategy(Strategy::Dot).memory_limit(limit).explain()
    };
    assert_eq!((told(dots(1 << 30).unwrap()), told(dots(200 << 10).unwrap())), (("dot", 60), ("counted", 60)));
    let full = rows_of(200, &vec![(0..200).collect(); 50]);
    let (c, e) = (mxm(&a, &full).eval().unwrap(), mxm(&a, &full).memory_limit(400 << 10).explain().unwrap());
    assert_eq!((told(e.clone()), e.analysis.entries()), (("full", 60), c.nvals()), "{e}");
    assert!(e.analysis.output >= 12 * c.nvals() && e.analysis.workspace < 32 << 10, "{e}");
}

/// Rows that are cut are rows.
#[test]
fn bins_of_sliced_rows_are_rows() {
    let _one = emulator::alone();
    let b = rows_of(3000, &(0..600).map(|k| (0..500).map(|e| k + 4 * e).collect()).collect::<Vec<_>>());
    let rows: Vec<Vec<u64>> = (0..40)
        .map(|i| match i {
            7 => (0..600).collect(),
            11 | 30 => vec![],
            _ => vec![i, 3 * i + 1],
        })
        .collect();
    let a = rows_of(600, &rows);
    for device in devices().into_iter().filter(|device| *device != Device::Reference) {
        let e = mxm(&a.to(&device).unwrap(), &b.to(&device).unwrap()).strategy(Strategy::Hash).explain().unwrap();
        assert_eq!(bins(&e).iter().map(|bin| bin.1).sum::<u64>(), 40, "{e}");
        if let Device::Cuda(_) = device {
            assert!(bins(&e).contains(&("slices", 3)), "{e}");
        }
    }
}

/// Sums of vectors in the order of k are products of matrices on CUDA; a full vector goes along columns once these are kept.
#[test]
fn products_with_vectors_are_told_as_they_run() {
    let _one = emulator::alone();
    let (a, x) = (matrix(40, 30, 300, 9), Vector::<i64>::build(30, &[(0, 1), (7, 2), (29, -3)]).unwrap());
    let mask = Vector::<i64>::build(40, &[(0, 1), (3, 1), (22, 1)]).unwrap();
    let a: Matrix<f64> = a.cast().unwrap();
    let x: Vector<f64> = x.cast().unwrap();
    for device in devices() {
        let (a, x, mask) = (a.to(&device).unwrap(), x.to(&device).unwrap(), mask.to(&device).unwrap().structure());
        let pulled = || mxv(&a, &x).mask(&mask);
        let turned = transpose(&a).eval().unwrap();
        let pushed = || vxm(&x, &turned).mask(&mask);
        let told = [
            (pulled().explain().unwrap(), pulled().reproducible().explain().unwrap()),
            (pushed().explain().unwrap(), pushed().reproducible().explain().unwrap()),
        ];
        let matrices = matches!(device, Device::Cuda(_));
        for (usual, ordered) in &told {
            let (usual, ordered) = (&usual.analysis, &ordered.analysis);
            assert_eq!(usual.products, ordered.products, "{device}");
            assert_eq!(
                usual.strategy != ordered.strategy,
                matrices,
                "{device}: {} {}",
                usual.strategy,
                ordered.strategy
            );
        }
        let full = Vector::<f64>::full(40, 0.5).unwrap().to(&device).unwrap();
        // So many columns that sums of all are not near, and enough products.
        let wide = rows_of(90_000, &(0..40).map(|i| (0..1000).map(|e| i + 80 * e).collect()).collect::<Vec<_>>());
        let wide: Matrix<f64> = wide.cast().unwrap();
        let wide = wide.to(&device).unwrap();
        let product = || vxm(&full, &wide);
        let (strategies, reasons): (Vec<&str>, Vec<String>) = (0..4)
            .map(|_| {
                let told = product().explain().unwrap().analysis;
                let _ = product().eval().unwrap();
                (told.strategy, told.reason)
            })
            .unzip();
        let last = if device == Device::Reference { "reference" } else { "columns" };
        assert_eq!((strategies[0] == "columns", strategies[3]), (false, last), "{device}: {strategies:?}");
        let now = reasons.iter().map(|reason| reason.contains("made now")).collect::<Vec<_>>();
        assert_eq!(now, [false, matches!(device, Device::Cuda(_)), false, false], "{device}: {reasons:?}");
    }
}

#[test]
fn a_trace_lists_what_ran() {
    let _one = emulator::alone();
    let (a, b) = (matrix(60, 50, 400, 3), matrix(50, 70, 500, 5));
    let expected = mxm(&a, &b).eval().unwrap().entries().unwrap();
    for device in devices() {
        let (a, b) = (a.to(&device).unwrap(), b.to(&device).unwrap());
        let (c, trace) = mxm(&a, &b).traced().unwrap();
        assert_eq!(c.entries().unwrap(), expected);
        assert!(!trace.kernels.is_empty() && trace.milliseconds() >= 0.0, "{trace}");
        assert!(trace.kernels.iter().all(|k| trace.to_string().contains(&k.name)), "{trace}");
        if let Device::Cuda(_) = device {
            assert!(trace.kernels.iter().any(|k| k.name.starts_with("spgemm_") && k.bytes > Some(0)), "{trace}");
            assert!(trace.peak > Some(12 * c.nvals()), "{trace}");
            let limit = 9 * trace.peak.unwrap() / 10;
            let (c, limited) = mxm(&a, &b).memory_limit(limit).traced().unwrap();
            assert_eq!(c.entries().unwrap(), expected);
            assert!(limited.peak > Some(12 * c.nvals()) && limited.peak <= Some(limit), "{limited}");
        }
        let mut d = Matrix::<i64>::new(60, 70).unwrap().to(&device).unwrap();
        let trace = mxm(&a, &b).accumulate(Plus).traced_into(&mut d).unwrap();
        assert!(d.entries().unwrap() == expected && !trace.kernels.is_empty());
    }
}

/// Sums in the order of k are not left to ways that add as they come, and that is what is told.
#[test]
fn what_has_to_be_in_order_is_explained_so() {
    let _one = emulator::alone();
    let of_floats = |m: &Matrix<i64>| {
        let entries: Vec<_> = m.entries().unwrap().into_iter().map(|(i, j, v)| (i, j, v as f64 * 0.1)).collect();
        Matrix::<f64>::build(m.nrows(), m.ncols(), &entries).unwrap()
    };
    let (a, b) = (of_floats(&matrix(60, 50, 400, 3)), of_floats(&matrix(50, 70, 500, 5)));
    let m = matrix(60, 70, 900, 7);
    for device in devices() {
        let (a, b, mask) = (a.to(&device).unwrap(), b.to(&device).unwrap(), m.to(&device).unwrap().structure());
        let asked = || mxm(&a, &b).mask(&mask).strategy(Strategy::Hash);
        let told = [asked(), asked().reproducible()].map(|o| o.explain().unwrap().analysis.strategy);
        let ran = [asked(), asked().reproducible()].map(|o| {
            let (_, trace) = traced(&device, || o.eval()).unwrap();
            trace.kernels.iter().any(|k| k.name == "spgemm_masked")
        });
        let on_gpu = matches!(device, Device::Cuda(_));
        assert_eq!(ran, [on_gpu, false], "{device}");
        assert!(!on_gpu || told[0] != told[1], "{told:?}");
    }
}

/// Whatever runs on the device is listed, operations without a trace of their own too.
#[test]
fn work_of_any_kind_is_traced() {
    let _one = emulator::alone();
    let (a, b) = (matrix(60, 50, 400, 3), matrix(50, 70, 500, 5));
    for device in devices() {
        let (a, b) = (a.to(&device).unwrap(), b.to(&device).unwrap());
        let plan = mxm(&a, &b).plan().unwrap();
        let (c, of_plan) = traced(&device, || plan.run(&a, &b)).unwrap();
        let (sum, of_sum) = traced(&device, || mxm(&a, &b).reduce(Plus)).unwrap();
        let (_, of_two) = traced(&device, || triple_product(&a.transposed(), &a, &b).eval()).unwrap();
        assert_eq!(sum, reduce(&c, Plus).unwrap());
        for trace in [&of_plan, &of_sum, &of_two] {
            assert!(!trace.kernels.is_empty() && trace.milliseconds() >= 0.0, "{trace}");
        }
        assert!(of_two.kernels.len() > of_plan.kernels.len() || !matches!(device, Device::Cuda(_)));
        let refused = traced(&device, || plan.run(&b, &b).map(|_| ()));
        assert!(matches!(refused, Err(Error::InvalidValue { operation: "plan", .. })));
    }
}
