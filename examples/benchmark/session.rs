//! What a run has throughout: the device, cuSPARSE, the matrices, the clock and the file of results.
use crate::cases::{self, Case};
use crate::common::{say_line, tell};
use crate::cusparse::Cusparse;
use crate::measure::{Runs, Timing, measure};
use crate::options::Common;
use crate::{Outcome, named};
use oplus::backend::cuda::Context;
use oplus::prelude::*;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

pub(crate) struct Session<'a> {
    pub(crate) options: &'a Common,
    pub(crate) device: Device,
    pub(crate) context: Arc<Context>,
    pub(crate) peer: Option<Cusparse>,
    lines: Option<File>,
    begun: Instant,
    /// Where results were not the same.
    differ: Vec<String>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(options: &'a Common) -> Outcome<Self> {
        let device = Device::Cuda(0);
        device.check()?;
        let context = Context::get(0)?;
        let peer = match options.alone {
            true => None,
            false => Cusparse::load(&context).map_err(|e| tell(format_args!("without cuSPARSE: {e}\n"))).ok(),
        };
        let lines = options.output.as_ref().map(|path| File::create(path).map_err(|e| named(path, e))).transpose()?;
        Ok(Self { options, device, context, peer, lines, begun: Instant::now(), differ: Vec::new() })
    }

    /// Does `work` with every matrix asked for, as long as there are seconds left. What fails on one is said, and is an error in
    /// the end, and so are other results than cuSPARSE's.
    pub(crate) fn for_each(&mut self, mut work: impl FnMut(&mut Self, &str, Coo<f64>) -> Outcome<()>) -> Outcome<()> {
        let mut failed = Vec::new();
        for (n, case) in self.cases()?.iter().enumerate().skip(self.options.from) {
            if self.over(n)? {
                break;
            }
            let done = (case.make)().map_err(Into::into).and_then(|coo| work(self, &case.name, coo));
            if let Err(e) = done {
                say_line!("{:22} FAILED: {e}", case.name)?;
                self.record(&serde_json::json!({"mode": "failure", "matrix": case.name, "error": e.to_string()}))?;
                failed.push(case.name.clone());
            }
        }
        match (failed.len(), self.differ.len()) {
            (0, 0) => Ok(()),
            (0, n) => Err(format!("{n} results differ: {}", self.differ.join(", ")).into()),
            (n, _) => Err(format!("{n} matrices failed: {}", failed.join(", ")).into()),
        }
    }
    /// Keeps in mind what was not the same.
    pub(crate) fn compared(&mut self, verdict: &str, label: &str) {
        if verdict.starts_with("DIFFER") {
            self.differ.push(label.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }

    fn cases(&self) -> Outcome<Vec<Case>> {
        let mut all = match self.options.drawn {
            0 => cases::generated(),
            count => cases::drawn(count, self.options.seed),
        };
        if let Some(folder) = &self.options.data {
            all.extend(cases::files(folder).map_err(|e| named(folder, e))?);
        }
        all.retain(|c| self.options.asked(&c.name));
        if all.is_empty() {
            return Err(format!("no matrix has {} in its name", self.options.only.join(" or ")).into());
        }
        Ok(all)
    }

    /// Whether the seconds are spent; says so, and how to go on with matrix `n`.
    pub(crate) fn over(&self, n: usize) -> Outcome<bool> {
        let over = self.begun.elapsed().as_secs() > self.options.seconds;
        if over {
            say_line!("stopped after {} s; --from {n} goes on", self.options.seconds)?;
        }
        Ok(over)
    }

    /// Times what is given.
    pub(crate) fn measure<T>(&self, run: impl FnMut() -> Outcome<T>) -> Outcome<(Timing, T)> {
        self.measure_beside(None, run)
    }
    /// Times what is given, once only where it is far slower than `rival` milliseconds.
    pub(crate) fn measure_beside<T>(
        &self,
        rival: Option<f64>,
        run: impl FnMut() -> Outcome<T>,
    ) -> Outcome<(Timing, T)> {
        measure(&self.context, Runs { count: self.options.runs, rival }, run)
    }

    /// What every kernel takes that takes so many milliseconds.
    pub(crate) fn trace<R>(&self, label: &str, least: f64, work: impl FnOnce() -> Result<R>) -> Outcome<()> {
        let (_, launches) = self.context.trace(work)?;
        let total: f64 = launches.iter().map(|l| l.ms).sum();
        say_line!("{label}: {total:.4} ms in {} launches", launches.len())?;
        for l in launches.iter().filter(|l| l.ms > least) {
            say_line!(
                "  {:8.4} ms  {:28} {:>8} x {:>4} threads, {:>6} bytes shared",
                l.ms,
                l.kernel,
                l.blocks,
                l.threads,
                l.shared
            )?;
        }
        Ok(())
    }

    /// A line of the file of results.
    pub(crate) fn record(&mut self, object: &serde_json::Value) -> Outcome<()> {
        if let Some(file) = &mut self.lines {
            writeln!(file, "{object}")?;
        }
        Ok(())
    }
}
