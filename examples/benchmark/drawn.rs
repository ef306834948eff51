//! Matrices that nothing was tuned on: how long rows are and where their columns lie is drawn at random, from seeds.
use oplus::generate::{Random, permuted};
use oplus::prelude::*;

/// A matrix has at most so many entries, its square so many products.
const MOST: (usize, u64) = (1 << 24, 1 << 29);

/// How many entries rows have.
#[derive(Clone, Copy, Debug)]
enum Lengths {
    Same,
    /// Geometric.
    Spread,
    /// Few rows have nearly all.
    Power,
    /// One row in some thousand is a hundred times as long.
    Hubs,
    /// Nine rows in ten have none.
    Sparse,
    /// Short rows and long ones in turn.
    Two,
}
/// Where the columns of a row lie.
#[derive(Clone, Copy, Debug)]
enum Columns {
    Anywhere,
    /// About the diagonal.
    Near,
    /// Few columns have nearly all entries.
    Power,
    /// Side by side, from anywhere.
    Runs,
    /// Side by side, about the diagonal.
    NearRuns,
    /// In the block of the row.
    Blocks,
    /// As the row before, but for each third one.
    Shared,
    /// On few diagonals.
    Diagonals,
}
use Columns::{Anywhere, Blocks, Diagonals, Near, NearRuns, Runs, Shared};

/// One matrix: its name tells how it was drawn.
pub(crate) struct Drawn {
    seed: u64,
    n: u64,
    mean: f64,
    lengths: Lengths,
    columns: Columns,
    /// How long runs are, how wide blocks and what is about the diagonal.
    width: u64,
    symmetric: bool,
    shuffled: bool,
}

impl Drawn {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let lengths = [Lengths::Same, Lengths::Spread, Lengths::Power, Lengths::Hubs, Lengths::Sparse, Lengths::Two];
        let columns = [Anywhere, Near, Columns::Power, Runs, NearRuns, Blocks, Shared, Diagonals];
        let (lengths, columns) = (lengths[random.below(6) as usize], columns[random.below(8) as usize]);
        // As many products as there are powers of two between, each as likely.
        let n = (9.0 + 11.5 * random.unit()).exp2();
        let products = (15.0 + 13.0 * random.unit()).exp2();
        let mean = (products / n).sqrt().clamp(1.0, n / 2.0);
        let width = match columns {
            Runs | NearRuns => 2 + random.below(14),
            _ => (mean * (1.0 + 6.0 * random.unit())) as u64 + 2,
        };
        let (symmetric, shuffled) = (random.below(3) == 0, random.below(3) == 0);
        Self { seed, n: n as u64, mean, lengths, columns, width, symmetric, shuffled }
    }
    pub(crate) fn name(&self) -> String {
        let and = |is: bool, text: &'static str| if is { text } else { "" };
        let (symmetric, shuffled) = (and(self.symmetric, "-sym"), and(self.shuffled, "-perm"));
        format!("d{}-{:?}-{:?}{symmetric}{shuffled}", self.seed, self.lengths, self.columns).to_lowercase()
    }
    /// The matrix; with rows half as long as often as it would be too large.
    pub(crate) fn make(&self) -> Result<Coo<f64>> {
        let mut mean = self.mean;
        loop {
            if let Some(coo) = self.with(mean)? {
                return Ok(coo);
            }
            mean /= 2.0;
        }
    }
    fn with(&self, mean: f64) -> Result<Option<Coo<f64>>> {
        let mut random = Random::new(self.seed, 1);
        let mut coo = Coo::new(self.n, self.n);
        let (mut row, mut before) = (Vec::new(), Vec::new());
        let diagonals: Vec<u64> = (0..(mean as usize).clamp(1, 64)).map(|_| random.below(self.n)).collect();
        let mut lengths = vec![0u64; self.n as usize];
        for r in 0..self.n {
            let length = self.length(r, mean, &mut random);
            self.fill(r, length, (&diagonals, &before), &mut random, &mut row);
            row.sort_unstable();
            row.dedup();
            for c in &row {
                let value = 0.5 + random.unit();
                coo.push(r, *c, value);
                lengths[r as usize] += 1;
                if self.symmetric && *c != r {
                    coo.push(*c, r, value);
                    lengths[*c as usize] += 1;
                }
            }
            if coo.columns.len() > MOST.0 {
                return Ok(None);
            }
            std::mem::swap(&mut row, &mut before);
        }
        let products: u64 = coo.columns.iter().map(|k| lengths[*k as usize]).sum();
        match (products > MOST.1, self.shuffled) {
            (true, _) => Ok(None),
            (_, true) => Ok(Some(permuted(coo, self.seed)?)),
            _ => Ok(Some(coo)),
        }
    }
    fn length(&self, r: u64, mean: f64, random: &mut Random) -> u64 {
        let u = random.unit();
        let length = match self.lengths {
            Lengths::Same => mean,
            Lengths::Spread => -mean * (1.0 - u).ln(),
            Lengths::Power => mean / 3.0 * (1.0 - u).powf(-1.0 / 1.5),
            Lengths::Hubs if random.below(2000) == 0 => 100.0 * mean,
            Lengths::Sparse if random.below(10) > 0 => 0.0,
            Lengths::Two if r.is_multiple_of(2) => mean / 8.0,
            Lengths::Hubs => mean * 2.0 * u,
            Lengths::Sparse => 6.0 * mean * u,
            Lengths::Two => 2.0 * mean,
        };
        (length.round() as u64).min(self.n)
    }
    /// Columns of row r, in no order, some perhaps twice.
    fn fill(&self, r: u64, length: u64, (diagonals, before): (&[u64], &[u64]), random: &mut Random, to: &mut Vec<u64>) {
        let (n, width) = (self.n, self.width.min(self.n));
        let about = |middle: u64, width: u64, random: &mut Random| {
            (middle.saturating_sub(width / 2) + random.below(width)).min(n - 1)
        };
        to.clear();
        let run = |from: u64, to: &mut Vec<u64>| to.extend(from..(from + width).min(n));
        match self.columns {
            Anywhere => to.extend((0..length).map(|_| random.below(n))),
            Near => to.extend((0..length).map(|_| about(r, width.max(2 * length), random))),
            Columns::Power => to.extend((0..length).map(|_| (n as f64 * random.unit().powi(4)) as u64)),
            Runs => (0..length.div_ceil(width)).for_each(|_| run(random.below(n), to)),
            NearRuns => (0..length.div_ceil(width)).for_each(|_| run(about(r, 4 * length + 2, random), to)),
            Blocks => to.extend((0..length).map(|_| (r / width * width + random.below(width)).min(n - 1))),
            Shared if !r.is_multiple_of(3) => to.extend(before),
            Shared => to.extend((0..length).map(|_| about(r, 64 * width, random))),
            Diagonals => to.extend(diagonals.iter().take(length as usize).map(|d| (r + d) % n)),
        }
    }
}
