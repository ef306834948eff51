//! Host memory that runs out: for each operation, its first, second, … allocation fails, until it goes through. Every
//! failure is the typed error, changes no operand and does not stop a second try.
//!
//! The contract: what grows with the data is allocated fallibly (`oplus::memory`), so allocations from `LARGE` bytes on may
//! fail. Smaller ones (error texts, boxes, lists of a few blocks) are as infallible as Rust's own; rayon's queues and
//! stacks are made by a run without failures before. Each operation has a process of its own: an abort is then a finding
//! with a name, and the place that allocated is shown.
#[cfg(feature = "cuda")]
#[path = "common/emulator.rs"]
mod emulator;
#[path = "common/failing.rs"]
mod failing;
#[path = "common/random.rs"]
mod random;

use failing::{ALL_AFTER, FAILED, LARGE, LEFT, TRACE};
use oplus::algorithm::{self, BfsOptions};
use oplus::prelude::*;
use random::Rng;
use std::fmt::Debug;
use std::process::Command;
use std::sync::atomic::Ordering::SeqCst;

/// Lets a run fail at its n-th large allocation, then again from there on, for all n; how many large allocations it makes.
fn exhaust<T: PartialEq + Debug>(run: impl Fn() -> Result<T>, unchanged: impl Fn() -> bool) -> i64 {
    // Twice: thread pools, queues and caches are made.
    let expected = run().expect("memory enough");
    assert!(run().expect("memory enough") == expected);
    for n in 0.. {
        let mut reached = false;
        for all_after in [0, 1] {
            ALL_AFTER.store(all_after, SeqCst);
            FAILED.store(0, SeqCst);
            LEFT.store(n, SeqCst);
            let result = run();
            LEFT.store(-1, SeqCst);
            let failed = FAILED.load(SeqCst) > 0;
            match result {
                Ok(found) => {
                    // Large pages and the like may be done without.
                    assert!(found == expected, "allocation {n} fails and the result is another one");
                }
                Err(Error::OutOfMemory { device, needed, .. }) => {
                    assert!(failed, "allocation {n}: memory was enough");
                    // A growing list takes up to twice what it needs.
                    assert!(
                        device == "host" && needed >= LARGE as u64 / 2,
                        "allocation {n}: {needed} bytes on {device}"
                    );
                }
                Err(e) => panic!("allocation {n}: {e:?}"),
            }
            reached |= failed;
        }
        assert!(unchanged(), "allocation {n}: an operand has changed");
        assert!(run().expect("memory enough again") == expected, "allocation {n}: the next run");
        if !reached {
            return n;
        }
    }
    0
}

fn coo(n: u64, entries: u64, seed: u64) -> Coo<i64> {
    let mut random = Rng(seed | 1);
    let mut next = |below| random.below(below);
    let mut coo = Coo::new(n, n);
    for _ in 0..entries {
        coo.push(next(n), next(n), next(100) as i64 - 30);
    }
    coo
}

/// Reads and writes of the file of this name.
fn file(o: &Operands, name: &str) -> i64 {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    o.a.write(&path).expect("a file");
    let read = o.exhaust(|_| sum(&Matrix::<i64>::read(&path)?));
    assert!(read > 2, "{name}: hardly anything is allocated");
    // What was there stays there.
    let kept =
        || Matrix::<i64>::read(&path).is_ok_and(|a| a.entries().expect("memory") == o.a.entries().expect("memory"));
    let written = exhaust(|| o.a.write(&path), kept);
    read + written
}

const N: u64 = 4500;

struct Operands {
    a: Matrix<i64>,
    b: Matrix<i64>,
    x: Vector<i64>,
}

impl Operands {
    fn new() -> Operands {
        let matrix = |seed, entries| Matrix::build_with(&coo(N, entries, seed), Second).expect("a matrix");
        let x: Vec<(u64, i64)> = (0..N).step_by(2).map(|i| (i, i as i64 - 9)).collect();
        Operands { a: matrix(3, 12000), b: matrix(5, 10000), x: Vector::build(N, &x).expect("a vector") }
    }
    /// Tries `run` on the CPU with what these operands hold.
    fn exhaust<T: PartialEq + Debug>(&self, run: impl Fn(&Operands) -> Result<T>) -> i64 {
        let contents = || (self.a.entries().expect("a"), self.b.entries().expect("b"), self.x.entries().expect("x"));
        let before = contents();
        exhaust(|| run(self), || contents() == before)
    }
}

type Entries = Vec<(u64, u64, i64)>;
type Task = fn(&Operands) -> i64;

/// The entries, without an allocation that could fail where the operation itself is meant: only a sum of them.
fn sum<S>(c: &Matrix<i64, S>) -> Result<(u64, i64)> {
    Ok((c.nvals(), reduce(c, Plus)?))
}

const TASKS: &[(&str, Task)] = &[
    ("mxm", |o| o.exhaust(|o| sum(&mxm(&o.a, &o.b).eval()?))),
    ("mxm_masked", |o| o.exhaust(|o| sum(&mxm(&o.a, &o.b).mask(&o.b.structure()).eval()?))),
    ("mxm_complement", |o| o.exhaust(|o| sum(&mxm(&o.a, &o.b).mask(&o.b.structure().complement()).eval()?))),
    ("mxm_dot", |o| o.exhaust(|o| sum(&mxm(&o.a, &o.b).mask(&o.b.structure()).strategy(Strategy::Dot).eval()?))),
    ("mxm_transposed", |o| o.exhaust(|o| sum(&mxm(&o.a, &o.b).transpose_a().transpose_b().eval()?))),
    ("mxm_limited", |o| o.exhaust(|o| sum(&mxm(&o.a, &o.b).memory_limit(3 << 20).eval()?))),
    ("mxm_planned", |o| o.exhaust(|o| sum(&mxm(&o.a, &o.b).plan()?.run(&o.a, &o.b)?))),
    ("mxm_planned_masked", |o| {
        o.exhaust(|o| sum(&mxm(&o.a, &o.b).transpose_b().mask(&o.b.structure()).plan()?.run(&o.a, &o.b)?))
    }),
    ("mxm_reduce", |o| o.exhaust(|o| mxm(&o.a, &o.b).mask(&o.b.structure()).reduce(Plus))),
    ("mxm_into", |o| {
        o.exhaust(|o| {
            let mut c = o.b.clone();
            mxm(&o.a, &o.b).accumulate(Plus).into(&mut c)?;
            sum(&c)
        })
    }),
    ("mxv", |o| o.exhaust(|o| reduce(&mxv(&o.a, &o.x).eval()?, Plus))),
    ("vxm", |o| o.exhaust(|o| reduce(&vxm(&o.x, &o.a).eval()?, Plus))),
    ("mxv_and_vxm_of_full", |o| {
        let x: Vector<i64> = Vector::full(N, 2).expect("a vector");
        o.exhaust(|o| {
            // Its pattern knows nothing yet.
            let a = transpose(&o.a).eval()?;
            Ok((reduce(&vxm(&x, &a).eval()?, Plus)?, reduce(&mxv(&a, &x).eval()?, Plus)?))
        })
    }),
    ("vxm_in_bins", |o| {
        let coo = oplus::generate::stencil_9(200, 200).expect("a grid");
        let a: Matrix<f64> = Matrix::from_coo(&coo).expect("a matrix");
        let x: Vec<(u64, f64)> = (0..40_000).step_by(18).map(|i| (i, 1.0)).collect();
        let x: Vector<f64> = Vector::build(40_000, &x).expect("a vector");
        o.exhaust(|_| Ok(vxm(&x, &a).mask(&x.structure().complement()).eval()?.nvals()))
    }),
    ("fused", |o| {
        o.exhaust(|o| sum(&mxm(&o.a, &o.b).mask(&o.b.structure()).apply(Abs).select(ValueGt, 1i64).top_k(3).eval()?))
    }),
    ("scaled", |o| {
        let v: Vector<i64> = Vector::full(N, 2).expect("a vector");
        o.exhaust(|o| sum(&mxm(&o.a, &o.b).scale_rows(&v, Times).scale_columns(&v, Plus).eval()?))
    }),
    ("chain", |o| o.exhaust(|o| sum(&ewise_add(&o.a, &o.b, Plus).ewise_mult(&o.a, Minus).apply(Abs).eval()?))),
    ("formats", |o| {
        o.exhaust(|o| Ok((sum(&o.a.to_format(Format::Csc)?)?, sum(&o.a.to_format(Format::Hypersparse)?)?)))
            + o.exhaust(|o| sum(&extract(&o.a, ..300, ..300).eval()?.to_format(Format::Bitmap)?))
            + o.exhaust(|o| sum(&extract(&o.a, ..60, ..600).eval()?.to_format(Format::Dia)?))
            + o.exhaust(|o| sum(&ewise_mult(&o.a.with_value(3i64)?, &o.b.with_value(2i64)?, Plus).eval()?))
    }),
    ("to_bitmap", |o| o.exhaust(|o| reduce(&o.x.to_bitmap()?, Plus))),
    ("accumulate_to_bitmap", |o| {
        let few: Vec<(u64, i64)> = (0..N).step_by(3).map(|i| (i, 5)).collect();
        let few: Vector<i64> = Vector::build(N, &few).expect("a vector");
        let start = o.x.to_bitmap().expect("a vector");
        o.exhaust(|_| {
            let mut c = start.clone();
            apply(&few, Negate).mask(&start.structure().complement()).accumulate(Plus).into(&mut c)?;
            reduce(&c.to_sparse()?, Plus)
        })
    }),
    ("ewise_add", |o| o.exhaust(|o| sum(&ewise_add(&o.a, &o.b, Plus).eval()?))),
    ("ewise_mult", |o| o.exhaust(|o| sum(&ewise_mult(&o.a, &o.b, Times).eval()?))),
    ("apply", |o| o.exhaust(|o| sum(&apply(&o.a, Negate).eval()?))),
    ("apply_index", |o| o.exhaust(|o| sum(&apply_index(&o.a, ColIndex, 1i64).eval()?))),
    ("select", |o| o.exhaust(|o| sum(&select(&o.a, Tril, 0i64).eval()?))),
    ("reduce_rows", |o| o.exhaust(|o| reduce(&reduce_rows(&o.a, Plus).eval()?, Plus))),
    ("transpose", |o| o.exhaust(|o| sum(&transpose(&o.a).eval()?))),
    ("extract_rows", |o| {
        let rows: Vec<u64> = (0..N).rev().collect();
        o.exhaust(|o| sum(&extract_rows(&o.a, &rows).eval()?))
    }),
    ("extract", |o| {
        let list: Vec<u64> = (0..N).map(|i| i * 7 % N).collect();
        o.exhaust(|o| sum(&extract(&o.a, &list, &list).eval()?))
    }),
    ("extract_range", |o| o.exhaust(|o| sum(&extract(&o.a, 10.., ..4000).transpose_a().eval()?))),
    ("extract_column", |o| o.exhaust(|o| reduce(&extract_column(&o.a, .., 3).eval()?, Plus))),
    ("assign", |o| {
        let list: Vec<u64> = (0..N).map(|i| i * 7 % N).collect();
        o.exhaust(|o| {
            let mut c = o.b.clone();
            assign(&o.a, &list, ..).mask(&o.b.structure()).accumulate(Plus).into(&mut c)?;
            subassign(&o.a, .., &list).mask(&o.a.structure()).replace().into(&mut c)?;
            sum(&c)
        })
    }),
    ("assign_lines", |o| {
        o.exhaust(|o| {
            let mut c = o.b.clone();
            assign_row(&o.x, 7, ..).into(&mut c)?;
            assign_column(&o.x, .., 9).mask(&o.x.structure()).into(&mut c)?;
            assign_scalar(3, ..90, ..90).into(&mut c)?;
            assign_scalar(4, .., ..).mask(&o.a.structure()).into(&mut c)?;
            sum(&c)
        })
    }),
    ("assign_vector", |o| {
        o.exhaust(|o| {
            let mut w = o.x.clone();
            assign_vector(&o.x, Indices::stride(N - 1, -1, N)).accumulate(Minus).into(&mut w)?;
            assign_scalar_vector(5, ..).mask(&o.x.structure()).into(&mut w)?;
            reduce(&w, Plus)
        })
    }),
    ("ewise_union", |o| o.exhaust(|o| sum(&ewise_union(&o.a, 1, &o.b, 2, Minus).eval()?))),
    ("kronecker", |o| {
        let small = extract(&o.a, ..40, ..4000).eval().expect("a part");
        let other = extract(&o.b, ..30, ..4000).eval().expect("a part");
        o.exhaust(|_| sum(&kronecker(&small, &other, Times).eval()?))
    }),
    ("diagonals", |o| {
        o.exhaust(|o| {
            let d = diag(&o.x, -3).eval()?;
            Ok((sum(&d)?, reduce(&diag_extract(&d, -3).eval()?, Plus)?))
        })
    }),
    ("scale", |o| {
        o.exhaust(|o| {
            let rows = scale_rows(&o.x, &o.a, Times).eval()?;
            sum(&scale_columns(&rows, &o.x, Plus).eval()?)
        })
    }),
    ("arg", |o| o.exhaust(|o| reduce(&argmin_rows(&o.a).eval()?, Plus))),
    ("sort", |o| {
        o.exhaust(|o| {
            let (values, columns) = sort(&o.a, Gt)?;
            Ok((sum(&values)?, columns.nvals(), sort(&o.x, Lt)?.1.nvals()))
        })
    }),
    ("tiles", |o| {
        o.exhaust(|o| {
            let tiles = split(&o.a, &[1000, N - 1000], &[300, N - 300])?;
            let all = concat(&[[&tiles[1][0], &tiles[1][1]], [&tiles[0][0], &tiles[0][1]]])?;
            sum(&reshape_columns(&reshape(&all, N / 2, 2 * N)?, N, N)?)
        })
    }),
    ("resize", |o| {
        o.exhaust(|o| {
            let mut c = o.a.clone();
            c.resize(4000, 1 << 40)?;
            c.resize(5000, 5000)?;
            sum(&c)
        })
    }),
    ("update", |o| {
        o.exhaust(|o| {
            let (mut c, mut updates) = (o.a.clone(), Updates::new());
            for i in 0..N {
                updates.set(i, i * 7 % N, 5)?;
                updates.remove(i, i)?;
            }
            // Whichever part of it lacked memory.
            let named =
                |e: &Error, name| assert!(matches!(e, Error::OutOfMemory { operation, .. } if *operation == name));
            c.update(&updates).inspect_err(|e| named(e, "update"))?;
            c.set(N - 1, N - 2, 5).inspect_err(|e| named(e, "set"))?;
            c.remove(N - 1, N - 2).inspect_err(|e| named(e, "remove"))?;
            sum(&c)
        })
    }),
    ("entries", |o| o.exhaust(|o| -> Result<Entries> { o.a.entries() })),
    ("listed", |o| {
        o.exhaust(|_| {
            // Each a new one: a full matrix keeps its entries once they are listed.
            let made = || Matrix::<i64>::full(200, 200, 3);
            let named =
                |e: &Error, name| assert!(matches!(e, Error::OutOfMemory { operation, .. } if *operation == name));
            let iterated = made()?.iter().inspect_err(|e| named(e, "iter"))?.len();
            let rows = made()?.rows().inspect_err(|e| named(e, "rows"))?.row(3).len();
            let equal = made()?.equals(&made()?).inspect_err(|e| named(e, "equals"))?;
            let parts = made()?.csr_parts().inspect_err(|e| named(e, "csr_parts"))?.values().len();
            Ok((iterated, rows, equal, parts))
        })
    }),
    ("hypersparse", |o| {
        // Axes of listed ids: beyond 2^32.
        let far = |seed| {
            let (near, mut far) = (coo(N, 12000, seed), Coo::new(1 << 40, 1 << 40));
            for e in 0..near.values.len() {
                far.push(near.rows[e] << 25, near.columns[e] * 12345, near.values[e]);
            }
            Matrix::<i64>::build_with(&far, Second).expect("a matrix")
        };
        let (a, b) = (far(3), far(7));
        o.exhaust(|_| sum(&mxm(&transpose(&a).eval()?, &b).eval()?))
    }),
    ("build", |o| {
        let coo = coo(N, 27000, 11);
        o.exhaust(|_| sum(&Matrix::<i64>::build_with(&coo, Plus)?))
    }),
    ("build_vector", |o| {
        let entries: Vec<(u64, i64)> = (0..N).map(|i| (i * 7 % N, i as i64)).collect();
        o.exhaust(|_| reduce(&Vector::<i64>::build(N, &entries)?, Plus))
    }),
    ("matrix_market", |o| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.mtx");
        oplus::io::matrix_market::write(&path, &o.a).expect("a file");
        o.exhaust(|_| sum(&Matrix::<i64>::read(&path)?))
    }),
    ("matrix_market_write", |o| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.mtx");
        o.exhaust(|o| oplus::io::matrix_market::write(&path, &o.a))
    }),
    #[cfg(feature = "compression")]
    ("matrix_market_gz", |o| {
        failing::note_gzip();
        file(o, "a.mtx.gz")
    }),
    #[cfg(feature = "compression")]
    ("matrix_market_zst", |o| file(o, "a.mtx.zst")),
    ("binary", |o| file(o, "a.oplus")),
    #[cfg(feature = "compression")]
    ("binary_gz", |o| {
        failing::note_gzip();
        file(o, "a.oplus.gz")
    }),
    #[cfg(feature = "compression")]
    ("binary_zst", |o| file(o, "a.oplus.zst")),
    #[cfg(feature = "npz")]
    ("npz", |o| {
        failing::note_gzip();
        file(o, "a.npz")
    }),
    #[cfg(target_os = "linux")]
    ("pipe", |o| {
        use std::io::Write;
        use std::os::fd::AsRawFd;
        // Fewer bytes than a pipe holds; its size is not known before it ends.
        let entries: String = (1..4000).map(|i| format!("{i} {i} {}\n", i % 7)).collect();
        let text = format!("%%MatrixMarket matrix coordinate integer general\n4000 4000 3999\n{entries}");
        o.exhaust(|_| {
            let (from, mut to) = std::io::pipe().expect("a pipe");
            to.write_all(text.as_bytes()).expect("room in the pipe");
            drop(to);
            sum(&Matrix::<i64>::read(format!("/dev/fd/{}", from.as_raw_fd()))?)
        })
    }),
    ("edge_list", |o| {
        let text: String = (0..12000).map(|i| format!("{} {}\n", i * 37 % 1009, i * 91 % 1013)).collect();
        let options = oplus::io::edge_list::EdgeListOptions::default();
        o.exhaust(|_| Ok(oplus::io::edge_list::read_bytes::<i64>(text.as_bytes(), &options)?.len()))
    }),
    ("bfs", |o| {
        o.exhaust(|o| {
            let found = algorithm::bfs(&o.a, 0, &BfsOptions::default())?;
            Ok((found.reached, found.depth, found.level_sum))
        })
    }),
    ("multi_source_bfs", |o| {
        let sources: Vec<u64> = (0..4).collect();
        o.exhaust(|o| Ok(algorithm::multi_source_bfs(&o.a, &sources, &Default::default())?.level_sum))
    }),
    ("sssp", |o| {
        let weights = apply(&o.a, Abs).eval().expect("a matrix");
        o.exhaust(|_| reduce(&algorithm::sssp(&weights, 0, &Default::default())?.distances, Plus))
    }),
    ("triangle_count", |o| o.exhaust(|o| Ok(algorithm::triangle_count(&o.a, &Default::default())?.triangles))),
    ("triangle_count_ordered", |o| {
        // Ten hubs and many vertices without an edge.
        let edges: Vec<(u64, u64, i64)> = (10..2000).flat_map(|i| (0..10).map(move |hub| (i, hub, 1))).collect();
        let graph: Matrix<i64> = Matrix::build(N, N, &edges).expect("a graph");
        o.exhaust(|_| {
            let found = algorithm::triangle_count(&graph, &Default::default())?;
            assert!(found.ordered);
            Ok((found.triangles, found.edges))
        })
    }),
    ("apsp", |o| {
        let weights: Vec<(u64, u64, f64)> =
            (0..90).flat_map(|i| (1..4).map(move |d| (i, (i + d) % 90, d as f64))).collect();
        let weights: Matrix<f64> = Matrix::build(90, 90, &weights).expect("a matrix");
        o.exhaust(|_| reduce(&algorithm::apsp(&weights, &Default::default())?.distances, Max))
    }),
    ("rmat", |o| o.exhaust(|_| Ok(oplus::generate::rmat(11, 8, Default::default(), 1)?.columns))),
    ("stencil", |o| o.exhaust(|_| Ok(oplus::generate::stencil_5(40, 40)?.columns))),
    ("hub", |o| o.exhaust(|_| Ok(oplus::generate::hub(N, 4, 3, 900, 1)?.columns))),
    ("band", |o| o.exhaust(|_| Ok(oplus::generate::band(1500, 3, 1)?.columns))),
    ("small_world", |o| o.exhaust(|_| Ok(oplus::generate::small_world(1500, 4, 0.1, 1)?.columns))),
    ("road_grid", |o| o.exhaust(|_| Ok(oplus::generate::road_grid(60, 50, 1)?.columns))),
    ("uniform", |o| o.exhaust(|_| Ok(oplus::generate::uniform(1500, 1500, 4, 1)?.columns))),
    ("permuted", |o| o.exhaust(|_| Ok(oplus::generate::permuted(oplus::generate::band(3000, 2, 1)?, 5)?.columns))),
    ("triple_product", |o| {
        let p: Vec<(u64, u64, i64)> = (0..N).map(|i| (i, i / 3, 1)).collect();
        let p: Matrix<i64> = Matrix::build(N, N / 3, &p).expect("a matrix");
        o.exhaust(|o| sum(&triple_product(&p.transposed(), &o.a, &p).eval()?))
            + o.exhaust(|o| sum(&triple_product(&p.transposed(), &o.a, &p).plan()?.run(&p.transposed(), &o.a, &p)?))
    }),
    ("explain_mxm", |o| o.exhaust(|o| Ok(mxm(&o.a, &o.b).transpose_b().explain()?.analysis.products))),
    ("traced_mxm", |o| o.exhaust(|o| sum(&mxm(&o.a, &o.b).traced()?.0))),
    #[cfg(feature = "cuda")]
    ("to_device", |o| {
        if emulator::cuda().is_none() {
            return 1;
        }
        let device = Device::Cuda(0);
        o.exhaust(|o| {
            let there = (o.a.to(&device)?, o.x.to(&device)?);
            Ok((sum(&there.0.to(&Device::Cpu)?)?, reduce(&there.1.to(&Device::Cpu)?, Plus)?))
        })
    }),
    ("reference_mxm", |o| {
        let o = Operands {
            a: o.a.to(&Device::Reference).expect("a"),
            b: o.b.to(&Device::Reference).expect("b"),
            x: o.x.clone(),
        };
        o.exhaust(|o| sum(&mxm(&o.a, &o.b).mask(&o.b.structure()).eval()?))
    }),
];

const TASK: &str = "OPLUS_TEST_TASK";
const TRACED: &str = "OPLUS_TEST_TRACE_ALLOCATIONS";

#[test]
#[ignore = "runs in the processes that the other tests start"]
fn child() {
    let Ok(name) = std::env::var(TASK) else { return };
    TRACE.store(i64::from(std::env::var_os(TRACED).is_some()), SeqCst);
    let (_, task) = TASKS.iter().find(|t| t.0 == name).expect("a task");
    println!("ANSWER {}", task(&Operands::new()));
}

fn run(task: &str, traced: bool) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]).env(TASK, task);
    // An abort that cannot write its own trace waits for itself.
    command.env("RUST_BACKTRACE", "0");
    if traced {
        command.env(TRACED, "1");
    }
    let output = command.output().expect("this test again");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

/// The last lines, where what went wrong stands.
fn end(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}

fn check(tasks: impl Iterator<Item = &'static str>) {
    let mut wrong = String::new();
    for task in tasks {
        let (success, text) = run(task, false);
        if !success {
            wrong += &format!("== {task}\n{}\n", end(&run(task, true).1));
            continue;
        }
        let count = text.split("ANSWER ").nth(1).and_then(|t| t.lines().next()?.parse::<i64>().ok()).expect("a count");
        assert!(count > 0, "{task} allocates nothing large: it tests nothing");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn g3_products_run_out_of_memory() {
    check(TASKS.iter().map(|t| t.0).filter(|t| t.contains("mxm") || t.contains("xv") || t.contains("vxm")));
}

#[test]
fn g3_other_operations_run_out_of_memory() {
    check(TASKS.iter().map(|t| t.0).filter(|t| !(t.contains("mxm") || t.contains("xv") || t.contains("vxm"))));
}

/// Zstandard's own memory, which this test's allocator does not see, is held down by the system.
#[cfg(all(feature = "compression", target_os = "linux"))]
#[test]
#[ignore = "runs in the process that the next test starts"]
fn child_without_a_window() {
    use std::io::Write;
    unsafe extern "C" {
        fn setrlimit(resource: i32, limit: *const [u64; 2]) -> i32;
    }
    const ADDRESS_SPACE: i32 = 9;
    let limit = |bytes: u64| {
        // SAFETY: as the C library declares it; the hard limit stays.
        assert_eq!(unsafe { setrlimit(ADDRESS_SPACE, &[bytes, u64::MAX]) }, 0);
    };
    let folder = tempfile::tempdir().expect("a folder");
    let pack = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        let mut to = zstd::stream::write::Encoder::new(std::fs::File::create(&path).expect("a file"), 1).expect("room");
        to.window_log(27).expect("a window");
        to.write_all(bytes).expect("a file");
        to.finish().expect("a file");
        path
    };
    let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 1, 0.5)]).expect("a matrix");
    let mut bytes = Vec::new();
    oplus::io::binary::write_to(&mut bytes, &a).expect("bytes");
    let text = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 0.5\n";
    let paths = [pack("a.mtx.zst", text), pack("a.oplus.zst", &bytes), pack("a.csv.zst", b"0,1,0.5\n1,1,2\n")];
    for path in &paths {
        assert!(Matrix::<f64>::read(path).is_ok(), "{}", path.display());
        // With what threads have begun for that read, and keep.
        let status = std::fs::read_to_string("/proc/self/status").expect("this process");
        let size = status.lines().find_map(|l| l.strip_prefix("VmSize:")).expect("its size");
        let size: u64 = size.trim().trim_end_matches(" kB").parse().expect("a number");
        limit((size << 10) + (48 << 20));
        let read = Matrix::<f64>::read(path);
        limit(u64::MAX);
        assert!(matches!(&read, Err(Error::OutOfMemory { device, .. }) if device == "host"), "{read:?}");
    }
    println!("ANSWER 1");
}

#[cfg(all(feature = "compression", target_os = "linux"))]
#[test]
fn zstandard_runs_out_of_memory() {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    let names = ["--exact", "child_without_a_window", "--ignored", "--nocapture", "--test-threads=1"];
    let output = command.args(names).output().expect("this test again");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("ANSWER 1"), "{}", end(&text));
}
