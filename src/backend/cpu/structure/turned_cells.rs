//! The transpose of a dense array.
use crate::backend::cpu::parallel::{Shared, each_piece, unwritten, written};
use crate::error::Result;
use std::mem::MaybeUninit;

/// Lines of a tile: what is read along one side and written along the other stays in the cache meanwhile.
const TILE: usize = 32;
/// Rows of the result that one thread makes at a time.
const ROWS: usize = 4 * TILE;

/// out(j, i) = values(i, j) of m × n values, row by row. O(m n).
pub(crate) fn turned_cells<T: Copy + Send + Sync>(
    operation: &'static str,
    (m, n): (usize, usize),
    values: &[T],
) -> Result<Vec<T>> {
    assert!(values.len() == m * n);
    let mut made = unwritten::<T>(operation, m * n)?;
    let shared = Shared::new(&mut made);
    each_piece(n, ROWS, &|rows| {
        // SAFETY: pieces have disjoint rows.
        let out = unsafe { shared.part(rows.start * m..rows.end * m) };
        for top in (0..m).step_by(TILE) {
            let columns = top..m.min(top + TILE);
            for left in rows.clone().step_by(TILE) {
                for j in left..rows.end.min(left + TILE) {
                    let to = &mut out[(j - rows.start) * m..][columns.clone()];
                    for (to, i) in to.iter_mut().zip(columns.clone()) {
                        *to = MaybeUninit::new(values[i * n + j]);
                    }
                }
            }
        }
    });
    // SAFETY: each row of the result was written in whole.
    Ok(unsafe { written(made, m * n) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turned_twice_it_is_the_same() {
        for (m, n) in [(0, 5), (5, 0), (1, 1), (1, 300), (300, 1), (31, 33), (64, 128), (130, 257)] {
            let values: Vec<u32> = (0..(m * n) as u32).collect();
            let turned = turned_cells("transpose", (m, n), &values).unwrap();
            assert!((0..m).all(|i| (0..n).all(|j| turned[j * m + i] == values[i * n + j])), "{m} {n}");
            assert_eq!(turned_cells("transpose", (n, m), &turned).unwrap(), values);
        }
    }
}
