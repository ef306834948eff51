//! What is minimised: a length, or a length with the number of edges and the vertex to go to next.
// Not all bodies need what the macros import.
#![allow(unused_imports)]
use crate::algebra::{BinaryOp, ColIndex, Lt, Min, MinPlus, Ne, Plus, Scalar, Semiring};
use crate::container::Matrix;
use crate::error::Result;
use crate::operation::{apply, apply_index, apply_second, cast, ewise_mult, reduce};
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

operator! { /// One path, then another.
pub(crate) Joined[](Path, Path) -> Path = |x, y| Path::make(add(x.length, y.length), add(x.hops, y.hops), x.next) }
operator! { /// Shorter, or of fewer edges, or with a smaller next vertex.
pub(crate) Better[](Path, Path) -> bool = |x, y| x.length < y.length || (x.length == y.length
    && (x.hops < y.hops || (x.hops == y.hops && x.next < y.next))) }
operator! { /// Not the same path.
pub(crate) Differ[](Path, Path) -> bool = |x, y| x.length != y.length || x.hops != y.hops || x.next != y.next }
operator! { /// A path of so many edges, to nowhere yet.
pub(crate) OfLength[](f64, u32) -> Path = |x, y| Path::make(x, y, y) }
operator! { /// The same path to this vertex.
pub(crate) ToVertex[](Path, u32) -> Path = |x, y| Path::make(x.length, x.hops, y) }
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
    /// No path: of those of infinite length the best, so that nothing joined with it is better.
    const ABSENT: Self;
    /// a, then b.
    type Join: BinaryOp<Self, Self, Out = Self>;
    /// Whether x is the one to take.
    type Better: BinaryOp<Self, Self, Out = bool>;
    fn lengths<S: 'static>(paths: &Matrix<Self, S>) -> Result<Matrix<f64, MinPlus>>;
    /// Whether two matrices of equal pattern are equal.
    fn same<S>(a: &Matrix<Self, S>, b: &Matrix<Self, S>) -> Result<bool>;
}

impl Route for f64 {
    type Semiring = MinPlus;
    type Add = Min;
    const TRIVIAL: f64 = 0.0;
    const ABSENT: f64 = f64::INFINITY;
    type Join = Plus;
    type Better = Lt;
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
    const ABSENT: Path = Path::make(f64::INFINITY, 0, 0);
    type Join = Joined;
    type Better = Better;
    fn lengths<S: 'static>(paths: &Matrix<Path, S>) -> Result<Matrix<f64, MinPlus>> {
        Ok(apply(paths, LengthOf).eval()?.over())
    }
    fn same<S>(a: &Matrix<Path, S>, b: &Matrix<Path, S>) -> Result<bool> {
        Ok(!reduce(&ewise_mult(a, b, Differ).eval()?, crate::algebra::Lor)?)
    }
}

/// Each edge as a path of one.
pub(crate) fn of_edges(edges: &Matrix<f64, MinPlus>) -> Result<Matrix<Path, ShortestPath>> {
    let heads: Matrix<u32> = cast(&apply_index(edges, ColIndex, 0).eval()?.over())?;
    let steps = apply_second(edges, OfLength, 1u32).eval()?;
    ewise_mult(&steps.over(), &heads, ToVertex).eval()
}

pub(crate) fn next_of(paths: &Matrix<Path, ShortestPath>) -> Result<Matrix<u32>> {
    Ok(apply(paths, NextOf).eval()?.over())
}
