//! Products of matrices: what they will cost, which accumulator each row gets, and the loops.
mod accumulator;
mod admitted;
pub(crate) mod analysis;
mod by_bits;
mod dot;
pub(crate) mod ended;
pub(crate) mod exact;
pub(crate) mod explain;
mod few;
mod flags;
pub(crate) mod flat;
mod full;
mod full_bools;
pub(crate) mod job;
mod keys;
mod loops;
mod multiply;
mod need;
mod numeric;
mod pick;
pub(crate) mod product;
mod pulled_bits;
mod short;
mod structural;
mod symbolic;
#[cfg_attr(not(all(target_arch = "x86_64", not(miri))), allow(dead_code))]
pub(crate) mod tiny;
