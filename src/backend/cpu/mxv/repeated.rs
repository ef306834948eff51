//! Sums of one value many times, where sums may be grouped at will: of 1, 2, 4, 8 … of them, which are known once.
use super::met;
use crate::algebra::{Monoid, Scalar};
use crate::backend::cpu::neutral::neutral;
use crate::backend::cpu::parallel::in_pieces;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::storage::pattern::Pattern;
use std::sync::Arc;

/// The sums of 2⁰, 2¹, … 2⁶³ times a value.
struct Doubled<T>([T; 64]);

impl<T: Scalar> Doubled<T> {
    /// `None` where another grouping may have other bits.
    fn of<M: Monoid<T>>(one: T) -> Option<Self> {
        let (_, true) = neutral::<T, M>()? else { return None };
        let mut sums = [one; 64];
        for k in 1..64 {
            sums[k] = M::apply(sums[k - 1], sums[k - 1]);
        }
        Some(Self(sums))
    }
    /// The sum of n times the value; of none of them the value, which nobody asks for.
    #[inline(always)]
    fn times<M: Monoid<T>>(&self, n: u64) -> T {
        let mut sum = self.0[n.trailing_zeros() as usize % 64];
        let mut rest = n & n.wrapping_sub(1);
        while rest != 0 {
            sum = M::apply(sum, self.0[rest.trailing_zeros() as usize % 64]);
            rest &= rest - 1;
        }
        sum
    }
}

/// The sum of so many times a value, one at least. `None` where another grouping may have other bits.
pub(crate) fn repeated<T: Scalar, M: Monoid<T>>(one: T, n: u64) -> Option<T> {
    Doubled::of::<M>(one).map(|sums| sums.times::<M>(n))
}

/// The sums of rows whose entries all are this value: what [`reduce_rows`](crate::backend::cpu::entrywise::map::reduce_rows) makes of them, without a look at any.
/// `None` where another grouping may have other bits.
pub(crate) fn rows_of_one<T: Scalar, M: Monoid<T>>(a: &Pattern, one: T) -> Result<Option<HostCsr<T>>> {
    let Some(sums) = Doubled::of::<M>(one) else { return Ok(None) };
    let (operation, sums) = ("reduce_rows", &sums);
    let met = met::rows(operation, a, &Arc::default())?;
    let (rows, offsets, all) = (&met.indices[..], &a.offsets[..], met.nnz() == a.nrows);
    let values = in_pieces(operation, met.nnz(), move |e| {
        let row = if all { e } else { rows[e] as usize };
        sums.times::<M>(offsets[row + 1] - offsets[row])
    })?;
    Ok(Some(HostCsr::at(met, values)))
}
