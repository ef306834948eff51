//! C⟨M⟩ = A ⊕.⊗ B row by row: the columns of the mask's row in a table of words, to which products are added that find theirs.
//!
//! One pass over the products, nothing counted before and nothing sorted: a value and a bit for each entry of the mask. Rows of the
//! mask too long for a table in shared memory, and those of many products, are made by blocks, a stretch of the mask's row each.
use super::found::Found;
use super::{Job, Made};
use crate::backend::cuda::Buffer;
use crate::backend::cuda::entries::{Marks, empty, places};
use crate::backend::cuda::runtime::ahead::Wanted;
use crate::backend::cuda::runtime::program::{Program, resident};
use crate::backend::cuda::storage::device_csr::DevicePattern;
use crate::error::Result;
use crate::spgemm::{Analysis, Bin, Strategy};
use oplus_codegen::{FunctionText, Shared, Spec, Template};

/// Shared bytes of a block of groups: as many of them as fill a multiprocessor have room.
const ROOM: u32 = 32 << 10;
/// Of a block with one table.
const LONG_ROOM: u32 = 96 << 10;
/// Entries of the smallest tables.
const LEAST: u32 = 16;
/// Rows of few products in the mean may have so many times as many.
const UNEVEN: u64 = 8;
/// A mask of more entries than so many times the products is not worth a value for each.
const MOST_MASK: u64 = 2;
/// Where rows have about as many products each, a group's may have so many times the least that others leave to blocks.
const EVEN: u64 = 4;
/// Entries of rows that a whole warp takes.
const WIDE: u32 = 128;
/// Products of each lane of a smaller group.
const STEPS: u32 = 32;
/// Bytes for the numbers of rows that are left.
const COUNTS: u64 = 24;
/// The kernels.
const ROWS: &str = "spgemm_masked";
const LONG: &str = "spgemm_masked_long";
/// Groups that rows of about equal work keep busy, for each multiprocessor: a row of more than its part of all products is a block's.
const GROUPS: u64 = 256;

/// A product of rows under a mask.
pub(super) struct MaskedRows<'a> {
    job: &'a Job<'a>,
    mask: &'a DevicePattern,
    /// Entries of a group's rows, and its lanes.
    entries: u32,
    lanes: u32,
    /// Entries of a whole warp's rows, and those that a block takes at once.
    wide: u32,
    stretch: u32,
}

/// Rows that groups leave.
struct Left {
    /// Products of a group's rows, and of others that are no block's, at most.
    own: u64,
    most: u64,
    /// Entries of the rows of whole warps, if there are any.
    wide: Option<u32>,
    /// Stretches for blocks, at most.
    stretches: u64,
}

impl<'a> MaskedRows<'a> {
    /// `None` without a mask to look columns up in, where sums have to be in the order of k, and where values leave no room for tables.
    pub(super) fn of(job: &'a Job<'a>) -> Option<Self> {
        let mask = &job.mask.filter(|m| !m.complement && !job.in_order)?.pattern;
        let spec = Spec::new(Template::SpgemmMasked, job.context.properties().architecture);
        let spec = job.with_semiring(spec);
        let warps = job.tuning.masked_block / 32;
        let fits = |entries: u32, lanes: u32| spec.masked_bytes(entries, lanes).saturating_mul(warps) <= ROOM;
        let b = job.b.pattern;
        let mean = b.nnz.div_ceil((b.nrows as u64).max(1)).clamp(4, 32) as u32;
        let mut lanes = mean.next_power_of_two();
        while lanes < 32 && !(fits(LEAST, lanes) && job.fills(lanes)) {
            lanes *= 2;
        }
        // Rows of the mask up to twice its mean, as far as there is room.
        let mean = mask.nnz.div_ceil((mask.nrows as u64).max(1)).saturating_mul(2);
        let most = mean.min(mask.longest.unwrap_or(u64::MAX)).min(u64::from(job.tuning.masked_entries));
        let mut entries = (most as u32).next_power_of_two().max(LEAST);
        while entries > LEAST && !fits(entries, lanes) {
            entries /= 2;
        }
        // Static shared memory wants its part.
        let long_room = job.context.properties().shared_per_block_optin.saturating_sub(1024).min(LONG_ROOM);
        let mut stretch = job.tuning.masked_entries;
        while stretch > LEAST && spec.masked_long_bytes(stretch) > long_room {
            stretch /= 2;
        }
        let fits = fits(entries, lanes) && spec.masked_long_bytes(stretch) <= long_room;
        let mut wide = WIDE;
        while wide > entries && spec.masked_bytes(wide, 32).saturating_mul(warps) > ROOM {
            wide /= 2;
        }
        fits.then_some(Self { job, mask, entries, lanes, wide, stretch })
    }

    /// Whether the strategy makes the product in this way.
    pub(super) fn suits(&self, strategy: Strategy) -> bool {
        match strategy {
            Strategy::Hash => true,
            Strategy::Auto => {
                let products = self.job.uneven_products(UNEVEN);
                products >= u64::from(self.job.tuning.masked_least) && self.mask.nnz / MOST_MASK <= products
            }
            _ => false,
        }
    }

    /// The product.
    pub(super) fn made(&self) -> Result<Made> {
        let Job { context, semiring, a, b, .. } = self.job;
        match self.found(|| Found::putting_together(context, semiring.c))? {
            Some(found) => found.made(context, semiring.c),
            None => empty(context, a.pattern.nrows, b.pattern.ncols),
        }
    }

    /// The sum of its values.
    pub(super) fn reduced(&self, reduce: Shared<FunctionText>) -> Result<Option<Vec<u8>>> {
        let program = Found::adding(self.job.context, &self.job.semiring, reduce);
        match self.found(|| vec![program.wanted("spgemm_reduce_marked")])? {
            Some(found) => found.reduced(&program, self.job.semiring.c.size),
            None => Ok(None),
        }
    }

    fn program(&self, entries: u32, lanes: u32) -> Program<'a> {
        let (job, lanes) = (self.job, u64::from(lanes));
        Program::new(job.context, Template::SpgemmMasked, |s| {
            let spec = job.with_semiring(s).number("entries", u64::from(entries)).number("lanes", lanes);
            spec.number("batch", lanes.min(2))
        })
    }

    /// Products from which on a row is a block's: more than others have, or its group would be busy when they are done.
    fn most_products(&self) -> u64 {
        let (job, least) = (self.job, u64::from(self.job.tuning.masked_products));
        let part = job.likely_products() / (GROUPS * u64::from(job.context.properties().multiprocessors));
        part.max(job.mean_products().saturating_mul(2).clamp(least, EVEN * least))
    }

    /// What becomes of rows that are not the groups'.
    fn left(&self) -> Left {
        let most = self.most_products();
        let wide = (self.lanes < 32).then_some(self.wide);
        let own = if wide.is_some() { most.min(u64::from(self.lanes * STEPS)) } else { most };
        let short = self.mask.longest.is_some_and(|longest| longest <= u64::from(self.entries));
        let none = short && self.job.longest_row().is_some_and(|longest| longest <= own);
        let rows = self.job.rows.min(self.mask.nnz);
        match none {
            true => Left { own, most, wide: None, stretches: 0 },
            false => Left { own, most, wide, stretches: rows + self.mask.nnz / u64::from(self.stretch) },
        }
    }

    /// A value for each of the mask's entries that has one; `None` where none has. Those kernels are needed after it.
    fn found(&self, after: impl Fn() -> Vec<Wanted>) -> Result<Option<Found<'a>>> {
        let Job { context, semiring, a, b, tuning, rows, .. } = self.job;
        let (n, block, warps) = (self.mask.nnz, tuning.masked_block, tuning.masked_block / 32);
        if n == 0 || a.pattern.nnz == 0 || b.pattern.nnz == 0 {
            return Ok(None);
        }
        let left = self.left();
        let marks = Marks::zeroed(context, n, if left.stretches > 0 { COUNTS } else { 0 })?;
        let found = Found::room(self.mask, marks, semiring.c.size)?;
        let counts = found.marks.behind();
        let longs = Buffer::alloc_for::<u64>(context, places(left.stretches))?;
        let others = Buffer::alloc_for::<u32>(context, if left.wide.is_some() { places(*rows) } else { 0 })?;
        let own = self.program(self.entries, self.lanes);
        let wide = left.wide.map(|entries| self.program(entries, 32));
        let long = (left.stretches > 0).then(|| self.program(self.stretch, 32));
        let follow = || {
            let wide = wide.as_ref().map(|p| p.wanted(ROWS));
            after().into_iter().chain(wide).chain(long.as_ref().map(|p| p.wanted(LONG))).collect()
        };
        let kernel = own.kernel_beside(ROWS, follow)?;
        let shared = own.spec.masked_bytes(self.entries, self.lanes) * warps;
        let grid = rows.div_ceil(u64::from(warps * (32 / self.lanes)));
        let mut launches = vec![(kernel, grid, shared, left.own, false)];
        if let (Some(program), Some(entries)) = (&wide, left.wide) {
            let (kernel, shared) = (program.kernel(ROWS)?, program.spec.masked_bytes(entries, 32) * warps);
            let grid = resident(&kernel, block, shared, rows.div_ceil(u64::from(warps)))?;
            launches.push((kernel, grid, shared, left.most, true));
        }
        if let Some(program) = &long {
            let (kernel, shared) = (program.kernel(LONG)?, program.spec.masked_long_bytes(self.stretch));
            let grid = resident(&kernel, block, shared, left.stretches)?;
            launches.push((kernel, grid, shared, 0, false));
        }
        for (kernel, grid, shared, most, listed) in &launches {
            let launch = self.job.operands(kernel.launch(*grid, block, *shared)).arg(*rows);
            let (list, others) = if *listed { (Some(&others), None) } else { (None, left.wide.map(|_| &others)) };
            let launch = launch.arg(list).arg(others).arg(left.wide.unwrap_or(0)).arg(*most).arg(left.most);
            let launch = launch.arg(self.stretch).arg(&longs).arg(counts);
            // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
            unsafe { launch.arg(&found.marks.words).arg(&found.values).run()? };
        }
        Ok(Some(found))
    }

    /// Says that the product is made in this way.
    pub(super) fn explain(&self, strategy: Strategy, to: &mut Analysis) {
        to.strategy = "masked rows";
        to.reason = match strategy {
            Strategy::Hash => "hash was asked for, under a mask".into(),
            _ => format!("products are looked up among the mask's {} entries", self.mask.nnz),
        };
        let about = format!("{} lanes a row, the mask's columns in a table of words; long ones by blocks", self.lanes);
        to.bins = vec![Bin::new("masked", about, self.job.rows)];
        let size = self.job.semiring.c.size as u64;
        let left = self.left();
        let longs = 8 * left.stretches + left.wide.map_or(0, |_| 4 * self.job.rows);
        to.workspace =
            self.mask.nnz.saturating_mul(size).saturating_add(self.mask.nnz / 8 + self.mask.nnz / 4 + 8 + longs);
    }
}
