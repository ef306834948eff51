//! Where ascending indices stand among other ascending ones.
use super::ascending::below;
use crate::backend::cpu::parallel::{SERIAL, Shared, each_piece, unwritten, written};
use crate::backend::places::NONE;
use crate::error::Result;
use std::mem::MaybeUninit;

/// For each of the n indices `sought(0)`, `sought(1)`, … the place among `ids` where it stands, or [`NONE`]. Those sought
/// ascend, as `ids` do; some may be none. O(n · log(ids / n)), in parallel.
pub(crate) fn among(
    operation: &'static str,
    n: usize,
    sought: impl Fn(usize) -> Option<u64> + Sync,
    ids: &[u64],
) -> Result<Vec<u32>> {
    let mut places = unwritten::<u32>(operation, n)?;
    let to = Shared::new(&mut places);
    // Each piece goes on from where it found the one before.
    each_piece(n, SERIAL, &|piece| {
        let (mut at, first) = (0, piece.start);
        // SAFETY: pieces are disjoint.
        for (e, place) in unsafe { to.part(piece) }.iter_mut().enumerate() {
            let mut found = NONE;
            if let Some(id) = sought(first + e) {
                at += below(&ids[at..], id);
                if ids.get(at) == Some(&id) {
                    found = at as u32;
                    at += 1;
                }
            }
            *place = MaybeUninit::new(found);
        }
    });
    // SAFETY: every place was written.
    Ok(unsafe { written(places, n) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    #[test]
    fn every_index_is_found_where_it_stands() {
        let mut random = Random::new(4, 0);
        for (n, ids, bound) in [(0, 5, 9), (5, 0, 9), (300, 200, 400), (50, 5000, 1 << 40), (2000, 30, 1 << 12)] {
            let mut some = |n: u64| {
                let mut ids: Vec<u64> = (0..n).map(|_| random.below(bound)).collect();
                ids.sort_unstable();
                ids.dedup();
                ids
            };
            let (sought, ids) = (some(n), some(ids));
            // Every third is none.
            let one = |e: usize| Some(sought[e]).filter(|_| !e.is_multiple_of(3));
            let places = among("test", sought.len(), one, &ids).unwrap();
            let place = |id: u64| ids.binary_search(&id).map_or(NONE, |p| p as u32);
            let expected: Vec<u32> = (0..sought.len()).map(|e| one(e).map_or(NONE, place)).collect();
            assert_eq!(places, expected);
        }
    }
}
