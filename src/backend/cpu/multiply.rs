//! mxm and vxm by rows: the inner loops, compiled for each semiring, around accumulators that know only its scalar.
use super::accumulator::{Columns, Dense, Scratch, Table};
use super::analysis::{OnMask, Soon, Survey, ask, is_narrow, searches};
use super::assemble::{Block, Rows};
use super::flat::{Flat, neutral};
use super::pick::{Picked, Reached};
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::storage::axis::Ids;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;
use std::ops::Range;

/// A product's operands, ready.
#[derive(Debug)]
pub(super) struct Job<'a, A, B> {
    pub(super) operation: &'static str,
    a: &'a HostCsr<A>,
    b: &'a HostCsr<B>,
    pub(super) mask: OnMask<'a>,
    at: &'a Positions,
    a_rows: Rowed<'a, A>,
    b_rows: Rowed<'a, B>,
}

/// The arrays of compressed rows, in one place: what inner loops read without asking.
#[derive(Debug)]
struct Rowed<'a, T> {
    offsets: &'a [u64],
    columns: &'a [u32],
    values: &'a [T],
}
impl<'a, T> Rowed<'a, T> {
    fn of(a: &'a HostCsr<T>) -> Self {
        Self { offsets: &a.pattern.offsets, columns: &a.pattern.indices, values: &a.values }
    }
    /// # Safety
    /// There is such a row.
    #[inline(always)]
    unsafe fn range(&self, row: usize) -> Range<usize> {
        // SAFETY: the contract; there is one offset more than rows.
        unsafe { read(self.offsets, row) as usize..read(self.offsets, row + 1) as usize }
    }
    /// # Safety
    /// The range lies in a row.
    #[inline(always)]
    unsafe fn part(&self, range: Range<usize>) -> (&'a [u32], &'a [T]) {
        let (from, n) = (range.start, range.end - range.start);
        debug_assert!(range.end <= self.columns.len());
        // SAFETY: the contract; rows lie within both arrays.
        unsafe {
            let (columns, values) = (self.columns.as_ptr().add(from), self.values.as_ptr().add(from));
            (std::slice::from_raw_parts(columns, n), std::slice::from_raw_parts(values, n))
        }
    }
}

/// # Safety
/// There is such an element.
#[inline(always)]
unsafe fn read<T: Copy>(values: &[T], at: usize) -> T {
    debug_assert!(at < values.len());
    // SAFETY: the contract.
    unsafe { *values.as_ptr().add(at) }
}

impl<'a, A: Copy, B: Copy> Job<'a, A, B> {
    /// The columns of A are the rows of B, or with `dot` its columns.
    pub(super) fn new(
        operation: &'static str,
        (a, b): (&'a HostCsr<A>, &'a HostCsr<B>),
        mask: OnMask<'a>,
        at: &'a Positions,
        dot: bool,
    ) -> Self {
        check((&a.pattern, a.values.len()), (&b.pattern, b.values.len()), dot);
        Self { operation, a, b, mask, at, a_rows: Rowed::of(a), b_rows: Rowed::of(b) }
    }
    /// The entries of row i of A.
    #[inline(always)]
    fn entries(&self, block: &Block, i: usize) -> Range<usize> {
        debug_assert!(block.rows.contains(&i));
        // SAFETY: blocks are of rows of A.
        unsafe { self.a_rows.range(i) }
    }
    /// Entry e of A, and the entries of B that it meets in a block.
    #[inline(always)]
    fn run(&self, block: &Block, i: usize, e: usize) -> Run<'_, A, B> {
        // SAFETY: e is an entry of A; its column is a row of B, whose range lies within both of B's arrays: by the
        // patterns' promise and the lengths that `new` asserted.
        unsafe {
            let (k, x) = (read(self.a_rows.columns, e) as usize, read(self.a_rows.values, e));
            let mut range = self.b_rows.range(k);
            if !block.whole {
                range = block.narrow(&self.b.pattern, range);
            }
            let (columns, values) = self.b_rows.part(range);
            Run { x, i, k, columns, values, at: self.at }
        }
    }
}

/// What loops rely on without asking again.
fn check(a: (&Pattern, usize), b: (&Pattern, usize), dot: bool) {
    for (p, values) in [a, b] {
        assert!(p.offsets.len() == p.nrows + 1 && p.indices.len() == values);
    }
    assert!(a.0.ncols <= if dot { b.0.ncols } else { b.0.nrows });
}

#[inline(always)]
fn id(ids: &Ids, place: usize) -> u64 {
    ids.as_ref().map_or(place as u64, |ids| ids[place])
}

/// Where a product stands, for those who look.
#[inline(always)]
pub(super) fn at<A: Scalar, B: Scalar, S: Semiring<A, B>>(at: &Positions, i: usize, k: usize, j: usize) -> At {
    if S::Multiply::READS.position { placed(at, i, k, j) } else { At::default() }
}

#[inline]
fn placed(at: &Positions, i: usize, k: usize, j: usize) -> At {
    At { i: id(&at.i, i), k: id(&at.k, k), j: id(&at.j, j) }
}

/// Whether a sum that has this value stays as it is.
#[inline(always)]
pub(super) fn is_final<T: Scalar, M: Monoid<T>>(sum: T) -> bool {
    match M::terminal() {
        Terminal::Never => false,
        Terminal::Always => true,
        Terminal::Value(v) => sum == v,
    }
}

/// The loops over the products of one row, compiled for one semiring.
#[derive(Debug)]
pub(super) struct Loops<A, B, C> {
    neutral: fn() -> Option<(C, bool)>,
    add: fn(C, C) -> C,
    dense: fn(&Job<A, B>, &Block, usize, &mut Scratch<C>, bool) -> bool,
    gated: fn(&Job<A, B>, &Block, usize, &mut Scratch<C>, bool) -> bool,
    close: fn(&Job<A, B>, &Block, usize, u32, &mut Flat<C>),
    picked: fn(&Job<A, B>, usize, &Picked, &mut Flat<C>),
    hash: fn(&Job<A, B>, &Block, usize, &mut Table<C>),
    multiples: fn(&Run<A, B>, &mut [MaybeUninit<C>]),
    add_multiples: unsafe fn(&Run<A, B>, &mut [MaybeUninit<C>]),
}
impl<A: Scalar, B: Scalar, C: Scalar> Loops<A, B, C> {
    pub(super) const fn of<S: Semiring<A, B, Out = C>>() -> Self {
        Loops {
            neutral: neutral::<C, S::Add>,
            add: S::Add::apply,
            dense: dense::<A, B, S, false>,
            gated: dense::<A, B, S, true>,
            close: close::<A, B, S>,
            picked: add_picked::<A, B, S>,
            hash: hash::<A, B, S>,
            multiples: multiples::<A, B, S>,
            add_multiples: add_multiples::<A, B, S>,
        }
    }
}

/// One entry of A and some of those of B that it meets.
pub(super) struct Run<'a, A, B> {
    x: A,
    i: usize,
    k: usize,
    columns: &'a [u32],
    values: &'a [B],
    at: &'a Positions,
}

impl<A: Scalar, B: Scalar> Run<'_, A, B> {
    /// x ⊗ y of column j.
    #[inline(always)]
    fn product<S: Semiring<A, B>>(&self, y: B, j: u32) -> S::Out {
        S::Multiply::multiply(self.x, y, at::<A, B, S>(self.at, self.i, self.k, j as usize))
    }
}

/// Rows of B scattered into an accumulator per row of A, in the order of k.
pub(super) fn scatter_rows<A: Scalar, B: Scalar, C: Scalar>(
    loops: &Loops<A, B, C>,
    job: &Job<A, B>,
    block: &Block,
    rows: &mut Rows<C>,
    scratch: &mut Scratch<C>,
) -> Result<()> {
    let (a, b, values) = (&job.a.pattern, &job.b.pattern, Soon::of(&job.b.values));
    let start = (loops.neutral)();
    for i in block.rows.clone() {
        if let Some(m) = job.mask.filter(|m| !m.complement) {
            let admitted = &m.pattern.indices[block.range(&m.pattern, i)];
            if admitted.is_empty() || a.range(i).is_empty() {
                rows.end_row();
                continue;
            }
            let meets = short_meets(a, i, b, block, admitted, values);
            if let Some(meets) = meets {
                if meets {
                    listed(loops, job, block, i, admitted, rows, scratch)?;
                }
                rows.end_row();
                continue;
            }
            // Few are admitted for as many entries: no need to count.
            if admitted.len() / 16 <= a.range(i).len()
                && let Some((start, _)) = start
            {
                picked(loops, job, block, i, (admitted, start, values), rows, scratch)?;
                rows.end_row();
                continue;
            }
            let products = Survey::count(a, i, b, values);
            if products == 0 {
                rows.end_row();
                continue;
            }
            if admitted.len() / 4 <= products {
                listed(loops, job, block, i, admitted, rows, scratch)?;
                rows.end_row();
                continue;
            }
        }
        if job.mask.is_none() && a.range(i).len() == 1 {
            alone(loops, job, block, i, values, rows)?;
            rows.end_row();
            continue;
        }
        if let Some((start, _)) = start
            && job.mask.is_none()
            && is_narrow(a.range(i).len(), b.ncols)
        {
            a.range(i).for_each(|e| ask(a, e, b, values));
            scratch.flat.grow(job.operation, b.ncols, start)?;
            (loops.close)(job, block, i, 0, &mut scratch.flat);
            scratch.flat.drain(job.operation, (0, b.ncols), b.ncols, start, rows)?;
            rows.end_row();
            continue;
        }
        let survey = Survey::of(a, i, b, values, block);
        if survey.products > 0 {
            if job.mask.is_none() && !survey.banded && survey.is_few() {
                few(loops, job, block, i, rows, &mut scratch.few)?;
            } else if survey.is_scattered() {
                scratch.table.grow(job.operation, survey.products)?;
                (loops.hash)(job, block, i, &mut scratch.table);
                let start = rows.indices.len();
                scratch.table.drain(job.operation, rows)?;
                if let Some(m) = job.mask {
                    filter(rows, start, m.pattern.row(i), m.complement);
                }
            } else {
                scratch.dense.grow(job.operation, b.ncols)?;
                scratch.dense.span = survey.span;
                match job.mask {
                    None if survey.banded => {
                        window(loops, job, block, i, &mut scratch.dense);
                        // SAFETY: a banded row has a sum in every column of its span.
                        unsafe { scratch.dense.drain_window(job.operation, rows)? };
                        rows.end_row();
                        continue;
                    }
                    None if let Some((start, _)) = start
                        && survey.is_close() =>
                    {
                        scratch.flat.grow(job.operation, survey.width(), start)?;
                        (loops.close)(job, block, i, survey.span.0, &mut scratch.flat);
                        let columns = (survey.span.0, survey.width());
                        scratch.flat.drain(job.operation, columns, survey.most(), start, rows)?;
                        rows.end_row();
                        continue;
                    }
                    None => {
                        (loops.dense)(job, block, i, scratch, false);
                    }
                    Some(m) => {
                        scratch.gate.grow(job.operation, b.ncols)?;
                        let admitted = &m.pattern.indices[block.range(&m.pattern, i)];
                        admitted.iter().for_each(|j| scratch.gate.set(*j));
                        (loops.gated)(job, block, i, scratch, !m.complement);
                        admitted.iter().for_each(|j| scratch.gate.clear_word(*j));
                    }
                }
                scratch.dense.drain(job.operation, survey.most(), rows)?;
            }
        }
        rows.end_row();
    }
    Ok(())
}

pub(super) fn admits_none(mask: OnMask, i: usize) -> bool {
    mask.is_some_and(|m| !m.complement && m.pattern.range(i).is_empty())
}

/// A row of A with one entry: a row of B times that.
fn alone<A: Scalar, B: Scalar, C: Scalar>(
    loops: &Loops<A, B, C>,
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    soon: Soon,
    rows: &mut Rows<C>,
) -> Result<()> {
    let (a, b) = (&job.a.pattern, &job.b.pattern);
    for e in a.range(i) {
        ask(a, e, b, soon);
        let run = job.run(block, i, e);
        let n = run.columns.len();
        rows.reserve(job.operation, n)?;
        rows.indices.extend_from_slice(run.columns);
        let room = &mut rows.values.spare_capacity_mut()[..n];
        (loops.multiples)(&run, room);
        // SAFETY: as many values as columns were reserved and have just been written.
        unsafe { rows.values.set_len(rows.values.len() + n) };
    }
    Ok(())
}

/// A few products that lie apart: sorted by column, in each in the order of k.
fn few<A: Scalar, B: Scalar, C: Scalar>(
    loops: &Loops<A, B, C>,
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    rows: &mut Rows<C>,
    (keys, products): &mut (Vec<u64>, Vec<C>),
) -> Result<()> {
    keys.clear();
    products.clear();
    for e in job.a.pattern.range(i) {
        let run = job.run(block, i, e);
        let (before, n) = (products.len(), run.columns.len());
        crate::memory::reserve(job.operation, keys, n)?;
        crate::memory::reserve(job.operation, products, n)?;
        keys.extend((before as u64..).zip(run.columns).map(|(place, j)| (*j as u64) << 32 | place));
        (loops.multiples)(&run, &mut products.spare_capacity_mut()[..n]);
        // SAFETY: as many values as columns were reserved and have just been written.
        unsafe { products.set_len(before + n) };
    }
    keys.sort_unstable();
    rows.reserve(job.operation, keys.len())?;
    let mut last = u64::MAX;
    for key in keys.iter() {
        let product = products[*key as u32 as usize];
        if *key >> 32 == last
            && let Some(sum) = rows.values.last_mut()
        {
            *sum = (loops.add)(*sum, product);
            continue;
        }
        last = *key >> 32;
        // SAFETY: room for every product was reserved.
        unsafe { rows.push_unchecked(last as u32, product) };
    }
    Ok(())
}

/// z = x ⊗ y along a run.
fn multiples<A: Scalar, B: Scalar, S: Semiring<A, B>>(run: &Run<A, B>, to: &mut [MaybeUninit<S::Out>]) {
    for ((z, y), j) in to.iter_mut().zip(run.values).zip(run.columns) {
        *z = MaybeUninit::new(run.product::<S>(*y, *j));
    }
}

/// z = z ⊕ x ⊗ y along a run.
/// # Safety
/// Every z has a value.
unsafe fn add_multiples<A: Scalar, B: Scalar, S: Semiring<A, B>>(run: &Run<A, B>, to: &mut [MaybeUninit<S::Out>]) {
    for ((z, y), j) in to.iter_mut().zip(run.values).zip(run.columns) {
        // SAFETY: the contract.
        *z = MaybeUninit::new(S::Add::apply(unsafe { z.assume_init() }, run.product::<S>(*y, *j)));
    }
}

/// A row of which the mask admits few columns, given ascending.
fn listed<A: Scalar, B: Scalar, C: Scalar>(
    loops: &Loops<A, B, C>,
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    admitted: &[u32],
    rows: &mut Rows<C>,
    scratch: &mut Scratch<C>,
) -> Result<()> {
    scratch.gate.grow(job.operation, job.b.pattern.ncols)?;
    scratch.dense.grow(job.operation, job.b.pattern.ncols)?;
    admitted.iter().for_each(|j| scratch.gate.set(*j));
    let met = (loops.gated)(job, block, i, scratch, true);
    admitted.iter().for_each(|j| scratch.gate.clear_word(*j));
    if met { scratch.dense.drain_listed(job.operation, admitted, rows) } else { Ok(()) }
}

/// Whether a product of a short row is admitted; in most of a grid or of a road map none is. `None` where rows are longer.
#[inline(always)]
fn short_meets(a: &Pattern, i: usize, b: &Pattern, block: &Block, admitted: &[u32], soon: Soon) -> Option<bool> {
    const SHORT: usize = 4;
    if admitted.len() > SHORT || a.range(i).len() > SHORT {
        return None;
    }
    // No column is u32::MAX.
    let mut list = [u32::MAX; SHORT];
    list.iter_mut().zip(admitted).for_each(|(l, j)| *l = *j);
    let mut met = [false; SHORT];
    for e in a.range(i) {
        ask(a, e, b, soon);
        let range = block.range(b, a.indices[e] as usize);
        // Always four columns, those of the next rows too: no branch on how many there are.
        let run = b.indices.get(range.start..range.start + SHORT)?;
        if range.len() > SHORT {
            return None;
        }
        for c in 0..SHORT {
            met[c] |= ((run[c] == list[0]) | (run[c] == list[1]) | (run[c] == list[2]) | (run[c] == list[3]))
                & (c < range.len());
        }
    }
    Some(met != [false; SHORT])
}

/// A row of which the mask admits few columns, given ascending: its products are found first, then computed.
fn picked<A: Scalar, B: Scalar, C: Scalar>(
    loops: &Loops<A, B, C>,
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    (admitted, start, soon): (&[u32], C, Soon),
    rows: &mut Rows<C>,
    Scratch { picked, flat, .. }: &mut Scratch<C>,
) -> Result<()> {
    let (a, b) = (&job.a.pattern, &job.b.pattern);
    let (mut reached, mut any) = (Reached::default(), false);
    a.range(i).for_each(|e| ask(a, e, b, soon));
    picked.grow(job.operation, b.ncols)?;
    flat.grow(job.operation, b.ncols, start)?;
    picked.open(admitted);
    loop {
        let ended = picked.find(a.row(i), b, block, &mut reached);
        if !picked.is_empty() {
            (loops.picked)(job, i, picked, flat);
            any = true;
        }
        if ended {
            break;
        }
    }
    picked.close(admitted);
    if any { flat.drain_listed(job.operation, admitted, start, rows) } else { Ok(()) }
}

/// Adds products that were found.
fn add_picked<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    job: &Job<A, B>,
    i: usize,
    picked: &Picked,
    flat: &mut Flat<S::Out>,
) {
    let (a, b, first) = (&job.a_rows, &job.b_rows, job.a.pattern.range(i).start);
    for (entry, place) in picked.found() {
        // SAFETY: entries of A's row and places in the row of B that they meet, which lie within all arrays as `Job::new`
        // asserted; columns are below ncols, for which there is room.
        unsafe {
            let e = first + entry as usize;
            let (k, x) = (read(a.columns, e) as usize, read(a.values, e));
            let f = read(b.offsets, k) as usize + place as usize;
            let (j, y) = (read(b.columns, f) as usize, read(b.values, f));
            flat.add(j, S::Multiply::multiply(x, y, at::<A, B, S>(job.at, i, k, j)), S::Add::apply);
        }
    }
}

/// Whether there was a product.
fn dense<A: Scalar, B: Scalar, S: Semiring<A, B>, const GATED: bool>(
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    scratch: &mut Scratch<S::Out>,
    admitted: bool,
) -> bool {
    let mut met = false;
    for e in job.entries(block, i) {
        let run = job.run(block, i, e);
        for (j, y) in run.columns.iter().zip(run.values) {
            if GATED && scratch.gate.get(*j) != admitted {
                continue;
            }
            let product = run.product::<S>(*y, *j);
            // SAFETY: columns are below ncols in every pattern, and the accumulator was grown to ncols.
            unsafe { scratch.dense.add(*j, product, S::Add::apply) };
            met = true;
        }
    }
    met
}

/// Products that lie close together, from the column `first` on.
fn close<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    first: u32,
    flat: &mut Flat<S::Out>,
) {
    for e in job.entries(block, i) {
        let run = job.run(block, i, e);
        for (j, y) in run.columns.iter().zip(run.values) {
            let product = run.product::<S>(*y, *j);
            // SAFETY: the survey's first and last column enclose all others, and room for what is between was made.
            unsafe { flat.add((*j - first) as usize, product, S::Add::apply) };
        }
    }
}

/// A row whose runs are ranges of columns that touch: no set, no index, and the compiler makes vectors of its loops.
fn window<A: Scalar, B: Scalar, C: Scalar>(
    loops: &Loops<A, B, C>,
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    sums: &mut Dense<C>,
) {
    // Columns that have a sum.
    let mut summed = 0..0u32;
    for e in job.entries(block, i) {
        let Run { x, k, columns, values, .. } = job.run(block, i, e);
        let Some(first) = columns.first().copied() else { continue };
        let last = first + columns.len() as u32;
        // New columns before and after the overlap with those that have a sum, none where nothing has one yet.
        let (from, to) = match summed.is_empty() {
            true => (last, last),
            false => (summed.start.clamp(first, last), summed.end.clamp(first, last)),
        };
        let run = |from: u32, to: u32| {
            let part = (from - first) as usize..(to - first) as usize;
            Run { x, i, k, columns: &columns[part.clone()], values: &values[part], at: job.at }
        };
        if first < from {
            (loops.multiples)(&run(first, from), sums.window(first, (from - first) as usize));
        }
        if to < last {
            (loops.multiples)(&run(to, last), sums.window(to, (last - to) as usize));
        }
        if from < to {
            // SAFETY: columns of `summed` were written by an earlier run.
            unsafe { (loops.add_multiples)(&run(from, to), sums.window(from, (to - from) as usize)) };
        }
        summed = if summed.is_empty() { first..last } else { summed.start.min(first)..summed.end.max(last) };
    }
}

fn hash<A: Scalar, B: Scalar, S: Semiring<A, B>>(job: &Job<A, B>, block: &Block, i: usize, table: &mut Table<S::Out>) {
    for e in job.entries(block, i) {
        let run = job.run(block, i, e);
        for (j, y) in run.columns.iter().zip(run.values) {
            let product = run.product::<S>(*y, *j);
            // SAFETY: the table was grown for as many columns as there are products.
            unsafe { table.add(*j, product, S::Add::apply) };
        }
    }
}

/// Keeps of the entries from `start` on those that the mask's row admits.
fn filter<T: Copy>(rows: &mut Rows<T>, start: usize, mut mask: &[u32], complement: bool) {
    let mut kept = start;
    for e in start..rows.indices.len() {
        let (column, value) = (rows.indices[e], rows.values[e]);
        mask = &mask[below(mask, column)..];
        if (mask.first() == Some(&column)) != complement {
            (rows.indices[kept], rows.values[kept]) = (column, value);
            kept += 1;
        }
    }
    rows.indices.truncate(kept);
    rows.values.truncate(kept);
}

/// How many of the ascending columns are below this one: O(log of the answer).
#[inline(always)]
pub(super) fn below(columns: &[u32], column: u32) -> usize {
    let mut reach = 1;
    while reach < columns.len() && columns[reach - 1] < column {
        reach *= 2;
    }
    let (from, to) = (reach / 2, reach.min(columns.len()));
    from + columns[from..to].partition_point(|c| *c < column)
}

/// The dot products of one row, compiled for one semiring: row i of A, the columns that the mask admits, where each inner
/// index stands in row i. Room for all of them is there.
pub(super) type DotLoop<A, B, C> = unsafe fn(&Job<A, B>, usize, &[u32], &Dense<u32>, &mut Rows<C>);

/// A dot product of a row of A and a row of Bᵀ for each entry of the mask.
pub(super) fn dot_rows<A: Scalar, B: Scalar, C: Scalar>(
    dots: DotLoop<A, B, C>,
    job: &Job<A, B>,
    block: &Block,
    rows: &mut Rows<C>,
    scratch: &mut Scratch<C>,
) -> Result<()> {
    let a = &job.a.pattern;
    assert!(job.b.pattern.ncols == a.ncols && job.mask.is_none_or(|m| m.pattern.ncols <= job.b.pattern.nrows));
    for i in block.rows.clone() {
        let Some(mask) = job.mask else { continue };
        let admitted = &mask.pattern.indices[block.range(&mask.pattern, i)];
        let columns = a.row(i);
        if let (Some(first), Some(last), false) = (columns.first(), columns.last(), admitted.is_empty()) {
            let places = &mut scratch.places;
            places.grow(job.operation, a.ncols)?;
            places.span = (*first, *last);
            for (e, k) in columns.iter().enumerate() {
                // SAFETY: columns are below ncols in every pattern.
                unsafe { places.add(*k, e as u32, |_, e| e) };
            }
            rows.reserve(job.operation, admitted.len())?;
            // SAFETY: room for every admitted entry was reserved; every inner index of row i has its place.
            unsafe { dots(job, i, admitted, places, rows) };
            places.forget();
        }
        rows.end_row();
    }
    Ok(())
}

/// A [`DotLoop`].
/// # Safety
/// `places` holds the columns of row i of A and knows all columns below A's ncols; `admitted` are rows of Bᵀ, and `rows`
/// has room for as many.
pub(super) unsafe fn dots<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    job: &Job<A, B>,
    i: usize,
    admitted: &[u32],
    places: &Dense<u32>,
    rows: &mut Rows<S::Out>,
) {
    let (columns, values) = job.a.row(i);
    for j in admitted {
        // SAFETY: rows of Bᵀ are the mask's columns; their ranges lie within both arrays, as `Job::new` asserted.
        let (inner, right) = unsafe { job.b_rows.part(job.b_rows.range(*j as usize)) };
        let mut sum = None;
        let mut add = |e: usize, y: B| {
            let k = if S::Multiply::READS.position { columns[e] as usize } else { 0 };
            // SAFETY: an entry of row i.
            let x = unsafe { read(values, e) };
            let product = S::Multiply::multiply(x, y, at::<A, B, S>(job.at, i, k, *j as usize));
            let next = match sum {
                Some(sum) => S::Add::apply(sum, product),
                None => product,
            };
            sum = Some(next);
            is_final::<S::Out, S::Add>(next)
        };
        let mut from = (0, 0);
        'sum: while let Some(some) = candidates(columns, inner, &mut from) {
            for (k, y) in inner[some.clone()].iter().zip(&right[some]) {
                // SAFETY: columns of Bᵀ are inner indices, below A's ncols; one in the set has a place in row i.
                unsafe {
                    if places.columns.contains(*k) && add(places.value(*k) as usize, *y) {
                        break 'sum;
                    }
                }
            }
        }
        if let Some(sum) = sum {
            // SAFETY: the contract.
            unsafe { rows.push_unchecked(*j, sum) };
        }
    }
}

/// The next of `inner` that may have a column of the row: all at once, or where it is long one by one, searched for.
fn candidates(columns: &[u32], inner: &[u32], from: &mut (usize, usize)) -> Option<Range<usize>> {
    if !searches(columns.len(), inner.len()) {
        let all = from.1..inner.len();
        from.1 = inner.len();
        return (!all.is_empty()).then_some(all);
    }
    while let Some(k) = columns.get(from.0) {
        from.1 += below(&inner[from.1..], *k);
        from.0 += 1;
        if inner.get(from.1) == Some(k) {
            return Some(from.1..from.1 + 1);
        }
    }
    None
}

/// What one thread needs for rows of a pattern.
pub(super) type Structural = (Columns, Vec<u32>, Flat<()>);

/// The pattern of a product alone: every sum is known to be one and the same value.
pub(super) fn structural_rows(
    (a, b, mask): (&Pattern, &Pattern, OnMask),
    block: &Block,
    rows: &mut Rows<()>,
    scratch: &mut Structural,
) -> Result<()> {
    let operation = "mxm";
    for i in block.rows.clone() {
        if mask.is_none() && is_narrow(a.range(i).len(), b.ncols) {
            let flat = &mut scratch.2;
            flat.grow(operation, b.ncols, ())?;
            a.range(i).for_each(|e| ask(a, e, b, Soon::of::<()>(&[])));
            for k in a.row(i) {
                for j in &b.indices[block.range(b, *k as usize)] {
                    // SAFETY: columns are below ncols in every pattern.
                    unsafe { flat.mark(*j as usize) };
                }
            }
            flat.drain(operation, (0, b.ncols), b.ncols, (), rows)?;
            rows.end_row();
            continue;
        }
        let survey = if admits_none(mask, i) { None } else { Some(Survey::of(a, i, b, Soon::of::<()>(&[]), block)) };
        if let Some(survey) = survey.filter(|s| s.products > 0) {
            let start = rows.indices.len();
            rows.reserve(operation, survey.most())?;
            let (columns, list, flat) = scratch;
            if survey.banded {
                // SAFETY: room for `most`, here the whole span, was reserved.
                (survey.span.0..=survey.span.1).for_each(|j| unsafe { rows.push_unchecked(j, ()) });
            } else if survey.is_few() || survey.is_scattered() {
                list.clear();
                crate::memory::reserve(operation, list, survey.products)?;
                a.row(i).iter().for_each(|k| list.extend_from_slice(&b.indices[block.range(b, *k as usize)]));
                list.sort_unstable();
                list.dedup();
                // SAFETY: room for `most` was reserved.
                list.iter().for_each(|j| unsafe { rows.push_unchecked(*j, ()) });
            } else if survey.is_close() {
                flat.grow(operation, survey.width(), ())?;
                for k in a.row(i) {
                    for j in &b.indices[block.range(b, *k as usize)] {
                        // SAFETY: the survey's first and last column enclose all others.
                        unsafe { flat.mark((*j - survey.span.0) as usize) };
                    }
                }
                flat.drain(operation, (survey.span.0, survey.width()), survey.most(), (), rows)?;
            } else {
                columns.grow(operation, b.ncols)?;
                for k in a.row(i) {
                    for j in &b.indices[block.range(b, *k as usize)] {
                        // SAFETY: columns are below ncols in every pattern.
                        unsafe { columns.insert(*j) };
                    }
                }
                columns.drain(survey.span, |first, mut word| {
                    while word != 0 {
                        // SAFETY: room for `most` was reserved.
                        unsafe { rows.push_unchecked(first + word.trailing_zeros(), ()) };
                        word &= word - 1;
                    }
                });
            }
            if let Some(m) = mask {
                filter(rows, start, m.pattern.row(i), m.complement);
            }
        }
        rows.end_row();
    }
    Ok(())
}
