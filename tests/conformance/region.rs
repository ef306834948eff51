//! extract and assign, by form and type.
use crate::call::{Accumulated, Call, of_type};
use crate::case::Fault;
use oplus::prelude::*;

fn extracted<T: Accumulated>(call: &Call) -> Fault<()> {
    let (i, j, ta) = (call.indices('I'), call.indices('J'), call.case.has("ta"));
    if call.case.word("form") == "vector" {
        return call.vectors(extract_vector(&call.vector::<T>('A')?, j));
    }
    let a = call.matrix::<T>('A')?;
    let part = match call.case.word("form") {
        "row" if ta => return call.vectors(extract_row(&a.transposed(), call.number("at")? as u64, j)),
        "row" => return call.vectors(extract_row(&a, call.number("at")? as u64, j)),
        "column" if ta => return call.vectors(extract_column(&a.transposed(), i, call.number("at")? as u64)),
        "column" => return call.vectors(extract_column(&a, i, call.number("at")? as u64)),
        _ if ta && call.case.number.is_multiple_of(2) => extract(&a, i, j).transpose_a(),
        _ if ta => extract(&a.transposed(), i, j),
        _ => extract(&a, i, j),
    };
    drop(a);
    call.matrices(part)
}

pub fn extraction(call: &Call) -> Fault<()> {
    of_type!(call, call.operand('A')?.scalar, extracted)
}

fn assigned<T: Accumulated>(call: &Call) -> Fault<()> {
    let (i, j, sub) = (call.indices('I'), call.indices('J'), call.case.has("sub"));
    let form = call.case.word("form");
    if form.ends_with("vector") {
        let mut c = call.vector::<T>('C')?;
        let assignment = match (form, sub) {
            ("vector", false) => assign_vector(&call.vector::<T>('A')?, j),
            ("vector", true) => subassign_vector(&call.vector::<T>('A')?, j),
            ("empty_vector", _) => assign_empty_vector(j),
            (_, false) => assign_scalar_vector(call.scalar::<T>()?, j),
            (_, true) => subassign_scalar_vector(call.scalar::<T>()?, j),
        };
        call.assigned(assignment, &mut c)?;
        return call.is_vector(&c);
    }
    let mut c = call.matrix::<T>('C')?;
    let at = || call.number("at").map(|at| at as u64);
    let assignment = match (form, sub) {
        ("row", false) => assign_row(&call.vector::<T>('A')?, at()?, j),
        ("row", true) => subassign_row(&call.vector::<T>('A')?, at()?, j),
        ("column", false) => assign_column(&call.vector::<T>('A')?, i, at()?),
        ("column", true) => subassign_column(&call.vector::<T>('A')?, i, at()?),
        ("empty", _) => assign_empty(i, j),
        ("scalar", false) => assign_scalar(call.scalar::<T>()?, i, j),
        ("scalar", true) => subassign_scalar(call.scalar::<T>()?, i, j),
        (_, false) => assign(&call.matrix::<T>('A')?, i, j),
        (_, true) => subassign(&call.matrix::<T>('A')?, i, j),
    };
    let turned = call.case.has("ta");
    call.assigned(if turned { assignment.transpose_a() } else { assignment }, &mut c)?;
    call.is(&c)
}

pub fn assignment(call: &Call) -> Fault<()> {
    of_type!(call, call.operand('C')?.scalar, assigned)
}
