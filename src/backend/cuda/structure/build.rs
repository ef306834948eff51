//! Rows from triplets: a stable sort, then a fold of each run of equal positions.
use super::sort::{Keyed, bits_below, sort};
use crate::backend::cuda::entries::{Marks, block_and_tile, empty, places, sortable, structure, structures};
use crate::backend::cuda::runtime::program::{Program, scan_bits, scanning};
use crate::backend::cuda::{Buffer, Context, DevicePattern};
use crate::error::Result;
use oplus_codegen::{FunctionText, Shared, Template};
use std::sync::Arc;

/// `fold`, the template's function, folds values of one position in input order. `Err` of the least position of an entry
/// that has one before it, where `refuse` is set.
pub(crate) fn build(
    context: &Arc<Context>,
    fold: Shared<FunctionText>,
    (nrows, ncols): (usize, usize),
    rows: &[u32],
    columns: &[u32],
    values: &[u8],
    refuse: bool,
) -> Result<std::result::Result<(DevicePattern, Buffer), usize>> {
    let n = rows.len() as u64;
    if n == 0 {
        return empty(context, nrows, ncols).map(Ok);
    }
    sortable("build", n)?;
    let (size, block, bits) = (fold.output.size as u64, block_and_tile(context).0, bits_below(ncols));
    let grid = n.div_ceil(u64::from(block));
    let keyed = Keyed::room(context, n)?;
    // Whether the keys do not ascend, and the least place of a second entry.
    let found = Buffer::from_host(context, &[0u32, u32::MAX])?;
    let folding = Program::new(context, Template::Build, |s| s.function(fold));
    {
        let (rows, columns) = (Buffer::from_host(context, rows)?, Buffer::from_host(context, columns)?);
        let kernel = structures(context).kernel_beside("build_keys", || {
            let structures = ["build_marks", "key_offsets"].map(|name| structures(context).wanted(name));
            structures.into_iter().chain([folding.wanted("build_fold"), scanning(context, scan_bits)]).collect()
        })?;
        let launch = kernel.launch(grid, block, 0).arg(n).arg(&rows).arg(&columns).arg(bits);
        // SAFETY: of all launches here, parameters as the README lists them; n triplets, keys and places, buffers of
        // the sizes it asks for.
        unsafe { launch.arg(&keyed.keys).arg(&keyed.places).arg(&found).run()? };
    }
    let unsorted = found.read_one::<u32>(0)? != 0;
    let keyed = if unsorted { sort(context, keyed, n, 0..bits + bits_below(nrows))? } else { keyed };
    let marks = Marks::room(context, n)?;
    let kernel = structure(context, "build_marks")?;
    let launch = kernel.launch(grid, block, 0).arg(n).arg(&keyed.keys).arg(&keyed.places);
    // SAFETY: as above; a word for every 32 keys. The second number of `found` is the one written.
    unsafe { launch.arg(&marks.words).arg(if refuse { found.pointer() + 4 } else { 0 }).run()? };
    let nnz = marks.ranked()?;
    if refuse && nnz < n {
        return Ok(Err(found.read_one::<u32>(1)? as usize));
    }
    let offsets = Buffer::alloc_for::<u64>(context, nrows + 1)?;
    let kernel = structure(context, "key_offsets")?;
    let launch = kernel.launch((nrows as u64 + 1).div_ceil(u64::from(block)), block, 0).arg(n).arg(&keyed.keys);
    // SAFETY: as above; nrows + 1 offsets.
    unsafe { launch.arg(bits).arg(nrows as u64).arg(&marks.words).arg(&marks.starts).arg(&offsets).run()? };
    let values = Buffer::from_host(context, values)?;
    let out_indices = Buffer::alloc_for::<u32>(context, places(nnz))?;
    let out_values = Buffer::alloc(context, nnz * size)?;
    let kernel = folding.kernel("build_fold")?;
    let launch = kernel.launch(grid, block, 0).arg(n).arg(&keyed.keys).arg(&keyed.places).arg(&marks.words);
    // SAFETY: as above; the results have a place a mark.
    unsafe { launch.arg(&marks.starts).arg(bits).arg(&values).arg(&out_indices).arg(&out_values).run()? };
    Ok(Ok((DevicePattern::new((nrows, ncols), nnz, offsets, out_indices), out_values)))
}
