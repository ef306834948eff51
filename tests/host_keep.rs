//! Large host memory is kept when a result is dropped, and had again by the next one: within `OPLUS_HOST_KEEP` bytes, and
//! never where it is missed. Each task has a process of its own, whose allocator counts.
use oplus::interop::CsrParts;
use oplus::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Blocks of this size are worth keeping.
const LARGE: usize = 8 << 20;
/// Kept at most, if nothing else is said.
const KEPT: usize = 256 << 20;

/// The system's allocator, which counts large blocks and refuses those of more bytes than are left.
struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);

fn refuses(size: usize) -> bool {
    size >= LARGE && LIVE.load(SeqCst).saturating_add(size) > MOST.load(SeqCst)
}
fn counted(pointer: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !pointer.is_null() {
        TAKEN.fetch_add(1, SeqCst);
        LIVE.fetch_add(size, SeqCst);
    }
    pointer
}
fn freed(size: usize) {
    if size >= LARGE {
        LIVE.fetch_sub(size, SeqCst);
    }
}

// SAFETY: the system's allocator, or null, which the trait allows.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refuses(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are passed on.
        counted(unsafe { System.alloc(layout) }, layout.size())
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if refuses(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        counted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && refuses(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        let moved = unsafe { System.realloc(pointer, layout, size) };
        if !moved.is_null() {
            freed(layout.size());
        }
        counted(moved, size)
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        freed(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Rows of one entry each, of 8 and 4 bytes each more than `LARGE`.
fn diagonal(n: u64) -> Matrix<f64> {
    let parts = CsrParts {
        nrows: n,
        ncols: n,
        row_ids: None,
        column_ids: None,
        offsets: (0..=n).collect(),
        indices: (0..n as u32).collect(),
        values: (0..n).map(|i| i as f64).collect(),
    };
    Matrix::from_csr_parts(parts).expect("a diagonal")
}
const N: u64 = 1_200_000;

fn iterations(a: &Matrix<f64>, count: usize) -> usize {
    let before = TAKEN.load(SeqCst);
    for _ in 0..count {
        let b = apply(a, Negate).eval().expect("memory enough");
        // Room for the entries of both, half of which is not needed.
        let c = ewise_add(a, &b, Plus).eval().expect("memory enough");
        let last = b.get(N - 1, N - 1).expect("a place");
        assert_eq!((c.nvals(), c.get(7, 7).expect("a place"), last), (N, Some(0.0), Some(1.0 - N as f64)));
    }
    TAKEN.load(SeqCst) - before
}

fn had_again() {
    let a = diagonal(N);
    assert!(iterations(&a, 1) > 0);
    iterations(&a, 2);
    assert_eq!(iterations(&a, 5), 0, "the room of earlier results is there");
}

fn not_kept() {
    let a = diagonal(N);
    iterations(&a, 2);
    assert!(iterations(&a, 5) >= 10);
    drop(a);
    assert_eq!(LIVE.load(SeqCst), 0);
}

fn bounded() {
    let a = diagonal(N);
    let many: Vec<_> = (0..40).map(|_| apply(&a, Negate).eval().expect("memory enough")).collect();
    assert!(LIVE.load(SeqCst) > KEPT);
    drop(many);
    drop(a);
    let kept = LIVE.load(SeqCst);
    assert!(kept > KEPT / 2 && kept <= KEPT, "{kept} bytes are kept");
}

/// What is kept is given back before an operation fails for want of memory.
fn given_back() {
    let a = diagonal(N);
    drop((0..9).map(|_| apply(&a, Negate).eval().expect("memory enough")).collect::<Vec<_>>());
    let kept = LIVE.load(SeqCst);
    let b = diagonal(2 * N);
    MOST.store(LIVE.load(SeqCst), SeqCst);
    let c = apply(&b, Negate).eval().expect("what is kept is enough");
    assert_eq!(c.get(5, 5).expect("a place"), Some(-5.0));
    assert!(LIVE.load(SeqCst) < kept);
    // And what is not there is not there.
    MOST.store(LIVE.load(SeqCst), SeqCst);
    assert!(matches!(apply(&b, Negate).eval(), Err(Error::OutOfMemory { .. })));
}

/// Some results that are dropped, and no memory left but theirs.
fn nothing_left_but_kept() {
    let a = diagonal(N);
    drop((0..9).map(|_| apply(&a, Negate).eval().expect("memory enough")).collect::<Vec<_>>());
    MOST.store(LIVE.load(SeqCst), SeqCst);
}

/// Also for memory that comes zeroed, the cells of a bitmap.
fn given_back_for_zeros() {
    let a: Matrix<u8> = Matrix::build(4096, 4096, &[(7, 9, 3), (9, 7, 5)]).expect("a matrix");
    nothing_left_but_kept();
    let bitmap = a.to_format(Format::Bitmap).expect("what is kept is enough");
    assert_eq!((bitmap.get(9, 7).expect("a place"), bitmap.nvals()), (Some(5), 2));
}

/// And for a list that grows.
fn given_back_for_more() {
    nothing_left_but_kept();
    let mut updates: Updates<f64> = Updates::new();
    for i in 0..N {
        updates.set(i, i, 0.5).expect("what is kept is enough");
    }
    assert!(LIVE.load(SeqCst) >= 24 * N as usize);
}

const TASKS: [(&str, fn()); 6] = [
    ("had_again", had_again),
    ("not_kept", not_kept),
    ("bounded", bounded),
    ("given_back", given_back),
    ("given_back_for_zeros", given_back_for_zeros),
    ("given_back_for_more", given_back_for_more),
];
const TASK: &str = "OPLUS_TEST_HOST_KEEP";

#[test]
#[ignore = "run by the others"]
fn child() {
    let name = std::env::var(TASK).expect("a task");
    TASKS.iter().find(|t| t.0 == name).expect("a task that is known").1();
}

fn run(task: &str, keep: Option<&str>) {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]).env(TASK, task);
    match keep {
        Some(bytes) => command.env("OPLUS_HOST_KEEP", bytes),
        None => command.env_remove("OPLUS_HOST_KEEP"),
    };
    let output = command.output().expect("this test again");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{task}: {text}");
}

#[test]
fn room_is_had_again() {
    run("had_again", None);
}

#[test]
fn nothing_is_kept_where_nothing_may_be() {
    run("not_kept", Some("0"));
}

#[test]
fn no_more_is_kept_than_may_be() {
    run("bounded", None);
}

#[test]
fn what_is_kept_is_given_back_when_it_is_missed() {
    for task in ["given_back", "given_back_for_zeros", "given_back_for_more"] {
        run(task, None);
    }
}
