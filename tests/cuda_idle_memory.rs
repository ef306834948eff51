//! Memory that was freed and that the pool keeps is there for what an operand might keep: a process of its own, whose device has little
//! memory.
#![cfg(all(feature = "cuda", target_os = "linux"))]
mod common;

use common::emulator;
use oplus::backend::cuda::{Buffer, Context};
use oplus::prelude::*;

const GPU: Device = Device::Cuda(0);
const MEMORY: u64 = 32 << 20;

#[test]
fn columns_are_kept_where_the_pool_has_what_is_free() {
    // SAFETY: the only test of this process, before anything reads the variable.
    unsafe { std::env::set_var("EMU_MEMORY", MEMORY.to_string()) };
    let Some(emulator) = emulator::emulator() else { return };
    let context = Context::get(0).unwrap();
    // All there is, freed.
    let mut all = Vec::new();
    while let Ok(buffer) = Buffer::alloc(&context, 1 << 19) {
        all.push(buffer);
    }
    assert!(all.len() as u64 > MEMORY >> 20);
    drop(all);
    let entries: Vec<_> = (0..300u64).flat_map(|i| (0..100u64).map(move |e| (i, (i + 3 * e) % 300, 1i64))).collect();
    let a: Matrix<i64> = Matrix::build(300, 300, &entries).unwrap().to(&GPU).unwrap();
    let x: Vector<i64> = Vector::full(300, 3).unwrap().to(&GPU).unwrap();
    assert!(context.memory().unwrap().0 < 1 << 20, "the pool keeps nothing");
    let expected = vxm(&x, &a).eval().unwrap().entries().unwrap();
    let live = emulator.live().0;
    assert_eq!(vxm(&x, &a).eval().unwrap().entries().unwrap(), expected);
    assert!(emulator.live().0 > live, "columns are not kept");
    assert_eq!(vxm(&x, &a).eval().unwrap().entries().unwrap(), expected);
}
