//! A panic of a caller's own operator: what is half done is still a matrix, and can be used.
use oplus::algebra::OperatorText;
use oplus::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// x + y, which does not like one y.
#[derive(Clone, Copy, Debug)]
struct Picky;
const DISLIKED: i64 = 77;
impl BinaryOp<i64, i64> for Picky {
    type Out = i64;
    const TEXT: OperatorText = <Plus as BinaryOp<i64, i64>>::TEXT;
    fn apply(x: i64, y: i64) -> i64 {
        assert_ne!(y, DISLIKED, "as asked for");
        x + y
    }
}

/// Every second cell of 40 × 40 from `first` on, one of them of the value that is not liked where something is there.
fn cells(first: u64, disliked: bool) -> Matrix<i64> {
    let of = |i: u64, j: u64| if disliked && (i, j) == (21, 20) { DISLIKED } else { 1 };
    let entries: Vec<_> =
        (0..1600).filter(|e| (e / 40 + e) % 2 == first).map(|e| (e / 40, e % 40, of(e / 40, e % 40))).collect();
    let both: Vec<_> = entries.into_iter().chain((0..40).map(|i| (i, 20, of(i, 20)))).collect();
    let mut coo = Coo::new(40, 40);
    both.iter().for_each(|(i, j, x)| coo.push(*i, *j, *x));
    Matrix::build_with(&coo, First).unwrap()
}

/// As many entries are counted as there are.
fn whole<T: PartialEq + std::fmt::Debug>(count: u64, entries: &[T]) {
    assert_eq!(count, entries.len() as u64);
}

#[test]
fn bitmaps_count_what_was_put() {
    let new = cells(1, true);
    for format in [Format::Bitmap, Format::Csr, Format::Csc, Format::Hypersparse] {
        let mut c = cells(0, false).to_format(format).unwrap();
        let kept = c.clone();
        let put = catch_unwind(AssertUnwindSafe(|| apply(&new, Identity).accumulate(Picky).into(&mut c)));
        assert!(put.is_err(), "the operator was asked");
        whole(c.nvals(), &c.entries().unwrap());
        whole(c.nvals(), &apply(&c, Identity).eval().unwrap().entries().unwrap());
        assert_eq!(kept.entries().unwrap(), cells(0, false).entries().unwrap());
        let put =
            catch_unwind(AssertUnwindSafe(|| assign_scalar(DISLIKED, 3..9, 2..40).accumulate(Picky).into(&mut c)));
        assert!(put.is_err());
        whole(c.nvals(), &c.entries().unwrap());
    }
}

/// Puts entries into its matrix when it goes.
struct Putting(Matrix<i64>);
impl Drop for Putting {
    fn drop(&mut self) {
        apply(&cells(1, false), Identity).accumulate(Plus).into(&mut self.0).unwrap();
        whole(self.0.nvals(), &self.0.entries().unwrap());
    }
}

#[test]
fn bitmaps_count_what_is_put_while_another_panic_goes_on() {
    // A panic of the drop would end the process.
    let ended = catch_unwind(|| {
        let _putting = Putting(cells(0, false).to_format(Format::Bitmap).unwrap());
        panic!("as asked for");
    });
    assert!(ended.is_err());
}

#[test]
fn vectors_count_what_was_put() {
    let n = 300u64;
    let every = |step: u64, x: i64| {
        (0..n).step_by(step as usize).map(|i| (i, if i == 150 { x } else { 1 })).collect::<Vec<_>>()
    };
    let mut x: Vector<i64> = Vector::build(n, &every(2, 1)).unwrap().to_bitmap().unwrap();
    let new: Vector<i64> = Vector::build(n, &every(3, DISLIKED)).unwrap();
    let put = catch_unwind(AssertUnwindSafe(|| apply(&new, Identity).accumulate(Picky).into(&mut x)));
    assert!(put.is_err(), "the operator was asked");
    whole(x.nvals(), &x.entries().unwrap());
    for i in 0..n {
        x.remove(i).unwrap();
    }
    assert_eq!((x.nvals(), x.entries().unwrap().len()), (0, 0));
}
