//! All cores of the host, by rayon: the embedded default. Sums run in the order of k, bit-equal to the reference.
mod accumulator;
mod arrange;
mod elementwise;
mod mxm;
mod rows;
mod vector;

use super::host::{HostCsr, host_memory};
use super::{Backend, Body, MaskOn, MxmOptions, PatternBody, Positions};
use crate::algebra::*;
use crate::device::Device;
use crate::error::Result;
use crate::memory;
use crate::operation::Accumulate;
use crate::spgemm::Strategy;
use crate::storage::pattern::Pattern;
use std::sync::Arc;

/// The host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cpu;

impl Cpu {
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    const DEVICE: Device = Device::Cpu;
}

/// Entries a task of a parallel reduction folds: fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 1 << 16;

impl Backend for Cpu {
    host_memory!();

    fn mxm<A: Scalar, B: Scalar, S: Semiring<A, B>>(
        &self,
        a: &HostCsr<A>,
        b: &HostCsr<B>,
        mask: Option<&MaskOn<Arc<Pattern>>>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<HostCsr<S::Out>> {
        let transposed = |b: &HostCsr<B>| arrange::transpose(b);
        match (mask, options.strategy, options.transposed_b) {
            (Some(m), Strategy::Dot, false) if !m.complement => mxm::dot::<A, B, S>(a, &transposed(b)?, &m.pattern, at),
            (Some(m), Strategy::Dot, true) if !m.complement => mxm::dot::<A, B, S>(a, b, &m.pattern, at),
            (Some(m), Strategy::Auto, true)
                if !m.complement && mxm::dot_is_cheaper(&a.pattern, &b.pattern, &m.pattern) =>
            {
                mxm::dot::<A, B, S>(a, b, &m.pattern, at)
            }
            (_, _, true) => mxm::saxpy::<A, B, S>(a, &transposed(b)?, mask, at),
            (_, _, false) => mxm::saxpy::<A, B, S>(a, b, mask, at),
        }
    }

    fn mxm_reduce<A: Scalar, B: Scalar, S: Semiring<A, B>, R: Monoid<S::Out>>(
        &self,
        a: &HostCsr<A>,
        b: &HostCsr<B>,
        mask: Option<&MaskOn<Arc<Pattern>>>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<Option<S::Out>> {
        if options.transposed_b {
            return mxm::reduce::<A, B, S, R>(a, &arrange::transpose(b)?, mask, at);
        }
        mxm::reduce::<A, B, S, R>(a, b, mask, at)
    }

    fn mxv<A: Scalar, X: Scalar, S: Semiring<A, X>>(
        &self,
        a: &HostCsr<A>,
        x: &HostCsr<X>,
        mask: Option<&MaskOn<Arc<Pattern>>>,
        at: &Positions,
    ) -> Result<HostCsr<S::Out>> {
        vector::mxv::<A, X, S>(a, x, mask, at)
    }

    fn vxm<X: Scalar, A: Scalar, S: Semiring<X, A>>(
        &self,
        x: &HostCsr<X>,
        a: &HostCsr<A>,
        mask: Option<&MaskOn<Arc<Pattern>>>,
        at: &Positions,
    ) -> Result<HostCsr<S::Out>> {
        mxm::saxpy::<X, A, S>(x, a, mask, at)
    }

    fn union<T: Scalar, F: BinaryOp<T, T, Out = T>>(&self, a: &HostCsr<T>, b: &HostCsr<T>) -> Result<HostCsr<T>> {
        elementwise::union::<T, F>(a, b)
    }

    fn intersection<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &HostCsr<A>,
        b: &HostCsr<B>,
    ) -> Result<HostCsr<F::Out>> {
        elementwise::intersection::<A, B, F>(a, b)
    }

    fn apply<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
        &self,
        a: &HostCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<HostCsr<F::Out>> {
        elementwise::apply::<A, Y, F>(a, y, at)
    }

    fn select<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
        &self,
        a: &HostCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<HostCsr<A>> {
        elementwise::select::<A, Y, F>(a, y, at)
    }

    fn reduce_rows<T: Scalar, M: Monoid<T>>(&self, a: &HostCsr<T>) -> Result<HostCsr<T>> {
        let operation = "reduce";
        let (mut indices, mut values) =
            (memory::with_capacity(operation, a.pattern.nrows)?, memory::with_capacity(operation, a.pattern.nrows)?);
        for i in 0..a.pattern.nrows {
            if let Some(sum) = a.row(i).1.iter().copied().reduce(M::apply) {
                indices.push(i as u32);
                values.push(sum);
            }
        }
        let offsets = vec![0, indices.len() as u64];
        Ok(HostCsr::new(Pattern { nrows: 1, ncols: a.pattern.nrows, offsets, indices }, values))
    }

    fn reduce<T: Scalar, M: Monoid<T>>(&self, a: &HostCsr<T>) -> Result<Option<T>> {
        use rayon::prelude::*;
        let fold = |chunk: &[T]| chunk.iter().copied().reduce(M::apply);
        if a.values.len() <= CHUNK {
            return Ok(fold(&a.values));
        }
        let partial: Vec<Option<T>> = a.values.par_chunks(CHUNK).map(fold).collect();
        Ok(partial.into_iter().flatten().reduce(M::apply))
    }

    fn transpose<T: Scalar>(&self, a: &HostCsr<T>) -> Result<HostCsr<T>> {
        arrange::transpose(a)
    }

    fn build<T: Scalar, F: BinaryOp<T, T, Out = T>>(
        &self,
        shape: (usize, usize),
        rows: &[u32],
        columns: &[u32],
        values: &[T],
        refuse: bool,
    ) -> Result<std::result::Result<HostCsr<T>, usize>> {
        arrange::build::<T, F>(shape, rows, columns, values, refuse)
    }

    fn write<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &HostCsr<C>,
        t: &HostCsr<T>,
        mask: Option<&MaskOn<Arc<Pattern>>>,
        replace: bool,
    ) -> Result<HostCsr<C>> {
        elementwise::write::<C, T, F>(c, t, mask, replace)
    }

    fn extract_rows<T: Scalar>(&self, a: &HostCsr<T>, rows: &[u32]) -> Result<HostCsr<T>> {
        elementwise::extract_rows(a, rows)
    }

    fn get<T: Scalar>(&self, a: &HostCsr<T>, row: usize, column: u32) -> Result<Option<T>> {
        Ok(a.pattern.find(row, column).map(|e| a.values[e]))
    }
}
