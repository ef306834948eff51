//! The oracle within a limit: a row at a time, counted first and then appended to arrays of their size.
use super::{Reference, id, mxm};
use crate::algebra::Scalar;
use crate::backend::host::HostCsr;
use crate::backend::ring::Operators;
use crate::backend::{Backend, MaskOn, MxmOptions, Positions};
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::pattern::Pattern;
use std::sync::Arc;

const NAME: &str = "mxm";
/// Bytes of an entry in an ordered map, in vectors that grow by doubling and in its row, beside its value.
const ENTRY: u64 = 128;
/// Bytes of a row without entries.
const ROW: u64 = 1 << 10;

fn check(limit: u64, needed: u64) -> Result<()> {
    if needed <= limit {
        return Ok(());
    }
    Err(Error::OutOfMemory { operation: NAME, device: "host".into(), needed, available: Some(limit) })
}

/// T⟨M⟩ = A ⊕.⊗ B; workspace and result take at most `limit` bytes at once.
pub(super) fn within<A: Scalar, B: Scalar, C: Scalar>(
    mut limit: u64,
    operators: &Operators<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: Option<&MaskOn<Arc<Pattern>>>,
    at: &Positions,
    transposed_b: bool,
) -> Result<HostCsr<C>> {
    let mut turned = None;
    if transposed_b {
        let (entries, rows) = (b.pattern.nnz() as u64, b.pattern.ncols as u64);
        let kept = entries * (4 + size_of::<B>() as u64) + 8 * (rows + 1);
        check(limit, kept + entries * (ENTRY + 3 * size_of::<B>() as u64) + rows * ROW)?;
        turned = Some(Reference.transpose(b)?);
        limit -= kept;
    }
    let (b, value) = (turned.as_ref().unwrap_or(b), size_of::<C>() as u64);
    let products = |i: usize| a.pattern.row(i).iter().map(|k| b.pattern.range(*k as usize).len() as u64).sum::<u64>();
    let row_bytes = |i: usize| {
        let operand = a.pattern.range(i).len() as u64 * (4 + size_of::<A>() as u64);
        let masked = mask.map_or(0, |m| 4 * m.pattern.range(i).len() as u64);
        ROW + operand + masked + products(i).min(b.pattern.ncols as u64) * (ENTRY + 4 * value)
    };
    let largest = (0..a.pattern.nrows).map(row_bytes).max().unwrap_or(0);
    let offsets_bytes = 8 * (a.pattern.nrows as u64 + 1);
    check(limit, offsets_bytes + largest)?;
    let options = MxmOptions::default();
    let row = |i: usize| {
        let (columns, values) = a.row(i);
        let single = |columns: &[u32], ncols| -> Result<Pattern> {
            let (offsets, indices) = (vec![0, columns.len() as u64], memory::copied(NAME, columns)?);
            Ok(Pattern::new(1, ncols, offsets, indices))
        };
        let a = HostCsr::new(single(columns, a.pattern.ncols)?, memory::copied(NAME, values)?);
        let mask = match mask {
            None => None,
            Some(m) => {
                let pattern = Arc::new(single(m.pattern.row(i), m.pattern.ncols)?);
                Some(MaskOn { pattern, complement: m.complement })
            }
        };
        let at = Positions { i: Some(Arc::new(vec![id(&at.i, i)])), ..at.clone() };
        mxm(operators, &a, b, mask.as_ref(), &at, &options)
    };
    let mut offsets = memory::filled(NAME, a.pattern.nrows + 1, 0u64)?;
    for i in 0..a.pattern.nrows {
        offsets[i + 1] = offsets[i] + row(i)?.pattern.nnz() as u64;
    }
    let nnz = offsets[a.pattern.nrows];
    check(limit, offsets_bytes.saturating_add(nnz.saturating_mul(4 + value)).saturating_add(largest))?;
    let room = usize::try_from(nnz).unwrap_or(usize::MAX);
    let (mut indices, mut values) = (memory::with_capacity(NAME, room)?, memory::with_capacity(NAME, room)?);
    for i in 0..a.pattern.nrows {
        let made = row(i)?;
        indices.extend_from_slice(&made.pattern.indices);
        values.extend_from_slice(&made.values);
    }
    let pattern = Pattern::new(a.pattern.nrows, b.pattern.ncols, offsets, indices);
    Ok(HostCsr::new(pattern, values))
}
