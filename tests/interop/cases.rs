//! Random matrices and vectors.
use oplus::prelude::*;
use quickcheck::{Arbitrary, Gen};

/// A small matrix; a third are hypersparse in one dimension or both.
#[derive(Clone, Debug)]
pub struct Any<T: Scalar>(pub Matrix<T>);

impl<T: Arbitrary + Scalar> Arbitrary for Any<T> {
    fn arbitrary(g: &mut Gen) -> Self {
        let n = |g: &mut Gen| if u8::arbitrary(g).is_multiple_of(5) { u64::MAX } else { u64::arbitrary(g) % 9 };
        Any(random(g, n))
    }
}

/// A small matrix, whose dimensions others can count.
#[derive(Clone, Debug)]
pub struct Stored<T: Scalar>(pub Matrix<T>);

impl<T: Arbitrary + Scalar> Arbitrary for Stored<T> {
    fn arbitrary(g: &mut Gen) -> Self {
        let a = random(g, |g| u64::arbitrary(g) % 9);
        // Some list what they use all the same.
        Stored(if bool::arbitrary(g) { a.to_format(Format::Hypersparse).unwrap() } else { a })
    }
}

fn random<T: Arbitrary + Scalar>(g: &mut Gen, n: impl Fn(&mut Gen) -> u64) -> Matrix<T> {
    let (nrows, ncols) = (n(g), n(g));
    let mut coo = Coo::new(nrows, ncols);
    if nrows > 0 && ncols > 0 {
        for (i, j, value) in Vec::<(u64, u64, T)>::arbitrary(g) {
            coo.push(i % nrows, j % ncols, value);
        }
    }
    Matrix::build_with(&coo, First).unwrap()
}

/// Entries with the bits of their values: NaN is itself.
pub fn bits<S>(a: &Matrix<f64, S>) -> (u64, u64, Vec<(u64, u64, u64)>) {
    (a.nrows(), a.ncols(), a.entries().unwrap().iter().map(|(i, j, v)| (*i, *j, v.to_bits())).collect())
}

/// A vector of up to 40 places.
pub fn vector<T: Scalar>(entries: &[(u8, T)]) -> Vector<T> {
    let entries: Vec<(u64, T)> = entries.iter().map(|(i, v)| (*i as u64 % 40, *v)).collect();
    Vector::build_with(40, &entries, First).unwrap()
}
