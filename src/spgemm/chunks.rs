//! A product by chunks of rows, where it does not fit as a whole.
use crate::error::{Error, Result};
use std::ops::Range;

/// A product whose rows can be computed some at a time. Running out of memory is `OutOfMemory`; then less is tried.
pub(crate) trait ByRows {
    /// Some rows of the product.
    type Part;
    /// All of them.
    type Whole;
    /// So often a smaller chunk is tried before rows that were computed are dropped.
    const TRIES: u32 = 0;
    fn rows(&self) -> usize;
    /// Where a chunk of rows from this one on ends at the latest.
    fn end(&self, _row: usize) -> usize {
        self.rows()
    }
    fn part(&self, rows: Range<usize>) -> Result<Self::Part>;
    fn entries(part: &Self::Part) -> u64;
    /// Room for all rows with so many entries.
    fn room(&self, entries: u64) -> Result<Self::Whole>;
    /// Puts rows where they belong, `start` entries after the first.
    fn place(&self, whole: &mut Self::Whole, part: &Self::Part, rows: Range<usize>, start: u64) -> Result<()>;
}

/// Rows that were computed; the entries are dropped where memory is needed for others, and computed again in the end.
struct Chunk<P> {
    rows: Range<usize>,
    entries: u64,
    kept: Option<P>,
}

/// After so many chunks that went well a larger one is tried.
const PATIENCE: u32 = 4;

/// How much is tried at once: less where that was too much for the memory there is, and then more again.
#[derive(Debug)]
pub(crate) struct Size {
    now: u64,
    most: u64,
    good: u32,
}

impl Size {
    /// So much at first, and never more than `most`.
    pub(crate) fn of(first: u64, most: u64) -> Self {
        Self { now: first, most, good: 0 }
    }
    pub(crate) fn now(&self) -> u64 {
        self.now
    }
    /// The same, of rows.
    pub(crate) fn rows(&self) -> usize {
        usize::try_from(self.now()).unwrap_or(usize::MAX)
    }
    /// There was memory for it.
    pub(crate) fn fits(&mut self) {
        self.good += 1;
        if self.good == PATIENCE {
            (self.now, self.good) = (self.now.saturating_mul(2).min(self.most.max(self.now)), 0);
        }
    }
    /// There was not: so much is tried next.
    pub(crate) fn shrink(&mut self, to: u64) {
        (self.now, self.good) = (to.max(1), 0);
    }
}

fn is_memory(e: &Error) -> bool {
    matches!(e, Error::OutOfMemory { .. })
}

/// Drops what takes most; whether there was anything.
fn make_way<P>(chunks: &mut [Chunk<P>]) -> bool {
    let largest = chunks.iter_mut().filter(|c| c.kept.is_some()).max_by_key(|c| c.entries);
    largest.is_some_and(|chunk| chunk.kept.take().is_some())
}

/// All rows, by chunks of at most `first` rows: each is computed and counted, kept as long as there is memory, put in its
/// place when the size of the result is known. A chunk that does not fit is cut in two.
///
/// # Errors
/// `OutOfMemory` where one row or the result does not fit.
pub(crate) fn by_chunks<P: ByRows>(product: &P, first: usize) -> Result<P::Whole> {
    let (mut chunks, mut row, mut bad) = (Vec::<Chunk<P::Part>>::new(), 0, 0);
    let mut size = Size::of(first.max(1) as u64, u64::MAX);
    while row < product.rows() {
        let rows = row..product.end(row).min(row.saturating_add(size.rows()));
        match product.part(rows.clone()) {
            Ok(part) => {
                bad = 0;
                crate::memory::reserve("mxm", &mut chunks, 1)?;
                row = rows.end;
                chunks.push(Chunk { rows, entries: P::entries(&part), kept: Some(part) });
                size.fits();
            }
            Err(e) if is_memory(&e) && (bad >= P::TRIES || rows.len() == 1) && make_way(&mut chunks) => {}
            Err(e) if is_memory(&e) && rows.len() > 1 => {
                size.shrink(rows.len().div_ceil(2) as u64);
                bad += 1;
            }
            Err(e) => return Err(e),
        }
    }
    let entries = chunks.iter().map(|c| c.entries).sum();
    let mut whole = loop {
        match product.room(entries) {
            Ok(whole) => break whole,
            Err(e) if is_memory(&e) && make_way(&mut chunks) => {}
            Err(e) => return Err(e),
        }
    };
    let mut start = 0;
    for at in 0..chunks.len() {
        let (done, rest) = chunks.split_at_mut(at + 1);
        let Some(chunk) = done.last_mut() else { continue };
        match chunk.kept.take() {
            Some(part) => product.place(&mut whole, &part, chunk.rows.clone(), start)?,
            None => again(product, &mut whole, chunk.rows.clone(), start, rest)?,
        }
        start += chunk.entries;
    }
    Ok(whole)
}

/// Rows that were dropped, computed again and placed, in pieces if need be.
fn again<P: ByRows>(
    product: &P,
    whole: &mut P::Whole,
    rows: Range<usize>,
    mut start: u64,
    others: &mut [Chunk<P::Part>],
) -> Result<()> {
    let (mut row, mut size) = (rows.start, Size::of(rows.len() as u64, rows.len() as u64));
    while row < rows.end {
        let some = row..rows.end.min(row.saturating_add(size.rows()));
        match product.part(some.clone()) {
            Ok(part) => {
                product.place(whole, &part, some.clone(), start)?;
                start += P::entries(&part);
                row = some.end;
                size.fits();
            }
            Err(e) if is_memory(&e) && make_way(others) => {}
            Err(e) if is_memory(&e) && some.len() > 1 => size.shrink(some.len().div_ceil(2) as u64),
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// Rows of given numbers of entries in so much memory; a part takes twice its entries while it is computed.
    struct Counted {
        lengths: Vec<u64>,
        memory: Rc<RefCell<(u64, u64)>>,
        tried: RefCell<Vec<usize>>,
    }
    struct Taken(u64, Vec<u64>, Rc<RefCell<(u64, u64)>>);
    impl Drop for Taken {
        fn drop(&mut self) {
            self.2.borrow_mut().0 -= self.0;
        }
    }
    impl Counted {
        fn take(&self, bytes: u64) -> Result<Taken> {
            let mut memory = self.memory.borrow_mut();
            if memory.0 + bytes > memory.1 {
                let (needed, available) = (memory.0 + bytes, Some(memory.1));
                return Err(Error::OutOfMemory { operation: "test", device: "test".into(), needed, available });
            }
            memory.0 += bytes;
            Ok(Taken(bytes, Vec::new(), self.memory.clone()))
        }
    }
    impl ByRows for Counted {
        type Part = Taken;
        type Whole = Taken;
        fn rows(&self) -> usize {
            self.lengths.len()
        }
        fn part(&self, rows: Range<usize>) -> Result<Taken> {
            self.tried.borrow_mut().push(rows.len());
            let entries = self.lengths[rows.clone()].iter().sum::<u64>();
            let _workspace = self.take(entries)?;
            let mut part = self.take(entries)?;
            part.1 = rows.flat_map(|r| vec![r as u64; self.lengths[r] as usize]).collect();
            Ok(part)
        }
        fn entries(part: &Taken) -> u64 {
            part.0
        }
        fn room(&self, entries: u64) -> Result<Taken> {
            let mut room = self.take(entries)?;
            room.1 = vec![u64::MAX; entries as usize];
            Ok(room)
        }
        fn place(&self, whole: &mut Taken, part: &Taken, _: Range<usize>, start: u64) -> Result<()> {
            whole.1[start as usize..start as usize + part.1.len()].copy_from_slice(&part.1);
            Ok(())
        }
    }

    #[test]
    fn every_memory_suffices_or_is_refused() {
        let lengths: Vec<u64> = (0..40).map(|r| if r == 17 { 50 } else { r % 7 }).collect();
        let total: u64 = lengths.iter().sum();
        let expected: Vec<u64> = (0..40).flat_map(|r| vec![r as u64; lengths[r] as usize]).collect();
        // The result, and the longest row's workspace and part beside it.
        for limit in 0..4 * total {
            let product = Counted {
                lengths: lengths.clone(),
                memory: Rc::new(RefCell::new((0, limit))),
                tried: RefCell::default(),
            };
            match by_chunks(&product, 40) {
                Ok(whole) => assert!(whole.1 == expected && limit >= total, "{limit}"),
                Err(e) => assert!(is_memory(&e) && limit < total + 100, "{limit}: {e}"),
            }
            assert_eq!(product.memory.borrow().0, 0);
        }
    }

    #[test]
    fn chunks_grow_after_a_row_that_is_long() {
        let mut lengths = vec![1; 4096];
        lengths[5] = 600;
        let memory = Rc::new(RefCell::new((0, 7000)));
        let product = Counted { lengths, memory, tried: RefCell::default() };
        assert_eq!(by_chunks(&product, 4096).unwrap().1.len(), 4695);
        assert!(product.tried.borrow().len() < 60, "{:?}", product.tried.borrow());
    }
}
