//! Matrices of every format on their way to CUDA, emulated or real, which knows compressed rows alone.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/formats.rs"]
mod formats;

use common::emulator;
use formats::{Operands, check};
use oplus::prelude::*;
use quickcheck::QuickCheck;

#[test]
fn formats_do_not_show_on_cuda() {
    if emulator::cuda().is_none() {
        return;
    }
    fn agrees(o: Operands) -> bool {
        check::<i64>(&o, &Device::Cuda(0));
        true
    }
    QuickCheck::new().tests(1).quickcheck(agrees as fn(Operands) -> bool);
}
