//! Operations that write or look at a few entries of a long vector, against entries written one by one: lists, bitmaps, full ones.
use oplus::generate::Random;
use oplus::prelude::*;
use std::collections::BTreeMap;

type Model = BTreeMap<u64, i64>;

fn vector(n: u64, model: &Model) -> Vector<i64> {
    Vector::build(n, &model.iter().map(|(i, v)| (*i, *v)).collect::<Vec<_>>()).unwrap()
}

fn some(random: &mut Random, n: u64, of: u64) -> Model {
    let mut model = Model::new();
    for i in 0..n {
        if random.below(of) == 0 {
            model.insert(i, random.below(100) as i64);
        }
    }
    model
}

/// x as a list, a bitmap, a full one.
fn given(random: &mut Random, n: u64, kind: u64, device: &Device) -> (Model, Vector<i64>) {
    let model = some(random, n, if kind == 2 { 1 } else { 2 });
    let x = vector(n, &model).to(device).unwrap();
    (model, if kind == 1 { x.to_bitmap().unwrap() } else { x })
}

/// Each of the writes with masks, complemented and not, replacing and not, onto shared and unshared vectors.
pub fn writes_are_what_the_definition_says(device: &Device, rounds: u64) {
    let (n, mut random) = (3000, Random::new(5, 0));
    for round in 0..rounds {
        let (old, mut c) = given(&mut random, n, round % 3, device);
        let kept = (round % 5 == 0).then(|| c.clone());
        let m = some(&mut random, n, 300);
        let whole = vector(n, &m).to(device).unwrap();
        let mask = if round % 7 == 0 { whole.to_bitmap().unwrap() } else { whole.clone() };
        let (complement, replace) = (random.below(6) == 0, random.below(6) == 0);
        let admits = |i: u64| m.contains_key(&i) != complement;
        let mask = if complement { mask.structure().complement() } else { mask.structure() };
        let list: Vec<u64> = (0..random.below(9)).map(|_| random.below(n)).collect();
        // Of positions with one index the last counts, entry or not.
        let u = some(&mut random, list.len() as u64, 1 + round % 2);
        let of_list: BTreeMap<u64, Option<i64>> = (0..).zip(&list).map(|(q, i)| (*i, u.get(&q).copied())).collect();
        let source = vector(list.len() as u64, &u).to(device).unwrap();
        let (masked, accumulated) = (random.below(2) == 0, random.below(2) == 0);
        let what = random.below(4);
        let (value, region): (&dyn Fn(u64) -> Option<i64>, &dyn Fn(u64) -> bool) = match what {
            0 => (&|_| Some(7), &|_| true),
            1 => (&|_| None, &|_| true),
            2 => (&|_| Some(7), &|i| of_list.contains_key(&i)),
            _ => (&|i| of_list.get(&i).copied().flatten(), &|i| of_list.contains_key(&i)),
        };
        let mut expected = Model::new();
        for i in 0..n {
            let before = old.get(&i).copied();
            let z = match (region(i), accumulated) {
                (false, _) => before,
                (true, false) => value(i),
                (true, true) => match (before, value(i)) {
                    (Some(x), Some(y)) => Some(x - y),
                    (x, y) => x.or(y),
                },
            };
            let after = match masked {
                true if admits(i) => z,
                true => before.filter(|_| !replace),
                false => z,
            };
            after.and_then(|v| expected.insert(i, v));
        }
        let assignment = match what {
            0 => assign_scalar_vector(7i64, ..),
            1 => assign_empty_vector(..),
            2 => assign_scalar_vector(7i64, list.clone()),
            _ => assign_vector(&source, list.clone()),
        };
        let assignment = if masked { assignment.mask(&mask) } else { assignment };
        let assignment = if replace { assignment.replace() } else { assignment };
        match accumulated {
            true => assignment.accumulate(Minus).into(&mut c).unwrap(),
            false => assignment.into(&mut c).unwrap(),
        }
        let told = format!("round {round}: {what} masked {masked} ¬{complement} replace {replace} ⊙ {accumulated}");
        assert_eq!(c, vector(n, &expected), "{told}");
        assert_eq!(c.nvals(), expected.len() as u64, "{told}");
        if let Some(kept) = kept {
            assert_eq!(kept, vector(n, &old), "the clone, {told}");
        }
    }
}

/// What is made of a vector where a mask admits few of its entries.
pub fn reads_are_what_the_definition_says(device: &Device, rounds: u64) {
    let (n, mut random) = (3000, Random::new(6, 0));
    for round in 0..rounds {
        let (x, a) = given(&mut random, n, round % 3, device);
        let m = some(&mut random, n, 300);
        let mask = vector(n, &m).to(device).unwrap();
        let mask = if round % 2 == 0 { mask } else { mask.to_bitmap().unwrap() };
        let within = |keep: &dyn Fn(u64, i64) -> Option<i64>| -> Model {
            x.iter().filter(|(i, _)| m.contains_key(i)).filter_map(|(i, v)| Some((*i, keep(*i, *v)?))).collect()
        };
        let s = mask.structure();
        let negated = apply(&a, Negate).mask(&s).eval().unwrap();
        assert_eq!(negated, vector(n, &within(&|_, v| Some(-v))));
        let placed = apply_index(&a, ColIndex, 1i64).mask(&s).eval().unwrap();
        assert_eq!(placed, vector(n, &within(&|i, _| Some(i as i64 + 1))));
        let large = select(&a, ValueGt, 50i64).mask(&s).eval().unwrap();
        assert_eq!(large, vector(n, &within(&|_, v| (v > 50).then_some(v))));
        // The largest first, whatever the mask.
        let top = top_k(&a, 5).eval().unwrap();
        assert_eq!(top_k(&a, 5).mask(&s).eval().unwrap(), apply(&top, Identity).mask(&s).eval().unwrap());
        // Into another, with and without replace.
        for replace in [false, true] {
            let kind = random.below(3);
            let (old, mut c) = given(&mut random, n, kind, device);
            let mut expected: Model = match replace {
                true => Model::new(),
                false => old.into_iter().filter(|(i, _)| !m.contains_key(i)).collect(),
            };
            expected.extend(within(&|_, v| Some(-v)));
            let operation = apply(&a, Negate).mask(&s);
            if replace { operation.replace() } else { operation }.into(&mut c).unwrap();
            assert_eq!(c, vector(n, &expected), "round {round}, replace {replace}");
        }
    }
}

/// A frontier of a few vertices and a mask with many: a step of a search.
pub fn steps_are_what_the_definition_says(device: &Device, rounds: u64) {
    let (n, mut random) = (3000u64, Random::new(7, 0));
    let edges: Model = some(&mut random, n * 4, 2);
    let mut coo = Coo::new(n, n);
    coo.extend(edges.iter().map(|(e, v)| (e / 4, (e * 7919) % n, *v)));
    let a: Matrix<i64> = Matrix::build_with(&coo, Plus).unwrap();
    let on = a.to(device).unwrap();
    for round in 0..rounds {
        let x = some(&mut random, n, 800);
        let (m, mask) = given(&mut random, n, round % 3, device);
        let mut sums = Model::new();
        for (i, j, v) in a.iter().unwrap() {
            if let Some(y) = x.get(&i) {
                *sums.entry(j).or_insert(0) += y * v;
            }
        }
        let frontier = vector(n, &x).to(device).unwrap();
        for complement in [false, true] {
            let expected: Model =
                sums.iter().filter(|(j, _)| m.contains_key(j) != complement).map(|(j, v)| (*j, *v)).collect();
            let mask = if complement { mask.structure().complement() } else { mask.structure() };
            let step = vxm(&frontier, &on).mask(&mask).eval().unwrap();
            assert_eq!(step, vector(n, &expected), "round {round}, ¬{complement}");
        }
    }
}
