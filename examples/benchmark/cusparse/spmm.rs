//! C = A·X and C = X·A by cusparseSpMM, f64, X and C dense and row by row: the transpose of the second is Aᵀ·Xᵀ, column by column.
use super::{Csr, Cusparse, Handle, PLAIN, REAL_64, TRANSPOSED, call, scalar};
use crate::Outcome;
use oplus::backend::cuda::Buffer;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// A way cuSPARSE multiplies compressed rows by a dense matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SpmmAlgorithm {
    Default,
    Alg1,
    Alg2,
    Alg3,
}
impl SpmmAlgorithm {
    pub(crate) const ALL: [SpmmAlgorithm; 4] = [Self::Default, Self::Alg1, Self::Alg2, Self::Alg3];
    pub(crate) fn name(self) -> &'static str {
        ["default", "alg1", "alg2", "alg3"][self as usize]
    }
    /// cusparseSpMMAlg_t.
    fn code(self) -> c_int {
        [0, 4, 6, 12][self as usize]
    }
}

/// cusparseOrder_t.
const BY_COLUMNS: c_int = 1;
const BY_ROWS: c_int = 2;

/// A, X, and what cuSPARSE finds out about A once.
pub(crate) struct PreparedFull<'a> {
    peer: &'a Cusparse,
    matrix: Handle,
    x: Handle,
    shape: (i64, i64),
    operation: c_int,
    code: c_int,
    workspace: Buffer,
    /// The descriptors point into them.
    _operands: (&'a Csr, &'a Buffer),
}

impl<'a> PreparedFull<'a> {
    /// The buffer, and the preprocessing that later calls with the same matrix and buffer are faster for.
    pub(crate) fn new(
        peer: &'a Cusparse,
        a: &'a Csr,
        (x, columns): (&'a Buffer, i64),
        left: bool,
        algorithm: SpmmAlgorithm,
    ) -> Outcome<Self> {
        let (inner, outer) = if left { (a.rows, a.columns) } else { (a.columns, a.rows) };
        if x.len_of::<f64>() as i64 != inner * columns || !a.double {
            return Err(format!("X has {} values, {inner} x {columns} of f64 are needed", x.len_of::<f64>()).into());
        }
        let mut this = Self {
            peer,
            matrix: peer.describe(a)?,
            x: null_mut(),
            shape: (outer, columns),
            operation: if left { TRANSPOSED } else { PLAIN },
            code: algorithm.code(),
            workspace: peer.bytes(0)?,
            _operands: (a, x),
        };
        this.x = this.dense((inner, columns), x)?;
        let y = peer.bytes(8 * (outer * columns) as usize)?;
        let dy = this.dense(this.shape, &y)?;
        let prepared = this.prepare(dy);
        peer.forget_dense(dy)?;
        prepared?;
        Ok(this)
    }

    fn prepare(&mut self, y: Handle) -> Outcome<()> {
        let (peer, one, zero) = (self.peer, scalar(true, true), scalar(false, true));
        let (alpha, beta): (*const c_void, *const c_void) = ((&raw const one).cast(), (&raw const zero).cast());
        let mut bytes = 0usize;
        call!(peer.cusparseSpMM_bufferSize(
            peer.handle => Handle, self.operation => c_int, PLAIN => c_int, alpha => *const c_void, self.matrix => Handle,
            self.x => Handle, beta => *const c_void, y => Handle, REAL_64 => c_int, self.code => c_int,
            &mut bytes => *mut usize));
        self.workspace = peer.bytes(bytes)?;
        call!(peer.cusparseSpMM_preprocess(
            peer.handle => Handle, self.operation => c_int, PLAIN => c_int, alpha => *const c_void, self.matrix => Handle,
            self.x => Handle, beta => *const c_void, y => Handle, REAL_64 => c_int, self.code => c_int,
            self.workspace.pointer() => u64));
        peer.synchronize()
    }

    /// C, newly allocated, complete when this returns.
    pub(crate) fn run(&self) -> Outcome<Buffer> {
        let (peer, one, zero) = (self.peer, scalar(true, true), scalar(false, true));
        let (alpha, beta): (*const c_void, *const c_void) = ((&raw const one).cast(), (&raw const zero).cast());
        let y = peer.bytes(8 * (self.shape.0 * self.shape.1) as usize)?;
        let dy = self.dense(self.shape, &y)?;
        call!(peer.cusparseSpMM(
            peer.handle => Handle, self.operation => c_int, PLAIN => c_int, alpha => *const c_void, self.matrix => Handle,
            self.x => Handle, beta => *const c_void, dy => Handle, REAL_64 => c_int, self.code => c_int,
            self.workspace.pointer() => u64));
        peer.synchronize()?;
        peer.forget_dense(dy)?;
        Ok(y)
    }
}

impl Drop for PreparedFull<'_> {
    fn drop(&mut self) {
        let _ = self.peer.forget(self.matrix);
        if !self.x.is_null() {
            let _ = self.peer.forget_dense(self.x);
        }
    }
}

impl PreparedFull<'_> {
    fn dense(&self, (rows, columns): (i64, i64), values: &Buffer) -> Outcome<Handle> {
        let (peer, mut d): (_, Handle) = (self.peer, null_mut());
        let (order, leading) = if self.operation == PLAIN { (BY_ROWS, columns) } else { (BY_COLUMNS, rows) };
        call!(peer.cusparseCreateDnMat(
            &mut d => *mut Handle, rows => i64, columns => i64, leading => i64, values.pointer() => u64, REAL_64 => c_int,
            order => c_int));
        Ok(d)
    }
}

impl Cusparse {
    fn forget_dense(&self, d: Handle) -> Outcome<()> {
        call!(self.cusparseDestroyDnMat(d => Handle));
        Ok(())
    }
}
