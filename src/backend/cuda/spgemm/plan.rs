//! Products of known structure: the analysis, the counts and the positions are kept, values are computed again and again.
use super::analysis::{Limits, PerRow, Work, analyze};
use super::ordered::{is_exact, mxm_ordered, values_in_order};
use super::{BLOCK, BLOCK_SIZES, CLASS_COPY, Job, LONGEST, NNZ, PRODUCTS, Rows, Run, SLICES, TABLE, TABLES, UNITS};
use crate::backend::cuda::lanes::Fork;
use crate::backend::cuda::product::{DeviceMask, Operand};
use crate::backend::cuda::program::scan_in_place;
use crate::backend::cuda::{Buffer, Context, DevicePattern, chunks, lock};
use crate::backend::{MxmOptions, Positions};
use crate::error::{Error, Result};
use crate::spgemm::Strategy;
use oplus_codegen::{SemiringText, TableLaunch};
use std::sync::{Arc, Mutex};

/// What a product's values are computed by.
#[derive(Debug)]
pub(in crate::backend::cuda) enum Prepared {
    /// In one pass, as the product itself: nothing is worth keeping.
    Again(MxmOptions),
    /// In the order of k.
    Ordered,
    /// By row, from the lists of the analysis; one run at a time.
    Listed(Box<Mutex<Facts>>),
}

/// What the numeric phase needs beside operands.
#[derive(Debug)]
pub(in crate::backend::cuda) struct Facts {
    /// Lent to a run.
    kept: Option<Kept>,
    /// The control block before it: tickets are drawn from that.
    pristine: Buffer,
}

/// A [`Run`] without its operands.
#[derive(Debug)]
struct Kept {
    work: Work,
    limits: Limits,
    tables: Vec<TableLaunch>,
    c_offsets: Buffer,
    row_kinds: Buffer,
    sums: Buffer,
    slice_counts: Buffer,
    parts: Buffer,
    spill: Buffer,
    parts_room: u32,
    control: Vec<u64>,
}

impl Kept {
    fn lent<'a>(self, job: &'a Job<'a>) -> Run<'a> {
        let Kept { work, limits, tables, c_offsets, row_kinds, sums, slice_counts, parts, spill, parts_room, control } =
            self;
        Run { job, work, limits, tables, c_offsets, row_kinds, sums, slice_counts, parts, spill, parts_room, control }
    }
    fn back(run: Run<'_>) -> Self {
        let Run {
            work,
            limits,
            tables,
            c_offsets,
            row_kinds,
            sums,
            slice_counts,
            parts,
            spill,
            parts_room,
            control,
            ..
        } = run;
        Kept { work, limits, tables, c_offsets, row_kinds, sums, slice_counts, parts, spill, parts_room, control }
    }
}

/// The positions of T⟨M⟩ = A ⊕.⊗ B, and what its values are computed by.
pub(in crate::backend::cuda) fn prepare(
    context: &Arc<Context>,
    semiring: SemiringText,
    a: Operand<'_>,
    b: Operand<'_>,
    mask: DeviceMask,
    at: &Positions,
    options: &MxmOptions,
) -> Result<(Prepared, DevicePattern)> {
    let strategy = options.strategy;
    if options.reproducible && !is_exact(&semiring) {
        return Ok((Prepared::Ordered, mxm_ordered(context, semiring, a, b, mask, at, strategy)?.0));
    }
    let job = Job::new(context, semiring, a, b, mask, at)?;
    if let Some((pattern, _)) = job.by_name(strategy)? {
        return Ok((Prepared::Again(*options), pattern));
    }
    if strategy == Strategy::Auto
        && let Some((pattern, _)) = job.mxm_band()?
    {
        return Ok((Prepared::Again(*options), pattern));
    }
    if let Some(whole) = job.whole(strategy)
        && let Some((pattern, _)) = job.mxm_whole(whole)?
    {
        return Ok((Prepared::Again(*options), pattern));
    }
    job.prepared(strategy)
}

impl Job<'_> {
    fn prepared(&self, strategy: Strategy) -> Result<(Prepared, DevicePattern)> {
        let (context, rows, nrows) = (self.context, self.rows, self.a.pattern.nrows);
        let limits = self.limits(strategy);
        let c_offsets = Buffer::alloc_for::<u64>(context, nrows + 1)?;
        let row_kinds = Buffer::alloc_for::<u32>(context, nrows)?;
        let room = Buffer::alloc_for::<u64>(context, nrows + 1)?;
        let work = analyze(self, limits, &PerRow::Product { counts: &c_offsets, kinds: &row_kinds, room: &room })?;
        drop(room);
        let control: Vec<u64> = work.control.to_host()?;
        let tabled = control[SLICES] > 0 || control[UNITS + TABLE..][..TABLES].iter().any(|n| *n > 0);
        let most_parts = control[PRODUCTS].min(rows.saturating_add(1 << 16));
        let parts_room = if tabled { u32::try_from(most_parts).unwrap_or(u32::MAX) } else { 0 };
        let spec = self.numeric(0).spec;
        let mut run = Run {
            job: self,
            limits,
            tables: (0..TABLES).filter_map(|t| spec.table_launch(t)).collect(),
            sums: Buffer::alloc_for::<u32>(context, if tabled { nrows } else { 0 })?,
            slice_counts: Buffer::alloc_for::<u32>(context, if tabled { work.slice_places } else { 0 })?,
            parts: Buffer::alloc_for::<u32>(context, 6 * parts_room as usize)?,
            spill: Buffer::alloc_for::<u32>(context, if tabled { 2 * nrows } else { 0 })?,
            work,
            c_offsets,
            row_kinds,
            parts_room,
            control,
        };
        {
            let fork = Fork::begin(context, run.classes(UNITS) > 2)?;
            run.blocks(&fork, None)?;
            run.count_tables(&fork)?;
            run.count_short_rows(&fork)?;
        }
        scan_in_place(context, &run.c_offsets, rows, Some((&run.work.control, NNZ as u64, LONGEST as u64)))?;
        if tabled {
            run.list_sums(spec.value_bytes(TABLES - 1).unwrap_or(0))?;
        }
        run.control = run.work.control.to_host()?;
        let (nnz, longest) = (run.control[NNZ], run.control[LONGEST]);
        let offsets = run.c_offsets.duplicate()?;
        let indices = Buffer::alloc_for::<u32>(context, usize::try_from(nnz).unwrap_or(usize::MAX))?;
        let mut facts = Facts { pristine: run.work.control.duplicate()?, kept: Some(Kept::back(run)) };
        // Columns are written with the values.
        facts.values(self, nnz, &indices)?;
        let shape = (nrows, self.b.pattern.ncols);
        let pattern = DevicePattern::new(shape, nnz, offsets, indices).with_longest(longest);
        Ok((Prepared::Listed(Box::new(Mutex::new(facts))), pattern))
    }
}

impl Facts {
    /// Values, and columns that are written once more as they are.
    fn values(&mut self, job: &Job, nnz: u64, indices: &Buffer) -> Result<Buffer> {
        let values = Buffer::alloc(job.context, nnz.saturating_mul(job.semiring.c.size as u64))?;
        if nnz == 0 {
            return Ok(values);
        }
        let lost = || Error::InvalidValue { operation: "plan", reason: "an earlier run was interrupted".into() };
        let mut kept = self.kept.take().ok_or_else(lost)?;
        let renewed = kept.work.control.copy_range(0, &self.pristine, 0..self.pristine.bytes());
        let run = kept.lent(job);
        let made = renewed.and_then(|()| {
            let c = Rows { offsets: &run.c_offsets, indices, values: &values };
            let fork = Fork::begin(job.context, run.classes(UNITS) > 2)?;
            let blocks = run.control[UNITS + BLOCK..][..BLOCK_SIZES].iter().any(|n| *n > 0);
            if blocks || run.parts_room > 0 || run.control[UNITS + CLASS_COPY] > 0 {
                run.blocks(&fork, Some(&c))?;
                run.sum_tables(&fork, &c)?;
                run.copy_rows(&fork, &c)?;
            }
            run.short_rows(&fork, &c, false)
        });
        self.kept = Some(Kept::back(run));
        made.map(|()| values)
    }
}

impl Prepared {
    /// The values of the product at its positions; the operands have the structure that was prepared for.
    pub(in crate::backend::cuda) fn values(
        &self,
        context: &Arc<Context>,
        semiring: SemiringText,
        a: Operand<'_>,
        b: Operand<'_>,
        mask: DeviceMask,
        at: &Positions,
        c: &DevicePattern,
    ) -> Result<Buffer> {
        let made = match self {
            Prepared::Again(options) => chunks::mxm(context, semiring, a, b, mask, at, options)?,
            Prepared::Ordered => return values_in_order(context, semiring, a, b, at, c),
            Prepared::Listed(facts) => {
                let job = Job::new(context, semiring.clone(), a, b, mask, at)?;
                match lock(facts).values(&job, c.nnz, &c.indices) {
                    Err(Error::OutOfMemory { .. }) => {
                        chunks::mxm(context, semiring, a, b, mask, at, &MxmOptions::default())?
                    }
                    made => return made,
                }
            }
        };
        if made.0.nnz != c.nnz {
            let reason = format!("{} entries, the plan has {}", made.0.nnz, c.nnz);
            return Err(Error::InvalidValue { operation: "plan", reason });
        }
        Ok(made.1)
    }
}
