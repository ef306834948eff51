//! Sets of places as bits in u64 words.
use crate::algebra::Scalar;
use crate::backend::cpu::{self, Shared};
use crate::error::Result;
use crate::memory;
use std::mem::MaybeUninit;

/// One bit for each of n places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bitmap {
    words: Vec<u64>,
}

/// `value` at every place whose bit is not set.
pub(super) fn fill_unset<T: Scalar>(words: &[u64], all: &mut [T], value: T) {
    let (n, to) = (all.len(), Shared::new(all));
    cpu::each_piece(n.div_ceil(64), cpu::SERIAL / 64, &|some| {
        for w in some {
            // SAFETY: the places of a word are its own.
            let places = unsafe { to.part(64 * w..n.min(64 * w + 64)) };
            if words[w] != u64::MAX {
                places
                    .iter_mut()
                    .enumerate()
                    .filter(|(k, _)| words[w] >> k & 1 == 0)
                    .for_each(|(_, place)| *place = value);
            }
        }
    });
}

impl From<Vec<u64>> for Bitmap {
    fn from(words: Vec<u64>) -> Self {
        Self { words }
    }
}

impl Bitmap {
    /// None of n places.
    pub(crate) fn new(operation: &'static str, n: usize) -> Result<Self> {
        Ok(Self { words: memory::filled(operation, n.div_ceil(64), 0)? })
    }
    /// Of n places those that `at(k)` gives for k below `count`.
    pub(crate) fn of(
        operation: &'static str,
        n: usize,
        count: usize,
        at: impl Fn(usize) -> Option<u32> + Sync,
    ) -> Result<Self> {
        Ok(Self { words: cpu::marked(operation, n, count, at)? })
    }
    /// Room for n places at least; what is set stays.
    pub(crate) fn grow(&mut self, operation: &'static str, n: usize) -> Result<()> {
        let words = n.div_ceil(64);
        if words > self.words.len() {
            let more = words - self.words.len();
            memory::reserve(operation, &mut self.words, more)?;
            self.words.resize(words, 0);
        }
        Ok(())
    }
    /// Bit p is bit p mod 64 of word p / 64.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
    #[inline(always)]
    pub(crate) fn get(&self, place: u32) -> bool {
        self.words[place as usize >> 6] >> (place & 63) & 1 != 0
    }
    #[inline(always)]
    pub(crate) fn set(&mut self, place: u32) {
        self.words[place as usize >> 6] |= 1 << (place & 63);
    }
    /// Forgets the whole word of a place: for places that were set and are all given back.
    #[inline(always)]
    pub(crate) fn clear_word(&mut self, place: u32) {
        self.words[place as usize >> 6] = 0;
    }
}

/// Writes the places whose bits are set, ascending, the first bit's being `first`; there is room for all.
#[inline(always)]
pub(crate) fn listed(first: usize, words: impl Iterator<Item = u64>, room: &mut [MaybeUninit<u32>]) {
    let mut room = room.iter_mut();
    for (w, mut word) in words.enumerate() {
        while word != 0 {
            if let Some(to) = room.next() {
                to.write((first + (w << 6)) as u32 + word.trailing_zeros());
            }
            word &= word - 1;
        }
    }
}
