//! Keys of a column and a place each, and columns alone, put in order: in vector registers, by digits, or by comparisons.
#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::backend::cpu::simd::Simd;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::backend::cpu::simd::avx2::Avx2;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::backend::cpu::simd::avx512::Avx512;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::backend::cpu::simd::network::{BLOCK, sort_all};
use crate::error::Result;
use crate::memory;

/// So many keys are sorted in vector registers, where there are such; of fewer, short runs in order are found by comparisons.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const NETWORK: std::ops::RangeInclusive<usize> = 192..=2048;
/// Digits where there are at most so many counts a key, comparisons of fewer keys.
const COUNTS: usize = 4;
/// The most bits of a digit: a count of each value stays in the nearest cache.
const DIGIT: u32 = 11;

/// Keys in order of their upper halves, those with one upper half as they were: their lower halves ascend.
pub(crate) fn sort(operation: &'static str, keys: &mut Vec<u64>, spare: &mut Vec<u64>) -> Result<()> {
    let (least, most) = keys.iter().fold((u64::MAX, 0), |(least, most), key| (least.min(*key), most.max(*key)));
    let least = least >> 32;
    let bits = u64::BITS - (most >> 32).saturating_sub(least).leading_zeros();
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if let Some(simd) = Simd::found()
        && NETWORK.contains(&keys.len())
        && bits + place_bits(keys) <= u32::BITS
    {
        return by_network(operation, simd, keys, spare, least);
    }
    by_digits(operation, keys, spare, bits, |key| ((key >> 32) - least) as usize)
}

/// Columns in order.
pub(crate) fn sort_columns(operation: &'static str, columns: &mut Vec<u32>, spare: &mut Vec<u32>) -> Result<()> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if let Some(simd) = Simd::found()
        && NETWORK.contains(&columns.len())
    {
        let n = columns.len();
        memory::reserve(operation, columns, BLOCK)?;
        columns.resize(n.div_ceil(BLOCK) * BLOCK, u32::MAX);
        by_registers(simd, columns.as_chunks_mut::<BLOCK>().0);
        columns.truncate(n);
        return Ok(());
    }
    let (least, most) = columns.iter().fold((u32::MAX, 0), |(least, most), j| (least.min(*j), most.max(*j)));
    let bits = u32::BITS - most.saturating_sub(least).leading_zeros();
    by_digits(operation, columns, spare, bits, |j| (j - least) as usize)
}

/// Keys in order of so many `bits` of `of` each, those of one value as they were; of few keys in the order of the keys themselves.
fn by_digits<K: Copy + Default + Ord>(
    operation: &'static str,
    keys: &mut Vec<K>,
    spare: &mut Vec<K>,
    bits: u32,
    of: impl Fn(K) -> usize,
) -> Result<()> {
    let passes = bits.div_ceil(DIGIT);
    let width = bits.div_ceil(passes.max(1));
    if (passes as usize) << width > COUNTS * keys.len() {
        keys.sort_unstable();
        return Ok(());
    }
    spare.clear();
    memory::reserve(operation, spare, keys.len())?;
    spare.resize(keys.len(), K::default());
    let mut places = [0u32; 1 << DIGIT];
    for pass in 0..passes {
        let places = &mut places[..1 << width];
        let digit = |key: K| of(key) >> (pass * width) & ((1 << width) - 1);
        places.fill(0);
        keys.iter().for_each(|key| places[digit(*key)] += 1);
        let mut before = 0;
        places.iter_mut().for_each(|place| before += std::mem::replace(place, before));
        for key in keys.iter() {
            let place = &mut places[digit(*key)];
            spare[*place as usize] = *key;
            *place += 1;
        }
        std::mem::swap(keys, spare);
    }
    Ok(())
}

/// Bits of the lower halves.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn place_bits(keys: &[u64]) -> u32 {
    usize::BITS - keys.len().saturating_sub(1).leading_zeros()
}

/// As [`sort`], where columns from the least one on and places fit into 32 bits: these in vector registers.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn by_network(operation: &'static str, simd: Simd, keys: &mut [u64], spare: &mut Vec<u64>, least: u64) -> Result<()> {
    let (bits, blocks) = (place_bits(keys), keys.len().div_ceil(BLOCK));
    spare.clear();
    memory::reserve(operation, spare, blocks * BLOCK / 2)?;
    spare.resize(blocks * BLOCK / 2, u64::MAX);
    let short: &mut [u32] = bytemuck::must_cast_slice_mut(spare);
    for (short, key) in short.iter_mut().zip(&*keys) {
        *short = (((key >> 32) - least) as u32) << bits | *key as u32;
    }
    by_registers(simd, short.as_chunks_mut::<BLOCK>().0);
    for (key, short) in keys.iter_mut().zip(&*short) {
        *key = (u64::from(short >> bits) + least) << 32 | u64::from(short & ((1 << bits) - 1));
    }
    Ok(())
}
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn by_registers(simd: Simd, blocks: &mut [[u32; BLOCK]]) {
    match simd {
        // SAFETY: the processor has what the function is compiled for.
        Simd::Avx512(s) => unsafe { sort_512(s, blocks) },
        // SAFETY: as above.
        Simd::Avx2(s) => unsafe { sort_256(s, blocks) },
    }
}
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx512f,popcnt,bmi2")]
fn sort_512(s: Avx512, keys: &mut [[u32; BLOCK]]) {
    sort_all(s, keys);
}
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn sort_256(s: Avx2, keys: &mut [[u32; BLOCK]]) {
    sort_all(s, keys);
}

#[test]
fn all_ways_sort_as_comparisons() {
    let mut random = crate::generate::Random::new(1, 2);
    for (n, columns) in [
        (9, 1),
        (50, 2),
        (700, 3),
        (700, 1 << 20),
        (191, 1 << 24),
        (192, 1 << 24),
        (193, 1 << 24),
        (2048, 1 << 21),
        (900, 1 << 31),
        (3000, 1 << 11),
        (5000, u32::MAX as u64),
    ] {
        let mut keys: Vec<u64> = (0..n).map(|place| random.below(columns) << 32 | place).collect();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        assert!(sort("test", &mut keys, &mut Vec::new()).is_ok());
        assert_eq!(keys, sorted);
        let mut columns: Vec<u32> = (0..n).map(|_| random.below(columns) as u32).collect();
        let mut sorted = columns.clone();
        sorted.sort_unstable();
        assert!(sort_columns("test", &mut columns, &mut Vec::new()).is_ok());
        assert_eq!(columns, sorted);
    }
}
