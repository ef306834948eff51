//! Sixteen numbers of 32 bits at once, by the instructions that the processor has: AVX-512, or pairs of AVX2 registers.
//!
//! What is written over [`Sixteen`] is compiled once for each: inlined whole into a function with `#[target_feature]`.
use std::fmt::Debug;

#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) mod avx2;
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) mod avx512;
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) mod network;
#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests;

/// The widest instructions of those below that the processor has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Simd {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Avx512(avx512::Avx512),
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Avx2(avx2::Avx2),
}

impl Simd {
    #[inline(always)]
    pub(super) fn found() -> Option<Simd> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            let widest = avx512::Avx512::found().map(Simd::Avx512);
            widest.or_else(|| avx2::Avx2::found().map(Simd::Avx2))
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        None
    }
    /// Each of them that the processor has.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Simd> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            let (a, b) = (avx512::Avx512::found().map(Simd::Avx512), avx2::Avx2::found().map(Simd::Avx2));
            a.into_iter().chain(b).collect()
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        Vec::new()
    }
}

/// Sixteen lanes of u32. Who has a value of such a type has asked the processor. Masks have a lane each too.
#[cfg_attr(not(all(target_arch = "x86_64", not(miri))), allow(dead_code))]
pub(super) trait Sixteen: Copy + Debug {
    /// The lanes.
    type V: Copy;
    /// Some of them.
    type M: Copy;
    /// Up to 64 numbers in memory that lanes are picked from.
    type Table<const K: usize>: Copy;

    fn splat(self, x: u32) -> Self::V;
    /// 0 to 15.
    fn numbers(self) -> Self::V;
    /// # Safety
    /// There are sixteen.
    unsafe fn load(self, from: *const u32) -> Self::V;
    /// Zero in other lanes.
    /// # Safety
    /// There are as many as the lanes.
    unsafe fn load_some(self, lanes: Self::M, from: *const u32) -> Self::V;
    /// # Safety
    /// There is room for sixteen.
    unsafe fn store(self, to: *mut u32, v: Self::V);
    /// The lanes kept side by side; what is behind them is undefined.
    /// # Safety
    /// There is room for sixteen.
    unsafe fn store_kept(self, to: *mut u32, kept: u16, v: Self::V);
    /// 32 bits at each place, counted in these; zero in other lanes.
    /// # Safety
    /// They are there for these lanes.
    unsafe fn gather(self, lanes: Self::M, from: *const u32, at: Self::V) -> Self::V;

    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    fn shl<const N: u32>(self, v: Self::V) -> Self::V;
    fn shr<const N: u32>(self, v: Self::V) -> Self::V;
    /// 1 << x, and 0 from 32 on.
    fn bit(self, x: Self::V) -> Self::V;
    /// v >> (x mod 32).
    fn shr_by(self, v: Self::V, x: Self::V) -> Self::V;

    /// The first n lanes; all from sixteen on.
    fn first(self, n: usize) -> Self::M;
    fn none(self) -> Self::M;
    fn equal(self, a: Self::V, b: Self::V) -> Self::M;
    /// Those with bit 0 set.
    fn odd(self, v: Self::V) -> Self::M;
    fn both(self, a: Self::M, b: Self::M) -> Self::M;
    fn either(self, a: Self::M, b: Self::M) -> Self::M;
    /// Those of a that are not in b.
    fn without(self, a: Self::M, b: Self::M) -> Self::M;
    /// A bit for each lane.
    fn bits(self, lanes: Self::M) -> u16;
    /// b in these lanes, a in others.
    fn select(self, lanes: Self::M, a: Self::V, b: Self::V) -> Self::V;

    /// How many bits up to each lane's are set.
    fn counted(self, set: u16) -> Self::V;
    /// Each lane's left neighbour; the first one's is the last lane of `before`.
    fn previous(self, v: Self::V, before: Self::V) -> Self::V;
    /// All lanes by `or`.
    fn united(self, v: Self::V) -> u32;

    /// 16·K numbers; K is 1, 2 or 4.
    /// # Safety
    /// They are there while the table is used.
    unsafe fn table<const K: usize>(self, from: *const u32) -> Self::Table<K>;
    /// Those that `at` numbers, modulo how many there are.
    /// # Safety
    /// They are still there.
    unsafe fn pick<const K: usize>(self, from: Self::Table<K>, at: Self::V) -> Self::V;
    /// The lanes of a that `at` numbers, modulo 16.
    fn pick_lane(self, a: Self::V, at: Self::V) -> Self::V;
    /// … of a and then b, modulo 32.
    fn pick_of_two(self, a: Self::V, b: Self::V, at: Self::V) -> Self::V;

    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// The smaller of each lane's two, or the larger in lanes whose number has bit BIT.
    fn exchange<const BIT: u32>(self, a: Self::V, b: Self::V) -> Self::V;
    /// Every four lanes as two bits each of ORDER say.
    fn fours<const ORDER: i32>(self, v: Self::V) -> Self::V;
    /// Fours swapped with their neighbours, …
    fn swap_fours(self, v: Self::V) -> Self::V;
    /// … and eights.
    fn swap_eights(self, v: Self::V) -> Self::V;
    /// Every eight backwards, …
    fn reverse_eights(self, v: Self::V) -> Self::V;
    /// … and all.
    fn reverse(self, v: Self::V) -> Self::V;
}
