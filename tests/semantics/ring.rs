//! R: semirings, operators and conversions.
use crate::kit::*;
use oplus::prelude::*;

#[test]
fn r1_no_product_is_no_entry() {
    each(|d| {
        let a = matrix(d, (2, 2), &[(0, 1, 4)]).over::<MinPlus>();
        assert_eq!(made(mxm(&a, &a)), []);
        assert_eq!(mxm(&a, &a).eval().unwrap().get(0, 0).unwrap(), None);
        assert_eq!(made_vector(mxv(&a, &vector(d, 2, &[(0, 1)]).over())), []);
    });
}

/// By hand: rows of A times columns of B.
fn by_hand<const N: usize>(a: &[[i32; N]; N], b: &[[i32; N]; N], f: fn(i32, i32) -> i32) -> Vec<(u64, u64, i32)> {
    let sum = |i: usize, j: usize| (0..N).map(|k| f(a[i][k], b[k][j])).fold(0, i32::wrapping_add);
    (0..N).flat_map(|i| (0..N).map(move |j| (i, j))).map(|(i, j)| (i as u64, j as u64, sum(i, j))).collect()
}
fn dense<const N: usize>(d: Device, a: &[[i32; N]; N]) -> Matrix<i32> {
    let all: Vec<_> = (0..N)
        .flat_map(|i| (0..N).map(move |j| (i as u64, j as u64)))
        .map(|(i, j)| (i, j, a[i as usize][j as usize]))
        .collect();
    matrix(d, (N as u64, N as u64), &all)
}
fn turned<const N: usize>(a: &[[i32; N]; N]) -> [[i32; N]; N] {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

#[test]
fn r2_operands_of_multiply_keep_their_sides() {
    let (a, b) = ([[7, 20, 3], [40, 5, 60], [2, 8, 9]], [[1, 3, 2], [4, 2, 5], [6, 1, 3]]);
    fn check<S: Semiring<i32, i32, Out = i32>>(
        a: &[[i32; 3]; 3],
        b: &[[i32; 3]; 3],
        f: fn(i32, i32) -> i32,
        on_cuda: bool,
    ) {
        each(|d| {
            // Every semiring is a dozen kernels for the emulator to compile.
            if emulated(d) && !on_cuda {
                return;
            }
            let (x, y) = (dense(d, a).over::<S>(), dense(d, b).over::<S>());
            let (xt, yt) = (dense(d, &turned(a)).over::<S>(), dense(d, &turned(b)).over::<S>());
            let expected = by_hand(a, b, f);
            let mask = x.structure();
            for strategy in strategies(d) {
                let by = |o: Operation<_>| made(o);
                assert_eq!(by(mxm(&x, &y).mask(&mask).strategy(strategy)), expected, "{strategy:?}");
                assert_eq!(by(mxm(&xt, &y).transpose_a().mask(&mask).strategy(strategy)), expected, "{strategy:?}");
                assert_eq!(by(mxm(&x, &yt).transpose_b().mask(&mask).strategy(strategy)), expected, "{strategy:?}");
                let both = mxm(&xt, &yt).transpose_a().transpose_b().mask(&mask).strategy(strategy);
                assert_eq!(by(both), expected, "{strategy:?}");
            }
            // Vectors, pulled and pushed: the first column, the first row.
            let column = vector(d, 3, &(0..3).map(|k| (k, b[k as usize][0])).collect::<Vec<_>>()).over::<S>();
            let first: Vec<_> = expected.iter().filter(|e| e.1 == 0).map(|e| (e.0, e.2)).collect();
            assert_eq!(made_vector(mxv(&x, &column)), first);
            assert_eq!(made_vector(mxv(&xt, &column).transpose()), first);
            let row = vector(d, 3, &(0..3).map(|k| (k, a[0][k as usize])).collect::<Vec<_>>()).over::<S>();
            let first: Vec<_> = expected.iter().filter(|e| e.0 == 0).map(|e| (e.1, e.2)).collect();
            assert_eq!(made_vector(vxm(&row, &y)), first);
            assert_eq!(made_vector(vxm(&row, &yt).transpose()), first);
        });
    }
    check::<Compose<Plus, First>>(&a, &b, |x, _| x, false);
    check::<Compose<Plus, Second>>(&a, &b, |_, y| y, true);
    check::<Compose<Plus, Minus>>(&a, &b, |x, y| x - y, true);
    check::<Compose<Plus, Div>>(&a, &b, |x, y| x / y, false);
}

#[test]
fn r3_sums_of_another_type_than_operands() {
    each(|d| {
        let a = matrix(d, (2, 2), &[(0, 0, 1.5), (0, 1, -2.0), (1, 1, 3.0)]).over::<Compose<Lor, Lt>>();
        let x = vector(d, 2, &[(0, 1.0), (1, 5.0)]).over();
        assert_eq!(made_vector(mxv(&a, &x)), [(0, true), (1, true)]);
        assert_eq!(made(mxm(&a, &a)), [(0, 0, false), (0, 1, true), (1, 1, false)]);
        let counts: Vec<(u64, u64, u64)> = made(mxm(&a.over::<PlusPair>(), &a.over()));
        assert_eq!(counts, [(0, 0, 1), (0, 1, 2), (1, 1, 1)]);
    });
}

#[test]
fn r4_integer_paths_saturate_and_sums_wrap() {
    each(|d| {
        let (top, bottom) = (i32::MAX, i32::MIN);
        let a = matrix(d, (1, 2), &[(0, 0, top), (0, 1, top - 1)]);
        let b = matrix(d, (2, 2), &[(0, 0, 5), (1, 0, 7), (0, 1, -5), (1, 1, -7)]);
        // ∞ stays ∞ with anything; what passes the end stops there.
        assert_eq!(made(mxm(&a.over::<MinPlus>(), &b.over())), [(0, 0, top), (0, 1, top - 8)]);
        let low = matrix(d, (1, 2), &[(0, 0, bottom), (0, 1, bottom + 1)]);
        assert_eq!(made(mxm(&low.over::<MaxPlus>(), &b.over())), [(0, 0, bottom + 8), (0, 1, bottom)]);
        assert_eq!(
            made(mxm(&matrix(d, (1, 1), &[(0, 0, top)]).over::<MinPlus>(), &matrix(d, (1, 1), &[(0, 0, -1)]).over())),
            [(0, 0, top)]
        );
        // (+, ×) wraps.
        let one = matrix(d, (1, 1), &[(0, 0, top)]);
        assert_eq!(made(mxm(&one, &one)), [(0, 0, top.wrapping_mul(top))]);
        let two = matrix(d, (1, 2), &[(0, 0, top), (0, 1, top)]);
        assert_eq!(made_vector(reduce_rows(&two, Plus)), [(0, -2)]);
        assert_eq!(made(ewise_add(&two, &two, Plus)), [(0, 0, -2), (0, 1, -2)]);
    });
}

oplus::semiring! {
    /// (∨, ∧) that never stops early.
    pub struct Patient[](bool, bool) -> bool;
    identity = false;
    add = |x, y| (x || y);
    multiply = |a, b, _| (a && b);
}

#[test]
fn r5_stopping_early_changes_nothing() {
    each(|d| {
        let entries: Vec<_> = (0..300u64).map(|k| (0, k, k % 97 == 5)).collect();
        let a = matrix(d, (1, 300), &entries);
        let b = matrix(d, (300, 3), &(0..900).map(|e| (e / 3, e % 3, e % 7 != 2 && e % 3 != 1)).collect::<Vec<_>>());
        let x = vector(d, 300, &(0..300).map(|k| (k, k > 290)).collect::<Vec<_>>());
        let patient = made(mxm(&a.over::<Patient>(), &b.over()));
        assert_eq!(made(mxm(&a.over::<LorLand>(), &b.over())), patient);
        let mask = matrix(d, (1, 3), &[(0, 0, true), (0, 1, true), (0, 2, true)]);
        let dots = mxm(&a.over::<LorLand>(), &b.over()).mask(&mask).strategy(Strategy::Dot);
        assert_eq!(made(dots), patient);
        assert_eq!(
            made_vector(mxv(&a.over::<LorLand>(), &x.over())),
            made_vector(mxv(&a.over::<Patient>(), &x.over()))
        );
        // The smallest value there is ends a minimum, but not before it was met.
        let low =
            matrix(d, (1, 300), &(0..300).map(|k| (0, k, if k == 250 { i32::MIN } else { 5 })).collect::<Vec<_>>());
        assert_eq!(made_vector(reduce_rows(&low, Min)), [(0, i32::MIN)]);
        assert_eq!(reduce(&low, Min).unwrap(), i32::MIN);
    });
}

#[test]
fn r6_min_and_max_omit_nan_beside_numbers() {
    each(|d| {
        let nan = f64::NAN;
        let a = matrix(d, (2, 3), &[(0, 0, nan), (0, 1, 2.0), (0, 2, nan), (1, 0, 3.0), (1, 2, nan)]);
        let ones = matrix(d, (3, 1), &[(0, 0, 0.0), (1, 0, 0.0), (2, 0, 0.0)]);
        let x = vector(d, 3, &[(0, 0.0), (1, 0.0), (2, 0.0)]);
        let mask = matrix(d, (2, 1), &[(0, 0, 1.0), (1, 0, 1.0)]);
        for strategy in strategies(d) {
            let least = mxm(&a.over::<MinPlus>(), &ones.over()).mask(&mask).strategy(strategy);
            assert_eq!(made(least), [(0, 0, 2.0), (1, 0, 3.0)], "{strategy:?}");
            let most = mxm(&a.over::<MaxPlus>(), &ones.over()).mask(&mask).strategy(strategy);
            assert_eq!(made(most), [(0, 0, 2.0), (1, 0, 3.0)], "{strategy:?}");
        }
        assert_eq!(made_vector(mxv(&a.over::<MinPlus>(), &x.over())), [(0, 2.0), (1, 3.0)]);
        assert_eq!(
            made_vector(mxv(&transpose(&a).eval().unwrap().over::<MinPlus>(), &x.over()).transpose()),
            [(0, 2.0), (1, 3.0)]
        );
        assert_eq!(made_vector(reduce_rows(&a, Max)), [(0, 2.0), (1, 3.0)]);
        assert_eq!(reduce(&a, Min).unwrap(), 2.0);
        assert_eq!(made_vector(ewise_add(&x, &vector(d, 3, &[(0, nan)]), Min)), [(0, 0.0), (1, 0.0), (2, 0.0)]);
        // 0 · NaN is NaN.
        let zero = matrix(d, (1, 1), &[(0, 0, 0.0)]);
        assert!(made(mxm(&zero, &matrix(d, (1, 1), &[(0, 0, nan)])))[0].2.is_nan());
    });
}

/// NaN by every way to a minimum or maximum of nothing but NaN, one term or several.
#[test]
fn r6_min_and_max_of_nothing_but_nan_are_nan() {
    each(|d| {
        let nan = f64::NAN;
        let a = matrix(d, (3, 3), &[(0, 0, nan), (0, 2, nan), (1, 1, nan), (2, 0, nan), (2, 1, 4.0)]);
        let entries: Vec<_> = (0..3).map(|k| (k, 0, 0.0)).collect();
        let (b, x) = (matrix(d, (3, 1), &entries), full(d, 3, 0.0));
        // Two rows of NaN, one of a number beside one.
        let rows = |v: Vec<f64>| {
            assert!(v.len() == 3 && v[0].is_nan() && v[1].is_nan() && v[2] == 4.0, "{v:?}");
        };
        let of = |v: Vec<(u64, f64)>| v.into_iter().map(|e| e.1).collect();
        let column = |v: Vec<(u64, u64, f64)>| v.into_iter().map(|e| e.2).collect();
        macro_rules! by {
            ($ring:ty, $monoid:ident) => {
                let (a, b, x) = (a.over::<$ring>(), b.over::<$ring>(), x.over::<$ring>());
                let turned = transpose(&a).eval().unwrap();
                for strategy in strategies(d) {
                    rows(column(made(mxm(&a, &b).mask(&a_mask(d)).strategy(strategy))));
                }
                rows(column(made(mxm(&a, &b))));
                rows(of(made_vector(mxv(&a, &x))));
                rows(of(made_vector(mxv(&turned, &x).transpose())));
                rows(of(made_vector(vxm(&x, &turned))));
                rows(of(made_vector(mxv(&a, &vector(d, 3, &[(0, 0.0), (1, 0.0), (2, 0.0)]).over()))));
                rows(of(made_vector(reduce_rows(&a, $monoid))));
                rows(of(made_vector(reduce_rows(&turned, $monoid).transpose_a())));
                let alone = select(&a, RowLe, 1).eval().unwrap();
                assert!(reduce(&alone, $monoid).unwrap().is_nan());
                assert!(mxm(&alone, &b).reduce($monoid).unwrap().is_nan());
                assert!(reduce(&vector(d, 2, &[(0, nan), (1, nan)]), $monoid).unwrap().is_nan());
                assert!(made_vector(ewise_add(&full(d, 1, nan), &full(d, 1, nan), $monoid))[0].1.is_nan());
                assert!(made_vector(ewise_mult(&full(d, 1, nan), &full(d, 1, nan), $monoid))[0].1.is_nan());
                let mut c = full(d, 3, nan);
                apply(&vector(d, 3, &[(1, nan), (2, 4.0)]), Identity).accumulate($monoid).into(&mut c).unwrap();
                rows(of(c.entries().unwrap()));
            };
        }
        by!(MinPlus, Min);
        by!(MaxPlus, Max);
    });
}

/// All of a column of three.
fn a_mask(d: Device) -> Mask {
    matrix(d, (3, 1), &[(0, 0, true), (1, 0, true), (2, 0, true)]).structure()
}

/// A sum starts from its first term, on every device and by every way: of −0 alone it is −0.
#[test]
fn r7_sums_of_negative_zeros() {
    each(|d| {
        for n in [1u64, 2, 40, 300] {
            signs::<f64>(d, n, |x| x.to_bits() == (-0.0f64).to_bits());
        }
        for n in [1u64, 40].into_iter().filter(|_| !emulated(d)) {
            signs::<f32>(d, n, |x| x.to_bits() == (-0.0f32).to_bits());
        }
    });
}

/// Row 0 is n times −0, row 1 has one 0 among as many.
fn signs<T: Number>(d: Device, n: u64, negative: fn(T) -> bool)
where
    PlusTimes: Semiring<T, T, Out = T>,
    Plus: Monoid<T>,
{
    let (minus, one) = (T::of_f64(-0.0), T::ONE);
    let entries: Vec<_> =
        (0..n).flat_map(|k| [(0, k, minus), (1, k, if k == n / 2 { T::ZERO } else { minus })]).collect();
    let what = |way: &str, v: Vec<T>| {
        let found: Vec<_> = v.iter().map(|x| (*x == T::ZERO, negative(*x))).collect();
        assert_eq!(found, [(true, true), (true, false)], "{way}, {n} terms on {d}");
    };
    let of = |v: Vec<(u64, T)>| v.into_iter().map(|e| e.1).collect::<Vec<_>>();
    // Of column j.
    let column = |v: Vec<(u64, u64, T)>, j: u64| v.into_iter().filter(|e| e.1 == j).map(|e| e.2).collect::<Vec<_>>();
    for beside in [0, 3] {
        // Rows and columns of nothing beside.
        let width = n + beside;
        let a: Matrix<T> = matrix(d, (2 + beside, width), &entries);
        let turned = transpose(&a).eval().unwrap();
        let some: Vec<_> = (0..n).map(|k| (k, one)).collect();
        // At every index, or not.
        for x in [full(d, width, one), vector(d, width, &some)] {
            what("mxv pulled", of(made_vector(mxv(&a, &x))));
            what("mxv of a transpose", of(made_vector(mxv(&turned.transposed(), &x))));
            what("mxv pushed", of(made_vector(mxv(&turned, &x).transpose())));
            what("vxm pushed", of(made_vector(vxm(&x, &turned))));
            what("vxm pulled", of(made_vector(vxm(&x, &a).transpose())));
        }
        let all: Vec<_> = (0..width).flat_map(|k| (0..3).map(move |j| (k, j, one))).collect();
        let b: Matrix<T> = matrix(d, (width, 3), &all);
        let mask: Vec<_> = (0..2 + beside).flat_map(|i| (0..3).map(move |j| (i, j, true))).collect();
        let mask = matrix(d, (2 + beside, 3), &mask).structure();
        for b in [in_format(&b, Format::Csr), in_format(&b, Format::Full)] {
            what("mxm", column(made(mxm(&a, &b)), 1));
            what("mxm masked", column(made(mxm(&a, &b).mask(&mask)), 2));
            what("mxm transposed", column(made(mxm(&turned, &b).transpose_a()), 0));
        }
        for strategy in strategies(d) {
            what("mxm by strategy", column(made(mxm(&a, &b).mask(&mask).strategy(strategy)), 1));
        }
        what("mxm, reproducible", column(made(mxm(&a, &b).reproducible()), 1));
        what("reduce_rows", of(made_vector(reduce_rows(&a, Plus))));
        what("reduce_rows transposed", of(made_vector(reduce_rows(&turned, Plus).transpose_a())));
        let lines = [0, 1].map(|i| extract_row(&a, i, ..).eval().unwrap());
        what("reduce", lines.iter().map(|line| reduce(line, Plus).unwrap()).collect());
        what(
            "reduce of a bitmap",
            lines.iter().map(|line| reduce(&line.to_bitmap().unwrap(), Plus).unwrap()).collect(),
        );
        let rows = [0, 1].map(|i| select(&select(&a, RowLe, i).eval().unwrap(), RowGt, i - 1).eval().unwrap());
        what("reduce of a matrix", rows.iter().map(|row| reduce(row, Plus).unwrap()).collect());
        what("mxm, reduce", rows.iter().map(|row| mxm(row, &b).reduce(Plus).unwrap()).collect());
    }
}

#[test]
fn r7_signed_zeros_and_the_order_of_sums() {
    each(|d| {
        // A sum starts from its first term.
        let minus = matrix(d, (1, 1), &[(0, 0, -0.0f64)]);
        let one = matrix(d, (1, 1), &[(0, 0, 1.0)]);
        assert_eq!(made(mxm(&minus, &one))[0].2.to_bits(), (-0.0f64).to_bits());
        assert_eq!(made_vector(reduce_rows(&minus, Plus))[0].1.to_bits(), (-0.0f64).to_bits());
        // −0 is below +0, in any order.
        let zeros = [vector(d, 1, &[(0, 0.0f64)]), vector(d, 1, &[(0, -0.0)])];
        for (x, y) in [(0, 1), (1, 0)] {
            assert_eq!(made_vector(ewise_add(&zeros[x], &zeros[y], Min))[0].1.to_bits(), (-0.0f64).to_bits());
            assert_eq!(made_vector(ewise_add(&zeros[x], &zeros[y], Max))[0].1.to_bits(), 0);
        }
    });
    // In the order of k on the host.
    for d in [Device::Reference, Device::Cpu] {
        let terms: Vec<f64> = (0..40).map(|k| if k % 3 == 0 { 1e16 } else { -0.7e16 } + k as f64 * 0.1).collect();
        let expected = terms[1..].iter().fold(terms[0], |sum, t| sum + t);
        let a = matrix(d, (1, 40), &terms.iter().enumerate().map(|(k, t)| (0, k as u64, *t)).collect::<Vec<_>>());
        let b = matrix(d, (40, 1), &(0..40).map(|k| (k, 0, 1.0)).collect::<Vec<_>>());
        let mask = matrix(d, (1, 1), &[(0, 0, true)]);
        assert_eq!(made(mxm(&a, &b))[0].2.to_bits(), expected.to_bits());
        assert_eq!(made(mxm(&a, &b).mask(&mask).strategy(Strategy::Dot))[0].2.to_bits(), expected.to_bits());
        assert_eq!(made_vector(reduce_rows(&a, Plus))[0].1.to_bits(), expected.to_bits());
    }
}

#[test]
fn r8_integer_division_never_traps() {
    each(|d| {
        macro_rules! check { ($($t:ident)*) => {$(
            let (low, high) = ($t::MIN, $t::MAX);
            let x = vector(d, 5, &[(0, high), (1, low), (2, 0), (3, 7), (4, low)]);
            let zeros = vector(d, 5, &(0..4).map(|i| (i, 0)).chain([(4, (0 as $t).wrapping_sub(1))]).collect::<Vec<_>>());
            // low / −1 wraps where the type is signed; it is 0 / max where it is not.
            let last = if low == 0 { 0 } else { low };
            let of_low = if low == 0 { 0 } else { low };
            let expected = [(0, high), (1, of_low), (2, 0), (3, high), (4, last)];
            assert_eq!(made_vector(ewise_mult(&x, &zeros, Div)), expected, stringify!($t));
        )*} }
        check!(i8 u8 i32 u32 i64 u64);
        let x = vector(d, 2, &[(0, -3), (1, 3)]);
        assert_eq!(made_vector(apply_second(&x, Div, 0)), [(0, i32::MIN), (1, i32::MAX)]);
        assert_eq!(made_vector(apply(&vector(d, 2, &[(0, 0), (1, 2)]), Inverse)), [(0, i32::MAX), (1, 0)]);
    });
}

#[test]
fn r9_conversions_saturate_and_nan_is_zero() {
    each(|d| {
        let x = vector(
            d,
            8,
            &[(0, f64::NAN), (1, 1e300), (2, -1e300), (3, -1.9), (4, 300.7), (5, f64::INFINITY), (6, -0.0), (7, 0.3)],
        );
        macro_rules! check { ($($t:ident)*) => {$(
            let expected: Vec<(u64, $t)> = x.entries().unwrap().into_iter().map(|(i, v)| (i, v as $t)).collect();
            assert_eq!(cast::<$t, _>(&x).unwrap().entries().unwrap(), expected, stringify!($t));
        )*} }
        check!(i8 u8 i16 u16 i32 u32 i64 u64);
        assert_eq!(cast::<i64, _>(&x).unwrap().get(0).unwrap(), Some(0));
        let truth: Vec<bool> = cast::<bool, _>(&x).unwrap().entries().unwrap().into_iter().map(|e| e.1).collect();
        assert_eq!(truth, [true, true, true, true, true, true, false, true]);
        let wide = vector(d, 2, &[(0, -1i64), (1, (1 << 40) + 5)]);
        assert_eq!(cast::<u8, _>(&wide).unwrap().entries().unwrap(), [(0, 255), (1, 5)]);
        assert_eq!(cast::<f32, _>(&vector(d, 1, &[(0, true)])).unwrap().entries().unwrap(), [(0, 1.0)]);
    });
}

/// Arithmetic on booleans is a compile error; these are the operators that SuiteSparse takes for it.
#[test]
fn r10_boolean_operators() {
    each(|d| {
        let x = vector(d, 4, &[(0, false), (1, false), (2, true), (3, true)]);
        let y = vector(d, 4, &[(0, false), (1, true), (2, false), (3, true)]);
        let table = |v: Vec<(u64, bool)>| v.into_iter().map(|e| e.1 as u8).collect::<Vec<_>>();
        assert_eq!(table(made_vector(ewise_mult(&x, &y, Lor))), [0, 1, 1, 1]); // + and max
        assert_eq!(table(made_vector(ewise_mult(&x, &y, Land))), [0, 0, 0, 1]); // × and min
        assert_eq!(table(made_vector(ewise_mult(&x, &y, Lxor))), [0, 1, 1, 0]); // −
        assert_eq!(table(made_vector(ewise_mult(&x, &y, Lxnor))), [1, 0, 0, 1]);
        assert_eq!(table(made_vector(apply(&x, Not))), [1, 1, 0, 0]);
        // false < true.
        assert_eq!(table(made_vector(ewise_mult(&x, &y, Lt))), [0, 1, 0, 0]);
        assert_eq!(table(made_vector(ewise_mult(&x, &y, Le))), [1, 1, 0, 1]);
        assert_eq!(table(made_vector(ewise_mult(&x, &y, Gt))), [0, 0, 1, 0]);
        assert_eq!(table(made_vector(ewise_mult(&x, &y, Ge))), [1, 0, 1, 1]);
        assert_eq!(table(made_vector(ewise_mult(&x, &y, IsGt))), [0, 0, 1, 0]);
        assert_eq!(table(made_vector(ewise_mult(&x, &y, Pow))), [1, 0, 1, 1]);
    });
}

/// The order of booleans in all that goes by an order.
#[test]
fn r10_booleans_in_order() {
    each(|d| {
        let a = matrix(d, (2, 4), &[(0, 0, true), (0, 1, false), (0, 3, true), (1, 1, true), (1, 2, false)]);
        let kept = |v: Vec<(u64, u64, bool)>| v.into_iter().map(|e| (e.0, e.1)).collect::<Vec<_>>();
        let (low, high, all) = ([(0, 1), (1, 2)], [(0, 0), (0, 3), (1, 1)], [(0, 0), (0, 1), (0, 3), (1, 1), (1, 2)]);
        assert_eq!(kept(made(select(&a, ValueLt, true))), low);
        assert_eq!(kept(made(select(&a, ValueLe, false))), low);
        assert_eq!(kept(made(select(&a, ValueGt, false))), high);
        assert_eq!(kept(made(select(&a, ValueGe, true))), high);
        assert_eq!(
            (kept(made(select(&a, ValueLe, true))), kept(made(select(&a, ValueGe, false)))),
            (all.into(), all.into())
        );
        assert_eq!((made(select(&a, ValueLt, false)), made(select(&a, ValueGt, true))), (vec![], vec![]));
        let (values, columns) = sort(&a, Lt).unwrap();
        assert_eq!(got(&values), [(0, 0, false), (0, 1, true), (0, 2, true), (1, 0, false), (1, 1, true)]);
        assert_eq!(got(&columns), [(0, 0, 1), (0, 1, 0), (0, 2, 3), (1, 0, 2), (1, 1, 1)]);
        assert_eq!(kept(made(top_k(&a, 2))), [(0, 0), (0, 3), (1, 1), (1, 2)]);
        assert_eq!(made(top_k(&a, 1)), [(0, 0, true), (1, 1, true)]);
        // Whether a row is below another somewhere.
        let below = mxm(&a.over::<Compose<Lor, Lt>>(), &a.transposed().over()).eval().unwrap();
        assert_eq!(got(&below), [(0, 0, false), (0, 1, true), (1, 0, false), (1, 1, false)]);
    });
}

#[test]
fn r11_any_is_the_value_of_the_smallest_index() {
    each(|d| {
        let a = matrix(d, (2, 4), &[(0, 1, 5), (0, 2, 6), (0, 3, 7), (1, 3, 8)]);
        let b = matrix(d, (4, 1), &[(1, 0, 10), (2, 0, 20), (3, 0, 30)]);
        let mask = matrix(d, (2, 1), &[(0, 0, 1), (1, 0, 1)]);
        for strategy in strategies(d) {
            let by = |o: Operation<_>| made(o);
            assert_eq!(
                by(mxm(&a.over::<AnyFirst>(), &b.over()).mask(&mask).strategy(strategy)),
                [(0, 0, 5), (1, 0, 8)]
            );
        }
        assert_eq!(made(mxm(&a.over::<AnySecond>(), &b.over())), [(0, 0, 10), (1, 0, 30)]);
        assert_eq!(made(mxm(&a.over::<AnySecondI>(), &b.over())), [(0, 0, 1), (1, 0, 3)]);
        let x = vector(d, 4, &[(2, 1), (3, 1)]);
        assert_eq!(made_vector(mxv(&a.over::<AnyFirst>(), &x.over())), [(0, 6), (1, 8)]);
        assert_eq!(made_vector(reduce_rows(&a, Any)), [(0, 5), (1, 8)]);
        // Nothing has no smallest index.
        assert_eq!(made_vector(reduce_rows(&matrix::<i32>(d, (3, 3), &[]), Any)), []);
    });
}
