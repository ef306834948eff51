//! The dense closure: Floyd–Warshall in blocks of pivots, rows shared out among the cores.
use super::path::Route;
use crate::container::Matrix;
use crate::error::{Error, Result};
use crate::memory;
use rayon::prelude::*;

/// Pivots handled at once: a strip of them is read by every row while it is in the cache.
const BLOCK: usize = 64;
/// Columns handled at once: BLOCK × TILE f64 are 256 KiB.
const TILE: usize = 512;

/// All shortest paths from those found so far, diagonal included. O(n³), n² values.
pub(crate) fn floyd_warshall<R: Route>(paths: &Matrix<R, R::Semiring>, n: u64) -> Result<Matrix<R, R::Semiring>> {
    let (operation, width) = ("apsp", n as usize);
    let mut d = memory::filled(operation, width.saturating_mul(width), R::ABSENT)?;
    for (i, j, path) in paths.entries()? {
        d[i as usize * width + j as usize] = path;
    }
    for i in 0..width {
        d[i * width + i] = R::TRIVIAL;
    }
    let mut pivots = memory::filled(operation, BLOCK * width, R::ABSENT)?;
    for first in (0..width).step_by(BLOCK) {
        let count = BLOCK.min(width - first);
        let strip = &mut d[first * width..(first + count) * width];
        close_strip(strip, first, count, width);
        pivots[..count * width].copy_from_slice(strip);
        let pivots = &pivots[..count * width];
        d.par_chunks_mut(BLOCK * width).enumerate().for_each(|(block, rows)| {
            if block * BLOCK != first {
                relax(rows, pivots, first, count, width);
            }
        });
        if let Some(v) = (0..width).find(|v| d[v * width + v].length() < 0.0) {
            return Err(Error::NegativeCycle { operation, vertex: v as u64 });
        }
    }
    compressed(&d, width, paths)
}

/// Floyd–Warshall within the pivots' rows: afterwards they know every path through pivots.
fn close_strip<R: Route>(strip: &mut [R], first: usize, count: usize, width: usize) {
    let mut pivot: Vec<R> = Vec::new();
    for k in 0..count {
        pivot.clear();
        pivot.extend_from_slice(&strip[k * width..(k + 1) * width]);
        strip.par_chunks_mut(width).enumerate().for_each(|(i, row)| {
            let to_pivot = row[first + k];
            if i != k && to_pivot != R::ABSENT {
                join_row(row, to_pivot, &pivot);
            }
        });
    }
}

/// d(i, j) = min(d(i, j), d(i, k) + p(k, j)) for all pivots k. The old d(i, k) do: p knows all ways between pivots.
fn relax<R: Route>(rows: &mut [R], pivots: &[R], first: usize, count: usize, width: usize) {
    let mut to_pivots = [R::ABSENT; BLOCK * BLOCK];
    for (row, saved) in rows.chunks(width).zip(to_pivots.chunks_mut(BLOCK)) {
        saved[..count].copy_from_slice(&row[first..first + count]);
    }
    for start in (0..width).step_by(TILE) {
        let tile = start..(start + TILE).min(width);
        for (row, saved) in rows.chunks_mut(width).zip(to_pivots.chunks(BLOCK)) {
            for (to_pivot, pivot) in saved[..count].iter().zip(pivots.chunks(width)) {
                if *to_pivot != R::ABSENT {
                    join_row(&mut row[tile.clone()], *to_pivot, &pivot[tile.clone()]);
                }
            }
        }
    }
}

#[inline(always)]
fn join_row<R: Route>(row: &mut [R], to_pivot: R, pivot: &[R]) {
    for (d, p) in row.iter_mut().zip(pivot) {
        let through = R::join(to_pivot, *p);
        *d = if R::better(through, *d) { through } else { *d };
    }
}

fn compressed<R: Route>(d: &[R], width: usize, like: &Matrix<R, R::Semiring>) -> Result<Matrix<R, R::Semiring>> {
    let operation = "apsp";
    let present = |path: &&R| path.length() < f64::INFINITY;
    let count = d.par_iter().filter(present).count();
    let mut offsets: Vec<u64> = memory::with_capacity(operation, width + 1)?;
    let mut indices: Vec<u32> = memory::with_capacity(operation, count)?;
    let mut values: Vec<R> = memory::with_capacity(operation, count)?;
    offsets.push(0);
    for row in d.chunks(width.max(1)) {
        for (j, path) in row.iter().enumerate().filter(|(_, p)| present(p)) {
            indices.push(j as u32);
            values.push(*path);
        }
        offsets.push(indices.len() as u64);
    }
    Matrix::from_csr(width as u32, width as u32, offsets, indices, values)?.to(&like.device())
}
