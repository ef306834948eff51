//! What goes to places that are told one by one, found and written by all threads: tables, bits, lists of what is kept.
use super::parallel::{
    SERIAL, Shared, collected, each, each_mut, each_piece, filled, in_pieces, nth_piece, scan, unwritten, written,
};
use crate::error::Result;
use crate::memory::{self, Buffer};
use crate::storage::bitmap;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Entries that one thread puts to their places at a time; fewer than two such pieces are left to one thread.
const PIECE: usize = if cfg!(test) { 1 << 4 } else { 1 << 13 };

/// So many threads move a vector to new room faster than one lengthens it.
const MANY: usize = if cfg!(test) { 2 } else { 4 };

/// Whether `holds` of every piece of 0..n.
pub(crate) fn all_pieces(n: usize, holds: &(dyn Fn(Range<usize>) -> bool + Sync)) -> bool {
    let wrong = AtomicBool::new(false);
    each_piece(n, SERIAL, &|piece| {
        if !wrong.load(Ordering::Relaxed) && !holds(piece) {
            wrong.store(true, Ordering::Relaxed);
        }
    });
    !wrong.into_inner()
}

/// Whether f(k), f(k + 1) is in order for all neighbours of 0..n.
pub(crate) fn ascends<T>(n: usize, f: impl Fn(usize) -> T + Sync, in_order: impl Fn(&T, &T) -> bool + Sync) -> bool {
    // A piece begins with the last one before it.
    all_pieces(n, &|piece| (piece.start.saturating_sub(1)..piece.end).map(&f).is_sorted_by(&in_order))
}

/// What f(0), f(1), … f(n - 1) give, where they give something, in order: asked twice where there are many, and threads.
pub(crate) fn kept<T: Send + Sync>(
    operation: &'static str,
    n: usize,
    f: impl Fn(usize) -> Option<T> + Sync,
) -> Result<Vec<T>> {
    if n <= SERIAL || rayon::current_num_threads() < 2 {
        let mut made = memory::with_capacity(operation, n)?;
        made.extend((0..n).filter_map(f));
        memory::trim(&mut made);
        return Ok(made);
    }
    let piece = |p: usize| nth_piece(n, PIECE, p);
    let count = |p: usize| piece(p).filter(|k| f(*k).is_some()).count() as u64;
    let counts = collected(operation, n.div_ceil(PIECE), &count)?;
    let starts = scan(operation, counts.len(), |p| counts[p])?;
    let total = starts[counts.len()] as usize;
    let mut made = unwritten::<T>(operation, total)?;
    let to = Shared::new(&mut made);
    each(counts.len(), &|p| {
        // SAFETY: pieces have disjoint places by the scan of their counts.
        let to = unsafe { to.part(starts[p] as usize..starts[p + 1] as usize) };
        let mut written = 0;
        for (to, x) in to.iter_mut().zip(piece(p).filter_map(&f)) {
            *to = MaybeUninit::new(x);
            written += 1;
        }
        assert!(written == to.len());
    });
    // SAFETY: every piece wrote as many as it counted, as asserted.
    Ok(unsafe { written(made, total) })
}

/// n times `rest`, but `at(k)` = (place, value) for each k below `count`.
/// # Safety
/// No two places are the same.
pub(crate) unsafe fn scattered<T: Copy + Send + Sync>(
    operation: &'static str,
    (n, rest): (usize, T),
    count: usize,
    at: impl Fn(usize) -> (u32, T) + Sync,
) -> Result<Vec<T>> {
    let mut made = filled(operation, n, rest)?;
    let to = Shared::new(&mut made);
    each_piece(count, SERIAL, &|piece| {
        for (place, value) in piece.map(&at) {
            assert!((place as usize) < n);
            // SAFETY: inside by the line above; nobody else's by the contract.
            unsafe { to.write(place as usize, value) };
        }
    });
    Ok(made)
}

/// How many of n ascending keys come before each of 0, 1, … `keys`: where the entries of a key begin.
pub(crate) fn starts(
    operation: &'static str,
    keys: usize,
    n: usize,
    key: impl Fn(usize) -> usize + Sync,
) -> Result<Vec<u64>> {
    let mut made = unwritten::<u64>(operation, keys + 1)?;
    let to = Shared::new(&mut made);
    // An entry begins its key and those before it that have none.
    let begun = |e: usize| if e == 0 { 0 } else { key(e - 1) + 1 };
    each_piece(n, SERIAL, &|piece| {
        for e in piece {
            let (first, end) = (begun(e), begun(e + 1));
            assert!(first <= end);
            // SAFETY: keys ascend, as all these lines assert: each is begun by one entry.
            unsafe { to.part(first..end) }.fill(MaybeUninit::new(e as u64));
        }
    });
    let behind = begun(n);
    each_piece(keys + 1 - behind, SERIAL, &|piece| {
        // SAFETY: no entry begins these, and pieces are disjoint.
        unsafe { to.part(behind + piece.start..behind + piece.end) }.fill(MaybeUninit::new(n as u64));
    });
    // SAFETY: all were begun by an entry or are behind the last.
    Ok(unsafe { written(made, keys + 1) })
}

/// A bit for each of n places: those that `at(k)` gives for k below `count` are set.
pub(crate) fn marked(
    operation: &'static str,
    n: usize,
    count: usize,
    at: impl Fn(usize) -> Option<u32> + Sync,
) -> Result<Vec<u64>> {
    let words = n.div_ceil(64);
    if count < 2 * PIECE || rayon::current_num_threads() < 2 {
        let mut words = memory::filled(operation, words, 0u64)?;
        (0..count).filter_map(at).for_each(|p| words[p as usize >> 6] |= 1 << (p & 63));
        return Ok(words);
    }
    let bits = in_pieces(operation, words, |_| AtomicU64::new(0))?;
    each_piece(count, PIECE, &|piece| {
        // Neighbours often share a word.
        let (mut word, mut own) = (0, 0);
        for place in piece.filter_map(&at) {
            if place as usize >> 6 != word {
                bits[word].fetch_or(own, Ordering::Relaxed);
                (word, own) = (place as usize >> 6, 0);
            }
            own |= 1 << (place & 63);
        }
        if own != 0 {
            bits[word].fetch_or(own, Ordering::Relaxed);
        }
    });
    in_pieces(operation, words, |w| bits[w].load(Ordering::Relaxed))
}

/// The places whose bits are set, ascending.
pub(crate) fn unmarked(operation: &'static str, words: &[u64]) -> Result<Vec<u32>> {
    const WORDS: usize = PIECE / 16;
    let piece = |p: usize| nth_piece(words.len(), WORDS, p);
    let count = |p: usize| words[piece(p)].iter().map(|w| u64::from(w.count_ones())).sum::<u64>();
    let starts = scan(operation, words.len().div_ceil(WORDS), count)?;
    let total = starts.last().copied().unwrap_or(0) as usize;
    let mut made = unwritten::<u32>(operation, total)?;
    let to = Shared::new(&mut made);
    let list = |p: usize| {
        // SAFETY: pieces have disjoint places by the scan of their counts.
        let to = unsafe { to.part(starts[p] as usize..starts[p + 1] as usize) };
        bitmap::listed(piece(p).start << 6, words[piece(p)].iter().copied(), to);
    };
    let all = starts.len() - 1;
    match total < 4 * PIECE && words.len() < SERIAL {
        true => (0..all).for_each(list),
        false => each(all, &list),
    }
    // SAFETY: every piece wrote as many as it counted.
    Ok(unsafe { written(made, total) })
}

/// Some entries of a row and the words and values of the places where they go.
pub(crate) struct Placed<'a, T> {
    pub(crate) entries: Range<usize>,
    /// The place of the first bit and the first value.
    pub(crate) first: usize,
    pub(crate) words: &'a mut [u64],
    pub(crate) values: &'a mut [T],
}

/// Ascending places cut between words, so that threads put bits and values of their own: `put` of every piece, added up. There may be
/// values alone, without words.
pub(crate) fn placed<T: Send>(
    operation: &'static str,
    places: &[u32],
    (mut words, mut values): (&mut [u64], &mut [T]),
    put: &(dyn Fn(Placed<'_, T>) -> isize + Sync),
) -> Result<isize> {
    let n = places.len();
    if n < 2 * PIECE || rayon::current_num_threads() < 2 {
        return Ok(put(Placed { entries: 0..n, first: 0, words, values }));
    }
    let mut parts = memory::with_capacity(operation, n.div_ceil(PIECE))?;
    let (mut start, mut first) = (0, 0);
    for end in (PIECE..n).step_by(PIECE).chain([n]) {
        // The word of the entry at the cut is the next one's.
        let (end, last) = match places.get(end) {
            Some(place) => {
                let last = *place as usize >> 6 << 6;
                (start + places[start..end].partition_point(|p| (*p as usize) < last), last)
            }
            None => (n, first + values.len()),
        };
        let (own, behind) = words.split_at_mut((last - first).div_ceil(64).min(words.len()));
        let (slots, rest) = values.split_at_mut(last - first);
        parts.push((Some(Placed { entries: start..end, first, words: own, values: slots }), 0));
        (words, values, start, first) = (behind, rest, end, last);
    }
    each_mut(&mut parts, &|_, (part, count)| *count = part.take().map_or(0, put));
    Ok(parts.iter().map(|(_, count)| count).sum())
}

/// Puts `value` behind what the vector has, until there are n. Where that is much longer and threads are many it is in new room, which
/// all touch; an allocator may copy what was there by one. What is a little longer again and again is moved rarely.
pub(crate) fn lengthened<T: Copy + Send + Sync>(
    operation: &'static str,
    v: &mut Buffer<T>,
    n: usize,
    value: T,
) -> Result<()> {
    let len = v.len().min(n);
    let anew = n > SERIAL && n > v.capacity() + v.capacity() / 2 && rayon::current_num_threads() >= MANY;
    if !anew {
        memory::reserve(operation, v, n - len)?;
        let to = Shared::new(&mut v.spare_capacity_mut()[..n - len]);
        // SAFETY: pieces are disjoint.
        each_piece(n - len, SERIAL, &|piece| unsafe { to.part(piece) }.fill(MaybeUninit::new(value)));
        // SAFETY: there is room for n, and all behind the first `len` were written.
        unsafe { v.set_len(n) };
        return Ok(());
    }
    let (old, mut made) = (&v[..len], unwritten::<T>(operation, n)?);
    let to = Shared::new(&mut made);
    each_piece(n, SERIAL, &|piece| {
        let copied = piece.start.min(len)..piece.end.min(len);
        // SAFETY: pieces are disjoint.
        let (same, new) = unsafe { to.part(piece) }.split_at_mut(copied.len());
        same.write_copy_of_slice(&old[copied]);
        new.fill(MaybeUninit::new(value));
    });
    // SAFETY: all pieces were written.
    *v = unsafe { written(made, n) }.into();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    /// Numbers around the borders of pieces.
    const SIZES: [usize; 9] = [0, 1, PIECE - 1, PIECE, 2 * PIECE, SERIAL - 1, SERIAL + 1, 3 * SERIAL, 700];

    fn on_threads(check: impl Fn() + Sync) {
        for threads in [1, 2, 8] {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&check);
        }
    }

    #[test]
    fn what_is_kept_is_in_order() {
        on_threads(|| {
            for n in SIZES {
                for of in [1, 3, 1000] {
                    let keep = |k: usize| (k % of == of - 1).then_some(2 * k);
                    assert_eq!(kept("test", n, keep).unwrap(), (0..n).filter_map(keep).collect::<Vec<_>>());
                }
                assert!(ascends(n, |k| k, |x, y| x < y));
                for wrong in 1..n {
                    assert!(!ascends(n, |k| if k == wrong { 0 } else { k + 1 }, |x, y| x < y), "{wrong} of {n}");
                }
            }
        });
    }

    #[test]
    fn bits_are_set_and_listed() {
        on_threads(|| {
            let mut random = Random::new(8, 0);
            for n in SIZES {
                for count in SIZES {
                    let places: Vec<u32> =
                        (0..if n == 0 { 0 } else { count }).map(|_| random.below(n as u64) as u32).collect();
                    let at = |k: usize| Some(places[k]).filter(|p| p % 5 != 2);
                    let words = marked("test", n, places.len(), at).unwrap();
                    let mut used: Vec<u32> = (0..places.len()).filter_map(at).collect();
                    used.sort_unstable();
                    used.dedup();
                    assert_eq!(words.len(), n.div_ceil(64));
                    assert_eq!(unmarked("test", &words).unwrap(), used);
                    let keys = starts("test", n, used.len(), |e| used[e] as usize).unwrap();
                    let expected = (0..=n).map(|key| used.partition_point(|p| (*p as usize) < key) as u64);
                    assert_eq!(keys, expected.collect::<Vec<_>>());
                    let mut same: Vec<u32> = (0..places.len()).filter_map(at).collect();
                    same.sort_unstable();
                    let keys = starts("test", n, same.len(), |e| same[e] as usize).unwrap();
                    let expected = (0..=n).map(|key| same.partition_point(|p| (*p as usize) < key) as u64);
                    assert_eq!(keys, expected.collect::<Vec<_>>());
                    // Words and values of the places, each by one thread.
                    let (mut bits, mut values) = (vec![0u64; n.div_ceil(64)], vec![0u32; n]);
                    let put = |part: Placed<'_, u32>| {
                        for e in part.entries.clone() {
                            let place = used[e] as usize - part.first;
                            part.words[place >> 6] |= 1 << (place & 63);
                            part.values[place] += 1 + e as u32;
                        }
                        part.entries.len() as isize
                    };
                    let met = placed("test", &used, (&mut bits, &mut values), &put).unwrap();
                    assert_eq!(met, used.len() as isize);
                    assert_eq!(bits, words);
                    assert!(used.iter().zip(1..).all(|(place, e)| values[*place as usize] == e));
                    // SAFETY: each place is listed once.
                    let table = unsafe { scattered("test", (n, 0), used.len(), |e| (used[e], 1 + e as u32)).unwrap() };
                    assert_eq!(table, values);
                }
            }
        });
    }

    #[test]
    fn vectors_are_lengthened() {
        on_threads(|| {
            for from in SIZES {
                for more in SIZES {
                    let mut v = Buffer::from((0..from).collect::<Vec<usize>>());
                    lengthened("test", &mut v, from + more, 7).unwrap();
                    assert!(v[..].iter().copied().eq((0..from).chain((0..more).map(|_| 7))), "{from} {more}");
                }
            }
        });
    }
}
