//! Semirings that stand in for others where what their products are is known before: positions alone, and counts.
use super::DeviceCsr;
use super::mxv::full::Side;
use crate::algebra::texts::SEMIRINGS;
use crate::algebra::{AnyPair, PlusPair, PlusSecond, semiring_text};
use crate::backend::MxmOptions;
use crate::backend::ring::Equals;
use oplus_codegen::text::{Atomic, OperatorText, ScalarText};
use oplus_codegen::{SemiringText, Shared};
use std::any::TypeId;

/// Sums of so many ones are exact in an f32, one after the other.
const EXACT_F32: usize = 1 << 24;

/// The semiring of positions alone: its values are constant, take no room and are not written.
pub(crate) fn of_positions() -> Shared<SemiringText> {
    SEMIRINGS.get((TypeId::of::<AnyPair>(), "positions"), &|| {
        let text = semiring_text::<bool, bool, AnyPair>();
        SemiringText { c: ScalarText { size: 0, ..text.c }, ..text }
    })
}

/// Sets of columns united: those of the rows of B, as bits, that a row of A names.
pub(crate) fn of_sets() -> Shared<SemiringText> {
    SEMIRINGS.get((TypeId::of::<AnyPair>(), "sets"), &|| {
        let text = semiring_text::<bool, u32, PlusSecond>();
        let add = OperatorText { parameters: &["x", "y"], expression: "x | y" };
        SemiringText { name: "or_second".to_string(), add, atomic: Atomic::Or, ..text }
    })
}

/// Sums of ones as this scalar, counted in 32 bits: shared memory adds those at once, and others by compare and swap.
fn of_counts(written: ScalarText) -> Shared<SemiringText> {
    SEMIRINGS.get((TypeId::of::<PlusPair<u32>>(), written.name), &|| {
        let text = semiring_text::<bool, bool, PlusPair<u32>>();
        SemiringText { name: "count".to_string(), counted: Some(written), ..text }
    })
}

/// What a product of matrices is made by, all of whose products are `equals`: counts where these are ones, no mask says which are wanted, and
/// the sums, in any order, are the same to the bit; else the semiring itself.
pub(crate) fn counting(
    text: Shared<SemiringText>,
    equals: Option<&Equals>,
    (a, b): (&DeviceCsr<()>, &DeviceCsr<()>),
    masked: bool,
    options: &MxmOptions,
) -> Shared<SemiringText> {
    let one: &[u8] = match text.c.name {
        "f64" => &1f64.to_ne_bytes(),
        "f32" if a.pattern.ncols <= EXACT_F32 => &1f32.to_ne_bytes(),
        "i64" | "u64" => &1u64.to_ne_bytes(),
        _ => return text,
    };
    let adds = !masked && text.c.definition.is_empty() && text.atomic == Atomic::Add;
    // Rows that are read whole are not added up in shared memory.
    let whole = |by: &SemiringText| {
        Side::of((&a.pattern, by.a.size), (&b.pattern, by.b.size), false, options.strategy).is_some()
    };
    match equals {
        Some(equals) if adds && equals.product == one => {
            Some(of_counts(text.c)).filter(|by| !whole(by)).unwrap_or(text)
        }
        _ => text,
    }
}
