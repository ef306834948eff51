//! A product under a mask as a value and a bit for each entry of the mask: what is made of it.
use super::Made;
use super::reduce::Parts;
use crate::backend::cuda::entries::{Marks, compact, movable, structures};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::ahead::Wanted;
use crate::backend::cuda::runtime::program::{Program, scan_bits, scanning, tuning};
use crate::backend::cuda::storage::device_csr::DevicePattern;
use crate::backend::cuda::{Buffer, Context};
use crate::error::Result;
use oplus_codegen::text::ScalarText;
use oplus_codegen::{FunctionText, SemiringText, Shared, Template};
use std::sync::Arc;

/// Which of a mask's entries have a value, and these.
pub(super) struct Found<'a> {
    pub(super) mask: &'a DevicePattern,
    pub(super) marks: Marks,
    pub(super) values: Buffer,
}

impl<'a> Found<'a> {
    /// Room for all of them, which `marks` is for too.
    pub(super) fn room(mask: &'a DevicePattern, marks: Marks, size: usize) -> Result<Self> {
        let values = Buffer::alloc(marks.words.context(), mask.nnz.saturating_mul(size as u64))?;
        Ok(Self { mask, marks, values })
    }

    /// The kernels that put them together.
    pub(super) fn putting_together(context: &Arc<Context>, scalar: ScalarText) -> Vec<Wanted> {
        let entries = Program::new(context, Template::Entries, |s| s.scalar("V", movable(scalar)));
        let entries = entries.wanted("entries_compact");
        vec![scanning(context, scan_bits), structures(context).wanted("rank_offsets"), entries]
    }

    /// A matrix of them.
    pub(super) fn made(self, context: &Arc<Context>, scalar: ScalarText) -> Result<Made> {
        let Self { mask, marks, values } = self;
        let nnz = marks.ranked()?;
        if nnz == mask.nnz {
            let (offsets, indices) = (mask.offsets.duplicate()?, mask.indices.duplicate()?);
            let pattern = DevicePattern::new((mask.nrows, mask.ncols), nnz, offsets, indices);
            return Ok((
                if let Some(longest) = mask.longest { pattern.with_longest(longest) } else { pattern },
                values,
            ));
        }
        if scalar.size > 0 {
            return compact(scalar, Operand { pattern: mask, values: &values }, &marks, nnz);
        }
        // Positions alone: a byte for each stands for what is moved.
        const BYTE: ScalarText = ScalarText { name: "u8", definition: "", size: 1 };
        let bytes = Buffer::zeroed(context, mask.nnz)?;
        Ok((compact(BYTE, Operand { pattern: mask, values: &bytes }, &marks, nnz)?.0, values))
    }

    /// The program that adds them up.
    pub(super) fn adding<'c>(
        context: &'c Arc<Context>,
        semiring: &Shared<SemiringText>,
        reduce: Shared<FunctionText>,
    ) -> Program<'c> {
        Program::new(context, Template::SpgemmReduce, |s| {
            s.semiring(semiring.clone()).function(reduce).number("kernels", 1)
        })
    }

    /// Their sum, where they are.
    pub(super) fn reduced(self, program: &Program, size: usize) -> Result<Option<Vec<u8>>> {
        let (context, n) = (program.context, self.mask.nnz);
        let (block, size) = (tuning(context).reduce_block, size as u64);
        let parts = Parts::room(context, n.div_ceil(u64::from(block * tuning(context).marked_share)), size)?;
        let kernel = program.kernel("spgemm_reduce_marked")?;
        let launch = kernel.launch(parts.blocks, block, 0).arg(n).arg(&self.marks.words).arg(&self.values);
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(&parts.has).arg(&parts.values).run()? };
        parts.last(program, size)
    }
}
