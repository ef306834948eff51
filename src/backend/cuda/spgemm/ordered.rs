//! Products whose sums run in the order of k, as on the host: reproducible to the bit.
use super::whole::Whole;
use super::{BLOCK, CLASS_COUNT, Job, Made, SLICES, UNITS, mxm};
use crate::backend::cuda::product::Product;
use crate::backend::cuda::runtime::program::{Program, resident};
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::Result;
use crate::spgemm::Strategy;
use oplus_codegen::text::Atomic;
use oplus_codegen::{SemiringText, Template};

/// Rows of C of more entries than this get a block.
const WARP_ROWS: u32 = 256;

/// Whether sums have the same bits in any order.
pub(in crate::backend::cuda) fn is_exact(semiring: &SemiringText) -> bool {
    let native = !matches!(semiring.atomic, Atomic::None | Atomic::First);
    native && ["bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"].contains(&semiring.c.name)
}

/// T⟨M⟩ = A ⊕.⊗ B, each sum in the order of k.
pub(in crate::backend::cuda) fn mxm_ordered(product: &Product, strategy: Strategy) -> Result<Made> {
    if product.by_columns || is_exact(&product.semiring) || strategy.sums_in_order() {
        return mxm(product, strategy);
    }
    let job = Job { in_order: true, ..Job::new(product)? };
    if !job.tables_fit() {
        // Sorted, and summed in that order.
        return job.make(Strategy::EscGlobal);
    }
    let in_order = |whole: &Whole| matches!(whole, Whole::Thread(_) | Whole::Esc(..) | Whole::Hash);
    if let Some(made) = job.without_analysis(strategy, in_order)? {
        return Ok(made);
    }
    let ordered = job.is_ordered(strategy)?;
    let (pattern, values) = job.make(strategy)?;
    if ordered {
        return Ok((pattern, values));
    }
    drop(values);
    let values = job.in_order(&pattern)?;
    Ok((pattern, values))
}

/// The values of a product at its positions, each sum in the order of k.
pub(in crate::backend::cuda) fn values_in_order(product: &Product, c: &DevicePattern) -> Result<Buffer> {
    Job::new(product)?.in_order(c)
}

impl Job<'_> {
    /// Whether all rows are of classes that a thread or a warp sums in order. Rows of tables may spill into larger ones.
    fn is_ordered(&self, strategy: Strategy) -> Result<bool> {
        if !matches!(strategy, Strategy::Auto | Strategy::Hash) || self.whole(strategy).is_some() {
            return Ok(false);
        }
        let control = self.control(self.limits(strategy))?;
        Ok(control[SLICES] == 0 && control[UNITS + BLOCK..UNITS + CLASS_COUNT].iter().all(|n| *n == 0))
    }
    /// The mask needs no look: what it does not admit has no place in C.
    fn in_order(&self, c: &DevicePattern) -> Result<Buffer> {
        let (context, block) = (self.context, self.tuning.primitive_block);
        let values = Buffer::alloc(context, c.nnz.saturating_mul(self.semiring.c.size as u64))?;
        if c.nnz == 0 {
            return Ok(values);
        }
        let seen = Buffer::zeroed(context, c.nnz.div_ceil(32) * 4)?;
        let program = Program::new(context, Template::SpgemmOrdered, |s| {
            s.semiring(self.semiring.clone()).flag("mapped", self.ids.mapped())
        });
        for (name, rows) in [("spgemm_ordered_warps", u64::from(block) / 32), ("spgemm_ordered_blocks", 1)] {
            if rows == 1 && c.longest.is_some_and(|longest| longest <= u64::from(WARP_ROWS)) {
                continue;
            }
            let kernel = program.kernel(name)?;
            let launch = kernel.launch(resident(&kernel, block, 0, self.rows.div_ceil(rows))?, block, 0);
            let launch = launch.arg(&self.a.pattern.offsets).arg(&self.a.pattern.indices).arg(self.a.values);
            let launch = launch.arg(&self.b.pattern.offsets).arg(&self.b.pattern.indices).arg(self.b.values);
            let launch = launch.arg(self.columns).arg(self.ids.i.as_ref()).arg(self.ids.k.as_ref());
            let launch = launch.arg(self.ids.j.as_ref()).arg(self.rows).arg(WARP_ROWS).arg(&c.offsets);
            // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
            unsafe { launch.arg(&c.indices).arg(&seen).arg(&values).run()? };
        }
        Ok(values)
    }
}
