//! What an end makes of a product, in little memory: row by row, into arrays of the right size.
use super::exact::exactly;
use super::fits::between;
use super::in_parts::{Each, InParts};
use super::need::{Budget, compressed};
use crate::algebra::Scalar;
use crate::backend::Positions;
use crate::backend::cpu::rows::Rows;
use crate::backend::ends::{End, Most};
use crate::backend::host::HostCsr;
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::pattern::Pattern;

const NAME: &str = "mxm";

/// Of the product as a whole, where it fits beside what becomes of it; else of some rows at a time, which are made twice: to be
/// counted, and to be written.
pub(super) fn ended_exactly<A: Scalar, B: Scalar, C: Scalar, T: Scalar>(
    end: &dyn End<C, T>,
    product: &InParts<A, B, C>,
    columns: usize,
    budget: Budget,
) -> Result<HostCsr<T>> {
    let &InParts { ring, a, b, mask, at, transposed_b } = product;
    let (rows, size) = (a.pattern.nrows, size_of::<C>() as u64);
    let stored = exactly(ring, a, b, mask, at, transposed_b, &budget).and_then(|c| {
        let left = budget.without(NAME, compressed(rows as u64, c.pattern.nnz() as u64, size))?;
        if end.most() == Most::All {
            return at_same_positions(end, &c, at, left);
        }
        put_together(end, (rows, columns), at, left, &mut |left, each| each(0..rows, &c, &left))
    });
    match stored {
        Err(Error::OutOfMemory { .. }) if rows > 1 => {
            put_together(end, (rows, columns), at, budget, &mut |left, each| product.each(left, each))
        }
        made => made,
    }
}

/// An end that keeps all entries shares the product's positions.
fn at_same_positions<C: Scalar, T: Scalar>(
    end: &dyn End<C, T>,
    c: &HostCsr<C>,
    at: &Positions,
    budget: Budget,
) -> Result<HostCsr<T>> {
    let entries = c.pattern.nnz();
    let left = budget.without(NAME, (entries as u64).saturating_mul(size_of::<T>() as u64))?;
    let mut values = memory::with_capacity(NAME, entries)?;
    each_row(end, 0, c, at, &left, &mut |_, row| values.extend_from_slice(&row.values))?;
    Ok(HostCsr::at(c.pattern.clone(), values))
}

/// What gives all rows of a product in order, as [`InParts::each`] does.
type Product<'a, C> = dyn FnMut(Budget, &mut Each<C>) -> Result<()> + 'a;

/// What an end makes of a product's rows, with offsets of their own.
fn put_together<C: Scalar, T: Scalar>(
    end: &dyn End<C, T>,
    (nrows, ncols): (usize, usize),
    at: &Positions,
    budget: Budget,
    product: &mut Product<C>,
) -> Result<HostCsr<T>> {
    let left = budget.without(NAME, compressed(nrows as u64, 0, 0))?;
    let mut offsets = memory::filled(NAME, nrows + 1, 0u64)?;
    product(left, &mut |rows, c, left| {
        let counts = &mut offsets[rows.start + 1..];
        if end.most() == Most::All {
            counts.iter_mut().zip(0..rows.len()).for_each(|(count, r)| *count = c.pattern.range(r).len() as u64);
            return Ok(());
        }
        each_row(end, rows.start, c, at, left, &mut |r, row| counts[r] = row.indices.len() as u64)
    })?;
    for i in 0..nrows {
        offsets[i + 1] += offsets[i];
    }
    let left = left.without(NAME, offsets[nrows].saturating_mul(4 + size_of::<T>() as u64))?;
    let entries = usize::try_from(offsets[nrows]).unwrap_or(usize::MAX);
    let (mut indices, mut values) = (memory::with_capacity(NAME, entries)?, memory::with_capacity(NAME, entries)?);
    product(left, &mut |rows, c, left| {
        // Of rows that were too many nothing stays.
        indices.truncate(offsets[rows.start] as usize);
        values.truncate(offsets[rows.start] as usize);
        each_row(end, rows.start, c, at, left, &mut |_, row| {
            indices.extend_from_slice(&row.indices);
            values.extend_from_slice(&row.values);
        })
    })?;
    Ok(HostCsr::new(Pattern::new(nrows, ncols, offsets, indices), values))
}

/// What an end makes of each row of these, the first of which is row `first` of the product.
fn each_row<C: Scalar, T: Scalar>(
    end: &dyn End<C, T>,
    first: usize,
    c: &HostCsr<C>,
    at: &Positions,
    left: &Budget,
    each: &mut dyn FnMut(usize, &Rows<T>),
) -> Result<()> {
    let longest = (0..c.pattern.nrows).map(|r| c.pattern.range(r).len()).max().unwrap_or(0);
    left.check(NAME, between(longest as u64, size_of::<C>().max(size_of::<T>())))?;
    let (mut from, mut to) = (Rows::default(), Rows::default());
    from.reserve(NAME, longest)?;
    from.reserve_rows(NAME, 1)?;
    for r in 0..c.pattern.nrows {
        from.clear();
        to.clear();
        let (columns, values) = c.row(r);
        from.indices.extend_from_slice(columns);
        from.values.extend_from_slice(values);
        from.end_row();
        end.rows(NAME, first + r, at, &from, &mut to)?;
        each(r, &to);
    }
    Ok(())
}
