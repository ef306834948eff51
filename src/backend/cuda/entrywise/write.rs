//! How a result meets what was there: the rule of the standard, and what of it needs no merging.
use super::merge::{self, Kind};
use super::{one_row, pair};
use crate::algebra::scalar::same;
use crate::algebra::texts::FUNCTIONS;
use crate::algebra::*;
use crate::backend::cuda::backend::{Mask, made};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::{Buffer, Cuda, DeviceCsr, entries};
use crate::error::{Error, Result};
use crate::operation::Accumulate;
use oplus_codegen::{FunctionText, Shared};
use std::any::TypeId;

/// ⊙ as the function `op` of a template; `None` without an accumulator.
pub(crate) fn accumulator_text<C: Scalar, T: Scalar, F: Accumulate<C, T>>() -> Option<Shared<FunctionText>> {
    F::TEXT.map(|text| {
        let make = || FunctionText::new("op", vec![C::TEXT, C::TEXT], C::TEXT, text);
        FUNCTIONS.get((TypeId::of::<(C, T, F)>(), "accumulate"), &make)
    })
}

/// The same; without an accumulator values are only moved.
pub(crate) fn writing_text<C: Scalar, T: Scalar, F: Accumulate<C, T>>() -> Shared<FunctionText> {
    accumulator_text::<C, T, F>().unwrap_or_else(|| {
        let second = OperatorText { parameters: &["_", "y"], expression: "y" };
        let scalar = entries::movable(C::TEXT);
        FunctionText::new("op", vec![scalar, scalar], scalar, second).into()
    })
}

impl Cuda {
    /// The rule of the standard, everywhere or within bounds.
    pub(crate) fn written<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &DeviceCsr<C>,
        t: &DeviceCsr<T>,
        mask: Option<&Mask>,
        replace: bool,
        bounds: Option<&Buffer>,
    ) -> Result<DeviceCsr<C>> {
        if C::TEXT != T::TEXT {
            let reason = format!("values of {} cannot be written as {}", T::TEXT.name, C::TEXT.name);
            return Err(Error::InvalidValue { operation: "write", reason });
        }
        let op = writing_text::<C, T, F>();
        let kind = Kind::Write { mask, replace, accumulate: F::TEXT.is_some(), bounds };
        // Where all is admitted and both have the same entries, these stay where they are.
        if mask.is_none() && bounds.is_none() && c.pattern.known_same(&t.pattern) {
            let one = match (c.one(), t.one()) {
                (Some(x), Some(y)) => F::combine(Some(x), Some(y)),
                _ => None,
            };
            match (one, F::TEXT) {
                (_, None) => return Ok(t.cast()),
                (Some(z), _) => return DeviceCsr::iso(c.pattern.clone(), z),
                (None, Some(_)) => {}
            }
            return pair::paired(op, c, t);
        }
        // Nothing is there before: what the mask admits of T.
        if let Some(mask) = mask
            && bounds.is_none()
            && c.nnz() == 0
            && one_row::suits(&t.pattern, t.nnz() + mask.pattern.nnz)
        {
            let admitted = |scalar, t: Operand<'_>| one_row::admitted(scalar, t, &mask.pattern, mask.complement);
            return t.moved(T::TEXT, admitted).map(|made| made.cast());
        }
        // Where all that can be an entry of the result has one value, positions alone are merged.
        let shared = match (c.nnz(), t.nnz()) {
            (0, _) if t.is_iso() => Some(t.cast()),
            (_, 0) if c.is_iso() => Some(c.clone()),
            _ => match (c.one(), t.one()) {
                (Some(x), Some(y)) if same(x, y) && F::combine(Some(x), Some(y)).is_some_and(|z| same(x, z)) => {
                    Some(c.clone())
                }
                _ => None,
            },
        };
        if let Some(shared) = shared
            && let Some(made) = shared.one_at(merge::positions(&kind, c, t)?)?
        {
            return Ok(made);
        }
        made(merge::merged(&kind, op, c, t))
    }
}
