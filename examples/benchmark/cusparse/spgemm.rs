//! C = A·B by cusparseSpGEMM.
use super::{Csr, Cusparse, Handle, PLAIN, call, scalar};
use crate::Outcome;
use oplus::backend::cuda::Buffer;
use std::ffi::{c_float, c_int, c_void};
use std::ptr::null_mut;

/// A way cuSPARSE multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Default,
    Alg1,
    Alg2,
    Alg3,
    /// Symbolic and numeric together, by the functions that keep the symbolic part.
    ReuseWhole,
    /// The numeric part alone.
    ReuseNumeric,
}
impl Algorithm {
    pub(crate) const ALL: [Algorithm; 6] = {
        use Algorithm::*;
        [Default, Alg1, Alg2, Alg3, ReuseWhole, ReuseNumeric]
    };
    pub(crate) fn name(self) -> &'static str {
        match self {
            Algorithm::Default => "default",
            Algorithm::Alg1 => "alg1",
            Algorithm::Alg2 => "alg2",
            Algorithm::Alg3 => "alg3",
            Algorithm::ReuseWhole => "reuse",
            Algorithm::ReuseNumeric => "reuse-numeric",
        }
    }
    fn code(self) -> c_int {
        match self {
            Algorithm::Alg1 => 3,
            Algorithm::Alg2 => 4,
            Algorithm::Alg3 => 5,
            _ => 0,
        }
    }
}

impl Cusparse {
    fn empty(&self, a: &Csr, b: &Csr) -> Outcome<Csr> {
        let none = || Buffer::alloc(&self.context, 0);
        let offsets = Buffer::alloc(&self.context, 4 * (a.rows as u64 + 1))?;
        Ok(Csr {
            rows: a.rows,
            columns: b.columns,
            nnz: 0,
            offsets,
            indices: none()?,
            values: none()?,
            double: a.double,
        })
    }
    /// Room for the result whose descriptor knows its size by now.
    fn room(&self, c: &mut Csr, d: Handle) -> Outcome<()> {
        let (mut rows, mut columns, mut nnz) = (0i64, 0i64, 0i64);
        call!(self.cusparseSpMatGetSize(d => Handle, &mut rows => *mut i64, &mut columns => *mut i64, &mut nnz => *mut i64));
        c.nnz = nnz;
        c.indices = self.bytes(4 * nnz as usize)?;
        c.values = self.bytes(if c.double { 8 } else { 4 } * nnz as usize)?;
        call!(self.cusparseCsrSetPointers(
            d => Handle, c.offsets.pointer() => u64, c.indices.pointer() => u64, c.values.pointer() => u64));
        Ok(())
    }

    /// C = A·B, allocations of buffers and of C included, complete when this returns.
    pub(crate) fn multiply(&self, a: &Csr, b: &Csr, algorithm: Algorithm) -> Outcome<Csr> {
        let (one, zero) = (scalar(true, a.double), scalar(false, a.double));
        let (alpha, beta): (*const c_void, *const c_void) = ((&raw const one).cast(), (&raw const zero).cast());
        let mut c = self.empty(a, b)?;
        let (da, db, dc) = (self.describe(a)?, self.describe(b)?, self.describe(&c)?);
        let (h, real, code) = (self.handle, a.real(), algorithm.code());
        let mut plan: Handle = null_mut();
        call!(self.cusparseSpGEMM_createDescr(&mut plan => *mut Handle));
        let mut n1 = 0usize;
        macro_rules! work { ($buffer:expr) => {
            call!(self.cusparseSpGEMM_workEstimation(
                h => Handle, PLAIN => c_int, PLAIN => c_int, alpha => *const c_void, da => Handle, db => Handle,
                beta => *const c_void, dc => Handle, real => c_int, code => c_int, plan => Handle,
                &mut n1 => *mut usize, $buffer => u64))
        } }
        work!(0);
        let buffer1 = self.bytes(n1)?;
        work!(buffer1.pointer());
        let mut n2 = 0usize;
        macro_rules! compute { ($buffer:expr) => {
            call!(self.cusparseSpGEMM_compute(
                h => Handle, PLAIN => c_int, PLAIN => c_int, alpha => *const c_void, da => Handle, db => Handle,
                beta => *const c_void, dc => Handle, real => c_int, code => c_int, plan => Handle,
                &mut n2 => *mut usize, $buffer => u64))
        } }
        if matches!(algorithm, Algorithm::Alg2 | Algorithm::Alg3) {
            let mut n3 = 0usize;
            macro_rules! estimate { ($buffer:expr, $n2:expr) => {
                call!(self.cusparseSpGEMM_estimateMemory(
                    h => Handle, PLAIN => c_int, PLAIN => c_int, alpha => *const c_void, da => Handle, db => Handle,
                    beta => *const c_void, dc => Handle, real => c_int, code => c_int, plan => Handle,
                    // Alg3 may work in chunks; the whole at once is its fastest.
                    1.0 => c_float, &mut n3 => *mut usize, $buffer => u64, $n2 => *mut usize))
            } }
            estimate!(0, null_mut());
            let buffer3 = self.bytes(n3)?;
            estimate!(buffer3.pointer(), &mut n2);
        } else {
            compute!(0);
        }
        let buffer2 = self.bytes(n2)?;
        compute!(buffer2.pointer());
        self.room(&mut c, dc)?;
        call!(self.cusparseSpGEMM_copy(
            h => Handle, PLAIN => c_int, PLAIN => c_int, alpha => *const c_void, da => Handle, db => Handle,
            beta => *const c_void, dc => Handle, real => c_int, code => c_int, plan => Handle));
        self.synchronize()?;
        call!(self.cusparseSpGEMM_destroyDescr(plan => Handle));
        for d in [da, db, dc] {
            self.forget(d)?;
        }
        drop((buffer1, buffer2));
        Ok(c)
    }

    /// C = A·B by the functions that keep the symbolic part; `numeric` is then called with the numeric part alone.
    pub(crate) fn reuse(
        &self,
        a: &Csr,
        b: &Csr,
        mut numeric: impl FnMut(&mut dyn FnMut() -> Outcome<()>) -> Outcome<()>,
    ) -> Outcome<Csr> {
        let (one, zero) = (scalar(true, a.double), scalar(false, a.double));
        let (alpha, beta): (*const c_void, *const c_void) = ((&raw const one).cast(), (&raw const zero).cast());
        let mut c = self.empty(a, b)?;
        let (da, db, dc) = (self.describe(a)?, self.describe(b)?, self.describe(&c)?);
        let (h, real, code) = (self.handle, a.real(), 0);
        let mut plan: Handle = null_mut();
        call!(self.cusparseSpGEMM_createDescr(&mut plan => *mut Handle));
        let (mut n1, mut n2, mut n3, mut n4, mut n5) = (0usize, 0usize, 0usize, 0usize, 0usize);
        macro_rules! work { ($buffer:expr) => {
            call!(self.cusparseSpGEMMreuse_workEstimation(
                h => Handle, PLAIN => c_int, PLAIN => c_int, da => Handle, db => Handle, dc => Handle, code => c_int,
                plan => Handle, &mut n1 => *mut usize, $buffer => u64))
        } }
        work!(0);
        let buffer1 = self.bytes(n1)?;
        work!(buffer1.pointer());
        macro_rules! count { ($b2:expr, $b3:expr, $b4:expr) => {
            call!(self.cusparseSpGEMMreuse_nnz(
                h => Handle, PLAIN => c_int, PLAIN => c_int, da => Handle, db => Handle, dc => Handle, code => c_int,
                plan => Handle, &mut n2 => *mut usize, $b2 => u64, &mut n3 => *mut usize, $b3 => u64,
                &mut n4 => *mut usize, $b4 => u64))
        } }
        count!(0, 0, 0);
        let (buffer2, buffer3, buffer4) = (self.bytes(n2)?, self.bytes(n3)?, self.bytes(n4)?);
        count!(buffer2.pointer(), buffer3.pointer(), buffer4.pointer());
        drop((buffer1, buffer2));
        self.room(&mut c, dc)?;
        macro_rules! copy { ($buffer:expr) => {
            call!(self.cusparseSpGEMMreuse_copy(
                h => Handle, PLAIN => c_int, PLAIN => c_int, da => Handle, db => Handle, dc => Handle, code => c_int,
                plan => Handle, &mut n5 => *mut usize, $buffer => u64))
        } }
        copy!(0);
        let buffer5 = self.bytes(n5)?;
        copy!(buffer5.pointer());
        drop(buffer3);
        let mut run = || -> Outcome<()> {
            call!(self.cusparseSpGEMMreuse_compute(
                h => Handle, PLAIN => c_int, PLAIN => c_int, alpha => *const c_void, da => Handle, db => Handle,
                beta => *const c_void, dc => Handle, real => c_int, code => c_int, plan => Handle));
            self.synchronize()
        };
        run()?;
        numeric(&mut run)?;
        call!(self.cusparseSpGEMM_destroyDescr(plan => Handle));
        for d in [da, db, dc] {
            self.forget(d)?;
        }
        drop((buffer4, buffer5));
        Ok(c)
    }
}
