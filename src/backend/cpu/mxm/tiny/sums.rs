//! Rows of few products of any semiring.
use super::{Listed, To};
use crate::algebra::*;
use crate::backend::cpu::mxm::accumulator::Scratch;
use crate::backend::cpu::mxm::analysis::Soon;
use crate::backend::cpu::mxm::job::{Job, read};
use crate::backend::cpu::rows::Rows;
use crate::error::Result;
use std::mem::MaybeUninit;
use std::ops::Range;

/// When to try something again that may not pay: the more often it did not, the later.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    skip: u8,
    wait: u8,
}
impl Tries {
    #[inline(always)]
    pub(crate) fn next(&mut self) -> bool {
        self.skip = self.skip.saturating_sub(1);
        self.skip == 0
    }
    #[inline(always)]
    pub(crate) fn came(&mut self, well: bool) {
        self.wait = if well { 0 } else { (2 * self.wait + 1).min(63) };
        self.skip = self.wait;
    }
    /// So many times not.
    pub(crate) fn skip(&mut self, times: u8) {
        self.skip = times;
    }
}

/// Rows of few products, while there are such; how many.
pub(crate) fn tiny_rows<A: Scalar, B: Scalar, C: Scalar>(
    job: &Job<A, B>,
    range: Range<usize>,
    (start, add): (C, unsafe fn(&Job<A, B>, &Listed, &mut [MaybeUninit<C>])),
    rows: &mut Rows<C>,
    scratch: &mut Scratch<C>,
) -> Result<usize> {
    let before = rows.indices.len();
    let to = To { indices: &mut rows.indices, ends: &mut rows.ends };
    let operands = (&*job.a.pattern, &*job.b.pattern, job.mask);
    let done = scratch.tiny.rows::<true>(job.operation, operands, Soon::of(&job.b.values), range, to)?;
    if done == 0 {
        return Ok(0);
    }
    let n = rows.indices.len() - before;
    crate::memory::reserve(job.operation, &mut rows.values, n)?;
    let room = &mut rows.values.spare_capacity_mut()[..n];
    room.fill(MaybeUninit::new(start));
    // SAFETY: products of these rows are listed, each for one of n sums, all of which have a value.
    unsafe {
        add(job, &scratch.tiny.listed, room);
        rows.values.set_len(before + n);
    }
    Ok(done)
}

/// Adds products that were listed. Plain loops: this is compiled for every semiring.
/// # Safety
/// They are products of these operands, for sums that are there and have a value.
pub(crate) unsafe fn add_listed<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    job: &Job<A, B>,
    listed: &Listed,
    to: &mut [MaybeUninit<S::Out>],
) {
    let mut p = 0;
    while p < listed.len {
        // SAFETY: the contract; each list has as many.
        unsafe {
            let (e, f) = (listed.first + read(&listed.entries, p) as usize, read(&listed.places, p) as usize);
            let product = S::Multiply::multiply(read(job.a_rows.values, e), read(job.b_rows.values, f), At::default());
            let sum = to.get_unchecked_mut(read(&listed.sums, p) as usize);
            *sum = MaybeUninit::new(S::Add::apply(sum.assume_init(), product));
        }
        p += 1;
    }
}
