//! Assignments: the rule by which results are written, with a region and a reach.
use crate::backend::cuda::storage::places::set_bits;
use crate::backend::cuda::{Buffer, Context};
use crate::backend::places::{Assigned, Within};
use crate::error::Result;
use crate::memory;
use std::sync::Arc;

/// Numbers before the bits.
const HEADER: usize = 12;

/// Three numbers for each part of region and reach, then the bits: see `Merges` in codegen/templates/README.md. Where fewer
/// places are meant than there are words of bits, or they are a progression, the bits are set on the device.
pub(crate) fn bounds(context: &Arc<Context>, how: &Assigned) -> Result<Buffer> {
    let parts = [&how.region.rows, &how.region.cols, &how.reach.rows, &how.reach.cols];
    let (mut header, mut length) = ([0u32; HEADER], HEADER);
    for (numbers, part) in header.chunks_mut(3).zip(parts) {
        numbers.copy_from_slice(&match part {
            Within::All => [0, u32::MAX, 0],
            Within::Range(range) => [range.start, range.end, 0],
            // Without places there are no bits to look at.
            Within::Some(bits) if bits.words().is_empty() => [0, 0, 0],
            Within::Some(bits) => {
                let start = length as u32;
                length += 2 * bits.words().len();
                [0, u32::MAX, start]
            }
        });
    }
    if length == HEADER {
        return Buffer::from_host(context, &header);
    }
    let mut all = Buffer::zeroed_for::<u32>(context, length)?;
    all.write(0, &header)?;
    for (numbers, part) in header.chunks(3).zip(parts) {
        let Within::Some(bits) = part else { continue };
        let (words, start) = (bits.words(), numbers[2] as usize);
        let count = words.iter().map(|w| w.count_ones() as usize).sum();
        let places = words.iter().zip(0u32..).flat_map(|(word, w)| {
            std::iter::successors(Some(*word), |left| Some(left & left.wrapping_sub(1)))
                .take_while(|left| *left != 0)
                .map(move |left| 64 * w + left.trailing_zeros())
        });
        if !set_bits(&all, (start, 2 * words.len()), count, places)? {
            let mut halves: Vec<u32> = memory::with_capacity("assign", 2 * words.len())?;
            halves.extend(words.iter().flat_map(|w| [*w as u32, (*w >> 32) as u32]));
            all.write(start, &halves)?;
        }
    }
    Ok(all)
}
