//! E5: all combinations of replace, accumulator and where c, t and m have an entry, of every operation that takes a mask. In what
//! formats these are, and whether their values are equal, is another from operation to operation and from combination to combination.
use crate::kit::*;
use oplus::prelude::*;
use std::cell::Cell;

type Line = Vec<(u64, i32)>;

/// Position p has an entry in C, T and M where bits 0, 1 and 2 of p are set. A matrix has a row of eight, or two side by side, one below
/// the other: position p is column p of row p / 8.
struct Written {
    device: Device,
    replace: bool,
    accumulate: bool,
    structural: bool,
    complement: bool,
    /// So many positions.
    n: u64,
    /// C has one value, and T another.
    equal: bool,
    /// What the next format comes of.
    turn: Cell<u64>,
}

impl Written {
    fn line(&self, bit: u64, first: i32) -> Line {
        let value = |p: u64| if self.equal { first } else { first + p as i32 };
        (0..self.n).filter(|p| p >> bit & 1 != 0).map(|p| (p, value(p))).collect()
    }
    fn old_line(&self) -> Line {
        self.line(0, 10)
    }
    fn rows(&self) -> u64 {
        self.n / 8
    }
    /// Any below n.
    fn turned(&self, n: usize) -> usize {
        self.turn.set(self.turn.get().wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1));
        (self.turn.get() >> 32) as usize % n
    }
    /// In a format that can hold it; most of them as they come on the emulator, to which each is kernels to compile.
    fn formed<T: Scalar>(&self, a: Matrix<T>) -> Matrix<T> {
        let formats = [Format::Csr, Format::Bitmap, Format::Hypersparse, Format::Csc, Format::Dia, Format::Full];
        let drawn = self.turned(formats.len());
        let some = !emulated(self.device) || drawn < 3;
        a.to_format(if some { formats[drawn] } else { Format::Csr }).unwrap_or(a)
    }
    fn formed_vector<T: Scalar>(&self, x: Vector<T>) -> Vector<T> {
        if self.turned(3) == 0 { x.to_bitmap().unwrap() } else { x }
    }
    fn t(&self) -> Vector<i32> {
        self.formed_vector(self.of_line(&self.line(1, 3)))
    }
    /// With its value stored once, where it has one.
    fn of_line(&self, line: &[(u64, i32)]) -> Vector<i32> {
        let x = Vector::build(self.n, line).unwrap();
        x.to_iso().unwrap_or(x).to(&self.device).unwrap()
    }
    fn row(&self) -> Matrix<i32> {
        self.formed(self.lying(&self.line(1, 3)))
    }
    fn column(&self) -> Matrix<i32> {
        self.formed(transpose(&self.row()).eval().unwrap())
    }
    /// The positions of a row and nothing else.
    fn alone(&self) -> Matrix<i32> {
        let entries: Vec<_> = self.line(1, 3).into_iter().map(|(j, v)| (1, j, v)).collect();
        self.formed(matrix(self.device, (2, self.n), &entries))
    }
    fn lying(&self, line: &[(u64, i32)]) -> Matrix<i32> {
        let entries: Vec<_> = line.iter().map(|(j, v)| (j / 8, *j, *v)).collect();
        matrix(self.device, (self.rows(), self.n), &entries)
    }
    /// A row or column of the same length with a value everywhere, for products that leave values as they are.
    fn unit(&self) -> Vector<i32> {
        full(self.device, self.rows(), 1)
    }
    fn identity(&self) -> Matrix<i32> {
        matrix(self.device, (self.rows(), self.rows()), &(0..self.rows()).map(|i| (i, i, 1)).collect::<Vec<_>>())
    }
    fn nothing(&self) -> Matrix<i32> {
        matrix(self.device, (self.rows(), self.n), &[])
    }
    fn no_vector(&self) -> Vector<i32> {
        vector(self.device, self.n, &[])
    }
    /// True where the mask has an entry; a valued mask has a stored false elsewhere.
    fn marks(&self) -> Line {
        let one = |p: u64| (p, (p >> 2 & 1) as i32);
        (0..self.n).map(one).filter(|(_, v)| !self.structural || *v != 0).collect()
    }
    fn masked<M: AsMask>(&self, mask: &M, structure: impl Fn(&M) -> Mask) -> Mask {
        let mask = if self.structural { structure(mask) } else { mask.as_mask() };
        if self.complement { mask.complement() } else { mask }
    }
    fn vector_mask(&self) -> Mask {
        self.masked(&self.formed_vector(self.of_line(&self.marks())), |m| m.structure())
    }
    fn matrix_mask(&self) -> Mask {
        self.masked(&self.formed(self.lying(&self.marks())), |m| m.structure())
    }
    fn run<T: Number, K, C>(&self, operation: Operation<K>, mask: &Mask, c: &mut C)
    where
        K: Compute<Target: Container<Scalar = T>>,
        C: Container<Scalar = T, Kind = <K::Target as Container>::Kind>,
    {
        let operation = operation.mask(mask);
        let operation = if self.replace { operation.replace() } else { operation };
        if self.accumulate { operation.accumulate(Minus).into(c) } else { operation.into(c) }.unwrap();
    }
    /// C as it was, of the type that the operation makes.
    fn old<T: Number>(&self) -> Vec<(u64, T)> {
        self.old_line().into_iter().map(|(p, v)| (p, T::of_f64(v.into()))).collect()
    }
    fn plain<T: Number>(line: impl IntoIterator<Item = (u64, T)>) -> Line {
        line.into_iter().map(|(p, v)| (p, v.as_f64() as i32)).collect()
    }
    /// The operation's result, a row, into C.
    fn of_row<T: Number, K: Compute<Target = Matrix<T>>>(&self, operation: Operation<K>) -> Line {
        let entries: Vec<_> = self.old::<T>().into_iter().map(|(j, v)| (j / 8, j, v)).collect();
        let mut c = self.formed(matrix(self.device, (self.rows(), self.n), &entries));
        self.run(operation, &self.matrix_mask(), &mut c);
        Self::plain(self.in_place(got(&c)))
    }
    /// By their positions.
    fn in_place<T: Number>(&self, entries: Vec<(u64, u64, T)>) -> Vec<(u64, T)> {
        assert!(entries.iter().all(|(i, j, _)| *i == j / 8), "{entries:?}");
        entries.into_iter().map(|(_, j, v)| (j, v)).collect()
    }
    fn of_vector<T: Number, K: Compute<Target = Vector<T>>>(&self, operation: Operation<K>) -> Line {
        let c = Vector::build(self.n, &self.old::<T>()).unwrap();
        let mut c = self.formed_vector(c.to_iso().unwrap_or(c).to(&self.device).unwrap());
        self.run(operation, &self.vector_mask(), &mut c);
        Self::plain(c.entries().unwrap())
    }
    /// The operation's result, a diagonal, into C. Off it there is nothing in C, T and M.
    fn of_diagonal<K: Compute<Target = Matrix<i32>>>(&self, operation: Operation<K>) -> Line {
        let on = |line: &[(u64, i32)]| {
            matrix(self.device, (self.n, self.n), &line.iter().map(|(p, v)| (*p, *p, *v)).collect::<Vec<_>>())
        };
        let mut c = self.formed(on(&self.old_line()));
        self.run(operation, &self.masked(&self.formed(on(&self.marks())), |m| m.structure()), &mut c);
        assert!(got(&c).iter().all(|(i, j, _)| i == j));
        got(&c).into_iter().map(|(i, _, v)| (i, v)).collect()
    }
    fn assigned<C: Container<Scalar = i32>>(&self, assignment: Assignment<i32, C::Kind>, mask: &Mask, c: &mut C) {
        let assignment = assignment.mask(mask);
        let assignment = if self.replace { assignment.replace() } else { assignment };
        if self.accumulate { assignment.accumulate(Minus).into(c) } else { assignment.into(c) }.unwrap();
    }
    fn assigned_row(&self, assignment: Assignment<i32, oplus::container::OfMatrices>, mask: &Mask) -> Line {
        let mut c = self.formed(self.lying(&self.old_line()));
        self.assigned(assignment, mask, &mut c);
        self.in_place(got(&c))
    }
    /// Into row or column 1 of three, and nothing changes beside it.
    fn assigned_line(&self, lies: bool, assign: impl Fn() -> Assignment<i32, oplus::container::OfMatrices>) -> Line {
        let at = |line: u64, p: u64| if lies { (line, p) } else { (p, line) };
        let (m, n) = at(3, self.n);
        let beside = [(at(0, 1), 77), (at(2, 6), 78)].map(|((i, j), v)| (i, j, v));
        let old = self.old_line().into_iter().map(|(p, v)| (at(1, p).0, at(1, p).1, v));
        let mut c = self.formed(matrix(self.device, (m, n), &old.chain(beside).collect::<Vec<_>>()));
        self.assigned(assign(), &self.vector_mask(), &mut c);
        let place = |i: u64, j: u64| if lies { (i, j) } else { (j, i) };
        let (line, others): (Vec<_>, Vec<_>) = got(&c).into_iter().partition(|(i, j, _)| place(*i, *j).0 == 1);
        let mut beside: Vec<_> = beside.into();
        beside.sort_unstable();
        assert_eq!(others, beside);
        line.into_iter().map(|(i, j, v)| (place(i, j).1, v)).collect()
    }
    fn assigned_vector(&self, assignment: Assignment<i32, oplus::container::OfVectors>, mask: &Mask) -> Line {
        let mut c = self.formed_vector(self.of_line(&self.old_line()));
        self.assigned(assignment, mask, &mut c);
        c.entries().unwrap()
    }
    /// The standard's rule.
    fn expected(&self) -> Line {
        let of = |line: Line| move |p: u64| line.iter().find(|e| e.0 == p).map(|e| e.1);
        let (old, new) = (of(self.old_line()), of(self.line(1, 3)));
        let one = |p: u64| {
            let (old, new, m) = (old(p), new(p), p >> 2 & 1 != 0);
            let z = match (old, new) {
                (Some(c), Some(t)) if self.accumulate => Some(c - t),
                (c, None) if self.accumulate => c,
                (_, t) => t,
            };
            let value = match (m != self.complement, self.replace) {
                (true, _) => z,
                (false, true) => None,
                (false, false) => old,
            };
            value.map(|v| (p, v))
        };
        (0..self.n).filter_map(one).collect()
    }
}

impl Written {
    /// Where T has its entries: what scalars are assigned to.
    const REGION: [u64; 4] = [2, 3, 6, 7];
    /// The mask's marks at the region, by their places in it.
    fn region_marks(&self) -> Line {
        let at = |p: u64| Self::REGION.iter().position(|r| *r == p).map(|k| k as u64);
        self.marks().into_iter().filter_map(|(p, v)| at(p).map(|k| (k, v))).collect()
    }
    fn region_vector_mask(&self) -> Mask {
        self.masked(&self.formed_vector(vector(self.device, 4, &self.region_marks())), |m| m.structure())
    }
    fn region_matrix_mask(&self) -> Mask {
        let entries: Vec<_> = self.region_marks().into_iter().map(|(k, v)| (0, k, v)).collect();
        self.masked(&self.formed(matrix(self.device, (1, 4), &entries)), |m| m.structure())
    }
    /// `value`, or the empty scalar, assigned to the region: outside it Z is C. A subassign's mask reaches the region alone.
    fn expected_in_region(&self, value: Option<i32>, sub: bool) -> Line {
        let one = |p: u64| {
            let [c, inside, m] = [0, 1, 2].map(|bit| p >> bit & 1 != 0);
            let old = c.then_some(if self.equal { 10 } else { 10 + p as i32 });
            let z = match (old, value, inside) {
                (Some(c), Some(x), true) if self.accumulate => Some(c - x),
                (c, None, true) if self.accumulate => c,
                (_, x, true) => x,
                (c, _, false) => c,
            };
            let value = match (sub && !inside, m != self.complement, self.replace) {
                (true, ..) => old,
                (_, true, _) => z,
                (_, false, true) => None,
                (_, false, false) => old,
            };
            value.map(|v| (p, v))
        };
        (0..8).filter_map(one).collect()
    }
}

/// Runs `operation` in all ways on all devices.
fn check(what: &str, operation: impl Fn(&Written) -> Line) {
    check_against(what, (16, true), Written::expected, operation);
}

/// Of what goes by where T's values are: they differ.
fn check_places(what: &str, operation: impl Fn(&Written) -> Line) {
    check_against(what, (16, false), Written::expected, operation);
}

/// With so many positions, and with equal values too or not.
fn check_against(
    what: &str,
    (n, equal): (u64, bool),
    expected: impl Fn(&Written) -> Line,
    operation: impl Fn(&Written) -> Line,
) {
    let drawn = what.bytes().fold(1u64, |all, byte| all.wrapping_mul(31).wrapping_add(byte.into()));
    each(|device| {
        for bits in 0..16u32 {
            let [replace, accumulate, structural, complement] = [0, 1, 2, 3].map(|b| bits >> b & 1 != 0);
            let equal = equal && (drawn ^ u64::from(bits.count_ones())).is_multiple_of(2);
            let turn = Cell::new(drawn << 4 | u64::from(bits));
            let w = Written { device, replace, accumulate, structural, complement, n, equal, turn };
            assert_eq!(operation(&w), expected(&w), "{what} on {device}, {bits:04b}");
        }
    });
}

#[test]
fn e5_products() {
    let one = |w: &Written| matrix(w.device, (1, 1), &[(0, 0, 1)]);
    check("mxm", |w| w.of_row(mxm(&w.identity(), &w.row())));
    check("mxm transposed", |w| w.of_row(mxm(&w.identity(), &w.column()).transpose_a().transpose_b()));
    check("mxm by dots", |w| {
        let strategy = if w.complement { Strategy::Hash } else { Strategy::Dot };
        w.of_row(mxm(&w.identity(), &w.row()).strategy(strategy))
    });
    check("mxv pulled", |w| w.of_vector(mxv(&w.column(), &w.unit())));
    check("mxv pushed", |w| w.of_vector(mxv(&w.row(), &w.unit()).transpose()));
    check("vxm pushed", |w| w.of_vector(vxm(&w.unit(), &w.row())));
    check("vxm pulled", |w| w.of_vector(vxm(&w.unit(), &w.column()).transpose()));
    check("kronecker", |w| w.of_row(kronecker(&one(w), &w.row(), Times)));
}

#[test]
fn e5_entrywise() {
    check("ewise_add", |w| w.of_row(ewise_add(&w.row(), &w.nothing(), Plus)));
    check("ewise_add of vectors", |w| w.of_vector(ewise_add(&w.t(), &w.no_vector(), Plus)));
    check("ewise_mult", |w| w.of_row(ewise_mult(&w.row(), &w.row(), First)));
    check("ewise_mult of vectors", |w| w.of_vector(ewise_mult(&w.t(), &w.t(), First)));
    check("ewise_union", |w| w.of_row(ewise_union(&w.row(), 7, &w.nothing(), 0, Plus)));
    check("apply", |w| w.of_row(apply(&w.row(), Identity)));
    check("apply of a vector", |w| w.of_vector(apply(&w.t(), Identity)));
    check("apply_second", |w| w.of_row(apply_second(&w.row(), Plus, 0)));
    check("apply_first", |w| w.of_row(apply_first(0, Plus, &w.row())));
    check("select", |w| w.of_row(select(&w.row(), ValueNe, -1)));
    check("select of a vector", |w| w.of_vector(select(&w.t(), ValueNe, -1)));
    check("scale_rows", |w| w.of_row(scale_rows(&w.unit(), &w.row(), Times)));
}

#[test]
fn e5_moved() {
    check("transpose", |w| w.of_row(transpose(&w.column())));
    check("extract", |w| w.of_row(extract(&w.row(), .., ..)));
    check("extract_rows", |w| w.of_row(extract_rows(&w.row(), 0..w.rows())));
    check("extract_vector", |w| w.of_vector(extract_vector(&w.t(), ..)));
    check("extract_row", |w| w.of_vector(extract_row(&w.alone(), 1, ..)));
    check("extract_column", |w| w.of_vector(extract_column(&transpose(&w.alone()).eval().unwrap(), .., 1)));
    check("reduce_rows", |w| w.of_vector(reduce_rows(&w.column(), Plus)));
    check("diag_extract", |w| w.of_vector(diag_extract(&diag(&w.t(), 0).eval().unwrap(), 0)));
    check("tril", |w| w.of_row(tril(&w.row(), 16)));
}

#[test]
fn e5_assigned() {
    check("assign", |w| w.assigned_row(assign(&w.row(), .., ..), &w.matrix_mask()));
    check("subassign", |w| w.assigned_row(subassign(&w.row(), .., ..), &w.matrix_mask()));
    check("assign_row", |w| w.assigned_line(true, || assign_row(&w.t(), 1, ..)));
    check("subassign_row", |w| w.assigned_line(true, || subassign_row(&w.t(), 1, ..)));
    check("assign_vector", |w| w.assigned_vector(assign_vector(&w.t(), ..), &w.vector_mask()));
    check("subassign_vector", |w| w.assigned_vector(subassign_vector(&w.t(), ..), &w.vector_mask()));
    check("assign_column", |w| w.assigned_line(false, || assign_column(&w.t(), .., 1)));
    check("subassign_column", |w| w.assigned_line(false, || subassign_column(&w.t(), .., 1)));
    check("assign transposed", |w| w.assigned_row(assign(&w.column(), .., ..).transpose_a(), &w.matrix_mask()));
}

/// In one row.
fn check_in_region(what: &str, expected: impl Fn(&Written) -> Line, operation: impl Fn(&Written) -> Line) {
    check_against(what, (8, true), expected, operation);
}

#[test]
fn e5_assigned_scalars() {
    let region = || Written::REGION;
    let of = |value, sub| move |w: &Written| w.expected_in_region(value, sub);
    let (all, part) = (of(Some(50), false), of(Some(50), true));
    let none = of(None, false);
    check_in_region("assign_scalar", all, |w| w.assigned_row(assign_scalar(50, .., region()), &w.matrix_mask()));
    check_in_region("assign_scalar_vector", all, |w| {
        w.assigned_vector(assign_scalar_vector(50, region()), &w.vector_mask())
    });
    check_in_region("subassign_scalar", part, |w| {
        w.assigned_row(subassign_scalar(50, .., region()), &w.region_matrix_mask())
    });
    check_in_region("subassign_scalar_vector", part, |w| {
        w.assigned_vector(subassign_scalar_vector(50, region()), &w.region_vector_mask())
    });
    check_in_region("assign_empty", none, |w| w.assigned_row(assign_empty(.., region()), &w.matrix_mask()));
    check_in_region("assign_empty_vector", none, |w| {
        w.assigned_vector(assign_empty_vector(region()), &w.vector_mask())
    });
}

oplus::index_operator! { Itself[](i32, i64) -> i32 = |x, _, _, _| x }

#[test]
fn e5_values_places_and_parts() {
    // 3 more than where it is: what T holds.
    check_places("apply_index", |w| w.of_row(apply_index(&w.row(), ColIndex, 3)));
    check("apply_index of a vector", |w| w.of_vector(apply_index(&w.t(), Itself, 0)));
    check("cast", |w| {
        let long = cast::<i64, _>(&w.row()).unwrap();
        w.of_row(apply(&long, Cast::<i32>::default()))
    });
    check("top_k", |w| w.of_row(top_k(&w.row(), 4)));
    check("top_k of a vector", |w| w.of_vector(top_k(&w.t(), 8)));
    check("triu", |w| w.of_row(triu(&w.row(), 0)));
    check("diag", |w| w.of_diagonal(diag(&w.t(), 0)));
    check("scale_columns", |w| w.of_row(scale_columns(&w.row(), &full(w.device, w.n, 1), Times)));
    check("ewise_union of vectors", |w| w.of_vector(ewise_union(&w.t(), 7, &w.no_vector(), 0, Plus)));
    check("reduce_rows transposed", |w| w.of_vector(reduce_rows(&w.row(), Plus).transpose_a()));
    check("transpose_merged", |w| w.of_row(transpose_merged(&w.column())));
}

/// Row p of A has its least and its greatest value at column p + 3, where T has an entry, else it has none.
#[test]
fn e5_argmin_and_argmax() {
    let places = |w: &Written, sign: i32| {
        let entries = w.line(1, 3).into_iter().flat_map(|(p, v)| [(p, v as u64, sign), (p, 19, 0)]);
        w.formed(matrix(w.device, (16, 20), &entries.collect::<Vec<_>>()))
    };
    check("argmin_rows", |w| w.of_vector(argmin_rows(&places(w, -1))));
    check("argmax_rows", |w| w.of_vector(argmax_rows(&places(w, 1))));
    check("argmin_rows transposed", |w| {
        w.of_vector(argmin_rows(&transpose(&places(w, -1)).eval().unwrap()).transpose_a())
    });
    check("argmax_rows transposed", |w| {
        w.of_vector(argmax_rows(&transpose(&places(w, 1)).eval().unwrap()).transpose_a())
    });
}

#[test]
fn e5_chains_and_what_follows_products() {
    check("mxm, apply", |w| w.of_row(mxm(&w.identity(), &w.row()).apply(Identity)));
    check_places("mxm, apply_index", |w| w.of_row(mxm(&w.identity(), &w.row()).apply_index(ColIndex, 3)));
    check("mxm, select, apply_second", |w| {
        w.of_row(mxm(&w.identity(), &w.row()).select(ValueNe, -1).apply_second(Plus, 0))
    });
    check("mxm, top_k", |w| w.of_row(mxm(&w.identity(), &w.row()).top_k(4)));
    check("mxm, scale_rows", |w| w.of_row(mxm(&w.identity(), &w.row()).scale_rows(&w.unit(), Times).apply(Identity)));
    check("mxm, scale_columns", |w| {
        w.of_row(mxm(&w.identity(), &w.row()).scale_columns(&full(w.device, w.n, 1), Times))
    });
    check("ewise_add, ewise_mult", |w| w.of_row(ewise_add(&w.row(), &w.nothing(), Plus).ewise_mult(&w.row(), First)));
    check("ewise_mult, ewise_add, select", |w| {
        w.of_row(ewise_mult(&w.row(), &w.row(), First).ewise_add(&w.nothing(), Plus).select(ValueNe, -1))
    });
    check("ewise_union, apply, of vectors", |w| {
        w.of_vector(ewise_union(&w.t(), 7, &w.no_vector(), 0, Plus).apply(Identity))
    });
    check("ewise_add, top_k", |w| w.of_row(ewise_add(&w.row(), &w.nothing(), Plus).top_k(4)));
}
