//! Products beside cuSPARSE: a row of the table and a JSON line each.
use crate::cusparse::{Algorithm, Csr, Cusparse};
use crate::factors::{Factors, Family, Kind};
use crate::measure::{Real, Sum, Timing, mean_and_least};
use crate::options::{Products, Type};
use crate::rows::Rows;
use crate::session::Session;
use crate::{Outcome, strategies};
use oplus::prelude::*;
use serde_json::{Value, json};

/// The products asked for of every matrix; or the strategies.
pub(crate) fn run(session: &mut Session, options: &Products) -> Outcome<()> {
    let mut strategies = options.strategies.then(strategies::Race::new);
    let mut faster = Vec::new();
    if strategies.is_none() {
        println!(
            "{:22} {:9} {:>11} {:>10} {:>5} | {:>9} {:>8} {:>6} {:>7} {:>9} | {:>9} {:>13} {:>8} {:>9} | {:>6} results",
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
        );
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
        println!("{} products: geometric mean {mean:.2} times cuSPARSE's best, least {least:.2}", faster.len());
    }
    if let Some(race) = strategies {
        race.finish();
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
    let numeric = session.measure(|| Ok(planned()?))?.0;
    drop(planned);
    if options.trace {
        trace(session, &format!("{name} {label}"), || factors.eval(options.strategy))?;
    }
    let mut object = json!({
        "mode": "product", "matrix": name, "product": kind.name(), "type": T::TEXT.name, "nnz_c": sum.entries,
        "strategy": options.strategy.name(), "ms": ours.ms, "peak": ours.peak, "numeric_ms": numeric.ms,
    });
    if options.semirings {
        semirings(session, &format!("{name:22} {label:9}"), &factors, sum.entries, ours, &mut object)?;
    }
    // The first product's result is the second's operand where there are three factors.
    let middle = match &factors {
        Factors::Three(_, a, p) => Some(T::wide(&mxm(a, p).eval()?)?),
        _ => None,
    };
    drop(factors);
    let middle_rows = middle.as_ref().map(Rows::read).transpose()?;
    let mut pairs = vec![(*rows.first().0, *rows.first().1)];
    let mut sums = vec![sum];
    if let (Factors::Three(r, ..), Some(rows), Some(matrix)) = (rows, &middle_rows, &middle) {
        pairs.push((r, rows));
        sums.insert(0, Sum::of(matrix)?);
    }
    drop(middle);
    let products: u64 = pairs.iter().map(|(a, b)| a.products(b)).sum();
    let entries: u64 = pairs.iter().zip(&sums).map(|((a, b), c)| a.nnz() + b.nnz() + c.entries).sum();
    let bytes = entries as f64 * (4 + size_of::<T>()) as f64;
    let bound = bytes / session.options.bandwidth / 1e6 / ours.ms;
    let gflops = 2e-6 * products as f64 / ours.ms;
    let mut verdict = String::from("alone");
    let mut rivals = Vec::new();
    if let Some(peer) = session.peer.as_ref().filter(|_| products < 1 << 31) {
        verdict = "equal".into();
        for (n, ((a, b), sum)) in pairs.iter().zip(&sums).enumerate() {
            let prefix = if pairs.len() > 1 { ["ap_", "rap_"][n] } else { "" };
            rivals.extend(contest::<T>(session, peer, (a, b), sum, (&mut object, prefix), &mut verdict)?);
        }
    }
    let rival = (rivals.len() == pairs.len()).then(|| Rival::sum(&rivals));
    let faster = rival.as_ref().map(|r| r.ms / ours.ms);
    for (key, value) in [
        ("rows", json!(rows.first().0.nrows)),
        ("nnz", json!(rows.first().0.nnz())),
        ("nnz_b", json!(rows.first().1.nnz())),
        ("products", json!(products)),
        ("gflops", json!(gflops)),
        ("bound", json!(bound)),
        ("cusparse_ms", json!(rival.as_ref().map(|r| r.ms))),
        ("cusparse_peak", json!(rival.as_ref().map(|r| r.peak))),
        ("cusparse_best", json!(rival.as_ref().map(|r| &r.name))),
        ("cusparse_numeric_ms", json!(rival.as_ref().and_then(|r| r.numeric))),
        ("faster", json!(faster)),
        ("results", json!(verdict)),
    ] {
        object[key] = value;
    }
    let number = |x: Option<f64>| x.unwrap_or(f64::NAN);
    println!(
        "{name:22} {label:9} {products:>11} {:>10} {:>5.1} | {:>9.3} {gflops:>8.1} {:>6.1} {:>7.0} {:>9.3} | {:>9.3} {:>13} {:>8.0} {:>9.3} | {:>6.2} {verdict}",
        sum.entries,
        products as f64 / sum.entries.max(1) as f64,
        ours.ms,
        100.0 * bound,
        ours.peak as f64 / 1e6,
        numeric.ms,
        number(rival.as_ref().map(|r| r.ms)),
        rival.as_ref().map_or("", |r| &r.name),
        number(rival.as_ref().map(|r| r.peak as f64 / 1e6)),
        number(rival.as_ref().and_then(|r| r.numeric)),
        number(faster),
    );
    session.record(&object)?;
    Ok(faster)
}

/// cuSPARSE's best of all its ways.
struct Rival {
    ms: f64,
    peak: u64,
    name: String,
    /// Its numeric part alone, by the functions that keep the symbolic one.
    numeric: Option<f64>,
}
impl Rival {
    /// One product after the other.
    fn sum(all: &[Rival]) -> Rival {
        Rival {
            ms: all.iter().map(|r| r.ms).sum(),
            peak: all.iter().map(|r| r.peak).max().unwrap_or(0),
            name: all.iter().map(|r| r.name.as_str()).collect::<Vec<_>>().join("+"),
            numeric: all.iter().map(|r| r.numeric).sum(),
        }
    }
}

/// Every algorithm of cuSPARSE on A·B; its times go into the object, what is not our result into the verdict.
fn contest<T: Real>(
    session: &Session,
    peer: &Cusparse,
    (a, b): (&Rows, &Rows),
    ours: &Sum,
    (object, prefix): (&mut Value, &str),
    verdict: &mut String,
) -> Outcome<Option<Rival>> {
    let left = Csr::upload(&session.context, a, T::DOUBLE)?;
    let other = match std::ptr::eq(a, b) {
        true => None,
        false => Some(Csr::upload(&session.context, b, T::DOUBLE)?),
    };
    let right = other.as_ref().unwrap_or(&left);
    let mut check = |algorithm: Algorithm, c: &Csr| -> Outcome<()> {
        let sum = c.sum()?;
        if !sum.agrees::<T>(ours) && verdict == "equal" {
            let (n, s, m, t) = (ours.entries, ours.sum, sum.entries, sum.sum);
            *verdict = format!("DIFFER from {prefix}{}: {n} entries, sum {s}; {m}, {t}", algorithm.name());
        }
        Ok(())
    };
    let (mut best, mut numeric): (Option<(Timing, Algorithm)>, _) = (None, None);
    for algorithm in Algorithm::ALL {
        let rival = best.map(|(t, _)| t.ms);
        let timing: Outcome<Timing> = match algorithm {
            Algorithm::ReuseNumeric => {
                let mut timing = None;
                let whole = peer.reuse(&left, right, |run| {
                    timing = Some(session.measure_beside(rival, &mut *run)?.0);
                    Ok(())
                });
                whole.and_then(|_| timing.ok_or_else(|| "no timing".into()))
            }
            Algorithm::ReuseWhole => session
                .measure_beside(rival, || peer.reuse(&left, right, |_| Ok(())))
                .and_then(|(t, c)| check(algorithm, &c).map(|()| t)),
            _ => session
                .measure_beside(rival, || peer.multiply(&left, right, algorithm))
                .and_then(|(t, c)| check(algorithm, &c).map(|()| t)),
        };
        let key = |what: &str| format!("cusparse_{prefix}{}_{what}", algorithm.name());
        match timing {
            Ok(t) => {
                object[key("ms")] = t.ms.into();
                object[key("peak")] = t.peak.into();
                if algorithm == Algorithm::ReuseNumeric {
                    numeric = Some(t.ms);
                } else if best.is_none_or(|(b, _)| t.ms < b.ms) {
                    best = Some((t, algorithm));
                }
            }
            Err(e) => object[key("error")] = e.to_string().into(),
        }
    }
    // What it multiplied that was not an operand of ours counts as its memory.
    let kept = if prefix == "rap_" { right.bytes() } else { 0 };
    Ok(best.map(|(t, algorithm)| Rival { ms: t.ms, peak: t.peak + kept, name: algorithm.name().into(), numeric }))
}

/// Other semirings on the same positions: as many entries.
fn semirings<T: Real>(
    session: &Session,
    label: &str,
    factors: &Factors<Matrix<T>>,
    entries: u64,
    ours: Timing,
    object: &mut Value,
) -> Outcome<()>
where
    MinPlus: Semiring<T, T, Out = T>,
{
    let least = factors.over::<MinPlus>();
    let truth = factors.map(|m| apply(m, Pair::<bool>::default()).eval())?.over::<LorLand>();
    let (least, c) = session.measure(|| Ok(least.eval(Strategy::Auto)?))?;
    let (truth, d) = session.measure(|| Ok(truth.eval(Strategy::Auto)?))?;
    let same = c.nvals() == entries && d.nvals() == entries;
    object["min_plus_ms"] = least.ms.into();
    object["bool_ms"] = truth.ms.into();
    let verdict = if same { "as many entries" } else { "DIFFER in entries" };
    println!("{label} plus_times {:.3} ms, min_plus {:.3} ms, bool {:.3} ms: {verdict}", ours.ms, least.ms, truth.ms);
    Ok(())
}

/// What every kernel takes.
fn trace<R>(session: &Session, label: &str, work: impl FnOnce() -> Result<R>) -> Outcome<()> {
    let (_, launches) = session.context.trace(work)?;
    let total: f64 = launches.iter().map(|l| l.ms).sum();
    println!("{label}: {total:.3} ms in {} launches", launches.len());
    for l in launches.iter().filter(|l| l.ms > 0.005) {
        println!(
            "  {:8.4} ms  {:28} {:>8} x {:>4} threads, {:>6} bytes shared",
            l.ms, l.kernel, l.blocks, l.threads, l.shared
        );
    }
    Ok(())
}
