//! C⟨M⟩ = A ⊕.⊗ B by a dot product for each entry of the mask: a row of A and a row of Bᵀ, the shorter looked up in the longer.
//!
//! A value and a bit for each entry of the mask, then the entries that have one moved together; a reduction adds them where they are. Sums run
//! in the order of k. Bᵀ is made for the product, or kept with B's positions where they are asked for a second time (`turned`).
use super::Made;
use super::found::Found;
use crate::backend::MxmOptions;
use crate::backend::cuda::entries::{Marks, empty, places, structure};
use crate::backend::cuda::product::{DeviceIds, DeviceMask, Product};
use crate::backend::cuda::runtime::ahead::Wanted;
use crate::backend::cuda::runtime::program::{Program, resident, tuning};
use crate::backend::cuda::storage::device_csr::DevicePattern;
use crate::backend::cuda::{Buffer, Context, lock};
use crate::error::{Error, Result};
use crate::spgemm::{Analysis, Bin, Strategy};
use oplus_codegen::{FunctionText, Shared, Template, Tuning};
use std::sync::Arc;

/// A product whose B lies by columns, under a mask.
pub(super) struct Dots<'a> {
    product: &'a Product<'a>,
    mask: &'a DevicePattern,
    tuning: &'static Tuning,
}

impl<'a> Dots<'a> {
    /// `None` where B lies by rows.
    pub(super) fn of(product: &'a Product<'a>) -> Option<Self> {
        let mask = product.mask.filter(|m| product.by_columns && !m.complement)?;
        Some(Self { product, mask: &mask.pattern, tuning: tuning(product.context) })
    }

    /// The product.
    pub(super) fn made(&self) -> Result<Made> {
        let Product { context, semiring, a, b, .. } = self.product;
        match self.found(|| Found::putting_together(context, semiring.c))? {
            Some(found) => found.made(context, semiring.c),
            None => empty(context, a.pattern.nrows, b.pattern.nrows),
        }
    }

    /// The sum of its values.
    pub(super) fn reduced(&self, reduce: Shared<FunctionText>) -> Result<Option<Vec<u8>>> {
        let program = Found::adding(self.product.context, &self.product.semiring, reduce);
        match self.found(|| vec![program.wanted("spgemm_reduce_marked")])? {
            Some(found) => found.reduced(&program, self.product.semiring.c.size),
            None => Ok(None),
        }
    }

    /// The dot products; `None` where there are none. Those kernels are needed after them.
    fn found(&self, after: impl Fn() -> Vec<Wanted>) -> Result<Option<Found<'a>>> {
        let Product { context, semiring, a, b, at, .. } = self.product;
        let (n, rows, block) = (self.mask.nnz, a.pattern.nrows as u64, self.tuning.primitive_block);
        if n == 0 || a.pattern.nnz == 0 || b.pattern.nnz == 0 {
            return Ok(None);
        }
        let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
        let found = Found::room(self.mask, Marks::room(context, n)?, semiring.c.size)?;
        let room = self.most_long();
        let longs = Buffer::alloc_for::<u64>(context, places(room))?;
        let count = Buffer::zeroed_for::<u64>(context, usize::from(room > 0))?;
        // Searches look up to twice as far as a row is long.
        let narrow = a.pattern.nnz.max(b.pattern.nnz) < 1 << 30;
        let program = Program::new(context, Template::SpgemmDot, |s| {
            let s = s.semiring(semiring.clone()).flag("narrow", narrow);
            s.flag("mapped", ids.mapped())
        });
        let short = program.kernel_beside("spgemm_dot", after)?;
        let long = if room > 0 { Some(program.kernel("spgemm_dot_long")?) } else { None };
        let grid = n.div_ceil(u64::from(block));
        let long = long.as_ref().map(|kernel| Ok((kernel, resident(kernel, block, 0, room)?))).transpose()?;
        for (kernel, grid) in [(&short, grid)].into_iter().chain(long) {
            let launch = kernel.launch(grid, block, 0).arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values);
            let launch = launch.arg(&b.pattern.offsets).arg(&b.pattern.indices).arg(b.values);
            let launch = launch.arg(&self.mask.offsets).arg(&self.mask.indices);
            let launch = launch.arg(ids.i.as_ref()).arg(ids.k.as_ref()).arg(ids.j.as_ref()).arg(n).arg(rows);
            // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for; the mask's
            // rows and columns are those of the product.
            unsafe { launch.arg(&longs).arg(&count).arg(&found.marks.words).arg(&found.values).run()? };
        }
        Ok(Some(found))
    }

    /// No more dot products than this are long: both their lists are.
    fn most_long(&self) -> u64 {
        let least = u64::from(self.tuning.dot_long);
        let long = |p: &DevicePattern| match p.longest {
            Some(longest) if longest <= least => 0,
            _ => (p.nnz / (least + 1)).min(p.nrows as u64),
        };
        let (a, b) = (long(self.product.a.pattern), long(self.product.b.pattern));
        a.saturating_mul(b).min(self.mask.nnz)
    }
}

/// Whether a product of matrices is made by dot products: where that was asked for, or is clearly the least work. `b` is given as
/// the options say.
pub(crate) fn by_dots(
    context: &Arc<Context>,
    (a, b): (&DevicePattern, &DevicePattern),
    mask: DeviceMask,
    options: &MxmOptions,
) -> Result<bool> {
    let Some(mask) = mask.filter(|m| !m.complement).map(|m| &m.pattern) else { return Ok(false) };
    match options.strategy {
        Strategy::Dot => return Ok(true),
        Strategy::Auto if mask.nnz > 0 && a.nnz > 0 && b.nnz > 0 => {}
        _ => return Ok(false),
    }
    let work = Work { a, b, mask, transposed_b: options.transposed_b, tuning: tuning(context) };
    if let Some(guess) = work.guessed() {
        return Ok(guess);
    }
    match work.known(context) {
        Ok(costs) => Ok(work.prefers_dots(costs.places, costs.products)),
        Err(Error::OutOfMemory { .. }) => Ok(false),
        Err(e) => Err(e),
    }
}

/// What a product under a mask costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    /// The positions of A and B by [`Buffer::serial`], and whether B lies by columns.
    of: (u64, u64, bool),
    /// Looked up by dot products.
    places: u64,
    /// Of the rows that the mask has.
    products: u64,
}

/// What there is to choose from.
struct Work<'a> {
    a: &'a DevicePattern,
    b: &'a DevicePattern,
    mask: &'a DevicePattern,
    transposed_b: bool,
    tuning: &'static Tuning,
}

impl Work<'_> {
    /// Rows of B, and its columns.
    fn shape_of_b(&self) -> (u64, u64) {
        let (rows, columns) = (self.b.nrows as u64, self.b.ncols as u64);
        if self.transposed_b { (columns, rows) } else { (rows, columns) }
    }
    /// What lengths of rows say alone; `None` where that takes a closer look.
    fn guessed(&self) -> Option<bool> {
        let (own, others) = (self.a.longest, self.b.longest.filter(|_| self.transposed_b));
        if let Some(longest) = own.map(|a| others.map_or(a, |b| a.min(b)))
            && self.prefers_dots(self.mask.nnz.saturating_mul(longest), 0)
        {
            return Some(true);
        }
        // Mostly products may be those of a few long rows.
        let products = self.mean_products().saturating_mul(self.unevenness());
        let few = u128::from(products) + self.turning().1 < u128::from(self.tuning.dot_least);
        if few || !self.prefers_dots(self.mean_places(), products) { Some(false) } else { None }
    }
    /// Entries of a row of A and of a column of B in the mean.
    fn mean_lengths(&self) -> (u64, u64) {
        (self.a.nnz.div_ceil((self.a.nrows as u64).max(1)), self.b.nnz.div_ceil(self.shape_of_b().1.max(1)))
    }
    /// Places looked up if all rows of A and columns of B had their mean length.
    fn mean_places(&self) -> u64 {
        let (a, b) = self.mean_lengths();
        self.mask.nnz.saturating_mul(a.min(b))
    }
    /// Products if all rows of B were used alike.
    fn mean_products(&self) -> u64 {
        products(self.a.nnz, self.b.nnz, self.shape_of_b().0)
    }
    /// How many times the products of rows of mean lengths there may be, as far as the longest ones are known.
    fn unevenness(&self) -> u64 {
        let most = u64::from(self.tuning.dot_uneven);
        self.a.unevenness(most).max(self.b.unevenness(most))
    }
    /// What turning B is worth, for dot products and for rows.
    fn turning(&self) -> (u128, u128) {
        let all = u128::from(self.b.nnz) * u128::from(self.tuning.dot_turn) + u128::from(self.tuning.dot_turned);
        match self.transposed_b {
            true => (0, all),
            false if self.b.keeps_columns() => (0, 0),
            false => (all, 0),
        }
    }
    /// Whether so many places to look up are less work than so many products, B turned for the one or for the other.
    fn prefers_dots(&self, places: u64, products: u64) -> bool {
        let tuning = self.tuning;
        let (a, b) = self.mean_lengths();
        // Short lists of about one length lie in a few lines of memory.
        let near = self.unevenness() <= u64::from(tuning.dot_even) && a.max(b) <= u64::from(tuning.dot_short);
        let place = if near { tuning.dot_near_place } else { tuning.dot_place };
        let (for_dots, for_rows) = self.turning();
        let dots = u128::from(places) * u128::from(place) / 2 + u128::from(self.mask.nnz) + for_dots;
        dots < u128::from(products) + for_rows
    }
    /// Its costs: those that the mask keeps of the last product, or measured.
    fn known(&self, context: &Arc<Context>) -> Result<Costs> {
        let of = (self.a.indices.serial(), self.b.indices.serial(), self.transposed_b);
        let kept = *lock(&self.mask.costs);
        if let Some(costs) = kept.filter(|c| c.of == of) {
            return Ok(costs);
        }
        let (places, products) = self.measured(context)?;
        let costs = Costs { of, places, products };
        *lock(&self.mask.costs) = Some(costs);
        Ok(costs)
    }
    /// Places looked up, and products of the rows that the mask has, by a sample of rows, and of entries for that side of B by which it
    /// does not lie.
    fn measured(&self, context: &Arc<Context>) -> Result<(u64, u64)> {
        let (kernel, block) = (structure(context, "dot_costs")?, self.tuning.primitive_block);
        let rows = self.a.nrows as u64;
        // Odd: a mask that has every second or sixteenth row is seen as it is.
        let step = rows.div_ceil(u64::from(self.tuning.dot_sample)) | 1;
        let (counts, share) = self.counted(context)?;
        let [places, products, ..] =
            context.with_slate(crate::backend::cuda::runtime::report::SAID as u64, |slate| {
                let grid = resident(&kernel, block, 0, rows.div_ceil(step * u64::from(block / 32)))?;
                let launch = kernel.launch(grid, block, 0).arg(rows).arg(step);
                let launch = launch.arg(&self.mask.offsets).arg(&self.mask.indices);
                let launch = launch.arg(&self.a.offsets).arg(&self.a.indices).arg(&self.b.offsets);
                let launch = launch.arg(u32::from(self.transposed_b)).arg(counts.as_ref()).arg(share);
                // SAFETY: parameters as codegen/templates/README.md lists them; the patterns are those of one product.
                unsafe { launch.arg(slate.control).leaving(slate).run() }
            })?;
        Ok((places.saturating_mul(step), products.saturating_mul(step)))
    }
    /// Entries of B by that side by which it does not lie, one in so many of them; or the mean where there are too many places.
    fn counted(&self, context: &Arc<Context>) -> Result<(Option<Buffer>, u64)> {
        let (b, block) = (self.b, self.tuning.primitive_block);
        if b.ncols as u64 > u64::from(self.tuning.dot_columns) {
            return Ok((None, b.nnz.div_ceil(b.ncols as u64)));
        }
        let share = match b.nnz.div_ceil(u64::from(self.tuning.dot_counted)) {
            1 => 1,
            // Odd: not every entry of one place in rows of even length.
            many => many | 1,
        };
        let counts = Buffer::zeroed_for::<u32>(context, b.ncols)?;
        let kernel = structure(context, "column_counts")?;
        let launch = kernel.launch(resident(&kernel, block, 0, b.nnz.div_ceil(share * u64::from(block)))?, block, 0);
        // SAFETY: parameters as codegen/templates/README.md lists them, a count for each column.
        unsafe { launch.arg(b.nnz).arg(share).arg(&b.indices).arg(&counts).run()? };
        Ok((Some(counts), share))
    }
}

/// Products of so many entries of A with rows of B of mean length.
fn products(entries: u64, nnz: u64, rows: u64) -> u64 {
    let products = u128::from(entries) * u128::from(nnz) / u128::from(rows.max(1));
    u64::try_from(products).unwrap_or(u64::MAX)
}

/// Says that the product is made by dot products.
pub(super) fn explain(product: &Product, strategy: Strategy, transposed_b: bool, to: &mut Analysis) {
    let (a, b, size) = (product.a.pattern, product.b.pattern, product.semiring.c.size as u64);
    let n = product.mask.map_or(0, |m| m.pattern.nnz);
    to.strategy = Strategy::Dot.name();
    to.reason = match strategy {
        Strategy::Dot => "dot was asked for".into(),
        _ => format!(
            "the mask has {n} entries: what rows and columns have in common is looked up with less work than rows are made"
        ),
    };
    let about = "the shorter of a row of A and a column of B looked up in the longer one, for each entry of the mask";
    to.bins = vec![Bin::new("dot", about, a.nrows as u64)];
    let turned = b.nnz.saturating_mul(4 + product.semiring.b.size as u64).saturating_add(8 * (b.ncols as u64 + 1));
    let found = n.saturating_mul(size).saturating_add(n / 8 + n / 4 + 8);
    to.workspace = found.saturating_add(if transposed_b { 0 } else { turned });
}
