//! mxm where every sum is known to be one and the same value: the pattern alone.
use super::accumulator::Columns;
use super::analysis::{OnMask, Soon, Survey, ask, is_narrow};
use super::flat::Flat;
use super::keys::sort_columns;
use super::multiply::admits_none;
use super::short::{self, Short};
use super::tiny::{self, Tiny, To, Tries};
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::rows::Rows;
use crate::backend::cpu::structure::ascending::filter;
use crate::error::Result;
use crate::storage::frame::Cells;
use crate::storage::pattern::Pattern;

/// What one thread needs for rows of a pattern.
pub(crate) type Structural = (Columns, [Vec<u32>; 2], Flat<()>, Tiny);

/// The pattern of a product alone: every sum is known to be one and the same value. What is `seen` may be left out: nobody will keep it.
pub(crate) fn structural_rows(
    (a, b, mask, seen): (&Pattern, &Pattern, OnMask, Option<&Cells>),
    block: &Block,
    rows: &mut Rows<()>,
    scratch: &mut Structural,
) -> Result<()> {
    let tiny = block.whole && mask.is_none() && tiny::pays(block.rows.len(), b, mask);
    let (mut i, mut tries) = (block.rows.start, Tries::default());
    while i < block.rows.end {
        if tiny && tries.next() {
            let to = To { indices: &mut rows.indices, ends: &mut rows.ends };
            let done = scratch.3.rows::<false>("mxm", (a, b, mask), Soon::of::<()>(&[]), i..block.rows.end, to)?;
            rows.values.resize(rows.indices.len(), ());
            tries.came(done > 0);
            if done > 0 {
                i += done;
                continue;
            }
        }
        row((a, b, mask, seen), block, i, rows, scratch)?;
        rows.end_row();
        i += 1;
    }
    Ok(())
}

/// One row.
fn row(
    (a, b, mask, seen): (&Pattern, &Pattern, OnMask, Option<&Cells>),
    block: &Block,
    i: usize,
    rows: &mut Rows<()>,
    (columns, [list, spare], flat, _): &mut Structural,
) -> Result<()> {
    let operation = "mxm";
    if admits_none(mask, i) {
        return Ok(());
    }
    if mask.is_none() && is_narrow(a.range(i).len(), b.ncols) {
        flat.grow(operation, b.ncols, ())?;
        a.range(i).for_each(|e| ask(a, e, b, Soon::of::<()>(&[])));
        let open = flat.open();
        for k in a.row(i) {
            for j in &b.indices[block.range(b, *k as usize)] {
                // SAFETY: columns are below ncols in every pattern.
                unsafe { open.mark(*j as usize) };
            }
        }
        return flat.drain::<false>(operation, (0, b.ncols), b.ncols, (), rows);
    }
    let survey = Survey::of(a, i, b, Soon::of::<()>(&[]), block);
    if survey.products == 0 {
        return Ok(());
    }
    let start = rows.indices.len();
    rows.reserve(operation, survey.most())?;
    if survey.banded {
        // SAFETY: room for `most`, here the whole span, was reserved.
        (survey.span.0..=survey.span.1).for_each(|j| unsafe { rows.push_unchecked(j, ()) });
    } else if survey.is_few() && survey.products <= short::MOST {
        let (mut columns, mut last) = (Short::new(), u32::MAX);
        a.row(i).iter().for_each(|k| columns.extend(&b.indices[block.range(b, *k as usize)]));
        for column in columns.in_order() {
            // SAFETY: room for every product was reserved, of which so few are the most entries.
            unsafe { rows.push_if(column != last, column, ()) };
            last = column;
        }
    } else if survey.is_few() || survey.is_scattered() {
        list.clear();
        crate::memory::reserve(operation, list, survey.products)?;
        for k in a.row(i) {
            let columns = &b.indices[block.range(b, *k as usize)];
            match seen {
                // To look a column up costs less than to put it in order.
                Some(cells) => list.extend(columns.iter().filter(|j| !cells.has(i * cells.ncols + **j as usize))),
                None => list.extend_from_slice(columns),
            }
        }
        sort_columns(operation, list, spare)?;
        list.dedup();
        // SAFETY: room for `most` was reserved.
        list.iter().for_each(|j| unsafe { rows.push_unchecked(*j, ()) });
    } else if survey.is_close() {
        flat.grow(operation, survey.width(), ())?;
        let open = flat.open();
        for k in a.row(i) {
            for j in &b.indices[block.range(b, *k as usize)] {
                // SAFETY: the survey's first and last column enclose all others.
                unsafe { open.mark((*j - survey.span.0) as usize) };
            }
        }
        flat.drain::<false>(operation, (survey.span.0, survey.width()), survey.most(), (), rows)?;
    } else if survey.is_far(a) {
        flat.grow_far(operation, survey.width(), ())?;
        let open = flat.open();
        for k in a.row(i) {
            for j in &b.indices[block.range(b, *k as usize)] {
                // SAFETY: the survey's first and last column enclose all others.
                unsafe { open.mark_far((*j - survey.span.0) as usize) };
            }
        }
        flat.drain::<true>(operation, (survey.span.0, survey.width()), survey.most(), (), rows)?;
    } else {
        let first = survey.span.0 & !4095;
        columns.grow(operation, (survey.span.1 - first) as usize + 1)?;
        for k in a.row(i) {
            for j in &b.indices[block.range(b, *k as usize)] {
                // SAFETY: the survey's first and last column enclose all others.
                unsafe { columns.insert(*j - first) };
            }
        }
        columns.drain((survey.span.0 - first, survey.span.1 - first), |word_first, mut word| {
            while word != 0 {
                // SAFETY: room for `most` was reserved.
                unsafe { rows.push_unchecked(first + word_first + word.trailing_zeros(), ()) };
                word &= word - 1;
            }
        });
    }
    if let Some(m) = mask {
        filter(rows, start, m.pattern.row(i), m.complement);
    }
    Ok(())
}
