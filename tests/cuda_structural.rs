//! extract, assign and the other operations that move entries about, on CUDA, emulated or real.
#![cfg(feature = "cuda")]
use oplus::prelude::*;
use std::cell::Cell;

mod common {
    pub mod emulator;
}
#[path = "common/in_place.rs"]
mod in_place;
#[path = "common/large.rs"]
mod large;
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

/// Rows, columns and entries of large operands, and of less large ones.
const LARGE: ((u64, u64, u64), (u64, u64, u64)) = ((80, 2500, 3000), (60, 300, 1500));

fn large_devices() -> Vec<Device> {
    if common::emulator::cuda().is_some() { vec![Device::Cuda(0)] } else { vec![] }
}
