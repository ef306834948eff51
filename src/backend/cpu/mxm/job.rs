//! The operands of a product as the inner loops read them, and where its products stand.
use super::analysis::OnMask;
use crate::algebra::scalar::same;
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::cpu::blocks::Block;
use crate::backend::host::HostCsr;
use crate::storage::axis::Ids;
use crate::storage::pattern::Pattern;
use std::ops::Range;

/// A product's operands, ready.
#[derive(Debug)]
pub(crate) struct Job<'a, A, B> {
    pub(crate) operation: &'static str,
    pub(crate) a: &'a HostCsr<A>,
    pub(crate) b: &'a HostCsr<B>,
    pub(crate) mask: OnMask<'a>,
    pub(crate) at: &'a Positions,
    pub(crate) a_rows: Rowed<'a, A>,
    pub(crate) b_rows: Rowed<'a, B>,
}

/// The arrays of compressed rows, in one place: what inner loops read without asking.
#[derive(Debug)]
pub(crate) struct Rowed<'a, T> {
    pub(crate) offsets: &'a [u64],
    pub(crate) columns: &'a [u32],
    pub(crate) values: &'a [T],
}
impl<'a, T> Rowed<'a, T> {
    pub(crate) fn of(a: &'a HostCsr<T>) -> Self {
        Self { offsets: &a.pattern.offsets, columns: &a.pattern.indices, values: &a.values }
    }
    /// # Safety
    /// There is such a row.
    #[inline(always)]
    pub(crate) unsafe fn range(&self, row: usize) -> Range<usize> {
        // SAFETY: the contract; there is one offset more than rows.
        unsafe { read(self.offsets, row) as usize..read(self.offsets, row + 1) as usize }
    }
    /// # Safety
    /// The range lies in a row.
    #[inline(always)]
    pub(crate) unsafe fn part(&self, range: Range<usize>) -> (&'a [u32], &'a [T]) {
        let (from, n) = (range.start, range.end - range.start);
        debug_assert!(range.end <= self.columns.len());
        // SAFETY: the contract; rows lie within both arrays.
        unsafe {
            let (columns, values) = (self.columns.as_ptr().add(from), self.values.as_ptr().add(from));
            (std::slice::from_raw_parts(columns, n), std::slice::from_raw_parts(values, n))
        }
    }
}

/// # Safety
/// There is such an element.
#[inline(always)]
pub(crate) unsafe fn read<T: Copy>(values: &[T], at: usize) -> T {
    debug_assert!(at < values.len());
    // SAFETY: the contract.
    unsafe { *values.as_ptr().add(at) }
}

impl<'a, A: Copy, B: Copy> Job<'a, A, B> {
    /// The columns of A are the rows of B, or with `dot` its columns.
    pub(crate) fn new(
        operation: &'static str,
        (a, b): (&'a HostCsr<A>, &'a HostCsr<B>),
        mask: OnMask<'a>,
        at: &'a Positions,
        dot: bool,
    ) -> Self {
        check((&a.pattern, a.values.len()), (&b.pattern, b.values.len()), dot);
        Self { operation, a, b, mask, at, a_rows: Rowed::of(a), b_rows: Rowed::of(b) }
    }
    /// The entries of row i of A.
    #[inline(always)]
    pub(crate) fn entries(&self, block: &Block, i: usize) -> Range<usize> {
        debug_assert!(block.rows.contains(&i));
        // SAFETY: blocks are of rows of A.
        unsafe { self.a_rows.range(i) }
    }
    /// Entry e of A, and the entries of B that it meets in a block.
    #[inline(always)]
    pub(crate) fn run(&self, block: &Block, i: usize, e: usize) -> Run<'_, A, B> {
        // SAFETY: e is an entry of A; its column is a row of B, whose range lies within both of B's arrays: by the
        // patterns' promise and the lengths that `new` asserted.
        unsafe {
            let (k, x) = (read(self.a_rows.columns, e) as usize, read(self.a_rows.values, e));
            let mut range = self.b_rows.range(k);
            if !block.whole {
                range = block.narrow(&self.b.pattern, range);
            }
            let (columns, values) = self.b_rows.part(range);
            Run { x, i, k, columns, values, at: self.at }
        }
    }
}

/// What loops rely on without asking again.
fn check(a: (&Pattern, usize), b: (&Pattern, usize), dot: bool) {
    for (p, values) in [a, b] {
        assert!(p.offsets.len() == p.nrows + 1 && p.indices.len() == values);
    }
    assert!(a.0.ncols <= if dot { b.0.ncols } else { b.0.nrows });
}

#[inline(always)]
fn id(ids: &Ids, place: usize) -> u64 {
    ids.as_ref().map_or(place as u64, |ids| ids[place])
}

/// Where a product stands, for those who look.
#[inline(always)]
pub(crate) fn at<A: Scalar, B: Scalar, S: Semiring<A, B>>(at: &Positions, i: usize, k: usize, j: usize) -> At {
    if S::Multiply::READS.position { placed(at, i, k, j) } else { At::default() }
}

/// The same for operators as values.
pub(crate) fn placed_for(reads: Reads, at: &Positions, i: usize, k: usize, j: usize) -> At {
    if reads.position { placed(at, i, k, j) } else { At::default() }
}

#[inline]
fn placed(at: &Positions, i: usize, k: usize, j: usize) -> At {
    At { i: id(&at.i, i), k: id(&at.k, k), j: id(&at.j, j) }
}

/// Whether a sum that has this value, to the bit, stays as it is: −0.0 may be final where 0.0 is not, and so may NaN.
#[inline(always)]
pub(crate) fn is_final<T: Scalar, M: Monoid<T>>(sum: T) -> bool {
    match M::terminal() {
        Terminal::Never => false,
        Terminal::Always => true,
        Terminal::Value(v) => same(sum, v),
    }
}

/// One entry of A and some of those of B that it meets.
pub(crate) struct Run<'a, A, B> {
    pub(crate) x: A,
    pub(crate) i: usize,
    pub(crate) k: usize,
    pub(crate) columns: &'a [u32],
    pub(crate) values: &'a [B],
    pub(crate) at: &'a Positions,
}

impl<A: Scalar, B: Scalar> Run<'_, A, B> {
    /// x ⊗ y of column j.
    #[inline(always)]
    pub(crate) fn product<S: Semiring<A, B>>(&self, y: B, j: u32) -> S::Out {
        S::Multiply::multiply(self.x, y, at::<A, B, S>(self.at, self.i, self.k, j as usize))
    }
}
