//! A product from its operands to its result: what is known of the values, how it is computed, in which blocks.
use super::accumulator::Scratch;
use super::analysis::{OnMask, Plan, dotted, prefers_dot, scattered};
use super::by_bits;
use super::dot::{DotLoop, dot, dot_rows};
use super::folded::Folded;
use super::full::{self, FullLoops};
use super::job::Job;
use super::loops::Loops;
use super::multiply::scatter_rows;
use super::pulled_bits;
use super::structural::{Structural, structural_rows};
use crate::algebra::*;
use crate::backend::cpu::assemble::{Size, assemble};
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::mxv::push::products;
use crate::backend::cpu::parallel::{Shared, unwritten, written};
use crate::backend::cpu::rows::Rows;
use crate::backend::cpu::structure::layout::transpose;
use crate::backend::cpu::workers::share_out;
use crate::backend::ends::{End, Most};
use crate::backend::host::HostCsr;
use crate::backend::ring::{Fold, Operators};
use crate::backend::{MaskBody, MxmOptions, Positions};
use crate::error::Result;
use crate::memory::{self, Buffer};
use crate::storage::frame::Cells;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;
use std::sync::Arc;

fn turned<B: Scalar>(b: &HostCsr<B>) -> Result<HostCsr<B>> {
    crate::backend::cpu::structure::layout::turned(&b.pattern, &b.values)
}

/// The loops of a product by rows, compiled for one semiring.
#[derive(Debug)]
pub(crate) struct MxmKernels<A, B, C> {
    scatter: Loops<A, B, C>,
    /// Not where B is never given by columns.
    dot: Option<DotLoop<A, B, C>>,
    /// Not where there is one row.
    full: Option<FullLoops<A, B, C>>,
}

impl<A: Scalar, B: Scalar, C: Scalar> MxmKernels<A, B, C> {
    pub(crate) const fn of<S: Semiring<A, B, Out = C>>() -> Self {
        Self { scatter: Loops::of::<S>(), dot: Some(dot::<A, B, S>), full: Some(FullLoops::of::<S>()) }
    }
    pub(crate) const fn of_rows<S: Semiring<A, B, Out = C>>() -> Self {
        Self { scatter: Loops::of::<S>(), dot: None, full: None }
    }
    /// The loops over products.
    pub(crate) fn scatter(&self) -> &Loops<A, B, C> {
        &self.scatter
    }
    /// Whether sums can start from something, so that rows of close columns take a flag and a sum a column.
    pub(crate) fn starts(&self) -> bool {
        self.scatter.start().is_some()
    }
    /// The loops over rows of B that are read whole, and what sums begin with, where that is the way.
    pub(crate) fn full(
        &self,
        a: &Pattern,
        b: &Pattern,
        mask: OnMask,
        options: &MxmOptions,
    ) -> Option<(&FullLoops<A, B, C>, &Loops<A, B, C>, C)> {
        let full = self.full.as_ref().filter(|_| full::suits(a, b, mask, options))?;
        self.scatter.start().map(|start| (full, &self.scatter, start))
    }
    /// The loop for dot products, where they are the way.
    fn dot(
        &self,
        operation: &'static str,
        (a, b): (&Pattern, &Pattern),
        mask: OnMask,
        options: &MxmOptions,
    ) -> Result<Option<DotLoop<A, B, C>>> {
        let Some(dot) = self.dot else { return Ok(None) };
        Ok(prefers_dot(operation, a, b, options.transposed_b, mask, options.strategy)?.then_some(dot))
    }
    /// The rows of one block.
    fn rows(
        &self,
        dot: Option<DotLoop<A, B, C>>,
        job: &Job<A, B>,
        block: &Block,
        rows: &mut Rows<C>,
        scratch: &mut Scratch<C>,
    ) -> Result<()> {
        match dot {
            Some(dots) => dot_rows(dots, job, block, rows, scratch),
            None => scatter_rows(&self.scatter, job, block, rows, scratch),
        }
    }
}

/// The value of every sum, where the operands say it beforehand: all products are equal and p ⊕ p = p.
fn foreseen<A: Scalar, B: Scalar, C: Scalar>(
    operators: &Operators<A, B, C>,
    a: &Buffer<A>,
    b: &Buffer<B>,
) -> Option<C> {
    let reads = operators.reads;
    if reads.position {
        return None;
    }
    let x = if reads.a { a.uniform()? } else { *a.first()? };
    let y = if reads.b { b.uniform()? } else { *b.first()? };
    operators.sum_of_equals(x, y)
}

/// Whether [`foreseen`] tells the value.
pub(crate) fn is_foreseen<A: Scalar, B: Scalar, C: Scalar>(
    o: &Operators<A, B, C>,
    a: &Buffer<A>,
    b: &Buffer<B>,
) -> bool {
    foreseen(o, a, b).is_some()
}

/// The same where it is worth a look at the values.
fn iso_value<A: Scalar, B: Scalar, C: Scalar>(
    operators: &Operators<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    transposed_b: bool,
) -> Option<C> {
    if a.pattern.nnz() == 0 || b.pattern.nnz() == 0 {
        return None;
    }
    // One row with few products: looking at all values of B would cost more, where they are read.
    let many = a.pattern.nrows > 1
        || transposed_b
        || !operators.reads.b
        || products(&a.pattern, &b.pattern) > b.pattern.nnz() / 8;
    if many { foreseen(operators, &a.values, &b.values) } else { None }
}

/// Whether [`mxm_iso`] makes the product, if not by dot products.
pub(crate) fn is_iso<A: Scalar, B: Scalar, C: Scalar>(
    operators: &Operators<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    transposed_b: bool,
) -> bool {
    iso_value(operators, a, b, transposed_b).is_some()
}

/// As [`mxm_iso`], 64 rows at a time, where that takes fewer steps.
pub(crate) fn mxm_by_bits<A: Scalar, B: Scalar, C: Scalar>(
    operation: &'static str,
    operators: &Operators<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: Option<&MaskBody>,
    options: &MxmOptions,
) -> Result<Option<(Arc<Pattern>, C)>> {
    let pulled = pulled_bits::suits(&a.pattern, &b.pattern, mask, options);
    if !pulled && !by_bits::suits(&a.pattern, &b.pattern, mask, options) {
        return Ok(None);
    }
    let Some(value) = foreseen(operators, &a.values, &b.values) else { return Ok(None) };
    let pattern = match pulled {
        true => pulled_bits::positions(operation, &a.pattern, &b.pattern, options.transposed_b, mask)?,
        false => by_bits::positions(operation, &a.pattern, &b.pattern, mask)?,
    };
    Ok(Some((Arc::new(pattern), value)))
}

/// T⟨M⟩ = A ⊕.⊗ B by its positions and the value of all sums, where that is known beforehand; what is `seen` may be left out.
pub(crate) fn mxm_iso<A: Scalar, B: Scalar, C: Scalar>(
    operation: &'static str,
    operators: &Operators<A, B, C>,
    kernels: &MxmKernels<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    (mask, seen): (OnMask, Option<&Cells>),
    options: &MxmOptions,
) -> Result<Option<(Arc<Pattern>, C)>> {
    let Some(value) = iso_value(operators, a, b, options.transposed_b) else { return Ok(None) };
    if kernels.dot(operation, (&a.pattern, &b.pattern), mask, options)?.is_some() {
        return Ok(None);
    }
    structural(operation, &a.pattern, &b.pattern, (mask, seen), options).map(|pattern| Some((pattern, value)))
}

/// T⟨M⟩ = A ⊕.⊗ B.
pub(crate) fn mxm<A: Scalar, B: Scalar, C: Scalar>(
    operation: &'static str,
    kernels: &MxmKernels<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    options: &MxmOptions,
) -> Result<HostCsr<C>> {
    if let Some(loops) = kernels.full(&a.pattern, &b.pattern, mask, options) {
        return full::mxm(operation, loops, a, b, at);
    }
    planned(operation, kernels, (a, b), mask, at, options, |shape, plan, dots, job| {
        let kernel =
            |block: &Block, to: &mut Rows<C>, scratch: &mut Scratch<C>| kernels.rows(dots, job, block, to, scratch);
        assemble::<C, Scratch<C>>(operation, shape, plan.size, &plan.blocks, &kernel)
    })
}

/// What `made` makes of a product of this shape by its plan, B turned where rows are walked the other way; empty without entries.
fn planned<A: Scalar, B: Scalar, C: Scalar, T: Scalar>(
    operation: &'static str,
    kernels: &MxmKernels<A, B, C>,
    (a, b): (&HostCsr<A>, &HostCsr<B>),
    mask: OnMask,
    at: &Positions,
    options: &MxmOptions,
    made: impl FnOnce((usize, usize), Plan, Option<DotLoop<A, B, C>>, &Job<A, B>) -> Result<HostCsr<T>>,
) -> Result<HostCsr<T>> {
    let shape = (a.pattern.nrows, if options.transposed_b { b.pattern.nrows } else { b.pattern.ncols });
    if a.values.is_empty() || b.values.is_empty() {
        return Ok(HostCsr::new(Pattern::empty(operation, shape.0, shape.1)?, Vec::new()));
    }
    let dots = kernels.dot(operation, (&a.pattern, &b.pattern), mask, options)?;
    let dot = dots.is_some();
    let b = if dot == options.transposed_b { b.clone() } else { turned(b)? };
    let plan = plan(operation, &a.pattern, &b.pattern, mask, dot, options)?;
    made(shape, plan, dots, &Job::new(operation, (a, &b), mask, at, dot))
}

fn plan(
    operation: &'static str,
    a: &Pattern,
    b: &Pattern,
    mask: OnMask,
    dot: bool,
    options: &MxmOptions,
) -> Result<Plan> {
    match mask {
        Some(m) if dot => dotted(operation, a, b, &m.pattern),
        _ => scattered(operation, a, b, mask, options.memory_limit),
    }
}

/// The pattern of a product; what is `seen` may be left out.
pub(crate) fn structural(
    operation: &'static str,
    a: &Pattern,
    b: &Pattern,
    (mask, seen): (OnMask, Option<&Cells>),
    options: &MxmOptions,
) -> Result<Arc<Pattern>> {
    let turned = match options.transposed_b {
        true => Some(transpose::<()>(b, &memory::filled(operation, b.nnz(), ())?)?.0),
        false => None,
    };
    let b = turned.as_ref().unwrap_or(b);
    let plan = scattered(operation, a, b, mask, options.memory_limit)?;
    let kernel = |block: &Block, rows: &mut Rows<()>, scratch: &mut Structural| {
        structural_rows((a, b, mask, seen), block, rows, scratch)
    };
    let made = assemble::<(), Structural>(operation, (a.nrows, b.ncols), plan.size, &plan.blocks, &kernel)?;
    Ok(made.pattern)
}

/// T⟨M⟩ = A ⊕.⊗ B of which the rows are handed on as soon as they are there: no block of it outlives that.
pub(crate) fn mxm_ended<A: Scalar, B: Scalar, C: Scalar, T: Scalar>(
    operation: &'static str,
    kernels: &MxmKernels<A, B, C>,
    end: &dyn End<C, T>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    options: &MxmOptions,
) -> Result<HostCsr<T>> {
    planned(operation, kernels, (a, b), mask, at, options, |shape, mut plan, dots, job| {
        if end.whole_rows() {
            super::ended::uncut(&mut plan.blocks);
        }
        let kernel = |block: &Block, to: &mut Rows<T>, (rows, scratch): &mut (Rows<C>, Scratch<C>)| {
            rows.clear();
            rows.reserve_rows(operation, block.rows.len())?;
            kernels.rows(dots, job, block, rows, scratch)?;
            end.rows(operation, block.rows.start, at, rows, to)
        };
        let bound = match end.most() {
            Most::All => plan.size,
            Most::Row(k) => plan.size.most.min((shape.0 as u64).saturating_mul(k as u64)).into(),
            // No room is taken beforehand.
            Most::Some => Size::from(u64::MAX),
        };
        assemble::<T, (Rows<C>, Scratch<C>)>(operation, shape, bound, &plan.blocks, &kernel)
    })
}

/// ⊕ᵢⱼ (A ⊕.⊗ B)⟨M⟩: each block is folded where it stands, blocks are folded in order. Where that shows they are the same for all formats.
pub(crate) fn mxm_reduce<A: Scalar, B: Scalar, C: Scalar>(
    kernels: &MxmKernels<A, B, C>,
    fold: &Fold<C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    options: &MxmOptions,
) -> Result<Option<C>> {
    let operation = "mxm";
    if a.values.is_empty() || b.values.is_empty() {
        return Ok(None);
    }
    let dots = kernels.dot(operation, (&a.pattern, &b.pattern), mask, options)?;
    let dot = dots.is_some();
    let grouped = match fold.free {
        true => None,
        false => Some(Folded::of(operation, &a.pattern, &b.pattern, options.transposed_b)?),
    };
    let b = if dot == options.transposed_b { b.clone() } else { turned(b)? };
    let folded = match grouped {
        Some(folded) => folded,
        None => plan(operation, &a.pattern, &b.pattern, mask, dot, options)?.blocks.into(),
    };
    let blocks = &folded.blocks;
    let job = Job::new(operation, (a, &b), mask, at, dot);
    let joined = |sums: (Option<C>, Option<C>)| match sums {
        (Some(x), Some(y)) => Some((fold.two)(x, y)),
        (x, y) => x.or(y),
    };
    let one = |(rows, scratch): &mut (Rows<C>, Scratch<C>), block: &Block| {
        let mut sum = None;
        folded.pieces(block, &mut |piece| {
            rows.clear();
            rows.reserve_rows(operation, piece.rows.len())?;
            kernels.rows(dots, &job, piece, rows, scratch)?;
            sum = joined((sum, (fold.all)(&rows.values)));
            Ok(())
        })?;
        Ok(sum)
    };
    let mut sums = unwritten(operation, blocks.len())?;
    let to = Shared::new(&mut sums);
    let threads = rayon::current_num_threads().min(blocks.len());
    let mut own = memory::with_capacity(operation, threads)?;
    own.resize_with(threads, Default::default);
    share_out(&mut own, blocks.len(), &|own, some| {
        for b in some {
            let sum = one(own, &blocks[b])?;
            // SAFETY: every block comes once.
            unsafe { to.write(b, MaybeUninit::new(sum)) };
        }
        Ok(())
    })?;
    let mut total = None;
    // SAFETY: every block has written its sum.
    for sum in unsafe { written(sums, blocks.len()) } {
        total = joined((total, sum));
    }
    Ok(total)
}
