//! Bit-exact CUDA literals of scalars.

/// A `bool`.
#[must_use]
pub fn bool(x: bool) -> String {
    x.to_string()
}
/// An `f32`, by its bits.
#[must_use]
pub fn f32(x: f32) -> String {
    format!("f32_bits(0x{:08x}u)", x.to_bits())
}
/// An `f64`, by its bits.
#[must_use]
pub fn f64(x: f64) -> String {
    format!("f64_bits(0x{:016x}ull)", x.to_bits())
}
macro_rules! integers {
    ($($(#[$doc:meta])* $t:ident)*) => { $(
        $(#[$doc])*
        #[must_use]
        pub fn $t(x: $t) -> String {
            // By way of the two's complement: C++ has no literal for the smallest signed number.
            format!("({})0x{:x}{}", stringify!($t), x, if size_of::<$t>() == 8 { "ull" } else { "u" })
        }
    )* };
}
integers! {
    /// A `u8`.
    u8
    /// A `u16`.
    u16
    /// A `u32`.
    u32
    /// A `u64`.
    u64
    /// An `i8`.
    i8
    /// An `i16`.
    i16
    /// An `i32`.
    i32
    /// An `i64`.
    i64
}
