//! Products whose rows something is done to while they are there: C is never whole where it would be large.
use super::chunks::{Room, RowChunks};
use crate::backend::MxmOptions;
use crate::backend::cuda::entries::{block_and_tile, structure};
use crate::backend::cuda::mxv::full;
use crate::backend::cuda::product::Product;
use crate::backend::cuda::runtime::program::sum_in_place;
use crate::backend::cuda::spgemm;
use crate::backend::cuda::storage::values::Values;
use crate::backend::cuda::{Buffer, Context, DeviceCsr, DevicePattern};
use crate::error::{Error, Result};
use crate::memory;
use crate::spgemm::chunks::{ByRows, by_chunks};
use std::ops::Range;
use std::sync::Arc;

/// Rows of C take at most this part of all memory at once …
const PART: u64 = 128;
/// … or of what the product may take.
const PART_OF_LIMIT: u64 = 4;

/// What follows a product.
pub(crate) struct After<'a> {
    /// The value of all entries of the product, where it is known before; then it is of positions alone.
    pub(crate) one: Option<Values>,
    /// Bytes of a value of the result.
    pub(crate) size: usize,
    /// What is made of some rows of the product.
    pub(crate) then: &'a Then<'a>,
}
/// What is made of these rows of a product, the values of both without their type.
pub(crate) type Then<'a> = dyn Fn(DeviceCsr<()>, Range<usize>) -> Result<DeviceCsr<()>> + 'a;

/// What `after` says of A ⊕.⊗ B: at once where C is surely small, else of some rows before the next.
/// `owned`: the positions of A and B as their owners have them.
pub(crate) fn mxm_then(
    product: &Product,
    options: &MxmOptions,
    owned: (&Arc<DevicePattern>, &Arc<DevicePattern>),
    after: &After,
) -> Result<DeviceCsr<()>> {
    let chunks = RowChunks { product, options };
    let (rows, entry) = (chunks.rows(), 4 + product.semiring.written().size as u64);
    let room = product.context.properties().total_memory / PART;
    let room = options.memory_limit.map_or(room, |limit| room.min(limit / PART_OF_LIMIT));
    let ends = match ends(product, room / entry) {
        // Then halves of rows are tried.
        Err(Error::OutOfMemory { .. }) => Vec::new(),
        ends => ends?,
    };
    let fused = Fused { chunks, owned, ends, after };
    let mut first = rows;
    if fused.end(0) >= rows {
        match fused.part(0..rows) {
            Err(Error::OutOfMemory { .. }) if rows > 1 => first = rows.div_ceil(2),
            made => return made,
        }
    }
    let (pattern, values) = by_chunks(&fused, first)?.filled((rows, product.columns()));
    Ok(DeviceCsr::new(pattern, values))
}

struct Fused<'a> {
    chunks: RowChunks<'a>,
    owned: (&'a Arc<DevicePattern>, &'a Arc<DevicePattern>),
    /// Where chunks of rows end.
    ends: Vec<u64>,
    after: &'a After<'a>,
}

impl ByRows for Fused<'_> {
    type Part = DeviceCsr<()>;
    type Whole = Room;
    /// What is kept of some rows is little beside what it takes to make them.
    const TRIES: u32 = 3;

    fn rows(&self) -> usize {
        self.chunks.rows()
    }
    fn end(&self, row: usize) -> usize {
        let next = self.ends.partition_point(|end| *end <= row as u64);
        self.ends.get(next).map_or(self.rows(), |end| *end as usize)
    }
    fn part(&self, rows: Range<usize>) -> Result<DeviceCsr<()>> {
        let all = rows.len() == self.rows();
        let with = |pattern, values| match &self.after.one {
            Some(one) => DeviceCsr::with(pattern, one.clone()),
            None => DeviceCsr::on(pattern, values),
        };
        if all && let Some((pattern, values)) = full::mxm(self.chunks.product, self.chunks.options, self.owned)? {
            return (self.after.then)(with(pattern, values), rows);
        }
        let whole = all.then(|| self.chunks.made(self.chunks.product, self.chunks.options.strategy));
        let (pattern, values) = match whole {
            None => self.chunks.part(rows.clone())?,
            Some(Err(Error::OutOfMemory { .. })) if rows.len() == 1 => self.chunks.part(rows.clone())?,
            Some(made) => made?,
        };
        (self.after.then)(with(Arc::new(pattern), values), rows)
    }
    fn entries(part: &DeviceCsr<()>) -> u64 {
        part.nnz()
    }
    fn room(&self, entries: u64) -> Result<Room> {
        Room::of(self.chunks.product.context, self.rows(), entries, self.after.size)
    }
    fn place(&self, to: &mut Room, part: &DeviceCsr<()>, rows: Range<usize>, start: u64) -> Result<()> {
        to.place(part.read()?.operand(), self.after.size, rows, start)
    }
}

/// Where chunks of rows end that surely have no more than `most` entries of C each, or are of one row; none where C has not.
fn ends(product: &Product, most: u64) -> Result<Vec<u64>> {
    let (context, rows, mask) = (product.context, product.a.pattern.nrows as u64, product.mask);
    let mask = mask.filter(|m| !m.complement).map(|m| &m.pattern);
    let admitted = mask.map_or(u64::MAX, |m: &Arc<DevicePattern>| m.nnz);
    let most = most.max(1);
    if let Some(mask) = mask.filter(|_| product.by_columns) {
        // Dot products: rows have what the mask has at most.
        return if mask.nnz <= most { Ok(Vec::new()) } else { cut(context, &mask.offsets, rows, mask.nnz, most) };
    }
    if spgemm::bound(product)?.min(admitted) <= most {
        return Ok(Vec::new());
    }
    let measured = spgemm::measured(product)?;
    let sums = Buffer::alloc_for::<u64>(context, product.a.pattern.nrows + 1)?;
    let (kernel, block) = (structure(context, "row_bounds")?, block_and_tile(context).0);
    let launch = kernel.launch(rows.div_ceil(u64::from(block)), block, 0).arg(rows);
    let launch = launch.arg(&measured.products).arg(&measured.first).arg(&measured.last);
    // SAFETY: parameters as the README lists them; the mask has as many rows as A.
    unsafe { launch.arg(mask.map(|m| &m.offsets)).arg(&sums).run()? };
    drop(measured);
    let (total, _) = sum_in_place(context, &sums, rows)?;
    if total <= most {
        return Ok(Vec::new());
    }
    cut(context, &sums, rows, total, most)
}

/// Where rows with these sums of entries before them are cut.
fn cut(context: &Arc<Context>, sums: &Buffer, rows: u64, total: u64, most: u64) -> Result<Vec<u64>> {
    // Any two neighbours together have more than `most`.
    let count = (total / most).saturating_mul(2).saturating_add(2).min(rows + 1);
    let found = Buffer::zeroed(context, 8 * (count + 1))?;
    let kernel = structure(context, "cut_rows")?;
    let launch = kernel.launch(1u32, 32u32, 0).arg(rows).arg(sums).arg(most);
    // SAFETY: as above; room for the ends of all ranges.
    unsafe { launch.arg(count).arg(&found).run()? };
    let mut found: Vec<u64> = found.to_host()?;
    let cut = usize::try_from(found[0]).unwrap_or(0).min(found.len() - 1);
    let mut ends = memory::with_capacity("mxm", cut)?;
    ends.extend(found.drain(1..=cut));
    Ok(ends)
}
