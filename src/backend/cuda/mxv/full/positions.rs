//! Where a product with a matrix without gaps has entries.
use super::too_many;
use crate::backend::cuda::entries::{places, structure};
use crate::backend::cuda::product::Product;
use crate::backend::cuda::storage::places::grid;
use crate::backend::cuda::storage::row_tiles::RowTiles;
use crate::backend::cuda::{Buffer, Context, DevicePattern, lock};
use crate::error::Result;
use std::sync::{Arc, Weak};

/// Where a product had entries.
#[derive(Debug)]
pub(crate) enum Remembered {
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
    /// What lives as long as its factor.
    pub(crate) fn kept(&self) -> Option<Arc<DevicePattern>> {
        match self {
            Self::Kept(known) => Some(known.clone()),
            Self::WhileUsed(_) => None,
        }
    }
    fn get(&self) -> Option<Arc<DevicePattern>> {
        match self {
            Self::Kept(known) => Some(known.clone()),
            Self::WhileUsed(known) => known.upgrade(),
        }
    }
}

/// Every column in each row where A has entries: B's own positions, those of a product before that still lives, or new ones.
pub(crate) fn right(product: &Product, b: &Arc<DevicePattern>) -> Result<Arc<DevicePattern>> {
    let (a, columns) = (product.a.pattern, product.b.pattern.ncols);
    let tiles = RowTiles::of(a)?;
    if tiles.numbers().is_none() && a.nrows == b.nrows && std::ptr::eq(Arc::as_ptr(b), product.b.pattern) {
        return Ok(b.clone());
    }
    let mut before = lock(&a.full_product);
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
pub(crate) fn left(
    product: &Product,
    by_columns: &DevicePattern,
    a: &Arc<DevicePattern>,
) -> Result<Arc<DevicePattern>> {
    let (rows, columns, tiles) = (product.a.pattern.nrows, product.b.pattern.ncols, RowTiles::of(by_columns)?);
    if tiles.numbers().is_none() && a.ncols == columns && std::ptr::eq(Arc::as_ptr(a), product.a.pattern) {
        return Ok(a.clone());
    }
    let columns = (columns, tiles.rows.nnz, tiles.numbers());
    positions(product.context, (rows, rows as u64, None), columns).map(Arc::new)
}

/// An entry everywhere.
pub(crate) fn everywhere(context: &Arc<Context>, (rows, columns): (usize, usize)) -> Result<DevicePattern> {
    positions(context, (rows, rows as u64, None), (columns, columns as u64, None))
}

/// Where the rows of such a matrix begin, without columns: for what looks at none.
pub(crate) fn begins(context: &Arc<Context>, (rows, columns): (usize, usize)) -> Result<DevicePattern> {
    let Ok(width) = u32::try_from(columns) else { return Err(too_many(columns as u64)) };
    let (all, nothing) = (rows as u64, Buffer::alloc(context, 0)?);
    let offsets = Buffer::alloc_for::<u64>(context, rows.saturating_add(1))?;
    let (kernel, (blocks, block)) = (structure(context, "full_positions")?, grid(context, all + 1));
    let launch = kernel.launch(blocks, block, 0).arg(all).arg(0u64).arg(0u64).arg(width).arg(0u64);
    // SAFETY: as below; of no rows no column is written.
    unsafe { launch.arg(&offsets).arg(&nothing).run()? };
    let nnz = all.saturating_mul(columns as u64);
    Ok(DevicePattern::new((rows, columns), nnz, offsets, nothing).with_longest(columns as u64))
}

/// So many of the rows and of the columns, these or all of them.
type Chosen<'a> = (usize, u64, Option<&'a Buffer>);

/// An entry where some rows and some columns meet.
fn positions(context: &Arc<Context>, rows: Chosen<'_>, columns: Chosen<'_>) -> Result<DevicePattern> {
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
