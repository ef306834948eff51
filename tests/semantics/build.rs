//! B: building; L: single elements and copies.
use crate::kit::*;
use oplus::prelude::*;

fn triplets(shape: (u64, u64), entries: &[(u64, u64, i32)]) -> Coo<i32> {
    let mut coo = Coo::new(shape.0, shape.1);
    entries.iter().for_each(|(i, j, v)| coo.push(*i, *j, *v));
    coo
}

#[test]
fn b1_duplicates_without_operator_are_an_error() {
    let twice = [(0, 1, 1), (1, 0, 2), (0, 1, 3)];
    for error in [
        Matrix::<i32>::build(2, 2, &twice).unwrap_err(),
        Matrix::<i32>::from_coo(&triplets((2, 2), &twice)).unwrap_err(),
    ] {
        assert!(matches!(error, Error::DuplicateEntry { column: 1, position: 2, .. }), "{error}");
    }
    let error = Vector::<i32>::build(2, &[(1, 1), (0, 2), (1, 3)]).unwrap_err();
    assert!(matches!(error, Error::DuplicateIndex { index: 1, position: 2, .. }), "{error}");
}

#[test]
fn b2_duplicates_fold_in_input_order() {
    let coo = triplets((2, 3), &[(1, 2, 10), (0, 0, 1), (1, 2, 3), (0, 0, 5), (1, 2, 4)]);
    each(|d| {
        let by = |m: Matrix<i32>| got(&m);
        assert_eq!(by(Matrix::build_on(&coo, Minus, &d).unwrap()), [(0, 0, -4), (1, 2, 3)]);
        assert_eq!(by(Matrix::build_on(&coo, First, &d).unwrap()), [(0, 0, 1), (1, 2, 10)]);
        assert_eq!(by(Matrix::build_on(&coo, Second, &d).unwrap()), [(0, 0, 5), (1, 2, 4)]);
        assert_eq!(by(Matrix::build_on(&coo, Plus, &d).unwrap()), [(0, 0, 6), (1, 2, 17)]);
    });
}

#[test]
fn b3_range_errors_name_position_index_and_bound() {
    each(|d| {
        let e = Matrix::<i32>::build_on(&triplets((3, 4), &[(0, 0, 1), (2, 4, 1)]), Plus, &d).unwrap_err();
        assert!(
            matches!(e, Error::IndexOutOfBounds { what: "column", position: Some(1), index: 4, bound: 4, .. }),
            "{e}"
        );
        let e = Matrix::<i32>::build_on(&triplets((3, 4), &[(0, 0, 1), (2, 3, 1), (3, 9, 1)]), Plus, &d).unwrap_err();
        assert!(matches!(e, Error::IndexOutOfBounds { what: "row", position: Some(2), index: 3, bound: 3, .. }), "{e}");
    });
}

/// There is no building into what exists already: a build makes a new matrix, and clones of another stay.
#[test]
fn b4_building_makes_a_new_matrix() {
    each(|d| {
        let a = matrix(d, (2, 2), &[(0, 0, 1)]);
        let b = Matrix::<i32>::build_on(&triplets((2, 2), &[(1, 1, 2)]), Plus, &d).unwrap();
        assert_eq!((got(&a), got(&b)), (vec![(0, 0, 1)], vec![(1, 1, 2)]));
    });
}

#[test]
fn b5_any_order_and_one_position_very_often() {
    each(|d| {
        let sorted: Vec<_> = (0..200).map(|e| (e / 20, e % 20, e as i32)).collect();
        let reversed: Vec<_> = sorted.iter().rev().copied().collect();
        let mixed: Vec<_> = (0..200).map(|e| sorted[e * 77 % 200]).collect();
        for entries in [&sorted, &reversed, &mixed] {
            let coo = triplets((10, 20), entries);
            assert_eq!(got(&Matrix::<i32>::build_on(&coo, Plus, &d).unwrap()), sorted);
        }
        // The emulator takes its time.
        let times = if emulated(d) { 20_000 } else { 1_000_000 };
        let coo = triplets((3, 3), &vec![(1, 2, 1); times]);
        assert_eq!(got(&Matrix::<i32>::build_on(&coo, Plus, &d).unwrap()), [(1, 2, times as i32)]);
        let none = Matrix::<i32>::build_on(&triplets((0, 0), &[]), Plus, &d).unwrap();
        assert_eq!((none.shape(), none.nvals()), ((0, 0), 0));
    });
}

/// IGNORE_DUP is `Second`.
#[test]
fn b6_the_last_duplicate_counts_by_second() {
    each(|d| {
        let coo = triplets((1, 4), &[(0, 3, 1), (0, 3, 2), (0, 0, 5), (0, 3, 9)]);
        assert_eq!(got(&Matrix::<i32>::build_on(&coo, Second, &d).unwrap()), [(0, 0, 5), (0, 3, 9)]);
    });
    assert_eq!(
        Vector::build_with(4, &[(3, 1), (3, 2)], Second).map(|v: Vector<i32>| v.entries().unwrap()).unwrap(),
        [(3, 2)]
    );
}

/// Row indices that need 64 bits beside columns that need one.
#[test]
fn b7_rows_and_columns_of_different_widths() {
    each(|d| {
        let entries = [(HUGE - 1, 0, 3), (0, 1, 1), (1 << 33, 1, 2)];
        let a = Matrix::<i32>::build_on(&triplets((HUGE, 2), &entries), Plus, &d).unwrap();
        assert_eq!(got(&a), [(0, 1, 1), (1 << 33, 1, 2), (HUGE - 1, 0, 3)]);
        let turned: Vec<_> = entries.iter().map(|(i, j, v)| (*j, *i, *v)).collect();
        let b = Matrix::<i32>::build_on(&triplets((2, HUGE), &turned), Plus, &d).unwrap();
        assert_eq!(got(&b), made(transpose(&a)));
    });
}

#[test]
fn b8_one_value_everywhere() {
    each(|d| {
        let x = full(d, 5, 7);
        assert_eq!(x.entries().unwrap(), (0..5).map(|i| (i, 7)).collect::<Vec<_>>());
        let mut c = Matrix::<i32>::new(2, 3).unwrap().to(&d).unwrap();
        assign_scalar(4, .., ..).into(&mut c).unwrap();
        assert_eq!(got(&c), (0..6).map(|e| (e / 3, e % 3, 4)).collect::<Vec<_>>());
    });
}

#[test]
fn b9_wide_indices_are_never_narrowed() {
    each(|d| {
        // Equal in their lower 32 bits.
        let entries = [(5, 5, 1), (5 + (1 << 32), 5, 2), (5, 5 + (1 << 32), 3), (5 + (1 << 33), 5 + (1 << 33), 4)];
        let a = Matrix::<i32>::build_on(&triplets((1 << 34, 1 << 34), &entries), Plus, &d).unwrap();
        assert_eq!(a.nvals(), 4);
        entries.iter().for_each(|(i, j, v)| assert_eq!(a.get(*i, *j).unwrap(), Some(*v)));
        assert_eq!(a.get(5, 5 + (1 << 33)).unwrap(), None);
        let small = Matrix::<i32>::build(8, 8, &[(5 + (1 << 32), 0, 1)]);
        assert!(matches!(small, Err(Error::IndexOutOfBounds { index: 4294967301, .. })));
    });
}

#[test]
fn b9_vectors_where_they_are_to_be() {
    let entries = [(5, 10), (0, 1), (5, 3), (8, 2), (5, 4)];
    each(|d| {
        let by = |v: Result<Vector<i32>>| {
            let v = v.unwrap();
            assert_eq!(v.device(), d);
            (v.len(), v.entries().unwrap())
        };
        assert_eq!(by(Vector::build_on(9, &entries, Minus, &d)), (9, vec![(0, 1), (5, 3), (8, 2)]));
        assert_eq!(by(Vector::build_on(9, &entries, First, &d)), (9, vec![(0, 1), (5, 10), (8, 2)]));
        assert_eq!(by(Vector::build_on(9, &[], Plus, &d)), (9, vec![]));
        assert_eq!(by(Vector::build_on(0, &[], Plus, &d)), (0, vec![]));
        // Of an axis that lists those in use.
        let far = [(HUGE - 1, 10), (7, 1), (HUGE - 1, 3)];
        assert_eq!(by(Vector::build_on(HUGE, &far, Second, &d)), (HUGE, vec![(7, 1), (HUGE - 1, 3)]));
        let e = Vector::<i32>::build_on(8, &entries, Plus, &d).unwrap_err();
        assert!(
            matches!(e, Error::IndexOutOfBounds { what: "index", position: Some(3), index: 8, bound: 8, .. }),
            "{e}"
        );
    });
}

#[test]
fn b10_input_is_free_right_after() {
    each(|d| {
        let mut coo = triplets((50, 50), &(0..500).map(|e| (e % 50, e / 10, e as i32)).collect::<Vec<_>>());
        let a = Matrix::<i32>::build_on(&coo, Plus, &d).unwrap();
        coo.rows.fill(0);
        coo.columns.fill(0);
        coo.values.fill(-1);
        assert_eq!(got(&a).len(), 500);
        assert_eq!(a.get(0, 0).unwrap(), Some(0));
        assert_eq!(a.get(49, 49).unwrap(), Some(499));
    });
}

#[test]
fn l1_absent_is_none() {
    each(|d| {
        let (a, x) = (matrix(d, (2, 2), &[(0, 1, 0)]), vector(d, 3, &[(1, 5)]));
        assert_eq!((a.get(0, 1).unwrap(), a.get(1, 1).unwrap()), (Some(0), None));
        assert_eq!((x.get(1).unwrap(), x.get(2).unwrap()), (Some(5), None));
    });
}

#[test]
fn l2_set_new_and_existing_remove_present_and_absent() {
    each(|d| {
        let mut a = matrix(d, (2, 3), &[(0, 1, 1), (1, 2, 2)]);
        a.set(0, 1, 7).unwrap();
        a.set(1, 0, 8).unwrap();
        assert_eq!(got(&a), [(0, 1, 7), (1, 0, 8), (1, 2, 2)]);
        a.remove(1, 2).unwrap();
        a.remove(1, 1).unwrap();
        assert_eq!(got(&a), [(0, 1, 7), (1, 0, 8)]);
    });
}

#[test]
fn l3_set_remove_and_read_at_once() {
    each(|d| {
        let mut a = Matrix::<i32>::new(3, 3).unwrap().to(&d).unwrap();
        for k in 0..3 {
            a.set(k, k, k as i32).unwrap();
            assert_eq!((a.nvals(), a.get(k, k).unwrap()), (1, Some(k as i32)));
            a.remove(k, k).unwrap();
            assert_eq!((a.nvals(), a.get(k, k).unwrap()), (0, None));
        }
        let mut updates = Updates::new();
        updates.set(0, 0, 1).unwrap();
        updates.remove(0, 0).unwrap();
        updates.remove(1, 1).unwrap();
        updates.set(1, 1, 2).unwrap();
        a.update(&updates).unwrap();
        assert_eq!(got(&a), [(1, 1, 2)]);
    });
}

#[test]
fn l4_elements_out_of_range_are_told_at_once() {
    each(|d| {
        let mut a = matrix(d, (2, 3), &[(0, 1, 1)]);
        for error in [a.get(2, 0).map(drop), a.set(0, 3, 1), a.remove(2, 2)] {
            assert!(matches!(error, Err(Error::IndexOutOfBounds { .. })));
        }
        assert_eq!(got(&a), [(0, 1, 1)]);
    });
}

#[test]
fn l5_entries_come_by_row_then_column() {
    each(|d| {
        let a = matrix(d, (3, 3), &[(2, 0, 1), (0, 2, 2), (0, 0, 3), (1, 1, 4)]);
        let expected = [(0, 0, 3), (0, 2, 2), (1, 1, 4), (2, 0, 1)];
        assert_eq!(got(&a), expected);
        let coo = a.to_coo().unwrap();
        assert_eq!((coo.rows, coo.columns, coo.values), (vec![0, 0, 1, 2], vec![0, 2, 1, 0], vec![3, 2, 4, 1]));
        // Of results as well.
        let square = made(mxm(&a, &a));
        assert!(square.windows(2).all(|w| (w[0].0, w[0].1) < (w[1].0, w[1].1)));
    });
}

#[test]
fn l6_resize_down_drops_and_up_keeps() {
    each(|d| {
        let mut a = matrix(d, (3, 3), &[(0, 0, 1), (1, 2, 2), (2, 1, 3)]);
        a.set(2, 2, 4).unwrap();
        a.resize(2, 5).unwrap();
        assert_eq!((a.shape(), got(&a)), ((2, 5), vec![(0, 0, 1), (1, 2, 2)]));
        a.resize(HUGE, 5).unwrap();
        a.set(HUGE - 1, 4, 9).unwrap();
        assert_eq!(got(&a), [(0, 0, 1), (1, 2, 2), (HUGE - 1, 4, 9)]);
        a.resize(1, 1).unwrap();
        assert_eq!((a.shape(), got(&a)), ((1, 1), vec![(0, 0, 1)]));
    });
}

/// Clearing is assigning nothing everywhere.
#[test]
fn l7_clearing_keeps_shape_and_type() {
    each(|d| {
        let mut a = some(d, 6, 7, 1);
        assert!(a.nvals() > 0);
        assign_empty(.., ..).into(&mut a).unwrap();
        assert_eq!((a.shape(), a.nvals(), a.device()), ((6, 7), 0, d));
    });
}

#[test]
fn l8_clones_do_not_see_changes() {
    each(|d| {
        let a = matrix(d, (2, 2), &[(0, 0, 1), (1, 1, 2)]);
        let mut b = a.clone();
        b.set(0, 0, 9).unwrap();
        b.remove(1, 1).unwrap();
        b.resize(1, 1).unwrap();
        assert_eq!((got(&a), got(&b)), (vec![(0, 0, 1), (1, 1, 2)], vec![(0, 0, 9)]));
        let mut c = a.clone();
        apply(&a, Negate).into(&mut c).unwrap();
        assert_eq!(got(&a), [(0, 0, 1), (1, 1, 2)]);
    });
}
