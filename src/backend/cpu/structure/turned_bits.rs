//! Bits of 64 rows and of a word a column turned into each other.
use crate::backend::cpu::parallel::{SERIAL, Shared, each_piece};

/// Bit j of word i becomes bit i of word j (Warren, *Hacker's Delight*, §7-3): halves are exchanged, then halves of them.
fn turn(block: &mut [u64; 64]) {
    let (mut half, mut mask) = (32, u64::MAX >> 32);
    while half != 0 {
        let mut first = 0;
        while first < 64 {
            let (upper, lower) = block[first..first + 2 * half].split_at_mut(half);
            for (x, y) in upper.iter_mut().zip(lower) {
                let changed = (*x >> half ^ *y) & mask;
                *x ^= changed << half;
                *y ^= changed;
            }
            first += 2 * half;
        }
        half /= 2;
        mask ^= mask << half;
    }
}

/// Words of 64 columns for each turn of a thread.
const PIECE: usize = if cfg!(test) { 2 } else { SERIAL / 64 };

/// A word a column, bit i of which is row i's: of rows of so many words each, up to 64 of them.
pub(crate) fn columns_of(rows: &[u64], words: usize, columns: &mut [u64]) {
    debug_assert!(rows.len().is_multiple_of(words.max(1)) && rows.len() <= 64 * words && columns.len() == 64 * words);
    let to = Shared::new(columns);
    each_piece(words, PIECE, &|piece| {
        for w in piece {
            let mut block = [0; 64];
            block.iter_mut().zip(rows[w..].iter().step_by(words)).for_each(|(to, word)| *to = *word);
            if block != [0; 64] {
                turn(&mut block);
            }
            // SAFETY: pieces are disjoint.
            unsafe { to.part(64 * w..64 * w + 64) }.copy_from_slice(&block);
        }
    });
}

/// The inverse of [`columns_of`], for as many rows as there is room for.
pub(crate) fn rows_of(columns: &[u64], words: usize, rows: &mut [u64]) {
    debug_assert!(rows.len().is_multiple_of(words.max(1)) && rows.len() <= 64 * words && columns.len() == 64 * words);
    let (n, to) = (rows.len() / words.max(1), Shared::new(rows));
    each_piece(words, PIECE, &|piece| {
        for w in piece {
            let mut block = [0; 64];
            block.copy_from_slice(&columns[64 * w..64 * w + 64]);
            if block != [0; 64] {
                turn(&mut block);
            }
            // SAFETY: pieces are disjoint, and so are their words of every row.
            block.iter().take(n).enumerate().for_each(|(i, word)| unsafe { to.write(i * words + w, *word) });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    #[test]
    fn bits_turn_and_turn_back() {
        let mut random = Random::new(7, 0);
        for (n, words) in [(64, 1), (1, 3), (17, 5), (64, 9), (63, 2)] {
            let rows: Vec<u64> = (0..n * words).map(|_| random.bits() & random.bits()).collect();
            let (mut columns, mut back) = (vec![0; 64 * words], vec![u64::MAX; n * words]);
            columns_of(&rows, words, &mut columns);
            for j in 0..64 * words {
                let column = (0..n).fold(0, |all, i| all | (rows[i * words + j / 64] >> (j % 64) & 1) << i);
                assert_eq!(columns[j], column, "{n} rows, column {j}");
            }
            rows_of(&columns, words, &mut back);
            assert_eq!(back, rows);
        }
    }
}
