//! extract, assign and the other operations that move entries about, on the host.
use oplus::prelude::*;

#[path = "oracles/model.rs"]
mod model;
#[path = "common/regions.rs"]
mod regions;
#[path = "common/whole.rs"]
mod whole;

fn devices() -> Vec<Device> {
    vec![Device::Reference, Device::Cpu]
}
