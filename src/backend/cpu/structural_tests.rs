//! The tests of operations that move entries about, with the small limits of work that unit tests have: small operands meet
//! every path.
use crate::prelude::*;

#[path = "../../../tests/assign_few_rows.rs"]
mod assign_few_rows;
#[path = "../../../tests/common/in_place.rs"]
mod in_place;
// Not all bodies of its operators need what the macros import.
#[allow(unused_imports)]
#[path = "../../../tests/common/large.rs"]
mod large;
#[path = "../../../tests/oracles/model.rs"]
mod model;
#[path = "../../../tests/common/regions.rs"]
mod regions;
#[allow(unused_imports)]
#[path = "../../../tests/common/whole.rs"]
mod whole;

fn devices() -> Vec<Device> {
    vec![Device::Cpu]
}

/// Rows, columns and entries of large operands, and of less large ones.
const LARGE: ((u64, u64, u64), (u64, u64, u64)) = ((80, 700, 3000), (50, 200, 1500));

fn large_devices() -> Vec<Device> {
    vec![Device::Cpu]
}
