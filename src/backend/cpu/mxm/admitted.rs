//! Masks of a product over positions alone, which is there before they are asked: as bits, row by row, or one entry after the other.
use super::analysis::{OnMask, sampled};
use crate::algebra::Scalar;
use crate::backend::MaskBody;
use crate::backend::cpu::parallel::{SERIAL, Shared, collected, each_piece, joined, nth_piece, unwritten, written};
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::frame::{Cells, Form};
use crate::storage::pattern::Pattern;

/// A mask as it is read here.
#[derive(Clone, Copy)]
pub(crate) enum Admitted<'a> {
    All,
    /// Of a list, and whether what is not in it.
    Listed(&'a Pattern, bool),
    /// The same of cells.
    Bits(&'a Cells, bool),
}

impl<'a> Admitted<'a> {
    pub(crate) fn of(mask: Option<&'a MaskBody>) -> Result<Self> {
        let Some(mask) = mask else { return Ok(Self::All) };
        if let MaskBody::Cells(m, _) = mask
            && let Form::Cells(cells) = &m.pattern.form
        {
            return Ok(Self::Bits(cells, m.complement));
        }
        let listed = mask.on_host()?;
        Ok(Self::Listed(&listed.pattern, listed.complement))
    }
    pub(crate) fn by_list(mask: OnMask<'a>) -> Self {
        mask.map_or(Self::All, |m| Self::Listed(&m.pattern, m.complement))
    }
    /// How many of a row's columns are admitted.
    pub(crate) fn most(&self, i: usize, columns: usize) -> u64 {
        let (there, complement) = match *self {
            Self::All => return columns as u64,
            Self::Listed(pattern, complement) => (pattern.range(i).len() as u64, complement),
            Self::Bits(cells, complement) => {
                ((0..cells.ncols.div_ceil(64)).map(|w| u64::from(cells.word(i, w).count_ones())).sum(), complement)
            }
        };
        if complement { columns as u64 - there } else { there }
    }
    pub(crate) fn has(&self, i: usize, j: u32) -> bool {
        match *self {
            Self::All => true,
            Self::Listed(pattern, complement) => pattern.find(i, j).is_some() != complement,
            Self::Bits(cells, complement) => cells.has(i * cells.ncols + j as usize) != complement,
        }
    }
    /// Leaves of a row's bits those that are admitted.
    pub(crate) fn keep(&self, i: usize, row: &mut [u64]) {
        match *self {
            Self::All => {}
            Self::Listed(pattern, true) => {
                pattern.row(i).iter().for_each(|j| row[*j as usize >> 6] &= !(1 << (j & 63)));
            }
            Self::Listed(pattern, false) => among(row, pattern.row(i)),
            Self::Bits(cells, complement) => {
                let flip = if complement { u64::MAX } else { 0 };
                row.iter_mut().enumerate().for_each(|(w, word)| *word &= cells.word(i, w) ^ flip);
            }
        }
    }
}

/// The bits of these ascending columns alone.
fn among(row: &mut [u64], columns: &[u32]) {
    let mut next = 0;
    for (w, word) in row.iter_mut().enumerate() {
        let mut admitted = 0;
        while let Some(j) = columns.get(next).filter(|j| **j as usize >> 6 == w) {
            admitted |= 1 << (j & 63);
            next += 1;
        }
        *word &= admitted;
    }
}

/// Of a product that no mask has seen the positions that one admits, where looking them up takes fewer steps than a list of the mask; and the cells
/// that it does not admit.
pub(crate) fn looked_up<'m>(
    a: &Pattern,
    b: &Pattern,
    mask: Option<&'m MaskBody>,
) -> Option<(&'m Cells, impl Fn(&'static str, &Pattern) -> Result<Pattern> + use<'m>)> {
    let Some(MaskBody::Cells(m, listed)) = mask else { return None };
    let Form::Cells(cells) = &m.pattern.form else { return None };
    let few = m.complement && listed.get().is_none() && sampled(a, b) <= m.pattern.count() as u64;
    let admitted = move |operation, all: &Pattern| {
        // So many rows at a time have enough entries for a thread, each a visit to the mask.
        let each = (SERIAL / 8 * all.nrows / all.nnz().max(1)).max(1);
        let kept = |piece: usize| {
            let rows = nth_piece(all.nrows, each, piece);
            let mut counts = memory::with_capacity(operation, rows.len())?;
            let mut kept =
                memory::with_capacity(operation, (all.offsets[rows.end] - all.offsets[rows.start]) as usize)?;
            for i in rows {
                let before = kept.len();
                kept.extend(all.row(i).iter().filter(|j| !cells.has(i * cells.ncols + **j as usize)));
                counts.push((kept.len() - before) as u64);
            }
            Ok((counts, kept))
        };
        let pieces = all.nrows.div_ceil(each);
        let (offsets, indices) = stacked(operation, all.nrows, collected(operation, pieces, &kept)?)?;
        Ok(Pattern::new(all.nrows, all.ncols, offsets, indices))
    };
    few.then_some((cells, admitted))
}

/// Those of all entries that are at these positions, each of which has one.
pub(crate) fn kept<T: Scalar>(operation: &'static str, positions: Pattern, all: HostCsr<T>) -> Result<HostCsr<T>> {
    if positions.nnz() == all.pattern.nnz() {
        return Ok(all);
    }
    let mut values = unwritten::<T>(operation, positions.nnz())?;
    let to = Shared::new(&mut values);
    each_piece(positions.nrows, (SERIAL * all.pattern.nrows / all.pattern.nnz().max(1)).max(1), &|rows| {
        for i in rows {
            let (columns, from) = all.row(i);
            // SAFETY: rows are disjoint.
            let room = unsafe { to.part(positions.range(i)) };
            let mut at = 0;
            for (j, room) in positions.row(i).iter().zip(room) {
                while columns[at] != *j {
                    at += 1;
                }
                room.write(from[at]);
            }
        }
    });
    // SAFETY: every position has an entry, whose value was written.
    let values = unsafe { written(values, positions.nnz()) };
    Ok(HostCsr::new(positions, values))
}

/// How many entries rows have and their columns, of some rows and the next ones and so on, under each other: where rows begin, and all columns.
pub(crate) fn stacked<N: AsRef<[u64]>>(
    operation: &'static str,
    nrows: usize,
    made: Vec<Result<(N, Vec<u32>)>>,
) -> Result<(Vec<u64>, Vec<u32>)> {
    let mut offsets = memory::with_capacity(operation, nrows + 1)?;
    let mut parts = memory::with_capacity(operation, made.len())?;
    let mut end = 0;
    offsets.push(end);
    for made in made {
        let (counts, columns) = made?;
        offsets.extend(counts.as_ref().iter().take(nrows + 1 - offsets.len()).map(|count| {
            end += count;
            end
        }));
        parts.push(columns);
    }
    if parts.len() == 1 {
        return Ok((offsets, parts.swap_remove(0)));
    }
    let mut slices = memory::with_capacity(operation, parts.len())?;
    slices.extend(parts.iter().map(|part| &part[..]));
    Ok((offsets, joined(operation, &slices, 0)?))
}
