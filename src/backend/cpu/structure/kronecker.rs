//! The Kronecker product: every place in the result is known beforehand.
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::cpu::parallel::{SERIAL, Shared, each_piece, scan, unwritten, written};
use crate::backend::host::HostCsr;
use crate::error::{Error, Result};
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;

pub(crate) fn kronecker<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
    a: &HostCsr<A>,
    b: &HostCsr<B>,
) -> Result<HostCsr<F::Out>> {
    let operation = "kronecker";
    let (left, right) = (&a.pattern, &b.pattern);
    let (nrows, ncols) = (left.nrows * right.nrows, left.ncols * right.ncols);
    let total = left.nnz() as u128 * right.nnz() as u128;
    // More than memory can hold, before counting it wraps.
    let n = usize::try_from(total).ok().filter(|n| *n <= isize::MAX as usize).ok_or_else(|| Error::OutOfMemory {
        operation,
        device: "host".into(),
        needed: u64::try_from(total * size_of::<F::Out>().max(4) as u128).unwrap_or(u64::MAX),
        available: None,
    })?;
    let rows = |r: usize| (left.range(r / right.nrows), right.range(r % right.nrows));
    let offsets = scan(operation, nrows, |r| {
        let (x, y) = rows(r);
        (x.len() * y.len()) as u64
    })?;
    let (mut indices, mut values) = (unwritten::<u32>(operation, n)?, unwritten::<F::Out>(operation, n)?);
    let (to_indices, to_values) = (Shared::new(&mut indices), Shared::new(&mut values));
    each_piece(n, SERIAL, &|piece| {
        // The row that has the piece's first entry: empty rows end where it begins.
        let mut row = offsets.partition_point(|o| *o <= piece.start as u64) - 1;
        // SAFETY: pieces are disjoint.
        let (c, v) = unsafe { (to_indices.part(piece.clone()), to_values.part(piece.clone())) };
        let mut done = 0;
        while done < c.len() {
            let (x, y) = rows(row);
            let start = piece.start + done - offsets[row] as usize;
            let end = (x.len() * y.len()).min(start + c.len() - done);
            if end - start == x.len() * y.len() && y.len() < x.len() {
                // A whole row: an entry of B after the other, each with all of A's, which are more.
                let (c, v) = (&mut c[done..done + end], &mut v[done..done + end]);
                for (q, (l, z)) in right.indices[y.clone()].iter().zip(&b.values[y.clone()]).enumerate() {
                    let places = c[q..].iter_mut().step_by(y.len()).zip(v[q..].iter_mut().step_by(y.len()));
                    for ((c, v), (k, x)) in places.zip(left.indices[x.clone()].iter().zip(&a.values[x.clone()])) {
                        *c = MaybeUninit::new((*k as usize * right.ncols) as u32 + l);
                        *v = MaybeUninit::new(F::apply(*x, *z));
                    }
                }
                done += end;
                row += 1;
                continue;
            }
            let mut at = start;
            while at < end {
                // A part of one entry of A times B's row.
                let (p, q) = (x.start + at / y.len(), at % y.len());
                let len = (y.len() - q).min(end - at);
                let (base, value) = ((left.indices[p] as usize * right.ncols) as u32, a.values[p]);
                let from = y.start + q..y.start + q + len;
                for (to, l) in c[done..done + len].iter_mut().zip(&right.indices[from.clone()]) {
                    *to = MaybeUninit::new(base + l);
                }
                for (to, z) in v[done..done + len].iter_mut().zip(&b.values[from]) {
                    *to = MaybeUninit::new(F::apply(value, *z));
                }
                (at, done) = (at + len, done + len);
            }
            row += 1;
        }
    });
    // SAFETY: the pieces cover every entry.
    let (indices, values) = unsafe { (written(indices, n), written(values, n)) };
    Ok(HostCsr::new(Pattern::new(nrows, ncols, offsets, indices), values))
}
