//! B's rows packed, each in one place, for products whose rows of A name them in no order.
use super::Job;
use crate::backend::cuda::Buffer;
use crate::backend::cuda::entries::movable;
use crate::backend::cuda::runtime::program::Program;
use crate::error::Result;
use oplus_codegen::Template;

/// Entries of a packed row at most.
pub(super) const PACKED: u32 = 2;
/// Packing pays where each row of B is named so often.
const USES: u64 = 8;

impl Job<'_> {
    /// Whether rows of B are few entries each, and named often enough that packing them is little work.
    pub(super) fn may_be_packed(&self) -> bool {
        let (b, size) = (self.b.pattern, self.semiring.b.size);
        b.longest.is_some_and(|longest| longest <= u64::from(PACKED))
            && self.a.pattern.nnz >= USES * b.nrows as u64
            && (!self.semiring.reads.b || [1, 2, 4, 8].contains(&size))
    }

    /// B's rows, packed.
    pub(super) fn packed(&self) -> Result<Buffer> {
        let (b, block, valued) = (self.b.pattern, self.tuning.primitive_block, self.semiring.reads.b);
        let (rows, value) = (b.nrows as u64, movable(self.semiring.b));
        // As the kernel's struct is laid out: values and columns, in multiples of 16 bytes.
        let bytes = u64::from(PACKED) * (4 + if valued { value.size as u64 } else { 0 });
        let packed = Buffer::alloc(self.context, rows * if valued { bytes.next_multiple_of(16) } else { bytes })?;
        let program = Program::new(self.context, Template::PackRows, |s| {
            s.scalar("V", value).flag("valued", valued).number("packed", PACKED.into())
        });
        let kernel = program.kernel(program.spec.template.name())?;
        let launch = kernel.launch(rows.div_ceil(u64::from(block)), block, 0).arg(rows).arg(&b.offsets);
        // SAFETY: parameters as codegen/templates/README.md lists them; a packed row for each of B.
        unsafe { launch.arg(&b.indices).arg(self.b.values).arg(&packed).run()? };
        Ok(packed)
    }
}
