//! Rows of few products against their definition.
use super::*;
use crate::backend::MaskOn;
use crate::generate::Random;
use std::sync::Arc;

fn pattern(nrows: usize, ncols: usize, random: &mut Random, mut density: impl FnMut(usize) -> u64) -> Pattern {
    let mut p = Pattern::new(nrows, ncols, vec![0], vec![]);
    for r in 0..nrows {
        let density = density(r);
        p.indices.extend((0..ncols as u32).filter(|_| random.below(100) < density));
        p.offsets.push(p.indices.len() as u64);
    }
    p
}

/// Rows as they come, by columns with the products of each in the order of k; the rows that were left out.
fn all(a: &Pattern, b: &Pattern, mask: OnMask) -> (Vec<Vec<(u32, Vec<(usize, usize)>)>>, usize) {
    let (mut tiny, mut rows, mut left) = (Tiny::default(), vec![], 0);
    while rows.len() < a.nrows {
        let (mut indices, mut ends) = (vec![7, 7], vec![]);
        let to = To { indices: &mut indices, ends: &mut ends };
        let some = rows.len()..a.nrows.min(rows.len() + 30);
        let done = tiny.rows::<true>("mxm", (a, b, mask), Soon::of::<()>(&[]), some, to).unwrap();
        assert_eq!(ends.len(), done);
        let mut products = vec![vec![]; indices.len() - 2];
        tiny.listed.products().for_each(|(e, f, sum)| products[sum].push((e, f)));
        let mut from = 2;
        for end in ends {
            let row = from..end as usize;
            rows.push(row.map(|e| (indices[e], std::mem::take(&mut products[e - 2]))).collect());
            from = end as usize;
        }
        assert_eq!(from, indices.len());
        if done == 0 {
            // Nothing of rows before is left.
            assert_eq!(tiny.listed.products().count(), 0);
            rows.push(vec![]);
            left += 1;
        }
    }
    (rows, left)
}

#[test]
fn rows_of_few_products_are_in_order() {
    let mut random = Random::new(4, 0);
    for round in 0..40 {
        let (m, k, n) = (90, 60, 150);
        let mut seed = Random::new(round, 1);
        let a = pattern(m, k, &mut random, |_| seed.below(6) * seed.below(4));
        let b = pattern(k, n, &mut random, |_| seed.below(3) * seed.below(5) * seed.below(8) / 4);
        if simd(&b).is_none() {
            continue;
        }
        let mask = pattern(m, n, &mut random, |_| seed.below(4) * seed.below(5));
        let mask = MaskOn { pattern: Arc::new(mask), complement: false };
        for mask in [None, Some(&mask)] {
            let (rows, left) = all(&a, &b, mask);
            let mut long = 0;
            for (i, row) in rows.into_iter().enumerate() {
                let products = a.range(i).flat_map(|e| b.range(a.indices[e] as usize).map(move |f| (e, f)));
                let mut expected = std::collections::BTreeMap::<u32, Vec<(usize, usize)>>::new();
                for (e, f) in products.clone() {
                    if mask.is_none_or(|m| m.pattern.row(i).contains(&b.indices[f])) {
                        expected.entry(b.indices[f]).or_default().push((e, f));
                    }
                }
                let many = mask.is_some_and(|m| m.pattern.range(i).len() > ADMITTED);
                if row.is_empty() && (products.count() > MOST || many) {
                    long += 1;
                    continue;
                }
                assert_eq!(row, expected.into_iter().collect::<Vec<_>>(), "row {i}");
            }
            assert_eq!(left, long);
        }
    }
}
