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
    fn run<K, C>(&self, operation: Operation<K>, mask: &Mask, c: &mut C)
    where
        K: Compute<Target: Container<Scalar = i32>>,
        C: Container<Scalar = i32, Kind = <K::Target as Container>::Kind>,
    {
        let operation = operation.mask(mask);
        let operation = if self.replace { operation.replace() } else { operation };
        if self.accumulate { operation.accumulate(Minus).into(c) } else { operation.into(c) }.unwrap();
    }
    /// The operation's result, a row, into C.
    fn of_row<K: Compute<Target = Matrix<i32>>>(&self, operation: Operation<K>) -> Line {
        let mut c = self.lying(&Self::line(0, 10));
        self.run(operation, &self.matrix_mask(), &mut c);
        got(&c).into_iter().map(|(_, j, v)| (j, v)).collect()
    }
    fn of_vector<K: Compute<Target = Vector<i32>>>(&self, operation: Operation<K>) -> Line {
        let mut c = vector(self.device, 8, &Self::line(0, 10));
        self.run(operation, &self.vector_mask(), &mut c);
        c.entries().unwrap()
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
    fn assigned_vector(&self, assignment: Assignment<i32, oplus::container::OfVectors>) -> Line {
        let mut c = vector(self.device, 8, &Self::line(0, 10));
        self.assigned(assignment, &self.vector_mask(), &mut c);
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

/// Runs `operation` in all ways on all devices.
fn check(what: &str, operation: impl Fn(&Written) -> Line) {
    each(|device| {
        for bits in 0..16u32 {
            let [replace, accumulate, structural, complement] = [0, 1, 2, 3].map(|b| bits >> b & 1 != 0);
            let w = Written { device, replace, accumulate, structural, complement };
            assert_eq!(operation(&w), w.expected(), "{what} on {device}, {bits:04b}");
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
    check("extract_rows", |w| w.of_row(extract_rows(&w.row(), &[0])));
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
    check("assign_vector", |w| w.assigned_vector(assign_vector(&w.t(), ..)));
    check("subassign_vector", |w| w.assigned_vector(subassign_vector(&w.t(), ..)));
}
