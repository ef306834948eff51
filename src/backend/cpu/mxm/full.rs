//! A ⊕.⊗ X for X with an entry at every place: rows of X are read whole, sums stay where they are until they are done, and where C has
//! entries is known once A is. The sums of few columns stay in registers, those of many in the row of C.
use super::analysis::OnMask;
use super::job::{Rowed, Run, at, is_final, read};
use super::loops::Loops;
use crate::algebra::*;
use crate::backend::cpu::blocks::{partition, target};
use crate::backend::cpu::mxv::pull::soon_final;
use crate::backend::cpu::parallel::{Shared, each_of, each_piece, unwritten, written};
use crate::backend::host::HostCsr;
use crate::backend::{MxmOptions, Positions};
use crate::error::Result;
use crate::memory;
use crate::spgemm::Strategy;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

/// Columns whose sums are in registers together.
const WIDTH: usize = 4;
/// Fewer columns are summed that way.
const MANY: usize = 12;
/// Steps between looks at whether all sums are final.
const STEPS: usize = 4;
/// Rows whose columns one thread lists at a time.
const ROWS: usize = if cfg!(test) { 8 } else { 1 << 12 };

/// The sums, which begin with some value, of rows of A in few columns: of those rows that have entries.
type FewLoop<A, B, C> = unsafe fn(&Few<A, B>, C, Range<usize>, &mut [MaybeUninit<C>]);

/// The loops for one semiring.
#[derive(Debug)]
pub(crate) struct FullLoops<A, B, C> {
    few: FewLoop<A, B, C>,
    /// Whether all are final, if they hardly ever need many products.
    all_final: unsafe fn(&[MaybeUninit<C>]) -> bool,
}

impl<A: Scalar, B: Scalar, C: Scalar> FullLoops<A, B, C> {
    pub(crate) const fn of<S: Semiring<A, B, Out = C>>() -> Self {
        FullLoops { few: sums::<A, B, S>, all_final: all_final::<C, S::Add> }
    }
}

/// Whether rows of B are read whole.
pub(crate) fn suits(a: &Pattern, b: &Pattern, mask: OnMask, options: &MxmOptions) -> bool {
    let full = b.nnz() > 0 && b.nnz() as u128 == b.nrows as u128 * b.ncols as u128;
    mask.is_none() && !options.transposed_b && options.strategy == Strategy::Auto && full && a.nnz() > 0
}

/// T = A ⊕.⊗ X, sums beginning with `start`, which changes none. They run in the order of k.
pub(crate) fn mxm<A: Scalar, B: Scalar, C: Scalar>(
    operation: &'static str,
    (full, loops, start): (&FullLoops<A, B, C>, &Loops<A, B, C>, C),
    a: &HostCsr<A>,
    x: &HostCsr<B>,
    at: &Positions,
) -> Result<HostCsr<C>> {
    let (p, columns) = (&a.pattern, x.pattern.ncols);
    assert!(a.values.len() == p.indices.len() && x.values.len() == x.pattern.nnz() && p.ncols <= x.pattern.nrows);
    let c = positions(operation, p, &x.pattern)?;
    let before = |r: usize| p.offsets[r].saturating_mul(columns as u64) + r as u64;
    let blocks = partition(operation, (p.nrows, p.ncols), target(before(p.nrows)), &before, &|_, _| Ok(Vec::new()))?;
    let mut values = unwritten::<C>(operation, c.nnz())?;
    let operands = Few { rows: Rowed::of(a), x: Whole::of(&x.values, columns), at };
    let shared = Shared::new(&mut values);
    each_of(&blocks, &|block| {
        let rows = block.rows.clone();
        // SAFETY: blocks have disjoint rows.
        let out = unsafe { shared.part(c.offsets[rows.start] as usize..c.offsets[rows.end] as usize) };
        match columns < MANY {
            true => few(full.few, &operands, start, rows, out),
            false => many(loops, full.all_final, (a, x, at), rows, out),
        }
    });
    // SAFETY: the rows of C that have entries are those of A that do, and each of these was written.
    let values = unsafe { written(values, c.nnz()) };
    Ok(HostCsr::at(c, values))
}

/// Rows in many columns: multiples of rows of X are added up where they belong.
fn many<A: Scalar, B: Scalar, C: Scalar>(
    loops: &Loops<A, B, C>,
    all_final: unsafe fn(&[MaybeUninit<C>]) -> bool,
    (a, x, at): (&HostCsr<A>, &HostCsr<B>, &Positions),
    of: Range<usize>,
    out: &mut [MaybeUninit<C>],
) {
    let filled = of.filter(|row| !a.pattern.range(*row).is_empty());
    for (to, row) in out.chunks_exact_mut(x.pattern.ncols).zip(filled) {
        for (n, e) in a.pattern.range(row).enumerate() {
            let k = a.pattern.indices[e] as usize;
            let range = x.pattern.range(k);
            let (columns, values) = (&x.pattern.indices[range.clone()], &x.values[range]);
            let run = Run { x: a.values[e], i: row, k, columns, values, at };
            // SAFETY: the first entry's multiple gives every place a value.
            unsafe {
                if n == 0 {
                    (loops.multiples)(&run, to);
                } else {
                    (loops.add_multiples)(&run, to);
                }
                if n % STEPS == STEPS - 1 && all_final(to) {
                    break;
                }
            }
        }
    }
}

/// # Safety
/// All have values.
unsafe fn all_final<C: Scalar, M: Monoid<C>>(sums: &[MaybeUninit<C>]) -> bool {
    // SAFETY: the contract.
    soon_final::<C, M>() && sums.iter().all(|sum| is_final::<C, M>(unsafe { sum.assume_init() }))
}

/// Every column in each row where A has entries; those of X where that is the same.
pub(super) fn positions(operation: &'static str, a: &Pattern, x: &Arc<Pattern>) -> Result<Arc<Pattern>> {
    let columns = x.ncols as u64;
    let every = || a.offsets.windows(2).all(|o| o[0] < o[1]);
    if a.nrows == x.nrows && *a.facts.every_row.get_or_init(every) {
        return Ok(x.clone());
    }
    let mut offsets = memory::with_capacity(operation, a.nrows + 1)?;
    let mut next = 0u64;
    offsets.push(0);
    offsets.extend(a.offsets.windows(2).map(|o| {
        next = next.saturating_add(if o[0] < o[1] { columns } else { 0 });
        next
    }));
    let n = usize::try_from(next).unwrap_or(usize::MAX);
    let mut indices = unwritten::<u32>(operation, n)?;
    let shared = Shared::new(&mut indices);
    each_piece(n / x.ncols, ROWS, &|rows| {
        // SAFETY: pieces are disjoint.
        let out = unsafe { shared.part(rows.start * x.ncols..rows.end * x.ncols) };
        for row in out.chunks_exact_mut(x.ncols) {
            row.iter_mut().zip(0..).for_each(|(to, column)| *to = MaybeUninit::new(column));
        }
    });
    // SAFETY: all rows of so many columns were written.
    let indices = unsafe { written(indices, n) };
    Ok(Arc::new(Pattern::new(a.nrows, x.ncols, offsets, indices)))
}

/// The values of X, row by row.
struct Whole<'a, B> {
    values: &'a [B],
    columns: usize,
    /// From here on too few are left to be read together: those, and more behind them.
    end: usize,
    last: [B; 2 * WIDTH],
}

impl<'a, B: Scalar> Whole<'a, B> {
    fn of(values: &'a [B], columns: usize) -> Self {
        let (end, none) = (values.len().saturating_sub(WIDTH), B::zeroed());
        Self { values, columns, end, last: std::array::from_fn(|w| values.get(end + w).copied().unwrap_or(none)) }
    }
    /// # Safety
    /// There is a value at this place.
    #[inline(always)]
    unsafe fn from(&self, place: usize) -> *const B {
        debug_assert!(place < self.values.len());
        // SAFETY: as many as are taken lie behind it, or in `last` from there on.
        unsafe {
            if place < self.end { self.values.as_ptr().add(place) } else { self.last.as_ptr().add(place - self.end) }
        }
    }
}

/// A and X, as the loop over few columns reads them.
pub(crate) struct Few<'a, A, B> {
    rows: Rowed<'a, A>,
    x: Whole<'a, B>,
    at: &'a Positions,
}

/// Rows in few columns, of those that have entries.
fn few<A: Scalar, B: Scalar, C: Scalar>(
    sums: FewLoop<A, B, C>,
    operands: &Few<A, B>,
    start: C,
    of: Range<usize>,
    out: &mut [MaybeUninit<C>],
) {
    // Behind each row sums that nobody takes lie where the next rows' go: of the last rows elsewhere, as there may be no room.
    const ROWS: usize = WIDTH - 1;
    let (mut last, mut filled) = (of.end, 0);
    while last > of.start && filled < ROWS {
        last -= 1;
        filled += usize::from(operands.rows.offsets[last] < operands.rows.offsets[last + 1]);
    }
    let mut room = [MaybeUninit::uninit(); ROWS * MANY + WIDTH];
    let n = filled * operands.x.columns;
    // SAFETY: rows of A, whose columns are rows of X, as `mxm` asserted; there is room for their sums, and for those behind them.
    unsafe {
        sums(operands, start, of.start..last, out);
        sums(operands, start, last..of.end, &mut room);
    }
    let place = out.len() - n;
    out[place..].copy_from_slice(&room[..n]);
}

/// A [`FewLoop`]. Plain loops: this is compiled for every semiring.
/// # Safety
/// These are rows of A, whose columns are rows of X, all of whose places are there; there is room for their sums and WIDTH − 1 more.
unsafe fn sums<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    operands: &Few<A, B>,
    start: S::Out,
    of: Range<usize>,
    to: &mut [MaybeUninit<S::Out>],
) {
    let (rows, x, columns) = (&operands.rows, &operands.x, operands.x.columns);
    let (mut to, mut row) = (to.as_mut_ptr().cast::<S::Out>(), of.start);
    while row < of.end {
        // SAFETY: the contract.
        let entries = unsafe { rows.range(row) };
        let mut first = if entries.start < entries.end { 0 } else { columns };
        while first < columns {
            let (mut sums, mut e) = ([start; WIDTH], entries.start);
            while e < entries.end {
                // SAFETY: entries of rows lie within both arrays, and columns of A are rows of X.
                let (k, v, y) = unsafe {
                    let k = read(rows.columns, e) as usize;
                    (k, read(rows.values, e), x.from(k * columns + first))
                };
                let mut w = 0;
                while w < WIDTH {
                    // Where fewer columns are left, what the next row of X has makes sums that nobody takes.
                    // SAFETY: as above.
                    let y = unsafe { *y.add(w) };
                    let at = at::<A, B, S>(operands.at, row, k, (first + w).min(columns - 1));
                    sums[w] = S::Add::apply(sums[w], S::Multiply::multiply(v, y, at));
                    w += 1;
                }
                e += 1;
                if soon_final::<S::Out, S::Add>()
                    && (e - entries.start).is_multiple_of(STEPS)
                    && are_final::<S::Out, S::Add>(&sums)
                {
                    break;
                }
            }
            // SAFETY: the contract.
            unsafe {
                to.cast::<[S::Out; WIDTH]>().write(sums);
                to = to.add(WIDTH.min(columns - first));
            }
            first += WIDTH;
        }
        row += 1;
    }
}

/// Without a branch a sum.
#[inline(always)]
fn are_final<C: Scalar, M: Monoid<C>>(sums: &[C; WIDTH]) -> bool {
    let (mut all, mut w) = (true, 0);
    while w < WIDTH {
        all &= is_final::<C, M>(sums[w]);
        w += 1;
    }
    all
}
