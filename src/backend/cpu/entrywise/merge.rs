//! Entry-wise operations on two sets of rows: merges, balanced by entries, long rows cut by columns.
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::cpu::assemble::assemble;
use crate::backend::cpu::blocks::{Block, partition, quantiles, target};
use crate::backend::cpu::mxm::analysis::OnMask;
use crate::backend::cpu::rows::Rows;
use crate::backend::cpu::structure::ascending::below;
use crate::backend::cpu::structure::spans;
use crate::backend::host::HostCsr;
use crate::backend::side::Side;
use crate::error::Result;
use crate::operation::Accumulate;
use crate::storage::pattern::Pattern;

/// Rows cut by the entries of all these patterns.
pub(crate) fn entry_blocks(operation: &'static str, patterns: &[&Pattern]) -> Result<Vec<Block>> {
    let (nrows, ncols) = patterns.first().map_or((0, 0), |p| (p.nrows, p.ncols));
    let before = |r: usize| patterns.iter().map(|p| p.offsets[r]).sum::<u64>() + r as u64;
    let cuts = |row: usize, parts: usize| quantiles(operation, patterns, row, parts);
    partition(operation, (nrows, ncols), target(before(nrows)), &before, &cuts)
}

/// The entries of a block's row.
#[inline(always)]
pub(crate) fn part<'a, T>(a: &'a HostCsr<T>, block: &Block, row: usize) -> (&'a [u32], &'a [T]) {
    let range = block.range(&a.pattern, row);
    (&a.pattern.indices[range.clone()], &a.values[range])
}

pub(crate) fn union<T: Scalar, F: BinaryOp<T, T, Out = T>>(a: &HostCsr<T>, b: &HostCsr<T>) -> Result<HostCsr<T>> {
    let operation = "ewise_add";
    let blocks = entry_blocks(operation, &[&a.pattern, &b.pattern])?;
    let kernel = |block: &Block, rows: &mut Rows<T>, _: &mut ()| {
        for r in block.rows.clone() {
            meet(operation, part(a, block, r), part(b, block, r), rows, |_, x, y| match (x, y) {
                (Some(x), Some(y)) => Some(F::apply(x, y)),
                (x, y) => x.or(y),
            })?;
        }
        Ok(())
    };
    let bound = (a.pattern.nnz() + b.pattern.nnz()) as u64;
    assemble::<T, ()>(operation, (a.pattern.nrows, a.pattern.ncols), bound, &blocks, &kernel)
}

/// F where either has an entry, alpha and beta for those that are not there.
pub(crate) fn ewise_union<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
    a: &HostCsr<A>,
    alpha: A,
    b: &HostCsr<B>,
    beta: B,
) -> Result<HostCsr<F::Out>> {
    let operation = "ewise_union";
    let blocks = entry_blocks(operation, &[&a.pattern, &b.pattern])?;
    let kernel = |block: &Block, rows: &mut Rows<F::Out>, _: &mut ()| {
        for r in block.rows.clone() {
            meet(operation, part(a, block, r), part(b, block, r), rows, |_, x, y| {
                Some(F::apply(x.unwrap_or(alpha), y.unwrap_or(beta)))
            })?;
        }
        Ok(())
    };
    let bound = (a.pattern.nnz() + b.pattern.nnz()) as u64;
    assemble::<F::Out, ()>(operation, (a.pattern.nrows, a.pattern.ncols), bound, &blocks, &kernel)
}

/// Two rows side by side; appends what `f` makes of each column where either has an entry.
#[inline(always)]
pub(crate) fn meet<A: Scalar, B: Scalar, C: Scalar>(
    operation: &'static str,
    (ac, av): (&[u32], &[A]),
    (bc, bv): (&[u32], &[B]),
    rows: &mut Rows<C>,
    mut f: impl FnMut(u32, Option<A>, Option<B>) -> Option<C>,
) -> Result<()> {
    rows.reserve(operation, ac.len() + bc.len())?;
    let (mut p, mut q) = (0, 0);
    // One past the last column: larger than any.
    let column = |c: &[u32], e: usize| c.get(e).map_or(u64::MAX, |c| *c as u64);
    while p < ac.len() || q < bc.len() {
        let (x, y) = (column(ac, p), column(bc, q));
        let (old, new) = ((x <= y).then(|| av[p]), (y <= x).then(|| bv[q]));
        let c = x.min(y) as u32;
        if let Some(z) = f(c, old, new) {
            // SAFETY: room for all of both was reserved.
            unsafe { rows.push_unchecked(c, z) };
        }
        p += (x <= y) as usize;
        q += (y <= x) as usize;
    }
    rows.end_row();
    Ok(())
}

/// Two rows side by side; appends F of each column where both have an entry.
#[inline(always)]
pub(crate) fn meet_both<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
    operation: &'static str,
    (ac, av): (&[u32], &[A]),
    (bc, bv): (&[u32], &[B]),
    rows: &mut Rows<F::Out>,
) -> Result<()> {
    rows.reserve(operation, ac.len().min(bc.len()))?;
    let (mut p, mut q) = (0, 0);
    while p < ac.len() && q < bc.len() {
        let (x, y) = (ac[p], bc[q]);
        if x == y {
            // SAFETY: room for all of the shorter row was reserved.
            unsafe { rows.push_unchecked(x, F::apply(av[p], bv[q])) };
            (p, q) = (p + 1, q + 1);
        } else if x < y {
            p += below(&ac[p..], y);
        } else {
            q += below(&bc[q..], x);
        }
    }
    rows.end_row();
    Ok(())
}

pub(crate) fn intersection<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
    a: &HostCsr<A>,
    b: &HostCsr<B>,
) -> Result<HostCsr<F::Out>> {
    let operation = "ewise_mult";
    let blocks = entry_blocks(operation, &[&a.pattern, &b.pattern])?;
    let kernel = |block: &Block, rows: &mut Rows<F::Out>, _: &mut ()| {
        for r in block.rows.clone() {
            meet_both::<A, B, F>(operation, part(a, block, r), part(b, block, r), rows)?;
        }
        Ok(())
    };
    let bound = a.pattern.nnz().min(b.pattern.nnz()) as u64;
    assemble::<F::Out, ()>(operation, (a.pattern.nrows, a.pattern.ncols), bound, &blocks, &kernel)
}

pub(crate) fn select<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
    a: &HostCsr<A>,
    y: Y,
    at: &Positions,
) -> Result<HostCsr<A>> {
    let operation = "select";
    if let (Some(side), None, None) = (Side::of::<A, Y, F>(y), &at.i, &at.j) {
        return spans::side(operation, a, &side);
    }
    let blocks = entry_blocks(operation, &[&a.pattern])?;
    let kernel = |block: &Block, rows: &mut Rows<A>, _: &mut ()| {
        rows.reserve_rows(operation, block.rows.len())?;
        rows.reserve(operation, block.rows.clone().map(|r| block.range(&a.pattern, r).len()).sum())?;
        // Of its own, so that no entry written may change what is read for the next.
        let (at_i, at_j, y) = (at.i.as_ref().map(|ids| &ids[..]), at.j.as_ref().map(|ids| &ids[..]), y);
        for r in block.rows.clone() {
            let i = at_i.map_or(r as u64, |ids| ids[r]) as i64;
            let row = part(a, block, r);
            match at_j {
                None => rows.push_kept(row, |c, x| F::apply(x, i, i64::from(c), y)),
                Some(ids) => rows.push_kept(row, |c, x| F::apply(x, i, ids[c as usize] as i64, y)),
            }
            rows.end_row();
        }
        Ok(())
    };
    assemble::<A, ()>(operation, (a.pattern.nrows, a.pattern.ncols), a.pattern.nnz() as u64, &blocks, &kernel)
}

/// Where a mask lists so many times fewer columns than a row has, what is between them is moved together.
const FEW: usize = 4;

/// A row of C that becomes C ⊙ T at a few columns, and stays elsewhere.
fn changed<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    operation: &'static str,
    (mut columns, mut values): (&[u32], &[C]),
    (mut new_columns, mut new_values): (&[u32], &[T]),
    listed: &[u32],
    rows: &mut Rows<C>,
) -> Result<()> {
    rows.reserve(operation, columns.len() + listed.len().min(new_columns.len()))?;
    for column in listed {
        let (kept, new) = (below(columns, *column), below(new_columns, *column));
        rows.indices.extend_from_slice(&columns[..kept]);
        rows.values.extend_from_slice(&values[..kept]);
        (columns, values) = (&columns[kept..], &values[kept..]);
        (new_columns, new_values) = (&new_columns[new..], &new_values[new..]);
        let old = (columns.first() == Some(column)).then(|| values[0]);
        let new = (new_columns.first() == Some(column)).then(|| new_values[0]);
        if let Some(z) = F::combine(old, new) {
            rows.indices.push(*column);
            rows.values.push(z);
        }
        (columns, values) = (&columns[old.is_some() as usize..], &values[old.is_some() as usize..]);
    }
    rows.indices.extend_from_slice(columns);
    rows.values.extend_from_slice(values);
    rows.end_row();
    Ok(())
}

/// C⟨M, replace⟩ ⊙= T.
pub(crate) fn write<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    c: &HostCsr<C>,
    t: &HostCsr<T>,
    mask: OnMask,
    replace: bool,
) -> Result<HostCsr<C>> {
    let operation = "write";
    let blocks = match mask {
        Some(m) => entry_blocks(operation, &[&c.pattern, &t.pattern, &m.pattern])?,
        None => entry_blocks(operation, &[&c.pattern, &t.pattern])?,
    };
    let kernel = |block: &Block, rows: &mut Rows<C>, _: &mut ()| {
        for r in block.rows.clone() {
            let mut listed = mask.map_or(&[][..], |m| &m.pattern.indices[block.range(&m.pattern, r)]);
            // Without a mask all is admitted: the complement of nothing.
            let complement = mask.is_none_or(|m| m.complement);
            let there = part(c, block, r);
            if !complement && !replace && listed.len().saturating_mul(FEW) <= there.0.len() {
                changed::<C, T, F>(operation, there, part(t, block, r), listed, rows)?;
                continue;
            }
            meet(operation, there, part(t, block, r), rows, |column, old, new| {
                if !listed.is_empty() {
                    listed = &listed[below(listed, column)..];
                }
                match (listed.first() == Some(&column)) != complement {
                    true => F::combine(old, new),
                    false if replace => None,
                    false => old,
                }
            })?;
        }
        Ok(())
    };
    let bound = (c.pattern.nnz() + t.pattern.nnz()) as u64;
    assemble::<C, ()>(operation, (c.pattern.nrows, c.pattern.ncols), bound, &blocks, &kernel)
}
