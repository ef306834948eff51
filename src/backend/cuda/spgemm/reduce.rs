//! s = ⊞ over C⟨M⟩ = A ⊕.⊗ B, without storing C.
use super::analysis::{Limits, PerRow, analyze, analyzing};
use super::dot::Dots;
use super::masked::MaskedRows;
use super::{Job, SLICES, TABLE, TABLES, UNITS};
use crate::backend::cuda::entries::places;
use crate::backend::cuda::entrywise::reduce::reduce as values_reduced;
use crate::backend::cuda::product::{Operand, Product};
use crate::backend::cuda::runtime::ahead;
use crate::backend::cuda::runtime::program::{Program, resident, tuning};
use crate::backend::cuda::{Buffer, Context};
use crate::error::Result;
use crate::spgemm::Strategy;
use oplus_codegen::text::{Atomic, Terminal};
use oplus_codegen::{FunctionText, Shared, Template};
use std::sync::Arc;

/// Bytes of a value of which a warp has room for one beside its products.
const LARGEST: usize = 256;

/// ⊞ over (A ⊕.⊗ B)⟨M⟩: the bytes of the sum, `None` where there is no product.
pub(in crate::backend::cuda) fn mxm_reduce(product: &Product, reduce: Shared<FunctionText>) -> Result<Option<Vec<u8>>> {
    product.check_written()?;
    if let Some(dots) = Dots::of(product) {
        return dots.reduced(reduce);
    }
    let (job, context, nrows) = (Job::new(product)?, product.context, product.a.pattern.nrows);
    if let Some(masked) = MaskedRows::of(&job).filter(|m| m.suits(Strategy::Auto)) {
        return masked.reduced(reduce);
    }
    let (rows, size, tuning) = (job.rows, job.semiring.c.size as u64, job.tuning);
    if rows == 0 {
        return Ok(None);
    }
    if job.semiring.c.size > LARGEST || !job.tables_fit() {
        let (pattern, values) = job.make(Strategy::EscGlobal)?;
        let op = FunctionText { name: "op", ..(*reduce).clone() };
        return values_reduced(op.into(), Operand { pattern: &pattern, values: &values });
    }
    // Adding products as they come is right where ⊞ is ⊕ and any order gives the same.
    let same = reduce.text == job.semiring.add
        && !matches!(reduce.atomic, Atomic::None | Atomic::First)
        && reduce.terminal != Terminal::Always;
    // One module a group of kernels, as in `Job::numeric`.
    let program = |group: u64| {
        Program::new(context, Template::SpgemmReduce, |s| {
            job.with_semiring(s).function(reduce.clone()).flag("same", same).number("kernels", 1 << group)
        })
    };
    let row_units = Buffer::alloc_for::<u32>(context, nrows)?;
    let (work, control) =
        ahead::listed(&|| analyzing(&job, true), || analyze(&job, Limits::NONE, &PerRow::Units(&row_units)))?;
    // The rows of each table, and its program.
    let tables = || {
        (0..TABLES).filter_map(|t| {
            let units = control[UNITS + TABLE + t] + if t + 1 == TABLES { control[SLICES] } else { 0 };
            let table = (units > 0).then(|| program(1 + t as u64))?;
            Some((format!("spgemm_reduce_table{t}"), units, table.spec.table_launch(t)?, table))
        })
    };
    let ends = program(0).kernel_beside("spgemm_reduce_rows", || {
        tables().map(|(kernel, _, _, program)| program.wanted(kernel)).collect()
    })?;
    let units = nrows + work.slice_places;
    let unit_has = Buffer::zeroed_for::<u32>(context, units)?;
    let unit_values = Buffer::zeroed(context, units as u64 * size)?;
    for (kernel, units, table, program) in tables() {
        let kernel = program.kernel(&kernel)?;
        let grid = resident(&kernel, table.block, table.shared, units.div_ceil(table.teams as u64))?;
        let launch = job.operands(kernel.launch(grid, table.block, table.shared)).arg(rows).arg(&work.control.buffer);
        let launch = launch.arg(&work.units).arg(&work.slices).arg(&work.first).arg(&work.last);
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(&unit_has).arg(&unit_values).run()? };
    }
    let parts = Parts::room(context, rows.div_ceil(tuning.reduce_block as u64), size)?;
    let launch = ends.launch(parts.blocks, tuning.reduce_block, 0).arg(rows).arg(&row_units).arg(&work.slices);
    // SAFETY: as above.
    unsafe { launch.arg(&unit_has).arg(&unit_values).arg(&parts.has).arg(&parts.values).run()? };
    parts.last(&program(0), size)
}

/// Sums of blocks, and whether they have any term.
pub(super) struct Parts {
    pub(super) blocks: u64,
    pub(super) has: Buffer,
    pub(super) values: Buffer,
}

impl Parts {
    pub(super) fn room(context: &Arc<Context>, blocks: u64, size: u64) -> Result<Self> {
        let values = Buffer::alloc(context, blocks.saturating_mul(size))?;
        Ok(Self { blocks, has: Buffer::alloc_for::<u32>(context, places(blocks))?, values })
    }
    /// The sum of all.
    pub(super) fn last(&self, program: &Program, size: u64) -> Result<Option<Vec<u8>>> {
        let context = program.context;
        let (has, sum) = (Buffer::alloc_for::<u32>(context, 1)?, Buffer::alloc(context, size)?);
        let kernel = program.kernel("spgemm_reduce_last")?;
        let launch = kernel.launch(1u32, tuning(context).reduce_block, 0).arg(self.blocks).arg(&self.has);
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(&self.values).arg(&has).arg(&sum).run()? };
        if has.read_one::<u32>(0)? == 0 { Ok(None) } else { sum.to_host().map(Some) }
    }
}
