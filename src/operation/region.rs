//! Indices against axes: sub-matrices taken out of stores, and stores spread over a part of another one's axes.
use super::indices::Chosen;
use crate::algebra::Scalar;
use crate::backend::places::{How, Moves, NONE, Within};
use crate::backend::{Body, cpu, on_backend};
use crate::error::{Error, Result};
use crate::format::still_iso;
use crate::memory;
use crate::storage::axis::{self, Axis, check_places};
use crate::storage::bitmap::Bitmap;
use crate::storage::listing::is_hypersparse;
use crate::storage::store::Store;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The rows and columns meant.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) rows: Chosen,
    pub(super) cols: Chosen,
}

impl Part {
    pub(super) fn shape(&self) -> (u64, u64) {
        (self.rows.count(), self.cols.count())
    }
    /// Rows and columns side by side of axes with a place for every index.
    #[cfg(feature = "cuda")]
    pub(super) fn area(&self, axes: (&Axis, &Axis)) -> Option<(Range<usize>, Range<usize>)> {
        let range = |axis: &Axis, chosen: &Chosen| match (full_places(axis)?, chosen) {
            (n, Chosen::All(_)) => Some(0..n as usize),
            (_, Chosen::Range(range)) => Some(range.start as usize..range.end as usize),
            _ => None,
        };
        Some((range(axes.0, &self.rows)?, range(axes.1, &self.cols)?))
    }
    pub(super) fn transposed(self) -> Self {
        Self { rows: self.cols, cols: self.rows }
    }
}

/// Places are counted in 32 bits.
fn counted(operation: &'static str, value: usize) -> Result<u32> {
    axis::counted(operation, "number of indices", value as u64)
}

fn full_places(axis: &Axis) -> Option<u32> {
    match axis {
        Axis::Full(n) => Some(*n),
        Axis::Listed { .. } => None,
    }
}

/// The ids of a listed axis; none of a full one.
fn ids_of(axis: &Axis) -> &[u64] {
    match axis {
        Axis::Full(_) => &[],
        Axis::Listed { ids, .. } => ids,
    }
}

/// The axis that has the chosen indices of `axis` as 0, 1, 2 …, and where its places come from; `None`: as they are.
fn taken_axis(operation: &'static str, axis: &Axis, chosen: &Chosen) -> Result<(Axis, Option<Moves>)> {
    let count = chosen.count();
    let short = u32::try_from(count).ok();
    match chosen {
        Chosen::All(_) => Ok((axis.clone(), None)),
        Chosen::Range(range) => {
            if full_places(axis).is_some() {
                let (from, len) = (range.start as u32, count as u32);
                return Ok((
                    Axis::Full(len),
                    Some(Moves { places: len as usize, how: How::Range { from, len, to: 0 } }),
                ));
            }
            let ids = ids_of(axis);
            let (p, q) = (ids.partition_point(|i| *i < range.start), ids.partition_point(|i| *i < range.end));
            if let Some(n) = short.filter(|_| !is_hypersparse(count, (q - p) as u64)) {
                let mut pairs = memory::with_capacity(operation, q - p)?;
                pairs.extend((p..q).map(|place| (place as u32, (ids[place] - range.start) as u32)));
                return Ok((Axis::Full(n), Some(Moves::of_pairs(pairs, n as usize))));
            }
            let mut kept = memory::with_capacity(operation, q - p)?;
            kept.extend(ids[p..q].iter().map(|i| i - range.start));
            let moves = Moves { places: q - p, how: How::Range { from: p as u32, len: (q - p) as u32, to: 0 } };
            Ok((Axis::of_ids(operation, count, kept)?, Some(moves)))
        }
        Chosen::Stride { .. } | Chosen::List(_) if let (Axis::Full(_), Some(n)) = (axis, short) => {
            let pairs = cpu::in_pieces(operation, n as usize, |k| (chosen.index(k as u64) as u32, k as u32))?;
            Ok((Axis::Full(n), Some(Moves::of_pairs(pairs, n as usize))))
        }
        Chosen::Stride { start, step, .. } => {
            let ids = ids_of(axis);
            let position = |id| Chosen::position_in_stride(*start, *step, count, id);
            let met = cpu::kept(operation, ids.len(), |place| Some((place as u32, position(ids[place])?)))?;
            renumbered(operation, met, count)
        }
        Chosen::List(list) => {
            counted(operation, list.len())?;
            let met = match each_once(chosen) {
                true => {
                    let places = cpu::listed_among(operation, list, ids_of(axis))?;
                    cpu::kept(operation, list.len(), |k| (places[k] != NONE).then(|| (places[k], k as u64)))?
                }
                false => cpu::kept(operation, list.len(), |k| Some((axis.place(list[k])? as u32, k as u64)))?,
            };
            renumbered(operation, met, count)
        }
    }
}

/// Places and the indices below `n` that they get, each once.
fn renumbered(operation: &'static str, mut met: Vec<(u32, u64)>, n: u64) -> Result<(Axis, Option<Moves>)> {
    let mut pairs = memory::with_capacity(operation, met.len())?;
    if let (Ok(n), false) = (u32::try_from(n), is_hypersparse(n, met.len() as u64)) {
        pairs.extend(met.iter().map(|(place, k)| (*place, *k as u32)));
        return Ok((Axis::Full(n), Some(Moves::of_pairs(pairs, n as usize))));
    }
    met.sort_unstable_by_key(|m| m.1);
    let mut ids = memory::with_capacity(operation, met.len())?;
    for (to, (place, k)) in met.iter().enumerate() {
        ids.push(*k);
        pairs.push((*place, to as u32));
    }
    let places = ids.len();
    Ok((Axis::of_ids(operation, n, ids)?, Some(Moves::of_pairs(pairs, places))))
}

/// The axis of the target's kind on which the places of `axis`, which are positions in `chosen`, stand at the indices
/// they mean; of positions with one index the last counts.
fn spread_axis(operation: &'static str, axis: &Axis, chosen: &Chosen, target: &Axis) -> Result<(Axis, Option<Moves>)> {
    let n = target.n();
    match chosen {
        Chosen::All(_) => Ok((axis.clone(), None)),
        Chosen::Range(range) => {
            if let (Some(_), Axis::Listed { ids, .. }) = (full_places(target), axis) {
                let mut pairs = memory::with_capacity(operation, ids.len())?;
                pairs.extend(ids.iter().enumerate().map(|(place, id)| (place as u32, (range.start + id) as u32)));
                return Ok((Axis::Full(n as u32), Some(Moves::of_pairs(pairs, n as usize))));
            }
            if full_places(target).is_some() {
                let how = How::Range { from: 0, len: axis.places() as u32, to: range.start as u32 };
                return Ok((Axis::Full(n as u32), Some(Moves { places: n as usize, how })));
            }
            let ids = cpu::in_pieces(operation, axis.places(), |place| range.start + axis.id(place))?;
            Ok((Axis::of_ids(operation, n, ids)?, None))
        }
        Chosen::Stride { .. } | Chosen::List(_) => {
            if let (Some(n), Axis::Full(places)) = (full_places(target), axis)
                && *places >= n / MANY
            {
                let pairs = winners(operation, chosen, *places, n)?;
                return Ok((Axis::Full(n), Some(Moves::of_pairs(pairs, n as usize))));
            }
            // By index, then by position: the last of each index stays.
            let mut met: Vec<(u64, u32)> = memory::with_capacity(operation, axis.places())?;
            met.extend((0..axis.places()).map(|place| (chosen.index(axis.id(place)), place as u32)));
            if !met.is_sorted() {
                met.sort_unstable();
            }
            let mut last: Vec<(u64, u32)> = memory::with_capacity(operation, met.len())?;
            for (index, place) in met {
                match last.last_mut() {
                    Some(before) if before.0 == index => before.1 = place,
                    _ => last.push((index, place)),
                }
            }
            overruled(operation, axis, chosen, &mut last)?;
            let mut pairs = memory::with_capacity(operation, last.len())?;
            if full_places(target).is_some() {
                pairs.extend(last.iter().map(|(index, place)| (*place, *index as u32)));
                return Ok((Axis::Full(n as u32), Some(Moves::of_pairs(pairs, n as usize))));
            }
            let mut ids = memory::with_capacity(operation, last.len())?;
            for (to, (index, place)) in last.iter().enumerate() {
                ids.push(*index);
                pairs.push((*place, to as u32));
            }
            let places = ids.len();
            Ok((Axis::of_ids(operation, n, ids)?, Some(Moves::of_pairs(pairs, places))))
        }
    }
}

/// Positions that one thread puts into a table.
const PIECE: usize = if cfg!(test) { 1 << 3 } else { 1 << 14 };

/// The part of a target's indices that are so many that looking at all of them is less work than sorting the chosen ones.
const MANY: u32 = 16;

/// Each position below `places` with its index below `n`, ascending; of positions with one index the last alone.
fn winners(operation: &'static str, chosen: &Chosen, places: u32, n: u32) -> Result<Vec<(u32, u32)>> {
    let (places, index) = (places as usize, |place: usize| chosen.index(place as u64) as usize);
    if each_once(chosen) {
        return cpu::in_pieces(operation, places, |place| (place as u32, index(place) as u32));
    }
    // The largest position is the last: whichever thread comes first.
    let last = cpu::in_pieces(operation, n as usize, |_| AtomicU32::new(0))?;
    cpu::each_piece(places, PIECE, &|piece| {
        piece.for_each(|place| _ = last[index(place)].fetch_max(place as u32, Ordering::Relaxed));
    });
    let wins = |place: usize| last[index(place)].load(Ordering::Relaxed) == place as u32;
    cpu::kept(operation, places, |place| wins(place).then(|| (place as u32, index(place) as u32)))
}

/// Whether no index comes twice, as far as a look at the order tells.
fn each_once(chosen: &Chosen) -> bool {
    match chosen {
        Chosen::List(list) => cpu::ascends(list.len(), |k| list[k], |x, y| x < y),
        _ => true,
    }
}

/// Takes away the places whose index comes again in the list, at a position that has no place: ascending indices and places.
fn overruled(operation: &'static str, axis: &Axis, chosen: &Chosen, last: &mut Vec<(u64, u32)>) -> Result<()> {
    // Where all positions have places, the last one of an index was among them.
    let (Axis::Listed { .. }, Chosen::List(list)) = (axis, chosen) else { return Ok(()) };
    if list.is_sorted_by(|x, y| x < y) {
        return Ok(());
    }
    let mut positions = memory::filled(operation, last.len(), 0)?;
    for (position, index) in list.iter().enumerate() {
        if let Ok(found) = last.binary_search_by_key(index, |l| l.0) {
            positions[found] = position as u64;
        }
    }
    let mut positions = positions.into_iter();
    last.retain(|(_, place)| positions.next() == Some(axis.id(*place as usize)));
    Ok(())
}

/// The places of an axis that the chosen indices have.
pub(super) fn within(operation: &'static str, axis: &Axis, chosen: &Chosen) -> Result<Within> {
    let bits = match (chosen, axis) {
        (Chosen::All(_), _) => return Ok(Within::All),
        (Chosen::Range(range), Axis::Full(_)) => return Ok(Within::Range(range.start as u32..range.end as u32)),
        (Chosen::Range(range), Axis::Listed { ids, .. }) => {
            let place = |index: u64| ids.partition_point(|i| *i < index) as u32;
            return Ok(Within::Range(place(range.start)..place(range.end)));
        }
        (Chosen::Stride { start, step, count }, Axis::Listed { ids, .. }) => {
            let meant = |place: usize| Chosen::position_in_stride(*start, *step, *count, ids[place]).is_some();
            Bitmap::of(operation, ids.len(), ids.len(), |place| meant(place).then_some(place as u32))?
        }
        _ => Bitmap::of(operation, axis.places(), chosen.count() as usize, |k| {
            axis.place(chosen.index(k as u64)).map(|place| place as u32)
        })?,
    };
    Ok(Within::Some(bits))
}

/// An axis of one kind with `target` that has places for the chosen indices and no others, where it is listed.
fn axis_of(operation: &'static str, target: &Axis, chosen: &Chosen) -> Result<Axis> {
    let Axis::Listed { n, .. } = target else { return Ok(target.clone()) };
    if matches!(chosen, Chosen::All(_)) {
        if let Ok(n) = u32::try_from(*n) {
            return Ok(Axis::Full(n));
        }
        let reason = format!("{n} values are asked for, one at every index");
        return Err(Error::InvalidValue { operation, reason });
    }
    // Of a list some may be the same.
    if !matches!(chosen, Chosen::List(_)) {
        check_places(operation, chosen.count().into())?;
    }
    let mut all: Vec<u64> = memory::with_capacity(operation, usize::try_from(chosen.count()).unwrap_or(usize::MAX))?;
    all.extend((0..chosen.count()).map(|k| chosen.index(k)));
    if !all.is_sorted() {
        all.sort_unstable();
    }
    all.dedup();
    Axis::of_ids(operation, *n, all)
}

fn moved<T: Scalar>(
    operation: &'static str,
    a: &Store<T>,
    rows: (Axis, Option<Moves>),
    cols: (Axis, Option<Moves>),
) -> Result<Store<T>> {
    // Values that are all one need not be looked at to be moved.
    let (given, blank) = (a, crate::format::blank(a)?);
    let a = blank.as_ref().unwrap_or(a);
    if rows.1.is_some() || cols.1.is_some() {
        let body = on_backend!(a.device, |backend| {
            backend.window(backend.csr(&a.body)?, rows.1.as_ref(), cols.1.as_ref())?.map(Body::from)
        });
        if let Some(body) = body {
            return still_iso(given, Store { rows: rows.0, cols: cols.0, body, device: a.device });
        }
    }
    let sources = rows.1.map(|moves| moves.sources(operation)).transpose()?;
    let body = on_backend!(a.device, |backend| {
        let csr = backend.csr(&a.body)?;
        Body::from(match (&sources, &cols.1) {
            (sources, Some(moves)) => backend.gather(csr, sources.as_deref(), moves)?,
            (Some(sources), None) => backend.extract_rows(csr, sources)?,
            (None, None) => csr.clone(),
        })
    });
    still_iso(given, Store { rows: rows.0, cols: cols.0, body, device: a.device })
}

/// T(p, q) = A(rows[p], cols[q]).
pub(super) fn taken<T: Scalar>(operation: &'static str, a: &Store<T>, part: &Part) -> Result<Store<T>> {
    #[cfg(feature = "cuda")]
    if let Some(area) = part.area((&a.rows, &a.cols))
        && let (Ok(m), Ok(n)) = (u32::try_from(area.0.len()), u32::try_from(area.1.len()))
        && m > 1
        && n > 1
        && let Some(body) = crate::format::window(a, &area)?
    {
        return Ok(Store { rows: Axis::Full(m), cols: Axis::Full(n), body, device: a.device });
    }
    let rows = taken_axis(operation, &a.rows, &part.rows)?;
    moved(operation, a, rows, taken_axis(operation, &a.cols, &part.cols)?)
}

/// T(rows[p], cols[q]) = A(p, q), on axes like the target's; of pairs with one position the last counts.
pub(super) fn spread<T: Scalar>(
    operation: &'static str,
    a: &Store<T>,
    part: &Part,
    target: (&Axis, &Axis),
) -> Result<Store<T>> {
    let fewer = a.listed((target.0.is_listed(), target.1.is_listed()), operation)?;
    let a = fewer.as_ref().unwrap_or(a);
    let rows = spread_axis(operation, &a.rows, &part.rows, target.0)?;
    moved(operation, a, rows, spread_axis(operation, &a.cols, &part.cols, target.1)?)
}

/// The same indices, each once and ascending.
fn ascending(operation: &'static str, chosen: &Chosen) -> Result<Chosen> {
    Ok(match chosen {
        Chosen::Stride { step: step @ ..0, count, .. } if *step > i64::MIN => {
            Chosen::Stride { start: chosen.index(count - 1), step: -step, count: *count }
        }
        Chosen::List(list) if !list.is_sorted_by(|x, y| x < y) => {
            let mut list = memory::copied(operation, list)?;
            list.sort_unstable();
            list.dedup();
            Chosen::List(Arc::new(list))
        }
        _ => chosen.clone(),
    })
}

fn block<T: Scalar>(
    device: crate::device::Device,
    shape: (usize, usize),
    (rows, cols): (Range<u32>, Range<u32>),
    value: T,
) -> Result<Option<Body<T>>> {
    Ok(on_backend!(device, |backend| { backend.block(shape, rows, cols, value)?.map(Body::from) }))
}

/// `value` at every position of the part, on axes like the target's.
pub(super) fn dense<T: Scalar>(
    operation: &'static str,
    value: T,
    part: &Part,
    target: (&Axis, &Axis),
    device: crate::device::Device,
) -> Result<Store<T>> {
    use crate::algebra::Second;
    use crate::storage::pattern::Pattern;
    if part.rows.count() == 0 || part.cols.count() == 0 {
        return Store::empty_on(operation, target.0.clone(), target.1.clone(), device);
    }
    let (rows, cols) = (axis_of(operation, target.0, &part.rows)?, axis_of(operation, target.1, &part.cols)?);
    let down = within(operation, &rows, &part.rows)?;
    if let crate::device::Device::Cuda(_) = device {
        let across = within(operation, &cols, &part.cols)?;
        let between = |within: &Within, axis: &Axis| match within {
            Within::All => Some(0..axis.places() as u32),
            Within::Range(range) => Some(range.clone()),
            Within::Some(_) => None,
        };
        if let (Some(i), Some(j)) = (between(&down, &rows), between(&across, &cols))
            && let Some(body) = block(device, (rows.places(), cols.places()), (i, j), value)?
        {
            return Ok(Store { rows, cols, body, device });
        }
        let part = Part { rows: ascending(operation, &part.rows)?, cols: ascending(operation, &part.cols)? };
        let (m, n) = (part.rows.count() as usize, part.cols.count() as usize);
        let (m, n) = (counted(operation, m)?, counted(operation, n)?);
        if let Some(body) = block(device, (m as usize, n as usize), (0..m, 0..n), value)? {
            return spread(operation, &Store { rows: Axis::Full(m), cols: Axis::Full(n), body, device }, &part, target);
        }
    }
    // Before positions are looked for and listed.
    let entries = least(&part.rows).saturating_mul(least(&part.cols));
    if !matches!(device, crate::device::Device::Cuda(_)) {
        memory::check(operation, entries.saturating_mul(4 + size_of::<T>() as u64))?;
    }
    // A column of entries times a row of entries.
    let offsets = cpu::scan(operation, rows.places(), |r| u64::from(down.has(r as u32)))?;
    let count = offsets[rows.places()] as usize;
    let pattern = Pattern::new(rows.places(), 1, offsets, cpu::filled(operation, count, 0)?);
    let ones = cpu::filled(operation, count, 0u8)?;
    let left = Store::host(rows.clone(), Axis::Full(1), pattern, ones, crate::device::Device::Cpu).to(device)?;
    let indices = meant(operation, &cols, &part.cols)?;
    let count = indices.len();
    let pattern = Pattern::new(1, cols.places(), vec![0, count as u64], indices);
    let values = cpu::filled(operation, count, value)?;
    let right = Store::host(Axis::Full(1), cols.clone(), pattern, values, crate::device::Device::Cpu).to(device)?;
    let body = on_backend!(device, |backend| {
        Body::from(backend.kronecker::<u8, T, Second>(backend.csr(&left.body)?, backend.csr(&right.body)?)?)
    });
    Ok(Store { rows, cols, body, device })
}

/// As many indices as there are at least: a list may have one again and again.
fn least(chosen: &Chosen) -> u64 {
    if let Chosen::List(_) = chosen { 1 } else { chosen.count() }
}

/// The places that are chosen, ascending: looked for one by one where they are few.
fn meant(operation: &'static str, axis: &Axis, chosen: &Chosen) -> Result<Vec<u32>> {
    const FEW: u64 = 16;
    if chosen.count() > axis.places() as u64 / FEW {
        let within = within(operation, axis, chosen)?;
        return cpu::kept(operation, axis.places(), |c| within.has(c as u32).then_some(c as u32));
    }
    let listed = ascending(operation, chosen)?;
    let mut places = memory::with_capacity(operation, listed.count() as usize)?;
    places.extend((0..listed.count()).filter_map(|q| axis.place(listed.index(q))).map(|place| place as u32));
    // A step of −2⁶³ is not turned round.
    if !places.is_sorted() {
        places.sort_unstable();
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;
    use std::collections::BTreeMap;

    #[test]
    fn more_indices_than_places_are_refused_before_they_are_listed() {
        let target = Axis::listed(1 << 40);
        for chosen in [Chosen::Range(5..(1 << 32) + 5), Chosen::Stride { start: 0, step: 3, count: 1 << 32 }] {
            let refused = axis_of("test", &target, &chosen);
            assert!(matches!(refused, Err(Error::IndexOverflow { value: 0x1_0000_0000, .. })), "{refused:?}");
        }
        let again = Chosen::List(Arc::new(vec![9, 7, 9]));
        assert_eq!(axis_of("test", &target, &again).unwrap().places(), 2);
    }

    #[test]
    fn the_last_of_an_index_wins_on_any_number_of_threads() {
        let mut random = Random::new(6, 0);
        for (n, places) in [(1, 1), (1, 500), (7, 300), (400, 300), (4000, 300), (64, 65)] {
            let any: Vec<u64> = (0..places).map(|_| random.below(n)).collect();
            let mut ascending = any.clone();
            ascending.sort_unstable();
            let mut once = ascending.clone();
            once.dedup();
            for list in [any, ascending, once] {
                let last: BTreeMap<u64, u32> = list.iter().copied().zip(0..).collect();
                let mut expected: Vec<(u32, u32)> = last.iter().map(|(index, place)| (*place, *index as u32)).collect();
                expected.sort_unstable();
                let (axis, chosen) = (Axis::Full(n as u32), Chosen::List(Arc::new(list.clone())));
                for threads in [1, 2, 8] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    let made = pool.install(|| winners("test", &chosen, list.len() as u32, n as u32).unwrap());
                    assert_eq!(made, expected);
                    let Within::Some(bits) = pool.install(|| within("test", &axis, &chosen).unwrap()) else { panic!() };
                    assert!((0..n).all(|index| bits.get(index as u32) == last.contains_key(&index)));
                    let moves = Moves::of_pairs(made, n as usize);
                    let sources = pool.install(|| moves.sources("test").unwrap());
                    let source = |index: u64| last.get(&index).copied().unwrap_or(crate::backend::places::NONE);
                    assert_eq!(sources, (0..n).map(source).collect::<Vec<_>>());
                }
            }
        }
    }
}
