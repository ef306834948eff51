//! extract and assign on the devices that the test binary names (`devices`) against the standard's rules entry by entry.
use super::model::*;
use oplus::prelude::*;
use quickcheck::{Arbitrary, Gen, quickcheck};

/// C, a part of it, and something of the part's shape.
#[derive(Clone, Debug)]
struct Case {
    c: Model,
    rows: Pick,
    cols: Pick,
    a: Model,
    whole: Options,
    part: Options,
    scalar: i32,
    transposed: bool,
}

impl Case {
    fn new(g: &mut Gen, shape: (u64, u64)) -> Self {
        let (rows, cols) = (Pick::arbitrary(g, shape.0), Pick::arbitrary(g, shape.1));
        let region = (rows.list.len() as u64, cols.list.len() as u64);
        Case {
            c: Model::arbitrary(g, shape),
            a: Model::arbitrary(g, region),
            whole: Options::arbitrary(g, shape),
            part: Options::arbitrary(g, region),
            scalar: i32::arbitrary(g) % 4,
            transposed: bool::arbitrary(g),
            rows,
            cols,
        }
    }
}
impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let shape = (dimension(g), dimension(g));
        Case::new(g, shape)
    }
}
/// The same of vectors: one row.
#[derive(Clone, Debug)]
struct Line(Case, u64);
impl Arbitrary for Line {
    fn arbitrary(g: &mut Gen) -> Self {
        let n = dimension(g);
        let mut case = Case::new(g, (1, n));
        case.rows = Pick { indices: (..).into(), list: vec![0] };
        let part = (1, case.cols.list.len() as u64);
        (case.a, case.part) = (Model::arbitrary(g, part), Options::arbitrary(g, part));
        Line(case, u64::arbitrary(g))
    }
}

fn run_assignment<K, C>(assignment: Assignment<i32, K>, options: &Options, mask: Option<Mask>, c: &mut C)
where
    C: Container<Kind = K, Scalar = i32>,
{
    let assignment = if options.replace { assignment.replace() } else { assignment };
    let assignment = match mask {
        Some(mask) => assignment.mask(&mask),
        None => assignment,
    };
    if options.accumulate { assignment.accumulate(Minus).into(c) } else { assignment.into(c) }.unwrap();
}

fn check<K, C>(
    what: &str,
    c: &C,
    options: &Options,
    mask: Option<Mask>,
    assignment: Assignment<i32, K>,
    expected: &Model,
    seen: impl Fn(&C) -> Model,
) -> bool
where
    C: Container<Kind = K, Scalar = i32>,
{
    let (mut out, before) = (c.clone(), seen(c));
    run_assignment(assignment, options, mask, &mut out);
    let found = seen(&out);
    assert_eq!(&found, expected, "{what}");
    // What shares entries with C is untouched.
    assert_eq!(seen(c), before, "{what}");
    true
}

quickcheck! {
    fn extracted_parts(case: Case) -> bool {
        let Case { c, rows, cols, part, a, .. } = case;
        let mut expected = Model { shape: (rows.list.len() as u64, cols.list.len() as u64), entries: Entries::new() };
        for (p, i) in rows.list.iter().enumerate() {
            for (q, j) in cols.list.iter().enumerate() {
                if let Some(v) = c.get(*i, *j) {
                    expected.entries.insert((p as u64, q as u64), v);
                }
            }
        }
        for device in super::devices() {
            let (m, t) = (c.matrix(device), c.transposed().matrix(device));
            let operation = || extract(&m, rows.indices.clone(), cols.indices.clone());
            assert_eq!(Model::of(&operation().eval().unwrap()), expected, "{device}");
            let turned = extract(&t, rows.indices.clone(), cols.indices.clone()).transpose_a();
            assert_eq!(Model::of(&turned.eval().unwrap()), expected, "{device}");
            // Into something of the part's shape, by all rules.
            let mut out = a.matrix(device);
            let operation = if part.replace { operation().replace() } else { operation() };
            let operation = match part.library_mask(device, false) {
                Some(mask) => operation.mask(&mask),
                None => operation,
            };
            if part.accumulate { operation.accumulate(Minus).into(&mut out) } else { operation.into(&mut out) }.unwrap();
            assert_eq!(Model::of(&out), part.written(&a, &expected), "{device}");
        }
        true
    }
    fn extracted_lines(case: Case) -> bool {
        let Case { c, rows, cols, .. } = case;
        for device in super::devices() {
            let m = c.matrix(device);
            for i in rows.list.iter().take(3) {
                let row = extract_row(&m, *i, cols.indices.clone()).eval().unwrap();
                let turned = extract_column(&m.transposed(), cols.indices.clone(), *i).eval().unwrap();
                let expected: Vec<_> =
                    cols.list.iter().enumerate().filter_map(|(q, j)| c.get(*i, *j).map(|v| (q as u64, v))).collect();
                assert_eq!(row.entries().unwrap(), expected, "{device}");
                assert_eq!(turned.entries().unwrap(), expected, "{device}");
                assert_eq!(row.len(), cols.list.len() as u64);
                let of_row = extract_row(&m, *i, ..).eval().unwrap();
                assert_eq!(extract_vector(&of_row, cols.indices.clone()).eval().unwrap().entries().unwrap(), expected);
            }
            for j in cols.list.iter().take(3) {
                let column = extract_column(&m, rows.indices.clone(), *j).eval().unwrap();
                let expected: Vec<_> =
                    rows.list.iter().enumerate().filter_map(|(p, i)| c.get(*i, *j).map(|v| (p as u64, v))).collect();
                assert_eq!(column.entries().unwrap(), expected, "{device}");
            }
        }
        true
    }
    fn assigned_matrices(case: Case) -> bool {
        let Case { c, rows, cols, a, whole, part, transposed, .. } = case;
        super::devices().into_iter().all(|device| {
            let (m, source) = (c.matrix(device), if transposed { a.transposed() } else { a.clone() }.matrix(device));
            let (i, j) = (rows.indices.clone(), cols.indices.clone());
            let turned = |x: Assignment<i32, oplus::container::OfMatrices>| if transposed { x.transpose_a() } else { x };
            let expected = assigned(&c, |p, q| a.get(p, q), &rows, &cols, &whole, Reach::All);
            check("assign", &m, &whole, whole.library_mask(device, false),
                turned(assign(&source, i.clone(), j.clone())), &expected, Model::of);
            let expected = assigned(&c, |p, q| a.get(p, q), &rows, &cols, &part, Reach::Region);
            check("subassign", &m, &part, part.library_mask(device, false),
                turned(subassign(&source, i, j)), &expected, Model::of)
        })
    }
    fn assigned_scalars(case: Case) -> bool {
        let Case { c, rows, cols, whole, part, scalar, .. } = case;
        super::devices().into_iter().all(|device| {
            let m = c.matrix(device);
            let (i, j) = (rows.indices.clone(), cols.indices.clone());
            let expected = assigned(&c, |_, _| Some(scalar), &rows, &cols, &whole, Reach::All);
            check("assign", &m, &whole, whole.library_mask(device, false),
                assign_scalar(scalar, i.clone(), j.clone()), &expected, Model::of);
            let expected = assigned(&c, |_, _| Some(scalar), &rows, &cols, &part, Reach::Region);
            check("subassign", &m, &part, part.library_mask(device, false),
                subassign_scalar(scalar, i.clone(), j.clone()), &expected, Model::of);
            let expected = assigned(&c, |_, _| None, &rows, &cols, &whole, Reach::All);
            check("assign_empty", &m, &whole, whole.library_mask(device, false), assign_empty(i, j), &expected, Model::of)
        })
    }
    fn assigned_vectors(line: Line) -> bool {
        let Case { c, rows, cols, a, whole, part, scalar, .. } = line.0;
        super::devices().into_iter().all(|device| {
            let (w, u, j) = (c.vector(device), a.vector(device), cols.indices.clone());
            let expected = assigned(&c, |p, q| a.get(p, q), &rows, &cols, &whole, Reach::All);
            check("assign_vector", &w, &whole, whole.library_mask(device, true),
                assign_vector(&u, j.clone()), &expected, Model::of_vector);
            let expected = assigned(&c, |p, q| a.get(p, q), &rows, &cols, &part, Reach::Region);
            check("subassign_vector", &w, &part, part.library_mask(device, true),
                subassign_vector(&u, j.clone()), &expected, Model::of_vector);
            let expected = assigned(&c, |_, _| Some(scalar), &rows, &cols, &whole, Reach::All);
            check("assign_scalar_vector", &w, &whole, whole.library_mask(device, true),
                assign_scalar_vector(scalar, j.clone()), &expected, Model::of_vector);
            let expected = assigned(&c, |_, _| Some(scalar), &rows, &cols, &part, Reach::Region);
            check("subassign_scalar_vector", &w, &part, part.library_mask(device, true),
                subassign_scalar_vector(scalar, j.clone()), &expected, Model::of_vector);
            let expected = assigned(&c, |_, _| None, &rows, &cols, &whole, Reach::All);
            check("assign_empty_vector", &w, &whole, whole.library_mask(device, true),
                assign_empty_vector(j), &expected, Model::of_vector)
        })
    }
    fn assigned_lines(line: Line, other: u8) -> bool {
        let Line(case, seed) = line;
        let Case { cols, a, whole, part, .. } = case;
        let n = whole.mask.as_ref().map_or(case.c.shape.1, |m| m.shape.1);
        // A matrix whose row (transposed: column) is written.
        let m = 1 + u64::from(other % 7);
        let row = seed % m;
        let c = Model::arbitrary(&mut Gen::new(40), (m, n));
        let one = Pick { indices: (row..row + 1).into(), list: vec![row] };
        super::devices().into_iter().all(|device| {
            let (u, j) = (a.vector(device), cols.indices.clone());
            let (down, across) = (c.transposed().matrix(device), c.matrix(device));
            let expected = assigned(&c, |p, q| a.get(p, q), &one, &cols, &whole, Reach::Row(row));
            let mask = || whole.library_mask(device, true);
            check("assign_row", &across, &whole, mask(), assign_row(&u, row, j.clone()), &expected, Model::of);
            check("assign_column", &down, &whole, mask(), assign_column(&u, j.clone(), row), &expected.transposed(), Model::of);
            let expected = assigned(&c, |p, q| a.get(p, q), &one, &cols, &part, Reach::Region);
            let mask = || part.library_mask(device, true);
            check("subassign_row", &across, &part, mask(), subassign_row(&u, row, j.clone()), &expected, Model::of);
            check("subassign_column", &down, &part, mask(), subassign_column(&u, j, row), &expected.transposed(), Model::of)
        })
    }
}

#[test]
fn outputs_may_be_sources_and_masks() {
    for device in super::devices() {
        let a = Matrix::<i32>::build(3, 3, &[(0, 1, 2), (1, 2, 3), (2, 0, 4), (0, 0, 1)]).unwrap().to(&device).unwrap();
        let reversed = || Indices::stride(2, -1, 3);
        let (source, mask) = (a.to(&Device::Cpu).unwrap().to(&device).unwrap(), a.structure().complement());
        let mut copied = a.clone();
        assign(&source, reversed(), reversed()).mask(&mask).replace().into(&mut copied).unwrap();
        let mut c = a.clone();
        let assignment = assign(&c, reversed(), reversed()).mask(&c.structure().complement()).replace();
        assignment.into(&mut c).unwrap();
        assert_eq!(c.entries().unwrap(), copied.entries().unwrap());
        assert_eq!(c.entries().unwrap(), [(0, 2, 4), (1, 0, 3), (2, 1, 2), (2, 2, 1)]);
        let mut c = a.clone();
        extract(&c, reversed(), reversed()).accumulate(Plus).into(&mut c).unwrap();
        assert_eq!(
            c.entries().unwrap(),
            [(0, 0, 1), (0, 1, 2), (0, 2, 4), (1, 0, 3), (1, 2, 3), (2, 0, 4), (2, 1, 2), (2, 2, 1)]
        );
    }
}

#[test]
fn errors_name_positions_and_change_nothing() {
    for device in super::devices() {
        let a = Matrix::<i32>::build(2, 3, &[(0, 0, 1)]).unwrap().to(&device).unwrap();
        let u = Vector::<i32>::build(3, &[(0, 1)]).unwrap().to(&device).unwrap();
        let mut c = Matrix::<i32>::build(4, 4, &[(1, 1, 5)]).unwrap().to(&device).unwrap();
        let out = |e: Error, what, position, index, bound| match e {
            Error::IndexOutOfBounds { what: w, position: p, index: i, bound: b, .. } => {
                assert_eq!((w, p, i, b), (what, position, index, bound))
            }
            e => panic!("{e:?}"),
        };
        out(extract(&a, [0, 2], ..).eval().unwrap_err(), "row", Some(1), 2, 2);
        out(extract(&a, .., 1..5).eval().unwrap_err(), "column", Some(2), 3, 3);
        out(extract(&a, 3.., ..).eval().unwrap_err(), "row", Some(0), 3, 2);
        let said = |e: Error, what: &str| match e {
            Error::InvalidValue { reason, .. } => assert_eq!(reason, what),
            e => panic!("{e:?}"),
        };
        let below = "column -1 at position 3 is out of range, the bound is 3";
        said(extract(&a, .., Indices::stride(2, -1, 4)).eval().unwrap_err(), below);
        said(extract(&a, .., Indices::stride(0, 0, 2)).eval().unwrap_err(), "a step of 0 repeats column 0");
        out(extract(&a, .., Indices::stride(0, 2, 9)).eval().unwrap_err(), "column", Some(2), 4, 3);
        out(extract_row(&a, 2, ..).eval().unwrap_err(), "row", None, 2, 2);
        out(extract_column(&a, .., 3).eval().unwrap_err(), "column", None, 3, 3);
        out(extract_vector(&u, vec![0, 1, 7]).eval().unwrap_err(), "index", Some(2), 7, 3);
        out(assign(&a, [1, 4], 0..3).into(&mut c).unwrap_err(), "row", Some(1), 4, 4);
        out(assign_row(&u, 4, ..3).into(&mut c).unwrap_err(), "row", None, 4, 4);
        let e = assign(&a, ..3, ..3).into(&mut c).unwrap_err().to_string();
        assert!(e.contains("assign: A is 2×3, the region is 3×3"), "{e}");
        let e = assign(&a, ..2, ..3).mask(&a).into(&mut c).unwrap_err().to_string();
        assert!(e.contains("the result is 4×4, the mask is 2×3"), "{e}");
        let e = subassign(&a, ..2, ..3).mask(&c).into(&mut c).unwrap_err().to_string();
        assert!(e.contains("the result is 2×3, the mask is 4×4"), "{e}");
        let e = assign_row(&u, 0, ..3).mask(&u).into(&mut c).unwrap_err().to_string();
        assert!(e.contains("the result has length 4, the mask has length 3"), "{e}");
        let mut elsewhere = c.to(&if device == Device::Cpu { Device::Reference } else { Device::Cpu }).unwrap();
        assert!(matches!(assign(&a, ..2, ..3).into(&mut elsewhere), Err(Error::DeviceMismatch { .. })));
        assert_eq!(c.entries().unwrap(), [(1, 1, 5)]);
    }
}

/// Values written over others: what shares them does not change, whatever path is taken.
#[test]
fn small_parts_are_written_over() {
    for device in super::devices() {
        let n = 2000;
        let list: Vec<_> = (0..n).map(|j| (j, j as i32)).collect();
        let u = Vector::<i32>::build(10, &(0..10).map(|j| (j, -1)).collect::<Vec<_>>()).unwrap().to(&device).unwrap();
        let gaps = Vector::<i32>::build(10, &[(0, -2), (9, -2)]).unwrap().to(&device).unwrap();
        let expected = |f: &dyn Fn(u64, i32) -> Option<i32>| -> Vec<(u64, i32)> {
            list.iter().filter_map(|(j, x)| f(*j, *x).map(|x| (*j, x))).collect()
        };
        for shared in [false, true] {
            let mut w = Vector::<i32>::build(n, &list).unwrap().to(&device).unwrap();
            let other = shared.then(|| w.clone());
            assign_vector(&u, 500..510).into(&mut w).unwrap();
            assign_vector(&u, 505..515).accumulate(Minus).into(&mut w).unwrap();
            let full = |j: u64, x: i32| match j {
                500..505 => Some(-1),
                505..510 => Some(0),
                510..515 => Some(x + 1),
                _ => Some(x),
            };
            assert_eq!(w.entries().unwrap(), expected(&full), "{device}");
            // Entries that are not there delete, unless an accumulator keeps them.
            assign_vector(&gaps, 20..30).accumulate(Second).into(&mut w).unwrap();
            assign_vector(&gaps, 40..50).into(&mut w).unwrap();
            let with_gaps = |j: u64, x: i32| match j {
                20 | 29 | 40 | 49 => Some(-2),
                41..49 => None,
                _ => full(j, x),
            };
            assert_eq!(w.entries().unwrap(), expected(&with_gaps), "{device}");
            // And what is not there yet is put there.
            assign_scalar_vector(7, 45..47).into(&mut w).unwrap();
            assert_eq!(w.get(45).unwrap().zip(w.get(46).unwrap()), Some((7, 7)), "{device}");
            if let Some(other) = other {
                assert_eq!(other.entries().unwrap(), list, "{device}");
            }
        }
    }
}
