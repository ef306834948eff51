//! extract and assign on the host.
use oplus::prelude::*;

#[path = "oracles/model.rs"]
mod model;
#[path = "common/regions.rs"]
mod regions;

fn devices() -> Vec<Device> {
    vec![Device::Reference, Device::Cpu]
}
