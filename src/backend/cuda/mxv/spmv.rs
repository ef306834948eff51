//! Matrix times vector by rows (pull).
use crate::backend::cuda::entries::empty;
use crate::backend::cuda::product::{DeviceIds, Operand, Product};
use crate::backend::cuda::runtime::program::{Program, resident, tuning};
use crate::backend::cuda::storage::band::Band;
use crate::backend::cuda::storage::row_tiles::RowTiles;
use crate::backend::cuda::storage::vector::{self, DeviceBitmap};
use crate::backend::cuda::{Buffer, Context, DevicePattern};
use crate::error::Result;
use oplus_codegen::{SemiringText, Shared, Template};
use std::sync::Arc;

/// Bytes of the record of a long row's part.
const PART: u64 = 24;

/// t⟨m⟩ = A ⊕.⊗ x by rows.
pub(crate) fn mxv(product: &Product) -> Result<(Arc<DevicePattern>, Buffer)> {
    // Before places of x and of the result are cleared, of which there may be as many as a device has room for.
    if product.is_empty() {
        let (pattern, values) = empty(product.context, 1, product.a.pattern.nrows)?;
        return Ok((Arc::new(pattern), values));
    }
    if !product.is_masked() && product.b.pattern.nnz == product.b.pattern.ncols as u64 {
        return full(product);
    }
    let Product { context, semiring, a, b: x, at, .. } = product.clone();
    let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
    let (rows, c, tuning) = (a.pattern.nrows as u64, semiring.c, tuning(context));
    let dense = vector::bitmap(x.pattern, semiring.b, x.values)?;
    let mask = product.mask_bits()?;
    let program = Program::new(context, Template::Spmv, |s| {
        let complement = mask.as_ref().is_some_and(|m| m.complement);
        s.semiring(semiring).flag("masked", mask.is_some()).flag("complement", complement).flag("mapped", ids.mapped())
    });
    let present = Buffer::zeroed_for::<u32>(context, a.pattern.nrows.div_ceil(32))?;
    let values = Buffer::alloc(context, rows * c.size as u64)?;
    // Where the longest row is known there may be none.
    let longest = a.pattern.longest.unwrap_or(a.pattern.nnz);
    let most = if longest > u64::from(tuning.spmv_long) { a.pattern.nnz / u64::from(tuning.spmv_long) } else { 0 };
    let (parts, count) = (Buffer::alloc(context, most * PART)?, Buffer::zeroed_for::<u32>(context, 1)?);
    let mean = a.pattern.nnz.checked_div(rows).unwrap_or(0);
    let lanes = (mean / 4).max(1).next_power_of_two().min(32);
    let block = tuning.spmv_block;
    let kernel = program.kernel(&format!("spmv_lanes{lanes}"))?;
    let launch = kernel.launch((rows * lanes).div_ceil(block as u64), block, 0).arg(rows).arg(&a.pattern.offsets);
    let launch = launch.arg(&a.pattern.indices).arg(a.values).arg(&dense.present).arg(&dense.values);
    let launch = launch.arg(mask.as_ref().map(|m| &m.pattern.words));
    let launch = launch.arg(ids.i.as_ref()).arg(ids.k.as_ref()).arg(&present).arg(&values).arg(&parts);
    // SAFETY: parameters as the README lists them, buffers of the sizes it asks for.
    unsafe { launch.arg(&count).run()? };
    if most > 0 {
        let sums = Buffer::alloc(context, most.saturating_mul(c.size as u64))?;
        let kernel = program.kernel("spmv_long_rows")?;
        let grid = resident(&kernel, block, 0, most)?;
        let launch = kernel.launch(grid, block, 0).arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values);
        let launch = launch.arg(&dense.present).arg(&dense.values).arg(ids.i.as_ref()).arg(ids.k.as_ref());
        // SAFETY: as above.
        unsafe { launch.arg(&present).arg(&values).arg(&parts).arg(&count).arg(&sums).run()? };
    }
    let (pattern, values) = vector::compact(context, a.pattern.nrows, c, DeviceBitmap { present, values })?;
    Ok((Arc::new(pattern), values))
}

/// For x without gaps: the result has an entry for every row of A that has any, which is known once A is.
fn full(product: &Product) -> Result<(Arc<DevicePattern>, Buffer)> {
    let Product { context, semiring, a, b: x, at, .. } = product.clone();
    let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
    of_full(&FullProduct { context, semiring, a, x: x.values, ids, left: false })
}

/// xᵀ A for x without gaps, by the columns of A as rows.
pub(crate) fn full_left(product: &Product, columns: Operand<'_>) -> Result<(Arc<DevicePattern>, Buffer)> {
    let Product { context, semiring, a: x, at, .. } = product.clone();
    let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
    // Rows of the transpose are the result's columns.
    let ids = DeviceIds { i: ids.j, k: ids.k, j: None };
    of_full(&FullProduct { context, semiring, a: columns, x: x.values, ids, left: true })
}

/// Of rows with a vector without gaps.
struct FullProduct<'a> {
    context: &'a Arc<Context>,
    semiring: Shared<SemiringText>,
    a: Operand<'a>,
    x: &'a Buffer,
    ids: DeviceIds,
    /// The vector's values are the left factors.
    left: bool,
}

/// The values of A ⊕.⊗ x, or `left` of xᵀ ⊕.⊗ Aᵀ, for x without gaps, one for each row of A that has entries.
pub(crate) fn sums_of_full(
    context: &Arc<Context>,
    semiring: Shared<SemiringText>,
    (a, x): (Operand<'_>, &Buffer),
    ids: DeviceIds,
    left: bool,
) -> Result<Buffer> {
    Ok(of_full(&FullProduct { context, semiring, a, x, ids, left })?.1)
}

fn of_full(product: &FullProduct) -> Result<(Arc<DevicePattern>, Buffer)> {
    let FullProduct { context, semiring, a, x, ids, left } = product;
    let tiles = RowTiles::of(a.pattern)?;
    let program = |template| {
        Program::new(context, template, |s| {
            s.semiring(semiring.clone()).flag("mapped", ids.mapped()).flag("vector_left", *left)
        })
    };
    let band = match tiles.numbers() {
        None => Band::looked_for(a.pattern)?.filter(|band| product.suits(band)),
        Some(_) => None,
    };
    let y = match band {
        Some(band) => band_sums(&program(Template::SpmvBand), product, band)?,
        None => full_sums(&program(Template::SpmvFull), semiring.c.size, a.pattern, tiles, (None, a.values, x), ids)?,
    };
    Ok((tiles.rows.clone(), y))
}

impl FullProduct<'_> {
    /// Bytes in which a block has its rows' values.
    fn shared(&self, diagonals: u32) -> u32 {
        let s = &self.semiring;
        let (size, read) = if self.left { (s.b.size, s.reads.b) } else { (s.a.size, s.reads.a) };
        let places = 32 * diagonals + 4;
        let places = places + places / if size <= 4 { 32 } else { 16 };
        if read && size <= 8 { tuning(self.context).spmv_block / 32 * places * size as u32 } else { 0 }
    }
    /// The bits of a row are in one word, and there is room for values.
    fn suits(&self, band: &Band) -> bool {
        let diagonals = band.shifts.len() as u32;
        diagonals <= u32::BITS && self.shared(diagonals) <= self.context.properties().shared_per_block_optin
    }
}

/// A sum for every row, all of which have entries, on those diagonals.
fn band_sums(program: &Program, product: &FullProduct, band: &Band) -> Result<Buffer> {
    let FullProduct { context, semiring, a, x, ids, .. } = product;
    let (rows, block) = (a.pattern.nrows as u64, tuning(context).spmv_block);
    let y = Buffer::alloc(context, rows.saturating_mul(semiring.c.size as u64))?;
    let diagonals = band.shifts.len() as u32;
    let (kernel, shared) = (program.kernel("spmv_band")?, product.shared(diagonals));
    let launch = kernel.launch(rows.div_ceil(u64::from(block)), block, shared).arg(rows).arg(a.pattern.nnz);
    let launch =
        launch.arg(diagonals).arg(&band.device_shifts).arg(&band.present).arg(&a.pattern.offsets).arg(a.values);
    // SAFETY: parameters as the README lists them, buffers of the sizes it asks for; x has all places.
    unsafe { launch.arg(*x).arg(ids.i.as_ref()).arg(ids.k.as_ref()).arg(&y).run()? };
    Ok(y)
}

/// A sum for every row that has entries: of terms value ⊗ x(index), where entry e has the e-th value, or the one at places[e].
pub(crate) fn full_sums(
    program: &Program,
    size: usize,
    pattern: &DevicePattern,
    tiles: &RowTiles,
    (places, values, x): (Option<&Buffer>, &Buffer, &Buffer),
    ids: &DeviceIds,
) -> Result<Buffer> {
    let (context, size, block) = (program.context, size as u64, tuning(program.context).spmv_block);
    let y = Buffer::alloc(context, tiles.rows.nnz.saturating_mul(size))?;
    let (offsets, rows) = (tiles.offsets(pattern), tiles.numbers());
    let chunks = &tiles.chunks;
    let sums = Buffer::alloc(context, chunks.count.saturating_mul(size))?;
    let (kernel, work) = if tiles.wide {
        (program.kernel("spmv_wide")?, tiles.rows.nnz.div_ceil(u64::from(block / 32)))
    } else {
        (program.kernel("spmv_full")?, tiles.count)
    };
    let launch = kernel.launch(chunks.count + work, block, 0).arg(pattern.nnz).arg(offsets);
    let launch = launch.arg(&pattern.indices).arg(places).arg(values).arg(x).arg(rows).arg(ids.i.as_ref());
    let launch = launch.arg(ids.k.as_ref()).arg(chunks.count as u32).arg(&chunks.records).arg(&chunks.ended);
    let launch = launch.arg(&sums).arg(&y);
    let launch = if tiles.wide {
        launch.arg(tiles.rows.nnz)
    } else {
        let lanes = (pattern.nnz / tiles.rows.nnz.max(1) / 8).max(1).next_power_of_two().min(32);
        launch.arg(&tiles.begins).arg(lanes.trailing_zeros())
    };
    // SAFETY: parameters as the README lists them, buffers of the sizes it asks for; x has all places. These are
    // launched on the context's own stream, one after the other, so that the long rows' counters are zero when one begins.
    unsafe { launch.run()? };
    Ok(y)
}
