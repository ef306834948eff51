//! What a product on the host will do, from the patterns: counts, which accumulator each row gets, and why.
//!
//! `accumulator` says of a row what `multiply::scatter_rows` and `structural::structural_rows` do with it.
use super::analysis::{OnMask, Soon, Survey, is_narrow, prefers_dot};
use super::by_bits;
use super::need::{Need, Shape};
use super::pulled_bits;
use crate::algebra::*;
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::structure::layout::transpose;
use crate::backend::host::HostCsr;
use crate::backend::ring::{MxmRing, Step};
use crate::backend::{MaskBody, MxmOptions};
use crate::device::Device;
use crate::error::Result;
use crate::memory;
use crate::spgemm::{Analysis, Bin, Sample};
use crate::storage::pattern::Pattern;

/// Products looked at for a sample, about.
const SAMPLED: u64 = 1 << 20;
/// Rows of a sample at most.
const ROWS: usize = 256;

/// How the rows of a product are computed, by the row.
const ACCUMULATORS: [(&str, &str); 8] = [
    ("empty", "no product, or nothing admitted: nothing to do"),
    ("copy", "one entry in A: a row of B times that"),
    ("sort", "few products: sorted by column"),
    ("hash", "few products in a wide row: a table"),
    ("window", "an unbroken range of columns: sums in place"),
    ("flat", "a flag and a sum a column, where columns lie far apart a flag for 64 of those"),
    ("dense", "sums and a bit for every column of C"),
    ("masked", "only what the mask admits is summed"),
];

/// The index of a row's way among the accumulators.
fn accumulator(a: &Pattern, i: usize, b: &Pattern, mask: OnMask, (flat, tiny): (bool, bool)) -> usize {
    let entries = a.range(i).len();
    let whole = Block { rows: i..i + 1, columns: 0..b.ncols as u32, whole: true };
    let alone = if entries == 1 { b.range(a.row(i)[0] as usize).len() } else { 0 };
    if mask.is_none() && entries == 1 && (alone == 0 || alone > super::tiny::MOST || !tiny) {
        return if alone == 0 { 0 } else { 1 };
    }
    let survey = Survey::of(a, i, b, Soon::of::<()>(&[]), &whole);
    if survey.products == 0 {
        return 0;
    }
    match mask {
        Some(m) if !m.complement && m.pattern.range(i).is_empty() => 0,
        Some(m) if !m.complement && m.pattern.range(i).len() / 4 <= survey.products => 7,
        Some(_) if survey.is_scattered() => 3,
        Some(_) => 7,
        None if tiny && survey.products <= super::tiny::MOST => 2,
        None if flat && is_narrow(entries, b.ncols) => 5,
        None if !survey.banded && (survey.is_few() || survey.is_sorted()) => 2,
        None if survey.is_scattered() => 3,
        None if survey.banded => 4,
        None if flat && (survey.is_close() || survey.is_far(a)) => 5,
        None => 6,
    }
}

/// Products and their bounds, with B by rows.
pub(crate) fn counted(a: &Pattern, b: &Pattern, mask: OnMask) -> Analysis {
    let mut analysis = Analysis::default();
    for i in 0..a.nrows {
        let products: u64 = a.row(i).iter().map(|k| b.range(*k as usize).len() as u64).sum();
        let most = products.min(b.ncols as u64);
        let most = match mask {
            Some(m) if m.complement => most.min((b.ncols - m.pattern.range(i).len()) as u64),
            Some(m) => most.min(m.pattern.range(i).len() as u64),
            None => most,
        };
        analysis.products += products;
        analysis.bound += most;
        analysis.largest_row = analysis.largest_row.max(products);
    }
    analysis
}

/// Some rows, spread over all, computed without values.
fn sampled(a: &Pattern, b: &Pattern, mask: OnMask) -> Result<Option<Sample>> {
    let step = a.nrows.div_ceil(ROWS).max(1);
    let (mut columns, mut rows, mut products, mut entries) = (Vec::<u32>::new(), 0, 0, 0);
    for i in (step / 2..a.nrows).step_by(step) {
        columns.clear();
        for k in a.row(i) {
            let row = b.row(*k as usize);
            memory::reserve("explain", &mut columns, row.len())?;
            columns.extend_from_slice(row);
        }
        products += columns.len() as u64;
        columns.sort_unstable();
        columns.dedup();
        if let Some(m) = mask {
            columns.retain(|j| m.pattern.find(i, *j).is_some() != m.complement);
        }
        entries += columns.len() as u64;
        rows += 1;
        if products > SAMPLED {
            break;
        }
    }
    Ok((products > 0).then(|| Sample::of(rows, products, entries)))
}

/// What a product of matrices will do on the host.
pub(crate) fn explain_mxm<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    device: Device,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: Option<&MaskBody>,
    options: &MxmOptions,
) -> Result<Analysis> {
    let cpu = device != Device::Reference;
    let same = cpu && super::product::is_foreseen(&ring.operators, &a.values, &b.values);
    let columns = same && pulled_bits::suits(&a.pattern, &b.pattern, mask, options);
    let bits = columns || (same && by_bits::suits(&a.pattern, &b.pattern, mask, options));
    let mask = mask.map(MaskBody::on_host).transpose()?;
    let dots = |p: &Pattern, q| prefers_dot("explain", p, q, options.transposed_b, mask, options.strategy);
    let dot = cpu && !bits && dots(&a.pattern, &b.pattern)?;
    let constant = same && !dot;
    let shape = Shape { value: size_of::<C>(), right: size_of::<B>(), dot, constant };
    let full = cpu && !constant && ring.cpu.full(&a.pattern, &b.pattern, mask, options).is_some();
    let turned = match options.transposed_b {
        true => Some(transpose::<()>(&b.pattern, &memory::filled("explain", b.pattern.nnz(), ())?)?.0),
        false => None,
    };
    let (a, b) = (&*a.pattern, turned.as_ref().unwrap_or(&b.pattern));
    let (strategy, reason) = if !cpu {
        ("reference", "an ordered map a row, one thread: the definition")
    } else if dot {
        ("dot", "a dot product an entry of the mask takes fewer steps than scattering rows of B, or was asked for")
    } else if constant {
        ("pattern", "every product is the same value and ⊕ leaves it: the positions are enough")
    } else if full {
        ("full", "B has an entry at every place: rows of it are read whole, in the order of k")
    } else {
        ("hash", "rows of B are scattered, in the order of k, into what suits the row")
    };
    let mut analysis =
        Analysis { sample: sampled(a, b, mask)?, strategy, reason: reason.into(), ..counted(a, b, mask) };
    if full {
        analysis.bins = vec![Bin::new(
            "full",
            match super::full_bools::are_words(&ring.operators) {
                true => "words of booleans, up to 64 of a row of B at once",
                false => "sums of some columns at a time, all of a row",
            },
            a.nrows as u64,
        )];
    } else if constant && bits {
        let about = match columns {
            true => {
                "64 columns at once, a bit each: an entry of A is looked at once for all of them, until all are found"
            }
            false => "64 rows at once, a bit each: an entry of B is looked at once for all of them",
        };
        analysis.bins = vec![Bin::new("bits", about, a.nrows as u64)];
    } else if cpu && !dot {
        let flat = constant || ring.cpu.starts();
        let tiny = flat && (constant || ring.cpu.scatter().lists()) && super::tiny::possible(b, mask);
        let mut rows = [0; ACCUMULATORS.len()];
        (0..a.nrows).for_each(|i| rows[accumulator(a, i, b, mask, (flat, tiny))] += 1);
        let bins = ACCUMULATORS.iter().zip(rows).filter(|(_, n)| *n > 0);
        analysis.bins = bins.map(|((name, about), n)| Bin::new(*name, *about, n)).collect();
    } else if dot {
        analysis.bins = vec![Bin::new("dot", "a dot product for each entry of the mask's row", a.nrows as u64)];
    }
    analysis = analysis.sized(a.nrows as u64, shape.value);
    analysis.workspace = Need::usual((a, b, options.transposed_b), &analysis, &shape).workspace;
    Ok(analysis)
}

/// What a product of a matrix and a vector will do on the host.
pub(crate) fn explain_vector(
    device: Device,
    step: Step,
    a: &Pattern,
    b: &Pattern,
    mask: OnMask,
    value: usize,
) -> Result<Analysis> {
    let analysis = match step {
        Step::Mxv => {
            let mut present = crate::storage::bitmap::Bitmap::new("explain", b.ncols)?;
            b.indices.iter().for_each(|j| present.set(*j));
            let counts = (0..a.nrows).map(|i| a.row(i).iter().filter(|k| present.get(**k)).count() as u64);
            let mut analysis = Analysis { strategy: "pull", ..Analysis::default() };
            analysis.reason = "a dot product for each row of the matrix".into();
            for products in counts {
                analysis.products += products;
                analysis.largest_row = analysis.largest_row.max(products);
                analysis.bound += u64::from(products > 0);
            }
            let admitted = mask.map_or(a.nrows, |m| match m.complement {
                true => a.nrows - m.pattern.nnz(),
                false => m.pattern.nnz(),
            });
            analysis.bound = analysis.bound.min(admitted as u64);
            analysis
        }
        _ => {
            let reason = "entries of the vector push along their rows of the matrix".into();
            Analysis { strategy: "push", reason, ..counted(a, b, mask) }
        }
    };
    let width = if matches!(step, Step::Mxv) { a.nrows } else { b.ncols } as u64;
    let workspace = width.saturating_mul(value as u64 + 1);
    let analysis = Analysis { workspace, ..analysis.sized(1, value) };
    if device != Device::Reference {
        return Ok(analysis);
    }
    Ok(Analysis { strategy: "reference", reason: "an ordered map, one thread: the definition".into(), ..analysis })
}
