//! vxm where most columns are met: sums in an array as long as the result; of full vectors until the matrix keeps its columns
//! ([`by_columns`]).
//!
//! Where ⊕ has an element that changes nothing to the bit, sums start from it and nothing is asked of a product. Which
//! columns were met is known of a full vector from the matrix alone, and flagged for others. Sums that may be grouped at
//! will take some rows a thread; others keep the order of k, and columns are cut among threads where rows are long or
//! threads many.
use super::bins::{self, BinKernels};
use super::by_columns::{self, ColumnKernels};
use super::cut;
use super::met;
use crate::algebra::scalar::as_bytes;
use crate::algebra::*;
use crate::backend::cpu::mxm::analysis::{OnMask, Soon, ask};
use crate::backend::cpu::mxm::job::at;
use crate::backend::cpu::mxm::product::{self, MxmKernels};
use crate::backend::cpu::neutral::neutral;
use crate::backend::cpu::parallel::{
    SERIAL, Shared, each, each_large, each_mut, each_piece, filled, nth_piece, scan, unwritten, written,
};
use crate::backend::host::HostCsr;
use crate::backend::ring::Operators;
use crate::backend::{MxmOptions, Positions};
use crate::error::Result;
use crate::memory;
use crate::spgemm::Strategy;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::any::TypeId;
use std::mem::MaybeUninit;
use std::ops::Range;

/// A result this many times longer than there are products is made otherwise.
const SPARSE: usize = if cfg!(test) { 2 } else { 8 };
/// Threads that are worth cutting columns of short rows.
const MANY: usize = if cfg!(test) { 2 } else { 6 };
/// Bytes of sums that stay next to a processor: one or two threads add to them as fast as to registers, and read values in order.
const NEAR: usize = if cfg!(test) { 1 << 5 } else { 3 << 14 };
/// Columns handled at a time where all of them are looked at.
const PIECE: usize = if cfg!(test) { 1 << 4 } else { 1 << 14 };

/// Products of a row vector with a matrix.
pub(crate) fn products(x: &Pattern, a: &Pattern) -> usize {
    let len = |k: &u32| a.range(*k as usize).len();
    if x.nnz() == a.nrows {
        a.nnz()
    } else if x.nnz() < SERIAL {
        x.indices.iter().map(len).sum()
    } else {
        x.indices.par_iter().with_min_len(1 << 12).map(len).sum()
    }
}

/// Whether [`push`] is the way: where it has a product a column, or enough for a look at all columns but too few for bins.
fn meets_most(products: usize, x: &Pattern, a: &Pattern) -> bool {
    let binned = x.nnz() < a.nrows && bins::pays(products, a.ncols);
    let least = if binned { a.ncols } else { a.ncols / SPARSE };
    products >= least.max(if cfg!(test) { 1 } else { 1 << 10 })
}

/// The loops of vxm, compiled for one semiring.
#[derive(Debug)]
pub(crate) struct VxmKernels<X, A, C> {
    pub(crate) rows: MxmKernels<X, A, C>,
    pub(crate) push: PushKernels<X, A, C>,
    pub(crate) bins: BinKernels<X, A, C>,
}
#[derive(Debug)]
pub(crate) struct PushKernels<X, A, C> {
    by_columns: ColumnKernels<X, A, C>,
    neutral: fn() -> Option<(C, bool)>,
    add_rows: unsafe fn(&Pushing<X, A>, Range<usize>, &Part, &mut [MaybeUninit<C>], &mut [u8]),
    merge: unsafe fn(&mut [MaybeUninit<C>], &[MaybeUninit<C>]),
}
impl<X: Scalar, A: Scalar, C: Scalar> VxmKernels<X, A, C> {
    pub(crate) const fn of<S: Semiring<X, A, Out = C>>() -> Self {
        let push = PushKernels {
            by_columns: ColumnKernels::of::<S>(),
            neutral: neutral::<C, S::Add>,
            add_rows: add_rows::<X, A, S>,
            merge: merge::<C, S::Add>,
        };
        Self { rows: MxmKernels::of_rows::<S>(), push, bins: BinKernels::of::<S>() }
    }
    /// Whether xᵀ ⊕.⊗ A without a mask is made by A's columns, as they are kept by now.
    pub(crate) fn takes_columns(&self, x: &Pattern, a: &Pattern) -> bool {
        let products = products(x, a);
        meets_most(products, x, a) && self.push.suits_columns(x, a, products) && by_columns::are_kept(a)
    }
}
impl<X: Scalar, A: Scalar, C: Scalar> PushKernels<X, A, C> {
    /// Whether A's columns are worth being kept.
    fn suits_columns(&self, x: &Pattern, a: &Pattern, products: usize) -> bool {
        // Sums of columns that are soon final leave most entries alone.
        let near =
            a.ncols * size_of::<C>() <= NEAR && rayon::current_num_threads() < 3 && !self.by_columns.soon_final();
        x.nnz() == a.nrows && !near && products >= SERIAL
    }
}

/// The operands of vxm.
pub(crate) struct Pushing<'a, X, A> {
    pub(crate) x: &'a HostCsr<X>,
    pub(crate) a: &'a HostCsr<A>,
    pub(crate) at: &'a Positions,
}

/// t⟨m⟩ = xᵀ ⊕.⊗ A. Where x is full and there is no mask, A may have one value for all its entries.
pub(crate) fn vxm<X: Scalar, A: Scalar, C: Scalar>(
    operators: &Operators<X, A, C>,
    kernels: &VxmKernels<X, A, C>,
    x: &HostCsr<X>,
    a: &HostCsr<A>,
    mask: OnMask,
    at: &Positions,
) -> Result<HostCsr<C>> {
    let products = products(&x.pattern, &a.pattern);
    if mask.is_none() && meets_most(products, &x.pattern, &a.pattern) {
        return push(&kernels.push, x, a, products, at);
    }
    // The others look at a value for each entry.
    let own;
    let a = match a.values[..] {
        [one] if a.pattern.nnz() != 1 => {
            own = HostCsr::at(a.pattern.clone(), filled("vxm", a.pattern.nnz(), one)?);
            &own
        }
        _ => a,
    };
    // Where few are admitted, those alone are worth a look.
    let many = mask.is_none_or(|m| m.complement || m.pattern.nnz() >= products);
    if many && bins::pays(products, a.pattern.ncols) {
        return bins::push(&kernels.bins, &Pushing { x, a, at }, products, mask);
    }
    let options = MxmOptions { strategy: Strategy::Hash, ..MxmOptions::default() };
    if let Some((pattern, value)) = product::mxm_iso("vxm", operators, &kernels.rows, x, a, (mask, None), &options)? {
        let values = filled("vxm", pattern.nnz(), value)?;
        return Ok(HostCsr::at(pattern, values));
    }
    product::mxm("vxm", &kernels.rows, x, a, mask, at, &options)
}

/// A range of columns, and rows outside of which no entry of A lies in it.
struct Part {
    columns: Range<usize>,
    rows: Range<u32>,
}
impl Part {
    fn of(columns: Range<usize>) -> Self {
        Part { columns, rows: 0..u32::MAX }
    }
    /// The entries of x that can meet it.
    fn entries(&self, x: &Pattern) -> Range<usize> {
        let before = |row: u32| x.indices.partition_point(|k| *k < row);
        before(self.rows.start)..before(self.rows.end)
    }
}

/// Sums of all columns, and a flag for each that was met, where somebody asks.
struct Sums<C> {
    values: Vec<MaybeUninit<C>>,
    flags: Vec<u8>,
}
impl<C: Scalar> Sums<C> {
    fn new(operation: &'static str, n: usize, flags: bool) -> Result<Self> {
        let flags = if flags { memory::filled(operation, n, 0)? } else { Vec::new() };
        Ok(Self { values: unwritten(operation, n)?, flags })
    }
}

/// t = xᵀ ⊕.⊗ A.
fn push<X: Scalar, A: Scalar, C: Scalar>(
    kernels: &PushKernels<X, A, C>,
    x: &HostCsr<X>,
    a: &HostCsr<A>,
    products: usize,
    at: &Positions,
) -> Result<HostCsr<C>> {
    let operation = "vxm";
    let (n, full) = (a.pattern.ncols, x.pattern.nnz() == a.pattern.nrows);
    if kernels.suits_columns(&x.pattern, &a.pattern, products)
        && let Some(sums) = by_columns::vxm(&kernels.by_columns, x, a, at)?
    {
        return Ok(sums);
    }
    let pushing = Pushing { x, a, at };
    // Where every row takes part, the pattern of A says what is met.
    let met = match full {
        true => Some(met::columns(operation, &a.pattern, &x.pattern)?),
        false => None,
    };
    let start = (kernels.neutral)();
    let flagged = met.is_none() || start.is_none();
    let mut sums = Sums::<C>::new(operation, n, flagged)?;
    let free = start.is_some_and(|(_, free)| free);
    let add = |entries: Range<usize>, part: &Part, values: &mut [MaybeUninit<C>], flags: &mut [u8]| {
        if let Some((start, _)) = start {
            values.fill(MaybeUninit::new(start));
        }
        // SAFETY: sums start from the neutral element where there is one, or have their flags.
        unsafe { (kernels.add_rows)(&pushing, entries, part, values, flags) };
    };
    let cuts = if products < SERIAL { None } else { cut::columns(operation, &a.pattern)? };
    let most = rayon::current_num_threads().min(products / (2 * n.max(1)));
    if free && cuts.is_none() && products >= SERIAL && most > 1 {
        let chunks = entry_chunks(&x.pattern, &a.pattern, products, most);
        let mut others = memory::with_capacity(operation, chunks.len())?;
        for _ in 1..chunks.len() {
            others.push(Sums::new(operation, n, flagged)?);
        }
        let mut parts: Vec<_> = std::iter::once(&mut sums).chain(&mut others).zip(chunks).collect();
        each_mut(&mut parts, &|_, (sums, chunk)| {
            add(chunk.clone(), &Part::of(0..n), &mut sums.values, &mut sums.flags);
        });
        drop(parts);
        for other in &others {
            let to = Shared::new(&mut sums.values);
            each_piece(n, PIECE, &|piece| {
                // SAFETY: pieces are disjoint, and all started from the neutral element.
                unsafe { (kernels.merge)(to.part(piece.clone()), &other.values[piece]) };
            });
            sums.flags.iter_mut().zip(&other.flags).for_each(|(to, from)| *to |= from);
        }
    } else {
        let parts = match &cuts {
            Some(cuts) => {
                let columns = cuts.starts.windows(2).map(|c| c[0] as usize..c[1] as usize);
                columns.zip(&cuts.rows).map(|(columns, rows)| Part { columns, rows: rows.clone() }).collect()
            }
            None => column_parts(operation, &x.pattern, &a.pattern, products)?,
        };
        let (values, flags) = (Shared::new(&mut sums.values), Shared::new(&mut sums.flags));
        each_large(parts.len(), &|p| {
            let part = &parts[p];
            // SAFETY: parts are disjoint ranges of columns.
            let (values, flags) = unsafe {
                (values.part(part.columns.clone()), flags.part(if flagged { part.columns.clone() } else { 0..0 }))
            };
            add(part.entries(&x.pattern), part, values, flags);
        });
    }
    let Some(met) = met else { return kept(operation, &sums.values, &sums.flags) };
    let values = match met.nnz() == n {
        // SAFETY: every column was met or at least started.
        true => unsafe { written(sums.values, n) },
        // SAFETY: these columns were met.
        false => unsafe { met::gathered(operation, &met, &sums.values)? },
    };
    Ok(HostCsr::at(met, values))
}

/// Adds the products of some entries of x in some columns.
/// # Safety
/// Where ⊕ has a neutral element, all sums have a value. Elsewhere each has a flag, and those that are set a value.
unsafe fn add_rows<X: Scalar, A: Scalar, S: Semiring<X, A>>(
    pushing: &Pushing<X, A>,
    entries: Range<usize>,
    part: &Part,
    sums: &mut [MaybeUninit<S::Out>],
    flags: &mut [u8],
) {
    // SAFETY: this function's contract; `each_product` asks for values of A's entries.
    unsafe {
        match pushing.a.values[..] {
            // What reads no values is compiled once.
            [one] if S::Multiply::READS.b => add_valued::<X, A, S>(pushing, |_| one, entries, part, sums, flags),
            ref values => {
                assert!(values.len() == pushing.a.pattern.nnz());
                add_valued::<X, A, S>(pushing, |e| *values.get_unchecked(e), entries, part, sums, flags);
            }
        }
    }
}

/// As [`add_rows`], where A's entry e has `value(e)`.
/// # Safety
/// As there.
#[inline(always)]
unsafe fn add_valued<X: Scalar, A: Scalar, S: Semiring<X, A>>(
    pushing: &Pushing<X, A>,
    value: impl Fn(usize) -> A,
    entries: Range<usize>,
    part: &Part,
    sums: &mut [MaybeUninit<S::Out>],
    flags: &mut [u8],
) {
    assert!(sums.len() == part.columns.len() && (flags.is_empty() || flags.len() == sums.len()));
    let neutral = neutral::<S::Out, S::Add>();
    match (neutral, flags.is_empty()) {
        (Some((start, _)), true) => {
            each_product::<X, A, S>(pushing, value, entries, part, Some(start), |place, product| {
                // SAFETY: `each_product` calls with places in the part, whose length is that of sums and flags; the contract.
                unsafe {
                    let sum = sums.get_unchecked_mut(place);
                    *sum = MaybeUninit::new(S::Add::apply(sum.assume_init(), product));
                }
            })
        }
        (_, false) => each_product::<X, A, S>(pushing, value, entries, part, None, |place, product| {
            // SAFETY: as above; a sum with its flag has a value, and where there is a neutral element all have one.
            unsafe {
                let (sum, flag) = (sums.get_unchecked_mut(place), flags.get_unchecked_mut(place));
                let has_value = neutral.is_some() || *flag != 0;
                let next = if has_value { S::Add::apply(sum.assume_init(), product) } else { product };
                (*sum, *flag) = (MaybeUninit::new(next), 1);
            }
        }),
        (None, true) => assert!(sums.is_empty(), "flags are missing"),
    }
}

/// Entries of x at a time of which those that add nothing are left out.
const BATCH: usize = 256;

/// The products of some entries of x in some columns, each with its column's place in the part. Those known to be `start`,
/// the neutral element, may be left out.
#[inline(always)]
fn each_product<X: Scalar, A: Scalar, S: Semiring<X, A>>(
    Pushing { x, a, at: positions }: &Pushing<X, A>,
    value: impl Fn(usize) -> A,
    entries: Range<usize>,
    part: &Part,
    start: Option<S::Out>,
    mut add: impl FnMut(usize, S::Out),
) {
    let (offsets, indices) = (&a.pattern.offsets[..], &a.pattern.indices[..]);
    assert!(part.columns.end <= a.pattern.ncols);
    assert!(offsets.len() == a.pattern.nrows + 1 && x.pattern.ncols <= a.pattern.nrows);
    let (whole, soon) = (part.columns.len() == a.pattern.ncols, Soon::of(&a.values));
    let sparse = x.pattern.nnz() < x.pattern.ncols;
    let (ks, xs) = (&x.pattern.indices[entries.clone()], &x.values[entries.clone()]);
    let mut row = |e: usize, k: u32, v: X| {
        if sparse {
            ask(&x.pattern, entries.start + e, &a.pattern, soon);
        }
        // SAFETY: k is below the columns of x, for which offsets of A were asserted.
        let (from, to) = unsafe { (*offsets.get_unchecked(k as usize), *offsets.get_unchecked(k as usize + 1)) };
        let mut range = from as usize..to as usize;
        if !whole {
            range = within(&indices[range.clone()], range, &part.columns);
        }
        for e in range {
            // SAFETY: e is in a row's range, inside the array by the pattern's promise.
            let j = unsafe { *indices.get_unchecked(e) };
            let product = S::Multiply::multiply(v, value(e), at::<X, A, S>(positions, 0, k as usize, j as usize));
            add(j as usize - part.columns.start, product);
        }
    };
    match start {
        Some(start)
            if const { size_of::<A>() == 1 }
                && TypeId::of::<A>() == TypeId::of::<bool>()
                && !S::Multiply::READS.position =>
        {
            let mut live = [0u32; BATCH];
            for first in (0..ks.len()).step_by(BATCH) {
                let mut n = 0;
                for (e, v) in (first as u32..).zip(&xs[first..xs.len().min(first + BATCH)]) {
                    live[n % BATCH] = e;
                    n += !adds_nothing::<X, A, S>(*v, start) as usize;
                }
                live[..n].iter().for_each(|e| row(*e as usize, ks[*e as usize], xs[*e as usize]));
            }
        }
        _ => ks.iter().zip(xs).enumerate().for_each(|(e, (k, v))| row(e, *k, *v)),
    }
}

/// Whether both products of x are the neutral element; A is bool.
#[inline(always)]
fn adds_nothing<X: Scalar, A: Scalar, S: Semiring<X, A>>(x: X, neutral: S::Out) -> bool {
    [false, true].into_iter().all(|y| {
        // SAFETY: A is bool, as the caller found.
        let y = unsafe { std::mem::transmute_copy::<bool, A>(&y) };
        same_bits(&S::Multiply::multiply(x, y, At::default()), &neutral)
    })
}

/// Sums of the same columns met by ⊕.
/// # Safety
/// All have a value.
unsafe fn merge<T: Scalar, M: Monoid<T>>(to: &mut [MaybeUninit<T>], from: &[MaybeUninit<T>]) {
    for (to, from) in to.iter_mut().zip(from) {
        // SAFETY: the contract.
        *to = MaybeUninit::new(unsafe { M::apply(to.assume_init(), from.assume_init()) });
    }
}

/// The part of a row's range with columns in `part`: most rows lie on one side.
#[inline(always)]
fn within(columns: &[u32], range: Range<usize>, part: &Range<usize>) -> Range<usize> {
    let (Some(first), Some(last)) = (columns.first(), columns.last()) else { return range };
    if (*last as usize) < part.start || *first as usize >= part.end {
        return range.start..range.start;
    }
    let below = |c: usize| columns.partition_point(|j| (*j as usize) < c);
    let from = if (*first as usize) < part.start { below(part.start) } else { 0 };
    let to = if (*last as usize) < part.end { columns.len() } else { below(part.end) };
    range.start + from..range.start + to
}

/// Entries of x in runs with about equal products.
fn entry_chunks(x: &Pattern, a: &Pattern, products: usize, most: usize) -> Vec<Range<usize>> {
    let (n, share) = (x.nnz(), products.div_ceil(most.max(1)).max(1));
    let mut ends: Vec<usize> = if n == a.nrows {
        (1..most).map(|c| a.offsets.partition_point(|o| (*o as usize) < c * share).min(n)).collect()
    } else {
        (1..most).map(|c| n * c / most).collect()
    };
    ends.push(n);
    ends.iter().scan(0, |start, end| Some(std::mem::replace(start, *end)..*end)).collect()
}

/// Ranges of columns with about equal products: one a thread where most rows lie in one range or are long.
fn column_parts(operation: &'static str, x: &Pattern, a: &Pattern, products: usize) -> Result<Vec<Part>> {
    let threads = if products < SERIAL { 1 } else { rayon::current_num_threads() };
    // Each part looks at every row: as many threads as make up for that, or rows long enough.
    let long = products / (64 * x.nnz().max(1)) >= threads;
    let mut cuts = Vec::new();
    if threads > 1 && (long || threads >= MANY) {
        let some = || x.indices.iter().step_by(x.nnz() / cut::SAMPLE + 1).map(|k| a.row(*k as usize));
        cuts = cut::quantiles(operation, some(), threads)?;
        if !long && some().filter(|row| cut::crosses(row, &cuts)).count() > cut::SAMPLE / 16 {
            cuts.clear();
        }
    }
    let mut parts = memory::with_capacity(operation, cuts.len() + 1)?;
    let mut start = 0;
    for end in cuts.into_iter().map(|c: u32| c as usize).chain([a.ncols]) {
        parts.push(Part::of(start..end));
        start = end;
    }
    Ok(parts)
}

/// Equal to the bit; numbers without a call.
#[inline(always)]
fn same_bits<T: Scalar>(x: &T, y: &T) -> bool {
    if size_of::<T>() <= 8 {
        return bits(x) == bits(y);
    }
    as_bytes(std::slice::from_ref(x)) == as_bytes(std::slice::from_ref(y))
}

/// The bits of a number.
#[inline(always)]
fn bits<T: Scalar>(value: &T) -> u64 {
    let mut word = [0; 8];
    let bytes = as_bytes(std::slice::from_ref(value));
    word[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
    u64::from_ne_bytes(word)
}

/// The sums of the columns that were met: those with a flag.
fn kept<T: Scalar>(operation: &'static str, sums: &[MaybeUninit<T>], flags: &[u8]) -> Result<HostCsr<T>> {
    let n = sums.len();
    assert!(flags.len() == n);
    let piece = |p: usize| nth_piece(n, PIECE, p);
    let count = |p: usize| flags[piece(p)].iter().map(|f| *f as u64).sum();
    let starts = scan(operation, n.div_ceil(PIECE), count)?;
    let total = starts.last().copied().unwrap_or(0) as usize;
    let (mut indices, mut values) = (unwritten::<u32>(operation, total)?, unwritten::<T>(operation, total)?);
    let (to_indices, to_values) = (Shared::new(&mut indices), Shared::new(&mut values));
    let one = |p: usize| {
        let place = starts[p] as usize..starts[p + 1] as usize;
        // SAFETY: pieces have disjoint places by the scan of their counts.
        let (c, v) = unsafe { (to_indices.part(place.clone()), to_values.part(place)) };
        let mut kept = 0;
        for (first, flags) in piece(p).step_by(8).zip(flags[piece(p)].chunks(8)) {
            if flags == [0; 8] {
                continue;
            }
            // Each column is written where the next one kept goes: no branch to guess.
            for (j, flag) in (first..).zip(flags) {
                if kept == c.len() {
                    return;
                }
                (c[kept], v[kept]) = (MaybeUninit::new(j as u32), sums[j]);
                kept += (*flag != 0) as usize;
            }
        }
    };
    let pieces = n.div_ceil(PIECE);
    if n <= SERIAL {
        (0..pieces).for_each(one)
    } else {
        each(pieces, &one)
    }
    // SAFETY: each piece wrote as many as it counted, and each of them was met.
    let (indices, values) = unsafe { (written(indices, total), written(values, total)) };
    Ok(HostCsr::new(Pattern::new(1, n, vec![0, total as u64], indices), values))
}
