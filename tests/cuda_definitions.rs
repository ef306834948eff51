//! Scalars, operators and semirings of a user's own mean the same on the CPU and on CUDA, emulated or real, whatever they are called.
#![cfg(feature = "cuda")]
#![allow(clippy::nonminimal_bool, clippy::neg_cmp_op_on_partial_ord)] // what is written is the test
mod common;

use common::emulator;
use oplus::algebra::Truth;
use oplus::prelude::*;

/// Of one value and of two, on each device.
fn same_everywhere<A: Scalar, B: Scalar, F, G>(x: &[A], f: F, g: G, expected: impl Fn(A, A) -> (B, A))
where
    F: UnaryOp<A, Out = B> + Copy,
    G: BinaryOp<A, A, Out = A> + Copy,
{
    let n = x.len() as u64;
    let all =
        |pick: fn(usize, usize) -> usize| -> Vec<A> { (0..x.len().pow(2)).map(|i| x[pick(i, x.len())]).collect() };
    let (first, second) = (all(|i, n| i / n), all(|i, n| i % n));
    let (of_one, of_two): (Vec<B>, Vec<A>) = first.iter().zip(&second).map(|(x, y)| expected(*x, *y)).unzip();
    let gpu = emulator::cuda().is_some().then_some(Device::Cuda(0));
    for device in [Device::Reference, Device::Cpu].into_iter().chain(gpu) {
        let on = |values: &[A]| Vector::from_full(values.to_vec()).unwrap().to(&device).unwrap();
        let values = |x: &Vector<A>| x.entries().unwrap().into_iter().map(|e| e.1).collect::<Vec<_>>();
        let (a, b) = (on(&first), on(&second));
        let one = apply(&a, f).eval().unwrap().entries().unwrap().into_iter().map(|e| e.1).collect::<Vec<_>>();
        assert_eq!(one, of_one, "{} on {device}", A::TEXT.name);
        assert_eq!(values(&ewise_mult(&a, &b, g).eval().unwrap()), of_two, "{} on {device}", A::TEXT.name);
    }
    assert_eq!(of_one.len() as u64, n * n);
}

/// Integers, whose `!` is of bits.
trait Integer: Bits + Truth + std::ops::Not<Output = Self> {}
impl<T: Bits + Truth + std::ops::Not<Output = T>> Integer for T {}

oplus::unary_operator! { Inverted[T: Integer](T) -> T = |x| !x }
oplus::operator! { Mixed[T: Integer](T, T) -> T = |x, y|
bit_xor(bit_and(x, !y), select(!(x < y) && !!(!x != y) || ! truth(x) == (x == y), !max(x, !!y), ! x)) }
oplus::unary_operator! { No[](bool) -> bool = |x| !x }
oplus::operator! { NotBoth[](bool, bool) -> bool = |x, y| !x == y && !!(x || !y) || !(x == !y) }
oplus::scalar! { struct Flags { set: u16, on: bool, off: bool, count: i32 } }
oplus::unary_operator! { Cleared[](Flags) -> u16 = |x| !select(!x.on, x.set, !x.set) }
oplus::operator! { Turned[](Flags, Flags) -> Flags = |x, y| Flags::make(!bit_or(x.set, !y.set), !x.on, !select(x.on, x, y).off, !x.count) }

#[test]
fn not_is_of_bits_for_integers_and_of_truth_for_booleans() {
    macro_rules! integers { ($($t:ident)*) => {$(
        same_everywhere(&[0, 1, 5, $t::MAX / 3, $t::MAX, $t::MIN], Inverted, Mixed, |x: $t, y: $t| {
            let condition = !(x < y) && (!x != y) || (x == 0) == (x == y);
            (!x, (x & !y) ^ if condition { !x.max(y) } else { !x })
        });
    )*} }
    integers!(u8 u16 u32 u64 i8 i16 i32 i64);
    same_everywhere(&[false, true], No, NotBoth, |x, y| (!x, (!x == y && (x || !y)) || x == y));
    let flags =
        |n: u16| Flags::make(n.wrapping_mul(0x2f35), n.is_multiple_of(3), n.is_multiple_of(2), i32::from(n) * -7);
    same_everywhere(&[flags(0), flags(1), flags(2), flags(3)], Cleared, Turned, |x, y| {
        let off = if x.on { x.off } else { y.off };
        (!if x.on { !x.set } else { x.set }, Flags::make(!(x.set | !y.set), !x.on, !off, !x.count))
    });
}

/// Names that the macros, the generated text or C++ have for themselves.
mod names {
    oplus::scalar! { pub struct Product { hops: u32, length: f32 } }
    oplus::semiring! {
        /// Products of a user's own type.
        pub struct Nearest[](Product, Product) -> Product;
        identity = Product::make(u32::MAX, f32::INFINITY);
        add = |x, y| (select(x.length <= y.length, x, y));
        multiply = |a, b, at| (Product::make(add(a.hops, b.hops), select(at.k < 9u64, add(a.length, b.length), a.length)));
    }
    pub mod semiring {
        oplus::semiring! {
            pub struct Product[](f64, f64) -> f64;
            identity = f64::INFINITY;
            add = |x, y| (min(x, y));
            multiply = |a, b, _| (add(a, b));
        }
    }
}

/// What is one name in Rust and taken, or another thing, in CUDA.
#[allow(non_camel_case_types, non_snake_case)]
mod taken {
    use oplus::algebra::c32 as Number;

    type Km = f32;
    oplus::scalar! { pub struct long { new: f64, int: u32, r#in: u32 } }
    oplus::scalar! { pub struct At { make: Number, km: Km, f32: f32, u8: u32 } }
    oplus::scalar! { pub struct C { pub and: i32 } }
    oplus::semiring! { pub struct Longest[](long, long) -> long;
        identity = long::make(f64::NEG_INFINITY, 0, 0);
        add = |old, new| (select(old.new < new.new || !(old.r#in < new.r#in), new, old));
        multiply = |this, register, auto| (long::make(add(this.new, register.new), !this.int, bit_and(register.r#in, select(auto.k == 0u64, 7u32, this.int))));
    }
    oplus::semiring! { pub struct Sum[](At, At) -> At;
        identity = At::make(Number::ZERO, 0.0, 0.0, 0);
        add = |x, y| (At::make(add(x.make, y.make), add(x.km, y.km), max(x.f32, y.f32), add(x.u8, y.u8)));
        multiply = |a, b, at| (At::make(mul(a.make, b.make), real(b.make), select(at.k < 3u64, a.f32, b.km), a.u8));
    }
    oplus::semiring! { pub struct Least[](C, C) -> C;
        identity = C::make(i32::MAX);
        add = |r#fn, u32| (C::make(min(r#fn.and, u32.and)));
        multiply = |B, _, _| (C::make(add(B.and, 1i32)));
    }
    oplus::scalar! { pub struct user { user: f32, NULL: u32 } }
    oplus::semiring! { pub struct First[](user, user) -> user;
    identity = user::make(f32::INFINITY, 0);
    add = |inf_f32, y| (select(inf_f32.user <= y.user && (inf_f32.NULL <= 9u32), inf_f32, y));
    multiply = |NULL, nan_f64, _0i64| (user::make(add(NULL.user, nan_f64.user,), select(_0i64.k < 5u64, NULL.NULL, 1u32,),)); }
    oplus::unary_operator! { pub Wrapped[](i32) -> C = |A| C::make(A) }
    oplus::operator! { pub Between[](C, C) -> C = |min, max| select(max.and < min.and, min, max) }
}

#[test]
fn names_that_are_taken_in_cuda_are_free() {
    same_products::<_, taken::Longest>(|p| taken::long::make((p % 5) as f64, p as u32, p as u32 % 3));
    same_products::<_, taken::Sum>(|p| {
        taken::At::make(c32::new((p % 3) as f32, 1.0), (p % 4) as f32, p as f32, p as u32 % 3)
    });
    same_products::<_, taken::Least>(|p| taken::C::make(p as i32 % 7));
    same_products::<_, taken::First>(|p| taken::user::make((p % 5) as f32, p as u32 % 3));
    let x = Vector::from_full(vec![5, 3, 9]).unwrap();
    for device in [Device::Cpu].into_iter().chain(emulator::cuda().is_some().then_some(Device::Cuda(0))) {
        let c: Vector<taken::C> = apply(&x.to(&device).unwrap(), taken::Wrapped).eval().unwrap();
        let c = apply_second(&c, taken::Between, taken::C::make(4)).eval().unwrap();
        assert_eq!(c.entries().unwrap().iter().map(|e| e.1.and).collect::<Vec<_>>(), [5, 4, 9], "on {device}");
    }
}

/// A · A, the sum of its values, and A ⊕ A, on each device.
fn same_products<T: Scalar, S: Semiring<T, T, Out = T, Add = S> + Monoid<T> + Default>(value: impl Fn(u64) -> T) {
    let entries: Vec<_> = (0..40).map(|p| (p / 4, p * 7 % 12, value(p))).collect();
    let a = Matrix::<T, S>::build(12, 12, &entries).unwrap();
    let results = |device: Device| {
        let a = a.to(&device).unwrap();
        let (product, sum) = (mxm(&a, &a).eval().unwrap(), ewise_add(&a, &a, S::default()).eval().unwrap());
        format!("{:?} {:?} {:?}", product.entries().unwrap(), sum.entries().unwrap(), reduce(&a, S::default()).unwrap())
    };
    let expected = results(Device::Reference);
    assert_eq!(results(Device::Cpu), expected);
    if emulator::cuda().is_some() {
        assert_eq!(results(Device::Cuda(0)), expected);
    }
}

#[test]
fn a_product_is_no_name_of_the_macros() {
    same_products::<_, names::Nearest>(|p| names::Product::make(p as u32, (p % 5) as f32));
    same_products::<f64, names::semiring::Product>(|p| (p % 5) as f64);
}
