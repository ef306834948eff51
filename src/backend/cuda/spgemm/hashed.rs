//! Products whose rows have few columns each, as a sample of them says: a hash table for each row, by a warp or a part of one.
use super::whole::{Room, SAMPLE, Whole};
use super::{FAILED, Job, Made};
use crate::backend::cuda::Buffer;
use crate::backend::cuda::program::{Program, resident};
use crate::backend::cuda::report::SAID;
use crate::error::Result;
use oplus_codegen::Template;

/// The tables of one pass: slots of each, and the lanes that a row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tables {
    slots: u32,
    lanes: u32,
}

impl Tables {
    /// Slots that there are kernels for.
    pub(super) const SLOTS: [u32; 4] = [64, 128, 256, 512];
    /// Rows of no more products are of few columns for sure.
    pub(super) const TINY: u32 = 256;
    /// In a small matrix, where a sample would take as long as the product, rows of so many are taken to be.
    pub(super) const LIKELY: u32 = 1024;
    /// Columns of a row that surely fit the widest table.
    const FITS: u32 = 384;
    /// Of a sample.
    const WIDEST: Tables = Tables { slots: 512, lanes: 32 };
    /// Shared bytes of a block.
    const ROOM: u32 = 48 << 10;
}

/// So many bytes are taken for C without a thought about how many there will be.
const BOUND_ROOM: u64 = 512 << 10;
/// A sample pays for itself where each multiprocessor has so many products.
const WORTH: u64 = 32 << 10;
/// Rows are sorted where the sample has fewer products than this of two entries.
const COMPRESSION: u64 = 5;
/// Threads of a multiprocessor that rows have to fill before they get fewer lanes.
const FILLED: u64 = 1024;
/// Slots of a warp's rows together, or else few warps have room.
const WARP_SLOTS: u32 = 512;
/// Where rows are many and those of B short, one may have so many times the mean products.
const EVEN: u64 = 32;
/// The most entries of short rows of B, in the mean.
const SHORT: u64 = 32;

/// Tables of so many slots a product in the mean are used in part.
const SPARSE: u64 = 4;

/// What a sample says of C.
struct Sampled {
    /// Its entries, with some room to spare.
    entries: u64,
    /// Columns of the longest row seen; more than fit if some did not.
    most: u64,
}

impl Job<'_> {
    /// Whether there may be tables for rows of up to `most` products.
    pub(super) fn hash_might_fit(&self, most: u64) -> bool {
        let even = self.mean_products().saturating_mul(EVEN);
        let even = most <= even && self.fills(8) && self.by_parts();
        let short = most <= u64::from(self.tuning.hash_products) || even;
        short
            && u64::from(self.columns) * u64::from(Tables::WIDEST.slots) < 1 << 32
            && self.hash(Tables::WIDEST, true).1 <= Tables::ROOM
    }
    /// Whether rows of A have many entries, each of few products: then more of them are in flight.
    fn long_by_tiny(&self) -> bool {
        let (a, b) = (self.a.pattern, self.b.pattern);
        a.nnz >= 24 * a.nrows as u64 && b.nnz < 4 * b.nrows as u64
    }
    /// Whether rows of B are short enough for a part of a warp, and those of A enough to fill the device with.
    pub(super) fn by_parts(&self) -> bool {
        self.b.pattern.nnz <= SHORT * self.b.pattern.nrows as u64 && self.rows >= u64::from(self.tuning.esc_rows)
    }
    /// Whether it is worth a look at how far products are compressed.
    pub(super) fn worth_sampling(&self) -> bool {
        let least = WORTH * u64::from(self.context.properties().multiprocessors);
        self.likely_products() >= least
    }

    /// The product, of at most `bound` entries; `None` where sorting is better, or rows have too many columns.
    pub(super) fn mxm_hashed(&self, bound: u64, small: bool) -> Result<Option<Made>> {
        let longest = self.longest_row().unwrap_or(u64::MAX);
        let surely = small && longest <= u64::from(Tables::TINY);
        let seen = if surely || (longest <= u64::from(Tables::LIKELY) && self.is_small()) {
            let size = 4 + self.semiring.c.size as u64;
            let entries =
                if bound.saturating_mul(size) <= BOUND_ROOM { bound } else { self.likely_products().saturating_mul(2) };
            Sampled { entries, most: longest.min(u64::from(Tables::FITS)) }
        } else {
            let seen = self.sampled_by_hash()?;
            let products = self.likely_products();
            if self.mean_products() < u64::from(self.tuning.hash_mean)
                && products.saturating_mul(2) < seen.entries.saturating_mul(COMPRESSION)
            {
                return Ok(None);
            }
            seen
        };
        for slots in Tables::SLOTS {
            // Tables are better not quite full, and other rows may be longer than those seen.
            let tables = self.tables(slots);
            if seen.most + seen.most / 4 > u64::from(slots - tables.lanes) {
                continue;
            }
            let mut failed = false;
            let made = self.allocated(seen.entries.min(bound), |c| {
                let found = self.by_hash(tables, c)?;
                failed = found[FAILED] > 0;
                Ok(found)
            })?;
            if !failed {
                return Ok(Some(made));
            }
        }
        Ok(None)
    }

    /// Whether rows of so many lanes fill the device.
    pub(super) fn fills(&self, lanes: u32) -> bool {
        let threads = FILLED * u64::from(self.context.properties().multiprocessors);
        self.rows.saturating_mul(u64::from(lanes)) >= threads
    }

    /// Tables of so many slots, with no more lanes a row than rows of B have entries, unless rows are few or tables large.
    fn tables(&self, slots: u32) -> Tables {
        let b = self.b.pattern;
        let mean = u32::try_from(b.nnz.div_ceil((b.nrows as u64).max(1))).unwrap_or(u32::MAX);
        let mut tables = Tables { slots, lanes: 1 << mean.clamp(4, 16).ilog2() };
        while tables.lanes < 32
            && (!self.fills(tables.lanes)
                || 32 / tables.lanes > WARP_SLOTS / slots
                || self.hash(tables, true).1 > Tables::ROOM)
        {
            tables.lanes *= 2;
        }
        tables
    }

    fn by_hash(&self, tables: Tables, room: &Room) -> Result<[u64; SAID]> {
        let ((program, shared), block) = (self.hash(tables, true), self.tuning.hash_block);
        self.pass((program, block, shared), self.rows.div_ceil(u64::from(block / tables.lanes)), Whole::Hash, room)
    }

    /// The program for hash tables, and its shared bytes: `numeric` or only to count.
    fn hash(&self, tables: Tables, numeric: bool) -> (Program<'_>, u32) {
        let template = if numeric { Template::SpgemmHash } else { Template::SpgemmHashCount };
        let program = Program::new(self.context, template, |s| {
            let s = s.number("slots", u64::from(tables.slots));
            if !numeric {
                return self.walking(s);
            }
            let batch = if self.long_by_tiny() && tables.lanes < 32 { 4 } else { 2 };
            // Rows that fill a small part of their tables are a part of the work where they have a warp each.
            let fitted = tables.lanes == 32 && self.mean_products() * SPARSE <= u64::from(tables.slots);
            let s = s.number("lanes", u64::from(tables.lanes)).number("batch", batch).flag("fitted", fitted);
            self.with_semiring(s)
        });
        let shared = program.spec.hash_bytes(tables.slots, tables.lanes) * (self.tuning.hash_block / 32);
        (program, shared)
    }

    fn sampled_by_hash(&self) -> Result<Sampled> {
        let ((program, shared), block) = (self.hash(Tables::WIDEST, false), self.tuning.hash_block);
        let sums = Buffer::zeroed_for::<u64>(self.context, 4)?;
        let stretches = self.rows.div_ceil(u64::from(block) / 32).div_ceil(SAMPLE);
        let kernel = program.kernel(program.spec.template.name())?;
        let launch = self.patterns(kernel.launch(resident(&kernel, block, shared, stretches)?, block, shared));
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(self.rows).arg(SAMPLE).arg(&sums).run()? };
        let found: Vec<u64> = sums.to_host()?;
        let most = if found[3] > 0 { u64::from(Tables::WIDEST.slots) } else { found[2] };
        Ok(Sampled { entries: self.estimate(&found), most })
    }
}
