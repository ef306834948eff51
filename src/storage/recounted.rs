//! How many bits are set, right again after a panic of a caller's function.

/// Words that bits are set in, and how many are set once all is done. Where a caller's function panics meanwhile they are counted again.
pub(crate) struct Recounted<'a> {
    pub(crate) words: &'a mut [u64],
    pub(crate) count: &'a mut usize,
}

impl Drop for Recounted<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            *self.count = self.words.iter().map(|word| word.count_ones() as usize).sum();
        }
    }
}
