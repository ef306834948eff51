//! Rows of a class in such an order before blocks draw them one by one that no block is left alone with one of many products in the end.
//! For those with a sum a column alone: rows that are counted first would wait for it, which costs what it wins.
use super::run::Run;
use super::short::{DENSE, END, Kind};
use super::{LARGEST, UNITS, places};
use crate::backend::cuda::runtime::program::Program;
use crate::error::Result;
use cudarc::driver::sys::CUstream;
use oplus_codegen::Template;

impl Run<'_> {
    /// Blocks of so many threads that have room at once.
    fn at_once(&self, threads: u32) -> u64 {
        u64::from(self.job.context.properties().multiprocessors) * u64::from(1024 / threads.max(1))
    }

    /// Whether a class's rows are put in order: where there are more of them than blocks of so many threads have room
    /// at once, and the last could be one of many products.
    fn is_ordered(&self, class: usize, threads: u32) -> bool {
        let tuning = self.job.tuning;
        let (rows, largest) = (self.listed.control[UNITS + class], self.listed.control[LARGEST]);
        // Half of what a block may have: the kernel has counters there as well.
        let shared = self.job.context.properties().shared_per_block_optin / 2;
        let most = u64::from(shared / 4).min(tuning.heaviest_rows.into());
        largest > tuning.heaviest_products.into() && (self.at_once(threads) + 1..=most).contains(&rows)
    }

    fn program_of_order(&self) -> Program<'_> {
        Program::new(self.job.context, Template::SpgemmHeaviest, |s| s)
    }

    /// The program, if any class's rows are.
    pub(super) fn ordering(&self) -> Option<Program<'_>> {
        let is_ordered = |class: usize| {
            let threads = |kind| self.job.short(kind, true, &[]).1;
            self.listed.control[UNITS + class] > 0
                && Kind::of(class).is_some_and(|kind| self.is_ordered(class, threads(kind)))
        };
        (DENSE..END).any(is_ordered).then(|| self.program_of_order())
    }

    /// Puts the rows of a class, for blocks of so many threads, in order, if that is worth it.
    pub(super) fn order(&self, class: usize, threads: u32, stream: CUstream) -> Result<()> {
        if !self.is_ordered(class, threads) {
            return Ok(());
        }
        let (work, program, (units, begin)) = (&self.listed.work, self.program_of_order(), places(class));
        let bytes = 4 * self.listed.control[UNITS + class] as u32;
        let kernel = program.kernel(program.spec.template.name())?;
        let launch = kernel.launch(1u32, self.job.tuning.heaviest_threads, bytes).arg(&work.control.buffer);
        let launch = launch.arg(units).arg(begin).arg(&work.units).arg(&work.products);
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(self.at_once(threads) as u32).run_on(stream) }
    }
}
