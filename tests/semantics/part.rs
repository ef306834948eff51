//! X: extract and assign.
use crate::kit::*;
use oplus::prelude::*;

fn table(d: Device) -> Matrix<i32> {
    matrix(d, (4, 4), &[(0, 1, 1), (1, 0, 10), (1, 2, 12), (2, 3, 23), (3, 1, 31), (3, 3, 33)])
}

#[test]
fn x1_all_strides_reversed_and_empty_lists() {
    each(|d| {
        let a = table(d);
        assert_eq!(made(extract(&a, .., ..)), got(&a));
        assert_eq!(made(extract(&a, 1..3, ..)), [(0, 0, 10), (0, 2, 12), (1, 3, 23)]);
        assert_eq!(made(extract(&a, Indices::stride(1, 2, 2), 1..)), [(0, 1, 12), (1, 0, 31), (1, 2, 33)]);
        assert_eq!(
            made(extract(&a, Indices::stride(3, -1, 4), Indices::stride(3, -1, 4))),
            [(0, 0, 33), (0, 2, 31), (1, 0, 23), (2, 1, 12), (2, 3, 10), (3, 2, 1),]
        );
        assert_eq!(made(extract(&a, [3, 0, 2], [1, 3])), [(0, 0, 31), (0, 1, 33), (1, 0, 1), (2, 1, 23)]);
        let empty = extract(&a, [0u64; 0], ..).eval().unwrap();
        assert_eq!((empty.shape(), empty.nvals()), ((0, 4), 0));
        let mut c = a.clone();
        assign(&extract(&a, 2..2, ..).eval().unwrap(), 2..2, ..).into(&mut c).unwrap();
        assert_eq!(got(&c), got(&a));
        let mut c = a.clone();
        assign(&a, Indices::stride(3, -1, 4), ..).into(&mut c).unwrap();
        assert_eq!(got(&c), made(extract(&a, [3, 2, 1, 0], ..)));
    });
}

/// What the standard leaves open: the last of an index counts.
#[test]
fn x2_indices_more_than_once() {
    each(|d| {
        let a = table(d);
        assert_eq!(
            made(extract(&a, [1, 1], [2, 2, 0])),
            [(0, 0, 12), (0, 1, 12), (0, 2, 10), (1, 0, 12), (1, 1, 12), (1, 2, 10)]
        );
        let mut c = a.clone();
        assign_scalar(5, [2, 2, 2], [0, 0]).into(&mut c).unwrap();
        assert_eq!(c.get(2, 0).unwrap(), Some(5));
        assert_eq!(c.nvals(), a.nvals() + 1);
        // Rows 0 and 1 of what is assigned both go to row 2: row 1 counts, what it lacks is deleted.
        let rows = matrix(d, (2, 4), &[(0, 0, 100), (0, 3, 101), (1, 1, 102)]);
        let mut c = a.clone();
        assign(&rows, [2, 2], ..).into(&mut c).unwrap();
        assert_eq!(made_vector(extract_row(&c, 2, ..)), [(1, 102)]);
        let mut w = vector(d, 3, &[(1, 1)]);
        assign_vector(&vector(d, 3, &[(0, 7), (1, 8), (2, 9)]), [0, 2, 0]).into(&mut w).unwrap();
        assert_eq!(w.entries().unwrap(), [(0, 9), (1, 1), (2, 8)]);
    });
}

/// However the operand and the mask are stored: a position whose index comes again says nothing, entry or not.
#[test]
fn x2_indices_more_than_once_in_every_format() {
    each(|d| {
        let stored = |m: &Matrix<i32>| {
            let formats = [Format::Csr, Format::Csc, Format::Bitmap, Format::Dia, Format::Hypersparse];
            formats.map(|f| m.to_format(f).unwrap()).into_iter().chain([m.clone()]).collect::<Vec<_>>()
        };
        // Column 2 of what is assigned counts for column 0, and has no entry.
        let a = matrix(d, (2, 3), &[(0, 0, 5), (0, 1, 6), (1, 0, 7)]);
        for (a, turned) in stored(&a).into_iter().zip(stored(&transpose(&a).eval().unwrap())) {
            let mut c = matrix(d, (3, 2), &[(0, 0, 1), (2, 1, 2)]);
            assign(&a, [2, 0], [0, 1, 0]).into(&mut c).unwrap();
            assert_eq!(got(&c), [(2, 1, 6)], "{:?}", a.format());
            let mut c = matrix(d, (2, 3), &[(0, 0, 1), (1, 2, 2)]);
            assign(&turned, [0, 1, 0], [2, 0]).into(&mut c).unwrap();
            assert_eq!(got(&c), [(1, 2, 6)], "{:?}", turned.format());
            let mut c = matrix(d, (2, 2), &[(0, 0, 1), (1, 1, 2)]);
            assign(&a, [1, 1], [0, 1, 0]).accumulate(Plus).into(&mut c).unwrap();
            assert_eq!(got(&c), [(0, 0, 1), (1, 1, 2)], "{:?}", a.format());
            let mut c = matrix(d, (2, HUGE), &[(0, 9, 1)]);
            assign(&a, [1, 0], [9, 1 << 35, 9]).into(&mut c).unwrap();
            assert_eq!(got(&c), [(1, 1 << 35, 6)], "{:?}", a.format());
        }
        // The first place of a mask, which admits, counts no more than that of a value.
        for m in stored(&matrix(d, (1, 2), &[(0, 0, 1)])) {
            let mut c = matrix(d, (1, 1), &[(0, 0, 1)]);
            subassign(&matrix(d, (1, 2), &[(0, 0, 7), (0, 1, 7)]), .., [0, 0]).mask(&m).into(&mut c).unwrap();
            assert_eq!(got(&c), [(0, 0, 1)], "{:?}", m.format());
            subassign_scalar(7, .., [0, 0]).mask(&m).into(&mut c).unwrap();
            assert_eq!(got(&c), [(0, 0, 1)], "{:?}", m.format());
        }
        let m = vector(d, 2, &[(0, 1)]);
        for m in [m.to_bitmap().unwrap(), m] {
            let mut w = vector(d, 1, &[(0, 1)]);
            subassign_vector(&full(d, 2, 7), [0, 0]).mask(&m).into(&mut w).unwrap();
            assert_eq!(w.entries().unwrap(), [(0, 1)]);
        }
    });
}

#[test]
fn x3_replace_of_assign_reaches_everything_of_subassign_the_region() {
    each(|d| {
        let a = table(d);
        let part = matrix(d, (2, 2), &[(0, 0, 7), (1, 1, 8)]);
        let mask = matrix(d, (4, 4), &[(0, 0, 1), (3, 3, 1)]);
        let mut c = a.clone();
        assign(&part, ..2, ..2).mask(&mask).replace().into(&mut c).unwrap();
        // Inside: (0, 0) admitted. Outside: all but (3, 3) deleted.
        assert_eq!(got(&c), [(0, 0, 7), (3, 3, 33)]);
        let mut c = a.clone();
        assign(&part, ..2, ..2).mask(&mask).into(&mut c).unwrap();
        assert_eq!(got(&c), [(0, 0, 7), (0, 1, 1), (1, 0, 10), (1, 2, 12), (2, 3, 23), (3, 1, 31), (3, 3, 33)]);
        let small = matrix(d, (2, 2), &[(1, 1, 1)]);
        let mut c = a.clone();
        subassign(&part, ..2, ..2).mask(&small).replace().into(&mut c).unwrap();
        assert_eq!(got(&c), [(1, 1, 8), (1, 2, 12), (2, 3, 23), (3, 1, 31), (3, 3, 33)]);
        // Each wants a mask of its own shape.
        let mut c = a.clone();
        assert!(assign(&part, ..2, ..2).mask(&small).into(&mut c).is_err());
        assert!(subassign(&part, ..2, ..2).mask(&mask).into(&mut c).is_err());
        assert_eq!(got(&c), got(&a));
    });
}

#[test]
fn x4_rows_and_columns_touch_nothing_else() {
    each(|d| {
        let a = table(d);
        let u = vector(d, 4, &[(0, 70), (3, 73)]);
        let mask = vector(d, 4, &[(0, 1), (1, 1)]);
        let mut c = a.clone();
        assign_row(&u, 3, ..).mask(&mask).replace().into(&mut c).unwrap();
        assert_eq!(got(&c), [(0, 1, 1), (1, 0, 10), (1, 2, 12), (2, 3, 23), (3, 0, 70)]);
        let mut c = a.clone();
        assign_column(&u, .., 3).mask(&mask).replace().into(&mut c).unwrap();
        assert_eq!(got(&c), [(0, 1, 1), (0, 3, 70), (1, 0, 10), (1, 2, 12), (3, 1, 31)]);
        let mut c = a.clone();
        assign_row(&u, 3, ..).accumulate(Plus).into(&mut c).unwrap();
        assert_eq!(made_vector(extract_row(&c, 3, ..)), [(0, 70), (1, 31), (3, 106)]);
    });
}

#[test]
fn x5_an_empty_matrix_deletes_the_region_unless_accumulated() {
    each(|d| {
        let (a, none) = (table(d), matrix::<i32>(d, (2, 2), &[]));
        let mut c = a.clone();
        assign(&none, 2.., 2..).into(&mut c).unwrap();
        assert_eq!(got(&c), [(0, 1, 1), (1, 0, 10), (1, 2, 12), (3, 1, 31)]);
        let mut c = a.clone();
        assign(&none, 2.., 2..).accumulate(Plus).into(&mut c).unwrap();
        assert_eq!(got(&c), got(&a));
    });
}

#[test]
fn x6_an_empty_scalar_deletes_the_region_unless_accumulated() {
    each(|d| {
        let a = table(d);
        let mut c = a.clone();
        assign_empty(2.., 2..).into(&mut c).unwrap();
        assert_eq!(got(&c), [(0, 1, 1), (1, 0, 10), (1, 2, 12), (3, 1, 31)]);
        let mut c = a.clone();
        assign_empty(2.., 2..).accumulate(Plus).into(&mut c).unwrap();
        assert_eq!(got(&c), got(&a));
        let mut w = vector(d, 3, &[(0, 1), (2, 3)]);
        assign_empty_vector(1..).into(&mut w).unwrap();
        assert_eq!(w.entries().unwrap(), [(0, 1)]);
    });
}

#[test]
fn x7_a_scalar_to_no_index_changes_nothing() {
    each(|d| {
        let a = table(d);
        for (rows, columns) in [(vec![], vec![0u64, 1]), (vec![1], vec![]), (vec![], vec![])] {
            let mut c = a.clone();
            assign_scalar(9, &rows, &columns).into(&mut c).unwrap();
            subassign_scalar(9, &rows, &columns).accumulate(Plus).into(&mut c).unwrap();
            assert_eq!(got(&c), got(&a));
        }
    });
}

#[test]
fn x8_out_of_range_is_told_and_nothing_written() {
    each(|d| {
        let (a, u) = (table(d), vector(d, 2, &[(0, 1)]));
        let mut c = a.clone();
        let part = matrix(d, (2, 2), &[(0, 0, 7)]);
        let told = |e: oplus::Result<()>, place: Option<u64>, value: u64| match e {
            Err(Error::IndexOutOfBounds { position, index, bound: 4, .. }) => {
                assert_eq!((position, index), (place, value))
            }
            other => panic!("{other:?}"),
        };
        told(assign(&part, [0, 4], ..2).into(&mut c), Some(1), 4);
        told(assign(&part, ..2, [9, 0]).into(&mut c), Some(0), 9);
        told(assign_scalar(1, [1, 2, 7], ..).into(&mut c), Some(2), 7);
        told(assign_row(&u, 4, ..2).into(&mut c), None, 4);
        told(subassign(&part, ..2, 3..5).into(&mut c), Some(1), 4);
        told(extract(&a, [0, 5], ..).eval().map(drop), Some(1), 5);
        told(extract_row(&a, 4, ..).eval().map(drop), None, 4);
        assert_eq!(got(&c), got(&a));
    });
}
