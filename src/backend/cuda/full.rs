//! A ⊕.⊗ X and X ⊕.⊗ A for X with an entry at every place: rows of X, or its columns, are read whole, and where C has entries is known once
//! A is.
use super::entries::{block_and_tile, movable, places, structure};
use super::places::grid;
use super::product::{DeviceIds, Operand, Product};
use super::program::{Program, tuning};
use super::row_tiles::RowTiles;
use super::spgemm::is_exact;
use super::spmv::sums_of_full;
use super::transpose::transpose;
use super::turned::columns_within;
use super::values::NOTHING;
use super::{Buffer, Context, DevicePattern};
use crate::backend::MxmOptions;
use crate::error::{Error, Result};
use crate::spgemm::Strategy;
use oplus_codegen::text::ScalarText;
use oplus_codegen::{SemiringText, Shared, Template};
use std::sync::{Arc, PoisonError, Weak};

/// Larger sums of long rows are not cut: they would not fit shared memory.
const CUT: usize = 64;
/// Entries that a share of a row's lanes has in the mean, at least.
const SHARE: u64 = 8;
/// Threads of a multiprocessor at once.
const THREADS: u64 = 2048;
/// Products of a matrix without gaps from the left, at least.
const TURNED: u64 = 1 << 11;
/// Blocks side by side that have the same rows, at most.
const SIDE_BY_SIDE: u64 = 65_535;

/// Which operand has an entry at every place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    Left,
    Right,
}

impl Side {
    /// The one whose rows, or columns, are read whole, where values have these sizes.
    pub(super) fn of(
        (a, a_size): (&DevicePattern, usize),
        (b, b_size): (&DevicePattern, usize),
        masked: bool,
        strategy: Strategy,
    ) -> Option<Side> {
        let full = |p: &DevicePattern| u128::from(p.nnz) == p.nrows as u128 * p.ncols as u128;
        let narrow = |n: usize, size| {
            (n as u64).div_ceil(32) <= SIDE_BY_SIDE && (n as u64).saturating_mul(size as u64) >> 32 == 0
        };
        if masked || strategy != Strategy::Auto || a.nnz == 0 || b.nnz == 0 {
            return None;
        }
        match full(b) && narrow(b.ncols, b_size) {
            true => Some(Side::Right),
            // B by columns, and both turned, is more than a small product takes.
            false if (a.nrows as u64).saturating_mul(b.nnz) < TURNED => None,
            false => (full(a) && narrow(a.nrows, a_size)).then_some(Side::Left),
        }
    }
}

/// T = A ⊕.⊗ B; `None` where neither is read whole, or there is no room for that. `a`, `b`: the positions of A and B as their owners have them.
pub(super) fn mxm(
    product: &Product,
    options: &MxmOptions,
    (a, b): (&Arc<DevicePattern>, &Arc<DevicePattern>),
) -> Result<Option<(Arc<DevicePattern>, Buffer)>> {
    let s = &product.semiring;
    let (left, right) = ((product.a.pattern, s.a.size), (product.b.pattern, s.b.size));
    if product.by_columns {
        return Ok(None);
    }
    let made = match Side::of(left, right, product.is_masked(), options.strategy) {
        None => return Ok(None),
        Some(Side::Right) => by_right(product, options.reproducible, b),
        Some(Side::Left) => by_left(product, options.reproducible, a),
    };
    match made {
        Ok(made) => Ok(Some(made)),
        // By chunks of rows, perhaps.
        Err(Error::OutOfMemory { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

/// B has all places.
fn by_right(product: &Product, reproducible: bool, b: &Arc<DevicePattern>) -> Result<(Arc<DevicePattern>, Buffer)> {
    let Product { context, semiring, a, b: x, at, .. } = product.clone();
    let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
    let positions = positions_right(product, b)?;
    let columns = x.pattern.ncols as u64;
    let whole = WholeRows { context, semiring, rows: a, x: x.values, columns, ids, left: false, reproducible };
    Ok((positions, whole.sums()?))
}

/// A has all places: the transpose of Bᵀ times Aᵀ, factors in their order.
fn by_left(product: &Product, reproducible: bool, a: &Arc<DevicePattern>) -> Result<(Arc<DevicePattern>, Buffer)> {
    let Product { context, semiring, a: x, b, at, .. } = product.clone();
    let (reads, rows) = (semiring.reads, x.pattern.nrows as u64);
    let (kept, made);
    let by_columns = if let Some(columns) = columns_within(b, semiring.b, reads.b)? {
        kept = columns;
        kept.operand()
    } else {
        made = transpose(if reads.b { semiring.b } else { NOTHING }, b)?;
        Operand { pattern: &made.0, values: &made.1 }
    };
    let positions = positions_left(product, by_columns.pattern, a)?;
    let c = semiring.c;
    let turned_x;
    let x = match rows > 1 && reads.a {
        true => {
            turned_x = turned(context, semiring.a, (rows, x.pattern.ncols as u64), x.values)?;
            &turned_x
        }
        false => x.values,
    };
    let ids = DeviceIds::upload(context, at, reads.position)?;
    let whole = WholeRows { context, semiring, rows: by_columns, x, columns: rows, ids, left: true, reproducible };
    let sums = whole.sums()?;
    let values = match rows > 1 && c.size > 0 {
        true => turned(context, c, (RowTiles::of(by_columns.pattern)?.rows.nnz, rows), &sums)?,
        false => sums,
    };
    Ok((positions, values))
}

/// The transpose of a dense array.
fn turned(context: &Arc<Context>, scalar: ScalarText, (rows, columns): (u64, u64), values: &Buffer) -> Result<Buffer> {
    let out = Buffer::alloc(context, rows.saturating_mul(columns).saturating_mul(scalar.size as u64))?;
    let kernel =
        Program::new(context, Template::Entries, |s| s.scalar("V", movable(scalar))).kernel("entries_turned")?;
    let (tiles, block) = (rows.div_ceil(32) * columns.div_ceil(32), block_and_tile(context).0);
    // SAFETY: parameters as the README lists them; a place for every value.
    unsafe { kernel.launch(tiles, block, 0).arg(rows).arg(columns).arg(values).arg(&out).run()? };
    Ok(out)
}

/// Every column in each row where A has entries: B's own positions, those of a product before that still lives, or new ones.
fn positions_right(product: &Product, b: &Arc<DevicePattern>) -> Result<Arc<DevicePattern>> {
    let (a, columns) = (product.a.pattern, product.b.pattern.ncols);
    let tiles = RowTiles::of(a)?;
    if tiles.numbers().is_none() && a.nrows == b.nrows && std::ptr::eq(Arc::as_ptr(b), product.b.pattern) {
        return Ok(b.clone());
    }
    let mut before = a.full_product.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = before.get().filter(|known| known.ncols == columns) {
        return Ok(known);
    }
    let rows = (a.nrows, tiles.rows.nnz, tiles.numbers());
    let made = Arc::new(positions(product.context, rows, (columns, columns as u64, None))?);
    *before = match made.nnz <= a.nnz {
        true => Remembered::Kept(made.clone()),
        false => Remembered::WhileUsed(Arc::downgrade(&made)),
    };
    Ok(made)
}

/// Every row in each column where B has entries, which are the rows of `by_columns`: A's own positions or new ones.
fn positions_left(product: &Product, by_columns: &DevicePattern, a: &Arc<DevicePattern>) -> Result<Arc<DevicePattern>> {
    let (rows, columns, tiles) = (product.a.pattern.nrows, product.b.pattern.ncols, RowTiles::of(by_columns)?);
    if tiles.numbers().is_none() && a.ncols == columns && std::ptr::eq(Arc::as_ptr(a), product.a.pattern) {
        return Ok(a.clone());
    }
    let columns = (columns, tiles.rows.nnz, tiles.numbers());
    positions(product.context, (rows, rows as u64, None), columns).map(Arc::new)
}

/// So many of the rows and of the columns, these or all of them.
type Some<'a> = (usize, u64, Option<&'a Buffer>);

/// An entry where some rows and some columns meet.
fn positions(context: &Arc<Context>, rows: Some<'_>, columns: Some<'_>) -> Result<DevicePattern> {
    let Ok(width) = u32::try_from(columns.1) else { return Err(too_many(columns.1)) };
    let (all, nnz) = (rows.0 as u64, rows.1.saturating_mul(columns.1));
    let offsets = Buffer::alloc_for::<u64>(context, rows.0.saturating_add(1))?;
    let indices = Buffer::alloc_for::<u32>(context, places(nnz))?;
    let (kernel, (blocks, block)) = (structure(context, "full_positions")?, grid(context, nnz.max(all + 1)));
    let launch = kernel.launch(blocks, block, 0).arg(all).arg(rows.1).arg(rows.2).arg(width).arg(columns.2);
    // SAFETY: parameters as the README lists them, buffers of the sizes it asks for; rows and columns are of the shape.
    unsafe { launch.arg(&offsets).arg(&indices).run()? };
    Ok(DevicePattern::new((rows.0, columns.0), nnz, offsets, indices).with_longest(columns.1))
}

fn too_many(n: u64) -> Error {
    let (what, limit) = ("the blocks or columns of a full product", u128::from(u32::MAX));
    Error::IndexOverflow { operation: "mxm", what, value: n.into(), limit }
}

/// Where a product had entries.
#[derive(Debug)]
pub(super) enum Remembered {
    /// No more than its factor has.
    Kept(Arc<DevicePattern>),
    /// As long as somebody has them.
    WhileUsed(Weak<DevicePattern>),
}
impl Default for Remembered {
    fn default() -> Self {
        Self::WhileUsed(Weak::new())
    }
}
impl Remembered {
    fn get(&self) -> Option<Arc<DevicePattern>> {
        match self {
            Self::Kept(known) => Some(known.clone()),
            Self::WhileUsed(known) => known.upgrade(),
        }
    }
}

/// Lanes to the columns of a row, `width` each, and shares of its entries, as powers of two.
struct Shape {
    width: u64,
    log_lanes: u32,
    log_shares: u32,
}

impl Shape {
    /// For so many rows of so many entries in the mean; with few rows more shares than those are long for, as long as threads are idle.
    fn of((x, c): (usize, usize), columns: u64, (slots, mean): (u64, u64), in_order: bool, threads: u64) -> Shape {
        let fits = |width: &u64| {
            let sizes = [(x as u64, 16), (c as u64, 32)];
            columns.is_multiple_of(*width) && sizes.iter().all(|(n, most)| n.is_power_of_two() && width * n <= *most)
        };
        let width = [4, 2].into_iter().find(fits).unwrap_or(1);
        let log_lanes = columns.div_ceil(width).min(32).next_power_of_two().trailing_zeros();
        let idle = (threads / (slots << log_lanes).max(1)).min(mean / 2);
        let shares = if in_order { 1 } else { (mean / SHARE).max(idle).clamp(1, 32 >> log_lanes) };
        Shape { width, log_lanes, log_shares: shares.ilog2() }
    }
}

/// Rows of a sparse matrix, and a matrix with an entry at every place and so many columns that they meet. `left`: its values are the left
/// factors, rows are called as columns of the product are, and the other way.
struct WholeRows<'a> {
    context: &'a Arc<Context>,
    semiring: Shared<SemiringText>,
    rows: Operand<'a>,
    x: &'a Buffer,
    columns: u64,
    ids: DeviceIds,
    left: bool,
    reproducible: bool,
}

impl WholeRows<'_> {
    /// The sums row by row; of rows without entries there are none.
    fn sums(self) -> Result<Buffer> {
        let WholeRows { context, semiring, rows: a, x, columns, ids, left, reproducible } = self;
        let tiles = RowTiles::of(a.pattern)?;
        let (slots, c) = (tiles.rows.nnz, semiring.c.size);
        if c == 0 {
            // Positions alone.
            return Buffer::alloc(context, 0);
        }
        let in_order = reproducible && !is_exact(&semiring);
        let of_columns = if left { &ids.i } else { &ids.j };
        if columns == 1 && !in_order && of_columns.is_none() {
            let ids = if left { DeviceIds { i: ids.j, k: ids.k, j: None } } else { ids };
            return sums_of_full(context, semiring, (a, x), ids, left);
        }
        let out = Buffer::alloc(context, slots.saturating_mul(columns).saturating_mul(c as u64))?;
        let threads = THREADS * u64::from(context.properties().multiprocessors);
        let mean = (slots, a.pattern.nnz / slots.max(1));
        let factor = if left { semiring.a.size } else { semiring.b.size };
        let shape = Shape::of((factor, c), columns, mean, in_order, threads);
        let cut = !in_order && c <= CUT;
        let chunks = if cut { Some(tiles.full_chunks(a.pattern)?) } else { None };
        let (count, long, most) =
            chunks.map_or((0, 0, u32::MAX), |(c, most)| (c.count, c.ended.len_of::<u32>(), *most));
        let (block, lanes) = (tuning(context).spmv_block, 1u64 << shape.log_lanes);
        let side_by_side = columns.div_ceil(lanes * shape.width);
        let sums = Buffer::alloc(context, count.saturating_mul(columns).saturating_mul(c as u64))?;
        let ended = Buffer::zeroed_for::<u32>(context, long * places(side_by_side))?;
        let together = u64::from(block >> (shape.log_lanes + shape.log_shares));
        let blocks = count + slots.div_ceil(together);
        let grid = u32::try_from(blocks).ok().zip(u32::try_from(side_by_side).ok());
        let grid = grid.ok_or_else(|| too_many(blocks.max(side_by_side)))?;
        let program = Program::new(context, Template::SpmmFull, |s| {
            let s = s.semiring(semiring).flag("mapped", ids.mapped()).flag("vector_left", left);
            s.number("width", shape.width)
        });
        let kernel = program.kernel("spmm_full")?;
        let launch = kernel.launch(grid, block, 0).arg(slots).arg(tiles.offsets(a.pattern)).arg(&a.pattern.indices);
        let launch = launch.arg(a.values).arg(x).arg(columns as u32).arg(tiles.numbers());
        let launch = launch.arg(ids.i.as_ref()).arg(ids.k.as_ref()).arg(ids.j.as_ref());
        let launch = launch.arg(most).arg(count as u32);
        let launch = launch.arg(chunks.map(|c| &c.0.records)).arg(&ended).arg(&sums).arg(&out);
        // SAFETY: parameters as the README lists them, buffers of the sizes it asks for; x has all places.
        unsafe { launch.arg(shape.log_lanes).arg(shape.log_shares).run()? };
        Ok(out)
    }
}
