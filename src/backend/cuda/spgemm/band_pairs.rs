//! How the diagonals of two matrices meet in their product.
use crate::backend::cuda::storage::band::Band;
use crate::backend::cuda::{Buffer, Context};
use crate::error::Result;
use std::sync::Arc;

/// Which diagonals of two matrices meet on which of their product.
#[derive(Debug)]
pub(crate) struct Pairs {
    pub(crate) left: Vec<i64>,
    pub(crate) right: Vec<i64>,
    pub(crate) sizes: (u64, u64),
    /// Diagonals of C.
    pub(crate) count: u32,
    pub(crate) shifts: Buffer,
    /// By [`GROUP`] of these: where each group's steps begin, and the [`Step`]s.
    pub(crate) starts: Buffer,
    pub(crate) steps: Buffer,
    /// How many a group has in the mean.
    pub(crate) mean_steps: u64,
}

impl Pairs {
    /// Groups of C's diagonals.
    pub(crate) fn groups(&self) -> u64 {
        u64::from(self.count).div_ceil(GROUP as u64)
    }

    /// For A of `left` diagonals and so many rows, times B. `None` if there are too many, or places pass 31 bits.
    pub(crate) fn of(context: &Arc<Context>, left: (&Band, u64), right: (&Band, u64)) -> Result<Option<Arc<Pairs>>> {
        let sizes = (left.1, right.1);
        let ((left, rows), (right, inner)) = (left, right);
        let mut last = crate::backend::cuda::lock(&left.pairs);
        if let Some(known) = last.as_ref()
            && (&known.left, &known.right, known.sizes) == (&left.shifts, &right.shifts, sizes)
        {
            return Ok(Some(known.clone()));
        }
        let limit = 1u64 << 30;
        if left.shifts.len() as u64 * rows >= limit || right.shifts.len() as u64 * inner >= limit {
            return Ok(None);
        }
        let mut sums = crate::memory::with_capacity("mxm", left.shifts.len() * right.shifts.len())?;
        for (a, x) in left.shifts.iter().enumerate() {
            sums.extend(right.shifts.iter().enumerate().map(|(b, y)| Pair { sum: x + y, a: a as u32, b: b as u32 }));
        }
        // Of one diagonal those first whose k comes first.
        sums.sort_unstable();
        let by_diagonal: Vec<&[Pair]> = sums.chunk_by(|x, y| x.sum == y.sum).collect();
        let shifts: Vec<i32> = by_diagonal.iter().map(|pairs| pairs[0].sum as i32).collect();
        let (mut steps, mut starts) = (Vec::<Step>::new(), vec![0u32]);
        for group in by_diagonal.chunks(GROUP) {
            steps.extend(steps_of(group, &left.shifts));
            starts.push(steps.len() as u32);
        }
        let made = Arc::new(Pairs {
            left: left.shifts.clone(),
            right: right.shifts.clone(),
            sizes,
            count: shifts.len() as u32,
            mean_steps: (steps.len() as u64).div_ceil((starts.len() as u64 - 1).max(1)),
            shifts: Buffer::from_host(context, &shifts)?,
            starts: Buffer::from_host(context, &starts)?,
            steps: Buffer::from_host(context, &steps)?,
        });
        *last = Some(made.clone());
        Ok(Some(made))
    }
}

/// Diagonals of C that one step has products on: `band_group` of the templates.
const GROUP: usize = 8;

/// A diagonal of A and one of B that meet on C's diagonal `sum`; those of one diagonal in the order of k.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    sum: i64,
    a: u32,
    b: u32,
}

/// `BandStep` of the templates.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Step {
    a: u32,
    shift: i32,
    terms: u32,
    firsts: u32,
    b: [u32; GROUP],
}

/// The steps of a group of C's diagonals, by A's diagonal.
fn steps_of(group: &[&[Pair]], shifts: &[i64]) -> Vec<Step> {
    let mut terms: Vec<(u32, usize, bool, u32)> = Vec::new();
    for (g, pairs) in group.iter().enumerate() {
        terms.extend(pairs.iter().enumerate().map(|(p, pair)| (pair.a, g, p == 0, pair.b)));
    }
    terms.sort_unstable();
    let step = |terms: &[(u32, usize, bool, u32)]| {
        let a = terms[0].0;
        let mut step = Step { a, shift: shifts[a as usize] as i32, terms: 0, firsts: 0, b: [0; GROUP] };
        for (_, g, first, b) in terms {
            step.terms |= 1 << g;
            step.firsts |= u32::from(*first) << g;
            step.b[*g] = *b;
        }
        step
    };
    terms.chunk_by(|x, y| x.0 == y.0).map(step).collect()
}
