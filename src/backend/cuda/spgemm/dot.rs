//! C⟨M⟩ = A ⊕.⊗ B by a dot product for each entry of the mask: a row of A and a row of Bᵀ, the shorter looked up in the longer.
//!
//! A value and a bit for each entry of the mask, then the entries that have one moved together; a reduction adds them where they are. Sums run
//! in the order of k. Bᵀ is made for the product, or kept with B's positions where they are asked for a second time (`turned`).
use super::Made;
use crate::backend::MxmOptions;
use crate::backend::cuda::ahead::Wanted;
use crate::backend::cuda::device_csr::DevicePattern;
use crate::backend::cuda::entries::{Marks, compact, empty, movable, places, structure, structures};
use crate::backend::cuda::product::{DeviceIds, DeviceMask, Operand, Product, is_narrow};
use crate::backend::cuda::program::{Program, resident, scan_bits, scanning, tuning};
use crate::backend::cuda::{Buffer, Context};
use crate::error::{Error, Result};
use crate::spgemm::{Analysis, Bin, Strategy};
use oplus_codegen::text::ScalarText;
use oplus_codegen::{Template, Tuning};
use std::sync::Arc;

/// A product whose B lies by columns, under a mask.
pub(super) struct Dots<'a> {
    product: &'a Product<'a>,
    mask: &'a DevicePattern,
    tuning: &'static Tuning,
}

/// Which of the mask's entries have a value, and these.
pub(super) struct Found {
    pub(super) marks: Marks,
    pub(super) values: Buffer,
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
        let (rows, columns, n) = (a.pattern.nrows, b.pattern.nrows, self.mask.nnz);
        let moved = movable(semiring.c);
        let after = || {
            let entries = Program::new(context, Template::Entries, |s| s.scalar("V", moved)).wanted("entries_compact");
            vec![scanning(context, scan_bits), structures(context).wanted("rank_offsets"), entries]
        };
        let Some(Found { marks, values }) = self.found(after)? else { return empty(context, rows, columns) };
        let nnz = marks.ranked()?;
        if nnz == n {
            let pattern =
                DevicePattern::new((rows, columns), n, self.mask.offsets.duplicate()?, self.mask.indices.duplicate()?);
            let longest = self.mask.longest;
            return Ok((if let Some(longest) = longest { pattern.with_longest(longest) } else { pattern }, values));
        }
        if semiring.c.size > 0 {
            return compact(semiring.c, Operand { pattern: self.mask, values: &values }, &marks, nnz);
        }
        // Positions alone: a byte for each stands for what is moved.
        const BYTE: ScalarText = ScalarText { name: "u8", definition: "", size: 1 };
        let bytes = Buffer::zeroed(context, n)?;
        Ok((compact(BYTE, Operand { pattern: self.mask, values: &bytes }, &marks, nnz)?.0, values))
    }

    /// The dot products; `None` where there are none. Those kernels are needed after them.
    pub(super) fn found(&self, after: impl Fn() -> Vec<Wanted>) -> Result<Option<Found>> {
        let Product { context, semiring, a, b, at, .. } = self.product;
        let (n, rows, block) = (self.mask.nnz, a.pattern.nrows as u64, self.tuning.primitive_block);
        if n == 0 || a.pattern.nnz == 0 || b.pattern.nnz == 0 {
            return Ok(None);
        }
        let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
        let marks = Marks::room(context, n)?;
        let values = Buffer::alloc(context, n.saturating_mul(semiring.c.size as u64))?;
        let room = self.most_long();
        let longs = Buffer::alloc_for::<u64>(context, places(room))?;
        let count = Buffer::zeroed_for::<u64>(context, usize::from(room > 0))?;
        let program = Program::new(context, Template::SpgemmDot, |s| {
            let s = s.semiring(semiring.clone()).flag("narrow", is_narrow(a.pattern, b.pattern));
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
            unsafe { launch.arg(&longs).arg(&count).arg(&marks.words).arg(&values).run()? };
        }
        Ok(Some(Found { marks, values }))
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
pub(in crate::backend::cuda) fn by_dots(
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
    // Rows and columns of mean lengths: mostly that is enough to see that there is no need for a closer look. Most products may be those
    // of a few long rows, though.
    let products = work.mean_products().saturating_mul(work.unevenness());
    if products < u64::from(work.tuning.dot_least) || !work.prefers_dots(work.mean_places(), products) {
        return Ok(false);
    }
    match work.measured(context) {
        Ok((places, products)) => Ok(work.prefers_dots(places, products)),
        Err(Error::OutOfMemory { .. }) => Ok(false),
        Err(e) => Err(e),
    }
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
    /// Places looked up if all rows of A and columns of B had their mean length.
    fn mean_places(&self) -> u64 {
        let a = self.a.nnz.div_ceil((self.a.nrows as u64).max(1));
        let b = self.b.nnz.div_ceil(self.shape_of_b().1.max(1));
        self.mask.nnz.saturating_mul(a.min(b))
    }
    /// Products if all rows of B were used alike.
    fn mean_products(&self) -> u64 {
        products(self.a.nnz, self.b.nnz, self.shape_of_b().0)
    }
    /// How many times the products of rows of mean lengths there may be, as far as the longest ones are known.
    fn unevenness(&self) -> u64 {
        let most = u64::from(self.tuning.dot_uneven);
        let of = |p: &DevicePattern| match p.longest {
            Some(longest) => longest.saturating_mul(p.nrows as u64) / p.nnz.max(1),
            None => most,
        };
        of(self.a).max(of(self.b)).clamp(1, most)
    }
    /// Whether so many places to look up are clearly less work than so many products, B turned for the one or for the other.
    fn prefers_dots(&self, places: u64, products: u64) -> bool {
        let tuning = self.tuning;
        let [place, turn, turned, clear] =
            [tuning.dot_place, tuning.dot_turn, tuning.dot_turned, tuning.dot_clear].map(u128::from);
        let turning = u128::from(self.b.nnz) * turn + turned;
        let (for_dots, for_rows) = match self.transposed_b {
            true => (0, turning),
            false if self.b.keeps_columns() => (0, 0),
            false => (turning, 0),
        };
        let dots = u128::from(places) * place + u128::from(self.mask.nnz) + for_dots;
        dots * clear < u128::from(products) + for_rows
    }
    /// Places looked up, and products of the rows that the mask has, by a sample of rows; what B does not say as it lies from above, and by
    /// its mean.
    fn measured(&self, context: &Arc<Context>) -> Result<(u64, u64)> {
        let (kernel, block) = (structure(context, "dot_costs")?, self.tuning.primitive_block);
        let rows = self.a.nrows as u64;
        // Odd: a mask that has every second or sixteenth row is seen as it is.
        let step = rows.div_ceil(u64::from(self.tuning.dot_sample)) | 1;
        let offsets = Some(&self.b.offsets);
        let (b, t) = if self.transposed_b { (None, offsets) } else { (offsets, None) };
        let [places, found, entries, ..] = context.with_slate(crate::backend::cuda::report::SAID as u64, |slate| {
            let grid = resident(&kernel, block, 0, rows.div_ceil(step * u64::from(block / 32)))?;
            let launch = kernel.launch(grid, block, 0).arg(rows).arg(step);
            let launch = launch.arg(&self.mask.offsets).arg(&self.mask.indices);
            let launch = launch.arg(&self.a.offsets).arg(&self.a.indices).arg(b).arg(t);
            // SAFETY: parameters as codegen/templates/README.md lists them; the patterns are those of one product.
            unsafe { launch.arg(slate.control).leaving(slate).run() }
        })?;
        let [places, found, entries] = [places, found, entries].map(|sum| sum.saturating_mul(step));
        let (rows_of_b, _) = self.shape_of_b();
        Ok((places, if self.transposed_b { products(entries, self.b.nnz, rows_of_b) } else { found }))
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
