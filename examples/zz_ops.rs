use oplus::prelude::*;
use std::time::Instant;
fn time<R>(name: &str, mut f: impl FnMut() -> R) {
    let mut best = f64::MAX;
    for _ in 0..9 {
        let t = Instant::now();
        let r = f();
        let e = t.elapsed().as_secs_f64();
        drop(r);
        best = best.min(e);
    }
    println!("{name} {:.3}", best * 1e3);
}
fn main() {
    let n = 200_000u64;
    let mut s = 12345u64;
    let mut next = |m: u64| {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        s % m
    };
    let mut coo = Coo::<f64>::new(n, n);
    for _ in 0..3_200_000 {
        coo.push(next(n), next(n), next(1000) as f64);
    }
    let a: Matrix<f64> = Matrix::build_with(&coo, Second).unwrap();
    let perm: Vec<u64> = {
        let mut p: Vec<u64> = (0..n).collect();
        for i in (1..n as usize).rev() {
            p.swap(i, next(i as u64 + 1) as usize);
        }
        p
    };
    let half: Vec<u64> = perm[..n as usize / 2].to_vec();
    let mut half_sorted = half.clone();
    half_sorted.sort();
    time("extract_perm", || extract(&a, &perm, &perm).eval().unwrap());
    time("extract_half_sorted", || extract(&a, &half_sorted, &half_sorted).eval().unwrap());
    time("extract_range", || extract(&a, 1000..100_000, 1000..100_000).eval().unwrap());
    time("extract_cols_half", || extract(&a, .., &half).eval().unwrap());
    time("extract_column", || extract_column(&a, .., 77).eval().unwrap());
    let b = extract(&a, &half_sorted, &half_sorted).eval().unwrap();
    time("assign_half", || {
        let mut c = a.clone();
        assign(&b, &half_sorted, &half_sorted).into(&mut c).unwrap();
        c
    });
    time("assign_half_accum", || {
        let mut c = a.clone();
        assign(&b, &half_sorted, &half_sorted).accumulate(Plus).into(&mut c).unwrap();
        c
    });
    let r = extract(&a, 0..100_000, 0..100_000).eval().unwrap();
    time("assign_range_masked", || {
        let mut c = a.clone();
        assign(&r, 50_000..150_000, 50_000..150_000).mask(&a.structure()).into(&mut c).unwrap();
        c
    });
    time("subassign_scalar_masked", || {
        let mut c = a.clone();
        subassign_scalar(3.0, 0..100_000, 0..100_000).mask(&r.structure()).into(&mut c).unwrap();
        c
    });
    time("assign_scalar_all_masked", || {
        let mut c = a.clone();
        assign_scalar(3.0, .., ..).mask(&a.structure()).into(&mut c).unwrap();
        c
    });
    let k1 = extract(&a, 0..4000, 0..200_000).eval().unwrap();
    let k2 = extract(&a, 0..6, 0..200_000).eval().unwrap();
    let (k1, k2) = (extract(&k1, .., 0..20_000).eval().unwrap(), extract(&k2, .., 0..20_000).eval().unwrap());
    println!("kron nnz {} {}", k1.nvals(), k2.nvals());
    time("kronecker", || kronecker(&k1, &k2, Times).eval().unwrap());
    time("tril", || tril(&a, 0).eval().unwrap());
    let v: Vector<f64> = Vector::full(n, 2.0).unwrap();
    time("diag", || diag(&v, 0).eval().unwrap());
    time("diag_extract", || diag_extract(&a, 0).eval().unwrap());
    time("scale_rows", || scale_rows(&v, &a, Times).eval().unwrap());
    time("scale_columns", || scale_columns(&a, &v, Times).eval().unwrap());
    let at = a.to(&Device::Cpu).unwrap();
    let b2: Matrix<f64> = {
        let mut coo = Coo::<f64>::new(n, n);
        for _ in 0..3_200_000 {
            coo.push(next(n), next(n), 1.0);
        }
        Matrix::build_with(&coo, Second).unwrap()
    };
    time("ewise_union", || ewise_union(&at, 1.0, &b2, 2.0, Minus).eval().unwrap());
    time("ewise_add", || ewise_add(&at, &b2, Minus).eval().unwrap());
    time("sort", || sort(&a, Lt).unwrap());
    time("argmin_rows", || argmin_rows(&a).eval().unwrap());
    let tiles = split(&a, &[100_000, 100_000], &[50_000, 150_000]).unwrap();
    time("split", || split(&a, &[100_000, 100_000], &[50_000, 150_000]).unwrap());
    time("concat", || concat(&[[&tiles[0][0], &tiles[0][1]], [&tiles[1][0], &tiles[1][1]]]).unwrap());
    let u: Vector<f64> = Vector::full(1000, 7.0).unwrap();
    let mut w = v.clone();
    time("assign_vector_small", || {
        assign_vector(&u, 500..1500).into(&mut w).unwrap();
    });
    time("assign_row", || {
        let mut c = a.clone();
        assign_row(&u, 5, 0..1000).into(&mut c).unwrap();
        c
    });
}
