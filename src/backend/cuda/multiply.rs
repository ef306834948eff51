//! Products on the GPU: what of an operand is read, then each step's own way; and plans.
use super::mxv::explain::explain;
use super::mxv::{full, spmspv, spmv};
use super::product::Product;
use super::spgemm::fused::{self, After, Then};
use super::spgemm::{by_bits, chunks};
use super::stand_in::of_positions;
use super::storage::turned::by_columns;
use super::storage::values::{Read, Values};
use super::{Buffer, Cuda, DeviceCsr, DevicePattern, spgemm};
use crate::backend::ring::Step;
use crate::backend::{Backend, MaskBody, MaskOn, MxmOptions, Positions};
use crate::error::{Error, Result};
use crate::spgemm::{Analysis, Strategy};
use oplus_codegen::text::ScalarText;
use oplus_codegen::{FunctionText, SemiringText, Shared};
use std::sync::Arc;

type Mask = MaskOn<Arc<DevicePattern>>;

/// An operand; what is multiplied once is multiplied again.
fn factor(a: &DeviceCsr<()>, reads: bool) -> Result<Read<'_>> {
    if reads { a.read_again() } else { a.blank() }
}

/// The positions of a product and what its values are computed by.
#[derive(Clone, Debug)]
pub(crate) struct DevicePlan {
    pub(crate) pattern: Arc<DevicePattern>,
    by: By,
    /// By dot products, with B's columns.
    dots: bool,
}

/// How a plan's values are computed.
#[derive(Clone, Debug)]
enum By {
    Products(Arc<spgemm::Prepared>),
    /// Rows or columns of this side are read whole.
    Whole(full::Side),
}

impl Cuda {
    /// What `work` makes of a product of matrices: by dot products under the mask where that was asked for or is clearly the least work.
    fn of_matrices<R>(
        &self,
        semiring: Shared<SemiringText>,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
        work: impl Fn(&Product) -> Result<R>,
    ) -> Result<R> {
        if spgemm::by_dots(&self.context, (&a.pattern, &b.pattern), mask, options)? {
            match self.of_dots(semiring.clone(), a, b, mask, at, options, &work) {
                // Nobody asked for it, and columns of B may be what there was no room for.
                Err(Error::OutOfMemory { .. }) if options.strategy == Strategy::Auto => {}
                made => return made,
            }
        }
        self.of_rows(semiring, a, b, mask, at, options, work)
    }
    /// What `work` makes of a product of matrices by rows: where there is no room for A's one value at every entry at once, by chunks.
    fn of_rows<R>(
        &self,
        semiring: Shared<SemiringText>,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
        work: impl Fn(&Product) -> Result<R>,
    ) -> Result<R> {
        let reads = semiring.reads.a;
        let made = self.of(Step::Mxm, semiring.clone(), a, b, mask, at, options, &work);
        let (Err(Error::OutOfMemory { .. }), Some(one)) = (&made, a.unwritten().filter(|_| reads)) else { return made };
        let a = DeviceCsr::on(a.pattern.clone(), Buffer::alloc(&self.context, 0)?);
        let by_chunks = |product: &Product| work(&Product { unwritten: Some(one), ..product.clone() });
        self.of(Step::Mxm, semiring, &a, b, mask, at, options, by_chunks)
    }
    /// What `work` makes of a product of matrices with B's columns.
    fn of_dots<R>(
        &self,
        semiring: Shared<SemiringText>,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
        work: impl FnOnce(&Product) -> Result<R>,
    ) -> Result<R> {
        let (context, a, b) = (&self.context, factor(a, semiring.reads.a)?, factor(b, semiring.reads.b)?);
        let (a, b) = (a.operand(), b.operand());
        let columns;
        let b = if options.transposed_b {
            b
        } else {
            columns = by_columns(b, semiring.b, semiring.reads.b)?;
            columns.operand()
        };
        work(&Product { context, semiring, a, b, by_columns: true, mask, bits: None, at, unwritten: None })
    }
    /// What `work` makes of a product, B turned where that was asked for.
    fn of<R>(
        &self,
        step: Step,
        semiring: Shared<SemiringText>,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
        work: impl FnOnce(&Product) -> Result<R>,
    ) -> Result<R> {
        let turned = if options.transposed_b { Some(b.transposed(semiring.b)?) } else { None };
        let b = turned.as_ref().unwrap_or(b);
        let (reads_a, reads_b) = (semiring.reads.a, semiring.reads.b);
        let (a, b) = match step {
            Step::Mxm => (factor(a, reads_a)?, factor(b, reads_b)?),
            // Vectors are put where their places are, values and all.
            Step::Mxv => (factor(a, reads_a)?, factor(b, true)?),
            Step::Vxm => (factor(a, true)?, factor(b, reads_b)?),
        };
        let (context, a, b) = (&self.context, a.operand(), b.operand());
        work(&Product { context, semiring, a, b, by_columns: false, mask, bits: None, at, unwritten: None })
    }
    /// A product by the semiring that the text describes.
    pub(crate) fn multiply(
        &self,
        step: Step,
        text: Shared<SemiringText>,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<DeviceCsr<()>> {
        let known = |made: (DevicePattern, Buffer)| (Arc::new(made.0), made.1);
        let (pattern, values) = match step {
            Step::Mxm => {
                let made = |product: &Product| match full::mxm(product, options, (&a.pattern, &b.pattern))? {
                    Some(made) => Ok(made),
                    None => chunks::mxm(product, options).map(known),
                };
                self.of_matrices(text, a, b, mask, at, options, made)?
            }
            Step::Mxv => self.of(step, text, a, b, mask, at, options, |product| match options.reproducible {
                true => chunks::mxv_ordered(product, options).map(known),
                false => spmv::mxv(product),
            })?,
            Step::Vxm => self.of(step, text, a, b, mask, at, options, |product| match options.reproducible {
                true => chunks::mxm(product, options).map(known),
                false => spmspv::vxm(product),
            })?,
        };
        Ok(DeviceCsr::on(pattern, values))
    }
    /// The same with a mask wherever it is: that of a product with a vector is looked up, and nobody lists its bits.
    pub(crate) fn multiply_masked(
        &self,
        step: Step,
        text: Shared<SemiringText>,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&MaskBody>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<DeviceCsr<()>> {
        let (bits, by): (_, fn(&Product) -> _) = match (step, mask) {
            (Step::Mxv, Some(MaskBody::CudaBits(bits, _))) if !options.reproducible => (bits, spmv::mxv),
            (Step::Vxm, Some(MaskBody::CudaBits(bits, _))) if !options.reproducible => (bits, spmspv::vxm),
            _ => return self.multiply(step, text, a, b, self.mask(mask)?, at, options),
        };
        let masked = |product: &Product| by(&Product { bits: Some(bits), ..product.clone() });
        let (pattern, values) = self.of(step, text, a, b, None, at, options, masked)?;
        Ok(DeviceCsr::on(pattern, values))
    }
    /// A product of matrices all of whose sums are this value, by its positions.
    pub(crate) fn multiply_iso(
        &self,
        (scalar, value): (ScalarText, &[u8]),
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&MaskBody>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<DeviceCsr<()>> {
        if by_bits::suits(&a.pattern, &b.pattern, mask, options) {
            match by_bits::positions(&a.pattern, &b.pattern, mask) {
                // By rows there may be room.
                Err(Error::OutOfMemory { .. }) => {}
                made => return Ok(DeviceCsr::with(Arc::new(made?), Values::of_all(scalar, value)?)),
            }
        }
        let mask = self.mask(mask)?;
        let positions = |product: &Product| match full::mxm(product, options, (&a.pattern, &b.pattern))? {
            Some(made) => Ok(made.0),
            None => Ok(Arc::new(chunks::mxm(product, options)?.0)),
        };
        let pattern = self.of_matrices(of_positions(), a, b, mask, at, options, positions)?;
        Ok(DeviceCsr::with(pattern, Values::of_all(scalar, value)?))
    }
    /// What `then` makes of a product of matrices, whose result has values of `size` bytes: of some rows before the next where the
    /// product is large. `one` is the value of all its entries, where that is known before.
    pub(crate) fn multiply_then(
        &self,
        text: Shared<SemiringText>,
        one: Option<&[u8]>,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
        (size, then): (usize, &Then),
    ) -> Result<DeviceCsr<()>> {
        let one = one.map(|value| Values::of_all(text.written(), value)).transpose()?;
        let text = if one.is_some() { of_positions() } else { text };
        let after = After { one, size, then };
        let owned = (&a.pattern, &b.pattern);
        self.of_matrices(text, a, b, mask, at, options, |product| fused::mxm_then(product, options, owned, &after))
    }
    /// What [`multiply`](Self::multiply) will do, or where all sums are the same value [`multiply_iso`](Self::multiply_iso).
    pub(crate) fn explain(
        &self,
        step: Step,
        (text, iso): (Shared<SemiringText>, bool),
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&MaskBody>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<Analysis> {
        let bits = iso && by_bits::suits(&a.pattern, &b.pattern, mask, options);
        let mask = self.mask(mask)?;
        let dots =
            matches!(step, Step::Mxm) && spgemm::by_dots(&self.context, (&a.pattern, &b.pattern), mask, options)?;
        let mut analysis = self.of(step, text, a, b, mask, at, options, |product| match step {
            Step::Mxm => spgemm::explain(product, options, dots.then_some(options.transposed_b), true),
            Step::Mxv if options.reproducible => chunks::explain_mxv_ordered(product, options),
            Step::Vxm if options.reproducible => spgemm::explain(product, options, None, false),
            Step::Mxv | Step::Vxm => explain(product, step, options),
        })?;
        if bits {
            by_bits::explain(&a.pattern, &b.pattern, &mut analysis);
        }
        Ok(analysis)
    }
    /// ⊕ᵢⱼ (A ⊕.⊗ B)⟨M⟩ by a monoid without storing the product: the bytes of the sums of some
    /// rows each, which together are all; none where there is no product.
    pub(crate) fn multiply_and_reduce(
        &self,
        text: Shared<SemiringText>,
        reduce: Shared<FunctionText>,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<Vec<Vec<u8>>> {
        self.of_matrices(text, a, b, mask, at, options, |product| chunks::mxm_reduce(product, &reduce))
    }
    /// What is known of a product of matrices before values are.
    pub(crate) fn plan(
        &self,
        text: Shared<SemiringText>,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<DevicePlan> {
        let prepare = |product: &Product| {
            let dots = product.by_columns;
            if let Some((pattern, side)) = full::planned(product, options, (&a.pattern, &b.pattern))? {
                return Ok(DevicePlan { pattern, by: By::Whole(side), dots });
            }
            let (prepared, pattern) = spgemm::prepare(product, options)?;
            Ok(DevicePlan { pattern: Arc::new(pattern), by: By::Products(Arc::new(prepared)), dots })
        };
        self.of_matrices(text, a, b, mask, at, options, prepare)
    }
    /// The product, by its plan.
    pub(crate) fn run_plan(
        &self,
        plan: &DevicePlan,
        text: Shared<SemiringText>,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<DeviceCsr<()>> {
        let values = |product: &Product| match &plan.by {
            By::Products(prepared) => prepared.values(product, &plan.pattern),
            By::Whole(side) => match full::values(product, *side, options)? {
                Some(values) => Ok(values),
                None => spgemm::values_by_chunks(product, options, &plan.pattern),
            },
        };
        let of_rows = |text| self.of_rows(text, a, b, mask, at, options, values);
        let values = match plan.dots {
            false => of_rows(text)?,
            true => match self.of_dots(text.clone(), a, b, mask, at, options, values) {
                Err(Error::OutOfMemory { .. }) if options.strategy == Strategy::Auto => of_rows(text)?,
                made => made?,
            },
        };
        Ok(DeviceCsr::on(plan.pattern.clone(), values))
    }
}
