//! A ⊕.⊗ X over booleans for X with an entry at every place, where ⊕ is ∨ or ∧: a row of X is read as words of a byte a boolean, and
//! what ⊗ makes of it is one of four things for each value of A's entry.
use super::full::positions;
use crate::algebra::*;
use crate::backend::cpu::blocks::{partition, target};
use crate::backend::cpu::parallel::{Shared, each_of, filled, unwritten, written};
use crate::backend::host::HostCsr;
use crate::backend::ring::Operators;
use crate::error::Result;
use crate::storage::pattern::Pattern;
use std::any::Any;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Entries between looks at whether all sums are final: after eight they mostly are, or are not for long.
const STEPS: usize = 8;
/// Rows whose sums are not final soon are reckoned as a part of the work, so that many entries are still shared out.
const LATE: u64 = 16;
/// Columns that take as long as the walk along A's entries.
const NEAR: usize = 32;

/// ⊕ and ⊗ in words of bytes: sums are `flip ^` of the or of `x & keep[v] ^ change[v]`.
#[derive(Clone, Copy, Debug)]
struct Table {
    keep: [bool; 2],
    change: [bool; 2],
    flip: bool,
}

impl Table {
    fn of(o: &Operators<bool, bool, bool>) -> Option<Self> {
        let sums = [(false, false), (false, true), (true, false), (true, true)].map(|(x, y)| (o.add)(x, y));
        let flip = match sums {
            [false, true, true, true] => false,
            // x ∧ y = ¬(¬x ∨ ¬y).
            [false, false, false, true] => true,
            _ => return None,
        };
        if o.reads.position {
            return None;
        }
        let product = |v, y| (o.multiply)(v, y, At::default()) != flip;
        let change = [product(false, false), product(true, false)];
        Some(Self { keep: [product(false, true) != change[0], product(true, true) != change[1]], change, flip })
    }
    /// Whether ⊗ looks at values of A.
    fn reads_a(&self) -> bool {
        self.keep[0] != self.keep[1] || self.change[0] != self.change[1]
    }
}

fn table<A: Scalar, B: Scalar, C: Scalar>(operators: &Operators<A, B, C>) -> Option<Table> {
    (operators as &dyn Any).downcast_ref().and_then(Table::of)
}

/// Whether these are booleans of such a semiring.
pub(super) fn are_words<A: Scalar, B: Scalar, C: Scalar>(operators: &Operators<A, B, C>) -> bool {
    table(operators).is_some()
}

/// T = A ⊕.⊗ X where these are booleans of such a semiring.
pub(super) fn mxm<A: Scalar, B: Scalar, C: Scalar>(
    operation: &'static str,
    operators: &Operators<A, B, C>,
    a: &HostCsr<A>,
    x: &HostCsr<B>,
) -> Result<Option<HostCsr<C>>> {
    let Some(table) = table(operators) else { return Ok(None) };
    let (a, x): (&dyn Any, &dyn Any) = (a, x);
    let (Some(a), Some(x)) = (a.downcast_ref(), x.downcast_ref::<HostCsr<bool>>()) else { return Ok(None) };
    let (n, own) = (x.pattern.nnz(), x.values.first().filter(|_| x.values.len() == 1));
    let made: &dyn Any = &match own {
        // X of one value has it everywhere here.
        Some(one) if n > 1 => {
            by_words(operation, &table, a, &HostCsr::at(x.pattern.clone(), filled(operation, n, *one)?))?
        }
        _ => by_words(operation, &table, a, x)?,
    };
    Ok(made.downcast_ref().cloned())
}

/// T = A ⊕.⊗ X.
fn by_words(operation: &'static str, table: &Table, a: &HostCsr<bool>, x: &HostCsr<bool>) -> Result<HostCsr<bool>> {
    let (p, columns) = (&a.pattern, x.pattern.ncols);
    assert!(
        p.offsets[p.nrows] == p.indices.len() as u64
            && x.values.len() == x.pattern.nrows * columns
            && p.ncols <= x.pattern.nrows
    );
    let c = positions(operation, p, &x.pattern)?;
    let each = columns.div_ceil(NEAR) as u64;
    // Most sums are final after a few entries, however many there are.
    let before = |r: usize| {
        let (all, rows) = (p.offsets[r], r as u64);
        (all.min(rows * 4 * STEPS as u64) + all / LATE + rows).saturating_mul(each)
    };
    let blocks = partition(operation, (p.nrows, p.ncols), target(before(p.nrows)), &before, &|_, _| Ok(Vec::new()))?;
    let mut values = unwritten::<bool>(operation, c.nnz())?;
    let shared = Shared::new(&mut values);
    // A matrix of one value may come with that alone.
    let one = if table.reads_a() { a.values.uniform() } else { Some(false) };
    let loops = Rows { a: p, values: &a.values, x: &x.values, columns, table, one };
    each_of(&blocks, &|block| {
        let rows = block.rows.clone();
        // SAFETY: blocks have disjoint rows.
        let out = unsafe { shared.part(c.offsets[rows.start] as usize..c.offsets[rows.end] as usize) };
        loops.of(rows, out);
    });
    // SAFETY: the rows of C that have entries are those of A that do, and each of these was written.
    let values = unsafe { written(values, c.nnz()) };
    Ok(HostCsr::at(c, values))
}

/// What rows are made from.
struct Rows<'a> {
    a: &'a Pattern,
    values: &'a [bool],
    x: &'a [bool],
    columns: usize,
    table: &'a Table,
    /// What all entries of A are.
    one: Option<bool>,
}

impl Rows<'_> {
    fn of(&self, rows: Range<usize>, out: &mut [MaybeUninit<bool>]) {
        match self.columns {
            1 => self.by::<u8>(rows, out),
            2..4 => self.by::<u16>(rows, out),
            4..8 => self.by::<u32>(rows, out),
            8..16 => self.by::<[u64; 1]>(rows, out),
            16..32 => self.by::<[u64; 2]>(rows, out),
            32..64 => self.by::<[u64; 4]>(rows, out),
            _ => self.by::<[u64; 8]>(rows, out),
        }
    }
    fn by<W: Word>(&self, rows: Range<usize>, out: &mut [MaybeUninit<bool>]) {
        match self.one {
            Some(v) => self.words::<W, true>([v as usize; 2], rows, out),
            None => self.words::<W, false>([0, 1], rows, out),
        }
    }
    /// By words of so many columns, the last of which overlaps the one before it. `SAME`: of A's values all do the same.
    fn words<W: Word, const SAME: bool>(&self, v: [usize; 2], rows: Range<usize>, out: &mut [MaybeUninit<bool>]) {
        let (t, columns) = (self.table, self.columns);
        let (keep, change) = (v.map(|v| W::bytes(t.keep[v])), v.map(|v| W::bytes(t.change[v])));
        let (flip, all) = (W::bytes(t.flip), W::bytes(true));
        assert!(columns >= size_of::<W>() && !rows.is_empty());
        for (to, row) in out.chunks_exact_mut(columns).zip(rows.filter(|row| !self.a.range(*row).is_empty())) {
            let entries = self.a.range(row);
            let (indices, values) =
                (&self.a.indices[entries.clone()], if SAME { &[][..] } else { &self.values[entries] });
            let mut first = 0;
            loop {
                let mut sums = W::bytes(false);
                for (e, k) in indices.iter().enumerate() {
                    let v = if SAME { 0 } else { values[e] as usize };
                    // SAFETY: columns of A are rows of X, all of whose places are there as `by_words` asserted; so many columns from `first` on
                    // are in the row.
                    let x = unsafe { W::read(self.x.as_ptr().add(*k as usize * columns + first)) };
                    sums = sums.or(x.and(keep[v]).xor(change[v]));
                    if e % STEPS == STEPS - 1 && sums.is(all) {
                        break;
                    }
                }
                // SAFETY: so many columns from `first` on are in the row; bytes are 0 and 1.
                unsafe { sums.xor(flip).write(to.as_mut_ptr().add(first).cast()) };
                if first + size_of::<W>() == columns {
                    break;
                }
                first = (first + size_of::<W>()).min(columns - size_of::<W>());
            }
        }
    }
}

/// Booleans side by side.
trait Word: Copy {
    /// All of them this one.
    fn bytes(value: bool) -> Self;
    /// # Safety
    /// As many are there.
    unsafe fn read(from: *const bool) -> Self;
    /// # Safety
    /// There is room for as many.
    unsafe fn write(self, to: *mut bool);
    fn or(self, with: Self) -> Self;
    fn and(self, with: Self) -> Self;
    fn xor(self, with: Self) -> Self;
    fn is(self, other: Self) -> bool;
}

macro_rules! words { ($($t:ty: $one:expr;)*) => {$(
    impl Word for $t {
        #[inline(always)]
        fn bytes(value: bool) -> Self {
            if value { $one } else { 0 }
        }
        #[inline(always)]
        unsafe fn read(from: *const bool) -> Self {
            // SAFETY: the contract.
            unsafe { from.cast::<Self>().read_unaligned() }
        }
        #[inline(always)]
        unsafe fn write(self, to: *mut bool) {
            // SAFETY: the contract.
            unsafe { to.cast::<Self>().write_unaligned(self) }
        }
        #[inline(always)]
        fn or(self, with: Self) -> Self {
            self | with
        }
        #[inline(always)]
        fn and(self, with: Self) -> Self {
            self & with
        }
        #[inline(always)]
        fn xor(self, with: Self) -> Self {
            self ^ with
        }
        #[inline(always)]
        fn is(self, other: Self) -> bool {
            self == other
        }
    }
)*} }
words! { u8: 1; u16: 0x0101; u32: 0x0101_0101; u64: 0x0101_0101_0101_0101; }

impl<const N: usize> Word for [u64; N] {
    #[inline(always)]
    fn bytes(value: bool) -> Self {
        [u64::bytes(value); N]
    }
    #[inline(always)]
    unsafe fn read(from: *const bool) -> Self {
        // SAFETY: the contract.
        unsafe { from.cast::<Self>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn write(self, to: *mut bool) {
        // SAFETY: the contract.
        unsafe { to.cast::<Self>().write_unaligned(self) }
    }
    #[inline(always)]
    fn or(self, with: Self) -> Self {
        std::array::from_fn(|n| self[n] | with[n])
    }
    #[inline(always)]
    fn and(self, with: Self) -> Self {
        std::array::from_fn(|n| self[n] & with[n])
    }
    #[inline(always)]
    fn xor(self, with: Self) -> Self {
        std::array::from_fn(|n| self[n] ^ with[n])
    }
    #[inline(always)]
    fn is(self, other: Self) -> bool {
        self.iter().zip(other).fold(0, |changed, (x, y)| changed | (x ^ y)) == 0
    }
}
