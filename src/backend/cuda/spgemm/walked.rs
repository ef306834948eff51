//! How kernels walk B's rows: as they stand, or by what is known of them and kept with B.
use super::Job;
use crate::backend::cuda::storage::column_sets::{ColumnSets, column_sets};
use crate::backend::cuda::storage::row_bits::{RowBits, row_bits};
use crate::backend::cuda::storage::supernodes::joined_rows;
use crate::backend::cuda::{Buffer, DevicePattern, Launch};
use crate::error::Result;
use oplus_codegen::Spec;
use std::cell::OnceCell;
use std::sync::Arc;

/// What is known of B's rows, each once somebody has asked: a product asks B once, as what its kernels are depends on the answer.
#[derive(Default)]
pub(super) struct Known {
    /// Which have the columns of the row before.
    joined: OnceCell<Option<Arc<Buffer>>>,
    /// Those of many entries as bits.
    row_bits: OnceCell<Option<Arc<RowBits>>>,
    /// All as column sets.
    column_sets: OnceCell<Option<Arc<ColumnSets>>>,
}

/// What `find` finds when a product asks first.
fn asked_once<T>(
    answer: &OnceCell<Option<Arc<T>>>,
    find: impl FnOnce() -> Result<Option<Arc<T>>>,
) -> Result<Option<&T>> {
    if answer.get().is_none() {
        let _ = answer.set(find()?);
    }
    Ok(answer.get().and_then(|found| found.as_deref()))
}

/// How windows and blocks walk them; of other kernels, and by default, as they stand.
#[derive(Clone, Copy, Default)]
pub(super) struct Walked<'a> {
    supernodes: Option<&'a Buffer>,
    sets: Option<&'a ColumnSets>,
}

impl<'a> Walked<'a> {
    /// Whether rows are column sets.
    pub(super) fn in_sets(self) -> bool {
        self.sets.is_some()
    }
    /// How many of so many products with rows of B's pattern there are by sets; as many where there are none.
    pub(super) fn products(self, pattern: &DevicePattern, products: u64) -> u64 {
        let Some(sets) = self.sets else { return products };
        let all = u128::from(products) * u128::from(sets.operand().pattern.nnz);
        u64::try_from(all.div_ceil(u128::from(pattern.nnz.max(1)))).unwrap_or(products)
    }
    /// The flags of kernels that walk rows so.
    pub(super) fn flags(self) -> impl Iterator<Item = &'static str> {
        self.supernodes.map(|_| "supernodes").into_iter().chain(self.sets.map(|_| "column_sets"))
    }
    pub(super) fn flagged(self, spec: Spec) -> Spec {
        self.flags().fold(spec, |spec, flag| spec.flag(flag, true))
    }
    /// B's rows as arguments: offsets and columns, or those of its sets.
    pub(super) fn rows<'l>(self, pattern: &'l DevicePattern, launch: Launch<'l>) -> Launch<'l>
    where
        'a: 'l,
    {
        match self.sets {
            None => launch.arg(&pattern.offsets).arg(&pattern.indices),
            Some(sets) => sets.rows(launch),
        }
    }
    /// What else there is to them as arguments: `joined` and `sets`, nulls where there are none.
    pub(super) fn arguments<'l>(self, launch: Launch<'l>) -> Launch<'l>
    where
        'a: 'l,
    {
        launch.arg(self.supernodes).arg(ColumnSets::columns(self.sets))
    }
}

impl Job<'_> {
    /// How B's rows are walked by windows and blocks, `numeric` or only to count.
    pub(super) fn walked(&self, numeric: bool) -> Result<Walked<'_>> {
        Ok(Walked { supernodes: self.supernodes()?, sets: self.column_sets(numeric)? })
    }
    /// Rows of B with the columns of the row before, if they are known and many: what `supernodes` kernels walk together.
    pub(super) fn supernodes(&self) -> Result<Option<&Buffer>> {
        asked_once(&self.known.joined, || joined_rows(self.b.pattern))
    }
    /// Rows of B as bits, if they are known and worth it, for blocks that count columns. A mask is looked up column by column.
    pub(super) fn row_bits(&self) -> Result<Option<&RowBits>> {
        if self.mask.is_some() { Ok(None) } else { asked_once(&self.known.row_bits, || row_bits(self.b.pattern)) }
    }
    /// Rows of B as column sets, if they are known and few, for windows and blocks that only tell which columns there are: to count
    /// them, or, `numeric`, where sums are constant. A mask is looked up column by column.
    pub(super) fn column_sets(&self, numeric: bool) -> Result<Option<&ColumnSets>> {
        let tells_columns = self.mask.is_none() && (!numeric || self.semiring.is_constant());
        if tells_columns { asked_once(&self.known.column_sets, || column_sets(self.b.pattern)) } else { Ok(None) }
    }
}
