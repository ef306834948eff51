//! Entries in any format but compressed rows of their own values: operations that do not know the format ask for the list.
use super::bitmap::fill_unset;
use super::footprint::Footprint;
use super::frame::{Cells, Form, Frame};
use super::pattern::Pattern;
use crate::algebra::Scalar;
use crate::algebra::scalar::as_bytes;
use crate::backend::cpu::{self, SERIAL, Shared, each_piece, unwritten, written};
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory::{self, Buffer};
use std::sync::{Arc, OnceLock};

/// The values of slots.
#[derive(Debug)]
pub(crate) enum Values<T> {
    /// One each; anything where there is no entry.
    All(Arc<Buffer<T>>),
    /// The same for all: iso.
    One(T),
}
impl<T> From<Vec<T>> for Values<T> {
    fn from(values: Vec<T>) -> Self {
        Values::All(Arc::new(values.into()))
    }
}
impl<T: Copy> Values<T> {
    #[inline(always)]
    pub(crate) fn at(&self, slot: usize) -> T {
        match self {
            Values::All(values) => values[slot],
            Values::One(value) => *value,
        }
    }
}

/// Entries. Clones share everything; nothing changes once it is shared.
#[derive(Debug)]
pub(crate) struct Held<T> {
    pub(crate) frame: Arc<Frame>,
    pub(crate) values: Arc<Values<T>>,
    lists: Arc<Lists<T>>,
}

/// The entries as compressed rows, once an operation has asked for them.
#[derive(Debug)]
struct Lists<T> {
    listed: OnceLock<HostCsr<T>>,
    /// The positions with values that nobody may look at.
    blank: OnceLock<HostCsr<T>>,
}
impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { listed: OnceLock::new(), blank: OnceLock::new() }
    }
}
impl<T> Clone for Held<T> {
    fn clone(&self) -> Self {
        Self { frame: self.frame.clone(), values: self.values.clone(), lists: self.lists.clone() }
    }
}

/// The value that all are, bit for bit.
pub(crate) fn uniform<T: Scalar>(values: &[T]) -> Option<T> {
    let bytes = as_bytes(values);
    let value = *values.first()?;
    (bytes[..bytes.len() - size_of::<T>()] == bytes[size_of::<T>()..]).then_some(value)
}

impl<T> Held<T> {
    pub(crate) fn new(frame: Arc<Frame>, values: Values<T>) -> Self {
        Self { frame, values: Arc::new(values), lists: Arc::default() }
    }
    /// One value at every position.
    pub(crate) fn iso(pattern: Arc<Pattern>, value: T) -> Self {
        let count = pattern.nnz();
        Self::new(Arc::new(Frame::new(Form::Rows(pattern), count)), Values::One(value))
    }
    /// One value at the same positions.
    pub(crate) fn with<U>(&self, value: U) -> Held<U> {
        Held::new(self.frame.clone(), Values::One(value))
    }
    /// The same positions for another scalar, where there is no entry.
    pub(crate) fn without_values<U>(self) -> Held<U> {
        Held::new(self.frame, Values::All(Arc::default()))
    }
    /// The same entries, whose list is forgotten with them: for operations that look at all once.
    pub(crate) fn once(&self) -> Self {
        match &*self.values {
            Values::One(_) if self.lists.listed.get().is_none() => {
                Self { frame: self.frame.clone(), values: self.values.clone(), lists: Arc::default() }
            }
            _ => self.clone(),
        }
    }
}

impl<T: Scalar> Held<T> {
    /// Whether it is a list of positions, whose value is one.
    pub(crate) fn is_rows(&self) -> bool {
        matches!(&self.frame.form, Form::Rows(_))
    }
    /// Whether there is a cell for everything, all entries.
    pub(crate) fn is_full(&self) -> bool {
        matches!(&self.frame.form, Form::Cells(cells) if cells.words.is_none())
    }
    /// The one value.
    pub(crate) fn one(&self) -> Option<T> {
        match &*self.values {
            Values::One(value) => Some(*value),
            Values::All(_) => None,
        }
    }
    pub(crate) fn get(&self, row: usize, column: u32) -> Option<T> {
        self.frame.slot(row, column).map(|slot| self.values.at(slot))
    }
    /// Values for other slots: `f` of those that `each` visits, in its order.
    fn moved(operation: &'static str, to: usize, value: Option<T>, put: impl FnOnce(&mut [T])) -> Result<Values<T>> {
        if let Some(value) = value {
            return Ok(Values::One(value));
        }
        let mut values = memory::zeroed(operation, to)?;
        put(&mut values);
        Ok(values.into())
    }
    /// The entries of a list, or one value at its positions, in a frame made of its positions.
    pub(crate) fn of(operation: &'static str, frame: Frame, list: &HostCsr<T>, one: Option<T>) -> Result<Self> {
        let pattern = &list.pattern;
        let values = match &frame.form {
            // All cells in the order of the list.
            Form::Cells(c) if c.words.is_none() && one.is_none() => Values::All(list.values.clone()),
            _ => Self::moved(operation, frame.slots(), one, |to| {
                let to = Shared::new(to);
                each_piece(pattern.nrows, rows_at_once(pattern), &|rows| {
                    for row in rows {
                        let mut next = pattern.range(row);
                        frame.each(row, |_, slot| {
                            let value = next.next().map_or_else(T::zeroed, |e| list.values[e]);
                            // SAFETY: a slot is one row's, and there is one for every entry.
                            unsafe { to.write(slot, value) };
                        });
                    }
                });
            })?,
        };
        Ok(Self::new(Arc::new(frame), values))
    }
    /// A value for every cell, `absent` where there is no entry; the values themselves where nobody else has them. Of cells alone.
    pub(crate) fn into_cells(self, operation: &'static str, absent: T) -> Result<Vec<T>> {
        let Self { frame, values, lists } = self;
        drop(lists);
        let mut all = match Arc::try_unwrap(values) {
            Ok(Values::All(values)) => memory::owned(operation, values)?,
            Ok(Values::One(value)) => filled(operation, frame.slots(), value)?,
            Err(shared) => match &*shared {
                Values::All(values) => memory::copied(operation, values)?,
                Values::One(value) => filled(operation, frame.slots(), *value)?,
            },
        };
        if let Form::Cells(Cells { words: Some(words), .. }) = &frame.form {
            fill_unset(words, &mut all, absent);
        }
        Ok(all)
    }
    /// By columns.
    pub(crate) fn by_columns(list: &HostCsr<T>, one: Option<T>) -> Result<Self> {
        let (pattern, values) = match one {
            Some(value) => {
                let none = memory::filled("to_format", list.pattern.nnz(), ())?;
                (cpu::transpose::<()>(&list.pattern, &none)?.0, Values::One(value))
            }
            None => {
                let (pattern, values) = cpu::transpose(&list.pattern, &list.values)?;
                (pattern, values.into())
            }
        };
        let frame = Frame::listed_as(Form::Columns(Arc::new(pattern)), &list.pattern);
        let made = Self::new(Arc::new(frame), values);
        if one.is_none() {
            // Both are kept: each is there for what reads it best.
            let _ = made.lists.listed.set(list.clone());
        }
        Ok(made)
    }
    /// The entries as compressed rows; made when first asked for, and kept.
    pub(crate) fn listed(&self, operation: &'static str) -> Result<&HostCsr<T>> {
        if let Some(listed) = self.lists.listed.get() {
            return Ok(listed);
        }
        let frame = &self.frame;
        let made = match (&*self.values, &frame.form) {
            (Values::One(value), _) => {
                let pattern = frame.pattern(operation)?.clone();
                let values = filled(operation, pattern.nnz(), *value)?;
                HostCsr::at(pattern, values)
            }
            (Values::All(values), Form::Rows(pattern)) => HostCsr { pattern: pattern.clone(), values: values.clone() },
            (Values::All(values), Form::Columns(columns)) => {
                let (pattern, values) = cpu::transpose(columns, values)?;
                HostCsr::at(frame.keep(pattern).clone(), values)
            }
            (Values::All(values), Form::Cells(c)) if c.words.is_none() => {
                HostCsr { pattern: frame.pattern(operation)?.clone(), values: values.clone() }
            }
            (Values::All(from), _) => {
                let pattern = frame.pattern(operation)?.clone();
                let mut values = unwritten::<T>(operation, pattern.nnz())?;
                let to = Shared::new(&mut values);
                each_piece(pattern.nrows, rows_at_once(&pattern), &|rows| {
                    for row in rows {
                        // SAFETY: rows are disjoint.
                        let mut room = unsafe { to.part(pattern.range(row)) }.iter_mut();
                        frame.each(row, |_, slot| _ = room.next().map(|to| to.write(from[slot])));
                    }
                });
                // SAFETY: the list has as many entries a row as the frame.
                HostCsr::at(pattern.clone(), unsafe { written(values, pattern.nnz()) })
            }
        };
        Ok(self.lists.listed.get_or_init(|| made))
    }
    /// The transpose of what is stored by columns, which is its rows, along diagonals, or has an entry in every cell.
    pub(crate) fn turned(&self, operation: &'static str) -> Result<Option<Self>> {
        Ok(Some(match (&self.frame.form, &*self.values) {
            (Form::Columns(pattern), Values::One(value)) => Self::iso(pattern.clone(), *value),
            (Form::Columns(pattern), Values::All(values)) => {
                let frame = Frame::new(Form::Rows(pattern.clone()), pattern.nnz());
                Self::new(Arc::new(frame), Values::All(values.clone()))
            }
            (Form::Cells(Cells { nrows, ncols, words: None }), values) => {
                let values = match values {
                    Values::One(value) => Values::One(*value),
                    Values::All(values) => cpu::turned_cells(operation, (*nrows, *ncols), values)?.into(),
                };
                let form = Form::Cells(Cells { nrows: *ncols, ncols: *nrows, words: None });
                Self::new(Arc::new(Frame::new(form, self.frame.count())), values)
            }
            (Form::Diagonals(diagonals), values) => {
                let Some(turned) = diagonals.turned(operation)? else { return Ok(None) };
                let values = match values {
                    Values::One(value) => Values::One(*value),
                    Values::All(values) => diagonals.values_turned(operation, values)?.into(),
                };
                Self::new(Arc::new(Frame::new(Form::Diagonals(turned), self.frame.count())), values)
            }
            _ => return Ok(None),
        }))
    }
    /// The positions with values that nobody may look at: the list where it is known, else memory that is not touched.
    pub(crate) fn blank(&self, operation: &'static str) -> Result<&HostCsr<T>> {
        if let Some(known) = self.lists.listed.get().or(self.lists.blank.get()) {
            return Ok(known);
        }
        let pattern = self.frame.pattern(operation)?.clone();
        let values = memory::zeroed(operation, pattern.nnz())?;
        Ok(self.lists.blank.get_or_init(|| HostCsr::at(pattern, values)))
    }
    /// Sets the value of an entry. `false`, and nothing changes, where there is none or somebody shares the values.
    pub(crate) fn set(&mut self, row: usize, column: u32, value: T) -> bool {
        let Some(slot) = self.frame.slot(row, column) else { return false };
        // The list may share the values.
        if let Some(lists) = Arc::get_mut(&mut self.lists) {
            lists.listed.take();
        }
        let old = match Arc::get_mut(&mut self.values) {
            Some(Values::All(values)) => Arc::get_mut(values).and_then(|values| values.get_mut(slot)),
            _ => None,
        };
        let Some(old) = old else { return false };
        *old = value;
        self.lists = Arc::default();
        true
    }
    /// Forgets what was listed, if nobody else knows of it.
    pub(super) fn forget_lists(&mut self) {
        self.lists = Arc::default();
    }
    /// Counts all that is kept.
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        match &*self.values {
            Values::All(values) => _ = to.slice(values),
            Values::One(value) => _ = to.slice(std::slice::from_ref(value)),
        }
        self.frame.footprint(to);
        for list in [&self.lists.listed, &self.lists.blank].into_iter().filter_map(OnceLock::get) {
            list.footprint(to);
        }
    }
}

/// Rows of a list that a thread moves at once.
fn rows_at_once(list: &Pattern) -> usize {
    (SERIAL * list.nrows / list.nnz().max(1)).clamp(1, SERIAL)
}

/// `n` copies of a value: untouched memory where its bytes are zero.
pub(super) fn filled<T: Scalar>(operation: &'static str, n: usize, value: T) -> Result<Vec<T>> {
    if as_bytes(&[value]).iter().all(|b| *b == 0) {
        return memory::zeroed(operation, n);
    }
    cpu::filled(operation, n, value)
}
