//! Products of few entries do not take arrays as long as their operands are wide.
#[path = "common/allocator.rs"]
mod allocator;

use allocator::{alone, measured};
use oplus::prelude::*;

const N: u64 = 10_000_000;
/// Less than a bit for each column.
const LITTLE: u64 = N / 16;

fn column(i: u64, k: u64) -> u64 {
    (i * 7919 + k * 999_331) % N
}

/// Ten rows of ten entries, a vector of those rows, and every third of the columns as a mask.
fn operands() -> Result<(Matrix<f64>, Vector<f64>, Mask)> {
    let entries: Vec<_> =
        (0..10).flat_map(|i| (0..10).map(move |k| (i * 999_983, column(i, k), (1 + i + k) as f64))).collect();
    let mut columns: Vec<_> = entries.iter().map(|e| e.1).collect();
    columns.sort_unstable();
    let admitted: Vec<_> = columns.into_iter().step_by(3).map(|j| (j, true)).collect();
    let x = Vector::build(N, &(0..10).map(|i| (i * 999_983, 0.5)).collect::<Vec<_>>())?;
    Ok((Matrix::build(N, N, &entries)?, x, Vector::<bool>::build(N, &admitted)?.structure()))
}

#[test]
fn products_are_hashed_where_arrays_would_be_longer() -> Result<()> {
    let _alone = alone();
    let (a, x, mask) = operands()?;
    let all = vxm(&x, &a).eval()?;
    for mask in [mask.clone(), mask.clone().complement()] {
        let (made, bytes) = measured(|| vxm(&x, &a).mask(&mask).eval());
        assert_eq!(made?.entries()?, apply(&all, Identity).mask(&mask).eval()?.entries()?);
        assert!(bytes < LITTLE, "{bytes} bytes");
    }
    // Without anything that sums start from.
    let (a, x) = (a.over::<oplus::algebra::MinPlus>(), x.over());
    let (made, bytes) = measured(|| vxm(&x, &a).mask(&mask).eval());
    assert_eq!(made?.nvals(), 34);
    assert!(bytes < LITTLE, "{bytes} bytes");
    Ok(())
}
