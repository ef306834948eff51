//! What is larger than the machine's memory, or than `OPLUS_HOST_MEMORY` allows, is a typed error before the system ends the
//! process, and what needs less than was expected is still computed. Each task has a process of its own: the variable is read once.
#![cfg(target_os = "linux")]
use oplus::prelude::*;
use std::process::Command;

/// Bytes that the tasks' processes may hold.
const ALLOWED: u64 = 512 << 20;
const ALLOWED_TEXT: &str = "512 MiB";

/// Every row of A meets every row of B: n² entries of 12 bytes, 4/3 as many as are allowed.
fn outer(n: u64) -> (Matrix<f64>, Matrix<f64>) {
    let column: Vec<(u64, u64, f64)> = (0..n).map(|i| (i, 0, 1.5 + i as f64)).collect();
    let row: Vec<(u64, u64, f64)> = (0..n).map(|j| (0, j, 0.5)).collect();
    (Matrix::build(n, 1, &column).expect("a column"), Matrix::build(1, n, &row).expect("a row"))
}
const N: u64 = 7600;

/// The error, which has to be that memory does not suffice: what was needed.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T>) -> (&'static str, u64) {
    match result {
        Err(Error::OutOfMemory { operation, device, needed, available: Some(available) }) => {
            assert!(device == "host" && available < needed && available <= ALLOWED, "{needed} of {available}");
            (operation, needed)
        }
        other => panic!("not refused: {:?}", other.map(|_| ())),
    }
}

fn products() {
    let (a, b) = outer(N);
    let entries = N * N;
    let (operation, needed) = refused(mxm(&a, &b).eval());
    assert!(operation == "mxm" && needed >= entries * 4, "{operation}: {needed}");
    refused(mxm(&a.over::<MinPlus>(), &b.over()).eval());
    refused(mxm(&a.over::<PlusPair>(), &b.over()).eval());
    // One value for all is stored once: positions alone fit.
    assert_eq!(mxm(&a.over::<AnyPair>(), &b.over()).eval().expect("231 MB").nvals(), entries);
    refused(mxm(&b, &a).transpose_a().transpose_b().eval());
    // What is not stored may be as large as it is.
    let sum = mxm(&a, &b).reduce(Plus).expect("a number is not large");
    assert!(sum > 0.0);
    // Operands are as they were, and what fits still does.
    let (small, also) = outer(1000);
    assert_eq!(mxm(&small, &also).eval().expect("12 MB").nvals(), 1_000_000);
    assert_eq!((a.nvals(), b.nvals()), (N, N));
}

/// n rows of n products each, which meet in few columns: room for all of them is refused, the result is small.
fn less_than_expected() {
    let n = 9000u64;
    let wide: Vec<(u64, u64, f64)> =
        (0..n).flat_map(|i| (0..500).map(move |e| (i, (i * 7 + e * 11) % n, 1.5))).collect();
    let deep: Vec<(u64, u64, f64)> = (0..n).flat_map(|k| (0..20).map(move |e| (k, (k % 3) * 3000 + e, 0.5))).collect();
    let a: Matrix<f64> = Matrix::build(n, n, &wide).expect("some");
    let b: Matrix<f64> = Matrix::build(n, n, &deep).expect("some");
    let c = mxm(&a, &b).eval().expect("60 entries a row");
    assert_eq!(c.nvals(), n * 60);
}

/// Each thread would take sums of all columns: there is memory for those of a few threads, whatever is asked of the product.
fn fewer_threads() {
    let (rows, inner, columns) = (64u64, 64u64, (1 << 24) - 1);
    let a: Vec<(u64, u64, f64)> =
        (0..rows).flat_map(|i| (0..16).map(move |e| (i, (i + e * 3) % inner, 0.5 + e as f64))).collect();
    let place = |k: u64, e: u64| (k * 7 + e * 16_301) % columns;
    let b: Vec<(u64, u64, f64)> = (0..inner).flat_map(|k| (0..1000).map(move |e| (k, place(k, e), 1.5))).collect();
    // A third of the places of the first factor's rows.
    let m: Vec<(u64, u64, bool)> =
        (0..rows).flat_map(|i| (0..334).map(move |e| (i, place(i % inner, e * 3 % 1000), true))).collect();
    let a: Matrix<f64> = Matrix::build(rows, inner, &a).expect("few");
    let b: Matrix<f64> = Matrix::build(inner, columns, &b).expect("some");
    let mask: Matrix<bool> = Matrix::build(rows, columns, &m).expect("some");
    let product = || mxm(&a, &b).mask(&mask.structure());
    let work = || {
        let c = product().eval().expect("few entries");
        assert!(c.nvals() > 1000);
        let plan = product().plan().expect("its positions");
        assert_eq!(plan.run(&a, &b).expect("what eval makes").entries(), c.entries());
        let largest = product().reduce(Max).expect("a number is not large");
        assert_eq!(largest, reduce(&c, Max).expect("a number"));
        let negative = product().apply(Negate).eval().expect("as many");
        assert_eq!(negative.entries(), apply(&c, Negate).eval().expect("as many").entries());
        let some = product().select(ValueGt, 9.0).eval().expect("less");
        assert_eq!(some.entries(), select(&c, ValueGt, 9.0).eval().expect("less").entries());
    };
    rayon::ThreadPoolBuilder::new().num_threads(8).build().expect("threads").install(work);
}

fn others() {
    let (a, b) = outer(N);
    refused(kronecker(&a, &b, Times).eval());
    let n = 600_000_000u64;
    refused(Vector::<f64>::full(n, 1.0).and_then(|v| apply_index(&v, RowIndex, 1i64).eval()));
    let mut grown: Updates<f64> = Updates::new();
    let outcome = (0..u64::from(u32::MAX)).try_for_each(|i| grown.set(i, i, 0.5));
    refused(outcome);
    drop(grown);
    // Many that are small each.
    let mut kept = Vec::new();
    let outcome = loop {
        match Vector::<f64>::full(30_000, 0.5).and_then(|v| apply_index(&v, RowIndex, 1i64).eval()) {
            Ok(v) => kept.push(v),
            refused => break refused,
        }
        assert!(kept.len() as u64 * 240_000 <= ALLOWED, "{} vectors", kept.len());
    };
    let needed = match outcome {
        Err(Error::OutOfMemory { needed, available: Some(available), .. }) if available < needed => needed,
        other => panic!("not refused: {:?}", other.map(|_| ())),
    };
    assert!(needed <= 240_000 && kept.len() > 500, "{needed} {}", kept.len());
}

/// All that a result takes is asked for before its factors are listed or its places counted.
fn at_once() {
    let full = |nrows, ncols| Matrix::<f64>::full(nrows, ncols, 1.0).expect("one value");
    let (tall, wide) = (full(1 << 16, 1 << 15), full(1 << 15, 1 << 16));
    let n = 1u64 << 30;
    for device in [Device::Cpu, Device::Reference] {
        let (tall, wide) = (tall.to(&device).expect("one value"), wide.to(&device).expect("one value"));
        // 2⁶² entries.
        assert_eq!(refused(kronecker(&tall, &wide, Times).eval()), ("kronecker", u64::MAX));
        let mut x = Vector::<f64>::new(n).expect("nothing").to(&device).expect("nothing");
        let (operation, needed) = refused(assign_scalar_vector(1.0, ..).into(&mut x));
        assert!(operation == "assign_scalar_vector" && needed >= n * 12, "{operation}: {needed}");
        assert_eq!(x.nvals(), 0);
    }
}

/// Without a limit: no machine has that.
fn more_than_any() {
    match oplus::generate::uniform(1 << 31, 1 << 31, 1 << 20, 1) {
        Err(Error::OutOfMemory { .. } | Error::IndexOverflow { .. } | Error::InvalidValue { .. }) => {}
        other => panic!("{:?}", other.map(|_| ())),
    }
}

/// Whoever asks for a device is told.
fn no_number() {
    for told in [Device::Cpu.check(), Device::try_best().map(drop)] {
        let error = told.expect_err("no number of bytes");
        assert!(matches!(&error, Error::InvalidValue { operation: "OPLUS_HOST_MEMORY", .. }), "{error:?}");
        assert!(error.to_string().contains("\"half of it\" is no number of bytes"), "{error}");
    }
    assert!(Device::best() == Device::Cpu, "as another variable says");
}

/// Zstandard takes the window that a frame claims: what is not there is an error, as elsewhere, and smaller ones are read.
fn windows() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = b"0,1,0.5\n";
    let read = |log: u8| {
        // A frame of one block that is not packed.
        let frame =
            [&[0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3][..], &[1 | (text.len() as u8) << 3, 0, 0], text].concat();
        let path = folder.path().join("a.csv.zst");
        std::fs::write(&path, [&frame[..], &frame].concat()).expect("a file");
        oplus::io::edge_list::read::<f64>(&path, &Default::default()).map(|coo| coo.len())
    };
    for log in [10, 20, 23] {
        assert_eq!(read(log), Ok(2), "{log}");
    }
    assert!(matches!(read(27), Err(Error::OutOfMemory { operation: "read", .. })), "{:?}", read(27));
    assert!(matches!(read(28), Err(Error::OutOfMemory { .. })));
}

const TASKS: [(&str, fn()); 8] = [
    ("products", products),
    ("less_than_expected", less_than_expected),
    ("fewer_threads", fewer_threads),
    ("others", others),
    ("at_once", at_once),
    ("more_than_any", more_than_any),
    ("no_number", no_number),
    ("windows", windows),
];
const TASK: &str = "OPLUS_TEST_HOST_LIMIT";

#[test]
#[ignore = "run by the others"]
fn child() {
    let name = std::env::var(TASK).expect("a task");
    TASKS.iter().find(|t| t.0 == name).expect("a task that is known").1();
}

fn run(task: &str, allowed: Option<&str>) {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command
        .args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"])
        .env(TASK, task)
        .env("OPLUS_DEVICE", "cpu");
    match allowed {
        Some(bytes) => command.env("OPLUS_HOST_MEMORY", bytes),
        None => command.env_remove("OPLUS_HOST_MEMORY"),
    };
    let output = command.output().expect("this test again");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{task}: {text}");
}

#[test]
fn products_are_refused_before_memory_is_touched() {
    run("products", Some(ALLOWED_TEXT));
}

#[test]
fn what_is_smaller_than_expected_is_computed() {
    run("less_than_expected", Some(ALLOWED_TEXT));
}

#[test]
fn what_a_few_threads_have_memory_for_is_computed() {
    run("fewer_threads", Some(ALLOWED_TEXT));
}

#[test]
fn other_results_are_refused_too() {
    run("others", Some(&ALLOWED.to_string()));
}

#[test]
fn what_is_refused_is_refused_at_once() {
    run("at_once", Some(ALLOWED_TEXT));
}

#[test]
fn no_machine_has_so_much() {
    run("more_than_any", None);
}

#[cfg(feature = "compression")]
#[test]
fn windows_are_bounded() {
    run("windows", Some("96 MiB"));
}

#[test]
fn what_is_no_number_is_said() {
    run("no_number", Some("half of it"));
}
