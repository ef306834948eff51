//! How a product is cut that is folded by sums whose last bits depend on how they are grouped.
//!
//! By the products of A's entries alone, which are the same whether operands list their rows and columns or have a place for each,
//! whatever of a mask has a place, whichever loop makes the rows, and however many threads there are.
use super::analysis::{FEW_ROWS, hub_cuts, lengths, worth};
use crate::backend::cpu::blocks::{Block, partition, target, target_of_visits};
use crate::backend::cpu::parallel::scan;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;

/// Rows are made and folded so many products at a time, as many as stay in cache.
const PIECE: u64 = if cfg!(test) { 1 << 9 } else { 1 << 17 };
/// A part of 2⁻¹² is small enough to be handed out, however many products that is: dot products make the few that a mask admits.
const SHARE: u32 = 12;

/// How many products a block should have.
fn share(products: u64, few_rows: bool) -> u64 {
    let usual = if few_rows { target_of_visits(products) } else { target(products) };
    usual.max(products >> SHARE)
}

/// The most blocks there are of so many products: two neighbours of whole rows have more than a share, two parts of a cut row one.
pub(super) fn most_blocks(products: u64) -> u64 {
    // Of few rows there are some more.
    const FEW: u64 = 256;
    3 * (products / share(products, false)) + FEW
}

/// Blocks in order.
#[derive(Debug)]
pub(super) struct Folded {
    pub(super) blocks: Vec<Block>,
    /// Products before each row, where blocks may have to be made in pieces.
    before: Vec<u64>,
}

impl From<Vec<Block>> for Folded {
    fn from(blocks: Vec<Block>) -> Self {
        Self { blocks, before: Vec::new() }
    }
}

impl Folded {
    pub(super) fn of(operation: &'static str, a: &Pattern, b: &Pattern, transposed_b: bool) -> Result<Self> {
        let lengths = if transposed_b { Some(lengths(operation, b)?) } else { None };
        let length = |k: usize| lengths.as_ref().map_or_else(|| b.range(k).len() as u64, |known| known[k] as u64);
        let before = scan(operation, a.nrows, |i| a.row(i).iter().map(|k| 1 + length(*k as usize)).sum())?;
        let total = before[a.nrows];
        let cuts =
            |row: usize, parts: usize| match worth(parts, before[row + 1] - before[row], total, a.range(row).len()) {
                0 | 1 => Ok(Vec::new()),
                parts if transposed_b => {
                    // Columns with about as many entries of B, which is given by columns.
                    let mut cuts = memory::with_capacity(operation, parts)?;
                    let end = |p: usize| (b.nnz() as u64).saturating_mul(p as u64) / parts as u64;
                    cuts.extend((1..parts).map(|p| b.offsets.partition_point(|start| *start < end(p)) as u32));
                    cuts.dedup();
                    Ok(cuts)
                }
                parts => hub_cuts(operation, a.row(row), b, parts),
            };
        let few = (0..a.nrows).filter(|i| !a.range(*i).is_empty()).nth(FEW_ROWS).is_none();
        let ncols = if transposed_b { b.nrows } else { b.ncols };
        let blocks = partition(operation, (a.nrows, ncols), share(total, few), &|r| before[r], &cuts)?;
        Ok(Self { blocks, before })
    }
    /// A block's rows, those that are made and folded at once, in order.
    pub(super) fn pieces(&self, block: &Block, work: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()> {
        if self.before.is_empty() {
            return work(block);
        }
        let (mut from, end) = (block.rows.start, block.rows.end);
        while from < end {
            let goal = self.before[from].saturating_add(PIECE);
            let within = self.before[from + 1..=end].partition_point(|before| *before <= goal);
            let rows = from..from + within.max(1);
            from = rows.end;
            work(&Block { rows, ..block.clone() })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::mxm::by_bits::tests::random;
    use crate::generate::Random;
    use crate::prelude::*;

    /// Row and columns from the first to behind the last.
    fn places(blocks: &[Block]) -> Vec<(usize, u32, u32)> {
        let all = blocks.iter().flat_map(|b| b.rows.clone().map(|i| (i, b.columns.start, b.columns.end)));
        all.collect()
    }

    #[test]
    fn pieces_are_the_rows_of_their_block_and_no_more_blocks_than_reckoned() {
        let mut source = Random::new(7, 0);
        let mut cut = 0;
        for (shape, part) in [((900, 40, 300), 50), ((400, 60, 900), 90), ((3, 60, 4000), 90), ((6000, 40, 60), 30)] {
            let (a, b) = (random(&mut source, (shape.0, shape.1), part), random(&mut source, (shape.1, shape.2), part));
            let folded = Folded::of("test", &a, &b, false).unwrap();
            let total = *folded.before.last().unwrap();
            assert!(folded.blocks.len() as u64 <= most_blocks(total), "{} of {total}", folded.blocks.len());
            for block in &folded.blocks {
                let mut pieces = Vec::new();
                let mut note = |piece: &Block| {
                    pieces.push(piece.clone());
                    Ok(())
                };
                folded.pieces(block, &mut note).unwrap();
                let products = |b: &Block| folded.before[b.rows.end] - folded.before[b.rows.start];
                assert!(pieces.iter().all(|p| p.rows.len() == 1 || products(p) <= PIECE), "{pieces:?}");
                assert_eq!(places(&pieces), places(std::slice::from_ref(block)));
                cut += pieces.len() - 1;
            }
        }
        assert!(cut > 100, "{cut}");
        // Wherever targets end, and of more products than could ever be made.
        for products in (0..58).map(|n| 1u64 << n) {
            assert!(most_blocks(products) <= 3 * (1 << SHARE) + 256 && share(products, true) <= share(products, false));
        }
    }
    #[test]
    fn sums_have_the_same_bits_whichever_loop_makes_rows_on_however_many_threads() {
        let mut random = Random::new(11, 0);
        let mut matrix = |rows: u64, columns: u64, step: u64, part: u64| {
            let mut coo = Coo::new(rows, columns);
            for (i, j) in (0..rows).step_by(step as usize).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                if random.below(100) < part {
                    coo.push(i, j, (random.below(2000) as f64 - 1000.0) * 10f64.powi(random.below(12) as i32 - 6));
                }
            }
            Matrix::<f64>::build_with(&coo, Second).unwrap()
        };
        let (a, b, m) = (matrix(6000, 40, 3, 30), matrix(40, 60, 1, 30), matrix(6000, 60, 1, 10));
        let columns = transpose(&b).eval().unwrap();
        let pools = [1, 2, 5].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
        let mut found = Vec::new();
        for format in [Format::Csr, Format::Hypersparse, Format::Bitmap] {
            let a = a.to_format(format).unwrap();
            for (pool, strategy) in pools.iter().flat_map(|p| [(p, Strategy::Dot), (p, Strategy::Hash)]) {
                let product = |b: &Matrix<f64>| mxm(&a, b).mask(&m.structure()).strategy(strategy);
                found.push(pool.install(|| product(&b).reduce(Plus).unwrap()));
                let dots = pool
                    .install(|| mxm(&a, &columns).transpose_b().mask(&m.structure()).strategy(strategy).reduce(Plus));
                found.push(dots.unwrap());
            }
        }
        assert!(found.iter().all(|sum| sum.to_bits() == found[0].to_bits()), "{found:?}");
    }
}
