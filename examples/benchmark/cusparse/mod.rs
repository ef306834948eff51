//! cuSPARSE through its shared library; every buffer is taken from this library's memory pool.
//!
//! The functions and constants are those of cusparse.h 12 and 13; each way of using them is a file.
mod spgemm;
mod spmm;
mod spmv;
mod transpose;

pub(crate) use spgemm::Algorithm;
pub(crate) use spmm::{PreparedFull, SpmmAlgorithm};
pub(crate) use spmv::{Prepared, SpmvAlgorithm};
pub(crate) use transpose::TransposeAlgorithm;

use crate::rows::Rows;
use crate::{Outcome, Sum};
use libloading::Library;
use oplus::backend::cuda::{Buffer, Context};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

type Handle = *mut c_void;

/// cusparseIndexType_t.
const INDEX_32: c_int = 2;
/// cudaDataType.
const REAL_32: c_int = 0;
const REAL_64: c_int = 1;
/// cusparseOperation_t.
const PLAIN: c_int = 0;
const TRANSPOSED: c_int = 1;
/// cusparseIndexBase_t: from 0.
const BASE: c_int = 0;

/// The library, working on one context's stream.
pub(crate) struct Cusparse {
    library: Library,
    handle: Handle,
    context: Arc<Context>,
}

/// Calls a function of the library by its name and the types of its arguments; a status other than 0 is an error.
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
use call;

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
    pub(crate) fn upload(context: &Arc<Context>, a: &Rows, double: bool) -> Outcome<Csr> {
        i32::try_from(a.nnz()).map_err(|_| format!("{} entries are too many for cuSPARSE's 32 bits", a.nnz()))?;
        let offsets: Vec<i32> = a.offsets.iter().map(|o| *o as i32).collect();
        let values = match double {
            true => Buffer::from_host(context, &a.values)?,
            false => Buffer::from_host(context, &a.values.iter().map(|v| *v as f32).collect::<Vec<_>>())?,
        };
        Ok(Csr {
            rows: a.nrows as i64,
            columns: a.ncols as i64,
            nnz: a.nnz() as i64,
            offsets: Buffer::from_host(context, &offsets)?,
            indices: Buffer::from_host(context, &a.columns)?,
            values,
            double,
        })
    }
    fn real(&self) -> c_int {
        if self.double { REAL_64 } else { REAL_32 }
    }
    /// On the device.
    pub(crate) fn bytes(&self) -> u64 {
        self.offsets.bytes() + self.indices.bytes() + self.values.bytes()
    }
    /// The values, as f64.
    fn values(&self) -> Outcome<Vec<f64>> {
        Ok(match self.double {
            true => self.values.to_host()?,
            false => self.values.to_host::<f32>()?.into_iter().map(f64::from).collect(),
        })
    }
    /// Number and sum of the entries.
    pub(crate) fn sum(&self) -> Outcome<Sum> {
        let values = self.values()?;
        Ok(Sum { entries: self.nnz as u64, sum: values.iter().sum(), size: values.iter().map(|v| v.abs()).sum() })
    }
    /// Back on the host.
    pub(crate) fn download(&self) -> Outcome<Rows> {
        Ok(Rows {
            nrows: self.rows as u32,
            ncols: self.columns as u32,
            offsets: self.offsets.to_host::<i32>()?.into_iter().map(|o| o as u64).collect(),
            columns: self.indices.to_host()?,
            values: self.values()?,
        })
    }
}

/// 1 or 0 as the library reads a scalar through a pointer, whatever its type is.
fn scalar(one: bool, double: bool) -> u64 {
    match (one, double) {
        (false, _) => 0,
        (true, true) => 1f64.to_bits(),
        (true, false) => 1f32.to_bits() as u64,
    }
}

fn folders() -> Vec<String> {
    let mut all = vec![String::new()];
    all.extend(std::env::var("OPLUS_CUSPARSE_PATH").ok().map(|p| p + "/"));
    all.extend(["/usr/local/cuda/lib64/", "/usr/lib/x86_64-linux-gnu/"].map(String::from));
    all
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
            m.indices.pointer() => u64, m.values.pointer() => u64, INDEX_32 => c_int, INDEX_32 => c_int,
            BASE => c_int, m.real() => c_int));
        Ok(d)
    }
    fn forget(&self, d: Handle) -> Outcome<()> {
        call!(self.cusparseDestroySpMat(d => Handle));
        Ok(())
    }
    fn bytes(&self, n: usize) -> Outcome<Buffer> {
        Ok(Buffer::alloc(&self.context, n as u64)?)
    }
    fn synchronize(&self) -> Outcome<()> {
        Ok(self.context.synchronize()?)
    }
}

impl Drop for Cusparse {
    fn drop(&mut self) {
        let destroy = || -> Outcome<()> {
            if !self.handle.is_null() {
                call!(self.cusparseDestroy(self.handle => Handle));
            }
            Ok(())
        };
        let _ = destroy();
    }
}
