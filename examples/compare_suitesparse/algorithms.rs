//! Graph algorithms on one graph: the same calls as LAGraph's, `tests/suitesparse/lagraph.py`.
use crate::{LONGEST, Outcome, make, suits, write_matrix};
use oplus::algebra::Ordered;
use oplus::algorithm::{BfsOptions, MultiSourceBfsOptions, TriangleOptions};
use oplus::generate::Random;
use oplus::prelude::*;
use std::path::Path;

/// Searches of one vertex in a run, and sources of a search from many.
const SEARCHES: usize = 8;
const TOGETHER: usize = 64;

/// A graph without loops, and all that may be known of it before an algorithm begins.
pub struct Graph {
    pattern: Matrix<bool>,
    /// Where the graph is none of both directions.
    back: Option<Matrix<bool>>,
    /// Every edge in both directions.
    undirected: Matrix<bool>,
    /// Whole numbers from 1 to 255, the same in both directions.
    weights: Matrix<i32>,
    weights32: Matrix<f32>,
    sources: Vec<u64>,
}

impl Graph {
    /// R-MAT and roads in both directions, files as they are.
    pub fn new(name: &str, data: Option<&Path>) -> Outcome<Self> {
        let coo = make(name, data)?;
        suits(name, &coo, LONGEST)?;
        let directed: Matrix<bool> =
            algorithm::without_loops(&apply(&Matrix::build_with(&coo, First)?, Pair::<bool>::default()).eval()?)?;
        let undirected = algorithm::undirected(&directed)?;
        let pattern = if name.starts_with("rmat-") { undirected.clone() } else { directed };
        let symmetric = pattern.nvals() == undirected.nvals();
        let back = if symmetric { None } else { Some(transpose(&pattern).eval()?) };
        let mut random = Random::new(13, 1);
        let edges = pattern.to_coo()?;
        let mut weighted =
            Coo { values: Vec::new(), rows: edges.rows, columns: edges.columns, ..Coo::new(coo.nrows, coo.ncols) };
        let weight = |(i, j): (&u64, &u64)| Random::new(17, *i.min(j) << 32 | *i.max(j)).below(255) as i32 + 1;
        weighted.values = weighted.rows.iter().zip(&weighted.columns).map(weight).collect();
        // Vertices with edges, each as likely as another.
        let mut starts = weighted.rows.clone();
        starts.dedup();
        let any = |_| starts[random.below(starts.len() as u64) as usize];
        let sources = if starts.is_empty() { Vec::new() } else { (0..TOGETHER).map(any).collect() };
        let weights = Matrix::build_with(&weighted, First)?;
        Ok(Self { pattern, back, undirected, weights32: weights.cast()?, weights, sources })
    }

    /// Vertices, edges, whether the graph is one of both directions, and where searches begin.
    pub fn reply(&self) -> String {
        let sources: Vec<_> = self.sources.iter().map(|s| s.to_string()).collect();
        let symmetric = u8::from(self.back.is_none());
        format!("{} {} {symmetric} {SEARCHES} {}", self.pattern.nrows(), self.pattern.nvals(), sources.join(" "))
    }

    pub fn write(&self, directory: &Path) -> Outcome {
        write_matrix(&directory.join("graph.bin"), &self.weights.cast::<f64>()?.to_coo()?)?;
        write_matrix(&directory.join("undirected.bin"), &self.undirected.cast::<f64>()?.to_coo()?)
    }

    /// The seconds of each run; what the first one found is written down, one number of four bytes a vertex.
    pub fn run(&self, operation: &str, count: usize, directory: &Path) -> Outcome<String> {
        let n = self.pattern.nrows() as usize;
        let options = BfsOptions::default().with_symmetric(self.back.is_none());
        let bfs = |parents: bool| {
            let options = options.clone().with_parents(parents);
            self.each(|s| match &self.back {
                Some(back) => Ok(algorithm::bfs_with_transpose(&self.pattern, back, s, &options)?),
                None => Ok(algorithm::bfs(&self.pattern, s, &options)?),
            })
        };
        match operation {
            "levels" => timed(
                count,
                directory,
                || bfs(false),
                |all, found| {
                    all.iter().try_for_each(|b| {
                        listed(found, n, b.levels.entries()?.into_iter().map(|(i, l)| (i as usize, l as i32)))
                    })
                },
            ),
            "parents" | "both" => timed(
                count,
                directory,
                || bfs(true),
                |all, found| {
                    for b in all {
                        let parents = b.parents.as_ref().ok_or("no parents")?;
                        listed(found, n, b.levels.entries()?.into_iter().map(|(i, l)| (i as usize, l as i32)))?;
                        listed(found, n, parents.entries()?.into_iter().map(|(i, p)| (i as usize, p as i32)))?;
                    }
                    Ok(())
                },
            ),
            "sssp-i32" => self.sssp(&self.weights, count, directory),
            "sssp-f32" => self.sssp(&self.weights32, count, directory),
            "triangles" => {
                let options = TriangleOptions::default().with_prepare(false);
                let run = || Ok(algorithm::triangle_count(&self.undirected, &options)?.triangles);
                timed(count, directory, run, |triangles, found| {
                    found.extend_from_slice(&triangles.to_le_bytes());
                    Ok(())
                })
            }
            "together" => {
                let options = MultiSourceBfsOptions::default().with_levels(true);
                let run = || Ok(algorithm::multi_source_bfs(&self.pattern, &self.sources, &options)?);
                timed(count, directory, run, |all, found| {
                    let levels = all.levels.as_ref().ok_or("no levels")?.iter()?;
                    listed(found, n * TOGETHER, levels.map(|(s, i, l)| (s as usize * n + i as usize, l as i32)))
                })
            }
            _ => Err(format!("no algorithm {operation}").into()),
        }
    }

    fn each<C>(&self, search: impl Fn(u64) -> Outcome<C>) -> Outcome<Vec<C>> {
        self.sources.iter().take(SEARCHES).map(|s| search(*s)).collect()
    }

    fn sssp<T: Ordered>(&self, weights: &Matrix<T>, count: usize, directory: &Path) -> Outcome<String>
    where
        Cast<i32>: UnaryOp<T, Out = i32>,
    {
        let n = weights.nrows() as usize;
        let run = || self.each(|s| Ok(algorithm::sssp(weights, s, &Default::default())?.distances));
        timed(count, directory, run, |all, found| {
            all.iter().try_for_each(|d| {
                listed(found, n, d.cast::<i32>()?.entries()?.into_iter().map(|(i, d)| (i as usize, d)))
            })
        })
    }
}

/// A number for each of so many, −1 where there is none.
fn listed(found: &mut Vec<u8>, n: usize, entries: impl Iterator<Item = (usize, i32)>) -> Outcome {
    let mut numbers = vec![-1i32; n];
    entries.for_each(|(i, x)| numbers[i] = x);
    found.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    Ok(())
}

/// What a run made is given back outside its time.
fn timed<C>(
    count: usize,
    directory: &Path,
    run: impl Fn() -> Outcome<C>,
    write: impl Fn(&C, &mut Vec<u8>) -> Outcome,
) -> Outcome<String> {
    let first = |made: &C| {
        let mut found = Vec::new();
        write(made, &mut found)?;
        std::fs::write(directory.join("found.bin"), found)?;
        Ok(String::new())
    };
    crate::timed(count, || Ok(()), |()| run(), first)
}
