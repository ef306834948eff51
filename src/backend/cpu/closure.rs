//! Floyd–Warshall in blocks of pivots, rows shared out among the cores.
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::PIVOTS;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::marker::PhantomData;

/// Columns handled at once: [`PIVOTS`] rows of so many f64 are 256 KiB, and are read by every row while they are in the cache.
const TILE: usize = 512;
const OPERATION: &str = "closure";

/// All ways through all places; `Err` of a place from which a way to itself is better than to stay.
pub(super) fn closure<T: Scalar, J: BinaryOp<T, T, Out = T>, B: BinaryOp<T, T, Out = bool>>(
    a: &HostCsr<T>,
    (trivial, absent): (T, T),
) -> Result<std::result::Result<HostCsr<T>, usize>> {
    let width = a.pattern.nrows;
    let ways = Ways::<T, J, B> { absent, width, by: PhantomData };
    let mut d = memory::filled(OPERATION, width.saturating_mul(width), absent)?;
    for (i, row) in d.chunks_mut(width.max(1)).enumerate() {
        let (columns, values) = a.row(i);
        columns.iter().zip(values).for_each(|(j, x)| row[*j as usize] = *x);
        row[i] = trivial;
    }
    let mut pivots = memory::filled(OPERATION, PIVOTS * width, absent)?;
    let mut pivot = memory::filled(OPERATION, width, absent)?;
    for first in (0..width).step_by(PIVOTS) {
        let count = PIVOTS.min(width - first);
        let strip = &mut d[first * width..(first + count) * width];
        ways.close_strip(strip, first, count, &mut pivot);
        pivots[..count * width].copy_from_slice(strip);
        let pivots = &pivots[..count * width];
        d.par_chunks_mut(PIVOTS * width).enumerate().for_each(|(block, rows)| {
            if block * PIVOTS != first {
                ways.relax(rows, pivots, first, count);
            }
        });
        if let Some(v) = (0..width).find(|v| B::apply(d[v * width + v], trivial)) {
            return Ok(Err(v));
        }
    }
    ways.compressed(&d).map(Ok)
}

struct Ways<T, J, B> {
    absent: T,
    width: usize,
    by: PhantomData<fn() -> (J, B)>,
}

impl<T: Scalar, J: BinaryOp<T, T, Out = T>, B: BinaryOp<T, T, Out = bool>> Ways<T, J, B> {
    /// Floyd–Warshall within the pivots' rows: afterwards they know every way through pivots.
    fn close_strip(&self, strip: &mut [T], first: usize, count: usize, pivot: &mut [T]) {
        for k in 0..count {
            pivot.copy_from_slice(&strip[k * self.width..(k + 1) * self.width]);
            strip.par_chunks_mut(self.width).enumerate().for_each(|(i, row)| {
                let to_pivot = row[first + k];
                if i != k && to_pivot != self.absent {
                    Self::join_row(row, to_pivot, pivot);
                }
            });
        }
    }

    /// d(i, j) = the better of d(i, j) and join(d(i, k), p(k, j)) for all pivots k. The old d(i, k) do: p knows all ways between
    /// pivots.
    fn relax(&self, rows: &mut [T], pivots: &[T], first: usize, count: usize) {
        let width = self.width;
        let mut to_pivots = [self.absent; PIVOTS * PIVOTS];
        for (row, saved) in rows.chunks(width).zip(to_pivots.chunks_mut(PIVOTS)) {
            saved[..count].copy_from_slice(&row[first..first + count]);
        }
        for start in (0..width).step_by(TILE) {
            let tile = start..(start + TILE).min(width);
            for (row, saved) in rows.chunks_mut(width).zip(to_pivots.chunks(PIVOTS)) {
                for (to_pivot, pivot) in saved[..count].iter().zip(pivots.chunks(width)) {
                    if *to_pivot != self.absent {
                        Self::join_row(&mut row[tile.clone()], *to_pivot, &pivot[tile.clone()]);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn join_row(row: &mut [T], to_pivot: T, pivot: &[T]) {
        for (d, p) in row.iter_mut().zip(pivot) {
            let through = J::apply(to_pivot, *p);
            *d = if B::apply(through, *d) { through } else { *d };
        }
    }

    /// What is not absent, by rows.
    fn compressed(&self, d: &[T]) -> Result<HostCsr<T>> {
        let width = self.width;
        let present = |way: &T| B::apply(*way, self.absent);
        let count = d.par_iter().filter(|way| present(way)).count();
        let mut offsets: Vec<u64> = memory::with_capacity(OPERATION, width + 1)?;
        let mut indices: Vec<u32> = memory::with_capacity(OPERATION, count)?;
        let mut values: Vec<T> = memory::with_capacity(OPERATION, count)?;
        offsets.push(0);
        for row in d.chunks(width.max(1)) {
            for (j, way) in row.iter().enumerate().filter(|(_, way)| present(way)) {
                indices.push(j as u32);
                values.push(*way);
            }
            offsets.push(indices.len() as u64);
        }
        Ok(HostCsr::new(Pattern::new(width, width, offsets, indices), values))
    }
}
