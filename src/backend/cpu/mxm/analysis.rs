//! What a product will cost, from patterns alone: compiled once, whatever the semiring.
use crate::backend::MaskOn;
use crate::backend::cpu::assemble::Size;
use crate::backend::cpu::blocks::{Block, partition, quantiles, target, target_of_visits};
use crate::backend::cpu::parallel::{SERIAL, scan};
use crate::error::Result;
use crate::memory;
use crate::spgemm::Strategy;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::sync::Arc;

pub(crate) type OnMask<'a> = Option<&'a MaskOn<Arc<Pattern>>>;

/// How the rows of a product are cut, and how many entries it can have.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) blocks: Vec<Block>,
    pub(crate) size: Size,
}

/// Products in each row, and a step for each entry of A and each row; none where a plain mask admits nothing.
fn work(operation: &'static str, a: &Pattern, b: &Pattern, mask: OnMask) -> Result<Vec<u64>> {
    scan(operation, a.nrows, |i| match mask {
        Some(m) if !m.complement && m.pattern.range(i).is_empty() => 1,
        _ => a.row(i).iter().map(|k| b.range(*k as usize).len() as u64 + 1).sum::<u64>() + 1,
    })
}

/// So many rows of A are few, such as those of frontiers.
pub(super) const FEW_ROWS: usize = 256;
/// No row of such a matrix is much longer than the others.
const EVEN: u64 = 16;

/// Entries in the longest row.
pub(crate) fn longest(a: &Pattern) -> u64 {
    let look = || a.offsets.iter().zip(a.offsets.iter().skip(1)).fold(0, |most, (from, to)| most.max(to - from));
    *a.facts.longest.get_or_init(look)
}

/// Where entries of A say how much work there is: the mean work of one, and how much a block should have. Either rows of B
/// are about equal, or blocks can be so small that even one with nothing but the longest is no great part of all.
fn even(a: &Pattern, b: &Pattern) -> Option<(u64, u64)> {
    let longest = longest(b);
    if longest <= EVEN {
        let mean = 1 + b.nnz() as u64 / b.nrows.max(1) as u64;
        return Some((mean, target(a.nnz() as u64 * mean + a.nrows as u64)));
    }
    let mean = 1 + sampled(a, b) / a.nnz().max(1) as u64;
    let work = a.nnz() as u64 * mean + a.nrows as u64;
    // Smaller blocks cost more to hand out than counting products does.
    const LEAST: u64 = 256;
    let entries = work / (16 * (longest + 1));
    (entries >= LEAST).then(|| (mean, target(work).min(entries * mean)))
}

/// About how many products there are, by a sample of A's entries.
pub(crate) fn sampled(a: &Pattern, b: &Pattern) -> u64 {
    const SAMPLE: usize = 1 << 12;
    let step = a.nnz() / SAMPLE + 1;
    let sample: u64 = a.indices.iter().step_by(step).map(|k| 1 + b.range(*k as usize).len() as u64).sum();
    sample * step as u64
}

/// Rows of B are scattered; within a `limit` no room is taken for more entries than there are products.
pub(crate) fn scattered(
    operation: &'static str,
    a: &Pattern,
    b: &Pattern,
    mask: OnMask,
    limit: Option<u64>,
) -> Result<Plan> {
    if let Some(m) = mask.filter(|m| !m.complement)
        && let Some((mean, target)) = even(a, b)
    {
        let before = |r: usize| a.offsets[r] * mean + r as u64;
        let blocks = partition(operation, (a.nrows, b.ncols), target, &before, &|_, _| Ok(Vec::new()))?;
        return Ok(Plan { blocks, size: Size::from(m.pattern.nnz() as u64) });
    }
    // Rows of B that are all short need no count either.
    let longest = longest(b);
    let known = match mask.is_none() && longest <= EVEN && limit.is_none() {
        true => Vec::new(),
        false => work(operation, a, b, mask)?,
    };
    let by_entries = |r: usize| a.offsets[r] * (1 + b.nnz() as u64 / b.nrows.max(1) as u64) + r as u64;
    let by_products = |r: usize| known[r];
    let before: &dyn Fn(usize) -> u64 = if known.is_empty() { &by_entries } else { &by_products };
    let total = before(a.nrows);
    let cuts = |row: usize, parts: usize| match worth(parts, before(row + 1) - before(row), total, a.range(row).len()) {
        0 | 1 => Ok(Vec::new()),
        parts => hub_cuts(operation, a.row(row), b, parts),
    };
    // Products of few long rows are far from each other.
    let target = if a.nrows <= FEW_ROWS { target_of_visits(total) } else { target(total) };
    let blocks = partition(operation, (a.nrows, b.ncols), target, before, &cuts)?;
    let most = |r: usize| match known.is_empty() {
        true => a.range(r).len() as u64 * longest,
        false => (known[r + 1] - known[r]).saturating_sub(a.range(r).len() as u64 + 1),
    };
    let bound = (0..a.nrows).map(|r| most(r).min(b.ncols as u64)).sum::<u64>();
    let bound = mask.filter(|m| !m.complement).map_or(bound, |m| bound.min(m.pattern.nnz() as u64));
    let likely = if mask.is_none() { likely(operation, a, b, bound, known.is_empty())? } else { bound };
    Ok(Plan { blocks, size: Size { most: bound, likely } })
}

/// Into how many of these parts a row of `len` entries and so many of the total products is cut.
pub(super) fn worth(parts: usize, products: u64, total: u64, len: usize) -> usize {
    // A row that all would wait for is cut further.
    let most = if products > total / 32 { 8 } else { 0 };
    // Each part looks into every row of B: as many as pay for that.
    let (products, len) = (products as usize, len.max(1));
    parts.min((products / (16 * len)).max(most.min(products / (4 * len))))
}

/// About how many entries there will be, a few more rather than less, where some rows say so for all; roughly where `most` is but what there
/// were if all rows of B were as long as the `longest`, and much more than that.
fn likely(operation: &'static str, a: &Pattern, b: &Pattern, most: u64, longest: bool) -> Result<u64> {
    const WORTH: u64 = if cfg!(test) { 64 } else { 1 << 19 };
    const ROWS: usize = if cfg!(test) { 12 } else { 384 };
    if most < WORTH {
        return Ok(most);
    }
    // Entries of A and of the product in each row of the sample.
    let (mut columns, mut rows, mut products) = (Vec::<u32>::new(), memory::with_capacity(operation, ROWS)?, 0);
    for n in 0..ROWS {
        // Spread over all rows, in no order.
        let place = (n as u32).wrapping_mul(0x9E37_79B9);
        let i = ((place as u64 * a.nrows as u64) >> 32) as usize;
        products += a.row(i).iter().map(|k| b.range(*k as usize).len() as u64).sum::<u64>();
        // Counting in order costs several times as much for each product as the product itself.
        if products > most / 256 {
            break;
        }
        columns.clear();
        for k in a.row(i) {
            memory::reserve(operation, &mut columns, b.range(*k as usize).len())?;
            columns.extend_from_slice(b.row(*k as usize));
        }
        columns.sort_unstable();
        columns.dedup();
        rows.push((a.range(i).len() as f64, columns.len() as f64));
    }
    let (met, entries) = rows.iter().fold((0.0, 0.0), |sums, row| (sums.0 + row.0, sums.1 + row.1));
    let ratio = entries / met;
    // Three times the standard error of the ratio.
    let error = 3.0 * rows.iter().map(|row| (row.1 - ratio * row.0).powi(2)).sum::<f64>().sqrt() / entries;
    // Room that is not needed is given back where it is an eighth and more.
    const LITTLE: f64 = 0.08;
    const ROUGH: f64 = 0.5;
    let estimate = (a.nnz() as f64 * ratio * (1.02 + error)) as u64 + 1024;
    let rough = longest && error <= ROUGH && estimate < most / 2;
    let known = rows.len() >= ROWS / 4 && (error <= LITTLE || rough);
    Ok(if known { estimate.min(most) } else { most })
}

/// Columns that cut the products of one long row into about equal parts: quantiles of a sample.
pub(super) fn hub_cuts(operation: &'static str, row: &[u32], b: &Pattern, parts: usize) -> Result<Vec<u32>> {
    let products: usize = row.iter().map(|k| b.range(*k as usize).len()).sum();
    let step = (products / (parts * 64)).max(1);
    let mut sample = memory::with_capacity(operation, products / step + 1)?;
    let mut skip = 0;
    for k in row {
        let columns = b.row(*k as usize);
        sample.extend(columns.iter().skip(skip).step_by(step));
        skip = if columns.len() > skip { (step - (columns.len() - skip) % step) % step } else { skip - columns.len() };
    }
    sample.sort_unstable();
    let mut cuts = memory::with_capacity(operation, parts)?;
    cuts.extend((1..parts).filter_map(|p| sample.get(sample.len() * p / parts)));
    cuts.dedup();
    Ok(cuts)
}

/// Steps of one dot product: short lists are looked up in long ones.
#[inline(always)]
pub(crate) fn dot_steps(a: usize, b: usize) -> u64 {
    if searches(a, b) { a as u64 * 8 } else { b as u64 }
}
/// Whether the entries of A's row are searched in B's instead of reading all of that.
#[inline(always)]
pub(crate) fn searches(a: usize, b: usize) -> bool {
    b / 16 > a
}

/// A dot product for each entry of the mask.
pub(crate) fn dotted(operation: &'static str, a: &Pattern, bt: &Pattern, mask: &Pattern) -> Result<Plan> {
    let before = scan(operation, a.nrows, |i| {
        let len = a.range(i).len();
        mask.row(i).iter().map(|j| 1 + dot_steps(len, bt.range(*j as usize).len())).sum::<u64>() + len as u64 + 1
    })?;
    let total = before.last().copied().unwrap_or(0);
    let cuts = |row: usize, parts: usize| quantiles(operation, &[mask], row, parts);
    let blocks = partition(operation, (a.nrows, bt.nrows), target(total), &|r| before[r], &cuts)?;
    Ok(Plan { blocks, size: Size::from(mask.nnz() as u64) })
}

/// Whether dot products are cheaper than scattering, given B as it lies.
pub(crate) fn prefers_dot(
    operation: &'static str,
    a: &Pattern,
    b: &Pattern,
    transposed_b: bool,
    mask: OnMask,
    strategy: Strategy,
) -> Result<bool> {
    let Some(mask) = mask.filter(|m| !m.complement) else { return Ok(false) };
    match strategy {
        Strategy::Dot => return Ok(true),
        Strategy::Auto => {}
        // All others make rows.
        _ => return Ok(false),
    }
    // What turning B round costs, in steps.
    let turn = 6 * b.nnz() as u64 + b.nrows as u64 + b.ncols as u64;
    if !transposed_b && few_products(a, b, mask.pattern.nnz(), turn) {
        return Ok(false);
    }
    let (nrows, inner) = if transposed_b { (b.nrows, b.ncols) } else { (b.ncols, b.nrows) };
    debug_assert!(inner == a.ncols && nrows == mask.pattern.ncols);
    let own = |r: usize| b.range(r).len();
    let total = |steps: &(dyn Fn(&[u32], &[u32]) -> u64 + Sync)| {
        let row = |i: usize| match (a.row(i), mask.pattern.row(i)) {
            ([], _) | (_, []) => 0,
            (entries, admitted) => steps(entries, admitted),
        };
        match a.nnz() + mask.pattern.nnz() < SERIAL {
            true => (0..a.nrows).map(row).sum::<u64>(),
            false => (0..a.nrows).into_par_iter().with_min_len(256).map(row).sum(),
        }
    };
    let dots = |column: &(dyn Fn(usize) -> usize + Sync)| {
        total(&|entries, admitted| {
            let steps = |j: &u32| 1 + dot_steps(entries.len(), column(*j as usize));
            admitted.iter().map(steps).sum::<u64>() + entries.len() as u64
        })
    };
    let scatter = |row: &(dyn Fn(usize) -> usize + Sync)| {
        total(&|entries, admitted| {
            entries.iter().map(|k| 1 + row(*k as usize) as u64).sum::<u64>() + admitted.len() as u64
        })
    };
    if transposed_b {
        let dots = dots(&own);
        // Scattering turns B round at least: of few dots no more is asked, of B no more is looked at.
        return Ok(dots < turn || {
            let other = lengths(operation, b)?;
            dots < scatter(&|k| other[k] as usize) + turn
        });
    }
    let other = lengths(operation, b)?;
    Ok(dots(&|j| other[j] as usize) + turn < scatter(&own))
}

/// Whether a sample of entries says that scattering costs less than turning B round and dots of columns of mean length.
fn few_products(a: &Pattern, b: &Pattern, admitted: usize, turn: u64) -> bool {
    let dots = admitted as u64 * (1 + (b.nnz() / b.ncols.max(1)) as u64) + a.nnz() as u64;
    sampled(a, b) + admitted as u64 <= turn + dots
}

/// How often each column occurs.
pub(crate) fn lengths(operation: &'static str, b: &Pattern) -> Result<Vec<u32>> {
    let mut lengths = memory::filled(operation, b.ncols, 0u32)?;
    b.indices.iter().for_each(|j| lengths[*j as usize] += 1);
    Ok(lengths)
}

/// So far ahead processors do not look themselves, above all where that is another page, and no cache is too small for it.
const STREAM: usize = 2 << 10;

/// Values that will be read soon: where they lie, and the size of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Soon {
    start: *const u8,
    size: usize,
}
impl Soon {
    pub(crate) fn of<T>(values: &[T]) -> Self {
        Self { start: values.as_ptr().cast(), size: size_of::<T>() }
    }
    /// Asks for the cache line of an element.
    #[inline(always)]
    pub(crate) fn prefetch(self, at: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch reads nothing and cannot fault, wherever the address points.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.start.wrapping_add(at * self.size).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (self.start, self.size, at);
    }
    /// Asks for what comes [`STREAM`] bytes behind an element that is read now, of those that are read in their order.
    #[inline(always)]
    pub(crate) fn stream(self, at: usize) {
        Soon { start: self.start.wrapping_add(STREAM), ..self }.prefetch(at);
    }
}

/// How many entries of A ahead of their use rows of B are asked for.
pub(crate) const AHEAD: usize = 12;

/// Rows of B lie anywhere: what entries of A after this one will read, those of the next rows too, is asked for.
#[inline(always)]
pub(crate) fn ask(a: &Pattern, e: usize, b: &Pattern, values: Soon) {
    if let Some(k) = a.indices.get(e + 2 * AHEAD) {
        Soon::of(&b.offsets).prefetch(*k as usize);
    }
    if let Some(k) = a.indices.get(e + AHEAD) {
        let start = b.offsets[*k as usize] as usize;
        Soon::of(&b.indices).prefetch(start);
        values.prefetch(start);
    }
}

/// As [`ask`] where rows of B are read but once: their ends too.
#[inline(always)]
pub(crate) fn ask_whole(a: &Pattern, e: usize, b: &Pattern, values: Soon) {
    if let Some(k) = a.indices.get(e + 2 * AHEAD) {
        Soon::of(&b.offsets).prefetch(*k as usize);
    }
    if let Some(k) = a.indices.get(e + AHEAD) {
        let row = b.range(*k as usize);
        for at in [row.start, row.end.saturating_sub(1)] {
            Soon::of(&b.indices).prefetch(at);
            values.prefetch(at);
        }
    }
}

/// Up to this width an array is cheap whatever is in it.
const WIDE: usize = if cfg!(test) { 16 } else { 1 << 18 };
/// A row with fewer products than this part of its width is hashed.
const SPARSE: usize = if cfg!(test) { 2 } else { 64 };

/// A row has its products close in this many times as many columns.
const CLOSE: usize = if cfg!(test) { 2 } else { 16 };

/// So many products are sorted quickly.
const FEW: usize = if cfg!(test) { 6 } else { 32 };

/// Whether a row's entries alone say that an array over all columns is read in a moment beside its products.
pub(crate) fn is_narrow(entries: usize, ncols: usize) -> bool {
    ncols <= 2 * entries && ncols <= WIDE
}

/// So many, if they are scattered, are sorted faster than they are hashed, and their columns then sorted.
const SORTED: usize = if cfg!(test) { 64 } else { 1 << 14 };

/// What one row of a scattered product will meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Survey {
    pub(crate) products: usize,
    /// Smallest and largest column.
    pub(crate) span: (u32, u32),
    /// Every run of products is a range of columns that overlaps or touches those before it: a band.
    pub(crate) banded: bool,
}
impl Survey {
    pub(crate) fn of(a: &Pattern, i: usize, b: &Pattern, values: Soon, block: &Block) -> Self {
        let mut survey = Survey { products: 0, span: (u32::MAX, 0), banded: true };
        for e in a.range(i) {
            ask(a, e, b, values);
            let range = block.range(b, a.indices[e] as usize);
            if let [first, .., last] | [first @ last] = &b.indices[range.clone()] {
                survey.banded &= (*last - *first) as usize + 1 == range.len()
                    && (survey.products == 0 || (*first <= survey.span.1 + 1 && *last + 1 >= survey.span.0));
                survey.products += range.len();
                survey.span = (survey.span.0.min(*first), survey.span.1.max(*last));
            }
        }
        survey
    }
    /// Products alone, all columns; rows of B are asked for.
    pub(crate) fn count(a: &Pattern, i: usize, b: &Pattern, values: Soon) -> usize {
        let mut products = 0;
        for e in a.range(i) {
            ask(a, e, b, values);
            products += b.range(a.indices[e] as usize).len();
        }
        products
    }
    /// The most entries the row can have.
    pub(crate) fn most(&self) -> usize {
        self.products.min((self.span.1 - self.span.0) as usize + 1)
    }
    /// Columns from the first to the last.
    pub(crate) fn width(&self) -> usize {
        (self.span.1 - self.span.0) as usize + 1
    }
    /// Whether products lie so close that looking at every column between them costs little.
    pub(crate) fn is_close(&self) -> bool {
        self.width() <= 2 * self.products || (self.width() <= WIDE && self.width() <= CLOSE * self.products)
    }
    /// Whether looking at a flag for every 64 columns costs little, and making one for every column, in a product of `a`.
    pub(crate) fn is_far(&self, a: &Pattern) -> bool {
        self.width() / 4096 <= self.products && self.width() / 4 <= a.nnz()
    }
    /// Whether runs of products, as many as entries, are long enough for a loop over each.
    pub(crate) fn is_long(&self, entries: usize) -> bool {
        self.products >= if cfg!(test) { 2 } else { 8 } * entries
    }
    /// Whether so few products lie apart that sorting them is the least there is to do.
    pub(crate) fn is_few(&self) -> bool {
        self.products <= FEW && self.width() > 4 * self.products
    }
    /// Whether products that [are scattered](Self::is_scattered) are few enough to be sorted.
    pub(crate) fn is_sorted(&self) -> bool {
        self.products <= SORTED && self.is_scattered()
    }
    /// Whether so few products lie so far apart that an array over all columns is a waste of cache.
    pub(crate) fn is_scattered(&self) -> bool {
        let width = (self.span.1 - self.span.0) as usize;
        width > WIDE && self.products < width / SPARSE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    /// Of rows of B of which one in four has sixteen entries.
    #[test]
    fn room_is_taken_for_about_what_there_is_and_within_a_limit_for_no_more_than_products() {
        let mut random = Random::new(5, 0);
        let mut rows = |m: usize, n: u64, len: &dyn Fn(usize) -> u64| {
            let (mut offsets, mut indices) = (vec![0], Vec::new());
            for i in 0..m {
                let mut row: Vec<u32> = (0..len(i)).map(|_| random.below(n) as u32).collect();
                row.sort_unstable();
                row.dedup();
                indices.extend(row);
                offsets.push(indices.len() as u64);
            }
            Pattern::new(m, n as usize, offsets, indices)
        };
        let (a, b) = (rows(2000, 400, &|_| 70), rows(400, 1 << 20, &|k| if k % 4 == 0 { 16 } else { 0 }));
        let products: u64 = a.indices.iter().map(|k| b.range(*k as usize).len() as u64).sum();
        let free = scattered("test", &a, &b, None, None).unwrap().size;
        assert!(free.most > 3 * products && free.likely < 2 * products && free.likely > products / 2, "{free:?}");
        let limited = scattered("test", &a, &b, None, Some(1 << 20)).unwrap().size;
        assert!(limited.most == products && limited.likely <= products, "{limited:?} {products}");
    }
}
