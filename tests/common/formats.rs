//! Every operation on operands of each format, compared with the same on compressed rows.
use oplus::prelude::*;
use quickcheck::{Arbitrary, Gen};

/// Matrices m × n, n × k and m × n.
#[derive(Clone, Debug)]
pub struct Operands {
    pub a: (u64, u64, Vec<(u64, u64, i8)>),
    pub b: (u64, u64, Vec<(u64, u64, i8)>),
    pub c: (u64, u64, Vec<(u64, u64, i8)>),
}

fn entries(g: &mut Gen, m: u64, n: u64) -> Vec<(u64, u64, i8)> {
    let value: fn(&mut Gen) -> i8 = if bool::arbitrary(g) { |g| i8::arbitrary(g) % 4 } else { |_| 3 };
    let keep: Box<dyn Fn(&mut Gen, u64, u64) -> bool> = match u8::arbitrary(g) % 6 {
        0 => Box::new(|_, _, _| true),
        1 => Box::new(|_, i, j| i.abs_diff(j) < 2),
        2 => Box::new(|g, i, j| i % 3 == j % 4 && u8::arbitrary(g) < 200),
        3 => Box::new(|_, _, _| false),
        _ => Box::new(|g, _, _| u8::arbitrary(g) < 60),
    };
    let mut all = Vec::new();
    for i in 0..m {
        for j in 0..n {
            if keep(g, i, j) {
                all.push((i, j, value(g)));
            }
        }
    }
    all
}

impl Arbitrary for Operands {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut size = || if u8::arbitrary(g) < 25 { u64::arbitrary(g) % 2 } else { u64::arbitrary(g) % 12 + 1 };
        let (m, n, k) = (size(), size(), size());
        let (a, b, c) = (entries(g, m, n), entries(g, n, k), entries(g, m, n));
        Self { a: (m, n, a), b: (n, k, b), c: (m, n, c) }
    }
}

pub fn matrix<T: Number>(of: &(u64, u64, Vec<(u64, u64, i8)>)) -> Matrix<T> {
    let entries: Vec<_> = of.2.iter().map(|(i, j, v)| (*i, *j, T::of_f64(*v as f64 / 2.0))).collect();
    Matrix::build(of.0, of.1, &entries).unwrap()
}

/// The same matrix in every format that can hold it, stored in each way before it goes to the device or there.
pub fn in_every_format<T: Number>(a: &Matrix<T>, device: &Device) -> Vec<Matrix<T>> {
    let mut all = Vec::new();
    // Of its own values even where they are equal.
    let mut coo = a.to_coo().unwrap();
    let loose = if a.nvals() > 0 {
        let last = coo.values.len() - 1;
        let (i, j, v) = (coo.rows[last], coo.columns[last], coo.values[last]);
        coo.values[last] = v.plus(T::ONE);
        let mut loose = Matrix::from_coo(&coo).unwrap();
        loose.set(i, j, v).unwrap();
        assert_eq!(loose.entries().unwrap(), a.entries().unwrap());
        loose
    } else {
        a.clone()
    };
    for (a, formed_there) in [(&loose, true), (a, false)] {
        let on = |a: &Matrix<T>| a.to(device).unwrap();
        all.push(on(a));
        for format in [Format::Csr, Format::Csc, Format::Hypersparse, Format::Bitmap, Format::Full, Format::Dia] {
            let made = if formed_there { on(a).to_format(format) } else { a.to_format(format).map(|made| on(&made)) };
            match made {
                Ok(made) => {
                    // On its way to the reference a value is written out.
                    assert!(made.is_iso() == a.is_iso() || *device == Device::Reference);
                    if format != Format::Full {
                        assert!(made.format() == format || made.format() == Format::Full, "{format:?}");
                    }
                    all.push(made);
                }
                Err(Error::InvalidValue { .. }) if format == Format::Full => {}
                Err(e) => panic!("{format:?}: {e}"),
            }
        }
    }
    all
}

type Got = Vec<String>;

fn matrix_of<T: Scalar, S>(to: &mut Got, made: Result<Matrix<T, S>>) {
    let made = made.unwrap();
    to.push(format!("{:?} {} {:?}", made.shape(), made.nvals(), made.entries().unwrap()));
}
fn vector_of<T: Scalar, S>(to: &mut Got, made: Result<Vector<T, S>>) {
    let made = made.unwrap();
    to.push(format!("{} {} {:?}", made.len(), made.nvals(), made.entries().unwrap()));
}

/// Operations on one matrix.
pub fn unary<T: Number>(a: &Matrix<T>) -> Got {
    let mut got = Got::new();
    let to = &mut got;
    let (m, n) = a.shape();
    let (x, y) = (vector::<T>(n, 2, a.device()), vector::<T>(m, 3, a.device()));
    matrix_of(to, Ok::<_, Error>(a.clone()));
    matrix_of(to, transpose(a).eval());
    matrix_of(to, transpose_merged(a).eval());
    matrix_of(to, apply(a, Negate).eval());
    matrix_of(to, apply(&a.transposed(), Abs).eval());
    matrix_of(to, apply(a, Pair::<u64>::default()).eval());
    matrix_of(to, apply_index(a, ColIndex, 3).eval());
    matrix_of(to, apply_index(a, RowIndex, 0).transpose_a().eval());
    matrix_of(to, apply_first(T::ONE, Minus, a).eval());
    matrix_of(to, apply_second(a, Second, T::ONE).eval());
    matrix_of(to, select(a, Tril, 0).eval());
    matrix_of(to, select(a, ValueGt, T::ZERO).eval());
    matrix_of(to, select(&a.transposed(), ValueLe, T::ZERO).eval());
    matrix_of(to, scale_rows(&y, a, Times).eval());
    matrix_of(to, scale_columns(a, &x, Minus).eval());
    vector_of(to, reduce_rows(a, Plus).eval());
    vector_of(to, reduce_rows(a, Max).transpose_a().eval());
    vector_of(to, argmax_rows(a).eval());
    vector_of(to, mxv(a, &x).eval());
    vector_of(to, mxv(&a.transposed(), &y).eval());
    vector_of(to, mxv(&a.over::<PlusSecond>(), &x.over()).eval());
    vector_of(to, mxv(&a.over::<MinPlus>(), &x.over()).eval());
    vector_of(to, vxm(&y, a).eval());
    vector_of(to, vxm(&x, &a.transposed()).eval());
    matrix_of(to, extract(a, ..m / 2, Indices::stride(0, 2, n.div_ceil(2))).eval());
    vector_of(to, extract_row(a, m / 2, ..).eval().or_else(|_| Vector::new(0)));
    for k in [-1, 0, 2] {
        vector_of(to, diag_extract(a, k).eval());
    }
    if m > 0 && n > 0 {
        let line = extract_row(a, m / 2, ..).eval();
        matrix_of(to, diag(line.as_ref().unwrap(), 1).eval());
        let mut out = a.clone();
        assign_row(line.as_ref().unwrap(), 0, ..).accumulate(Plus).into(&mut out).unwrap();
        matrix_of(to, Ok::<_, Error>(out));
        let column = extract_column(a, .., n / 2).eval().unwrap();
        let mut out = a.clone();
        assign_column(&column, .., 0).into(&mut out).unwrap();
        matrix_of(to, Ok::<_, Error>(out));
        vector_of(to, line);
        vector_of(to, Ok::<_, Error>(column));
        matrix_of(to, extract_rows(a, [m - 1, 0, m - 1]).eval());
        matrix_of(to, extract(a, 1.., vec![n - 1, 0]).eval());
        matrix_of(to, extract(a, vec![m - 1, 0, m / 2], ..).transpose_a().eval().or_else(|_| Matrix::new(0, 0)));
        for tiles in split(a, &[1, m - 1], &[n - 1, 1]).unwrap() {
            tiles.into_iter().for_each(|tile| matrix_of(to, Ok::<_, Error>(tile)));
        }
        let part = extract(a, ..m.div_ceil(2), ..n.div_ceil(2)).eval().unwrap();
        for sub in [false, true] {
            let mut out = a.clone();
            let (rows, columns) = (m / 2..m / 2 + m.div_ceil(2), n / 2..n / 2 + n.div_ceil(2));
            let assigned = match sub {
                true => subassign(&part, rows, columns),
                false => assign(&part, Indices::stride(0, 2, m.div_ceil(2)), Indices::stride(0, 2, n.div_ceil(2))),
            };
            assigned.accumulate(Minus).into(&mut out).unwrap();
            matrix_of(to, Ok::<_, Error>(out));
        }
        let mut updates = Updates::new();
        updates.set(0, n - 1, T::ONE).unwrap();
        updates.set(m - 1, 0, T::ZERO).unwrap();
        updates.remove(0, 0).unwrap();
        let mut out = a.clone();
        out.update(&updates).unwrap();
        matrix_of(to, Ok::<_, Error>(out));
        let mut out = a.clone();
        assign_scalar(T::ONE, .., 0..1).into(&mut out).unwrap();
        assign_empty(0..1, ..).into(&mut out).unwrap();
        matrix_of(to, Ok::<_, Error>(out));
    }
    matrix_of(to, sort(a, Lt).map(|sorted| sorted.0));
    matrix_of(to, kronecker(a, a, Times).eval());
    matrix_of(to, concat(&[vec![a, a]]));
    matrix_of(to, reshape(a, n, m));
    matrix_of(to, reshape_columns(&a.transposed(), m * n, 1));
    to.push(format!("{:?} {:?}", reduce(a, Min).unwrap(), reduce_stored(a, Plus).unwrap()));
    for (i, j) in [(0, 0), (m / 2, n / 3), (m.saturating_sub(1), n.saturating_sub(1))] {
        to.push(format!("{:?}", a.get(i, j).map_err(|e| e.to_string())));
        let mut changed = a.clone();
        if changed.set(i, j, T::of_f64(9.0)).is_ok() {
            changed.set(i, j, T::of_f64(8.0)).unwrap();
            matrix_of(to, Ok::<_, Error>(changed.clone()));
            changed.remove(i, j).unwrap();
            matrix_of(to, Ok::<_, Error>(changed));
        }
    }
    let mut resized = a.clone();
    resized.resize(m + 2, n / 2 + 1).unwrap();
    matrix_of(to, Ok::<_, Error>(resized));
    let mut rows: Vec<(u64, u64, T)> = Vec::new();
    rows.extend(a.iter().unwrap());
    to.push(format!("{rows:?}"));
    got
}

fn vector<T: Number>(n: u64, step: usize, device: Device) -> Vector<T> {
    let entries: Vec<_> = (0..n).step_by(step).map(|i| (i, T::of_f64(i as f64 - 2.0))).collect();
    Vector::build(n, &entries).unwrap().to(&device).unwrap()
}

/// Operations on matrices m × n, n × k and m × n.
pub fn several<T: Number + Truth>(a: &Matrix<T>, b: &Matrix<T>, c: &Matrix<T>) -> Got {
    let mut got = Got::new();
    let to = &mut got;
    let (m, n) = a.shape();
    matrix_of(to, mxm(a, b).eval());
    matrix_of(to, mxm(&a.over::<PlusPair>(), &b.over()).eval());
    matrix_of(to, mxm(&a.over::<PlusSecond>(), &b.over()).eval());
    matrix_of(to, mxm(&a.over::<PlusFirst>(), &b.over()).eval());
    matrix_of(to, mxm(&a.over::<MinPlus>(), &b.over()).eval());
    matrix_of(to, mxm(&a.over::<AnySecond>(), &b.over()).eval());
    matrix_of(to, mxm(a, c).transpose_a().eval());
    matrix_of(to, mxm(a, c).transpose_b().eval());
    matrix_of(to, mxm(&b.transposed(), &a.transposed()).eval());
    to.push(format!("{:?}", mxm(a, b).reduce(Plus).unwrap()));
    matrix_of(to, ewise_add(a, c, Minus).eval());
    matrix_of(to, ewise_mult(a, c, Minus).eval());
    matrix_of(to, ewise_mult(a, c, Lt).eval());
    matrix_of(to, ewise_union(a, T::ONE, c, T::ZERO, Minus).eval());
    matrix_of(to, ewise_add(&a.transposed(), &c.transposed(), First).eval());
    let plan = mxm(a, b).plan().unwrap();
    matrix_of(to, plan.run(a, b));
    for mask in [c.structure(), c.as_mask(), c.structure().complement()] {
        matrix_of(to, apply(a, Negate).mask(&mask).eval());
        for replace in [false, true] {
            let mut out = c.clone();
            let operation = apply(a, Abs).mask(&mask).accumulate(Minus);
            if replace { operation.replace() } else { operation }.into(&mut out).unwrap();
            matrix_of(to, Ok::<_, Error>(out));
            let mut out = c.clone();
            let operation = ewise_mult(a, &out, Plus).mask(&mask);
            if replace { operation.replace() } else { operation }.into(&mut out).unwrap();
            matrix_of(to, Ok::<_, Error>(out));
        }
    }
    let mask = mxm(a, c).transpose_b().eval().unwrap();
    matrix_of(to, mxm(a, c).transpose_b().mask(&mask.structure()).eval());
    matrix_of(to, mxm(c, a).transpose_b().mask(&mask.structure().complement()).eval());
    let mut out = c.clone();
    assign(a, .., ..).accumulate(Plus).into(&mut out).unwrap();
    matrix_of(to, Ok::<_, Error>(out));
    let mut out = c.clone();
    assign_scalar(T::ONE, ..m / 2, ..n).mask(&a.structure()).into(&mut out).unwrap();
    matrix_of(to, Ok::<_, Error>(out));
    got
}

/// All of it: each operand in each format, the others in the next.
pub fn check<T: Number + Truth>(o: &Operands, device: &Device) {
    let (a, b, c) = (matrix::<T>(&o.a), matrix::<T>(&o.b), matrix::<T>(&o.c));
    let plain = |a: &Matrix<T>| in_every_format(a, device).remove(0);
    let (expected_one, expected) = (unary(&plain(&a)), several(&plain(&a), &plain(&b), &plain(&c)));
    let (of_a, of_b, of_c) = (in_every_format(&a, device), in_every_format(&b, device), in_every_format(&c, device));
    for a in &of_a {
        same(&unary(a), &expected_one, &[a]);
        // Once more, now that lists are known.
        same(&unary(a), &expected_one, &[a]);
    }
    for n in 0..of_a.len().max(of_b.len()).max(of_c.len()) {
        let (a, b, c) = (&of_a[n % of_a.len()], &of_b[(n + 3) % of_b.len()], &of_c[(n + 5) % of_c.len()]);
        same(&several(a, b, c), &expected, &[a, b, c]);
    }
    for n in 0..of_a.len() {
        let (a, c) = (&of_a[n], &of_c[n % of_c.len()]);
        same(&several(a, &of_b[n % of_b.len()], c), &expected, &[a, &of_b[n % of_b.len()], c]);
    }
}

fn same<T: Number>(got: &Got, expected: &Got, of: &[&Matrix<T>]) {
    for (n, (got, expected)) in got.iter().zip(expected).enumerate() {
        let formats: Vec<_> = of.iter().map(|a| (a.format(), a.is_iso())).collect();
        assert_eq!(got, expected, "operation {n} of {formats:?}");
    }
    assert_eq!(got.len(), expected.len());
}

/// A matrix of one row that is written into again and again is one of every format still.
pub fn one_row(device: &Device) {
    for (n, few) in [(100u64, 3u64), (4096, 1), (4096, 50)] {
        let t: Matrix<i64> =
            Matrix::build(1, n, &(0..few).map(|e| (0, e * 83 % n, e as i64 + 5)).collect::<Vec<_>>()).unwrap();
        let all: Vec<_> = (0..n).map(|j| (0, j, j as i64 % 7)).collect();
        let most: Vec<_> = all.iter().copied().filter(|(_, j, _)| j % 4 > 0).collect();
        for (entries, formats) in [
            (&all, &[Format::Full, Format::Csr, Format::Csc][..]),
            (&most, &[Format::Bitmap, Format::Csr, Format::Csc, Format::Dia]),
        ] {
            for &format in formats {
                let first = Matrix::<i64>::build(1, n, entries).unwrap();
                let (mut expected, on_device) = (first.to(&Device::Reference).unwrap(), first.to(device).unwrap());
                let (mut c, on_t) = (on_device.to_format(format).unwrap(), t.to(device).unwrap());
                let t = t.to(&Device::Reference).unwrap();
                for _ in 0..4 {
                    apply(&t, Identity).accumulate(Plus).into(&mut expected).unwrap();
                    apply(&on_t, Identity).accumulate(Plus).into(&mut c).unwrap();
                }
                let expected = expected.entries().unwrap();
                assert_eq!(c.entries().unwrap(), expected, "{n} {few} {format:?}");
                let cells = matches!(format, Format::Full | Format::Bitmap) && *device != Device::Reference;
                assert!(!cells || matches!(c.format(), Format::Full | Format::Bitmap), "{n} {few}: {c:?}");
                for to in [Format::Csr, Format::Csc, Format::Hypersparse, Format::Bitmap, Format::Dia, Format::Full] {
                    match c.to_format(to) {
                        Ok(made) => {
                            // What has no gaps is full as a bitmap too.
                            let full = to == Format::Bitmap && made.format() == Format::Full;
                            assert!(made.format() == to || full, "{n} {few} {format:?} to {to:?}: {made:?}");
                            assert_eq!(made.entries().unwrap(), expected);
                        }
                        Err(e) => assert!(to == Format::Full && (expected.len() as u64) < n, "{to:?}: {e}"),
                    }
                }
            }
        }
    }
}
