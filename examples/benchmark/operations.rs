//! A·x, xᵀ·A and Aᵀ in f64 beside cuSPARSE's: a row of the table and a JSON line each.
use crate::Outcome;
use crate::cusparse::{Csr, Cusparse, Prepared, SpmvAlgorithm, TransposeAlgorithm};
use crate::measure::{Timing, mean_and_least};
use crate::rows::Rows;
use crate::session::Session;
use oplus::backend::cuda::Buffer;
use oplus::generate::Random;
use oplus::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// cuSPARSE's times by algorithm, or why there is none; and whether its results are ours.
#[derive(Default)]
pub(crate) struct Rivals {
    times: Vec<(&'static str, Timing)>,
    errors: Vec<(&'static str, String)>,
    differ: Vec<&'static str>,
}
impl Rivals {
    pub(crate) fn best(&self) -> Option<(&'static str, Timing)> {
        self.times.iter().copied().min_by(|a, b| a.1.ms.total_cmp(&b.1.ms))
    }
    pub(crate) fn add(&mut self, name: &'static str, outcome: Outcome<(Timing, bool)>) {
        match outcome {
            Ok((timing, same)) => {
                self.times.push((name, timing));
                self.differ.extend((!same).then_some(name));
            }
            Err(e) => self.errors.push((name, e.to_string())),
        }
    }
}

/// The table's.
pub(crate) fn heading() {
    println!(
        "{:22} {:9} {:>10} {:>10} | {:>9} {:>6} {:>7} | {:>9} {:>10} {:>7} | {:>6} results",
        "matrix", "operation", "rows", "nnz", "ms", "bound%", "MB", "cuSPARSE", "best of it", "MB", "faster"
    );
}

/// Every operation on every matrix.
pub(crate) fn run(session: &mut Session) -> Outcome<()> {
    heading();
    let mut faster: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let done = session.for_each(|session, name, coo| {
        let rows = Rows::of(&coo)?;
        let a = rows.matrix()?.to(&session.device)?;
        let other = session.peer.as_ref().map(|_| Csr::upload(&session.context, &rows, true)).transpose()?;
        let (nrows, ncols) = (u64::from(rows.nrows), u64::from(rows.ncols));
        for (operation, transposed) in [("mxv", false), ("vxm", true)] {
            let (ours, rivals) = by_vector(session, &rows, &a, other.as_ref(), transposed)?;
            // Every entry, x and y once.
            let bytes = 12 * rows.nnz() + 4 * nrows + 8 * (nrows + ncols);
            let ratio = report(session, (name, operation), &rows, bytes, ours, &rivals)?;
            faster.entry(operation).or_default().extend(ratio);
        }
        let (ours, rivals) = turned(session, &a, other.as_ref())?;
        let bytes = 24 * rows.nnz() + 4 * (nrows + ncols);
        let ratio = report(session, (name, "transpose"), &rows, bytes, ours, &rivals)?;
        faster.entry("transpose").or_default().extend(ratio);
        Ok(())
    });
    for (operation, ratios) in &faster {
        if let Some((mean, least)) = mean_and_least(ratios) {
            let n = ratios.len();
            println!("{operation}: {n} matrices, geometric mean {mean:.2} times cuSPARSE's best, least {least:.2}");
        }
    }
    done
}

/// A·x or xᵀ·A with a full vector.
fn by_vector(
    session: &Session,
    rows: &Rows,
    a: &Matrix<f64>,
    other: Option<&Csr>,
    transposed: bool,
) -> Outcome<(Timing, Rivals)> {
    let (inner, outer) = if transposed { (rows.nrows, rows.ncols) } else { (rows.ncols, rows.nrows) };
    let mut random = Random::new(11, u64::from(inner));
    let values: Vec<f64> = (0..inner).map(|_| 1.0 - random.unit()).collect();
    let entries: Vec<(u64, f64)> = values.iter().enumerate().map(|(i, x)| (i as u64, *x)).collect();
    let x = Vector::<f64>::build(u64::from(inner), &entries)?.to(&session.device)?;
    let (ours, y) = session.measure(|| Ok(if transposed { vxm(&x, a).eval()? } else { mxv(a, &x).eval()? }))?;
    let mut rivals = Rivals::default();
    let (Some(peer), Some(other)) = (&session.peer, other) else { return Ok((ours, rivals)) };
    // A row without entries has none in y here, and 0 there.
    let mut expected = vec![0.0; outer as usize];
    y.entries()?.into_iter().for_each(|(i, v)| expected[i as usize] = v);
    let x = Buffer::from_host(&session.context, &values)?;
    for algorithm in SpmvAlgorithm::ALL {
        let rival = rivals.best().map(|(_, t)| t.ms);
        let outcome = spmv(session, peer, other, &x, transposed, algorithm, rival, &expected);
        rivals.add(algorithm.name(), outcome);
    }
    Ok((ours, rivals))
}

fn spmv(
    session: &Session,
    peer: &Cusparse,
    a: &Csr,
    x: &Buffer,
    transposed: bool,
    algorithm: SpmvAlgorithm,
    rival: Option<f64>,
    expected: &[f64],
) -> Outcome<(Timing, bool)> {
    let prepared = Prepared::new(peer, a, x, transposed, algorithm)?;
    let (timing, y) = session.measure_beside(rival, || prepared.run())?;
    Ok((timing, close(&y.to_host::<f64>()?, expected)))
}

/// Equal but for rounding, measured by the largest value.
pub(crate) fn close(found: &[f64], expected: &[f64]) -> bool {
    let largest = expected.iter().map(|v| v.abs()).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let same = |(x, y): (&f64, &f64)| x == y || (x - y).abs() <= 1e-10 * largest || !(x + y).is_finite();
    found.len() == expected.len() && found.iter().zip(expected).all(same)
}

/// Aᵀ.
fn turned(session: &Session, a: &Matrix<f64>, other: Option<&Csr>) -> Outcome<(Timing, Rivals)> {
    let (ours, t) = session.measure(|| Ok(transpose(a).eval()?))?;
    let mut rivals = Rivals::default();
    let (Some(peer), Some(other)) = (&session.peer, other) else { return Ok((ours, rivals)) };
    let expected = Rows::read(&t)?;
    for algorithm in TransposeAlgorithm::ALL {
        let rival = rivals.best().map(|(_, t)| t.ms);
        let outcome = session.measure_beside(rival, || peer.transpose(other, algorithm));
        let compared = outcome.and_then(|(time, c)| {
            let found = c.download()?;
            if found != expected {
                // One of them is wrong: which?
                let truth = Rows::read(&transpose(&a.to(&Device::Cpu)?).eval()?)?;
                let (ours, again) = (expected == truth, Rows::read(&t)? == truth);
                eprintln!(
                    "transpose as the CPU has it: ours {ours}, read again {again}, cuSPARSE's {}",
                    found == truth
                );
            }
            Ok((time, found == expected))
        });
        rivals.add(algorithm.name(), compared);
    }
    Ok((ours, rivals))
}

/// Prints and records; how many times faster than cuSPARSE.
pub(crate) fn report(
    session: &mut Session,
    (name, operation): (&str, &str),
    rows: &Rows,
    bytes: u64,
    ours: Timing,
    rivals: &Rivals,
) -> Outcome<Option<f64>> {
    let best = rivals.best();
    let faster = best.map(|(_, t)| t.ms / ours.ms);
    let bound = bytes as f64 / session.options.bandwidth / 1e6 / ours.ms;
    let verdict: String = match (&rivals.times[..], &rivals.differ[..]) {
        ([], _) => "alone".into(),
        (_, []) => "equal".into(),
        (_, differ) => format!("DIFFER: {}", differ.join(", ")),
    };
    println!(
        "{name:22} {operation:9} {:>10} {:>10} | {:>9.4} {:>6.1} {:>7.1} | {:>9.4} {:>10} {:>7.1} | {:>6.2} {verdict}",
        rows.nrows,
        rows.nnz(),
        ours.ms,
        100.0 * bound,
        ours.peak as f64 / 1e6,
        best.map_or(f64::NAN, |b| b.1.ms),
        best.map_or("", |b| b.0),
        best.map_or(f64::NAN, |b| b.1.peak as f64 / 1e6),
        faster.unwrap_or(f64::NAN),
    );
    let mut object = json!({
        "mode": "operation", "matrix": name, "operation": operation, "type": "f64", "rows": rows.nrows,
        "cols": rows.ncols, "nnz": rows.nnz(), "ms": ours.ms, "peak": ours.peak, "bound": bound,
        "cusparse_ms": best.map(|b| b.1.ms), "cusparse_best": best.map(|b| b.0), "faster": faster, "results": verdict,
    });
    let mut others = Map::new();
    for (name, t) in &rivals.times {
        others.insert(format!("cusparse_{name}_ms"), json!(t.ms));
        others.insert(format!("cusparse_{name}_peak"), json!(t.peak));
    }
    others.extend(rivals.errors.iter().map(|(name, e)| (format!("cusparse_{name}_error"), Value::from(e.as_str()))));
    if let Value::Object(object) = &mut object {
        object.extend(others);
    }
    session.record(&object)?;
    session.compared(&verdict, &format!("{name} {operation}"));
    Ok(faster)
}
