//! Triplets made in pieces, put together in the order of the pieces.
use crate::error::Result;
use crate::memory;
use crate::storage::Coo;
use rayon::prelude::*;
use std::mem::MaybeUninit;

/// All entries of `parts`, in order, as one `nrows` × `ncols` matrix; parallel.
pub(crate) fn concatenate<T: Copy + Send + Sync>(
    operation: &'static str,
    (nrows, ncols): (u64, u64),
    parts: &[Coo<T>],
) -> Result<Coo<T>> {
    let rows = joined(operation, parts, |p| &p.rows)?;
    let columns = joined(operation, parts, |p| &p.columns)?;
    let values = joined(operation, parts, |p| &p.values)?;
    Ok(Coo { nrows, ncols, rows, columns, values })
}

fn joined<T: Send + Sync, X: Copy + Send + Sync>(
    operation: &'static str,
    parts: &[Coo<T>],
    pick: fn(&Coo<T>) -> &Vec<X>,
) -> Result<Vec<X>> {
    let total = parts.iter().map(|p| pick(p).len()).sum();
    let mut all: Vec<X> = memory::with_capacity(operation, total)?;
    let mut room: &mut [MaybeUninit<X>] = &mut all.spare_capacity_mut()[..total];
    let mut pieces = memory::with_capacity(operation, parts.len())?;
    for part in parts {
        let (piece, rest) = std::mem::take(&mut room).split_at_mut(pick(part).len());
        pieces.push((piece, pick(part)));
        room = rest;
    }
    pieces.into_par_iter().for_each(|(piece, from)| {
        piece.write_copy_of_slice(from);
    });
    // SAFETY: the pieces cover the first `total` places, and each was written whole.
    unsafe { all.set_len(total) };
    Ok(all)
}

/// Room for `n` more entries.
pub(crate) fn reserve<T>(operation: &'static str, coo: &mut Coo<T>, n: usize) -> Result<()> {
    memory::reserve(operation, &mut coo.rows, n)?;
    memory::reserve(operation, &mut coo.columns, n)?;
    memory::reserve(operation, &mut coo.values, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept() {
        let piece =
            |n: u64| Coo { nrows: 9, ncols: 9, rows: vec![n; 2], columns: vec![n + 1; 2], values: vec![n as i8; 2] };
        let all = concatenate("test", (9, 8), &[piece(1), Coo::new(9, 9), piece(4)]).unwrap();
        assert_eq!((all.nrows, all.ncols, all.rows, all.values), (9, 8, vec![1, 1, 4, 4], vec![1, 1, 4, 4]));
        assert!(concatenate::<i8>("test", (0, 0), &[]).unwrap().is_empty());
    }
}
