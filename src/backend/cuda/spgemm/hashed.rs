//! Products whose rows have few columns each, as a sample of them says: a hash table for each row, by a warp
//! or a part of one, or for each of the threads that have the row.
use super::packed::PACKED;
use super::room::Room;
use super::sampled::Sampled;
use super::small::AT_ONCE;
use super::whole::Whole;
use super::{BLOCK, CLASS_COUNT, Job, LARGEST, Made, PRODUCTS, UNITS};
use crate::backend::cuda::runtime::program::Program;
use crate::backend::cuda::runtime::report::SAID;
use crate::error::{Error, Result};
use crate::spgemm::Strategy;
use oplus_codegen::Template;
use oplus_codegen::text::Atomic;

/// The tables of one pass: slots of each, the lanes that a row has, and whether each of these has a table of its own, and B's rows are
/// packed for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tables {
    pub(super) slots: u32,
    lanes: u32,
    own: bool,
    packed: bool,
}

impl Tables {
    /// Slots that there are kernels for.
    pub(super) const SLOTS: [u32; 4] = [64, 128, 256, 512];
    /// And for a thread's own.
    const OWN_SLOTS: [u32; 2] = [16, 32];
    /// Rows of no more products are of few columns for sure.
    pub(super) const TINY: u32 = 256;
    /// In a small matrix, where a sample would take as long as the product, rows of so many are taken to be;
    const LIKELY: u64 = 1024;
    /// of so many where rows are more than fill the device with blocks.
    const LIKELY_OF_MANY: u64 = 2048;
    /// Columns of a row that surely fit the widest table.
    const FITS: u32 = 384;
    /// Of a sample.
    pub(super) const WIDEST: Tables = Tables { slots: 512, lanes: 32, own: false, packed: false };
    /// Shared bytes of a block.
    const ROOM: u32 = 48 << 10;
}

/// So many bytes are taken for C without a thought about how many there will be.
const BOUND_ROOM: u64 = 512 << 10;
/// Threads of a multiprocessor that rows have to fill before they get fewer lanes.
const FILLED: u64 = 1024;
/// Threads of a multiprocessor that rows have to fill to get one each.
const OWN_FILLED: u64 = 192;
/// Lanes that share a row of A that is long.
const OWN_LANES: u64 = 4;
/// No row of A may have more times the mean's entries then.
const OWN_EVEN: u64 = 6;
/// Rows of A that name rows of B in no order keep each other waiting the less, the fewer a block has: it has so many times fewer threads.
const PACKED_BLOCK: u32 = 2;
/// Where a row of A may have so many times the mean's entries, rows get twice the lanes.
const UNEVEN: u64 = 5;
/// Slots of a warp's rows together, or else few warps have room.
const WARP_SLOTS: u32 = 512;
/// Where rows are many and those of B short, one may have so many times the mean products.
const EVEN: u64 = 32;
/// Rows of columns far apart are even where none has more times the mean's products;
const EVEN_FAR: u64 = 4;
/// nearly all rows are such where all but one in so many are;
const NEARLY_ALL: u64 = 16;
/// and a look at them is little beside so many products a multiprocessor.
const WORTH_FAR: u64 = 256 << 10;
/// The most entries of short rows of B, in the mean.
const SHORT: u64 = 32;

/// Tables of so many slots a product in the mean are used in part.
const SPARSE: u64 = 4;

impl Job<'_> {
    /// Whether there may be tables for rows of up to `most` products.
    pub(super) fn hash_might_fit(&self, most: u64) -> bool {
        let even = self.mean_products().saturating_mul(EVEN);
        let even = most <= even && self.fills(8) && self.by_parts();
        let short = most <= u64::from(self.tuning.hash_products) || even;
        short && self.tables_are_possible()
    }
    /// Whether column and slot make one key, and a block's tables fit.
    fn tables_are_possible(&self) -> bool {
        u64::from(self.columns) * u64::from(Tables::WIDEST.slots) < 1 << 32
            && self.hash(Tables::WIDEST, true).1 <= Tables::ROOM
    }
    /// Whether rows of up to `most` products have few columns, as far as one can tell without a look.
    pub(super) fn likely_fits(&self, most: u64) -> bool {
        let many = self.rows > AT_ONCE * u64::from(self.context.properties().multiprocessors);
        most <= if many { Tables::LIKELY_OF_MANY } else { Tables::LIKELY }
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
    /// Whether no row can have more columns than the widest table has room for; `small`: no more than is allocated fits into C.
    pub(super) fn surely_hashed(&self, small: bool) -> bool {
        small && self.longest_row().is_some_and(|most| most <= u64::from(Tables::TINY))
    }
    /// The product, of at most `bound` entries; `None` where sorting is better, if it may be sorted, or rows have too many columns.
    pub(super) fn mxm_hashed(&self, bound: u64, small: bool, strategy: Strategy) -> Result<Option<Made>> {
        let asked = strategy == Strategy::Hash;
        let longest = self.longest_row().unwrap_or(u64::MAX);
        let surely = self.surely_hashed(small);
        let likely = self.likely_fits(longest) && self.is_small() && !self.may_be_apart();
        let seen = if surely || likely {
            let size = 4 + self.semiring.written().size as u64;
            let entries =
                if bound.saturating_mul(size) <= BOUND_ROOM { bound } else { self.likely_products().saturating_mul(2) };
            let entries = entries.min(self.most_likely_products());
            Sampled { entries, most: longest.min(u64::from(Tables::FITS)), compressed: true, near: false }
        } else {
            let seen = self.sampled_by_hash()?;
            if !asked && self.mean_products() < u64::from(self.tuning.hash_mean) && !seen.compressed {
                return Ok(None);
            }
            seen
        };
        self.in_tables(seen, bound, asked)
    }

    /// The product in tables for rows as a sample has `seen` them; `None` where there is none with room for so many columns. `asked`:
    /// for tables by name.
    fn in_tables(&self, seen: Sampled, bound: u64, asked: bool) -> Result<Option<Made>> {
        // A row's lanes that have tables of their own do not sum in the order of k, as rows asked for by name do.
        let own = Tables::OWN_SLOTS.into_iter().filter(|_| !asked).filter_map(|slots| self.own_tables(slots, &seen));
        for tables in own.chain(Tables::SLOTS.into_iter().map(|slots| self.tables(slots))) {
            // Tables are better not quite full, and other rows may be longer than those seen.
            let spare = if tables.own { seen.most / 8 } else { seen.most / 4 };
            if seen.most + spare > u64::from(tables.slots - if tables.own { 1 } else { tables.lanes }) {
                continue;
            }
            if let made @ Some(_) = self.allocated(seen.entries.min(bound), |c| self.by_hash(tables, c))? {
                return Ok(made);
            }
        }
        Ok(None)
    }

    /// Whether a look at rows may pay that nobody has looked at before the analysis, as one of them might have had too many products: it
    /// has found, as `control` says, that none has many more than the others, and that nearly all have their columns far apart. Where
    /// all values are one and the same, bits over the columns are faster.
    pub(super) fn may_be_hashed_far(&self, control: &[u64]) -> bool {
        let far: u64 = control[UNITS + BLOCK..UNITS + CLASS_COUNT].iter().sum();
        let even = control[LARGEST] <= EVEN_FAR.saturating_mul(control[PRODUCTS] / self.rows.max(1));
        let looked_at = self.longest_row().is_some_and(|most| self.hash_might_fit(most));
        let mostly = far > 0 && far >= self.rows - self.rows / NEARLY_ALL;
        let worth = WORTH_FAR * u64::from(self.context.properties().multiprocessors);
        mostly
            && even
            && !looked_at
            && !self.semiring.is_constant()
            && control[PRODUCTS] >= worth
            && self.fills(Tables::WIDEST.lanes)
            && self.tables_are_possible()
    }
    /// The product of such rows; `None` where a sample of them has too many columns for a table, or hardly fewer than products.
    pub(super) fn hashed_far(&self, control: &[u64]) -> Result<Option<Made>> {
        let seen = self.sampled_by_hash()?;
        if !seen.compressed {
            return Ok(None);
        }
        self.in_tables(seen, self.bound().unwrap_or(u64::MAX).min(control[PRODUCTS]), false)
    }

    /// Whether rows of so many lanes fill the device.
    pub(super) fn fills(&self, lanes: u32) -> bool {
        let threads = FILLED * u64::from(self.context.properties().multiprocessors);
        self.rows.saturating_mul(u64::from(lanes)) >= threads
    }

    /// Whether it is worth a look if rows have so few columns that each of their lanes had better have a table of its own.
    pub(super) fn may_be_apart(&self) -> bool {
        self.in_turn() && self.long_by_tiny() && self.tall() && self.worth_sampling()
    }
    /// Whether lanes may take a row's entries in turn: sums are those of any order, and which of several products there is matters to nobody.
    fn in_turn(&self) -> bool {
        !self.in_order && (self.semiring.atomic != Atomic::First || self.semiring.is_constant())
    }

    /// Tables of so many slots for each thread, where there are rows enough and none of them keeps the others of its warp waiting.
    fn own_tables(&self, slots: u32, seen: &Sampled) -> Option<Tables> {
        let lanes = if self.in_turn() && self.long_by_tiny() {
            OWN_LANES
        } else if seen.near && self.mean_products() <= u64::from(self.tuning.hash_mean) {
            1
        } else {
            return None;
        };
        let packed = !seen.near && self.may_be_packed();
        let tables = Tables { slots, lanes: lanes as u32, own: true, packed };
        let threads = OWN_FILLED * u64::from(self.context.properties().multiprocessors);
        let even = self.a.pattern.unevenness(OWN_EVEN + 1) <= OWN_EVEN;
        (self.rows * lanes >= threads && even && self.hash(tables, true).1 <= Tables::ROOM).then_some(tables)
    }

    /// Tables of so many slots, with no more lanes a row than rows of B have entries, unless rows are few or tables large.
    fn tables(&self, slots: u32) -> Tables {
        let b = self.b.pattern;
        let mean = u32::try_from(b.nnz.div_ceil((b.nrows as u64).max(1))).unwrap_or(u32::MAX);
        let uneven = self.a.pattern.unevenness(UNEVEN) >= UNEVEN;
        let lanes = 1 << (mean.clamp(4, 16).ilog2() + u32::from(uneven));
        let mut tables = Tables { slots, lanes, own: false, packed: false };
        while tables.lanes < 32
            && (!self.fills(tables.lanes)
                || 32 / tables.lanes > WARP_SLOTS / slots
                || self.hash(tables, true).1 > Tables::ROOM)
        {
            tables.lanes *= 2;
        }
        tables
    }

    /// Threads of a block.
    fn hash_block(&self, tables: Tables) -> u32 {
        if tables.packed { self.tuning.hash_block / PACKED_BLOCK } else { self.tuning.hash_block }
    }

    fn by_hash(&self, mut tables: Tables, room: &Room) -> Result<[u64; SAID]> {
        let packed = match tables.packed.then(|| self.packed()).transpose() {
            // B as it lies will do.
            Err(Error::OutOfMemory { .. }) => None,
            made => made?,
        };
        tables.packed = packed.is_some();
        let ((program, shared), block) = (self.hash(tables, true), self.hash_block(tables));
        let tiles = self.rows.div_ceil(u64::from(block / tables.lanes));
        let b_values = packed.as_ref().unwrap_or(self.b.values);
        self.pass_with((program, block, shared), tiles, Whole::Hash, room, b_values)
    }

    /// The program for hash tables, and its shared bytes: `numeric` or only to count.
    pub(super) fn hash(&self, tables: Tables, numeric: bool) -> (Program<'_>, u32) {
        let template = match (numeric, tables.own) {
            (false, _) => Template::SpgemmHashCount,
            (true, true) => Template::SpgemmHashThread,
            (true, false) => Template::SpgemmHash,
        };
        let program = Program::new(self.context, template, |s| {
            let s = s.number("slots", u64::from(tables.slots));
            if !numeric {
                return self.walking(s);
            }
            if tables.own {
                let packed = if tables.packed { PACKED.into() } else { 0 };
                let s = s.number("packed", packed).number("block", self.hash_block(tables).into());
                return self.with_semiring(s.number("lanes", u64::from(tables.lanes)));
            }
            let batch = if self.long_by_tiny() && tables.lanes < 32 { 4 } else { 2 };
            // Rows that fill a small part of their tables are a part of the work where they have a warp each.
            let fitted = tables.lanes == 32 && self.mean_products() * SPARSE <= u64::from(tables.slots);
            let s = s.number("lanes", u64::from(tables.lanes)).number("batch", batch).flag("fitted", fitted);
            self.with_semiring(s)
        });
        let of_table = if tables.own { 1 } else { tables.lanes };
        let shared = program.spec.hash_bytes(tables.slots, of_table) * (self.hash_block(tables) / 32);
        (program, shared)
    }
}
