//! A·x, xᵀ·A and Aᵀ in f64 beside cuSPARSE's: a row of the table and a JSON line each.
use crate::Outcome;
use crate::beside::{Rivals, close, heading, report};
use crate::common::{say_line, tell};
use crate::cusparse::{Csr, Cusparse, Prepared, SpmvAlgorithm, TransposeAlgorithm};
use crate::measure::{Timing, mean_and_least};
use crate::rows::Rows;
use crate::session::Session;
use oplus::backend::cuda::Buffer;
use oplus::generate::Random;
use oplus::prelude::*;
use std::collections::BTreeMap;

/// Every operation on every matrix.
pub(crate) fn run(session: &mut Session) -> Outcome<()> {
    heading()?;
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
            say_line!("{operation}: {n} matrices, geometric mean {mean:.2} times cuSPARSE's best, least {least:.2}")?;
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
                tell(format_args!(
                    "transpose as the CPU has it: ours {ours}, read again {again}, cuSPARSE's {}\n",
                    found == truth
                ));
            }
            Ok((time, found == expected))
        });
        rivals.add(algorithm.name(), compared);
    }
    Ok((ours, rivals))
}
