//! Values of many bytes on CUDA, emulated or real: those up to 64 are a launch's arguments when an operator is bound to one, those up to
//! 112 are told by the launch that sums them up, larger ones go by way of the device's memory. Nothing of it shows in results.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::prelude::*;
use random::Rng;

/// A type, operators on it, and `check` of what they give on the GPU and on the reference backend.
macro_rules! large {
    ($name:ident: $($field:ident)*) => {
        mod $name {
            use super::*;
            oplus::scalar! { pub struct Value { $($field: u64),* } }
            oplus::operator! { pub Sum[](Value, Value) -> Value = |x, y| Value::make($(add(x.$field, y.$field)),*) }
            oplus::operator! { pub Swap[](Value, Value) -> Value = |x, y| Value::make($(sub(add(y.$field, y.$field), x.$field)),*) }
            oplus::index_operator! { pub Below[](Value, Value) -> bool = |x, i, j, y| (x.a < y.b) != (i < j) }
            impl Monoid<Value> for Sum {
                fn identity() -> Value {
                    Value::make($({ let $field = 0; $field }),*)
                }
            }

            fn value(seed: u64) -> Value {
                let mut fields = (0..).map(|f| seed * 7 % 101 + f * seed);
                Value::make($({ let $field = fields.next().unwrap(); $field }),*)
            }

            fn random(count: u64, seed: u64) -> Matrix<Value> {
                let (mut coo, mut rng) = (Coo::new(61, 97), Rng(seed));
                (0..count).for_each(|_| coo.push(rng.below(61), rng.below(97), value(rng.below(50))));
                Matrix::build_with(&coo, Second).unwrap()
            }

            #[test]
            fn as_the_reference_has_them() {
                if emulator::cuda().is_none() {
                    return;
                }
                let (a, b) = (random(900, 5), random(700, 6));
                let results = |device: Device| {
                    let (a, b) = (a.to(&device).unwrap(), b.to(&device).unwrap());
                    let one = apply_second(&a, Second, value(4)).eval().unwrap();
                    assert!(one.is_iso());
                    let joined = || ewise_union(&a, value(2), &b, value(3), Swap);
                    let matrices = [
                        apply_second(&a, Swap, value(9)).eval(),
                        apply_first(value(8), Swap, &a).eval(),
                        joined().eval(),
                        joined().apply_second(Swap, value(5)).select(Below, value(30)).eval(),
                        ewise_add(&a, &b, Swap).eval(),
                        ewise_mult(&a, &one, Swap).eval(),
                        ewise_mult(&one, &a, Swap).eval(),
                        ewise_add(&b, &one, Swap).eval(),
                        select(&a, Below, value(20)).eval(),
                    ];
                    let entries = matrices.map(|m| m.unwrap().entries().unwrap());
                    let rows = reduce_rows(&a, Sum).eval().unwrap().entries().unwrap();
                    // Of one chunk and of many.
                    let many: Vec<_> = (0..20_000).map(|i| (i, value(i % 97))).collect();
                    let many = Vector::<Value>::build(20_000, &many).unwrap().to(&device).unwrap();
                    let sums = [reduce(&a, Sum).unwrap(), oplus::operation::reduce_stored(&many, Sum).unwrap().unwrap()];
                    (entries, rows, sums)
                };
                let (found, expected) = (results(Device::Cuda(0)), results(Device::Reference));
                for (n, (x, y)) in found.0.iter().zip(&expected.0).enumerate() {
                    assert_eq!(x, y, "operation {n}");
                }
                assert_eq!((found.1, found.2), (expected.1, expected.2));
            }
        }
    };
}
large! { argument: a b c d e f g h }
large! { told: a b c d e f g h i j k l m n }
large! { stored: a b c d e f g h i j k l m n o }
