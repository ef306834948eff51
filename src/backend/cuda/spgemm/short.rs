//! Rows of few products or few columns: whole rows by a thread or a warp, in one pass or counted first.
use super::run::Run;
use super::{CLASS_COPY, CLASS_COUNT, Job, Rows, THREAD, UNITS, places};
use crate::backend::cuda::lanes::Fork;
use crate::backend::cuda::program::{Program, resident};
use crate::backend::cuda::report::Slate;
use crate::error::Result;
use oplus_codegen::{Spec, Template, Tuning};

/// First of the classes by products that a warp sorts, of those that a block does, and of those by columns in a warp's window.
const ESC: usize = THREAD + 2;
const SORT: usize = ESC + 4;
const WINDOW: usize = ESC + 7;
/// The first class that is none of these.
pub(super) const END: usize = WINDOW + 5;

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
}

impl Kind {
    pub(super) fn of(class: usize) -> Option<Kind> {
        match class {
            THREAD..ESC => Some(Kind::Thread(16 << (class - THREAD))),
            ESC..SORT => Some(Kind::Esc(64 << (class - ESC))),
            SORT..WINDOW => Some(Kind::Sort(64 << (class - ESC))),
            WINDOW..END => Some(Kind::Window(256 << (class - WINDOW))),
            _ => None,
        }
    }
    fn width(self) -> u32 {
        match self {
            Kind::Thread(width) | Kind::Esc(width) | Kind::Sort(width) | Kind::Rows(width, _) | Kind::Window(width) => {
                width
            }
        }
    }
    fn templates(self) -> (Template, Template) {
        match self {
            Kind::Thread(_) => (Template::SpgemmThreadCount, Template::SpgemmThread),
            Kind::Esc(_) | Kind::Rows(..) => (Template::SpgemmEscCount, Template::SpgemmEsc),
            Kind::Sort(_) => (Template::SpgemmSortCount, Template::SpgemmSort),
            Kind::Window(_) => (Template::SpgemmWindowCount, Template::SpgemmWindow),
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
    /// The program for a class, and how to launch it: `numeric` or only to count.
    pub(super) fn short(&self, kind: Kind, numeric: bool, whole: bool) -> (Program<'_>, u32, u32, u64) {
        let (count, sum) = kind.templates();
        let fill = |spec: Spec| {
            let spec = spec.number("width", kind.width() as u64);
            let spec = if let Kind::Rows(_, rows) = kind { spec.number("rows", rows as u64) } else { spec };
            let spec = if numeric { self.with_semiring(spec) } else { self.walking(spec) };
            let spec = if whole { spec.flag("whole", true) } else { spec };
            if !matches!(kind, Kind::Thread(_)) {
                return spec;
            }
            let spec = spec.flag("wide", self.is_wide());
            let block = kind.launch(&spec, self.tuning).0;
            spec.number("block", block as u64)
        };
        let program = Program::new(self.context, if numeric { sum } else { count }, fill);
        let (block, shared, rows) = kind.launch(&program.spec, self.tuning);
        (program, block, shared, rows)
    }
}

impl Run<'_> {
    fn short_classes(&self) -> impl Iterator<Item = (usize, Kind, u64)> {
        (THREAD..END).filter_map(|c| Some((c, Kind::of(c)?, self.listed.control[UNITS + c]))).filter(|c| c.2 > 0)
    }

    /// How many columns the rows have.
    pub(super) fn count_short_rows(&self, fork: &Fork) -> Result<()> {
        let (job, work) = (self.job, &self.listed.work);
        for (class, kind, n) in self.short_classes() {
            let (program, block, shared, rows) = job.short(kind, false, false);
            let kernel = program.kernel(program.spec.template.name())?;
            let grid = resident(&kernel, block, shared, n.div_ceil(rows))?;
            let (units, begin) = places(class);
            let launch =
                job.patterns(kernel.launch(grid, block, shared)).arg(&work.control.buffer).arg(units).arg(begin);
            let launch = launch.arg(&work.units).arg(&work.first).arg(&work.last).arg(&self.listed.c_offsets);
            let launch = if let Kind::Thread(_) = kind { launch.arg(0u64).arg(0u64).arg(0u64) } else { launch };
            // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
            unsafe { launch.run_on(fork.next()?)? };
        }
        Ok(())
    }

    /// The rows, whole; `counted`: their lengths too.
    pub(super) fn short_rows(&self, fork: &Fork, to: &Rows, counted: bool) -> Result<()> {
        let (job, work) = (self.job, &self.listed.work);
        for (class, kind, n) in self.short_classes() {
            let (program, block, shared, rows) = job.short(kind, true, false);
            let kernel = program.kernel(program.spec.template.name())?;
            let grid = resident(&kernel, block, shared, n.div_ceil(rows))?;
            let (units, begin) = places(class);
            let launch =
                job.operands(kernel.launch(grid, block, shared)).arg(&work.control.buffer).arg(units).arg(begin);
            let launch = launch.arg(&work.units).arg(&work.first).arg(&work.last).arg(to.offsets);
            let launch = launch.arg(counted.then_some(&self.listed.c_offsets)).arg(to.indices).arg(to.values);
            let lists_only = matches!(kind, Kind::Window(_) | Kind::Sort(_));
            let launch = if lists_only { launch } else { launch.arg(0u64).arg(0u64).arg(0u64).leaving(&Slate::UNTOLD) };
            // SAFETY: as above.
            unsafe { launch.run_on(fork.next()?)? };
        }
        Ok(())
    }

    /// Rows of A with one entry.
    pub(super) fn copy_rows(&self, fork: &Fork, c: &Rows) -> Result<()> {
        let (job, n) = (self.job, self.listed.control[UNITS + CLASS_COPY]);
        if n == 0 {
            return Ok(());
        }
        let program = job.numeric(0);
        let kernel = program.kernel("spgemm_numeric_copy")?;
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
