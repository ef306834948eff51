//! Columns moved: sub-matrices, and matrices spread over a part of wider ones.
use super::assemble::{Block, Rows, assemble, partition, quantiles, target};
use super::parallel::SERIAL;
use crate::algebra::Scalar;
use crate::backend::host::HostCsr;
use crate::backend::places::{How, Moves};
use crate::error::Result;
use crate::memory;
use rayon::prelude::*;
use std::ops::Range;

/// Finds where a column goes.
enum Lookup<'a> {
    Range {
        columns: Range<u32>,
        to: u32,
    },
    /// starts[c] .. starts[c + 1] are a column's pairs.
    Starts {
        starts: Vec<u32>,
        pairs: &'a [(u32, u32)],
    },
    /// Few pairs of many columns: they are searched for.
    Search(&'a [(u32, u32)]),
}

impl<'a> Lookup<'a> {
    /// `entries` columns will be asked for.
    fn new(operation: &'static str, moves: &'a Moves, ncols: usize, entries: usize) -> Result<Self> {
        let pairs = match &moves.how {
            How::Range { from, len, to } => return Ok(Lookup::Range { columns: *from..from + len, to: *to }),
            How::Pairs { pairs, .. } => pairs,
        };
        // Counts beyond 2³² do not fit the starts; a table that is larger than the work is not worth making.
        if ncols / 4 > entries + pairs.len() || u32::try_from(pairs.len()).is_err() {
            return Ok(Lookup::Search(pairs));
        }
        let mut starts = memory::filled(operation, ncols + 1, 0u32)?;
        pairs.iter().for_each(|(from, _)| starts[*from as usize + 1] += 1);
        (0..ncols).for_each(|c| starts[c + 1] += starts[c]);
        Ok(Lookup::Starts { starts, pairs })
    }
    /// The pairs of a column.
    #[inline(always)]
    fn pairs(&self, column: u32) -> &'a [(u32, u32)] {
        match self {
            Lookup::Range { .. } => &[],
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

pub(super) fn move_columns<T: Scalar>(a: &HostCsr<T>, moves: &Moves) -> Result<HostCsr<T>> {
    let operation = "extract";
    let lookup = Lookup::new(operation, moves, a.pattern.ncols, a.pattern.nnz())?;
    let ordered = moves.ordered();
    let kernel = |block: &Block, rows: &mut Rows<T>, run: &mut Vec<(u32, T)>| {
        for r in block.rows.clone() {
            let range = block.range(&a.pattern, r);
            let (columns, values) = (&a.pattern.indices[range.clone()], &a.values[range]);
            if let Lookup::Range { columns: wanted, to } = &lookup {
                let first = columns.partition_point(|c| *c < wanted.start);
                let len = columns[first..].partition_point(|c| *c < wanted.end);
                rows.reserve(operation, len)?;
                for (c, x) in columns[first..first + len].iter().zip(&values[first..]) {
                    // SAFETY: room was reserved.
                    unsafe { rows.push_unchecked(c - wanted.start + to, *x) };
                }
            } else if ordered {
                rows.reserve(operation, columns.iter().map(|c| lookup.pairs(*c).len()).sum())?;
                for (c, x) in columns.iter().zip(values) {
                    for (_, to) in lookup.pairs(*c) {
                        // SAFETY: room was reserved.
                        unsafe { rows.push_unchecked(*to, *x) };
                    }
                }
            } else {
                run.clear();
                memory::reserve(operation, run, columns.iter().map(|c| lookup.pairs(*c).len()).sum())?;
                for (c, x) in columns.iter().zip(values) {
                    run.extend(lookup.pairs(*c).iter().map(|(_, to)| (*to, *x)));
                }
                if run.len() < SERIAL {
                    run.sort_unstable_by_key(|e| e.0)
                } else {
                    run.par_sort_unstable_by_key(|e| e.0)
                }
                rows.reserve(operation, run.len())?;
                for (to, x) in run.iter() {
                    // SAFETY: room was reserved.
                    unsafe { rows.push_unchecked(*to, *x) };
                }
            }
            rows.end_row();
        }
        Ok(())
    };
    let pattern = &a.pattern;
    let before = |r: usize| pattern.offsets[r] + r as u64;
    // Where rows are sorted anew they stay whole.
    let cuts = |row: usize, parts: usize| {
        if ordered { quantiles(operation, &[pattern], row, parts) } else { Ok(Vec::new()) }
    };
    let shape = (pattern.nrows, pattern.ncols);
    let blocks = partition(operation, shape, target(before(pattern.nrows)), &before, &cuts)?;
    let bound = match &moves.how {
        How::Range { .. } => pattern.nnz() as u64,
        How::Pairs { .. } => pattern.indices.par_iter().map(|c| lookup.pairs(*c).len() as u64).sum(),
    };
    assemble::<T, Vec<(u32, T)>>(operation, (pattern.nrows, moves.places), bound, &blocks, &kernel)
}
