//! Products of few rows over positions alone: 64 rows of A together, a bit each, so that an entry of B is looked at once for
//! all of them and not once for each. Then et al., *The more the merrier*, PVLDB 8(4), 2014, 10.14778/2735496.2735507.
use super::admitted::{Admitted, stacked};
use super::analysis::{longest, sampled};
use crate::backend::cpu::parallel::{SERIAL, Shared, collected, each_piece, nth_piece, unwritten, written};
use crate::backend::cpu::structure::turned_bits::{columns_of, rows_of};
use crate::backend::{MaskBody, MxmOptions};
use crate::error::Result;
use crate::memory;
use crate::spgemm::Strategy;
use crate::storage::bitmap;
use crate::storage::pattern::Pattern;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Rows that a word has bits for.
const ROWS: usize = 64;
/// Row by row a product takes a fourth of a step here where the flags of so many columns are next to the processor and there is no
/// mask, else half of one and more.
const NEAR: usize = 1 << 15;
/// Rows of B that a thread takes at a time.
const PIECE: usize = if cfg!(test) { 8 } else { 1 << 12 };

/// Whether that takes fewer steps than row by row: for each 64 rows one of each entry of B, and some of each of its rows and columns.
pub(crate) fn suits(a: &Pattern, b: &Pattern, mask: Option<&MaskBody>, options: &MxmOptions) -> bool {
    // What bits take is not among what a limit counts.
    if options.memory_limit.is_some() || options.transposed_b || options.strategy != Strategy::Auto {
        return false;
    }
    let groups = a.nrows.div_ceil(ROWS) as u64;
    let steps = groups.saturating_mul(b.nnz() as u64 + 2 * (b.nrows + b.ncols) as u64);
    let worth = steps.saturating_mul(if b.ncols <= NEAR && mask.is_none() { 4 } else { 2 });
    // What a plain mask of few entries admits is looked up row by row.
    let plain = mask.filter(|m| !m.is_complement()).map_or(u64::MAX, MaskBody::nnz);
    a.nrows > 1 && plain >= steps / 8 && (a.nnz() as u64).saturating_mul(longest(b)) > worth && sampled(a, b) > worth
}

/// The positions of (A B)⟨M⟩.
pub(crate) fn positions(operation: &'static str, a: &Pattern, b: &Pattern, mask: Option<&MaskBody>) -> Result<Pattern> {
    let mask = Admitted::of(mask)?;
    let words = (a.ncols.max(b.nrows).div_ceil(64), b.ncols.div_ceil(64));
    let groups = a.nrows.div_ceil(ROWS);
    let group = |g: usize| group(operation, (a, b, &mask), nth_piece(a.nrows, ROWS, g), words);
    let made: Vec<Result<(Counts, Vec<u32>)>> = collected(operation, groups, &group)?;
    let (offsets, indices) = stacked(operation, a.nrows, made)?;
    Ok(Pattern::new(a.nrows, b.ncols, offsets, indices))
}

/// Entries in each of 64 rows.
type Counts = [u64; ROWS];

/// 64 rows or fewer: how many entries each has, and their columns. `words` of 64 columns A and B have.
fn group(
    operation: &'static str,
    (a, b, mask): (&Pattern, &Pattern, &Admitted),
    rows: Range<usize>,
    words: (usize, usize),
) -> Result<(Counts, Vec<u32>)> {
    let zeros = |n: usize| memory::zeroed::<u64>(operation, n);
    let mut from = zeros(64 * words.0)?;
    {
        let mut of_a = zeros(rows.len() * words.0)?;
        marked(a, rows.clone(), words.0, &mut of_a);
        columns_of(&of_a, words.0, &mut from);
    }
    let mut to = zeros(64 * words.1)?;
    pushed(&from, b, &mut to);
    let mut of_c = zeros(rows.len() * words.1)?;
    rows_of(&to, words.1, &mut of_c);
    let counts = masked(mask, rows, words.1, &mut of_c);
    let n = counts.iter().sum::<u64>() as usize;
    let mut made = unwritten::<u32>(operation, n)?;
    listed(&of_c, words.1, &counts, &mut made);
    // SAFETY: every row wrote as many as it counted.
    Ok((counts, unsafe { written(made, n) }))
}

/// Does rows of so many words, some at a time where they are short.
fn each_row(rows: usize, words: usize, work: &(dyn Fn(usize) + Sync)) {
    each_piece(rows, (SERIAL / (64 * words.max(1))).max(1), &|rows| rows.for_each(work));
}

/// A bit for each entry of some rows, by rows.
fn marked(a: &Pattern, rows: Range<usize>, words: usize, bits: &mut [u64]) {
    let to = Shared::new(bits);
    each_row(rows.len(), words, &|i| {
        // SAFETY: rows are disjoint.
        let row = unsafe { to.part(i * words..(i + 1) * words) };
        a.row(rows.start + i).iter().for_each(|k| row[*k as usize >> 6] |= 1 << (k & 63));
    });
}

/// Word j is every word k with an entry B(k, j), or'ed.
fn pushed(from: &[u64], b: &Pattern, to: &mut [u64]) {
    let alone = b.nrows <= PIECE || rayon::current_num_threads() == 1;
    // SAFETY: same size and alignment, and nobody else has them meanwhile.
    let to = unsafe { std::slice::from_raw_parts(to.as_mut_ptr().cast::<AtomicU64>(), to.len()) };
    each_piece(b.nrows, if alone { usize::MAX } else { PIECE }, &|piece| {
        for k in piece {
            let word = from[k];
            if word == 0 {
                continue;
            }
            for j in b.row(k) {
                let to = &to[*j as usize];
                let old = to.load(Relaxed);
                match old | word {
                    all if all == old => {}
                    all if alone => to.store(all, Relaxed),
                    _ => _ = to.fetch_or(word, Relaxed),
                }
            }
        }
    });
}

/// Leaves of each row what the mask admits: how many entries.
fn masked(mask: &Admitted, rows: Range<usize>, words: usize, bits: &mut [u64]) -> Counts {
    let mut counts = [0; ROWS];
    let (to, counted) = (Shared::new(bits), Shared::new(&mut counts));
    each_row(rows.len(), words, &|i| {
        // SAFETY: rows are disjoint.
        let row = unsafe { to.part(i * words..(i + 1) * words) };
        mask.keep(rows.start + i, row);
        let count = row.iter().map(|word| word.count_ones() as u64).sum();
        // SAFETY: a count each.
        unsafe { counted.write(i, count) };
    });
    counts
}

/// The columns of the bits, row by row.
fn listed(bits: &[u64], words: usize, counts: &Counts, made: &mut [std::mem::MaybeUninit<u32>]) {
    let mut starts = [0; ROWS + 1];
    (0..ROWS).for_each(|i| starts[i + 1] = starts[i] + counts[i] as usize);
    let to = Shared::new(made);
    each_row(bits.len().checked_div(words).unwrap_or(0), words, &|i| {
        // SAFETY: rows are disjoint.
        let room = unsafe { to.part(starts[i]..starts[i + 1]) };
        bitmap::listed(0, bits[i * words..(i + 1) * words].iter().copied(), room);
    });
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::backend::cpu::mxm::admitted::looked_up;
    use crate::backend::{MaskOn, PatternBody};
    use crate::generate::Random;
    use crate::storage::frame::Frame;
    use std::sync::Arc;

    pub(crate) fn random(random: &mut Random, (m, n): (usize, usize), part: u64) -> Arc<Pattern> {
        let (mut offsets, mut indices) = (vec![0], Vec::new());
        for _ in 0..m {
            let part = if random.below(8) == 0 { 0 } else { part };
            indices.extend((0..n as u32).filter(|_| random.below(100) < part));
            offsets.push(indices.len() as u64);
        }
        Arc::new(Pattern::new(m, n, offsets, indices))
    }

    #[test]
    fn bits_find_what_rows_do() {
        let mut source = Random::new(3, 0);
        let options = MxmOptions::default();
        let mut taken = 0;
        for round in 0..120 {
            let m = [2, 3, 63, 64, 65, 130][round % 6];
            let (k, n) = (1 + source.below(90) as usize, 1 + source.below(200) as usize);
            let part = 5 + source.below(60);
            let (a, b) = (random(&mut source, (m, k), 60), random(&mut source, (k, n), part));
            let full = round % 11 == 0;
            let list = random(&mut source, (m, n), if full { 101 } else { 40 });
            let cells = Arc::new(Frame::cells("test", &list, 0).unwrap());
            let masks = [None, Some(PatternBody::Host(list.clone())), Some(PatternBody::Cells(cells))];
            for (body, complement) in masks.iter().flat_map(|body| [(body, false), (body, true)]) {
                let mask = body.as_ref().map(|body| MaskBody::new(body, complement));
                taken += suits(&a, &b, mask.as_ref(), &options) as usize;
                let made = positions("mxm", &a, &b, mask.as_ref()).unwrap();
                made.validate("test", made.nnz()).unwrap();
                for i in 0..m {
                    let admitted = |j: &u32| body.is_none() || list.find(i, *j).is_some() != complement;
                    let met = |j: &u32| a.row(i).iter().any(|k| b.find(*k as usize, *j).is_some());
                    let expected: Vec<u32> = (0..n as u32).filter(|j| met(j) && admitted(j)).collect();
                    assert_eq!(made.row(i), expected, "{m}×{k}×{n}, row {i}, {mask:?}");
                }
                let Some((_, looked_up)) = looked_up(&a, &b, mask.as_ref()) else { continue };
                let all = positions("mxm", &a, &b, None).unwrap();
                assert_eq!(looked_up("mxm", &all).unwrap(), made);
            }
        }
        assert!(taken > 100, "{taken}");
    }
    #[test]
    fn few_products_a_plain_mask_of_few_and_a_limit_are_left_to_rows() {
        let mut source = Random::new(5, 0);
        let (a, b) = (random(&mut source, (64, 80), 90), random(&mut source, (80, 100), 90));
        let few = random(&mut source, (64, 100), 2);
        let plain = MaskBody::Host(MaskOn { pattern: few.clone(), complement: false });
        let options = MxmOptions::default();
        assert!(suits(&a, &b, None, &options));
        assert!(!suits(&a, &b, Some(&plain), &options));
        assert!(!suits(&few, &b, None, &MxmOptions { memory_limit: Some(1 << 40), ..options }));
        assert!(!suits(&random(&mut source, (64, 80), 1), &b, None, &options));
        assert!(!suits(&a, &b, None, &MxmOptions { strategy: Strategy::Hash, ..options }));
    }
}
