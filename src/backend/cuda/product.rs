//! Products on the device: mxm by tables of column words, its reduction, mxv by rows, vxm by pushing.
//!
//! Launch orders, sizes and workspaces are those of `codegen/templates/README.md`.
use super::program::{Program, resident, scan_in_place, tuning};
use super::vector::{self, DeviceBitmap};
use super::{Buffer, Context, DevicePattern};
use crate::backend::{MaskOn, Positions};
use crate::error::Result;
use crate::storage::axis::Ids;
use oplus_codegen::text::{Atomic, Terminal};
use oplus_codegen::{FunctionText, SemiringText, Template};
use std::sync::Arc;

/// One operand's positions and values.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    pub(super) pattern: &'a DevicePattern,
    pub(super) values: &'a Buffer,
}

type DeviceMask<'a> = Option<&'a MaskOn<Arc<DevicePattern>>>;

const CONTROL: usize = 128;
const NNZ: usize = 2;
const PARTS: usize = 4;
const SUMS: usize = 80;
const TABLES: usize = 5;
const TINY: [&str; 3] = ["8", "16", "32"];

/// Ids of listed axes on the device; null where a place is its id.
struct DeviceIds {
    i: Option<Buffer>,
    k: Option<Buffer>,
    j: Option<Buffer>,
}
impl DeviceIds {
    fn upload(context: &Arc<Context>, at: &Positions, positional: bool) -> Result<Self> {
        let one = |ids: &Ids| ids.as_ref().filter(|_| positional).map(|i| Buffer::from_host(context, i)).transpose();
        Ok(Self { i: one(&at.i)?, k: one(&at.k)?, j: one(&at.j)? })
    }
    fn mapped(&self) -> bool {
        self.i.is_some() || self.k.is_some() || self.j.is_some()
    }
}

/// What the analysis leaves on the device for the passes over the products.
struct Work {
    rows: u64,
    control: Buffer,
    products: Buffer,
    first: Buffer,
    last: Buffer,
    units: Buffer,
    slices: Buffer,
    slice_places: usize,
}

/// What the rows of C get: their counts, and how they came out of the symbolic phase; or the units of a reduction.
enum PerRow<'a> {
    Counts { counts: &'a Buffer, kinds: &'a Buffer },
    Units(&'a Buffer),
}

/// Rows counted, classed and listed.
fn analyze(
    context: &Arc<Context>,
    a: &DevicePattern,
    b: &DevicePattern,
    mask: DeviceMask,
    per_row: &PerRow,
) -> Result<Work> {
    let (tuning, rows) = (tuning(context), a.nrows as u64);
    let complement = mask.is_some_and(|m| m.complement);
    let reduce = matches!(per_row, PerRow::Units(_));
    let program = Program::new(context, Template::SpgemmAnalyze, |s| {
        s.flag("masked", mask.is_some()).flag("complement", complement).flag("reduce", reduce)
    });
    let slice_places = 2 * tuning.slice_units as usize + 64;
    let work = Work {
        rows,
        control: Buffer::zeroed_for::<u64>(context, CONTROL)?,
        products: Buffer::alloc_for::<u32>(context, a.nrows)?,
        first: Buffer::alloc_for::<u32>(context, a.nrows)?,
        last: Buffer::alloc_for::<u32>(context, a.nrows)?,
        units: Buffer::alloc_for::<u32>(context, a.nrows)?,
        slices: Buffer::alloc_for::<u64>(context, slice_places)?,
        slice_places,
    };
    let (row_units, row_counts, row_kinds) = match per_row {
        PerRow::Counts { counts, kinds } => (None, Some(*counts), Some(*kinds)),
        PerRow::Units(units) => (Some(*units), None, None),
    };
    let m_offsets = mask.map(|m| &m.pattern.offsets);
    let grid = (rows * tuning.analyze_lanes as u64).div_ceil(tuning.analyze_block as u64);
    let bins = rows.div_ceil(tuning.bin_block as u64);
    // SAFETY: parameters as the README lists them, buffers of the sizes it asks for.
    unsafe {
        let kernel = program.kernel("spgemm_analyze")?;
        let launch = kernel.launch(grid, tuning.analyze_block, 0).arg(&a.offsets).arg(&a.indices).arg(&b.offsets);
        let launch = launch.arg(&b.indices).arg(rows).arg(&work.control).arg(&work.products);
        launch.arg(&work.first).arg(&work.last).run()?;
        let kernel = program.kernel("spgemm_count_units")?;
        let launch = kernel.launch(bins, tuning.bin_block, 0).arg(&a.offsets).arg(m_offsets).arg(rows);
        launch.arg(&work.control).arg(&work.products).arg(&work.first).arg(&work.last).run()?;
        let kernel = program.kernel("spgemm_list_units")?;
        let launch =
            kernel.launch(bins, tuning.bin_block, 0).arg(&a.offsets).arg(m_offsets).arg(rows).arg(&work.control);
        let launch = launch.arg(&work.products).arg(&work.first).arg(&work.last).arg(&work.units).arg(&work.slices);
        launch.arg(row_units).arg(row_counts).arg(row_kinds).run()?;
    }
    Ok(work)
}

/// T⟨M⟩ = A ⊕.⊗ B: symbolic, one read-back of sizes, numeric.
pub(super) fn mxm(
    context: &Arc<Context>,
    semiring: SemiringText,
    a: Operand<'_>,
    b: Operand<'_>,
    mask: DeviceMask,
    at: &Positions,
) -> Result<(DevicePattern, Buffer)> {
    let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
    let (rows, columns) = (a.pattern.nrows as u64, b.pattern.ncols as u32);
    let (size, tuning) = (semiring.c.size as u64, tuning(context));
    let complement = mask.is_some_and(|m| m.complement);
    let symbolic = Program::new(context, Template::SpgemmSymbolic, |s| {
        s.flag("masked", mask.is_some()).flag("complement", complement)
    });
    // One module a group of kernels, so that what a product does not need is never compiled.
    let numeric = |group: u64| {
        let s = semiring.clone();
        Program::new(context, Template::SpgemmNumeric, |spec| {
            let spec = spec.semiring(s).flag("masked", mask.is_some()).flag("complement", complement);
            spec.flag("mapped", ids.mapped()).number("kernels", 1 << group)
        })
    };
    let c_offsets = Buffer::alloc_for::<u64>(context, a.pattern.nrows + 1)?;
    let row_kinds = Buffer::alloc_for::<u32>(context, a.pattern.nrows)?;
    let per_row = PerRow::Counts { counts: &c_offsets, kinds: &row_kinds };
    let work = analyze(context, a.pattern, b.pattern, mask, &per_row)?;
    let spill = Buffer::alloc_for::<u32>(context, 2 * a.pattern.nrows)?;
    let slice_counts = Buffer::alloc_for::<u32>(context, work.slice_places)?;
    let parts_room = u32::try_from(a.pattern.nrows.saturating_add(1 << 16)).unwrap_or(u32::MAX);
    let parts = Buffer::alloc_for::<u32>(context, 6 * parts_room as usize)?;
    let (m_offsets, m_indices) = (mask.map(|m| &m.pattern.offsets), mask.map(|m| &m.pattern.indices));
    let spec = numeric(0).spec;
    let tables: Vec<_> = (0..TABLES).filter_map(|t| spec.table_launch(t)).collect();
    let values = |t: usize| tables.get(t).map_or(0, |l| l.values);
    // SAFETY (both passes): parameters as the README lists them, buffers of the sizes it asks for.
    for t in 0..TABLES {
        let Some(table) = symbolic.spec.table_launch(t) else { continue };
        let kernel = symbolic.kernel(&format!("spgemm_symbolic_table{t}"))?;
        let useful = (rows + work.slice_places as u64).div_ceil(table.teams as u64);
        let grid = resident(&kernel, table.block, table.shared, useful)?;
        let launch = kernel.launch(grid, table.block, table.shared);
        let launch = launch.arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(&b.pattern.offsets);
        let launch = launch.arg(&b.pattern.indices).arg(m_offsets).arg(m_indices).arg(columns).arg(rows);
        let launch = launch.arg(&work.control).arg(&work.units).arg(&work.slices).arg(&spill).arg(&work.products);
        let launch = launch.arg(&work.first).arg(&work.last).arg(&c_offsets).arg(&row_kinds).arg(&slice_counts);
        // SAFETY: as above.
        unsafe { launch.arg(&parts).arg(parts_room).arg(values(4)).arg(values(3)).run()? };
    }
    for tiny in TINY {
        let kernel = symbolic.kernel(&format!("spgemm_symbolic_tiny{tiny}"))?;
        let grid = resident(&kernel, tuning.tiny_block, 0, rows)?;
        let launch = kernel.launch(grid, tuning.tiny_block, 0).arg(&a.pattern.offsets).arg(&a.pattern.indices);
        let launch = launch.arg(&b.pattern.offsets).arg(&b.pattern.indices).arg(m_offsets).arg(m_indices).arg(columns);
        // SAFETY: as above.
        unsafe { launch.arg(&work.control).arg(&work.units).arg(&c_offsets).run()? };
    }
    scan_in_place(context, &c_offsets, rows, Some((&work.control, NNZ as u64)))?;
    let analysis = Program::new(context, Template::SpgemmAnalyze, |s| {
        s.flag("masked", mask.is_some()).flag("complement", complement)
    });
    let (bins, value_bytes) = (rows.div_ceil(tuning.bin_block as u64), spec.value_bytes(TABLES - 1).unwrap_or(0));
    for (name, units) in [("spgemm_count_sums", None), ("spgemm_list_sums", Some(&work.units))] {
        let kernel = analysis.kernel(name)?;
        let launch = kernel.launch(bins, tuning.bin_block, 0).arg(&a.pattern.offsets).arg(rows).arg(&work.control);
        let launch = launch.arg(&work.products).arg(&row_kinds).arg(&c_offsets).arg(value_bytes);
        // SAFETY: as above.
        unsafe { if units.is_some() { launch.arg(units).run()? } else { launch.run()? } };
    }
    let control: Vec<u64> = work.control.to_host()?;
    let nnz = control[NNZ];
    let units = |class: usize| control[SUMS + class] + if class == 9 { control[PARTS] } else { 0 };
    let c_indices = Buffer::alloc_for::<u32>(context, usize::try_from(nnz).unwrap_or(usize::MAX))?;
    let c_values = Buffer::alloc(context, nnz.saturating_mul(size))?;
    let copy_and_tiny = [
        ("spgemm_numeric_copy", 1),
        ("spgemm_numeric_tiny8", 2),
        ("spgemm_numeric_tiny16", 3),
        ("spgemm_numeric_tiny32", 4),
    ];
    for (name, class) in copy_and_tiny {
        if nnz == 0 || units(class) == 0 {
            continue;
        }
        let kernel = numeric(0).kernel(name)?;
        let grid = resident(&kernel, tuning.tiny_block, 0, units(class))?;
        let launch = kernel.launch(grid, tuning.tiny_block, 0);
        let launch = launch.arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values).arg(&b.pattern.offsets);
        let launch = launch.arg(&b.pattern.indices).arg(b.values).arg(m_offsets).arg(m_indices).arg(columns);
        let launch = launch.arg(ids.i.as_ref()).arg(ids.k.as_ref()).arg(ids.j.as_ref()).arg(&work.control);
        // SAFETY: as above.
        unsafe { launch.arg(&work.units).arg(&c_offsets).arg(&c_indices).arg(&c_values).run()? };
    }
    for (t, table) in tables.iter().enumerate() {
        if nnz == 0 || units(5 + t) == 0 {
            continue;
        }
        let kernel = numeric(1 + t as u64).kernel(&format!("spgemm_numeric_table{t}"))?;
        let useful = units(5 + t).div_ceil(table.teams as u64);
        let grid = resident(&kernel, table.block, table.shared, useful)?;
        let launch = kernel.launch(grid, table.block, table.shared);
        let launch = launch.arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values).arg(&b.pattern.offsets);
        let launch = launch.arg(&b.pattern.indices).arg(b.values).arg(m_offsets).arg(m_indices).arg(columns);
        let launch = launch.arg(ids.i.as_ref()).arg(ids.k.as_ref()).arg(ids.j.as_ref()).arg(&work.control);
        let launch = launch.arg(&work.units).arg(&work.first).arg(&work.last).arg(&slice_counts).arg(&parts);
        // SAFETY: as above.
        unsafe { launch.arg(parts_room).arg(&c_offsets).arg(&c_indices).arg(&c_values).run()? };
    }
    let pattern =
        DevicePattern { nrows: a.pattern.nrows, ncols: b.pattern.ncols, nnz, offsets: c_offsets, indices: c_indices };
    Ok((pattern, c_values))
}

/// ⊞ over (A ⊕.⊗ B)⟨M⟩ without storing it: the bytes of the sum, `None` where there is no product.
pub(super) fn mxm_reduce(
    context: &Arc<Context>,
    semiring: SemiringText,
    reduce: FunctionText,
    a: Operand<'_>,
    b: Operand<'_>,
    mask: DeviceMask,
    at: &Positions,
) -> Result<Option<Vec<u8>>> {
    let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
    let (rows, columns, size) = (a.pattern.nrows as u64, b.pattern.ncols as u32, semiring.c.size as u64);
    if rows == 0 {
        return Ok(None);
    }
    let tuning = tuning(context);
    // Adding products as they come is right where ⊞ is ⊕ and any order gives the same.
    let same = reduce.text == semiring.add
        && !matches!(reduce.atomic, Atomic::None | Atomic::First)
        && reduce.terminal != Terminal::Always;
    let program = Program::new(context, Template::SpgemmReduce, |s| {
        let complement = mask.is_some_and(|m| m.complement);
        let s = s.semiring(semiring).function(reduce).flag("masked", mask.is_some()).flag("complement", complement);
        s.flag("mapped", ids.mapped()).flag("same", same)
    });
    let row_units = Buffer::alloc_for::<u32>(context, a.pattern.nrows)?;
    let work = analyze(context, a.pattern, b.pattern, mask, &PerRow::Units(&row_units))?;
    let places = a.pattern.nrows + work.slice_places;
    let unit_has = Buffer::zeroed_for::<u32>(context, places)?;
    let unit_values = Buffer::zeroed(context, places as u64 * size)?;
    let (m_offsets, m_indices) = (mask.map(|m| &m.pattern.offsets), mask.map(|m| &m.pattern.indices));
    for t in 0..TABLES {
        let Some(table) = program.spec.table_launch(t) else { continue };
        let kernel = program.kernel(&format!("spgemm_reduce_table{t}"))?;
        let grid = resident(&kernel, table.block, table.shared, (places as u64).div_ceil(table.teams as u64))?;
        let launch = kernel.launch(grid, table.block, table.shared);
        let launch = launch.arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values).arg(&b.pattern.offsets);
        let launch = launch.arg(&b.pattern.indices).arg(b.values).arg(m_offsets).arg(m_indices).arg(columns);
        let launch = launch.arg(ids.i.as_ref()).arg(ids.k.as_ref()).arg(ids.j.as_ref()).arg(work.rows);
        let launch = launch.arg(&work.control).arg(&work.units).arg(&work.slices).arg(&work.first).arg(&work.last);
        // SAFETY: parameters as the README lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(&unit_has).arg(&unit_values).run()? };
    }
    let blocks = work.rows.div_ceil(tuning.reduce_block as u64);
    let (block_has, block_values) =
        (Buffer::alloc_for::<u32>(context, blocks as usize)?, Buffer::alloc(context, blocks * size)?);
    let (result_has, result) = (Buffer::alloc_for::<u32>(context, 1)?, Buffer::alloc(context, size)?);
    // SAFETY: as above.
    unsafe {
        let kernel = program.kernel("spgemm_reduce_rows")?;
        let launch = kernel.launch(blocks, tuning.reduce_block, 0).arg(work.rows).arg(&row_units).arg(&work.slices);
        launch.arg(&unit_has).arg(&unit_values).arg(&block_has).arg(&block_values).run()?;
        let kernel = program.kernel("spgemm_reduce_last")?;
        let launch = kernel.launch(1u32, tuning.reduce_block, 0).arg(blocks).arg(&block_has).arg(&block_values);
        launch.arg(&result_has).arg(&result).run()?;
    }
    if result_has.read_one::<u32>(0)? == 0 { Ok(None) } else { result.to_host().map(Some) }
}

/// t⟨m⟩ = A ⊕.⊗ x by rows.
pub(super) fn mxv(
    context: &Arc<Context>,
    semiring: SemiringText,
    a: Operand<'_>,
    x: Operand<'_>,
    mask: DeviceMask,
    at: &Positions,
) -> Result<(DevicePattern, Buffer)> {
    let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
    let (rows, c, tuning) = (a.pattern.nrows as u64, semiring.c, tuning(context));
    let dense = vector::bitmap(x.pattern, semiring.b, x.values)?;
    let bits = mask.map(|m| vector::bits(&m.pattern)).transpose()?;
    let program = Program::new(context, Template::Spmv, |s| {
        let complement = mask.is_some_and(|m| m.complement);
        s.semiring(semiring).flag("masked", mask.is_some()).flag("complement", complement).flag("mapped", ids.mapped())
    });
    let present = Buffer::zeroed_for::<u32>(context, a.pattern.nrows.div_ceil(32))?;
    let values = Buffer::alloc(context, rows * c.size as u64)?;
    let (long_rows, long_count) =
        (Buffer::alloc_for::<u32>(context, a.pattern.nrows)?, Buffer::zeroed_for::<u32>(context, 1)?);
    let mean = a.pattern.nnz.checked_div(rows).unwrap_or(0);
    let lanes = (mean / 4).max(1).next_power_of_two().min(32);
    let block = tuning.spmv_block;
    let kernel = program.kernel(&format!("spmv_lanes{lanes}"))?;
    let launch = kernel.launch((rows * lanes).div_ceil(block as u64), block, 0).arg(rows).arg(&a.pattern.offsets);
    let launch = launch.arg(&a.pattern.indices).arg(a.values).arg(&dense.present).arg(&dense.values).arg(bits.as_ref());
    let launch = launch.arg(ids.i.as_ref()).arg(ids.k.as_ref()).arg(&present).arg(&values).arg(&long_rows);
    // SAFETY: parameters as the README lists them, buffers of the sizes it asks for.
    unsafe { launch.arg(&long_count).run()? };
    if a.pattern.nnz > tuning.spmv_long as u64 {
        let kernel = program.kernel("spmv_long_rows")?;
        let grid = resident(&kernel, block, 0, rows)?;
        let launch = kernel.launch(grid, block, 0).arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values);
        let launch = launch.arg(&dense.present).arg(&dense.values).arg(ids.i.as_ref()).arg(ids.k.as_ref());
        // SAFETY: as above.
        unsafe { launch.arg(&present).arg(&values).arg(&long_rows).arg(&long_count).run()? };
    }
    vector::compact(context, a.pattern.nrows, c, &DeviceBitmap { present, values })
}

/// t⟨m⟩ = xᵀ ⊕.⊗ A by pushing the entries of x along the rows of A.
pub(super) fn vxm(
    context: &Arc<Context>,
    semiring: SemiringText,
    x: Operand<'_>,
    a: Operand<'_>,
    mask: DeviceMask,
    at: &Positions,
) -> Result<(DevicePattern, Buffer)> {
    let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
    let (columns, count, c, tuning) = (a.pattern.ncols as u64, x.pattern.nnz, semiring.c, tuning(context));
    let bits = mask.map(|m| vector::bits(&m.pattern)).transpose()?;
    let claims = semiring.atomic == Atomic::First || semiring.terminal == Terminal::Always;
    let program = Program::new(context, Template::Spmspv, |s| {
        let complement = mask.is_some_and(|m| m.complement);
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
        let kernel = program.kernel("spmspv_push")?;
        let launch = kernel.launch(grid, block, 0).arg(count).arg(&x.pattern.indices).arg(x.values);
        let launch = launch.arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values).arg(bits.as_ref());
        let launch = launch.arg(ids.k.as_ref()).arg(ids.j.as_ref()).arg(&present).arg(&values);
        launch.arg(&state).run()?;
    }
    vector::compact(context, a.pattern.ncols, c, &DeviceBitmap { present, values })
}
