//! Which places of an axis go where and which are meant: what extraction and assignment tell a backend.
use super::cpu;
use crate::error::Result;
use crate::storage::bitmap::Bitmap;
use rayon::slice::ParallelSliceMut;
use std::ops::Range;

/// No place: places are below it.
pub(crate) const NONE: u32 = u32::MAX;

/// Where places of an axis go on another one of `places` places. A place of the result comes from one place at most; a
/// place of the source may go to many.
#[derive(Debug)]
pub(crate) struct Moves {
    pub(crate) places: usize,
    pub(crate) how: How,
}
#[derive(Debug)]
pub(crate) enum How {
    /// Places from `from` on to places from `to` on.
    Range { from: u32, len: u32, to: u32 },
    /// (source, result), ascending. `ordered`: the results ascend as well, so that rows stay sorted.
    Pairs { pairs: Vec<(u32, u32)>, ordered: bool },
}

impl Moves {
    /// By pairs in any order.
    pub(crate) fn of_pairs(mut pairs: Vec<(u32, u32)>, places: usize) -> Self {
        if !cpu::ascends(pairs.len(), |k| pairs[k], |x, y| x <= y) {
            pairs.par_sort_unstable();
        }
        let ordered = cpu::ascends(pairs.len(), |k| pairs[k].1, |x, y| x < y);
        Self { places, how: How::Pairs { pairs, ordered } }
    }
    /// For every place of the result the one it comes from, or [`NONE`].
    pub(crate) fn sources(&self, operation: &'static str) -> Result<Vec<u32>> {
        match &self.how {
            How::Range { from, len, to } => {
                let (from, len, to) = (*from, *len, *to);
                let source = move |p: u32| p.checked_sub(to).filter(|k| *k < len).map_or(NONE, |k| from + k);
                cpu::in_pieces(operation, self.places, move |p| source(p as u32))
            }
            // SAFETY: a place of the result comes from one place at most.
            How::Pairs { pairs, .. } => unsafe {
                cpu::scattered(operation, (self.places, NONE), pairs.len(), |k| (pairs[k].1, pairs[k].0))
            },
        }
    }
    /// To how many places one goes at most.
    pub(crate) fn most(&self) -> usize {
        match &self.how {
            How::Range { .. } => 1,
            How::Pairs { pairs, .. } => {
                // Most often it is one.
                if cpu::ascends(pairs.len(), |k| pairs[k].0, |x, y| x < y) {
                    return pairs.len().min(1);
                }
                pairs.chunk_by(|x, y| x.0 == y.0).map(<[_]>::len).max().unwrap_or(0)
            }
        }
    }
    /// Whether rows stay sorted.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    pub(crate) fn ordered(&self) -> bool {
        match &self.how {
            How::Range { .. } => true,
            How::Pairs { ordered, .. } => *ordered,
        }
    }
}

/// Some places of an axis.
#[derive(Clone, Debug)]
pub(crate) enum Within {
    All,
    Range(Range<u32>),
    Some(Bitmap),
}

impl Within {
    #[inline(always)]
    pub(crate) fn has(&self, place: u32) -> bool {
        match self {
            Within::All => true,
            Within::Range(range) => range.contains(&place),
            Within::Some(bits) => bits.get(place),
        }
    }
}

/// Rows and columns: all pairs of them are meant.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub(crate) rows: Within,
    pub(crate) cols: Within,
}

/// What an assignment writes and what its mask and replace reach: the standard's assign reaches all of C, a row or column
/// assign its line, subassign the region.
#[derive(Clone, Debug)]
pub(crate) struct Assigned {
    pub(crate) region: Region,
    pub(crate) reach: Region,
    pub(crate) replace: bool,
}
