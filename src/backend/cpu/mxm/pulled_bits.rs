//! Products of few columns over positions alone: 64 columns of X are a word a row, and a row of A ors the words it meets. The mirror of
//! [`by_bits`](super::by_bits), without atomics: what a row is left to find is known before, and it ends once all is found.
use super::admitted::Admitted;
use super::analysis::sampled;
use crate::backend::cpu::parallel::{SERIAL, Shared, each_piece, scan, unwritten, written};
use crate::backend::{MaskBody, MxmOptions};
use crate::error::Result;
use crate::memory::Buffer;
use crate::spgemm::Strategy;
use crate::storage::bitmap;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;

/// Columns that a word has bits for.
const COLUMNS: usize = 64;
/// Words a row at most.
const WORDS: usize = 4;
/// Rows that a thread takes at a time.
const PIECE: usize = if cfg!(test) { 8 } else { 1 << 12 };

/// Rows and columns of X, which may be given by columns.
fn shape(x: &Pattern, turned: bool) -> (usize, usize) {
    if turned { (x.ncols, x.nrows) } else { (x.nrows, x.ncols) }
}

/// Whether that takes fewer steps than row by row: a step here is an entry of A, of X or of a listed mask, each row costs some more, and
/// words of more than 64 columns are as many passes. Row by row an entry of A takes three, a product 0.4, a whole one where
/// a row has too many for registers, eight under a mask; rows that a plain mask leaves nothing are passed over by both.
pub(crate) fn suits(a: &Pattern, x: &Pattern, mask: Option<&MaskBody>, options: &MxmOptions) -> bool {
    let (rows, columns) = shape(x, options.transposed_b);
    // What words take is not among what a limit counts.
    let asked = options.memory_limit.is_some() || options.strategy != Strategy::Auto;
    if asked || a.nrows < 2 || columns > WORDS * COLUMNS || a.nnz() == 0 || x.nnz() == 0 {
        return false;
    }
    let entries = a.nnz() as f64;
    let products = match options.transposed_b {
        true => entries * x.nnz() as f64 / rows as f64,
        false => sampled(a, x).saturating_sub(a.nnz() as u64) as f64,
    };
    let a_row = products / a.nrows as f64;
    let (share, listed) = match mask {
        Some(m) if !m.is_complement() => ((m.nnz() as f64 / a.nrows as f64).min(1.0), m.nnz() as f64),
        Some(m) => (1.0, m.nnz() as f64),
        None => (1.0, 0.0),
    };
    let listed = if matches!(mask, Some(MaskBody::Cells(..))) { 0.0 } else { listed };
    let each = match mask {
        Some(_) => 8.0,
        None if a_row < 32.0 => 0.4,
        None => 1.0,
    };
    let by_rows = share * (3.0 * entries + each * products) + listed * a_row.min(1.0);
    let passes = columns.div_ceil(COLUMNS) as f64;
    let here = passes * (share * entries + 4.0 * (a.nrows + rows) as f64) + x.nnz() as f64 + listed;
    by_rows > 1.4 * here
}

/// The positions of (A X)⟨M⟩, of X or of its columns as rows.
pub(crate) fn positions(
    operation: &'static str,
    a: &Pattern,
    x: &Pattern,
    turned: bool,
    mask: Option<&MaskBody>,
) -> Result<Pattern> {
    let mask = Admitted::of(mask)?;
    match shape(x, turned).1.div_ceil(COLUMNS) {
        0 | 1 => pulled::<1>(operation, a, x, turned, &mask),
        2 => pulled::<2>(operation, a, x, turned, &mask),
        3 => pulled::<3>(operation, a, x, turned, &mask),
        _ => pulled::<WORDS>(operation, a, x, turned, &mask),
    }
}

/// The same by so many words a row.
fn pulled<const W: usize>(
    operation: &'static str,
    a: &Pattern,
    x: &Pattern,
    turned: bool,
    mask: &Admitted,
) -> Result<Pattern> {
    let (rows, columns) = shape(x, turned);
    debug_assert!(columns <= W * COLUMNS && a.ncols <= rows);
    let mut of_x = unwritten::<[u64; W]>(operation, rows)?;
    if turned {
        turned_words(x, &mut of_x)
    } else {
        words(x, &mut of_x)
    }
    // SAFETY: every row was written.
    let of_x = Buffer::from(unsafe { written(of_x, rows) });
    let mut all = [0; W];
    all.iter_mut().enumerate().for_each(|(w, word)| *word = ones(columns.saturating_sub(w * COLUMNS)));
    let mut found = unwritten::<[u64; W]>(operation, a.nrows)?;
    let to = Shared::new(&mut found);
    each_piece(a.nrows, PIECE, &|piece| {
        for i in piece {
            let mut admitted = all;
            mask.keep(i, &mut admitted);
            let row = MaybeUninit::new(row(a.row(i), &of_x, &admitted));
            // SAFETY: a row each.
            unsafe { to.write(i, row) };
        }
    });
    // SAFETY: every row was written.
    let found = Buffer::from(unsafe { written(found, a.nrows) });
    let count = |i: usize| found[i].iter().map(|word| word.count_ones() as u64).sum();
    let offsets = scan(operation, a.nrows, count)?;
    let n = offsets[a.nrows] as usize;
    let mut made = unwritten::<u32>(operation, n)?;
    let to = Shared::new(&mut made);
    each_piece(a.nrows, PIECE, &|piece| {
        for i in piece {
            // SAFETY: rows are disjoint.
            let room = unsafe { to.part(offsets[i] as usize..offsets[i + 1] as usize) };
            bitmap::listed(0, found[i].iter().copied(), room);
        }
    });
    // SAFETY: every row wrote as many as were counted.
    let indices = unsafe { written(made, n) };
    Ok(Pattern::new(a.nrows, columns, offsets, indices))
}

/// The lowest `n` bits of a word.
fn ones(n: usize) -> u64 {
    if n < COLUMNS { !(u64::MAX << n) } else { u64::MAX }
}

/// What one row finds of that which is admitted.
#[inline(always)]
fn row<const W: usize>(columns: &[u32], of_x: &[[u64; W]], admitted: &[u64; W]) -> [u64; W] {
    let mut found = [0; W];
    if *admitted == [0; W] {
        return found;
    }
    for k in columns {
        let mut left = 0;
        for ((found, word), admitted) in found.iter_mut().zip(&of_x[*k as usize]).zip(admitted) {
            *found |= word & admitted;
            left |= *found ^ admitted;
        }
        if left == 0 {
            break;
        }
    }
    found
}

/// A bit for each entry, by rows.
fn words<const W: usize>(x: &Pattern, to: &mut [MaybeUninit<[u64; W]>]) {
    let to = Shared::new(to);
    each_piece(x.nrows, PIECE, &|piece| {
        for k in piece {
            let mut row = [0; W];
            x.row(k).iter().for_each(|c| row[*c as usize / COLUMNS] |= 1 << (c % 64));
            // SAFETY: a row each.
            unsafe { to.write(k, MaybeUninit::new(row)) };
        }
    });
}

/// The same of X given by columns.
fn turned_words<const W: usize>(x: &Pattern, to: &mut [MaybeUninit<[u64; W]>]) {
    let to = Shared::new(to);
    each_piece(x.ncols, SERIAL, &|piece| {
        // SAFETY: rows are disjoint.
        let rows = unsafe { to.part(piece.clone()) };
        rows.fill(MaybeUninit::new([0; W]));
        // SAFETY: all were written.
        let rows = unsafe { rows.assume_init_mut() };
        for c in 0..x.nrows {
            let column = x.row(c);
            let from = column.partition_point(|k| (*k as usize) < piece.start);
            let some = column[from..].iter().take_while(|k| (**k as usize) < piece.end);
            some.for_each(|k| rows[*k as usize - piece.start][c / COLUMNS] |= 1 << (c % COLUMNS));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::mxm::by_bits::tests::random;
    use crate::backend::cpu::structure::layout::transpose;
    use crate::backend::{MaskOn, PatternBody};
    use crate::generate::Random;
    use crate::storage::frame::Frame;
    use std::sync::Arc;

    #[test]
    fn words_find_what_rows_do() {
        let mut source = Random::new(3, 0);
        for round in 0..120 {
            let n = [1, 3, 63, 64, 65, 130, 200][round % 7];
            let (m, k) = (1 + source.below(60) as usize, 1 + source.below(90) as usize);
            let part = 1 + source.below(60);
            let (a, x) = (random(&mut source, (m, k), 30), random(&mut source, (k, n), part));
            let of_columns = transpose::<()>(&x, &vec![(); x.nnz()]).unwrap().0;
            let full = round % 11 == 0;
            let list = random(&mut source, (m, n), if full { 101 } else { 40 });
            let cells = Arc::new(Frame::cells("test", &list, 0).unwrap());
            let masks = [None, Some(PatternBody::Host(list.clone())), Some(PatternBody::Cells(cells))];
            for (body, complement) in masks.iter().flat_map(|body| [(body, false), (body, true)]) {
                let mask = body.as_ref().map(|body| MaskBody::new(body, complement));
                let made = positions("mxm", &a, &x, false, mask.as_ref()).unwrap();
                made.validate("test", made.nnz()).unwrap();
                for i in 0..m {
                    let admitted = |j: &u32| body.is_none() || list.find(i, *j).is_some() != complement;
                    let met = |j: &u32| a.row(i).iter().any(|k| x.find(*k as usize, *j).is_some());
                    let expected: Vec<u32> = (0..n as u32).filter(|j| met(j) && admitted(j)).collect();
                    assert_eq!(made.row(i), expected, "{m}×{k}×{n}, row {i}, {mask:?}");
                }
                assert_eq!(positions("mxm", &a, &of_columns, true, mask.as_ref()).unwrap(), made);
            }
        }
    }
    #[test]
    fn few_entries_plain_masks_of_few_many_columns_and_a_limit_are_left_to_rows() {
        let mut source = Random::new(5, 0);
        let (a, x) = (random(&mut source, (200, 100), 40), random(&mut source, (100, 60), 20));
        let few = random(&mut source, (200, 60), 1);
        let turned = transpose::<()>(&x, &vec![(); x.nnz()]).unwrap().0;
        let plain = MaskBody::Host(MaskOn { pattern: few, complement: false });
        let options = MxmOptions::default();
        assert!(suits(&a, &x, None, &options));
        assert!(suits(&a, &turned, None, &MxmOptions { transposed_b: true, ..options }));
        assert!(!suits(&random(&mut source, (200, 100), 1), &x, None, &options));
        let none = Pattern::empty("test", 200, 60).unwrap();
        assert!(!suits(&a, &x, Some(&MaskBody::Host(MaskOn { pattern: none.into(), complement: false })), &options));
        assert!(suits(&a, &x, Some(&plain), &options));
        assert!(!suits(&a, &random(&mut source, (100, 257), 20), None, &options));
        assert!(!suits(&a, &x, None, &MxmOptions { memory_limit: Some(1 << 40), ..options }));
        assert!(!suits(&a, &x, None, &MxmOptions { strategy: Strategy::Hash, ..options }));
    }
}
