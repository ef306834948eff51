//! C = A·B by cuSPARSE, through its shared library; every buffer is taken from this library's memory pool.
use libloading::Library;
use oplus::backend::cuda::{Buffer, Context};
use std::error::Error;
use std::ffi::{c_float, c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;
type Handle = *mut c_void;

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

const INDEX_32: c_int = 2;
const REAL_32: c_int = 0;
const REAL_64: c_int = 1;
/// opA, opB: not transposed.
const PLAIN: c_int = 0;

/// The library, working on one context's stream.
pub(crate) struct Cusparse {
    library: Library,
    handle: Handle,
    context: Arc<Context>,
}

/// Compressed rows with 32-bit positions on the device.
pub(crate) struct Csr {
    rows: i64,
    columns: i64,
    nnz: i64,
    offsets: Buffer,
    indices: Buffer,
    values: Buffer,
    double: bool,
}

impl Csr {
    pub(crate) fn upload(context: &Arc<Context>, a: &oplus::storage::Coo<f64>, double: bool) -> Outcome<Csr> {
        let mut offsets = vec![0i32; a.nrows as usize + 1];
        a.rows.iter().for_each(|r| offsets[*r as usize + 1] += 1);
        for r in 0..a.nrows as usize {
            offsets[r + 1] += offsets[r];
        }
        let indices: Vec<i32> = a.columns.iter().map(|c| *c as i32).collect();
        let values = match double {
            true => Buffer::from_host(context, &a.values)?,
            false => Buffer::from_host(context, &a.values.iter().map(|v| *v as f32).collect::<Vec<_>>())?,
        };
        Ok(Csr {
            rows: a.nrows as i64,
            columns: a.ncols as i64,
            nnz: a.len() as i64,
            offsets: Buffer::from_host(context, &offsets)?,
            indices: Buffer::from_host(context, &indices)?,
            values,
            double,
        })
    }
    fn real(&self) -> c_int {
        if self.double { REAL_64 } else { REAL_32 }
    }
    /// Number and sum of the entries.
    pub(crate) fn fingerprint(&self) -> Outcome<(u64, f64)> {
        let sum = match self.double {
            true => self.values.to_host::<f64>()?.iter().sum(),
            false => self.values.to_host::<f32>()?.iter().map(|v| *v as f64).sum(),
        };
        Ok((self.nnz as u64, sum))
    }
}

fn folders() -> Vec<String> {
    let mut all = vec![String::new()];
    all.extend(std::env::var("OPLUS_CUSPARSE_PATH").ok().map(|p| p + "/"));
    all.extend(["/usr/local/cuda/lib64/", "/usr/lib/x86_64-linux-gnu/"].map(String::from));
    all
}

macro_rules! call {
    ($self:ident . $name:ident ( $($argument:expr => $type:ty),* $(,)? )) => {{
        // SAFETY: the types are those of cusparse.h; the arguments live through the call.
        let status = unsafe {
            let f = $self.library.get::<unsafe extern "C" fn($($type),*) -> c_int>(stringify!($name).as_bytes())?;
            f($($argument),*)
        };
        if status != 0 {
            return Err(format!("{} failed with status {status}", stringify!($name)).into());
        }
    }};
}

impl Cusparse {
    /// The library, where there is one.
    pub(crate) fn load(context: &Arc<Context>) -> Outcome<Cusparse> {
        context.make_current()?;
        let mut last = None;
        for folder in folders() {
            for version in [12, 13] {
                // SAFETY: NVIDIA's library; its initialisers are what every program that links it runs.
                match unsafe { Library::new(format!("{folder}libcusparse.so.{version}")) } {
                    Ok(library) => {
                        let mut this = Cusparse { library, handle: null_mut(), context: context.clone() };
                        let mut handle: Handle = null_mut();
                        call!(this.cusparseCreate(&mut handle => *mut Handle));
                        this.handle = handle;
                        call!(this.cusparseSetStream(handle => Handle, context.raw_stream() => *mut c_void));
                        return Ok(this);
                    }
                    Err(e) => last = Some(e),
                }
            }
        }
        Err(last.map_or("no cuSPARSE".into(), |e| e.to_string().into()))
    }

    fn describe(&self, m: &Csr) -> Outcome<Handle> {
        let mut d: Handle = null_mut();
        call!(self.cusparseCreateCsr(
            &mut d => *mut Handle, m.rows => i64, m.columns => i64, m.nnz => i64, m.offsets.pointer() => u64,
            m.indices.pointer() => u64, m.values.pointer() => u64, INDEX_32 => c_int, INDEX_32 => c_int, 0 => c_int,
            m.real() => c_int));
        Ok(d)
    }
    fn forget(&self, d: Handle) -> Outcome<()> {
        call!(self.cusparseDestroySpMat(d => Handle));
        Ok(())
    }
    fn bytes(&self, n: usize) -> Outcome<Buffer> {
        Ok(Buffer::alloc(&self.context, n as u64)?)
    }
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
        let (one, zero) = ([1f64.to_bits(), 0], [0u64, 0]);
        let single = [1f32.to_bits() as u64, 0];
        let alpha: *const c_void = if a.double { one.as_ptr().cast() } else { single.as_ptr().cast() };
        let beta: *const c_void = zero.as_ptr().cast();
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
        let (one, zero) = ([1f64.to_bits(), 0], [0u64, 0]);
        let single = [1f32.to_bits() as u64, 0];
        let alpha: *const c_void = if a.double { one.as_ptr().cast() } else { single.as_ptr().cast() };
        let beta: *const c_void = zero.as_ptr().cast();
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

    fn synchronize(&self) -> Outcome<()> {
        Ok(self.context.synchronize()?)
    }
}

impl Drop for Cusparse {
    fn drop(&mut self) {
        let destroy = || -> Outcome<()> {
            call!(self.cusparseDestroy(self.handle => Handle));
            Ok(())
        };
        let _ = destroy();
    }
}
