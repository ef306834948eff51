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
/// `2..=4`, `2..`, `..5`, `..=4`), [`Indices::stride`], a list (`[4, 0, 4]`, a slice, a `Vec`, what an iterator gives), or what a vector says
/// ([`Indices::values`], [`Indices::positions`]). Ranges and arrays are of `u64`, as their literals are then;
/// slices, `Vec` and iterators of any type of integers, see [`IndexInteger`], where a `Vec` of `u64` is not copied. A
/// list may have an index more than once: extract repeats it, an assignment counts the last one.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<i32> = Vector::build(6, &[(0, 10), (2, 12), (5, 15)])?;
/// assert_eq!(extract_vector(&x, 1..6).eval()?.entries()?, [(1, 12), (4, 15)]);
/// assert_eq!(extract_vector(&x, Indices::stride(5, -1, 6)).eval()?.entries()?, [(0, 15), (3, 12), (5, 10)]);
/// assert_eq!(extract_vector(&x, [2, 2, 1]).eval()?.entries()?, [(0, 12), (1, 12)]);
/// let even = (0..x.len()).filter(|i| i % 2 == 0).collect::<Indices>();
/// assert_eq!(extract_vector(&x, even).eval()?.entries()?, [(0, 10), (1, 12)]);
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[doc(alias = "GrB_ALL")]
pub struct Indices(Result<Which>);

/// As they were given; of a list how many there are and the first.
impl Debug for Indices {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Ok(Which::All) => f.write_str(".."),
            Ok(Which::Range(range)) => range.fmt(f),
            Ok(Which::One(index)) => index.fmt(f),
            Ok(Which::From(start)) => write!(f, "{start}.."),
            Ok(Which::Beyond(start)) => write!(f, "{start}..={}", u64::MAX),
            Ok(Which::Stride { start, step, count }) => write!(f, "stride({start}, {step}, {count})"),
            Ok(Which::List(list)) => Few(list).fmt(f),
            Err(e) => write!(f, "[{e}]"),
        }
    }
}

/// What [`Indices`] are, once they are known to be there.
#[derive(Clone)]
pub(crate) enum Which {
    All,
    One(u64),
    Range(Range<u64>),
    /// To the end of the dimension.
    From(u64),
    /// To 2⁶⁴ − 1, which no dimension has.
    Beyond(u64),
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
        Self(
            x.csr_parts()
                .and_then(|list| collected(list.values().iter().copied()))
                .map(|list| Which::List(Arc::new(list))),
        )
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
        Self(x.iter().and_then(|entries| collected(entries.map(|(i, _)| i))).map(|list| Which::List(Arc::new(list))))
    }
    pub(crate) fn one(index: u64) -> Self {
        Self(Ok(Which::One(index)))
    }
    /// Inside a dimension of length `n`.
    ///
    /// # Errors
    /// `IndexOutOfBounds` for the first index that is not, `InvalidValue` for one below 0 or beyond u64; `OutOfMemory` where the list could not be copied.
    pub(crate) fn within(&self, operation: &'static str, what: &'static str, n: u64) -> Result<Chosen> {
        let told =
            |position: Option<u64>, index| Err(Error::IndexOutOfBounds { operation, what, position, index, bound: n });
        let outside = |position: u64, index| told(Some(position), index);
        // The first of a range that is not inside.
        let from = |start: u64| outside(start.max(n) - start, start.max(n));
        match self.0.clone()? {
            Which::All => Ok(Chosen::All(n)),
            Which::One(index) if index >= n => told(None, index),
            Which::One(index) => Ok(Chosen::Range(index..index + 1)),
            Which::Beyond(start) => from(start),
            Which::From(start) if start > n => outside(0, start),
            Which::From(start) => Ok(Chosen::Range(start..n)),
            Which::Range(range) if range.start >= range.end => Ok(Chosen::Range(0..0)),
            Which::Range(range) if range.end > n => from(range.start),
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
    /// Which one of a stride an index is; `None` where it is none.
    pub(crate) fn position_in_stride(start: u64, step: i64, count: u64, index: u64) -> Option<u64> {
        let (distance, size) = (i128::from(index) - i128::from(start), i128::from(step));
        let k = (distance % size == 0).then_some(distance / size)?;
        (0..i128::from(count)).contains(&k).then_some(k as u64)
    }
}

/// An integer of any width that says where: what slices, `Vec` and iterators for [`Indices`] are of. One below 0 is `InvalidValue` where it is
/// used.
#[diagnostic::on_unimplemented(message = "`{Self}` is no integer that counts rows, columns or elements")]
pub trait IndexInteger: Copy + Debug + TryInto<u64> + sealed::Sealed {
    /// A list of them; moved where it is one of `u64`.
    #[doc(hidden)]
    fn list(list: Vec<Self>) -> Result<Vec<u64>> {
        Self::copied(&list)
    }
    #[doc(hidden)]
    fn copied(list: &[Self]) -> Result<Vec<u64>> {
        collected(list.iter().copied())
    }
}
mod sealed {
    pub trait Sealed {}
}
macro_rules! index_integers { ($($t:ty)*) => {$(
    impl sealed::Sealed for $t {}
    impl IndexInteger for $t {}
)*}}
index_integers!(i8 i16 i32 i64 isize u8 u16 u32 usize);
impl sealed::Sealed for u64 {}
impl IndexInteger for u64 {
    fn list(list: Vec<u64>) -> Result<Vec<u64>> {
        Ok(list)
    }
    fn copied(list: &[u64]) -> Result<Vec<u64>> {
        memory::copied("indices", list)
    }
}

fn index<I: IndexInteger>(i: I) -> Result<u64> {
    let below = |_| Error::InvalidValue { operation: "indices", reason: format!("index {i:?} is below 0") };
    i.try_into().map_err(below)
}

fn collected<I: IndexInteger>(mut indices: impl Iterator<Item = I>) -> Result<Vec<u64>> {
    let mut list = memory::with_capacity("indices", indices.size_hint().0)?;
    while let Some(i) = indices.next() {
        if list.len() == list.capacity() {
            memory::reserve("indices", &mut list, indices.size_hint().0.saturating_add(1))?;
        }
        list.push(index(i)?);
    }
    Ok(list)
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
            None => Which::Beyond(start),
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
/// A list of `u64` is moved, others are copied.
impl<I: IndexInteger> From<Vec<I>> for Indices {
    fn from(list: Vec<I>) -> Self {
        Self(I::list(list).map(|list| Which::List(Arc::new(list))))
    }
}
/// The list is copied; that memory did not suffice is told where the indices are used.
impl<I: IndexInteger> From<&[I]> for Indices {
    fn from(list: &[I]) -> Self {
        Self(I::copied(list).map(|list| Which::List(Arc::new(list))))
    }
}
impl<I: IndexInteger> From<&Vec<I>> for Indices {
    fn from(list: &Vec<I>) -> Self {
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
/// A list of what an iterator gives; that memory did not suffice is told where the indices are used.
impl<I: IndexInteger> FromIterator<I> for Indices {
    fn from_iter<L: IntoIterator<Item = I>>(list: L) -> Self {
        Self(collected(list.into_iter()).map(|list| Which::List(Arc::new(list))))
    }
}
