//! Products of values of hundreds of bytes, for which tables in shared memory have little room or none.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator::{self, Cuda};
use oplus::prelude::*;
use random::Rng;
use std::process::Command;

macro_rules! values {
    ($name:ident: $words:literal of $word:ident) => {
        mod $name {
            use super::*;

            #[repr(C)]
            #[derive(Clone, Copy, Debug, PartialEq)]
            pub struct Large {
                key: $word,
                rest: [$word; $words],
            }

            impl Large {
                const fn of(key: $word) -> Self {
                    Self { key, rest: [key; $words] }
                }
            }

            // SAFETY: words alone, and the same in both languages.
            unsafe impl Scalar for Large {
                const TEXT: ScalarText = ScalarText {
                    name: "Large",
                    definition: stringify!(struct Large { $word key; $word rest[$words]; };),
                    size: size_of::<Large>(),
                };
                fn cuda_literal(self) -> String {
                    format!("Large{{{}}}", vec![self.key.to_string(); $words + 1].join(","))
                }
            }

            oplus::semiring! {
                pub struct Least[](Large, Large) -> Large;
                identity = Large::of($word::MAX);
                add = |x, y| (select(x.key < y.key, x, y));
                multiply = |a, b, _| (select(a.key < b.key, b, a));
            }
            oplus::operator! { pub Larger[](Large, Large) -> Large = |x, y| select(x.key < y.key, y, x) }
            impl Monoid<Large> for Larger {
                fn identity() -> Large {
                    Large::of(0)
                }
            }

            /// As the reference has them, by every strategy that chooses by row, and what stands on these.
            pub fn products() {
                let (n, mut rng) = (40, Rng(7));
                let mut coo = Coo::new(n, n);
                for i in 0..n {
                    (0..[1, 4, 60][if i == 9 { 2 } else { i as usize % 3 % 2 }])
                        .for_each(|_| coo.push(i, rng.below(n), Large::of(rng.below(50) as $word)));
                }
                let host = Matrix::<Large>::build_with(&coo, Second).unwrap();
                let on = |device| host.to(&device).unwrap().over::<Least>();
                let (a, expected) = (on(Device::Cuda(0)), on(Device::Reference));
                let whole = mxm(&expected, &expected).eval().unwrap().entries().unwrap();
                let masked = mxm(&expected, &expected).mask(&expected.structure()).eval().unwrap().entries().unwrap();
                let bytes = size_of::<Large>();
                for strategy in [Strategy::Auto, Strategy::Hash, Strategy::Esc, Strategy::BitmapRank, Strategy::RowRow]
                {
                    let found = mxm(&a, &a).strategy(strategy).eval();
                    let found = found.unwrap_or_else(|e| panic!("{bytes} bytes, {strategy}: {e}"));
                    assert!(found.entries().unwrap() == whole, "{bytes} bytes, {strategy}");
                }
                for strategy in [Strategy::Auto, Strategy::Hash] {
                    let found = mxm(&a, &a).strategy(strategy).mask(&a.structure()).eval();
                    let found = found.unwrap_or_else(|e| panic!("{bytes} bytes, {strategy}, masked: {e}"));
                    assert!(found.entries().unwrap() == masked, "{bytes} bytes, {strategy}, masked");
                }
                let found = mxm(&a, &a).reproducible().eval().unwrap();
                assert!(found.entries().unwrap() == whole, "{bytes} bytes, reproducible");
                let plan = mxm(&a, &a).plan().unwrap();
                assert!(plan.run(&a, &a).unwrap().entries().unwrap() == whole, "{bytes} bytes, planned");
                let most = whole.iter().map(|(_, _, x)| *x).max_by_key(|x| x.key).unwrap();
                assert!(mxm(&a, &a).reduce(Larger).unwrap() == most, "{bytes} bytes, reduced");
                let most = masked.iter().map(|(_, _, x)| *x).max_by_key(|x| x.key).unwrap();
                for strategy in [Strategy::Auto, Strategy::Dot] {
                    let found = mxm(&a, &a).strategy(strategy).mask(&a.structure()).reduce(Larger);
                    let found = found.unwrap_or_else(|e| panic!("{bytes} bytes, {strategy}, masked, reduced: {e}"));
                    assert!(found == most, "{bytes} bytes, {strategy}, masked, reduced");
                }
                assert!(mxm(&a, &a).explain().unwrap().analysis.products > 0);
            }
        }
    };
}
// With these the table for long rows of a mask has all that static shared memory leaves of 64 KiB.
values! { bytes_36: 8 of u32 }
values! { bytes_104: 12 of u64 }
values! { bytes_248: 30 of u64 }
values! { bytes_256: 31 of u64 }
values! { bytes_400: 49 of u64 }
values! { bytes_520: 64 of u64 }
values! { bytes_640: 79 of u64 }
values! { bytes_4000: 499 of u64 }

#[test]
fn products_of_large_values() {
    if emulator::cuda().is_none() {
        return;
    }
    bytes_104::products();
    bytes_520::products();
    bytes_640::products();
    bytes_4000::products();
}

/// Runs a test on another architecture than the emulator's usual one.
fn on_architecture(architecture: &str, test: &str) {
    let Some(Cuda::Emulated(emulator)) = emulator::cuda() else { return };
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .envs(emulator::environment(&emulator.folder))
        .env("EMU_ARCHITECTURE", architecture)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// Blocks have 64 KiB.
#[test]
fn products_of_large_values_in_little_shared_memory() {
    on_architecture("75", "in_little_shared_memory");
}

#[test]
#[ignore = "runs in the process of another"]
fn in_little_shared_memory() {
    if emulator::cuda().is_some() {
        bytes_36::products();
        bytes_248::products();
        bytes_256::products();
    }
}

/// Blocks have 99 KiB: room for one large table, not for those of eight warps.
#[test]
fn products_of_large_values_of_eight_warps() {
    on_architecture("86", "of_eight_warps");
}

#[test]
#[ignore = "runs in the process of another"]
fn of_eight_warps() {
    if emulator::cuda().is_some() {
        bytes_256::products();
        bytes_400::products();
    }
}
