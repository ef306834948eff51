//! Tuning numbers, one table an architecture, for the kernels (as `tuning::name`) and for the host that launches them.

macro_rules! tuning {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The numbers for one architecture.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub struct Tuning { $($(#[$doc])* pub $name: u32,)* }
        impl Tuning {
            /// Names and values, in order.
            #[must_use]
            pub fn entries(&self) -> Vec<(&'static str, u32)> { vec![$((stringify!($name), self.$name)),*] }
        }
    };
}

tuning! {
    /// Threads of a block in the device-wide primitives.
    primitive_block,
    /// Items a thread handles in the device-wide scan.
    scan_items,
    /// Items a thread handles in the device-wide radix sort.
    sort_items,
}

const BASE: Tuning = Tuning { primitive_block: 256, scan_items: 8, sort_items: 8 };

/// Turing.
pub const SM_75: Tuning = BASE;
/// Ampere.
pub const SM_80: Tuning = BASE;
/// Hopper.
pub const SM_90: Tuning = BASE;
/// Blackwell.
pub const SM_100: Tuning = BASE;

impl Tuning {
    /// The table of the newest known architecture that is not newer than `architecture` (75, 80, 86, 90, …).
    #[must_use]
    pub const fn of(architecture: u32) -> &'static Tuning {
        match architecture {
            0..80 => &SM_75,
            80..90 => &SM_80,
            90..100 => &SM_90,
            _ => &SM_100,
        }
    }
}
