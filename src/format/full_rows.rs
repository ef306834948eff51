//! Rows of the CPU with an entry at every place: a place's entry is known without a search, and what meets them shares positions.
use crate::algebra::{BinaryOp, IndexUnaryOp, Scalar};
use crate::backend::cpu::{self, Cpu, SERIAL, Shared, each_piece, unwritten, written};
use crate::backend::host::HostCsr;
use crate::backend::{Backend, Body};
use crate::device::Device;
use crate::error::Result;
use crate::storage::axis::Axis;
use crate::storage::dense::Dense;
use crate::storage::store::Store;
use crate::storage::update::Admits;
use std::mem::MaybeUninit;

fn full<T>(a: &Store<T>) -> Option<&HostCsr<T>> {
    match (&a.body, a.device) {
        (Body::Host(list), Device::Cpu) if list.pattern.is_full_row() => Some(list),
        _ => None,
    }
}

/// f where both have an entry, the entry where one has: all places.
pub(super) fn united<T: Scalar, F: BinaryOp<T, T, Out = T>>(a: &Store<T>, b: &Store<T>) -> Result<Option<Store<T>>> {
    let operation = "ewise_add";
    let (all, values) = match (full(a), full(b)) {
        (Some(x), Some(y)) => (x, cpu::zipped(operation, (&x.values, &y.values), F::apply)?),
        (Some(x), None) => (x, met(operation, &x.values, Cpu.csr(&b.body)?, F::apply)?),
        (None, Some(y)) => (y, met(operation, &y.values, Cpu.csr(&a.body)?, |y, x| F::apply(x, y))?),
        (None, None) => return Ok(None),
    };
    Ok(Some(a.holding(Body::Host(HostCsr::at(all.pattern.clone(), values)))))
}

/// f where both have an entry: at the places of the one that may lack some.
pub(super) fn intersected<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
    a: &Store<A>,
    b: &Store<B>,
) -> Result<Option<Store<F::Out>>> {
    let operation = "ewise_mult";
    let (at, values) = match (full(a), full(b)) {
        (Some(x), Some(y)) => (&x.pattern, cpu::zipped(operation, (&x.values, &y.values), F::apply)?),
        (Some(x), None) => {
            let (all, few) = (&x.values[..], Cpu.csr(&b.body)?);
            let indices = &few.pattern.indices;
            (&few.pattern, cpu::zipped(operation, (indices, &few.values), move |j, y| F::apply(all[j as usize], y))?)
        }
        (None, Some(y)) => {
            let (few, all) = (Cpu.csr(&a.body)?, &y.values[..]);
            let indices = &few.pattern.indices;
            (&few.pattern, cpu::zipped(operation, (indices, &few.values), move |j, x| F::apply(x, all[j as usize]))?)
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(a.holding(Body::Host(HostCsr::at(at.clone(), values)))))
}

/// The places for which f holds: bits beside the values, or their list, where they are few.
pub(super) fn selected<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
    a: &Store<A>,
    y: Y,
) -> Result<Option<Store<A>>> {
    let (Some(list), Axis::Full(_), Axis::Full(1)) = (full(a), &a.cols, &a.rows) else { return Ok(None) };
    let (operation, n, values) = ("select", list.values.len(), &list.values[..]);
    let words = cpu::in_pieces(operation, n.div_ceil(64), move |w| {
        let some = &values[w << 6..n.min((w + 1) << 6)];
        let bit = |(k, x): (usize, &A)| (F::apply(*x, 0, (w << 6 | k) as i64, y) as u64) << k;
        some.iter().enumerate().map(bit).fold(0, |word, bit| word | bit)
    })?;
    let made = Dense::of_bits(words, list.values.clone());
    Ok(Some(a.holding(match made.places().count() < n / super::MANY {
        true => Body::Host(made.listed(operation)?.clone()),
        false => Body::Dense(made),
    })))
}

/// A copy of all values, but f of those that the entries of a list meet.
fn met<T: Scalar, U: Scalar>(
    operation: &'static str,
    all: &[T],
    few: &HostCsr<U>,
    f: impl Fn(T, U) -> T + Copy + Sync,
) -> Result<Vec<T>> {
    let mut made = unwritten::<T>(operation, all.len())?;
    let (to, indices) = (Shared::new(&mut made), &few.pattern.indices);
    each_piece(all.len(), SERIAL, &|piece| {
        // SAFETY: pieces are disjoint.
        let part = unsafe { to.part(piece.clone()) };
        part.write_copy_of_slice(&all[piece.clone()]);
        let entry = |place: usize| indices.partition_point(|j| (*j as usize) < place);
        let entries = entry(piece.start)..entry(piece.end);
        for (j, y) in indices[entries.clone()].iter().zip(&few.values[entries]) {
            part[*j as usize - piece.start] = MaybeUninit::new(f(all[*j as usize], *y));
        }
    });
    // SAFETY: every piece was written.
    Ok(unsafe { written(made, all.len()) })
}

/// Puts `f` of what is there and of each entry of a row where `admits` holds into a row with all entries.
pub(super) fn update<T: Scalar, U: Scalar>(
    operation: &'static str,
    list: &mut HostCsr<T>,
    row: &HostCsr<U>,
    admits: Admits<'_>,
    f: impl Fn(Option<T>, U) -> T + Sync,
) -> Result<()> {
    if row.pattern.nnz() == 0 {
        return Ok(());
    }
    let Some(values) = list.own_values(operation)? else { return Ok(()) };
    cpu::placed(operation, &row.pattern.indices, (&mut [], values), &|part| {
        for (j, new) in row.pattern.indices[part.entries.clone()].iter().zip(&row.values[part.entries]) {
            if admits.is_none_or(|admits| admits(0, *j)) {
                let value = &mut part.values[*j as usize - part.first];
                *value = f(Some(*value), *new);
            }
        }
        0
    })
    .map(drop)
}

#[cfg(test)]
mod tests {
    use crate::algebra::OperatorText;
    use crate::prelude::*;
    use std::cell::Cell;

    thread_local! { static HERE: Cell<bool> = const { Cell::new(false) } }

    /// x + y on the test's own thread, which no pool has.
    #[derive(Clone, Copy, Debug)]
    struct PlusHere;
    impl BinaryOp<i64, i64> for PlusHere {
        type Out = i64;
        const TEXT: OperatorText = <Plus as BinaryOp<i64, i64>>::TEXT;
        fn apply(x: i64, y: i64) -> i64 {
            assert!(HERE.get(), "the reference has one thread");
            x + y
        }
    }

    #[test]
    fn the_reference_keeps_to_its_own_way() {
        HERE.set(true);
        let full: Vector<i64> = Vector::from_full((0..2000).collect()).unwrap().to(&Device::Reference).unwrap();
        let mut c = full.clone();
        apply(&full, Identity).accumulate(PlusHere).into(&mut c).unwrap();
        assign_vector(&full, ..).accumulate(PlusHere).into(&mut c).unwrap();
        assert_eq!(c.entries().unwrap(), (0..2000).map(|i| (i, 3 * i as i64)).collect::<Vec<_>>());
        let both = [ewise_add(&full, &c, PlusHere).eval(), ewise_mult(&full, &c, PlusHere).eval()];
        both.into_iter().for_each(|sums| assert_eq!(sums.unwrap().get(7).unwrap(), Some(28)));
    }
}
