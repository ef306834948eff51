//! What a matrix with a slot for every cell becomes where another is written into it, or into a part of it, under a mask: slot by slot,
//! nothing is listed.
use super::frame::room_for_bits;
use super::{DeviceForm, DeviceFrame, DeviceHeld, moves};
use crate::algebra::Scalar;
use crate::algebra::scalar::same;
use crate::backend::MaskOn;
use crate::backend::cuda::entrywise::write::writing_text;
use crate::backend::cuda::runtime::program::Program;
use crate::backend::cuda::storage::list::List;
use crate::backend::cuda::storage::places::grid;
use crate::backend::cuda::storage::values::{NOTHING, Values};
use crate::backend::cuda::{Buffer, Context, DevicePattern};
use crate::error::Result;
use crate::operation::{Accumulate, Overwrite};
use crate::storage::frame::SPARSE;
use oplus_codegen::{FunctionText, Shared, Template};
use std::ops::Range;
use std::sync::Arc;

/// Rows and columns.
pub(crate) type Area = (Range<usize>, Range<usize>);

/// What the kernel is told besides.
const COMPLEMENT: u32 = 1;
const REPLACE: u32 = 2;
const ACCUMULATE: u32 = 4;
const NOTHING_OLD: u32 = 8;

impl DeviceFrame {
    /// Whether there is a slot for every cell, and a good part of them are entries.
    pub(crate) fn is_grid(&self) -> bool {
        let n = self.slots();
        matches!(self.form, DeviceForm::Cells(_)) && n > 0 && self.count() >= n / SPARSE as u64
    }
    /// The positions of a list as bits of cells.
    pub(crate) fn marked(list: &DevicePattern) -> Result<Self> {
        let frame = DeviceFrame::cells(list, 0)?;
        moves::put(&frame, list, NOTHING, None)?;
        Ok(frame)
    }
}

impl<T: Scalar> DeviceHeld<T> {
    /// One value in all cells of this shape.
    pub(crate) fn of_one(context: &Arc<Context>, shape: (usize, usize), value: T) -> Result<Self> {
        let count = (shape.0 as u64).saturating_mul(shape.1 as u64);
        let frame = DeviceFrame::new(context, shape, count, DeviceForm::Cells(None));
        Ok(Self::new(Arc::new(frame), Values::one(value)?, T::TEXT))
    }

    /// C⟨M, replace⟩ ⊙= T for these T; `old`: C, where it has entries, of which T may be for a region. `None` where rows are the way.
    pub(crate) fn written<C: Scalar, F: Accumulate<C, T>>(
        &self,
        old: Option<&DeviceHeld<C>>,
        mask: Option<&MaskOn<Arc<DeviceFrame>>>,
        replace: bool,
        region: Option<&Area>,
    ) -> Result<Option<DeviceHeld<C>>> {
        let whole = old.filter(|_| region.is_some()).map_or(&self.frame, |c| &c.frame);
        let cells = |frame: &DeviceFrame| frame.shape == whole.shape && frame.cell_words().is_some();
        let fits = old.is_none_or(|c| cells(&c.frame)) && mask.is_none_or(|m| cells(&m.pattern));
        let fits = fits && self.frame.cell_words().is_some() && whole.slots() > 0;
        let inside = match region {
            None => true,
            Some((rows, columns)) => old.is_some() && self.frame.shape == (rows.len(), columns.len()),
        };
        if !(fits && inside) || !(self.frame.is_grid() || old.is_some_and(|c| c.frame.is_grid())) {
            return Ok(None);
        }
        let mut how = if replace { REPLACE } else { 0 };
        how |= if F::TEXT.is_some() { ACCUMULATE } else { 0 };
        how |= if old.is_none() { NOTHING_OLD } else { 0 };
        // Where all that can be an entry has one value, bits alone are looked for.
        let new: DeviceHeld<C> = self.cast();
        let one = match (old, new.one()) {
            (None, one) => one,
            (Some(c), Some(y)) => {
                c.one().filter(|x| same(*x, y) && F::combine(Some(*x), self.one()).is_some_and(|z| same(*x, z)))
            }
            _ => None,
        };
        if let Some(one) = one {
            let marks = (old.map(|c| c.with(0u8)).transpose()?, new.with(0u8)?);
            let made =
                marks.1.slots_written(writing_text::<u8, u8, Overwrite>(), marks.0.as_ref(), mask, (how, region))?;
            return made.with(one).map(Some);
        }
        new.slots_written(writing_text::<C, T, F>(), old, mask, (how, region)).map(Some)
    }

    /// F of what is there and of T, for every cell of a part, where all cells of both have an entry, these have values of their own and nobody
    /// else holds them: whether it did.
    pub(crate) fn patch<U: Scalar, F: Accumulate<T, U>>(&mut self, new: &DeviceHeld<U>, area: &Area) -> Result<bool> {
        let full = |form: &DeviceForm| matches!(form, DeviceForm::Cells(None));
        let (rows, columns) = area;
        let fits = new.frame.shape == (rows.len(), columns.len()) && T::TEXT == U::TEXT;
        if !full(&self.frame.form) || !full(&new.frame.form) || !fits {
            return Ok(false);
        }
        // The list may share the values.
        self.list = List::new(T::TEXT, None);
        let Values::All(values) = &mut self.values else { return Ok(false) };
        let Some(values) = Arc::get_mut(values) else { return Ok(false) };
        values.renew();
        let (context, n, across) = (&self.frame.context, new.frame.slots(), self.frame.shape.1 as u64);
        let y = new.values.one_or_all(context)?;
        let program = Program::new(context, Template::CellsWrite, |s| {
            let s = s.function(writing_text::<T, U, F>()).flag("left_one", false).flag("right_one", y.all.is_none());
            s.flag("region", false)
        });
        let (kernel, (blocks, block)) = (program.kernel("cells_patch")?, grid(context, n));
        let first = (rows.start as u64 * across + columns.start as u64) * size_of::<T>() as u64;
        if n > 0 {
            let launch = kernel.launch(blocks, block, 0).arg(n).arg(columns.len() as u64).arg(across);
            let launch = launch.arg(y.all.as_deref()).arg(&y.one).arg(values.pointer() + first);
            // SAFETY: as below; the part is inside, and nobody else reads or writes these values.
            unsafe { launch.run()? };
        }
        Ok(true)
    }

    fn slots_written(
        &self,
        op: Shared<FunctionText>,
        old: Option<&Self>,
        mask: Option<&MaskOn<Arc<DeviceFrame>>>,
        (how, region): (u32, Option<&Area>),
    ) -> Result<Self> {
        let whole = old.filter(|_| region.is_some()).map_or(&self.frame, |c| &c.frame);
        let (context, n) = (&whole.context, whole.slots());
        let how = how | if mask.is_some_and(|m| m.complement) { COMPLEMENT } else { 0 };
        let y = self.values.one_or_all(context)?;
        let x = old.map(|c| c.values.one_or_all(context)).transpose()?;
        let (left, right) = (x.as_ref().map(|x| &x.one).unwrap_or(&y.one), &y.one);
        let left_all = x.as_ref().and_then(|x| x.all.as_deref());
        let (words, out) =
            (room_for_bits(context, n)?, Buffer::alloc(context, n.saturating_mul(size_of::<T>() as u64))?);
        let bits = |frame: &'_ DeviceFrame| frame.words().map_or(0, Buffer::pointer);
        let program = Program::new(context, Template::CellsWrite, |s| {
            let s = s.function(op).flag("left_one", left_all.is_none()).flag("right_one", y.all.is_none());
            s.flag("region", region.is_some())
        });
        let (kernel, (blocks, block)) = (program.kernel("cells_write")?, grid(context, n));
        let launch = kernel.launch(blocks, block, 0).arg(n).arg(how).arg(old.map_or(0, |c| bits(&c.frame)));
        let launch = launch.arg(bits(&self.frame)).arg(mask.map_or(0, |m| bits(&m.pattern)));
        let launch = launch.arg(left_all).arg(y.all.as_deref()).arg(left).arg(right);
        let (rows, columns) = region.cloned().unwrap_or_default();
        let launch = launch.arg(whole.shape.1 as u64).arg(rows.start as u64).arg(rows.end as u64);
        let launch = launch.arg(columns.start as u64).arg(columns.end as u64);
        // SAFETY: parameters as codegen/templates/README.md lists them; a bit and a value a slot, where they are not null.
        unsafe { launch.arg(&words).arg(&out).run()? };
        let frame = Arc::new(whole.with_bits(words)?);
        Ok(Self::new(frame, Values::All(Arc::new(out)), T::TEXT))
    }
}
