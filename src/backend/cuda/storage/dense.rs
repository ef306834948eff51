//! Vectors with a bit and a value for every place in device memory: what is there is found and changed without a search.
//!
//! The list of entries is made when an operation asks for it, and kept until the vector changes.
use super::list::List;
use super::values::{NOTHING, Values};
use super::vector;
use crate::algebra::scalar::{as_bytes, from_bytes};
use crate::algebra::texts::binary_text;
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::MaskOn;
use crate::backend::cuda::entrywise::one_row::{self, Room};
use crate::backend::cuda::runtime::program::{Program, tuning};
use crate::backend::cuda::runtime::report::SAID;
use crate::backend::cuda::{Buffer, DeviceCsr, DevicePattern};
use crate::error::Result;
use crate::storage::footprint::Footprint;
use oplus_codegen::{FunctionText, Shared, Template};
use std::sync::{Arc, OnceLock};

/// Which of n places have an entry.
#[derive(Debug)]
pub(crate) struct DevicePlaces {
    n: usize,
    count: u64,
    /// A bit a place, in words of 32; bits from n on are zero.
    pub(crate) words: Buffer,
    listed: OnceLock<Arc<DevicePattern>>,
}

impl DevicePlaces {
    /// The positions of a single row, which stay known as a list.
    fn of(row: &Arc<DevicePattern>) -> Result<Self> {
        Ok(Self { n: row.ncols, count: row.nnz, words: vector::bits(row)?, listed: OnceLock::from(row.clone()) })
    }
    /// A mask that is a single row, by bits.
    pub(crate) fn of_mask(mask: &MaskOn<Arc<DevicePattern>>) -> Result<MaskOn<Arc<Self>>> {
        Ok(MaskOn { pattern: Arc::new(Self::of(&mask.pattern)?), complement: mask.complement })
    }
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
    /// The places as one row.
    pub(crate) fn listed(&self) -> Result<&Arc<DevicePattern>> {
        if let Some(listed) = self.listed.get() {
            return Ok(listed);
        }
        let none = Buffer::alloc(self.words.context(), 0)?;
        let (pattern, _) = vector::listed(self.words.context(), self.n, NOTHING, &self.words, &none)?;
        Ok(self.listed.get_or_init(|| Arc::new(pattern)))
    }
    fn get(&self, place: u32) -> Result<bool> {
        Ok(self.words.read_one::<u32>(place as usize >> 5)? >> (place & 31) & 1 != 0)
    }
}

/// A vector of n places. Clones share everything; a change copies what is shared.
#[derive(Debug)]
pub(crate) struct DeviceDense<T> {
    places: Arc<DevicePlaces>,
    /// One for every place: anything where there is no entry.
    values: Arc<Buffer>,
    /// The entries as one row.
    list: List<T>,
}
impl<T> Clone for DeviceDense<T> {
    fn clone(&self) -> Self {
        self.cast()
    }
}

impl<T> DeviceDense<T> {
    pub(crate) fn places(&self) -> &Arc<DevicePlaces> {
        &self.places
    }
    /// The same bytes by another name.
    pub(crate) fn cast<U>(&self) -> DeviceDense<U> {
        DeviceDense { places: self.places.clone(), values: self.values.clone(), list: self.list.cast() }
    }
    /// The entries as one row.
    pub(crate) fn listed(&self) -> Result<&DeviceCsr<T>> {
        self.list.get(|| self.made())
    }
    fn made(&self) -> Result<DeviceCsr<()>> {
        let (places, scalar) = (&self.places, self.list.scalar());
        if places.count == places.n as u64 {
            return Ok(DeviceCsr::with(places.listed()?.clone(), Values::All(self.values.clone())));
        }
        let context = self.values.context();
        if let Some(pattern) = places.listed.get() {
            let values = vector::gathered(context, pattern, scalar, &self.values)?;
            return Ok(DeviceCsr::on(pattern.clone(), values));
        }
        let (pattern, moved) = vector::listed(context, places.n, scalar, &places.words, &self.values)?;
        let pattern = places.listed.get_or_init(|| Arc::new(pattern)).clone();
        Ok(match moved {
            Some(values) => DeviceCsr::on(pattern, values),
            None => DeviceCsr::with(pattern, Values::All(self.values.clone())),
        })
    }
    /// Counts all that is kept.
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        self.places.words.footprint(to);
        self.values.footprint(to);
        if let Some(list) = self.places.listed.get() {
            list.footprint(to);
        }
        if let Some(list) = self.list.known() {
            list.footprint(to);
        }
    }
}

impl<T: Scalar> DeviceDense<T> {
    /// The entries of one row; the list stays known.
    pub(crate) fn of(row: &DeviceCsr<T>) -> Result<Self> {
        let read = row.read()?;
        let made = vector::bitmap(&row.pattern, T::TEXT, read.operand().values)?;
        let listed = OnceLock::from(row.pattern.clone());
        let places = DevicePlaces { n: row.pattern.ncols, count: row.nnz(), words: made.present, listed };
        Ok(Self { places: Arc::new(places), values: Arc::new(made.values), list: List::new(T::TEXT, Some(row.cast())) })
    }
    pub(crate) fn get(&self, place: u32) -> Result<Option<T>> {
        if !self.places.get(place)? {
            return Ok(None);
        }
        let (size, at) = (size_of::<T>(), place as usize);
        let bytes = self.values.read::<u8>(at * size..(at + 1) * size)?;
        Ok(from_bytes("get", &bytes)?.first().copied())
    }
    /// Sets the value of an entry. `false`, and nothing changes, where there is none or somebody else holds this vector.
    pub(crate) fn set(&mut self, place: u32, value: T) -> Result<bool> {
        if !self.places.get(place)? {
            return Ok(false);
        }
        self.forget();
        let Some(values) = Arc::get_mut(&mut self.values) else { return Ok(false) };
        values.write(place as usize * size_of::<T>(), as_bytes(&[value]))?;
        Ok(true)
    }
    /// The list is of what was.
    fn forget(&mut self) {
        self.list = List::new(T::TEXT, None);
    }
    /// Puts `op` of what is there and of each entry of a row, or this alone, where the mask admits. O(entries of the row) where
    /// nobody else holds this vector, its structure as a mask included; else it is copied first.
    pub(crate) fn update(
        &mut self,
        op: Shared<FunctionText>,
        row: &DeviceCsr<T>,
        mask: Option<&MaskOn<Arc<DevicePlaces>>>,
    ) -> Result<()> {
        if row.nnz() == 0 {
            return Ok(());
        }
        let context = row.pattern.offsets.context();
        let new = row.one_or_all()?;
        let program = Program::new(context, Template::BitmapUpdate, |s| {
            let s = s.function(op).flag("one", new.all.is_none()).flag("masked", mask.is_some());
            s.flag("complement", mask.is_some_and(|m| m.complement))
        });
        let (kernel, block) = (program.kernel("bitmap_update")?, tuning(context).primitive_block);
        self.forget();
        let bytes = (self.places.n as u64).saturating_mul(size_of::<T>() as u64);
        if self.values.bytes() < bytes {
            // Of a vector without entries that was one of another scalar.
            self.values = Arc::new(Buffer::alloc(context, bytes)?);
        } else if let Some(values) = Arc::get_mut(&mut self.values) {
            values.renew();
        } else {
            self.values = Arc::new(self.values.duplicate()?);
        }
        if Arc::get_mut(&mut self.places).is_none() {
            let DevicePlaces { n, count, words, .. } = &*self.places;
            let (n, count, words) = (*n, *count, words.duplicate()?);
            self.places = Arc::new(DevicePlaces { n, count, words, listed: OnceLock::new() });
        }
        let Some(places) = Arc::get_mut(&mut self.places) else { return Ok(()) };
        places.listed = OnceLock::new();
        let (words, values) = (&places.words, &*self.values);
        let [added, ..] = context.with_slate(SAID as u64, |slate| {
            let launch = kernel.launch(row.nnz().div_ceil(u64::from(block)), block, 0).arg(row.nnz());
            let launch = launch.arg(0u64).arg(0u64).arg(0u64).arg(&row.pattern.indices).arg(new.all.as_deref());
            let launch = launch.arg(&new.one).arg(0u64).arg(mask.map(|m| &m.pattern.words)).arg(words).arg(values);
            let launch = launch.arg(slate.control).arg(SAID as u32);
            // SAFETY: parameters as the README lists them; a bit and a value for every column of the row, and nobody else's.
            unsafe { launch.leaving(slate).run() }
        })?;
        places.count += added;
        Ok(())
    }
}

impl<D: Scalar> DeviceDense<D> {
    /// F of the entries of this vector and of a row where both have one; in one launch, if those of the row are few enough.
    pub(crate) fn met_right<T: Scalar, F: BinaryOp<D, T>>(
        &self,
        row: &DeviceCsr<T>,
    ) -> Result<Option<DeviceCsr<F::Out>>> {
        met(self, row, binary_text::<D, T, F>("op"), true)
    }
    /// The same with the row on the left.
    pub(crate) fn met_left<T: Scalar, F: BinaryOp<T, D>>(
        &self,
        row: &DeviceCsr<T>,
    ) -> Result<Option<DeviceCsr<F::Out>>> {
        met(self, row, binary_text::<T, D, F>("op"), false)
    }
}

/// `op` of the entries of a row and of this vector at their places, which are the left operands where `dense_left` says so.
fn met<D, T, C>(
    dense: &DeviceDense<D>,
    row: &DeviceCsr<T>,
    op: Shared<FunctionText>,
    dense_left: bool,
) -> Result<Option<DeviceCsr<C>>> {
    if !one_row::suits(&row.pattern, row.nnz()) {
        return Ok(None);
    }
    let (context, size) = (row.pattern.offsets.context(), op.output.size as u64);
    let entries = row.one_or_all()?;
    let program = Program::new(context, Template::BitmapMeet, |s| {
        s.function(op).flag("dense_left", dense_left).flag("one", entries.all.is_none())
    });
    let room = Room { most: row.nnz().min(dense.places.count), size };
    let kernel = program.kernel("bitmap_meet")?;
    let (pattern, values) = one_row::row_of(&kernel, row.nnz(), (row.pattern.ncols, room), |launch| {
        let launch = launch.arg(row.nnz()).arg(&row.pattern.indices).arg(entries.all.as_deref()).arg(&entries.one);
        launch.arg(&dense.places.words).arg(&*dense.values)
    })?;
    Ok(Some(DeviceCsr::new(pattern, values)))
}
