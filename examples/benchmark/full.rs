//! A·X in f64 for X with an entry everywhere and few columns, beside cusparseSpMM.
use crate::Outcome;
use crate::cusparse::{Csr, Cusparse, PreparedFull, SpmmAlgorithm};
use crate::measure::{Timing, mean_and_least};
use crate::operations::{Rivals, close, heading, report};
use crate::rows::Rows;
use crate::session::Session;
use oplus::backend::cuda::Buffer;
use oplus::generate::Random;
use oplus::prelude::*;
use std::collections::BTreeMap;

/// Every matrix by as many columns as asked for.
pub(crate) fn run(session: &mut Session, columns: &[u32], trace: bool) -> Outcome<()> {
    heading();
    let mut faster: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let done = session.for_each(|session, name, coo| {
        let rows = Rows::of(&coo)?;
        let a = rows.matrix()?.to(&session.device)?;
        let other = session.peer.as_ref().map(|_| Csr::upload(&session.context, &rows, true)).transpose()?;
        for k in columns {
            let label = format!("mxm {k}");
            let (ours, rivals) = by_full(session, &rows, &a, other.as_ref(), *k, trace.then_some((name, &label)))?;
            // Every entry, X and C once.
            let bytes =
                12 * rows.nnz() + 4 * u64::from(rows.nrows) + 8 * u64::from(*k) * u64::from(rows.nrows + rows.ncols);
            let ratio = report(session, (name, &label), &rows, bytes, ours, &rivals)?;
            faster.entry(*k).or_default().extend(ratio);
        }
        Ok(())
    });
    for (k, ratios) in &faster {
        if let Some((mean, least)) = mean_and_least(ratios) {
            let n = ratios.len();
            println!("{k} columns: {n} matrices, geometric mean {mean:.2} times cuSPARSE's best, least {least:.2}");
        }
    }
    done
}

fn by_full(
    session: &Session,
    rows: &Rows,
    a: &Matrix<f64>,
    other: Option<&Csr>,
    k: u32,
    trace: Option<(&str, &str)>,
) -> Outcome<(Timing, Rivals)> {
    let n = rows.ncols as usize * k as usize;
    let mut random = Random::new(17, n as u64);
    let values: Vec<f64> = (0..n).map(|_| 1.0 - random.unit()).collect();
    let offsets = (0..=u64::from(rows.ncols)).map(|r| r * u64::from(k)).collect();
    let indices = (0..rows.ncols).flat_map(|_| 0..k).collect();
    let x = Matrix::from_csr(rows.ncols, k, offsets, indices, values.clone())?.to(&session.device)?;
    let (ours, c) = session.measure(|| Ok(mxm(a, &x).eval()?))?;
    if let Some((name, label)) = trace {
        session.trace(&format!("{name} {label}"), 0.0, || mxm(a, &x).eval())?;
    }
    let mut rivals = Rivals::default();
    let (Some(peer), Some(other)) = (&session.peer, other) else { return Ok((ours, rivals)) };
    // A row without entries has none in C here, and zeros there.
    let mut expected = vec![0.0; rows.nrows as usize * k as usize];
    let c = c.to(&Device::Cpu)?;
    let c = c.csr_parts()?;
    for row in 0..rows.nrows as usize {
        for e in c.offsets()[row] as usize..c.offsets()[row + 1] as usize {
            expected[row * k as usize + c.indices()[e] as usize] = c.values()[e];
        }
    }
    let x = Buffer::from_host(&session.context, &values)?;
    for algorithm in SpmmAlgorithm::ALL {
        let rival = rivals.best().map(|(_, t)| t.ms);
        rivals.add(algorithm.name(), spmm(session, peer, other, (&x, k), algorithm, rival, &expected));
    }
    Ok((ours, rivals))
}

fn spmm(
    session: &Session,
    peer: &Cusparse,
    a: &Csr,
    (x, k): (&Buffer, u32),
    algorithm: SpmmAlgorithm,
    rival: Option<f64>,
    expected: &[f64],
) -> Outcome<(Timing, bool)> {
    let prepared = PreparedFull::new(peer, a, (x, i64::from(k)), algorithm)?;
    let (timing, c) = session.measure_beside(rival, || prepared.run())?;
    Ok((timing, close(&c.to_host::<f64>()?, expected)))
}
