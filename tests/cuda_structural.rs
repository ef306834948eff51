//! extract, assign and the other operations that move entries about, on CUDA, emulated or real.
#![cfg(feature = "cuda")]
use oplus::prelude::*;
use std::cell::Cell;

mod common {
    pub mod emulator;
}
#[path = "oracles/model.rs"]
mod model;
#[path = "common/regions.rs"]
mod regions;
#[path = "common/whole.rs"]
mod whole;

/// Cases of each property: one takes the emulator a second.
const CASES: u32 = 8;

/// The first GPU for so many cases of each property, which runs in a thread of its own.
fn devices() -> Vec<Device> {
    thread_local!(static CASE: Cell<u32> = const { Cell::new(0) });
    let Some(cuda) = common::emulator::cuda() else { return vec![] };
    let gpu = matches!(cuda, common::emulator::Cuda::Gpu);
    if CASE.replace(CASE.get() + 1) < CASES || gpu { vec![Device::Cuda(0)] } else { vec![] }
}
