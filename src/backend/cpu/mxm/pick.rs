//! Which products of a row a mask admits: found for many of them at a time and without a branch on each, so that only
//! those are computed. Nothing here knows a scalar.
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::simd::Simd;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::backend::cpu::simd::Sixteen;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::backend::cpu::simd::avx2::Avx2;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::backend::cpu::simd::avx512::Avx512;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;

/// Columns looked at in one go.
const CHUNK: usize = if cfg!(test) { 16 } else { 1 << 10 };
/// Room for products that were admitted.
const ROOM: usize = if cfg!(test) { 64 } else { 1 << 13 };
/// As many more may be written behind the last one.
const SLACK: usize = 16;
/// As many columns are compared with at once.
const LIST: usize = 16;

/// Products that the mask admits, in the order in which they are added.
#[derive(Debug, Default)]
pub(crate) struct Picked {
    /// A bit for each admitted column.
    gate: Vec<u64>,
    /// Where in B's row each stands.
    places: Vec<u32>,
    /// Which entry of A's row it belongs to.
    entries: Vec<u32>,
    len: usize,
    /// All admitted columns where they are few: compared with instead of looked up. How many.
    list: [u32; LIST],
    listed: usize,
}

/// How far a row has been looked at: an entry of A, columns of the row of B it meets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reached {
    entry: usize,
    columns: usize,
}

impl Picked {
    /// Room for masks of `n` columns.
    pub(crate) fn grow(&mut self, operation: &'static str, n: usize) -> Result<()> {
        let words = n.div_ceil(64);
        if self.gate.len() < words {
            self.gate = memory::filled(operation, words, 0)?;
        }
        // The last to be made says that all are.
        if self.entries.is_empty() {
            self.places = memory::filled(operation, ROOM + SLACK, 0)?;
            self.entries = memory::filled(operation, ROOM + SLACK, 0)?;
        }
        Ok(())
    }
    /// Admits these columns alone.
    pub(crate) fn open(&mut self, admitted: &[u32]) {
        self.listed = if Simd::found().is_some() && admitted.len() <= LIST { admitted.len() } else { 0 };
        if self.listed > 0 {
            self.list[..admitted.len()].copy_from_slice(admitted);
            return;
        }
        admitted.iter().for_each(|j| self.gate[*j as usize >> 6] |= 1 << (j & 63));
    }
    /// Admits none of these columns, which were all that were.
    pub(crate) fn close(&mut self, admitted: &[u32]) {
        if self.listed > 0 {
            return;
        }
        admitted.iter().for_each(|j| self.gate[*j as usize >> 6] = 0);
    }
    /// Entry of A's row and place in B's row of each product found.
    pub(crate) fn found(&self) -> impl Iterator<Item = (u32, u32)> {
        self.entries[..self.len].iter().copied().zip(self.places[..self.len].iter().copied())
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Looks for admitted products from `reached` on until the row ends or there is no more room for sure; whether the
    /// row has ended. What was found before is forgotten.
    pub(crate) fn find(&mut self, row: &[u32], b: &Pattern, block: &Block, reached: &mut Reached) -> bool {
        self.find_with(Simd::found(), row, b, block, reached)
    }
    fn find_with(
        &mut self,
        simd: Option<Simd>,
        row: &[u32],
        b: &Pattern,
        block: &Block,
        reached: &mut Reached,
    ) -> bool {
        self.len = 0;
        assert!(self.gate.len() >= b.ncols.div_ceil(64) && self.places.len() >= ROOM + SLACK);
        assert!(self.entries.len() >= ROOM + SLACK && b.offsets.len() == b.nrows + 1);
        match simd {
            // SAFETY: the processor has what the functions are compiled for.
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Some(Simd::Avx512(s)) => unsafe { self.find_512(s, row, b, block, reached) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Some(Simd::Avx2(s)) => unsafe { self.find_256(s, row, b, block, reached) },
            _ => self.find_by(row, b, block, reached, one_by_one),
        }
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[target_feature(enable = "avx512f,popcnt,bmi2")]
    fn find_512(&mut self, s: Avx512, row: &[u32], b: &Pattern, block: &Block, reached: &mut Reached) -> bool {
        self.find_by_lanes(s, row, b, block, reached)
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    fn find_256(&mut self, s: Avx2, row: &[u32], b: &Pattern, block: &Block, reached: &mut Reached) -> bool {
        self.find_by_lanes(s, row, b, block, reached)
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[inline(always)]
    fn find_by_lanes<S: Sixteen>(
        &mut self,
        s: S,
        row: &[u32],
        b: &Pattern,
        block: &Block,
        reached: &mut Reached,
    ) -> bool {
        let (list, n) = (self.list, self.listed);
        match n {
            0 => self.find_by(
                row,
                b,
                block,
                reached,
                #[inline(always)]
                |columns, gate, at, to| by_sixteen(s, columns, gate, at, to),
            ),
            _ => self.find_by(
                row,
                b,
                block,
                reached,
                #[inline(always)]
                |columns, _, at, to| by_list(s, columns, &list[..n], at, to),
            ),
        }
    }
    #[inline(always)]
    fn find_by(
        &mut self,
        row: &[u32],
        b: &Pattern,
        block: &Block,
        reached: &mut Reached,
        look: impl Fn(&[u32], &[u64], (u32, u32), (&mut [u32], &mut [u32])) -> usize,
    ) -> bool {
        while let Some(k) = row.get(reached.entry) {
            let all = b.range(*k as usize);
            let range = if block.whole { all.clone() } else { block.narrow(b, all.clone()) };
            let columns = &b.indices[range.clone()];
            let before = (range.start - all.start) as u32;
            while reached.columns < columns.len() || columns.is_empty() {
                let chunk = &columns[reached.columns..columns.len().min(reached.columns + CHUNK)];
                if chunk.len() > ROOM - self.len {
                    return false;
                }
                let at = (before + reached.columns as u32, reached.entry as u32);
                let to = (&mut self.places[self.len..], &mut self.entries[self.len..]);
                self.len += look(chunk, &self.gate, at, to);
                reached.columns += chunk.len();
                if columns.is_empty() {
                    break;
                }
            }
            *reached = Reached { entry: reached.entry + 1, columns: 0 };
        }
        true
    }
}

/// Writes where columns with their bit set stand, counted from `first`, and their entry; how many.
#[inline(always)]
fn one_by_one(
    columns: &[u32],
    gate: &[u64],
    (first, entry): (u32, u32),
    (places, entries): (&mut [u32], &mut [u32]),
) -> usize {
    assert!(columns.len() < places.len() && columns.len() < entries.len());
    let mut n = 0;
    for (place, j) in (first..).zip(columns) {
        // SAFETY: n is at most the columns before this one, fewer than there is room for; `find` asserted a word for every
        // column below ncols, as all are.
        unsafe {
            *places.get_unchecked_mut(n) = place;
            *entries.get_unchecked_mut(n) = entry;
            n += (gate.get_unchecked(*j as usize >> 6) >> (j & 63) & 1) as usize;
        }
    }
    n
}

/// As [`one_by_one`], sixteen columns at a time.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn by_sixteen<S: Sixteen>(
    s: S,
    columns: &[u32],
    gate: &[u64],
    (first, entry): (u32, u32),
    (to, entries): (&mut [u32], &mut [u32]),
) -> usize {
    assert!(columns.len() + SLACK <= to.len() && columns.len() + SLACK <= entries.len());
    let entry = s.splat(entry);
    let mut n = 0;
    for (c, part) in columns.chunks(16).enumerate() {
        let here = s.first(part.len());
        // SAFETY: only lanes with a column are read, and of the gate the half words of columns below ncols, which `find`
        // asserted; n is at most the columns before, after which there is room for sixteen more.
        unsafe {
            let j = s.load_some(here, part.as_ptr());
            let word = s.gather(here, gate.as_ptr().cast(), s.shr::<5>(j));
            let met = s.bits(s.odd(s.shr_by(word, j)));
            let places = s.add(s.numbers(), s.splat(first.wrapping_add(16 * c as u32)));
            s.store_kept(to.as_mut_ptr().add(n), met, places);
            s.store(entries.as_mut_ptr().add(n), entry);
            n += met.count_ones() as usize;
        }
    }
    n
}

/// As [`one_by_one`], sixteen columns at a time compared with each of an ascending list.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn by_list<S: Sixteen>(
    s: S,
    columns: &[u32],
    list: &[u32],
    (first, entry): (u32, u32),
    (to, entries): (&mut [u32], &mut [u32]),
) -> usize {
    assert!(columns.len() + SLACK <= to.len() && columns.len() + SLACK <= entries.len());
    let ([least, ..], Some(most)) = (list, list.last()) else { return 0 };
    // Columns ascend: what lies before and behind the list is not compared.
    let skip = if columns.len() > 32 { crate::backend::cpu::structure::ascending::below(columns, *least) } else { 0 };
    let entry = s.splat(entry);
    let mut n = 0;
    for (c, part) in columns[skip..].chunks(16).enumerate() {
        if part[0] > *most {
            break;
        }
        let here = s.first(part.len());
        // SAFETY: only lanes with a column are read; n is at most the columns before, after which there is room for sixteen
        // more.
        unsafe {
            let j = s.load_some(here, part.as_ptr());
            let mut met = s.none();
            for admitted in list {
                met = s.either(met, s.equal(j, s.splat(*admitted)));
            }
            let met = s.bits(s.both(met, here));
            let places = s.add(s.numbers(), s.splat(first.wrapping_add((skip + 16 * c) as u32)));
            s.store_kept(to.as_mut_ptr().add(n), met, places);
            s.store(entries.as_mut_ptr().add(n), entry);
            n += met.count_ones() as usize;
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    /// A row of A over rows of B of all lengths up to some chunks, in parts of the columns too: whatever finds them, the same
    /// products are found, those that a look at every one of them finds.
    #[test]
    fn admitted_products_are_found_in_order() {
        let (mut random, n) = (Random::new(5, 0), 200u32);
        let mut b = Pattern::new(150, n as usize, vec![0], vec![]);
        for r in 0..b.nrows as u64 {
            b.indices.extend((0..n).filter(|_| random.below(150) < r));
            b.offsets.push(b.indices.len() as u64);
        }
        let row: Vec<u32> = (0..b.nrows as u32).filter(|k| k % 3 != 1).collect();
        let many: Vec<u32> = (0..n).filter(|_| random.below(2) == 0).collect();
        let few: Vec<u32> = many.iter().copied().step_by(7).collect();
        assert!(few.len() <= LIST && many.len() > LIST);
        for (columns, admitted) in [0..n, 40..41, 17..160, 5..5].iter().flat_map(|c| [(c, &many), (c, &few)]) {
            let block = Block { rows: 0..1, columns: columns.clone(), whole: columns.len() == n as usize };
            let admitted = &admitted[..];
            let mut expected = Vec::new();
            for (entry, k) in row.iter().enumerate() {
                let found = b.row(*k as usize).iter().enumerate();
                let found = found.filter(|(_, j)| columns.contains(*j) && admitted.contains(*j));
                expected.extend(found.map(|(place, _)| (entry as u32, place as u32)));
            }
            let mut picked = Picked::default();
            picked.grow("mxm", b.ncols).unwrap();
            for simd in Simd::all().into_iter().map(Some).chain([None]) {
                picked.open(admitted);
                if simd.is_none() && picked.listed > 0 {
                    continue;
                }
                let (mut reached, mut found) = (Reached::default(), Vec::new());
                loop {
                    let ended = picked.find_with(simd, &row, &b, &block, &mut reached);
                    found.extend(picked.found());
                    if ended {
                        break;
                    }
                }
                assert_eq!(found, expected, "{columns:?}, {simd:?}");
            }
        }
    }
}
