//! What smoothed aggregation makes of a matrix: aggregates, the tentative prolongator T and P = (I − ω·D⁻¹·A)·T
//! (Vaněk, Mandel, Brezina, 10.1007/BF02238511). A·P and Pᵀ·A·P are the products of algebraic multigrid.
use crate::rows::Rows;

/// ω, of the weighted Jacobi step that smooths T.
const WEIGHT: f64 = 2.0 / 3.0;
/// Row that is in no aggregate yet.
const NONE: u32 = u32::MAX;

/// Every row's aggregate, and how many there are.
pub(crate) struct Aggregates {
    pub(crate) of: Vec<u32>,
    pub(crate) count: u32,
}

/// Whether aggregates make sense: a square matrix whose pattern is its transpose's but for a tenth, without hubs, whose
/// aggregates would be most of the matrix.
pub(crate) fn suits(a: &Rows) -> bool {
    if a.nrows != a.ncols || a.nnz() == 0 {
        return false;
    }
    let t = a.transposed();
    let n = a.nrows as usize;
    let mirrored: u64 = (0..n).map(|r| shared(a.row(r), t.row(r))).sum();
    let longest = (0..n).map(|r| a.row(r).len()).max().unwrap_or(0) as u64;
    10 * mirrored >= 9 * a.nnz() && longest * u64::from(a.nrows) <= 20 * a.nnz()
}

/// How many numbers two ascending lists share.
fn shared(x: &[u32], y: &[u32]) -> u64 {
    let (mut i, mut j, mut n) = (0, 0, 0);
    while i < x.len() && j < y.len() {
        n += u64::from(x[i] == y[j]);
        (i, j) = (i + usize::from(x[i] <= y[j]), j + usize::from(y[j] <= x[i]));
    }
    n
}

/// Greedily, rows in their order, on the pattern of A + Aᵀ: a row none of whose neighbours is taken becomes an aggregate with
/// them all, so that roots are more than two steps apart; rows left join a neighbour's aggregate of that pass, or else make
/// one with the neighbours that are left.
pub(crate) fn aggregate(a: &Rows) -> Aggregates {
    let (t, n) = (a.transposed(), a.nrows as usize);
    let neighbours = |i: usize| a.row(i).iter().chain(t.row(i)).map(|j| *j as usize);
    let (mut of, mut count) = (vec![NONE; n], 0);
    for i in 0..n {
        if of[i] == NONE && neighbours(i).all(|j| of[j] == NONE) {
            neighbours(i).for_each(|j| of[j] = count);
            of[i] = count;
            count += 1;
        }
    }
    let first = of.clone();
    for i in (0..n).filter(|i| first[*i] == NONE) {
        of[i] = neighbours(i).map(|j| first[j]).find(|g| *g != NONE).unwrap_or(NONE);
    }
    for i in 0..n {
        if of[i] == NONE {
            of[i] = count;
            neighbours(i).for_each(|j| of[j] = if of[j] == NONE { count } else { of[j] });
            count += 1;
        }
    }
    Aggregates { of, count }
}

/// P = (I − ω·D⁻¹·A)·T, T with a one in every row at the row's aggregate. D is the diagonal of A; where that is zero, the
/// sum of the row's absolute values; where that is zero too, P's row is T's.
pub(crate) fn prolongator(a: &Rows, aggregates: &Aggregates) -> Rows {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut row: Vec<(u32, f64)> = Vec::new();
    for i in 0..a.nrows as usize {
        let diagonal: f64 = a.entries(i).filter(|(j, _)| *j as usize == i).map(|(_, v)| v).sum();
        let size: f64 = a.entries(i).map(|(_, v)| v.abs()).sum();
        let d = if diagonal != 0.0 { diagonal } else { size };
        row.clear();
        row.push((aggregates.of[i], 1.0));
        if d != 0.0 {
            row.extend(a.entries(i).map(|(j, v)| (aggregates.of[j as usize], -WEIGHT / d * v)));
        }
        row.sort_by_key(|(g, _)| *g);
        for (g, v) in &row {
            match values.last_mut().filter(|_| columns.len() > offsets[i] as usize && columns.last() == Some(g)) {
                Some(sum) => *sum += v,
                None => {
                    columns.push(*g);
                    values.push(*v);
                }
            }
        }
        offsets.push(columns.len() as u64);
    }
    Rows { nrows: a.nrows, ncols: aggregates.count, offsets, columns, values }
}

/// The companion of A.
pub(crate) fn companion(a: &Rows) -> Rows {
    prolongator(a, &aggregate(a))
}
