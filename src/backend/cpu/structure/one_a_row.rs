//! One entry a row at most, where it is known in which column: a column, a diagonal.
use crate::algebra::Scalar;
use crate::backend::cpu::assemble::assemble;
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::mxv::vector::row_blocks;
use crate::backend::cpu::parallel::in_pieces;
use crate::backend::cpu::rows::Rows;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;

/// Rows up to this long are looked through.
const SHORT: usize = 16;

/// Entries that are compared at once.
const CHUNK: usize = if cfg!(test) { 4 } else { 64 };

/// The entries of a column, each as the entry of its row in one row. Short rows' are compared as they lie, whatever row they are of.
pub(crate) fn one_column<T: Scalar>(a: &HostCsr<T>, column: u32) -> Result<HostCsr<T>> {
    let (operation, pattern) = ("extract", &a.pattern);
    if let Some(turned) = pattern.facts.turned.get().filter(|_| (column as usize) < pattern.ncols) {
        // The transpose is kept, with where values are.
        let entries = turned.pattern.range(column as usize);
        let (indices, from) = (&turned.pattern.indices[entries.clone()], &turned.from[entries]);
        let values = in_pieces(operation, from.len(), |e| a.values[from[e] as usize])?;
        let row = vec![0, indices.len() as u64];
        return Ok(HostCsr::new(Pattern::new(1, pattern.nrows, row, memory::copied(operation, indices)?), values));
    }
    if pattern.nnz() > SHORT * pattern.nrows {
        return one_a_row(a, &|_| Some(column));
    }
    let kernel = |block: &Block, rows: &mut Rows<T>, _: &mut ()| {
        rows.reserve(operation, block.columns.len())?;
        let (mut row, end) = (block.columns.start as usize, block.columns.end as usize);
        let (from, to) = (pattern.offsets[row] as usize, pattern.offsets[end] as usize);
        for (c, chunk) in pattern.indices[from..to].chunks(CHUNK).enumerate() {
            // Without a branch in between.
            if !chunk.iter().fold(false, |found, j| found | (*j == column)) {
                continue;
            }
            for (e, _) in (from + c * CHUNK..).zip(chunk).filter(|(_, j)| **j == column) {
                row = row_of(&pattern.offsets[..=end], row, e as u64);
                // SAFETY: room for every row of the block was reserved, and a row has a column once.
                unsafe { rows.push_unchecked(row as u32, a.values[e]) };
            }
        }
        rows.end_row();
        Ok(())
    };
    let n = pattern.nrows;
    assemble::<T, ()>(operation, (1, n), n as u64, &row_blocks(operation, pattern)?, &kernel)
}

/// The row of entry e, which is not before `row`: most often one soon after it.
fn row_of(offsets: &[u64], row: usize, e: u64) -> usize {
    let (mut low, mut step) = (row, 1);
    while low + step < offsets.len() && offsets[low + step] <= e {
        low += step;
        step *= 2;
    }
    let most = offsets.len().min(low + step);
    low + offsets[low + 1..most].partition_point(|from| *from <= e)
}

/// Row r's entry in the column `at(r)`, if it has one, as entry r of one row.
pub(crate) fn one_a_row<T: Scalar>(a: &HostCsr<T>, at: &(dyn Fn(usize) -> Option<u32> + Sync)) -> Result<HostCsr<T>> {
    let operation = "extract";
    let kernel = |block: &Block, rows: &mut Rows<T>, _: &mut ()| {
        rows.reserve(operation, block.columns.len())?;
        for i in block.columns.clone() {
            let Some(column) = at(i as usize) else { continue };
            let (columns, values) = a.row(i as usize);
            let found = match columns.len() <= SHORT {
                true => columns.iter().position(|c| *c == column),
                false => columns.binary_search(&column).ok(),
            };
            if let Some(e) = found {
                // SAFETY: room for every row of the block was reserved.
                unsafe { rows.push_unchecked(i, values[e]) };
            }
        }
        rows.end_row();
        Ok(())
    };
    let n = a.pattern.nrows;
    assemble::<T, ()>(operation, (1, n), n as u64, &row_blocks(operation, &a.pattern)?, &kernel)
}

#[test]
fn columns_as_they_lie_are_those_row_by_row() {
    let mut random = crate::generate::Random::new(5, 0);
    for (rows, columns, each) in [(1, 1, 1), (40, 3, 2), (300, 7, 3), (200, 40, 4), (50, 9, 1)] {
        let (mut offsets, mut indices) = (vec![0], Vec::new());
        for _ in 0..rows {
            let share = random.below(each + 1);
            indices.extend((0..columns).filter(|_| random.below(columns) < share).map(|j| j as u32));
            offsets.push(indices.len() as u64);
        }
        let values: Vec<u64> = (0..indices.len() as u64).collect();
        let a = HostCsr::new(Pattern::new(rows, columns as usize, offsets, indices), values);
        for column in 0..columns as u32 + 1 {
            let (flat, each) = (one_column(&a, column).unwrap(), one_a_row(&a, &|_| Some(column)).unwrap());
            assert_eq!((&flat.pattern.indices[..], &flat.values[..]), (&each.pattern.indices[..], &each.values[..]));
        }
        // The second time the transpose is kept.
        (0..2).for_each(|_| drop(super::layout::turned(&a.pattern, &a.values).unwrap()));
        assert!(a.pattern.facts.turned.get().is_some());
        for column in 0..columns as u32 + 1 {
            let (kept, each) = (one_column(&a, column).unwrap(), one_a_row(&a, &|_| Some(column)).unwrap());
            assert_eq!((&kept.pattern.indices[..], &kept.values[..]), (&each.pattern.indices[..], &each.values[..]));
            assert_eq!((kept.pattern.ncols, &kept.pattern.offsets), (each.pattern.ncols, &each.pattern.offsets));
        }
    }
}
