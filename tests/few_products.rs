//! Products of few entries do not take arrays as long as their operands are wide, nor a list of a mask that is bits.
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

/// Q ⊕.⊗ A under the complement of what rows of Q have visited, from bits and, for comparison, from a list.
fn unvisited<T: Scalar + PartialEq, S: Semiring<T, T>>(
    q: &Matrix<T>,
    a: &Matrix<T>,
    visited: &Matrix<bool>,
) -> Result<u64>
where
    S::Out: PartialEq,
{
    let (q, a) = (q.over::<S>(), a.over::<S>());
    let expected = mxm(&q, &a).mask(&visited.structure().complement()).eval()?;
    let few = mxm(&q, &a).eval()?.nvals();
    assert!(expected.nvals() > 0 && expected.nvals() < few, "the mask admits some");
    // Nobody has listed it yet.
    let mask = visited.to_format(Format::Bitmap)?.structure().complement();
    let (made, bytes) = measured(|| mxm(&q, &a).mask(&mask).eval());
    assert_eq!(made?.entries()?, expected.entries()?);
    Ok(bytes)
}

#[test]
fn what_few_products_do_not_meet_of_a_mask_is_not_listed() -> Result<()> {
    let (_alone, n) = (alone(), 1 << 20);
    let entries: Vec<_> =
        (0..10).flat_map(|i| (0..10).map(move |k| (i * 99_991, column(i, k) % n, (1 + i + k) as f64))).collect();
    let a = Matrix::<f64>::build_with(&coo(n, n, &entries), First)?.to_format(Format::Csr)?;
    for rows in [1, 3] {
        let q: Vec<_> = (0..rows).flat_map(|r| (0..4).map(move |k| (r, (r + k) * 99_991, 0.5 + k as f64))).collect();
        let q = Matrix::<f64>::build(rows, n, &q)?;
        let visited: Vec<_> = (0..rows).flat_map(|r| (r..n).step_by(3).map(move |j| (r, j))).collect();
        let visited = Matrix::<bool>::from_pattern(rows, n, &visited, true)?;
        for bytes in [
            unvisited::<f64, AnyPair>(&q, &a, &visited)?,
            unvisited::<f64, oplus::algebra::AnySecondI>(&q, &a, &visited)?,
            unvisited::<f64, oplus::algebra::PlusTimes>(&q, &a, &visited)?,
            unvisited::<f64, oplus::algebra::Compose<Plus, First>>(&q, &a, &visited)?,
        ] {
            assert!(bytes < n / 16, "{bytes} bytes, {rows} rows");
        }
    }
    Ok(())
}

fn coo(nrows: u64, ncols: u64, entries: &[(u64, u64, f64)]) -> Coo<f64> {
    let mut coo = Coo::new(nrows, ncols);
    entries.iter().for_each(|(i, j, x)| coo.push(*i, *j, *x));
    coo
}

/// A fifth of all is admitted: too few for every product to be looked up whatever there is of them.
#[test]
fn bits_that_admit_are_not_listed_for_few_products() -> Result<()> {
    let _alone = alone();
    let (a, x, _) = operands()?;
    let all = vxm(&x, &a).eval()?;
    let alive: Vec<_> = (0..N).step_by(5).collect();
    let alive = Vector::<bool>::from_pattern(N, &alive, true)?;
    let listed = apply(&all, Identity).mask(&alive.structure()).eval()?;
    let mut bits = alive.to_bitmap()?;
    // Where no product is: its list is forgotten.
    bits.remove(5)?;
    let (made, bytes) = measured(|| vxm(&x, &a).mask(&bits.structure()).eval());
    assert_eq!(made?.entries()?, listed.entries()?);
    assert!(listed.nvals() > 0 && listed.nvals() < all.nvals());
    assert!(bytes < LITTLE, "{bytes} bytes");
    Ok(())
}

/// A matrix of one value whose values nobody reads, in one product after the other.
#[test]
fn values_that_are_not_read_are_not_made_again() -> Result<()> {
    let (_alone, n) = (alone(), 200_000);
    let edges: Vec<_> = (1..n).map(|i| (i - 1, i)).collect();
    let path: Matrix<f64, AnyPair> = Matrix::<f64>::from_pattern(n, n, &edges, 2.5)?.over();
    for level in 0..4 {
        let front: Matrix<f64, AnyPair> = Matrix::build(1, n, &[(0, level, 1.0)])?;
        let (next, bytes) = measured(|| mxm(&front, &path).eval());
        assert_eq!(next?.entries()?, [(0, level + 1, true)]);
        assert!(level == 0 || bytes < n / 8, "{bytes} bytes");
    }
    Ok(())
}
