//! A ⊕.⊗ X and X ⊕.⊗ A for X with an entry at every place: rows of X, or its columns, are read whole, and where C has entries is known once
//! A is (`positions`). The second is the transpose of Aᵀ times Xᵀ, factors in their order; both are sums over rows of A (`sums`).
mod positions;
mod sums;

use crate::backend::MxmOptions;
use crate::backend::cuda::entries::{block_and_tile, movable};
use crate::backend::cuda::product::{DeviceIds, Product};
use crate::backend::cuda::runtime::program::Program;
use crate::backend::cuda::storage::row_tiles::RowTiles;
use crate::backend::cuda::storage::turned::{Turned, by_columns};
use crate::backend::cuda::{Buffer, Context, DevicePattern};
use crate::error::{Error, Result};
use crate::spgemm::Strategy;
use oplus_codegen::Template;
use oplus_codegen::text::ScalarText;
use std::sync::Arc;
use sums::WholeRows;

pub(crate) use positions::{Remembered, begins, everywhere};

/// Products of a matrix without gaps from the left, at least.
const TURNED: u64 = 1 << 11;
/// Blocks side by side that have the same rows, at most.
const SIDE_BY_SIDE: u64 = 65_535;

/// Which operand has an entry at every place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Side {
    Left,
    Right,
}

impl Side {
    /// The columns of B, where A is read whole.
    fn columns(self, product: &Product) -> Result<Option<Arc<Turned>>> {
        let (b, reads) = (product.semiring.b, product.semiring.reads.b);
        if self == Side::Left { by_columns(product.b, b, reads).map(Some) } else { Ok(None) }
    }
    fn of_product(product: &Product, options: &MxmOptions) -> Option<Side> {
        let s = &product.semiring;
        let (left, right) = ((product.a.pattern, s.a.size), (product.b.pattern, s.b.size));
        // Counts are written by the kernels of rows alone.
        if product.by_columns || s.counted.is_some() {
            None
        } else {
            Side::of(left, right, product.is_masked(), options.strategy)
        }
    }
    /// The one whose rows, or columns, are read whole, where values have these sizes.
    pub(crate) fn of(
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
pub(crate) fn mxm(
    product: &Product,
    options: &MxmOptions,
    (a, b): (&Arc<DevicePattern>, &Arc<DevicePattern>),
) -> Result<Option<(Arc<DevicePattern>, Buffer)>> {
    let Some(side) = Side::of_product(product, options) else { return Ok(None) };
    let made = || {
        product.check_written()?;
        let columns = side.columns(product)?;
        let positions = found(product, columns.as_deref(), (a, b))?;
        Ok((positions, sums(product, columns.as_deref(), options)?))
    };
    or_none(made())
}

/// Where T has entries, and which side is read whole, for [`values`]; `None` as of [`mxm`].
pub(crate) fn planned(
    product: &Product,
    options: &MxmOptions,
    owned: (&Arc<DevicePattern>, &Arc<DevicePattern>),
) -> Result<Option<(Arc<DevicePattern>, Side)>> {
    let Some(side) = Side::of_product(product, options) else { return Ok(None) };
    let found = || found(product, side.columns(product)?.as_deref(), owned);
    or_none(found().map(|positions| (positions, side)))
}

/// Where there is no room for all, perhaps there is for chunks of rows.
fn or_none<T>(made: Result<T>) -> Result<Option<T>> {
    match made {
        Ok(made) => Ok(Some(made)),
        Err(Error::OutOfMemory { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

/// The values of T, at the positions that were planned; `None` where there is no room for that.
pub(crate) fn values(product: &Product, side: Side, options: &MxmOptions) -> Result<Option<Buffer>> {
    let made = || {
        product.check_written()?;
        sums(product, side.columns(product)?.as_deref(), options)
    };
    or_none(made())
}

/// Where T has entries: with the columns of B where A is read whole.
fn found(
    product: &Product,
    columns: Option<&Turned>,
    (a, b): (&Arc<DevicePattern>, &Arc<DevicePattern>),
) -> Result<Arc<DevicePattern>> {
    match columns {
        None => positions::right(product, b),
        Some(columns) => positions::left(product, columns.operand().pattern, a),
    }
}

fn sums(product: &Product, columns: Option<&Turned>, options: &MxmOptions) -> Result<Buffer> {
    match columns {
        None => by_right(product, options.reproducible),
        Some(columns) => by_left(product, columns, options.reproducible),
    }
}

/// B has all places.
fn by_right(product: &Product, reproducible: bool) -> Result<Buffer> {
    let Product { context, semiring, a, b: x, at, .. } = product.clone();
    let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
    let columns = x.pattern.ncols as u64;
    WholeRows { context, semiring, rows: a, x: x.values, columns, ids, left: false, reproducible }.sums()
}

/// A has all places: the transpose of Bᵀ times Aᵀ, factors in their order.
fn by_left(product: &Product, columns: &Turned, reproducible: bool) -> Result<Buffer> {
    let Product { context, semiring, a: x, at, .. } = product.clone();
    let (reads, rows, c) = (semiring.reads, x.pattern.nrows as u64, semiring.c);
    let by_columns = columns.operand();
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
    match rows > 1 && c.size > 0 {
        true => turned(context, c, (RowTiles::of(by_columns.pattern)?.rows.nnz, rows), &sums),
        false => Ok(sums),
    }
}

/// The transpose of a dense array.
pub(crate) fn turned(
    context: &Arc<Context>,
    scalar: ScalarText,
    (rows, columns): (u64, u64),
    values: &Buffer,
) -> Result<Buffer> {
    let out = Buffer::alloc(context, rows.saturating_mul(columns).saturating_mul(scalar.size as u64))?;
    let kernel =
        Program::new(context, Template::Entries, |s| s.scalar("V", movable(scalar))).kernel("entries_turned")?;
    let (tiles, block) = (rows.div_ceil(32) * columns.div_ceil(32), block_and_tile(context).0);
    // SAFETY: parameters as the README lists them; a place for every value.
    unsafe { kernel.launch(tiles, block, 0).arg(rows).arg(columns).arg(values).arg(&out).run()? };
    Ok(out)
}

fn too_many(n: u64) -> Error {
    let (what, limit) = ("the blocks or columns of a full product", u128::from(u32::MAX));
    Error::IndexOverflow { operation: "mxm", what, value: n.into(), limit }
}
