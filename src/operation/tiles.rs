//! Matrices put together from tiles, cut into tiles, and resized.
use super::indices::{Chosen, Indices};
use super::region::{Part, spread, taken};
use super::same_shape;
use crate::algebra::Scalar;
use crate::backend::{Body, cpu, on_backend};
use crate::container::{Matrix, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::axis::Axis;
use crate::storage::facts::Facts;
use crate::storage::pattern::Pattern;
use crate::storage::store::{Store, axes_for, same_device};
use std::sync::Arc;

/// C = [A₀₀ A₀₁ …; A₁₀ A₁₁ …; …]: the tile Aᵣ꜀ = `tiles[r][c]` stands in row r and column c of tiles. Tiles of one row are equally high, those
/// of one column equally wide. O(nnz + m · tiles of a row); on CUDA times the logarithm of the tiles of a row.
///
/// SuiteSparse:GraphBLAS, GxB_Matrix_concat. Values are moved, the same bits on every device.
///
/// # Errors
/// `DimensionMismatch`, `DeviceMismatch` for a tile that does not fit; `InvalidValue` without tiles or with rows of
/// different numbers of tiles; `IndexOverflow` where a dimension passes 2⁶⁴ − 1, or the rows or columns in use 2³² − 1; `OutOfMemory`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 7)])?;
/// let b: Matrix<i32> = Matrix::build(2, 1, &[(1, 0, 8)])?;
/// let c = concat(&[&[&a, &b], &[&a, &b]])?;
/// assert_eq!(c.shape(), (4, 3));
/// assert_eq!(c.entries()?, [(0, 1, 7), (1, 2, 8), (2, 1, 7), (3, 2, 8)]);
/// # Ok(()) }
/// ```
#[doc(alias("GxB_Matrix_concat", "hstack", "vstack", "bmat"))]
pub fn concat<'a, T: Scalar, S: 'a>(tiles: &[impl AsRef<[&'a Matrix<T, S>]>]) -> Result<Matrix<T, S>> {
    let mut grid = memory::with_capacity("concat", tiles.len())?;
    for row in tiles {
        let mut stores = memory::with_capacity("concat", row.as_ref().len())?;
        stores.extend(row.as_ref().iter().map(|m| m.store.clone()));
        grid.push(stores);
    }
    together(grid).map(Matrix::of).map_err(|e| e.in_operation("concat"))
}

fn together<T: Scalar>(mut grid: Vec<Vec<Store<T>>>) -> Result<Store<T>> {
    let operation = "concat";
    let invalid = |reason: String| Err(Error::InvalidValue { operation, reason });
    let (height, width) = (grid.len(), grid.first().map_or(0, Vec::len));
    if height == 0 || width == 0 {
        return invalid("there are no tiles".into());
    }
    if let Some(r) = grid.iter().position(|row| row.len() != width) {
        return invalid(format!("{} tiles in row {r}, {width} in row 0", grid[r].len()));
    }
    let device = grid[0][0].device;
    for row in &grid {
        for (c, tile) in row.iter().enumerate() {
            let shape = (row[0].shape().0, grid[0][c].shape().1);
            same_shape(operation, ("a tile", tile.shape()), ("its place", shape))?;
            same_device(operation, ("the first tile", device), ("a tile", tile.device))?;
        }
    }
    // Rows of tiles, and columns, are met place by place.
    let any = |is: fn(&Store<T>) -> bool| grid.iter().flatten().any(is);
    let lists = (any(|tile| tile.rows.is_listed()), any(|tile| tile.cols.is_listed()));
    for tile in grid.iter_mut().flatten() {
        if let Some(fewer) = tile.listed(lists, operation)? {
            *tile = fewer;
        }
    }
    let (mut rows, mut cols) = axes(&grid)?;
    // A place for every index is more than there can be, one for those in use may not be.
    let many = (places(&rows) > PLACES, places(&cols) > PLACES);
    if many != (false, false) {
        for tile in grid.iter_mut().flatten() {
            *tile = tile.in_use((many.0 && !tile.rows.is_listed(), many.1 && !tile.cols.is_listed()), operation)?;
        }
        (rows, cols) = axes(&grid)?;
    }
    for (row, axis) in grid.iter_mut().zip(&rows) {
        for (tile, col_axis) in row.iter_mut().zip(&cols) {
            *tile = tile.on_axes(axis, col_axis, operation)?;
        }
    }
    let rows = joined(("number of rows", "number of rows in use"), &rows)?;
    let cols = joined(("number of columns", "number of columns in use"), &cols)?;
    let body = on_backend!(device, |backend| {
        let mut tiles = memory::with_capacity(operation, height)?;
        for row in &grid {
            let mut csrs = memory::with_capacity(operation, width)?;
            for tile in row {
                csrs.push(backend.csr(&tile.body)?);
            }
            tiles.push(csrs);
        }
        Body::from(backend.concat(&tiles)?)
    });
    Ok(Store { rows, cols, body, device })
}

/// The axes of rows of tiles, and of columns of tiles.
fn axes<T: Scalar>(grid: &[Vec<Store<T>>]) -> Result<(Vec<Axis>, Vec<Axis>)> {
    let operation = "concat";
    let mut rows: Vec<Axis> = memory::with_capacity(operation, grid.len())?;
    for row in grid {
        let axes = row[1..].iter().try_fold(row[0].rows.clone(), |axis, tile| axis.union(&tile.rows, operation));
        rows.push(axes?);
    }
    let mut cols: Vec<Axis> = memory::with_capacity(operation, grid[0].len())?;
    for c in 0..grid[0].len() {
        let axes = grid[1..].iter().try_fold(grid[0][c].cols.clone(), |axis, row| axis.union(&row[c].cols, operation));
        cols.push(axes?);
    }
    Ok((rows, cols))
}

/// The most places of an axis.
const PLACES: u128 = u32::MAX as u128;

fn places(axes: &[Axis]) -> u128 {
    axes.iter().map(|a| a.places() as u128).sum()
}

/// These axes one behind the other, places and all.
fn joined((what, in_use): (&'static str, &'static str), axes: &[Axis]) -> Result<Axis> {
    let operation = "concat";
    let value: u128 = axes.iter().map(|a| u128::from(a.n())).sum();
    let limit = u128::from(u64::MAX);
    let n = u64::try_from(value).map_err(|_| Error::IndexOverflow { operation, what, value, limit })?;
    let full = axes.iter().all(|axis| matches!(axis, Axis::Full(_)));
    if let (Ok(n), true) = (u32::try_from(n), full) {
        return Ok(Axis::Full(n));
    }
    let places = places(axes);
    if places > PLACES {
        return Err(Error::IndexOverflow { operation, what: in_use, value: places, limit: PLACES });
    }
    let (mut ids, mut start) = (memory::with_capacity(operation, places as usize)?, 0);
    for axis in axes {
        ids.extend((0..axis.places()).map(|p| start + axis.id(p)));
        start += axis.n();
    }
    Axis::of_ids(operation, n, ids)
}

/// [A₀₀ A₀₁ …; A₁₀ A₁₁ …; …] = A, the tiles Aᵣ꜀ as `[r][c]`: `rows` and `cols` are their heights and widths, which sum up to A's.
/// The inverse of [`concat()`]. O(nnz(A) · columns of tiles) at most.
///
/// SuiteSparse:GraphBLAS, GxB_Matrix_split. Values are moved, the same bits on every device.
///
/// # Errors
/// `DimensionMismatch` where the sums are not A's dimensions, `IndexOverflow` where they pass 2⁶⁴ − 1; `OutOfMemory`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(3, 3, &[(0, 1, 7), (2, 2, 8)])?;
/// let tiles = split(&a, &[1, 2], &[2, 1])?;
/// assert_eq!(tiles[0][0].entries()?, [(0, 1, 7)]);
/// assert_eq!(tiles[1][1].entries()?, [(1, 0, 8)]);
/// # Ok(()) }
/// ```
#[doc(alias = "GxB_Matrix_split")]
pub fn split<T: Scalar, S>(a: &Matrix<T, S>, rows: &[u64], cols: &[u64]) -> Result<Vec<Vec<Matrix<T, S>>>> {
    let operation = "split";
    let sum = |what, sizes: &[u64]| {
        let value: u128 = sizes.iter().map(|n| u128::from(*n)).sum();
        let limit = u128::from(u64::MAX);
        u64::try_from(value).map_err(|_| Error::IndexOverflow { operation, what, value, limit })
    };
    let together = (sum("number of rows", rows)?, sum("number of columns", cols)?);
    same_shape(operation, ("A", a.shape()), ("all tiles together", together))?;
    let part_of = |a: &Store<T>, part: &Part| taken(operation, a, part).map_err(|e| e.in_operation(operation));
    let mut tiles = memory::with_capacity(operation, rows.len())?;
    let mut row = 0;
    for height in rows {
        let band = Part { rows: Chosen::Range(row..row + height), cols: Chosen::All(a.ncols()) };
        // Rectangles are cut out at once.
        let listed = matches!(a.store.rows, Axis::Listed { .. });
        let (band, rows) = match listed || a.device() != Device::Cpu {
            true => (part_of(&a.store, &band)?, Chosen::All(*height)),
            false => (a.store.clone(), band.rows),
        };
        let (mut line, mut column) = (memory::with_capacity(operation, cols.len())?, 0);
        for width in cols {
            let part = Part { rows: rows.clone(), cols: Chosen::Range(column..column + width) };
            line.push(Matrix::of(part_of(&band, &part)?));
            column += width;
        }
        tiles.push(line);
        row += height;
    }
    Ok(tiles)
}

/// The same entries in another shape: what is outside is dropped.
fn resized<T: Scalar>(a: &Store<T>, (rows, cols): (u64, u64)) -> Result<Store<T>> {
    let operation = "resize";
    let (m, n) = a.shape();
    let kept = |n, to: u64| Indices::from(..to.min(n)).within(operation, "index", n);
    let part = Part { rows: kept(m, rows)?, cols: kept(n, cols)? };
    let a = taken(operation, a, &part)?;
    let placed = |n: u64, to: u64| if n < to { Chosen::Range(0..n) } else { Chosen::All(n) };
    let part = Part { rows: placed(a.rows.n(), rows), cols: placed(a.cols.n(), cols) };
    let (rows, cols) = axes_for((rows, cols), a.nvals());
    spread(operation, &a, &part, (&rows, &cols))
}

/// Makes room where nothing is dropped: on the host entries stay where they are. Whether it did.
fn grown<T: Scalar>(a: &mut Store<T>, (rows, cols): (u64, u64)) -> Result<bool> {
    let operation = "resize";
    let (rows, cols) = axes_for((rows, cols), a.nvals());
    let (Axis::Full(m), Axis::Full(n), Axis::Full(nrows), Axis::Full(ncols)) = (&a.rows, &a.cols, rows, cols) else {
        return Ok(false);
    };
    let Body::Host(host) = &mut a.body else { return Ok(false) };
    if nrows < *m || ncols < *n {
        return Ok(false);
    }
    let (rows, end) = (nrows as usize + 1, host.pattern.indices.len() as u64);
    match Arc::get_mut(&mut host.pattern) {
        Some(pattern) => {
            cpu::lengthened(operation, &mut pattern.offsets, rows, end)?;
            (pattern.nrows, pattern.ncols, pattern.facts) = (nrows as usize, ncols as usize, Facts::default());
        }
        None => {
            let old = &host.pattern.offsets[..];
            let offsets = cpu::in_pieces(operation, rows, move |r| old.get(r).copied().unwrap_or(end))?;
            let indices = memory::copied(operation, &host.pattern.indices)?;
            host.pattern = Arc::new(Pattern::new(nrows as usize, ncols as usize, offsets, indices));
        }
    }
    (a.rows, a.cols) = (Axis::Full(nrows), Axis::Full(ncols));
    Ok(true)
}

impl<T: Scalar, S> Matrix<T, S> {
    /// C(i, j) = A(i, j) for i < `nrows` and j < `ncols`, the new shape: entries outside are dropped, new rows and columns are empty. O(m + nnz); a matrix
    /// that grows beyond 2³² rows or columns lists those it had.
    ///
    /// # Errors
    /// `OutOfMemory`; the matrix is as it was.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 7), (1, 0, 8)])?;
    /// a.resize(3, 1)?;
    /// assert_eq!((a.shape(), a.entries()?), ((3, 1), vec![(1, 0, 8)]));
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_resize", "GrB_Vector_resize"))]
    pub fn resize(&mut self, nrows: u64, ncols: u64) -> Result<()> {
        if self.device() == Device::Cpu && grown(&mut self.store, (nrows, ncols))? {
            return Ok(());
        }
        self.store = resized(&self.store, (nrows, ncols)).map_err(|e| e.in_operation("resize"))?;
        Ok(())
    }
}
impl<T: Scalar, S> Vector<T, S> {
    /// w(i) = x(i) for i < `n`, the new length: entries behind it are dropped. O(nnz).
    ///
    /// # Errors
    /// `OutOfMemory`; the vector is as it was.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut x: Vector<i32> = Vector::build(3, &[(0, 1), (2, 3)])?;
    /// x.resize(2)?;
    /// assert_eq!((x.len(), x.entries()?), (2, vec![(0, 1)]));
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_resize", "GrB_Vector_resize"))]
    pub fn resize(&mut self, n: u64) -> Result<()> {
        self.store = resized(&self.store, (1, n))?;
        Ok(())
    }
}
