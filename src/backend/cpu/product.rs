//! A product from its operands to its result: what is known of the values, how it is computed, in which blocks.
use super::accumulator::Scratch;
use super::analysis::{OnMask, dotted, prefers_dot, scattered};
use super::assemble::{Block, Rows, assemble};
use super::layout::transpose;
use super::multiply::{Job, Structural, dot_rows, scatter_rows, structural_rows};
use super::push::products;
use crate::algebra::scalar::as_bytes;
use crate::algebra::*;
use crate::backend::host::HostCsr;
use crate::backend::{MxmOptions, Positions};
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::sync::Arc;

fn turned<B: Scalar>(b: &HostCsr<B>) -> Result<HostCsr<B>> {
    transpose(&b.pattern, &b.values).map(|(pattern, values)| HostCsr::new(pattern, values))
}

/// The value that all are, bit for bit.
fn uniform<T: Scalar>(values: &[T]) -> Option<T> {
    let bytes = as_bytes(values);
    let value = *values.first()?;
    (bytes[..bytes.len() - size_of::<T>()] == bytes[size_of::<T>()..]).then_some(value)
}

/// The value of every sum, where the operands say it beforehand: all products are equal and p ⊕ p = p.
fn foreseen<A: Scalar, B: Scalar, S: Semiring<A, B>>(a: &[A], b: &[B]) -> Option<S::Out> {
    let reads = S::Multiply::READS;
    if reads.position {
        return None;
    }
    let x = if reads.a { uniform(a)? } else { *a.first()? };
    let y = if reads.b { uniform(b)? } else { *b.first()? };
    let product = S::Multiply::multiply(x, y, At::default());
    let sum = S::Add::apply(product, product);
    (as_bytes(&[sum]) == as_bytes(&[product])).then_some(product)
}

/// T⟨M⟩ = A ⊕.⊗ B.
pub(super) fn mxm<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    operation: &'static str,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    options: &MxmOptions,
) -> Result<HostCsr<S::Out>> {
    let shape = (a.pattern.nrows, if options.transposed_b { b.pattern.nrows } else { b.pattern.ncols });
    if a.values.is_empty() || b.values.is_empty() {
        return Ok(HostCsr::new(Pattern::empty(operation, shape.0, shape.1)?, Vec::new()));
    }
    let dot = prefers_dot(operation, &a.pattern, &b.pattern, options.transposed_b, mask, options.strategy)?;
    // One row with few products: looking at all values of B would cost more.
    let many = a.pattern.nrows > 1 || options.transposed_b || products(&a.pattern, &b.pattern) > b.values.len() / 8;
    if !dot
        && many
        && let Some(value) = foreseen::<A, B, S>(&a.values, &b.values)
    {
        let pattern = structural(operation, &a.pattern, &b.pattern, mask, options.transposed_b)?;
        let values = memory::filled(operation, pattern.nnz(), value)?;
        return Ok(HostCsr { pattern, values: Arc::new(values) });
    }
    let b = if dot == options.transposed_b { b.clone() } else { turned(b)? };
    let plan = match mask {
        Some(m) if dot => dotted(operation, &a.pattern, &b.pattern, &m.pattern)?,
        _ => scattered(operation, &a.pattern, &b.pattern, mask)?,
    };
    let job = Job { operation, a, b: &b, mask, at };
    let kernel = |block: &Block, rows: &mut Rows<S::Out>, scratch: &mut Scratch<S::Out>| match dot {
        true => dot_rows::<A, B, S>(&job, block, rows, scratch),
        false => scatter_rows::<A, B, S>(&job, block, rows, scratch),
    };
    assemble::<S::Out, Scratch<S::Out>>(operation, shape, plan.bound, &plan.blocks, &kernel)
}

/// The pattern of a product.
fn structural(
    operation: &'static str,
    a: &Pattern,
    b: &Pattern,
    mask: OnMask,
    transposed_b: bool,
) -> Result<Arc<Pattern>> {
    let turned =
        if transposed_b { Some(transpose::<()>(b, &memory::filled(operation, b.nnz(), ())?)?.0) } else { None };
    let b = turned.as_ref().unwrap_or(b);
    let plan = scattered(operation, a, b, mask)?;
    let kernel = |block: &Block, rows: &mut Rows<()>, scratch: &mut Structural| {
        structural_rows((a, b, mask), block, rows, scratch)
    };
    let made = assemble::<(), Structural>(operation, (a.nrows, b.ncols), plan.bound, &plan.blocks, &kernel)?;
    Ok(made.pattern)
}

/// ⊕ᵢⱼ (A ⊕.⊗ B)⟨M⟩: each block is folded where it stands, blocks are folded in order.
pub(super) fn mxm_reduce<A: Scalar, B: Scalar, S: Semiring<A, B>, R: Monoid<S::Out>>(
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    options: &MxmOptions,
) -> Result<Option<S::Out>> {
    let operation = "mxm";
    if a.values.is_empty() || b.values.is_empty() {
        return Ok(None);
    }
    let dot = prefers_dot(operation, &a.pattern, &b.pattern, options.transposed_b, mask, options.strategy)?;
    let b = if dot == options.transposed_b { b.clone() } else { turned(b)? };
    let plan = match mask {
        Some(m) if dot => dotted(operation, &a.pattern, &b.pattern, &m.pattern)?,
        _ => scattered(operation, &a.pattern, &b.pattern, mask)?,
    };
    let job = Job { operation, a, b: &b, mask, at };
    let fold = |(rows, scratch): &mut (Rows<S::Out>, Scratch<S::Out>), block: &Block| {
        rows.clear();
        rows.reserve_rows(operation, block.rows.len())?;
        match dot {
            true => dot_rows::<A, B, S>(&job, block, rows, scratch)?,
            false => scatter_rows::<A, B, S>(&job, block, rows, scratch)?,
        }
        Ok(rows.values.iter().copied().reduce(R::apply))
    };
    let sums: Vec<Result<Option<S::Out>>> = if plan.blocks.len() < 2 {
        let mut own = Default::default();
        plan.blocks.iter().map(|block| fold(&mut own, block)).collect()
    } else {
        plan.blocks.par_iter().map_init(Default::default, fold).collect()
    };
    let mut total = None;
    for sum in sums {
        total = match (total, sum?) {
            (Some(x), Some(y)) => Some(R::apply(x, y)),
            (x, y) => x.or(y),
        };
    }
    Ok(total)
}
