//! Matrices by columns, cells and diagonals on CUDA, and which kernels made them.
use super::random::Rng;
use oplus::backend::cuda::Context;
use oplus::prelude::*;

pub const GPU: Device = Device::Cuda(0);
#[allow(dead_code)]
pub const OTHERS: [Format; 3] = [Format::Csc, Format::Bitmap, Format::Dia];

pub type Places = Vec<(u64, u64)>;

/// Shapes whose cells end inside a word and at its end, wide, tall and empty ones, bands and what is nearly full.
pub fn shapes() -> Vec<(u64, u64, Places)> {
    let mut random = Rng(7);
    let mut all = Vec::new();
    for (m, n) in [(1u64, 1u64), (5, 7), (32, 4), (3, 300), (400, 3), (64, 64), (33, 31)] {
        let cells = || (0..m).flat_map(move |i| (0..n).map(move |j| (i, j)));
        all.push((m, n, cells().collect()));
        all.push((m, n, cells().filter(|(i, j)| i.abs_diff(*j) < 2).collect()));
        all.push((m, n, cells().filter(|(i, j)| i + 3 == *j || *i == j + 2 && j % 2 == 0).collect()));
        all.push((m, n, cells().filter(|_| random.below(3) > 0).collect()));
        all.push((m, n, Places::new()));
    }
    all.extend([(0, 4, Places::new()), (6, 0, Places::new())]);
    all
}

pub fn made<T: Scalar>((m, n, places): &(u64, u64, Places), value: impl Fn(u64) -> T) -> Matrix<T> {
    let entries: Vec<_> = places.iter().enumerate().map(|(e, (i, j))| (*i, *j, value(e as u64))).collect();
    Matrix::build(*m, *n, &entries).unwrap()
}

/// All of a matrix.
pub type Contents<T> = ((u64, u64), u64, Vec<(u64, u64, T)>);

pub fn contents<T: Scalar>(a: &Matrix<T>) -> Contents<T> {
    (a.shape(), a.nvals(), a.entries().unwrap())
}

/// Which kernels ran.
pub fn ran<R>(context: &std::sync::Arc<Context>, work: impl FnOnce() -> oplus::Result<R>) -> (R, Vec<String>) {
    let (made, launches) = context.trace(work).unwrap();
    (made, launches.into_iter().map(|l| l.kernel.to_string()).collect())
}
