//! The command line that all examples share: `--device`, `--json`, one error line and exit code 2.
#![allow(dead_code, unused_macros, unused_imports)]
use clap::Parser;
use oplus::prelude::*;
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Options of every example.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Common {
    /// cpu, cuda, cuda:N or reference; by default the best there is
    #[arg(long, global = true, value_parser = |text: &str| text.parse::<Device>().map_err(|e| e.to_string()))]
    pub(crate) device: Option<Device>,
    /// Print one JSON object on stdout and nothing else there
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

impl Common {
    /// The device asked for, checked, or the best.
    pub(crate) fn device(&self) -> Result<Device> {
        let device = self.device.map_or_else(Device::try_best, Ok)?;
        device.check()?;
        Ok(device)
    }
    /// The result: as JSON, in which a sum that is no finite number is null, or as lines for people.
    pub(crate) fn print(&self, object: serde_json::Value) -> Result<()> {
        if self.json {
            return say(format_args!("{object}\n"));
        }
        object
            .as_object()
            .into_iter()
            .flatten()
            .try_for_each(|(name, value)| say(format_args!("{name:>16}  {value}\n")))
    }
}

/// To stdout; where nobody reads it any more, nowhere.
pub(crate) fn say(text: impl Display) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Error::Io { path: "stdout".into(), message: e.to_string() }),
        _ => Ok(()),
    }
}

/// A line of a format to stdout, as `println!`, which would panic where that is full.
macro_rules! say_line {
    ($($text:tt)*) => { $crate::common::say(format_args!("{}\n", format_args!($($text)*))) };
}
pub(crate) use say_line;

/// To stderr, where that can be written to.
pub(crate) fn tell(text: impl Display) {
    // There is nobody else to tell.
    let _ = write!(std::io::stderr(), "{text}");
}

/// Parses the arguments and runs; whatever fails is one line on stderr and exit code 2.
pub(crate) fn main<A: Parser, E: Display>(run: impl FnOnce(A) -> Result<(), E>) -> ExitCode {
    single_threaded(|arguments: A| {
        threads()?;
        run(arguments).map_err(|e| e.to_string())
    })
}

/// As [`main`] of a program that asks for nothing.
pub(crate) fn program(run: impl FnOnce() -> Result<()>) -> ExitCode {
    ended(threads().and_then(|()| run().map_err(|e| e.to_string())))
}

/// As [`main`], without threads to work on.
pub(crate) fn single_threaded<A: Parser, E: Display>(run: impl FnOnce(A) -> Result<(), E>) -> ExitCode {
    match A::try_parse() {
        Ok(arguments) => ended(run(arguments)),
        Err(e) if !e.use_stderr() => ended(say(e)),
        Err(e) => {
            let text = e.to_string();
            let said = text.lines().take_while(|l| !l.starts_with("Usage") && !l.starts_with("For more"));
            ended(Err(said.collect::<Vec<_>>().join("\n")))
        }
    }
}

/// Starts the threads of this process: those that start with the first work would panic where the system allows no more.
fn threads() -> Result<(), String> {
    rayon::ThreadPoolBuilder::new().build_global().map_err(|e| format!("threads cannot be started: {e}"))
}

fn ended(outcome: Result<(), impl Display>) -> ExitCode {
    let Err(e) = outcome else { return ExitCode::SUCCESS };
    let text = e.to_string();
    let line = text.split('\n').map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("; ");
    tell(format_args!("error: {}\n", line.trim_start_matches("error: ")));
    ExitCode::from(2)
}

/// What `run` gives and the milliseconds it takes, all that it starts on the device included.
pub(crate) fn timed<R>(device: Device, run: impl FnOnce() -> Result<R>) -> Result<(R, f64)> {
    finished(device)?;
    let start = Instant::now();
    let result = run()?;
    finished(device)?;
    Ok((result, (start.elapsed().as_secs_f64() * 1e6).round() / 1e3))
}

/// Waits for the device: operations return as soon as they know how large their results are.
fn finished(device: Device) -> Result<()> {
    match device {
        #[cfg(feature = "cuda")]
        Device::Cuda(n) => oplus::backend::cuda::Context::get(n)?.synchronize(),
        _ => Ok(()),
    }
}

/// A number that a change or a residual can be compared with.
pub(crate) fn tolerance(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|t| *t >= 0.0).ok_or_else(|| "a tolerance is a number from 0 up".into())
}

/// Refuses what is not square, naming the file.
pub(crate) fn square<T: Scalar, S>(path: &Path, a: &Matrix<T, S>) -> Result<()> {
    let (rows, cols) = a.shape();
    if rows == cols {
        return Ok(());
    }
    let reason = format!("the matrix is {rows}×{cols}, a graph needs a square one");
    Err(Error::Parse { path: Some(path.to_path_buf()), line: None, reason })
}
