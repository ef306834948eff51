//! Values alone: apply and reductions. Sums are cut at fixed places, so that they do not depend on the threads.
use super::entries::at_entries;
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::cpu::mxm::job::is_final;
use crate::backend::cpu::mxv::even::Batch;
use crate::backend::cpu::mxv::pull;
use crate::backend::cpu::parallel::{SERIAL, collected, mapped, nth_piece};
use crate::backend::host::HostCsr;
use crate::error::Result;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) fn apply<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
    a: &HostCsr<A>,
    y: Y,
    at: &Positions,
) -> Result<HostCsr<F::Out>> {
    // Where positions are not looked at rows are not either. Only one of the two ways is compiled.
    if const { !(F::TEXT.reads(1) || F::TEXT.reads(2)) } {
        return Ok(HostCsr::at(a.pattern.clone(), values::<A, Y, F>(&a.values, y)?));
    }
    let (at_i, at_j) = (at.i.as_ref().map(|ids| &ids[..]), at.j.as_ref().map(|ids| &ids[..]));
    at_entries("apply", a, move |r, c, x| {
        let i = at_i.map_or(r as u64, |ids| ids[r]) as i64;
        let j = at_j.map_or(c as u64, |ids| ids[c]) as i64;
        F::apply(x, i, j, y)
    })
}

/// f(x, y) of values alone.
pub(crate) fn values<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(values: &[A], y: Y) -> Result<Vec<F::Out>> {
    mapped("apply", values, move |x| F::apply(x, 0, 0, y))
}

/// Sums that are made side by side: one waits for the one before it.
const LANES: usize = 8;

/// As [`fold`], of parts one behind the other, which are put together at the end: the same for every number of threads.
fn fold_lanes<T: Scalar, M: Monoid<T>>(values: &[T]) -> Option<T> {
    const STEPS: usize = 64;
    if let Some(sum) = M::of_many(values) {
        return Some(sum);
    }
    let length = values.len() / LANES;
    if length < STEPS {
        return fold::<T, M>(values);
    }
    let parts: [&[T]; LANES] = std::array::from_fn(|k| &values[k * length..(k + 1) * length]);
    let mut sums: [T; LANES] = std::array::from_fn(|k| parts[k][0]);
    for start in (1..length).step_by(STEPS) {
        for at in start..length.min(start + STEPS) {
            sums.iter_mut().zip(&parts).for_each(|(sum, part)| *sum = M::apply(*sum, part[at]));
        }
        if let Some(sum) = sums.iter().find(|sum| is_final::<T, M>(**sum)) {
            return Some(*sum);
        }
    }
    let rest = &values[LANES * length..];
    sums.into_iter().chain(rest.iter().copied()).reduce(M::apply)
}

/// Left to right until the sum is final.
fn fold<T: Scalar, M: Monoid<T>>(values: &[T]) -> Option<T> {
    let (first, rest) = values.split_first()?;
    let mut sum = *first;
    for x in rest {
        if is_final::<T, M>(sum) {
            break;
        }
        sum = M::apply(sum, *x);
    }
    Some(sum)
}

/// The sums of rows, in column order.
pub(crate) fn reduce_rows<T: Scalar, M: Monoid<T>>(a: &HostCsr<T>) -> Result<HostCsr<T>> {
    let (pattern, values) = (&a.pattern, &a.values[..]);
    assert!(pattern.nnz() == values.len());
    let sums = |(_, offsets): pull::Lines, batches: Option<&[Batch]>, out: &mut [MaybeUninit<T>]| {
        pull::sums_of_values::<T, M>(offsets, batches, out, values)
    };
    pull::lines("reduce_rows", pattern, &Arc::default(), pull::how::<T, M>(), &sums)
}

pub(crate) fn reduce<T: Scalar, M: Monoid<T>>(values: &[T]) -> Result<Option<T>> {
    if values.len() <= SERIAL {
        return Ok(fold::<T, M>(values));
    }
    if matches!(M::terminal(), Terminal::Always) {
        return Ok(values.first().copied());
    }
    // A final sum is that of everything: pieces that did not start yet need not.
    let done = AtomicBool::new(false);
    let one = |p: usize| {
        if done.load(Ordering::Relaxed) {
            return None;
        }
        let sum = fold_lanes::<T, M>(&values[nth_piece(values.len(), SERIAL, p)]);
        if sum.is_some_and(is_final::<T, M>) {
            done.store(true, Ordering::Relaxed);
        }
        sum
    };
    let sums = collected("reduce", values.len().div_ceil(SERIAL), &one)?;
    Ok(sums.into_iter().flatten().reduce(M::apply))
}

#[test]
fn extremes_of_many_are_those_one_by_one() {
    fn check<M: Monoid<f64>>(values: &[f64]) {
        let bits = |sum: Option<f64>| sum.map(|sum| if sum.is_nan() { f64::NAN } else { sum }.to_bits());
        assert_eq!(bits(fold_lanes::<f64, M>(values)), bits(values.iter().copied().reduce(M::apply)), "{values:?}");
    }
    let mut random = crate::generate::Random::new(5, 6);
    let special = [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.5, -1.5];
    for round in 0..300u64 {
        // Few kinds of values, so that some of them are all there is.
        let kinds = 1 + random.below(4);
        let first = random.below(8);
        let length = [1, 15, 16, 17, 40, 600][(round % 6) as usize];
        let values: Vec<f64> = (0..length).map(|_| special[((first + random.below(kinds)) % 8) as usize]).collect();
        check::<Min>(&values);
        check::<Max>(&values);
    }
    let integers: Vec<i32> = (0..1000).map(|_| random.below(2000) as i32 - 1000).collect();
    assert_eq!(fold_lanes::<i32, Max>(&integers), integers.iter().copied().max());
    assert_eq!(fold_lanes::<i32, Min>(&[i32::MAX; 99]), Some(i32::MAX));
}
