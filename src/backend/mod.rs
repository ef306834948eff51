//! One implementation each of the same small set of kernels.
//!
//! Everything here works on plain compressed rows: places below 2³², columns ascending in each row. Shapes, devices and
//! axes were checked above; what is left to fail is memory and, on CUDA, the driver.
use crate::algebra::{BinaryOp, IndexUnaryOp, Monoid, Ordered, Scalar};
use crate::error::Result;
use crate::operation::Accumulate;
use crate::spgemm::Strategy;
use crate::storage::axis::Ids;
use crate::storage::pattern::Pattern;
use places::{Assigned, Moves};
use std::ops::Range;
use std::sync::Arc;

pub(crate) mod body;
pub(crate) mod chain;
pub(crate) mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
pub(crate) mod ends;
pub(crate) mod host;
pub(crate) mod mask;
pub(crate) mod places;
pub(crate) mod reference;
pub(crate) mod ring;
pub(crate) mod side;
pub(crate) mod untyped;

pub(crate) use body::{Body, PatternBody, misplaced};
pub(crate) use cpu::in_pieces;
pub(crate) use mask::{MaskBody, MaskOn};

/// What the ids of places are, for operators that look at positions; `None` where a place is its id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Positions {
    pub(crate) i: Ids,
    pub(crate) k: Ids,
    pub(crate) j: Ids,
}

/// Options of a product that concern how, not what.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MxmOptions {
    pub(crate) strategy: Strategy,
    /// B is given transposed: its rows are the columns of the product's right operand.
    pub(crate) transposed_b: bool,
    /// Workspace and result take no more bytes at once.
    pub(crate) memory_limit: Option<u64>,
    /// Sums run in the order of k.
    pub(crate) reproducible: bool,
}

impl MxmOptions {
    /// The same with another limit.
    pub(crate) fn within(self, memory_limit: Option<u64>) -> Self {
        Self { memory_limit, ..self }
    }
}

/// Pivots of a closure handled at once. It is part of the order in which ways are joined, so that it is one for all.
pub(crate) const PIVOTS: usize = 64;

/// The kernels every device offers, but for products, whose operands come as [`untyped`] stores and whose semiring comes as
/// a table, a [`ring`].
pub(crate) trait Backend: Sized {
    /// Compressed rows in this device's memory; cheap to clone.
    type Csr<T: Scalar>: Clone;
    /// Their positions alone.
    type Pattern: Clone;

    fn csr<'a, T: Scalar>(&self, body: &'a Body<T>) -> Result<&'a Self::Csr<T>>;
    fn pattern<'a>(&self, body: &'a PatternBody) -> Result<&'a Self::Pattern>;
    fn mask<'a>(&self, mask: Option<&'a MaskBody>) -> Result<Option<&'a MaskOn<Self::Pattern>>>;
    /// Rows without entries.
    fn empty<T: Scalar>(&self, operation: &'static str, nrows: usize, ncols: usize) -> Result<Self::Csr<T>>;
    fn upload<T: Scalar>(&self, host: &host::HostCsr<T>) -> Result<Self::Csr<T>>;
    fn download<T: Scalar>(&self, a: &Self::Csr<T>) -> Result<host::HostCsr<T>>;
    fn upload_pattern(&self, host: &Arc<Pattern>) -> Result<Self::Pattern>;
    fn download_pattern(&self, a: &Self::Pattern) -> Result<Arc<Pattern>>;

    /// Entries of either, `F` where both are.
    fn union<T: Scalar, F: BinaryOp<T, T, Out = T>>(&self, a: &Self::Csr<T>, b: &Self::Csr<T>) -> Result<Self::Csr<T>>;
    /// `F` where both are.
    fn intersection<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &Self::Csr<A>,
        b: &Self::Csr<B>,
    ) -> Result<Self::Csr<F::Out>>;
    /// F(a, i, j, y) at every entry; the pattern is shared.
    fn apply<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
        &self,
        a: &Self::Csr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<Self::Csr<F::Out>>;
    /// The entries where F holds.
    fn select<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
        &self,
        a: &Self::Csr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<Self::Csr<A>>;
    /// One row: ⊕ over each row in column order, no entry for an empty row.
    fn reduce_rows<T: Scalar, M: Monoid<T>>(&self, a: &Self::Csr<T>) -> Result<Self::Csr<T>>;
    /// The rows of Aᵀ summed up where that needs no Aᵀ.
    fn reduce_columns<T: Scalar, M: Monoid<T>>(&self, _a: &Self::Csr<T>) -> Result<Option<Self::Csr<T>>> {
        Ok(None)
    }
    /// ⊕ over all entries; `None` where there are none.
    fn reduce<T: Scalar, M: Monoid<T>>(&self, a: &Self::Csr<T>) -> Result<Option<T>>;
    fn transpose<T: Scalar>(&self, a: &Self::Csr<T>) -> Result<Self::Csr<T>>;
    /// Rows from triplets in any order; duplicates folded by F in input order. Places are in range.
    /// `Err` of the position of a second entry where `refuse` is set.
    fn build<T: Scalar, F: BinaryOp<T, T, Out = T>>(
        &self,
        shape: (usize, usize),
        rows: &[u32],
        columns: &[u32],
        values: &[T],
        refuse: bool,
    ) -> Result<std::result::Result<Self::Csr<T>, usize>>;
    /// The rule of the standard: C⟨M, replace⟩ ⊙= T.
    fn write<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &Self::Csr<C>,
        t: &Self::Csr<T>,
        mask: Option<&MaskOn<Self::Pattern>>,
        replace: bool,
    ) -> Result<Self::Csr<C>>;
    /// Row r of the result is row `rows[r]` of A, an empty one for [`places::NONE`].
    fn extract_rows<T: Scalar>(&self, a: &Self::Csr<T>, rows: &[u32]) -> Result<Self::Csr<T>>;
    /// The entry of each row r in the column `at(r)`, if it has one, as entry r of one row, where that is known to be
    /// simpler than other ways.
    fn one_a_row<T: Scalar>(
        &self,
        _a: &Self::Csr<T>,
        _at: &(dyn Fn(usize) -> Option<u32> + Sync),
    ) -> Result<Option<Self::Csr<T>>> {
        Ok(None)
    }
    /// The same with one column for all rows.
    fn one_column<T: Scalar>(&self, a: &Self::Csr<T>, column: u32) -> Result<Option<Self::Csr<T>>> {
        self.one_a_row(a, &|_| Some(column))
    }
    /// The same entries where row and column k are row and column `map[k]`, which ascend; `None`: as they are. Where a device
    /// does that itself.
    fn spread(
        &self,
        _a: &Self::Pattern,
        _shape: (usize, usize),
        _rows: Option<&[u32]>,
        _cols: Option<&[u32]>,
    ) -> Result<Option<Self::Pattern>> {
        Ok(None)
    }
    /// The same entries, row by row, in rows of another length; there are as many places. Where a device does that itself.
    fn reshaped(&self, _a: &Self::Pattern, _shape: (usize, usize)) -> Result<Option<Self::Pattern>> {
        Ok(None)
    }
    /// The rows and the columns that have entries, of which these are asked for, where a device looks for them itself.
    #[allow(clippy::type_complexity)]
    fn used(&self, _a: &Self::Pattern, _which: (bool, bool)) -> Result<Option<(Vec<u32>, Vec<u32>)>> {
        Ok(None)
    }
    /// The same entries on these rows and columns alone, which are all that have any; `None`: as they are. Where a device does that
    /// itself.
    fn gathered(
        &self,
        _a: &Self::Pattern,
        _rows: Option<&[u32]>,
        _cols: Option<&[u32]>,
    ) -> Result<Option<Self::Pattern>> {
        Ok(None)
    }
    /// `value` at every place of these rows and columns, where a device makes that of nothing.
    fn block<T: Scalar>(
        &self,
        _shape: (usize, usize),
        _rows: Range<u32>,
        _cols: Range<u32>,
        _value: T,
    ) -> Result<Option<Self::Csr<T>>> {
        Ok(None)
    }
    /// A with its rows and columns moved, where that is known to be simpler than `gather`.
    fn window<T: Scalar>(
        &self,
        _a: &Self::Csr<T>,
        _rows: Option<&Moves>,
        _cols: Option<&Moves>,
    ) -> Result<Option<Self::Csr<T>>> {
        Ok(None)
    }
    /// Rows as [`extract_rows`](Self::extract_rows) takes them, all without a list, and in them the columns where `moves` says;
    /// the others are left out.
    fn gather<T: Scalar>(&self, a: &Self::Csr<T>, rows: Option<&[u32]>, moves: &Moves) -> Result<Self::Csr<T>>;
    /// The same value at every position.
    fn filled<T: Scalar>(&self, pattern: &Self::Pattern, value: T) -> Result<Self::Csr<T>>;
    /// C(region)⟨M, replace⟩ ⊙= T: inside the region Z = C ⊙ T or T, outside Z = C. In the reach C becomes Z where the mask
    /// admits, and elsewhere stays or is deleted; beyond it C stays.
    fn assign<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &Self::Csr<C>,
        t: &Self::Csr<T>,
        how: &Assigned,
        mask: Option<&MaskOn<Self::Pattern>>,
    ) -> Result<Self::Csr<C>>;
    /// C(i·p + k, j·q + l) = F(A(i, j), B(k, l)) for p × q places of B; those of C are below 2³².
    fn kronecker<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &Self::Csr<A>,
        b: &Self::Csr<B>,
    ) -> Result<Self::Csr<F::Out>>;
    /// Of a square matrix: the best ways through all places, as [`closure`](crate::operation::closure) has it; `Err` of a place from
    /// which a way to itself is better than `trivial`.
    fn closure<T: Scalar, J: BinaryOp<T, T, Out = T>, B: BinaryOp<T, T, Out = bool>>(
        &self,
        a: &Self::Csr<T>,
        trivial: T,
        absent: T,
    ) -> Result<std::result::Result<Self::Csr<T>, usize>>;
    /// F where either has an entry, alpha and beta for those that are not there.
    fn ewise_union<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &Self::Csr<A>,
        alpha: A,
        b: &Self::Csr<B>,
        beta: B,
    ) -> Result<Self::Csr<F::Out>>;
    /// The square matrix with a row's entries on its diagonal.
    fn diagonal<T: Scalar>(&self, v: &Self::Csr<T>) -> Result<Self::Csr<T>>;
    /// F(v(i), A(i, j)) where both are; v is a row.
    fn scale_rows<V: Scalar, A: Scalar, F: BinaryOp<V, A>>(
        &self,
        v: &Self::Csr<V>,
        a: &Self::Csr<A>,
    ) -> Result<Self::Csr<F::Out>>;
    /// F(A(i, j), v(j)) where both are; v is a row.
    fn scale_columns<A: Scalar, V: Scalar, F: BinaryOp<A, V>>(
        &self,
        a: &Self::Csr<A>,
        v: &Self::Csr<V>,
    ) -> Result<Self::Csr<F::Out>>;
    /// One row: the id of the first column of each row's smallest (largest) value, NaN passed over where there is another.
    fn arg_rows<T: Ordered, const LARGEST: bool>(&self, a: &Self::Csr<T>, at: &Positions) -> Result<Self::Csr<u64>>;
    /// The rows' values in the order of F, stable, at places 0, 1, …, and the ids of the columns they had.
    fn sort_rows<T: Scalar, F: BinaryOp<T, T, Out = bool>>(
        &self,
        a: &Self::Csr<T>,
        ids: &Ids,
    ) -> Result<(Self::Csr<T>, Self::Csr<u64>)>;
    /// Rows of tiles, one below the other; there is one.
    fn concat<T: Scalar>(&self, tiles: &[Vec<&Self::Csr<T>>]) -> Result<Self::Csr<T>>;
    fn get<T: Scalar>(&self, a: &Self::Csr<T>, row: usize, column: u32) -> Result<Option<T>>;
}

/// Whether x goes in front of y in a sorted row: as F says, NaN last whatever it says.
#[inline(always)]
pub(crate) fn in_front<T: Scalar, F: BinaryOp<T, T, Out = bool>>(x: T, y: T) -> bool {
    if matches!(T::TEXT.name, "f32" | "f64" | "c32" | "c64" | "f16" | "bf16") {
        #[allow(clippy::eq_op)]
        let (x_is_nan, y_is_nan) = (x != x, y != y);
        if x_is_nan || y_is_nan {
            return !x_is_nan && y_is_nan;
        }
    }
    F::apply(x, y)
}

/// The one place that knows all backends: the body is compiled once for each.
macro_rules! on_backend {
    ($device:expr, |$backend:ident| $body:block) => {
        match $device {
            $crate::device::Device::Reference => {
                let $backend = $crate::backend::reference::Reference;
                #[allow(unused_imports)]
                use $crate::backend::Backend as _;
                $body
            }
            $crate::device::Device::Cpu => {
                let $backend = $crate::backend::cpu::Cpu;
                #[allow(unused_imports)]
                use $crate::backend::Backend as _;
                $body
            }
            #[cfg(feature = "cuda")]
            $crate::device::Device::Cuda(ordinal) => {
                let $backend = $crate::backend::cuda::Cuda::open(ordinal)?;
                #[allow(unused_imports)]
                use $crate::backend::Backend as _;
                $body
            }
            #[cfg(not(feature = "cuda"))]
            device => {
                return Err($crate::error::Error::Unavailable {
                    device: device.to_string(),
                    reason: "oplus was built without the feature `cuda`".into(),
                })
            }
        }
    };
}
pub(crate) use on_backend;
