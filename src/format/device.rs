//! Matrices and vectors on CUDA in other formats than lists.
use super::{FEW, Format, SHORT};
use crate::algebra::scalar::same;
use crate::algebra::texts::{binary_text, index_text};
use crate::algebra::{BinaryOp, IndexUnaryOp, Monoid, Scalar};
use crate::backend::cuda::{
    Area, CellMask, Cuda, DeviceCsr, DeviceDense, DeviceForm, DeviceFrame, DeviceHeld, DevicePattern, accumulator_text,
};
use crate::backend::{Backend, Body, MaskBody, MaskOn, Positions};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::operation::{Accumulate, MaskParts};
use crate::storage::axis::Axis;
use crate::storage::store::Store;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A vector turns to a bitmap once entries of this part of its places were copied: sooner than on the CPU, as clearing bits is little.
const PART: u64 = 8;

/// The row of a store of the device with a bit for every place.
pub(super) fn dense<T: Scalar>(store: &Store<T>) -> Result<Option<DeviceDense<T>>> {
    match (&store.body, &store.rows, &store.cols) {
        (Body::CudaDense(d), ..) => Ok(Some(d.clone())),
        (Body::Cuda(row), Axis::Full(1), Axis::Full(_)) => DeviceDense::of(row).map(Some),
        _ => Ok(None),
    }
}

/// The format of a matrix that is no list.
pub(super) fn format<T>(held: &DeviceHeld<T>) -> Format {
    match &held.frame.form {
        DeviceForm::Columns(_) => Format::Csc,
        DeviceForm::Cells(None) => Format::Full,
        DeviceForm::Cells(Some(_)) => Format::Bitmap,
        DeviceForm::Diagonals(_) => Format::Dia,
    }
}

/// The entries of a store of the device in a format that is no list; `None` for vectors by bits.
pub(super) fn formed<T: Scalar>(store: &Store<T>, format: Format) -> Result<Option<DeviceHeld<T>>> {
    if !matches!(&store.body, Body::Cuda(_) | Body::CudaHeld(_)) {
        return Ok(None);
    }
    let (cuda, body) = (Cuda::on(store.device)?, &store.body);
    if let (Format::Csc, Body::CudaHeld(held)) = (format, body)
        && let Some(columns) = held.in_columns()?
    {
        return Ok(Some(columns));
    }
    let list: &DeviceCsr<T> = cuda.csr(body)?;
    match format {
        Format::Csc => DeviceHeld::by_columns(list),
        Format::Dia => DeviceHeld::diagonals(list),
        _ => DeviceHeld::cells(list),
    }
    .map(Some)
}

/// A list with an entry in every cell as cells.
pub(super) fn full<T: Scalar>(store: Store<T>) -> Store<T> {
    match &store.body {
        Body::Cuda(list) => store.holding(Body::CudaHeld(DeviceHeld::full(list))),
        _ => store,
    }
}

/// The entries in the memory of `device`, in the format that they have here; `None` for lists.
pub(super) fn kept<T: Scalar>(body: &Body<T>, device: Device) -> Result<Option<Body<T>>> {
    let host = match body {
        Body::Held(h) if !h.is_rows() => h.clone(),
        Body::CudaHeld(h) => h.download()?,
        _ => return Ok(None),
    };
    Ok(Some(match device {
        Device::Cuda(_) => Body::CudaHeld(DeviceHeld::upload(&Cuda::on(device)?, &host)?),
        _ => Body::Held(host),
    }))
}

/// What slots that are not lists make of f, of values alone.
pub(super) fn applied<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
    a: &Store<A>,
    y: Y,
) -> Result<Option<Store<F::Out>>> {
    let Body::CudaHeld(held) = &a.body else { return Ok(None) };
    Ok(held.applied(index_text::<A, Y, F>("op"), y)?.map(|made| a.holding(Body::CudaHeld(made))))
}

/// What cells make of f(a, i, j, y).
pub(crate) fn placed<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
    a: &Store<A>,
    y: Y,
    at: &Positions,
) -> Result<Option<Store<F::Out>>> {
    let (Body::CudaHeld(held), None, None) = (&a.body, &at.i, &at.j) else { return Ok(None) };
    Ok(held.placed(index_text::<A, Y, F>("op"), F::TEXT.reads(0), y)?.map(|made| a.holding(Body::CudaHeld(made))))
}

/// F where both have a cell, the cell where one has.
pub(super) fn united<T: Scalar, F: BinaryOp<T, T, Out = T>>(a: &Store<T>, b: &Store<T>) -> Result<Option<Store<T>>> {
    let (Body::CudaHeld(x), Body::CudaHeld(y)) = (&a.body, &b.body) else { return Ok(None) };
    Ok(x.united::<F>(y)?.map(|made| a.holding(Body::CudaHeld(made))))
}

/// F where both have a cell.
pub(super) fn intersected<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
    a: &Store<A>,
    b: &Store<B>,
) -> Result<Option<Store<F::Out>>> {
    let (Body::CudaHeld(x), Body::CudaHeld(y)) = (&a.body, &b.body) else { return Ok(None) };
    Ok(x.intersected(y, (binary_text::<A, B, F>, F::apply))?.map(|made| a.holding(Body::CudaHeld(made))))
}

/// F where either has a cell, alpha or beta for what is missing.
pub(crate) fn filled_up<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
    a: &Store<A>,
    alpha: A,
    b: &Store<B>,
    beta: B,
) -> Result<Option<Store<F::Out>>> {
    let (Body::CudaHeld(x), Body::CudaHeld(y)) = (&a.body, &b.body) else { return Ok(None) };
    Ok(x.filled_up::<B, F>(alpha, y, beta)?.map(|made| a.holding(Body::CudaHeld(made))))
}

/// C⟨M, replace⟩ ⊙= T where C and T have cells, or C no entry; all are on the same axes.
pub(crate) fn written<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    c: &Store<C>,
    t: &Store<T>,
    mask: Option<&MaskBody>,
    replace: bool,
) -> Result<Option<Store<C>>> {
    let Body::CudaHeld(new) = &t.body else { return Ok(None) };
    let old = match &c.body {
        Body::CudaHeld(old) => Some(old),
        Body::Cuda(list) if list.nnz() == 0 => None,
        _ => return Ok(None),
    };
    if C::TEXT != T::TEXT || !matches!(new.frame.form, DeviceForm::Cells(_)) {
        return Ok(None);
    }
    let mask = match mask {
        None => None,
        Some(MaskBody::CudaCells(mask, _)) => Some(mask.clone()),
        Some(MaskBody::Cuda(mask)) if new.frame.is_grid() => {
            Some(MaskOn { pattern: Arc::new(DeviceFrame::marked(&mask.pattern)?), complement: mask.complement })
        }
        Some(_) => return Ok(None),
    };
    Ok(new.written::<C, F>(old, mask.as_ref(), replace, None)?.map(|made| c.holding(Body::CudaHeld(made))))
}

/// C⟨M, replace⟩(area) ⊙= T where C has cells, and T those of the area or one value for it; `None` where rows are the way.
pub(crate) fn assigned<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    c: &Store<C>,
    t: std::result::Result<&Store<T>, T>,
    mask: Option<&MaskBody>,
    replace: bool,
    area: &Area,
) -> Result<Option<Store<C>>> {
    let Body::CudaHeld(old) = &c.body else { return Ok(None) };
    if C::TEXT != T::TEXT || !old.frame.is_grid() {
        return Ok(None);
    }
    let mask = match mask {
        None => None,
        Some(MaskBody::CudaCells(mask, _)) => Some(mask.clone()),
        Some(MaskBody::Cuda(mask)) => {
            Some(MaskOn { pattern: Arc::new(DeviceFrame::marked(&mask.pattern)?), complement: mask.complement })
        }
        Some(_) => return Ok(None),
    };
    let new = match t {
        Err(one) => DeviceHeld::of_one(&old.frame.context, (area.0.len(), area.1.len()), one)?,
        Ok(Store { body: Body::CudaHeld(new), .. }) if matches!(new.frame.form, DeviceForm::Cells(_)) => new.clone(),
        Ok(_) => return Ok(None),
    };
    let made = new.written::<C, F>(Some(old), mask.as_ref(), replace, Some(area))?;
    Ok(made.map(|made| c.holding(Body::CudaHeld(made))))
}

/// C(area) ⊙= T where it lies, if every cell has an entry and the area gets a value for each: whether it did.
pub(crate) fn patched<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    c: &mut Store<C>,
    t: std::result::Result<&Store<T>, T>,
    area: &Area,
) -> Result<bool> {
    let Body::CudaHeld(old) = &mut c.body else { return Ok(false) };
    match t {
        Err(one) => {
            let one = DeviceHeld::of_one(&old.frame.context, (area.0.len(), area.1.len()), one)?;
            old.patch::<T, F>(&one, area)
        }
        Ok(Store { body: Body::CudaHeld(new), .. }) => old.patch::<T, F>(new, area),
        Ok(_) => Ok(false),
    }
}

/// The cells of these rows and columns.
pub(crate) fn window<T: Scalar>(a: &Store<T>, area: &Area) -> Result<Option<Body<T>>> {
    let Body::CudaHeld(held) = &a.body else { return Ok(None) };
    Ok(held.window(area)?.map(Body::CudaHeld))
}

/// The sum of all, which have an entry in every cell; `None` where a list is the way.
pub(crate) fn summed<T: Scalar, M: Monoid<T>>(a: &Store<T>) -> Result<Option<Option<T>>> {
    match &a.body {
        Body::CudaHeld(held) => held.summed::<M>(),
        _ => Ok(None),
    }
}

/// The sums of rows where every cell has an entry; `None` where a list is the way.
pub(crate) fn rows_summed<T: Scalar, M: Monoid<T>>(a: &Store<T>) -> Result<Option<Body<T>>> {
    match &a.body {
        Body::CudaHeld(held) => Ok(held.rows_summed::<M>()?.map(Body::from)),
        _ => Ok(None),
    }
}

/// How many entries each row has, where a list of positions tells it.
pub(crate) fn rows_counted<T: Scalar>(a: &Store<T>) -> Result<Option<Body<u64>>> {
    let pattern = match &a.body {
        Body::Cuda(list) => &list.pattern,
        Body::CudaHeld(held) if !matches!(held.frame.form, DeviceForm::Cells(None)) => held.frame.listed()?,
        _ => return Ok(None),
    };
    Cuda::on(a.device)?.count_rows(pattern).map(|counts| Some(Body::from(counts)))
}

/// The cells that f holds for.
pub(super) fn selected<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
    a: &Store<A>,
    y: Y,
) -> Result<Option<Store<A>>> {
    let Body::CudaHeld(held) = &a.body else { return Ok(None) };
    Ok(held.selected::<Y, F>(y)?.map(|made| a.holding(Body::CudaHeld(made))))
}

/// F of the entries of two vectors on the same axes where both have one, if one of them has places to look it up.
pub(super) fn met<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(a: &Store<A>, b: &Store<B>) -> Result<Option<Body<F::Out>>> {
    let made: Option<DeviceCsr<F::Out>> = match (&a.body, &b.body) {
        (Body::CudaDense(x), Body::Cuda(y)) => x.met_right::<B, F>(y)?,
        (Body::Cuda(x), Body::CudaDense(y)) => y.met_left::<A, F>(x)?,
        _ => None,
    };
    Ok(made.map(Body::from))
}

/// Entries copied so far by writing a little again and again, with those that the next time would copy.
fn merged(row: &DevicePattern) -> u64 {
    row.merged.load(Ordering::Relaxed) + row.nnz
}

/// Remembers that writing a few entries to a list copied it.
pub(super) fn copied<C>(from: &Store<C>, few: u64, to: &Store<C>) {
    if let (Body::Cuda(from), Body::Cuda(to)) = (&from.body, &to.body)
        && few <= from.nnz() / FEW as u64
    {
        to.pattern.merged.store(merged(&from.pattern), Ordering::Relaxed);
    }
}

/// c⟨m⟩ ⊙= t where c lies, if c has places for that or becomes such a vector: whether it was done. All are on the same axes.
pub(super) fn updated<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    c: &mut Store<C>,
    t: &Store<T>,
    mask: Option<&MaskParts>,
) -> Result<bool> {
    let Some(op) = accumulator_text::<C, T, F>().filter(|_| C::TEXT == T::TEXT) else { return Ok(false) };
    // Cells meet cells otherwise.
    if let (Body::CudaHeld(x), Body::CudaHeld(y)) = (&c.body, &t.body)
        && matches!(x.frame.form, DeviceForm::Cells(_))
        && y.frame.is_grid()
    {
        return Ok(false);
    }
    let row = match &t.body {
        Body::Cuda(row) => row,
        Body::CudaDense(d) => d.listed()?,
        Body::CudaHeld(h) => h.listed()?,
        _ => return Ok(false),
    };
    if let Body::CudaHeld(held) = &mut c.body {
        let stays = held.one().zip(row.one()).is_some_and(|(old, new)| {
            let same = |z: Option<C>| z.is_some_and(|z| same(z, old));
            same(F::combine(Some(old), Some(new))) && same(F::combine(None, Some(new)))
        });
        return match mask.map(|m| MaskBody::new(&m.pattern.body, m.complement)) {
            None => held.update(op, &row.cast(), None, stays),
            Some(MaskBody::Cuda(m)) => held.update(op, &row.cast(), Some(CellMask::Rows(&m)), stays),
            Some(MaskBody::CudaCells(m, _)) => held.update(op, &row.cast(), Some(CellMask::Cells(&m)), stays),
            Some(_) => Ok(false),
        };
    }
    if let Body::Cuda(list) = &c.body
        && row.nnz() <= list.nnz() / FEW as u64
        && merged(&list.pattern) >= (list.pattern.ncols as u64 / PART).max(SHORT as u64)
    {
        match dense(c) {
            Ok(Some(grown)) => c.body = Body::CudaDense(grown),
            // There is room for the list alone.
            Ok(None) | Err(Error::OutOfMemory { .. }) => {}
            Err(other) => return Err(other),
        }
    }
    let Body::CudaDense(d) = &mut c.body else { return Ok(false) };
    match mask.map(|m| MaskBody::new(&m.pattern.body, m.complement)) {
        None => d.update(op, &row.cast(), None)?,
        Some(mask) => match mask.bits()? {
            Some(mask) => d.update(op, &row.cast(), Some(&mask))?,
            None => return Ok(false),
        },
    }
    Ok(true)
}
