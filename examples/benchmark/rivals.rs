//! Products by cuSPARSE: every algorithm, and the best of them.
use crate::Outcome;
use crate::cusparse::{Algorithm, Csr, Cusparse};
use crate::measure::{Real, Sum, Timing};
use crate::rows::Rows;
use crate::session::Session;
use crate::verdict::Verdict;
use serde_json::Value;

/// cuSPARSE's best of all its ways.
pub(crate) struct Rival {
    pub(crate) ms: f64,
    pub(crate) peak: u64,
    pub(crate) name: String,
    /// Its numeric part alone, by the functions that keep the symbolic one.
    pub(crate) numeric: Option<f64>,
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

/// A·B and what this library made of it.
pub(crate) struct Step<'a> {
    pub(crate) a: &'a Rows,
    pub(crate) b: &'a Rows,
    pub(crate) c: Sum,
}

/// All products one after the other, each by cuSPARSE's best way; nothing where some product has none. Times go into the object;
/// the text says whether results are the same.
pub(crate) fn race<T: Real>(session: &Session, pairs: &[Step], object: &mut Value) -> Outcome<(Option<Rival>, String)> {
    let products: u64 = pairs.iter().map(|p| p.a.products(p.b)).sum();
    let Some(peer) = session.peer.as_ref().filter(|_| products < 1 << 31) else { return Ok((None, "alone".into())) };
    let (mut rivals, mut verdict) = (Vec::new(), Verdict::default());
    for (pair, prefix) in pairs.iter().zip(if pairs.len() > 1 { ["ap_", "rap_"] } else { ["", ""] }) {
        rivals.extend(contest::<T>(session, peer, pair, (object, prefix), &mut verdict)?);
        verdict.next();
    }
    Ok(((rivals.len() == pairs.len()).then(|| Rival::sum(&rivals)), verdict.to_string()))
}

/// Every algorithm of cuSPARSE on A·B; its times go into the object, what is not our result into the verdict.
fn contest<T: Real>(
    session: &Session,
    peer: &Cusparse,
    Step { a, b, c: ours }: &Step,
    (object, prefix): (&mut Value, &str),
    verdict: &mut Verdict,
) -> Outcome<Option<Rival>> {
    let left = Csr::upload(&session.context, a, T::DOUBLE)?;
    let other = match std::ptr::eq(*a, *b) {
        true => None,
        false => Some(Csr::upload(&session.context, b, T::DOUBLE)?),
    };
    let right = other.as_ref().unwrap_or(&left);
    let mut check = |algorithm: Algorithm, c: &Csr| -> Outcome<()> {
        let sum = c.sum()?;
        verdict.compared(sum.agrees::<T>(ours), || {
            let (n, s, m, t) = (ours.entries, ours.sum, sum.entries, sum.sum);
            format!("{prefix}{}: {n} entries, sum {s}; {m}, {t}", algorithm.name())
        });
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
