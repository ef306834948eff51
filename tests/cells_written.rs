//! Matrices with a cell for everything are changed where they lie: one element, or a few rows' cells, and stay in their format.
use oplus::generate::Random;
use oplus::prelude::*;
use std::collections::BTreeMap;

type Model = BTreeMap<(u64, u64), i64>;
const SHAPE: (u64, u64) = (30, 7);

fn entries(a: &Matrix<i64>) -> Model {
    a.entries().unwrap().into_iter().map(|(i, j, v)| ((i, j), v)).collect()
}

fn bitmap(model: &Model) -> Matrix<i64> {
    let entries: Vec<_> = model.iter().map(|((i, j), v)| (*i, *j, *v)).collect();
    Matrix::build(SHAPE.0, SHAPE.1, &entries).unwrap().to_format(Format::Bitmap).unwrap()
}

fn check(a: &Matrix<i64>, model: &Model) {
    let all = model.len() as u64 == SHAPE.0 * SHAPE.1;
    assert_eq!(a.format(), if all { Format::Full } else { Format::Bitmap });
    assert_eq!(a.nvals(), model.len() as u64);
    assert_eq!(&entries(a), model);
}

#[test]
fn elements_come_and_go_in_cells() {
    let mut random = Random::new(7, 0);
    for round in 0..60 {
        let mut model = Model::new();
        for i in 0..SHAPE.0 {
            for j in 0..SHAPE.1 {
                if random.below(10) < [1, 5, 11][round % 3] {
                    model.insert((i, j), if round % 2 == 0 { 7 } else { random.below(9) as i64 });
                }
            }
        }
        let mut a = bitmap(&model);
        for step in 0..40 {
            let (i, j, v) = (random.below(SHAPE.0), random.below(SHAPE.1), random.below(9) as i64);
            // Now and then somebody else holds it, or its list was made.
            let clone = (step % 3 == 0).then(|| (a.clone(), model.clone()));
            match random.below(5) {
                0 => {
                    a.set(i, j, v).unwrap();
                    model.insert((i, j), v);
                }
                1 => {
                    a.remove(i, j).unwrap();
                    model.remove(&(i, j));
                }
                2 => {
                    a.set(i, j, 7).unwrap();
                    model.insert((i, j), 7);
                }
                3 => {
                    let row: Vec<(u64, i64)> =
                        (0..SHAPE.1).filter(|c| !(c + v as u64).is_multiple_of(3)).map(|c| (c, v)).collect();
                    let u: Vector<i64> = Vector::build(SHAPE.1, &row).unwrap();
                    assign_row(&u, i, ..).into(&mut a).unwrap();
                    (0..SHAPE.1).for_each(|c| _ = model.remove(&(i, c)));
                    model.extend(row.iter().map(|(c, v)| ((i, *c), *v)));
                }
                _ => {
                    assign_scalar(v, [i], [j]).accumulate(Plus).into(&mut a).unwrap();
                    *model.entry((i, j)).or_default() += v;
                }
            }
            if step % 4 == 0 {
                check(&a, &model);
            }
            if let Some((clone, before)) = clone {
                check(&clone, &before);
            }
        }
        check(&a, &model);
    }
}

#[test]
fn the_last_cell_makes_it_full_and_one_less_a_bitmap() {
    let mut a: Matrix<i64> = Matrix::full(SHAPE.0, SHAPE.1, 3).unwrap();
    a.remove(4, 5).unwrap();
    assert_eq!((a.format(), a.nvals(), a.is_iso()), (Format::Bitmap, 209, true));
    a.set(4, 5, 3).unwrap();
    assert_eq!((a.format(), a.nvals(), a.is_iso()), (Format::Full, 210, true));
    a.set(4, 5, 4).unwrap();
    assert_eq!((a.format(), a.get(4, 5).unwrap(), a.get(4, 4).unwrap()), (Format::Full, Some(4), Some(3)));
}

/// On the reference too a vector that lacks an element is no longer one with a cell for everything.
#[test]
fn vectors_that_lack_an_element() {
    for device in [Device::Reference, Device::Cpu] {
        let mut x: Vector<i64> = Vector::from_full((0..50).collect()).unwrap().to(&device).unwrap();
        x.remove(3).unwrap();
        let y = x.to(&Device::Cpu).unwrap();
        assert_eq!((y.nvals(), y.get(3).unwrap(), y.get(4).unwrap()), (49, None, Some(4)));
        let built: Vector<i64> =
            Vector::build(50, &(0..50).filter(|i| *i != 3).map(|i| (i, i as i64)).collect::<Vec<_>>()).unwrap();
        assert!(y == built);
    }
}
