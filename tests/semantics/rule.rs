//! E5: all combinations of replace, accumulator and where c, t and m have an entry, of every operation that takes a mask.
use crate::kit::*;
use oplus::prelude::*;

type Line = Vec<(u64, i32)>;

/// Position p has an entry in C, T and M where bits 0, 1 and 2 of p are set.
struct Written {
    device: Device,
    replace: bool,
    accumulate: bool,
    structural: bool,
    complement: bool,
}

impl Written {
    fn line(bit: u64, first: i32) -> Line {
        (0..8).filter(|p| p >> bit & 1 != 0).map(|p| (p, first + p as i32)).collect()
    }
    fn t(&self) -> Vector<i32> {
        vector(self.device, 8, &Self::line(1, 3))
    }
    fn row(&self) -> Matrix<i32> {
        self.lying(&Self::line(1, 3))
    }
    fn column(&self) -> Matrix<i32> {
        transpose(&self.row()).eval().unwrap()
    }
    fn lying(&self, line: &[(u64, i32)]) -> Matrix<i32> {
        let entries: Vec<_> = line.iter().map(|(j, v)| (0, *j, *v)).collect();
        matrix(self.device, (1, 8), &entries)
    }
    /// True where the mask has an entry; a valued mask has a stored false elsewhere.
    fn marks(&self) -> Line {
        let marks = Self::line(2, 1);
        let all = (0..8).map(|p| (p, (p >> 2) as i32)).collect();
        if self.structural { marks } else { all }
    }
    fn masked<M: AsMask>(&self, mask: &M, structure: impl Fn(&M) -> Mask) -> Mask {
        let mask = if self.structural { structure(mask) } else { mask.as_mask() };
        if self.complement { mask.complement() } else { mask }
    }
    fn vector_mask(&self) -> Mask {
        self.masked(&vector(self.device, 8, &self.marks()), |m| m.structure())
    }
    fn matrix_mask(&self) -> Mask {
        self.masked(&self.lying(&self.marks()), |m| m.structure())
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
    fn old<T: Number>() -> Vec<(u64, T)> {
        Self::line(0, 10).into_iter().map(|(p, v)| (p, T::of_f64(v.into()))).collect()
    }
    fn plain<T: Number>(line: impl IntoIterator<Item = (u64, T)>) -> Line {
        line.into_iter().map(|(p, v)| (p, v.as_f64() as i32)).collect()
    }
    /// The operation's result, a row, into C.
    fn of_row<T: Number, K: Compute<Target = Matrix<T>>>(&self, operation: Operation<K>) -> Line {
        let entries: Vec<_> = Self::old::<T>().into_iter().map(|(j, v)| (0, j, v)).collect();
        let mut c = matrix(self.device, (1, 8), &entries);
        self.run(operation, &self.matrix_mask(), &mut c);
        Self::plain(got(&c).into_iter().map(|(_, j, v)| (j, v)))
    }
    fn of_vector<T: Number, K: Compute<Target = Vector<T>>>(&self, operation: Operation<K>) -> Line {
        let mut c = vector(self.device, 8, &Self::old::<T>());
        self.run(operation, &self.vector_mask(), &mut c);
        Self::plain(c.entries().unwrap())
    }
    /// The operation's result, a diagonal, into C. Off it there is nothing in C, T and M.
    fn of_diagonal<K: Compute<Target = Matrix<i32>>>(&self, operation: Operation<K>) -> Line {
        let on = |line: &[(u64, i32)]| {
            matrix(self.device, (8, 8), &line.iter().map(|(p, v)| (*p, *p, *v)).collect::<Vec<_>>())
        };
        let mut c = on(&Self::line(0, 10));
        self.run(operation, &self.masked(&on(&self.marks()), |m| m.structure()), &mut c);
        assert!(got(&c).iter().all(|(i, j, _)| i == j));
        got(&c).into_iter().map(|(i, _, v)| (i, v)).collect()
    }
    fn assigned<C: Container<Scalar = i32>>(&self, assignment: Assignment<i32, C::Kind>, mask: &Mask, c: &mut C) {
        let assignment = assignment.mask(mask);
        let assignment = if self.replace { assignment.replace() } else { assignment };
        if self.accumulate { assignment.accumulate(Minus).into(c) } else { assignment.into(c) }.unwrap();
    }
    fn assigned_row(&self, assignment: Assignment<i32, oplus::container::OfMatrices>, mask: &Mask) -> Line {
        let mut c = self.lying(&Self::line(0, 10));
        self.assigned(assignment, mask, &mut c);
        got(&c).into_iter().map(|(_, j, v)| (j, v)).collect()
    }
    fn assigned_column(&self, assignment: Assignment<i32, oplus::container::OfMatrices>, mask: &Mask) -> Line {
        let mut c = transpose(&self.lying(&Self::line(0, 10))).eval().unwrap();
        self.assigned(assignment, mask, &mut c);
        got(&c).into_iter().map(|(i, _, v)| (i, v)).collect()
    }
    fn assigned_vector(&self, assignment: Assignment<i32, oplus::container::OfVectors>, mask: &Mask) -> Line {
        let mut c = vector(self.device, 8, &Self::line(0, 10));
        self.assigned(assignment, mask, &mut c);
        c.entries().unwrap()
    }
    /// The standard's rule.
    fn expected(&self) -> Line {
        let one = |p: u64| {
            let [c, t, m] = [0, 1, 2].map(|bit| p >> bit & 1 != 0);
            let (old, new) = (c.then_some(10 + p as i32), t.then_some(3 + p as i32));
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
        (0..8).filter_map(one).collect()
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
        self.masked(&vector(self.device, 4, &self.region_marks()), |m| m.structure())
    }
    fn region_matrix_mask(&self) -> Mask {
        let entries: Vec<_> = self.region_marks().into_iter().map(|(k, v)| (0, k, v)).collect();
        self.masked(&matrix(self.device, (1, 4), &entries), |m| m.structure())
    }
    /// `value`, or the empty scalar, assigned to the region: outside it Z is C. A subassign's mask reaches the region alone.
    fn expected_in_region(&self, value: Option<i32>, sub: bool) -> Line {
        let one = |p: u64| {
            let [c, inside, m] = [0, 1, 2].map(|bit| p >> bit & 1 != 0);
            let old = c.then_some(10 + p as i32);
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
    check_against(what, Written::expected, operation);
}

fn check_against(what: &str, expected: impl Fn(&Written) -> Line, operation: impl Fn(&Written) -> Line) {
    each(|device| {
        for bits in 0..16u32 {
            let [replace, accumulate, structural, complement] = [0, 1, 2, 3].map(|b| bits >> b & 1 != 0);
            let w = Written { device, replace, accumulate, structural, complement };
            assert_eq!(operation(&w), expected(&w), "{what} on {device}, {bits:04b}");
        }
    });
}

#[test]
fn e5_products() {
    let one = |w: &Written| matrix(w.device, (1, 1), &[(0, 0, 1)]);
    let unit = |w: &Written| vector(w.device, 1, &[(0, 1)]);
    check("mxm", |w| w.of_row(mxm(&one(w), &w.row())));
    check("mxm transposed", |w| w.of_row(mxm(&one(w), &w.column()).transpose_a().transpose_b()));
    check("mxm by dots", |w| {
        let strategy = if w.complement { Strategy::Hash } else { Strategy::Dot };
        w.of_row(mxm(&one(w), &w.row()).strategy(strategy))
    });
    check("mxv pulled", |w| w.of_vector(mxv(&w.column(), &unit(w))));
    check("mxv pushed", |w| w.of_vector(mxv(&w.row(), &unit(w)).transpose()));
    check("vxm pushed", |w| w.of_vector(vxm(&unit(w), &w.row())));
    check("vxm pulled", |w| w.of_vector(vxm(&unit(w), &w.column()).transpose()));
    check("kronecker", |w| w.of_row(kronecker(&one(w), &w.row(), Times)));
}

#[test]
fn e5_entrywise() {
    let nothing = |w: &Written| matrix::<i32>(w.device, (1, 8), &[]);
    check("ewise_add", |w| w.of_row(ewise_add(&w.row(), &nothing(w), Plus)));
    check("ewise_add of vectors", |w| w.of_vector(ewise_add(&w.t(), &vector(w.device, 8, &[]), Plus)));
    check("ewise_mult", |w| w.of_row(ewise_mult(&w.row(), &w.row(), First)));
    check("ewise_mult of vectors", |w| w.of_vector(ewise_mult(&w.t(), &w.t(), First)));
    check("ewise_union", |w| w.of_row(ewise_union(&w.row(), 7, &nothing(w), 0, Plus)));
    check("apply", |w| w.of_row(apply(&w.row(), Identity)));
    check("apply of a vector", |w| w.of_vector(apply(&w.t(), Identity)));
    check("apply_second", |w| w.of_row(apply_second(&w.row(), Plus, 0)));
    check("apply_first", |w| w.of_row(apply_first(0, Plus, &w.row())));
    check("select", |w| w.of_row(select(&w.row(), ValueNe, -1)));
    check("select of a vector", |w| w.of_vector(select(&w.t(), ValueNe, -1)));
    check("scale_rows", |w| w.of_row(scale_rows(&vector(w.device, 1, &[(0, 1)]), &w.row(), Times)));
}

#[test]
fn e5_moved() {
    check("transpose", |w| w.of_row(transpose(&w.column())));
    check("extract", |w| w.of_row(extract(&w.row(), .., ..)));
    check("extract_rows", |w| w.of_row(extract_rows(&w.row(), [0])));
    check("extract_vector", |w| w.of_vector(extract_vector(&w.t(), ..)));
    check("extract_row", |w| w.of_vector(extract_row(&w.row(), 0, ..)));
    check("extract_column", |w| w.of_vector(extract_column(&w.column(), .., 0)));
    check("reduce_rows", |w| w.of_vector(reduce_rows(&w.column(), Plus)));
    check("diag_extract", |w| w.of_vector(diag_extract(&diag(&w.t(), 0).eval().unwrap(), 0)));
    check("tril", |w| w.of_row(tril(&w.row(), 8)));
}

#[test]
fn e5_assigned() {
    check("assign", |w| w.assigned_row(assign(&w.row(), .., ..), &w.matrix_mask()));
    check("subassign", |w| w.assigned_row(subassign(&w.row(), .., ..), &w.matrix_mask()));
    check("assign_row", |w| w.assigned_row(assign_row(&w.t(), 0, ..), &w.vector_mask()));
    check("subassign_row", |w| w.assigned_row(subassign_row(&w.t(), 0, ..), &w.vector_mask()));
    check("assign_vector", |w| w.assigned_vector(assign_vector(&w.t(), ..), &w.vector_mask()));
    check("subassign_vector", |w| w.assigned_vector(subassign_vector(&w.t(), ..), &w.vector_mask()));
    check("assign_column", |w| w.assigned_column(assign_column(&w.t(), .., 0), &w.vector_mask()));
    check("subassign_column", |w| w.assigned_column(subassign_column(&w.t(), .., 0), &w.vector_mask()));
    check("assign transposed", |w| w.assigned_row(assign(&w.column(), .., ..).transpose_a(), &w.matrix_mask()));
}

#[test]
fn e5_assigned_scalars() {
    let region = || Written::REGION;
    let of = |value, sub| move |w: &Written| w.expected_in_region(value, sub);
    let (all, part) = (of(Some(50), false), of(Some(50), true));
    let none = of(None, false);
    check_against("assign_scalar", all, |w| w.assigned_row(assign_scalar(50, .., region()), &w.matrix_mask()));
    check_against("assign_scalar_vector", all, |w| {
        w.assigned_vector(assign_scalar_vector(50, region()), &w.vector_mask())
    });
    check_against("subassign_scalar", part, |w| {
        w.assigned_row(subassign_scalar(50, .., region()), &w.region_matrix_mask())
    });
    check_against("subassign_scalar_vector", part, |w| {
        w.assigned_vector(subassign_scalar_vector(50, region()), &w.region_vector_mask())
    });
    check_against("assign_empty", none, |w| w.assigned_row(assign_empty(.., region()), &w.matrix_mask()));
    check_against("assign_empty_vector", none, |w| w.assigned_vector(assign_empty_vector(region()), &w.vector_mask()));
}

oplus::index_operator! { Itself[](i32, i64) -> i32 = |x, _, _, _| x }

#[test]
fn e5_values_places_and_parts() {
    // 3 more than where it is: what T holds.
    check("apply_index", |w| w.of_row(apply_index(&w.row(), ColIndex, 3)));
    check("apply_index of a vector", |w| w.of_vector(apply_index(&w.t(), Itself, 0)));
    check("cast", |w| {
        let long = cast::<i64, _>(&w.row()).unwrap();
        w.of_row(apply(&long, Cast::<i32>::default()))
    });
    check("top_k", |w| w.of_row(top_k(&w.row(), 4)));
    check("top_k of a vector", |w| w.of_vector(top_k(&w.t(), 4)));
    check("triu", |w| w.of_row(triu(&w.row(), 0)));
    check("diag", |w| w.of_diagonal(diag(&w.t(), 0)));
    check("scale_columns", |w| w.of_row(scale_columns(&w.row(), &full(w.device, 8, 1), Times)));
    check("ewise_union of vectors", |w| w.of_vector(ewise_union(&w.t(), 7, &vector(w.device, 8, &[]), 0, Plus)));
    check("reduce_rows transposed", |w| w.of_vector(reduce_rows(&w.row(), Plus).transpose_a()));
    check("transpose_merged", |w| w.of_row(transpose_merged(&w.column())));
}

/// Row p of A has its least and its greatest value at column p + 3, where T has an entry, else it has none.
#[test]
fn e5_argmin_and_argmax() {
    let places = |w: &Written, sign: i32| {
        let entries = Written::line(1, 3).into_iter().flat_map(|(p, v)| [(p, v as u64, sign), (p, 11, 0)]);
        matrix(w.device, (8, 12), &entries.collect::<Vec<_>>())
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
    let one = |w: &Written| matrix(w.device, (1, 1), &[(0, 0, 1)]);
    let unit = |w: &Written| vector(w.device, 1, &[(0, 1)]);
    let nothing = |w: &Written| matrix::<i32>(w.device, (1, 8), &[]);
    check("mxm, apply", |w| w.of_row(mxm(&one(w), &w.row()).apply(Identity)));
    check("mxm, apply_index", |w| w.of_row(mxm(&one(w), &w.row()).apply_index(ColIndex, 3)));
    check("mxm, select, apply_second", |w| w.of_row(mxm(&one(w), &w.row()).select(ValueNe, -1).apply_second(Plus, 0)));
    check("mxm, top_k", |w| w.of_row(mxm(&one(w), &w.row()).top_k(4)));
    check("mxm, scale_rows", |w| w.of_row(mxm(&one(w), &w.row()).scale_rows(&unit(w), Times).apply(Identity)));
    check("mxm, scale_columns", |w| w.of_row(mxm(&one(w), &w.row()).scale_columns(&full(w.device, 8, 1), Times)));
    check("ewise_add, ewise_mult", |w| w.of_row(ewise_add(&w.row(), &nothing(w), Plus).ewise_mult(&w.row(), First)));
    check("ewise_mult, ewise_add, select", |w| {
        w.of_row(ewise_mult(&w.row(), &w.row(), First).ewise_add(&nothing(w), Plus).select(ValueNe, -1))
    });
    check("ewise_union, apply, of vectors", |w| {
        w.of_vector(ewise_union(&w.t(), 7, &vector(w.device, 8, &[]), 0, Plus).apply(Identity))
    });
    check("ewise_add, top_k", |w| w.of_row(ewise_add(&w.row(), &nothing(w), Plus).top_k(4)));
}
