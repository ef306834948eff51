//! Sizes the host must know to launch a kernel: the same formulas as in the templates, which assert that they agree.
use crate::spec::{SemiringText, Spec};
use crate::text::{Atomic, Terminal};
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
    /// Dynamic shared bytes of the symbolic kernel.
    pub symbolic_shared: u32,
    /// Dynamic shared bytes of the numeric (or the reduction) kernel.
    pub numeric_shared: u32,
}

const fn rounded(bytes: u32) -> u32 {
    bytes.div_ceil(16) * 16
}

impl SemiringText {
    /// Whether sums may be pre-set, and whether all products are one constant that ⊕ keeps.
    fn kind(&self) -> (bool, bool) {
        let boolean = matches!(self.atomic, Atomic::Or | Atomic::And | Atomic::Xor);
        let number = self.c.definition.is_empty() && self.c.name != "bool";
        let native = !matches!(self.atomic, Atomic::None | Atomic::First);
        let exact = (number && native) || (self.c.name == "bool" && boolean);
        let value_free = !(self.reads.a || self.reads.b || self.reads.position);
        let keeps = matches!(self.atomic, Atomic::Min | Atomic::Max | Atomic::Or | Atomic::And | Atomic::First);
        (exact, value_free && (keeps || self.terminal == Terminal::Always))
    }
}

impl Spec {
    /// Launch shape of table size `table` (0 to 4), for templates over a semiring.
    #[must_use]
    pub fn table_launch(&self, table: usize) -> Option<TableLaunch> {
        let semiring = self.semiring.as_ref()?;
        let tuning = Tuning::of(self.architecture);
        let (threads, slots, bytes) = tuning.tables().get(table).copied()?;
        let masked = self.flags.iter().any(|f| f.0 == "masked" && f.1);
        let slots = if masked && table + 1 == TABLES { slots / 2 } else { slots };
        let (exact, constant) = semiring.kind();
        let size = u32::try_from(semiring.c.size).ok()?;
        let values = bytes / (size + if exact || threads == 32 { 0 } else { 4 }) / 32 * 32;
        let block = if threads == 32 { tuning.table_warp_block } else { threads };
        let scratch = rounded(16 * threads) + 34 * 8 + 16;
        let bits = |arrays: u32| rounded(4 * slots * (arrays + if masked { 2 } else { 0 }));
        let state_words = match (exact, threads) {
            (true, _) => 0,
            (false, 32) => values.div_ceil(32),
            (false, _) => values,
        };
        let sums = if constant { 0 } else { rounded(4 * state_words) + rounded(values * size) };
        let teams = block / threads;
        let (symbolic_shared, numeric_shared) = (teams * (scratch + bits(2)), teams * (scratch + bits(4) + sums));
        Some(TableLaunch { block, teams, symbolic_shared, numeric_shared })
    }

    /// `shared_bytes::…`, for the templates' assertions.
    pub(crate) fn shared_bytes(&self) -> String {
        let table = |t: usize| {
            let launch = self.table_launch(t)?;
            let (s, n) = (launch.symbolic_shared, launch.numeric_shared);
            Some(format!("constexpr u32 symbolic_table{t} = {s}, numeric_table{t} = {n};\n"))
        };
        let tables: String = (0..TABLES).filter_map(table).collect();
        format!("namespace shared_bytes {{\n{tables}}}  // namespace shared_bytes\n")
    }
}
