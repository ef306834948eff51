//! The columns of a matrix as rows: found when a full vector is multiplied from the left with the same values a second time, and
//! kept with the positions. Dot products under a mask ask for them in the same way.
use super::row_tiles::RowTiles;
use super::values::NOTHING;
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::account;
use crate::backend::cuda::structure::transpose::transpose;
use crate::backend::cuda::{Buffer, DevicePattern, lock};
use crate::error::{Error, Result};
use crate::storage::footprint::Footprint;
use oplus_codegen::text::ScalarText;
use std::sync::Arc;

/// No more of the memory that can be had than one part in so many.
const PART: u64 = 4;

/// The transpose of a matrix.
#[derive(Debug)]
pub(crate) struct Turned {
    pattern: Arc<DevicePattern>,
    values: Arc<Buffer>,
}
impl Turned {
    pub(crate) fn new(pattern: impl Into<Arc<DevicePattern>>, values: impl Into<Arc<Buffer>>) -> Self {
        Self { pattern: pattern.into(), values: values.into() }
    }
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        self.pattern.footprint(to);
        self.values.footprint(to);
    }
    pub(crate) fn operand(&self) -> Operand<'_> {
        Operand { pattern: &self.pattern, values: &self.values }
    }
}

/// What is known of a pattern's columns, and with which values, as [`Buffer::serial`] counts them; 0: with any.
#[derive(Debug, Default)]
pub(crate) enum Columns {
    #[default]
    Unasked,
    Once(u64),
    Kept(u64, Arc<Turned>),
}

impl Columns {
    pub(crate) fn kept(&self) -> Option<Arc<Turned>> {
        match self {
            Columns::Kept(_, turned) => Some(turned.clone()),
            _ => None,
        }
    }
}

impl DevicePattern {
    /// Remembers columns that are there already, with the values that `values` has by rows.
    pub(crate) fn keep_columns(&self, values: &Buffer, columns: Turned) {
        *lock(&self.columns) = Columns::Kept(values.serial(), Arc::new(columns));
    }
    /// Whether columns are there already.
    pub(crate) fn keeps_columns(&self) -> bool {
        matches!(&*lock(&self.columns), Columns::Kept(..))
    }
}

/// Aᵀ, if A is asked for a second time and there is room for it. Where values are not read they may be any.
pub(crate) fn columns_of(a: Operand<'_>, scalar: ScalarText, reads: bool) -> Result<Option<Arc<Turned>>> {
    let serial = if reads { a.values.serial() } else { 0 };
    let mut known = lock(&a.pattern.columns);
    match &*known {
        Columns::Kept(of, turned) if *of == serial || !reads => return Ok(Some(turned.clone())),
        Columns::Once(of) if *of == serial => {}
        _ => {
            *known = Columns::Once(serial);
            return Ok(None);
        }
    }
    let scalar = if reads { scalar } else { NOTHING };
    // Where there is no room for them now there may be another time.
    if !has_room(a.pattern, scalar)? {
        return Ok(None);
    }
    // What an operand keeps is not the operation's.
    let made = account::outside(|| {
        let (pattern, values) = transpose(scalar, a)?;
        RowTiles::of(&pattern)?;
        Ok((pattern, values))
    });
    let (pattern, values) = match made {
        Err(Error::OutOfMemory { .. }) => return Ok(None),
        made => made?,
    };
    let turned = Arc::new(Turned::new(pattern, values));
    *known = Columns::Kept(serial, turned.clone());
    Ok(Some(turned))
}

/// Aᵀ, if it is kept.
pub(crate) fn kept(a: Operand<'_>, reads: bool) -> Option<Arc<Turned>> {
    match &*lock(&a.pattern.columns) {
        Columns::Kept(of, turned) if *of == a.values.serial() || !reads => Some(turned.clone()),
        _ => None,
    }
}

/// Aᵀ, if it is kept; and if A is asked for a second time, unless the operation is held to a limit: then nothing more is kept.
pub(crate) fn columns_within(a: Operand<'_>, scalar: ScalarText, reads: bool) -> Result<Option<Arc<Turned>>> {
    if account::is_limited() { Ok(kept(a, reads)) } else { columns_of(a, scalar, reads) }
}

/// Whether [`columns_of`] makes Aᵀ when it is asked for next, if there is room.
pub(crate) fn are_made_next(a: Operand<'_>, reads: bool) -> bool {
    let serial = if reads { a.values.serial() } else { 0 };
    matches!(&*lock(&a.pattern.columns), Columns::Once(of) if *of == serial)
}

/// Aᵀ: kept, or made for this operation alone.
pub(crate) fn by_columns(a: Operand<'_>, scalar: ScalarText, reads: bool) -> Result<Arc<Turned>> {
    if let Some(kept) = columns_within(a, scalar, reads)? {
        return Ok(kept);
    }
    let (pattern, values) = transpose(if reads { scalar } else { NOTHING }, a)?;
    Ok(Arc::new(Turned::new(pattern, values)))
}

/// Entries, and places for every column and for tiles of them.
fn has_room(pattern: &DevicePattern, scalar: ScalarText) -> Result<bool> {
    let entries = pattern.nnz.saturating_mul(4 + scalar.size as u64);
    let needed = entries.saturating_add(20 * (pattern.ncols as u64 + 1));
    let context = pattern.offsets.context();
    // The driver is not asked about what the device never has room for.
    Ok(needed <= context.properties().total_memory / PART && needed <= context.available()? / PART)
}
