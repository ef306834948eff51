//! Every operation, on one matrix and what goes with it; products of matrices are `Case`'s but for one.
use crate::{LONGEST, Outcome, make, suits};
use oplus::generate::Random;
use oplus::interop::CsrParts;
use oplus::prelude::*;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A matrix and the other operands, as files for the other side too.
pub struct Operands {
    coo: Coo<f64>,
    shuffled: Coo<f64>,
    a: Matrix<f64>,
    /// Half of A's positions, and others near them.
    b: Matrix<f64>,
    /// 2 × 2 with three entries.
    small: Matrix<f64>,
    /// As long as A is wide, as A is high: full, or with an entry wherever A has one.
    wide: Vector<f64>,
    high: Vector<f64>,
    /// A tenth of the rows and columns that have entries, and some 32 of them.
    lists: [Vec<u64>; 4],
    /// The middle half of each dimension.
    middle: [(u64, u64); 2],
    /// A row and a column with entries.
    line: (u64, u64),
    region: Matrix<f64>,
    listed: Matrix<f64>,
    few: Matrix<f64>,
    tiles: Vec<Vec<Matrix<f64>>>,
    /// Half of B, which masks.
    mask: Matrix<f64>,
    /// Half of `wide`, and what of it is at the listed columns.
    half: Vector<f64>,
    part: Vector<f64>,
    /// Of A's entries and of B's a sixteenth in any order, and of B's first ones as many in theirs.
    gone: Coo<f64>,
    set: Coo<f64>,
    appended: Coo<f64>,
}

/// The same in any order.
fn shuffled(coo: &Coo<f64>, random: &mut Random) -> Coo<f64> {
    let mut shuffled = coo.clone();
    for e in (1..coo.len()).rev() {
        let other = random.below(e as u64 + 1) as usize;
        shuffled.rows.swap(e, other);
        shuffled.columns.swap(e, other);
        shuffled.values.swap(e, other);
    }
    shuffled
}

/// A sixteenth of them, those in front.
fn first(coo: &Coo<f64>) -> Coo<f64> {
    let n = (coo.len() / 16).max(1);
    let (rows, columns, values) = (coo.rows[..n].to_vec(), coo.columns[..n].to_vec(), coo.values[..n].to_vec());
    Coo { rows, columns, values, ..Coo::new(coo.nrows, coo.ncols) }
}

fn fresh_vector(x: &Vector<f64>) -> Result<Vector<f64>> {
    Vector::build(x.len(), &x.entries()?)
}

/// One that nobody else holds.
fn fresh(a: &Matrix<f64>) -> Result<Matrix<f64>> {
    let a = a.csr_parts()?;
    Matrix::from_csr_parts(CsrParts {
        nrows: a.nrows(),
        ncols: a.ncols(),
        row_ids: a.row_ids().map(<[u64]>::to_vec),
        column_ids: a.column_ids().map(<[u64]>::to_vec),
        offsets: a.offsets().to_vec(),
        indices: a.indices().to_vec(),
        values: a.values().to_vec(),
    })
}

fn some(random: &mut Random, used: &[u64], share: u64) -> Vec<u64> {
    used.iter().copied().filter(|_| random.below(share) == 0).collect()
}

impl Operands {
    pub fn new(name: &str, data: Option<&Path>) -> Outcome<Self> {
        let made = made(name, data)?;
        suits(name, &made, MOST)?;
        let a: Matrix<f64> = Matrix::build_with(&made, First)?;
        drop(made);
        let coo = a.to_coo()?;
        let (mut random, n) = (Random::new(5, 1), coo.len());
        let mut near = Coo::new(coo.nrows, coo.ncols);
        for e in 0..n {
            let column = if random.below(2) == 0 { coo.columns[e] } else { coo.columns[(e + 1) % n] };
            near.push(coo.rows[e], column, 1.0 - random.unit());
        }
        let b = Matrix::build_with(&near, First)?;
        let mixed = shuffled(&coo, &mut random);
        let used = |mut ids: Vec<u64>| {
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        let (rows, columns) = (used(coo.rows.clone()), used(coo.columns.clone()));
        let mut vector = |n: u64, used: &[u64]| {
            let ids: Vec<u64> = if n <= LONGEST { (0..n).collect() } else { used.to_vec() };
            Vector::build(n, &ids.iter().map(|i| (*i, 1.0 - random.unit())).collect::<Vec<_>>())
        };
        let (wide, high) = (vector(coo.ncols, &columns)?, vector(coo.nrows, &rows)?);
        let few = |ids: &[u64]| ids.iter().copied().step_by((ids.len() / 32).max(1)).take(32).collect();
        let mut random = Random::new(5, 2);
        let lists = [some(&mut random, &rows, 10), some(&mut random, &columns, 10), few(&rows), few(&columns)];
        let middle = [coo.nrows, coo.ncols].map(|n| (n / 4, n / 4 * 3));
        let [(r, s), (t, u)] = middle;
        let region = extract(&b, r..s, t..u).eval()?;
        let listed = extract(&b, &lists[0][..], &lists[1][..]).eval()?;
        let few = extract(&a, &lists[2][..], &lists[3][..]).eval()?;
        let small = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 0.5), (1, 1, 3.0)])?;
        let line = (coo.rows[n / 2], coo.columns[n / 2]);
        let (m, k) = (coo.nrows, coo.ncols);
        let tiles = split(&a, &[m / 2, m - m / 2], &[k / 2, k - k / 2])?;
        let mask = select(&b, ValueGt, 0.5).eval()?;
        let half = wide.entries()?.into_iter().filter(|_| random.below(2) == 0).collect::<Vec<_>>();
        let half = Vector::build(wide.len(), &half)?;
        let part = extract_vector(&half, &lists[1][..]).eval()?;
        let near = b.to_coo()?;
        let (gone, set, appended) = (first(&mixed), first(&shuffled(&near, &mut random)), first(&near));
        let shuffled = mixed;
        Ok(Self {
            coo,
            shuffled,
            a,
            b,
            small,
            wide,
            high,
            lists,
            middle,
            line,
            region,
            listed,
            few,
            tiles,
            mask,
            half,
            part,
            gone,
            set,
            appended,
        })
    }

    pub fn reply(&self) -> String {
        let numbers = [self.a.nrows(), self.a.ncols(), self.a.nvals(), self.line.0, self.line.1];
        numbers.map(|n| n.to_string()).join(" ")
    }

    /// Words of eight bytes: rows, columns, entries; the rows, the columns, the values of all.
    pub fn write(&self, directory: &Path) -> Outcome {
        let put = |name: &str, coo: &Coo<f64>| put(directory.join(name), coo);
        put("a.coo", &self.coo)?;
        put("shuffled.coo", &self.shuffled)?;
        put("b.coo", &self.b.to_coo()?)?;
        put("small.coo", &self.small.to_coo()?)?;
        put("region.coo", &self.region.to_coo()?)?;
        put("listed.coo", &self.listed.to_coo()?)?;
        put("few.coo", &self.few.to_coo()?)?;
        put("mask.coo", &self.mask.to_coo()?)?;
        put("gone.coo", &self.gone)?;
        put("set.coo", &self.set)?;
        put("appended.coo", &self.appended)?;
        let vectors = [("wide", &self.wide), ("high", &self.high), ("half", &self.half), ("part", &self.part)];
        for (name, x) in vectors {
            let mut coo = Coo::new(1, x.len());
            x.entries()?.into_iter().for_each(|(i, v)| coo.push(0, i, v));
            put(&format!("{name}.coo"), &coo)?;
        }
        for (name, list) in ["rows", "columns", "few_rows", "few_columns"].iter().zip(&self.lists) {
            let words: Vec<u8> = list.iter().flat_map(|i| i.to_le_bytes()).collect();
            std::fs::write(directory.join(format!("{name}.list")), words)?;
        }
        Ok(())
    }

    pub fn run(&self, operation: &str, count: usize) -> Outcome<String> {
        let (a, b, x, y) = (&self.a, &self.b, &self.wide, &self.high);
        let [rows, columns, few_rows, few_columns] = &self.lists;
        let [(r, s), (t, u)] = self.middle;
        let (row, column) = self.line;
        let (m, n) = a.shape();
        // What is assigned to is copied before the time begins.
        let into = |f: &dyn Fn(&mut Matrix<f64>) -> Result<()>| {
            let changed = |mut c: Matrix<f64>| f(&mut c).map(|()| c);
            timed(count, || fresh(a), |c| Ok(changed(c)?), matrix)
        };
        let into_vector = |f: &dyn Fn(&mut Vector<f64>) -> Result<()>| {
            let changed = |mut c: Vector<f64>| f(&mut c).map(|()| c);
            timed(count, || fresh_vector(x), |c| Ok(changed(c)?), vector)
        };
        let mask = || self.mask.structure();
        let made = |f: &dyn Fn() -> Result<Matrix<f64>>| timed(count, || Ok(()), |()| Ok(f()?), matrix);
        let vector_made = |f: &dyn Fn() -> Result<Vector<f64>>| timed(count, || Ok(()), |()| Ok(f()?), vector);
        let number = |f: &dyn Fn() -> Result<f64>| timed(count, || Ok(()), |()| Ok(f()?), |x| Ok((0, *x, *x)));
        match operation {
            "ewise_add" => made(&|| ewise_add(a, b, Plus).eval()),
            "ewise_add masked" => into(&|c| ewise_add(a, b, Plus).mask(&mask()).replace().into(c)),
            "apply masked" => into(&|c| apply(a, Negate).mask(&mask()).replace().into(c)),
            "ewise_mult" => made(&|| ewise_mult(a, b, Times).eval()),
            "ewise_union" => made(&|| ewise_union(a, 2.0, b, 3.0, Minus).eval()),
            "apply" => made(&|| apply(a, Negate).eval()),
            "apply bound" => made(&|| apply_second(a, Times, 2.5).eval()),
            "apply index" => timed(
                count,
                || Ok(()),
                |()| Ok(apply_index(a, RowIndex, 1i64).eval()?),
                |c: &Matrix<i64>| matrix(&c.cast()?),
            ),
            "cast" => timed(count, || Ok(()), |()| Ok(a.cast::<f32>()?), |c| matrix(&c.cast()?)),
            "select" => made(&|| select(a, ValueGt, 0.5).eval()),
            "tril" => made(&|| tril(a, 0).eval()),
            "triu" => made(&|| triu(a, 1).eval()),
            "reduce rows" => vector_made(&|| reduce_rows(a, Plus).eval()),
            "reduce columns" => vector_made(&|| reduce_rows(&a.transposed(), Plus).eval()),
            "reduce" => number(&|| reduce(a, Plus)),
            "reduce max" => number(&|| reduce(a, Max)),
            "transpose" => made(&|| transpose(a).eval()),
            "kronecker" => made(&|| kronecker(a, &self.small, Times).eval()),
            "extract range" => made(&|| extract(a, r..s, t..u).eval()),
            "extract list" => made(&|| extract(a, &rows[..], &columns[..]).eval()),
            "extract few" => made(&|| extract(a, &few_rows[..], &few_columns[..]).eval()),
            "extract row" => vector_made(&|| extract_row(a, row, ..).eval()),
            "extract column" => vector_made(&|| extract_column(a, .., column).eval()),
            "assign range" => into(&|c| assign(&self.region, r..s, t..u).into(c)),
            "assign list" => into(&|c| assign(&self.listed, &rows[..], &columns[..]).into(c)),
            "assign few" => into(&|c| assign(&self.few, &few_rows[..], &few_columns[..]).into(c)),
            "assign scalar" => into(&|c| assign_scalar(7.5, &few_rows[..], &few_columns[..]).into(c)),
            "assign row" => into(&|c| assign_row(x, row, ..).into(c)),
            "assign column" => into(&|c| assign_column(y, .., column).into(c)),
            "subassign row" => into(&|c| subassign_row(x, row, ..).accumulate(Plus).into(c)),
            "subassign column" => into(&|c| subassign_column(y, .., column).accumulate(Plus).into(c)),
            "subassign scalar" => {
                into(&|c| subassign_scalar(7.5, &few_rows[..], &few_columns[..]).accumulate(Plus).into(c))
            }
            "subassign range" => into(&|c| subassign(&self.region, r..s, t..u).accumulate(Plus).into(c)),
            "accumulate" => into(&|c| apply(b, Identity).accumulate(Plus).into(c)),
            "build" => made(&|| Matrix::build_with(&self.shuffled, Plus)),
            "build sorted" => made(&|| Matrix::build_with(&self.coo, Plus)),
            "resize down" => into(&|c| c.resize(m / 2, n / 2)),
            "resize up" => into(&|c| c.resize(m * 2, n * 2)),
            "diag" => made(&|| diag(x, 0).eval()),
            "diag extract" => vector_made(&|| diag_extract(a, 0).eval()),
            "concat" => {
                let grid: Vec<Vec<&Matrix<f64>>> = self.tiles.iter().map(|row| row.iter().collect()).collect();
                made(&|| concat(&grid))
            }
            "split" => {
                let (heights, widths) = ([m / 2, m - m / 2], [n / 2, n - n / 2]);
                timed(
                    count,
                    || Ok(()),
                    |()| Ok(split(a, &heights, &widths)?),
                    |tiles| {
                        let all: Result<Vec<_>> = tiles.iter().flatten().map(matrix).collect();
                        Ok(all?.iter().fold((0, 0.0, 0.0), |x, y| (x.0 + y.0, x.1 + y.1, x.2 + y.2)))
                    },
                )
            }
            "sort" => timed(
                count,
                || Ok(()),
                |()| Ok(sort(a, Lt)?),
                |(values, columns)| {
                    let (v, c) = (matrix(values)?, matrix(&columns.cast()?)?);
                    Ok((v.0 + c.0, v.1 + c.1, v.2 + c.2))
                },
            ),
            "scale rows" => made(&|| scale_rows(y, a, Times).eval()),
            "scale columns" => made(&|| scale_columns(a, x, Times).eval()),
            "argmin rows" => {
                timed(count, || Ok(()), |()| Ok(argmin_rows(a).eval()?), |c: &Vector<u64>| vector(&c.cast()?))
            }
            "get elements" => number(&|| {
                let rows = self.gone.rows.iter().chain(&self.set.rows);
                let columns = self.gone.columns.iter().chain(&self.set.columns);
                rows.zip(columns).try_fold(0.0, |sum, (i, j)| Ok(sum + a.get(*i, *j)?.unwrap_or(0.0)))
            }),
            "set elements" => into(&|c| c.update(&updates(&self.set)?)),
            "append elements" => timed(
                count,
                || Matrix::new(m, n),
                |mut c: Matrix<f64>| {
                    c.update(&updates(&self.appended)?)?;
                    Ok(c)
                },
                matrix,
            ),
            "remove elements" => into(&|c| {
                let mut gone = Updates::new();
                self.gone.rows.iter().zip(&self.gone.columns).try_for_each(|(i, j)| gone.remove(*i, *j))?;
                c.update(&gone)
            }),
            "tuples" => timed(
                count,
                || Ok(()),
                |()| Ok(a.to_coo()?),
                |coo| {
                    let all = coo.rows.iter().zip(&coo.columns).zip(&coo.values);
                    Ok(all.fold((0, 0.0, 0.0), |sum, ((i, j), v)| (sum.0 + 1, sum.1 + v, sum.2 + v * weight(*i, *j))))
                },
            ),
            "vector ewise_add" => vector_made(&|| ewise_add(x, &self.half, Plus).eval()),
            "vector ewise_mult" => vector_made(&|| ewise_mult(x, &self.half, Times).eval()),
            "vector apply" => vector_made(&|| apply(x, Negate).eval()),
            "vector select" => vector_made(&|| select(x, ValueGt, 0.5).eval()),
            "vector reduce" => number(&|| reduce(x, Plus)),
            "vector extract" => vector_made(&|| extract_vector(x, &columns[..]).eval()),
            "vector assign" => into_vector(&|c| assign_vector(&self.part, &columns[..]).into(c)),
            "vector assign scalar" => into_vector(&|c| assign_scalar_vector(7.5, &columns[..]).into(c)),
            "mxm" => made(&|| mxm(a, a).transpose_b().eval()),
            "mxv" => vector_made(&|| mxv(a, x).eval()),
            "vxm" => vector_made(&|| vxm(y, a).eval()),
            _ => Err(format!("no operation {operation}").into()),
        }
    }
}

fn updates(coo: &Coo<f64>) -> Result<Updates<f64>> {
    let mut updates = Updates::new();
    let mut all = coo.rows.iter().zip(&coo.columns).zip(&coo.values);
    all.try_for_each(|((i, j), v)| updates.set(*i, *j, *v))?;
    Ok(updates)
}

/// Rows and columns at most: of a file, and of `hyper`.
const MOST: u64 = 1 << 40;

/// `hyper-20`: 2²⁰ entries in a quarter as many rows and columns of 2⁴⁰; others as for products.
fn made(name: &str, data: Option<&Path>) -> Outcome<Coo<f64>> {
    let mut random = Random::new(3, 9);
    let mut coo = match name.split_once('-') {
        Some(("hyper", scale)) => {
            let scale = scale.parse::<u32>().ok().filter(|scale| (2..=40).contains(scale));
            let entries = 1u64 << scale.ok_or_else(|| format!("{name}: a scale is from 2 to 40"))?;
            let mut coo = Coo { rows: room(name, entries)?, columns: room(name, entries)?, ..Coo::new(MOST, MOST) };
            coo.values = room(name, entries)?;
            let mut ids = || -> Outcome<Vec<u64>> {
                let mut ids = room(name, entries / 4)?;
                ids.extend((0..entries / 4).map(|_| random.below(MOST)));
                Ok(ids)
            };
            let (rows, columns) = (ids()?, ids()?);
            for _ in 0..entries {
                let [i, j] = [0; 2].map(|_: u64| random.below(entries / 4) as usize);
                coo.push(rows[i], columns[j], 0.0);
            }
            coo
        }
        _ => return make(name, data),
    };
    coo.values.iter_mut().for_each(|v| *v = 1.0 - random.unit());
    Ok(coo)
}

/// For so many, if there is as much memory.
fn room<T>(name: &str, n: u64) -> Outcome<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(usize::try_from(n)?).map_err(|e| format!("{name}: {e}"))?;
    Ok(room)
}

fn put(path: PathBuf, coo: &Coo<f64>) -> Outcome {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    for word in [coo.nrows, coo.ncols, coo.len() as u64].iter().chain(&coo.rows).chain(&coo.columns) {
        file.write_all(&word.to_le_bytes())?;
    }
    coo.values.iter().try_for_each(|v| file.write_all(&v.to_le_bytes()))?;
    Ok(file.flush()?)
}

/// Entries, the sum of values and one in which every value has a weight by its place.
type Measure = (u64, f64, f64);

fn weight(i: u64, j: u64) -> f64 {
    (i.wrapping_mul(7).wrapping_add(j.wrapping_mul(13)) % 1009) as f64
}

fn matrix(c: &Matrix<f64>) -> Result<Measure> {
    Ok(c.iter()?.fold((0, 0.0, 0.0), |sum, (i, j, v)| (sum.0 + 1, sum.1 + v, sum.2 + v * weight(i, j))))
}

fn vector(c: &Vector<f64>) -> Result<Measure> {
    Ok(c.entries()?.iter().fold((0, 0.0, 0.0), |sum, (i, v)| (sum.0 + 1, sum.1 + v, sum.2 + v * weight(*i, 0))))
}

fn timed<P, C>(
    count: usize,
    prepare: impl Fn() -> Result<P>,
    run: impl Fn(P) -> Outcome<C>,
    measure: impl Fn(&C) -> Result<Measure>,
) -> Outcome<String> {
    let first = |c: &C| {
        let (entries, sum, weighted) = measure(c)?;
        Ok(format!("{entries} {sum:e} {weighted:e}"))
    };
    crate::timed(count, prepare, run, first)
}
