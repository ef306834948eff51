//! The same entries in another order: transpose, build from triplets, rows gathered.
use super::counting::distribute;
use super::triplets::by_ranges;
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::cpu::assemble::assemble;
use crate::backend::cpu::blocks::{Block, partition, target};
use crate::backend::cpu::parallel::{SERIAL, Shared, each_of, in_pieces, nth_piece, scan, unwritten, written};
use crate::backend::cpu::rows::Rows;
use crate::backend::cpu::scatter::{all_pieces, ascends, starts};
use crate::backend::host::HostCsr;
use crate::backend::places::NONE;
use crate::error::Result;
use crate::memory;
use crate::storage::facts::{Turned, known};
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Ranges of rows with about equal entries: as many as pay for a count array of `keys` each.
fn row_chunks(operation: &'static str, a: &Pattern, keys: usize) -> Result<Vec<Range<usize>>> {
    let work = a.nnz() + a.nrows;
    let most = if work < SERIAL { 1 } else { rayon::current_num_threads().min(2 * work / keys.max(1)).max(1) };
    let before = |r: usize| a.offsets[r] + r as u64;
    let size = (work as u64).div_ceil(most as u64).max(1);
    let blocks = partition(operation, (a.nrows, a.ncols), size, &before, &|_, _| Ok(Vec::new()))?;
    Ok(blocks.into_iter().map(|b| b.rows).collect())
}

/// Aᵀ, its values moved along; `values` may be as good as none.
pub(crate) fn transpose<T: Copy + Send + Sync>(a: &Pattern, values: &[T]) -> Result<(Pattern, Vec<T>)> {
    assert!(values.len() == a.nnz());
    let mut moved = unwritten::<T>("transpose", a.nnz())?;
    // SAFETY: as many values as entries on both sides, of this size.
    let pattern = unsafe { transpose_bytes(a, size_of::<T>(), values.as_ptr().cast(), &Shared::of_bytes(&mut moved))? };
    // SAFETY: every entry was moved to a place of its own.
    Ok((pattern, unsafe { written(moved, a.nnz()) }))
}

/// Aᵀ. The second time that it is asked for, where everything goes is kept with the pattern: 8 bytes an entry, for which from
/// then on only values are moved.
pub(crate) fn turned<T: Copy + Send + Sync>(a: &Pattern, values: &[T]) -> Result<HostCsr<T>> {
    if let (Some(known), 0) = (a.facts.turned.get(), size_of::<T>()) {
        return Ok(HostCsr::at(known.pattern.clone(), memory::copied("transpose", values)?));
    }
    let Some(known) = columns_kept(a, 1) else {
        let (pattern, values) = transpose(a, values)?;
        return Ok(HostCsr::new(pattern, values));
    };
    Ok(HostCsr::at(known.pattern.clone(), moved(&known, values)?))
}

/// Values in the order of the transpose.
pub(crate) fn moved<T: Copy + Send + Sync>(turned: &Turned, values: &[T]) -> Result<Vec<T>> {
    let from = &turned.from[..];
    assert!(values.len() == from.len());
    in_pieces("transpose", from.len(), move |e| values[from[e] as usize])
}

/// The transpose's positions and where their values are, kept with the pattern once somebody has asked `often` before. `None` until
/// then, for more than 2³² entries, and where there is no memory to keep them in.
pub(crate) fn columns_kept(a: &Pattern, often: usize) -> Option<Arc<Turned>> {
    let asked = a.facts.turns.fetch_add(1, Ordering::Relaxed);
    if let Some(known) = a.facts.turned.get() {
        return Some(known.clone());
    }
    let places = u32::try_from(a.nnz()).ok().filter(|_| asked >= often)?;
    let make = || {
        let mut entries = memory::with_capacity("transpose", a.nnz())?;
        entries.extend(0..places);
        let (pattern, from) = transpose(a, &entries)?;
        Ok(Arc::new(Turned::new(pattern, from)))
    };
    known(&a.facts.turned, make).ok()
}

/// Values are moved as bytes, so that this is compiled for a few sizes instead of every scalar.
/// # Safety
/// `values` and `to` have room for a value of this size for every entry.
unsafe fn transpose_bytes(a: &Pattern, size: usize, values: *const u8, to: &Shared<u8>) -> Result<Pattern> {
    // SAFETY: the contract.
    unsafe {
        match size {
            0 => transpose_sized::<0>(a, 1, values, to),
            1 => transpose_sized::<1>(a, 1, values, to),
            2 => transpose_sized::<2>(a, 1, values, to),
            4 => transpose_sized::<4>(a, 1, values, to),
            8 => transpose_sized::<8>(a, 1, values, to),
            12 => transpose_sized::<12>(a, 1, values, to),
            16 => transpose_sized::<16>(a, 1, values, to),
            _ => transpose_sized::<1>(a, size, values, to),
        }
    }
}

/// # Safety
/// As [`transpose_bytes`] for values of N · `times` bytes.
unsafe fn transpose_sized<const N: usize>(
    a: &Pattern,
    times: usize,
    values: *const u8,
    to: &Shared<u8>,
) -> Result<Pattern> {
    let operation = "transpose";
    // A pointer that threads may share: it is read only.
    let from = Shared::<u8>::read_only(values, a.nnz() * N * times);
    let mut indices = unwritten::<u32>(operation, a.nnz())?;
    let to_indices = Shared::new(&mut indices);
    let chunks = row_chunks(operation, a, a.ncols)?;
    let each = |rows: &Range<usize>, count: &mut dyn FnMut(usize)| {
        let entries = a.offsets[rows.start] as usize..a.offsets[rows.end] as usize;
        a.indices[entries].iter().for_each(|j| count(*j as usize));
    };
    let put = |rows: &Range<usize>, next: &mut [u64]| {
        for i in rows.clone() {
            for e in a.range(i) {
                let at = &mut next[a.indices[e] as usize];
                // SAFETY: a counting sort: every place is handed out once and is below nnz, as entries are.
                unsafe {
                    to_indices.write(*at as usize, MaybeUninit::new(i as u32));
                    let (source, target) = (from.at(e * N * times), to.at(*at as usize * N * times));
                    match times {
                        1 => target.cast::<[u8; N]>().write(source.cast::<[u8; N]>().read()),
                        _ => std::ptr::copy_nonoverlapping(source, target, N * times),
                    }
                }
                *at += 1;
            }
        }
    };
    let offsets = distribute(operation, a.ncols, &chunks, &each, &put)?;
    // SAFETY: every entry was moved to a place of its own.
    let indices = unsafe { written(indices, a.nnz()) };
    Ok(Pattern::new(a.ncols, a.nrows, offsets, indices))
}

/// Triplets to rows, duplicates folded in input order, or the first second one refused.
pub(crate) fn build<T: Scalar, F: BinaryOp<T, T, Out = T>>(
    (nrows, ncols): (usize, usize),
    rows: &[u32],
    columns: &[u32],
    values: &[T],
    refuse: bool,
) -> Result<std::result::Result<HostCsr<T>, usize>> {
    let operation = "build";
    let ascending = ascends(rows.len(), |e| rows[e], |x, y| x <= y);
    // To say which one is refused all are looked at again.
    if rows.len() > SERIAL
        && !ascending
        && let Some(made) = by_ranges::<T, F>(operation, (nrows, ncols), (rows, columns, values), refuse)?
    {
        return Ok(Ok(made));
    }
    let sorted = sort_triplets((nrows, ascending), rows, columns)?;
    let second = AtomicUsize::new(usize::MAX);
    let kernel = |block: &Block, out: &mut Rows<T>, run: &mut Vec<(u32, u64)>| {
        for r in block.rows.clone() {
            sorted.row(r, run)?;
            out.reserve(operation, run.len())?;
            let mut run = run.iter();
            let Some(first) = run.next() else {
                out.end_row();
                continue;
            };
            let (mut column, mut value) = (first.0, values[first.1 as usize]);
            for (c, e) in run {
                if *c == column {
                    second.fetch_min(if refuse { *e as usize } else { usize::MAX }, Ordering::Relaxed);
                    value = F::apply(value, values[*e as usize]);
                } else {
                    // SAFETY: room for the whole run was reserved.
                    unsafe { out.push_unchecked(column, value) };
                    (column, value) = (*c, values[*e as usize]);
                }
            }
            // SAFETY: as above.
            unsafe { out.push_unchecked(column, value) };
            out.end_row();
        }
        Ok(())
    };
    let offsets = &sorted.offsets;
    let before = |r: usize| offsets[r] * 4 + r as u64;
    let blocks = partition(operation, (nrows, ncols), target(before(nrows)), &before, &|_, _| Ok(Vec::new()))?;
    let built = assemble::<T, Vec<(u32, u64)>>(operation, (nrows, ncols), values.len() as u64, &blocks, &kernel)?;
    let second = second.into_inner();
    Ok(if second == usize::MAX { Ok(built) } else { Err(second) })
}

/// An index of a dimension, or a place on an axis.
pub(crate) trait Place: Copy + Sync {
    fn wide(self) -> u64;
}
impl Place for u32 {
    fn wide(self) -> u64 {
        self.into()
    }
}
impl Place for u64 {
    fn wide(self) -> u64 {
        self
    }
}

/// Triplets that are rows already, each once and inside of the shape; `None` for others.
pub(crate) fn in_order<I: Place, T: Scalar>(
    shape: (usize, usize),
    (rows, columns, values): (&[I], &[I], &[T]),
) -> Result<Option<HostCsr<T>>> {
    let Some(pattern) = ordered(shape, rows, columns)? else { return Ok(None) };
    Ok(Some(HostCsr::new(pattern, memory::copied("build", values)?)))
}

fn ordered<I: Place>((nrows, ncols): (usize, usize), rows: &[I], columns: &[I]) -> Result<Option<Pattern>> {
    let (operation, n) = ("build", rows.len());
    // Rows seen before an entry: those of a piece are between two of these, and of no other piece where they ascend.
    let seen = |e: usize| if e == 0 { 0 } else { rows[e - 1].wide().saturating_add(1) };
    let ends = (0..n).step_by(SERIAL).chain([n]).map(seen);
    if !ends.clone().is_sorted() || ends.last() > Some(nrows as u64) {
        return Ok(None);
    }
    let (mut offsets, mut indices) = (unwritten::<u64>(operation, nrows + 1)?, unwritten::<u32>(operation, n)?);
    let (to_offsets, to_indices) = (Shared::new(&mut offsets), Shared::new(&mut indices));
    // Whether each entry of a piece comes after the one before it. An entry begins its row and the empty ones before it.
    let one = |piece: Range<usize>| {
        let (mut next, end) = (seen(piece.start), seen(piece.end));
        let mut before = if piece.start == 0 { None } else { Some(columns[piece.start - 1].wide()) };
        // SAFETY: pieces are disjoint.
        let indices = unsafe { to_indices.part(piece.clone()) };
        for (e, index) in piece.clone().zip(indices) {
            let (row, column) = (rows[e].wide(), columns[e].wide());
            if row >= next {
                if row >= end {
                    return false;
                }
                before = None;
                // SAFETY: below the piece's end, which is at most the number of rows; from the end of the pieces before on.
                (next..=row).for_each(|r| unsafe { to_offsets.write(r as usize, MaybeUninit::new(e as u64)) });
                next = row + 1;
            }
            if row + 1 != next || column >= ncols as u64 || before >= Some(column) {
                return false;
            }
            before = Some(column);
            *index = MaybeUninit::new(column as u32);
        }
        true
    };
    let all = all_pieces(n, &one);
    if !all {
        return Ok(None);
    }
    offsets[seen(n) as usize..].fill(MaybeUninit::new(n as u64));
    // SAFETY: all pieces together wrote all columns and the offsets before the last row's end, the line above the others.
    let (offsets, indices) = unsafe { (written(offsets, nrows + 1), written(indices, n)) };
    Ok(Some(Pattern::new(nrows, ncols, offsets, indices)))
}

/// Triplets by row; in each row column and input position, in input order.
struct Sorted<'a> {
    offsets: Vec<u64>,
    /// Input positions by row; empty where the input was in order of rows.
    order: Vec<u64>,
    columns: &'a [u32],
}

fn sort_triplets<'a>((nrows, ascending): (usize, bool), rows: &[u32], columns: &'a [u32]) -> Result<Sorted<'a>> {
    let operation = "build";
    let n = rows.len();
    if ascending {
        let offsets = starts(operation, nrows, n, |e| rows[e] as usize)?;
        return Ok(Sorted { offsets, order: Vec::new(), columns });
    }
    let most = if n < SERIAL { 1 } else { rayon::current_num_threads().min(n / nrows.max(1)).max(1) };
    let size = n.div_ceil(most).max(1);
    let chunks: Vec<Range<usize>> = (0..n.div_ceil(size)).map(|p| nth_piece(n, size, p)).collect();
    let mut order = unwritten::<u64>(operation, n)?;
    let target = Shared::new(&mut order);
    let each = |chunk: &Range<usize>, count: &mut dyn FnMut(usize)| {
        rows[chunk.clone()].iter().for_each(|r| count(*r as usize))
    };
    let put = |chunk: &Range<usize>, next: &mut [u64]| {
        for e in chunk.clone() {
            let to = &mut next[rows[e] as usize];
            // SAFETY: a counting sort: every place is handed out once and is below n.
            unsafe { target.write(*to as usize, MaybeUninit::new(e as u64)) };
            *to += 1;
        }
    };
    let offsets = distribute(operation, nrows, &chunks, &each, &put)?;
    // SAFETY: every triplet was given a place of its own.
    Ok(Sorted { offsets, order: unsafe { written(order, n) }, columns })
}

impl Sorted<'_> {
    /// Row r by column, then input position.
    fn row(&self, r: usize, run: &mut Vec<(u32, u64)>) -> Result<()> {
        let range = self.offsets[r] as usize..self.offsets[r + 1] as usize;
        run.clear();
        memory::reserve("build", run, range.len())?;
        if self.order.is_empty() {
            run.extend(range.map(|e| (self.columns[e], e as u64)));
        } else {
            run.extend(self.order[range].iter().map(|e| (self.columns[*e as usize], *e)));
        }
        if !run.is_sorted() {
            if run.len() < SERIAL { run.sort_unstable() } else { run.par_sort_unstable() }
        }
        Ok(())
    }
}

/// Row r of the result is row `rows[r]` of A, an empty one for [`NONE`].
pub(crate) fn extract_rows<T: Scalar>(a: &HostCsr<T>, rows: &[u32]) -> Result<HostCsr<T>> {
    let operation = "extract_rows";
    let source = |r: usize| if rows[r] == NONE { 0..0 } else { a.pattern.range(rows[r] as usize) };
    let offsets = scan(operation, rows.len(), |r| source(r).len() as u64)?;
    let n = offsets[rows.len()] as usize;
    let (mut indices, mut values) = (unwritten::<u32>(operation, n)?, unwritten::<T>(operation, n)?);
    let (to_indices, to_values) = (Shared::new(&mut indices), Shared::new(&mut values));
    let shape = Pattern::new(rows.len(), a.pattern.ncols, offsets, Vec::new());
    let copy = |block: &Block| {
        for r in block.rows.clone() {
            let (columns, entries) = (&a.pattern.indices[source(r)], &a.values[source(r)]);
            // SAFETY: rows of the result are disjoint by the scan of their lengths.
            let (c, v) = unsafe { (to_indices.part(shape.range(r)), to_values.part(shape.range(r))) };
            c.iter_mut().zip(columns).for_each(|(to, from)| *to = MaybeUninit::new(*from));
            v.iter_mut().zip(entries).for_each(|(to, from)| *to = MaybeUninit::new(*from));
        }
    };
    let before = |r: usize| shape.offsets[r] + r as u64;
    let blocks =
        partition(operation, (shape.nrows, shape.ncols), target(before(shape.nrows)), &before, &|_, _| Ok(Vec::new()))?;
    each_of(&blocks, &copy);
    // SAFETY: every row was copied.
    let (indices, values) = unsafe { (written(indices, n), written(values, n)) };
    Ok(HostCsr::new(Pattern::new(shape.nrows, shape.ncols, shape.offsets, indices), values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    /// Ascending triplets over some pieces are rows; with one of them changed, wherever it stands, they are not.
    #[test]
    fn triplets_in_order_are_rows_and_no_others() {
        let (mut random, shape) = (Random::new(9, 0), (90, 40));
        let all = (0..shape.0 as u64).flat_map(|i| (0..shape.1 as u64).map(move |j| (i, j)));
        // No entry in the first and the last rows, and in some between.
        let kept = all.filter(|(i, _)| (3..80).contains(i) && i % 7 != 2);
        let entries: Vec<(u64, u64)> = kept.filter(|_| random.below(8) == 0).collect();
        let (rows, columns): (Vec<u64>, Vec<u64>) = entries.iter().copied().unzip();
        assert!(rows.len() > 3 * SERIAL);
        let pattern = |rows: &[u64], columns: &[u64]| ordered(shape, rows, columns).unwrap();
        let made = pattern(&rows, &columns).unwrap();
        made.validate("test", rows.len()).unwrap();
        let listed = (0..shape.0).flat_map(|r| made.row(r).iter().map(move |j| (r as u64, *j as u64)));
        assert!(listed.eq(entries.iter().copied()));
        let narrow = |all: &[u64]| all.iter().map(|i| *i as u32).collect::<Vec<_>>();
        assert_eq!(ordered(shape, &narrow(&rows), &narrow(&columns)).unwrap(), Some(made));
        assert_eq!(pattern(&[], &[]), Some(Pattern::empty("test", shape.0, shape.1).unwrap()));
        for e in 0..rows.len() {
            for (row, column) in [(u64::MAX, 0), (shape.0 as u64, 0), (rows[e], shape.1 as u64), (rows[e], u64::MAX)] {
                let (mut rows, mut columns) = (rows.clone(), columns.clone());
                (rows[e], columns[e]) = (row, column);
                assert_eq!(pattern(&rows, &columns), None, "{e}: {row}, {column}");
            }
            let (mut again, mut exchanged) = ((rows.clone(), columns.clone()), (rows.clone(), columns.clone()));
            if e > 0 {
                (again.0[e], again.1[e]) = (rows[e - 1], columns[e - 1]);
                exchanged.0.swap(e - 1, e);
                exchanged.1.swap(e - 1, e);
                assert_eq!(pattern(&again.0, &again.1), None, "{e} again");
                assert_eq!(pattern(&exchanged.0, &exchanged.1), None, "{e} exchanged");
            }
        }
    }
}
