//! All cores of the host, by rayon.
//!
//! Every result is the reference's: sums run in the order of k and start with the first product; only reductions to a
//! scalar are cut into pieces, at places that depend on the operands alone. Nothing depends on the number of threads.
//!
//! Products of matrices are in `mxm`, those with vectors and sums in `mxv`; `entrywise` and `structure` have the rest. Beside them lies
//! what all four share: work cut into blocks (`blocks`, `parallel`), rows as they are made and put together (`rows`, `assemble`).
use super::host::{HostCsr, host_memory};
use super::places::{Assigned, Moves};
use super::ring::{MxmRing, MxvRing, VxmRing};
use super::{Backend, Body, MaskBody, MaskOn, MxmOptions, PatternBody, Positions};
use crate::algebra::{BinaryOp, IndexUnaryOp, Monoid, Ordered, Scalar};
use crate::device::Device;
use crate::error::Result;
use crate::operation::Accumulate;
use crate::storage::axis::Ids;
use crate::storage::pattern::Pattern;
use entrywise::{assign, map, merge, order, scale};
use mxv::{columns, push, vector};
use std::sync::Arc;
use structure::{gather, kronecker, layout, one_a_row, tiles, window};

mod assemble;
mod blocks;
mod closure;
mod entrywise;
mod mxm;
mod mxv;
mod neutral;
mod parallel;
mod rows;
mod scatter;
mod simd;
#[cfg(test)]
mod structural_tests;
mod structure;
#[cfg(test)]
mod tests;
mod workers;

pub(crate) use entrywise::anew::anew;
pub(crate) use entrywise::chain;
pub(crate) use entrywise::entries::at_entries;
pub(crate) use entrywise::map::values as applied;
pub(crate) use entrywise::merge::meet;
pub(crate) use mxm::ended::{ended, mxm_ended};
pub(crate) use mxm::exact::{at_positions, mxm_bools, mxm_iso, mxm_looked_up, mxm_reduce, positions};
pub(crate) use mxm::explain::{explain_mxm, explain_vector};
pub(crate) use mxm::product::MxmKernels;
pub(crate) use mxv::even::Batch;
pub(crate) use mxv::met::{full_row, rows_and_columns as met_rows_and_columns};
pub(crate) use mxv::push::VxmKernels;
pub(crate) use mxv::repeated::{repeated, rows_of_one};
pub(crate) use mxv::vector::MxvKernels;
pub(crate) use neutral::groups_at_will;
pub(crate) use parallel::{
    SERIAL, Shared, collected, each_mut, each_piece, filled, in_pieces, joined, mapped, nth_piece, scan, unwritten,
    written, zipped,
};
pub(crate) use rows::Rows;
pub(crate) use scatter::{Placed, ascends, kept, lengthened, marked, placed, scattered, unmarked};
pub(crate) use structure::among::{all_among, among, listed_among};
pub(crate) use structure::ascending::below;
pub(crate) use structure::layout::{in_order, transpose, turned};
pub(crate) use structure::rank::ranks;
pub(crate) use structure::turned_cells::turned_cells;

/// The cores of the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cpu;

impl Cpu {
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    const DEVICE: Device = Device::Cpu;
}

pub(crate) fn mxm<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: Option<&MaskOn<Arc<Pattern>>>,
    at: &Positions,
    options: &MxmOptions,
) -> Result<HostCsr<C>> {
    mxm::exact::mxm(ring, a, b, mask, at, options)
}

pub(crate) fn mxv<A: Scalar, X: Scalar, C: Scalar>(
    ring: &MxvRing<A, X, C>,
    a: &HostCsr<A>,
    x: &HostCsr<X>,
    mask: Option<&MaskOn<Arc<Pattern>>>,
    at: &Positions,
    _: &MxmOptions,
) -> Result<HostCsr<C>> {
    vector::mxv(&ring.cpu, a, x, mask, at)
}

pub(crate) fn vxm<X: Scalar, A: Scalar, C: Scalar>(
    ring: &VxmRing<X, A, C>,
    x: &HostCsr<X>,
    a: &HostCsr<A>,
    mask: Option<&MaskOn<Arc<Pattern>>>,
    at: &Positions,
    _: &MxmOptions,
) -> Result<HostCsr<C>> {
    push::vxm(&ring.operators, &ring.cpu, x, a, mask, at)
}

impl Backend for Cpu {
    host_memory!();

    fn union<T: Scalar, F: BinaryOp<T, T, Out = T>>(&self, a: &HostCsr<T>, b: &HostCsr<T>) -> Result<HostCsr<T>> {
        merge::union::<T, F>(a, b)
    }

    fn intersection<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &HostCsr<A>,
        b: &HostCsr<B>,
    ) -> Result<HostCsr<F::Out>> {
        merge::intersection::<A, B, F>(a, b)
    }

    fn apply<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
        &self,
        a: &HostCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<HostCsr<F::Out>> {
        map::apply::<A, Y, F>(a, y, at)
    }

    fn select<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
        &self,
        a: &HostCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<HostCsr<A>> {
        merge::select::<A, Y, F>(a, y, at)
    }

    fn reduce_rows<T: Scalar, M: Monoid<T>>(&self, a: &HostCsr<T>) -> Result<HostCsr<T>> {
        map::reduce_rows::<T, M>(a)
    }

    fn reduce_columns<T: Scalar, M: Monoid<T>>(&self, a: &HostCsr<T>) -> Result<Option<HostCsr<T>>> {
        columns::reduce_columns::<T, M>(a)
    }

    fn reduce<T: Scalar, M: Monoid<T>>(&self, a: &HostCsr<T>) -> Result<Option<T>> {
        map::reduce::<T, M>(&a.values)
    }

    fn transpose<T: Scalar>(&self, a: &HostCsr<T>) -> Result<HostCsr<T>> {
        layout::turned(&a.pattern, &a.values)
    }

    fn build<T: Scalar, F: BinaryOp<T, T, Out = T>>(
        &self,
        shape: (usize, usize),
        rows: &[u32],
        columns: &[u32],
        values: &[T],
        refuse: bool,
    ) -> Result<std::result::Result<HostCsr<T>, usize>> {
        layout::build::<T, F>(shape, rows, columns, values, refuse)
    }

    fn write<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &HostCsr<C>,
        t: &HostCsr<T>,
        mask: Option<&MaskOn<Arc<Pattern>>>,
        replace: bool,
    ) -> Result<HostCsr<C>> {
        merge::write::<C, T, F>(c, t, mask, replace)
    }

    fn extract_rows<T: Scalar>(&self, a: &HostCsr<T>, rows: &[u32]) -> Result<HostCsr<T>> {
        layout::extract_rows(a, rows)
    }

    fn gather<T: Scalar>(&self, a: &HostCsr<T>, rows: Option<&[u32]>, moves: &Moves) -> Result<HostCsr<T>> {
        gather::gather(a, rows, moves)
    }

    fn one_a_row<T: Scalar>(
        &self,
        a: &HostCsr<T>,
        at: &(dyn Fn(usize) -> Option<u32> + Sync),
    ) -> Result<Option<HostCsr<T>>> {
        one_a_row::one_a_row(a, at).map(Some)
    }

    fn one_column<T: Scalar>(&self, a: &HostCsr<T>, column: u32) -> Result<Option<HostCsr<T>>> {
        one_a_row::one_column(a, column).map(Some)
    }

    fn window<T: Scalar>(
        &self,
        a: &HostCsr<T>,
        rows: Option<&Moves>,
        cols: Option<&Moves>,
    ) -> Result<Option<HostCsr<T>>> {
        window::window(a, rows, cols)
    }

    fn filled<T: Scalar>(&self, pattern: &Arc<Pattern>, value: T) -> Result<HostCsr<T>> {
        let values = filled("fill", pattern.nnz(), value)?;
        Ok(HostCsr::at(pattern.clone(), values))
    }

    fn assign<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &HostCsr<C>,
        t: &HostCsr<T>,
        how: &Assigned,
        mask: Option<&MaskOn<Arc<Pattern>>>,
    ) -> Result<HostCsr<C>> {
        assign::assign::<C, T, F>(c, t, how, mask)
    }

    fn kronecker<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &HostCsr<A>,
        b: &HostCsr<B>,
    ) -> Result<HostCsr<F::Out>> {
        kronecker::kronecker::<A, B, F>(a, b)
    }

    fn closure<T: Scalar, J: BinaryOp<T, T, Out = T>, B: BinaryOp<T, T, Out = bool>>(
        &self,
        a: &HostCsr<T>,
        trivial: T,
        absent: T,
    ) -> Result<std::result::Result<HostCsr<T>, usize>> {
        closure::closure::<T, J, B>(a, (trivial, absent))
    }

    fn ewise_union<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &HostCsr<A>,
        alpha: A,
        b: &HostCsr<B>,
        beta: B,
    ) -> Result<HostCsr<F::Out>> {
        merge::ewise_union::<A, B, F>(a, alpha, b, beta)
    }

    fn diagonal<T: Scalar>(&self, v: &HostCsr<T>) -> Result<HostCsr<T>> {
        scale::diagonal(v)
    }

    fn scale_rows<V: Scalar, A: Scalar, F: BinaryOp<V, A>>(
        &self,
        v: &HostCsr<V>,
        a: &HostCsr<A>,
    ) -> Result<HostCsr<F::Out>> {
        scale::scale_rows::<V, A, F>(v, a)
    }

    fn scale_columns<A: Scalar, V: Scalar, F: BinaryOp<A, V>>(
        &self,
        a: &HostCsr<A>,
        v: &HostCsr<V>,
    ) -> Result<HostCsr<F::Out>> {
        scale::scale_columns::<A, V, F>(a, v)
    }

    fn arg_rows<T: Ordered, const LARGEST: bool>(&self, a: &HostCsr<T>, at: &Positions) -> Result<HostCsr<u64>> {
        order::arg_rows::<T, LARGEST>(a, at)
    }

    fn sort_rows<T: Scalar, F: BinaryOp<T, T, Out = bool>>(
        &self,
        a: &HostCsr<T>,
        ids: &Ids,
    ) -> Result<(HostCsr<T>, HostCsr<u64>)> {
        order::sort_rows::<T, F>(a, ids)
    }

    fn concat<T: Scalar>(&self, tiles: &[Vec<&HostCsr<T>>]) -> Result<HostCsr<T>> {
        tiles::concat(tiles)
    }

    fn get<T: Scalar>(&self, a: &HostCsr<T>, row: usize, column: u32) -> Result<Option<T>> {
        Ok(a.pattern.find(row, column).map(|e| a.values[e]))
    }
}
