//! Memory limits around an operation: what a device counts by itself, what is foreseen on the host.
use super::factors;
use crate::algebra::Scalar;
use crate::device::Device;
#[cfg(feature = "cuda")]
use crate::error::Error;
use crate::error::Result;
use crate::storage::store::Store;

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
    let (value, made) = (size_of::<C>() as u64, 4 + size_of::<T>() as u64);
    // Of an entry while it is merged, and of a row.
    let (entry, row) = if c.device == Device::Reference { (160 + value, 176) } else { (5 * (4 + value), 40) };
    let rows = (c.rows.places() as u64 + 1).saturating_mul(row);
    let merged = c.nvals().saturating_add(t.nvals()).saturating_mul(entry);
    let needed = t.nvals().saturating_mul(made).saturating_add(merged).saturating_add(rows);
    factors::beside(operation, limit, needed).map(|_| ())
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
