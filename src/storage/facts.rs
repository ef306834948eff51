//! What follows from a pattern and is worth keeping: patterns never change once they are shared.
use super::footprint::Footprint;
use super::pattern::Pattern;
use crate::algebra::Scalar;
use crate::backend::cpu::Batch;
use crate::error::Result;
use crate::memory::Buffer;
use std::any::Any;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Facts about one pattern, found out when first asked for and kept as long as the pattern. They are no part of its value:
/// equal patterns may know different facts, and a copy, which may be changed, knows none.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Entries in the longest row.
    pub(crate) longest: OnceLock<u64>,
    /// Whether every row has an entry.
    pub(crate) every_row: OnceLock<bool>,
    /// The columns that have an entry, as a row.
    pub(crate) columns: OnceLock<Arc<Pattern>>,
    /// The rows that have an entry, as a row.
    pub(crate) rows: OnceLock<Arc<Pattern>>,
    /// Entries copied by the accumulations that led to this row, one after the other.
    pub(crate) merged: AtomicUsize,
    /// Whether somebody has asked for the batches.
    pub(crate) pulled: AtomicBool,
    /// How often somebody has asked for the transpose, or would have read columns.
    pub(crate) turns: AtomicUsize,
    /// The transpose.
    pub(crate) turned: OnceLock<Arc<Turned>>,
    /// Rows by length, some at a time.
    pub(crate) batches: OnceLock<Arc<Vec<Batch>>>,
    /// Whether somebody has asked for the cuts.
    pub(crate) pushed: AtomicBool,
    /// `None` where most rows would lie in several parts.
    pub(crate) cuts: OnceLock<Option<Arc<ColumnCuts>>>,
}

/// A pattern's transpose.
#[derive(Debug)]
pub(crate) struct Turned {
    pub(crate) pattern: Arc<Pattern>,
    /// For each of its entries the one it was.
    pub(crate) from: Vec<u32>,
    moved: Mutex<Option<Moved>>,
}

/// The values that were last needed in the order of the transpose, by their [`Buffer::state`], where they are kept in it.
#[derive(Debug)]
struct Moved {
    of: u64,
    values: Option<Arc<dyn Any + Send + Sync>>,
    /// Their address and bytes.
    piece: (u64, u64),
}

impl Turned {
    pub(crate) fn new(pattern: Pattern, from: Vec<u32>) -> Self {
        Self { pattern: Arc::new(pattern), from, moved: Mutex::default() }
    }
    /// Values of the pattern's entries in the order of the transpose, once they are needed twice without others in between: then by
    /// `make`, and kept until others are needed.
    pub(crate) fn moved<T: Scalar>(
        &self,
        values: &Buffer<T>,
        make: impl FnOnce() -> Result<Vec<T>>,
    ) -> Option<Arc<Buffer<T>>> {
        let of = values.state();
        {
            let mut last = self.last();
            match &*last {
                Some(known) if known.of == of => {
                    if let Some(kept) = &known.values {
                        return kept.clone().downcast().ok();
                    }
                }
                _ => {
                    *last = Some(Moved { of, values: None, piece: (0, 0) });
                    return None;
                }
            }
        }
        let made: Arc<Buffer<T>> = Arc::new(make().ok()?.into());
        let piece = (made.as_ptr() as u64, size_of_val(&made[..]) as u64);
        *self.last() = Some(Moved { of, values: Some(made.clone()), piece });
        Some(made)
    }
    fn last(&self) -> MutexGuard<'_, Option<Moved>> {
        self.moved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ranges of columns with about equal numbers of entries.
#[derive(Debug)]
pub(crate) struct ColumnCuts {
    /// The first column of each part, and the number of columns: one more than parts.
    pub(crate) starts: Vec<u32>,
    /// For each part the first row with an entry in it and the one after the last.
    pub(crate) rows: Vec<Range<u32>>,
}

impl Facts {
    pub(super) fn footprint(&self, to: &mut Footprint) {
        for row in [&self.columns, &self.rows].into_iter().filter_map(OnceLock::get) {
            row.footprint(to);
        }
        if let Some(turned) = self.turned.get() {
            turned.pattern.footprint(to);
            to.slice(&turned.from);
            if let Some(Moved { values: Some(_), piece: (address, bytes), .. }) = &*turned.last() {
                to.piece(*address, *bytes);
            }
        }
        if let Some(batches) = self.batches.get() {
            to.slice(batches);
        }
        if let Some(Some(cuts)) = self.cuts.get() {
            to.slice(&cuts.starts);
            to.slice(&cuts.rows);
        }
    }
}
impl Clone for Facts {
    fn clone(&self) -> Self {
        Self::default()
    }
}
impl PartialEq for Facts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for Facts {}

/// The fact, made where it is not there. Threads that ask at once may each make it; all get the same one.
pub(crate) fn known<T: Clone>(fact: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<T> {
    if let Some(known) = fact.get() {
        return Ok(known.clone());
    }
    let made = make()?;
    Ok(fact.get_or_init(|| made).clone())
}
