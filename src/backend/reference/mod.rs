//! One thread, obviously right: the oracle of every test. An ordered map a row, the definitions read aloud.
use super::host::{HostCsr, host_memory};
use super::places::{Assigned, Moves, NONE, Region};
use super::ring::Operators;
use super::{Backend, Body, MaskBody, MaskOn, MxmOptions, PatternBody, Positions, in_front};
use crate::algebra::*;
use crate::device::Device;
use crate::error::Result;
use crate::memory;
use crate::operation::Accumulate;
use crate::storage::axis::Ids;
use crate::storage::pattern::Pattern;
use std::collections::{BTreeMap, BTreeSet};
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

/// Entries of a row by column. One after the other: what `collect` does instead would be compiled for each operation and operator.
fn ordered<T>(entries: impl Iterator<Item = (u32, T)>) -> BTreeMap<u32, T> {
    let mut row = BTreeMap::new();
    for (column, value) in entries {
        row.insert(column, value);
    }
    row
}

/// Rows of (column, value) put together.
fn collect<T>(nrows: usize, ncols: usize, mut rows: impl Iterator<Item = BTreeMap<u32, T>>) -> Result<HostCsr<T>> {
    put_together(nrows, ncols, &mut rows)
}

fn put_together<T>(nrows: usize, ncols: usize, rows: &mut dyn Iterator<Item = BTreeMap<u32, T>>) -> Result<HostCsr<T>> {
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
    ordered(columns.iter().copied().zip(values.iter().copied()))
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
            ordered(row_map(a, i).into_iter().filter_map(|(j, x)| right.get(&j).map(|y| (j, F::apply(x, *y)))))
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
        let rows = (0..a.pattern.nrows).map(|i| ordered(row_map(a, i).into_iter().map(|(j, x)| (j, f(i, j, x)))));
        collect(a.pattern.nrows, a.pattern.ncols, rows)
    }

    fn select<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
        &self,
        a: &HostCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<HostCsr<A>> {
        let keep = |i: usize, j: u32, x: A| F::apply(x, id(&at.i, i) as i64, id(&at.j, j as usize) as i64, y);
        let rows = (0..a.pattern.nrows).map(|i| ordered(row_map(a, i).into_iter().filter(|(j, x)| keep(i, *j, *x))));
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
            ordered(met.into_iter().filter_map(|(j, (old, new))| {
                let z = if admits(mask, i, j) {
                    F::combine(old, new)
                } else if replace {
                    None
                } else {
                    old
                };
                z.map(|z| (j, z))
            }))
        });
        collect(c.pattern.nrows, c.pattern.ncols, rows)
    }

    fn extract_rows<T: Scalar>(&self, a: &HostCsr<T>, rows: &[u32]) -> Result<HostCsr<T>> {
        let row = |i: &u32| if *i == NONE { BTreeMap::new() } else { row_map(a, *i as usize) };
        collect(rows.len(), a.pattern.ncols, rows.iter().map(row))
    }

    fn gather<T: Scalar>(&self, a: &HostCsr<T>, rows: Option<&[u32]>, moves: &Moves) -> Result<HostCsr<T>> {
        let taken = rows.map(|rows| self.extract_rows(a, rows)).transpose()?;
        let a = taken.as_ref().unwrap_or(a);
        let sources = moves.sources(NAME)?;
        let rows = (0..a.pattern.nrows).map(|i| {
            let (from, to) = (row_map(a, i), sources.iter().enumerate());
            ordered(to.filter_map(|(j, source)| from.get(source).map(|x| (j as u32, *x))))
        });
        collect(a.pattern.nrows, moves.places, rows)
    }

    fn filled<T: Scalar>(&self, pattern: &Arc<Pattern>, value: T) -> Result<HostCsr<T>> {
        let values = memory::filled(NAME, pattern.nnz(), value)?;
        Ok(HostCsr::at(pattern.clone(), values))
    }

    fn assign<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &HostCsr<C>,
        t: &HostCsr<T>,
        how: &Assigned,
        mask: Option<&MaskOn<Arc<Pattern>>>,
    ) -> Result<HostCsr<C>> {
        let rows = (0..c.pattern.nrows).map(|i| {
            let (old, new) = (row_map(c, i), row_map(t, i));
            let columns: BTreeSet<u32> = old.keys().chain(new.keys()).copied().collect();
            let is = |within: &Region, j| within.rows.has(i as u32) && within.cols.has(j);
            ordered(columns.into_iter().filter_map(|j| {
                let (c, t) = (old.get(&j).copied(), new.get(&j).copied());
                let z = if is(&how.region, j) { F::combine(c, t) } else { c };
                let z = match (is(&how.reach, j), admits(mask, i, j)) {
                    (true, true) => z,
                    (true, false) if how.replace => None,
                    _ => c,
                };
                z.map(|z| (j, z))
            }))
        });
        collect(c.pattern.nrows, c.pattern.ncols, rows)
    }

    fn closure<T: Scalar, J: BinaryOp<T, T, Out = T>, B: BinaryOp<T, T, Out = bool>>(
        &self,
        a: &HostCsr<T>,
        trivial: T,
        absent: T,
    ) -> Result<std::result::Result<HostCsr<T>, usize>> {
        let n = a.pattern.nrows;
        let mut d = memory::filled(NAME, n.saturating_mul(n), absent)?;
        for i in 0..n {
            row_map(a, i).into_iter().for_each(|(j, x)| d[i * n + j as usize] = x);
            d[i * n + i] = trivial;
        }
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    let through = J::apply(d[i * n + k], d[k * n + j]);
                    if B::apply(through, d[i * n + j]) {
                        d[i * n + j] = through;
                    }
                }
            }
            if let Some(v) = (0..n).find(|v| B::apply(d[v * n + v], trivial)) {
                return Ok(Err(v));
            }
        }
        let row = |i: usize| ordered((0..n).map(|j| (j as u32, d[i * n + j])).filter(|(_, x)| B::apply(*x, absent)));
        collect(n, n, (0..n).map(row)).map(Ok)
    }

    fn kronecker<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &HostCsr<A>,
        b: &HostCsr<B>,
    ) -> Result<HostCsr<F::Out>> {
        let (nrows, ncols) = (a.pattern.nrows * b.pattern.nrows, a.pattern.ncols * b.pattern.ncols);
        let rows = (0..nrows).map(|r| {
            let (left, right) = (row_map(a, r / b.pattern.nrows), row_map(b, r % b.pattern.nrows));
            let at = |j: u32, l: u32| (j as usize * b.pattern.ncols) as u32 + l;
            ordered(left.iter().flat_map(|(j, x)| right.iter().map(move |(l, y)| (at(*j, *l), F::apply(*x, *y)))))
        });
        collect(nrows, ncols, rows)
    }

    fn ewise_union<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &HostCsr<A>,
        alpha: A,
        b: &HostCsr<B>,
        beta: B,
    ) -> Result<HostCsr<F::Out>> {
        let rows = (0..a.pattern.nrows).map(|i| {
            let (left, right) = (row_map(a, i), row_map(b, i));
            let columns: BTreeSet<u32> = left.keys().chain(right.keys()).copied().collect();
            let value = |j| F::apply(*left.get(j).unwrap_or(&alpha), *right.get(j).unwrap_or(&beta));
            ordered(columns.iter().map(|j| (*j, value(j))))
        });
        collect(a.pattern.nrows, a.pattern.ncols, rows)
    }

    fn diagonal<T: Scalar>(&self, v: &HostCsr<T>) -> Result<HostCsr<T>> {
        let (n, entries) = (v.pattern.ncols, row_map(v, 0));
        collect(n, n, (0..n as u32).map(|i| ordered(entries.get(&i).map(|x| (i, *x)).into_iter())))
    }

    fn scale_rows<V: Scalar, A: Scalar, F: BinaryOp<V, A>>(
        &self,
        v: &HostCsr<V>,
        a: &HostCsr<A>,
    ) -> Result<HostCsr<F::Out>> {
        let factors = row_map(v, 0);
        let rows = (0..a.pattern.nrows).map(|i| match factors.get(&(i as u32)) {
            Some(x) => ordered(row_map(a, i).into_iter().map(|(j, y)| (j, F::apply(*x, y)))),
            None => BTreeMap::new(),
        });
        collect(a.pattern.nrows, a.pattern.ncols, rows)
    }

    fn scale_columns<A: Scalar, V: Scalar, F: BinaryOp<A, V>>(
        &self,
        a: &HostCsr<A>,
        v: &HostCsr<V>,
    ) -> Result<HostCsr<F::Out>> {
        let factors = row_map(v, 0);
        let rows = (0..a.pattern.nrows).map(|i| {
            let row = row_map(a, i).into_iter();
            ordered(row.filter_map(|(j, x)| factors.get(&j).map(|y| (j, F::apply(x, *y)))))
        });
        collect(a.pattern.nrows, a.pattern.ncols, rows)
    }

    fn arg_rows<T: Ordered, const LARGEST: bool>(&self, a: &HostCsr<T>, at: &Positions) -> Result<HostCsr<u64>> {
        let mut t = BTreeMap::new();
        for i in 0..a.pattern.nrows {
            let row = row_map(a, i);
            let best = if LARGEST {
                row.values().copied().reduce(Max::apply)
            } else {
                row.values().copied().reduce(Min::apply)
            };
            #[allow(clippy::eq_op)]
            let same = |x: &T, y: &T| x == y || (x != x && y != y);
            if let Some((j, _)) = best.and_then(|best| row.iter().find(|(_, x)| same(x, &best))) {
                t.insert(i as u32, id(&at.j, *j as usize));
            }
        }
        collect(1, a.pattern.nrows, std::iter::once(t))
    }

    fn sort_rows<T: Scalar, F: BinaryOp<T, T, Out = bool>>(
        &self,
        a: &HostCsr<T>,
        ids: &Ids,
    ) -> Result<(HostCsr<T>, HostCsr<u64>)> {
        let sorted = |i: usize| {
            // Each behind all that it does not come before.
            let mut row: Vec<(u32, T)> = Vec::new();
            for (j, x) in row_map(a, i) {
                let behind = row.iter().rposition(|(_, y)| !in_front::<T, F>(x, *y)).map_or(0, |p| p + 1);
                row.insert(behind, (j, x));
            }
            row
        };
        let (nrows, ncols) = (a.pattern.nrows, a.pattern.ncols);
        let values = (0..nrows).map(|i| ordered((0..).zip(sorted(i).into_iter().map(|e| e.1))));
        let values = collect(nrows, ncols, values)?;
        let columns = (0..nrows).map(|i| ordered((0..).zip(sorted(i).into_iter().map(|e| id(ids, e.0 as usize)))));
        Ok((values, collect(nrows, ncols, columns)?))
    }

    fn concat<T: Scalar>(&self, tiles: &[Vec<&HostCsr<T>>]) -> Result<HostCsr<T>> {
        let mut rows = vec![];
        for line in tiles {
            for i in 0..line[0].pattern.nrows {
                let (mut row, mut start) = (BTreeMap::new(), 0);
                for tile in line {
                    row.extend(row_map(tile, i).into_iter().map(|(j, x)| (start + j, x)));
                    start += tile.pattern.ncols as u32;
                }
                rows.push(row);
            }
        }
        let ncols = tiles[0].iter().map(|t| t.pattern.ncols).sum();
        collect(rows.len(), ncols, rows.into_iter())
    }

    fn get<T: Scalar>(&self, a: &HostCsr<T>, row: usize, column: u32) -> Result<Option<T>> {
        Ok(a.pattern.find(row, column).map(|e| a.values[e]))
    }
}
