//! One thread, obviously right: the oracle of every test. An ordered map a row, the definitions read aloud.
use super::host::{HostCsr, host_memory};
use super::ring::Operators;
use super::{Backend, Body, MaskBody, MaskOn, MxmOptions, PatternBody, Positions};
use crate::algebra::*;
use crate::device::Device;
use crate::error::Result;
use crate::memory;
use crate::operation::Accumulate;
use crate::storage::axis::Ids;
use crate::storage::pattern::Pattern;
use std::collections::BTreeMap;
use std::sync::Arc;

mod limited;
mod product;

/// The oracle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference;

/// What ran out of memory; the maps of a row are many small allocations, which Rust does not let fail.
const NAME: &str = "reference";

impl Reference {
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    const DEVICE: Device = Device::Reference;
}

fn id(ids: &Ids, place: usize) -> u64 {
    ids.as_ref().map_or(place as u64, |ids| ids[place])
}

fn admits(mask: Option<&MaskOn<Arc<Pattern>>>, row: usize, column: u32) -> bool {
    mask.is_none_or(|m| m.pattern.find(row, column).is_some() != m.complement)
}

/// Rows of (column, value) put together.
fn collect<T>(nrows: usize, ncols: usize, rows: impl Iterator<Item = BTreeMap<u32, T>>) -> Result<HostCsr<T>> {
    let mut pattern = Pattern::new(nrows, ncols, memory::with_capacity(NAME, nrows + 1)?, vec![]);
    let mut values = vec![];
    pattern.offsets.push(0);
    for row in rows {
        memory::reserve(NAME, &mut pattern.indices, row.len())?;
        memory::reserve(NAME, &mut values, row.len())?;
        for (column, value) in row {
            pattern.indices.push(column);
            values.push(value);
        }
        pattern.offsets.push(pattern.indices.len() as u64);
    }
    Ok(HostCsr::new(pattern, values))
}

fn row_map<T: Copy>(a: &HostCsr<T>, row: usize) -> BTreeMap<u32, T> {
    let (columns, values) = a.row(row);
    columns.iter().copied().zip(values.iter().copied()).collect()
}

fn insert<T: Copy>(add: fn(T, T) -> T, row: &mut BTreeMap<u32, T>, column: u32, value: T) {
    row.entry(column).and_modify(|c| *c = add(*c, value)).or_insert(value);
}

pub(crate) fn mxm<A: Scalar, B: Scalar, C: Scalar>(
    operators: &Operators<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: Option<&MaskOn<Arc<Pattern>>>,
    at: &Positions,
    options: &MxmOptions,
) -> Result<HostCsr<C>> {
    if let Some(limit) = options.memory_limit {
        return limited::within(limit, operators, a, b, mask, at, options.transposed_b);
    }
    let turned = if options.transposed_b { Some(Reference.transpose(b)?) } else { None };
    let b = turned.as_ref().unwrap_or(b);
    operators.summed(a, b, &mut |meet| product::by_rows(&a.pattern, &b.pattern, mask, at, meet))
}

pub(crate) fn mxv<A: Scalar, X: Scalar, C: Scalar>(
    operators: &Operators<A, X, C>,
    a: &HostCsr<A>,
    x: &HostCsr<X>,
    mask: Option<&MaskOn<Arc<Pattern>>>,
    at: &Positions,
    _: &MxmOptions,
) -> Result<HostCsr<C>> {
    operators.summed(a, x, &mut |meet| product::by_vector(&a.pattern, &x.pattern, mask, at, meet))
}

pub(crate) fn vxm<X: Scalar, A: Scalar, C: Scalar>(
    operators: &Operators<X, A, C>,
    x: &HostCsr<X>,
    a: &HostCsr<A>,
    mask: Option<&MaskOn<Arc<Pattern>>>,
    at: &Positions,
    _: &MxmOptions,
) -> Result<HostCsr<C>> {
    operators.summed(x, a, &mut |meet| product::by_rows(&x.pattern, &a.pattern, mask, at, meet))
}

/// Aᵀ.
pub(crate) fn transpose<T: Copy>(a: &Pattern, values: &[T]) -> Result<(Pattern, Vec<T>)> {
    let (pattern, order) = product::transposed(a)?;
    Ok((pattern, product::gathered(values, &order)?))
}

impl Backend for Reference {
    host_memory!();

    fn union<T: Scalar, F: BinaryOp<T, T, Out = T>>(&self, a: &HostCsr<T>, b: &HostCsr<T>) -> Result<HostCsr<T>> {
        let rows = (0..a.pattern.nrows).map(|i| {
            let mut row = row_map(a, i);
            row_map(b, i).into_iter().for_each(|(j, y)| insert(F::apply, &mut row, j, y));
            row
        });
        collect(a.pattern.nrows, a.pattern.ncols, rows)
    }

    fn intersection<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &HostCsr<A>,
        b: &HostCsr<B>,
    ) -> Result<HostCsr<F::Out>> {
        let rows = (0..a.pattern.nrows).map(|i| {
            let right = row_map(b, i);
            row_map(a, i).into_iter().filter_map(|(j, x)| right.get(&j).map(|y| (j, F::apply(x, *y)))).collect()
        });
        collect(a.pattern.nrows, a.pattern.ncols, rows)
    }

    fn apply<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
        &self,
        a: &HostCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<HostCsr<F::Out>> {
        let f = |i: usize, j: u32, x: A| F::apply(x, id(&at.i, i) as i64, id(&at.j, j as usize) as i64, y);
        let rows = (0..a.pattern.nrows).map(|i| row_map(a, i).into_iter().map(|(j, x)| (j, f(i, j, x))).collect());
        collect(a.pattern.nrows, a.pattern.ncols, rows)
    }

    fn select<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
        &self,
        a: &HostCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<HostCsr<A>> {
        let keep = |i: usize, j: u32, x: A| F::apply(x, id(&at.i, i) as i64, id(&at.j, j as usize) as i64, y);
        let rows = (0..a.pattern.nrows).map(|i| row_map(a, i).into_iter().filter(|(j, x)| keep(i, *j, *x)).collect());
        collect(a.pattern.nrows, a.pattern.ncols, rows)
    }

    fn reduce_rows<T: Scalar, M: Monoid<T>>(&self, a: &HostCsr<T>) -> Result<HostCsr<T>> {
        let mut t = BTreeMap::new();
        for i in 0..a.pattern.nrows {
            a.row(i).1.iter().for_each(|x| insert(M::apply, &mut t, i as u32, *x));
        }
        collect(1, a.pattern.nrows, std::iter::once(t))
    }

    fn reduce<T: Scalar, M: Monoid<T>>(&self, a: &HostCsr<T>) -> Result<Option<T>> {
        Ok(a.values.iter().copied().reduce(M::apply))
    }

    fn transpose<T: Scalar>(&self, a: &HostCsr<T>) -> Result<HostCsr<T>> {
        transpose(&a.pattern, &a.values).map(|(pattern, values)| HostCsr::new(pattern, values))
    }

    fn build<T: Scalar, F: BinaryOp<T, T, Out = T>>(
        &self,
        (nrows, ncols): (usize, usize),
        rows: &[u32],
        columns: &[u32],
        values: &[T],
        refuse: bool,
    ) -> Result<std::result::Result<HostCsr<T>, usize>> {
        // A place's value is the first entry's, folded with those of later entries.
        let mut folded = memory::copied(NAME, values)?;
        let built = product::built((nrows, ncols), rows, columns, refuse, &mut |first, e| {
            folded[first] = F::apply(folded[first], values[e]);
        })?;
        let (pattern, order) = match built {
            Ok(built) => built,
            Err(second) => return Ok(Err(second)),
        };
        Ok(Ok(HostCsr::new(pattern, product::gathered(&folded, &order)?)))
    }

    fn write<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &HostCsr<C>,
        t: &HostCsr<T>,
        mask: Option<&MaskOn<Arc<Pattern>>>,
        replace: bool,
    ) -> Result<HostCsr<C>> {
        let rows = (0..c.pattern.nrows).map(|i| {
            let mut met: BTreeMap<u32, (Option<C>, Option<T>)> = BTreeMap::new();
            row_map(c, i).into_iter().for_each(|(j, v)| met.entry(j).or_default().0 = Some(v));
            row_map(t, i).into_iter().for_each(|(j, v)| met.entry(j).or_default().1 = Some(v));
            met.into_iter()
                .filter_map(|(j, (old, new))| {
                    let z = if admits(mask, i, j) {
                        F::combine(old, new)
                    } else if replace {
                        None
                    } else {
                        old
                    };
                    z.map(|z| (j, z))
                })
                .collect()
        });
        collect(c.pattern.nrows, c.pattern.ncols, rows)
    }

    fn extract_rows<T: Scalar>(&self, a: &HostCsr<T>, rows: &[u32]) -> Result<HostCsr<T>> {
        collect(rows.len(), a.pattern.ncols, rows.iter().map(|i| row_map(a, *i as usize)))
    }

    fn get<T: Scalar>(&self, a: &HostCsr<T>, row: usize, column: u32) -> Result<Option<T>> {
        Ok(a.pattern.find(row, column).map(|e| a.values[e]))
    }
}
