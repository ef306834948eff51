//! F1: operations on two operands, of every pair of formats; each beside the same on compressed rows.
use crate::kit::*;
use oplus::prelude::*;

const N: u64 = 9;

/// One after the other in every format that can hold it: a matrix of few entries, one of few diagonals, both of one value, an
/// iso one and one of values everywhere.
fn in_formats<T: Number>(d: Device, salt: u64) -> Vec<(Matrix<T>, Vec<Matrix<T>>)> {
    let of = |keep: &dyn Fn(u64, u64) -> bool| {
        let places = (0..N).flat_map(|i| (0..N).map(move |j| (i, j))).filter(|(i, j)| keep(*i, *j));
        let value = |i: u64, j: u64| T::of_f64(((i * 5 + j * (3 + salt)) % 7 + 1) as f64);
        let entries: Vec<_> = places.map(|(i, j)| (i, j, value(i, j))).collect();
        Matrix::build(N, N, &entries).unwrap().to(&d).unwrap()
    };
    let few: Matrix<T> = of(&|i, j| i % 4 != 3 && (i * (5 + salt) + j * j).is_multiple_of(3));
    let narrow = of(&|i, j| (i + 1).wrapping_sub(j) < 3 && (i + j) % 5 != 0);
    let all = of(&|_, _| true);
    let (one, ones) = (few.with_value(T::of_f64(3.0)).unwrap(), all.with_value(T::of_f64(2.0)).unwrap());
    let lists = [Format::Csr, Format::Csc, Format::Hypersparse];
    let cells = [Format::Bitmap, Format::Dia];
    let made = |a: Matrix<T>, formats: &[Format]| {
        let stored = formats.iter().map(|f| in_format(&a, *f)).collect();
        (a, stored)
    };
    vec![
        made(few, &[lists[0], lists[1], lists[2], cells[0]]),
        made(narrow, &[cells[1]]),
        made(one, &[lists[0], cells[0]]),
        made(all, &[lists[1], Format::Full]),
        made(ones, &[Format::Full]),
    ]
}

type Results<T> = Vec<(&'static str, Vec<(u64, u64, T)>)>;

fn results<T: Number + Truth, S: Semiring<T, T, Out = T>>(a: &Matrix<T>, b: &Matrix<T>) -> Results<T>
where
    Minus: BinaryOp<T, T, Out = T>,
{
    let (x, y) = (a.over::<S>(), b.over::<S>());
    let written = |run: &dyn Fn(&mut Matrix<T>)| {
        let mut c = b.clone();
        run(&mut c);
        got(&c)
    };
    vec![
        ("mxm", made(mxm(&x, &y))),
        ("mxm transposed", made(mxm(&x, &y).transpose_a().transpose_b())),
        ("mxm masked", made(mxm(&x, &x).mask(&b.structure()))),
        ("mxm by a complement", made(mxm(&x, &y).transpose_b().mask(&a.structure().complement()))),
        ("mxm accumulated", written(&|c| mxm(&x, &y).accumulate(Plus).into(c).unwrap())),
        ("mxm, apply", made(mxm(&x, &y).apply_second(Plus, T::ONE))),
        ("ewise_add", made(ewise_add(a, b, Minus))),
        ("ewise_add transposed", made(ewise_add(a, &b.transposed(), Minus))),
        ("ewise_mult", made(ewise_mult(a, b, Minus))),
        ("ewise_union", made(ewise_union(a, T::ONE, b, T::ZERO, Minus))),
        ("chain", made(ewise_add(a, b, Plus).ewise_mult(b, Times).select(ValueGt, T::ONE))),
        ("chained union", made(ewise_mult(a, b, Plus).ewise_union(T::ONE, a, T::ZERO, Minus))),
        ("apply masked", made(apply(a, Identity).mask(b))),
        ("apply written", written(&|c| apply(a, Identity).mask(&a.structure()).accumulate(Minus).into(c).unwrap())),
        ("select written", written(&|c| select(a, Tril, 0).mask(&b.structure().complement()).into(c).unwrap())),
        ("transpose written", written(&|c| transpose(a).mask(a).replace().into(c).unwrap())),
        ("assign", written(&|c| assign(a, .., Indices::stride(N - 1, -1, N)).accumulate(Plus).into(c).unwrap())),
        ("subassign", written(&|c| subassign(a, .., ..).mask(a).into(c).unwrap())),
        ("concat", got(&concat(&[[a, b]]).unwrap())),
    ]
}

fn agree<T: Number + Truth, S: Semiring<T, T, Out = T>>(d: Device)
where
    Minus: BinaryOp<T, T, Out = T>,
{
    let (left, right) = (in_formats::<T>(d, 1), in_formats::<T>(d, 2));
    for (a, formats_of_a) in &left {
        for (b, formats_of_b) in &right {
            let expected = results::<T, S>(a, b);
            for x in formats_of_a {
                for y in formats_of_b {
                    for (made, expected) in results::<T, S>(x, y).into_iter().zip(&expected) {
                        assert_eq!(&made, expected, "{:?} and {:?} on {d}", x.format(), y.format());
                    }
                }
            }
        }
    }
}

#[test]
fn f1_every_pair_of_formats() {
    each(|d| {
        agree::<i32, PlusTimes>(d);
        if !emulated(d) {
            agree::<f64, MinPlus>(d);
            agree::<u8, MaxSecond>(d);
            agree::<i64, AnyFirst>(d);
        }
    });
}

/// What formats there are, and which of them are of one value.
#[test]
fn f1_the_pairs_are_of_all_formats() {
    let mut seen: Vec<(String, bool)> = Vec::new();
    for (plain, stored) in in_formats::<i32>(Device::Cpu, 1) {
        assert_eq!(plain.format(), Format::Csr);
        for a in stored {
            assert_eq!(got(&a), got(&plain));
            seen.push((format!("{:?}", a.format()), a.is_iso()));
        }
    }
    for format in ["Csr", "Csc", "Hypersparse", "Bitmap", "Full", "Dia"] {
        assert!(seen.contains(&(format.into(), false)), "{format}");
    }
    assert!(["Csr", "Bitmap", "Full"].iter().all(|f| seen.contains(&(f.to_string(), true))));
}
