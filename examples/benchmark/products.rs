//! Products beside cuSPARSE: a row of the table and a JSON line each.
use crate::common::say_line;
use crate::factors::{Factors, Family, Kind};
use crate::measure::{Real, Sum, Timing, mean_and_least};
use crate::options::{Products, Type};
use crate::rivals::{self, Rival, Step};
use crate::rows::Rows;
use crate::session::Session;
use crate::{Failure, Outcome, strategies};
use oplus::prelude::*;
use serde_json::{Value, json};

/// The products asked for of every matrix; or the strategies.
pub(crate) fn run(session: &mut Session, options: &Products) -> Outcome<()> {
    let mut strategies = options.strategies.then(strategies::Race::new).transpose()?;
    let mut faster = Vec::new();
    if strategies.is_none() {
        say_line!(
            "{:22} {:9} {:>11} {:>10} {:>5} | {:>9} {:>8} {:>6} {:>7} {:>9} | {:>9} {:>15} {:>8} {:>9} | {:>6} results",
            "matrix",
            "product",
            "products",
            "nnz(C)",
            "ratio",
            "ms",
            "GFLOP/s",
            "bound%",
            "MB",
            "numeric",
            "cuSPARSE",
            "best of it",
            "MB",
            "numeric",
            "faster"
        )?;
    }
    let done = session.for_each(|session, name, coo| {
        let Some(family) = Family::new(&coo, &options.products)? else { return Ok(()) };
        drop(coo);
        for kind in &options.products {
            let Some(factors) = family.factors(*kind) else { continue };
            for real in &options.types {
                let race = strategies.as_mut();
                faster.extend(match real {
                    Type::F64 => one::<f64>(session, options, name, *kind, &factors, race)?,
                    Type::F32 => one::<f32>(session, options, name, *kind, &factors, race)?,
                });
            }
        }
        Ok(())
    });
    if let Some((mean, least)) = mean_and_least(&faster) {
        say_line!("{} products: geometric mean {mean:.2} times cuSPARSE's best, least {least:.2}", faster.len())?;
    }
    if let Some(race) = strategies {
        race.finish()?;
    }
    done
}

/// One product in one type: how many times faster than cuSPARSE.
fn one<T: Real>(
    session: &mut Session,
    options: &Products,
    name: &str,
    kind: Kind,
    rows: &Factors<&Rows>,
    race: Option<&mut strategies::Race>,
) -> Outcome<Option<f64>>
where
    PlusTimes: Semiring<T, T, Out = T>,
    MinPlus: Semiring<T, T, Out = T>,
{
    let factors = rows.map(|m| T::narrow(m.matrix()?)?.to(&session.device))?;
    let label = format!("{} {}", kind.name(), T::TEXT.name);
    if let Some(race) = race {
        race.row(session, name, &label, &factors)?;
        return Ok(None);
    }
    let (ours, c) = session.measure(|| Ok(factors.eval(options.strategy)?))?;
    let sum = Sum::of(&c)?;
    drop(c);
    let planned = factors.plan()?;
    let (numeric, again) = session.measure(|| Ok(planned()?))?;
    if !Sum::of(&again)?.agrees::<T>(&sum) {
        session.compared("DIFFER", &format!("{name} {label} of a plan"));
    }
    drop((planned, again));
    if options.trace {
        session.trace(&format!("{name} {label}"), 0.005, || factors.eval(options.strategy))?;
    }
    let mut object = json!({
        "mode": "product", "matrix": name, "product": kind.name(), "type": T::TEXT.name,
        "strategy": options.strategy.name(),
    });
    if options.semirings {
        semirings(session, &format!("{name:22} {label:9}"), &factors, (sum.entries, ours, options.trace), &mut object)?;
    }
    // The first product's result is the second's operand where there are three factors.
    let middle = match &factors {
        Factors::Three(_, a, p) => Some(T::wide(&mxm(a, p).eval()?)?),
        _ => None,
    };
    drop(factors);
    let middle = middle.map(|m| Ok::<_, Failure>((Rows::read(&m)?, Sum::of(&m)?))).transpose()?;
    let (a, b) = (*rows.first().0, *rows.first().1);
    let pairs = match (rows, &middle) {
        (Factors::Three(r, ..), Some((ap, c))) => vec![Step { a, b, c: *c }, Step { a: r, b: ap, c: sum }],
        _ => vec![Step { a, b, c: sum }],
    };
    let (rival, verdict) = rivals::race::<T>(session, &pairs, &mut object)?;
    let entries: u64 = pairs.iter().map(|p| p.a.nnz() + p.b.nnz() + p.c.entries).sum();
    let row = Row {
        label: format!("{name:22} {label:9}"),
        a,
        b,
        entries: sum.entries,
        products: pairs.iter().map(|p| p.a.products(p.b)).sum(),
        bound: entries as f64 * (4 + size_of::<T>()) as f64 / session.options.bandwidth / 1e6 / ours.ms,
        ours,
        numeric,
        rival,
        verdict,
    };
    row.print()?;
    row.fill(&mut object);
    session.record(&object)?;
    session.compared(&row.verdict, &row.label);
    Ok(row.faster())
}

/// What is said of one product.
struct Row<'a> {
    label: String,
    a: &'a Rows,
    b: &'a Rows,
    /// Of the result.
    entries: u64,
    /// Multiplications.
    products: u64,
    /// Share of the speed at which operands and results could be moved.
    bound: f64,
    ours: Timing,
    /// With positions known.
    numeric: Timing,
    rival: Option<Rival>,
    verdict: String,
}
impl Row<'_> {
    fn faster(&self) -> Option<f64> {
        self.rival.as_ref().map(|r| r.ms / self.ours.ms)
    }
    fn gflops(&self) -> f64 {
        2e-6 * self.products as f64 / self.ours.ms
    }
    fn print(&self) -> Outcome<()> {
        let rival = self.rival.as_ref();
        let number = |x: Option<f64>| x.unwrap_or(f64::NAN);
        say_line!(
            "{} {:>11} {:>10} {:>5.1} | {:>9.3} {:>8.1} {:>6.1} {:>7.0} {:>9.3} | {:>9.3} {:>15} {:>8.0} {:>9.3} | {:>6.2} {}",
            self.label,
            self.products,
            self.entries,
            self.products as f64 / self.entries.max(1) as f64,
            self.ours.ms,
            self.gflops(),
            100.0 * self.bound,
            self.ours.peak as f64 / 1e6,
            self.numeric.ms,
            number(rival.map(|r| r.ms)),
            rival.map_or("", |r| &r.name),
            number(rival.map(|r| r.peak as f64 / 1e6)),
            number(rival.and_then(|r| r.numeric)),
            number(self.faster()),
            self.verdict,
        )?;
        Ok(())
    }
    fn fill(&self, object: &mut Value) {
        let rival = self.rival.as_ref();
        for (key, value) in [
            ("rows", json!(self.a.nrows)),
            ("nnz", json!(self.a.nnz())),
            ("nnz_b", json!(self.b.nnz())),
            ("nnz_c", json!(self.entries)),
            ("products", json!(self.products)),
            ("ms", json!(self.ours.ms)),
            ("peak", json!(self.ours.peak)),
            ("numeric_ms", json!(self.numeric.ms)),
            ("gflops", json!(self.gflops())),
            ("bound", json!(self.bound)),
            ("cusparse_ms", json!(rival.map(|r| r.ms))),
            ("cusparse_peak", json!(rival.map(|r| r.peak))),
            ("cusparse_best", json!(rival.map(|r| &r.name))),
            ("cusparse_numeric_ms", json!(rival.and_then(|r| r.numeric))),
            ("faster", json!(self.faster())),
            ("results", json!(self.verdict)),
        ] {
            object[key] = value;
        }
    }
}

/// Other semirings on the same positions: as many entries, and minima as another strategy has them.
fn semirings<T: Real>(
    session: &mut Session,
    label: &str,
    factors: &Factors<Matrix<T>>,
    (entries, ours, trace): (u64, Timing, bool),
    object: &mut Value,
) -> Outcome<()>
where
    MinPlus: Semiring<T, T, Out = T>,
{
    let least = factors.over::<MinPlus>();
    let truth = factors.map(|m| apply(m, Pair::<bool>::default()).eval())?.over::<LorLand>();
    let (least_time, c) = session.measure(|| Ok(least.eval(Strategy::Auto)?))?;
    let of_truth = || truth.eval(Strategy::Auto);
    let (truth, d) = session.measure(|| Ok(of_truth()?))?;
    if trace {
        session.trace(&format!("{label} bool"), 0.005, of_truth)?;
    }
    let other = least.eval(Strategy::Hash)?;
    let minima = Sum::of(&c.over())?.agrees::<T>(&Sum::of(&other.over())?);
    let same = minima && c.nvals() == entries && d.nvals() == entries;
    object["min_plus_ms"] = least_time.ms.into();
    object["bool_ms"] = truth.ms.into();
    let verdict = if same { "equal" } else { "DIFFER" };
    say_line!(
        "{label} plus_times {:.3} ms, min_plus {:.3} ms, bool {:.3} ms: {verdict}",
        ours.ms,
        least_time.ms,
        truth.ms
    )?;
    session.compared(verdict, label);
    Ok(())
}
