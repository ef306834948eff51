//! Where ascending indices stand among other ascending ones.
use super::ascending::below;
use crate::backend::cpu::parallel::{SERIAL, Shared, each_piece, unwritten, written};
use crate::backend::cpu::scatter::all_pieces;
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

/// So many times as many ids as those sought: a search for each is less work than a look at all.
const MANY: usize = 8;

/// Visits ascending indices, from `sought[0]` on, with where each is to be looked for among others, in turn. Which of two is less nobody
/// guesses: an index may be visited more than once, and the last visit counts.
#[inline(always)]
fn side_by_side(sought: &[u64], ids: &[u64], mut visit: impl FnMut(usize, Option<usize>)) {
    let Some(first) = sought.first() else { return };
    let (mut p, mut q) = (0, ids.partition_point(|id| id < first));
    while p < sought.len() && q < ids.len() {
        let (x, y) = (sought[p], ids[q]);
        visit(p, (x == y).then_some(q));
        (p, q) = (p + (x <= y) as usize, q + (y <= x) as usize);
    }
    (p..sought.len()).for_each(|p| visit(p, None));
}

/// As [`among`] for indices that are listed, each once.
pub(crate) fn listed_among(operation: &'static str, sought: &[u64], ids: &[u64]) -> Result<Vec<u32>> {
    if ids.len() / MANY > sought.len() {
        return among(operation, sought.len(), |k| Some(sought[k]), ids);
    }
    let mut places = unwritten::<u32>(operation, sought.len())?;
    let to = Shared::new(&mut places);
    each_piece(sought.len(), SERIAL, &|piece| {
        // SAFETY: pieces are disjoint.
        let to = unsafe { to.part(piece.clone()) };
        side_by_side(&sought[piece], ids, |p, q| _ = to[p].write(q.map_or(NONE, |q| q as u32)));
    });
    // SAFETY: all were visited.
    Ok(unsafe { written(places, sought.len()) })
}

/// Whether all of these ascending indices are among others, as far as it is worth a look: some of them are asked for first.
pub(crate) fn all_among(few: &[u64], many: &[u64]) -> bool {
    const PROBES: usize = 16;
    let (mut probes, near) = (few.iter().step_by(few.len().div_ceil(PROBES).max(1)), many.len() / MANY <= few.len());
    probes.all(|id| many.binary_search(id).is_ok())
        && all_pieces(few.len(), &|piece| {
            let few = &few[piece];
            if near {
                let mut met = 0;
                side_by_side(few, many, |_, q| met += q.is_some() as usize);
                return met == few.len();
            }
            let mut rest = few.first().map_or(many, |first| &many[many.partition_point(|id| id < first)..]);
            few.iter().all(|id| {
                rest = &rest[below(rest, *id)..];
                rest.first() == Some(id)
            })
        })
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
            let expected: Vec<u32> = sought.iter().map(|id| place(*id)).collect();
            assert_eq!(listed_among("test", &sought, &ids).unwrap(), expected);
            assert_eq!(all_among(&sought, &ids), expected.iter().all(|place| *place != NONE));
            let every = |step| ids.iter().copied().step_by(step).collect::<Vec<u64>>();
            for mut some in [every(1), every(3), every(40)] {
                assert!(all_among(&some, &ids));
                if let Some(last) = some.last_mut() {
                    *last += 1;
                    assert_eq!(all_among(&some, &ids), ids.contains(some.last().unwrap()));
                }
            }
        }
    }
}
