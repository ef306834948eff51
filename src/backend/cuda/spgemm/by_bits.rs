//! Products over positions alone, of few rows: 64 rows of A together, a bit each, so that an entry of B is looked at once for all of
//! them and not once for each. Then et al., *The more the merrier*, PVLDB 8(4), 2014, 10.14778/2735496.2735507.
//!
//! A's positions as a word a column, the words pushed along the rows of B into words of C, which begin as what the mask does not
//! admit; turned into rows of bits, and listed. The work is the same however many products there are.
use crate::backend::cuda::entries::{empty, places, tiles};
use crate::backend::cuda::runtime::program::{Program, tuning};
use crate::backend::cuda::storage::held::{DeviceForm, DeviceFrame, positions_of_cells};
use crate::backend::cuda::{Buffer, Context, DevicePattern, Kernel};
use crate::backend::{MaskBody, MaskOn, MxmOptions};
use crate::error::Result;
use crate::spgemm::{Analysis, Bin, Strategy};
use oplus_codegen::Template;
use std::sync::Arc;

/// Rows that a word has bits for.
const ROWS: u64 = 64;
/// A row's products row by row take as long as so many steps here, shared by the rows: a step is an entry of B for all rows of a word.
const PRODUCT: u64 = 1250;
/// Steps that a row or a column of B takes.
const PLACE: u64 = 8;
/// Products of rows that an entry of a plain mask stands for at most: by a dot product it takes no more.
const DOT: u64 = 64;
/// What launching all kernels of one way takes longer than those of the other, in steps: of this one where B has so few entries that rows
/// need no analysis; else of that by rows, which has more to compile and load as well, shared by the words.
const LAUNCHES: u64 = 8 << 20;
const SMALL: u64 = 1 << 17;
/// Groups of rows that one launch has.
const GROUPS: u64 = 1 << 15;

/// Whether that is the least work.
pub(crate) fn suits(a: &DevicePattern, b: &DevicePattern, mask: Option<&MaskBody>, options: &MxmOptions) -> bool {
    if options.transposed_b || options.strategy != Strategy::Auto {
        return false;
    }
    let (rows, groups) = (a.nrows as u64, (a.nrows as u64).div_ceil(ROWS));
    if rows < 2 || groups > GROUPS {
        return false;
    }
    let steps = groups.saturating_mul(b.nnz.saturating_add(PLACE * (b.nrows as u64 + b.ncols as u64)));
    // By rows what a complement of cells leaves out is listed.
    let (most, listed) = match mask {
        Some(m) if !m.is_complement() => (m.nnz().saturating_mul(DOT), 0),
        Some(MaskBody::CudaCells(m, known)) if known.get().is_none() && m.pattern.known().is_none() => {
            (u64::MAX, m.pattern.count())
        }
        _ => (u64::MAX, 0),
    };
    let likely = u128::from(a.nnz) * u128::from(b.nnz) / (b.nrows as u128).max(1);
    let products = u64::try_from(likely).unwrap_or(u64::MAX).min(most);
    let (more, less) = if b.nnz < SMALL { (0, LAUNCHES) } else { (LAUNCHES / groups, 0) };
    let by_rows = products.saturating_mul((PRODUCT / rows).max(1)).saturating_add(listed + more);
    by_rows > steps.saturating_add(less)
}

/// The positions of (A B)⟨M⟩.
pub(crate) fn positions(a: &DevicePattern, b: &DevicePattern, mask: Option<&MaskBody>) -> Result<DevicePattern> {
    let context = a.offsets.context();
    let shape = (a.nrows, b.ncols);
    if a.nnz == 0 || b.nnz == 0 || shape.1 == 0 {
        return Ok(empty(context, shape.0, shape.1)?.0);
    }
    let groups = (a.nrows as u64).div_ceil(ROWS);
    let zeros = |columns: usize| Buffer::zeroed_for::<u64>(context, places(groups.saturating_mul(columns as u64)));
    let (from, (blocks, block)) = (zeros(b.nrows)?, tiles(context, a.nnz));
    let kernel = bits(context, "bits_marked")?;
    let launch = kernel.launch(blocks, block, 0).arg(a.nnz).arg(a.nrows as u64).arg(b.nrows as u64);
    // SAFETY: of all launches here, parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
    unsafe { launch.arg(&a.offsets).arg(&a.indices).arg(&from).run()? };
    let (to, without) = match mask.map(refused).transpose()? {
        None => (zeros(b.ncols)?, None),
        Some((cells, flip)) => words(context, shape, &cells, flip).map(|(to, copy)| (to, Some(copy)))?,
    };
    let (kernel, (blocks, block)) = (bits(context, "bits_pushed")?, tiles(context, b.nnz));
    // More than a device takes at once is refused there.
    let grid = (u32::try_from(blocks).unwrap_or(u32::MAX), groups as u32);
    let launch = kernel.launch(grid, block, 0).arg(b.nnz).arg(b.nrows as u64).arg(b.ncols as u64);
    // SAFETY: as above.
    unsafe { launch.arg(&b.offsets).arg(&b.indices).arg(&from).arg(&to).run()? };
    let cells = (shape.0 as u64).saturating_mul(shape.1 as u64);
    let found = Buffer::zeroed_for::<u32>(context, places(cells.div_ceil(32)))?;
    let (kernel, (blocks, block)) = (bits(context, "bits_of_rows")?, tiles_of_bits(context, shape));
    let launch = kernel.launch(blocks, block, 0).arg(shape.0 as u64).arg(shape.1 as u64).arg(&to);
    // SAFETY: as above.
    unsafe { launch.arg(without.as_ref()).arg(&found).run()? };
    positions_of_cells(context, shape, &found)
}

/// Cells that are not admitted: those with a bit, or without one.
fn refused(mask: &MaskBody) -> Result<(Arc<DeviceFrame>, bool)> {
    let marked = |m: &MaskOn<Arc<DevicePattern>>| Ok((Arc::new(DeviceFrame::marked(&m.pattern)?), !m.complement));
    match mask {
        MaskBody::CudaCells(m, _) if matches!(m.pattern.form, DeviceForm::Cells(_)) => {
            Ok((m.pattern.clone(), !m.complement))
        }
        MaskBody::CudaCells(m, _) => marked(&MaskOn { pattern: m.pattern.listed()?.clone(), complement: m.complement }),
        MaskBody::CudaBits(m, _) => marked(&MaskOn { pattern: m.pattern.listed()?.clone(), complement: m.complement }),
        MaskBody::Cuda(m) => marked(m),
        MaskBody::Host(_) | MaskBody::Bits(..) | MaskBody::Cells(..) => {
            Err(crate::backend::misplaced(crate::device::Device::Cpu))
        }
    }
}

/// Words of the columns of cells, or of those without a bit, twice.
fn words(
    context: &Arc<Context>,
    (rows, columns): (usize, usize),
    cells: &DeviceFrame,
    flip: bool,
) -> Result<(Buffer, Buffer)> {
    let n = places((rows as u64).div_ceil(ROWS).saturating_mul(columns as u64));
    let (out, copy) = (Buffer::alloc_for::<u64>(context, n)?, Buffer::alloc_for::<u64>(context, n)?);
    let (kernel, (blocks, block)) = (bits(context, "bits_of_columns")?, tiles_of_bits(context, (rows, columns)));
    let launch = kernel.launch(blocks, block, 0).arg(rows as u64).arg(columns as u64).arg(cells.words());
    // SAFETY: as in `positions`.
    unsafe { launch.arg(u32::from(flip)).arg(&out).arg(&copy).run()? };
    Ok((out, copy))
}

fn bits(context: &Arc<Context>, name: &str) -> Result<Kernel> {
    Program::new(context, Template::SpgemmBits, |s| s).kernel(name)
}

/// Blocks in which each warp has 32 × 32 cells, of all rows that words have bits for.
fn tiles_of_bits(context: &Context, (rows, columns): (usize, usize)) -> (u64, u32) {
    let block = tuning(context).primitive_block;
    let tiles = (2 * (rows as u64).div_ceil(ROWS)).saturating_mul(columns.div_ceil(32) as u64);
    (tiles.div_ceil(u64::from(block / 32)), block)
}

/// Says that the product is made in this way.
pub(crate) fn explain(a: &DevicePattern, b: &DevicePattern, to: &mut Analysis) {
    to.strategy = "pattern";
    to.reason = "every product is the same value and ⊕ leaves it: the positions are enough".into();
    let about = "64 rows at once, a bit each: an entry of B is looked at once for all of them";
    to.bins = vec![Bin::new("bits", about, a.nrows as u64)];
    let (rows, columns) = (a.nrows as u64, b.ncols as u64);
    let words = rows.div_ceil(ROWS).saturating_mul(8).saturating_mul(b.nrows as u64 + 2 * columns);
    // Bits by rows, and how many are before each 32 of them.
    to.workspace = words.saturating_add(rows.saturating_mul(3 * columns) / 8);
}
