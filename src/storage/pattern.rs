//! The stored positions without values, in compressed sparse rows: everything symbolic works on this alone.
use super::axis::Axis;
use super::facts::Facts;
use super::footprint::Footprint;
use crate::backend::cpu::{kept, mapped};
use crate::backend::places::NONE;
use crate::error::{Error, Result};
use crate::memory::{self, Buffer};
use std::fmt::{Debug, Formatter};

/// Compressed sparse rows over places: row r's columns are `indices[offsets[r]..offsets[r + 1]]`, ascending, each once.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) nrows: usize,
    pub(crate) ncols: usize,
    /// nrows + 1 offsets, counted in u64 whatever the platform.
    pub(crate) offsets: Buffer<u64>,
    pub(crate) indices: Buffer<u32>,
    /// What was found out about the above, which is never changed once it is shared.
    pub(crate) facts: Facts,
}

impl Debug for Pattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}×{}, {} entries", self.nrows, self.ncols, self.nnz())
    }
}

impl Pattern {
    pub(crate) fn new(nrows: usize, ncols: usize, offsets: impl Into<Buffer<u64>>, indices: Vec<u32>) -> Self {
        Self { nrows, ncols, offsets: offsets.into(), indices: indices.into(), facts: Facts::default() }
    }
    pub(crate) fn empty(operation: &'static str, nrows: usize, ncols: usize) -> Result<Self> {
        Ok(Self::new(nrows, ncols, memory::filled(operation, nrows + 1, 0)?, Vec::new()))
    }
    pub(crate) fn nnz(&self) -> usize {
        self.indices.len()
    }
    /// Whether the only row has an entry at every place.
    pub(crate) fn is_full_row(&self) -> bool {
        self.nrows == 1 && self.ncols > 0 && self.nnz() == self.ncols
    }
    /// Counts offsets and indices, and what is kept of them.
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        if to.slice(&self.offsets) {
            to.slice(&self.indices);
            self.facts.footprint(to);
        }
    }
    /// The entries of some rows.
    pub(crate) fn entries(&self, rows: &std::ops::Range<usize>) -> std::ops::Range<usize> {
        self.offsets[rows.start] as usize..self.offsets[rows.end] as usize
    }
    #[inline(always)]
    pub(crate) fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }
    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> &[u32] {
        &self.indices[self.range(row)]
    }
    /// The entry at (row, column), where there is one: O(log row length).
    #[inline]
    pub(crate) fn find(&self, row: usize, column: u32) -> Option<usize> {
        // Looked through in turn: the processor guesses where that ends, and loads what is asked for there meanwhile.
        const SHORT: usize = 16;
        let range = self.range(row);
        let columns = &self.indices[range.clone()];
        if columns.len() > SHORT {
            return columns.binary_search(&column).ok().map(|e| range.start + e);
        }
        let found = columns.iter().position(|c| *c >= column)?;
        (columns[found] == column).then_some(range.start + found)
    }
    /// The one place where foreign CSR arrays are checked.
    pub(crate) fn validate(&self, operation: &'static str, values: usize) -> Result<()> {
        self.validate_lines(operation, values, ["row", "column"])
    }
    /// The same of somebody's columns, which are rows here: they are told by the words given, what is compressed and what `indices` count.
    pub(crate) fn validate_lines(
        &self,
        operation: &'static str,
        values: usize,
        [line, across]: [&'static str; 2],
    ) -> Result<()> {
        let invalid = |reason: String| Err(Error::InvalidValue { operation, reason });
        if self.offsets.len() != self.nrows + 1 {
            return invalid(format!(
                "{} offsets for {} {line}s: {line}s + 1 are needed",
                self.offsets.len(),
                self.nrows
            ));
        }
        if self.offsets[0] != 0 || self.offsets[self.nrows] != self.indices.len() as u64 {
            let (first, last) = (self.offsets[0], self.offsets[self.nrows]);
            return invalid(format!(
                "offsets run from {first} to {last}, they must run from 0 to {}",
                self.indices.len()
            ));
        }
        if values != self.indices.len() {
            return invalid(format!("{values} values for {} {across} indices", self.indices.len()));
        }
        if let Some(r) = (0..self.nrows).find(|r| self.offsets[*r] > self.offsets[r + 1]) {
            return invalid(format!("offsets decrease at {line} {r}: {} to {}", self.offsets[r], self.offsets[r + 1]));
        }
        for r in 0..self.nrows {
            let (row, start) = (self.row(r), self.offsets[r]);
            if let Some(e) = row.iter().position(|c| *c as usize >= self.ncols) {
                let (position, index) = (Some(start + e as u64), row[e] as u64);
                return Err(Error::IndexOutOfBounds {
                    operation,
                    what: across,
                    position,
                    index,
                    bound: self.ncols as u64,
                });
            }
            if let Some(e) = row.windows(2).position(|w| w[0] >= w[1]) {
                return invalid(format!(
                    "{across}s of {line} {r} are not ascending at position {}",
                    start + e as u64 + 1
                ));
            }
        }
        Ok(())
    }
    /// The entries whose indices have places on other axes, there.
    pub(crate) fn within(&self, from: (&Axis, &Axis), to: (&Axis, &Axis), operation: &'static str) -> Result<Pattern> {
        let map = |from: &Axis, to: &Axis| match from.same(to) {
            true => Ok(None),
            false => from.found_on(to, operation).map(Some),
        };
        let down = map(from.0, to.0)?;
        // A place for every index may be more than there are entries.
        let across = if from.1.is_listed() { map(from.1, to.1)? } else { None };
        let column = |c: u32| match &across {
            None if from.1.is_listed() => Some(c),
            None => to.1.place(c.into()).map(|place| place as u32),
            Some(across) => Some(across[c as usize]).filter(|c| *c != NONE),
        };
        if self.nrows == 1 && down.is_none() {
            let indices = kept(operation, self.nnz(), |e| column(self.indices[e]))?;
            return Ok(Pattern::new(1, to.1.places(), vec![0, indices.len() as u64], indices));
        }
        let mut offsets = memory::with_capacity(operation, to.0.places() + 1)?;
        let mut indices = memory::with_capacity(operation, self.nnz())?;
        for row in 0..self.nrows {
            let target = down.as_ref().map_or(row as u32, |down| down[row]);
            if target != NONE {
                // Rows before it that are new end where it begins.
                offsets.resize(target as usize + 1, indices.len() as u64);
                indices.extend(self.row(row).iter().filter_map(|c| column(*c)));
            }
        }
        offsets.resize(to.0.places() + 1, indices.len() as u64);
        Ok(Pattern::new(to.0.places(), to.1.places(), offsets, indices))
    }
    /// The same entries on axes with more places.
    pub(crate) fn spread(&self, from: (&Axis, &Axis), to: (&Axis, &Axis), operation: &'static str) -> Result<Pattern> {
        let mut offsets = memory::with_capacity(operation, to.0.places() + 1)?;
        if from.0.same(to.0) {
            offsets.extend_from_slice(&self.offsets);
        } else {
            // Rows that are new end where the next one begins.
            for (start, target) in self.offsets.iter().zip(from.0.map_to(to.0, operation)?) {
                offsets.resize(target as usize + 1, *start);
            }
            offsets.resize(to.0.places() + 1, self.nnz() as u64);
        }
        let indices = if from.1.same(to.1) {
            memory::copied(operation, &self.indices)?
        } else {
            let columns = &from.1.map_to(to.1, operation)?[..];
            mapped(operation, &self.indices, move |c| columns[c as usize])?
        };
        Ok(Pattern::new(to.0.places(), to.1.places(), offsets, indices))
    }
}
