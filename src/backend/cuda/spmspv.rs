//! Vector times matrix by pushing the vector's entries along the rows of the matrix, or by its columns where they are kept.
//!
//! Launch orders, sizes and workspaces are those of `codegen/templates/README.md`.
use super::entries::block_and_tile;
use super::product::{DeviceIds, Product, is_narrow};
use super::program::{Program, tuning};
use super::vector::{self, DeviceBitmap};
use super::{Buffer, DevicePattern};
use super::{spmv, turned};
use crate::error::Result;
use oplus_codegen::Template;
use oplus_codegen::text::{Atomic, Terminal};
use std::sync::Arc;

/// t⟨m⟩ = xᵀ ⊕.⊗ A by pushing the entries of x along the rows of A.
pub(super) fn vxm(product: &Product) -> Result<(Arc<DevicePattern>, Buffer)> {
    let Product { context, semiring, a: x, b: a, mask, at } = product.clone();
    if mask.is_none()
        && x.pattern.nnz == a.pattern.nrows as u64
        && a.pattern.nnz > 0
        && let Some(columns) = turned::columns_of(a, semiring.b, semiring.reads.b)?
    {
        return spmv::full_left(product, columns.operand());
    }
    let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
    let (columns, count, c, tuning) = (a.pattern.ncols as u64, x.pattern.nnz, semiring.c, tuning(context));
    let bits = mask.map(|m| vector::bits(&m.pattern)).transpose()?;
    // A value for every row of A: the result has an entry for each column that has any.
    let full = mask.is_none() && count == a.pattern.nrows as u64;
    let known = if full { a.pattern.filled_columns.get() } else { None };
    let (entry_block, tile) = block_and_tile(context);
    let claims = semiring.atomic == Atomic::First || semiring.terminal == Terminal::Always;
    let program = Program::new(context, Template::Spmspv, |s| {
        let complement = mask.is_some_and(|m| m.complement);
        let s = s.flag("narrow", is_narrow(x.pattern, a.pattern));
        s.semiring(semiring).flag("masked", mask.is_some()).flag("complement", complement).flag("mapped", ids.mapped())
    });
    // Nobody asks for bits of a result whose positions are known.
    let words = if known.is_some() { 0 } else { a.pattern.ncols.div_ceil(32) };
    let present = Buffer::alloc_for::<u32>(context, words)?;
    let values = Buffer::alloc(context, columns * c.size as u64)?;
    let state = Buffer::alloc_for::<u32>(context, a.pattern.ncols)?;
    let block = tuning.spmv_block;
    let mean = a.pattern.nnz.checked_div(a.pattern.nrows as u64).unwrap_or(0);
    // Long rows of few entries are shared out, so that all multiprocessors work.
    let shares = if mean < 32 { 1u64 } else { (mean / 8).clamp(2, 64) };
    // A row is 32 bits of places, so blocks of them fit.
    let grid = (count.div_ceil(block as u64) as u32, shares as u32, 1u32);
    // SAFETY: parameters as the README lists them, buffers of the sizes it asks for.
    unsafe {
        let kernel = program.kernel("spmspv_clear")?;
        let launch = kernel.launch(columns.div_ceil(block as u64), block, 0).arg(columns);
        launch.arg(&present).arg(&values).arg(&state).run()?;
        if claims {
            let kernel = program.kernel("spmspv_claim")?;
            let launch = kernel.launch(grid, block, 0).arg(count).arg(&x.pattern.indices).arg(&a.pattern.offsets);
            launch.arg(&a.pattern.indices).arg(bits.as_ref()).arg(&state).run()?;
        }
        if full && !claims {
            let n = a.pattern.nnz;
            let kernel = program.kernel("spmspv_push_all")?;
            let launch = kernel.launch(n.div_ceil(tile), entry_block, 0).arg(n).arg(count).arg(&a.pattern.offsets);
            let launch = launch.arg(&a.pattern.indices).arg(a.values).arg(x.values).arg(ids.k.as_ref());
            launch.arg(ids.j.as_ref()).arg(&present).arg(&values).arg(&state).run()?;
        } else {
            let kernel = program.kernel("spmspv_push")?;
            let launch = kernel.launch(grid, block, 0).arg(count).arg(&x.pattern.indices).arg(x.values);
            let launch = launch.arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values).arg(bits.as_ref());
            let launch = launch.arg(ids.k.as_ref()).arg(ids.j.as_ref()).arg(&present).arg(&values);
            launch.arg(&state).run()?;
        }
    }
    if let Some(columns) = known {
        return Ok((columns.clone(), vector::values_at(context, columns, c, values)?));
    }
    let (pattern, values) = vector::compact(context, a.pattern.ncols, c, DeviceBitmap { present, values })?;
    let pattern = Arc::new(pattern);
    if full {
        // Another thread may have been faster.
        let _ = a.pattern.filled_columns.set(pattern.clone());
    }
    Ok((pattern, values))
}
