//! An operation in f64 beside cuSPARSE's ways of it: a row of the table and a JSON line each.
use crate::Outcome;
use crate::common::say_line;
use crate::measure::Timing;
use crate::rows::Rows;
use crate::session::Session;
use oplus::Result;
use serde_json::{Map, Value, json};

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
pub(crate) fn heading() -> Result<()> {
    say_line!(
        "{:22} {:9} {:>10} {:>10} | {:>9} {:>6} {:>7} | {:>9} {:>10} {:>7} | {:>6} results",
        "matrix",
        "operation",
        "rows",
        "nnz",
        "ms",
        "bound%",
        "MB",
        "cuSPARSE",
        "best of it",
        "MB",
        "faster"
    )
}

/// Equal but for rounding, measured by the largest value.
pub(crate) fn close(found: &[f64], expected: &[f64]) -> bool {
    let largest = expected.iter().map(|v| v.abs()).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let same = |(x, y): (&f64, &f64)| x == y || (x - y).abs() <= 1e-10 * largest || !(x + y).is_finite();
    found.len() == expected.len() && found.iter().zip(expected).all(same)
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
    say_line!(
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
    )?;
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
