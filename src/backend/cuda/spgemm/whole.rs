//! Products that need no analysis: all rows short, as the longest rows of A and B say, or a small matrix.
//!
//! One pass: rows are taken in their order and find their places in C by look-back. C is allocated before its size is known:
//! by the bound where that is small or the matrix is, else by a count over a sample of the rows or, for rows that warps sort, by
//! how many products there likely are. Should the guess be too small, the pass is made again: it has still found every offset and the true
//! size. Rows that warps sort go on from the first that had no room, in a larger C. A row that has no room itself ends the pass too, and
//! rows go another way.
use super::hashed::Tables;
use super::room::Room;
use super::short::Kind;
use super::walked::Walked;
use super::{BLOCKS, CONTROL, Job, Made};
use crate::backend::cuda::runtime::program::{Program, resident};
use crate::backend::cuda::runtime::report::SAID;
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::Result;
use crate::spgemm::Strategy;
use oplus_codegen::{Spec, Template};

/// Bound on the bytes of C up to which it is taken for C's size.
const SMALL: u64 = 4 << 20;
/// One stretch of rows of so many is counted.
pub(super) const SAMPLE: u64 = 64;
/// C of a small matrix has hardly ever so many times the likely products.
const UNEVENLY_USED: u64 = 16;
/// Products that a warp sorts at once, most often, and at least.
const ESC_WIDTH: u32 = 256;
const ESC_LEAST: u32 = 64;
/// Rows may have so many products by the longest ones of A and B, and still be tried as rows that a warp sorts,
const MEETING: u64 = 8192;
/// where they are no more than this: those that have many keep all others waiting for their place, longer than an analysis takes.
const MEETING_ROWS: u64 = 1 << 18;
/// If a warp sorts at least so many of them at once.
const TINY_TOGETHER: u32 = 8;
/// Unless a row of B may have so many times the mean's entries.
const UNEVEN: u64 = 8;
/// Warps that sort of a multiprocessor, at least.
const ESC_WARPS: u64 = 24;

/// Who makes a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Whole {
    /// A thread, up to so many products.
    Thread(u32),
    /// A warp that sorts so many products, of as many rows at once; if no row turns out to have more.
    Esc(u32, u32),
    /// A hash table each, if a sample has few columns.
    Hash,
    /// A block.
    Block,
}

impl Job<'_> {
    /// Products of a row in the mean, if all rows of B were as long as their mean.
    pub(super) fn mean_products(&self) -> u64 {
        let (a, b) = (self.a.pattern, self.b.pattern);
        (a.nnz / self.rows.max(1)).saturating_mul((b.nnz / (b.nrows as u64).max(1)).max(1))
    }
    /// About how many products there are, if all rows of B are used alike.
    pub(super) fn likely_products(&self) -> u64 {
        let (a, b) = (self.a.pattern, self.b.pattern);
        let likely = u128::from(a.nnz) * u128::from(b.nnz) / (b.nrows as u128).max(1);
        u64::try_from(likely).unwrap_or(u64::MAX)
    }
    /// The same, or if rows of A or B are uneven up to `most` times as many.
    pub(super) fn uneven_products(&self, most: u64) -> u64 {
        let times = self.a.pattern.unevenness(most).max(self.b.pattern.unevenness(most));
        self.likely_products().saturating_mul(times)
    }
    /// More than C hardly ever has entries, as rows of B are not used that unevenly; no number where some are much longer than others.
    pub(super) fn most_likely_products(&self) -> u64 {
        let (even, likely) = (self.b.pattern.unevenness(UNEVEN) < UNEVEN, self.likely_products());
        if even { likely.saturating_add(likely / 2) } else { u64::MAX }
    }
    /// No row has more products than this; `None` where the longest rows of A and B are not known.
    pub(super) fn longest_row(&self) -> Option<u64> {
        self.a.pattern.longest?.checked_mul(self.b.pattern.longest?)
    }
    /// No more entries than this are in C.
    pub(super) fn bound(&self) -> Option<u64> {
        let dense = self.rows.saturating_mul(u64::from(self.columns));
        Some(self.a.pattern.nnz.saturating_mul(self.b.pattern.longest?).min(dense))
    }

    /// Whether as much room as C can need is taken without a thought.
    fn is_bound_small(&self) -> bool {
        self.bound().unwrap_or(u64::MAX).saturating_mul(4 + self.semiring.written().size as u64) <= SMALL
    }

    /// How many products a warp sorts at once, where no row has more than `most`, and of how many rows: as many as always or
    /// most often fit, while keys hold them.
    fn esc_rows(&self, most: u64) -> Option<(u32, u32)> {
        let surely = u32::try_from(most).ok()?.checked_next_power_of_two()?.max(ESC_LEAST);
        // Where a longest row of A would have to meet longest rows of B for more products than fit, it hardly ever does.
        let meeting = most <= MEETING && self.rows <= MEETING_ROWS && self.longest_fit(self.tuning.esc_products);
        let widest = surely.max(ESC_WIDTH).min(if meeting { self.tuning.esc_products } else { u32::MAX });
        // Keys of fewer products have room for more rows.
        let narrower =
            std::iter::successors(Some(widest), |width| Some(width / 2)).take_while(|w| *w >= surely.min(widest));
        let each = narrower.map(|width| (width, self.rows_at_once(width, most)));
        let (width, rows) = each.reduce(|best, other| if other.1 > best.1 { other } else { best })?;
        if rows == 0 || (width < surely && rows < TINY_TOGETHER) {
            return None;
        }
        let fits =
            width <= self.tuning.esc_products && self.short(Kind::Rows(width, rows), true, &["whole"]).2 <= 64 << 10;
        fits.then_some((width, rows))
    }
    /// Whether a longest row of A that meets mean rows of B has at most half of `width` products, and a mean row that meets longest ones.
    fn longest_fit(&self, width: u32) -> bool {
        let half = u128::from(width / 2);
        let fits = |longest: Option<u64>, other: &DevicePattern| {
            longest.is_some_and(|n| u128::from(n) * u128::from(other.nnz) <= half * other.nrows as u128)
        };
        fits(self.a.pattern.longest, self.b.pattern) && fits(self.b.pattern.longest, self.a.pattern)
    }
    /// How many rows of at most `most` products a warp takes at once that sorts `width` products.
    fn rows_at_once(&self, width: u32, most: u64) -> u32 {
        let code = u64::from(self.columns).next_power_of_two() * u64::from(width);
        let often = self.rows.saturating_mul(u64::from(width) * 3 / 4) / self.likely_products().max(1);
        // Fewer where not every multiprocessor would have warps enough.
        let each = self.rows / (ESC_WARPS * u64::from(self.context.properties().multiprocessors));
        let rows = (u64::from(width) / most.max(1)).max(often).min((1 << 32) / code).min(each.max(1)).min(32);
        rows.checked_ilog2().map_or(0, |log| 1 << log)
    }
    /// Warps that sort, where there are rows enough of few products.
    fn whole_by_sorting(&self) -> Option<Whole> {
        let few = self.mean_products() < u64::from(self.tuning.hash_mean);
        let most = if few && self.rows >= u64::from(self.tuning.esc_rows) { self.longest_row()? } else { return None };
        self.esc_rows(most).map(|(width, rows)| Whole::Esc(width, rows))
    }

    pub(super) fn whole(&self, strategy: Strategy) -> Option<Whole> {
        let tuning = self.tuning;
        let most = self.longest_row()?;
        if strategy == Strategy::Hash {
            // Of few rows classes cost little more.
            let hash = self.by_parts() && self.hash_might_fit(most) && self.worth_sampling();
            return hash.then_some(Whole::Hash);
        }
        let spec = Spec::new(Template::SpgemmThread, self.context.properties().architecture);
        let spec = spec.semiring(self.semiring.clone()).flag("wide", self.is_wide());
        let esc = matches!(strategy, Strategy::Auto | Strategy::Esc);
        if let Some(width) = [16u32, 32].into_iter().find(|w| esc && u64::from(*w) >= most) {
            // Where most rows are much shorter than the longest might be, the network is too wide for them.
            let filled = width <= 16 || self.mean_products() * 3 > u64::from(width);
            if filled && width <= self.thread_limit(&spec) {
                return Some(Whole::Thread(width));
            }
        }
        if !esc || self.rows == 0 {
            return None;
        }
        let sorted = self.whole_by_sorting();
        if strategy != Strategy::Auto {
            return sorted;
        }
        let many = self.mean_products() >= u64::from(tuning.hash_mean);
        let tiny = most <= u64::from(Tables::TINY);
        let tall = self.tall() && self.by_parts() && self.worth_sampling();
        let apart = self.may_be_apart();
        let hash = self.hash_might_fit(most) && (tiny || many || tall || apart || sorted.is_some());
        if sorted.is_some() {
            return if hash && self.worth_sampling() { Some(Whole::Hash) } else { sorted };
        }
        if self.is_small() && !(hash && (tiny || (many && self.by_parts()) || apart)) {
            let short = self.likely_fits(most) && self.hash_might_fit(most);
            if short || !self.united {
                return Some(if short { Whole::Hash } else { Whole::Block });
            }
        }
        (hash && (many || tall || apart || self.rows <= u64::from(tuning.small_rows))).then_some(Whole::Hash)
    }
    /// The product; `None` where rows have too many columns for what was chosen.
    pub(super) fn mxm_whole(&self, whole: Whole, strategy: Strategy) -> Result<Option<Made>> {
        let (bound, small) = (self.bound().unwrap_or(u64::MAX), self.is_bound_small());
        match whole {
            Whole::Thread(width) => {
                let guess = if small { bound } else { self.sampled_by_threads(width)? };
                self.allocated(guess.min(bound), |c| self.by_threads(width, c))
            }
            Whole::Esc(width, rows) => {
                // Rows of B are hardly ever used so unevenly that half as many again, or where rows are uneven twice as many,
                // do not fit.
                let guess = self.likely_products();
                let uneven = self.may_not_suit(whole);
                let room = guess.saturating_add(if uneven { guess } else { guess / 2 });
                let room = if small { bound } else { room };
                match self.allocated(room.min(bound), |c| self.by_sorting(width, rows, c))? {
                    None => self.mxm_otherwise(whole, strategy),
                    made => Ok(made),
                }
            }
            Whole::Block => self.allocated(self.room_of_blocks(bound), |c| self.by_blocks(c)),
            Whole::Hash => match self.mxm_hashed(bound, small, strategy)? {
                None => self.mxm_otherwise(whole, strategy),
                made => Ok(made),
            },
        }
    }
    /// The same where rows do not suit `whole`.
    fn mxm_otherwise(&self, whole: Whole, strategy: Strategy) -> Result<Option<Made>> {
        self.otherwise(whole, strategy).map_or(Ok(None), |other| self.mxm_whole(other, strategy))
    }
    /// Whether rows may turn out not to suit `whole`, once some were looked at or all made.
    pub(super) fn may_not_suit(&self, whole: Whole) -> bool {
        match whole {
            Whole::Thread(_) | Whole::Block => false,
            Whole::Esc(width, _) => self.longest_row().is_none_or(|most| most > u64::from(width)),
            Whole::Hash => !self.surely_hashed(self.is_bound_small()),
        }
    }
    /// What is tried where rows do not suit `whole`; `None`: rows go by class.
    pub(super) fn otherwise(&self, whole: Whole, strategy: Strategy) -> Option<Whole> {
        // Of sets a block would have hardly a round to unite; its sums are in any order.
        let block = || (self.is_small() && !self.united && !self.in_order).then_some(Whole::Block);
        match whole {
            Whole::Thread(_) | Whole::Block => None,
            Whole::Esc(..) => block().filter(|_| strategy == Strategy::Auto),
            Whole::Hash if strategy != Strategy::Auto => None,
            Whole::Hash => self.whole_by_sorting().or_else(block),
        }
    }

    /// How many entries C of blocks gets room for, of which there are at most `bound`.
    fn room_of_blocks(&self, bound: u64) -> u64 {
        let (size, likely) = (4 + self.semiring.written().size as u64, self.likely_products());
        if bound.saturating_mul(size) <= 2 * SMALL || bound / 2 <= likely {
            return bound.min(self.most_likely_products());
        }
        // C is hardly ever that full, however unevenly rows of B are used.
        (bound - bound / 4).min(self.most_likely_products()).min(likely.saturating_mul(UNEVENLY_USED).max(SMALL / size))
    }

    /// The control block after one pass of a kernel over the rows in so many tiles; what has room is written.
    pub(super) fn pass(
        &self,
        (program, block, shared): (Program<'_>, u32, u32),
        tiles: u64,
        whole: Whole,
        room: &Room,
    ) -> Result<[u64; SAID]> {
        self.pass_with((program, block, shared), tiles, whole, room, self.b.values)
    }

    /// The same with B's values as they are laid out for this kernel.
    pub(super) fn pass_with(
        &self,
        (program, block, shared): (Program<'_>, u32, u32),
        tiles: u64,
        whole: Whole,
        room: &Room,
        b_values: &Buffer,
    ) -> Result<[u64; SAID]> {
        // The states of the tiles stand behind the control block.
        let words = CONTROL as u64 + 1 + tiles;
        let kernel = program.kernel(program.spec.template.name())?;
        let grid = resident(&kernel, block, shared, tiles)?;
        // To find them may take a kernel of its own, which cannot run while this one's page is held.
        let walked = if let Whole::Block = whole { self.walked(true)? } else { Walked::default() };
        self.context.with_slate(words, |slate| {
            let launch = self.operands_by(kernel.launch(grid, block, shared), b_values, walked);
            let (launch, none) = (launch.arg(slate.control), 0u64);
            // Some of the kernels may take rows from lists too, and write their lengths apart.
            let launch = match whole {
                Whole::Thread(_) | Whole::Esc(..) => {
                    launch.arg(0u32).arg(0u32).arg(none).arg(none).arg(none).arg(&room.offsets).arg(none)
                }
                Whole::Block => {
                    launch.arg(0u32).arg(0u32).arg(BLOCKS as u32).arg(none).arg(none).arg(none).arg(&room.offsets)
                }
                Whole::Hash => launch.arg(&room.offsets),
            };
            let state = slate.control + 8 * CONTROL as u64;
            let launch = launch.arg(&room.indices).arg(&room.values).arg(self.rows).arg(state).arg(room.capacity);
            let launch = match whole {
                Whole::Block => walked.arguments(launch.arg(none).arg(none).arg(none).arg(0u32).arg(1u32)).arg(none),
                Whole::Esc(..) => launch.arg(room.begun.rows).arg(room.begun.entries),
                Whole::Thread(_) | Whole::Hash => launch,
            };
            let launch = launch.leaving(slate);
            // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
            unsafe { launch.run() }
        })
    }

    fn by_threads(&self, width: u32, room: &Room) -> Result<[u64; SAID]> {
        let (program, block, shared, _) = self.short(Kind::Thread(width), true, &["whole"]);
        self.pass((program, block, shared), self.rows.div_ceil(block as u64), Whole::Thread(width), room)
    }

    fn by_sorting(&self, width: u32, rows: u32, room: &Room) -> Result<[u64; SAID]> {
        let (program, block, shared, tile) = self.short(Kind::Rows(width, rows), true, &["whole"]);
        let left = self.rows - room.begun.rows;
        self.pass((program, block, shared), left.div_ceil(tile), Whole::Esc(width, rows), room)
    }

    /// An estimate of nnz(C) with some room to spare, from stretches of rows spread over all.
    fn sampled_by_threads(&self, width: u32) -> Result<u64> {
        let (program, block, shared, _) = self.short(Kind::Thread(width), false, &[]);
        let follow = || {
            let (whole, ..) = self.short(Kind::Thread(width), true, &["whole"]);
            vec![whole.wanted(whole.spec.template.name())]
        };
        let stretches = self.rows.div_ceil(block as u64).div_ceil(SAMPLE);
        let kernel = program.kernel_beside(program.spec.template.name(), follow)?;
        let grid = resident(&kernel, block, shared, stretches)?;
        let found = self.context.with_slate(SAID as u64, |slate| {
            let launch = self.patterns(kernel.launch(grid, block, shared)).arg(slate.control);
            let launch = launch.arg(0u32).arg(0u32).arg(0u64).arg(0u64).arg(0u64).arg(0u64);
            // SAFETY: as above.
            unsafe { launch.arg(self.rows).arg(SAMPLE).arg(slate.control).leaving(slate).run() }
        })?;
        Ok(self.estimate(&found))
    }

    /// nnz(C) if all rows are like those seen, of which the entries and the number are given; and some room to spare.
    pub(super) fn estimate(&self, seen: &[u64]) -> u64 {
        let estimate = u128::from(seen[0]) * u128::from(self.rows) / u128::from(seen[1].max(1));
        u64::try_from(estimate + estimate / 32 + 4096).unwrap_or(u64::MAX)
    }
}
