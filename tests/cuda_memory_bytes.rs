//! What `memory_bytes` says of a matrix or vector on CUDA is what the device has again when it is dropped: entries and all that was kept
//! with them, by the emulator's count.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::prelude::*;
use random::Rng;

const GPU: Device = Device::Cuda(0);

type Use = fn(&Matrix<f64>) -> Result<()>;
const USES: &[(&str, Use)] = &[
    ("nothing", |_| Ok(())),
    ("transpose", |a| transpose(a).eval().map(drop)),
    ("mxv", |a| mxv(a, &full(a.ncols())?).eval().map(drop)),
    ("vxm", |a| vxm(&full(a.nrows())?, a).eval().map(drop)),
    ("mxm", |a| mxm(a, a).eval().map(drop)),
    ("positions of mxm", |a| mxm(&a.over::<AnyPair>(), &a.over::<AnyPair>()).eval().map(drop)),
    ("mxm under a mask", |a| mxm(a, a).mask(&a.structure()).eval().map(drop)),
    ("dot", |a| mxm(a, a).mask(&a.structure()).strategy(Strategy::Dot).eval().map(drop)),
    ("mxm with a full one", |a| mxm(a, &Matrix::full(a.ncols(), 3, 2.0)?.to(&GPU)?).eval().map(drop)),
    ("ewise_add", |a| ewise_add(a, a, Plus).eval().map(drop)),
    ("select", |a| select(a, Tril, 0).eval().map(drop)),
    ("entries", |a| a.entries().map(drop)),
];

fn full(n: u64) -> Result<Vector<f64>> {
    Vector::full(n, 1.5)?.to(&GPU)
}

fn matrices() -> Result<Vec<Matrix<f64>>> {
    let (mut few, mut runs, mut rng) = (Coo::new(100, 100), Coo::new(100, 100), Rng(5));
    (0..1200).for_each(|e| few.push(rng.below(if e % 2 == 0 { 3 } else { 100 }), rng.below(100), e as f64));
    // Rows that have the columns of the one before.
    for i in 0..100 {
        (0..20).for_each(|e| runs.push(i, (i / 6 * 31 + e * 13) % 100, (i + e) as f64));
    }
    let band = Matrix::build_with(&oplus::generate::stencil_5(20, 20)?, First)?;
    let (few, runs): (Matrix<f64>, _) = (Matrix::build_with(&few, Plus)?, Matrix::build_with(&runs, Plus)?);
    let cells: Vec<_> = (0..70 * 70).map(|e| (e / 70, e % 70, e as f64)).collect();
    let cells = Matrix::build(70, 70, &cells)?;
    Ok(vec![few.with_value(2.0)?, few, runs, band, cells])
}

#[test]
fn all_that_is_kept_is_counted() -> Result<()> {
    let (Some(_one), Some(emulator)) = (emulator::alone(), emulator::emulator()) else { return Ok(()) };
    let mut grown = 0;
    for (nth, matrix) in matrices()?.into_iter().enumerate() {
        for format in [Format::Csr, Format::Csc, Format::Bitmap, Format::Dia, Format::Full] {
            // Dot products of full rows with full columns are for real processors.
            for (name, run) in USES.iter().filter(|(name, _)| *name != "dot" || matrix.nvals() < 4000) {
                let Ok(a) = matrix.to(&GPU)?.to_format(format) else { continue };
                let bare = a.memory_bytes();
                (0..3).try_for_each(|_| run(&a))?;
                let (said, held) = (a.memory_bytes(), emulator.live().1);
                drop(a);
                let given_back = (held - emulator.live().1) as u64;
                assert_eq!(given_back, said, "matrix {nth} as {format:?} after {name}: {bare} bytes before");
                grown += u32::from(said > bare);
            }
        }
    }
    assert!(grown > 40, "{grown} of them kept something");
    Ok(())
}

#[test]
fn vectors_are_counted_with_their_lists() -> Result<()> {
    let (Some(_one), Some(emulator)) = (emulator::alone(), emulator::emulator()) else { return Ok(()) };
    let a: Matrix<f64> = Matrix::build_with(&oplus::generate::stencil_5(30, 30)?, First)?;
    let a = a.to(&GPU)?;
    let few: Vec<(u64, f64)> = (0..900).filter(|i| i % 7 == 3).map(|i| (i, i as f64)).collect();
    for x in [Vector::build(900, &few)?, Vector::full(900, 2.0)?] {
        for bits in [false, true] {
            let x = if bits { x.to(&GPU)?.to_bitmap()? } else { x.to(&GPU)? };
            for _ in 0..3 {
                drop(mxv(&a, &x).eval()?);
                drop(apply(&x, Negate).mask(&x.structure()).eval()?);
            }
            let (said, held) = (x.memory_bytes(), emulator.live().1);
            drop(x);
            assert_eq!((held - emulator.live().1) as u64, said, "{bits}");
        }
    }
    Ok(())
}
