//! Rows of few products or near columns: whole rows by a thread, a warp or a block, in one pass or counted first.
use super::run::Run;
use super::walked::Walked;
use super::{CLASS_COPY, CLASS_COUNT, DENSE_TICKETS, Job, Rows, THREAD, UNITS, places};
use crate::backend::cuda::runtime::lanes::Fork;
use crate::backend::cuda::runtime::program::{Program, resident};
use crate::backend::cuda::runtime::report::Slate;
use crate::backend::cuda::storage::row_bits::RowBits;
use crate::error::Result;
use oplus_codegen::{Spec, Template, Tuning};
use smallvec::SmallVec;

/// First of the classes by products that a warp sorts, of those that a block does, of those by columns in a warp's window, and in a
/// block's.
const ESC: usize = THREAD + 2;
const SORT: usize = ESC + 4;
pub(super) const WINDOW: usize = ESC + 7;
pub(super) const DENSE: usize = WINDOW + 5;
const DENSE_SIZES: usize = 4;
/// Columns of the first and the last of the latter.
pub(super) const DENSE_LEAST: u32 = 1024;
pub(super) const DENSE_MOST: u32 = DENSE_LEAST << (DENSE_SIZES - 1);
/// The first class that is none of these.
pub(super) const END: usize = DENSE + DENSE_SIZES;

/// The kernel for rows of A with one entry.
pub(super) const COPY: &str = "spgemm_numeric_copy";

/// The kernels of one class: rows of so many products or columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Thread(u32),
    Esc(u32),
    /// A block a row.
    Sort(u32),
    /// So many rows next to each other, all of them of so many products.
    Rows(u32, u32),
    Window(u32),
    /// A block a row.
    Dense(u32),
}

impl Kind {
    pub(super) fn of(class: usize) -> Option<Kind> {
        match class {
            THREAD..ESC => Some(Kind::Thread(16 << (class - THREAD))),
            ESC..SORT => Some(Kind::Esc(64 << (class - ESC))),
            SORT..WINDOW => Some(Kind::Sort(64 << (class - ESC))),
            WINDOW..DENSE => Some(Kind::Window(256 << (class - WINDOW))),
            DENSE..END => Some(Kind::Dense(DENSE_LEAST << (class - DENSE))),
            _ => None,
        }
    }
    fn width(self) -> u32 {
        match self {
            Kind::Thread(width) | Kind::Esc(width) | Kind::Sort(width) | Kind::Rows(width, _) => width,
            Kind::Window(width) | Kind::Dense(width) => width,
        }
    }
    fn templates(self) -> (Template, Template) {
        match self {
            Kind::Thread(_) => (Template::SpgemmThreadCount, Template::SpgemmThread),
            Kind::Esc(_) | Kind::Rows(..) => (Template::SpgemmEscCount, Template::SpgemmEsc),
            Kind::Sort(_) => (Template::SpgemmSortCount, Template::SpgemmSort),
            Kind::Window(_) => (Template::SpgemmWindowCount, Template::SpgemmWindow),
            Kind::Dense(_) => (Template::SpgemmBlockCount, Template::SpgemmBlock),
        }
    }
    /// Threads and shared bytes of a block, and the rows it works on at once.
    fn launch(self, spec: &Spec, tuning: &Tuning) -> (u32, u32, u64) {
        match self {
            Kind::Thread(width) => {
                let (block, shared) = thread_launch(spec, width, tuning).unwrap_or((32, 0));
                (block, shared, block as u64)
            }
            Kind::Esc(width) => {
                let (block, shared) = spec.esc_launch(width);
                (block, shared, block as u64 / 32)
            }
            Kind::Sort(width) => {
                let (block, shared) = spec.sort_launch(width);
                (block, shared, 1)
            }
            Kind::Rows(width, rows) => {
                let (block, shared) = spec.esc_launch(width);
                (block, shared, (block / 32 * rows) as u64)
            }
            Kind::Window(width) => {
                let bytes = spec.window_bytes(width);
                let warps = ((48 << 10) / bytes).clamp(1, tuning.window_block / 32);
                (32 * warps, warps * bytes, warps as u64)
            }
            Kind::Dense(width) => {
                let shape = spec.dense_shape(width);
                (shape.threads, spec.block_bytes(shape), 1)
            }
        }
    }
}

/// Launch shape of the kernels that give each thread a row; `None` where not even a warp has room.
pub(super) fn thread_launch(spec: &Spec, width: u32, tuning: &Tuning) -> Option<(u32, u32)> {
    spec.thread_launch(width, tuning.thread_bytes)
}

impl Job<'_> {
    /// Whether columns need wide keys in the kernels that give each thread a row.
    pub(super) fn is_wide(&self) -> bool {
        self.columns >= 1 << 26
    }
    /// The program for a class with these flags, and how to launch it: `numeric` or only to count.
    pub(super) fn short(&self, kind: Kind, numeric: bool, flags: &[&'static str]) -> (Program<'_>, u32, u32, u64) {
        let (count, sum) = kind.templates();
        let fill = |spec: Spec| {
            let spec = if numeric { self.with_semiring(spec) } else { self.walking(spec) };
            let spec = flags.iter().fold(spec, |spec, flag| spec.flag(flag, true));
            let sized = spec.clone().number("width", kind.width() as u64);
            match kind {
                Kind::Thread(_) => {
                    let spec = sized.flag("wide", self.is_wide());
                    let block = kind.launch(&spec, self.tuning).0;
                    spec.number("block", block as u64)
                }
                Kind::Rows(_, rows) => sized.number("rows", rows as u64),
                Kind::Dense(width) => {
                    let shape = spec.dense_shape(width);
                    spec.block(shape)
                }
                Kind::Window(_) if numeric => sized.flag("united", self.united),
                _ => sized,
            }
        };
        let program = Program::new(self.context, if numeric { sum } else { count }, fill);
        let (block, shared, rows) = kind.launch(&program.spec, self.tuning);
        (program, block, shared, rows)
    }
}

/// Where the tickets of a class's rows are counted, a place each for their sums and to count them.
fn dense_tickets(class: usize, numeric: bool) -> u32 {
    (DENSE_TICKETS + class - DENSE + if numeric { 0 } else { DENSE_SIZES }) as u32
}

impl Run<'_> {
    /// Those that have rows, of most work first: so the device is filled to the end. Before all a warp's windows, whose rows take
    /// longest and leave room for others beside them.
    pub(super) fn short_classes(&self) -> impl Iterator<Item = (usize, Kind, u64)> {
        let classes = (WINDOW..DENSE).rev().chain((DENSE..END).rev()).chain((THREAD..WINDOW).rev());
        classes.filter_map(|c| Some((c, Kind::of(c)?, self.listed.control[UNITS + c]))).filter(|c| c.2 > 0)
    }

    /// How many columns the rows have.
    pub(super) fn count_short_rows(&self, fork: &Fork) -> Result<()> {
        self.launch_short_rows(fork, None, false)
    }

    /// The rows, whole; `counted`: their lengths too.
    pub(super) fn short_rows(&self, fork: &Fork, to: &Rows, counted: bool) -> Result<()> {
        self.launch_short_rows(fork, Some(to), counted)
    }

    /// The program for a class's rows, and how to launch it: `numeric`, perhaps with their `lengths`, or only to count.
    pub(super) fn short_program(
        &self,
        kind: Kind,
        numeric: bool,
        lengths: bool,
    ) -> Result<(Program<'_>, u32, u32, u64)> {
        let mut flags = SmallVec::<[&'static str; 4]>::new();
        flags.extend(self.walked_by(kind, numeric)?.flags());
        // Rows on their way to their places have their sums as they are added.
        let differs = numeric && self.job.semiring.counted.is_some();
        flags.extend((lengths && (differs || matches!(kind, Kind::Dense(_)))).then_some("staged"));
        if let Kind::Dense(_) = kind {
            flags.extend(if numeric { None } else { self.job.row_bits()?.map(|_| "row_bits") });
        }
        Ok(self.job.short(kind, numeric, &flags))
    }

    /// How a class's kernels walk B's rows.
    fn walked_by(&self, kind: Kind, numeric: bool) -> Result<Walked<'_>> {
        if let Kind::Window(_) | Kind::Dense(_) = kind { self.job.walked(numeric) } else { Ok(Walked::default()) }
    }

    fn launch_short_rows(&self, fork: &Fork, to: Option<&Rows>, counted: bool) -> Result<()> {
        let (job, work, none) = (self.job, &self.listed.work, 0u64);
        let lengths = (counted || to.is_none()).then_some(&self.listed.c_offsets);
        for (class, kind, n) in self.short_classes() {
            let walked = self.walked_by(kind, to.is_some())?;
            let (program, block, shared, rows) = self.short_program(kind, to.is_some(), counted)?;
            let kernel = program.kernel(program.spec.template.name())?;
            let launch = kernel.launch(resident(&kernel, block, shared, n.div_ceil(rows))?, block, shared);
            let launch = match to {
                Some(_) => job.operands_by(launch, job.b.values, walked),
                None => job.patterns_by(launch, walked),
            };
            let (units, begin) = places(class);
            let launch = launch.arg(&work.control.buffer).arg(units).arg(begin);
            let launch = match (kind, to) {
                (Kind::Dense(_), None) => {
                    let launch = launch.arg(dense_tickets(class, false)).arg(&work.units).arg(&work.products);
                    let launch = launch.arg(&work.first).arg(&work.last).arg(lengths).arg(none).arg(none);
                    let launch = walked.arguments(launch.arg(0u32).arg(1u32));
                    RowBits::arguments(job.row_bits()?, walked.in_sets(), launch)
                }
                (Kind::Dense(_), Some(to)) => {
                    let launch = launch.arg(dense_tickets(class, true)).arg(&work.units).arg(&work.first);
                    let launch = launch.arg(&work.last).arg(to.offsets).arg(to.indices).arg(to.values).arg(none);
                    let launch = launch.arg(none).arg(none).arg(&work.products).arg(none).arg(none).arg(0u32);
                    walked.arguments(launch.arg(1u32)).arg(lengths).leaving(&Slate::UNTOLD)
                }
                (_, None) => {
                    let launch = launch.arg(&work.units).arg(&work.first).arg(&work.last).arg(lengths);
                    match kind {
                        Kind::Thread(_) => launch.arg(none).arg(none).arg(none).leaving(&Slate::UNTOLD),
                        Kind::Window(_) => walked.arguments(launch),
                        _ => launch,
                    }
                }
                (_, Some(to)) => {
                    let launch = launch.arg(&work.units).arg(&work.first).arg(&work.last).arg(to.offsets);
                    let launch = launch.arg(lengths).arg(to.indices).arg(to.values);
                    match kind {
                        Kind::Sort(_) => launch,
                        Kind::Window(_) => walked.arguments(launch),
                        Kind::Esc(_) => {
                            let launch = launch.arg(none).arg(none).arg(none).arg(none).arg(none);
                            launch.leaving(&Slate::UNTOLD)
                        }
                        _ => launch.arg(none).arg(none).arg(none).leaving(&Slate::UNTOLD),
                    }
                }
            };
            let stream = fork.next()?;
            // Lengths are found by the first pass, whichever it is.
            if lengths.is_some() {
                self.order(class, stream)?;
            }
            // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
            unsafe { launch.run_on(stream)? };
        }
        Ok(())
    }

    /// The program for rows of A with one entry, and how many there are, if any.
    pub(super) fn copying(&self) -> Option<(Program<'_>, u64)> {
        let n = self.listed.control[UNITS + CLASS_COPY];
        (n > 0).then(|| (self.job.numeric(0), n))
    }

    /// Rows of A with one entry.
    pub(super) fn copy_rows(&self, fork: &Fork, c: &Rows) -> Result<()> {
        let (job, Some((program, n))) = (self.job, self.copying()) else { return Ok(()) };
        let kernel = program.kernel(COPY)?;
        let block = job.tuning.copy_block;
        let launch = job
            .operands(kernel.launch(resident(&kernel, block, 0, n)?, block, 0))
            .arg(&self.listed.work.control.buffer);
        let (units, begin) = places(CLASS_COPY);
        let launch = launch.arg(units).arg(begin).arg(&self.listed.work.units);
        // SAFETY: as above.
        unsafe { launch.arg(c.offsets).arg(c.indices).arg(c.values).run_on(fork.next()?) }
    }

    /// How many classes have rows, by the lists from `at` on.
    pub(super) fn classes(&self, at: usize) -> usize {
        self.listed.control[at + CLASS_COPY..at + CLASS_COUNT].iter().filter(|n| **n > 0).count()
    }
}
