//! What is minimised: a length, or a length with the number of edges and the vertex to go to next.
use crate::algebra::{BinaryOp, Min, MinPlus, Ne, Scalar, Semiring};
use crate::container::Matrix;
use crate::error::Result;
use crate::operation::{apply, ewise_mult, reduce};
use crate::{operator, scalar, semiring, unary_operator};

scalar! { /// A path: its length, its number of edges, the vertex after its first.
pub(crate) struct Path { pub(crate) length: f64, pub(crate) hops: u32, pub(crate) next: u32 } }

semiring! {
    /// Shortest, then fewest edges, then smallest next vertex. Fewest edges keep next hops from turning in circles of
    /// length 0.
    pub(crate) struct ShortestPath[](Path, Path) -> Path;
    identity = Path::make(f64::INFINITY, u32::MAX, u32::MAX);
    add = |x, y| (select(x.length < y.length || (x.length == y.length
        && (x.hops < y.hops || (x.hops == y.hops && x.next <= y.next))), x, y));
    multiply = |a, b, _| (Path::make(add(a.length, b.length), add(a.hops, b.hops), a.next));
}

operator! { /// Not the same path.
pub(crate) Differ[](Path, Path) -> bool = |x, y| x.length != y.length || x.hops != y.hops || x.next != y.next }
unary_operator! { /// The length.
pub(crate) LengthOf[](Path) -> f64 = |x| x.length }
unary_operator! { /// The next vertex.
pub(crate) NextOf[](Path) -> u32 = |x| x.next }

/// A value of the closure: f64 or [`Path`].
pub(crate) trait Route: Scalar {
    type Semiring: Semiring<Self, Self, Out = Self>;
    /// Its ⊕.
    type Add: BinaryOp<Self, Self, Out = Self> + Default;
    /// The path of no edges.
    const TRIVIAL: Self;
    /// No path.
    const ABSENT: Self;
    /// a, then b.
    fn join(a: Self, b: Self) -> Self;
    /// Whether x is the one to take.
    fn better(x: Self, y: Self) -> bool;
    fn length(self) -> f64;
    fn lengths<S: 'static>(paths: &Matrix<Self, S>) -> Result<Matrix<f64, MinPlus>>;
    /// Whether two matrices of equal pattern are equal.
    fn same<S>(a: &Matrix<Self, S>, b: &Matrix<Self, S>) -> Result<bool>;
}

impl Route for f64 {
    type Semiring = MinPlus;
    type Add = Min;
    const TRIVIAL: f64 = 0.0;
    const ABSENT: f64 = f64::INFINITY;
    #[inline(always)]
    fn join(a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline(always)]
    fn better(x: f64, y: f64) -> bool {
        x < y
    }
    fn length(self) -> f64 {
        self
    }
    fn lengths<S: 'static>(paths: &Matrix<f64, S>) -> Result<Matrix<f64, MinPlus>> {
        Ok(paths.over())
    }
    fn same<S>(a: &Matrix<f64, S>, b: &Matrix<f64, S>) -> Result<bool> {
        Ok(!reduce(&ewise_mult(a, b, Ne).eval()?, crate::algebra::Lor)?)
    }
}

impl Route for Path {
    type Semiring = ShortestPath;
    type Add = ShortestPath;
    const TRIVIAL: Path = Path::make(0.0, 0, u32::MAX);
    const ABSENT: Path = Path::make(f64::INFINITY, u32::MAX, u32::MAX);
    #[inline(always)]
    fn join(a: Path, b: Path) -> Path {
        // A trivial first part leaves the second's next vertex.
        Path::make(a.length + b.length, a.hops.saturating_add(b.hops), if a.hops == 0 { b.next } else { a.next })
    }
    #[inline(always)]
    fn better(x: Path, y: Path) -> bool {
        x.length < y.length || (x.length == y.length && (x.hops < y.hops || (x.hops == y.hops && x.next < y.next)))
    }
    fn length(self) -> f64 {
        self.length
    }
    fn lengths<S: 'static>(paths: &Matrix<Path, S>) -> Result<Matrix<f64, MinPlus>> {
        Ok(apply(paths, LengthOf).eval()?.over())
    }
    fn same<S>(a: &Matrix<Path, S>, b: &Matrix<Path, S>) -> Result<bool> {
        Ok(!reduce(&ewise_mult(a, b, Differ).eval()?, crate::algebra::Lor)?)
    }
}

/// Each edge as a path of one.
pub(crate) fn of_edges(edges: &Matrix<f64, MinPlus>) -> Result<Matrix<Path, ShortestPath>> {
    let coo = edges.to_coo()?;
    let mut values = crate::memory::with_capacity("apsp", coo.len())?;
    values.extend(coo.values.iter().zip(&coo.columns).map(|(w, j)| Path::make(*w, 1, *j as u32)));
    let paths =
        crate::storage::Coo { nrows: coo.nrows, ncols: coo.ncols, rows: coo.rows, columns: coo.columns, values };
    Matrix::from_coo(&paths)?.to(&edges.device())
}

pub(crate) fn next_of(paths: &Matrix<Path, ShortestPath>) -> Result<Matrix<u32>> {
    Ok(apply(paths, NextOf).eval()?.over())
}
