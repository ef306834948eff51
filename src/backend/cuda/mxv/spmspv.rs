//! Vector times matrix by pushing the vector's entries along the rows of the matrix, by its columns where they are kept, or in one launch
//! where products are few.
//!
//! Launch orders, sizes and workspaces are those of `codegen/templates/README.md`.
use super::{few, spmv};
use crate::backend::cuda::entries::{block_and_tile, empty};
use crate::backend::cuda::entrywise::one_row::{Room, row_of};
use crate::backend::cuda::product::{DeviceIds, MaskBits, Operand, Product, is_narrow};
use crate::backend::cuda::runtime::ahead;
use crate::backend::cuda::runtime::program::{Program, tuning};
use crate::backend::cuda::storage::turned;
use crate::backend::cuda::storage::vector::{self, DeviceBitmap};
use crate::backend::cuda::{Buffer, Context, DevicePattern};
use crate::error::Result;
use oplus_codegen::text::{Atomic, ScalarText, Terminal};
use oplus_codegen::{Template, Tuning};
use std::sync::Arc;

/// The kernels that find which entry of x reaches a column first, and write the row of these.
const CLAIM: &str = "spmspv_claim";
const CLAIMED: &str = "spmspv_claimed";

/// Blocks a multiprocessor holds, or so.
const RESIDENT: u32 = 4;

/// t⟨m⟩ = xᵀ ⊕.⊗ A by pushing the entries of x along the rows of A.
pub(crate) fn vxm(product: &Product) -> Result<(Arc<DevicePattern>, Buffer)> {
    let a = product.b;
    if product.is_empty() {
        let (pattern, values) = empty(product.context, 1, a.pattern.ncols)?;
        return Ok((Arc::new(pattern), values));
    }
    let (all, scalar, reads) = (has_all(product), product.semiring.b, product.semiring.reads.b);
    if all && let Some(columns) = turned::kept(a, reads) {
        return spmv::full_left(product, columns.operand());
    }
    if let Some((pattern, values)) = few::vxm(product)? {
        return Ok((Arc::new(pattern), values));
    }
    // Kept they take memory for each of them, however few entries there are.
    if all && let Some(columns) = turned::columns_within(a, scalar, reads)? {
        return spmv::full_left(product, columns.operand());
    }
    let push = Push::new(product)?;
    // A value for every row of A: the result has an entry for each column that has any.
    let known = if all { a.pattern.filled_columns.get() } else { None };
    if let Some(columns) = known {
        let dense = push.sums(all, false)?;
        return Ok((columns.clone(), vector::values_at(product.context, columns, push.c, dense.values)?));
    }
    let columns = a.pattern.ncols;
    let (pattern, values) = if push.claims && columns > 0 && columns as u64 <= u64::from(push.tuning.one_row_most) {
        push.claimed()?
    } else {
        vector::compact(product.context, columns, push.c, push.sums(all, true)?)?
    };
    let pattern = Arc::new(pattern);
    if all {
        // Another thread may have been faster.
        let _ = a.pattern.filled_columns.set(pattern.clone());
    }
    Ok((pattern, values))
}

/// x has an entry at every place, and nothing is masked.
fn has_all(product: &Product) -> bool {
    product.a.pattern.nnz == product.b.pattern.nrows as u64 && !product.is_masked()
}

/// What [`vxm`] does of a product that is not empty, in a `limited` operation or not.
pub(super) fn way(product: &Product, limited: bool) -> Way {
    let (all, a, reads) = (has_all(product), product.b, product.semiring.reads.b);
    if all && turned::kept(a, reads).is_some() {
        return Way::Columns;
    }
    match few::suits(product) {
        Some(room) => Way::Few(room),
        None if all && !limited && turned::are_made_next(a, reads) => Way::ColumnsNow,
        None => Way::Push,
    }
}

/// See [`way`].
pub(super) enum Way {
    /// By the columns of A, which are kept.
    Columns,
    /// In one launch, with this room for the row; pushed should products be more than it takes.
    Few(Room),
    /// By the columns, which are made now if there is room, and pushed if there is not.
    ColumnsNow,
    Push,
}

/// The template for a product; `complement`: of its mask, if it has one.
pub(super) fn program<'a>(product: &Product<'a>, complement: Option<bool>, ids: &DeviceIds) -> Program<'a> {
    let (semiring, narrow) = (product.semiring.clone(), is_narrow(product.a.pattern, product.b.pattern));
    Program::new(product.context, Template::Spmspv, |s| {
        let s = s.semiring(semiring).flag("narrow", narrow).flag("masked", complement.is_some());
        s.flag("complement", complement == Some(true)).flag("mapped", ids.mapped())
    })
}

/// Products of a block that others would share, at least.
const HEAVY: u64 = 8192;
/// So many times the blocks that multiprocessors hold are launched for a row that may be among x's, at most.
const TIMES: u64 = 8;
/// Blocks side by side that share products, at most.
const SHARES: u64 = 65_535;

/// How many blocks share the products of each of so many groups of x's entries, so that none has a hub's row for itself while
/// the others, of which `busy` run at once, have no more than their part of all products. Of rows whose lengths nobody knows any may be
/// a hub's; for those no more blocks are launched than run at once.
fn hub_shares(a: &DevicePattern, (groups, busy): (u64, u64), products: u64) -> u64 {
    let (longest, most) = a.longest.map_or((a.nnz, busy), |longest| (longest, TIMES * busy));
    let part = (products / busy.max(1)).max(HEAVY);
    (longest / part).min(most / groups.max(1)).clamp(1, SHARES)
}

/// A push of x along the rows of A: its kernels, and how they are launched.
struct Push<'a> {
    context: &'a Arc<Context>,
    x: Operand<'a>,
    a: Operand<'a>,
    c: ScalarText,
    /// The first term of a sum is the sum: who comes first claims the column.
    claims: bool,
    /// A sum begins as what changes no term: nothing tells which have one.
    preset: bool,
    mask: Option<MaskBits>,
    ids: DeviceIds,
    program: Program<'a>,
    tuning: &'static Tuning,
    /// Blocks by entries of x, and those that share these; entries of x that a block has.
    grid: (u32, u32, u32),
    each: u32,
}

impl<'a> Push<'a> {
    fn new(product: &Product<'a>) -> Result<Self> {
        let Product { context, semiring, a: x, b: a, at, .. } = product.clone();
        let (mask, ids) = (product.mask_bits()?, DeviceIds::upload(context, at, semiring.reads.position)?);
        let (tuning, c) = (tuning(context), semiring.c);
        let claims = semiring.atomic == Atomic::First || semiring.terminal == Terminal::Always;
        let preset = semiring.is_preset() && !claims;
        let program = program(product, mask.as_ref().map(|m| m.complement), &ids);
        // A block finds the rows of 32 entries after those of the 32 before: it has no more than all multiprocessors need to be
        // busy.
        let blocks = u64::from(context.properties().multiprocessors * RESIDENT);
        let each = x.pattern.nnz.div_ceil(blocks).next_multiple_of(32).clamp(32, u64::from(tuning.spmv_block));
        // Long rows of few entries are shared out, so that all multiprocessors work.
        let mean = a.pattern.nnz.checked_div(a.pattern.nrows as u64).unwrap_or(0);
        let shares = if mean < 32 { 1 } else { (mean / 8).clamp(2, 64) };
        let groups = x.pattern.nnz.div_ceil(each);
        let shares = shares.max(hub_shares(a.pattern, (groups, blocks), x.pattern.nnz.saturating_mul(mean))) as u32;
        // A row is 32 bits of places, so blocks of them fit.
        let (grid, each) = ((groups as u32, shares, 1), each as u32);
        Ok(Self { context, x, a, c, claims, preset, mask, ids, program, tuning, grid, each })
    }
    fn bits(&self) -> Option<&Buffer> {
        self.mask.as_ref().map(|m| &m.pattern.words)
    }
    /// Which entry of x is the first that reaches a column.
    fn claim(&self, state: &Buffer) -> Result<()> {
        let kernel = self.program.kernel(CLAIM)?;
        let launch = kernel.launch(self.grid, self.tuning.spmv_block, 0).arg(self.x.pattern.nnz).arg(self.each);
        let launch = launch.arg(&self.x.pattern.indices).arg(&self.a.pattern.offsets).arg(&self.a.pattern.indices);
        // SAFETY: parameters as the README lists them; the state has a word for each column.
        unsafe { launch.arg(self.bits()).arg(state).run() }
    }
    /// The row of what is claimed, in one launch: the columns are few enough, and more than none.
    fn claimed(&self) -> Result<(DevicePattern, Buffer)> {
        let (x, a, columns) = (self.x, self.a, self.a.pattern.ncols);
        let mut claimed = Buffer::alloc_for::<u32>(self.context, columns)?;
        claimed.fill(0xff)?;
        ahead::listed(&|| vec![self.program.wanted(CLAIMED)], || self.claim(&claimed))?;
        let room = Room { most: columns as u64, size: self.c.size as u64 };
        let kernel = self.program.kernel(CLAIMED)?;
        row_of(&kernel, columns as u64, (columns, room), |launch| {
            let launch = launch.arg(columns as u64).arg(&x.pattern.indices).arg(x.values).arg(&a.pattern.offsets);
            let launch = launch.arg(&a.pattern.indices).arg(a.values).arg(self.ids.k.as_ref());
            launch.arg(self.ids.j.as_ref()).arg(&claimed)
        })
    }
    /// The sums at their places; their bits only where somebody asks for them, as the positions are not known. `all`: x has a value
    /// for every row of A, and nothing is masked.
    fn sums(&self, all: bool, bits: bool) -> Result<DeviceBitmap> {
        let (context, x, a, block) = (self.context, self.x, self.a, self.tuning.spmv_block);
        let (columns, count) = (a.pattern.ncols as u64, x.pattern.nnz);
        let present = Buffer::alloc_for::<u32>(context, if bits { a.pattern.ncols.div_ceil(32) } else { 0 })?;
        let values = Buffer::alloc(context, columns * self.c.size as u64)?;
        let state = Buffer::alloc_for::<u32>(context, if self.preset { 0 } else { a.pattern.ncols })?;
        let push = if all && !self.claims { "spmspv_push_all" } else { "spmspv_push" };
        let follow = || {
            let claim = self.claims.then_some(CLAIM);
            let own = claim.into_iter().chain([push]).map(|name| self.program.wanted(name));
            // Bits are for a row of what has one.
            let row = bits.then(|| vector::compacting(context, a.pattern.ncols, self.c));
            own.chain(row.into_iter().flatten()).collect()
        };
        let kernel = self.program.kernel_beside("spmspv_clear", follow)?;
        let launch = kernel.launch(columns.div_ceil(u64::from(block)), block, 0).arg(columns);
        // SAFETY: of all launches here, parameters as the README lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(&present).arg(&values).arg(&state).run()? };
        if self.claims {
            self.claim(&state)?;
        }
        let kernel = self.program.kernel(push)?;
        if all && !self.claims {
            let (n, (block, tile)) = (a.pattern.nnz, block_and_tile(context));
            let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(count).arg(&a.pattern.offsets);
            let launch = launch.arg(&a.pattern.indices).arg(a.values).arg(x.values).arg(self.ids.k.as_ref());
            // SAFETY: as above.
            unsafe { launch.arg(self.ids.j.as_ref()).arg(&present).arg(&values).arg(&state).run()? };
        } else {
            let launch = kernel.launch(self.grid, block, 0).arg(count).arg(self.each).arg(&x.pattern.indices);
            let launch = launch.arg(x.values).arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values);
            let launch = launch.arg(self.bits()).arg(self.ids.k.as_ref()).arg(self.ids.j.as_ref());
            // SAFETY: as above.
            unsafe { launch.arg(&present).arg(&values).arg(&state).run()? };
        }
        Ok(DeviceBitmap { present, values })
    }
}
