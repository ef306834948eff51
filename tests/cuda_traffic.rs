//! No operation on a device moves its operands' entries to the host or back: of matrices eight times as large no more is
//! copied. Counted by the emulated driver. What does move data is listed at the end, each with the reason.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::prelude::*;
use random::Rng;
use std::sync::Mutex;

const GPU: Device = Device::Cuda(0);
/// Rows; four entries a row.
const SMALL: u64 = 96;
const LARGE: u64 = 8 * SMALL;
/// Bytes that an operation may copy each way: sizes, sums, arguments; the counters of a product are 4 KiB.
const FEW: usize = 12 << 10;
/// By how many bytes larger operands may differ: a bit for each row more would be beyond.
const SLACK: usize = 64;

/// The driver counts for the whole process.
static COUNTED: Mutex<()> = Mutex::new(());

/// Square operands of n rows and 4n entries in device memory, made anew for each operation: nothing is known of them.
struct Data {
    n: u64,
    a: Matrix<i32>,
    b: Matrix<i32>,
    c: Matrix<i32>,
    m: Matrix<i32>,
    /// Operands of products.
    p: Matrix<i64>,
    q: Matrix<i64>,
    band: Matrix<i64>,
    /// Operands of chains.
    x: Matrix<f64>,
    y: Matrix<f64>,
    full: Vector<i32>,
    some: Vector<i32>,
    two: Matrix<i32>,
    /// Of 2⁴⁰ rows and columns, n entries.
    huge: Matrix<i32>,
    other: Matrix<i32>,
}

fn matrix<T: Scalar>(n: u64, count: u64, seed: u64, value: fn(u64) -> T) -> Matrix<T> {
    let (mut coo, mut rng) = (Coo::new(n, n), Rng(seed));
    (0..count).for_each(|_| coo.push(rng.below(n), rng.below(n), value(rng.below(100))));
    Matrix::build_with(&coo, Second).unwrap().to(&GPU).unwrap()
}
fn scattered(count: u64, n: u64, seed: u64) -> Matrix<i32> {
    let (mut coo, mut rng) = (Coo::new(n, n), Rng(seed));
    (0..count).for_each(|_| coo.push(rng.below(n), rng.below(n), rng.below(100) as i32 - 50));
    Matrix::build_with(&coo, Second).unwrap().to(&GPU).unwrap()
}

impl Data {
    fn new(n: u64) -> Self {
        let whole: fn(u64) -> i32 = |v| v as i32 - 50;
        let wide: fn(u64) -> i64 = |v| v as i64 - 50;
        let vector = |step: usize| {
            let entries: Vec<_> = (0..n).step_by(step).map(|i| (i, i as i32 - 7)).collect();
            Vector::build(n, &entries).unwrap().to(&GPU).unwrap()
        };
        let mut band = Coo::new(n, n);
        (0..n).for_each(|i| (i.saturating_sub(1)..(i + 2).min(n)).for_each(|j| band.push(i, j, (i + j) as i64)));
        Self {
            n,
            a: matrix(n, 4 * n, 1, whole),
            b: matrix(n, 4 * n, 2, whole),
            c: matrix(n, 4 * n, 3, whole),
            m: matrix(n, 4 * n, 4, |v| (v % 3) as i32),
            p: matrix(n, 4 * n, 5, wide),
            q: matrix(n, 4 * n, 6, wide),
            band: Matrix::from_coo(&band).unwrap().to(&GPU).unwrap(),
            x: matrix(n, 4 * n, 7, |v| v as f64 / 4.0),
            y: matrix(n, 4 * n, 8, |v| v as f64 / 4.0),
            full: vector(1),
            some: vector(5),
            two: matrix(2, 4, 9, whole),
            huge: scattered(n, 1 << 40, 11),
            other: scattered(n, 1 << 40, 12),
        }
    }
    fn mask(&self) -> Mask {
        self.m.structure()
    }
    fn half(&self) -> u64 {
        self.n / 2
    }
}

/// What an operation made is where its operands are.
trait Made {
    fn on_device(&self) -> bool {
        true
    }
}
impl<T: Scalar, S> Made for Matrix<T, S> {
    fn on_device(&self) -> bool {
        self.device() == GPU
    }
}
impl<T: Scalar, S> Made for Vector<T, S> {
    fn on_device(&self) -> bool {
        self.device() == GPU
    }
}
impl<X: Made, Y: Made> Made for (X, Y) {
    fn on_device(&self) -> bool {
        self.0.on_device() && self.1.on_device()
    }
}
impl<X: Made> Made for Vec<X> {
    fn on_device(&self) -> bool {
        self.iter().all(X::on_device)
    }
}
impl Made for i32 {}
impl Made for i64 {}
impl<T> Made for Option<T> {}

type Step = (String, Box<dyn Fn(&mut Data) -> Result<Box<dyn Made>>>);

/// Steps of the form: "what it is" |data| result.
macro_rules! steps {
    ($($name:literal |$d:ident| $made:expr;)*) => {
        vec![$(step($name, |$d| { let made = $made; Ok(Box::new(made?)) })),*]
    };
}
fn step(name: &str, run: impl Fn(&mut Data) -> Result<Box<dyn Made>> + 'static) -> Step {
    (name.into(), Box::new(run))
}

/// An operation written into C.
macro_rules! into {
    ($c:expr, $operation:expr) => {{
        let mut c = $c.clone();
        $operation.into(&mut c).map(|()| c)
    }};
}

/// Bytes to the host and to the device that the step copies for data of n rows.
fn copied(emulator: &emulator::Emulator, (name, step): &Step, n: u64) -> [usize; 2] {
    let mut data = Data::new(n);
    let before = emulator.copied();
    let made = step(&mut data).unwrap_or_else(|e| panic!("{name}: {e}"));
    let after = emulator.copied();
    assert!(made.on_device(), "{name}: the result is elsewhere");
    [after.0 - before.0, after.1 - before.1]
}

fn nothing_grows(steps: Vec<Step>) {
    let Some(emulator) = emulator::emulator() else { return };
    let _counted = COUNTED.lock().unwrap_or_else(|e| e.into_inner());
    let mut wrong = Vec::new();
    for step in &steps {
        let (small, large) = (copied(emulator, step, SMALL), copied(emulator, step, LARGE));
        for (way, to) in ["to the host", "to the device"].into_iter().enumerate() {
            if large[way] > FEW || large[way] > small[way] + SLACK {
                wrong.push(format!("{}: {} bytes {to}, {} for the larger operands", step.0, small[way], large[way]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} operations move data:\n{}", wrong.len(), steps.len(), wrong.join("\n"));
}

/// Every strategy, without a mask, with one and with its complement.
fn strategies() -> Vec<Step> {
    let mut steps = Vec::new();
    for strategy in Strategy::ALL.iter().copied() {
        for (mask, complement) in [(false, false), (true, false), (true, true)] {
            if strategy == Strategy::Dot && (!mask || complement) {
                continue;
            }
            let name = format!("mxm by {strategy:?}, mask {mask}, complement {complement}");
            steps.push(step(&name, move |d| {
                let (a, b) = if strategy == Strategy::Band { (&d.band, &d.band) } else { (&d.p, &d.q) };
                let product = mxm(a, b).strategy(strategy);
                let made = match (mask, complement) {
                    (false, _) => product.eval(),
                    (true, false) => product.mask(&d.mask()).eval(),
                    (true, true) => product.mask(&d.mask().complement()).eval(),
                };
                Ok(Box::new(made?))
            }));
        }
    }
    steps
}

#[test]
fn products_by_every_strategy() {
    nothing_grows(strategies());
}

#[test]
fn products() {
    nothing_grows(steps! {
        "mxm, transposes" |d| mxm(&d.p, &d.q).transpose_a().transpose_b().eval();
        "mxm of a view, with a mask" |d| mxm(&d.p, &d.q.transposed()).mask(&d.mask()).eval();
        "mxm, mask of values and replace" |d| into!(d.p, mxm(&d.p, &d.q).mask(&d.m).replace());
        "mxm, accumulated" |d| into!(d.p, mxm(&d.p, &d.q).accumulate(Plus));
        "mxm, (any, secondi)" |d| mxm(&d.p.over::<AnySecondI>(), &d.q.over()).eval();
        "mxm, reproducible" |d| mxm(&d.x, &d.y).reproducible().eval();
        "mxm, a limit" |d| mxm(&d.p, &d.q).memory_limit(1 << 30).eval();
        "mxm, reduced" |d| mxm(&d.p, &d.q).reduce(Plus);
        "mxm, reduced under a mask" |d| mxm(&d.p, &d.q).mask(&d.mask()).reduce(Plus);
        "mxm, selected" |d| mxm(&d.x, &d.y).select(ValueGt, 2.0).eval();
        "mxm, applied" |d| mxm(&d.x, &d.y).apply(Abs).eval();
        "mxm, the largest" |d| mxm(&d.x, &d.y).top_k(2).eval();
        "mxm, scaled" |d| mxm(&d.a, &d.b).scale_rows(&d.full, Times).scale_inner(&d.some, Times)
            .scale_columns(&d.full, Times).eval();
        "mxm, explained" |d| mxm(&d.p, &d.q).explain().map(Some);
        "plan and run" |d| mxm(&d.p, &d.q).plan()?.run(&d.p, &d.q);
        "plan and run, a mask" |d| mxm(&d.p, &d.q).mask(&d.mask()).plan()?.run(&d.p, &d.q);
        "plan and run, other memory" |d| mxm(&d.p, &d.q).plan()?
            .run(&apply(&d.p, Identity).eval()?, &transpose(&transpose(&d.q).eval()?).eval()?);
        "triple product" |d| triple_product(&d.p, &d.q, &d.p).eval();
        "triple product, planned" |d| triple_product(&d.p.transposed(), &d.q, &d.p).plan()?
            .run(&d.p.transposed(), &d.q, &d.p);
        "mxv, full" |d| mxv(&d.a, &d.full).eval();
        "mxv, some" |d| mxv(&d.a, &d.some).eval();
        "mxv, transposed: pushed" |d| mxv(&d.a, &d.some).transpose().eval();
        "mxv, transposed: a full vector" |d| mxv(&d.a, &d.full).transpose().eval();
        "mxv, mask and accumulator" |d| into!(d.full, mxv(&d.a, &d.some).mask(&d.some).accumulate(Minus));
        "mxv, reproducible" |d| mxv(&d.a, &d.full).reproducible().eval();
        "mxv, again" |d| { let y = mxv(&d.a, &d.full).eval()?; mxv(&d.a, &y).eval() };
        "vxm, some: pushed" |d| vxm(&d.some, &d.a).eval();
        "vxm, full" |d| vxm(&d.full, &d.a).eval();
        "vxm, transposed: pulled" |d| vxm(&d.some, &d.a).transpose().eval();
        "vxm, complemented mask" |d| vxm(&d.some, &d.a).mask(&d.full.structure().complement()).eval();
    });
}

/// One value for all is written out on the device.
#[test]
fn of_one_value() {
    nothing_grows(steps! {
        "mxm" |d| mxm(&d.p.with_value(3)?, &d.q.with_value(5)?).eval();
        "mxm, (+, pair)" |d| mxm(&d.p.with_value(3)?.over::<PlusPair>(), &d.q.with_value(5)?.over()).eval();
        "mxv" |d| mxv(&d.a.with_value(3)?, &d.full.with_value(2)?).eval();
        "ewise_add" |d| ewise_add(&d.a.with_value(3)?, &d.b, Minus).eval();
        "ewise_add, of one value both" |d| ewise_add(&d.a.with_value(3)?, &d.b.with_value(3)?, Max).eval();
        "transpose" |d| transpose(&d.a.with_value(3)?).eval();
        "select" |d| select(&d.a.with_value(3)?, Tril, 1).eval();
        "written" |d| into!(d.a.with_value(3)?, apply(&d.b.with_value(3)?, Identity).mask(&d.mask()));
        "reduce_rows" |d| reduce_rows(&d.a.with_value(3)?, Plus).eval();
    });
}

#[test]
fn element_by_element() {
    nothing_grows(steps! {
        "ewise_add" |d| ewise_add(&d.a, &d.b, Minus).eval();
        "ewise_add, a view" |d| ewise_add(&d.a, &d.b.transposed(), Minus).eval();
        "ewise_add, masked" |d| ewise_add(&d.a, &d.b, Minus).mask(&d.mask()).eval();
        "ewise_add, complement, replace" |d| into!(d.c, ewise_add(&d.a, &d.b, Minus).mask(&d.mask().complement()).replace());
        "ewise_add, accumulated" |d| into!(d.c, ewise_add(&d.a, &d.b, Minus).accumulate(Plus));
        "ewise_mult" |d| ewise_mult(&d.a, &d.b, Div).eval();
        "ewise_mult, accumulated under a mask" |d| into!(d.c, ewise_mult(&d.a, &d.b, Div).mask(&d.m).accumulate(Minus));
        "ewise_union" |d| ewise_union(&d.a, 7, &d.b, -3, Minus).eval();
        "of vectors" |d| Ok::<_, Error>((ewise_add(&d.full, &d.some, Minus).eval()?, ewise_mult(&d.full, &d.some, Div).eval()?));
        "a chain" |d| ewise_add(&d.x, &d.y, Minus).ewise_mult(&d.x, Times).apply(Abs).eval();
        "a chain that selects" |d| ewise_add(&d.x, &d.y, Minus).select(ValueGt, 0.5).eval();
        "a chain with a mask" |d| ewise_add(&d.x, &d.y, Minus).ewise_mult(&d.x, Times).mask(&d.mask()).eval();
        "apply" |d| apply(&d.a, Negate).eval();
        "apply, written" |d| into!(d.c, apply(&d.a, Negate).mask(&d.mask()).accumulate(Minus));
        "apply_first" |d| apply_first(7, Minus, &d.a).eval();
        "apply_second" |d| apply_second(&d.a, Minus, 7).eval();
        "apply_index" |d| apply_index(&d.a, RowIndex, 3).eval();
        "cast" |d| d.a.cast::<f64>();
        "with_value" |d| d.a.with_value(7);
        "select, values" |d| select(&d.a, ValueGt, 0).eval();
        "select, positions" |d| select(&d.a, Tril, 1).eval();
        "select, everything" |d| select(&d.a, ColLe, i64::MAX).eval();
        "tril and triu" |d| Ok::<_, Error>((tril(&d.a, -1).eval()?, triu(&d.a, 1).eval()?));
        "top_k" |d| top_k(&d.a, 2).eval();
        "sort" |d| sort(&d.a, Lt);
        "sort, of a result" |d| sort(&ewise_add(&d.a, &d.b, Minus).eval()?, Lt);
        "sort, a vector" |d| sort(&d.full, Gt);
        "scale_rows" |d| scale_rows(&d.full, &d.a, Times).eval();
        "scale_rows, some" |d| scale_rows(&d.some, &d.a, Times).eval();
        "scale_columns" |d| scale_columns(&d.a, &d.full, Times).eval();
        "scale_columns, some, a view" |d| scale_columns(&d.a.transposed(), &d.some, Times).eval();
    });
}

#[test]
fn reductions() {
    nothing_grows(steps! {
        "reduce_rows" |d| reduce_rows(&d.a, Plus).eval();
        "reduce_rows, columns" |d| reduce_rows(&d.a, Plus).transpose_a().eval();
        "reduce_rows, written" |d| into!(d.full, reduce_rows(&d.a, Plus).mask(&d.some).accumulate(Minus));
        "reduce" |d| reduce(&d.a, Max);
        "reduce_stored" |d| reduce_stored(&d.a, Plus);
        "reduce, a vector" |d| reduce(&d.full, Plus);
        "argmin_rows" |d| argmin_rows(&d.a).eval();
        "argmax_rows, columns" |d| argmax_rows(&d.a).transpose_a().eval();
        "argmin" |d| argmin(&d.full);
        "argmax" |d| argmax(&d.some);
    });
}

#[test]
fn parts() {
    nothing_grows(steps! {
        "transpose" |d| transpose(&d.a).eval();
        "transpose, written" |d| into!(d.c, transpose(&d.a).mask(&d.mask()).accumulate(Minus));
        "transpose_merged" |d| transpose_merged(&d.a).eval();
        "a mask seen transposed" |d| apply(&d.a, Negate).mask(&d.m.transposed().structure()).eval();
        "kronecker" |d| kronecker(&d.a, &d.two, Times).eval();
        "diag" |d| diag(&d.full, 0).eval();
        "diag, off the main one" |d| diag(&d.some, -3).eval();
        "diag_extract" |d| diag_extract(&d.a, 0).eval();
        "diag_extract, of a view" |d| diag_extract(&d.a.transposed(), 3).eval();
        "extract, ranges" |d| extract(&d.a, 5..d.half(), 3..d.half()).eval();
        "extract, strides" |d| extract(&d.a, Indices::stride(1, 2, d.half()), Indices::stride(d.n - 1, -2, d.half())).eval();
        "extract, a few" |d| extract(&d.a, [5, 3, 77], [90, 2, 2, 1]).eval();
        "extract, written" |d| into!(d.c, extract(&d.a, .., Indices::stride(0, 1, d.n)).mask(&d.mask()).replace());
        "extract_rows" |d| extract_rows(&d.a, [9, 4, 4]).eval();
        "extract_row" |d| extract_row(&d.a, 7, ..).eval();
        "extract_column" |d| extract_column(&d.a, .., 7).eval();
        "extract_vector" |d| extract_vector(&d.full, Indices::stride(0, 2, d.half())).eval();
        "split" |d| split(&d.a, &[d.half(), d.half()], &[10, d.n - 10]);
        "concat" |d| concat(&[[&d.a, &d.b], [&d.c, &d.m]]);
        "reshape" |d| reshape(&d.a, d.half(), 2 * d.n);
        "reshape_columns" |d| reshape_columns(&d.a, 2 * d.n, d.half());
        "resize, smaller" |d| { d.a.resize(d.half(), d.half() + 3)?; Ok::<_, Error>(d.a.clone()) };
        "resize, larger" |d| { d.a.resize(2 * d.n, 3 * d.n)?; Ok::<_, Error>(d.a.clone()) };
        "resize, vectors" |d| { d.full.resize(d.half())?; d.some.resize(2 * d.n)?; Ok::<_, Error>((d.full.clone(), d.some.clone())) };
        "get" |d| d.a.get(3, 5);
        "set" |d| { d.a.set(3, 5, 8)?; Ok::<_, Error>(d.a.clone()) };
        "remove" |d| { d.full.remove(5)?; Ok::<_, Error>(d.full.clone()) };
        "update" |d| {
            let mut few = Updates::new();
            few.set(1, 2, 3)?;
            few.remove(2, 2)?;
            d.a.update(&few)?;
            Ok::<_, Error>(d.a.clone())
        };
        "hypersparse" |d| ewise_mult(&ewise_add(&d.huge, &apply(&d.huge, Negate).eval()?, Minus).eval()?, &d.huge, Div).eval();
        "hypersparse, transposed" |d| transpose(&select(&d.huge, ValueGt, 0).eval()?).eval();
        "hypersparse, reduced" |d| reduce_rows(&d.huge, Plus).eval();
        "hypersparse, kronecker" |d| kronecker(&d.huge, &d.two, Times).eval();
        "hypersparse, a part" |d| extract(&d.huge, ..1 << 39, ..).eval();
        "clone, over, to" |d| d.a.clone().over::<MinPlus>().to(&GPU);
        "by columns and back" |d| d.a.to_format(Format::Csc)?.to_format(Format::Csr);
        "a band along diagonals and back" |d| d.band.to_format(Format::Dia)?.to_format(Format::Csr);
        "cells, met and back" |d| {
            let (a, b) = (extract(&d.a, ..40, ..).eval()?.to_format(Format::Bitmap)?, extract(&d.b, ..40, ..).eval()?.to_format(Format::Bitmap)?);
            let mut c = ewise_add(&a, &ewise_mult(&a, &b, Minus).eval()?, Plus).eval()?;
            select(&a, ValueGt, 3).accumulate(Plus).into(&mut c)?;
            c.to_format(Format::Csr)
        };
    });
}

#[test]
fn assignments() {
    nothing_grows(steps! {
        "assign, everywhere" |d| into!(d.c, assign(&d.a, .., ..));
        "assign, ranges" |d| into!(d.c, assign(&extract(&d.a, ..d.half(), ..d.half()).eval()?, 3..d.half() + 3, 5..d.half() + 5));
        "assign, strides, a mask" |d| into!(d.c, assign(&extract(&d.a, ..d.half(), ..d.half()).eval()?,
            Indices::stride(0, 2, d.half()), Indices::stride(d.n - 1, -2, d.half())).mask(&d.mask()).replace());
        "assign, a few, accumulated" |d| into!(d.c, assign(&d.two, [7, 3], [9, 40]).accumulate(Minus));
        "assign_row" |d| into!(d.c, assign_row(&d.some, 3, ..));
        "assign_row, a mask" |d| into!(d.c, assign_row(&d.some, 3, ..).mask(&d.full));
        "assign_column" |d| into!(d.c, assign_column(&d.some, .., 3));
        "assign_scalar, a range" |d| into!(d.c, assign_scalar(5, 2..d.half(), 1..4));
        "assign_scalar, strides" |d| into!(d.c, assign_scalar(5, Indices::stride(d.n - 1, -2, d.half()), 1..4).accumulate(Minus));
        "assign_scalar, a few" |d| into!(d.c, assign_scalar(5, [70, 3, 3], [9, 2, 40]));
        "assign_scalar, a mask" |d| into!(d.c, assign_scalar(5, .., ..).mask(&d.mask()));
        "assign_scalar, a complement" |d| into!(d.c, assign_scalar(5, .., 2..5).mask(&d.mask().complement()));
        "assign_empty" |d| into!(d.c, assign_empty::<i32>(2..d.half(), ..));
        "assign_vector" |d| into!(d.full, assign_vector(&extract_vector(&d.some, ..d.half()).eval()?, Indices::stride(0, 2, d.half())));
        "assign_scalar_vector" |d| into!(d.some, assign_scalar_vector(5, 1..d.half()));
        "assign_empty_vector" |d| into!(d.full, assign_empty_vector::<i32>(Indices::stride(0, 2, d.half())));
        "subassign, a mask" |d| into!(d.c, subassign(&d.two, [7, 3], 4..6).mask(&d.two).accumulate(Minus));
        "subassign, half" |d| into!(d.c, subassign(&extract(&d.a, ..d.half(), ..).eval()?, Indices::stride(1, 2, d.half()), ..)
            .mask(&extract(&d.m, ..d.half(), ..).eval()?).replace());
        "subassign_row" |d| into!(d.c, subassign_row(&d.some, 3, ..).mask(&d.full));
        "subassign_column" |d| into!(d.c, subassign_column(&d.some, .., 3).mask(&d.full));
        "subassign_scalar" |d| into!(d.c, subassign_scalar(5, 2..d.half(), 1..3));
        "subassign_scalar, a mask" |d| into!(d.c, subassign_scalar(5, .., ..).mask(&d.mask().complement().complement()));
        "subassign_vector" |d| into!(d.full, subassign_vector(&d.some, ..).mask(&d.some));
        "subassign_scalar_vector" |d| into!(d.full, subassign_scalar_vector(5, 3..d.half()).mask(&extract_vector(&d.some, 3..d.half()).eval()?));
    });
}

/// What moves data, and bytes that each row may move: to the host, and to the device.
fn exceptions() -> Vec<(Step, [usize; 2])> {
    fn irregular(n: u64) -> Vec<u64> {
        (0..n / 2).map(|i| i * i % n).collect()
    }
    fn triplets(n: u64) -> Coo<i32> {
        let mut coo = Coo::new(n, n);
        (0..n).for_each(|i| coo.push(i * 7 % n, i * 5 % n, i as i32));
        coo
    }
    // The caller's own lists, on the host: 8 bytes an index, source and target.
    let lists = steps! {
        "extract, a long list" |d| extract_rows(&d.a, irregular(d.n)).eval();
        "assign, a long list" |d| into!(d.c, assign(&extract(&d.a, ..d.half(), ..2).eval()?, irregular(d.n), 3..5));
        "build_on, triplets" |d| Matrix::<i32>::build_on(&triplets(d.n), Plus, &GPU);
    };
    // The names of the rows and columns in use of a hypersparse matrix are lists on the host. Operands that differ in them
    // are put on common ones by maps, 4 bytes a place; operators that look at positions get the names, 8 bytes a place.
    let names = steps! {
        "hypersparse, other rows" |d| ewise_add(&d.huge, &d.other, Minus).eval();
        "hypersparse, a product" |d| mxm(&d.huge, &d.huge).eval();
        "hypersparse, positions" |d| apply_index(&d.huge, RowIndex, 3).eval();
    };
    // Which rows and columns are in use is known on the host: here, and where a Kronecker product has more than 2²⁴ places, which one of
    // the larger operands has: a row of these is 30 of its.
    let named = steps! {
        "the format Hypersparse" |d| d.a.to_format(Format::Hypersparse);
        "kronecker, many places" |d| {
            let mut b = d.two.clone();
            b.resize(30 * d.n, 30 * d.n)?;
            kronecker(&d.a, &b, Times).eval()
        };
    };
    // Where entries go among dimensions whose names are lists is reckoned from these, on the host: positions go there and back.
    let moved = steps! {
        "reshape, hypersparse" |d| reshape(&d.huge, 1 << 41, 1 << 39);
        "reshape_columns, hypersparse" |d| reshape_columns(&d.huge, 1 << 41, 1 << 39);
    };
    // How much work a vector makes is looked up on the host: it explains and computes nothing.
    let explained = steps! {
        "mxv, explained" |d| mxv(&d.a, &d.some).explain().map(Some);
    };
    let with = |steps: Vec<Step>, most: [usize; 2]| steps.into_iter().map(move |step| (step, most));
    with(lists, [0, 16])
        .chain(with(names, [0, 32]))
        .chain(with(named, [32, 32]))
        .chain(with(moved, [16, 16]))
        .chain(with(explained, [64, 0]))
        .collect()
}

/// The exceptions move what is said of them, no more; one that moves nothing any more is none.
#[test]
fn what_moves_data_is_known() {
    let Some(emulator) = emulator::emulator() else { return };
    let _counted = COUNTED.lock().unwrap_or_else(|e| e.into_inner());
    for (step, most) in exceptions() {
        let (small, large) = (copied(emulator, &step, SMALL), copied(emulator, &step, LARGE));
        assert!((0..2).any(|way| large[way] > small[way] + SLACK), "{}: no exception, {small:?}, {large:?}", step.0);
        for way in 0..2 {
            assert!(large[way] <= FEW + most[way] * LARGE as usize, "{}: {small:?}, {large:?}", step.0);
        }
    }
}
