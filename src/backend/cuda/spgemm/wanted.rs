//! The kernels that a product will need once its rows are classed, to be compiled side by side.
use super::analysis;
use super::run::Run;
use super::tables::LISTING_SUMS;
use super::{BLOCK_SIZES, TABLES};
use crate::backend::cuda::runtime::ahead::Wanted;
use crate::backend::cuda::runtime::program::{Program, scan_u64, scanning};

/// What a program calls its only kernel.
fn only(program: &Program<'_>) -> Wanted {
    program.wanted(program.spec.template.name())
}

impl Run<'_> {
    /// Those of the counting pass, if that is to come, and those that are sure to follow: the more work a kernel has, the sooner it
    /// stands here. `staged`: rows of few products are made while others are counted. Which tables have rows in the end, and how
    /// many, is known when rows are counted; rows are moved together but where there was no room to spare.
    pub(super) fn wanted(&self, counting: bool, staged: bool) -> Vec<Wanted> {
        let mut all = Vec::new();
        let passes = if counting { &[true, false][..] } else { &[true] };
        for numeric in passes {
            for size in (0..BLOCK_SIZES).rev() {
                // What fails here fails when it is launched.
                let block = self.block_program(size, *numeric).ok().flatten();
                all.extend(block.map(|block| only(&block.program)));
            }
        }
        let tables = (0..TABLES).filter_map(|t| self.table_of_sums(t));
        let counted = (0..TABLES).filter(|_| counting).filter_map(|t| self.table_to_count(t));
        all.extend(tables.chain(counted).map(|table| table.program.wanted(table.kernel)));
        // Rows whole, or first their lengths.
        let short = match (counting, staged) {
            (true, true) => &[(true, true)][..],
            (true, false) => &[(true, false), (false, false)],
            (false, true) => &[],
            (false, false) => &[(true, false)],
        };
        for (numeric, lengths) in short {
            let programs = self.short_classes().map(|(_, kind, _)| self.short_program(kind, *numeric, *lengths));
            all.extend(programs.flatten().map(|made| only(&made.0)));
        }
        all.extend(self.copying().map(|(program, _)| program.wanted(super::short::COPY)));
        all.extend(self.compacting().filter(|_| staged).map(|(program, _)| only(&program)));
        if counting {
            all.extend(self.ordering().map(|program| only(&program)));
            all.push(scanning(self.job.context, scan_u64));
            if self.listed.parts_room > 0 {
                let analysis = analysis::program(self.job, false);
                all.extend(LISTING_SUMS.map(|name| analysis.wanted(name)));
            }
        }
        all
    }
}
