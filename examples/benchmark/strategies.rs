//! Every strategy of this library on the same product: is `auto` the best of them?
use crate::Outcome;
use crate::factors::Factors;
use crate::measure::{Real, Sum};
use crate::session::Session;
use oplus::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// `auto` may be this many times slower than the best.
const MARGIN: f64 = 1.1;

/// All rows so far.
pub(crate) struct Race {
    ratios: Vec<(String, f64, &'static str)>,
    refusals: BTreeMap<(&'static str, String), u64>,
    wrong: Vec<String>,
}

fn width(strategy: Strategy) -> usize {
    strategy.name().len().max(8)
}

impl Race {
    pub(crate) fn new() -> Self {
        print!("{:22} {:8}", "matrix", "product");
        Strategy::ALL.iter().for_each(|s| print!(" {:>1$}", s.name(), width(*s)));
        println!(" | {:>15} auto/best results", "best single");
        Self { ratios: Vec::new(), refusals: BTreeMap::new(), wrong: Vec::new() }
    }

    /// Milliseconds of every strategy; of three factors that of the second product.
    pub(crate) fn row<T: Real>(
        &mut self,
        session: &mut Session,
        name: &str,
        label: &str,
        factors: &Factors<Matrix<T>>,
    ) -> Outcome<()>
    where
        PlusTimes: Semiring<T, T, Out = T>,
    {
        let factors = match factors.clone() {
            Factors::Three(r, a, p) => Factors::Two(r, mxm(&a, &p).eval()?),
            other => other,
        };
        let (auto, c) = session.measure(|| Ok(factors.eval(Strategy::Auto)?))?;
        let expected = Sum::of(&c)?;
        drop(c);
        let mut auto = auto.ms;
        let mut times = BTreeMap::from([("auto", auto)]);
        let (mut best, mut refused, mut wrong) = (None::<(f64, Strategy)>, BTreeMap::new(), Vec::new());
        for strategy in Strategy::ALL.iter().copied().filter(|s| *s != Strategy::Auto) {
            match session.measure_beside(Some(auto), || Ok(factors.eval(strategy)?)) {
                Ok((t, c)) => {
                    times.insert(strategy.name(), t.ms);
                    if !Sum::of(&c)?.agrees::<T>(&expected) {
                        wrong.push(strategy.name());
                    } else if best.is_none_or(|b| t.ms < b.0) {
                        best = Some((t.ms, strategy));
                    }
                }
                Err(e) => {
                    refused.insert(strategy.name(), e.to_string());
                    *self.refusals.entry((strategy.name(), kind_of(&e.to_string()))).or_default() += 1;
                }
            }
        }
        // A near miss may be noise: both again, with more runs.
        if let Some((ms, strategy)) = best.filter(|b| auto > 0.5 * (1.0 + MARGIN) * b.0) {
            for _ in 0..2 {
                auto = auto.min(session.measure(|| Ok(factors.eval(Strategy::Auto)?))?.0.ms);
                let again = session.measure(|| Ok(factors.eval(strategy)?))?.0.ms;
                best = Some((best.map_or(ms, |b| b.0).min(again), strategy));
            }
            times.insert("auto", auto);
            times.extend(best.map(|b| (strategy.name(), b.0)));
        }
        let ratio = best.map(|b| auto / b.0);
        let verdict = if wrong.is_empty() { "equal".into() } else { format!("DIFFER: {}", wrong.join(", ")) };
        print!("{name:22} {label:8}");
        for s in Strategy::ALL {
            match times.get(s.name()) {
                Some(ms) => print!(" {ms:>0$.3}", width(*s)),
                None => print!(" {:>1$}", "-", width(*s)),
            }
        }
        let single = best.map_or("", |b| b.1.name());
        println!(" | {single:>15} {:>9.2} {verdict}", ratio.unwrap_or(f64::NAN));
        let place = format!("{name} {label}");
        self.ratios.extend(best.map(|b| (place.clone(), auto / b.0, b.1.name())));
        if !wrong.is_empty() {
            self.wrong.push(format!("{place}: {}", wrong.join(", ")));
        }
        session.record(&json!({
            "mode": "strategies", "matrix": name, "product": label.split(' ').next(), "type": T::TEXT.name,
            "nnz_c": expected.entries, "ms": times, "refused": refused, "best": single, "ratio": ratio,
            "results": verdict,
        }))
    }

    /// Where `auto` is not the best, and why strategies refused.
    pub(crate) fn finish(self) {
        let mut slow: Vec<_> = self.ratios.iter().filter(|r| r.1 > MARGIN).collect();
        slow.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (all, within) = (self.ratios.len(), self.ratios.len() - slow.len());
        println!("auto is within {:.0} % of the best single strategy on {within} of {all}", 100.0 * (MARGIN - 1.0));
        slow.iter().for_each(|(place, ratio, best)| println!("  {place}: {ratio:.2} times {best}"));
        for ((strategy, reason), count) in &self.refusals {
            println!("{strategy} refused {count}: {reason}");
        }
        self.wrong.iter().for_each(|w| println!("other results than auto: {w}"));
    }
}

/// The same reason for matrices of other sizes: figures are left out.
fn kind_of(reason: &str) -> String {
    let mut text = String::new();
    for c in reason.chars() {
        match c {
            '0'..='9' if text.ends_with('#') => {}
            '0'..='9' => text.push('#'),
            _ => text.push(c),
        }
    }
    text
}
