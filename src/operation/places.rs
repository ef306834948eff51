//! Positions as index operators see them: in i64.
use crate::algebra::{IndexUnaryOp, OperatorText, Scalar};
use crate::backend::Positions;
use crate::error::{Error, Result};
use crate::storage::axis::Axis;
use crate::storage::store::Store;

/// What i64 has no numbers for.
const LIMIT: u64 = 1 << 63;

/// Whether a matrix of this shape may have indices that are no i64: nothing is fused then, each operator looks for itself.
pub(super) fn too_long((nrows, ncols): (u64, u64)) -> bool {
    nrows.max(ncols) > LIMIT
}

/// Whether an axis has a place for such an index.
pub(super) fn reaches_beyond(axis: &Axis) -> bool {
    last(axis).is_some_and(|index| index >= LIMIT)
}

fn last(axis: &Axis) -> Option<u64> {
    axis.places().checked_sub(1).map(|place| axis.id(place))
}

/// Where the entries of A are, for F: those of the indices that it looks at must be i64s.
pub(super) fn positions<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
    operation: &'static str,
    a: &Store<A>,
) -> Result<Positions> {
    seen_by(operation, &a.rows, &a.cols, &F::TEXT)
}

/// The same of an operator by its text: compiled once.
fn seen_by(operation: &'static str, rows: &Axis, cols: &Axis, text: &OperatorText) -> Result<Positions> {
    for (n, what, axis) in [(1, "row", rows), (2, "column", cols)] {
        if let Some(value) = last(axis).filter(|index| text.reads(n) && *index >= LIMIT) {
            let (value, limit) = (value.into(), (LIMIT - 1).into());
            return Err(Error::IndexOverflow { operation, what, value, limit });
        }
    }
    Ok(Positions { i: rows.ids(), k: None, j: cols.ids() })
}
