//! The positions of a product, counted first and then written to arrays of their size: slower than computing them once,
//! and beside them takes a set of columns a thread.
use super::accumulator::Columns;
use super::analysis::OnMask;
use super::need::Budget;
use crate::backend::cpu::workers::{Parts, share_out};
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;

/// The columns of one row: a bit each, or a list where that is less.
#[derive(Debug)]
enum Set {
    Bits(Columns),
    List(Vec<u32>),
}

/// The operands' positions, B by rows.
#[derive(Clone, Copy)]
pub(crate) struct Positions<'a> {
    pub(crate) a: &'a Pattern,
    pub(crate) b: &'a Pattern,
    pub(crate) mask: OnMask<'a>,
}

impl Set {
    /// Bytes, for so many columns and products of a row.
    fn bytes(columns: usize, largest: u64) -> u64 {
        Columns::bytes(columns).min(largest.saturating_mul(4))
    }
    fn new(operation: &'static str, columns: usize, largest: u64) -> Result<Self> {
        if Columns::bytes(columns) <= largest.saturating_mul(4) {
            let mut bits = Columns::default();
            bits.grow(operation, columns)?;
            return Ok(Set::Bits(bits));
        }
        Ok(Set::List(memory::with_capacity(operation, usize::try_from(largest).unwrap_or(usize::MAX))?))
    }
    /// The columns of row i that the mask admits, ascending, each given to `each`.
    fn row(&mut self, p: &Positions, i: usize, mut each: impl FnMut(u32)) {
        let mask = p.mask.map(|m| (m.pattern.row(i), m.complement));
        if mask.is_some_and(|m| m.0.is_empty() && !m.1) {
            return;
        }
        match self {
            Set::List(list) => {
                list.clear();
                p.a.row(i).iter().for_each(|k| list.extend_from_slice(p.b.row(*k as usize)));
                list.sort_unstable();
                list.dedup();
                list.iter().filter(|j| admits(mask, **j)).for_each(|j| each(*j));
            }
            Set::Bits(bits) => {
                let mut span = (u32::MAX, 0);
                for k in p.a.row(i) {
                    let row = p.b.row(*k as usize);
                    if let [first, .., last] | [first @ last] = row {
                        span = (span.0.min(*first), span.1.max(*last));
                    }
                    // SAFETY: columns are below ncols in every pattern, for which there is room.
                    row.iter().for_each(|j| unsafe {
                        bits.insert(*j);
                    });
                }
                bits.drain(span, |first, mut word| {
                    while word != 0 {
                        let j = first + word.trailing_zeros();
                        if admits(mask, j) {
                            each(j);
                        }
                        word &= word - 1;
                    }
                });
            }
        }
    }
}

fn admits(mask: Option<(&[u32], bool)>, j: u32) -> bool {
    mask.is_none_or(|(row, complement)| row.binary_search(&j).is_ok() != complement)
}

/// The positions of the product, with arrays of their size; `value` is the size of what will be stored at each, and counts
/// for what is needed.
pub(crate) fn symbolic(
    operation: &'static str,
    p: &Positions,
    largest: u64,
    value: usize,
    budget: &Budget,
) -> Result<Pattern> {
    let (rows, columns) = (p.a.nrows, p.b.ncols);
    let bytes = Set::bytes(columns, largest);
    let offsets_bytes = (rows as u64 + 1) * 8;
    let threads = budget.workers(operation, offsets_bytes, bytes)?;
    let mut offsets = memory::filled(operation, rows + 1, 0u64)?;
    let mut sets = memory::with_capacity(operation, threads)?;
    for _ in 0..threads {
        sets.push(Set::new(operation, columns, largest)?);
    }
    {
        let counts = Parts::of(&mut offsets[1..]);
        share_out(&mut sets, rows, &|set, range| {
            // SAFETY: ranges handed out are disjoint.
            let counts = unsafe { counts.part(range.clone()) };
            range.zip(counts).for_each(|(i, count)| set.row(p, i, |_| *count += 1));
            Ok(())
        })?;
    }
    for i in 0..rows {
        offsets[i + 1] += offsets[i];
    }
    let nnz = offsets[rows];
    // The values come when the sets are gone.
    let (positions, values) = (nnz.saturating_mul(4).saturating_add(offsets_bytes), nnz.saturating_mul(value as u64));
    budget.check(operation, positions.saturating_add(values.max(bytes)))?;
    sets.truncate(budget.workers(operation, positions, bytes)?);
    let mut indices = memory::filled(operation, usize::try_from(nnz).unwrap_or(usize::MAX), 0u32)?;
    {
        let all = Parts::of(&mut indices);
        share_out(&mut sets, rows, &|set, range| {
            for i in range {
                // SAFETY: each row has its part, and is handed out once.
                let mut row = unsafe { all.part(offsets[i] as usize..offsets[i + 1] as usize) }.iter_mut();
                set.row(p, i, |j| {
                    if let Some(place) = row.next() {
                        *place = j;
                    }
                });
            }
            Ok(())
        })?;
    }
    Ok(Pattern::new(rows, columns, offsets, indices))
}
