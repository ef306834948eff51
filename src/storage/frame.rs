//! Where entries lie that are no compressed rows: by columns, in a cell for every position, along diagonals.
use super::bitmap;
pub(crate) use super::diagonals::Diagonals;
use super::footprint::Footprint;
use super::pattern::Pattern;
use crate::backend::cpu::{self, Shared};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory;
use std::sync::{Arc, OnceLock};

/// Positions, each with a slot for its value, and their list by rows once an operation has asked for it.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) form: Form,
    count: usize,
    listed: OnceLock<Arc<Pattern>>,
}

/// How positions are told.
#[derive(Debug)]
pub(crate) enum Form {
    /// Compressed rows.
    Rows(Arc<Pattern>),
    /// Compressed columns: the rows of the transpose.
    Columns(Arc<Pattern>),
    /// A slot for every cell, row by row.
    Cells(Cells),
    /// A slot for every row of every diagonal in use.
    Diagonals(Diagonals),
}

/// Bit r · ncols + c of the words says whether there is an entry; without words all are there.
#[derive(Debug)]
pub(crate) struct Cells {
    pub(crate) nrows: usize,
    pub(crate) ncols: usize,
    pub(crate) words: Option<Vec<u64>>,
}

/// Where fewer cells than this part are entries, a list of them is shorter.
pub(crate) const SPARSE: usize = 16;
/// More slots than this are refused before memory is asked for.
const MOST: u128 = 1 << 40;

/// How many slots of `size` bytes, and a bit each, there would be, if that can be.
pub(crate) fn slots(
    operation: &'static str,
    device: Device,
    lines: usize,
    length: usize,
    size: usize,
) -> Result<usize> {
    let n = lines as u128 * length as u128;
    let bytes = n.saturating_mul(size as u128).saturating_add(n.div_ceil(8));
    if n >= MOST || bytes > isize::MAX as u128 {
        let needed = u64::try_from(bytes).unwrap_or(u64::MAX);
        let device = if let Device::Cuda(_) = device { device.to_string() } else { "host".into() };
        return Err(Error::OutOfMemory { operation, device, needed, available: None });
    }
    Ok(n as usize)
}

/// How many places of a diagonal are inside the shape.
pub(crate) fn inside((nrows, ncols): (usize, usize), offset: i64) -> usize {
    ((nrows as i64).min(ncols as i64 - offset) - 0.max(-offset)) as usize
}

/// `n` bits, 1 to 64, from `first` on.
#[inline(always)]
pub(super) fn bits(words: &[u64], first: usize, n: usize) -> u64 {
    let (at, shift) = (first >> 6, first & 63);
    let word = match shift {
        0 => words[at],
        _ => words[at] >> shift | words.get(at + 1).map_or(0, |upper| upper << (64 - shift)),
    };
    if n < 64 { word & !(u64::MAX << n) } else { word }
}

#[inline(always)]
pub(crate) fn bit(words: &[u64], slot: usize) -> bool {
    words[slot >> 6] >> (slot & 63) & 1 != 0
}

impl Cells {
    #[inline(always)]
    pub(crate) fn has(&self, slot: usize) -> bool {
        self.words.as_ref().is_none_or(|words| bit(words, slot))
    }
    /// Bits 64 · w and on of a row, whatever bit of a word it begins at; none behind its end.
    #[inline(always)]
    pub(crate) fn word(&self, row: usize, w: usize) -> u64 {
        let (first, left) = (row * self.ncols + 64 * w, (self.ncols - 64 * w).min(64));
        match &self.words {
            Some(words) => bits(words, first, left),
            None if left < 64 => !(u64::MAX << left),
            None => u64::MAX,
        }
    }
    /// The columns of each row's entries.
    fn listed(&self, operation: &'static str) -> Result<Pattern> {
        let words = self.ncols.div_ceil(64);
        let offsets = match &self.words {
            None => cpu::in_pieces(operation, self.nrows + 1, |row| (row * self.ncols) as u64)?,
            Some(_) => {
                cpu::scan(operation, self.nrows, |row| (0..words).map(|w| self.word(row, w).count_ones() as u64).sum())?
            }
        };
        let n = offsets[self.nrows] as usize;
        let mut indices = cpu::unwritten::<u32>(operation, n)?;
        let to = Shared::new(&mut indices);
        cpu::each_piece(self.nrows, (cpu::SERIAL / self.ncols.max(1)).max(1), &|rows| {
            for row in rows {
                // SAFETY: rows are disjoint.
                let room = unsafe { to.part(offsets[row] as usize..offsets[row + 1] as usize) };
                bitmap::listed(0, (0..words).map(|w| self.word(row, w)), room);
            }
        });
        // SAFETY: every row has written as many as were counted.
        let indices = unsafe { cpu::written(indices, n) };
        Ok(Pattern::new(self.nrows, self.ncols, offsets, indices))
    }
    pub(super) fn copied(&self, operation: &'static str) -> Result<Self> {
        let words = self.words.as_ref().map(|words| memory::copied(operation, words)).transpose()?;
        Ok(Self { nrows: self.nrows, ncols: self.ncols, words })
    }
}

impl Frame {
    /// Entries counted by the caller.
    pub(crate) fn new(form: Form, count: usize) -> Self {
        let listed = match &form {
            Form::Rows(rows) => OnceLock::from(rows.clone()),
            _ => OnceLock::new(),
        };
        Self { form, count, listed }
    }
    /// The same, where the list is known.
    pub(crate) fn listed_as(form: Form, list: &Arc<Pattern>) -> Self {
        Self { form, count: list.nnz(), listed: OnceLock::from(list.clone()) }
    }
    pub(crate) fn count(&self) -> usize {
        self.count
    }
    /// Whether there is a cell for everything.
    pub(crate) fn has_cells(&self) -> bool {
        matches!(&self.form, Form::Cells(_))
    }
    /// Whether columns are stored.
    pub(crate) fn has_columns(&self) -> bool {
        matches!(&self.form, Form::Columns(_))
    }
    /// How many slots values have.
    pub(crate) fn slots(&self) -> usize {
        match &self.form {
            Form::Rows(p) | Form::Columns(p) => p.nnz(),
            Form::Cells(c) => c.nrows * c.ncols,
            Form::Diagonals(d) => d.offsets.len() * d.nrows,
        }
    }
    /// The slot of an entry.
    pub(crate) fn slot(&self, row: usize, column: u32) -> Option<usize> {
        match &self.form {
            Form::Rows(p) => p.find(row, column),
            Form::Columns(p) => p.find(column as usize, row as u32),
            Form::Cells(c) => Some(row * c.ncols + column as usize).filter(|slot| c.has(*slot)),
            Form::Diagonals(d) => d.slot_of_entry(row, column),
        }
    }
    /// Each entry of a row with its slot, in the order of the columns. Not of columns.
    #[inline(always)]
    pub(crate) fn each(&self, row: usize, mut f: impl FnMut(u32, usize)) {
        match &self.form {
            Form::Rows(p) => p.range(row).for_each(|e| f(p.indices[e], e)),
            Form::Columns(_) => {}
            Form::Cells(c) => {
                let first = row * c.ncols;
                (0..c.ncols).filter(|j| c.has(first + j)).for_each(|j| f(j as u32, first + j));
            }
            Form::Diagonals(d) => d.each(row, f),
        }
    }
    /// The cells and how many have an entry, for changes of both; their list is forgotten.
    pub(super) fn changing(&mut self) -> Option<(&mut Cells, &mut usize)> {
        let Form::Cells(cells) = &mut self.form else { return None };
        self.listed.take();
        Some((cells, &mut self.count))
    }
    /// The positions by rows.
    pub(crate) fn pattern(&self, operation: &'static str) -> Result<&Arc<Pattern>> {
        if let Some(listed) = self.listed.get() {
            return Ok(listed);
        }
        let made = match &self.form {
            Form::Rows(p) => return Ok(p),
            Form::Columns(p) => cpu::transpose::<()>(p, &memory::filled(operation, p.nnz(), ())?)?.0,
            Form::Cells(cells) => cells.listed(operation)?,
            Form::Diagonals(diagonals) => diagonals.listed(operation)?,
        };
        Ok(self.listed.get_or_init(|| Arc::new(made)))
    }
    /// Bytes of the list that [`pattern`](Self::pattern) makes of cells, and keeps.
    pub(crate) fn list_bytes(&self) -> u64 {
        match &self.form {
            Form::Cells(cells) if self.listed.get().is_none() => 8 * (cells.nrows as u64 + 1) + 4 * self.count as u64,
            _ => 0,
        }
    }
    /// Remembers the list.
    pub(crate) fn keep(&self, list: Pattern) -> &Arc<Pattern> {
        self.listed.get_or_init(|| Arc::new(list))
    }
    /// Counts what tells the positions, with the list where it is known.
    pub(super) fn footprint(&self, to: &mut Footprint) {
        match &self.form {
            Form::Rows(p) | Form::Columns(p) => p.footprint(to),
            Form::Cells(c) => _ = to.slice(c.words.as_deref().unwrap_or_default()),
            Form::Diagonals(d) => {
                to.slice(d.words.as_deref().unwrap_or_default());
                to.slice(&d.offsets);
            }
        }
        if let Some(list) = self.listed.get() {
            list.footprint(to);
        }
    }

    /// A bit for every cell, none where all are there.
    pub(crate) fn cells(operation: &'static str, list: &Arc<Pattern>, size: usize) -> Result<Self> {
        let (nrows, ncols) = (list.nrows, list.ncols);
        let n = slots(operation, Device::Cpu, nrows, ncols, size)?;
        let mut words = None;
        if list.nnz() < n {
            let mut bits = memory::zeroed::<u64>(operation, n.div_ceil(64))?;
            for row in 0..nrows {
                for column in list.row(row) {
                    let slot = row * ncols + *column as usize;
                    bits[slot >> 6] |= 1 << (slot & 63);
                }
            }
            words = Some(bits);
        }
        Ok(Self::new(Form::Cells(Cells { nrows, ncols, words }), list.nnz()))
    }
    /// The diagonals in use.
    pub(crate) fn diagonals(operation: &'static str, list: &Arc<Pattern>, size: usize) -> Result<Self> {
        Ok(Self::new(Form::Diagonals(Diagonals::of(operation, list, size)?), list.nnz()))
    }
}
