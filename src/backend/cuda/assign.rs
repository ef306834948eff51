//! Assignments out of what there is: places kept, merges and the rule by which results are written.
use super::{Cuda, DeviceCsr, DevicePattern};
use crate::algebra::{Scalar, Second};
use crate::backend::places::{Assigned, Region};
use crate::backend::{Backend, MaskOn};
use crate::error::Result;
use crate::operation::{Accumulate, Overwrite};
use std::sync::Arc;

const OPERATION: &str = "assign";

/// The entries of A at these places.
fn restricted<T: Scalar>(cuda: &Cuda, a: &DeviceCsr<T>, region: &Region) -> Result<DeviceCsr<T>> {
    let mut kept = a.clone();
    if let Some(moves) = region.rows.kept(a.pattern.nrows, OPERATION)? {
        kept = cuda.extract_rows(&kept, &moves.sources(OPERATION)?)?;
    }
    if let Some(moves) = region.cols.kept(a.pattern.ncols, OPERATION)? {
        kept = cuda.move_columns(&kept, &moves)?;
    }
    Ok(kept)
}

/// The entries of A at other places.
fn outside<T: Scalar>(cuda: &Cuda, a: &DeviceCsr<T>, region: &Region) -> Result<DeviceCsr<T>> {
    let none = cuda.empty(OPERATION, a.pattern.nrows, a.pattern.ncols)?;
    if region.is_all() {
        return Ok(none);
    }
    let inside = MaskOn { pattern: restricted(cuda, a, region)?.pattern, complement: false };
    cuda.write::<T, T, Overwrite>(a, &none, Some(&inside), false)
}

pub(super) fn assign<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    cuda: &Cuda,
    c: &DeviceCsr<C>,
    t: &DeviceCsr<T>,
    how: &Assigned,
    mask: Option<&MaskOn<Arc<DevicePattern>>>,
) -> Result<DeviceCsr<C>> {
    // Z: inside the region C ⊙ T or T, outside C.
    let z = if F::TEXT.is_some() {
        cuda.write::<C, T, F>(c, t, None, false)?
    } else {
        let none = cuda.empty(OPERATION, c.pattern.nrows, c.pattern.ncols)?;
        let new = cuda.write::<C, T, F>(&none, t, None, false)?;
        cuda.union::<C, Second>(&outside(cuda, c, &how.region)?, &new)?
    };
    let Some(mask) = mask else { return Ok(z) };
    if how.reach.is_all() || mask.complement || !how.replace {
        // Beyond the reach Z is C, and a mask that is not complemented admits nothing there.
        return cuda.write::<C, C, Overwrite>(c, &z, Some(mask), how.replace);
    }
    let none = cuda.empty(OPERATION, c.pattern.nrows, c.pattern.ncols)?;
    let admitted = cuda.write::<C, C, Overwrite>(&none, &z, Some(mask), true)?;
    cuda.union::<C, Second>(&outside(cuda, c, &how.reach)?, &admitted)
}
