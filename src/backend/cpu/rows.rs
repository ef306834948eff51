//! Rows made in parallel blocks and put together: the frame every host kernel that makes a matrix runs in.
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::ops::Range;

/// Rows of one block as they are made.
pub(super) struct Made<T> {
    pub(super) ends: Vec<u64>,
    pub(super) indices: Vec<u32>,
    pub(super) values: Vec<T>,
}
impl<T> Made<T> {
    pub(super) fn with_capacity(operation: &'static str, rows: usize, entries: usize) -> Result<Self> {
        Ok(Self {
            ends: memory::with_capacity(operation, rows)?,
            indices: memory::with_capacity(operation, entries)?,
            values: memory::with_capacity(operation, entries)?,
        })
    }
    /// Room for `n` more entries.
    pub(super) fn reserve(&mut self, operation: &'static str, n: usize) -> Result<()> {
        memory::reserve(operation, &mut self.indices, n)?;
        memory::reserve(operation, &mut self.values, n)
    }
    #[inline(always)]
    pub(super) fn push(&mut self, column: u32, value: T) {
        self.indices.push(column);
        self.values.push(value);
    }
    pub(super) fn end_row(&mut self) {
        self.ends.push(self.indices.len() as u64);
    }
}

/// Work below this is not worth a second thread.
const SMALL: u64 = 1 << 14;
/// The most blocks: enough to even out, whatever the number of threads, so that results do not depend on it.
const BLOCKS: u64 = 256;

/// Blocks of rows of about equal work; `work(r)` is the work of all rows before r.
pub(super) fn blocks(nrows: usize, work: impl Fn(usize) -> u64) -> Vec<Range<usize>> {
    let total = work(nrows);
    let count = (total / SMALL).clamp(1, BLOCKS.min(nrows.max(1) as u64));
    let mut starts: Vec<usize> = Vec::with_capacity(count as usize + 1);
    starts.push(0);
    for b in 1..count {
        let target = (total as u128 * b as u128 / count as u128) as u64;
        let (mut low, mut high) = (*starts.last().unwrap_or(&0), nrows);
        while low < high {
            let middle = low + (high - low) / 2;
            if work(middle) < target { low = middle + 1 } else { high = middle }
        }
        starts.push(low);
    }
    starts.push(nrows);
    starts.windows(2).map(|w| w[0]..w[1]).filter(|r| !r.is_empty()).collect()
}

/// Runs `make` over the blocks, in order. A trait object: rayon's machinery is compiled once a result type, not once a
/// semiring and operator.
pub(super) fn each<R: Send>(blocks: Vec<Range<usize>>, make: &(dyn Fn(Range<usize>) -> R + Sync)) -> Vec<R> {
    match blocks.len() {
        0 | 1 => blocks.into_iter().map(make).collect(),
        _ => blocks.into_par_iter().map(make).collect(),
    }
}

/// Runs `make` over the blocks and puts the rows together in order.
pub(super) fn collect<T: Copy + Send + Sync>(
    operation: &'static str,
    shape: (usize, usize),
    blocks: Vec<Range<usize>>,
    make: &(dyn Fn(Range<usize>) -> Result<Made<T>> + Sync),
) -> Result<HostCsr<T>> {
    let made = each(blocks, make);
    let mut parts = Vec::with_capacity(made.len());
    for part in made {
        parts.push(part?);
    }
    let mut offsets: Vec<u64> = memory::with_capacity(operation, shape.0 + 1)?;
    offsets.push(0);
    let mut starts = Vec::with_capacity(parts.len());
    let mut total = 0u64;
    for part in &parts {
        starts.push(total as usize);
        offsets.extend(part.ends.iter().map(|e| total + e));
        total += part.indices.len() as u64;
    }
    if let [_] = parts[..] {
        // One block: its arrays are the result's.
        if let Some(Made { indices, values, .. }) = parts.pop() {
            return Ok(HostCsr::new(Pattern { nrows: shape.0, ncols: shape.1, offsets, indices }, values));
        }
    }
    let (mut indices, mut values) =
        (memory::with_capacity(operation, total as usize)?, memory::with_capacity(operation, total as usize)?);
    join(&parts, |p| &p.indices, &mut indices);
    join(&parts, |p| &p.values, &mut values);
    Ok(HostCsr::new(Pattern { nrows: shape.0, ncols: shape.1, offsets, indices }, values))
}

/// Appends the parts' arrays to an empty vector that has room for them, in parallel.
fn join<T, U: Copy + Send + Sync>(parts: &[Made<T>], of: impl Fn(&Made<T>) -> &Vec<U>, to: &mut Vec<U>)
where
    T: Sync,
{
    let total: usize = parts.iter().map(|p| of(p).len()).sum();
    let mut rest = &mut to.spare_capacity_mut()[..total];
    let mut jobs = Vec::with_capacity(parts.len());
    for part in parts {
        let (here, after) = rest.split_at_mut(of(part).len());
        jobs.push((here, of(part)));
        rest = after;
    }
    jobs.into_par_iter().for_each(|(here, from)| {
        here.iter_mut().zip(from).for_each(|(h, f)| {
            h.write(*f);
        });
    });
    // SAFETY: the jobs wrote each of the first `total` places.
    unsafe { to.set_len(total) };
}
