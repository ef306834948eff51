//! Every operation over complex numbers, 16-bit floats and structs of 3 to 24 bytes on the CPU.
#[path = "common/scalars.rs"]
mod scalars;

use oplus::prelude::*;
use scalars::*;

macro_rules! on_the_cpu { ($($(#[$m:meta])* $name:ident $t:ty;)*) => {$(
    $(#[$m])* #[test]
    fn $name() { check::<$t>(Device::Cpu) }
)*} }
on_the_cpu! {
    bytes_3 Rgb;
    bytes_12 Point;
    bytes_16 Hop;
    bytes_24 Route;
    complex_32 c32;
    complex_64 c64;
    #[cfg(feature = "half")] bytes_20 Spin;
    #[cfg(feature = "half")] float_16 f16;
    #[cfg(feature = "half")] brain_float_16 bf16;
}
