//! What a call costs beside its work: operations on few entries, one after the other without a wait between them, and each waited for.
use crate::Outcome;
use crate::common::say_line;
use crate::session::Session;
use oplus::prelude::*;
use serde_json::json;

/// Calls between two waits.
const IN_A_ROW: u32 = 200;

/// Every operation on vectors of so many entries and a matrix of three times as many.
pub(crate) fn run(session: &mut Session, entries: u64, trace: bool) -> Outcome<()> {
    let device = session.device;
    let mut coo = Coo::<f64>::new(entries, entries);
    for i in 0..entries {
        (i.saturating_sub(1)..entries.min(i + 2)).for_each(|j| coo.push(i, j, 1.0 + i as f64));
    }
    let a = Matrix::from_coo(&coo)?.to(&device)?;
    let x = Vector::<f64>::full(entries, 1.5)?.to(&device)?;
    let y = apply_second(&x, Times, 2.0).eval()?;
    let half: Vec<(u64, f64)> = (0..entries).step_by(2).map(|i| (i, 1.0 + i as f64)).collect();
    let some = Vector::build(entries, &half)?.to(&device)?;
    let mut table = Table { session, entries, trace };
    say_line!("{:28} | {:>10} {:>10}", "operation", "µs a call", "waited for")?;
    table.row("apply", || apply(&y, Negate).eval())?;
    table.row("apply bound", || apply_second(&y, Times, 2.5).eval())?;
    table.row("ewise_add, same entries", || ewise_add(&x, &y, Plus).eval())?;
    table.row("ewise_mult, same entries", || ewise_mult(&x, &y, Times).eval())?;
    table.row("y += a·x", || ewise_add(&y, &apply_second(&x, Times, 0.5).eval()?, Plus).eval())?;
    table.row("mxv", || mxv(&a, &y).eval())?;
    table.row("vxm", || vxm(&y, &a).eval())?;
    let mut into = y.clone();
    table.row("mxv, accumulated", || mxv(&a, &y).accumulate(Minus).into(&mut into))?;
    table.row("reduce", || reduce(&y, Plus))?;
    table.row("reduce rows", || reduce_rows(&a, Plus).eval())?;
    table.row("scale rows", || scale_rows(&y, &a, Times).eval())?;
    table.row("ewise_add, other entries", || ewise_add(&some, &y, Plus).eval())?;
    table.row("ewise_union, other entries", || ewise_union(&some, 1.0, &y, 2.0, Plus).eval())?;
    table.row("select", || select(&y, ValueGt, 2.0).eval())?;
    table.row("mxv, half a vector", || mxv(&a, &some).eval())?;
    table.row("transpose", || transpose(&a).eval())?;
    table.row("mxm", || mxm(&a, &a).eval())?;
    // A step of a search: few entries, and many that have been found.
    let step = (entries / 256).max(1) as usize;
    let few: Vec<(u64, f64)> = (0..entries).step_by(step).map(|i| (i, i as f64)).collect();
    let few = Vector::build(entries, &few)?.to(&device)?;
    let (mut list, mut bitmap) = (some.clone(), some.to_bitmap()?);
    let steps = (few.over::<AnySecondI>(), a.over::<AnySecondI>());
    for (name, found) in [("list", &list), ("bitmap", &bitmap)] {
        let open = found.structure().complement();
        table.row(&format!("vxm of few, {name} as mask"), || vxm(&few, &a).mask(&open).eval())?;
        table.row(&format!("parents of few, {name} as mask"), || vxm(&steps.0, &steps.1).mask(&open).eval())?;
        table.row(&format!("ewise_mult, few and {name}"), || ewise_mult(found, &few, Le).eval())?;
    }
    table.row("few into a list", || {
        apply(&few, Identity).accumulate(First).into(&mut list).map(|()| list = some.clone())
    })?;
    table.row("few into a bitmap", || apply(&few, Identity).accumulate(First).into(&mut bitmap))
}

struct Table<'a, 'b> {
    session: &'a mut Session<'b>,
    entries: u64,
    trace: bool,
}
impl Table<'_, '_> {
    fn row<R>(&mut self, what: &str, mut run: impl FnMut() -> Result<R>) -> Outcome<()> {
        if !self.session.options.asked(what) {
            return Ok(());
        }
        let (in_a_row, ()) = self.session.measure(|| {
            for _ in 0..IN_A_ROW {
                run()?;
            }
            Ok(())
        })?;
        let (alone, _) = self.session.measure(|| Ok(run()?))?;
        let each = 1e3 * in_a_row.ms / f64::from(IN_A_ROW);
        say_line!("{what:28} | {each:>10.2} {:>10.2}", 1e3 * alone.ms)?;
        if self.trace {
            self.session.trace("  kernels", 0.0, &mut run)?;
        }
        self.session.record(&json!({
            "mode": "calls", "operation": what, "entries": self.entries, "us": each, "us_waited": 1e3 * alone.ms,
        }))
    }
}
