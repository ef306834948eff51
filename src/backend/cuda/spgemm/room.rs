//! Where C goes that is allocated before its size is known, and what becomes of it where it was too small.
use super::{FAILED, FAILED_ROOM, FAILED_ROW, Job, LONGEST, MADE_ENTRIES, MADE_ROWS, Made, NNZ};
use crate::backend::cuda::runtime::report::SAID;
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::{Error, Result};

/// Rows that are made already, and their entries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Begun {
    pub(super) rows: u64,
    pub(super) entries: u64,
}

/// Where C goes.
pub(super) struct Room {
    pub(super) capacity: u64,
    pub(super) begun: Begun,
    pub(super) offsets: Buffer,
    pub(super) indices: Buffer,
    pub(super) values: Buffer,
}

/// Rows so much fuller than was guessed are hardly like the others, as where those of most entries come first.
const HARDLY: u64 = 16;

impl Job<'_> {
    /// What `pass` makes in room for `capacity` entries, or else in as much as it has found that it needs; `None` where a row had no
    /// room.
    pub(super) fn allocated(
        &self,
        mut capacity: u64,
        mut pass: impl FnMut(&Room) -> Result<[u64; SAID]>,
    ) -> Result<Option<Made>> {
        let (context, nrows, size) = (self.context, self.a.pattern.nrows, self.semiring.written().size as u64);
        let mut offsets = Buffer::alloc_for::<u64>(context, nrows + 1)?;
        let (mut begun, mut kept, mut longest, mut again) = (Begun::default(), None, 0, false);
        loop {
            let both = |capacity: u64| {
                let indices = Buffer::alloc(context, capacity.saturating_mul(4))?;
                Ok((indices, Buffer::alloc(context, capacity.saturating_mul(size))?))
            };
            let (mut indices, mut values) = match both(capacity) {
                // Where there is no room for it twice, what is made already is made again, and nothing is guessed from then on.
                Err(Error::OutOfMemory { .. }) if kept.take().is_some() => {
                    (begun, again) = (Begun::default(), true);
                    both(capacity)?
                }
                made => made?,
            };
            if let Some((made, sums)) = kept.take() {
                indices.copy_range(0, &made, 0..begun.entries * 4)?;
                values.copy_range(0, &sums, 0..begun.entries * size)?;
            }
            let mut room = Room { capacity, begun, offsets, indices, values };
            let found = pass(&room)?;
            let nnz = found[NNZ];
            longest = found[LONGEST].max(longest);
            if found[FAILED] & FAILED_ROW != 0 {
                return Ok(None);
            }
            if found[FAILED] & FAILED_ROOM != 0 {
                let made = Begun { rows: found[MADE_ROWS], entries: found[MADE_ENTRIES] };
                capacity = match again {
                    true => self.sure_room()?,
                    false => self.room_from(made, &room)?,
                };
                begun = made;
                kept = Some((room.indices, room.values));
                offsets = room.offsets;
                continue;
            }
            if nnz > capacity {
                capacity = nnz;
                offsets = room.offsets;
                continue;
            }
            room.indices.shorten(nnz * 4)?;
            room.values.shorten(nnz * size)?;
            let (ncols, Room { offsets, indices, values, .. }) = (self.b.pattern.ncols, room);
            return Ok(Some((DevicePattern::new((nrows, ncols), nnz, offsets, indices).with_longest(longest), values)));
        }
    }
    /// Room for C of which so much is `made`, after a pass in `room`: as much as if the other rows were like these and some more, or
    /// else surely enough.
    fn room_from(&self, made: Begun, room: &Room) -> Result<u64> {
        if made.rows == 0 || room.begun.rows > 0 {
            return self.sure_room();
        }
        let alike = self.estimate(&[made.entries, made.rows]);
        let guess = alike.saturating_add(alike / 8).min(self.bound().unwrap_or(u64::MAX));
        // A pass in no more room than there was would end where this one did.
        if guess <= room.capacity || guess / HARDLY > room.capacity { self.sure_room() } else { Ok(guess) }
    }
    /// Room that no C of these operands exceeds.
    fn sure_room(&self) -> Result<u64> {
        Ok(self.products()?.min(self.bound().unwrap_or(u64::MAX)))
    }
}
