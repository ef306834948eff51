//! Lists of places in device memory: written there where they are a progression, as ranges and strides are, and copied from
//! the host where they are the caller's own. And positions that are made of them alone.
use crate::backend::cuda::entries::{block_and_tile, places, structure};
use crate::backend::cuda::{Buffer, Context, DevicePattern};
use crate::backend::places::{How, Moves};
use crate::error::Result;
use crate::memory;
use std::ops::Range;
use std::sync::Arc;

/// So few are copied sooner than written.
const FEW: usize = 64;

pub(crate) fn grid(context: &Context, n: u64) -> (u64, u32) {
    let block = block_and_tile(context).0;
    (n.div_ceil(u64::from(block)), block)
}

/// `n` numbers from `first` on, each by `step` larger than the one before, modulo 2³².
fn counted(context: &Arc<Context>, n: usize, first: u32, step: u32) -> Result<Buffer> {
    let out = Buffer::alloc_for::<u32>(context, n)?;
    if n > 0 {
        let (kernel, (grid, block)) = (structure(context, "progression")?, grid(context, n as u64));
        let launch = kernel.launch(grid, block, 0).arg(n as u64).arg(first).arg(step);
        // SAFETY: parameters as the README lists them; room for n numbers.
        unsafe { launch.arg(&out).run()? };
    }
    Ok(out)
}

/// First and step of a progression.
fn progression(mut all: impl Iterator<Item = u32>) -> Option<(u32, u32)> {
    let (first, second) = (all.next()?, all.next()?);
    let step = second.wrapping_sub(first);
    let mut before = second;
    let regular = all.all(|next| next.wrapping_sub(std::mem::replace(&mut before, next)) == step);
    regular.then_some((first, step))
}

/// A list of `n`.
fn listed(context: &Arc<Context>, n: usize, all: impl Iterator<Item = u32> + Clone) -> Result<Buffer> {
    if n > FEW
        && let Some((first, step)) = progression(all.clone())
    {
        return counted(context, n, first, step);
    }
    let mut copy = memory::with_capacity("extract", n)?;
    copy.extend(all);
    Buffer::from_host(context, &copy)
}

/// A list.
pub(crate) fn list(context: &Arc<Context>, all: &[u32]) -> Result<Buffer> {
    listed(context, all.len(), all.iter().copied())
}

/// Sources and targets of pairs.
pub(crate) fn pairs(context: &Arc<Context>, all: &[(u32, u32)]) -> Result<(Buffer, Buffer)> {
    let n = all.len();
    Ok((listed(context, n, all.iter().map(|p| p.0))?, listed(context, n, all.iter().map(|p| p.1))?))
}

/// What [`Moves::sources`] says: for every place of the result the one it comes from, or none.
pub(crate) fn sources(context: &Arc<Context>, moves: &Moves) -> Result<Buffer> {
    let (from, to) = match &moves.how {
        How::Range { from, len, to } => {
            (counted(context, *len as usize, *from, 1)?, counted(context, *len as usize, *to, 1)?)
        }
        How::Pairs { pairs: all, .. } => pairs(context, all)?,
    };
    let mut out = Buffer::alloc_for::<u32>(context, moves.places)?;
    out.fill(0xff)?;
    let n = from.len_of::<u32>() as u64;
    if n > 0 {
        let (kernel, (grid, block)) = (structure(context, "put_places")?, grid(context, n));
        // SAFETY: parameters as the README lists them; n of each, targets are places of the result.
        unsafe { kernel.launch(grid, block, 0).arg(n).arg(&from).arg(&to).arg(&out).run()? };
    }
    Ok(out)
}

/// Sets the bits of these `n` places in `length` words that are 0, from word `start` of the buffer on, if that takes less than
/// copying all words: whether it did.
pub(crate) fn set_bits(
    words: &Buffer,
    (start, length): (usize, usize),
    n: usize,
    all: impl Iterator<Item = u32> + Clone,
) -> Result<bool> {
    if n > length && progression(all.clone()).is_none() {
        return Ok(false);
    }
    if n > 0 {
        let context = words.context();
        let (kernel, (grid, block)) = (structure(context, "set_bits")?, grid(context, n as u64));
        let all = listed(context, n, all)?;
        let launch = kernel.launch(grid, block, 0).arg(n as u64).arg(&all).arg(words.pointer() + 4 * start as u64);
        // SAFETY: parameters as the README lists them; the words have a bit for each place.
        unsafe { launch.run()? };
    }
    Ok(true)
}

/// The same entries where row and column k are row and column `map[k]`, which ascend; `None`: as they are.
pub(crate) fn spread(
    a: &DevicePattern,
    shape: (usize, usize),
    rows: Option<&[u32]>,
    cols: Option<&[u32]>,
) -> Result<DevicePattern> {
    let context = a.offsets.context();
    let offsets = match rows {
        None => a.offsets.duplicate()?,
        Some(map) => {
            let out = Buffer::alloc_for::<u64>(context, shape.0 + 1)?;
            let (kernel, (grid, block)) = (structure(context, "spread_offsets")?, grid(context, shape.0 as u64 + 1));
            let (n, map) = (map.len() as u64, list(context, map)?);
            let launch = kernel.launch(grid, block, 0).arg(shape.0 as u64).arg(n).arg(&map);
            // SAFETY: parameters as the README lists them; n rows of A, all of the result.
            unsafe { launch.arg(&a.offsets).arg(&out).run()? };
            out
        }
    };
    let indices = match cols {
        Some(map) if a.nnz > 0 => {
            let out = Buffer::alloc_for::<u32>(context, places(a.nnz))?;
            let (kernel, (grid, block)) = (structure(context, "map_indices")?, grid(context, a.nnz));
            let map = list(context, map)?;
            // SAFETY: parameters as the README lists them; a place for every column of A.
            unsafe { kernel.launch(grid, block, 0).arg(a.nnz).arg(&a.indices).arg(&map).arg(&out).run()? };
            out
        }
        _ => a.indices.duplicate()?,
    };
    Ok(DevicePattern::new(shape, a.nnz, offsets, indices).with_longest_if(a.longest))
}

/// An entry at every place of these rows and columns.
pub(crate) fn block(
    context: &Arc<Context>,
    shape: (usize, usize),
    rows: Range<u32>,
    cols: Range<u32>,
) -> Result<DevicePattern> {
    let (count, width) = (rows.len() as u64, cols.len() as u64);
    let nnz = count.saturating_mul(width);
    let offsets = Buffer::alloc_for::<u64>(context, shape.0 + 1)?;
    let indices = Buffer::alloc_for::<u32>(context, places(nnz))?;
    let (kernel, (blocks, threads)) = (structure(context, "block_offsets")?, grid(context, shape.0 as u64 + 1));
    let launch = kernel.launch(blocks, threads, 0).arg(shape.0 as u64).arg(u64::from(rows.start)).arg(count);
    // SAFETY: parameters as the README lists them; rows + 1 offsets.
    unsafe { launch.arg(width).arg(&offsets).run()? };
    if nnz > 0 {
        let (kernel, (blocks, threads)) = (structure(context, "block_indices")?, grid(context, nnz));
        let launch = kernel.launch(blocks, threads, 0).arg(nnz).arg(width as u32).arg(cols.start);
        // SAFETY: as above; nnz columns.
        unsafe { launch.arg(&indices).run()? };
    }
    let longest = if nnz > 0 { width } else { 0 };
    Ok(DevicePattern::new(shape, nnz, offsets, indices).with_longest(longest))
}

#[cfg(test)]
mod tests {
    use super::progression;

    #[test]
    fn progressions_are_found() {
        let of = |all: &[u32]| progression(all.iter().copied());
        assert_eq!(of(&[3, 5, 7, 9]), Some((3, 2)));
        assert_eq!(of(&[9, 6, 3, 0]), Some((9, 3u32.wrapping_neg())));
        assert_eq!(of(&[u32::MAX, u32::MAX, u32::MAX]), Some((u32::MAX, 0)));
        assert_eq!(of(&[3, 5, 7, 8]), None);
        assert_eq!((of(&[]), of(&[4])), (None, None));
    }
}
