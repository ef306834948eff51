//! Rows and columns in use on CUDA, emulated or real. Alone in its process: it reads which kernels ran.
#![cfg(feature = "cuda")]
mod common;

use common::emulator;
use oplus::prelude::*;

const DEVICE: Device = Device::Cuda(0);

/// Rows and columns in use are looked for where the entries are; their names alone go to the host.
#[test]
fn rows_and_columns_in_use_are_listed_on_the_device() {
    let Some(_one) = emulator::alone() else { return };
    let context = oplus::primitive::Context::get(0).unwrap();
    for (rows, columns, each) in [(5000, 70_000, 3), (9, 40, 1), (40, 9, 0), (3000, 50, 70), (70, 5_000_000, 9)] {
        let places =
            (0..rows).filter(|i| i % 7 == 2).flat_map(|i| (0..each).map(move |e| (i, (i * 31 + e * e * 5) % columns)));
        let mut coo = Coo::<i64>::new(rows, columns);
        places.enumerate().for_each(|(v, (i, j))| coo.push(i, j, v as i64));
        let a: Matrix<i64> = Matrix::build_with(&coo, Plus).unwrap();
        let on = a.to(&DEVICE).unwrap();
        let (listed, ran) = context.trace(|| on.to_format(Format::Hypersparse)).unwrap();
        assert_eq!((listed.format(), listed.nvals()), (Format::Hypersparse, a.nvals()));
        assert_eq!(listed.entries().unwrap(), a.entries().unwrap());
        let ran = |kernel| ran.iter().any(|k| k.kernel == kernel);
        assert_eq!(ran("list_places"), each > 0, "{rows} x {columns}");
        // Far more columns than entries do not have a bit each.
        assert_eq!(ran("build_marks"), each > 0 && columns / 32 > a.nvals(), "{rows} x {columns}");
        // A mask on other axes than what it masks, either way.
        let kept = apply(&on, Negate).mask(&listed.structure()).eval().unwrap();
        let both = apply(&listed, Negate).mask(&on.structure()).eval().unwrap();
        let expected = apply(&a, Negate).eval().unwrap().entries().unwrap();
        assert!(kept.entries().unwrap() == expected && both.entries().unwrap() == expected);
    }
}
