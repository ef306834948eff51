//! The command line that all examples share: `--device`, `--json`, one error line and exit code 2.
#![allow(dead_code)]
use clap::Parser;
use oplus::prelude::*;
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::path::Path;
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

/// To stderr, where that can be written to.
pub(crate) fn tell(text: impl Display) {
    // There is nobody else to tell.
    let _ = write!(std::io::stderr(), "{text}");
}

/// Parses the arguments and runs; whatever fails is one line on stderr and exit code 2.
pub(crate) fn main<A: Parser, E: Display>(run: impl FnOnce(A) -> Result<(), E>) -> std::process::ExitCode {
    let fail = |text: String| {
        let line = text.split('\n').map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("; ");
        tell(format_args!("error: {}\n", line.trim_start_matches("error: ")));
        std::process::ExitCode::from(2)
    };
    let arguments = match A::try_parse() {
        Ok(arguments) => arguments,
        Err(e) if !e.use_stderr() => {
            return match say(e) {
                Ok(()) => std::process::ExitCode::SUCCESS,
                Err(e) => fail(e.to_string()),
            };
        }
        Err(e) => {
            let text = e.to_string();
            return fail(
                text.lines()
                    .take_while(|l| !l.starts_with("Usage") && !l.starts_with("For more"))
                    .collect::<Vec<_>>()
                    .join("\n"),
            );
        }
    };
    match run(arguments) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(e) => fail(e.to_string()),
    }
}

/// Milliseconds since.
pub(crate) fn ms(since: Instant) -> f64 {
    (since.elapsed().as_secs_f64() * 1e6).round() / 1e3
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
