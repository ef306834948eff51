//! Which indices of a long dimension are in use, and which of them each one is.
use super::counting::distribute;
use crate::backend::cpu::parallel::{SERIAL, Shared, nth_piece, scan, unwritten, written};
use crate::backend::cpu::scatter::all_pieces;
use crate::error::Result;
use crate::storage::axis::check_places;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;

/// The indices in use, ascending, and for each index its place among them; those are below 2³²; `IndexOverflow` where these do not suffice.
pub(crate) fn ranks(operation: &'static str, indices: &[u64]) -> Result<(Vec<u64>, Vec<u32>)> {
    let sorted = all_pieces(indices.len(), &|p| indices[p.start.saturating_sub(1)..p.end].is_sorted());
    if sorted { of_sorted(operation, indices) } else { of_any(operation, indices) }
}

/// As many indices are looked at by one thread at a time.
const PIECE: usize = if cfg!(test) { 16 } else { 1 << 14 };

fn of_sorted(operation: &'static str, indices: &[u64]) -> Result<(Vec<u64>, Vec<u32>)> {
    let n = indices.len();
    let is_new = |e: usize| e == 0 || indices[e - 1] != indices[e];
    let piece = |p: usize| nth_piece(n, PIECE, p);
    let starts = scan(operation, n.div_ceil(PIECE), |p| piece(p).filter(|e| is_new(*e)).count() as u64)?;
    let used = starts[starts.len() - 1] as usize;
    check_places(operation, used as u128)?;
    let (mut ids, mut places) = (unwritten::<u64>(operation, used)?, unwritten::<u32>(operation, n)?);
    let (to_ids, to_places) = (Shared::new(&mut ids), Shared::new(&mut places));
    let one = |p: usize| {
        let (first, last) = (starts[p] as usize, starts[p + 1] as usize);
        // SAFETY: pieces are disjoint, and so are their new indices by the scan.
        let (ids, places) = unsafe { (to_ids.part(first..last), to_places.part(piece(p))) };
        let mut new = 0;
        for (e, place) in piece(p).zip(places) {
            if is_new(e) {
                ids[new] = MaybeUninit::new(indices[e]);
                new += 1;
            }
            // Before the first new one of a piece stand some of the last one before it.
            *place = MaybeUninit::new((first + new - 1) as u32);
        }
    };
    match n <= SERIAL {
        true => (0..n.div_ceil(PIECE)).for_each(one),
        false => (0..n.div_ceil(PIECE)).into_par_iter().for_each(one),
    }
    // SAFETY: every piece wrote as many ids as it counted, and all its places.
    Ok(unsafe { (written(ids, used), written(places, n)) })
}

/// Such a bucket is sorted in the nearest cache.
const SMALL: u32 = 8;

/// Sorted by their first bits all together, then those of each bucket by themselves.
fn of_any(operation: &'static str, indices: &[u64]) -> Result<(Vec<u64>, Vec<u32>)> {
    let n = indices.len();
    let largest = |some: &[u64]| some.iter().copied().max();
    let last = if n <= SERIAL { largest(indices) } else { indices.par_chunks(PIECE).filter_map(largest).max() };
    let last = last.unwrap_or(0);
    let bits = n.max(1).ilog2().saturating_sub(SMALL).min(12);
    let shift = (u64::BITS - last.leading_zeros()).saturating_sub(bits).min(63);
    let cut = Cut { shift, last, positions: usize::BITS - n.leading_zeros() };
    match shift + cut.positions <= u64::BITS {
        true => by_buckets::<u64>(operation, indices, cut),
        false => by_buckets::<u128>(operation, indices, cut),
    }
}

/// How indices are cut: first bits for the bucket, others for the key.
#[derive(Clone, Copy)]
struct Cut {
    /// Bits of an index behind those of its bucket.
    shift: u32,
    /// The largest index.
    last: u64,
    /// Bits of a position.
    positions: u32,
}

/// What is left of an index in its bucket, and where it stands: sorted by index.
trait Key: Copy + Ord + Send + Sync {
    fn new(rest: u64, position: usize, cut: Cut) -> Self;
    fn rest(self, cut: Cut) -> u64;
    fn position(self, cut: Cut) -> usize;
}
macro_rules! key { ($($t:ty)*) => {$(
    impl Key for $t {
        fn new(rest: u64, position: usize, cut: Cut) -> Self {
            (rest as $t) << cut.positions | position as $t
        }
        fn rest(self, cut: Cut) -> u64 {
            (self >> cut.positions) as u64
        }
        fn position(self, cut: Cut) -> usize {
            (self & ((1 << cut.positions) - 1)) as usize
        }
    }
)*}; }
key!(u64 u128);

/// Buckets of so many keys are cut once more.
const CUT: Range<usize> = if cfg!(test) { 4..1 << 10 } else { 48..1 << 10 };

/// Puts a bucket's keys in order: first by eight more bits, after which each is near its place, unless many share them.
fn sort_bucket<K: Key>(keys: &mut [K], cut: Cut) {
    const NEAR: u16 = 40;
    let digit = |key: K| (key.rest(cut) >> cut.shift.saturating_sub(8)) as usize & 255;
    let mut ends = [0u16; 256];
    let near = CUT.contains(&keys.len()) && {
        keys.iter().for_each(|key| ends[digit(*key)] += 1);
        ends.iter().all(|count| *count <= NEAR)
    };
    if !near {
        return if keys.len() <= SERIAL { keys.sort_unstable() } else { keys.par_sort_unstable() };
    }
    let mut sum = 0;
    ends.iter_mut().for_each(|end| sum += std::mem::replace(end, sum));
    let mut room = [keys[0]; CUT.end];
    for key in keys.iter() {
        let end = &mut ends[digit(*key)];
        room[*end as usize] = *key;
        *end += 1;
    }
    for (e, key) in room[..keys.len()].iter().enumerate() {
        let mut at = e;
        while at > 0 && keys[at - 1] > *key {
            keys[at] = keys[at - 1];
            at -= 1;
        }
        keys[at] = *key;
    }
}

fn by_buckets<K: Key>(operation: &'static str, indices: &[u64], cut: Cut) -> Result<(Vec<u64>, Vec<u32>)> {
    let n = indices.len();
    let bucket = |index: u64| (index >> cut.shift) as usize;
    let buckets = bucket(cut.last) + 1;
    let mut keys = unwritten::<K>(operation, n)?;
    let to_keys = Shared::new(&mut keys);
    let size = if n <= SERIAL { n } else { n.div_ceil(rayon::current_num_threads()) }.max(1);
    let chunks: Vec<Range<usize>> = (0..n.div_ceil(size)).map(|c| nth_piece(n, size, c)).collect();
    let each = |chunk: &Range<usize>, count: &mut dyn FnMut(usize)| {
        indices[chunk.clone()].iter().for_each(|i| count(bucket(*i)));
    };
    let put = |chunk: &Range<usize>, next: &mut [u64]| {
        for e in chunk.clone() {
            let rest = indices[e] & ((1 << cut.shift) - 1);
            let to = &mut next[bucket(indices[e])];
            // SAFETY: a counting sort: every place is handed out once and is below n.
            unsafe { to_keys.write(*to as usize, MaybeUninit::new(K::new(rest, e, cut))) };
            *to += 1;
        }
    };
    let starts = distribute(operation, buckets, &chunks, &each, &put)?;
    // SAFETY: every index was given a place of its own.
    let mut keys = unsafe { written(keys, n) };
    let keys = Shared::new(&mut keys);
    // SAFETY: buckets are disjoint; each is looked at once at a time.
    let of = |b: usize| unsafe { keys.part(starts[b] as usize..starts[b + 1] as usize) };
    let same = |x: &K, y: &K| x.rest(cut) == y.rest(cut);
    let sort = |b: usize| {
        let keys = of(b);
        sort_bucket(keys, cut);
        (keys.len() - keys.windows(2).filter(|k| same(&k[0], &k[1])).count()) as u64
    };
    let counts = in_pieces_of(operation, buckets, n, sort)?;
    let firsts = scan(operation, buckets, |b| counts[b])?;
    let used = firsts[buckets] as usize;
    check_places(operation, used as u128)?;
    let (mut ids, mut places) = (unwritten::<u64>(operation, used)?, unwritten::<u32>(operation, n)?);
    let (to_ids, to_places) = (Shared::new(&mut ids), Shared::new(&mut places));
    in_pieces_of(operation, buckets, n, |b| {
        let (keys, first) = (of(b), firsts[b] as usize);
        // SAFETY: buckets have ids of their own by the scan.
        let ids = unsafe { to_ids.part(first..firsts[b + 1] as usize) };
        let mut new = 0;
        for (e, key) in keys.iter().enumerate() {
            if e == 0 || !same(&keys[e - 1], key) {
                ids[new] = MaybeUninit::new((b as u64) << cut.shift | key.rest(cut));
                new += 1;
            }
            // SAFETY: every position stands in one key, and is below n.
            unsafe { to_places.write(key.position(cut), MaybeUninit::new((first + new - 1) as u32)) };
        }
    })?;
    // SAFETY: every bucket wrote as many ids as it counted, and a place for each of its keys.
    Ok(unsafe { (written(ids, used), written(places, n)) })
}

/// f of each bucket, by all threads where there is much to do.
fn in_pieces_of<T: Copy + Send>(
    operation: &'static str,
    buckets: usize,
    n: usize,
    f: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>> {
    let mut made = unwritten::<T>(operation, buckets)?;
    let one = |(b, to): (usize, &mut MaybeUninit<T>)| *to = MaybeUninit::new(f(b));
    match n <= SERIAL {
        true => made.iter_mut().enumerate().for_each(one),
        false => made.par_iter_mut().enumerate().with_min_len(16).for_each(one),
    }
    // SAFETY: all were written.
    Ok(unsafe { written(made, buckets) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    #[test]
    fn every_index_is_found_where_it_is_listed() {
        let mut random = Random::new(3, 0);
        let mut any = |n: u64, bound: u64| (0..n).map(|_| random.below(bound)).collect::<Vec<_>>();
        let mut cases = vec![vec![], vec![7], vec![u64::MAX - 1, 0], vec![5; 100]];
        cases.extend([any(1000, 50), any(1000, u64::MAX), any(5, 1 << 40), any(3000, 1 << 40)]);
        // All but one in a few buckets.
        cases.push(any(2000, 300).into_iter().chain([u64::MAX - 1]).collect());
        let sorted = cases.iter().map(|c| c.iter().copied().collect::<std::collections::BTreeSet<_>>());
        let sorted: Vec<Vec<u64>> = sorted.map(|c| c.into_iter().collect()).collect();
        for (indices, used) in cases.iter().zip(&sorted) {
            let mut ascending = indices.clone();
            ascending.sort_unstable();
            for indices in [indices, &ascending] {
                let (ids, places) = ranks("test", indices).unwrap();
                assert_eq!(&ids, used);
                assert!(indices.iter().zip(&places).all(|(i, p)| ids[*p as usize] == *i));
                assert_eq!(places.len(), indices.len());
            }
        }
    }
}
