//! Products under masks of more and of fewer entries: dot products beside rows, what `auto` makes of it, and values by a plan.
use crate::Outcome;
use crate::common::{say, say_line};
use crate::measure::Sum;
use crate::session::Session;
use oplus::prelude::*;
use serde_json::json;

const STRATEGIES: [Strategy; 4] = [Strategy::Auto, Strategy::Dot, Strategy::Hash, Strategy::Esc];

/// A·A and A·Aᵀ under A's own positions and under few, stored and, over (+, pair), summed at once.
pub(crate) fn run(session: &mut Session, trace: bool) -> Outcome<()> {
    say(format_args!("{:16} {:7} {:>12} {:>10} {:8}", "matrix", "product", "mask", "nnz(C)", "auto is"))?;
    STRATEGIES.iter().try_for_each(|s| say(format_args!(" {:>9}", s.name())))?;
    say_line!(" {:>9} | {:>9} {:>9} results", "plan", "sum: auto", "dot")?;
    session.for_each(|session, name, coo| {
        if coo.nrows != coo.ncols {
            return Ok(());
        }
        let a = Matrix::<f64>::from_coo(&coo)?.to(&session.device)?;
        drop(coo);
        let n = a.nrows();
        let few = |each: u64| -> Outcome<Mask> {
            let mut coo = oplus::generate::uniform(n.div_ceil(each), n, 1, 7)?;
            coo.rows.iter_mut().for_each(|i| *i = *i * each % n);
            coo.nrows = n;
            Ok(Matrix::<f64>::build_with(&coo, First)?.to(&session.device)?.structure())
        };
        for (label, mask) in [("its own", a.structure()), ("1 a row", few(1)?), ("1 in 16 rows", few(16)?)] {
            for turned in [false, true] {
                row(session, (name, label), &a, &mask, turned, trace)?;
            }
        }
        Ok(())
    })
}

fn row(
    session: &mut Session,
    (name, label): (&str, &str),
    a: &Matrix<f64>,
    mask: &Mask,
    turned: bool,
    trace: bool,
) -> Outcome<()> {
    let product = if turned { "A·Aᵀ" } else { "A·A" };
    let by = |strategy| {
        let product = if turned { mxm(a, a).transpose_b() } else { mxm(a, a) };
        product.mask(mask).strategy(strategy)
    };
    let pairs = (a.over::<PlusPair>(), a.over::<PlusPair>());
    let sum_by = |strategy| {
        let product = if turned { mxm(&pairs.0, &pairs.1).transpose_b() } else { mxm(&pairs.0, &pairs.1) };
        product.mask(mask).strategy(strategy)
    };
    let (mut ms, mut sums, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    let (mut expected, mut rival) = (None, None);
    for strategy in STRATEGIES {
        let (t, c) = session.measure_beside(rival, || Ok(by(strategy).eval()?))?;
        let sum = Sum::of(&c)?;
        if !sum.agrees::<f64>(expected.get_or_insert(sum)) {
            wrong.push(strategy.name());
        }
        rival = rival.or(Some(t.ms));
        ms.push(t.ms);
        if matches!(strategy, Strategy::Auto | Strategy::Dot) {
            let (t, sum) = session.measure_beside(rival, || Ok(sum_by(strategy).reduce(Plus)?))?;
            sums.push((t.ms, sum));
        }
    }
    let plan = by(Strategy::Auto).plan()?;
    let (planned, c) = session.measure_beside(rival, || Ok(plan.run(a, a)?))?;
    if expected.is_some_and(|sum| !Sum::of(&c).is_ok_and(|c| c.agrees::<f64>(&sum))) {
        wrong.push("plan");
    }
    drop((plan, c));
    if sums.iter().any(|s| s.1 != sums[0].1) {
        wrong.push("sum");
    }
    let chosen = by(Strategy::Auto).explain()?.analysis.strategy;
    let entries = expected.map_or(0, |s| s.entries);
    say(format_args!(
        "{name:16} {product:7} {label:>12} {entries:>10} {:8}",
        if chosen == "dot" { "dot" } else { "rows" }
    ))?;
    ms.iter().try_for_each(|ms| say(format_args!(" {ms:>9.3}")))?;
    let verdict = if wrong.is_empty() { "equal".into() } else { format!("DIFFER: {}", wrong.join(", ")) };
    say_line!(" {:>9.3} | {:>9.3} {:>9.3} {verdict}", planned.ms, sums[0].0, sums[1].0)?;
    session.compared(&verdict, &format!("{name} {product} {label}"));
    for strategy in STRATEGIES.iter().filter(|_| trace) {
        session.trace(&format!("  {}", strategy.name()), 0.005, || by(*strategy).eval())?;
    }
    let times: serde_json::Map<_, _> = STRATEGIES.iter().zip(&ms).map(|(s, ms)| (s.name().into(), json!(ms))).collect();
    session.record(&json!({
        "mode": "masked", "matrix": name, "product": product, "mask": label, "nnz_c": entries, "chosen": chosen,
        "ms": times, "plan_ms": planned.ms, "sum_ms": {"auto": sums[0].0, "dot": sums[1].0}, "results": verdict,
    }))
}
