//! Matrices of few entries in long dimensions, on the devices that the test binary names (`long_devices`): what operations make
//! of them is what they make of the same entries close together, and lists the rows and columns in use.
use oplus::algorithm::{self, TriangleMethod};
use oplus::prelude::*;

/// Places that entries have, and the index that each stands for: ascending, the last one too.
const PLACES: u64 = 40;

#[derive(Clone, Copy)]
struct World {
    n: u64,
    device: Device,
}

impl World {
    fn far(&self, place: u64) -> u64 {
        if place == PLACES - 1 { self.n - 1 } else { place * (self.n / PLACES) }
    }
    fn entries(&self, seed: u64, count: u64) -> Vec<(u64, u64, i64)> {
        let at = |e: u64| (e * 7 + seed * 5) % PLACES;
        (0..count).map(|e| (self.far(at(e * e + 1)), self.far(at(e * 3 + e / 5)), e as i64 % 7 - 3)).collect()
    }
    fn matrix(&self, seed: u64) -> Matrix<i64> {
        let mut coo = Coo::new(self.n, self.n);
        self.entries(seed, 30).into_iter().for_each(|(i, j, v)| coo.push(i, j, v));
        Matrix::build_with(&coo, Plus).unwrap().to(&self.device).unwrap()
    }
    fn vector(&self, seed: u64) -> Vector<i64> {
        let all: Vec<_> = self.entries(seed, 12).into_iter().map(|(i, _, v)| (i, v)).collect();
        Vector::build_with(self.n, &all, Plus).unwrap().to(&self.device).unwrap()
    }
    fn without_entries(&self) -> Matrix<i64> {
        Matrix::new(self.n, self.n).unwrap().to(&self.device).unwrap()
    }
    fn new_vector(&self) -> Vector<i64> {
        Vector::new(self.n).unwrap().to(&self.device).unwrap()
    }
    /// The place of an index; others stay.
    fn place(&self, index: u64) -> u64 {
        (0..PLACES).find(|p| self.far(*p) == index).unwrap_or(PLACES + index % 1000)
    }
    fn of(&self, a: Matrix<i64>) -> Vec<(u64, u64, i64)> {
        if self.n > 1 << 23 && a.nrows() == self.n {
            assert_eq!(a.format(), Format::Hypersparse);
        }
        a.entries().unwrap().into_iter().map(|(i, j, v)| (self.place(i), self.place(j), v)).collect()
    }
    fn of_vector(&self, x: Vector<i64>) -> Vec<(u64, u64, i64)> {
        x.entries().unwrap().into_iter().map(|(j, v)| (0, self.place(j), v)).collect()
    }
}

type Made = Vec<(&'static str, Vec<(u64, u64, i64)>)>;

macro_rules! made {
    ($w:ident $to:ident $of:ident: $($name:literal $made:expr;)*) => {$(
        $to.push(($name, $w.$of($made.unwrap_or_else(|e| panic!("{} of {} on {}: {e}", $name, $w.n, $w.device)))));
    )*}
}
/// What becomes of an output.
fn into<C: Clone>(c: &C, write: impl FnOnce(&mut C) -> Result<()>) -> Result<C> {
    let mut c = c.clone();
    write(&mut c).map(|()| c)
}

fn products(w: &World, to: &mut Made) {
    let (a, b, m, x) = (w.matrix(1), w.matrix(2), w.matrix(3), w.vector(4));
    let mask = || w.vector(5).structure();
    made! { w to of:
        "mxm" mxm(&a, &b).eval();
        "mxm of a transpose" mxm(&a.transposed(), &b).eval();
        "mxm with a transpose" mxm(&a, &b.transposed()).eval();
        "masked mxm" mxm(&a, &a).mask(&m.structure()).eval();
        "mxm with a complement" mxm(&a, &b).mask(&m.structure().complement()).eval();
        "mxm into nothing" into(&w.without_entries(), |c| mxm(&a, &b).accumulate(Plus).into(c));
        "masked mxm into a matrix" into(&m, |c| mxm(&a, &b).mask(&a.structure()).into(c));
        "fused" mxm(&a, &b).apply(Negate).select(ValueNe, 0).eval();
    }
    made! { w to of_vector:
        "mxv" mxv(&a, &x).eval();
        "vxm" vxm(&x, &a).eval();
        "mxv of a transpose" mxv(&a.transposed(), &x).eval();
        "vxm with a transpose" vxm(&x, &a.transposed()).eval();
        "masked mxv" mxv(&a, &x).mask(&mask()).eval();
        "vxm with a complement" vxm(&x, &a).mask(&mask().complement()).eval();
        "vxm of what was made" vxm(&mxv(&a, &x).eval().unwrap(), &b).eval();
        "mxv into nothing" into(&w.new_vector(), |y| mxv(&a, &x).accumulate(Plus).into(y));
        "masked vxm into a vector" into(&x, |y| vxm(&x, &a).mask(&mask()).replace().into(y));
    }
}

fn elementwise(w: &World, to: &mut Made) {
    let (a, b, m, x) = (w.matrix(1), w.matrix(2), w.matrix(3), w.vector(4));
    let y = || mxv(&a, &x).eval().unwrap();
    made! { w to of:
        "ewise_add" ewise_add(&a, &b, Plus).eval();
        "ewise_add with nothing" ewise_add(&w.without_entries(), &b, Plus).eval();
        "ewise_mult" ewise_mult(&a, &ewise_add(&a, &b, Plus).eval().unwrap(), Times).eval();
        "masked ewise_union" ewise_union(&a, 2, &b, 3, Minus).mask(&m).eval();
        "ewise_add of a transpose" ewise_add(&a, &b, Plus).transpose_a().eval();
        "chain" ewise_add(&a, &w.without_entries(), Plus).apply(Negate).ewise_add(&b, Plus).eval();
        "transpose" transpose(&a).eval();
        "apply into" into(&b, |c| apply(&a, Negate).accumulate(Plus).into(c));
        "masked apply into nothing" into(&w.without_entries(), |c| apply(&a, Negate).mask(&b.structure().complement()).into(c));
        "tril" tril(&a, 0).eval();
        "scale_rows" scale_rows(&x, &a, Times).eval();
        "scale_columns" scale_columns(&a, &x, Times).eval();
        "scale_columns by what was made" scale_columns(&a, &y(), Times).eval();
        "diag" diag(&x, 0).eval();
        "diag of what was made" diag(&y(), 0).eval();
    }
    made! { w to of_vector:
        "reduce_rows" reduce_rows(&a, Plus).eval();
        "reduce columns" reduce_rows(&a, Plus).transpose_a().eval();
        "diag_extract" diag_extract(&diag(&x, 0).eval().unwrap(), 0).eval();
        "ewise_add of vectors" ewise_add(&x, &y(), Plus).eval();
        "ewise_mult of vectors" ewise_mult(&y(), &x, Plus).eval();
    }
}

fn elements_and_parts(w: &World, to: &mut Made) {
    let (a, b, x) = (w.matrix(1), w.matrix(2), w.vector(4));
    let (i, j) = (w.far(11), w.far(39));
    let some = || vec![w.far(5), w.far(0), w.far(39), w.far(7)];
    let few = || Matrix::<i64>::build(4, 4, &[(0, 1, 7), (2, 2, 8), (3, 0, 9)]).unwrap().to(&w.device).unwrap();
    let mut updates = Updates::new();
    updates.set(i, j, 4).unwrap();
    updates.set(j, i, 5).unwrap();
    updates.remove(a.entries().unwrap()[3].0, a.entries().unwrap()[3].1).unwrap();
    made! { w to of:
        "set" into(&w.without_entries(), |c| c.set(i, j, 3));
        "set in a matrix" into(&a, |c| c.set(i, j, 3));
        "remove" into(&a, |c| c.remove(a.entries()?[3].0, a.entries()?[3].1));
        "update" into(&a, |c| c.update(&updates));
        "assign" into(&a, |c| assign(&few(), some(), some()).into(c));
        "assign into nothing" into(&w.without_entries(), |c| assign(&few(), some(), some()).into(c));
        "assign a value" into(&a, |c| assign_scalar(6, some(), some()).into(c));
        "assign a value where a mask admits" into(&a, |c| assign_scalar(6, .., ..).mask(&b.structure()).into(c));
        "assign everything" into(&a, |c| assign(&b, .., ..).accumulate(Plus).into(c));
        "assign a row" into(&a, |c| assign_row(&x, i, ..).into(c));
        "assign a row into nothing" into(&w.without_entries(), |c| assign_row(&x, i, ..).into(c));
        "assign a column" into(&a, |c| assign_column(&x, .., j).into(c));
        "assign a column where a mask admits" into(&w.without_entries(), |c| {
            assign_column(&x, .., j).mask(&w.vector(5).structure()).into(c)
        });
        "assign nothing" into(&a, |c| assign_empty(some(), ..).into(c));
        "extract a part" extract(&a, some(), some()).eval();
        "extract all" extract(&a, .., ..).eval();
        "a larger one, and back" into(&a, |c| c.resize(w.n + 7, w.n + 9).and_then(|()| c.resize(w.n, w.n)));
        "tiles put together" concat(&[[&a, &w.without_entries()], [&few_below(w), &few_below(w)]]).and_then(|mut all| {
            all.resize(w.n, w.n)?;
            Ok(all)
        });
        "tiles cut" split(&a, &[w.n - 5, 5], &[w.n - 3, 3]).map(|mut tiles| tiles.swap_remove(0).swap_remove(0))
            .and_then(|mut tile| tile.resize(w.n, w.n).map(|()| tile));
    }
    made! { w to of_vector:
        "extract a row" extract_row(&a, a.entries().unwrap()[0].0, ..).eval();
        "extract a column" extract_column(&a, .., a.entries().unwrap()[0].1).eval();
        "set in a vector" into(&w.new_vector(), |y| y.set(j, 3));
        "assign a vector" into(&x, |y| assign_scalar_vector(5, some()).into(y));
    }
}

fn few_below(w: &World) -> Matrix<i64> {
    Matrix::build(3, w.n, &[(1, w.n - 1, 5)]).unwrap().to(&w.device).unwrap()
}

/// Every operation, at a length that has a place for every index, and at long ones.
#[test]
fn long_dimensions_cost_what_their_entries_cost() {
    let run = |w: &World| {
        let mut to = Made::new();
        products(w, &mut to);
        elementwise(w, &mut to);
        elements_and_parts(w, &mut to);
        to
    };
    for device in super::long_devices() {
        let expected = run(&World { n: 10 * PLACES, device });
        for n in super::LENGTHS {
            for (found, expected) in super::cheap(|| run(&World { n, device })).into_iter().zip(&expected) {
                assert_eq!(&found, expected, "{n} on {device}");
            }
        }
    }
}

#[test]
fn a_larger_dimension_is_listed_where_it_is_long() {
    for device in super::long_devices() {
        let mut a = Matrix::<i64>::build(3, 3, &[(0, 1, 7), (2, 2, 8)]).unwrap().to(&device).unwrap();
        a.resize(4_000_000_000, 4_000_000_000).unwrap();
        assert_eq!((a.format(), a.entries().unwrap()), (Format::Hypersparse, vec![(0, 1, 7), (2, 2, 8)]));
        a.resize(3, 3).unwrap();
        assert_eq!((a.shape(), a.entries().unwrap()), ((3, 3), vec![(0, 1, 7), (2, 2, 8)]));
        let n = 1 << 14;
        let line = Matrix::<i64>::build(n, n, &[(5, n - 1, 3)]).unwrap().to(&device).unwrap();
        let all = kronecker(&line, &line, Times).eval().unwrap();
        assert_eq!((all.format(), all.entries().unwrap()), (Format::Hypersparse, vec![(5 * n + 5, n * n - 1, 9)]));
        let wide = Matrix::<i64>::build(1 << 40, 3, &[(7, 1, 3), (1 << 30, 2, 4)]).unwrap().to(&device).unwrap();
        let part = extract(&wide, ..1 << 31, ..).eval().unwrap();
        assert_eq!((part.format(), part.entries().unwrap()), (Format::Hypersparse, vec![(7, 1, 3), (1 << 30, 2, 4)]));
    }
}

#[test]
fn algorithms_on_few_edges_among_many_vertices() {
    for (n, device) in super::LENGTHS.into_iter().flat_map(|n| super::long_devices().map(move |d| (n, d))) {
        super::cheap(|| {
            let far = n - 1;
            let graph =
                Matrix::<i64>::build(n, n, &[(7, far, 2), (far, 5, 3), (5, 7, 1)]).unwrap().to(&device).unwrap();
            let found = algorithm::bfs(&graph, 7, &Default::default()).unwrap();
            assert_eq!(found.levels.entries().unwrap(), [(5, 2), (7, 0), (far, 1)], "{n} on {device}");
            let found = algorithm::sssp(&graph, 7, &Default::default()).unwrap();
            assert_eq!(found.distances.entries().unwrap(), [(5, 5), (7, 0), (far, 2)], "{n} on {device}");
            let found = algorithm::multi_source_bfs(&graph, &[7, far], &Default::default()).unwrap();
            assert_eq!((found.reached, found.depth, found.batches), (vec![3, 3], vec![2, 2], 1), "{n} on {device}");
            for method in [TriangleMethod::Auto, TriangleMethod::Burkhardt, TriangleMethod::SandiaLUT] {
                let options = algorithm::TriangleOptions::default().with_method(method);
                assert_eq!(algorithm::triangle_count(&graph, &options).unwrap().triangles, 1, "{n} on {device}");
            }
        });
    }
}
