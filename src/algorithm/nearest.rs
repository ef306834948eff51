//! Which vertices relax their edges first: near ones, whose distances are seldom too long still.
use crate::algebra::portable::add_top;
use crate::algebra::{Min, MinPlus, Ordered, ValueGt, ValueLe};
use crate::container::{Matrix, Vector};
use crate::error::Result;
use crate::operation::{reduce, select, vxm};

/// So few open vertices relax together, however far they are; of more a range has at least one in so many, as all are looked at for each.
const FEW: u64 = 64;
/// Vertices whose edges say how long edges are.
const ASKED: u64 = 256;
/// Ranges are as wide as so many mean edges over the mean degree: the shortest of a vertex' edges is about as long as one over it.
const EDGES: f64 = 8.0;

/// Distances in ranges, the nearest first, of one width where that has vertices enough. Weights are at least 0. Meyer, Sanders,
/// *Δ-stepping: a parallelizable shortest path algorithm*, 2003, 10.1016/S0196-6774(03)00076-2.
pub(super) struct Nearest<T> {
    bound: T,
    width: Option<T>,
}

/// Distances of vertices.
type Distances<T> = Vector<T, MinPlus>;

impl<T: Ordered> Nearest<T> {
    pub(super) fn new() -> Self {
        Self { bound: T::BOTTOM, width: None }
    }

    /// Those of the open vertices that are in the range, or in that from the nearest on where few are, which is then as wide as it takes;
    /// and the others, if any. O(open vertices), times the doublings of the width.
    pub(super) fn of(
        &mut self,
        edges: &Matrix<T, MinPlus>,
        open: Distances<T>,
    ) -> Result<(Distances<T>, Option<Distances<T>>)> {
        if open.nvals() <= FEW {
            return Ok((open, None));
        }
        let mut width = match self.width {
            Some(width) => width,
            None => *self.width.insert(width(edges)?),
        };
        let few = |near: &Distances<T>| near.nvals() < open.nvals() / FEW;
        let mut near = select(&open, ValueLe, self.bound).eval()?;
        if few(&near) {
            let nearest = reduce(&open, Min)?;
            loop {
                self.bound = add_top(nearest, width);
                near = select(&open, ValueLe, self.bound).eval()?;
                if !few(&near) {
                    break;
                }
                width = add_top(width, width);
            }
        }
        if near.nvals() == open.nvals() {
            return Ok((open, None));
        }
        let far = select(&open, ValueGt, self.bound).eval()?;
        Ok((near, Some(far)))
    }
}

/// How wide a range is, by the edges of some vertices. It changes how long the search takes, not what it finds.
fn width<T: Ordered>(edges: &Matrix<T, MinPlus>) -> Result<T> {
    let n = edges.nrows();
    let asked = n.min(ASKED);
    let some: Vec<(u64, T)> = (0..asked).map(|k| (k * (n / asked.max(1)), T::ZERO)).collect();
    let some: Distances<T> = Vector::build(n, &some)?.to(&edges.device())?;
    let lengths = vxm(&some, edges).eval()?.entries()?;
    let mean = lengths.iter().map(|e| e.1.as_f64()).sum::<f64>() / lengths.len() as f64;
    let degree = (edges.nvals() as f64 / n as f64).max(1.0);
    let width = EDGES * mean / degree;
    // A step of whole numbers is one at least; without edges there is no mean, and of edges without a length no width.
    let width = T::of_f64(if T::SATURATES && width < 1.0 { 1.0 } else { width });
    Ok(if width > T::ZERO { width } else { T::TOP })
}
