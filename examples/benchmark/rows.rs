//! Compressed rows on the host: what aggregates are found in and what cuSPARSE is given.
use crate::Outcome;
use oplus::prelude::*;

/// Columns ascend in every row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rows {
    pub(crate) nrows: u32,
    pub(crate) ncols: u32,
    pub(crate) offsets: Vec<u64>,
    pub(crate) columns: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

impl Rows {
    /// Of several entries at one position the first is taken.
    pub(crate) fn of(coo: &Coo<f64>) -> Outcome<Rows> {
        Self::read(&Matrix::<f64>::build_with(coo, First)?)
    }
    /// The entries of a matrix anywhere.
    pub(crate) fn read(a: &Matrix<f64>) -> Outcome<Rows> {
        let coo = a.to_coo()?;
        let (nrows, ncols) = (u32::try_from(coo.nrows)?, u32::try_from(coo.ncols)?);
        let mut offsets = vec![0u64; nrows as usize + 1];
        coo.rows.iter().for_each(|r| offsets[*r as usize + 1] += 1);
        (0..nrows as usize).for_each(|r| offsets[r + 1] += offsets[r]);
        let columns = coo.columns.iter().map(|c| *c as u32).collect();
        Ok(Rows { nrows, ncols, offsets, columns, values: coo.values })
    }
    /// As a matrix of this library on the host.
    pub(crate) fn matrix(&self) -> Result<Matrix<f64>> {
        let (nrows, ncols) = (self.nrows.into(), self.ncols.into());
        Matrix::from_csr(nrows, ncols, self.offsets.clone(), self.columns.clone(), self.values.clone())
    }
    pub(crate) fn nnz(&self) -> u64 {
        self.columns.len() as u64
    }
    fn range(&self, r: usize) -> std::ops::Range<usize> {
        self.offsets[r] as usize..self.offsets[r + 1] as usize
    }
    /// Columns of row r.
    pub(crate) fn row(&self, r: usize) -> &[u32] {
        &self.columns[self.range(r)]
    }
    /// Columns and values of row r.
    pub(crate) fn entries(&self, r: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.range(r).map(|e| (self.columns[e], self.values[e]))
    }
    pub(crate) fn transposed(&self) -> Rows {
        let mut offsets = vec![0u64; self.ncols as usize + 1];
        self.columns.iter().for_each(|c| offsets[*c as usize + 1] += 1);
        (0..self.ncols as usize).for_each(|c| offsets[c + 1] += offsets[c]);
        let mut next = offsets.clone();
        let (mut columns, mut values) = (vec![0; self.columns.len()], vec![0.0; self.columns.len()]);
        for r in 0..self.nrows as usize {
            for (c, v) in self.entries(r) {
                let at = next[c as usize] as usize;
                next[c as usize] += 1;
                (columns[at], values[at]) = (r as u32, v);
            }
        }
        Rows { nrows: self.ncols, ncols: self.nrows, offsets, columns, values }
    }
    /// Multiplications of A·B.
    pub(crate) fn products(&self, b: &Rows) -> u64 {
        self.columns.iter().map(|k| b.row(*k as usize).len() as u64).sum()
    }
}
