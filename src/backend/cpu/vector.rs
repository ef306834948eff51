//! mxv by rows.
use super::mxm::{Mask, finished};
use super::rows::{blocks, each};
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;

const OPERATION: &str = "mxv";

/// t⟨m⟩ = A ⊕.⊗ x: x is spread out, rows that the mask admits are dotted with it in the order of k.
pub(super) fn mxv<A: Scalar, X: Scalar, S: Semiring<A, X>>(
    a: &HostCsr<A>,
    x: &HostCsr<X>,
    mask: Mask,
    at: &Positions,
) -> Result<HostCsr<S::Out>> {
    let (indices, values) = x.row(0);
    let (n, full) = (x.pattern.ncols, indices.len() == x.pattern.ncols);
    let (mut dense, mut bits) = (Vec::new(), Vec::new());
    if !full {
        dense = memory::filled(OPERATION, n, X::zeroed())?;
        bits = memory::filled(OPERATION, n.div_ceil(64), 0u64)?;
        for (k, v) in indices.iter().zip(values) {
            dense[*k as usize] = *v;
            bits[*k as usize / 64] |= 1 << (k % 64);
        }
    }
    let dense: &[X] = if full { values } else { &dense };
    let nrows = a.pattern.nrows;
    let mut forbidden = Vec::new();
    if let Some(m) = mask {
        forbidden = memory::filled(OPERATION, nrows, !m.complement)?;
        m.pattern.row(0).iter().for_each(|i| forbidden[*i as usize] = m.complement);
    }
    let positional = <S::Multiply as Multiply<A, X>>::READS.position;
    let id = |ids: &crate::storage::axis::Ids, place: usize| ids.as_ref().map_or(place as u64, |ids| ids[place]);
    let one = |i: usize| -> Option<S::Out> {
        if forbidden.get(i) == Some(&true) {
            return None;
        }
        let (ks, xs) = a.row(i);
        let mut sum = None::<S::Out>;
        for (k, v) in ks.iter().zip(xs) {
            if full || bits[*k as usize / 64] >> (k % 64) & 1 != 0 {
                let at = match positional {
                    true => At { i: id(&at.i, i), k: id(&at.k, *k as usize), j: 0 },
                    false => At::default(),
                };
                let value = S::Multiply::multiply(*v, dense[*k as usize], at);
                let now = sum.map_or(value, |s| S::Add::apply(s, value));
                sum = Some(now);
                if finished::<S::Out, S::Add>(now) {
                    break;
                }
            }
        }
        sum
    };
    let made: Vec<Result<(Vec<u32>, Vec<S::Out>)>> =
        each(blocks(nrows, |r| a.pattern.offsets[r] + r as u64), &|rows| {
            let mut indices = memory::with_capacity(OPERATION, rows.len())?;
            let mut values = memory::with_capacity(OPERATION, rows.len())?;
            for i in rows {
                if let Some(sum) = one(i) {
                    indices.push(i as u32);
                    values.push(sum);
                }
            }
            Ok((indices, values))
        });
    let (mut indices, mut values) =
        (memory::with_capacity(OPERATION, nrows)?, memory::with_capacity(OPERATION, nrows)?);
    for part in made {
        let (i, v) = part?;
        indices.extend_from_slice(&i);
        values.extend_from_slice(&v);
    }
    let pattern = Pattern { nrows: 1, ncols: nrows, offsets: vec![0, indices.len() as u64], indices };
    Ok(HostCsr::new(pattern, values))
}
