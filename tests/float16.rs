//! 16-bit floats: conversions by their definition, operators rounded once, sums in f32.
#![cfg(feature = "half")]
use oplus::io::matrix_market as mm;
use oplus::prelude::*;
use quickcheck::quickcheck;

#[cfg(feature = "cuda")]
mod common;

fn cast<U: Scalar, T: Scalar>(x: T) -> U
where
    Cast<U>: UnaryOp<T, Out = U>,
{
    Cast::<U>::apply(x)
}

/// All there are.
fn devices() -> Vec<Device> {
    #[cfg(feature = "cuda")]
    let cuda = common::emulator::cuda().map(|_| Device::Cuda(0));
    #[cfg(not(feature = "cuda"))]
    let cuda = None;
    [Device::Reference, Device::Cpu].into_iter().chain(cuda).collect()
}

/// The nearest value, of two equally near the even one, by looking at the neighbours of what was found.
macro_rules! nearest {
    ($h:ident) => {
        |x: f64, found: $h| {
            if x.is_nan() {
                return found.is_nan();
            }
            // Beyond the largest number infinity stands where the next one would.
            let value = |bits: u16| match $h::from_bits(bits) {
                v if v.is_infinite() => 2.0 * $h::from_bits(bits - 1).to_f64() - $h::from_bits(bits - 2).to_f64(),
                v => v.to_f64(),
            };
            let (size, bits) = (x.abs(), found.to_bits() & 0x7fff);
            let own = (size - value(bits)).abs();
            let beside = |other: u16| {
                let distance = (size - value(other)).abs();
                own < distance || (own == distance && bits % 2 == 0)
            };
            let infinite = found.is_infinite();
            let above = infinite || beside(bits + 1);
            let exact = infinite && x.is_infinite();
            found.is_sign_negative() == x.is_sign_negative()
                && (exact || (infinite && size >= value(bits)) || (above && (bits == 0 || beside(bits - 1))))
        }
    };
}

/// Integers at, half way between and beside the values of a type of 16 bits, with the bits of the nearest value, of two equally
/// near the even one: by integers alone.
fn halfway<H: Into<f64>>(of: fn(u16) -> H, infinity: u16) -> Vec<(u64, u16)> {
    let mut all = Vec::new();
    for bits in 0..infinity - 1 {
        let (low, high): (f64, f64) = (of(bits).into(), of(bits + 1).into());
        // The ends of a gap of even length, below 2⁶⁴.
        if low.fract() != 0.0 || (high - low) % 2.0 != 0.0 || high > 2f64.powi(64) {
            continue;
        }
        let (low, high) = (low as u128, high as u128);
        let middle = (low + high) / 2;
        let near = [0, 1, 1 << 11].into_iter().flat_map(|d| [middle.wrapping_sub(d), middle + d]);
        for x in near.chain([low, low + 1, high - 1]).filter(|x| (low..high).contains(x)) {
            let up = x > middle || (x == middle && bits % 2 == 1);
            all.push((u64::try_from(x).unwrap(), bits + u16::from(up)));
        }
    }
    assert!(all.len() > 1000);
    all
}

macro_rules! halves { ($($name:ident $h:ident;)*) => {$( mod $name {
    use super::*;

    #[test]
    fn every_value_comes_back() {
        for bits in 0..=u16::MAX {
            let x = $h::from_bits(bits);
            let same = |y: $h| y == x && y.is_sign_negative() == x.is_sign_negative() || (x.is_nan() && y.is_nan());
            assert!(same(cast::<$h, f32>(cast::<f32, $h>(x))) && same(cast::<$h, f64>(cast::<f64, $h>(x))), "{x}");
            assert!(same(Negate::apply(Negate::apply(x))) && same(<Cast<$h> as UnaryOp<$h>>::apply(x)));
            assert_eq!(cast::<bool, $h>(x), cast::<bool, f32>(x.to_f32()));
            assert_eq!(cast::<i8, $h>(x), x.to_f32() as i8);
            assert_eq!(cast::<u64, $h>(x), x.to_f32() as u64);
        }
    }

    /// Half way between two values, and the nearest f64 to either side.
    #[test]
    fn ties_go_to_even() {
        let nearest = nearest!($h);
        for bits in 0..$h::INFINITY.to_bits() {
            let (low, high) = ($h::from_bits(bits).to_f64(), $h::from_bits(bits + 1).to_f64());
            if high.is_infinite() { break; }
            let middle = (low + high) / 2.0;
            for x in [middle, middle.next_up(), middle.next_down(), -middle, -middle.next_up()] {
                let found = cast::<$h, f64>(x);
                assert!(nearest(x, found), "{x:e} to {found:?}");
            }
        }
    }

    /// Integers that an f64 would round first are rounded once: half way between two values and to either side.
    #[test]
    fn long_integers_round_once() {
        for (x, bits) in super::halfway::<$h>($h::from_bits, $h::INFINITY.to_bits()) {
            assert_eq!(cast::<$h, u64>(x).to_bits(), bits, "{x}");
            if let Ok(x) = i64::try_from(x) {
                assert_eq!(cast::<$h, i64>(x).to_bits(), bits, "{x}");
                assert_eq!(cast::<$h, i64>(-x).to_bits(), bits | 0x8000, "-{x}");
            }
        }
        assert_eq!(cast::<$h, i64>(i64::MIN), cast::<$h, f64>(-(2f64.powi(63))));
        assert_eq!(cast::<$h, u64>(0).to_bits() | cast::<$h, i64>(0).to_bits(), 0);
    }

    /// As text too.
    #[test]
    fn long_integers_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.mtx");
        for (x, bits) in super::halfway::<$h>($h::from_bits, $h::INFINITY.to_bits()).into_iter().rev().step_by(911) {
            for (sign, bits) in [("", bits), ("-", bits | 0x8000)] {
                let text = format!("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 {sign}{x}\n");
                std::fs::write(&path, text).unwrap();
                assert_eq!(mm::read::<$h>(&path).unwrap().values[0].to_bits(), bits, "{sign}{x}");
            }
        }
    }

    /// On a device, emulated or not, as on the host.
    #[cfg(feature = "cuda")]
    #[test]
    fn long_integers_round_once_on_cuda() -> oplus::Result<()> {
        if common::emulator::cuda().is_none() { return Ok(()) }
        let all = super::halfway::<$h>($h::from_bits, $h::INFINITY.to_bits());
        let unsigned: Vec<_> = (0..).zip(&all).map(|(i, e)| (i, e.0)).collect();
        let signed: Vec<_> = unsigned.iter().map(|(i, x)| (*i, *x as i64)).collect();
        let n = all.len() as u64;
        let (unsigned, signed) = (Vector::<u64>::build(n, &unsigned)?, Vector::<i64>::build(n, &signed)?);
        let gpu = Device::Cuda(0);
        let bits = |v: Vector<$h>| -> oplus::Result<Vec<u16>> { Ok(v.entries()?.iter().map(|e| e.1.to_bits()).collect()) };
        let found = bits(unsigned.to(&gpu)?.cast::<$h>()?)?;
        assert_eq!(found, all.iter().map(|e| e.1).collect::<Vec<_>>());
        assert_eq!(bits(signed.to(&gpu)?.cast::<$h>()?)?, bits(signed.cast::<$h>()?)?);
        Ok(())
    }

    quickcheck! {
        fn the_nearest_of_any_number(x: f64, y: f32, z: i64) -> bool {
            let nearest = nearest!($h);
            nearest(x, cast::<$h, f64>(x))
                && nearest(y.into(), cast::<$h, f32>(y))
                && nearest(z as f64, cast::<$h, i64>(z))
                && nearest((z % 70_000) as f64, cast::<$h, i64>(z % 70_000))
        }
        /// Of 11 and 8 bits, f32 has twice as many and two: one rounding follows another without harm.
        fn operators_round_once(a: u16, b: u16) -> bool {
            let nearest = nearest!($h);
            let (x, y) = ($h::from_bits(a), $h::from_bits(b));
            let (p, q) = (x.to_f64(), y.to_f64());
            let product = nearest(p * q, Times::apply(x, y));
            // Sums are exact in f64 where the exponents are not far apart.
            let far = p != 0.0 && q != 0.0 && (p.abs().log2() - q.abs().log2()).abs() > 30.0;
            product && (far || (nearest(p + q, Plus::apply(x, y)) && nearest(p - q, Minus::apply(x, y))))
        }
        fn written_files_read_back(bits: Vec<u16>) -> bool {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("halves.mtx");
            let mut coo = Coo::<$h>::new(1, 1 + bits.len() as u64);
            bits.iter().enumerate().for_each(|(j, x)| coo.push(0, j as u64, $h::from_bits(*x)));
            mm::write_coo(&path, &coo).unwrap();
            let back = mm::read::<$h>(&path).unwrap().values;
            back.len() == coo.values.len() && back.iter().zip(&coo.values).all(|(x, y)| x == y || (x.is_nan() && y.is_nan()))
        }
    }

    /// In 16 bits the sum of ones would stay at 2048, or 256.
    #[test]
    fn sums_are_made_in_f32() -> oplus::Result<()> {
        let n = 5000;
        let ones: Vec<_> = (0..n).map(|j| (0, j, $h::ONE)).collect();
        for device in [Device::Cpu, Device::Reference] {
            let a = Matrix::<$h>::build(1, n, &ones)?.to(&device)?;
            let sum: Matrix<f32> = mxm(&a, &a.transposed()).eval()?;
            assert_eq!(sum.entries()?, [(0, 0, n as f32)]);
            assert_eq!(sum.cast::<$h>()?.entries()?, [(0, 0, $h::from_f32(n as f32))]);
            // Rounded as it is made.
            let rounded: Matrix<$h> = mxm(&a, &a.transposed()).apply(Cast::<$h>::default()).eval()?;
            assert_eq!(rounded.entries()?, sum.cast::<$h>()?.entries()?);
            // Stored in 16 bits, multiplied by vectors of 32.
            let x = Vector::<f32>::full(n, 0.25)?.to(&device)?;
            let mixed = mxv(&a.over::<PlusTimesMixed>(), &x.over()).eval()?;
            assert_eq!(mixed.entries()?, [(0, n as f32 / 4.0)]);
            let counts = mxv(&a.over::<PlusFirst>(), &x.over()).eval()?;
            assert_eq!(counts.entries()?, [(0, n as f32)]);
            // Paths stay in 16 bits: a minimum rounds nothing.
            let shortest: Matrix<$h, MinPlus> = mxm(&a.over::<MinPlus>(), &a.over::<MinPlus>().transposed()).eval()?;
            assert_eq!(shortest.entries()?, [(0, 0, $h::from_f32(2.0))]);
            assert_eq!(reduce(&a, Max)?, $h::ONE);
        }
        Ok(())
    }

    /// Without a product too: by rows, by columns and of everything; by others than + and × they stay what they are.
    #[test]
    fn reductions_are_made_in_f32() -> oplus::Result<()> {
        let (m, n) = (3, 5000);
        let value = |i: u64, j: u64| $h::from_f32(if i == 1 { 0.0 } else { 1.0 + ((i + j) % 3) as f32 / 8.0 });
        let all: Vec<_> = (0..m).flat_map(|i| (0..n).map(move |j| (i, j, value(i, j)))).collect();
        // Numbers of eighths below 2²⁴: exact in f32, in any order.
        let by = |keep: &dyn Fn(u64, u64) -> bool| -> f32 {
            all.iter().filter(|e| keep(e.0, e.1)).map(|e| e.2.to_f32()).sum()
        };
        for device in super::devices() {
            let a = Matrix::<$h>::build(m, n, &all)?.to(&device)?;
            let rows: Vector<f32> = reduce_rows(&a, Plus).eval()?;
            assert_eq!(rows.entries()?, (0..m).map(|i| (i, by(&|r, _| r == i))).collect::<Vec<_>>(), "{device}");
            let columns = reduce_rows(&a, Plus).transpose_a().eval()?.entries()?;
            assert_eq!(columns, (0..n).map(|j| (j, by(&|_, c| c == j))).collect::<Vec<_>>(), "{device}");
            let sum: f32 = reduce(&a, Plus)?;
            assert_eq!((sum, reduce(&a.transposed(), Plus)?), (by(&|_, _| true), sum), "{device}");
            assert_eq!((reduce(&a, Max)?, reduce(&a, Min)?), ($h::from_f32(1.25), $h::ZERO), "{device}");
            assert_eq!(reduce_rows(&a, Min).eval()?.entries()?, [(0, $h::ONE), (1, $h::ZERO), (2, $h::ONE)], "{device}");
            // 3¹⁵ is beyond f16, and has more digits than either.
            let threes = Vector::<$h>::full(15, $h::from_f32(3.0))?.to(&device)?;
            assert_eq!(reduce(&threes, Times)?, 3f32.powi(15), "{device}");
            assert_eq!(reduce_stored(&threes, Plus)?, Some(45.0), "{device}");
            let none = Vector::<$h>::new(9)?.to(&device)?;
            assert_eq!((reduce(&none, Plus)?, reduce(&none, Times)?, reduce_stored(&none, Plus)?), (0.0, 1.0, None));
            // Rows are written by an accumulator of f32.
            let mut sums = Vector::<f32>::full(m, 0.5)?.to(&device)?;
            reduce_rows(&a, Plus).accumulate(Plus).into(&mut sums)?;
            assert_eq!(sums.entries()?, rows.entries()?.iter().map(|e| (e.0, e.1 + 0.5)).collect::<Vec<_>>(), "{device}");
        }
        Ok(())
    }
})*} }
halves! { of_f16 f16; of_bf16 bf16; }
