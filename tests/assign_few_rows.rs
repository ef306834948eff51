//! Assignments that reach a few rows of a larger matrix: those are made anew where they lie, the others stay or move.
use oplus::generate::Random;
use oplus::prelude::*;
use std::collections::BTreeMap;

type Model = BTreeMap<(u64, u64), i64>;

fn matrix(shape: (u64, u64), model: &Model) -> Matrix<i64> {
    let entries: Vec<_> = model.iter().map(|((i, j), v)| (*i, *j, *v)).collect();
    Matrix::build(shape.0, shape.1, &entries).unwrap()
}

fn model(c: &Matrix<i64>) -> Model {
    c.entries().unwrap().into_iter().map(|(i, j, v)| ((i, j), v)).collect()
}

/// Ascending, each of n with one chance in `of`.
fn some(random: &mut Random, n: u64, of: u64) -> Vec<u64> {
    (0..n).filter(|_| random.below(of) == 0).collect()
}

#[test]
fn rows_are_what_the_definition_says() {
    let (m, n) = (300, 40);
    let mut random = Random::new(3, 1);
    for round in 0..400 {
        // Every third is hypersparse: indices far apart.
        let far = if round % 3 == 0 { 1 << 40 } else { 1 };
        let shape = (m * far, n * far);
        let mut old = Model::new();
        for _ in 0..2000 {
            old.insert((random.below(m) * far, random.below(n) * far), random.below(100) as i64);
        }
        let rows: Vec<u64> = some(&mut random, m, [100, 20, 40][round / 3 % 3]).iter().map(|i| i * far).collect();
        let cols: Vec<u64> = some(&mut random, n, 2).iter().map(|j| j * far).collect();
        let mut a = Model::new();
        for p in 0..rows.len() as u64 {
            for q in 0..cols.len() as u64 {
                // Every fourth time what is there already, at most.
                let there = old.contains_key(&(rows[p as usize], cols[q as usize]));
                if if round % 4 == 1 { there } else { random.below(3) == 0 } {
                    a.insert((p, q), 1000 + random.below(100) as i64);
                }
            }
        }
        let source = matrix((rows.len() as u64, cols.len() as u64), &a);
        let (accumulate, scalar, shared) = (round % 2 == 0, round % 5 == 0, round % 7 == 0);
        let mut expected = old.clone();
        for (p, i) in rows.iter().enumerate() {
            for (q, j) in cols.iter().enumerate() {
                let new = if scalar { Some(7) } else { a.get(&(p as u64, q as u64)).copied() };
                let before = old.get(&(*i, *j)).copied();
                let after = match (before, new, accumulate) {
                    (Some(x), Some(y), true) => Some(x + y),
                    (x, y, true) => x.or(y),
                    (_, y, false) => y,
                };
                match after {
                    Some(value) => expected.insert((*i, *j), value),
                    None => expected.remove(&(*i, *j)),
                };
            }
        }
        let mut c = matrix(shape, &old);
        let clone = c.clone();
        let held = shared.then_some(clone);
        match (scalar, accumulate) {
            (true, true) => assign_scalar(7i64, &rows, &cols).accumulate(Plus).into(&mut c),
            (true, false) => assign_scalar(7i64, &rows, &cols).into(&mut c),
            (false, true) => assign(&source, &rows, &cols).accumulate(Plus).into(&mut c),
            (false, false) => assign(&source, &rows, &cols).into(&mut c),
        }
        .unwrap();
        assert_eq!(model(&c), expected, "round {round}: {rows:?} {cols:?}");
        // The arrays are whole: everything is checked again.
        let parts = c.clone().into_csr_parts().unwrap();
        assert_eq!(model(&Matrix::from_csr_parts(parts).unwrap()), expected);
        if let Some(held) = held {
            assert_eq!(model(&held), old, "a clone stays what it was");
        }
        // What was known of the old rows is not believed of the new ones.
        let sums = reduce_rows(&c, Plus).eval().unwrap().nvals() as usize;
        let used: std::collections::BTreeSet<u64> = expected.keys().map(|k| k.0).collect();
        assert_eq!(sums, used.len());
    }
}

#[test]
fn values_alone_are_written_where_they_are() {
    let mut old = Model::new();
    old.extend((0..5000).map(|e| ((e / 10, e % 10 * 90), e as i64)));
    let mut c = matrix((500, 900), &old);
    let view = c.csr_parts().unwrap();
    let places = (view.indices().as_ptr(), view.values().as_ptr());
    drop(view);
    assign_scalar(7i64, [3, 80], [180, 810]).into(&mut c).unwrap();
    let view = c.csr_parts().unwrap();
    assert_eq!((view.indices().as_ptr(), view.values().as_ptr()), places);
    drop(view);
    for (i, j) in [(3, 180), (3, 810), (80, 180), (80, 810)] {
        old.insert((i, j), 7);
    }
    assert_eq!(model(&c), old);
    // Of many rows as well.
    let rows: Vec<u64> = (0..500).step_by(20).collect();
    assign_scalar(8i64, &rows, [90, 450]).accumulate(Plus).into(&mut c).unwrap();
    let view = c.csr_parts().unwrap();
    assert_eq!((view.indices().as_ptr(), view.values().as_ptr()), places);
    drop(view);
    old.iter_mut().filter(|((i, j), _)| i % 20 == 0 && [90, 450].contains(j)).for_each(|(_, x)| *x += 8);
    assert_eq!(model(&c), old);
    let empty: Matrix<i64> = Matrix::new(1, 900).unwrap();
    assign(&empty, [80], ..).into(&mut c).unwrap();
    old.retain(|(i, _), _| *i != 80);
    assert_eq!(model(&c), old);
    let row: Vector<i64> = Vector::build(900, &(0..10).map(|j| (j, 5)).collect::<Vec<_>>()).unwrap();
    assign_row(&row, 80, ..).into(&mut c).unwrap();
    old.extend((0..10).map(|j| ((80, j), 5)));
    assert_eq!(model(&c), old);
    // In no order: the last of one index counts.
    let two: Matrix<i64> = Matrix::build(2, 1, &[(0, 0, -1), (1, 0, -2)]).unwrap();
    assign(&two, [9, 9], [4]).into(&mut c).unwrap();
    old.insert((9, 4), -2);
    assert_eq!(model(&c), old);
}
