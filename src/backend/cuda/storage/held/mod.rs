//! Entries in device memory in any format but compressed rows: operations that do not know the format ask for the list.
mod cells;
mod frame;
mod moves;
mod written;

pub(crate) use cells::CellMask;
pub(crate) use frame::{DeviceForm, DeviceFrame};
pub(crate) use moves::positions as positions_of_cells;
pub(crate) use written::Area;

use super::list::List;
use super::turned::Turned;
use super::values::{NOTHING, Values};
use crate::algebra::scalar::{as_bytes, from_bytes};
use crate::algebra::semiring::monoid_text;

use crate::algebra::{Monoid, Scalar};
use crate::backend::Positions;
use crate::backend::cuda::entries::places;
use crate::backend::cuda::entrywise::{map, reduce};
use crate::backend::cuda::mxv::full;
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::program::tuning;
use crate::backend::cuda::structure::transpose::transpose;
use crate::backend::cuda::{Buffer, Cuda, DeviceCsr, DevicePattern};
use crate::error::Result;
use crate::storage::footprint::Footprint;
use crate::storage::held::{self, Held};
use oplus_codegen::text::ScalarText;
use oplus_codegen::{FunctionText, Shared};
use std::sync::Arc;

/// Entries, a value for every slot of their frame or one for all. Clones share everything; nothing changes once it is shared.
#[derive(Debug)]
pub(crate) struct DeviceHeld<T> {
    pub(crate) frame: Arc<DeviceFrame>,
    values: Values,
    list: List<T>,
}
impl<T> Clone for DeviceHeld<T> {
    fn clone(&self) -> Self {
        self.cast()
    }
}

impl<T> DeviceHeld<T> {
    fn new(frame: Arc<DeviceFrame>, values: Values, scalar: ScalarText) -> Self {
        Self { frame, values, list: List::new(scalar, None) }
    }
    /// The same bytes by another name.
    pub(crate) fn cast<U>(&self) -> DeviceHeld<U> {
        DeviceHeld { frame: self.frame.clone(), values: self.values.clone(), list: self.list.cast() }
    }
    /// The entries as compressed rows; made when first asked for, and kept.
    pub(crate) fn listed(&self) -> Result<&DeviceCsr<T>> {
        self.list.get(|| self.made())
    }
    fn made(&self) -> Result<DeviceCsr<()>> {
        let (frame, scalar) = (&self.frame, self.list.scalar());
        let all = match (&self.values, &frame.form) {
            (Values::One(_), _) | (_, DeviceForm::Cells(None)) => {
                return Ok(DeviceCsr::with(frame.listed()?.clone(), self.values.clone()));
            }
            (Values::All(all), DeviceForm::Columns(pattern)) => {
                let (rows, values) = transpose(scalar, Operand { pattern, values: all })?;
                return Ok(DeviceCsr::on(frame.keep(Arc::new(rows)).clone(), values));
            }
            (Values::All(all), _) => all,
        };
        let (pattern, values) = moves::listed(frame, frame.known(), scalar, Some(all))?;
        Ok(DeviceCsr::on(frame.keep(pattern).clone(), values))
    }
    /// The positions alone.
    pub(crate) fn blank(&self) -> Result<DeviceCsr<T>> {
        Ok(DeviceCsr::on(self.frame.listed()?.clone(), Buffer::alloc(&self.frame.context, 0)?))
    }
    /// The transpose of what is stored by columns, which is its rows, along diagonals, or has an entry in every cell; `None` where
    /// rows are the way.
    pub(crate) fn turned(&self) -> Result<Option<Transposed<T>>> {
        match &self.frame.form {
            DeviceForm::Columns(pattern) => {
                Ok(Some(Transposed::Rows(DeviceCsr::with(pattern.clone(), self.values.clone()))))
            }
            _ => Ok(self.turned_slots()?.map(Transposed::Held)),
        }
    }
    /// The transpose slot by slot: along diagonals, of all cells, or of those that a good part of are entries.
    fn turned_slots(&self) -> Result<Option<Self>> {
        let (frame, scalar) = (&self.frame, self.list.scalar());
        let (context, (rows, columns)) = (&frame.context, frame.shape);
        match &frame.form {
            DeviceForm::Columns(_) => Ok(None),
            DeviceForm::Diagonals(_) => {
                let (scalar, from) = match &self.values {
                    Values::One(_) => (NOTHING, None),
                    Values::All(all) => (scalar, Some(&**all)),
                };
                let Some((turned, values)) = moves::turned_diagonals(frame, scalar, from)? else { return Ok(None) };
                let values = values.map_or_else(|| self.values.clone(), |values| Values::All(Arc::new(values)));
                Ok(Some(Self::new(Arc::new(turned), values, self.list.scalar())))
            }
            DeviceForm::Cells(Some(_)) => self.turned_cells(),
            DeviceForm::Cells(None) => {
                let frame = DeviceFrame::new(context, (columns, rows), frame.count(), DeviceForm::Cells(None));
                Ok(Some(Self::new(Arc::new(frame), self.values_turned()?, scalar)))
            }
        }
    }
    /// The values of cells in the order of the transpose's.
    fn values_turned(&self) -> Result<Values> {
        let (frame, scalar) = (&self.frame, self.list.scalar());
        let (rows, columns) = (frame.shape.0 as u64, frame.shape.1 as u64);
        Ok(match &self.values {
            Values::One(one) => Values::One(one.clone()),
            Values::All(all) => Values::All(Arc::new(full::turned(&frame.context, scalar, (rows, columns), all)?)),
        })
    }
    /// The same by columns, the rows of the transpose slot by slot; `None` where rows are the way.
    pub(crate) fn in_columns(&self) -> Result<Option<Self>> {
        let Some(turned) = self.turned_slots()? else { return Ok(None) };
        let (list, frame) = (turned.listed()?, &self.frame);
        let made =
            DeviceFrame::new(&frame.context, frame.shape, frame.count(), DeviceForm::Columns(list.pattern.clone()));
        if let Some(known) = frame.known() {
            made.keep(known.clone());
        }
        let scalar = self.list.scalar();
        let list = (List::new(scalar, self.list.known().cloned()), list.values.clone());
        Ok(Some(Self { frame: Arc::new(made), values: list.1, list: list.0 }))
    }
    /// The transpose of cells, cell by cell, where a good part of them are entries.
    fn turned_cells(&self) -> Result<Option<Self>> {
        let frame = &self.frame;
        let (context, (rows, columns)) = (&frame.context, frame.shape);
        let DeviceForm::Cells(Some(words)) = &frame.form else { return Ok(None) };
        if !frame.is_grid() {
            return Ok(None);
        }
        let (across, warps) = (columns.div_ceil(32) as u64, u64::from(tuning(context).primitive_block / 32));
        let turned = Buffer::zeroed_for::<u32>(context, places(frame.slots().div_ceil(32)))?;
        let (kernel, block) = (frame::form(context, "cells_turned")?, tuning(context).primitive_block);
        let blocks = (rows.div_ceil(32) as u64 * across).div_ceil(warps);
        let launch = kernel.launch(blocks, block, 0).arg(rows as u64).arg(columns as u64);
        // SAFETY: parameters as codegen/templates/README.md lists them; a bit a cell, none of them set there.
        unsafe { launch.arg(&**words).arg(&turned).run()? };
        let form = DeviceForm::Cells(Some(Arc::new(turned)));
        let turned = DeviceFrame::new(context, (columns, rows), frame.count(), form);
        Ok(Some(Self::new(Arc::new(turned), self.values_turned()?, self.list.scalar())))
    }
    /// Counts all that is kept.
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        self.values.footprint(to);
        self.frame.footprint(to);
        if let Some(list) = self.list.known() {
            list.footprint(to);
        }
    }
    /// The slots as if they were the entries of a single row, for what does not look at positions.
    fn as_row(&self) -> Result<DevicePattern> {
        let (context, n) = (&self.frame.context, self.frame.slots());
        let (offsets, indices) = (Buffer::alloc(context, 0)?, Buffer::alloc(context, 0)?);
        Ok(DevicePattern::new((1, places(n)), n, offsets, indices))
    }
}

/// A transpose.
#[derive(Debug)]
pub(crate) enum Transposed<T> {
    Rows(DeviceCsr<T>),
    Held(DeviceHeld<T>),
}
impl<T> Transposed<T> {
    /// As compressed rows.
    pub(crate) fn listed(self) -> Result<DeviceCsr<T>> {
        match self {
            Transposed::Rows(rows) => Ok(rows),
            Transposed::Held(held) => held.listed().cloned(),
        }
    }
}

impl<T: Scalar> DeviceHeld<T> {
    /// One value at the same positions.
    pub(crate) fn with<U: Scalar>(&self, value: U) -> Result<DeviceHeld<U>> {
        Ok(DeviceHeld::new(self.frame.clone(), Values::one(value)?, U::TEXT))
    }
    /// The one value.
    pub(crate) fn one(&self) -> Option<T> {
        self.values.single()
    }
    pub(crate) fn get(&self, row: usize, column: u32) -> Result<Option<T>> {
        let Some(slot) = self.frame.slot(row, column)? else { return Ok(None) };
        let (size, at) = (size_of::<T>(), places(slot));
        match &self.values {
            Values::One(_) => Ok(self.one()),
            Values::All(all) => Ok(from_bytes("get", &all.read::<u8>(at * size..(at + 1) * size)?)?.first().copied()),
        }
    }
    /// Sets the value of an entry. `false`, and nothing changes, where there is none or somebody shares the values.
    pub(crate) fn set(&mut self, row: usize, column: u32, value: T) -> Result<bool> {
        let Some(slot) = self.frame.slot(row, column)? else { return Ok(false) };
        // The list may share the values.
        self.list = List::new(T::TEXT, None);
        let Values::All(all) = &mut self.values else { return Ok(false) };
        let Some(values) = Arc::get_mut(all) else { return Ok(false) };
        values.write(places(slot) * size_of::<T>(), as_bytes(&[value]))?;
        Ok(true)
    }

    /// By columns; the rows stay known: each is there for what reads it best.
    pub(crate) fn by_columns(list: &DeviceCsr<T>) -> Result<Self> {
        let by_columns: DeviceCsr<T> = list.moved(T::TEXT, transpose)?;
        if let (Values::All(rows), Values::All(columns)) = (&list.values, &by_columns.values) {
            list.pattern.keep_columns(rows, Turned::new(by_columns.pattern.clone(), columns.clone()));
        }
        let frame = DeviceFrame::columns(by_columns.pattern, &list.pattern);
        Ok(Self { frame: Arc::new(frame), values: by_columns.values, list: List::new(T::TEXT, Some(list.cast())) })
    }
    /// A slot for every cell.
    pub(crate) fn cells(list: &DeviceCsr<T>) -> Result<Self> {
        Self::put(DeviceFrame::cells(&list.pattern, size(list))?, list)
    }
    /// A list with an entry in every cell as cells; it stays known.
    pub(crate) fn full(list: &DeviceCsr<T>) -> Self {
        let frame = Arc::new(DeviceFrame::full(&list.pattern));
        Self { frame, values: list.values.clone(), list: List::new(T::TEXT, Some(list.cast())) }
    }
    /// A slot for every row of the diagonals in use.
    pub(crate) fn diagonals(list: &DeviceCsr<T>) -> Result<Self> {
        Self::put(DeviceFrame::diagonals(&list.pattern, size(list))?, list)
    }
    /// The entries of a list in a frame of its positions, whose bits are written here.
    fn put(frame: DeviceFrame, list: &DeviceCsr<T>) -> Result<Self> {
        let values = match &list.values {
            // All cells in the order of the list.
            Values::All(all) if matches!(frame.form, DeviceForm::Cells(None)) => Values::All(all.clone()),
            Values::All(from) => {
                let to = Buffer::alloc(&frame.context, frame.slots().saturating_mul(size_of::<T>() as u64))?;
                moves::put(&frame, &list.pattern, T::TEXT, Some((from, &to)))?;
                Values::All(Arc::new(to))
            }
            Values::One(one) => {
                moves::put(&frame, &list.pattern, NOTHING, None)?;
                Values::One(one.clone())
            }
        };
        Ok(Self::new(Arc::new(frame), values, T::TEXT))
    }
    /// f(a, y) of values alone, in the slots that they have.
    pub(crate) fn applied<Y: Scalar, C: Scalar>(
        &self,
        op: Shared<FunctionText>,
        y: Y,
    ) -> Result<Option<DeviceHeld<C>>> {
        let Values::All(values) = &self.values else { return Ok(None) };
        let row = self.as_row()?;
        let operand = Operand { pattern: &row, values };
        let made = map::apply(op, as_bytes(&[y]), operand, &Positions::default())?;
        Ok(Some(DeviceHeld::new(self.frame.clone(), Values::All(Arc::new(made)), C::TEXT)))
    }

    /// The sum of all where every cell has an entry; `None` where a list is the way. The bits of the list's sum: that looks at no position.
    pub(crate) fn summed<M: Monoid<T>>(&self) -> Result<Option<Option<T>>> {
        let (Values::All(values), DeviceForm::Cells(None)) = (&self.values, &self.frame.form) else { return Ok(None) };
        let row = self.as_row()?;
        let sum = reduce::reduce(monoid_text::<T, M>("op"), Operand { pattern: &row, values })?;
        let Some(bytes) = sum else { return Ok(Some(None)) };
        Ok(Some(from_bytes("reduce", &bytes)?.first().copied()))
    }

    /// The sum of each row, as above.
    pub(crate) fn rows_summed<M: Monoid<T>>(&self) -> Result<Option<DeviceCsr<T>>> {
        let (Values::All(values), DeviceForm::Cells(None)) = (&self.values, &self.frame.form) else { return Ok(None) };
        let a = Operand { pattern: self.frame.begins()?, values };
        let (pattern, sums) = reduce::reduce_rows(monoid_text::<T, M>("op"), a)?;
        Ok(Some(DeviceCsr::on(pattern, sums)))
    }

    pub(crate) fn upload(cuda: &Cuda, host: &Held<T>) -> Result<Self> {
        let context = &cuda.context;
        let frame = Arc::new(DeviceFrame::upload(context, &host.frame)?);
        let values = match &*host.values {
            held::Values::One(value) => Values::one(*value)?,
            held::Values::All(values) => Values::All(Arc::new(Buffer::from_host(context, as_bytes(values))?)),
        };
        Ok(Self::new(frame, values, T::TEXT))
    }
    pub(crate) fn download(&self) -> Result<Held<T>> {
        let frame = Arc::new(self.frame.download()?);
        let values = match (&self.values, self.one()) {
            (Values::All(all), _) => from_bytes("download", &all.to_host::<u8>()?)?.into(),
            (_, Some(value)) => held::Values::One(value),
            // A value that cannot be read is none of ours.
            _ => held::Values::One(T::zeroed()),
        };
        Ok(Held::new(frame, values))
    }
}

/// Bytes that each slot has for its value.
fn size<T>(list: &DeviceCsr<T>) -> usize {
    if list.is_iso() { 0 } else { size_of::<T>() }
}
