//! The devices of this process.
#[cfg(all(feature = "cuda", target_os = "linux"))]
use crate::common::emulator;
use oplus::prelude::*;

/// Both of the host, and the GPU, emulated or real, where there is one.
pub fn devices() -> Vec<Device> {
    #[allow(unused_mut)]
    let mut all = vec![Device::Reference, Device::Cpu];
    #[cfg(all(feature = "cuda", target_os = "linux"))]
    if emulator::cuda().is_some() {
        all.push(Device::Cuda(0));
    }
    all
}
