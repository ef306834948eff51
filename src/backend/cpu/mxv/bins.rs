//! vxm of a vector with few entries: products go to bins by ranges of columns, in the order of k, and each bin is summed in
//! an array that fits the cache nearest to the core. Nothing as long as the result is touched.
use super::push::Pushing;
use crate::algebra::*;
use crate::backend::cpu::assemble::assemble;
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::mxm::analysis::{OnMask, Soon, ask_whole};
use crate::backend::cpu::mxm::flat::Flat;
use crate::backend::cpu::mxm::job::at;
use crate::backend::cpu::neutral::neutral;
use crate::backend::cpu::parallel::{SERIAL, Shared, unwritten, written};
use crate::backend::cpu::rows::Rows;
use crate::backend::cpu::structure::ascending::filter;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Fewer products, or products that lie further apart than this, are hashed.
const LEAST: usize = if cfg!(test) { 8 } else { 1 << 14 };
const APART: usize = if cfg!(test) { 16 } else { 256 };
/// Columns of a bin as a power of two: at least, and where there are so many bins.
const NARROW: u32 = if cfg!(test) { 3 } else { 10 };
const BINS: usize = if cfg!(test) { 4 } else { 512 };

/// Whether [`push`] is the way.
pub(crate) fn pays(products: usize, ncols: usize) -> bool {
    products >= LEAST.max(ncols / APART)
}

/// The loops over products, compiled for one semiring.
#[derive(Debug)]
pub(crate) struct BinKernels<X, A, C> {
    fill: unsafe fn(&Pushing<X, A>, Range<usize>, u32, &mut [u64], &Products<C>),
    sum: unsafe fn(&[u32], &[C], u32, &mut Flat<C>),
    neutral: fn() -> Option<(C, bool)>,
}
impl<X: Scalar, A: Scalar, C: Scalar> BinKernels<X, A, C> {
    pub(crate) const fn of<S: Semiring<X, A, Out = C>>() -> Self {
        Self { fill: fill::<X, A, S>, sum: sum::<C, S::Add>, neutral: neutral::<C, S::Add> }
    }
}

/// Products on their way to their bins.
struct Products<C> {
    columns: Shared<MaybeUninit<u32>>,
    values: Shared<MaybeUninit<C>>,
}

/// t⟨m⟩ = xᵀ ⊕.⊗ A, where there are so many products.
pub(crate) fn push<X: Scalar, A: Scalar, C: Scalar>(
    kernels: &BinKernels<X, A, C>,
    pushing: &Pushing<X, A>,
    products: usize,
    mask: OnMask,
) -> Result<HostCsr<C>> {
    let (operation, x, a) = ("vxm", &pushing.x.pattern, &pushing.a.pattern);
    let shift = (a.ncols.div_ceil(BINS).next_power_of_two().trailing_zeros()).max(NARROW);
    let bins = a.ncols.div_ceil(1 << shift);
    let chunks = if products < SERIAL { 1 } else { rayon::current_num_threads() };
    let entries = |c: usize| x.nnz() * c / chunks..x.nnz() * (c + 1) / chunks;
    // How many products each chunk has for each bin; then where its next one goes.
    let mut counts = memory::filled(operation, chunks * bins, 0u64)?;
    let count = |(c, counts): (usize, &mut [u64])| {
        count(x, a, Soon::of(&pushing.a.values), entries(c), shift, counts);
    };
    each_chunk(chunks, bins, &mut counts, &count);
    let mut starts = memory::with_capacity(operation, bins + 1)?;
    let mut total = 0;
    for bin in 0..bins {
        starts.push(total as usize);
        for c in 0..chunks {
            total += std::mem::replace(&mut counts[c * bins + bin], total);
        }
    }
    starts.push(total as usize);
    let total = total as usize;
    let (mut columns, mut values) = (unwritten::<u32>(operation, total)?, unwritten::<C>(operation, total)?);
    let to = Products { columns: Shared::new(&mut columns), values: Shared::new(&mut values) };
    let fill = |(c, next): (usize, &mut [u64])| {
        // SAFETY: the chunk's products were counted by bin, and each chunk has places of its own in each bin.
        unsafe { (kernels.fill)(pushing, entries(c), shift, next, &to) }
    };
    each_chunk(chunks, bins, &mut counts, &fill);
    // SAFETY: as many products were written as were counted.
    let (columns, values) = unsafe { (written(columns, total), written(values, total)) };
    let start = (kernels.neutral)().map_or_else(C::zeroed, |(start, _)| start);
    let kernel = |block: &Block, rows: &mut Rows<C>, flat: &mut Flat<C>| {
        let width = 1 << shift;
        flat.grow(operation, width, start)?;
        for bin in block.columns.start as usize >> shift..(block.columns.end as usize).div_ceil(width) {
            let (first, some) = ((bin << shift) as u32, starts[bin]..starts[bin + 1]);
            if some.is_empty() {
                continue;
            }
            // SAFETY: these products have columns in `first..first + width`, for which there is room.
            unsafe { (kernels.sum)(&columns[some.clone()], &values[some.clone()], first, flat) };
            let before = rows.indices.len();
            flat.drain::<false>(operation, (first, width), some.len(), start, rows)?;
            if let Some(m) = mask {
                let below = |c: usize| m.pattern.indices.partition_point(|j| (*j as usize) < c);
                let listed = &m.pattern.indices[below(first as usize)..below(first as usize + width)];
                filter(rows, before, listed, m.complement);
            }
        }
        rows.end_row();
        Ok(())
    };
    let blocks = blocks(operation, &starts, shift, a.ncols)?;
    assemble::<C, Flat<C>>(operation, (1, a.ncols), total as u64, &blocks, &kernel)
}

/// Each chunk with its counters, on all threads.
fn each_chunk(chunks: usize, bins: usize, counts: &mut [u64], one: &(dyn Fn((usize, &mut [u64])) + Sync)) {
    match chunks {
        1 => one((0, counts)),
        _ => counts.par_chunks_mut(bins.max(1)).with_max_len(1).enumerate().for_each(one),
    }
}

/// Bins in blocks with enough products to be handed out.
fn blocks(operation: &'static str, starts: &[usize], shift: u32, ncols: usize) -> Result<Vec<Block>> {
    let total = starts.last().copied().unwrap_or(0);
    let share = (total / 32).max(if cfg!(test) { 16 } else { 1 << 12 });
    let mut blocks = memory::with_capacity(operation, total / share + 2)?;
    let mut from = 0;
    for bin in 1..starts.len() {
        if starts[bin] - starts[from] >= share || bin + 1 == starts.len() {
            let end = (bin << shift).min(ncols) as u32;
            blocks.push(Block { rows: 0..1, columns: (from << shift) as u32..end, whole: false });
            from = bin;
        }
    }
    Ok(blocks)
}

/// Products by bin; rows of A are asked for ahead of their use.
fn count(x: &Pattern, a: &Pattern, soon: Soon, entries: Range<usize>, shift: u32, counts: &mut [u64]) {
    for e in entries {
        ask_whole(x, e, a, soon);
        a.row(x.indices[e] as usize).iter().for_each(|j| counts[(*j >> shift) as usize] += 1);
    }
}

/// The products of some entries of x, each to the next place of its bin.
/// # Safety
/// `next` are places for as many products as there are in each bin.
unsafe fn fill<X: Scalar, A: Scalar, S: Semiring<X, A>>(
    Pushing { x, a, at: positions }: &Pushing<X, A>,
    entries: Range<usize>,
    shift: u32,
    next: &mut [u64],
    to: &Products<S::Out>,
) {
    let soon = Soon::of(&a.values);
    for (e, (k, v)) in entries.clone().zip(x.pattern.indices[entries.clone()].iter().zip(&x.values[entries])) {
        ask_whole(&x.pattern, e, &a.pattern, soon);
        let (columns, values) = a.row(*k as usize);
        for (j, y) in columns.iter().zip(values) {
            let product = S::Multiply::multiply(*v, *y, at::<X, A, S>(positions, 0, *k as usize, *j as usize));
            let place = &mut next[(*j >> shift) as usize];
            // SAFETY: the contract.
            unsafe {
                to.columns.write(*place as usize, MaybeUninit::new(*j));
                to.values.write(*place as usize, MaybeUninit::new(product));
            }
            *place += 1;
        }
    }
}

/// Sums of the products of one bin, in their order.
/// # Safety
/// Columns are not before `first`, and there is room for the last.
unsafe fn sum<T: Scalar, M: Monoid<T>>(columns: &[u32], products: &[T], first: u32, flat: &mut Flat<T>) {
    let (neutral, flat) = (neutral::<T, M>().is_some(), flat.open());
    for (j, product) in columns.iter().zip(products) {
        let place = (*j - first) as usize;
        // SAFETY: the contract.
        unsafe {
            match neutral {
                true => flat.add(place, *product, M::apply),
                false => flat.add_or_put(place, *product, M::apply),
            }
        }
    }
}
