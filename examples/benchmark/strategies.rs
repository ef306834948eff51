//! Every strategy of this library on the same product: is `auto` the best of them?
use crate::Outcome;
use crate::common::{say, say_line};
use crate::factors::Factors;
use crate::measure::{Real, Sum};
use crate::session::Session;
use oplus::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// `auto` may be this many times slower than the best.
const MARGIN: f64 = 1.1;

/// Milliseconds of every strategy that could, and the others' reasons.
struct Times {
    ms: BTreeMap<&'static str, f64>,
    refused: BTreeMap<&'static str, String>,
    /// Whose result is not `auto`'s.
    wrong: Vec<&'static str>,
    /// The fastest but `auto`.
    best: Option<(f64, Strategy)>,
    entries: u64,
}

impl Times {
    fn new<T: Real>(session: &Session, factors: &Factors<Matrix<T>>) -> Outcome<Self>
    where
        PlusTimes: Semiring<T, T, Out = T>,
    {
        let (auto, c) = session.measure(|| Ok(factors.eval(Strategy::Auto)?))?;
        let expected = Sum::of(&c)?;
        drop(c);
        let mut this = Times {
            ms: BTreeMap::from([(Strategy::Auto.name(), auto.ms)]),
            refused: BTreeMap::new(),
            wrong: Vec::new(),
            best: None,
            entries: expected.entries,
        };
        for strategy in Strategy::ALL.iter().copied().filter(|s| *s != Strategy::Auto) {
            match session.measure_beside(Some(auto.ms), || Ok(factors.eval(strategy)?)) {
                Ok((t, c)) => {
                    this.ms.insert(strategy.name(), t.ms);
                    if !Sum::of(&c)?.agrees::<T>(&expected) {
                        this.wrong.push(strategy.name());
                    } else if this.best.is_none_or(|b| t.ms < b.0) {
                        this.best = Some((t.ms, strategy));
                    }
                }
                Err(e) => {
                    this.refused.insert(strategy.name(), e.to_string());
                }
            }
        }
        this.settle(session, factors)?;
        Ok(this)
    }

    /// A near miss of `auto` may be noise: both twice again, in turn.
    fn settle<T: Real>(&mut self, session: &Session, factors: &Factors<Matrix<T>>) -> Outcome<()>
    where
        PlusTimes: Semiring<T, T, Out = T>,
    {
        let near = |ratio: f64| ratio > 0.5 * (1.0 + MARGIN);
        let Some((_, best)) = self.best.filter(|_| self.ratio().is_some_and(near)) else { return Ok(()) };
        for strategy in [Strategy::Auto, best, Strategy::Auto, best] {
            let again = session.measure(|| Ok(factors.eval(strategy)?))?.0.ms;
            self.ms.entry(strategy.name()).and_modify(|ms| *ms = ms.min(again));
        }
        self.best = Some((self.ms[best.name()], best));
        Ok(())
    }

    /// `auto` by the best other.
    fn ratio(&self) -> Option<f64> {
        self.best.map(|b| self.ms[Strategy::Auto.name()] / b.0)
    }
}

/// All rows so far.
pub(crate) struct Race {
    ratios: Vec<(String, f64, &'static str)>,
    refusals: BTreeMap<(&'static str, String), u64>,
}

fn width(strategy: Strategy) -> usize {
    strategy.name().len().max(8)
}

impl Race {
    pub(crate) fn new() -> Result<Self> {
        say(format_args!("{:22} {:8}", "matrix", "product"))?;
        Strategy::ALL.iter().try_for_each(|s| say(format_args!(" {:>1$}", s.name(), width(*s))))?;
        say_line!(" | {:>15} auto/best results", "best single")?;
        Ok(Self { ratios: Vec::new(), refusals: BTreeMap::new() })
    }

    /// A line of the table; of three factors it is about the second product.
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
        let times = match factors {
            Factors::Three(r, a, p) => Times::new(session, &Factors::Two(r.clone(), mxm(a, p).eval()?)),
            other => Times::new(session, other),
        }?;
        say(format_args!("{name:22} {label:8}"))?;
        for s in Strategy::ALL {
            match times.ms.get(s.name()) {
                Some(ms) => say(format_args!(" {ms:>0$.3}", width(*s)))?,
                None => say(format_args!(" {:>1$}", "-", width(*s)))?,
            }
        }
        let (ratio, single) = (times.ratio(), times.best.map_or("", |b| b.1.name()));
        let wrong = times.wrong.join(", ");
        let verdict = if wrong.is_empty() { "equal".into() } else { format!("DIFFER: {wrong}") };
        say_line!(" | {single:>15} {:>9.2} {verdict}", ratio.unwrap_or(f64::NAN))?;
        let place = format!("{name} {label}");
        session.compared(&verdict, &format!("{place} by {wrong}"));
        self.ratios.extend(ratio.map(|r| (place, r, single)));
        for (strategy, reason) in &times.refused {
            *self.refusals.entry((strategy, kind_of(reason))).or_default() += 1;
        }
        session.record(&json!({
            "mode": "strategies", "matrix": name, "product": label.split(' ').next(), "type": T::TEXT.name,
            "nnz_c": times.entries, "ms": times.ms, "refused": times.refused, "best": single, "ratio": ratio,
            "results": verdict,
        }))
    }

    /// Where `auto` is not the best, and why strategies refused.
    pub(crate) fn finish(self) -> Result<()> {
        let mut slow: Vec<_> = self.ratios.iter().filter(|r| r.1 > MARGIN).collect();
        slow.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (all, within) = (self.ratios.len(), self.ratios.len() - slow.len());
        say_line!("auto is within {:.0} % of the best single strategy on {within} of {all}", 100.0 * (MARGIN - 1.0))?;
        slow.iter().try_for_each(|(place, ratio, best)| say_line!("  {place}: {ratio:.2} times {best}"))?;
        for ((strategy, reason), count) in &self.refusals {
            say_line!("{strategy} refused {count}: {reason}")?;
        }
        Ok(())
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
