//! Indices of a dimension: all, a range, a stride, a list.
use crate::algebra::Scalar;
use crate::container::Vector;
use crate::error::{Error, Result};
use crate::memory;
use crate::shown::Few;
use std::fmt::{Debug, Formatter};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::sync::Arc;

/// Which rows, columns or elements extract and assign mean, and in which order: everything (`..`), a range (`2..5`,
/// `2..=4`, `2..`, `..5`, `..=4`), [`Indices::stride`], a list (`[4, 0, 4]`, a slice, one of `usize` too, a `Vec`), or what a vector says
/// ([`Indices::values`], [`Indices::positions`]). A
/// list may have an index more than once: extract repeats it, an assignment counts the last one.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<i32> = Vector::build(6, &[(0, 10), (2, 12), (5, 15)])?;
/// assert_eq!(extract_vector(&x, 1..6).eval()?.entries()?, [(1, 12), (4, 15)]);
/// assert_eq!(extract_vector(&x, Indices::stride(5, -1, 6)).eval()?.entries()?, [(0, 15), (3, 12), (5, 10)]);
/// assert_eq!(extract_vector(&x, [2, 2, 1]).eval()?.entries()?, [(0, 12), (1, 12)]);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Indices(Result<Which>);

/// As they were given; of a list how many there are and the first.
impl Debug for Indices {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Ok(Which::All) => f.write_str(".."),
            Ok(Which::Range(range)) => range.fmt(f),
            Ok(Which::From(start)) => write!(f, "{start}.."),
            Ok(Which::Stride { start, step, count }) => write!(f, "stride({start}, {step}, {count})"),
            Ok(Which::List(list)) => Few(list).fmt(f),
            Err(e) => write!(f, "[{e}]"),
        }
    }
}

fn listed(indices: impl ExactSizeIterator<Item = u64>) -> Result<Which> {
    let mut list = memory::with_capacity("indices", indices.len())?;
    list.extend(indices);
    Ok(Which::List(Arc::new(list)))
}

/// What [`Indices`] are, once they are known to be there.
#[derive(Clone)]
pub(crate) enum Which {
    All,
    /// `end` is `u64::MAX` for the end of the dimension.
    Range(Range<u64>),
    From(u64),
    Stride {
        start: u64,
        step: i64,
        count: u64,
    },
    List(Arc<Vec<u64>>),
}

impl Indices {
    /// `count` indices: start, start + step, start + 2·step, …; a step below 0 goes down. O(1), not listed.
    pub fn stride(start: u64, step: i64, count: u64) -> Self {
        Self(Ok(Which::Stride { start, step, count }))
    }
    /// I = the values of x in the order of its indices, `[x(i) : x has an entry i]`: a vector of indices, such as each vertex' parent, says where to
    /// extract from and assign to. O(nnz(x)), after a download from CUDA: lists of indices are the host's.
    ///
    /// SuiteSparse:GraphBLAS, GxB_Vector_extract_Vector with the values of I.
    ///
    /// # Errors
    /// Where the indices are used: `OutOfMemory`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let parent: Vector<u64> = Vector::from_full(vec![0, 0, 1, 2])?;
    /// let grandparent = extract_vector(&parent, Indices::values(&parent)).eval()?;
    /// assert_eq!(grandparent.into_full(0)?, [0, 0, 0, 1]);
    /// # Ok(()) }
    /// ```
    pub fn values<S>(x: &Vector<u64, S>) -> Self {
        Self(x.csr_parts().and_then(|list| listed(list.values().iter().copied())))
    }
    /// I = the indices at which x has entries, `[i : x has an entry i]`, whatever its values: the rows of a frontier, say. O(nnz(x)), after a download
    /// from CUDA.
    ///
    /// SuiteSparse:GraphBLAS, GxB_Vector_extract_Vector with the indices of I.
    ///
    /// # Errors
    /// Where the indices are used: `OutOfMemory`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(4, 4, &[(1, 0, 5), (1, 3, 6), (3, 1, 7), (3, 2, 8)])?;
    /// let chosen: Vector<bool> = Vector::build(4, &[(1, true), (3, false)])?;
    /// let core = extract(&a, Indices::positions(&chosen), Indices::positions(&chosen)).eval()?;
    /// assert_eq!(core.entries()?, [(0, 1, 6), (1, 0, 7)]);
    /// # Ok(()) }
    /// ```
    pub fn positions<T: Scalar, S>(x: &Vector<T, S>) -> Self {
        Self(x.iter().and_then(|entries| listed(entries.map(|(i, _)| i))))
    }
    pub(crate) fn one(index: u64) -> Self {
        // The end of a dimension of 2⁶⁴ − 1 is below u64::MAX.
        Self(Ok(Which::Stride { start: index, step: 1, count: 1 }))
    }
    /// Inside a dimension of length `n`.
    ///
    /// # Errors
    /// `IndexOutOfBounds` for the first index that is not, `InvalidValue` for one below 0 or beyond u64; `OutOfMemory` where the list could not be copied.
    pub(crate) fn within(&self, operation: &'static str, what: &'static str, n: u64) -> Result<Chosen> {
        let outside =
            |position: u64, index| Err(Error::IndexOutOfBounds { operation, what, position, index, bound: n });
        match self.0.clone()? {
            Which::All => Ok(Chosen::All(n)),
            Which::From(start) if start > n => outside(0, start),
            Which::From(start) => Ok(Chosen::Range(start..n)),
            Which::Range(range) if range.start >= range.end => Ok(Chosen::Range(0..0)),
            Which::Range(range) if range.end > n => {
                let first = range.start.max(n);
                outside(first - range.start, first)
            }
            Which::Range(range) if range.start == 0 && range.end == n => Ok(Chosen::All(n)),
            Which::Range(range) => Ok(Chosen::Range(range)),
            Which::Stride { count: 0, .. } => Ok(Chosen::Range(0..0)),
            Which::Stride { start, step: 0, count: 2.. } => {
                Err(Error::InvalidValue { operation, reason: format!("a step of 0 repeats {what} {start}") })
            }
            Which::Stride { start, .. } if start >= n => outside(0, start),
            Which::Stride { start, step, count } => {
                let room = if step < 0 { start } else { n - 1 - start };
                // Steps that stay inside.
                let most = room.checked_div(step.unsigned_abs()).unwrap_or(0);
                if count - 1 > most {
                    let index = i128::from(start) + i128::from(step) * i128::from(most + 1);
                    return match u64::try_from(index) {
                        Ok(index) => outside(most + 1, index),
                        Err(_) => {
                            let position = most + 1;
                            let reason =
                                format!("{what} {index} at position {position} is out of range, the bound is {n}");
                            Err(Error::InvalidValue { operation, reason })
                        }
                    };
                }
                if step == 1 || count == 1 {
                    return Ok(Chosen::Range(start..start + count));
                }
                Ok(Chosen::Stride { start, step, count })
            }
            Which::List(list) => match list.iter().position(|i| *i >= n) {
                Some(position) => outside(position as u64, list[position]),
                None => Ok(Chosen::List(list)),
            },
        }
    }
}

/// Indices that are inside their dimension.
#[derive(Clone, Debug)]
pub(crate) enum Chosen {
    /// All of so many.
    All(u64),
    Range(Range<u64>),
    Stride {
        start: u64,
        step: i64,
        count: u64,
    },
    List(Arc<Vec<u64>>),
}

impl Chosen {
    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Chosen::All(n) => *n,
            Chosen::Range(range) => range.end - range.start,
            Chosen::Stride { count, .. } => *count,
            Chosen::List(list) => list.len() as u64,
        }
    }
    /// The k-th one; k is below their number.
    pub(crate) fn index(&self, k: u64) -> u64 {
        match self {
            Chosen::All(_) => k,
            Chosen::Range(range) => range.start + k,
            // Inside the dimension: modulo 2⁶⁴ it is what it is.
            Chosen::Stride { start, step, .. } => start.wrapping_add((*step as u64).wrapping_mul(k)),
            Chosen::List(list) => list.get(k as usize).copied().unwrap_or(u64::MAX),
        }
    }
    /// Which one an index is; of a list the last. `None` where it is none.
    pub(crate) fn position_in_stride(start: u64, step: i64, count: u64, index: u64) -> Option<u64> {
        let (distance, size) = (i128::from(index) - i128::from(start), i128::from(step));
        let k = (distance % size == 0).then_some(distance / size)?;
        (0..i128::from(count)).contains(&k).then_some(k as u64)
    }
}

impl From<RangeFull> for Indices {
    fn from(_: RangeFull) -> Self {
        Self(Ok(Which::All))
    }
}
impl From<Range<u64>> for Indices {
    fn from(range: Range<u64>) -> Self {
        Self(Ok(Which::Range(range)))
    }
}
impl From<RangeInclusive<u64>> for Indices {
    fn from(range: RangeInclusive<u64>) -> Self {
        let (empty, (start, last)) = (range.is_empty(), range.into_inner());
        // One that was stepped through is empty, whatever its ends say.
        if empty && start <= last {
            return Self(Ok(Which::Range(start..start)));
        }
        Self(Ok(match last.checked_add(1) {
            Some(end) => Which::Range(start..end),
            // No dimension has this index.
            None => Which::Stride { start: last, step: 1, count: 1 },
        }))
    }
}
impl From<RangeToInclusive<u64>> for Indices {
    fn from(range: RangeToInclusive<u64>) -> Self {
        (0..=range.end).into()
    }
}
impl From<RangeTo<u64>> for Indices {
    fn from(range: RangeTo<u64>) -> Self {
        Self(Ok(Which::Range(0..range.end)))
    }
}
impl From<RangeFrom<u64>> for Indices {
    fn from(range: RangeFrom<u64>) -> Self {
        Self(Ok(Which::From(range.start)))
    }
}
impl From<Vec<u64>> for Indices {
    fn from(list: Vec<u64>) -> Self {
        Self(Ok(Which::List(Arc::new(list))))
    }
}
/// The list is copied; that memory did not suffice is told where the indices are used.
impl From<&[u64]> for Indices {
    fn from(list: &[u64]) -> Self {
        Self(memory::copied("indices", list).map(|list| Which::List(Arc::new(list))))
    }
}
/// As a list of `u64`.
impl From<&[usize]> for Indices {
    fn from(list: &[usize]) -> Self {
        Self(listed(list.iter().map(|i| *i as u64)))
    }
}
impl From<&Vec<u64>> for Indices {
    fn from(list: &Vec<u64>) -> Self {
        list.as_slice().into()
    }
}
impl<const N: usize> From<&[u64; N]> for Indices {
    fn from(list: &[u64; N]) -> Self {
        list.as_slice().into()
    }
}
impl<const N: usize> From<[u64; N]> for Indices {
    fn from(list: [u64; N]) -> Self {
        list.as_slice().into()
    }
}
