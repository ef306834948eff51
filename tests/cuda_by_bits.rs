//! Products over positions alone of few rows on CUDA: 64 rows as a word a column, against the reference.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/shapes.rs"]
mod shapes;

use common::emulator;
use oplus::prelude::*;
use shapes::Shape;

const GPU: Device = Device::Cuda(0);

/// Rows of B, and columns.
const B: (u64, u64) = (270, 333);

fn pattern(shape: &Shape, device: &Device) -> Matrix<bool, AnyPair> {
    let matrix = shape.matrix::<f64, AnyPair>(|v| v as f64).to(device).unwrap();
    apply(&matrix, Pair::<bool>::default()).eval().unwrap()
}

/// (AB)⟨M⟩ without a mask, and under each kind of one: a list or cells, as it is or its complement.
fn products(shapes: (&Shape, &Shape, &Shape), device: &Device) -> Vec<(String, Matrix<bool, AnyPair>, Trace)> {
    let (a, b, mask) = (pattern(shapes.0, device), pattern(shapes.1, device), pattern(shapes.2, device));
    let cells = mask.to_format(Format::Bitmap).unwrap();
    let mut made = vec![("none".to_string(), mxm(&a, &b).traced().unwrap())];
    for (name, mask) in [("list", &mask), ("cells", &cells)] {
        made.push((name.to_string(), mxm(&a, &b).mask(&mask.structure()).traced().unwrap()));
        made.push((format!("not {name}"), mxm(&a, &b).mask(&mask.structure().complement()).traced().unwrap()));
    }
    made.into_iter().map(|(name, (c, trace))| (name, c, trace)).collect()
}

#[test]
fn every_mask_and_every_number_of_rows() {
    let Some(_one) = emulator::alone() else { return };
    let b = Shape::random(B, 60_000, 1).with_row(7);
    for rows in [2, 33, 64, 130] {
        let a = Shape::random((rows, B.0), 500.max(rows * 100), 2).with_row(1);
        let mask = Shape::random((rows, B.1), rows * 170, 3);
        let expected = products((&a, &b, &mask), &Device::Reference);
        for ((name, expected, _), (_, found, trace)) in expected.iter().zip(products((&a, &b, &mask), &GPU)) {
            assert_eq!(found.entries().unwrap(), expected.entries().unwrap(), "{rows} rows, mask {name}");
            assert_eq!(found.nvals(), expected.nvals());
            let bits = trace.kernels.iter().any(|k| k.name == "bits_pushed");
            assert!(bits, "{rows} rows, mask {name}: {trace}");
        }
    }
}

#[test]
fn explain_tells_it_and_few_products_and_other_strategies_go_by_rows() {
    let Some(_one) = emulator::alone() else { return };
    let shape = Shape::random(B, 60_000, 1);
    let (b, turned) = (pattern(&shape, &GPU), pattern(&shape.turned(), &GPU));
    let many = pattern(&Shape::random((64, B.0), 6_000, 2), &GPU);
    let few = pattern(&Shape::random((64, B.0), 90, 2), &GPU);
    let (c, trace) = mxm(&many, &turned).transpose_b().traced().unwrap();
    assert!(trace.kernels.iter().any(|k| k.name == "bits_pushed"), "{} {trace}", c.nvals());
    let told = mxm(&many, &b).explain().unwrap();
    assert_eq!(told.analysis.bins.iter().map(|bin| &*bin.name).collect::<Vec<_>>(), ["bits"], "{told}");
    let by_rows = [mxm(&few, &b).traced().unwrap(), mxm(&many, &b).strategy(Strategy::Hash).traced().unwrap()];
    for (c, trace) in by_rows {
        assert!(trace.kernels.iter().all(|k| k.name != "bits_pushed"), "{} {trace}", c.nvals());
    }
}

/// Each allocation fails in turn, or a limit leaves too little: rows are the way then, or memory is said to be missing; never anything else.
#[test]
fn without_room_it_goes_by_rows() {
    let (Some(_one), Some(emulator)) = (emulator::alone(), emulator::emulator()) else { return };
    let b = pattern(&Shape::random(B, 60_000, 1), &GPU);
    let a = pattern(&Shape::random((64, B.0), 6_000, 2), &GPU);
    let expected = mxm(&a, &b).eval().unwrap().entries().unwrap();
    let mut came = 0;
    for limit in (0..10).map(|n| 4096 << n) {
        match mxm(&a, &b).memory_limit(limit).eval() {
            Ok(c) => assert_eq!(c.entries().unwrap(), expected),
            Err(error) => assert!(matches!(error, Error::OutOfMemory { .. }), "{error}"),
        }
    }
    for n in 0..12 {
        emulator.fail_allocation(n);
        match mxm(&a, &b).eval() {
            Ok(c) => {
                came += 1;
                emulator.fail_allocation(-1);
                assert_eq!(c.entries().unwrap(), expected);
            }
            Err(error) => assert!(matches!(error, Error::OutOfMemory { .. }), "{error}"),
        }
        emulator.fail_allocation(-1);
    }
    assert!(came > 0);
}
