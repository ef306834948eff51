//! Memory limits around an operation: what a device counts by itself, what is foreseen on the host.
use super::scale::Scaling;
use crate::algebra::Scalar;
use crate::backend::untyped::{UntypedBody, UntypedStore};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::storage::axis::Axis;
use crate::storage::store::Store;
use std::sync::Arc;

/// What a limit leaves beside so many bytes of host memory.
pub(super) fn beside(operation: &'static str, limit: u64, bytes: u64) -> Result<u64> {
    let left = limit.checked_sub(bytes);
    left.ok_or(Error::OutOfMemory { operation, device: "host".into(), needed: bytes, available: Some(limit) })
}

/// Whether a result on the host can be written to an output: both are merged, and what is merged waits for its place.
pub(super) fn fits<C: Scalar, T: Scalar>(
    operation: &'static str,
    limit: u64,
    c: &Store<C>,
    t: &Store<T>,
) -> Result<()> {
    if let Device::Cuda(_) = c.device {
        return Ok(());
    }
    let entries = c.nvals().saturating_add(t.nvals());
    let merged = made_anew(c.device, c.rows.places(), entries, size_of::<C>());
    let made = 4 + size_of::<T>() as u64;
    beside(operation, limit, t.nvals().saturating_mul(made).saturating_add(merged)).map(|_| ())
}

/// The most that rows of so many entries on the host take while they are made of others, with what waits for its place.
pub(super) fn made_anew(device: Device, rows: usize, entries: u64, value: usize) -> u64 {
    let value = value as u64;
    // Of an entry, and of a row.
    let (entry, row) = if device == Device::Reference { (160 + value, 176) } else { (5 * (4 + value), 40) };
    entries.saturating_mul(entry).saturating_add((rows as u64 + 1).saturating_mul(row))
}

/// Whether a step after C can be made in what a limit leaves beside it; one that keeps the positions may share them.
pub(super) fn step_fits<C: Scalar, T: Scalar>(
    operation: &'static str,
    left: Option<u64>,
    c: &Store<C>,
    keeps: bool,
) -> Result<()> {
    let Some(left) = left else { return Ok(()) };
    let value = size_of::<C>().max(size_of::<T>());
    let needed = match keeps && c.device != Device::Reference {
        true => c.nvals().saturating_mul(size_of::<T>() as u64),
        // Rows on their way to the step wait as well.
        false => made_anew(c.device, c.rows.places(), c.nvals(), value)
            .saturating_add(c.nvals().saturating_mul(3 * (4 + value as u64))),
    };
    beside(operation, left, needed).map(|_| ())
}

/// What a limit leaves beside what is stored on the host.
pub(super) fn beside_stored<T: Scalar>(
    operation: &'static str,
    limit: Option<u64>,
    t: &Store<T>,
) -> Result<Option<u64>> {
    let entries = t.nvals().saturating_mul(4 + size_of::<T>() as u64);
    let bytes = entries.saturating_add((t.rows.places() as u64 + 1) * 8);
    limit.map(|limit| beside(operation, limit, bytes)).transpose()
}

/// The most host memory that an operand takes on its way to what scaling makes of it.
pub(super) fn scaling_bytes((operand, turned): &(UntypedStore, bool), by: &[Arc<dyn Scaling>]) -> u64 {
    let Some(most) = by.iter().map(|scaling| scaling.bytes(operand)).max() else { return 0 };
    let turning = if *turned { operand.turning_bytes() } else { 0 };
    // Of several the one before is there too, and a list of what is none.
    let listed = if matches!(operand.body, UntypedBody::Host(_)) && by.len() == 1 { 0 } else { operand.bytes() };
    most.saturating_add(turning).saturating_add(listed)
}

/// Bytes of the list of what two axes have together.
pub(super) fn union_bytes(x: &Axis, y: &Axis) -> u64 {
    let both = x.is_listed() && y.is_listed() && !x.same(y);
    if both { 8 * (x.places() + y.places()) as u64 } else { 0 }
}

/// The most host memory that an operand takes on its way to these axes, turned before.
pub(super) fn aligning_bytes(operand: &UntypedStore, turned: bool, (rows, cols): &(Axis, Axis)) -> u64 {
    let turning = match &operand.body {
        _ if turned => operand.turning_bytes(),
        UntypedBody::Host(_) => 0,
        // What is no list becomes one.
        _ => operand.bytes(),
    };
    let from = if turned { (&operand.cols, &operand.rows) } else { (&operand.rows, &operand.cols) };
    if from.0.same(rows) && from.1.same(cols) {
        return turning;
    }
    // The columns of all entries, where rows end, and where places go.
    let (places, moved) = (rows.places() as u64 + 1, (from.0.places() + from.1.places()) as u64);
    turning.saturating_add(operand.body.nnz().saturating_mul(4)).saturating_add(8 * places + 4 * moved)
}

/// Where the device counts, `work` takes at most `limit` bytes at once.
#[cfg_attr(not(feature = "cuda"), allow(unused_variables))]
pub(super) fn limited<R>(
    operation: &'static str,
    limit: Option<u64>,
    device: Device,
    work: impl FnOnce() -> Result<R>,
) -> Result<R> {
    #[cfg(feature = "cuda")]
    if let (Some(limit), Device::Cuda(_)) = (limit, device) {
        let made = crate::backend::cuda::Cuda::on(device)?.within(limit, work);
        return made.map_err(|e| match e {
            Error::OutOfMemory { device, needed, available, .. } => {
                Error::OutOfMemory { operation, device, needed, available }
            }
            e => e,
        });
    }
    work()
}
