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

/// Entries of a row by column.
type Row<T> = BTreeMap<u32, T>;

/// Rows one after the other, each filled by `fill`. Behind `dyn`, and rows are filled by loops: what iterators do instead would be
/// compiled for each operation and operator, some twenty functions each.
fn collect<T>(nrows: usize, ncols: usize, fill: &mut dyn FnMut(usize, &mut Row<T>)) -> Result<HostCsr<T>> {
    let mut pattern = Pattern::new(nrows, ncols, memory::with_capacity(NAME, nrows + 1)?, vec![]);
    let mut values = vec![];
    pattern.offsets.push(0);
    for i in 0..nrows {
        let mut row = Row::new();
        fill(i, &mut row);
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

fn row_map<T: Copy>(a: &HostCsr<T>, row: usize) -> Row<T> {
    let (columns, values) = a.row(row);
    let mut row = Row::new();
    for (column, value) in columns.iter().zip(values) {
        row.insert(*column, *value);
    }
    row
}

fn insert<T: Copy>(add: fn(T, T) -> T, row: &mut Row<T>, column: u32, value: T) {
    match row.get_mut(&column) {
        Some(c) => *c = add(*c, value),
        None => _ = row.insert(column, value),
    }
}

/// Columns that are in either.
fn either<A, B>(left: &Row<A>, right: &Row<B>) -> BTreeSet<u32> {
    let mut columns = BTreeSet::new();
    for column in left.keys() {
        columns.insert(*column);
    }
    for column in right.keys() {
        columns.insert(*column);
    }
    columns
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
        collect(a.pattern.nrows, a.pattern.ncols, &mut |i, row| {
            *row = row_map(a, i);
            for (j, y) in row_map(b, i) {
                insert(F::apply, row, j, y);
            }
        })
    }

    fn intersection<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &HostCsr<A>,
        b: &HostCsr<B>,
    ) -> Result<HostCsr<F::Out>> {
        collect(a.pattern.nrows, a.pattern.ncols, &mut |i, row| {
            let right = row_map(b, i);
            for (j, x) in row_map(a, i) {
                if let Some(y) = right.get(&j) {
                    row.insert(j, F::apply(x, *y));
                }
            }
        })
    }

    fn apply<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
        &self,
        a: &HostCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<HostCsr<F::Out>> {
        collect(a.pattern.nrows, a.pattern.ncols, &mut |i, row| {
            for (j, x) in row_map(a, i) {
                row.insert(j, F::apply(x, id(&at.i, i) as i64, id(&at.j, j as usize) as i64, y));
            }
        })
    }

    fn select<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
        &self,
        a: &HostCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<HostCsr<A>> {
        collect(a.pattern.nrows, a.pattern.ncols, &mut |i, row| {
            for (j, x) in row_map(a, i) {
                if F::apply(x, id(&at.i, i) as i64, id(&at.j, j as usize) as i64, y) {
                    row.insert(j, x);
                }
            }
        })
    }

    fn reduce_rows<T: Scalar, M: Monoid<T>>(&self, a: &HostCsr<T>) -> Result<HostCsr<T>> {
        collect(1, a.pattern.nrows, &mut |_, t| {
            for i in 0..a.pattern.nrows {
                for x in a.row(i).1 {
                    insert(M::apply, t, i as u32, *x);
                }
            }
        })
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
        collect(c.pattern.nrows, c.pattern.ncols, &mut |i, row| {
            let (old, new) = (row_map(c, i), row_map(t, i));
            for j in either(&old, &new) {
                let (old, new) = (old.get(&j).copied(), new.get(&j).copied());
                let z = if admits(mask, i, j) {
                    F::combine(old, new)
                } else if replace {
                    None
                } else {
                    old
                };
                if let Some(z) = z {
                    row.insert(j, z);
                }
            }
        })
    }

    fn extract_rows<T: Scalar>(&self, a: &HostCsr<T>, rows: &[u32]) -> Result<HostCsr<T>> {
        collect(rows.len(), a.pattern.ncols, &mut |i, row| {
            if rows[i] != NONE {
                *row = row_map(a, rows[i] as usize);
            }
        })
    }

    fn gather<T: Scalar>(&self, a: &HostCsr<T>, rows: Option<&[u32]>, moves: &Moves) -> Result<HostCsr<T>> {
        let taken = rows.map(|rows| self.extract_rows(a, rows)).transpose()?;
        let a = taken.as_ref().unwrap_or(a);
        let sources = moves.sources(NAME)?;
        collect(a.pattern.nrows, moves.places, &mut |i, row| {
            let from = row_map(a, i);
            for (j, source) in sources.iter().enumerate() {
                if let Some(x) = from.get(source) {
                    row.insert(j as u32, *x);
                }
            }
        })
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
        collect(c.pattern.nrows, c.pattern.ncols, &mut |i, row| {
            let (old, new) = (row_map(c, i), row_map(t, i));
            let is = |within: &Region, j| within.rows.has(i as u32) && within.cols.has(j);
            for j in either(&old, &new) {
                let (c, t) = (old.get(&j).copied(), new.get(&j).copied());
                let z = if is(&how.region, j) { F::combine(c, t) } else { c };
                let z = match (is(&how.reach, j), admits(mask, i, j)) {
                    (true, true) => z,
                    (true, false) if how.replace => None,
                    _ => c,
                };
                if let Some(z) = z {
                    row.insert(j, z);
                }
            }
        })
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
            for (j, x) in row_map(a, i) {
                d[i * n + j as usize] = x;
            }
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
        let made = collect(n, n, &mut |i, row| {
            for j in 0..n {
                if B::apply(d[i * n + j], absent) {
                    row.insert(j as u32, d[i * n + j]);
                }
            }
        })?;
        Ok(Ok(made))
    }

    fn kronecker<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &HostCsr<A>,
        b: &HostCsr<B>,
    ) -> Result<HostCsr<F::Out>> {
        let (nrows, ncols) = (a.pattern.nrows * b.pattern.nrows, a.pattern.ncols * b.pattern.ncols);
        collect(nrows, ncols, &mut |r, row| {
            let (left, right) = (row_map(a, r / b.pattern.nrows), row_map(b, r % b.pattern.nrows));
            for (j, x) in left {
                for (l, y) in &right {
                    row.insert((j as usize * b.pattern.ncols) as u32 + l, F::apply(x, *y));
                }
            }
        })
    }

    fn ewise_union<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &HostCsr<A>,
        alpha: A,
        b: &HostCsr<B>,
        beta: B,
    ) -> Result<HostCsr<F::Out>> {
        collect(a.pattern.nrows, a.pattern.ncols, &mut |i, row| {
            let (left, right) = (row_map(a, i), row_map(b, i));
            for j in either(&left, &right) {
                row.insert(j, F::apply(*left.get(&j).unwrap_or(&alpha), *right.get(&j).unwrap_or(&beta)));
            }
        })
    }

    fn diagonal<T: Scalar>(&self, v: &HostCsr<T>) -> Result<HostCsr<T>> {
        let (n, entries) = (v.pattern.ncols, row_map(v, 0));
        collect(n, n, &mut |i, row| {
            if let Some(x) = entries.get(&(i as u32)) {
                row.insert(i as u32, *x);
            }
        })
    }

    fn scale_rows<V: Scalar, A: Scalar, F: BinaryOp<V, A>>(
        &self,
        v: &HostCsr<V>,
        a: &HostCsr<A>,
    ) -> Result<HostCsr<F::Out>> {
        let factors = row_map(v, 0);
        collect(a.pattern.nrows, a.pattern.ncols, &mut |i, row| {
            let Some(x) = factors.get(&(i as u32)) else { return };
            for (j, y) in row_map(a, i) {
                row.insert(j, F::apply(*x, y));
            }
        })
    }

    fn scale_columns<A: Scalar, V: Scalar, F: BinaryOp<A, V>>(
        &self,
        a: &HostCsr<A>,
        v: &HostCsr<V>,
    ) -> Result<HostCsr<F::Out>> {
        let factors = row_map(v, 0);
        collect(a.pattern.nrows, a.pattern.ncols, &mut |i, row| {
            for (j, x) in row_map(a, i) {
                if let Some(y) = factors.get(&j) {
                    row.insert(j, F::apply(x, *y));
                }
            }
        })
    }

    fn arg_rows<T: Ordered, const LARGEST: bool>(&self, a: &HostCsr<T>, at: &Positions) -> Result<HostCsr<u64>> {
        #[allow(clippy::eq_op)]
        let same = |x: &T, y: &T| x == y || (x != x && y != y);
        collect(1, a.pattern.nrows, &mut |_, t| {
            for i in 0..a.pattern.nrows {
                let values = a.row(i).1.iter().copied();
                let best = if LARGEST { values.reduce(Max::apply) } else { values.reduce(Min::apply) };
                if let Some((j, _)) = best.and_then(|best| row_map(a, i).into_iter().find(|(_, x)| same(x, &best))) {
                    t.insert(i as u32, id(&at.j, j as usize));
                }
            }
        })
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
        let values = collect(nrows, ncols, &mut |i, row| {
            for (place, (_, x)) in sorted(i).iter().enumerate() {
                row.insert(place as u32, *x);
            }
        })?;
        let columns = collect(nrows, ncols, &mut |i, row| {
            for (place, (j, _)) in sorted(i).iter().enumerate() {
                row.insert(place as u32, id(ids, *j as usize));
            }
        })?;
        Ok((values, columns))
    }

    fn concat<T: Scalar>(&self, tiles: &[Vec<&HostCsr<T>>]) -> Result<HostCsr<T>> {
        let nrows = tiles.iter().map(|line| line[0].pattern.nrows).sum();
        let ncols = tiles[0].iter().map(|tile| tile.pattern.ncols).sum();
        let mut lines = tiles.iter().flat_map(|line| (0..line[0].pattern.nrows).map(move |i| (line, i)));
        collect(nrows, ncols, &mut |_, row| {
            let Some((line, i)) = lines.next() else { return };
            let mut start = 0;
            for tile in line {
                for (j, x) in row_map(tile, i) {
                    row.insert(start + j, x);
                }
                start += tile.pattern.ncols as u32;
            }
        })
    }

    fn get<T: Scalar>(&self, a: &HostCsr<T>, row: usize, column: u32) -> Result<Option<T>> {
        Ok(a.pattern.find(row, column).map(|e| a.values[e]))
    }
}
