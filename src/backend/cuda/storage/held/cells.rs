//! Matrices with a slot for every cell: what both have, or one has, slot by slot; entries written where they lie.
use super::frame::{form, room_for_bits};
use super::{Area, DeviceForm, DeviceFrame, DeviceHeld, moves};
use crate::algebra::scalar::{as_bytes, same};
use crate::algebra::texts::{binary_text, index_text};
use crate::algebra::{BinaryOp, IndexUnaryOp, Scalar};
use crate::backend::MaskOn;
use crate::backend::cuda::entries::places;
use crate::backend::cuda::entrywise::given::Given;
use crate::backend::cuda::entrywise::map;
use crate::backend::cuda::entrywise::pair::pair;
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::program::{Program, sum_of_bits, tuning};
use crate::backend::cuda::runtime::report::SAID;
use crate::backend::cuda::storage::list::List;
use crate::backend::cuda::storage::places::grid;
use crate::backend::cuda::storage::values::{NOTHING, Values};
use crate::backend::cuda::{Buffer, DeviceCsr, DevicePattern};
use crate::error::Result;
use crate::storage::frame::SPARSE;
use oplus_codegen::{FunctionText, Shared, Template};
use std::sync::Arc;

impl DeviceFrame {
    /// Its bits, if it has cells.
    pub(super) fn cell_words(&self) -> Option<Option<&Arc<Buffer>>> {
        if let DeviceForm::Cells(words) = &self.form { Some(words.as_ref()) } else { None }
    }
    /// The same cells, of which these have an entry.
    pub(super) fn with_bits(&self, words: Buffer) -> Result<Self> {
        let (n, context) = (self.slots(), &self.context);
        let starts = Buffer::alloc_for::<u64>(context, places(n.div_ceil(32)).saturating_add(1))?;
        let count = sum_of_bits(context, &words, &starts, n.div_ceil(32))?;
        // Bits that are all set say nothing.
        let words = (count < n).then(|| Arc::new(words));
        Ok(Self::new(context, self.shape, count, DeviceForm::Cells(words)))
    }
    /// Bits that are in one of two, or in both.
    fn met(&self, x: &Buffer, y: &Buffer, either: bool) -> Result<Buffer> {
        let (n, context) = (self.slots().div_ceil(32), &self.context);
        let (out, (blocks, block)) = (Buffer::alloc_for::<u32>(context, places(n))?, grid(context, n));
        let kernel = form(context, "words_met")?;
        let launch = kernel.launch(blocks, block, 0).arg(n).arg(x).arg(y);
        // SAFETY: parameters as codegen/templates/README.md lists them; as many words everywhere.
        unsafe { launch.arg(u32::from(either)).arg(&out).run()? };
        Ok(out)
    }
}

/// Which entries may be written: by rows, or by cells of the same shape.
#[derive(Clone, Copy)]
pub(crate) enum CellMask<'a> {
    Rows(&'a MaskOn<Arc<DevicePattern>>),
    Cells(&'a MaskOn<Arc<DeviceFrame>>),
}

/// Two operands of one shape with cells, of which `least` are entries at least.
fn both<'a, A, B>(
    a: &'a DeviceHeld<A>,
    b: &'a DeviceHeld<B>,
    least: impl Fn(u64, u64) -> u64,
) -> Option<[Option<&'a Arc<Buffer>>; 2]> {
    let (p, q) = (a.frame.cell_words()?, b.frame.cell_words()?);
    let enough = least(a.frame.count(), b.frame.count()) >= a.frame.slots() / SPARSE as u64;
    (a.frame.shape == b.frame.shape && enough).then_some([p, q])
}

impl<T: Scalar> DeviceHeld<T> {
    /// F where both have a cell, the cell where one has; `None` where rows are the way.
    pub(crate) fn united<F: BinaryOp<T, T, Out = T>>(&self, b: &Self) -> Result<Option<Self>> {
        let Some([p, q]) = both(self, b, |x, y| x + y) else { return Ok(None) };
        if let (Some(x), Some(y)) = (self.one(), b.one()) {
            let z = F::apply(x, y);
            if !same(x, y) || !same(x, z) {
                return Ok(None);
            }
            let frame = match (p, q) {
                (Some(p), Some(q)) => Arc::new(self.frame.with_bits(self.frame.met(p, q, true)?)?),
                (None, _) => self.frame.clone(),
                (_, None) => b.frame.clone(),
            };
            return Ok(Some(Self::new(frame, Values::one(z)?, T::TEXT)));
        }
        let op = binary_text::<T, T, F>("op");
        self.joined(b, op, None).map(Some)
    }
    /// F where either has a cell, alpha or beta for what is missing; `None` where rows are the way.
    pub(crate) fn filled_up<B: Scalar, F: BinaryOp<T, B>>(
        &self,
        alpha: T,
        b: &DeviceHeld<B>,
        beta: B,
    ) -> Result<Option<DeviceHeld<F::Out>>> {
        if both(self, b, |x, y| x + y).is_none() {
            return Ok(None);
        }
        let context = &self.frame.context;
        let missing = [Given::new(context, as_bytes(&[alpha]))?, Given::new(context, as_bytes(&[beta]))?];
        self.joined(b, binary_text::<T, B, F>("op"), Some(missing)).map(Some)
    }
    /// `op` of both, and what one has, or `op` of that and of what stands for the other's.
    fn joined<B: Scalar, C: Scalar>(
        &self,
        b: &DeviceHeld<B>,
        op: Shared<FunctionText>,
        missing: Option<[Given; 2]>,
    ) -> Result<DeviceHeld<C>> {
        let (p, q) = (self.frame.words(), b.frame.words());
        let (context, n) = (&self.frame.context, self.frame.slots());
        let (x, y) = (self.values.one_or_all(context)?, b.values.one_or_all(context)?);
        if let (None, None) = (p, q) {
            let made = pair(context, n, op, &x, &y)?;
            return Ok(DeviceHeld::new(self.frame.clone(), Values::All(Arc::new(made)), C::TEXT));
        }
        let words = if p.is_some() && q.is_some() { Some(room_for_bits(context, n)?) } else { None };
        let out = Buffer::alloc(context, n.saturating_mul(size_of::<C>() as u64))?;
        let nothing = [Given::nothing(), Given::nothing()];
        let [alpha, beta] = missing.as_ref().unwrap_or(&nothing);
        let program = Program::new(context, Template::CellsUnion, |s| {
            let s = s.function(op).flag("left_one", x.all.is_none()).flag("right_one", y.all.is_none());
            s.flag("filled", missing.is_some())
        });
        let (kernel, (blocks, block)) = (program.kernel("cells_union")?, grid(context, n));
        let launch = kernel.launch(blocks, block, 0).arg(n).arg(p).arg(q);
        let launch = launch.arg(x.all.as_deref()).arg(y.all.as_deref()).arg(&x.one).arg(&y.one).arg(alpha).arg(beta);
        // SAFETY: parameters as codegen/templates/README.md lists them; a bit and a value a slot, where they are not null.
        unsafe { launch.arg(words.as_ref()).arg(&out).run()? };
        let frame = match words {
            Some(words) => Arc::new(self.frame.with_bits(words)?),
            None if p.is_none() => self.frame.clone(),
            None => b.frame.clone(),
        };
        Ok(DeviceHeld::new(frame, Values::All(Arc::new(out)), C::TEXT))
    }
    /// F where both have a cell; `None` where rows are the way.
    pub(crate) fn intersected<B: Scalar, C: Scalar>(
        &self,
        b: &DeviceHeld<B>,
        (op, f): (fn(&'static str) -> Shared<FunctionText>, fn(T, B) -> C),
    ) -> Result<Option<DeviceHeld<C>>> {
        let Some([p, q]) = both(self, b, u64::min) else { return Ok(None) };
        let (context, n) = (&self.frame.context, self.frame.slots());
        let values = match (self.one(), b.one()) {
            (Some(x), Some(y)) => Values::one(f(x, y))?,
            // Of slots without an entry as well: nobody looks at them.
            _ => {
                let (x, y) = (self.values.one_or_all(context)?, b.values.one_or_all(context)?);
                Values::All(Arc::new(pair(context, n, op("op"), &x, &y)?))
            }
        };
        let frame = match (p, q) {
            (Some(p), Some(q)) if !Arc::ptr_eq(p, q) => Arc::new(self.frame.with_bits(self.frame.met(p, q, false)?)?),
            (_, Some(_)) => b.frame.clone(),
            (_, None) => self.frame.clone(),
        };
        Ok(Some(DeviceHeld::new(frame, values, C::TEXT)))
    }
    /// The values, or nothing where nobody reads them; `None` where one for all is read.
    fn values_read(&self, read: bool) -> Result<Option<Arc<Buffer>>> {
        Ok(match &self.values {
            Values::All(values) => Some(values.clone()),
            Values::One(_) if read => None,
            Values::One(_) => Some(Arc::new(Buffer::alloc(&self.frame.context, 0)?)),
        })
    }
    /// The cells that f holds for; `None` where rows are the way.
    pub(crate) fn selected<Y: Scalar, F: IndexUnaryOp<T, Y, Out = bool>>(&self, y: Y) -> Result<Option<Self>> {
        let n = self.frame.slots();
        let Some(words) = self.frame.cell_words() else { return Ok(None) };
        if !self.frame.is_grid() {
            return Ok(None);
        }
        let Some(values) = self.values_read(F::TEXT.reads(0))? else { return Ok(None) };
        let (row, columns) = (self.as_row()?, self.frame.shape.1 as u64);
        let (op, operand) = (index_text::<T, Y, F>("op"), Operand { pattern: &row, values: &values });
        let (marks, kept) = map::mark_cells(op, as_bytes(&[y]), operand, columns)?;
        let frame = match words {
            None if kept == n => return Ok(Some(self.clone())),
            None => {
                let form = DeviceForm::Cells(Some(Arc::new(marks.words)));
                DeviceFrame::new(&self.frame.context, self.frame.shape, kept, form)
            }
            Some(words) => self.frame.with_bits(self.frame.met(&marks.words, words, false)?)?,
        };
        Ok(Some(Self::new(Arc::new(frame), self.values.elsewhere()?, T::TEXT)))
    }
    /// f(a, i, j, y) in the slots that there are, of a's value if it is read; `None` where rows are the way.
    pub(crate) fn placed<Y: Scalar, C: Scalar>(
        &self,
        op: Shared<FunctionText>,
        read: bool,
        y: Y,
    ) -> Result<Option<DeviceHeld<C>>> {
        if !self.frame.is_grid() {
            return Ok(None);
        }
        let Some(values) = self.values_read(read)? else { return Ok(None) };
        let (row, columns) = (self.as_row()?, self.frame.shape.1 as u64);
        let operand = Operand { pattern: &row, values: &values };
        let made = map::apply_cells(op, as_bytes(&[y]), operand, columns)?;
        Ok(Some(DeviceHeld::new(self.frame.clone(), Values::All(Arc::new(made)), C::TEXT)))
    }
    /// The cells of these rows and columns; `None` where rows are the way.
    pub(crate) fn window(&self, area: &Area) -> Result<Option<Self>> {
        if !self.frame.is_grid() {
            return Ok(None);
        }
        let (scalar, values) = match &self.values {
            Values::All(all) => (T::TEXT, Some(&**all)),
            Values::One(_) => (NOTHING, None),
        };
        let (words, taken) = moves::window(&self.frame, area, scalar, values)?;
        let shape = (area.0.len(), area.1.len());
        let all = shape.0 as u64 * shape.1 as u64;
        let frame = DeviceFrame::new(&self.frame.context, shape, all, DeviceForm::Cells(None));
        let frame = words.map_or(Ok(None), |words| frame.with_bits(words).map(Some))?.unwrap_or(frame);
        let values = taken.map_or_else(|| self.values.elsewhere(), |taken| Ok(Values::All(Arc::new(taken))))?;
        Ok(Some(Self::new(Arc::new(frame), values, T::TEXT)))
    }
    /// Puts `op` of what is there and of each entry of some rows, or this alone, where the mask admits, if there is a cell for everything:
    /// whether it did. O(entries of the rows) where nobody else holds this, else it is copied first. The one value of all stays that where
    /// the caller says so, else it is written out.
    pub(crate) fn update(
        &mut self,
        op: Shared<FunctionText>,
        new: &DeviceCsr<T>,
        mask: Option<CellMask<'_>>,
        stays: bool,
    ) -> Result<bool> {
        let Some(words) = self.frame.cell_words() else { return Ok(false) };
        if new.nnz() == 0 {
            return Ok(true);
        }
        let (complement, of_rows, of_cells) = match mask {
            None => (false, None, None),
            Some(CellMask::Rows(m)) => (m.complement, Some(&m.pattern), None),
            Some(CellMask::Cells(m)) if m.pattern.shape != self.frame.shape => return Ok(false),
            Some(CellMask::Cells(m)) => match m.pattern.cell_words() {
                None => return Ok(false),
                // All are admitted, or none.
                Some(None) if m.complement => return Ok(true),
                Some(None) => (false, None, None),
                Some(words) => (m.complement, None, words),
            },
        };
        let (context, pattern, given) = (self.frame.context.clone(), &new.pattern, new.one_or_all()?);
        let program = Program::new(&context, Template::BitmapUpdate, |s| {
            let s = s.function(op).flag("one", given.all.is_none()).flag("rows", true);
            let s = s.flag("masked", of_rows.is_some() || of_cells.is_some()).flag("cells", of_cells.is_some());
            s.flag("complement", complement)
        });
        let (kernel, block) = (program.kernel("bitmap_update")?, tuning(&context).primitive_block);
        // The list shares the values of full ones.
        self.list = List::new(T::TEXT, None);
        let made = match &self.values {
            Values::One(_) if stays => {
                self.values = self.values.elsewhere()?;
                None
            }
            Values::One(one) => Some(Arc::new(one.written(&context, self.frame.slots())?)),
            Values::All(values) if Arc::strong_count(values) > 1 => Some(Arc::new(values.duplicate()?)),
            Values::All(_) => None,
        };
        if let (None, Values::All(values)) = (&made, &mut self.values)
            && let Some(values) = Arc::get_mut(values)
        {
            values.renew();
        }
        let words = match words {
            Some(words) if Arc::strong_count(&self.frame) > 1 || Arc::strong_count(words) > 1 => {
                Some(Arc::new(words.duplicate()?))
            }
            words => words.cloned(),
        };
        let target = match (&made, &self.values) {
            (Some(values), _) | (None, Values::All(values)) => Some(&**values),
            (None, Values::One(_)) => None,
        };
        let [added, ..] = context.with_slate(SAID as u64, |slate| {
            let launch = kernel.launch(pattern.nnz.div_ceil(u64::from(block)), block, 0).arg(pattern.nnz);
            let launch = launch.arg(pattern.nrows as u64).arg(pattern.ncols as u64).arg(&pattern.offsets);
            let launch = launch.arg(&pattern.indices).arg(given.all.as_deref()).arg(&given.one);
            let looked_at = of_cells.map(|words| &**words).or(of_rows.map(|m| &m.indices));
            let launch = launch.arg(of_rows.map(|m| &m.offsets)).arg(looked_at);
            let launch = launch.arg(words.as_deref()).arg(target).arg(slate.control).arg(SAID as u32);
            // SAFETY: parameters as codegen/templates/README.md lists them; a bit for every cell and a value for each or none, and nobody else's.
            unsafe { launch.leaving(slate).run() }
        })?;
        let count = self.frame.count() + added;
        if let Some(words) = words {
            let words = (count < self.frame.slots()).then_some(words);
            let form = DeviceForm::Cells(words);
            self.frame = Arc::new(DeviceFrame::new(&context, self.frame.shape, count, form));
        }
        if let Some(values) = made {
            self.values = Values::All(values);
        }
        Ok(true)
    }
}
