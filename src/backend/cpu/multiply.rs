//! mxm and vxm by rows of B scattered: the inner loops, compiled for each semiring, around accumulators that know only its
//! scalar.
use super::accumulator::{Dense, Scratch, Table};
use super::analysis::{OnMask, Soon, Survey, ask, is_narrow};
use super::assemble::{Block, Rows};
use super::flat::Flat;
use super::job::{Job, Run, at, read};
use super::neutral::neutral;
use super::pick::{Picked, Reached};
use super::tiny::{self, Listed, Tries, add_listed, tiny_rows};
use crate::algebra::*;
use crate::error::Result;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;

/// The loops over the products of one row, compiled for one semiring.
#[derive(Debug)]
pub(super) struct Loops<A, B, C> {
    neutral: fn() -> Option<(C, bool)>,
    add: fn(C, C) -> C,
    dense: fn(&Job<A, B>, &Block, usize, &mut Scratch<C>, bool) -> bool,
    gated: fn(&Job<A, B>, &Block, usize, &mut Scratch<C>, bool) -> bool,
    close: fn(&Job<A, B>, &Block, usize, u32, &mut Flat<C>),
    far: fn(&Job<A, B>, &Block, usize, u32, &mut Flat<C>),
    picked: fn(&Job<A, B>, usize, &Picked, &mut Flat<C>),
    /// Not where it matters where a product stands.
    listed: Option<unsafe fn(&Job<A, B>, &Listed, &mut [MaybeUninit<C>])>,
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
            close: close::<A, B, S, false>,
            far: close::<A, B, S, true>,
            picked: add_picked::<A, B, S>,
            listed: if S::Multiply::READS.position { None } else { Some(add_listed::<A, B, S>) },
            hash: hash::<A, B, S>,
            multiples: multiples::<A, B, S>,
            add_multiples: add_multiples::<A, B, S>,
        }
    }
    /// The value that sums can start from, where there is one.
    pub(super) fn start(&self) -> Option<C> {
        (self.neutral)().map(|(start, _)| start)
    }
    /// Whether rows of few products can be done many at a time.
    pub(super) fn lists(&self) -> bool {
        self.listed.is_some()
    }
    /// A run times its entry of A.
    pub(super) fn copied(&self, run: &Run<A, B>, to: &mut [MaybeUninit<C>]) {
        (self.multiples)(run, to);
    }
    /// The sums of a row, from column `first` on: it has none before, and none behind the room that was made.
    pub(super) fn flat(&self, job: &Job<A, B>, block: &Block, i: usize, first: u32, flat: &mut Flat<C>) {
        (self.close)(job, block, i, first, flat);
    }
    /// The sums of a row of no more columns than the table has room for.
    pub(super) fn hashed(&self, job: &Job<A, B>, block: &Block, i: usize, table: &mut Table<C>) {
        (self.hash)(job, block, i, table);
    }
    /// The sums of a row, with `gated` of the columns set in the gate alone.
    pub(super) fn scattered(&self, job: &Job<A, B>, block: &Block, i: usize, scratch: &mut Scratch<C>, gated: bool) {
        let sum = if gated { self.gated } else { self.dense };
        sum(job, block, i, scratch, gated);
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
    let start = (loops.neutral)().map(|(start, _)| start);
    let add = loops.listed.filter(|_| block.whole && tiny::pays(block.rows.len(), &job.b.pattern, job.mask));
    let (mut i, mut tries) = (block.rows.start, Tries::default());
    while i < block.rows.end {
        if admits_none(job.mask, i) {
            rows.end_row();
            i += 1;
            continue;
        }
        if let (Some(start), Some(add), true) = (start, add, tries.next()) {
            let done = tiny_rows(job, i..block.rows.end, (start, add), rows, scratch)?;
            tries.came(done > 0);
            // Whether anything is admitted is asked faster in a row of its own.
            if job.mask.is_some() && scratch.tiny.in_vain(&job.a.pattern, i..i + done) {
                tries.skip(u8::MAX);
            }
            if done > 0 {
                i += done;
                continue;
            }
        }
        row(loops, job, block, i, start, rows, scratch)?;
        rows.end_row();
        i += 1;
    }
    Ok(())
}

/// One row.
fn row<A: Scalar, B: Scalar, C: Scalar>(
    loops: &Loops<A, B, C>,
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    start: Option<C>,
    rows: &mut Rows<C>,
    scratch: &mut Scratch<C>,
) -> Result<()> {
    let (a, b, values) = (&job.a.pattern, &job.b.pattern, Soon::of(&job.b.values));
    if let Some(m) = job.mask.filter(|m| !m.complement) {
        let admitted = &m.pattern.indices[block.range(&m.pattern, i)];
        if admitted.is_empty() || a.range(i).is_empty() {
            return Ok(());
        }
        if let Some(meets) = short_meets(a, i, b, block, admitted, values) {
            return if meets { listed(loops, job, block, i, admitted, rows, scratch) } else { Ok(()) };
        }
        // Few are admitted for as many entries: no need to count.
        if let Some(start) = start.filter(|_| admitted.len() / 16 <= a.range(i).len()) {
            return picked(loops, job, block, i, (admitted, start, values), rows, scratch);
        }
        let products = Survey::count(a, i, b, values);
        if products == 0 {
            return Ok(());
        }
        if admitted.len() / 4 <= products {
            return listed(loops, job, block, i, admitted, rows, scratch);
        }
    }
    if job.mask.is_none() && a.range(i).len() == 1 {
        return alone(loops, job, block, i, values, rows);
    }
    if let Some(start) = start.filter(|_| job.mask.is_none() && is_narrow(a.range(i).len(), b.ncols)) {
        a.range(i).for_each(|e| ask(a, e, b, values));
        scratch.flat.grow(job.operation, b.ncols, start)?;
        (loops.close)(job, block, i, 0, &mut scratch.flat);
        return scratch.flat.drain::<false>(job.operation, (0, b.ncols), b.ncols, start, rows);
    }
    let survey = Survey::of(a, i, b, values, block);
    if survey.products == 0 {
        return Ok(());
    }
    if job.mask.is_none() && !survey.banded && survey.is_few() {
        return few(loops, job, block, i, rows, &mut scratch.few);
    }
    if survey.is_scattered() {
        scratch.table.grow(job.operation, survey.products)?;
        (loops.hash)(job, block, i, &mut scratch.table);
        let start = rows.indices.len();
        scratch.table.drain(job.operation, rows)?;
        if let Some(m) = job.mask {
            filter(rows, start, m.pattern.row(i), m.complement);
        }
        return Ok(());
    }
    match job.mask {
        None if survey.banded && (start.is_none() || survey.is_long(a.range(i).len())) => {
            scratch.dense.grow(job.operation, b.ncols)?;
            scratch.dense.span = survey.span;
            window(loops, job, block, i, &mut scratch.dense);
            // SAFETY: a banded row has a sum in every column of its span.
            return unsafe { scratch.dense.drain_window(job.operation, rows) };
        }
        None if let Some(start) = start
            && survey.is_close() =>
        {
            scratch.flat.grow(job.operation, survey.width(), start)?;
            (loops.close)(job, block, i, survey.span.0, &mut scratch.flat);
            let columns = (survey.span.0, survey.width());
            return scratch.flat.drain::<false>(job.operation, columns, survey.most(), start, rows);
        }
        None if let Some(start) = start
            && survey.is_far(a) =>
        {
            scratch.flat.grow_far(job.operation, survey.width(), start)?;
            (loops.far)(job, block, i, survey.span.0, &mut scratch.flat);
            let columns = (survey.span.0, survey.width());
            return scratch.flat.drain::<true>(job.operation, columns, survey.most(), start, rows);
        }
        _ => {}
    }
    scratch.dense.grow(job.operation, b.ncols)?;
    scratch.dense.span = survey.span;
    match job.mask {
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
    scratch.dense.drain(job.operation, survey.most(), rows)
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

/// Rows that [`short_meets`] looks at have so many entries at most.
const SHORT: usize = 4;
/// For each length of a row ones where it has an entry: words, so that four are compared at once.
const LIVE: [[u32; SHORT]; SHORT + 1] =
    [[0; 4], [u32::MAX, 0, 0, 0], [u32::MAX, u32::MAX, 0, 0], [u32::MAX, u32::MAX, u32::MAX, 0], [u32::MAX; 4]];

/// Whether a product of a short row is admitted; in most of a grid or of a road map none is. `None` where rows are longer.
#[inline(always)]
fn short_meets(a: &Pattern, i: usize, b: &Pattern, block: &Block, admitted: &[u32], soon: Soon) -> Option<bool> {
    if admitted.len() > SHORT || a.range(i).len() > SHORT {
        return None;
    }
    // No column is u32::MAX.
    let list: [u32; SHORT] = std::array::from_fn(|n| admitted.get(n).copied().unwrap_or(u32::MAX));
    let mut met = [0; SHORT];
    for e in a.range(i) {
        ask(a, e, b, soon);
        let range = block.range(b, a.indices[e] as usize);
        // Always four columns, those of the next rows too: no branch on how many there are.
        let run: [u32; SHORT] = b.indices.get(range.start..range.start + SHORT)?.try_into().ok()?;
        let live = LIVE.get(range.len())?;
        let mut listed = [0; SHORT];
        for j in list {
            (0..SHORT).for_each(|c| listed[c] |= u32::from(run[c] == j).wrapping_neg());
        }
        (0..SHORT).for_each(|c| met[c] |= listed[c] & live[c]);
    }
    Some(met != [0; SHORT])
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
    let (a, b, first, flat) = (&job.a_rows, &job.b_rows, job.a.pattern.range(i).start, flat.open());
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

/// Products from the column `first` on, close together or far apart.
fn close<A: Scalar, B: Scalar, S: Semiring<A, B>, const FAR: bool>(
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    first: u32,
    flat: &mut Flat<S::Out>,
) {
    let flat = flat.open();
    for e in job.entries(block, i) {
        let run = job.run(block, i, e);
        for (j, y) in run.columns.iter().zip(run.values) {
            let product = run.product::<S>(*y, *j);
            // SAFETY: the survey's first and last column enclose all others, and room for what is between was made.
            unsafe {
                match FAR {
                    true => flat.add_far((*j - first) as usize, product, S::Add::apply),
                    false => flat.add((*j - first) as usize, product, S::Add::apply),
                }
            }
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
pub(super) fn filter<T: Copy>(rows: &mut Rows<T>, start: usize, mut mask: &[u32], complement: bool) {
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
