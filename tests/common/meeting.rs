//! Products of far more entries than rows of a mean length would have.
use oplus::prelude::*;

/// One row in fifty has 15 entries, and they are those that all others of `named` name.
pub fn meeting(n: u64, named: impl Fn(u64) -> bool) -> Matrix<i64> {
    let mut coo = Coo::<i64>::new(n, n);
    for row in 0..n {
        match row % 50 {
            0 => (0..15).for_each(|e| coo.push(row, (row * 7 + e * 1999) % n, (row + e) as i64 % 100)),
            1..40 if named(row) => coo.push(row, row / 50 * 50, row as i64 % 100),
            1..40 => coo.push(row, row / 50 * 50 + 45, row as i64 % 100),
            _ => {}
        }
    }
    Matrix::build_with(&coo, Plus).unwrap()
}
