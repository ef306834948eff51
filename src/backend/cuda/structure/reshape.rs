//! The same entries in the same order in rows of another length.
use crate::backend::cuda::entries::{places, structure, tiles};
use crate::backend::cuda::storage::places::grid;
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::Result;

/// The positions of a matrix of as many places.
pub(crate) fn reshaped(a: &DevicePattern, (nrows, ncols): (usize, usize)) -> Result<DevicePattern> {
    let (context, n) = (a.offsets.context(), a.nnz);
    let mut offsets = Buffer::alloc_for::<u64>(context, nrows + 1)?;
    let indices = Buffer::alloc_for::<u32>(context, places(n))?;
    if n == 0 {
        offsets.fill(0)?;
        return Ok(DevicePattern::new((nrows, ncols), n, offsets, indices));
    }
    let keys = Buffer::alloc_for::<u64>(context, places(n))?;
    let (kernel, (blocks, block)) = (structure(context, "reshape_places")?, tiles(context, n));
    let launch = kernel.launch(blocks, block, 0).arg(n).arg(a.nrows as u64).arg(&a.offsets).arg(&a.indices);
    // SAFETY: of both launches, parameters as the README lists them; n entries, keys and columns, nrows + 1 offsets. A row of
    // `ncols` has places, as there are entries.
    unsafe { launch.arg(a.ncols as u64).arg(ncols as u64).arg(&keys).arg(&indices).run()? };
    let (kernel, (blocks, block)) = (structure(context, "key_offsets")?, grid(context, nrows as u64 + 1));
    let launch = kernel.launch(blocks, block, 0).arg(n).arg(&keys).arg(0u32).arg(nrows as u64);
    // SAFETY: as above; the keys are rows, without marks.
    unsafe { launch.arg(None::<&Buffer>).arg(None::<&Buffer>).arg(&offsets).run()? };
    Ok(DevicePattern::new((nrows, ncols), n, offsets, indices))
}
