//! C⟨M⟩ = A ⊕.⊗ B on the device, and its reduction.
//!
//! Matrices on few diagonals (`band`), products of short rows (`whole`) and of few columns a row (`sampled`, `hashed`), small ones
//! (`small`), positions alone of few rows (`by_bits`) or neighbouring columns (`by_sets`), and those under masks (`dot`, `masked`, what both find in `found`) have ways of their own; B's rows may be laid out for
//! them (`packed`), or walked by what is known of them (`walked`). All others (`run`): analysis, one look at its counts, rows of few products in one pass with room to spare (`short`, those that blocks draw in the order of `heaviest`; or
//! counted first where that room is dear), the others counted (`blocks`, `tables`) or, if all are to be sorted or columns lie far apart, sorted in
//! device memory (`sorted`), one look at nnz(C), the others' values, and rows moved together. Launch orders, sizes and
//! workspaces are those of `codegen/templates/README.md`. `explain` says which of these it would be, `plan` keeps what comes
//! before the values, `ordered` sums in the order of k, `fused` hands rows on before C is stored, and `chunks` makes C by chunks of rows
//! where the whole does not fit.
mod analysis;
mod band;
pub(crate) mod band_pairs;
mod blocks;
pub(super) mod by_bits;
mod by_sets;
pub(crate) mod chunks;
mod dot;
mod explain;
mod factor_places;
mod found;
pub(crate) mod fused;
mod hashed;
mod heaviest;
mod masked;
mod named;
mod ordered;
mod packed;
mod plan;
mod reduce;
mod room;
mod row_row;
mod run;
mod sampled;
mod short;
mod slices;
mod small;
mod sorted;
mod tables;
mod walked;
mod wanted;
mod whole;

use super::product::{DeviceIds, DeviceMask, Operand, Product, is_narrow};
use super::runtime::program::{Program, tuning};
use super::{Buffer, Context, DevicePattern, Launch};
use crate::error::Result;
use crate::spgemm::Strategy;
use analysis::{COUNTS, Limits, SORTS_ALL};
use dot::Dots;
use masked::MaskedRows;
use oplus_codegen::{BlockShape, SemiringText, Shared, Spec, Template, Tuning};
use std::sync::Arc;

pub(super) use analysis::{bound, measured};
pub(super) use dot::{Costs, by_dots};
pub(super) use explain::explain;
pub(super) use ordered::{is_exact, mxm_ordered};
pub(super) use plan::{Prepared, prepare, values_by_chunks};
pub(super) use reduce::mxm_reduce;
use run::Run;
use walked::{Known, Walked};
use whole::Whole;

const CONTROL: usize = 256;
/// Places in the control block.
const PRODUCTS: usize = 0;
/// Products of the row with most of them.
const LARGEST: usize = 1;
const NNZ: usize = 2;
const SLICES: usize = 3;
const PARTS: usize = 4;
const STAGED: usize = 5;
/// Room of the row with most of it, of those that are made in one pass.
const ROOM: usize = 6;
const LONGEST: usize = 7;
/// Of a pass that ended where C had no room: rows that are made, and their entries.
const MADE_ROWS: usize = 3;
const MADE_ENTRIES: usize = 4;
const FAILED: usize = 13;
/// Bits of it: a row had no room; C had none.
const FAILED_ROW: u64 = 1;
const FAILED_ROOM: u64 = 2;
const UNITS: usize = 32;
const SUMS: usize = 128;
/// From the rows of a class to the first of them.
const BEGIN: usize = 32;
const TABLES: usize = 5;
/// Classes of rows; those of `short` between.
const CLASS_COPY: usize = 1;
const THREAD: usize = 2;
const BLOCK: usize = short::END;
const BLOCK_SIZES: usize = 3;
const TABLE: usize = BLOCK + BLOCK_SIZES;
/// Rows sorted in device memory.
const SORTED: usize = TABLE + TABLES;
const CLASS_COUNT: usize = SORTED + 1;
/// Tickets for the rows of each block size, and of each class with a sum a column: for their sums, then to count them.
const BLOCKS: usize = 224;
const DENSE_TICKETS: usize = 232;

/// Of fewer products, to sort some rows in device memory takes longer than blocks with windows.
const FAR: u64 = 1 << 24;

/// The operands of one product, ready.
struct Job<'a> {
    context: &'a Arc<Context>,
    tuning: &'static Tuning,
    semiring: Shared<SemiringText>,
    a: Operand<'a>,
    b: Operand<'a>,
    mask: DeviceMask<'a>,
    ids: DeviceIds,
    rows: u64,
    columns: u32,
    /// Rows go where their sums run in the order of k, as far as they can.
    in_order: bool,
    /// B's values are column sets, which are united: no sum is empty.
    united: bool,
    known: Known,
}

impl<'a> Job<'a> {
    fn new(product: &Product<'a>) -> Result<Self> {
        let Product { context, semiring, a, b, mask, at, .. } = product.clone();
        let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
        let (rows, columns) = (a.pattern.nrows as u64, b.pattern.ncols as u32);
        let tuning = tuning(context);
        let (in_order, united, known) = (false, false, Known::default());
        Ok(Self { context, tuning, semiring, a, b, mask, ids, rows, columns, in_order, united, known })
    }
    fn masked(&self, spec: Spec) -> Spec {
        spec.flag("masked", self.mask.is_some()).flag("complement", self.mask.is_some_and(|m| m.complement))
    }
    /// For the kernels that walk the products.
    fn walking(&self, spec: Spec) -> Spec {
        self.masked(spec).flag("narrow", is_narrow(self.a.pattern, self.b.pattern))
    }
    fn with_semiring(&self, spec: Spec) -> Spec {
        self.walking(spec.semiring(self.semiring.clone())).flag("mapped", self.ids.mapped())
    }
    /// The patterns as arguments.
    fn patterns<'l>(&'l self, launch: Launch<'l>) -> Launch<'l> {
        self.patterns_by(launch, Walked::default())
    }
    /// The same with B's rows as they are walked.
    fn patterns_by<'l>(&'l self, launch: Launch<'l>, walked: Walked<'l>) -> Launch<'l> {
        let launch = launch.arg(&self.a.pattern.offsets).arg(&self.a.pattern.indices);
        self.mask_and_columns(walked.rows(self.b.pattern, launch))
    }
    fn mask_and_columns<'l>(&'l self, launch: Launch<'l>) -> Launch<'l> {
        let (offsets, indices) = (self.mask.map(|m| &m.pattern.offsets), self.mask.map(|m| &m.pattern.indices));
        launch.arg(offsets).arg(indices).arg(self.columns)
    }
    /// Patterns, values and ids as arguments.
    fn operands<'l>(&'l self, launch: Launch<'l>) -> Launch<'l> {
        self.operands_by(launch, self.b.values, Walked::default())
    }
    /// The same with B's values as they are laid out for one kernel, and its rows as they are walked.
    fn operands_by<'l>(&'l self, launch: Launch<'l>, b_values: &'l Buffer, walked: Walked<'l>) -> Launch<'l> {
        let launch = launch.arg(&self.a.pattern.offsets).arg(&self.a.pattern.indices).arg(self.a.values);
        self.named(self.mask_and_columns(walked.rows(self.b.pattern, launch).arg(b_values)))
    }
    /// The names of positions as arguments.
    fn named<'l>(&'l self, launch: Launch<'l>) -> Launch<'l> {
        launch.arg(self.ids.i.as_ref()).arg(self.ids.k.as_ref()).arg(self.ids.j.as_ref())
    }
    /// The program of the numeric kernels of one group: 0 short rows, 1 + t table t. One module a group, so that what a
    /// product does not need is never compiled.
    fn numeric(&self, group: u64) -> Program<'_> {
        Program::new(self.context, Template::SpgemmNumeric, |s| self.with_semiring(s).number("kernels", 1 << group))
    }
    /// The most products of a row that a thread takes: its terms are in registers in the end.
    fn thread_limit(&self, spec: &Spec) -> u32 {
        if self.rows < u64::from(self.tuning.thread_rows) {
            return 0;
        }
        let fits = |width: u32| {
            width as usize * self.semiring.c.size <= 256 && short::thread_launch(spec, width, self.tuning).is_some()
        };
        [32, 16].into_iter().find(|width| fits(*width)).unwrap_or(0)
    }
    /// The shape of block size n: for rows of some, of many products, and of many whose columns lie far apart. With a sum a column
    /// a block has at least so many threads.
    fn block_shape(&self, spec: &Spec, n: usize, threads: u32) -> BlockShape {
        let most = self.tuning.block_columns;
        let columns = if n < 2 { self.columns.min(most) } else { self.columns.max(most + 1) };
        spec.block_shape(columns, n > 0, threads, self.context.properties().shared_per_block_optin)
    }
    /// The program of block size n, and its shape.
    fn block_program(
        &self,
        template: Template,
        (n, threads): (usize, u32),
        with: impl Fn(Spec) -> Spec,
    ) -> (Program<'_>, BlockShape) {
        let shape = self.block_shape(&with(Spec::new(template, self.context.properties().architecture)), n, threads);
        (Program::new(self.context, template, |s| with(s).block(shape)), shape)
    }
    /// Which rows are done without a table, by the strategy and by the shared memory that their terms take.
    fn limits(&self, strategy: Strategy) -> Limits {
        let properties = self.context.properties();
        let spec = Spec::new(Template::SpgemmEsc, properties.architecture).semiring(self.semiring.clone());
        let fits = |most: u32, least: u32, bytes: &dyn Fn(u32) -> u32| {
            let mut width = most;
            while width > least && bytes(width) > properties.shared_per_block_optin.min(128 << 10) {
                width /= 2;
            }
            width
        };
        let warp = fits(self.tuning.esc_products, 32, &|width| spec.esc_launch(width).1);
        // The narrowest kernel is for 64 products.
        let warp = if spec.esc_launch(64).1 <= properties.shared_per_block_optin { warp } else { 0 };
        let esc = match warp == self.tuning.esc_products {
            true => fits(self.tuning.sort_products, warp, &|width| spec.sort_launch(width).1),
            false => warp,
        };
        let window = fits(self.tuning.window_columns, 128, &|width| spec.window_bytes(width));
        let window = if window < 256 { 0 } else { window };
        let dense_bytes = |width| spec.block_bytes(spec.dense_shape(width));
        let dense = fits(short::DENSE_MOST, short::DENSE_LEAST, &dense_bytes);
        // The widest window must fit.
        let widest = spec.block_bytes(self.block_shape(&spec, BLOCK_SIZES - 1, 0));
        let block = u32::from(spec.sums_anywhere() && widest <= properties.shared_per_block_optin);
        let dense = if !self.in_order && block > 0 && dense_bytes(dense) <= properties.shared_per_block_optin {
            dense
        } else {
            0
        };
        // Of windows one after the other each looks for its part of every row of B: more than three are not worth it.
        let wide = self.block_shape(&spec, BLOCK_SIZES - 1, self.tuning.block_threads).width;
        let far = if block > 0 && self.mask.is_none() && self.likely_products() >= FAR { 3 * wide } else { 0 };
        let counts = if self.semiring.counted.is_some() { COUNTS } else { 0 };
        let thread = self.thread_limit(&spec.clone().flag("wide", self.is_wide()));
        match strategy {
            Strategy::Hash => Limits { thread, ..Limits::NONE },
            Strategy::Esc => Limits { thread, esc, block: SORTS_ALL, ..Limits::NONE },
            Strategy::Window => Limits { window, block: 2, ..Limits::NONE },
            Strategy::BitmapRank => Limits { window, block: block | 2, ..Limits::NONE },
            _ => Limits { thread, esc, window, dense, block: block | counts, far },
        }
    }
}

/// Places in the control block: rows of a class, and the first of them in the list.
fn places(class: usize) -> (u32, u32) {
    ((UNITS + class) as u32, (UNITS + BEGIN + class) as u32)
}

/// Where rows go: offsets by row, and columns and values from there on.
struct Rows<'a> {
    offsets: &'a Buffer,
    indices: &'a Buffer,
    values: &'a Buffer,
}

/// A product.
type Made = (DevicePattern, Buffer);

/// T⟨M⟩ = A ⊕.⊗ B.
pub(super) fn mxm(product: &Product, strategy: Strategy) -> Result<Made> {
    match Dots::of(product) {
        Some(dots) => dots.made(),
        None => Job::new(product)?.make(strategy),
    }
}

impl Job<'_> {
    fn make(&self, strategy: Strategy) -> Result<Made> {
        match self.unlisted(strategy)? {
            Some(made) => Ok(made),
            None => {
                let (run, room) = Run::begin(self, strategy)?;
                let control = &run.listed.control;
                if strategy == Strategy::Auto
                    && self.may_be_hashed_far(control)
                    && let Some(made) = self.hashed_far(control)?
                {
                    return Ok(made);
                }
                run.finish(&room)
            }
        }
    }
    /// The product where its rows need not be listed first: under a mask, by its strategy's name, or without analysis.
    fn unlisted(&self, strategy: Strategy) -> Result<Option<Made>> {
        if let Some(masked) = MaskedRows::of(self).filter(|m| m.suits(strategy)) {
            return masked.made().map(Some);
        }
        match self.by_name(strategy)? {
            None => self.without_analysis(strategy, |_| true),
            made => Ok(made),
        }
    }
    /// The product along diagonals, or by one kernel for all rows if it is one of those that `takes` admits.
    fn without_analysis(&self, strategy: Strategy, takes: impl Fn(&Whole) -> bool) -> Result<Option<Made>> {
        if strategy == Strategy::Auto
            && let Some(made) = self.mxm_band()?
        {
            return Ok(Some(made));
        }
        if let Some(made) = self.by_sets(strategy)? {
            return Ok(Some(made));
        }
        match self.whole(strategy).filter(takes) {
            Some(whole) => self.mxm_whole(whole, strategy),
            None => Ok(None),
        }
    }
}
