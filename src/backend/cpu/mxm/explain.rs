//! What a product on the host will do, from the patterns: counts, which accumulator each row gets, and why.
//!
//! `Ways` says of a row what `multiply::scatter_rows` and `structural::structural_rows` do with it.
use super::admitted::{Admitted, looked_up};
use super::analysis::{OnMask, Soon, Survey, is_narrow, prefers_dot};
use super::by_bits;
use super::fits::usual_fits;
use super::need::{By, Need, Shape};
use super::product::{is_foreseen, is_iso};
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
    ("dense", "a bit for every column of C, and a sum where sums differ"),
    ("masked", "only what the mask admits is summed"),
];

/// What a row's way depends on beside its products.
#[derive(Clone, Copy)]
struct Ways<'a> {
    a: &'a Pattern,
    b: &'a Pattern,
    mask: OnMask<'a>,
    /// Positions alone are found, of whole rows: the mask is asked afterwards.
    constant: bool,
    /// Sums can start from something.
    starts: bool,
    /// Rows of few products are sorted several at a time.
    tiny: bool,
}

impl Ways<'_> {
    /// The index of a row's way among the accumulators.
    fn of(&self, i: usize) -> usize {
        let Ways { a, b, mask, constant, starts, tiny } = *self;
        let entries = a.range(i).len();
        if mask.is_some_and(|m| !m.complement && m.pattern.range(i).is_empty()) {
            return 0;
        }
        let whole = Block { rows: i..i + 1, columns: 0..b.ncols as u32, whole: true };
        let survey = Survey::of(a, i, b, Soon::of::<()>(&[]), &whole);
        if survey.products == 0 {
            return 0;
        }
        let narrow = is_narrow(entries, b.ncols);
        match mask {
            None if tiny && survey.products <= super::tiny::MOST => 2,
            None if constant && narrow => 5,
            _ if constant && survey.banded => 4,
            _ if constant && (survey.is_few() || survey.is_scattered()) => 2,
            _ if constant && (survey.is_close() || survey.is_far(a)) => 5,
            _ if constant => 6,
            Some(m) if !m.complement && starts && m.pattern.range(i).len() / 16 <= entries => 7,
            Some(m) if !m.complement && m.pattern.range(i).len() / 4 <= survey.products => 7,
            Some(_) if survey.is_scattered() => 3,
            Some(_) => 7,
            None if entries == 1 => 1,
            None if starts && narrow => 5,
            None if !survey.banded && (survey.is_few() || survey.is_sorted()) => 2,
            None if survey.is_scattered() => 3,
            None if survey.banded && (!starts || survey.is_long(entries)) => 4,
            None if starts && (survey.is_close() || survey.is_far(a)) => 5,
            None => 6,
        }
    }
}

/// Products and their bounds, with the length of each row of B and its columns.
pub(crate) fn counted(a: &Pattern, columns: usize, mask: &Admitted, length: impl Fn(usize) -> u64) -> Analysis {
    let mut analysis = Analysis::default();
    for i in 0..a.nrows {
        let products: u64 = a.row(i).iter().map(|k| length(*k as usize)).sum();
        analysis.products += products;
        analysis.bound += if products == 0 { 0 } else { products.min(mask.most(i, columns)) };
        analysis.largest_row = analysis.largest_row.max(products);
    }
    analysis
}

/// The same with B by rows.
fn counted_by_rows(a: &Pattern, b: &Pattern, mask: &Admitted) -> Analysis {
    counted(a, b.ncols, mask, |k| b.range(k).len() as u64)
}

/// Some rows, spread over all, computed without values; `None` where none of them has few enough products.
fn sampled(a: &Pattern, b: &Pattern, mask: &Admitted) -> Result<Option<Sample>> {
    let step = a.nrows.div_ceil(ROWS).max(1);
    let (mut columns, mut rows, mut products, mut entries) = (Vec::<u32>::new(), 0, 0, 0);
    for i in (step / 2..a.nrows).step_by(step) {
        let own: u64 = a.row(i).iter().map(|k| b.range(*k as usize).len() as u64).sum();
        if products + own > SAMPLED {
            continue;
        }
        columns.clear();
        memory::reserve("explain", &mut columns, own as usize)?;
        a.row(i).iter().for_each(|k| columns.extend_from_slice(b.row(*k as usize)));
        products += own;
        columns.sort_unstable();
        columns.dedup();
        columns.retain(|j| mask.has(i, *j));
        entries += columns.len() as u64;
        rows += 1;
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
    let same = cpu && is_foreseen(&ring.operators, &a.values, &b.values);
    let columns = same && pulled_bits::suits(&a.pattern, &b.pattern, mask, options);
    let bits = columns || (same && by_bits::suits(&a.pattern, &b.pattern, mask, options));
    let limited = cpu && options.memory_limit.is_some();
    let admitted = Admitted::of(mask)?;
    // Few products are all made, and the mask's bits are asked then.
    let asked = cpu && !bits && !limited && looked_up(&a.pattern, &b.pattern, mask).is_some();
    let mask = if bits || asked { None } else { mask.map(MaskBody::on_host).transpose()? };
    let dots = |p: &Pattern, q| prefers_dot("explain", p, q, options.transposed_b, mask, options.strategy);
    let dot = cpu && !bits && dots(&a.pattern, &b.pattern)?;
    let fits = |positions| !limited || usual_fits(ring, a, b, mask, options, positions);
    let iso = same && !dot && is_iso(&ring.operators, a, b, options.transposed_b);
    let constant = bits || (iso && fits(true));
    let exact = !constant && !fits(false);
    let full = cpu && !constant && !exact && ring.cpu.full(&a.pattern, &b.pattern, mask, options).is_some();
    let by = match () {
        () if constant => By::Positions,
        () if full => By::Whole,
        () if dot => By::Dots,
        () => By::Rows,
    };
    let shape = Shape { value: size_of::<C>(), right: size_of::<B>(), by };
    let given = (&*b.pattern, options.transposed_b);
    let turned = match options.transposed_b {
        true => Some(transpose::<()>(&b.pattern, &memory::filled("explain", b.pattern.nnz(), ())?)?.0),
        false => None,
    };
    let (a, b) = (&*a.pattern, turned.as_ref().unwrap_or(&b.pattern));
    let (strategy, reason) = if !cpu {
        ("reference", "an ordered map a row, one thread: the definition")
    } else if exact {
        (
            "counted",
            "the limit leaves no room for positions and values at once: first those are counted, then these are made",
        )
    } else if dot {
        ("dot", "a dot product an entry of the mask takes fewer steps than scattering rows of B, or was asked for")
    } else if constant && !bits && mask.is_some() {
        (
            "pattern",
            "every product is the same value and ⊕ leaves it: the positions are enough, of whole rows, and of those what the mask admits",
        )
    } else if constant {
        ("pattern", "every product is the same value and ⊕ leaves it: the positions are enough")
    } else if full {
        ("full", "B has an entry at every place: rows of it are read whole, in the order of k")
    } else {
        ("hash", "rows of B are scattered, in the order of k, into what suits the row")
    };
    let mut reason = String::from(reason);
    if asked {
        reason.push_str(
            "; few products: all are made, then the mask's bits are asked, which takes less than a list of it",
        );
    }
    let mut analysis =
        Analysis { sample: sampled(a, b, &admitted)?, strategy, reason, ..counted_by_rows(a, b, &admitted) };
    if exact {
        let about = "columns counted and listed, then a sum for each";
        analysis.bins = vec![Bin::new("counted", about, a.nrows as u64)];
    } else if full {
        analysis.bins = vec![Bin::new(
            "full",
            match !asked && super::full_bools::are_words(&ring.operators) {
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
        let starts = ring.cpu.starts();
        let tiny = (constant || (starts && ring.cpu.scatter().lists())) && super::tiny::pays(a.nrows, b, mask);
        let (ways, mut rows) = (Ways { a, b, mask, constant, starts, tiny }, [0; ACCUMULATORS.len()]);
        (0..a.nrows).for_each(|i| rows[ways.of(i)] += 1);
        let bins = ACCUMULATORS.iter().zip(rows).filter(|(_, n)| *n > 0);
        analysis.bins = bins.map(|((name, about), n)| Bin::new(*name, *about, n)).collect();
    } else if dot {
        analysis.bins = vec![Bin::new("dot", "a dot product for each entry of the mask's row", a.nrows as u64)];
    }
    // Where all entries have one value, none is stored for each.
    analysis = analysis.sized(a.nrows as u64, if constant { 0 } else { shape.value });
    analysis.workspace = match options.memory_limit.filter(|_| exact) {
        Some(limit) => Need::exactly(given, &analysis, &shape, limit.saturating_sub(analysis.output)),
        None => Need::usual((a, given.0, given.1), &analysis, &shape).workspace,
    };
    Ok(analysis)
}

/// What a product of a matrix and a vector will do; of a push `by_columns`: along the columns of the matrix, which are kept.
pub(crate) fn explain_vector(
    device: Device,
    step: Step,
    (a, b): (&Pattern, &Pattern),
    mask: OnMask,
    value: usize,
    by_columns: bool,
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
            let (strategy, reason) = match by_columns {
                true => (
                    "columns",
                    "x has an entry at every place, and the columns of the matrix are kept: a dot product for each",
                ),
                false => ("push", "entries of the vector push along their rows of the matrix"),
            };
            Analysis { strategy, reason: reason.into(), ..counted_by_rows(a, b, &Admitted::by_list(mask)) }
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
