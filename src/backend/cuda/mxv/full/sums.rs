//! Sums over rows of a sparse matrix with a matrix without gaps, all columns of a row side by side.
use super::too_many;
use crate::backend::cuda::entries::places;
use crate::backend::cuda::mxv::spmv::sums_of_full;
use crate::backend::cuda::product::{DeviceIds, Operand};
use crate::backend::cuda::runtime::program::{Program, tuning};
use crate::backend::cuda::spgemm::is_exact;
use crate::backend::cuda::storage::row_tiles::RowTiles;
use crate::backend::cuda::{Buffer, Context};
use crate::error::Result;
use oplus_codegen::{SemiringText, Shared, Template};
use std::sync::Arc;

/// Larger sums of long rows are not cut: they would not fit shared memory.
const CUT: usize = 64;
/// Entries that a share of a row's lanes has in the mean, at least.
const SHARE: u64 = 8;
/// Threads of a multiprocessor at once.
const THREADS: u64 = 2048;

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
pub(crate) struct WholeRows<'a> {
    pub(crate) context: &'a Arc<Context>,
    pub(crate) semiring: Shared<SemiringText>,
    pub(crate) rows: Operand<'a>,
    pub(crate) x: &'a Buffer,
    pub(crate) columns: u64,
    pub(crate) ids: DeviceIds,
    pub(crate) left: bool,
    pub(crate) reproducible: bool,
}

impl WholeRows<'_> {
    /// The sums row by row; of rows without entries there are none.
    pub(crate) fn sums(self) -> Result<Buffer> {
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
