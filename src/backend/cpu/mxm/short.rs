//! A few columns put in order without a branch on any of them: which of two columns that lie anywhere comes first is guessed
//! wrong every other time.

/// As many columns are put in order.
pub(crate) const MOST: usize = 16;

/// Some columns, and behind them none: that is after all others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Short {
    columns: [u32; MOST],
    len: usize,
}

impl Short {
    pub(crate) fn new() -> Self {
        Self { columns: [u32::MAX; MOST], len: 0 }
    }
    /// Columns behind those that are there; there are [`MOST`] at most.
    #[inline(always)]
    pub(crate) fn extend(&mut self, columns: &[u32]) {
        let room = &mut self.columns[self.len..self.len + columns.len()];
        room.iter_mut().zip(columns).for_each(|(to, from)| *to = *from);
        self.len += columns.len();
    }
    /// The columns ascending.
    #[inline(always)]
    pub(crate) fn in_order(&self) -> impl Iterator<Item = u32> {
        let mut sorted = [0; MOST];
        match self.len {
            ..=4 => sort::<4>(&self.columns, &mut sorted),
            5..=8 => sort::<8>(&self.columns, &mut sorted),
            _ => sort::<MOST>(&self.columns, &mut sorted),
        }
        sorted.into_iter().take(self.len)
    }
}

/// The first N columns: as many are before each as are smaller, or equal and came before.
fn sort<const N: usize>(columns: &[u32; MOST], sorted: &mut [u32; MOST]) {
    let mut rank: [u32; N] = std::array::from_fn(|e| e as u32);
    for e in 0..N {
        let mut smaller = 0;
        for later in e + 1..N {
            let before = (columns[later] < columns[e]) as u32;
            rank[later] -= before;
            smaller += before;
        }
        rank[e] += smaller;
    }
    for (column, rank) in columns.iter().zip(rank) {
        sorted[rank as usize % MOST] = *column;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    #[test]
    fn columns_are_in_order() {
        let mut random = Random::new(2, 0);
        for n in (0..=MOST).cycle().take(500) {
            let mut columns: Vec<u32> = (0..n).map(|_| random.below(10) as u32 * (u32::MAX / 10)).collect();
            let mut short = Short::new();
            columns.chunks(3).for_each(|some| short.extend(some));
            columns.sort_unstable();
            assert_eq!(short.in_order().collect::<Vec<_>>(), columns);
        }
    }
}
