//! What `memory_bytes` says of a matrix or vector in host memory is what is free again when it is dropped: entries and all that was kept
//! with them, by a counting allocator, to what allocations round up and to pieces below a KiB.
#[path = "common/allocator.rs"]
mod allocator;

use allocator::{alone, live};
use oplus::prelude::*;

type Use = fn(&Matrix<f64>) -> Result<()>;
const USES: &[(&str, Use)] = &[
    ("nothing", |_| Ok(())),
    ("transpose", |a| transpose(a).eval().map(drop)),
    ("mxv", |a| mxv(a, &Vector::full(a.ncols(), 1.5)?).eval().map(drop)),
    ("vxm", |a| vxm(&Vector::full(a.nrows(), 1.5)?, a).eval().map(drop)),
    ("mxm, A transposed", |a| mxm(a, a).transpose_a().eval().map(drop)),
    ("mxm", |a| mxm(a, a).eval().map(drop)),
    ("mxm of positions", |a| mxm(&a.over::<AnyPair>(), &a.over()).eval().map(drop)),
    ("mxm under a mask", |a| mxm(a, a).mask(&a.structure()).eval().map(drop)),
    ("reduce", |a| reduce_rows(a, Plus).transpose_a().eval().map(drop)),
    ("entries", |a| a.entries().map(drop)),
];

#[test]
fn all_that_is_kept_is_counted() -> Result<()> {
    let _alone = alone();
    let n = 64u64;
    let matrix: Matrix<f64> = Matrix::build_with(&oplus::generate::stencil_5(n, n)?, First)?;
    let mut grown = 0;
    for matrix in [matrix.clone(), matrix.with_value(2.0)?] {
        for format in [Format::Csr, Format::Csc, Format::Dia, Format::Hypersparse] {
            for (name, run) in USES {
                // Its own, all of it.
                let coo = matrix.to_coo()?;
                let a: Matrix<f64> = Matrix::build_with(&coo, First)?.to_format(format)?;
                // Threads have what they keep.
                (0..2).try_for_each(|_| run(&matrix.to_format(format)?))?;
                let bare = a.memory_bytes();
                (0..4).try_for_each(|_| run(&a))?;
                let (said, held) = (a.memory_bytes(), live());
                drop(a);
                let given_back = held - live();
                let what = format!("{format:?} after {name}: {said} bytes, {bare} before, {given_back} were free then");
                assert!(said.abs_diff(given_back) <= said / 16 + 4096, "{what}");
                grown += u32::from(said > bare + bare / 8);
            }
        }
    }
    assert!(grown >= 8, "{grown} of them kept something");
    Ok(())
}

#[test]
fn vectors_are_counted_with_their_lists() -> Result<()> {
    let _alone = alone();
    let few: Vec<(u64, f64)> = (0..90_000).filter(|i| i % 3 == 1).map(|i| (i, i as f64)).collect();
    for bits in [false, true] {
        let list: Vector<f64> = Vector::build(90_000, &few)?;
        let x = if bits { list.to_bitmap()? } else { list.clone() };
        drop(list);
        drop(x.entries()?);
        drop(apply(&x, Negate).mask(&x.structure()).eval()?);
        let (said, held) = (x.memory_bytes(), live());
        drop(x);
        let given_back = held - live();
        assert!(said.abs_diff(given_back) <= said / 16 + 4096, "{bits}: {said} bytes, {given_back} were free then");
    }
    Ok(())
}
