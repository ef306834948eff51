//! Operators that keep of each row the entries before some column, or those from one on.
use crate::algebra::scalar::as_bytes;
use crate::algebra::{ColGt, ColLe, IndexUnaryOp, RowGt, RowLe, Scalar, Tril, Triu};
use std::any::TypeId;

/// What such an operator keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    /// Entries before the column; else those from it on.
    pub(crate) before: bool,
    at: At,
    thunk: i64,
}

/// Where the column is.
#[derive(Clone, Copy, Debug)]
enum At {
    /// As far from the diagonal as the thunk says, or one further.
    Diagonal { further: i64 },
    /// The thunk's and one further.
    Column,
    /// Behind all where the row is beyond the thunk's or is not, else before all.
    Row { beyond: bool },
}

impl Side {
    /// What the operator keeps, if it is one of them.
    pub(crate) fn of<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(thunk: Y) -> Option<Self> {
        let kinds = [
            (TypeId::of::<Tril>(), true, At::Diagonal { further: 1 }),
            (TypeId::of::<Triu>(), false, At::Diagonal { further: 0 }),
            (TypeId::of::<ColLe>(), true, At::Column),
            (TypeId::of::<ColGt>(), false, At::Column),
            (TypeId::of::<RowLe>(), true, At::Row { beyond: false }),
            (TypeId::of::<RowGt>(), true, At::Row { beyond: true }),
        ];
        let (_, before, at) = kinds.into_iter().find(|(kind, ..)| *kind == TypeId::of::<F>())?;
        // Their thunk is an i64.
        let thunk = as_bytes(&[thunk]).try_into().ok().map(i64::from_ne_bytes)?;
        Some(Self { before, at, thunk })
    }
    /// The column in row 0, and whether it is one further in each row after it; `None` where it is neither that nor the same in all.
    pub(crate) fn edge(&self) -> Option<(i64, bool)> {
        match self.at {
            At::Diagonal { further } => Some((self.thunk.saturating_add(further), true)),
            At::Column => Some((self.thunk.saturating_add(1), false)),
            At::Row { .. } => None,
        }
    }
    /// The column in row i.
    #[inline(always)]
    pub(crate) fn column(&self, i: usize) -> u32 {
        let (i, thunk) = (i as i64, self.thunk);
        let column = match self.at {
            At::Diagonal { further } => i.saturating_add(thunk).saturating_add(further),
            At::Column => thunk.saturating_add(1),
            At::Row { beyond } if (i > thunk) == beyond => i64::MAX,
            At::Row { .. } => 0,
        };
        column.clamp(0, i64::from(u32::MAX)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of columns below and above, at thunks of any size, the same are kept as by the operator itself.
    #[test]
    fn sides_are_what_the_operators_keep() {
        fn check<F: IndexUnaryOp<f32, i64, Out = bool>>(y: i64) {
            let side = Side::of::<f32, i64, F>(y).unwrap();
            for i in 0..12usize {
                for j in 0..12u32 {
                    let kept = (j < side.column(i)) == side.before;
                    assert_eq!(kept, F::apply(0.0, i as i64, i64::from(j), y), "({i}, {j}), {y}: {side:?}");
                }
            }
        }
        for y in (-14..14).chain([i64::MIN + 20, i64::MAX - 20, i64::from(u32::MAX), -i64::from(u32::MAX)]) {
            check::<Tril>(y);
            check::<Triu>(y);
            check::<ColLe>(y);
            check::<ColGt>(y);
            check::<RowLe>(y);
            check::<RowGt>(y);
        }
        assert!(Side::of::<f32, i64, crate::algebra::Diag>(0).is_none());
        assert!(Side::of::<f32, f32, crate::algebra::ValueGt>(0.0).is_none());
    }
}
