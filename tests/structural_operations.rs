//! extract, assign and the other operations that move entries about, on the host.
use oplus::prelude::*;

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

fn devices() -> Vec<Device> {
    vec![Device::Reference, Device::Cpu]
}

/// Rows, columns and entries of large operands, and of less large ones.
const LARGE: ((u64, u64, u64), (u64, u64, u64)) = ((300, 3000, 45_000), (90, 500, 5000));

fn large_devices() -> Vec<Device> {
    vec![Device::Cpu]
}
