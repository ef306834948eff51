//! Entries of a vector at listed indices, looked up one by one, in the order in which they are asked for.
use super::indices::Chosen;
use crate::algebra::Scalar;
use crate::backend::host::HostCsr;
use crate::backend::{Body, cpu};
use crate::device::Device;
use crate::error::Result;
use crate::storage::axis::Axis;
use crate::storage::dense::Dense;
use crate::storage::pattern::Pattern;
use crate::storage::store::Store;

/// Bits for all places cost as much as so many searches in a list.
const PLACES: usize = 8;

/// t(p) = u(`chosen[p]`) of a row u of the CPU with a place for every index; `None` where it is stored otherwise, or a range is chosen,
/// whose entries are moved together. O(chosen), or that times the logarithm of u's entries, or O(u's length) where that is about as much.
pub(super) fn gathered<T: Scalar>(operation: &'static str, u: &Store<T>, chosen: &Chosen) -> Result<Option<Store<T>>> {
    let (Axis::Full(1), Axis::Full(_), Device::Cpu) = (&u.rows, &u.cols, u.device) else { return Ok(None) };
    let (Chosen::List(_) | Chosen::Stride { .. }, Ok(count)) = (chosen, u32::try_from(chosen.count())) else {
        return Ok(None);
    };
    let place = |p: usize| chosen.index(p as u64) as u32;
    let row = match &u.body {
        Body::Host(list) if list.pattern.is_full_row() => {
            let all = &list.values[..];
            let values = cpu::in_pieces(operation, count as usize, |p| all[place(p) as usize])?;
            HostCsr::at(cpu::full_row(operation, count as usize, &list.pattern)?, values)
        }
        Body::Host(list) if (count as usize) < list.pattern.ncols / PLACES => {
            looked_up(operation, count, &|p| list.pattern.find(0, place(p)).map(|e| list.values[e]))?
        }
        Body::Host(list) => {
            let bits = Dense::of(operation, list)?;
            looked_up(operation, count, &|p| bits.get(place(p)))?
        }
        Body::Dense(bits) => looked_up(operation, count, &|p| bits.get(place(p)))?,
        _ => return Ok(None),
    };
    Ok(Some(Store { rows: Axis::Full(1), cols: Axis::Full(count), body: Body::Host(row), device: u.device }))
}

/// The entries that `at` gives of so many places.
fn looked_up<T: Scalar>(
    operation: &'static str,
    n: u32,
    at: &(dyn Fn(usize) -> Option<T> + Sync),
) -> Result<HostCsr<T>> {
    let found = cpu::kept(operation, n as usize, |p| Some((p as u32, at(p)?)))?;
    let indices = cpu::in_pieces(operation, found.len(), |e| found[e].0)?;
    let values = cpu::in_pieces(operation, found.len(), |e| found[e].1)?;
    Ok(HostCsr::new(Pattern::new(1, n as usize, vec![0, found.len() as u64], indices), values))
}
