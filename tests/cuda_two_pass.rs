//! Products on CUDA when memory is short: a process of its own, as failures are planted in the driver.
mod common;

use common::emulator;
use oplus::generate::uniform;
use oplus::prelude::*;

#[test]
fn without_room_to_spare_rows_are_counted_first() {
    let Some(emulator) = emulator::emulator() else { return };
    let a: Matrix<f64> = Matrix::build_with(&uniform(20, 30, 10, 1).unwrap(), First).unwrap();
    let b: Matrix<f64> = Matrix::build_with(&uniform(30, 900, 20, 2).unwrap(), First).unwrap();
    let expected = mxm(&a, &b).eval().unwrap().entries().unwrap();
    let (a, b) = (a.to(&Device::Cuda(0)).unwrap(), b.to(&Device::Cuda(0)).unwrap());
    let (mut counted, mut chunked) = (0, 0);
    for strategy in [Strategy::Auto, Strategy::Esc] {
        for n in 0..32 {
            emulator.fail_allocations(n, 2);
            let made = mxm(&a, &b).strategy(strategy).traced();
            emulator.fail_allocations(-1, 1);
            let (c, trace) = made.unwrap();
            assert_eq!(c.entries().unwrap(), expected, "allocation {n} failed, {strategy:?}");
            let ran = |kernel: &str| trace.kernels.iter().any(|k| k.name.ends_with(kernel));
            match ran("shift_offsets") {
                true => chunked += 1,
                false => counted += usize::from(ran("_count")),
            }
        }
    }
    // Products do without their staging area, of two buffers, and not without the others.
    assert!(counted >= 2 && chunked > 10, "{counted} counted first, {chunked} by chunks of rows");
}
