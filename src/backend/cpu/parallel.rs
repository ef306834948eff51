//! Splitting work over threads. Nothing here depends on how many there are: results never do.
use crate::error::Result;
use crate::memory;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Below this many steps of work one thread is faster than waking others.
pub(crate) const SERIAL: usize = if cfg!(test) { 1 << 6 } else { 1 << 15 };

/// A slice that several threads write, each its own parts.
pub(crate) struct Shared<T> {
    start: *mut T,
    len: usize,
}
// SAFETY: a pointer with a length; whoever writes through it promises disjoint parts.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}
impl<T> Shared<T> {
    pub(crate) fn new(slice: &mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), len: slice.len() }
    }
    /// # Safety
    /// The slice is alive, and no other part in use overlaps this one.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn part(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: inside the slice by the line above; alive and disjoint by this function's contract.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
    /// # Safety
    /// The slice is alive, and no other part in use overlaps this one.
    pub(crate) unsafe fn place(&self, at: usize, len: usize) -> *mut T {
        assert!(at <= self.len && len <= self.len - at);
        // SAFETY: inside the slice by the line above.
        unsafe { self.start.add(at) }
    }
    /// # Safety
    /// The slice is alive, `at` is below its length and no other thread uses that element.
    #[inline(always)]
    pub(crate) unsafe fn write(&self, at: usize, value: T) {
        debug_assert!(at < self.len);
        // SAFETY: this function's contract.
        unsafe { self.start.add(at).write(value) }
    }
}

impl Shared<u8> {
    /// Room for values as bytes, to be written only.
    pub(crate) fn of_bytes<T>(room: &mut [MaybeUninit<T>]) -> Self {
        Self { start: room.as_mut_ptr().cast(), len: size_of_val(room) }
    }
    /// Bytes that are read only.
    pub(crate) fn read_only(start: *const u8, len: usize) -> Self {
        Self { start: start.cast_mut(), len }
    }
    /// # Safety
    /// `at` is at most the length.
    #[inline(always)]
    pub(crate) unsafe fn at(&self, at: usize) -> *mut u8 {
        debug_assert!(at <= self.len);
        // SAFETY: this function's contract.
        unsafe { self.start.add(at) }
    }
}

/// Room for `n` values that the caller writes before reading.
pub(crate) fn unwritten<T>(operation: &'static str, n: usize) -> Result<Vec<MaybeUninit<T>>> {
    let mut v = memory::with_capacity(operation, n)?;
    // SAFETY: MaybeUninit needs no initialisation, and the capacity is there.
    unsafe { v.set_len(n) };
    Ok(v)
}

/// The vector without the wrapper.
/// # Safety
/// The first `n` elements are written, n is at most the length.
pub(crate) unsafe fn written<T>(v: Vec<MaybeUninit<T>>, n: usize) -> Vec<T> {
    let mut v = std::mem::ManuallyDrop::new(v);
    // SAFETY: same allocation, same layout, and n elements are initialised by the contract.
    let mut all = unsafe { Vec::from_raw_parts(v.as_mut_ptr().cast::<T>(), n, v.capacity()) };
    memory::trim(&mut all);
    all
}

/// 0..n in pieces of `size`: that with this number.
pub(crate) fn nth_piece(n: usize, size: usize, p: usize) -> Range<usize> {
    p * size..n.min((p + 1) * size)
}

/// Work for all threads. Whose turn it is to wait for others may be given work of another operation meanwhile: a caller's own, where he
/// calls several from the threads of a pool. What counts for the operation on this thread does not count for that.
fn by_all<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(feature = "cuda")]
    let _aside = crate::backend::cuda::aside();
    work()
}

/// Does 0..n in pieces of `size`, one alone on the caller's thread. What splits the work is some thousand lines of machine code:
/// behind `dyn` it is compiled once, not for every operator and type.
pub(crate) fn each_piece(n: usize, size: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    match n {
        0 => {}
        _ if n <= size => work(0..n),
        _ => by_all(|| (0..n.div_ceil(size)).into_par_iter().for_each(|p| work(nth_piece(n, size, p)))),
    }
}

/// Does 0, 1, … n - 1, one alone on the caller's thread; see [`each_piece`].
pub(crate) fn each(n: usize, work: &(dyn Fn(usize) + Sync)) {
    match n {
        0 | 1 => (0..n).for_each(work),
        _ => by_all(|| (0..n).into_par_iter().for_each(work)),
    }
}

/// As [`each`] few that take long: any of them may go to another thread.
pub(crate) fn each_large(n: usize, work: &(dyn Fn(usize) + Sync)) {
    match n {
        0 | 1 => (0..n).for_each(work),
        _ => by_all(|| (0..n).into_par_iter().with_max_len(1).for_each(work)),
    }
}

/// Does all of them, one alone on the caller's thread; see [`each_piece`].
pub(super) fn each_of<X: Sync>(all: &[X], work: &(dyn Fn(&X) + Sync)) {
    each(all.len(), &|i| work(&all[i]));
}

/// Does all of them, each of which may change; see [`each_large`].
pub(crate) fn each_mut<X: Send>(all: &mut [X], work: &(dyn Fn(usize, &mut X) + Sync)) {
    let (n, to) = (all.len(), Shared::new(all));
    // SAFETY: every number comes once.
    each_large(n, &|i| work(i, &mut unsafe { to.part(i..i + 1) }[0]));
}

/// Does both side by side; see [`each_piece`].
pub(super) fn both(one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
    by_all(|| rayon::join(one, other));
}

/// What is made side by side, in order: each takes long, see [`each_large`].
pub(crate) fn collected<T: Send>(
    operation: &'static str,
    n: usize,
    make: &(dyn Fn(usize) -> T + Sync),
) -> Result<Vec<T>> {
    let mut made = unwritten::<T>(operation, n)?;
    let to = Shared::new(&mut made);
    each_large(n, &|k| {
        let value = make(k);
        // SAFETY: every number comes once.
        unsafe { to.write(k, MaybeUninit::new(value)) };
    });
    // SAFETY: all were written.
    Ok(unsafe { written(made, n) })
}

/// f(x) of all values.
///
/// In this and the next ones a closure that owns what it reads (`move`) is a copy in each piece's loop: of one that borrows it nobody
/// knows that what is written does not change it, and every step reads it again.
pub(crate) fn mapped<A: Copy + Sync, T: Send + Sync>(
    operation: &'static str,
    values: &[A],
    f: impl Fn(A) -> T + Copy + Sync,
) -> Result<Vec<T>> {
    let mut made = unwritten::<T>(operation, values.len())?;
    let to = Shared::new(&mut made);
    let fill = |to: &mut [MaybeUninit<T>], from: &[A]| {
        let own = f;
        for (z, x) in to.iter_mut().zip(from) {
            *z = MaybeUninit::new(own(*x));
        }
    };
    // SAFETY: pieces are disjoint.
    each_piece(values.len(), SERIAL, &|piece| fill(unsafe { to.part(piece.clone()) }, &values[piece]));
    // SAFETY: every element was written.
    Ok(unsafe { written(made, values.len()) })
}

/// f(x, y) of the values of two slices of one length.
pub(crate) fn zipped<A: Copy + Sync, B: Copy + Sync, T: Send + Sync>(
    operation: &'static str,
    (x, y): (&[A], &[B]),
    f: impl Fn(A, B) -> T + Copy + Sync,
) -> Result<Vec<T>> {
    let n = x.len().min(y.len());
    let mut made = unwritten::<T>(operation, n)?;
    let to = Shared::new(&mut made);
    let fill = |to: &mut [MaybeUninit<T>], x: &[A], y: &[B]| {
        let own = f;
        for ((z, x), y) in to.iter_mut().zip(x).zip(y) {
            *z = MaybeUninit::new(own(*x, *y));
        }
    };
    // SAFETY: pieces are disjoint.
    each_piece(n, SERIAL, &|piece| fill(unsafe { to.part(piece.clone()) }, &x[piece.clone()], &y[piece]));
    // SAFETY: every element was written.
    Ok(unsafe { written(made, n) })
}

/// Slices one behind the other, with room for so many more.
pub(crate) fn joined<T: Copy + Send + Sync>(operation: &'static str, parts: &[&[T]], more: usize) -> Result<Vec<T>> {
    const PIECE: usize = 1 << 16;
    let n = parts.iter().map(|part| part.len()).sum::<usize>();
    let mut made = unwritten::<T>(operation, n.saturating_add(more))?;
    let mut moves = memory::with_capacity(operation, n / PIECE + parts.len())?;
    let mut rest = &mut made[..n];
    for piece in parts.iter().flat_map(|part| part.chunks(PIECE)) {
        let (to, behind) = rest.split_at_mut(piece.len());
        moves.push((to, piece));
        rest = behind;
    }
    let copy = |(to, from): &mut (&mut [MaybeUninit<T>], &[T])| {
        to.write_copy_of_slice(from);
    };
    if n <= SERIAL {
        moves.iter_mut().for_each(copy);
    } else {
        let (n, moves) = (moves.len(), Shared::new(&mut moves));
        // SAFETY: every number comes once.
        each(n, &|i| copy(&mut unsafe { moves.part(i..i + 1) }[0]));
    }
    // SAFETY: the parts fill the first n.
    Ok(unsafe { written(made, n) })
}

/// f(0), f(1), … f(n - 1).
pub(crate) fn in_pieces<T: Send + Sync>(
    operation: &'static str,
    n: usize,
    f: impl Fn(usize) -> T + Copy + Sync,
) -> Result<Vec<T>> {
    let mut made = unwritten::<T>(operation, n)?;
    let to = Shared::new(&mut made);
    let fill = |to: &mut [MaybeUninit<T>], piece: Range<usize>| {
        let own = f;
        for (z, e) in to.iter_mut().zip(piece) {
            *z = MaybeUninit::new(own(e));
        }
    };
    // SAFETY: pieces are disjoint.
    each_piece(n, SERIAL, &|piece| fill(unsafe { to.part(piece.clone()) }, piece));
    // SAFETY: every element was written.
    Ok(unsafe { written(made, n) })
}

/// `n` copies of a value: by one thread where that takes it some microseconds.
pub(crate) fn filled<T: Copy + Send + Sync>(operation: &'static str, n: usize, value: T) -> Result<Vec<T>> {
    const LONG: usize = if cfg!(test) { 1 << 8 } else { 1 << 19 };
    match n.saturating_mul(size_of::<T>()) <= LONG {
        true => memory::filled(operation, n, value),
        false => in_pieces(operation, n, move |_| value),
    }
}

/// Sums of all values before each, with the total at the end: one more than values.
pub(crate) fn scan(operation: &'static str, n: usize, count: impl Fn(usize) -> u64 + Sync) -> Result<Vec<u64>> {
    scanned(operation, n, &|first, sums| {
        let mut sum = 0;
        for (i, s) in sums.iter_mut().enumerate() {
            sum += count(first + i);
            *s = MaybeUninit::new(sum);
        }
    })
}

/// [`scan`], where `within` writes the sums of the values from `first` on; see [`each_piece`].
fn scanned(
    operation: &'static str,
    n: usize,
    within: &(dyn Fn(usize, &mut [MaybeUninit<u64>]) + Sync),
) -> Result<Vec<u64>> {
    const PIECE: usize = 1 << 14;
    // The threads that count touch its pages first.
    let mut sums = unwritten::<u64>(operation, n + 1)?;
    sums[0] = MaybeUninit::new(0);
    if n <= SERIAL {
        within(0, &mut sums[1..]);
        // SAFETY: the first and all others were written.
        return Ok(unsafe { written(sums, n + 1) });
    }
    // Each piece for itself first, then what stands before it.
    sums[1..].par_chunks_mut(PIECE).enumerate().for_each(|(p, piece)| within(p * PIECE, piece));
    // SAFETY: the first and, in pieces, all others were written.
    let mut sums = unsafe { written(sums, n + 1) };
    let mut before = 0;
    let mut starts = memory::with_capacity(operation, n.div_ceil(PIECE))?;
    for piece in sums[1..].chunks(PIECE) {
        starts.push(before);
        before += piece.last().copied().unwrap_or(0);
    }
    sums[1..].par_chunks_mut(PIECE).zip(starts).for_each(|(piece, start)| piece.iter_mut().for_each(|s| *s += start));
    Ok(sums)
}
