//! What a product with a vector will do.
use super::spmspv::{self, Way};
use crate::backend::cuda::product::Product;
use crate::backend::ring::Step;
use crate::backend::{MaskOn, MxmOptions, cpu};
use crate::error::Result;
use crate::spgemm::Analysis;
use std::sync::Arc;

/// What `mxv` or `vxm` will do. Products are counted on the host: nothing here needs more than one look at the positions.
pub(crate) fn explain(product: &Product, step: Step, options: &MxmOptions) -> Result<Analysis> {
    let size = product.semiring.c.size;
    if product.is_empty() {
        let reason = "an operand has no entries, and neither has the result".into();
        return Ok(Analysis { strategy: "empty", reason, ..Analysis::default() }.sized(1, size));
    }
    let mask = match product.mask {
        Some(m) => Some(MaskOn { pattern: Arc::new(m.pattern.download()?), complement: m.complement }),
        None => None,
    };
    let operands = (&product.a.pattern.download()?, &product.b.pattern.download()?);
    let usual = cpu::explain_vector(product.context.device(), step, operands, mask.as_ref(), size, false)?;
    if !matches!(step, Step::Vxm) {
        return Ok(usual);
    }
    let columns = |are: &str| {
        let reason =
            format!("x has an entry at every place, and the columns of the matrix {are}: a dot product for each");
        Analysis { strategy: "columns", reason, ..usual.clone() }
    };
    Ok(match spmspv::way(product, options.memory_limit.is_some()) {
        Way::Columns => columns("are kept"),
        Way::ColumnsNow => columns("are kept, or made now if there is room"),
        Way::Few(room) => {
            let reason =
                "few products for so many columns: one block makes, sorts and sums them; pushed should they be more";
            let workspace = room.most.saturating_mul(4 + room.size);
            Analysis { strategy: "few", reason: reason.into(), workspace, ..usual }
        }
        Way::Push => usual,
    })
}
