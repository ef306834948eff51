//! y = A·x and y = Aᵀ·x by cusparseSpMV, f64.
use super::{Csr, Cusparse, Handle, PLAIN, REAL_64, TRANSPOSED, call, scalar};
use crate::Outcome;
use oplus::backend::cuda::Buffer;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// A way cuSPARSE multiplies compressed rows by a vector.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SpmvAlgorithm {
    Default,
    Alg1,
    Alg2,
}
impl SpmvAlgorithm {
    pub(crate) const ALL: [SpmvAlgorithm; 3] = [Self::Default, Self::Alg1, Self::Alg2];
    pub(crate) fn name(self) -> &'static str {
        ["default", "alg1", "alg2"][self as usize]
    }
    /// cusparseSpMVAlg_t.
    fn code(self) -> c_int {
        [0, 2, 3][self as usize]
    }
}

/// A matrix, a vector, and what cuSPARSE finds out about the matrix once.
pub(crate) struct Prepared<'a> {
    peer: &'a Cusparse,
    matrix: Handle,
    x: Handle,
    length: i64,
    operation: c_int,
    code: c_int,
    workspace: Buffer,
    /// The descriptors point into them.
    _operands: (&'a Csr, &'a Buffer),
}

impl<'a> Prepared<'a> {
    /// The buffer, and the preprocessing that later calls with the same matrix and buffer are faster for.
    pub(crate) fn new(
        peer: &'a Cusparse,
        a: &'a Csr,
        x: &'a Buffer,
        transposed: bool,
        algorithm: SpmvAlgorithm,
    ) -> Outcome<Self> {
        let (length, inner) = if transposed { (a.columns, a.rows) } else { (a.rows, a.columns) };
        if x.len_of::<f64>() as i64 != inner || !a.double {
            return Err(format!("x has {} values of f64, {inner} are needed", x.len_of::<f64>()).into());
        }
        let mut this = Self {
            peer,
            matrix: peer.describe(a)?,
            x: null_mut(),
            length,
            operation: if transposed { TRANSPOSED } else { PLAIN },
            code: algorithm.code(),
            workspace: peer.bytes(0)?,
            _operands: (a, x),
        };
        this.x = peer.vector(inner, x)?;
        let y = peer.bytes(8 * length as usize)?;
        let dy = peer.vector(length, &y)?;
        let prepared = this.prepare(dy);
        peer.forget_vector(dy)?;
        prepared?;
        Ok(this)
    }

    fn prepare(&mut self, y: Handle) -> Outcome<()> {
        let (peer, one, zero) = (self.peer, scalar(true, true), scalar(false, true));
        let (alpha, beta): (*const c_void, *const c_void) = ((&raw const one).cast(), (&raw const zero).cast());
        let mut bytes = 0usize;
        call!(peer.cusparseSpMV_bufferSize(
            peer.handle => Handle, self.operation => c_int, alpha => *const c_void, self.matrix => Handle,
            self.x => Handle, beta => *const c_void, y => Handle, REAL_64 => c_int, self.code => c_int,
            &mut bytes => *mut usize));
        self.workspace = peer.bytes(bytes)?;
        call!(peer.cusparseSpMV_preprocess(
            peer.handle => Handle, self.operation => c_int, alpha => *const c_void, self.matrix => Handle,
            self.x => Handle, beta => *const c_void, y => Handle, REAL_64 => c_int, self.code => c_int,
            self.workspace.pointer() => u64));
        peer.synchronize()
    }

    /// y, newly allocated, complete when this returns.
    pub(crate) fn run(&self) -> Outcome<Buffer> {
        let (peer, one, zero) = (self.peer, scalar(true, true), scalar(false, true));
        let (alpha, beta): (*const c_void, *const c_void) = ((&raw const one).cast(), (&raw const zero).cast());
        let y = peer.bytes(8 * self.length as usize)?;
        let dy = peer.vector(self.length, &y)?;
        call!(peer.cusparseSpMV(
            peer.handle => Handle, self.operation => c_int, alpha => *const c_void, self.matrix => Handle,
            self.x => Handle, beta => *const c_void, dy => Handle, REAL_64 => c_int, self.code => c_int,
            self.workspace.pointer() => u64));
        peer.synchronize()?;
        peer.forget_vector(dy)?;
        Ok(y)
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        let _ = self.peer.forget(self.matrix);
        if !self.x.is_null() {
            let _ = self.peer.forget_vector(self.x);
        }
    }
}

impl Cusparse {
    fn vector(&self, length: i64, values: &Buffer) -> Outcome<Handle> {
        let mut d: Handle = null_mut();
        call!(self.cusparseCreateDnVec(
            &mut d => *mut Handle, length => i64, values.pointer() => u64, REAL_64 => c_int));
        Ok(d)
    }
    fn forget_vector(&self, d: Handle) -> Outcome<()> {
        call!(self.cusparseDestroyDnVec(d => Handle));
        Ok(())
    }
}
