//! A new value for each entry, by its row and column and the old one: positions stay.
use crate::algebra::Scalar;
use crate::backend::cpu::parallel::{SERIAL, Shared, each_piece, unwritten, written};
use crate::backend::host::HostCsr;
use crate::error::Result;
use std::mem::MaybeUninit;

/// Places that are written at once.
const WIDE: usize = 8;
/// Entries whose rows are listed at a time.
const BATCH: usize = if cfg!(test) { 20 } else { 512 };

/// f(row, column, x) at every entry.
pub(crate) fn at_entries<A: Scalar, T: Scalar>(
    operation: &'static str,
    a: &HostCsr<A>,
    f: impl Fn(usize, usize, A) -> T + Copy + Sync + Send,
) -> Result<HostCsr<T>> {
    let (offsets, n) = (&a.pattern.offsets[..], a.values.len());
    let mut values = unwritten::<T>(operation, n)?;
    let target = Shared::new(&mut values);
    each_piece(n, SERIAL, &|piece| {
        let mut rows = [0u32; BATCH + WIDE];
        // Of its own, so that no value written may change what it reads for the next.
        let value = f;
        let mut row = offsets.partition_point(|o| *o <= piece.start as u64) - 1;
        for start in piece.clone().step_by(BATCH) {
            let batch = start..piece.end.min(start + BATCH);
            // The end of a short row nobody guesses: some more are written, and then those of the next row.
            let mut at = 0;
            loop {
                let end = (offsets[row + 1] as usize).min(batch.end) - start;
                loop {
                    rows[at..at + WIDE].fill(row as u32);
                    at += WIDE;
                    if at >= end {
                        break;
                    }
                }
                at = end;
                if at == batch.len() {
                    break;
                }
                row += 1;
            }
            // SAFETY: batches are disjoint.
            let out = unsafe { target.part(batch.clone()) };
            let columns = &a.pattern.indices[batch.clone()];
            for (((z, x), c), r) in out.iter_mut().zip(&a.values[batch]).zip(columns).zip(&rows) {
                *z = MaybeUninit::new(value(*r as usize, *c as usize, *x));
            }
        }
    });
    // SAFETY: the pieces cover every entry.
    let values = unsafe { written(values, n) };
    Ok(HostCsr::at(a.pattern.clone(), values))
}
