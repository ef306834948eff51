//! Rows of a class in such an order before blocks draw them one by one that no block is left alone with one of many products in the end.
//! For those with a sum a column alone: rows that are counted first would wait for it, which costs what it wins. Of these the lists
//! themselves (`spgemm_list_units`) have the few heaviest where blocks draw first.
use super::run::Run;
use super::short::{DENSE, END, Kind};
use super::{LARGEST, PRODUCTS, UNITS, places};
use crate::backend::cuda::runtime::lanes::CUstream;
use crate::backend::cuda::runtime::program::Program;
use crate::error::Result;
use oplus_codegen::Template;

impl Run<'_> {
    /// How many blocks draw the rows of a class at once to sum them, if these are put in order: where they are more than that, and
    /// the last could be one of many products.
    fn drawing(&self, class: usize) -> Option<u32> {
        let (tuning, properties) = (self.job.tuning, self.job.context.properties());
        let (rows, largest) = (self.listed.control[UNITS + class], self.listed.control[LARGEST]);
        let mean = self.listed.control[PRODUCTS] / self.job.rows.max(1);
        // Half of what a block may have: the kernel has counters there as well.
        let room = properties.shared_per_block_optin / 2 / 4;
        let even = largest <= mean.saturating_mul(tuning.heaviest_uneven.into());
        if even || largest <= tuning.heaviest_products.into() || rows > room.min(tuning.heaviest_rows).into() {
            return None;
        }
        let kind @ Kind::Dense(_) = Kind::of(class)? else { return None };
        // Of threads as spgemm_block is compiled for.
        let (_, threads, _, _) = self.job.short(kind, true, &[]);
        let blocks = properties.multiprocessors * (1024 / threads);
        (rows > blocks.into()).then_some(blocks)
    }

    fn program_of_order(&self) -> Program<'_> {
        Program::new(self.job.context, Template::SpgemmHeaviest, |s| s)
    }

    /// The program, if any class's rows are.
    pub(super) fn ordering(&self) -> Option<Program<'_>> {
        (DENSE..END).any(|class| self.drawing(class).is_some()).then(|| self.program_of_order())
    }

    /// Puts the rows of a class in order, if that is worth it.
    pub(super) fn order(&self, class: usize, stream: CUstream) -> Result<()> {
        let Some(blocks) = self.drawing(class) else { return Ok(()) };
        let (work, program, (units, begin)) = (&self.listed.work, self.program_of_order(), places(class));
        let bytes = 4 * self.listed.control[UNITS + class] as u32;
        let kernel = program.kernel(program.spec.template.name())?;
        let launch = kernel.launch(1u32, self.job.tuning.heaviest_threads, bytes).arg(&work.control.buffer);
        let launch = launch.arg(units).arg(begin).arg(&work.units).arg(&work.products);
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(blocks).run_on(stream) }
    }
}
