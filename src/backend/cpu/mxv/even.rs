//! Rows in the order of their lengths, some at a time: loops over rows of one length end where the processor expects it.
use crate::error::Result;
use crate::memory;
use crate::storage::facts::known;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Rows sorted at a time.
pub(crate) const BATCH: usize = if cfg!(test) { 16 } else { 256 };
/// Lengths up to this one are told apart, longer ones by their magnitude.
const EXACT: usize = 32;
const BUCKETS: usize = EXACT + 64;

/// The rows of a batch.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// Rows of ascending length, empty ones first; those of one length in their order.
    pub(crate) order: [u8; BATCH],
    /// For each row how many before it have entries.
    pub(crate) place: [u8; BATCH],
    /// Where in `order` rows with entries begin.
    pub(crate) first: usize,
    /// Whether a processor often guesses wrong where rows in their own order end. Known of batches that are kept.
    pub(crate) uneven: bool,
}

fn bucket(len: u64) -> usize {
    if len < EXACT as u64 { len as usize } else { EXACT - 5 + len.ilog2() as usize }
}

/// The batches of all rows, kept with the pattern. `None` for few rows, and for the first who asks: sorting once is cheaper
/// than keeping.
pub(crate) fn batches(operation: &'static str, a: &Pattern) -> Result<Option<Arc<Vec<Batch>>>> {
    let many = a.nrows >= 8 * BATCH;
    if !many || (a.facts.batches.get().is_none() && !a.facts.pulled.swap(true, Ordering::Relaxed)) {
        return Ok(None);
    }
    known(&a.facts.batches, || {
        let mut batches = memory::filled(operation, a.nrows.div_ceil(BATCH), Batch::new())?;
        batches.par_chunks_mut(64).enumerate().for_each(|(c, some)| {
            let mut guess = Guess::new();
            for (b, batch) in (c * 64..).zip(some) {
                let offsets = &a.offsets[b * BATCH..=a.nrows.min((b + 1) * BATCH)];
                batch.sort(offsets);
                let wrong = offsets.windows(2).filter(|o| guess.is_wrong(o[1] - o[0])).count();
                batch.uneven = wrong >= offsets.len() / 4;
            }
        });
        Ok(Arc::new(batches))
    })
    .map(Some)
}

impl Batch {
    pub(crate) fn new() -> Self {
        let steps = std::array::from_fn(|r| r as u8);
        Self { order: steps, place: steps, first: 0, uneven: false }
    }
    /// Sorts rows by their offsets, one more than rows.
    pub(crate) fn sort(&mut self, offsets: &[u64]) {
        let n = offsets.len().saturating_sub(1).min(BATCH);
        let lens = || offsets.windows(2).take(n).map(|o| o[1] - o[0]);
        let (least, most) = lens().fold((u64::MAX, 0), |(least, most), len| (least.min(len), most.max(len)));
        if least >= most {
            *self = Self::new();
            self.first = if most == 0 { n } else { 0 };
            return;
        }
        let mut ends = [0u16; BUCKETS];
        let mut buckets = [0u8; BATCH];
        for (len, b) in lens().zip(&mut buckets) {
            *b = bucket(len) as u8;
            ends[*b as usize % BUCKETS] += 1;
        }
        self.first = ends[0] as usize;
        let mut sum = 0;
        ends.iter_mut().for_each(|end| sum += std::mem::replace(end, sum));
        let mut before = 0;
        for (r, b) in buckets[..n].iter().enumerate() {
            let end = &mut ends[*b as usize % BUCKETS];
            self.order[*end as usize % BATCH] = r as u8;
            self.place[r] = before as u8;
            *end += 1;
            before += (*b != 0) as usize;
        }
    }
}

/// The length of a row, guessed from those of the four before it as it was last time: about what a processor does.
struct Guess {
    before: u16,
    lengths: [u8; 1 << 12],
}
impl Guess {
    fn new() -> Self {
        Self { before: 0, lengths: [0; 1 << 12] }
    }
    fn is_wrong(&mut self, len: u64) -> bool {
        let guess = &mut self.lengths[(self.before.wrapping_mul(0x9E37) >> 4) as usize];
        let len = len.min(255) as u8;
        self.before = self.before << 4 | (len & 15) as u16;
        std::mem::replace(guess, len) != len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(lens: &[u64]) -> (Vec<u8>, Vec<u8>) {
        let mut offsets = vec![3];
        lens.iter().for_each(|len| offsets.push(offsets[offsets.len() - 1] + len));
        let mut batch = Batch::new();
        batch.sort(&offsets);
        (batch.order[batch.first..lens.len()].to_vec(), batch.place[..lens.len()].to_vec())
    }

    #[test]
    fn lengths_that_repeat_are_guessed() {
        let wrong = |len: &dyn Fn(u64) -> u64| {
            let mut guess = Guess::new();
            (0..1000).filter(|r| guess.is_wrong(len(*r))).count()
        };
        assert!(wrong(&|_| 5) < 10 && wrong(&|r| 3 + r % 7) < 50);
        let mut random = crate::generate::Random::new(1, 0);
        let lens: Vec<u64> = (0..1000).map(|_| 3 + random.below(7)).collect();
        assert!(wrong(&|r| lens[r as usize]) > 600);
    }

    #[test]
    fn rows_are_ordered_by_length() {
        assert_eq!(sorted(&[2, 0, 1, 70, 2, 0, 40]), (vec![2, 0, 4, 6, 3], vec![0, 1, 1, 2, 3, 4, 4]));
        assert_eq!(sorted(&[5, 5, 5]), (vec![0, 1, 2], vec![0, 1, 2]));
        assert_eq!(sorted(&[0, 0]).0, Vec::<u8>::new());
        assert_eq!(sorted(&[]).0, Vec::<u8>::new());
        let mut lens = [1; BATCH];
        lens[0] = u64::MAX / 2;
        let (order, place) = sorted(&lens);
        assert_eq!((order[BATCH - 1] as usize, place[BATCH - 1] as usize, order[0]), (0, BATCH - 1, 1));
    }
}
