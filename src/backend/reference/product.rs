//! Which entries of the operands meet where, by number: products, transposes and builds without their values, so that
//! they are compiled once.
use super::{NAME, Row, admits, id};
use crate::algebra::At;
use crate::backend::ring::Operators;
use crate::backend::{MaskOn, Positions, host::HostCsr};
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use std::sync::Arc;

/// Entry `a` of A and entry `b` of B make a product of the sum with this number; sums are numbered as they appear.
pub(super) struct Meeting {
    a: usize,
    b: usize,
    at: At,
    sum: usize,
}

impl<A: Copy, B: Copy, C: Copy> Operators<A, B, C> {
    /// The sums of the products that `walk` meets, in its order.
    pub(super) fn summed(
        &self,
        a: &HostCsr<A>,
        b: &HostCsr<B>,
        walk: &mut dyn FnMut(&mut dyn FnMut(Meeting) -> Result<()>) -> Result<Numbered>,
    ) -> Result<HostCsr<C>> {
        let mut sums = Vec::new();
        let (pattern, order) = walk(&mut |m| {
            let product = (self.multiply)(a.values[m.a], b.values[m.b], m.at);
            match sums.get_mut(m.sum) {
                Some(sum) => *sum = (self.add)(*sum, product),
                None => {
                    memory::reserve(NAME, &mut sums, 1)?;
                    sums.push(product);
                }
            }
            Ok(())
        })?;
        Ok(HostCsr::new(pattern, gathered(&sums, &order)?))
    }
}

/// Positions, and for each the number of its value.
type Numbered = (Pattern, Vec<usize>);

/// The values with these numbers.
pub(super) fn gathered<T: Copy>(values: &[T], order: &[usize]) -> Result<Vec<T>> {
    let mut gathered = memory::with_capacity(NAME, order.len())?;
    gathered.extend(order.iter().map(|n| values[*n]));
    Ok(gathered)
}

fn collect(nrows: usize, ncols: usize, mut rows: Vec<Row<usize>>) -> Result<Numbered> {
    let made = super::collect(nrows, ncols, &mut |i, row| *row = std::mem::take(&mut rows[i]))?;
    let pattern = Arc::unwrap_or_clone(made.pattern);
    Ok((pattern, Arc::unwrap_or_clone(made.values).into_vec()))
}

/// T⟨M⟩ = A ⊕.⊗ B.
pub(super) fn by_rows(
    a: &Pattern,
    b: &Pattern,
    mask: Option<&MaskOn<Arc<Pattern>>>,
    at: &Positions,
    meet: &mut dyn FnMut(Meeting) -> Result<()>,
) -> Result<Numbered> {
    let (mut rows, mut sums) = (memory::filled(NAME, a.nrows, Row::new())?, 0);
    for (i, row) in rows.iter_mut().enumerate() {
        for x in a.range(i) {
            let k = a.indices[x] as usize;
            for y in b.range(k) {
                let j = b.indices[y];
                if admits(mask, i, j) {
                    let at = At { i: id(&at.i, i), k: id(&at.k, k), j: id(&at.j, j as usize) };
                    meet(Meeting { a: x, b: y, at, sum: number(row, j, &mut sums) })?;
                }
            }
        }
    }
    collect(a.nrows, b.ncols, rows)
}

/// t⟨m⟩ = A ⊕.⊗ x.
pub(super) fn by_vector(
    a: &Pattern,
    x: &Pattern,
    mask: Option<&MaskOn<Arc<Pattern>>>,
    at: &Positions,
    meet: &mut dyn FnMut(Meeting) -> Result<()>,
) -> Result<Numbered> {
    let (mut t, mut sums) = (Row::new(), 0);
    for i in 0..a.nrows {
        for e in a.range(i) {
            let k = a.indices[e];
            if let Some(y) = x.find(0, k)
                && admits(mask, 0, i as u32)
            {
                let at = At { i: id(&at.i, i), k: id(&at.k, k as usize), j: 0 };
                meet(Meeting { a: e, b: y, at, sum: number(&mut t, i as u32, &mut sums) })?;
            }
        }
    }
    collect(1, a.nrows, vec![t])
}

/// The number of a column's sum; a new one is the next.
fn number(row: &mut Row<usize>, column: u32, sums: &mut usize) -> usize {
    *row.entry(column).or_insert_with(|| {
        *sums += 1;
        *sums - 1
    })
}

/// Aᵀ.
pub(super) fn transposed(a: &Pattern) -> Result<Numbered> {
    let mut rows = memory::filled(NAME, a.ncols, Row::new())?;
    for i in 0..a.nrows {
        for e in a.range(i) {
            rows[a.indices[e] as usize].insert(i as u32, e);
        }
    }
    collect(a.ncols, a.nrows, rows)
}

/// Rows from triplets: `fold(first, e)` where entry e stands at the place of an earlier one.
pub(super) fn built(
    (nrows, ncols): (usize, usize),
    rows: &[u32],
    columns: &[u32],
    refuse: bool,
    fold: &mut dyn FnMut(usize, usize),
) -> Result<std::result::Result<Numbered, usize>> {
    let mut built = memory::filled(NAME, nrows, Row::new())?;
    for (e, (i, j)) in rows.iter().zip(columns).enumerate() {
        match built[*i as usize].get(j) {
            Some(_) if refuse => return Ok(Err(e)),
            Some(first) => fold(*first, e),
            None => {
                built[*i as usize].insert(*j, e);
            }
        }
    }
    collect(nrows, ncols, built).map(Ok)
}
