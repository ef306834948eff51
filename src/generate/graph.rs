//! Irregular sparsity: power laws, uniform rows, small worlds, roads, hubs.
use super::{Random, from_rows, from_some_rows, invalid, times};
use crate::error::Result;
use crate::memory;
use crate::storage::Coo;
use rayon::prelude::*;

/// The probabilities of the four quadrants; the fourth is what is left.
#[derive(Clone, Copy, Debug)]
pub struct Rmat {
    /// Upper left.
    pub a: f64,
    /// Upper right.
    pub b: f64,
    /// Lower left.
    pub c: f64,
}
impl Default for Rmat {
    fn default() -> Self {
        Self { a: 0.57, b: 0.19, c: 0.19 }
    }
}

/// Edges each chunk of work makes from a random stream of its own.
const CHUNK: u64 = 1 << 16;

/// R-MAT: 2^scale vertices, edge_factor · 2^scale edges drawn, equal ones kept once; values uniform in (0, 1].
///
/// Chakrabarti, Zhan, Faloutsos, *R-MAT*, SDM 2004, 10.1137/1.9781611972740.43. O(e · scale), parallel.
///
/// # Errors
/// `InvalidValue` for a scale above 31, 2⁴⁰ edges or more, or probabilities that are none; `OutOfMemory`.
/// ```
/// let g = oplus::generate::rmat(10, 8, Default::default(), 1)?;
/// assert!(g.nrows == 1024 && g.len() > 6000 && g.len() <= 8192);
/// # Ok::<(), oplus::Error>(())
/// ```
pub fn rmat(scale: u32, edge_factor: u64, shape: Rmat, seed: u64) -> Result<Coo<f64>> {
    let Rmat { a, b, c } = shape;
    if scale > 31 {
        return invalid("rmat", format!("scale {scale} is above 31"));
    }
    // Probabilities that add up to 1 may do so but for rounding.
    if ![a, b, c].iter().all(|p| (0.0..=1.0).contains(p)) || a + b + c > 1.0 + 4.0 * f64::EPSILON {
        return invalid("rmat", format!("{a}, {b}, {c} are not probabilities of quadrants"));
    }
    let n = 1u64 << scale;
    let Some(edges) = edge_factor.checked_mul(n).filter(|e| *e < 1 << 40) else {
        return invalid("rmat", format!("{edge_factor} · 2^{scale} edges are too many"));
    };
    let mut keys = memory::filled("rmat", usize::try_from(edges).unwrap_or(usize::MAX), 0u64)?;
    keys.par_chunks_mut(CHUNK as usize).enumerate().for_each(|(stream, chunk)| {
        let mut random = Random::new(seed, stream as u64);
        for key in chunk {
            let (mut i, mut j) = (0u64, 0u64);
            for _ in 0..scale {
                let p = random.unit();
                let (down, right) = if p < a {
                    (0, 0)
                } else if p < a + b {
                    (0, 1)
                } else if p < a + b + c {
                    (1, 0)
                } else {
                    (1, 1)
                };
                (i, j) = (i << 1 | down, j << 1 | right);
            }
            *key = i << 32 | j;
        }
    });
    keys.par_sort_unstable();
    keys.dedup();
    let mut coo = Coo::new(n, n);
    coo.rows = memory::with_capacity("rmat", keys.len())?;
    coo.columns = memory::with_capacity("rmat", keys.len())?;
    coo.values = memory::with_capacity("rmat", keys.len())?;
    let mut random = Random::new(seed, u64::MAX);
    keys.iter().for_each(|k| coo.push(k >> 32, k & 0xffff_ffff, 1.0 - random.unit()));
    Ok(coo)
}

/// A row of `count` random columns below `n`, ascending, those that fall together once.
fn distinct(
    operation: &'static str,
    (seed, i): (u64, u64),
    (n, count): (u64, u64),
    row: &mut Vec<(u64, f64)>,
) -> Result<()> {
    let (mut random, count) = (Random::new(seed, i), count.min(n));
    memory::reserve(operation, row, usize::try_from(count).unwrap_or(usize::MAX))?;
    row.extend((0..count).map(|_| (random.below(n), 0.0)));
    row.sort_unstable_by_key(|e| e.0);
    row.dedup_by_key(|e| e.0);
    row.iter_mut().for_each(|e| e.1 = 1.0 - random.unit());
    Ok(())
}

/// Rows of `mean` random columns each (fewer where two fall together), values uniform in (0, 1].
/// O(nrows · mean · log mean).
///
/// # Errors
/// `OutOfMemory`.
/// ```
/// let a = oplus::generate::uniform(100, 50, 4, 1)?;
/// assert!((a.nrows, a.ncols) == (100, 50) && a.len() > 300 && a.len() <= 400);
/// # Ok::<(), oplus::Error>(())
/// ```
pub fn uniform(nrows: u64, ncols: u64, mean: u64, seed: u64) -> Result<Coo<f64>> {
    from_rows("uniform", (nrows, ncols), times(nrows, mean.min(ncols)), |i, row| {
        distinct("uniform", (seed, i), (ncols, mean), row)
    })
}

/// Uniform rows of `mean` columns, `hubs` of which, the rows ⌊h n / hubs⌋, have `hub_length` instead. O(n · mean + hubs · hub_length), times
/// the logarithm of a row; without a mean the other rows are not visited.
///
/// # Errors
/// `InvalidValue` for more hubs than rows; `OutOfMemory`.
/// ```
/// let a = oplus::generate::hub(100, 2, 1, 80, 1)?;
/// assert!(a.len() > 200 && a.len() <= 99 * 2 + 80);
/// # Ok::<(), oplus::Error>(())
/// ```
pub fn hub(n: u64, mean: u64, hubs: u64, hub_length: u64, seed: u64) -> Result<Coo<f64>> {
    if hubs > n {
        return invalid("hub", format!("{hubs} hubs in {n} rows"));
    }
    // Below n, as h is below `hubs`.
    let place = |hub: u64| (u128::from(hub) * u128::from(n) / u128::from(hubs)) as u64;
    let most = times(n, mean.min(n)).saturating_add(times(hubs, hub_length.min(n)));
    if mean == 0 {
        // However many rows there are, the others have nothing.
        return from_some_rows("hub", (n, n), (0..hubs).map(place), most, |i, row| {
            distinct("hub", (seed, i), (n, hub_length), row)
        });
    }
    let mut next = 0;
    from_rows("hub", (n, n), most, |i, row| {
        let is_hub = next < hubs && i == place(next);
        next += u64::from(is_hub);
        distinct("hub", (seed, i), (n, if is_hub { hub_length } else { mean }), row)
    })
}

/// Watts–Strogatz: a ring in which each vertex knows k/2 on either side, each edge moved elsewhere with probability p;
/// undirected, both directions stored, values 1; edges that fall together are kept once. *Nature* 393, 1998, 10.1038/30918.
/// O(n·k·log(n·k)).
///
/// # Errors
/// `InvalidValue` for an odd k, k ≥ n or a p that is no probability; `OutOfMemory`.
/// ```
/// let ring = oplus::generate::small_world(10, 4, 0.0, 1)?;
/// assert_eq!(ring.len(), 40);
/// # Ok::<(), oplus::Error>(())
/// ```
pub fn small_world(n: u64, k: u64, p: f64, seed: u64) -> Result<Coo<f64>> {
    if !k.is_multiple_of(2) || k >= n.max(1) || !(0.0..=1.0).contains(&p) {
        return invalid("small_world", format!("n = {n}, k = {k}, p = {p}: k must be even and below n, p in [0, 1]"));
    }
    let edges = usize::try_from(n as u128 * k as u128).unwrap_or(usize::MAX);
    let mut pairs: Vec<(u64, u64)> = memory::with_capacity("small_world", edges)?;
    // Of no edges, however many vertices there are.
    for i in 0..if k == 0 { 0 } else { n } {
        let mut random = Random::new(seed, i);
        for d in 1..=k / 2 {
            let near = (i + d) % n;
            let j = if random.unit() < p { random.below(n) } else { near };
            let j = if j == i { near } else { j };
            pairs.extend([(i, j), (j, i)]);
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut coo = Coo::new(n, n);
    memory::reserve("small_world", &mut coo.rows, pairs.len())?;
    memory::reserve("small_world", &mut coo.columns, pairs.len())?;
    memory::reserve("small_world", &mut coo.values, pairs.len())?;
    pairs.into_iter().for_each(|(i, j)| coo.push(i, j, 1.0));
    Ok(coo)
}

/// Roads: an nx × ny grid, one link in ten missing, weights whole numbers from 1 to 100 in both directions. O(nx·ny).
///
/// # Errors
/// `InvalidValue` where the grid has 2³² points or more; `OutOfMemory`.
/// ```
/// let roads = oplus::generate::road_grid(8, 8, 1)?;
/// assert!(roads.nrows == 64 && roads.values.iter().all(|w| (1.0..=100.0).contains(w)));
/// # Ok::<(), oplus::Error>(())
/// ```
pub fn road_grid(nx: u64, ny: u64, seed: u64) -> Result<Coo<f64>> {
    let Some(n) = nx.checked_mul(ny).filter(|n| *n <= u32::MAX as u64) else {
        return invalid("road_grid", format!("{nx} × {ny} points are 2³² or more"));
    };
    // A link belongs to its lower end and direction, so that both ends see the same road.
    let link = |low: u64, vertical: bool| {
        let mut random = Random::new(seed, low << 1 | vertical as u64);
        let weight = 1.0 + random.below(100) as f64;
        (random.below(10) != 0).then_some(weight)
    };
    from_rows("road_grid", (n, n), times(n, 4), |p, row| {
        let (x, y) = (p % nx, p / nx);
        let ends = [
            (y > 0).then(|| (p - nx, link(p - nx, true))),
            (x > 0).then(|| (p - 1, link(p - 1, false))),
            (x + 1 < nx).then(|| (p + 1, link(p, false))),
            (y + 1 < ny).then(|| (p + nx, link(p, true))),
        ];
        row.extend(ends.into_iter().flatten().filter_map(|(to, weight)| weight.map(|w| (to, w))));
        Ok(())
    })
}
