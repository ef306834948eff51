//! The generators: known counts, seeds, skew, and independence of the number of threads.
use oplus::generate::*;
use oplus::prelude::*;

/// Σₖ |column k of A| · |row k of A|: the products of A².
fn products(a: &Coo<f64>) -> u64 {
    let (mut rows, mut columns) = (vec![0u64; a.nrows as usize], vec![0u64; a.ncols as usize]);
    a.rows.iter().for_each(|i| rows[*i as usize] += 1);
    a.columns.iter().for_each(|j| columns[*j as usize] += 1);
    rows.iter().zip(&columns).map(|(r, c)| r * c).sum()
}

#[test]
fn known_counts() {
    assert_eq!(products(&stencil_5(1024, 1024).unwrap()), 26_177_544);
    assert_eq!(products(&stencil_9(1024, 1024).unwrap()), 84_750_436);
    assert_eq!(products(&stencil_7(101, 101, 101).unwrap()), 49_691_495);
    let band31 = band(120_000, 31, 1).unwrap();
    assert_eq!(products(&band31), 476_175_840);
    assert_eq!(products(&permuted(band31, 2).unwrap()), 476_175_840);
}

#[test]
fn rows_of_a_laplacian_sum_to_zero() {
    for a in [stencil_5(7, 9), stencil_9(7, 9), stencil_7(4, 5, 6), stencil_27(4, 5, 6)] {
        let a: Matrix<f64> = Matrix::from_coo(&a.unwrap()).unwrap();
        let sums = reduce_rows(&a, Plus).eval().unwrap();
        assert!(sums.nvals() == a.nrows() && sums.entries().unwrap().iter().all(|e| e.1 == 0.0));
    }
}

#[test]
fn seeds_decide_and_threads_do_not() {
    let make = |seed| {
        [
            rmat(12, 8, Default::default(), seed),
            uniform(500, 700, 5, seed),
            small_world(400, 6, 0.2, seed),
            road_grid(30, 20, seed),
            hub(1000, 4, 5, 300, seed),
            band(100, 3, seed),
        ]
        .map(|a| a.unwrap())
    };
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(|| make(7));
    let three = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap().install(|| make(7));
    assert_eq!(one, three);
    assert!(make(8).iter().zip(&one).all(|(a, b)| a != b));
    for a in one {
        let _ = Matrix::<f64>::from_coo(&a).expect("no position twice");
    }
}

#[test]
fn shapes_of_graphs() {
    let degrees = |a: &Coo<f64>| {
        let mut d = vec![0u64; a.nrows as usize];
        a.rows.iter().for_each(|i| d[*i as usize] += 1);
        d
    };
    let skewed = degrees(&rmat(14, 8, Default::default(), 1).unwrap());
    assert!(*skewed.iter().max().unwrap() > 100 * (skewed.iter().sum::<u64>() / skewed.len() as u64));
    let hubs = degrees(&hub(1000, 4, 5, 300, 1).unwrap());
    assert_eq!(hubs.iter().filter(|d| **d > 100).count(), 5);
    let roads: Matrix<f64> = Matrix::from_coo(&road_grid(30, 20, 3).unwrap()).unwrap();
    assert_eq!(transpose(&roads).eval().unwrap().entries().unwrap(), roads.entries().unwrap());
    assert!(roads.entries().unwrap().iter().all(|e| e.2 >= 1.0 && e.2 <= 100.0));
}

#[test]
fn bad_parameters() {
    assert!(rmat(32, 8, Default::default(), 1).is_err());
    assert!(rmat(31, u64::MAX, Default::default(), 1).is_err());
    assert!(rmat(5, 8, Rmat { a: 0.9, b: 0.3, c: 0.1 }, 1).is_err());
    assert!(rmat(5, 8, Rmat { a: f64::NAN, b: 0.3, c: 0.1 }, 1).is_err());
    assert!(
        stencil_5(u64::MAX, 2).is_err()
            && stencil_27(1 << 20, 1 << 20, 1).is_err()
            && road_grid(1 << 20, 1 << 20, 1).is_err()
    );
    assert!(
        small_world(10, 3, 0.1, 1).is_err() && small_world(4, 4, 0.1, 1).is_err() && small_world(9, 2, 1.5, 1).is_err()
    );
    assert!(hub(3, 1, 4, 2, 1).is_err());
    assert!(permuted(Coo::<f64>::new(2, 3), 1).is_err());
    assert!(
        uniform(0, 0, 4, 1).unwrap().is_empty()
            && stencil_5(0, 5).unwrap().is_empty()
            && band(0, 3, 1).unwrap().is_empty()
    );
}

/// What cannot be is told, before the time is spent and without the process ending.
#[test]
fn impossible_sizes_are_errors() {
    let all = u64::MAX;
    for n in [1 << 60, 1 << 62, all] {
        for told in [
            uniform(1, n, n, 1),
            uniform(n, 8, 1, 1),
            hub(n, 0, 1, n, 1),
            hub(n, 3, 0, 0, 1),
            band(n, n, 1),
            band(n, 1, 1),
            small_world(n, 2, 0.5, 1),
        ] {
            assert!(matches!(told, Err(Error::OutOfMemory { .. })), "{n}: {told:?}");
        }
    }
    for none in [
        uniform(all, 0, 9, 1),
        uniform(all, 9, 0, 1),
        hub(all, 0, 0, 9, 1),
        band(0, all, 1),
        small_world(all, 0, 0.5, 1),
    ] {
        assert!(none.unwrap().is_empty());
    }
}

/// Rows that have nothing are not visited: these would take hours.
#[test]
fn hubs_alone_are_visited() {
    let a = hub(1 << 40, 0, 3, 10, 1).unwrap();
    let third = |h: u64| h * (1 << 40) / 3;
    assert!(a.len() == 30 && a.rows.chunks(10).zip([0, third(1), third(2)]).all(|(row, i)| row == [i; 10]), "{a:?}");
    let few = hub(1000, 0, 7, 30, 5).unwrap();
    let rows: std::collections::BTreeSet<u64> = few.rows.iter().copied().collect();
    assert_eq!(rows.into_iter().collect::<Vec<_>>(), [0, 142, 285, 428, 571, 714, 857]);
    assert!(hub(0, 0, 0, 5, 1).unwrap().is_empty() && hub(9, 0, 0, 5, 1).unwrap().is_empty());
}

/// Also where they are a large part of the rows: no half of these has more of them than the other.
#[test]
fn hubs_are_spread_evenly() {
    for mean in [0, 2] {
        let a = hub(1000, mean, 600, 40, 3).unwrap();
        let mut degrees = [0; 1000];
        a.rows.iter().for_each(|i| degrees[*i as usize] += 1);
        let places: Vec<usize> = (0..1000).filter(|i| degrees[*i] > 20).collect();
        assert_eq!(places, (0..600).map(|h| h * 1000 / 600).collect::<Vec<_>>());
    }
    let all = hub(u64::MAX, 0, 2, 1, 1).unwrap();
    assert_eq!(all.rows, [0, u64::MAX / 2]);
}

/// No memory is asked for that is not used.
#[test]
fn stencils_are_counted() {
    for a in [
        stencil_5(1000, 1),
        stencil_5(1, 1000),
        stencil_5(30, 40),
        stencil_9(1000, 1),
        stencil_9(40, 30),
        stencil_7(1, 1, 1000),
        stencil_7(5, 6, 7),
        stencil_27(1000, 1, 1),
        stencil_27(2, 2, 250),
        stencil_27(7, 6, 5),
        stencil_27(1, 1, 1),
    ] {
        let a = a.unwrap();
        let room = [a.rows.capacity(), a.columns.capacity(), a.values.capacity()];
        assert!(room.iter().all(|room| *room <= a.len() + a.len() / 20), "{room:?} for {}", a.len());
    }
}

/// What adds up to 1 in decimals does not in floats.
#[test]
fn probabilities_may_be_rounded() {
    let (a, b, c) = (0.33, 0.56, 0.11);
    assert!(a + b + c > 1.0);
    let g = rmat(8, 4, Rmat { a, b, c }, 1).unwrap();
    // Nothing is left for the lower right quadrant: no bit is 1 in both.
    assert!(g.rows.iter().zip(&g.columns).all(|(i, j)| i & j == 0));
    assert!(rmat(8, 4, Rmat { a, b, c: 0.1100001 }, 1).is_err());
}

#[test]
fn grids_end_below_2_to_the_32() {
    for (nx, ny) in [(1 << 16, 1 << 16), (u64::MAX, 2)] {
        for told in [stencil_5(nx, ny), stencil_9(nx, ny), stencil_7(nx, ny, 1), road_grid(nx, ny, 1)] {
            let told = told.unwrap_err();
            assert!(matches!(told, Error::InvalidValue { .. }) && told.to_string().ends_with("points are 2³² or more"));
        }
    }
}

#[test]
fn permuted_wants_entries_inside() {
    let coo = |i, j| Coo { nrows: 2, ncols: 2, rows: vec![0, i], columns: vec![1, j], values: vec![1.0, 2.0] };
    for (a, expected) in [(coo(5, 0), ("row", 5)), (coo(0, 2), ("column", 2))] {
        match permuted(a, 1) {
            Err(Error::IndexOutOfBounds { what, position: Some(1), index, bound: 2, .. }) => {
                assert_eq!((what, index), expected)
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn permuted_wants_lists_of_one_length() {
    let lists = |r, c, v| Coo { nrows: 2, ncols: 2, rows: vec![1; r], columns: vec![0; c], values: vec![1.0; v] };
    for (r, c, v) in [(1, 0, 1), (0, 1, 1), (1, 1, 0), (2, 2, 1)] {
        let told = permuted(lists(r, c, v), 1).unwrap_err();
        assert!(matches!(told, Error::InvalidValue { operation: "permuted", .. }), "{told:?}");
        assert_eq!(told.to_string(), format!("permuted: {r} rows, {c} columns and {v} values"));
    }
}

#[test]
fn grids_without_points_are_empty_whatever_their_other_sides() {
    for (nx, ny, nz) in [(1 << 40, 1 << 40, 0), (0, 1 << 40, 1 << 40), (1 << 40, 0, 1 << 40)] {
        assert_eq!(stencil_7(nx, ny, nz).unwrap().nrows, 0);
    }
}
