//! Assignments without a mask to a vector of the CPU that has a value at every place, or bits that say where: places of the region are
//! written where they lie. O(region), and O(n) where the vector gets its bits.
use super::assignment::Source;
use super::few::ascending;
use super::indices::Chosen;
use super::region::Part;
use crate::algebra::Scalar;
use crate::backend::cpu::{self, Cpu, Placed};
use crate::backend::host::HostCsr;
use crate::backend::{Backend, Body};
use crate::device::Device;
use crate::error::Result;
use crate::format::grown;
use crate::operation::Accumulate;
use crate::storage::axis::Axis;
use crate::storage::dense::Dense;
use crate::storage::store::Store;
use std::ops::Range;

const OPERATION: &str = "assign";

/// What comes to the positions of a region.
enum New<'a, T> {
    One(T),
    Nothing,
    List(&'a HostCsr<T>),
}

impl<T: Copy> New<'_, T> {
    /// What comes to each position of a range, in turn.
    fn of(&self, positions: Range<usize>) -> impl Iterator<Item = Option<T>> {
        let mut next = match self {
            New::List(list) => list.pattern.indices.partition_point(|p| (*p as usize) < positions.start),
            _ => 0,
        };
        positions.map(move |p| match self {
            New::One(value) => Some(*value),
            New::Nothing => None,
            New::List(list) => {
                let found = list.pattern.indices.get(next) == Some(&(p as u32));
                next += found as usize;
                found.then(|| list.values[next - 1])
            }
        })
    }
}

/// Writes the source to the chosen places of `c`: whether it did.
pub(super) fn assigned<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    c: &mut Store<C>,
    source: &Source<T>,
    part: &Part,
) -> Result<bool> {
    let (Axis::Full(1), Axis::Full(_), Device::Cpu) = (&c.rows, &c.cols, c.device) else { return Ok(false) };
    // Of a matrix of one row that row may not be meant.
    if part.rows.count() == 0 {
        return Ok(false);
    }
    let chosen = &part.cols;
    let (in_order, keeps) = (ascending(chosen), F::TEXT.is_some());
    // What comes again in a list is overwritten, but meets what was there once.
    let again = !in_order && matches!(chosen, Chosen::List(_));
    let Ok(count) = u32::try_from(chosen.count()) else { return Ok(false) };
    let count = count as usize;
    if matches!(chosen, Chosen::All(_)) || (again && keeps) {
        return Ok(false);
    }
    let new = match source {
        Source::Value(Some(value)) => New::One(*value),
        Source::Value(None) if keeps => return Ok(true),
        Source::Value(None) => New::Nothing,
        Source::Store(u @ Store { rows: Axis::Full(1), cols: Axis::Full(_), .. }, false) => {
            New::List(Cpu.csr(&u.body)?)
        }
        Source::Store(..) => return Ok(false),
    };
    let deletes = !keeps
        && match &new {
            New::One(_) => false,
            New::Nothing => count > 0,
            New::List(list) => list.pattern.nnz() < count,
        };
    let full = matches!(&c.body, Body::Host(list) if list.pattern.is_full_row());
    if !full && grown(OPERATION, c, count, true)?.is_none() {
        return Ok(false);
    }
    let places = cpu::in_pieces(OPERATION, count, |p| chosen.index(p as u64) as u32)?;
    if let (Body::Host(list), true) = (&mut c.body, full) {
        if !deletes {
            return written::<C, T, F>(list, (&places, in_order), &new).map(|()| true);
        }
        c.body = Body::Dense(Dense::of(OPERATION, list)?);
    }
    let Body::Dense(dense) = &mut c.body else { return Ok(false) };
    dense.put_at(OPERATION, (&places, in_order), &|part| put::<C, T, F>(part, &places, &new))?;
    Ok(true)
}

/// New entries, or none, at places that have bits: how many entries more there are.
fn put<C: Scalar, T: Scalar, F: Accumulate<C, T>>(part: Placed<'_, C>, places: &[u32], new: &New<'_, T>) -> isize {
    let mut more = 0;
    for (place, new) in places[part.entries.clone()].iter().zip(new.of(part.entries)) {
        let place = *place as usize - part.first;
        let (word, bit) = (&mut part.words[place >> 6], 1 << (place & 63));
        let value = &mut part.values[place];
        let old = (*word & bit != 0).then_some(*value);
        match F::combine(old, new) {
            Some(z) => {
                *value = z;
                *word |= bit;
                more += old.is_none() as isize;
            }
            None => {
                *word &= !bit;
                more -= old.is_some() as isize;
            }
        }
    }
    more
}

/// New values where all places have one, and keep one.
fn written<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    list: &mut HostCsr<C>,
    (places, in_order): (&[u32], bool),
    new: &New<'_, T>,
) -> Result<()> {
    let Some(values) = list.own_values(OPERATION)? else { return Ok(()) };
    let put = |part: Placed<'_, C>| {
        for (place, new) in places[part.entries.clone()].iter().zip(new.of(part.entries)) {
            let value = &mut part.values[*place as usize - part.first];
            *value = F::combine(Some(*value), new).unwrap_or(*value);
        }
        0
    };
    match in_order {
        true => cpu::placed(OPERATION, places, (&mut [], values), &put).map(drop),
        false => {
            put(Placed { entries: 0..places.len(), first: 0, words: &mut [], values });
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::generate::Random;
    use crate::prelude::*;

    #[test]
    fn parts_are_written_as_the_reference_writes_them() {
        parts_written(70, &[0, 15, 60, 100], &[0, 1, 40, 100]);
        // Of so many a list gets bits.
        parts_written(1100, &[15, 100], &[40, 100]);
    }

    #[test]
    fn no_row_is_written_where_none_is_meant() {
        for step in [1, 2, 50] {
            let entries: Vec<(u64, u64, i64)> = (0..2000).step_by(step).map(|j| (0, j, j as i64)).collect();
            let c: Matrix<i64> = Matrix::build(1, 2000, &entries).unwrap();
            let same = |what: &str, f: &dyn Fn(&mut Matrix<i64>) -> Result<()>| {
                let mut made = c.clone();
                f(&mut made).unwrap();
                assert!(made.entries().unwrap() == entries, "{what}, {step}");
            };
            same("a value", &|c| assign_scalar(7, 0..0, 0..1500).into(c));
            same("met", &|c| assign_scalar(7, Vec::<u64>::new(), Indices::stride(0, 2, 900)).accumulate(Plus).into(c));
            same("none", &|c| assign_empty::<i64>(Vec::<u64>::new(), 0..1500).into(c));
            same("of a part", &|c| subassign_scalar(7, 0..0, 0..1500).into(c));
        }
    }

    /// A vector of so many of a hundred places.
    fn some(random: &mut Random, n: u64, density: u64) -> Vector<i64> {
        let entries = (0..n).filter(|_| random.below(100) < density).collect::<Vec<_>>();
        let entries: Vec<(u64, i64)> = entries.into_iter().map(|i| (i, random.below(1000) as i64)).collect();
        Vector::build(n, &entries).unwrap()
    }

    /// Parts of vectors that are lists, full or have bits are written as the reference writes them; clones stay what they were.
    fn parts_written(n: u64, densities: &[u64], parts: &[u64]) {
        let mut random = Random::new(7, n);
        let mut ascending: Vec<u64> = (0..n).filter(|_| random.below(4) == 0).collect();
        let mut once = ascending.clone();
        (1..once.len()).for_each(|k| once.swap(k, random.below(k as u64 + 1) as usize));
        let again: Vec<u64> = (0..n / 3).map(|_| random.below(n)).collect();
        let count = |k: u64| n.div_ceil(k);
        let choices: Vec<(Indices, u64)> = vec![
            ((n / 5..n / 2).into(), n / 2 - n / 5),
            (Indices::stride(0, 3, count(3)), count(3)),
            (Indices::stride(n - 1, -2, count(2)), count(2)),
            ((&ascending[..]).into(), ascending.len() as u64),
            ((&once[..]).into(), once.len() as u64),
            ((&again[..]).into(), again.len() as u64),
            ((0..0).into(), 0),
        ];
        ascending.truncate(3);
        let few: Vector<i64> = Vector::build(n, &ascending.iter().map(|i| (*i, 5)).collect::<Vec<_>>()).unwrap();
        for density in densities.iter().copied() {
            let c = some(&mut random, n, density);
            for c in [c.clone(), c.to_bitmap().unwrap()] {
                for (indices, len) in &choices {
                    for part in parts.iter().copied() {
                        let u = some(&mut random, *len, part);
                        for u in [u.clone(), u.to_bitmap().unwrap()] {
                            written(&c, &u, |c, u| assign_vector(u, indices.clone()).into(c));
                            written(&c, &u, |c, u| subassign_vector(u, indices.clone()).accumulate(Minus).into(c));
                        }
                    }
                    written(&c, &few, |c, _| assign_scalar_vector(7, indices.clone()).into(c));
                    written(&c, &few, |c, _| assign_scalar_vector(7, indices.clone()).accumulate(Minus).into(c));
                    written(&c, &few, |c, _| assign_empty_vector::<i64>(indices.clone()).into(c));
                    written(&c, &few, |c, _| assign_empty_vector::<i64>(indices.clone()).accumulate(Plus).into(c));
                }
                for part in parts.iter().copied() {
                    let t = some(&mut random, n, part);
                    let m = some(&mut random, n, 50);
                    written(&c, &t, |c, t| apply(t, Identity).accumulate(Minus).into(c));
                    for m in [m.clone(), m.to_bitmap().unwrap()] {
                        let m = |c: &Vector<i64>| m.to(&c.device()).unwrap().structure();
                        written(&c, &t, |c, t| apply(t, Identity).mask(&m(c)).accumulate(Minus).into(c));
                        written(&c, &t, |c, t| apply(t, Identity).mask(&m(c).complement()).accumulate(Minus).into(c));
                        written(&c, &t, |c, _| assign_scalar_vector(7, ..).mask(&m(c)).into(c));
                    }
                    for (x, y) in [(&c, &t), (&t, &c)] {
                        written(x, y, |x, y| ewise_add(x, y, Minus).eval().map(|made| *x = made));
                        written(x, y, |x, y| ewise_mult(x, y, Minus).eval().map(|made| *x = made));
                        written(x, y, |x, y| ewise_union(x, 3, y, 5, Minus).eval().map(|made| *x = made));
                    }
                }
            }
        }
    }

    /// What `f` makes of `c`, once where it is nobody else's and once where it has a clone, and of the reference's.
    fn written(c: &Vector<i64>, u: &Vector<i64>, f: impl Fn(&mut Vector<i64>, &Vector<i64>) -> Result<()>) {
        let mut expected = c.to(&Device::Reference).unwrap();
        f(&mut expected, &u.to(&Device::Reference).unwrap()).unwrap();
        let (before, expected) = (c.entries().unwrap(), expected.entries().unwrap());
        // A copy of its own, in the same format.
        let alone = Vector::build(c.len(), &before).unwrap();
        let alone = if c.format() == Format::Bitmap { alone.to_bitmap().unwrap() } else { alone };
        for mut made in [c.clone(), alone] {
            f(&mut made, u).unwrap();
            assert_eq!(made.entries().unwrap(), expected);
            assert_eq!((made.nvals(), c.entries().unwrap() == before), (expected.len() as u64, true));
            // A second time, as what it has become.
            let mut again = Vector::build(c.len(), &expected).unwrap().to(&Device::Reference).unwrap();
            f(&mut again, &u.to(&Device::Reference).unwrap()).unwrap();
            f(&mut made, u).unwrap();
            assert_eq!(made.entries().unwrap(), again.entries().unwrap());
        }
    }
}
