//! Aᵀ by cusparseCsr2cscEx2: the compressed columns of A are the compressed rows of its transpose.
use super::{BASE, Csr, Cusparse, Handle, call};
use crate::Outcome;
use std::ffi::c_int;

/// A way cuSPARSE transposes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TransposeAlgorithm {
    /// The default one.
    Alg1,
    /// Of CUDA 11; later versions refuse it.
    Alg2,
}
impl TransposeAlgorithm {
    pub(crate) const ALL: [TransposeAlgorithm; 2] = [Self::Alg1, Self::Alg2];
    pub(crate) fn name(self) -> &'static str {
        ["alg1", "alg2"][self as usize]
    }
    /// cusparseCsr2CscAlg_t.
    fn code(self) -> c_int {
        self as c_int + 1
    }
}

/// cusparseAction_t: values are moved too.
const NUMERIC: c_int = 1;

impl Cusparse {
    /// Aᵀ, allocations of the buffer and of the result included, complete when this returns.
    pub(crate) fn transpose(&self, a: &Csr, algorithm: TransposeAlgorithm) -> Outcome<Csr> {
        let (m, n, nnz) = (c_int::try_from(a.rows)?, c_int::try_from(a.columns)?, c_int::try_from(a.nnz)?);
        let t = Csr {
            rows: a.columns,
            columns: a.rows,
            nnz: a.nnz,
            offsets: self.bytes(4 * (a.columns as usize + 1))?,
            indices: self.bytes(4 * a.nnz as usize)?,
            values: self.bytes(if a.double { 8 } else { 4 } * a.nnz as usize)?,
            double: a.double,
        };
        let mut bytes = 0usize;
        call!(self.cusparseCsr2cscEx2_bufferSize(
            self.handle => Handle, m => c_int, n => c_int, nnz => c_int, a.values.pointer() => u64,
            a.offsets.pointer() => u64, a.indices.pointer() => u64, t.values.pointer() => u64,
            t.offsets.pointer() => u64, t.indices.pointer() => u64, a.real() => c_int, NUMERIC => c_int,
            BASE => c_int, algorithm.code() => c_int, &mut bytes => *mut usize));
        let workspace = self.bytes(bytes)?;
        call!(self.cusparseCsr2cscEx2(
            self.handle => Handle, m => c_int, n => c_int, nnz => c_int, a.values.pointer() => u64,
            a.offsets.pointer() => u64, a.indices.pointer() => u64, t.values.pointer() => u64,
            t.offsets.pointer() => u64, t.indices.pointer() => u64, a.real() => c_int, NUMERIC => c_int,
            BASE => c_int, algorithm.code() => c_int, workspace.pointer() => u64));
        self.synchronize()?;
        Ok(t)
    }
}
