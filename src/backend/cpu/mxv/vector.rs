//! mxv: each row of the matrix pulls from the vector.
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::cpu::assemble::assemble;
use crate::backend::cpu::blocks::{Block, partition, target};
use crate::backend::cpu::mxm::analysis::OnMask;
use crate::backend::cpu::mxm::job::{at, is_final};
use crate::backend::cpu::parallel::{filled, unwritten};
use crate::backend::cpu::rows::Rows;
use crate::backend::cpu::scatter::placed;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::storage::bitmap::Bitmap;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;

/// Ranges of a matrix's rows as parts of one row of results: a block's columns are the matrix's rows.
pub(crate) fn row_blocks(operation: &'static str, a: &Pattern) -> Result<Vec<Block>> {
    let before = |r: usize| a.offsets[r] + r as u64;
    let blocks = partition(operation, (a.nrows, a.ncols), target(before(a.nrows)), &before, &|_, _| Ok(Vec::new()))?;
    Ok(blocks
        .into_iter()
        .map(|b| Block { rows: 0..1, columns: b.rows.start as u32..b.rows.end as u32, whole: false })
        .collect())
}

/// A vector by index: values where they are present, or zeros where nobody reads them.
pub(crate) struct Lookup<'a, X> {
    present: Option<Bitmap>,
    scattered: Vec<MaybeUninit<X>>,
    full: &'a [X],
}
impl<'a, X: Scalar> Lookup<'a, X> {
    fn new(operation: &'static str, x: &'a HostCsr<X>, read: bool) -> Result<Self> {
        let (n, nnz) = (x.pattern.ncols, x.pattern.nnz());
        if n == nnz {
            return Ok(Self { present: None, scattered: Vec::new(), full: &x.values });
        }
        let (mut present, mut scattered) = (filled(operation, n.div_ceil(64), 0)?, unwritten(operation, n)?);
        // Memory that nobody touches costs nothing.
        placed(operation, &x.pattern.indices, (&mut present, &mut scattered), &|part| {
            for e in part.entries {
                let place = x.pattern.indices[e] as usize - part.first;
                part.words[place >> 6] |= 1 << (place & 63);
                if read {
                    part.values[place] = MaybeUninit::new(x.values[e]);
                }
            }
            0
        })?;
        Ok(Self { present: Some(present.into()), scattered, full: &[] })
    }
    /// `read` as it was said to [`new`](Self::new).
    /// # Safety
    /// It is the same.
    #[inline(always)]
    unsafe fn get(&self, k: u32, read: bool) -> Option<X> {
        match &self.present {
            None => self.full.get(k as usize).copied(),
            Some(present) if !read => present.get(k).then(X::zeroed),
            // SAFETY: a place that is present was written, as values are read.
            Some(present) => present.get(k).then(|| unsafe { self.scattered[k as usize].assume_init() }),
        }
    }
}

/// The loops of mxv, compiled for one semiring.
#[derive(Debug)]
pub(crate) struct MxvKernels<A, X, C> {
    full: super::pull::RowsKernel<A, X, C>,
    how: fn() -> super::pull::How<C>,
    looked_up: unsafe fn(&Pulling<A, X>, &Block, &mut Rows<C>),
    /// Whether products depend on values of x.
    reads: bool,
}
impl<A: Scalar, X: Scalar, C: Scalar> MxvKernels<A, X, C> {
    pub(crate) const fn of<S: Semiring<A, X, Out = C>>() -> Self {
        Self {
            full: super::pull::rows::<A, X, S>,
            how: super::pull::how::<C, S::Add>,
            looked_up: looked_up::<A, X, S>,
            reads: S::Multiply::READS.b,
        }
    }
}

/// The operands of mxv, ready.
struct Pulling<'a, A, X> {
    a: &'a HostCsr<A>,
    x: Lookup<'a, X>,
    mask: OnMask<'a>,
    at: &'a Positions,
}

/// t⟨m⟩ = A ⊕.⊗ x.
pub(crate) fn mxv<A: Scalar, X: Scalar, C: Scalar>(
    kernels: &MxvKernels<A, X, C>,
    a: &HostCsr<A>,
    x: &HostCsr<X>,
    mask: OnMask,
    at: &Positions,
) -> Result<HostCsr<C>> {
    let operation = "mxv";
    if mask.is_none() && x.pattern.nnz() == x.pattern.ncols {
        return super::pull::pull((kernels.full, (kernels.how)()), a, x, at);
    }
    let blocks = row_blocks(operation, &a.pattern)?;
    let pulling = Pulling { a, x: Lookup::new(operation, x, kernels.reads)?, mask, at };
    let kernel = |block: &Block, rows: &mut Rows<C>, _: &mut ()| {
        rows.reserve(operation, block.columns.len())?;
        // SAFETY: values of x are there where these products read them.
        unsafe { (kernels.looked_up)(&pulling, block, rows) };
        rows.end_row();
        Ok(())
    };
    assemble::<C, ()>(operation, (1, a.pattern.nrows), a.pattern.nrows as u64, &blocks, &kernel)
}

/// The rows of a block; room for all of them was reserved.
/// # Safety
/// x was prepared for reading, if products depend on its values, and not else.
unsafe fn looked_up<A: Scalar, X: Scalar, S: Semiring<A, X>>(
    p: &Pulling<A, X>,
    block: &Block,
    rows: &mut Rows<S::Out>,
) {
    admitted(p.mask, block, |i| {
        let mut sum: Option<S::Out> = None;
        let (columns, values) = p.a.row(i as usize);
        for (k, v) in columns.iter().zip(values) {
            // SAFETY: this function's contract.
            if let Some(y) = unsafe { p.x.get(*k, S::Multiply::READS.b) } {
                let product = S::Multiply::multiply(*v, y, at::<A, X, S>(p.at, i as usize, *k as usize, 0));
                let next = sum.map_or(product, |sum| S::Add::apply(sum, product));
                sum = Some(next);
                if is_final::<S::Out, S::Add>(next) {
                    break;
                }
            }
        }
        if let Some(sum) = sum {
            // SAFETY: room for every row of the block was reserved.
            unsafe { rows.push_unchecked(i, sum) };
        }
    });
}

/// The columns of a block that the mask admits, in order.
#[inline(always)]
fn admitted(mask: OnMask, block: &Block, mut each: impl FnMut(u32)) {
    let mut next = block.columns.start;
    if let Some(m) = mask {
        let listed = &m.pattern.indices[block.range(&m.pattern, 0)];
        if !m.complement {
            return listed.iter().for_each(|i| each(*i));
        }
        for i in listed {
            (next..*i).for_each(&mut each);
            next = i + 1;
        }
    }
    (next..block.columns.end).for_each(each);
}
