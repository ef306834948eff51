//! A chain of element-wise operations as text: what one generated kernel does.
#![cfg_attr(not(feature = "cuda"), allow(dead_code))]
use crate::algebra::scalar::as_bytes;
use crate::algebra::texts::{binary_text, index_text};
use crate::algebra::{BinaryOp, IndexUnaryOp, Scalar};
use oplus_codegen::{FunctionText, Shared};
use std::sync::Arc;

/// Which entries a join makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum JoinKind {
    Union,
    Intersection,
    /// Entries of either, the operator everywhere.
    Filled,
}

/// Two operands joined.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    pub(crate) kind: JoinKind,
    pub(crate) text: fn(&'static str) -> Shared<FunctionText>,
    /// The bytes of what stands for missing values.
    pub(crate) missing: Option<Arc<(Vec<u8>, Vec<u8>)>>,
}
impl Join {
    pub(crate) fn of<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(kind: JoinKind, missing: Option<(A, B)>) -> Self {
        let missing = missing.map(|(a, b)| Arc::new((as_bytes(&[a]).to_vec(), as_bytes(&[b]).to_vec())));
        Self { kind, text: binary_text::<A, B, F>, missing }
    }
}

/// f(x, i, j, thunk) of each entry: its value, or whether it is kept.
#[derive(Clone, Debug)]
pub(crate) struct Each {
    pub(crate) select: bool,
    pub(crate) text: fn(&'static str) -> Shared<FunctionText>,
    pub(crate) thunk: Arc<Vec<u8>>,
}
impl Each {
    pub(crate) fn of<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(select: bool, thunk: Y) -> Self {
        Self { select, text: index_text::<A, Y, F>, thunk: Arc::new(as_bytes(&[thunk]).to_vec()) }
    }
}

/// A ⊕ B, mapped, with ⊕ D, mapped, and what is kept of that.
#[derive(Clone, Debug)]
pub(crate) struct ChainText {
    pub(crate) join: Join,
    pub(crate) map: Option<Each>,
    pub(crate) again: Option<Join>,
    pub(crate) map_again: Option<Each>,
    pub(crate) keep: Option<Each>,
}
