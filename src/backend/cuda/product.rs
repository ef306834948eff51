//! Products with vectors on the device: mxv by rows, vxm by pushing.
//!
//! Launch orders, sizes and workspaces are those of `codegen/templates/README.md`.
use super::entries::block_and_tile;
use super::program::{Program, tuning};
use super::vector::{self, DeviceBitmap};
use super::{Buffer, Context, DevicePattern};
use crate::backend::{MaskOn, Positions};
use crate::error::Result;
use crate::storage::axis::Ids;
use oplus_codegen::text::{Atomic, Terminal};
use oplus_codegen::{SemiringText, Template};
use std::sync::Arc;

/// One operand's positions and values.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    pub(super) pattern: &'a DevicePattern,
    pub(super) values: &'a Buffer,
}

/// Whether the kernels may count the entries of both in 32 bits, with room for a step beyond the last.
pub(super) fn is_narrow(a: &DevicePattern, b: &DevicePattern) -> bool {
    a.nnz.max(b.nnz) < 1 << 31
}

pub(super) type DeviceMask<'a> = Option<&'a MaskOn<Arc<DevicePattern>>>;

/// A product to be computed: its operands, and what their places are called.
#[derive(Clone)]
pub(super) struct Product<'a> {
    pub(super) context: &'a Arc<Context>,
    pub(super) semiring: SemiringText,
    pub(super) a: Operand<'a>,
    pub(super) b: Operand<'a>,
    pub(super) mask: DeviceMask<'a>,
    pub(super) at: &'a Positions,
}

/// Ids of listed axes on the device; null where a place is its id.
pub(super) struct DeviceIds {
    pub(super) i: Option<Buffer>,
    pub(super) k: Option<Buffer>,
    pub(super) j: Option<Buffer>,
}
impl DeviceIds {
    pub(super) fn upload(context: &Arc<Context>, at: &Positions, positional: bool) -> Result<Self> {
        let one = |ids: &Ids| ids.as_ref().filter(|_| positional).map(|i| Buffer::from_host(context, i)).transpose();
        Ok(Self { i: one(&at.i)?, k: one(&at.k)?, j: one(&at.j)? })
    }
    pub(super) fn mapped(&self) -> bool {
        self.i.is_some() || self.k.is_some() || self.j.is_some()
    }
}

/// t⟨m⟩ = xᵀ ⊕.⊗ A by pushing the entries of x along the rows of A.
pub(super) fn vxm(product: &Product) -> Result<(Arc<DevicePattern>, Buffer)> {
    let Product { context, semiring, a: x, b: a, mask, at } = product.clone();
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
    let present = Buffer::zeroed_for::<u32>(context, a.pattern.ncols.div_ceil(32))?;
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
            let present = known.is_none().then_some(&present);
            launch.arg(ids.j.as_ref()).arg(present).arg(&values).arg(&state).run()?;
        } else {
            let kernel = program.kernel("spmspv_push")?;
            let launch = kernel.launch(grid, block, 0).arg(count).arg(&x.pattern.indices).arg(x.values);
            let launch = launch.arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values).arg(bits.as_ref());
            let launch = launch.arg(ids.k.as_ref()).arg(ids.j.as_ref()).arg(&present).arg(&values);
            launch.arg(&state).run()?;
        }
    }
    let bitmap = DeviceBitmap { present, values };
    if let Some(columns) = known {
        return Ok((columns.clone(), vector::values_at(context, columns, c, bitmap)?));
    }
    let (pattern, values) = vector::compact(context, a.pattern.ncols, c, bitmap)?;
    let pattern = Arc::new(pattern);
    if full {
        // Another thread may have been faster.
        let _ = a.pattern.filled_columns.set(pattern.clone());
    }
    Ok((pattern, values))
}
