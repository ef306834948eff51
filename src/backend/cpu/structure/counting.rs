//! Counting sorts by all threads.
use crate::backend::cpu::parallel::{SERIAL, Shared, collected, each, each_mut, nth_piece, scan, unwritten, written};
use crate::error::Result;
use crate::memory;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Keys of which a thread adds up the counts at a time.
const KEYS: usize = if cfg!(test) { 1 << 4 } else { 1 << 13 };

/// A stable counting sort: element e, with key(e) below `keys`, goes to the place `put` is told. Elements are cut into
/// `chunks` that are counted and moved side by side; the result does not depend on the cut. The starts of the keys.
pub(crate) fn distribute(
    operation: &'static str,
    keys: usize,
    chunks: &[Range<usize>],
    each: &(dyn Fn(&Range<usize>, &mut dyn FnMut(usize)) + Sync),
    put: &(dyn Fn(&Range<usize>, &mut [u64]) + Sync),
) -> Result<Vec<u64>> {
    let made = collected(operation, chunks.len(), &|c| -> Result<Vec<u64>> {
        let mut counts = memory::filled(operation, keys, 0u64)?;
        each(&chunks[c], &mut |key| counts[key] += 1);
        Ok(counts)
    })?;
    let mut counts = memory::with_capacity(operation, chunks.len())?;
    for made in made {
        counts.push(made?);
    }
    let starts = begun(operation, keys, &mut counts)?;
    each_mut(&mut counts, &|c, next| put(&chunks[c], next));
    Ok(starts)
}

/// Where each key's elements begin, and the end of all; counts become where each chunk's next element of a key goes.
fn begun(operation: &'static str, keys: usize, counts: &mut [Vec<u64>]) -> Result<Vec<u64>> {
    let few = keys * counts.len() <= 2 * SERIAL || rayon::current_num_threads() < 2;
    let size = if few { keys.max(1) } else { KEYS };
    let piece = |p: usize| nth_piece(keys, size, p);
    let pieces = keys.div_ceil(size);
    let sum = |p: usize| counts.iter().map(|c| c[piece(p)].iter().sum::<u64>()).sum::<u64>();
    // The first begins at 0, whatever it has.
    let sums = if pieces < 2 { Vec::new() } else { collected(operation, pieces, &sum)? };
    let firsts = scan(operation, sums.len(), |p| sums[p])?;
    let mut starts = unwritten::<u64>(operation, keys + 1)?;
    starts[keys] = MaybeUninit::new(0);
    let (to, next) = (Shared::new(&mut starts), counts.iter_mut().map(|c| Shared::new(c)).collect::<Vec<_>>());
    each(pieces, &|p| {
        // SAFETY: pieces are disjoint, and the last alone has the end of all.
        let to = unsafe { to.part(piece(p).start..piece(p).end + usize::from(p + 1 == pieces)) };
        // SAFETY: as above.
        let mut next: Vec<_> = next.iter().map(|counts| unsafe { counts.part(piece(p)) }).collect();
        let mut sum = firsts[p];
        for (k, start) in to.iter_mut().enumerate() {
            *start = MaybeUninit::new(sum);
            for count in next.iter_mut().filter_map(|counts| counts.get_mut(k)) {
                sum += std::mem::replace(count, sum);
            }
        }
    });
    // SAFETY: the pieces have all keys, and the last one the end; without keys it is 0.
    Ok(unsafe { written(starts, keys + 1) })
}
