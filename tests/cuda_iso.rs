//! Matrices and vectors of one value on CUDA, emulated or real: the value is stored once, what moves entries about keeps it so,
//! what reads no values never writes them out, and nothing of it shows in results.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::prelude::*;
use random::Rng;
use std::sync::Mutex;

oplus::scalar! { pub struct Route { dist: f64, first: u64, hops: i32, toll: i32 } }

const GPU: Device = Device::Cuda(0);
/// Device memory is counted for the whole process.
static COUNTED: Mutex<()> = Mutex::new(());

/// Random positions, all of one value: on the CPU stored once.
fn iso<T: Scalar>(m: u64, n: u64, count: u64, seed: u64, value: T) -> Matrix<T> {
    let mut rng = Rng(seed);
    let positions: Vec<_> = (0..count).map(|_| (rng.below(m), rng.below(n))).collect();
    Matrix::from_pattern(m, n, &positions, value).unwrap()
}
fn mixed(m: u64, n: u64, count: u64, seed: u64) -> Matrix<i64> {
    let (mut coo, mut rng) = (Coo::new(m, n), Rng(seed));
    (0..count).for_each(|_| coo.push(rng.below(m), rng.below(n), rng.below(9) as i64 - 3));
    Matrix::build_with(&coo, Second).unwrap()
}

/// Bytes of the positions of a matrix, and so of one of one value.
fn positions<T: Scalar, S>(a: &Matrix<T, S>) -> usize {
    8 * (a.nrows() as usize + 1) + 4 * a.nvals() as usize
}

#[test]
fn a_value_is_stored_once() -> Result<()> {
    let Some(emulator) = emulator::emulator() else { return Ok(()) };
    let _counted = COUNTED.lock().unwrap_or_else(|e| e.into_inner());
    let a = iso(300, 200, 2000, 1, 2.5f64);
    // The context and its lasting buffers first.
    drop(transpose(&a.to(&GPU)?).eval()?);
    let before = (emulator.live().1, emulator.copied().1);
    let there = a.to(&GPU)?;
    let after = (emulator.live().1, emulator.copied().1);
    assert_eq!((after.0 - before.0, after.1 - before.1), (positions(&a), positions(&a)));
    assert_eq!(there.memory_bytes() as usize, positions(&a));
    assert!(there.is_iso() && there.with_value(7u8)?.is_iso() && there.to_iso()?.is_iso());
    // What is made by moving entries about, or by an operator of one value.
    type Make = fn(&Matrix<f64>) -> Result<Matrix<f64>>;
    let made: [(&str, Make); 23] = [
        ("transpose", |a| transpose(a).eval()),
        ("transpose_merged", |a| transpose_merged(a).eval()),
        ("a range", |a| extract(a, 7..200, 3..150).eval()),
        ("a stride", |a| extract(a, Indices::stride(0, 2, 150), Indices::stride(199, -1, 200)).eval()),
        ("a list", |a| extract(a, [5, 9, 5, 100], ..).eval()),
        ("select by position", |a| select(a, Tril, 3).eval()),
        ("select by value", |a| select(a, ValueGt, 1.0).eval()),
        ("apply", |a| apply(a, Negate).eval()),
        ("apply_second", |a| apply_second(a, Times, 3.0).eval()),
        ("with_value", |a| a.with_value(8.0)),
        ("cast", |a| a.cast::<f32>()?.cast()),
        ("ewise_add", |a| ewise_add(a, &transpose(&transpose(a).eval()?).eval()?, Min).eval()),
        ("ewise_union", |a| ewise_union(a, 2.5, &transpose(&transpose(a).eval()?).eval()?, 2.5, Max).eval()),
        ("reduce_rows", |a| diag(&reduce_rows(a, Min).eval()?, 0).eval()),
        ("ewise_mult", |a| ewise_mult(a, &tril(a, 0).eval()?, Plus).eval()),
        ("kronecker", |a| kronecker(&extract(a, ..40, ..30).eval()?, &extract(a, ..3, ..40).eval()?, Times).eval()),
        ("mxm", |a| {
            let (a, b) = (a.over::<MinPlus>(), transpose(a).eval()?.over::<MinPlus>());
            Ok(mxm(&a, &b).eval()?.over::<PlusTimes>())
        }),
        ("mxm, a mask", |a| {
            let (a, b) = (a.over::<MaxFirst>(), transpose(a).eval()?.over::<MaxFirst>());
            let mask = mxm(&a, &b).eval()?;
            Ok(mxm(&a, &b).mask(&tril(&mask, 0).eval()?.structure()).eval()?.over::<PlusTimes>())
        }),
        ("concat", |a| concat(&[[a, a], [a, a]])),
        ("resize", |a| {
            let mut a = a.clone();
            a.resize(500, 100)?;
            Ok(a)
        }),
        ("assign_scalar", |a| {
            let mut c = Matrix::new(300, 200)?.to(&a.device())?;
            assign_scalar(2.5, 5..100, Indices::stride(0, 3, 60)).into(&mut c)?;
            Ok(c)
        }),
        ("assign_scalar, a mask", |a| {
            let mut c = a.clone();
            assign_scalar(2.5, .., ..).mask(&transpose(&transpose(a).eval()?).eval()?.structure()).into(&mut c)?;
            Ok(c)
        }),
        ("assign", |a| {
            let mut c = a.clone();
            assign(&extract(a, ..50, ..60).eval()?, 100..150, 100..160).accumulate(Max).into(&mut c)?;
            Ok(c)
        }),
    ];
    for (name, make) in made {
        // What the device keeps from the first time on is not the result's.
        drop(make(&there)?);
        let before = emulator.live().1;
        let c = make(&there)?;
        let taken = emulator.live().1 - before;
        assert!(c.is_iso() && c.nvals() > 0, "{name}");
        // The positions may be the operand's.
        assert!(taken == positions(&c) || taken == 0, "{name}: {taken} bytes for {} of positions", positions(&c));
        let expected = make(&a.to(&Device::Reference)?)?;
        assert_eq!((c.shape(), c.entries()?), (expected.shape(), expected.entries()?), "{name}");
    }
    // Back on the host it is what it was.
    let back = there.to(&Device::Cpu)?;
    assert!(back.is_iso() && back.entries()? == a.entries()?);
    Ok(())
}

/// What an operand takes after a product, above its positions: its values where they are read.
#[test]
fn values_that_nobody_reads_are_never_written_out() -> Result<()> {
    if emulator::cuda().is_none() {
        return Ok(());
    }
    let _counted = COUNTED.lock().unwrap_or_else(|e| e.into_inner());
    let (a, b) = (iso(200, 200, 3000, 2, 3i64), iso(200, 200, 3000, 3, 5i64));
    let all = (8 * a.nvals(), 8 * b.nvals());
    fn taken<S: Semiring<i64, i64>>(a: &Matrix<i64>, b: &Matrix<i64>) -> Result<(u64, u64)> {
        // On the device as they come.
        let (x, y) = (a.over::<S>().to(&GPU)?, b.over::<S>().to(&GPU)?);
        let before = (x.memory_bytes(), y.memory_bytes());
        let _ = mxm(&x, &y).eval()?;
        let _ = mxm(&x, &y).mask(&x.structure()).eval()?;
        Ok((x.memory_bytes() - before.0, y.memory_bytes() - before.1))
    }
    assert_eq!(taken::<PlusPair>(&a, &b)?, (0, 0));
    assert_eq!(taken::<AnyPair>(&a, &b)?, (0, 0));
    // What all sums are is known before.
    assert_eq!(taken::<MinFirst>(&a, &b)?, (0, 0));
    assert_eq!(taken::<MinSecond>(&a, &b)?, (0, 0));
    assert_eq!(taken::<PlusFirst>(&a, &b)?, (all.0, 0));
    assert_eq!(taken::<PlusSecond>(&a, &b)?, (0, all.1));
    assert_eq!(taken::<PlusTimes>(&a, &b)?, all);
    let (a, b, x) = (a.to(&GPU)?, b.to(&GPU)?, Vector::<i64>::full(200, 1)?.to(&GPU)?);
    let blind = |a: &Matrix<i64>| -> Result<()> {
        let _ = mxv(&a.over::<PlusPair>(), &x.over()).eval()?;
        let _ = vxm(&x.over::<PlusFirst>(), &a.over()).eval()?;
        // For as long as it runs.
        ewise_add(a, &b, Plus).eval().map(drop)
    };
    // What is kept with the positions is there before.
    let other = a.with_value(4)?;
    (0..3).try_for_each(|_| blind(&other))?;
    let _ = mxv(&other, &x).eval()?;
    let before = a.memory_bytes();
    blind(&a)?;
    assert_eq!(a.memory_bytes(), before);
    let _ = mxv(&a, &x).eval()?;
    assert_eq!(a.memory_bytes(), before + all.0);
    Ok(())
}

/// A limit is about workspace and result: where other values fit, one value does.
#[test]
fn limits_do_not_count_what_operands_keep() -> Result<()> {
    if emulator::cuda().is_none() {
        return Ok(());
    }
    let _counted = COUNTED.lock().unwrap_or_else(|e| e.into_inner());
    let (a, b) = (iso(200, 200, 3000, 2, 3i64), iso(200, 200, 3000, 3, 5i64));
    let others = |a: &Matrix<i64>| -> Result<_> { apply_index(a, ColIndex, 1).eval()?.to(&GPU) };
    let (p, q) = (others(&a)?, others(&b)?);
    let limit = mxm(&p, &q).traced()?.1.peak.unwrap();
    let (a, b) = (a.to(&GPU)?, b.to(&GPU)?);
    let c = mxm(&a, &b).memory_limit(limit).eval()?;
    assert_eq!(mxm(&a, &b).traced()?.1.peak, Some(limit));
    assert_eq!(c.entries()?, mxm(&a, &b).eval()?.entries()?);
    Ok(())
}

/// Kernels get no values at all where none are read.
#[test]
fn by_every_strategy() -> Result<()> {
    if emulator::cuda().is_none() {
        return Ok(());
    }
    let _counted = COUNTED.lock().unwrap_or_else(|e| e.into_inner());
    fn check<T: Scalar, S: Semiring<T, T>>(a: &Matrix<T>, b: &Matrix<T>, strategies: &[Strategy]) -> Result<()> {
        let mask = iso(a.nrows(), b.ncols(), 700, 12, 1u8);
        let on = |d: Device, strategy, masked: Option<bool>, limit| -> Result<String> {
            let (a, b, m) = (a.to(&d)?.over::<S>(), b.to(&d)?.over(), mask.to(&d)?.structure());
            let mut product = mxm(&a, &b).strategy(strategy);
            if let Some(bytes) = limit {
                product = product.memory_limit(bytes);
            }
            let made = match masked {
                None => product.eval()?,
                Some(false) => product.mask(&m).eval()?,
                Some(true) => product.mask(&m.complement()).eval()?,
            };
            Ok(format!("{:?}", made.entries()?))
        };
        for masked in [None, Some(false), Some(true)] {
            let expected = on(Device::Reference, Strategy::Auto, masked, None)?;
            for strategy in strategies.iter().copied().filter(|s| *s != Strategy::Dot || masked == Some(false)) {
                assert_eq!(on(GPU, strategy, masked, None)?, expected, "{strategy:?}, mask {masked:?}");
            }
            // By some rows at a time.
            assert_eq!(on(GPU, Strategy::Auto, masked, Some(40_000))?, expected, "mask {masked:?}, limited");
        }
        Ok(())
    }
    let all: Vec<_> = Strategy::ALL.iter().copied().filter(|s| *s != Strategy::Band).collect();
    let (a, b) = (iso(70, 60, 500, 13, true), iso(60, 80, 500, 14, true));
    check::<bool, AnyPair>(&a, &b, &all)?;
    let (a, b) = (iso(70, 60, 500, 13, 4i64), iso(60, 80, 500, 14, 5i64));
    check::<i64, MaxFirst>(&a, &b, &all)?;
    let near: Vec<_> = (0..70u64).flat_map(|i| (i.saturating_sub(1)..(i + 2).min(70)).map(move |j| (i, j))).collect();
    let band = Matrix::from_pattern(70, 70, &near, true)?;
    check::<bool, AnyPair>(&band, &band, &[Strategy::Band, Strategy::Auto])?;
    check::<i64, MaxFirst>(&band.with_value(4)?, &band.with_value(5)?, &[Strategy::Band, Strategy::Auto])?;
    // What else products can be asked for.
    let others = |d: Device| -> Result<String> {
        let (a, b) = (a.to(&d)?.over::<PlusPair>(), b.to(&d)?.over::<PlusPair>());
        let (x, y) = (Vector::<i64>::full(60, 2)?.to(&d)?, Vector::<i64>::build(70, &[(3, 2), (9, 2)])?.to(&d)?);
        let (x, y) = (x.over::<PlusPair>(), y.over::<PlusPair>());
        let plan = mxm(&a, &b).plan()?;
        Ok(format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            mxm(&a, &b).reduce(Plus)?,
            mxm(&a, &b).reproducible().eval()?.entries()?,
            mxv(&a, &x).reproducible().eval()?.entries()?,
            vxm(&y, &a).reproducible().eval()?.entries()?,
            vxm(&y, &a).mask(&x.structure()).eval()?.entries()?,
            plan.run(&a, &b)?.entries()?,
            mxm(&a, &b).explain()?.analysis.products,
        ))
    };
    assert_eq!(others(GPU)?, others(Device::Reference)?);
    Ok(())
}

/// Everything else, beside operands whose values differ, on this device.
fn results(d: Device) -> Result<Vec<String>> {
    let (a, b) = (iso(60, 50, 500, 4, 3i64).to(&d)?, iso(50, 70, 600, 5, -2i64).to(&d)?);
    let (p, q) = (mixed(60, 50, 400, 6).to(&d)?, mixed(50, 70, 500, 7).to(&d)?);
    let (same, m) = (iso(60, 50, 300, 8, 3i64).to(&d)?, iso(60, 70, 900, 9, 1i64).to(&d)?);
    let x = Vector::<i64>::full(50, 4)?.to(&d)?;
    let some = Vector::<i64>::build(50, &[(1, 4), (7, 4), (30, 4)])?.to(&d)?;
    let mut all = Vec::new();
    macro_rules! show { ($($made:expr;)*) => {$( all.push(format!("{}: {:?}", stringify!($made), $made?.entries()?)); )*} }
    macro_rules! written { ($($c:expr, $made:expr;)*) => {$({
        let mut c = $c.clone();
        $made.into(&mut c)?;
        all.push(format!("{}: {:?}", stringify!($made), c.entries()?));
    })*} }
    show! {
        mxm(&a, &b).eval();
        mxm(&a, &q).eval();
        mxm(&p, &b).mask(&m.structure()).eval();
        mxm(&p, &b).mask(&m).strategy(Strategy::Dot).eval();
        mxm(&a, &b.transposed()).transpose_b().eval();
        mxm(&b, &a).transpose_a().transpose_b().eval();
        mxm(&a, &b).memory_limit(1 << 40).eval();
        mxm(&a.over::<PlusPair>(), &b.over()).eval();
        mxm(&a.over::<PlusPair>(), &b.over()).mask(&m.structure().complement()).eval();
        mxm(&a.over::<AnyPair>(), &b.over()).eval();
        mxm(&a.over::<MinFirst>(), &b.over()).eval();
        mxm(&p.over::<MinSecond>(), &b.over()).eval();
        mxm(&a.over::<AnySecondI>(), &b.over()).eval();
        mxm(&a, &b).plan()?.run(&a, &b);
        mxm(&a, &b).plan()?.run(&a.with_value(9)?, &b);
        mxm(&a, &b).select(ValueGt, -30).apply(Abs).eval();
        mxm(&a, &b).scale_rows(&Vector::<i64>::full(60, 2)?.to(&d)?, Times).eval();
        mxv(&a, &x).eval();
        mxv(&a, &some).eval();
        mxv(&a, &x).eval();
        mxv(&a.over::<PlusFirst>(), &some.over()).eval();
        mxv(&a.over::<MinSecond>(), &x.over()).eval();
        mxv(&b.over::<PlusPair>(), &some.over()).transpose().eval();
        vxm(&some, &b).eval();
        vxm(&x.over::<MinFirst>(), &b.over()).eval();
        vxm(&some.over::<PlusSecond>(), &b.over()).eval();
        ewise_add(&a, &p, Minus).eval();
        ewise_add(&a, &same, Minus).eval();
        ewise_add(&a, &same, Max).eval();
        ewise_mult(&a, &same, Minus).eval();
        ewise_mult(&p, &a, Lt).eval();
        ewise_union(&a, 1, &same, 2, Minus).eval();
        ewise_add(&a, &same, Plus).ewise_mult(&p, Times).apply(Negate).eval();
        apply_index(&a, ColIndex, 2).eval();
        select(&a, ValueGt, 3).eval();
        select(&a, Offdiag, 0).eval();
        apply(&a.with_value(2.0f64)?, Inverse).eval();
        scale_rows(&Vector::<i64>::full(60, 2)?.to(&d)?, &a, Minus).eval();
        scale_columns(&a, &some, Minus).eval();
        reduce_rows(&a, Plus).eval();
        reduce_rows(&a, Min).transpose_a().eval();
        argmax_rows(&a).eval();
        Ok::<_, Error>(sort(&a, Lt)?.1);
        top_k(&a, 3).eval();
        diag(&x, 2).eval();
        diag_extract(&a, 1).eval();
        extract_row(&a, 3, ..).eval();
        extract_column(&a, .., 3).eval();
        extract_vector(&x, [3, 3, 9]).eval();
        Ok::<_, Error>(split(&a, &[20, 40], &[25, 25])?.remove(1).remove(0));
        apply(&a, Identity).mask(&a).eval();
        apply(&p, Identity).mask(&a.with_value(0i64)?).eval();
        a.to_coo().and_then(|coo| Matrix::<i64>::build_with(&coo, Plus));
    }
    written! {
        p, apply(&a, Negate).accumulate(Minus);
        a, apply(&a, Identity).accumulate(Max);
        a, apply(&same, Identity).accumulate(Plus);
        a, apply(&same, Identity).mask(&p);
        a, apply(&same, Identity).mask(&p).replace();
        a, select(&same, ValueLt, 0);
        a, select(&same, ValueLt, 0).mask(&p.structure());
        a, assign_scalar(3, 2..9, ..);
        a, assign_scalar(4, 2..9, ..);
        a, assign_scalar(3, [5, 1, 5], 2..4).accumulate(Plus);
        a, assign_empty::<i64>(2..9, ..);
        p, assign(&a, .., ..).mask(&same.structure());
        a, subassign(&extract(&p, ..4, ..).eval()?, 7..11, ..).mask(&extract(&a, ..4, ..).eval()?);
        x, assign_scalar_vector(4, 3..9);
        some, assign_vector(&x, ..).accumulate(Min);
    }
    let mut c = a.clone();
    c.set(0, 0, 3)?;
    c.set(1, 1, 9)?;
    c.remove(2, 2)?;
    all.push(format!("{:?}, {:?}, {:?}", c.entries()?, c.get(1, 1)?, a.get(1, 1)?));
    all.push(format!(
        "{:?} {:?} {:?}",
        reduce(&a, Plus)?,
        reduce(&a, Max)?,
        reduce_stored(&select(&a, ValueLt, 0).eval()?, Plus)?
    ));
    all.push(format!("{:?} {:?}", mxm(&a, &b).reduce(Plus)?, argmin(&x)?));
    let route = iso(40, 30, 200, 10, Route::make(2.5, 7, -1, 3)).to(&d)?;
    all.push(format!("{:?}", transpose(&tril(&route, 2).eval()?).eval()?.entries()?));
    all.push(format!("{:?}", ewise_add(&route, &route.transposed().transposed(), First).eval()?.entries()?));
    all.push(format!("{:?}", iso(40, 30, 200, 11, true).to(&d)?.cast::<i8>()?.entries()?));
    Ok(all)
}

#[test]
fn it_never_shows() -> Result<()> {
    if emulator::cuda().is_none() {
        return Ok(());
    }
    let _counted = COUNTED.lock().unwrap_or_else(|e| e.into_inner());
    let (found, expected) = (results(GPU)?, results(Device::Reference)?);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    Ok(())
}
