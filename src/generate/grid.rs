//! Regular sparsity: stencils on grids and bands.
use super::{Random, from_rows, invalid, times};
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::Coo;

/// The graph Laplacian of a grid in which a point touches the neighbours that `touches` says: the diagonal counts them.
fn stencil(operation: &'static str, size: [u64; 3], touches: fn([i64; 3]) -> bool) -> Result<Coo<f64>> {
    // None of them in one direction are none.
    let n = size.iter().fold(1u64, |n, s| n.saturating_mul(*s));
    let [nx, ny, nz] = size;
    if n > u32::MAX.into() {
        return invalid(operation, format!("{nx} × {ny} × {nz} points are 2³² or more"));
    }
    let offsets: Vec<[i64; 3]> = (-1..=1)
        .flat_map(|z| (-1..=1).flat_map(move |y| (-1..=1).map(move |x| [x, y, z])))
        .filter(|d| *d != [0; 3] && touches(*d))
        .collect();
    // A point for each that has the neighbour.
    let have =
        |d: &[i64; 3]| (0..3).map(|a| size[a].saturating_sub(d[a].unsigned_abs())).fold(1u64, u64::saturating_mul);
    let entries = offsets.iter().map(have).fold(n, u64::saturating_add);
    from_rows(operation, (n, n), entries.into(), |p, row| {
        let at = [p % nx, p / nx % ny, p / nx / ny];
        for d in &offsets {
            let to: Option<Vec<u64>> =
                (0..3).map(|a| at[a].checked_add_signed(d[a]).filter(|t| *t < size[a])).collect();
            row.extend(to.map(|t| ((t[2] * ny + t[1]) * nx + t[0], -1.0)));
        }
        let degree = row.len() as f64;
        let middle = row.partition_point(|(j, _)| *j < p);
        row.insert(middle, (p, degree));
        Ok(())
    })
}

fn distance(d: [i64; 3]) -> i64 {
    d.iter().map(|x| x.abs()).sum()
}

/// The 5-point Laplacian of an nx × ny grid, x fastest. O(nx·ny). As of all graph Laplacians here its rows add up to 0: the diagonal is the number of
/// neighbours, so that A is singular; a shift, A + εI, makes it definite.
///
/// # Errors
/// `InvalidValue` where the grid has 2³² points or more; `OutOfMemory`.
/// ```
/// let a = oplus::generate::stencil_5(3, 3)?;
/// assert_eq!((a.nrows, a.len()), (9, 9 + 2 * 12));
/// # Ok::<(), oplus::Error>(())
/// ```
pub fn stencil_5(nx: u64, ny: u64) -> Result<Coo<f64>> {
    stencil("stencil_5", [nx, ny, 1], |d| distance(d) == 1)
}
/// The 9-point Laplacian of an nx × ny grid. O(nx·ny).
///
/// # Errors
/// As [`stencil_5`].
/// ```
/// let a = oplus::generate::stencil_9(3, 3)?;
/// assert_eq!((a.nrows, a.len()), (9, 9 + 2 * 20));
/// # Ok::<(), oplus::Error>(())
/// ```
pub fn stencil_9(nx: u64, ny: u64) -> Result<Coo<f64>> {
    stencil("stencil_9", [nx, ny, 1], |d| d[2] == 0)
}
/// The 7-point Laplacian of an nx × ny × nz grid. O(nx·ny·nz).
///
/// # Errors
/// As [`stencil_5`].
/// ```
/// let a = oplus::generate::stencil_7(2, 2, 2)?;
/// assert_eq!((a.nrows, a.len()), (8, 8 + 2 * 12));
/// # Ok::<(), oplus::Error>(())
/// ```
pub fn stencil_7(nx: u64, ny: u64, nz: u64) -> Result<Coo<f64>> {
    stencil("stencil_7", [nx, ny, nz], |d| distance(d) == 1)
}
/// The 27-point Laplacian of an nx × ny × nz grid. O(nx·ny·nz).
///
/// # Errors
/// As [`stencil_5`].
/// ```
/// let a = oplus::generate::stencil_27(2, 2, 2)?;
/// assert_eq!((a.nrows, a.len()), (8, 64));
/// # Ok::<(), oplus::Error>(())
/// ```
pub fn stencil_27(nx: u64, ny: u64, nz: u64) -> Result<Coo<f64>> {
    stencil("stencil_27", [nx, ny, nz], |_| true)
}

/// A full band: entries where |i − j| ≤ half_width, values uniform in (0, 1]. O(n·half_width).
///
/// # Errors
/// `OutOfMemory`.
/// ```
/// let a = oplus::generate::band(10, 2, 1)?;
/// assert_eq!(a.len(), 10 + 2 * (9 + 8));
/// # Ok::<(), oplus::Error>(())
/// ```
pub fn band(n: u64, half_width: u64, seed: u64) -> Result<Coo<f64>> {
    let width = half_width.saturating_mul(2).saturating_add(1).min(n);
    from_rows("band", (n, n), times(n, width), |i, row| {
        let mut random = Random::new(seed, i);
        let (from, to) = (i.saturating_sub(half_width), i.saturating_add(half_width).saturating_add(1).min(n));
        memory::reserve("band", row, usize::try_from(to - from).unwrap_or(usize::MAX))?;
        row.extend((from..to).map(|j| (j, 1.0 - random.unit())));
        Ok(())
    })
}

/// Rows and columns of a square matrix under one random permutation. O(n + nnz).
///
/// # Errors
/// `InvalidValue` where it is not square or its lists differ in length; `IndexOutOfBounds` for an entry outside it; `OutOfMemory`.
/// ```
/// use oplus::generate::{band, permuted};
/// let (a, b) = (band(100, 2, 1)?, permuted(band(100, 2, 1)?, 7)?);
/// let far = |i: &u64, j: &u64| i.abs_diff(*j) > 2;
/// assert!(b.len() == a.len() && b.rows.iter().zip(&b.columns).any(|(i, j)| far(i, j)));
/// # Ok::<(), oplus::Error>(())
/// ```
pub fn permuted<T>(mut a: Coo<T>, seed: u64) -> Result<Coo<T>> {
    if a.nrows != a.ncols {
        return invalid("permuted", format!("the matrix must be square, it is {}×{}", a.nrows, a.ncols));
    }
    if a.rows.len() != a.values.len() || a.columns.len() != a.values.len() {
        let (rows, columns, values) = (a.rows.len(), a.columns.len(), a.values.len());
        return invalid("permuted", format!("{rows} rows, {columns} columns and {values} values"));
    }
    for (what, indices) in [("row", &a.rows), ("column", &a.columns)] {
        if let Some(position) = indices.iter().position(|i| *i >= a.nrows) {
            let (operation, index, bound) = ("permuted", indices[position], a.nrows);
            let position = Some(position as u64);
            return Err(Error::IndexOutOfBounds { operation, what, position, index, bound });
        }
    }
    let mut order = memory::with_capacity("permuted", usize::try_from(a.nrows).unwrap_or(usize::MAX))?;
    order.extend(0..a.nrows);
    let mut random = Random::new(seed, 0);
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i as u64 + 1) as usize);
    }
    a.rows.iter_mut().chain(&mut a.columns).for_each(|i| *i = order[*i as usize]);
    Ok(a)
}
