//! Where entries lie in device memory that are no compressed rows: by columns, in a cell for every position, along diagonals.
use super::moves;
use crate::backend::cuda::entries::{Marks, find, places, tiles};
use crate::backend::cuda::mxv::full;
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::program::Program;
use crate::backend::cuda::storage::places::grid;
use crate::backend::cuda::storage::values::NOTHING;
use crate::backend::cuda::structure::transpose::transpose;
use crate::backend::cuda::{Buffer, Context, DevicePattern, Kernel};
use crate::error::Result;
use crate::storage::footprint::Footprint;
use crate::storage::frame::{Cells, Diagonals, Form, Frame, inside, slots};
use oplus_codegen::Template;
use std::sync::{Arc, OnceLock};

const OPERATION: &str = "to_format";

/// Positions, each with a slot for its value, and their list by rows once an operation has asked for it.
#[derive(Debug)]
pub(crate) struct DeviceFrame {
    pub(crate) context: Arc<Context>,
    pub(crate) shape: (usize, usize),
    count: u64,
    pub(crate) form: DeviceForm,
    listed: OnceLock<Arc<DevicePattern>>,
    /// Of cells that all have an entry where rows begin, once sums of rows were asked for.
    begins: OnceLock<DevicePattern>,
}

/// How positions are told.
#[derive(Debug)]
pub(crate) enum DeviceForm {
    /// Compressed columns: the rows of the transpose.
    Columns(Arc<DevicePattern>),
    /// A slot for every cell, row by row; and a bit, in words of 32, where not all have an entry.
    Cells(Option<Arc<Buffer>>),
    /// A slot for every row of every diagonal in use.
    Diagonals(DeviceDiagonals),
}

/// Diagonal d holds the entries (i, i + offsets[d]), each in slot d · nrows + i; without words every slot inside the matrix has one.
#[derive(Debug)]
pub(crate) struct DeviceDiagonals {
    /// Ascending.
    pub(crate) offsets: Vec<i64>,
    list: Buffer,
    pub(crate) words: Option<Buffer>,
}

/// A kernel on positions and bits.
pub(crate) fn form(context: &Arc<Context>, kernel: &str) -> Result<Kernel> {
    Program::new(context, Template::Forms, |s| s).kernel(kernel)
}

/// Words of 32 bits for so many slots.
pub(crate) fn room_for_bits(context: &Arc<Context>, n: u64) -> Result<Buffer> {
    Buffer::alloc_for::<u32>(context, places(n.div_ceil(32)))
}

impl DeviceFrame {
    /// Entries counted by the caller.
    pub(crate) fn new(context: &Arc<Context>, shape: (usize, usize), count: u64, form: DeviceForm) -> Self {
        Self { context: context.clone(), shape, count, form, listed: OnceLock::new(), begins: OnceLock::new() }
    }
    /// By columns, of a list that stays known.
    pub(crate) fn columns(by_columns: Arc<DevicePattern>, list: &Arc<DevicePattern>) -> Self {
        let (context, shape) = (list.offsets.context(), (list.nrows, list.ncols));
        let mut made = Self::new(context, shape, list.nnz, DeviceForm::Columns(by_columns));
        made.listed = OnceLock::from(list.clone());
        made
    }
    /// All cells of a list that has an entry for each, and stays known.
    pub(crate) fn full(list: &Arc<DevicePattern>) -> Self {
        let mut made = Self::new(list.offsets.context(), (list.nrows, list.ncols), list.nnz, DeviceForm::Cells(None));
        made.listed = OnceLock::from(list.clone());
        made
    }
    /// Cells for the entries of a list: their bits are to be written, where not all have an entry.
    pub(crate) fn cells(list: &DevicePattern, size: usize) -> Result<Self> {
        let (context, shape) = (list.offsets.context(), (list.nrows, list.ncols));
        let n = slots(OPERATION, context.device(), shape.0, shape.1, size)? as u64;
        let words = if list.nnz < n { Some(Arc::new(room_for_bits(context, n)?)) } else { None };
        Ok(Self::new(context, shape, list.nnz, DeviceForm::Cells(words)))
    }
    /// The diagonals in use, whose bits are to be set as well.
    pub(crate) fn diagonals(list: &DevicePattern, size: usize) -> Result<Self> {
        let (context, shape, rows) = (list.offsets.context(), (list.nrows, list.ncols), list.nrows as u64);
        let all = rows + list.ncols as u64;
        let marks = Marks::zeroed(context, all, 0)?;
        let (kernel, (blocks, block)) = (form(context, "diagonal_marks")?, tiles(context, list.nnz));
        let launch = kernel.launch(blocks, block, 0).arg(list.nnz).arg(rows);
        // SAFETY: of all launches here, parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(&list.offsets).arg(&list.indices).arg(&marks.words).run()? };
        let count = marks.ranked()?;
        let (in_use, words) = (Buffer::alloc_for::<i64>(context, places(count))?, all.div_ceil(32));
        let (kernel, (blocks, block)) = (form(context, "diagonal_list")?, grid(context, words));
        let launch = kernel.launch(blocks, block, 0).arg(words).arg(&marks.words);
        // SAFETY: as above; as many diagonals as marks.
        unsafe { launch.arg(&marks.starts).arg(rows).arg(&in_use).run()? };
        let offsets: Vec<i64> = in_use.to_host()?;
        let n = slots(OPERATION, context.device(), offsets.len(), list.nrows, size)? as u64;
        let filled = offsets.iter().map(|offset| inside(shape, *offset) as u64).sum::<u64>() == list.nnz;
        let words = if filled { None } else { Some(Buffer::zeroed_for::<u32>(context, places(n.div_ceil(32)))?) };
        let form = DeviceForm::Diagonals(DeviceDiagonals { offsets, list: in_use, words });
        Ok(Self::new(context, shape, list.nnz, form))
    }
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
    /// Whether columns are stored.
    pub(crate) fn has_columns(&self) -> bool {
        matches!(&self.form, DeviceForm::Columns(_))
    }
    /// How many slots values have.
    pub(crate) fn slots(&self) -> u64 {
        match &self.form {
            DeviceForm::Columns(p) => p.nnz,
            DeviceForm::Cells(_) => self.shape.0 as u64 * self.shape.1 as u64,
            DeviceForm::Diagonals(d) => d.offsets.len() as u64 * self.shape.0 as u64,
        }
    }
    /// A bit a slot, where not each has an entry.
    pub(crate) fn words(&self) -> Option<&Buffer> {
        match &self.form {
            DeviceForm::Columns(_) => None,
            DeviceForm::Cells(words) => words.as_deref(),
            DeviceForm::Diagonals(d) => d.words.as_ref(),
        }
    }
    /// Where its diagonals are told, and how many they are, if it has any.
    pub(crate) fn diagonals_told(&self) -> Option<(&Buffer, u64)> {
        match &self.form {
            DeviceForm::Diagonals(d) => Some((&d.list, d.offsets.len() as u64)),
            _ => None,
        }
    }
    /// Those of the transpose, where diagonals are no more than twice as long there: offsets, and room for bits where there are any. In a
    /// flat matrix many diagonals are short, whose slots would be very many.
    pub(super) fn turned_diagonals(&self) -> Result<Option<DeviceDiagonals>> {
        let DeviceForm::Diagonals(d) = &self.form else { return Ok(None) };
        let (rows, columns) = self.shape;
        if columns > rows.saturating_mul(2) {
            return Ok(None);
        }
        let mut offsets = crate::memory::copied("transpose", &d.offsets)?;
        offsets.reverse();
        offsets.iter_mut().for_each(|offset| *offset = -*offset);
        let list = Buffer::from_host(&self.context, &offsets)?;
        let n = (offsets.len() as u64).saturating_mul(columns as u64);
        let words = d.words.as_ref().map(|_| room_for_bits(&self.context, n)).transpose()?;
        Ok(Some(DeviceDiagonals { offsets, list, words }))
    }
    /// The slot of an entry.
    pub(crate) fn slot(&self, row: usize, column: u32) -> Result<Option<u64>> {
        let (i, rows) = (row as u64, self.shape.0 as u64);
        let slot = match &self.form {
            DeviceForm::Columns(p) => return find(p, column as usize, row as u32),
            DeviceForm::Cells(_) => i * self.shape.1 as u64 + u64::from(column),
            DeviceForm::Diagonals(d) => match d.offsets.binary_search(&(i64::from(column) - row as i64)) {
                Ok(d) => d as u64 * rows + i,
                Err(_) => return Ok(None),
            },
        };
        let there = match self.words() {
            Some(words) => words.read_one::<u32>(places(slot >> 5))? >> (slot & 31) & 1 != 0,
            None => true,
        };
        Ok(there.then_some(slot))
    }
    pub(crate) fn known(&self) -> Option<&Arc<DevicePattern>> {
        self.listed.get()
    }
    /// Where rows begin of cells that all have an entry; it has no columns if there is no list.
    pub(super) fn begins(&self) -> Result<&DevicePattern> {
        if let Some(known) = self.known().map(|list| &**list).or(self.begins.get()) {
            return Ok(known);
        }
        let made = full::begins(&self.context, self.shape)?;
        Ok(self.begins.get_or_init(|| made))
    }
    /// Remembers the list.
    pub(crate) fn keep(&self, list: Arc<DevicePattern>) -> &Arc<DevicePattern> {
        self.listed.get_or_init(|| list)
    }
    /// The positions by rows.
    pub(crate) fn listed(&self) -> Result<&Arc<DevicePattern>> {
        if let Some(listed) = self.known() {
            return Ok(listed);
        }
        let made = match &self.form {
            DeviceForm::Columns(p) => {
                let none = Buffer::alloc(&self.context, 0)?;
                transpose(NOTHING, Operand { pattern: p, values: &none })?.0
            }
            DeviceForm::Cells(None) => full::everywhere(&self.context, self.shape)?,
            DeviceForm::Cells(Some(_)) | DeviceForm::Diagonals(_) => {
                return Ok(self.keep(moves::listed(self, None, NOTHING, None)?.0));
            }
        };
        Ok(self.keep(Arc::new(made)))
    }
    /// Counts what tells the positions, with the list where it is known.
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        match &self.form {
            DeviceForm::Columns(p) => p.footprint(to),
            DeviceForm::Cells(_) => {}
            DeviceForm::Diagonals(d) => _ = d.list.footprint(to),
        }
        if let Some(words) = self.words() {
            words.footprint(to);
        }
        for pattern in self.known().map(|list| &**list).into_iter().chain(self.begins.get()) {
            pattern.footprint(to);
        }
    }

    /// What is in host memory, in device memory.
    pub(crate) fn upload(context: &Arc<Context>, host: &Frame) -> Result<Self> {
        let count = host.count() as u64;
        let words = |words: &Option<Vec<u64>>, n: usize| match words {
            None => Ok(None),
            Some(words) => {
                let halves: &[u32] = bytemuck::cast_slice(words);
                Buffer::from_host(context, &halves[..n.div_ceil(32)]).map(Some)
            }
        };
        let (shape, form) = match &host.form {
            Form::Rows(p) | Form::Columns(p) => {
                let by_columns = DevicePattern::upload(context, p)?;
                ((p.ncols, p.nrows), DeviceForm::Columns(Arc::new(by_columns)))
            }
            Form::Cells(c) => ((c.nrows, c.ncols), DeviceForm::Cells(words(&c.words, host.slots())?.map(Arc::new))),
            Form::Diagonals(d) => {
                let (list, words) = (Buffer::from_host(context, &d.offsets)?, words(&d.words, host.slots())?);
                let offsets = crate::memory::copied("upload", &d.offsets)?;
                ((d.nrows, d.ncols), DeviceForm::Diagonals(DeviceDiagonals { offsets, list, words }))
            }
        };
        Ok(Self::new(context, shape, count, form))
    }
    /// And back.
    pub(crate) fn download(&self) -> Result<Frame> {
        let (nrows, ncols) = self.shape;
        let words = match self.words() {
            None => None,
            Some(words) => {
                let halves: Vec<u32> = words.to_host()?;
                let mut all = crate::memory::with_capacity("download", halves.len().div_ceil(2))?;
                all.extend(halves.chunks(2).map(|w| u64::from(w[0]) | u64::from(w.get(1).copied().unwrap_or(0)) << 32));
                Some(all)
            }
        };
        let form = match &self.form {
            DeviceForm::Columns(p) => Form::Columns(Arc::new(p.download()?)),
            DeviceForm::Cells(_) => Form::Cells(Cells { nrows, ncols, words }),
            DeviceForm::Diagonals(d) => {
                let offsets = crate::memory::copied("download", &d.offsets)?;
                Form::Diagonals(Diagonals { nrows, ncols, offsets, words })
            }
        };
        Ok(Frame::new(form, places(self.count)))
    }
}
