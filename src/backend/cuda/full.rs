//! A ⊕.⊗ X for X with an entry at every place: rows of X are read whole, and where C has entries is known once A is.
use super::entries::{places, structure};
use super::places::grid;
use super::product::{DeviceIds, Product};
use super::program::{Program, tuning};
use super::row_tiles::RowTiles;
use super::spgemm::is_exact;
use super::spmv::sums_of_full;
use super::{Buffer, DevicePattern};
use crate::backend::MxmOptions;
use crate::error::{Error, Result};
use crate::spgemm::Strategy;
use oplus_codegen::{SemiringText, Template};
use std::sync::{Arc, PoisonError, Weak};

/// Larger sums of long rows are not cut: they would not fit shared memory.
const CUT: usize = 64;
/// Entries that a share of a row's lanes has in the mean, at least.
const SHARE: u64 = 8;
/// Threads of a multiprocessor at once.
const THREADS: u64 = 2048;
/// Blocks side by side that have the same rows, at most.
const SIDE_BY_SIDE: u64 = 65_535;

/// Whether rows of B, whose values have this size, are read whole.
pub(super) fn suits(a: &DevicePattern, (b, size): (&DevicePattern, usize), masked: bool, strategy: Strategy) -> bool {
    let full = b.nnz > 0 && u128::from(b.nnz) == b.nrows as u128 * b.ncols as u128;
    let narrow =
        (b.ncols as u64).div_ceil(32) <= SIDE_BY_SIDE && (b.ncols as u64).saturating_mul(size as u64) >> 32 == 0;
    !masked && strategy == Strategy::Auto && full && narrow && a.nnz > 0
}

/// T = A ⊕.⊗ B; `None` where rows of B are not read whole, or there is no room for that. `b`: the positions of B as its owner has them.
pub(super) fn mxm(
    product: &Product,
    options: &MxmOptions,
    b: &Arc<DevicePattern>,
) -> Result<Option<(Arc<DevicePattern>, Buffer)>> {
    let full = (product.b.pattern, product.semiring.b.size);
    if product.by_columns || !suits(product.a.pattern, full, product.is_masked(), options.strategy) {
        return Ok(None);
    }
    let made = positions(product, b).and_then(|c| Ok((c, values(product, options.reproducible)?)));
    match made {
        Ok(made) => Ok(Some(made)),
        // By chunks of rows, perhaps.
        Err(Error::OutOfMemory { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Every column in each row where A has entries: B's own positions, those of a product before that still lives, or new ones.
pub(super) fn positions(product: &Product, b: &Arc<DevicePattern>) -> Result<Arc<DevicePattern>> {
    let (a, columns) = (product.a.pattern, product.b.pattern.ncols);
    let tiles = RowTiles::of(a)?;
    if tiles.numbers().is_none() && a.nrows == b.nrows && std::ptr::eq(Arc::as_ptr(b), product.b.pattern) {
        return Ok(b.clone());
    }
    let mut before = a.full_product.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = before.get().filter(|known| known.ncols == columns) {
        return Ok(known);
    }
    let (context, slots) = (product.context, tiles.rows.nnz);
    let Ok(width) = u32::try_from(columns) else { return Err(too_many(a, columns)) };
    let (all, nnz) = (a.nrows as u64, slots.saturating_mul(columns as u64));
    let offsets = Buffer::alloc_for::<u64>(context, a.nrows.saturating_add(1))?;
    let indices = Buffer::alloc_for::<u32>(context, places(nnz))?;
    let (kernel, (blocks, block)) = (structure(context, "full_positions")?, grid(context, nnz.max(all + 1)));
    let launch = kernel.launch(blocks, block, 0).arg(all).arg(slots).arg(tiles.numbers()).arg(width);
    // SAFETY: parameters as the README lists them, buffers of the sizes it asks for; the rows with entries are rows of A.
    unsafe { launch.arg(&offsets).arg(&indices).run()? };
    let made = DevicePattern::new((a.nrows, columns), nnz, offsets, indices).with_longest(columns as u64);
    let made = Arc::new(made);
    *before = match made.nnz <= a.nnz {
        true => Remembered::Kept(made.clone()),
        false => Remembered::WhileUsed(Arc::downgrade(&made)),
    };
    Ok(made)
}

fn too_many(a: &DevicePattern, columns: usize) -> Error {
    Error::IndexOverflow {
        operation: "mxm",
        what: "a dimension of a full product",
        value: a.nrows.max(columns) as u128,
        limit: u128::from(u32::MAX),
    }
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
    fn of(s: &SemiringText, columns: u64, (slots, mean): (u64, u64), in_order: bool, threads: u64) -> Shape {
        let fits = |width: &u64| {
            let sizes = [(s.b.size as u64, 16), (s.c.size as u64, 32)];
            columns.is_multiple_of(*width) && sizes.iter().all(|(n, most)| n.is_power_of_two() && width * n <= *most)
        };
        let width = [4, 2].into_iter().find(fits).unwrap_or(1);
        let log_lanes = columns.div_ceil(width).min(32).next_power_of_two().trailing_zeros();
        let idle = (threads / (slots << log_lanes).max(1)).min(mean / 2);
        let shares = if in_order { 1 } else { (mean / SHARE).max(idle).clamp(1, 32 >> log_lanes) };
        Shape { width, log_lanes, log_shares: shares.ilog2() }
    }
}

/// The values row by row; of rows of A without entries there are none.
fn values(product: &Product, reproducible: bool) -> Result<Buffer> {
    let Product { context, semiring, a, b, at, .. } = product.clone();
    let (tiles, columns) = (RowTiles::of(a.pattern)?, b.pattern.ncols as u64);
    let (slots, size) = (tiles.rows.nnz, semiring.c.size as u64);
    let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
    let in_order = reproducible && !is_exact(&semiring);
    if size == 0 {
        // Positions alone.
        return Buffer::alloc(context, 0);
    }
    if columns == 1 && !in_order && ids.j.is_none() {
        return sums_of_full(context, semiring, a, b.values, ids);
    }
    let out = Buffer::alloc(context, slots.saturating_mul(columns).saturating_mul(size))?;
    let threads = THREADS * u64::from(context.properties().multiprocessors);
    let shape = Shape::of(&semiring, columns, (slots, a.pattern.nnz / slots.max(1)), in_order, threads);
    let cut = !in_order && semiring.c.size <= CUT;
    let chunks = if cut { Some(tiles.full_chunks(a.pattern)?) } else { None };
    let (count, long, most) = chunks.map_or((0, 0, u32::MAX), |(c, most)| (c.count, c.ended.len_of::<u32>(), *most));
    let (tuning, lanes) = (tuning(context), 1u64 << shape.log_lanes);
    let side_by_side = columns.div_ceil(lanes * shape.width);
    let sums = Buffer::alloc(context, count.saturating_mul(columns).saturating_mul(size))?;
    let ended = Buffer::zeroed_for::<u32>(context, long * places(side_by_side))?;
    let block = tuning.spmv_block;
    let rows = u64::from(block >> (shape.log_lanes + shape.log_shares));
    let program = Program::new(context, Template::SpmmFull, |s| {
        s.semiring(semiring).flag("mapped", ids.mapped()).number("width", shape.width)
    });
    let kernel = program.kernel("spmm_full")?;
    let (Ok(blocks), Ok(side_by_side)) = (u32::try_from(count + slots.div_ceil(rows)), u32::try_from(side_by_side))
    else {
        return Err(too_many(a.pattern, b.pattern.ncols));
    };
    let launch = kernel
        .launch((blocks, side_by_side), block, 0)
        .arg(slots)
        .arg(tiles.offsets(a.pattern))
        .arg(&a.pattern.indices);
    let launch = launch.arg(a.values).arg(b.values).arg(columns as u32).arg(tiles.numbers());
    let launch = launch.arg(ids.i.as_ref()).arg(ids.k.as_ref()).arg(ids.j.as_ref());
    let launch = launch.arg(most).arg(count as u32);
    let launch = launch.arg(chunks.map(|c| &c.0.records)).arg(&ended).arg(&sums).arg(&out);
    // SAFETY: parameters as the README lists them, buffers of the sizes it asks for; B has all places.
    unsafe { launch.arg(shape.log_lanes).arg(shape.log_shares).run()? };
    Ok(out)
}
