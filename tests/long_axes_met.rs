//! Hypersparse operands that do not list the same indices: what one lacks meets nothing, and lists that nearly nobody uses are left.
use oplus::generate::Random;
use oplus::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const N: u64 = 1 << 40;
const FAR: u64 = 1_000_003;

type Model = BTreeMap<(u64, u64), i64>;

fn some(random: &mut Random, (m, n): (u64, u64), count: u64) -> Model {
    (0..count).map(|_| ((random.below(m) * FAR, random.below(n) * FAR), 1 + random.below(9) as i64)).collect()
}

fn matrix(model: &Model) -> Matrix<i64> {
    Matrix::build(N, N, &model.iter().map(|((i, j), v)| (*i, *j, *v)).collect::<Vec<_>>()).unwrap()
}

fn row(model: &Model) -> Vector<i64> {
    Vector::build(N, &model.iter().map(|((_, j), v)| (*j, *v)).collect::<Vec<_>>()).unwrap()
}

fn product(a: &Model, b: &Model, admits: impl Fn((u64, u64)) -> bool) -> Model {
    let mut made = Model::new();
    for ((i, k), x) in a {
        for ((_, j), y) in b.range((*k, 0)..=(*k, u64::MAX)) {
            if admits((*i, *j)) {
                *made.entry((*i, *j)).or_default() += x * y;
            }
        }
    }
    made
}

fn turned(a: &Model) -> Model {
    a.iter().map(|((i, j), v)| ((*j, *i), *v)).collect()
}

#[test]
fn what_the_other_lacks_meets_nothing() {
    let mut random = Random::new(21, 0);
    for round in 0..40 {
        let (few, many) = ([2, 30][round % 2], [300, 5][round / 2 % 2]);
        let a = some(&mut random, (60, 60), many);
        let x: Model = some(&mut random, (1, 90), few);
        let m = some(&mut random, (90, 90), 40 * few);
        let line: BTreeSet<u64> = m.keys().map(|at| at.1).collect();
        let (am, xv) = (matrix(&a), row(&x));
        let mask: Vector<bool> = Vector::build(N, &line.iter().map(|j| (*j, true)).collect::<Vec<_>>()).unwrap();
        let at = |v: &Vector<i64>| v.entries().unwrap().into_iter().map(|(j, z)| ((0, j), z)).collect::<Model>();
        for device in [Device::Cpu, Device::Reference] {
            let (am, xv, mask) = (am.to(&device).unwrap(), xv.to(&device).unwrap(), mask.to(&device).unwrap());
            assert_eq!(at(&vxm(&xv, &am).eval().unwrap()), product(&x, &a, |_| true));
            assert_eq!(at(&mxv(&am, &xv).eval().unwrap()), product(&x, &turned(&a), |_| true));
            assert_eq!(at(&mxv(&am.transposed(), &xv).eval().unwrap()), product(&x, &a, |_| true));
            for complement in [false, true] {
                let admits = |(_, j): (u64, u64)| line.contains(&j) != complement;
                let mask = if complement { mask.structure().complement() } else { mask.structure() };
                assert_eq!(at(&vxm(&xv, &am).mask(&mask).eval().unwrap()), product(&x, &a, admits));
                assert_eq!(
                    at(&vxm(&xv, &am.transposed()).mask(&mask).eval().unwrap()),
                    product(&x, &turned(&a), admits)
                );
                assert_eq!(at(&mxv(&am, &xv).mask(&mask).eval().unwrap()), product(&x, &turned(&a), admits));
                let mm = matrix(&m).to(&device).unwrap();
                let mask = if complement { mm.structure().complement() } else { mm.structure() };
                let expected = product(&a, &m, |at| m.contains_key(&at) != complement);
                let made = mxm(&am, &mm).mask(&mask).eval().unwrap();
                assert_eq!(
                    made.entries().unwrap().into_iter().map(|(i, j, v)| ((i, j), v)).collect::<Model>(),
                    expected
                );
                // What the mask names stays, or goes, where the product has nothing.
                let mut c = xv.clone();
                let kept = if complement { mask_of(&line, &device).complement() } else { mask_of(&line, &device) };
                vxm(&xv, &am).mask(&kept).replace().accumulate(Plus).into(&mut c).unwrap();
                let mut sums = product(&x, &a, admits);
                x.iter().filter(|(at, _)| admits(**at)).for_each(|(at, v)| *sums.entry(*at).or_default() += v);
                assert_eq!(at(&c), sums);
            }
        }
    }
}

fn mask_of(line: &BTreeSet<u64>, device: &Device) -> Mask {
    let mask: Vector<bool> = Vector::build(N, &line.iter().map(|j| (*j, true)).collect::<Vec<_>>()).unwrap();
    mask.to(device).unwrap().structure()
}

#[test]
fn lists_that_nobody_uses_are_left() -> Result<()> {
    let mut x: Vector<i64> = Vector::new(N)?;
    x.set(0, 0)?;
    for k in 1..9000 {
        x.set(k * FAR, k as i64)?;
        x.remove((k - 1) * FAR)?;
    }
    assert_eq!(x.entries()?, [(8999 * FAR, 8999)]);
    assert!(x.memory_bytes() < 1 << 16, "{} bytes", x.memory_bytes());
    let entries: Vec<_> = (0..100_000).map(|k| (k * FAR, k * 7, k as i64)).collect();
    let a: Matrix<i64> = Matrix::build(N, N, &entries)?;
    let few = select(&a, ValueLt, 3).eval()?;
    assert_eq!(few.entries()?, entries[..3]);
    assert!(few.memory_bytes() < 1 << 10, "{} bytes", few.memory_bytes());
    let mut c = a.clone();
    apply(&few, Identity).into(&mut c)?;
    assert!(c.memory_bytes() < 1 << 10, "{} bytes", c.memory_bytes());
    Ok(())
}
