//! extract, assign and the other operations that move entries about, on the host.
use oplus::prelude::*;

#[path = "oracles/model.rs"]
mod model;
#[path = "common/whole.rs"]
mod whole;
#[path = "common/regions.rs"]
mod regions;

fn devices() -> Vec<Device> {
    vec![Device::Reference, Device::Cpu]
}
