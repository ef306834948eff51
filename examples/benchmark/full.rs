//! A·X and X·A in f64 for X with an entry everywhere and few columns, or rows, beside cusparseSpMM.
use crate::Outcome;
use crate::beside::{Rivals, close, heading, report};
use crate::common::say_line;
use crate::cusparse::{Csr, Cusparse, PreparedFull, SpmmAlgorithm};
use crate::measure::{Timing, mean_and_least};
use crate::rows::Rows;
use crate::session::Session;
use oplus::backend::cuda::Buffer;
use oplus::generate::Random;
use oplus::prelude::*;
use std::collections::BTreeMap;

/// Every matrix by as many columns as asked for.
pub(crate) fn run(session: &mut Session, columns: &[u32], trace: bool) -> Outcome<()> {
    heading()?;
    let mut faster: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let done = session.for_each(|session, name, coo| {
        let rows = Rows::of(&coo)?;
        let a = rows.matrix()?.to(&session.device)?;
        let other = session.peer.as_ref().map(|_| Csr::upload(&session.context, &rows, true)).transpose()?;
        for (k, left) in columns.iter().flat_map(|k| [(k, false), (k, true)]) {
            let label = if left { format!("X·A {k}") } else { format!("A·X {k}") };
            let trace = trace.then_some((name, &*label));
            let (ours, rivals) = by_full(session, &rows, &a, other.as_ref(), (*k, left), trace)?;
            // Every entry, X and C once.
            let bytes =
                12 * rows.nnz() + 4 * u64::from(rows.nrows) + 8 * u64::from(*k) * u64::from(rows.nrows + rows.ncols);
            let ratio = report(session, (name, &label), &rows, bytes, ours, &rivals)?;
            faster.entry(label).or_default().extend(ratio);
        }
        Ok(())
    });
    for (label, ratios) in &faster {
        if let Some((mean, least)) = mean_and_least(ratios) {
            let n = ratios.len();
            say_line!("{label}: {n} matrices, geometric mean {mean:.2} times cuSPARSE's best, least {least:.2}")?;
        }
    }
    done
}

fn by_full(
    session: &Session,
    rows: &Rows,
    a: &Matrix<f64>,
    other: Option<&Csr>,
    (k, left): (u32, bool),
    trace: Option<(&str, &str)>,
) -> Outcome<(Timing, Rivals)> {
    let (inner, outer) = if left { (rows.nrows, rows.ncols) } else { (rows.ncols, rows.nrows) };
    let n = inner as usize * k as usize;
    let mut random = Random::new(17, n as u64);
    let values: Vec<f64> = (0..n).map(|_| 1.0 - random.unit()).collect();
    let shape = if left { (k, inner) } else { (inner, k) };
    let x = Matrix::from_full(shape.0.into(), shape.1.into(), values.clone())?.to(&session.device)?;
    let product = || if left { mxm(&x, a).eval() } else { mxm(a, &x).eval() };
    let (ours, c) = session.measure(|| Ok(product()?))?;
    if let Some((name, label)) = trace {
        session.trace(&format!("{name} {label}"), 0.0, product)?;
    }
    let mut rivals = Rivals::default();
    let (Some(peer), Some(other)) = (&session.peer, other) else { return Ok((ours, rivals)) };
    // A row without entries has none in C here, and zeros there.
    let expected = c.into_full(0.0)?;
    assert!(expected.len() == outer as usize * k as usize);
    let x = Buffer::from_host(&session.context, &values)?;
    for algorithm in SpmmAlgorithm::ALL {
        let rival = rivals.best().map(|(_, t)| t.ms);
        rivals.add(algorithm.name(), spmm(session, peer, other, (&x, k, left), algorithm, rival, &expected));
    }
    Ok((ours, rivals))
}

fn spmm(
    session: &Session,
    peer: &Cusparse,
    a: &Csr,
    (x, k, left): (&Buffer, u32, bool),
    algorithm: SpmmAlgorithm,
    rival: Option<f64>,
    expected: &[f64],
) -> Outcome<(Timing, bool)> {
    let prepared = PreparedFull::new(peer, a, (x, i64::from(k)), left, algorithm)?;
    let (timing, c) = session.measure_beside(rival, || prepared.run())?;
    Ok((timing, close(&c.to_host::<f64>()?, expected)))
}
