//! Rows taken and their columns moved: sub-matrices, and matrices spread over a part of wider ones.
use super::ascending::below;
use super::spans::{copied, leading};
use crate::algebra::Scalar;
use crate::backend::cpu::assemble::assemble;
use crate::backend::cpu::blocks::{Block, partition, quantiles, target};
use crate::backend::cpu::parallel::{SERIAL, scan};
use crate::backend::cpu::rows::Rows;
use crate::backend::cpu::scatter::{scattered, starts};
use crate::backend::host::HostCsr;
use crate::backend::places::{How, Moves, NONE};
use crate::error::Result;
use crate::memory::{self, Buffer};
use rayon::prelude::*;
use std::ops::Range;

/// Finds where a column goes.
enum Lookup<'a> {
    /// Where each column goes, or `NONE`: to one place at most.
    Map(Buffer<u32>),
    /// starts[c] .. starts[c + 1] are a column's pairs.
    Starts { starts: Vec<u64>, pairs: &'a [(u32, u32)] },
    /// Few pairs of many columns: they are searched for.
    Search(&'a [(u32, u32)]),
}

impl<'a> Lookup<'a> {
    /// A column goes to `most` places at most; `entries` columns of `nrows` rows will be asked for.
    fn new(
        operation: &'static str,
        (pairs, most): (&'a [(u32, u32)], usize),
        ncols: usize,
        (nrows, entries): (usize, usize),
    ) -> Result<Self> {
        // A table that is larger than the work is not worth making.
        if ncols / 4 > entries + pairs.len() {
            return Ok(Lookup::Search(pairs));
        }
        // Or where few pairs are searched for in each row.
        if pairs.len().saturating_mul(nrows).saturating_mul(FEW) < entries + ncols {
            return Ok(Lookup::Search(pairs));
        }
        if most <= 1 {
            // SAFETY: each column goes to one place at most.
            let map = unsafe { scattered(operation, (ncols, NONE), pairs.len(), |k| pairs[k])? };
            return Ok(Lookup::Map(map.into()));
        }
        let starts = starts(operation, ncols, pairs.len(), |k| pairs[k].0 as usize)?;
        Ok(Lookup::Starts { starts, pairs })
    }
    /// The pairs of a column.
    #[inline(always)]
    fn pairs(&self, column: u32) -> &'a [(u32, u32)] {
        match self {
            Lookup::Map(_) => &[],
            Lookup::Starts { starts, pairs } => {
                &pairs[starts[column as usize] as usize..starts[column as usize + 1] as usize]
            }
            Lookup::Search(pairs) => {
                let first = pairs.partition_point(|p| p.0 < column);
                &pairs[first..first + pairs[first..].partition_point(|p| p.0 == column)]
            }
        }
    }
}

/// So many times as many entries as pairs: a search for each pair is less work than a look at each entry.
const FEW: usize = 16;

/// The columns and values of a row, where they are in the block.
fn part<'a, T>(a: &'a HostCsr<T>, block: &Block, range: Range<usize>) -> (&'a [u32], &'a [T]) {
    let range = if block.whole { range } else { block.narrow(&a.pattern, range) };
    (&a.pattern.indices[range.clone()], &a.values[range])
}

/// The pairs of columns from the first of these to the last.
fn near<'a>(pairs: &'a [(u32, u32)], columns: &[u32]) -> &'a [(u32, u32)] {
    let [first, .., last] = columns else { return pairs };
    let start = pairs.partition_point(|p| p.0 < *first);
    &pairs[start..start + pairs[start..].partition_point(|p| p.0 <= *last)]
}

pub(crate) fn gather<T: Scalar>(a: &HostCsr<T>, rows: Option<&[u32]>, moves: &Moves) -> Result<HostCsr<T>> {
    let operation = "extract";
    let pattern = &a.pattern;
    let nrows = rows.map_or(pattern.nrows, <[u32]>::len);
    let source = |r: usize| match rows {
        None => pattern.range(r),
        Some(rows) if rows[r] == NONE => 0..0,
        Some(rows) => pattern.range(rows[r] as usize),
    };
    let (pairs, ordered) = match &moves.how {
        How::Range { from, len, to } => {
            let (from, end) = (*from, from + len);
            // Rows are often taken whole.
            let before = |r: usize| match pattern.indices[source(r)].first() {
                Some(j) if *j < from => leading(pattern, source(r), from),
                _ => 0,
            };
            let count = |r: usize| match pattern.indices[source(r)].last() {
                Some(j) if *j >= end => leading(pattern, source(r), end) - before(r),
                _ => source(r).len() - before(r),
            };
            let start = |r: usize, _: usize| source(r).start + before(r);
            return copied(operation, a, (nrows, moves.places), to.wrapping_sub(from), &count, &start);
        }
        How::Pairs { pairs, ordered } => (&pairs[..], *ordered),
    };
    let most = moves.most();
    // Entries of the rows before each.
    let listed = match rows {
        Some(_) => Some(scan(operation, nrows, |r| source(r).len() as u64)?),
        None => None,
    };
    let offsets = listed.as_deref().unwrap_or(&pattern.offsets);
    let lookup = Lookup::new(operation, (pairs, most), pattern.ncols, (nrows, offsets[nrows] as usize))?;
    let kernel = |block: &Block, out: &mut Rows<T>, run: &mut Vec<(u32, T)>| {
        for r in block.rows.clone() {
            let (columns, values) = part(a, block, source(r));
            if let (Lookup::Map(map), true) = (&lookup, ordered) {
                out.reserve(operation, columns.len())?;
                for (c, x) in columns.iter().zip(values) {
                    let to = map[*c as usize];
                    // SAFETY: room for all was reserved.
                    unsafe { out.push_if(to != NONE, to, *x) };
                }
                out.end_row();
                continue;
            }
            // Fewer pairs than entries here: these are looked for among those.
            let searched = match &lookup {
                Lookup::Search(pairs) => Some(near(pairs, columns)).filter(|pairs| pairs.len() < columns.len()),
                _ => None,
            };
            let count = match (searched, &lookup) {
                (Some(pairs), _) => pairs.len(),
                (None, Lookup::Map(_)) => columns.len(),
                _ => columns.iter().map(|c| lookup.pairs(*c).len()).sum(),
            };
            out.reserve(operation, count)?;
            if ordered && searched.is_none() {
                for (c, x) in columns.iter().zip(values) {
                    for (_, to) in lookup.pairs(*c) {
                        // SAFETY: room was reserved.
                        unsafe { out.push_unchecked(*to, *x) };
                    }
                }
            } else {
                run.clear();
                memory::reserve(operation, run, count)?;
                match (searched, &lookup) {
                    (Some(pairs), _) => {
                        let mut e = 0;
                        run.extend(pairs.iter().filter_map(|(from, to)| {
                            e += below(&columns[e..], *from);
                            (columns.get(e) == Some(from)).then(|| (*to, values[e]))
                        }));
                    }
                    (None, Lookup::Map(map)) => {
                        let moved = columns.iter().zip(values).map(|(c, x)| (map[*c as usize], *x));
                        run.extend(moved.filter(|(to, _)| *to != NONE));
                    }
                    _ => {
                        for (c, x) in columns.iter().zip(values) {
                            run.extend(lookup.pairs(*c).iter().map(|(_, to)| (*to, *x)));
                        }
                    }
                }
                if ordered {
                    // The pairs ascend by where they go.
                } else if run.len() < SERIAL {
                    run.sort_unstable_by_key(|e| e.0)
                } else {
                    run.par_sort_unstable_by_key(|e| e.0)
                }
                for (to, x) in run.iter() {
                    // SAFETY: room was reserved.
                    unsafe { out.push_unchecked(*to, *x) };
                }
            }
            out.end_row();
        }
        Ok(())
    };
    let before = |r: usize| offsets[r] + r as u64;
    // Where rows are sorted anew they stay whole.
    let cuts = |r: usize, parts: usize| {
        let row = if rows.is_some_and(|rows| rows[r] == NONE) { 0 } else { rows.map_or(r, |rows| rows[r] as usize) };
        if ordered && !source(r).is_empty() { quantiles(operation, &[pattern], row, parts) } else { Ok(Vec::new()) }
    };
    let shape = (nrows, pattern.ncols);
    let blocks = partition(operation, shape, target(before(nrows)), &before, &cuts)?;
    // A place of the result has one source: there are at most so many entries.
    let bound = u128::from(offsets[nrows]) * most as u128;
    let bound = u64::try_from(bound.min(nrows as u128 * moves.places as u128)).unwrap_or(u64::MAX);
    assemble::<T, Vec<(u32, T)>>(operation, (nrows, moves.places), bound, &blocks, &kernel)
}
