//! mxm and vxm by rows of B scattered: how each row is made, around accumulators that know only its scalar.
use super::accumulator::{Dense, Scratch, Table};
use super::analysis::{OnMask, Soon, Survey, ask, is_narrow};
use super::few::few;
use super::flat::Flat;
use super::job::{Job, Run};
use super::loops::Loops;
use super::pick::Reached;
use super::tiny::{self, Tries, tiny_rows};
use crate::algebra::*;
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::rows::Rows;
use crate::backend::cpu::structure::ascending::filter;
use crate::error::Result;
use crate::storage::pattern::Pattern;

/// Rows of B scattered into an accumulator per row of A, in the order of k.
pub(crate) fn scatter_rows<A: Scalar, B: Scalar, C: Scalar>(
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
    // What a bit for each column takes, of those that have a sum and of those that are admitted.
    let of_bits = b.ncols / if job.mask.is_some() { 4 } else { 8 };
    if let Some(m) = job.mask.filter(|m| !m.complement) {
        let admitted = &m.pattern.indices[block.range(&m.pattern, i)];
        if admitted.is_empty() || a.range(i).is_empty() {
            return Ok(());
        }
        if let Some(meets) = short_meets(a, i, b, block, admitted, values) {
            return match meets {
                true if scratch.pays(of_bits, SHORT * SHORT) => listed(loops, job, block, i, admitted, rows, scratch),
                true => hashed(loops, job, block, (i, SHORT * SHORT), rows, &mut scratch.table),
                false => Ok(()),
            };
        }
        let products = Survey::count(a, i, b, values);
        if products == 0 {
            return Ok(());
        }
        if let Some(start) = start.filter(|_| admitted.len() / 16 <= a.range(i).len()) {
            // The columns of the mask are a first guess at where products are, without a look at B.
            let survey = is_dense(span(admitted), products, admitted).then(|| Survey::of(a, i, b, values, block));
            return match survey.filter(|s| s.products > 0 && is_dense(s.width(), s.products, admitted)) {
                Some(survey) => summed(loops, job, block, (i, survey), (admitted, start), rows, &mut scratch.flat),
                None if scratch.pays(b.ncols / 8 + Flat::<C>::bytes(b.ncols, size_of::<C>()), products) => {
                    picked(loops, job, block, i, (admitted, start), rows, scratch)
                }
                None => hashed(loops, job, block, (i, products), rows, &mut scratch.table),
            };
        }
        if admitted.len() / 4 <= products {
            return match scratch.pays(of_bits, products) {
                true => listed(loops, job, block, i, admitted, rows, scratch),
                false => hashed(loops, job, block, (i, products), rows, &mut scratch.table),
            };
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
    if job.mask.is_none() && !survey.banded && (survey.is_few() || survey.is_sorted()) {
        return few(loops, job, block, (i, survey.products), rows, &mut scratch.few);
    }
    if survey.is_scattered() {
        return hashed(loops, job, block, (i, survey.products), rows, &mut scratch.table);
    }
    match job.mask {
        None if survey.banded && (start.is_none() || survey.is_long(a.range(i).len())) => {
            scratch.dense.grow_window(job.operation, b.ncols)?;
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
    if !scratch.pays(of_bits, survey.products) {
        return hashed(loops, job, block, (i, survey.products), rows, &mut scratch.table);
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

pub(crate) fn admits_none(mask: OnMask, i: usize) -> bool {
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

/// A row of no more than so many products, hashed; the mask is asked afterwards. Where [`row`] comes to that, which is rare, it calls it.
#[inline(never)]
fn hashed<A: Scalar, B: Scalar, C: Scalar>(
    loops: &Loops<A, B, C>,
    job: &Job<A, B>,
    block: &Block,
    (i, products): (usize, usize),
    rows: &mut Rows<C>,
    table: &mut Table<C>,
) -> Result<()> {
    table.grow(job.operation, products)?;
    (loops.hash)(job, block, i, table);
    let start = rows.indices.len();
    table.drain(job.operation, rows)?;
    if let Some(m) = job.mask {
        filter(rows, start, m.pattern.row(i), m.complement);
    }
    Ok(())
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
    let mut met = false;
    for e in a.range(i) {
        ask(a, e, b, soon);
        let range = block.range(b, a.indices[e] as usize);
        // Always four columns, those of the next rows too: no branch on how many there are.
        let run = b.indices.get(range.start..)?.first_chunk::<SHORT>()?;
        met |= is_any_listed(run, LIVE.get(range.len())?, &list);
    }
    Some(met)
}

/// Whether a column that is live is one of the list.
#[inline(always)]
fn is_any_listed(run: &[u32; SHORT], live: &[u32; SHORT], list: &[u32; SHORT]) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;
        // SAFETY: four words are read from arrays of four; every processor of this kind has these instructions.
        unsafe {
            let (run, live) = (_mm_loadu_si128(run.as_ptr().cast()), _mm_loadu_si128(live.as_ptr().cast()));
            let same = list.map(|j| _mm_cmpeq_epi32(run, _mm_set1_epi32(j as i32)));
            let listed = _mm_or_si128(_mm_or_si128(same[0], same[1]), _mm_or_si128(same[2], same[3]));
            _mm_movemask_epi8(_mm_and_si128(listed, live)) != 0
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        run.iter().zip(live).any(|(column, live)| *live != 0 && list.contains(column))
    }
}

/// A row of which the mask admits few columns, given ascending: its products are found first, then computed.
fn picked<A: Scalar, B: Scalar, C: Scalar>(
    loops: &Loops<A, B, C>,
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    (admitted, start): (&[u32], C),
    rows: &mut Rows<C>,
    Scratch { picked, flat, .. }: &mut Scratch<C>,
) -> Result<()> {
    let (a, b) = (&job.a.pattern, &job.b.pattern);
    let (mut reached, mut any) = (Reached::default(), false);
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

/// Columns from the first to the last.
fn span(columns: &[u32]) -> usize {
    let ([first, .., last] | [first @ last]) = columns else { return 0 };
    (*last - *first) as usize + 1
}

/// Whether products lie so close that summing all takes less than finding those that are admitted; of a few these are found
/// faster.
fn is_dense(width: usize, products: usize, admitted: &[u32]) -> bool {
    const FEW: usize = if cfg!(test) { 2 } else { 12 };
    const WIDE: usize = 1 << 15;
    width <= WIDE.min(2 * products) && admitted.len() > FEW
}

/// A row whose products are [dense](is_dense): all are summed, those that the mask admits are kept.
fn summed<A: Scalar, B: Scalar, C: Scalar>(
    loops: &Loops<A, B, C>,
    job: &Job<A, B>,
    block: &Block,
    (i, survey): (usize, Survey),
    (admitted, start): (&[u32], C),
    rows: &mut Rows<C>,
    flat: &mut Flat<C>,
) -> Result<()> {
    let columns = (survey.span.0, survey.width());
    flat.grow(job.operation, columns.1, start)?;
    (loops.close)(job, block, i, columns.0, flat);
    flat.drain_some(job.operation, admitted, columns, start, rows)
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
