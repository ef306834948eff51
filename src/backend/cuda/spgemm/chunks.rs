//! Products that do not fit as a whole, by chunks of rows.
use crate::backend::cuda::entries::{block_and_tile, places, structure};
use crate::backend::cuda::product::{Operand, Product};
use crate::backend::cuda::spgemm;
use crate::backend::cuda::structure::transpose::transpose;
use crate::backend::cuda::{Buffer, Context, DevicePattern};
use crate::backend::{MaskOn, MxmOptions, Positions};
use crate::error::{Error, Result};
use crate::memory;
use crate::spgemm::chunks::{ByRows, Size, by_chunks};
use crate::spgemm::{Analysis, Strategy};
use oplus_codegen::text::ScalarText;
use oplus_codegen::{FunctionText, Shared};
use std::ops::Range;
use std::sync::Arc;

/// T⟨M⟩ = A ⊕.⊗ B, as a whole if there is memory for that.
pub(crate) fn mxm(product: &Product, options: &MxmOptions) -> Result<(DevicePattern, Buffer)> {
    let chunks = RowChunks { product, options };
    match chunks.made(product, options.strategy) {
        Err(Error::OutOfMemory { .. }) => {}
        made => return made,
    }
    let (rows, columns) = (chunks.rows(), product.columns());
    if rows == 1 {
        // It is C as it is made.
        return chunks.one_row(product);
    }
    Ok(by_chunks(&chunks, rows.div_ceil(2))?.filled((rows, columns)))
}

/// ⊞ over (A ⊕.⊗ B)⟨M⟩ as bytes: of all rows, or where there is no memory for that, of some rows each, in order.
pub(crate) fn mxm_reduce(product: &Product, reduce: &Shared<FunctionText>) -> Result<Vec<Vec<u8>>> {
    let chunks = RowChunks { product, options: &MxmOptions::default() };
    match spgemm::mxm_reduce(product, reduce.clone()) {
        Err(Error::OutOfMemory { .. }) if chunks.rows() > 1 => {}
        made => return made.map(|sum| sum.into_iter().collect()),
    }
    let first = chunks.rows().div_ceil(2) as u64;
    let (mut sums, mut row, mut size) = (Vec::new(), 0, Size::of(first, first));
    while row < chunks.rows() {
        let rows = row..chunks.rows().min(row.saturating_add(size.rows()));
        match chunks.cut(&rows, |part| spgemm::mxm_reduce(part, reduce.clone())) {
            Ok(sum) => {
                memory::reserve("mxm", &mut sums, 1)?;
                sums.extend(sum);
                row = rows.end;
                size.fits();
            }
            Err(Error::OutOfMemory { .. }) if rows.len() > 1 => size.shrink(rows.len().div_ceil(2) as u64),
            Err(e) => return Err(e),
        }
    }
    Ok(sums)
}

/// t⟨m⟩ = A ⊕.⊗ x with sums in the order of k: a product with a matrix of one column.
pub(crate) fn mxv_ordered(product: &Product, options: &MxmOptions) -> Result<(DevicePattern, Buffer)> {
    let (pattern, values) = with_column(product, |product| mxm(product, options))?;
    transpose(product.semiring.c, Operand { pattern: &pattern, values: &values })
}

/// What [`mxv_ordered`] will do.
pub(crate) fn explain_mxv_ordered(product: &Product, options: &MxmOptions) -> Result<Analysis> {
    with_column(product, |product| spgemm::explain(product, options, None, false))
}

/// What `work` makes of a product with a vector as one with a matrix of one column.
fn with_column<R>(product: &Product, work: impl FnOnce(&Product) -> Result<R>) -> Result<R> {
    const PLACE: ScalarText = ScalarText { name: "u32", definition: "", size: 4 };
    let (pattern, values) = transpose(product.semiring.b, product.b)?;
    let mask = match product.mask {
        None => None,
        Some(m) => {
            let row = Operand { pattern: &m.pattern, values: &m.pattern.indices };
            Some(MaskOn { pattern: Arc::new(transpose(PLACE, row)?.0), complement: m.complement })
        }
    };
    let (b, at) = (Operand { pattern: &pattern, values: &values }, &Positions { j: None, ..product.at.clone() });
    work(&Product { b, mask: mask.as_ref(), at, ..product.clone() })
}

pub(crate) struct RowChunks<'a> {
    pub(crate) product: &'a Product<'a>,
    pub(crate) options: &'a MxmOptions,
}

/// A result being put together.
pub(crate) struct Room {
    entries: u64,
    longest: Option<u64>,
    offsets: Buffer,
    indices: Buffer,
    values: Buffer,
}

impl Room {
    /// For so many rows with so many entries, whose values have this size.
    pub(crate) fn of(context: &Arc<Context>, rows: usize, entries: u64, size: usize) -> Result<Self> {
        // Of no rows nothing is placed.
        let offsets = if rows == 0 { Buffer::zeroed_for::<u64> } else { Buffer::alloc_for::<u64> };
        Ok(Room {
            entries,
            longest: Some(0),
            offsets: offsets(context, rows + 1)?,
            indices: Buffer::alloc_for::<u32>(context, places(entries))?,
            values: Buffer::alloc(context, entries.saturating_mul(size as u64))?,
        })
    }
    /// Puts rows where they belong, `start` entries after the first.
    pub(crate) fn place(&mut self, part: Operand<'_>, size: usize, rows: Range<usize>, start: u64) -> Result<()> {
        let (Operand { pattern, values }, size) = (part, size as u64);
        shift(&pattern.offsets, 0, rows.len() as u64 + 1, 0, start, &self.offsets, rows.start as u64)?;
        self.indices.copy_range(start * 4, &pattern.indices, 0..pattern.nnz * 4)?;
        self.values.copy_range(start * size, values, 0..pattern.nnz * size)?;
        self.longest = self.longest.zip(pattern.longest).map(|(x, y)| x.max(y));
        Ok(())
    }
    /// The result, all rows in their places.
    pub(crate) fn filled(self, shape: (usize, usize)) -> (DevicePattern, Buffer) {
        let pattern = DevicePattern::new(shape, self.entries, self.offsets, self.indices);
        (pattern.with_longest_if(self.longest), self.values)
    }
}

impl ByRows for RowChunks<'_> {
    type Part = (DevicePattern, Buffer);
    type Whole = Room;

    fn rows(&self) -> usize {
        self.product.a.pattern.nrows
    }

    fn part(&self, rows: Range<usize>) -> Result<(DevicePattern, Buffer)> {
        self.cut(&rows, |part| match rows.len() {
            1 => self.one_row(part),
            _ => self.made(part, self.options.strategy),
        })
    }

    fn entries(part: &(DevicePattern, Buffer)) -> u64 {
        part.0.nnz
    }

    fn room(&self, entries: u64) -> Result<Room> {
        Room::of(self.product.context, self.rows(), entries, self.product.semiring.written().size)
    }

    fn place(&self, to: &mut Room, part: &(DevicePattern, Buffer), rows: Range<usize>, start: u64) -> Result<()> {
        let (pattern, values) = (&part.0, &part.1);
        to.place(Operand { pattern, values }, self.product.semiring.written().size, rows, start)
    }
}

impl RowChunks<'_> {
    pub(crate) fn made(&self, product: &Product, strategy: Strategy) -> Result<(DevicePattern, Buffer)> {
        product.check_written()?;
        if self.options.reproducible { spgemm::mxm_ordered(product, strategy) } else { spgemm::mxm(product, strategy) }
    }
    /// Of one row, which cannot be made in parts.
    fn one_row(&self, row: &Product) -> Result<(DevicePattern, Buffer)> {
        // Ways that guess the size of the result may take more than it needs, and those that count it first lists beside it. The last
        // has the result alone.
        let rather = [Strategy::Hash, Strategy::RowRow].into_iter().filter(|_| self.options.strategy == Strategy::Auto);
        let mut made = self.made(row, self.options.strategy);
        for strategy in rather {
            match made {
                Err(Error::OutOfMemory { .. }) => made = self.made(row, strategy),
                _ => break,
            }
        }
        made
    }
    /// What `work` makes of some rows of A and of the mask.
    fn cut<R>(&self, rows: &Range<usize>, work: impl FnOnce(&Product) -> Result<R>) -> Result<R> {
        let (pattern, mut values) = rows_of(self.product.a, self.product.semiring.a.size, rows)?;
        if let Some(one) = self.product.unwritten {
            values = one.written(self.product.context, pattern.nnz)?;
        }
        let mask = match self.product.mask {
            None => None,
            Some(m) => {
                let pattern = rows_of(Operand { pattern: &m.pattern, values: &m.pattern.indices }, 0, rows)?.0;
                Some(MaskOn { pattern: Arc::new(pattern), complement: m.complement })
            }
        };
        let (a, at) = (Operand { pattern: &pattern, values: &values }, &self.ids(rows)?);
        work(&Product { a, mask: mask.as_ref(), at, unwritten: None, ..self.product.clone() })
    }
    /// Positions with the ids of these rows alone.
    fn ids(&self, rows: &Range<usize>) -> Result<Positions> {
        if !self.product.semiring.reads.position {
            return Ok(Positions::default());
        }
        let mut ids = memory::with_capacity("mxm", rows.len())?;
        match &self.product.at.i {
            Some(all) => ids.extend_from_slice(all.get(rows.clone()).unwrap_or_default()),
            None => ids.extend(rows.clone().map(|r| r as u64)),
        }
        Ok(Positions { i: Some(Arc::new(ids)), ..self.product.at.clone() })
    }
}

/// to[place..] = from[at .. at + n] - first + start.
fn shift(from: &Buffer, at: u64, n: u64, first: u64, start: u64, to: &Buffer, place: u64) -> Result<()> {
    let context = from.context();
    let (kernel, block) = (structure(context, "shift_offsets")?, block_and_tile(context).0);
    let launch = kernel.launch(n.div_ceil(u64::from(block)), block, 0).arg(n).arg(from.pointer() + 8 * at);
    // SAFETY: parameters as the README lists them; the caller's ranges lie within both buffers.
    unsafe { launch.arg(first).arg(start).arg(to.pointer() + 8 * place).run() }
}

/// Some rows of a matrix whose values have this size.
fn rows_of(a: Operand<'_>, size: usize, rows: &Range<usize>) -> Result<(DevicePattern, Buffer)> {
    let context = a.pattern.offsets.context();
    let (first, last) = (a.pattern.offsets.read_one::<u64>(rows.start)?, a.pattern.offsets.read_one::<u64>(rows.end)?);
    // Values that nobody looks at are not there.
    let (n, size) = (last - first, if a.values.is_empty() { 0 } else { size as u64 });
    let offsets = Buffer::alloc_for::<u64>(context, rows.len() + 1)?;
    shift(&a.pattern.offsets, rows.start as u64, rows.len() as u64 + 1, first, 0, &offsets, 0)?;
    let (mut indices, mut values) = (Buffer::alloc(context, n * 4)?, Buffer::alloc(context, n * size)?);
    indices.copy_range(0, &a.pattern.indices, first * 4..last * 4)?;
    values.copy_range(0, a.values, first * size..last * size)?;
    let pattern = DevicePattern::new((rows.len(), a.pattern.ncols), n, offsets, indices);
    Ok((pattern.with_longest_if(a.pattern.longest), values))
}
