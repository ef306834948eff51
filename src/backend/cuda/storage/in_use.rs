//! Rows and columns that have entries, found where the entries are, and the positions that are left on them alone.
use super::places::{grid, list};
use super::row_tiles::{row_starts, rows_present};
use super::vector;
use crate::backend::cuda::entries::{Marks, block_and_tile, compact, places, structure};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::structure::sort::{Keyed, bits_below, sort};
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::Result;
use crate::memory;
use oplus_codegen::text::ScalarText;

/// The rows and the columns that have entries, ascending, of which these are asked for; of others nothing.
pub(crate) fn used(a: &DevicePattern, (rows, cols): (bool, bool)) -> Result<(Vec<u32>, Vec<u32>)> {
    let of = |wanted: bool, listed: &dyn Fn() -> Result<Vec<u32>>| match wanted && a.nnz > 0 {
        true => listed(),
        false => Ok(Vec::new()),
    };
    Ok((of(rows, &|| used_rows(a))?, of(cols, &|| used_columns(a))?))
}

fn used_rows(a: &DevicePattern) -> Result<Vec<u32>> {
    let context = a.offsets.context();
    let present = rows_present(a, &structure(context, "rows_present")?)?;
    vector::places_of(context, a.nrows, &present)?.to_host()
}

/// By a bit a column where that takes less than the entries do, else sorted: time and room do not go with the number of columns.
fn used_columns(a: &DevicePattern) -> Result<Vec<u32>> {
    const BITS: u64 = 32;
    let (context, n) = (a.offsets.context(), a.nnz);
    if a.ncols as u64 / BITS <= n || n > u64::from(u32::MAX) {
        return vector::places_of(context, a.ncols, &vector::bits(a)?)?.to_host();
    }
    let (keyed, ends) = (Keyed::room(context, n)?, Buffer::from_host(context, &[0, n])?);
    let kernel = structure(context, "transpose_keys")?;
    let launch = kernel.launch(n.div_ceil(block_and_tile(context).1), block_and_tile(context).0, 0);
    // Of one row the keys are the columns.
    let launch = launch.arg(n).arg(1u64).arg(&ends).arg(&a.indices).arg(0u32);
    // SAFETY: of all launches here, parameters as the README lists them; n entries, keys and places.
    unsafe { launch.arg(&keyed.keys).arg(&keyed.places).run()? };
    let keyed = sort(context, keyed, n, 0..bits_below(a.ncols))?;
    let (marks, (grid, block)) = (Marks::room(context, n)?, grid(context, n));
    let kernel = structure(context, "build_marks")?;
    let launch = kernel.launch(grid, block, 0).arg(n).arg(&keyed.keys).arg(&keyed.places);
    // SAFETY: a word for every 32 keys.
    unsafe { launch.arg(&marks.words).arg(0u64).run()? };
    let count = marks.ranked()?;
    let one_row = DevicePattern::new((1, a.ncols), n, ends, keyed.places);
    let key = ScalarText { name: "u64", definition: "", size: 8 };
    let first: Vec<u64> =
        compact(key, Operand { pattern: &one_row, values: &keyed.keys }, &marks, count)?.1.to_host()?;
    let mut columns = memory::with_capacity("extract", first.len())?;
    columns.extend(first.into_iter().map(|column| column as u32));
    Ok(columns)
}

/// The same entries on these rows and columns alone, which are all that have any; `None`: as they are.
pub(crate) fn gathered(a: &DevicePattern, rows: Option<&[u32]>, cols: Option<&[u32]>) -> Result<DevicePattern> {
    let context = a.offsets.context();
    let offsets = match rows {
        None => a.offsets.duplicate()?,
        Some(rows) => row_starts(a, rows.len() as u64, &list(context, rows)?)?,
    };
    let indices = match cols {
        Some(cols) if a.nnz > 0 => {
            let out = Buffer::alloc_for::<u32>(context, places(a.nnz))?;
            let (kernel, (grid, block)) = (structure(context, "list_places")?, grid(context, a.nnz));
            let (n, cols) = (cols.len() as u64, list(context, cols)?);
            let launch = kernel.launch(grid, block, 0).arg(a.nnz).arg(&a.indices).arg(n).arg(&cols);
            // SAFETY: parameters as the README lists them; a place for every entry.
            unsafe { launch.arg(&out).run()? };
            out
        }
        _ => a.indices.duplicate()?,
    };
    let shape = (rows.map_or(a.nrows, <[u32]>::len), cols.map_or(a.ncols, <[u32]>::len));
    Ok(DevicePattern::new(shape, a.nnz, offsets, indices).with_longest_if(a.longest))
}
