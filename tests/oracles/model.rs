//! Matrices as ordered maps, and the standard's rules written down entry by entry.
#![allow(dead_code)]
use oplus::prelude::*;
use quickcheck::{Arbitrary, Gen};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) type Entries = BTreeMap<(u64, u64), i32>;

/// A matrix of this shape; a vector of length n is one row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Model {
    pub(crate) shape: (u64, u64),
    pub(crate) entries: Entries,
}

impl Model {
    pub(crate) fn arbitrary(g: &mut Gen, shape: (u64, u64)) -> Self {
        let mut entries = Entries::new();
        if shape.0 > 0 && shape.1 > 0 {
            for _ in 0..u64::arbitrary(g) % (2 * (shape.0.min(12) + shape.1.min(12))) {
                entries.insert((index(g, shape.0), index(g, shape.1)), i32::arbitrary(g) % 4);
            }
        }
        Model { shape, entries }
    }
    pub(crate) fn of(m: &Matrix<i32>) -> Self {
        let entries = m.entries().unwrap().into_iter().map(|(i, j, v)| ((i, j), v)).collect();
        Model { shape: m.shape(), entries }
    }
    pub(crate) fn of_vector(v: &Vector<i32>) -> Self {
        let entries = v.entries().unwrap().into_iter().map(|(j, v)| ((0, j), v)).collect();
        Model { shape: (1, v.len()), entries }
    }
    pub(crate) fn matrix(&self, device: Device) -> Matrix<i32> {
        let list: Vec<_> = self.entries.iter().map(|((i, j), v)| (*i, *j, *v)).collect();
        Matrix::build(self.shape.0, self.shape.1, &list).unwrap().to(&device).unwrap()
    }
    pub(crate) fn vector(&self, device: Device) -> Vector<i32> {
        assert_eq!(self.shape.0, 1);
        let list: Vec<_> = self.entries.iter().map(|((_, j), v)| (*j, *v)).collect();
        Vector::build(self.shape.1, &list).unwrap().to(&device).unwrap()
    }
    pub(crate) fn transposed(&self) -> Model {
        let entries = self.entries.iter().map(|((i, j), v)| ((*j, *i), *v)).collect();
        Model { shape: (self.shape.1, self.shape.0), entries }
    }
    pub(crate) fn get(&self, i: u64, j: u64) -> Option<i32> {
        self.entries.get(&(i, j)).copied()
    }
    /// Entries by a function of all positions in use.
    fn by(&self, positions: BTreeSet<(u64, u64)>, f: impl Fn(u64, u64) -> Option<i32>) -> Model {
        let entries = positions.into_iter().filter_map(|(i, j)| f(i, j).map(|v| ((i, j), v))).collect();
        Model { shape: self.shape, entries }
    }
    fn positions(&self) -> BTreeSet<(u64, u64)> {
        self.entries.keys().copied().collect()
    }
}

/// An index below n: of a long dimension one of a few.
pub(crate) fn index(g: &mut Gen, n: u64) -> u64 {
    if n > 1000 { (u64::arbitrary(g) % 8) * (n / 9) + u64::arbitrary(g) % 3 } else { u64::arbitrary(g) % n }
}

/// Small, now and then none, now and then beyond 2³².
pub(crate) fn dimension(g: &mut Gen) -> u64 {
    match u8::arbitrary(g) {
        0..12 => 0,
        12..30 => 1,
        30..60 => 1 << 40,
        60..70 => u64::MAX,
        _ => u64::arbitrary(g) % 14 + 1,
    }
}

/// Indices of a dimension, and what they are one by one.
#[derive(Clone, Debug)]
pub(crate) struct Pick {
    pub(crate) indices: Indices,
    pub(crate) list: Vec<u64>,
}

impl Pick {
    pub(crate) fn arbitrary(g: &mut Gen, n: u64) -> Pick {
        let of = |indices: Indices, list: Vec<u64>| Pick { indices, list };
        let some = |g: &mut Gen| index(g, n);
        match u8::arbitrary(g) % 6 {
            _ if n == 0 => of((..).into(), vec![]),
            0 if n < 1000 => of((..).into(), (0..n).collect()),
            1 => {
                let (a, length) = (some(g), u64::arbitrary(g) % 9);
                let b = a.saturating_add(length).min(n);
                of((a..b).into(), (a..b).collect())
            }
            2 if n < 1000 => {
                let a = some(g);
                of((a..).into(), (a..n).collect())
            }
            3 => {
                let (start, step, count) = (some(g), i64::arbitrary(g) % 4, u64::arbitrary(g) % 7);
                // A step that reaches entries of a long dimension.
                let step = if n > 1000 && step > 1 { (n / 9) as i64 } else { step };
                let list: Vec<u64> = (0..count as i128)
                    .map(|k| start as i128 + k * step as i128)
                    .take_while(|i| (0..n as i128).contains(i))
                    .take(if step == 0 { 1 } else { usize::MAX })
                    .map(|i| i as u64)
                    .collect();
                of(Indices::stride(start, step, list.len() as u64), list)
            }
            4 => {
                let mut list: Vec<u64> = (0..u8::arbitrary(g) % 9).map(|_| some(g)).collect();
                list.sort_unstable();
                list.dedup();
                of(list.clone().into(), list)
            }
            _ => {
                let list: Vec<u64> = (0..u8::arbitrary(g) % 12).map(|_| some(g)).collect();
                of(list.as_slice().into(), list)
            }
        }
    }
    /// The last position of an index.
    fn last(&self, index: u64) -> Option<usize> {
        self.list.iter().rposition(|i| *i == index)
    }
}

/// Mask, replace and accumulator of an operation.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) mask: Option<Model>,
    pub(crate) valued: bool,
    pub(crate) complement: bool,
    pub(crate) replace: bool,
    pub(crate) accumulate: bool,
}

impl Options {
    pub(crate) fn arbitrary(g: &mut Gen, shape: (u64, u64)) -> Self {
        Options {
            mask: (u8::arbitrary(g) % 4 > 0).then(|| Model::arbitrary(g, shape)),
            valued: bool::arbitrary(g),
            complement: bool::arbitrary(g),
            replace: bool::arbitrary(g),
            accumulate: bool::arbitrary(g),
        }
    }
    pub(crate) fn admits(&self, i: u64, j: u64) -> bool {
        self.mask.as_ref().is_none_or(|m| {
            let listed = m.get(i, j).is_some_and(|v| !self.valued || v != 0);
            listed != self.complement
        })
    }
    /// The accumulator is c − t.
    pub(crate) fn combined(&self, c: Option<i32>, t: Option<i32>) -> Option<i32> {
        match (c, t) {
            (Some(c), Some(t)) if self.accumulate => Some(c.wrapping_sub(t)),
            (c, t) if self.accumulate => t.or(c),
            (_, t) => t,
        }
    }
    /// As the library's mask, of a matrix or, where `vector`, of a vector.
    pub(crate) fn library_mask(&self, device: Device, vector: bool) -> Option<Mask> {
        let m = self.mask.as_ref()?;
        let mask = match (vector, self.valued) {
            (false, true) => m.matrix(device).as_mask(),
            (false, false) => m.matrix(device).structure(),
            (true, true) => m.vector(device).as_mask(),
            (true, false) => m.vector(device).structure(),
        };
        Some(if self.complement { mask.complement() } else { mask })
    }
    /// C⟨M, replace⟩ ⊙= T.
    pub(crate) fn written(&self, c: &Model, t: &Model) -> Model {
        assert_eq!(c.shape, t.shape);
        c.by(&c.positions() | &t.positions(), |i, j| match self.admits(i, j) {
            true => self.combined(c.get(i, j), t.get(i, j)),
            false if self.replace => None,
            false => c.get(i, j),
        })
    }
}

/// What mask and replace of an assignment reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reach {
    All,
    Row(u64),
    Column(u64),
    Region,
}

/// C(rows, cols)⟨M⟩ ⊙= A; of indices that occur twice the last counts. The mask has the shape of what it reaches.
pub(crate) fn assigned(
    c: &Model,
    a: impl Fn(u64, u64) -> Option<i32>,
    rows: &Pick,
    cols: &Pick,
    options: &Options,
    reach: Reach,
) -> Model {
    let mut positions = c.positions();
    rows.list.iter().for_each(|i| positions.extend(cols.list.iter().map(|j| (*i, *j))));
    c.by(positions, |i, j| {
        let (old, place) = (c.get(i, j), rows.last(i).zip(cols.last(j)));
        let z = match place {
            Some((p, q)) => options.combined(old, a(p as u64, q as u64)),
            None => old,
        };
        let mask_place = match reach {
            Reach::All => Some((i, j)),
            Reach::Row(row) => (i == row).then_some((0, j)),
            Reach::Column(column) => (j == column).then_some((0, i)),
            Reach::Region => place.map(|(p, q)| (p as u64, q as u64)),
        };
        match mask_place {
            None => old,
            Some((p, q)) if options.admits(p, q) => z,
            Some(_) if options.replace && options.mask.is_some() => None,
            Some(_) => old,
        }
    })
}
