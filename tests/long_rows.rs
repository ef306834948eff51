//! Rows that are much of a matrix: sums that are the same however terms are put together are cut among threads.
use oplus::prelude::*;

const N: u64 = 500_000;

/// Row 1 has an entry everywhere, rows 0 and 3 have few, the others none.
fn rows<T>(value: impl Fn(u64) -> T) -> Vec<(u64, u64, T)> {
    let few = |i: u64| (0..5).map(move |e| (i, e * 77));
    few(0).chain((0..N).map(|j| (1, j))).chain(few(3)).map(|(i, j)| (i, j, value(i * 31 + j))).collect()
}

fn sums<T: Copy>(rows: &[(u64, u64, T)], add: impl Fn(T, T) -> T) -> Vec<(u64, T)> {
    let mut made: Vec<(u64, T)> = Vec::new();
    for (i, _, x) in rows {
        match made.last_mut().filter(|last| last.0 == *i) {
            Some(last) => last.1 = add(last.1, *x),
            None => made.push((*i, *x)),
        }
    }
    made
}

#[test]
fn long_rows_have_the_sums_of_their_terms() -> Result<()> {
    let whole = rows(|k| (k.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 1) as i64);
    let a: Matrix<i64> = Matrix::build(6, N, &whole)?;
    assert_eq!(reduce_rows(&a, Plus).eval()?.entries()?, sums(&whole, i64::wrapping_add));
    assert_eq!(reduce_rows(&a, Max).eval()?.entries()?, sums(&whole, i64::max));
    let products: Vec<_> = whole.iter().map(|(i, j, x)| (*i, *j, x.wrapping_mul(*j as i64))).collect();
    let x: Vector<i64> = Vector::build(N, &(0..N).map(|j| (j, j as i64)).collect::<Vec<_>>())?;
    assert_eq!(mxv(&a, &x).eval()?.entries()?, sums(&products, i64::wrapping_add));
    // Columns of what is kept turned are such rows.
    let turned = transpose(&a).eval()?;
    for _ in 0..4 {
        assert_eq!(vxm(&x, &turned).eval()?.entries()?, sums(&products, i64::wrapping_add));
    }
    // Zeros of both signs and NaN, to the bit; sums of floats in their order.
    let some = [0.0, -0.0, f64::NAN, 3.0, 1e-3];
    let bits = |x: Vec<(u64, f64)>| x.into_iter().map(|(i, x)| (i, x.to_bits())).collect::<Vec<_>>();
    let values = rows(|k| some[(k.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % 5]);
    let b: Matrix<f64> = Matrix::build(6, N, &values)?;
    let on = b.to(&Device::Reference)?;
    assert_eq!(bits(reduce_rows(&b, Min).eval()?.entries()?), bits(reduce_rows(&on, Min).eval()?.entries()?));
    assert_eq!(bits(reduce_rows(&b, Max).eval()?.entries()?), bits(reduce_rows(&on, Max).eval()?.entries()?));
    let values = rows(|k| (k % 1000) as f64 * 0.1);
    let c: Matrix<f64> = Matrix::build(6, N, &values)?;
    let on = c.to(&Device::Reference)?;
    assert_eq!(bits(reduce_rows(&c, Plus).eval()?.entries()?), bits(reduce_rows(&on, Plus).eval()?.entries()?));
    Ok(())
}
