//! Vector times matrix where there are few products: one block makes, sorts and sums them, in one launch that writes the row. Pushed, all
//! columns would be cleared and looked through, of which there may be as many as a device has room for.
use super::spmspv;
use crate::backend::cuda::entrywise::one_row::{Room, row_unless};
use crate::backend::cuda::product::{DeviceIds, Product};
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::Result;

/// Products that the kernel takes, as it says itself, by the size of their values.
const fn most(size: usize) -> u64 {
    match size {
        0..=8 => 2048,
        9..=16 => 1024,
        _ => 0,
    }
}
/// Threads of the block, as the kernel has them.
const THREADS: u32 = 512;
/// Columns to a product from which on this is tried. More products than `SORTED` take as long to sort as so many columns to clear and look
/// through.
const COLUMNS: u64 = 4;
const SORTED: (u64, u64) = (512, 1 << 21);
/// Where rows may be longer than the mean, so many times the products that they have in the mean must fit.
const UNKNOWN: u64 = 4;

/// Room for the row, where that is so as far as rows' lengths are known.
pub(super) fn suits(product: &Product) -> Option<Room> {
    let (x, a, size) = (product.a.pattern, product.b.pattern, product.semiring.c.size);
    let (most, columns) = (most(size), a.ncols as u64);
    let mean = a.nnz.div_ceil(a.nrows.max(1) as u64);
    // No row is x's twice.
    let bound = x.nnz.saturating_mul(a.longest.unwrap_or(u64::MAX)).min(a.nnz);
    let likely = bound.min(x.nnz.saturating_mul(mean).saturating_mul(UNKNOWN));
    let is_few = x.nnz <= most && likely <= most && likely.saturating_mul(COLUMNS) <= columns;
    let suits = is_few && (likely <= SORTED.0 || columns >= SORTED.1);
    suits.then(|| Room { most: bound.min(most), size: size as u64 })
}

/// t⟨m⟩ = xᵀ ⊕.⊗ A, where that is so.
pub(super) fn vxm(product: &Product) -> Result<Option<(DevicePattern, Buffer)>> {
    let Some(room) = suits(product) else { return Ok(None) };
    let Product { context, ref semiring, a: x, b: a, at, .. } = *product;
    let (bits, listed) = (product.bits, product.mask.filter(|_| product.bits.is_none()));
    let complement = bits.map(|m| m.complement).or(listed.map(|m| m.complement));
    let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
    let program = spmspv::program(product, complement, &ids);
    let kernel = program.kernel("spmspv_few")?;
    row_unless(&kernel, THREADS, (a.pattern.ncols, room), |launch| {
        let launch = launch.arg(x.pattern.nnz).arg(&x.pattern.indices).arg(x.values).arg(&a.pattern.offsets);
        let launch = launch.arg(&a.pattern.indices).arg(a.values).arg(bits.map(|m| &m.pattern.words));
        let launch = launch.arg(listed.map_or(0, |m| m.pattern.nnz)).arg(listed.map(|m| &m.pattern.indices));
        launch.arg(ids.k.as_ref()).arg(ids.j.as_ref())
    })
}
