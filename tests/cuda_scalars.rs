//! Every operation over complex numbers, 16-bit floats and structs of 3 to 24 bytes, on the CPU and on CUDA, emulated or real;
//! those left out there compile 50 kernels each: `cargo test --test cuda_scalars -- --include-ignored`. One binary, as what
//! is compiled for a scalar serves both.
#[cfg(feature = "cuda")]
mod common;
#[path = "common/scalars.rs"]
mod scalars;

use oplus::prelude::*;
use scalars::*;

mod on_the_cpu {
    use super::*;

    macro_rules! all { ($($(#[$m:meta])* $name:ident $t:ty;)*) => {$(
        $(#[$m])* #[test]
        fn $name() { check::<$t>(Device::Cpu) }
    )*} }
    all! {
        bytes_3 Rgb;
        bytes_12 Point;
        bytes_16 Hop;
        bytes_24 Route;
        truth bool;
        complex_32 c32;
        complex_64 c64;
        #[cfg(feature = "half")] bytes_20 Spin;
        #[cfg(feature = "half")] float_16 f16;
        #[cfg(feature = "half")] brain_float_16 bf16;
    }
}

#[cfg(feature = "cuda")]
mod on_cuda {
    use super::*;

    /// Of kernels that do something with values, one each.
    fn some(name: &str) -> bool {
        ["mxm", "mxm, planned", "mxv", "reduce_rows", "sort", "select by value", "assign, accumulated"].contains(&name)
    }

    /// All but the strategies that are forced.
    fn once(name: &str) -> bool {
        !forced(name) || ["hash", "dot"].contains(&name)
    }
    fn forced(name: &str) -> bool {
        Strategy::ALL.iter().any(|s| s.name() == name)
    }

    macro_rules! all { ($($(#[$m:meta])* $name:ident $check:ident $t:ty $(, $some:ident)?;)*) => {$(
        $(#[$m])* #[test]
        fn $name() {
            if common::emulator::cuda().is_some() {
                $check::<$t>(Device::Cuda(0) $(, $some)?);
            }
        }
    )*} }
    all! {
        everything_of_complex_64 check_some c64, once;
        truth check_some bool, some;
        bytes_3 check_some Rgb, some;
        bytes_12 check_some Point, some;
        bytes_16 check_some Hop, some;
        bytes_24 check_some Route, some;
        complex_32 check_some c32, some;
        #[cfg(feature = "half")]
        bytes_20 check_some Spin, some;
        #[cfg(feature = "half")]
        float_16 check_some f16, some;
        #[cfg(feature = "half")]
        brain_float_16 check_some bf16, some;
        #[ignore = "compiles 50 kernels"]
        strategies_of_complex_64 check_some c64, forced;
        #[ignore = "compiles 50 kernels"]
        everything_of_3_bytes check Rgb;
        #[ignore = "compiles 50 kernels"]
        everything_of_12_bytes check Point;
        #[ignore = "compiles 50 kernels"]
        everything_of_16_bytes check Hop;
        #[ignore = "compiles 50 kernels"]
        everything_of_24_bytes check Route;
        #[ignore = "compiles 50 kernels"]
        everything_of_complex_32 check c32;
        #[cfg(feature = "half")]
        #[ignore = "compiles 50 kernels"]
        everything_of_20_bytes check Spin;
        #[cfg(feature = "half")]
        #[ignore = "compiles 50 kernels"]
        everything_of_float_16 check f16;
        #[cfg(feature = "half")]
        #[ignore = "compiles 50 kernels"]
        everything_of_brain_float_16 check bf16;
    }
}
