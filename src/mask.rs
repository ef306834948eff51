//! Masks: which entries of a result may be written.
use crate::algebra::{IsTrue, Truth};
use crate::backend::on_backend;
use crate::container::Container;
use crate::error::Result;
use crate::storage::store::{PatternStore, Store};

/// Positions, or with [`complement`](Mask::complement) all positions but these.
///
/// A mask has no scalar type: a valued mask keeps the positions of its true entries. An error while they were found
/// (memory, the device) surfaces where the mask is used.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (0, 1, 2), (1, 1, 3)])?;
/// let visited: Matrix<bool> = Matrix::build(2, 2, &[(0, 0, true), (0, 1, false)])?;
/// let with = |mask: &Mask| apply(&a, Identity).mask(mask).eval();
/// assert_eq!(with(&visited.as_mask())?.entries()?, [(0, 0, 1)]);                 // where it is true
/// assert_eq!(with(&visited.structure())?.entries()?, [(0, 0, 1), (0, 1, 2)]);    // where it has an entry
/// assert_eq!(with(&visited.structure().complement())?.entries()?, [(1, 1, 3)]);  // where it has none
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Mask {
    pub(crate) pattern: Result<PatternStore>,
    pub(crate) complement: bool,
}

impl Mask {
    pub(crate) fn structural(pattern: Result<PatternStore>) -> Self {
        Self { pattern, complement: false }
    }
    /// All positions that the mask did not admit; twice is none. O(1): they are not listed.
    pub fn complement(mut self) -> Self {
        self.complement = !self.complement;
        self
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
        Mask { pattern: truths(self.parts().0), complement: false }
    }
}

/// The positions of true values; −0.0 is false and NaN true, as a cast to bool says.
pub(crate) fn truths<T: Truth>(store: &Store<T>) -> Result<PatternStore> {
    use crate::algebra::OfValue;
    let body = on_backend!(store.device, |backend| {
        let kept =
            backend.select::<T, T, OfValue<IsTrue>>(backend.csr(&store.body)?, T::zeroed(), &Default::default())?;
        crate::backend::Body::from(kept).pattern()?
    });
    Ok(PatternStore { rows: store.rows.clone(), cols: store.cols.clone(), body, device: store.device })
}
