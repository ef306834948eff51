//! Assignments: the rule by which results are written, with a region and a reach.
use super::{Buffer, Context};
use crate::backend::places::{Assigned, Within};
use crate::error::Result;
use crate::memory;
use std::sync::Arc;

/// The region's rows and columns, then the reach's, for the template: the first and one past the last place of each, and
/// where its bits begin, 0 without any; then the bits.
pub(super) fn bounds(context: &Arc<Context>, how: &Assigned) -> Result<Buffer> {
    let operation = "assign";
    let parts = [&how.region.rows, &how.region.cols, &how.reach.rows, &how.reach.cols];
    let mut words: Vec<u32> = memory::filled(operation, 3 * parts.len(), 0)?;
    for (p, part) in parts.into_iter().enumerate() {
        let (first, end, bits) = match part {
            Within::All => (0, u32::MAX, 0),
            Within::Range(range) => (range.start, range.end, 0),
            Within::Some(bits) => {
                let start = words.len() as u32;
                memory::reserve(operation, &mut words, 2 * bits.words().len())?;
                words.extend(bits.words().iter().flat_map(|w| [*w as u32, (*w >> 32) as u32]));
                // Without places there are no bits to look at.
                if bits.words().is_empty() { (0, 0, 0) } else { (0, u32::MAX, start) }
            }
        };
        words[3 * p..3 * p + 3].copy_from_slice(&[first, end, bits]);
    }
    Buffer::from_host(context, &words)
}
