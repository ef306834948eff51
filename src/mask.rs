//! Masks: which entries of a result may be written.
use crate::algebra::{IndexUnaryOp, IsTrue, Truth};
use crate::backend::on_backend;
use crate::container::Container;
use crate::error::{Error, Result};
use crate::shown::Shape;
use crate::storage::store::{PatternStore, Store};
use std::fmt::{Debug, Formatter};
use std::ops::Not;

/// Positions, or with [`complement`](Mask::complement) all positions but these.
///
/// A mask has no scalar type: a valued mask keeps the positions of its true entries. An error while they were found
/// (memory, the device) surfaces where the mask is used. What makes matrices takes masks of matrices, what makes vectors those of vectors,
/// and so does what assigns a row or a column; others are a `DimensionMismatch`, of a matrix of one row too.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (0, 1, 2), (1, 1, 3)])?;
/// let visited: Matrix<bool> = Matrix::build(2, 2, &[(0, 0, true), (0, 1, false)])?;
/// let with = |mask: &Mask| apply(&a, Identity).mask(mask).eval();
/// assert_eq!(with(&visited.as_mask())?.entries()?, [(0, 0, 1)]);                 // where it is true
/// assert_eq!(with(&visited.structure())?.entries()?, [(0, 0, 1), (0, 1, 2)]);    // where it has an entry
/// assert_eq!(with(&!visited.structure())?.entries()?, [(1, 1, 3)]);              // where it has none
/// # Ok(()) }
/// ```
#[must_use = "a mask does nothing until an operation takes it"]
#[derive(Clone)]
pub struct Mask {
    pub(crate) pattern: Result<PatternStore>,
    pub(crate) complement: bool,
    vector: bool,
    /// Whether it was given to an operation that makes vectors; `None` before.
    makes_vectors: Option<bool>,
}

/// Shape, number of positions, whether these or all others are meant, and device.
impl Debug for Mask {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let but = if self.complement { "all but " } else { "" };
        match &self.pattern {
            Ok(p) => {
                let (shape, positions) = (Shape(p.shape(), self.vector), p.body.nnz());
                write!(f, "Mask {shape:?}, {but}{positions} positions on {}", p.device)
            }
            Err(e) => write!(f, "Mask {but}[{e}]"),
        }
    }
}

impl Mask {
    pub(crate) fn of(pattern: Result<PatternStore>, vector: bool) -> Self {
        Self { pattern, complement: false, vector, makes_vectors: None }
    }
    /// For what makes vectors, or else matrices.
    pub(crate) fn given(mut self, makes_vectors: bool) -> Self {
        self.makes_vectors = Some(makes_vectors);
        self
    }
    /// An error where it is of another kind than the result of this shape.
    pub(crate) fn fits(&self, operation: &'static str, left: (u64, u64), right: (u64, u64)) -> Result<()> {
        let vectors = (self.makes_vectors.unwrap_or(self.vector), self.vector);
        if vectors.0 == vectors.1 && left == right {
            return Ok(());
        }
        let (left_name, right_name) = ("the result", "the mask");
        Err(Error::DimensionMismatch { operation, left_name, left, right_name, right, vectors })
    }
    /// All positions that the mask did not admit, `!mask`; twice is none. O(1): they are not listed.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<i32> = Vector::build(3, &[(0, 1), (1, 2), (2, 3)])?;
    /// let visited: Vector<bool> = Vector::from_pattern(3, &[0, 2], true)?;
    /// let unvisited = visited.structure().complement();
    /// assert_eq!(apply(&x, Identity).mask(&unvisited).eval()?.entries()?, [(1, 2)]);
    /// assert_eq!(apply(&x, Identity).mask(&!unvisited).eval()?.entries()?, [(0, 1), (2, 3)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_COMP", "not"))]
    pub fn complement(mut self) -> Self {
        self.complement = !self.complement;
        self
    }
}

/// `!mask` is its [`complement`](Mask::complement).
impl Not for Mask {
    type Output = Mask;
    fn not(self) -> Mask {
        self.complement()
    }
}
/// `!&mask` is the [`complement`](Mask::complement) of a copy. O(1).
impl Not for &Mask {
    type Output = Mask;
    fn not(self) -> Mask {
        self.clone().complement()
    }
}

/// What `.mask(&m)` takes: a [`Mask`], or a matrix or vector whose true values admit.
pub trait AsMask {
    /// The mask.
    fn as_mask(&self) -> Mask;
}
impl AsMask for Mask {
    fn as_mask(&self) -> Mask {
        self.clone()
    }
}
impl<C: Container> AsMask for C
where
    C::Scalar: Truth,
{
    fn as_mask(&self) -> Mask {
        Mask::of(truths(self.parts().0), C::VECTOR)
    }
}

/// The positions of true values; −0.0 is false and NaN true, as a cast to bool says.
pub(crate) fn truths<T: Truth>(store: &Store<T>) -> Result<PatternStore> {
    use crate::algebra::OfValue;
    if store.one().is_some_and(|one| <OfValue<IsTrue> as IndexUnaryOp<T, T>>::apply(one, 0, 0, one)) {
        return store.pattern();
    }
    #[cfg(feature = "cuda")]
    if let crate::device::Device::Cuda(_) = store.device
        && let Some(kept) = crate::format::selected::<T, T, OfValue<IsTrue>>(store, T::zeroed(), &Default::default())?
    {
        return kept.pattern();
    }
    let body = on_backend!(store.device, |backend| {
        let kept =
            backend.select::<T, T, OfValue<IsTrue>>(backend.csr(&store.body)?, T::zeroed(), &Default::default())?;
        crate::backend::Body::from(kept).pattern()?
    });
    Ok(PatternStore { rows: store.rows.clone(), cols: store.cols.clone(), body, device: store.device })
}
