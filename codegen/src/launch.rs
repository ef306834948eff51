//! Sizes the host must know to launch a kernel: the same formulas as in the templates, which assert that they agree.
use crate::catalog::Template;
use crate::spec::{SemiringText, Spec};
use crate::text::{Atomic, ScalarText, Terminal};
use crate::tuning::Tuning;

/// Table sizes of the sparse product.
pub const TABLES: usize = 5;

/// How to launch the kernels of one table size of the sparse product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableLaunch {
    /// Threads of a block.
    pub block: u32,
    /// Rows a block works on at once.
    pub teams: u32,
    /// Dynamic shared bytes.
    pub shared: u32,
    /// Sums a row may have; 0 for the symbolic kernels.
    pub values: u32,
}

const fn rounded(bytes: u32) -> u32 {
    bytes.div_ceil(16) * 16
}

impl SemiringText {
    /// The scalar of what is written: that of the result.
    #[must_use]
    pub fn written(&self) -> ScalarText {
        self.counted.unwrap_or(self.c)
    }
    /// Whether sums may be pre-set, and whether all products are one constant that ⊕ keeps.
    fn kind(&self) -> (bool, bool) {
        let boolean = matches!(self.atomic, Atomic::Or | Atomic::And | Atomic::Xor);
        let number = self.c.definition.is_empty() && self.c.name != "bool";
        let native = !matches!(self.atomic, Atomic::None | Atomic::First);
        let exact = (number && native) || (self.c.name == "bool" && boolean);
        let keeps = matches!(self.atomic, Atomic::Min | Atomic::Max | Atomic::Or | Atomic::And | Atomic::First);
        (exact, self.is_value_free() && (keeps || self.terminal == Terminal::Always))
    }
    /// Whether a sum may begin as a value that changes no term, so that nothing has to tell whether it has one yet.
    #[must_use]
    pub fn is_preset(&self) -> bool {
        self.kind().0
    }
    /// Whether all products are one constant.
    fn is_value_free(&self) -> bool {
        !(self.reads.a || self.reads.b || self.reads.position)
    }
    /// Whether all products are one constant that ⊕ keeps: then no values are needed.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.kind().1
    }
}

/// Scan words and counters of a team.
const TEAM: u32 = 34 * 8 + 16;
/// What one warp of several leaves for all.
const LEFT: u32 = 256;

/// How a block works on a row: in windows of `width` columns, by `threads` threads, with `sums` bytes for sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShape {
    /// Columns of a window.
    pub width: u32,
    /// Threads of the block.
    pub threads: u32,
    /// Bytes of shared memory for sums.
    pub sums: u32,
}

impl Spec {
    /// Bytes a warp keeps for the rows of B it walks.
    fn warp_products(&self) -> u32 {
        if self.flags.iter().any(|f| f.0 == "narrow" && f.1) { 384 } else { 512 }
    }
    fn masked(&self) -> bool {
        self.flags.iter().any(|f| f.0 == "masked" && f.1)
    }

    /// Shared bytes a sum takes in table size `table`, its state included; 0 where none is kept.
    #[must_use]
    pub fn value_bytes(&self, table: usize) -> Option<u32> {
        let semiring = self.semiring.as_ref()?;
        let (threads, ..) = Tuning::of(self.architecture).tables().get(table).copied()?;
        let (exact, constant) = semiring.kind();
        let state = if exact || threads == 32 { 0 } else { 4 };
        Some(if constant { 0 } else { u32::try_from(semiring.c.size).ok()? + state })
    }

    /// Launch shape of table size `table` (0 to 4) in the symbolic phase (no semiring), the numeric one or a reduction.
    #[must_use]
    pub fn table_launch(&self, table: usize) -> Option<TableLaunch> {
        let tuning = Tuning::of(self.architecture);
        let (threads, slots, bytes) = tuning.tables().get(table).copied()?;
        let block = if threads == 32 { tuning.table_warp_block } else { threads };
        let teams = block / threads;
        let fixed = TEAM + self.warp_products() * (threads / 32);
        let bits = |slots: u32, arrays: u32| rounded(4 * slots * (arrays + if self.masked() { 2 } else { 0 }));
        let Some(semiring) = self.semiring.as_ref() else {
            let slots = if table + 1 == TABLES { tuning.symbolic4_slots } else { slots };
            return Some(TableLaunch { block, teams, shared: teams * (fixed + bits(slots, 2)), values: 0 });
        };
        let (exact, constant) = semiring.kind();
        let size = u32::try_from(semiring.c.size).ok()?;
        // A constant needs no sums, but parts of rows still need a bound.
        // Of one word's columns at least, as a range is no narrower.
        let values = (bytes / self.value_bytes(table)?.max(1) / 32 * 32).max(32);
        let state_words = match (exact, threads) {
            (true, _) => 0,
            (false, 32) => values.div_ceil(32),
            (false, _) => values,
        };
        let sums = if constant { 0 } else { rounded(4 * state_words) + rounded(values * size) };
        Some(TableLaunch { block, teams, shared: teams * (fixed + bits(slots, 4) + sums), values })
    }

    /// Block and dynamic shared bytes of the kernels that sort rows of at most `width` products, with this semiring's terms
    /// or, without one, to count.
    #[must_use]
    pub fn esc_launch(&self, width: u32) -> (u32, u32) {
        let block = Tuning::of(self.architecture).esc_block;
        (block, block / 32 * (rounded(4 * (width + width / 32)) + self.term_bytes(width) + self.warp_products()))
    }

    /// Block and dynamic shared bytes of the kernels whose blocks sort a row of at most `width` products each, with this
    /// semiring's terms or, without one, to count.
    #[must_use]
    pub fn sort_launch(&self, width: u32) -> (u32, u32) {
        let block = width / 8;
        // Where columns begin takes the room of the rows of B, when these are done with.
        let scratch = (self.warp_products() * (block / 32)).max(rounded(2 * (width + 1)));
        let fixed = TEAM + scratch + width / 4 + rounded(4 * (width + width / 32));
        (block, fixed + self.term_bytes(width))
    }
    /// Shared bytes of so many terms; where all products are the same none are kept.
    fn term_bytes(&self, products: u32) -> u32 {
        if self.semiring.as_ref().is_some_and(|s| s.is_value_free()) { 0 } else { self.sum_bytes(products) }
    }
    /// Shared bytes of so many sums.
    fn sum_bytes(&self, products: u32) -> u32 {
        match &self.semiring {
            Some(s) if !s.kind().1 => rounded(products * u32::try_from(s.c.size).unwrap_or(u32::MAX).min(1 << 16)),
            _ => 0,
        }
    }

    /// Block, keys of a tile, and dynamic shared bytes of the kernels that move entries by a digit of so many bits.
    #[must_use]
    pub fn partition_launch(&self, bits: u32) -> (u32, u32, u32) {
        let block = self.numbers.iter().find(|n| n.0 == "threads").map_or(512, |n| n.1 as u32);
        let tile = block * Tuning::of(self.architecture).partition_items;
        let digits = 1 << bits.min(16);
        (block, tile, (8 * tile).max(block / 16 * digits) + 2 * tile + 8 * digits + TEAM + block / 8)
    }

    /// Block and dynamic shared bytes of the kernels that give each thread a row of at most `width` products, with this
    /// semiring's terms or, without one, to count: as many warps as `room` bytes hold, four at most; `None` if it holds none.
    #[must_use]
    pub fn thread_launch(&self, width: u32, room: u32) -> Option<(u32, u32)> {
        let warp = self.thread_bytes(width);
        let warps = (room / warp).min(4);
        (warps > 0).then(|| (32 * warps, warps * warp))
    }
    fn thread_bytes(&self, width: u32) -> u32 {
        let wide = self.flags.iter().any(|f| f.0 == "wide" && f.1);
        let terms = match &self.semiring {
            Some(s) if !s.kind().1 => {
                rounded((width * 32).saturating_mul(u32::try_from(s.c.size).unwrap_or(u32::MAX)).min(1 << 30))
            }
            _ => 0,
        };
        width * 32 * if wide { 8 } else { 4 } + terms
    }

    /// Dynamic shared bytes a warp takes in the kernels with a hash table of `slots` for each row, `lanes` a row: of one lane, nobody
    /// else adds.
    #[must_use]
    pub fn hash_bytes(&self, slots: u32, lanes: u32) -> u32 {
        let (all, scratch) = (slots * (32 / lanes), if lanes == 32 { self.warp_products() } else { 0 });
        let sums = match &self.semiring {
            Some(s) if !s.kind().1 => {
                let state = if s.kind().0 || lanes == 1 { 0 } else { rounded(all.div_ceil(32) * 4) };
                rounded(all.saturating_mul(u32::try_from(s.c.size).unwrap_or(u32::MAX)).min(1 << 30)) + state
            }
            _ => 0,
        };
        all * 4 + sums + scratch
    }

    /// Dynamic shared bytes a warp takes in the kernel that looks products up among up to `entries` of the mask's row, `lanes` a row.
    #[must_use]
    pub fn masked_bytes(&self, entries: u32, lanes: u32) -> u32 {
        (32 / lanes).saturating_mul(21 * entries + self.sum_bytes(entries))
    }
    /// Dynamic shared bytes of a block that does so for one row.
    #[must_use]
    pub fn masked_long_bytes(&self, entries: u32) -> u32 {
        let warps = Tuning::of(self.architecture).masked_block / 32;
        let (exact, constant) = self.semiring.as_ref().map_or((true, true), |s| s.kind());
        let state = if exact || constant { 0 } else { rounded(4 * entries) };
        (self.warp_products() * warps + 21 * entries + state).saturating_add(self.sum_bytes(entries))
    }

    /// Dynamic shared bytes a warp takes in the kernels that sum rows of columns within `width`, with this semiring's sums or,
    /// without one, to count.
    #[must_use]
    pub fn window_bytes(&self, width: u32) -> u32 {
        let sums = match &self.semiring {
            Some(s) if !s.kind().1 => rounded(width * u32::try_from(s.c.size).unwrap_or(u32::MAX / width / 2)),
            _ => 0,
        };
        rounded(width) + sums + self.warp_products()
    }

    /// Dynamic shared bytes of a block of this shape, the width a multiple of 32; without a semiring, to count.
    #[must_use]
    pub fn block_bytes(&self, shape: BlockShape) -> u32 {
        let BlockShape { width, threads, sums } = shape;
        let bits = rounded(width / 32 * 4);
        let fixed = TEAM + LEFT + self.warp_products() * (threads / 32) + bits;
        let Some(semiring) = &self.semiring else { return fixed };
        let size = u32::try_from(semiring.c.size).unwrap_or(u32::MAX).max(1);
        let sums = if semiring.kind().1 { 0 } else { sums / size * size };
        fixed + bits + rounded(sums)
    }

    /// Whether all products are one constant that ⊕ keeps: then kernels neither read nor write terms.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.semiring.as_ref().is_some_and(|s| s.is_constant())
    }

    /// The shape of a block for rows of at most `columns` columns, of many products (`large`) or few, where a block may have
    /// `shared` bytes: a sum a column if at least `threads` threads have room for them.
    #[must_use]
    pub fn block_shape(&self, columns: u32, large: bool, threads: u32, shared: u32) -> BlockShape {
        let tuning = Tuning::of(self.architecture);
        let size = match &self.semiring {
            Some(s) if !s.kind().1 => u32::try_from(s.c.size).unwrap_or(u32::MAX / 64),
            _ => 0,
        };
        // As many blocks as fill the device's threads share its memory; each takes 1 KiB more than it asks for.
        let room = |threads: u32| {
            let part = (u64::from(shared) * u64::from(threads) / 1024) as u32;
            part.saturating_sub(1024 + TEAM + LEFT + self.warp_products() * (threads / 32))
        };
        let dense = |threads: u32| (room(threads) / (4 * size + 1) * 4) / 128 * 128;
        let widths = [128, 256, 512, 1024].into_iter().filter(|t| *t >= threads && (large || *t <= 256));
        if let Some(threads) = widths.filter(|_| size > 0).find(|threads| columns <= dense(*threads)) {
            return BlockShape { width: dense(threads), threads, sums: dense(threads) * size };
        }
        let most = tuning.block_columns;
        let threads = if large { tuning.block_threads } else { tuning.block_threads_small };
        let width = if columns > most {
            // As few windows as there is room for bits of, all of one width.
            let widest = (room(threads).saturating_sub(tuning.block_bytes) / (most / 4)).max(1);
            let parts = columns.div_ceil(most);
            most * parts.div_ceil(parts.div_ceil(widest))
        } else {
            [most / 16, most / 4].into_iter().find(|w| columns <= *w).unwrap_or(most)
        };
        let sums = room(threads).saturating_sub(2 * (width / 8)) / 1024 * 1024;
        BlockShape { width, threads, sums: if large { sums } else { sums.min(tuning.block_bytes) } }
    }

    /// The shape of a block of so many threads whose warps have a sum for each of `columns` columns each, where a block may have `shared` bytes.
    #[must_use]
    pub fn copies_shape(&self, columns: u32, threads: u32, shared: u32) -> Option<BlockShape> {
        let semiring = self.semiring.as_ref().filter(|s| s.kind().0 && !s.kind().1)?;
        let width = columns.max(1).checked_next_multiple_of(128)?;
        let size = u32::try_from(semiring.c.size).ok()?;
        let shape = BlockShape { width, threads, sums: width.checked_mul(size)?.checked_mul(threads / 32)? };
        // As many blocks as fill the device's threads share its memory.
        let room = (u64::from(shared) * u64::from(threads) / 1024).saturating_sub(1024);
        (u64::from(self.block_bytes(shape)) <= room).then_some(shape)
    }

    /// The shape of a block for rows of columns within `width`: a sum a column, and threads enough that their number, not the
    /// sums, says how many blocks a multiprocessor has room for.
    #[must_use]
    pub fn dense_shape(&self, width: u32) -> BlockShape {
        let size = match &self.semiring {
            Some(s) if !s.kind().1 => u32::try_from(s.c.size).unwrap_or(u32::MAX).min(1 << 16),
            _ => 0,
        };
        // Windows begin at words.
        let width = width + 32;
        // A multiprocessor has registers for 1024 threads of such blocks, and so room for 160 bytes of sums for each.
        let threads = (width * size / 160).max(width / 32).next_power_of_two().clamp(128, 512);
        BlockShape { width, threads, sums: width * size }
    }

    /// Whether the semiring's sums may be pre-set or are all one constant: what adding in any order in any memory needs.
    #[must_use]
    pub fn sums_anywhere(&self) -> bool {
        self.semiring.as_ref().is_some_and(|s| s.kind().0 || s.kind().1)
    }

    /// `shared_bytes::…`, for the templates' assertions.
    pub(crate) fn shared_bytes(&self) -> String {
        let phase = if self.semiring.is_some() { "numeric" } else { "symbolic" };
        let table = |t: usize| {
            let shared = self.table_launch(t)?.shared;
            Some(format!("constexpr u32 {phase}_table{t} = {shared};\n"))
        };
        let tables: String = (0..TABLES).filter_map(table).collect();
        let defaults = self.template.numbers();
        let number = |name: &str| {
            let given = self.numbers.iter().find(|n| n.0 == name).map(|n| n.1);
            let default = || defaults.iter().find(|n| n.0 == name).map(|n| n.1);
            given.or_else(default).and_then(|n| u32::try_from(n).ok()).unwrap_or(64)
        };
        let (width, threads, sums) = (number("width"), number("threads"), number("bytes"));
        let (esc, sort, window) = (self.esc_launch(width).1, self.sort_launch(width).1, self.window_bytes(width));
        let block = self.block_bytes(BlockShape { width, threads, sums });
        let thread = self.thread_bytes(width).saturating_mul(number("block") / 32);
        let lanes = match self.template {
            // Tables of one lane each, however many of them a row has.
            Template::SpgemmHashThread => 1,
            _ if defaults.iter().any(|n| n.0 == "lanes") => number("lanes"),
            _ => 32,
        };
        let hash = self.hash_bytes(number("slots"), lanes);
        let (masked, long) = (self.masked_bytes(number("entries"), lanes), self.masked_long_bytes(number("entries")));
        let warps = format!(
            "constexpr u32 esc = {esc}, sort = {sort}, window = {window}, block = {block}, thread = {thread}, hash = {hash};\n"
        );
        // What no other template asks for would change the key of all.
        let warps = match self.template {
            Template::SpgemmMasked => format!("{warps}constexpr u32 masked = {masked}, masked_long = {long};\n"),
            _ => warps,
        };
        format!("namespace shared_bytes {{\n{tables}{warps}}}  // namespace shared_bytes\n")
    }
}
