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
#[path = "common/long_axes.rs"]
mod long_axes;
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

/// Of a dimension with a place for every index the driver would say that it is too much.
const LENGTHS: [u64; 1] = [4_200_000_000];

fn long_devices() -> impl Iterator<Item = Device> {
    common::emulator::cuda().map(|_| Device::Cuda(0)).into_iter()
}
fn cheap<R>(run: impl FnOnce() -> R) -> R {
    run()
}

/// Rows, columns and entries of large operands, and of less large ones.
const LARGE: ((u64, u64, u64), (u64, u64, u64)) = ((80, 2500, 3000), (60, 300, 1500));

fn large_devices() -> Vec<Device> {
    if common::emulator::cuda().is_some() { vec![Device::Cuda(0)] } else { vec![] }
}
