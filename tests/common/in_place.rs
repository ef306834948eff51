//! Outputs that are operands and masks of the same operation, on the devices that the test binary names (`devices`).
use super::model::*;
use super::whole::Skewed;
use oplus::prelude::*;
use quickcheck::{Arbitrary, Gen, quickcheck};

#[test]
fn outputs_may_be_operands() {
    for device in super::devices() {
        let a = Matrix::<i32>::build(2, 2, &[(0, 0, 1), (0, 1, 2), (1, 0, 3)]).unwrap().to(&device).unwrap();
        let mut c = a.clone();
        ewise_union(&c, 1, &c.transposed(), 5, Minus).mask(&c).accumulate(Plus).into(&mut c).unwrap();
        assert_eq!(c.entries().unwrap(), [(0, 0, 1), (0, 1, 1), (1, 0, 4)]);
        let mut c = a.clone();
        tril(&c, 0).into(&mut c).unwrap();
        assert_eq!(c.entries().unwrap(), [(0, 0, 1), (1, 0, 3)]);
        let mut x = Vector::<i32>::build(1, &[(0, 4)]).unwrap().to(&device).unwrap();
        let mut c = Matrix::<i32>::build(1, 1, &[(0, 0, 2)]).unwrap().to(&device).unwrap();
        scale_rows(&x, &c, Times).into(&mut c).unwrap();
        kronecker(&c, &c, Minus).accumulate(Minus).into(&mut c).unwrap();
        diag_extract(&c, 0).accumulate(Plus).into(&mut x).unwrap();
        assert_eq!((c.entries().unwrap(), x.entries().unwrap()), (vec![(0, 0, 8)], vec![(0, 12)]));
    }
}

/// A square matrix and what is done with it.
#[derive(Clone, Debug)]
struct Square(Model, bool, bool, bool);
impl Arbitrary for Square {
    fn arbitrary(g: &mut Gen) -> Self {
        let n = if u8::arbitrary(g) < 30 { 1 << 40 } else { u64::arbitrary(g) % 9 };
        Square(Model::arbitrary(g, (n, n)), bool::arbitrary(g), bool::arbitrary(g), bool::arbitrary(g))
    }
}

quickcheck! {
    /// C as operand, second operand and mask at once is what copies of it are.
    fn in_place_is_as_by_copies(case: Square) -> bool {
        let Square(a, complement, replace, accumulate) = case;
        macro_rules! same {
            ($device:ident, $($name:literal $operation:expr;)*) => {$(
                let run = |x: &Matrix<i32>, y: &Matrix<i32>, m: Mask, c: &mut Matrix<i32>| {
                    let operation: fn(&Matrix<i32>, &Matrix<i32>) -> _ = $operation;
                    let operation = operation(x, y).mask(&if complement { m.complement() } else { m });
                    let operation = if replace { operation.replace() } else { operation };
                    if accumulate { operation.accumulate(Skewed).into(c) } else { operation.into(c) }.unwrap();
                };
                let of = || a.matrix($device);
                let mut expected = of();
                run(&of(), &of(), of().structure(), &mut expected);
                let mut c = of();
                let (x, mask) = (c.clone(), c.structure());
                run(&x, &x, mask, &mut c);
                assert_eq!(Model::of(&c), Model::of(&expected), "{} on {}", $name, $device);
                assert_eq!(Model::of(&x), a, "{} on {} changes its operand", $name, $device);
            )*}
        }
        for device in super::devices() {
            same! { device,
                "mxm" |x, y| mxm(x, y);
                "ewise_add" |x, y| ewise_add(x, y, Skewed);
                "ewise_mult" |x, y| ewise_mult(x, y, Skewed);
                "ewise_union" |x, y| ewise_union(x, 2, &y.transposed(), 3, Skewed);
                "apply" |x, _| apply(x, Negate);
                "apply_first" |x, _| apply_first(5, Skewed, x);
                "select" |x, _| select(x, Triu, 0);
                "transpose" |x, _| transpose(x);
                "tril" |x, _| tril(x, 1);
            }
            if a.shape.0 < 1000 {
                let n = a.shape.0;
                let backwards = move || Indices::stride(n.saturating_sub(1), -1, n);
                let of = || a.matrix(device);
                let (mut expected, mut c) = (of(), of());
                extract(&of(), backwards(), ..).accumulate(Skewed).into(&mut expected).unwrap();
                extract(&c, backwards(), ..).accumulate(Skewed).into(&mut c).unwrap();
                assert_eq!(Model::of(&c), Model::of(&expected), "extract on {device}");
                for sub in [false, true] {
                    let run = |x: &Matrix<i32>, m: Mask, c: &mut Matrix<i32>| {
                        let o = if sub { subassign(x, backwards(), backwards()) } else { assign(x, backwards(), backwards()) };
                        let o = o.mask(&if complement { m.complement() } else { m });
                        let o = if replace { o.replace() } else { o };
                        if accumulate { o.accumulate(Skewed).into(c) } else { o.into(c) }.unwrap();
                    };
                    let (mut expected, mut c) = (of(), of());
                    run(&of(), of().structure(), &mut expected);
                    let (x, mask) = (c.clone(), c.structure());
                    run(&x, mask, &mut c);
                    assert_eq!(Model::of(&c), Model::of(&expected), "assign on {device}");
                }
                if n > 0 {
                    let (mut expected, mut c) = (of(), of());
                    let row = extract_row(&of(), 0, ..).eval().unwrap();
                    scale_rows(&row, &of(), Skewed).into(&mut expected).unwrap();
                    scale_rows(&extract_row(&c, 0, ..).eval().unwrap(), &c, Skewed).into(&mut c).unwrap();
                    assert_eq!(Model::of(&c), Model::of(&expected), "scale_rows on {device}");
                }
            }
        }
        true
    }
}
