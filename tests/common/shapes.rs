//! Matrices of random and of unkind structure, for products that are compared with the reference; and a user's semiring.
#![allow(dead_code)] // each of the tests uses a part
#[path = "random.rs"]
mod random;

use oplus::prelude::*;
use random::Rng;

oplus::scalar! { pub struct Hop { dist: f64, hops: u64 } }
oplus::semiring! {
    pub struct Shortest[](Hop, Hop) -> Hop;
    identity = Hop::make(f64::INFINITY, 0);
    add = |x, y| (select(x.dist < y.dist || (x.dist == y.dist && x.hops <= y.hops), x, y));
    multiply = |a, b, _| (Hop::make(add(a.dist, b.dist), add(a.hops, b.hops)));
}

/// Shape and positions.
#[derive(Clone)]
pub struct Shape {
    pub rows: u64,
    pub columns: u64,
    pub places: Vec<(u64, u64)>,
}

impl Shape {
    pub fn new((rows, columns): (u64, u64), places: impl IntoIterator<Item = (u64, u64)>) -> Self {
        Self { rows, columns, places: places.into_iter().collect() }
    }
    pub fn random((rows, columns): (u64, u64), count: u64, seed: u64) -> Self {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let count = if rows == 0 || columns == 0 { 0 } else { count };
        Self::new((rows, columns), (0..count).map(|_| (rng.below(rows), rng.below(columns))))
    }
    pub fn full((rows, columns): (u64, u64)) -> Self {
        Self::new((rows, columns), (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))))
    }
    pub fn turned(&self) -> Self {
        Self::new((self.columns, self.rows), self.places.iter().map(|(i, j)| (*j, *i)))
    }
    pub fn matrix<T: Scalar, S>(&self, value: fn(u64) -> T) -> Matrix<T, S> {
        let mut coo = Coo::new(self.rows, self.columns);
        self.places.iter().enumerate().for_each(|(e, (i, j))| coo.push(*i, *j, value(e as u64 * 7 % 100)));
        Matrix::build_with(&coo, First).unwrap()
    }
    /// And a whole row.
    pub fn with_row(mut self, row: u64) -> Self {
        self.places.extend((0..self.columns).map(|j| (row, j)));
        self
    }
}

/// Two factors and a mask on axes so long that places are not their ids.
pub fn far_apart() -> [Shape; 3] {
    let far = |e: u64, n: u64| e * e * 1_000_003 % n;
    let a = Shape::new((1 << 40, 1 << 35), (0..90).map(|e| (far(e % 20, 1 << 40), far(e % 13, 1 << 35))));
    let b = Shape::new((1 << 35, 1 << 33), (0..80).map(|e| (far(e % 11, 1 << 35), far(e % 17, 1 << 33))));
    let m = Shape::new((1 << 40, 1 << 33), (0..200).map(|e| (far(e % 23, 1 << 40), far(e % 17, 1 << 33))));
    [a, b, m]
}
