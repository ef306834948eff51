//! What is asked of vectors in every format, on any device.
use oplus::generate::Random;
use oplus::prelude::*;

pub const N: u64 = 300;

pub fn vector(random: &mut Random, density: u64) -> Vector<i64> {
    let entries: Vec<(u64, i64)> =
        (0..N).filter(|_| random.below(100) < density).map(|i| (i, i as i64 % 7 - 3)).collect();
    Vector::build(N, &entries).unwrap()
}

fn matrix(random: &mut Random) -> Matrix<i64> {
    let entries: Vec<(u64, u64, i64)> =
        (0..N * 4).map(|_| (random.below(N), random.below(N), random.below(9) as i64 - 4)).collect();
    let mut coo = Coo::new(N, N);
    entries.iter().for_each(|(i, j, v)| coo.push(*i, *j, *v));
    Matrix::build_with(&coo, Plus).unwrap()
}

/// Every operation that reads vectors, with operands and masks as they come.
fn results(a: &Matrix<i64>, x: &Vector<i64>, y: &Vector<i64>) -> Vec<Vec<(u64, i64)>> {
    let (at, device) = (a.transposed(), a.device());
    let masks = [y.structure(), y.structure().complement(), y.as_mask(), y.as_mask().complement()];
    let mut all = vec![
        mxv(a, x).eval().unwrap(),
        mxv(&at, x).eval().unwrap(),
        vxm(x, a).eval().unwrap(),
        vxm(x, &at).eval().unwrap(),
        ewise_add(x, y, Minus).eval().unwrap(),
        ewise_mult(x, y, Minus).eval().unwrap(),
        apply(x, Negate).eval().unwrap(),
        x.cast::<f64>().unwrap().cast().unwrap(),
        x.to(&Device::Reference).unwrap().to(&device).unwrap(),
        top_k(x, 3).eval().unwrap(),
        ewise_mult(x, y, Minus).apply(Negate).ewise_add(x, Max).eval().unwrap(),
        select(x, ValueGt, 0).eval().unwrap(),
        x.with_value(5).unwrap(),
    ];
    for mask in &masks {
        all.push(mxv(a, x).mask(mask).eval().unwrap());
        all.push(vxm(x, a).mask(mask).eval().unwrap());
        all.push(apply(x, Negate).mask(mask).eval().unwrap());
        for replace in [false, true] {
            let mut c = y.clone();
            let operation = apply(x, Negate).mask(mask).accumulate(Minus);
            if replace { operation.replace() } else { operation }.into(&mut c).unwrap();
            all.push(c);
            let mut c = y.clone();
            let operation = vxm(x, a).mask(mask);
            if replace { operation.replace() } else { operation }.into(&mut c).unwrap();
            all.push(c);
        }
    }
    // The output is an operand, too.
    let mut c = x.clone();
    ewise_add(&c, y, Plus).accumulate(Minus).into(&mut c).unwrap();
    all.push(c);
    let mut all: Vec<_> = all.iter().map(|v| v.entries().unwrap()).collect();
    all.push(vec![(reduce(x, Plus).unwrap() as u64, x.nvals() as i64)]);
    all.push((0..N).map(|i| (i, x.get(i).unwrap().unwrap_or(99))).collect());
    all
}

/// All of them, of lists and of bitmaps on one device.
pub fn formats_do_not_show(device: &Device) {
    let mut random = Random::new(3, 0);
    for density in [0, 1, 20, 60, 100] {
        let (a, x, y) = (matrix(&mut random), vector(&mut random, density), vector(&mut random, 40));
        let expected = results(&a, &x, &y);
        let (a, x, y) = (a.to(device).unwrap(), x.to(device).unwrap(), y.to(device).unwrap());
        let (bx, by) = (x.to_bitmap().unwrap(), y.to_bitmap().unwrap());
        for (x, y) in [(&x, &y), (&bx, &y), (&x, &by), (&bx, &by), (&bx.to_sparse().unwrap(), &by.to_sparse().unwrap())]
        {
            assert_eq!(results(&a, x, y), expected, "density {density}, {:?} and {:?}", x.format(), y.format());
        }
    }
}

/// Entries that come a few at a time: the vector turns to bits by itself and stays what it would be.
pub fn accumulating_a_little_again_and_again(device: &Device, steps: u64) {
    let n = 4000;
    let mut c: Vector<i64> = Vector::build(n, &[(0, 0)]).unwrap().to(device).unwrap();
    let mut expected = vec![None; n as usize];
    expected[0] = Some(0);
    let (mut random, mut held) = (Random::new(5, 0), Vec::new());
    for step in 0..steps {
        let few: Vec<(u64, i64)> = (0..5).map(|k| ((step * 7 + k * 631) % n, random.below(100) as i64)).collect();
        let few: Vector<i64> = Vector::build_with(n, &few, First).unwrap().to(device).unwrap();
        // Sometimes behind a mask that is the vector's own structure, sometimes while others hold the vector.
        match step % 3 {
            0 => apply(&few, Identity).accumulate(Minus).into(&mut c).unwrap(),
            1 => apply(&few, Identity).mask(&c.structure().complement()).accumulate(Minus).into(&mut c).unwrap(),
            _ => apply(&few, Identity).mask(&c.structure()).accumulate(Minus).into(&mut c).unwrap(),
        }
        for (i, v) in few.entries().unwrap() {
            let old = &mut expected[i as usize];
            *old = match (*old, step % 3) {
                (Some(old), 0 | 2) => Some(old - v),
                (None, 0 | 1) => Some(v),
                (old, _) => old,
            };
        }
        if step % 50 == 0 {
            held.push((c.clone(), c.entries().unwrap()));
        }
    }
    assert_eq!(c.format(), Format::Bitmap);
    let entries: Vec<(u64, i64)> = (0..n).zip(&expected).filter_map(|(i, v)| Some((i, (*v)?))).collect();
    assert_eq!(c.entries().unwrap(), entries);
    assert_eq!(c.nvals(), entries.len() as u64);
    for (clone, entries) in held {
        assert_eq!(clone.entries().unwrap(), entries, "a clone does not change");
    }
}

/// A matrix of one row to which little is added again and again.
pub fn a_row_that_grows(device: &Device) {
    let n = 1500;
    let grown = |device: &Device| {
        let mut random = Random::new(6, 0);
        let mut c: Matrix<i64> = Matrix::build(1, n, &[(0, 0, 3)]).unwrap().to(device).unwrap();
        for _ in 0..60 {
            let mut few = Coo::new(1, n);
            (0..4).for_each(|_| few.push(0, random.below(n), random.below(9) as i64));
            let few: Matrix<i64> = Matrix::build_with(&few, Plus).unwrap().to(device).unwrap();
            apply(&few, Identity).accumulate(Plus).into(&mut c).unwrap();
        }
        let turned = transpose(&c).eval().unwrap();
        let made = [
            mxm(&c, &turned).eval().unwrap(),
            ewise_mult(&c, &c, Times).eval().unwrap(),
            select(&c, ValueGt, 4).eval().unwrap(),
            transpose_merged(&c).eval().unwrap(),
            top_k(&c, 5).eval().unwrap(),
            turned,
        ];
        (c.entries().unwrap(), c.format(), made.map(|m| m.entries().unwrap()), c.get(0, 7).unwrap())
    };
    assert_eq!(grown(device), grown(&Device::Reference));
}
