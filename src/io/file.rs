//! Whole files in memory, decompressed by what they hold, not by their name.
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::io::{BufRead, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

fn io_error(path: &Path, e: &std::io::Error) -> Error {
    Error::Io { path: path.to_path_buf(), message: e.to_string() }
}

/// The file, to be read.
#[cfg_attr(not(feature = "npz"), allow(dead_code))]
pub(crate) fn opened(path: &Path) -> Result<std::fs::File> {
    std::fs::File::open(path).map_err(|e| io_error(path, &e))
}

/// The file's text; gzip and Zstandard are known by their first bytes.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut file = opened(path)?;
    let size = file.metadata().map_err(|e| io_error(path, &e))?.len();
    let mut bytes = crate::memory::with_capacity("read", usize::try_from(size).unwrap_or(usize::MAX))?;
    file.read_to_end(&mut bytes).map_err(|e| io_error(path, &e))?;
    decompressed(bytes.into()).map(Cow::into_owned)
}

/// What `find` finds in a beginning of the file's text, `find(text, whole)` with ever longer ones; no more is read.
pub(crate) fn read_until<X>(path: &Path, find: impl Fn(&[u8], bool) -> Result<Option<X>>) -> Result<X> {
    let file = opened(path)?;
    let mut file = std::io::BufReader::new(file);
    let start = file.fill_buf().map_err(|e| io_error(path, &e))?;
    let mut from: Box<dyn Read + '_> = match compression(start) {
        None => Box::new(file),
        Some(compression) => decoder(compression, file)?,
    };
    let (mut bytes, mut more) = (Vec::new(), 1 << 12);
    loop {
        let whole = !append(&mut bytes, &mut from, more).map_err(|e| e.of(|e| io_error(path, e)))?;
        if let Some(found) = find(&bytes, whole)? {
            return Ok(found);
        }
        if whole {
            return Err(Error::Parse { path: None, line: None, reason: "the file ends too early".into() });
        }
        more = bytes.len();
    }
}

/// What `take` makes of the file's bytes, decompressed, and of how many there are where they are not compressed.
pub(crate) fn streamed<X>(path: &Path, take: impl FnOnce(&mut dyn Read, Option<u64>) -> Result<X>) -> Result<X> {
    let file = opened(path)?;
    let about = file.metadata().map_err(|e| io_error(path, &e))?;
    // A pipe's size says nothing.
    let size = about.is_file().then_some(about.len());
    let mut file = std::io::BufReader::new(file);
    let start = file.fill_buf().map_err(|e| io_error(path, &e))?;
    match compression(start) {
        None => take(&mut file, size),
        Some(compression) => take(&mut decoder(compression, file)?, None),
    }
}

#[derive(Clone, Copy)]
enum Compression {
    Gzip,
    Zstandard,
}

fn compression(bytes: &[u8]) -> Option<Compression> {
    match bytes {
        [0x1f, 0x8b, ..] => Some(Compression::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstandard),
        _ => None,
    }
}

#[cfg(feature = "compression")]
fn decoder<'a>(compression: Compression, from: impl BufRead + 'a) -> Result<Box<dyn Read + 'a>> {
    Ok(match compression {
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(from)),
        Compression::Zstandard => Box::new(zstd::stream::read::Decoder::with_buffer(from).map_err(|e| broken(&e))?),
    })
}

#[cfg(not(feature = "compression"))]
fn decoder<'a>(_: Compression, _: impl BufRead + 'a) -> Result<Box<dyn Read + 'a>> {
    let reason = "the file is compressed and oplus was built without the feature `compression`".to_string();
    Err(Error::Parse { path: None, line: None, reason })
}

fn broken(e: &std::io::Error) -> Error {
    Error::Parse { path: None, line: None, reason: format!("cannot be decompressed: {e}") }
}

/// The text of compressed bytes, other bytes as they are.
pub(crate) fn decompressed(bytes: Cow<'_, [u8]>) -> Result<Cow<'_, [u8]>> {
    let Some(compression) = compression(&bytes) else { return Ok(bytes) };
    let (mut text, mut from) = (Vec::new(), decoder(compression, &bytes[..])?);
    // Grown by what is really there: a file that unpacks to more than memory holds is an error.
    while append(&mut text, &mut from, 1 << 20).map_err(|e| e.of(broken))? {}
    drop(from);
    Ok(text.into())
}

enum Stopped {
    Io(std::io::Error),
    Memory(Error),
}

impl Stopped {
    fn of(self, f: impl Fn(&std::io::Error) -> Error) -> Error {
        match self {
            Stopped::Io(e) => f(&e),
            Stopped::Memory(e) => e,
        }
    }
}

/// Up to `n` bytes more; whether there may be others after them.
fn append(bytes: &mut Vec<u8>, from: &mut dyn Read, n: usize) -> Result<bool, Stopped> {
    crate::memory::reserve("read", bytes, n).map_err(Stopped::Memory)?;
    let read = from.take(n as u64).read_to_end(bytes).map_err(Stopped::Io)?;
    Ok(read == n)
}

/// Writes through a temporary file beside `path`, so that a failure leaves what was there; compressed by ending.
pub(crate) fn write(path: &Path, fill: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    // Two threads may write the same path.
    static WRITES: AtomicU64 = AtomicU64::new(0);
    name.push(format!(".{}.{}.tmp", std::process::id(), WRITES.fetch_add(1, Ordering::Relaxed)));
    let temporary = path.with_file_name(name);
    let written = write_to(&temporary, path, fill).and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // The first failure is the one to tell.
        let _ = std::fs::remove_file(&temporary);
    }
    // `fill` may have run out of memory.
    written.map_err(|e| match e.get_ref().and_then(|e| e.downcast_ref::<Error>()) {
        Some(ours) => ours.clone(),
        None => io_error(path, &e),
    })
}

fn write_to(
    temporary: &Path,
    path: &Path,
    fill: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let file = std::io::BufWriter::new(std::fs::File::create(temporary)?);
    match path.extension().and_then(|e| e.to_str()) {
        #[cfg(feature = "compression")]
        Some("gz") => {
            let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::default());
            fill(&mut encoder)?;
            std::io::Write::flush(&mut encoder.finish()?)
        }
        #[cfg(feature = "compression")]
        Some("zst") => {
            let mut encoder = zstd::stream::write::Encoder::new(file, 0)?;
            fill(&mut encoder)?;
            std::io::Write::flush(&mut encoder.finish()?)
        }
        #[cfg(not(feature = "compression"))]
        Some("gz" | "zst") => Err(std::io::Error::other("oplus was built without the feature `compression`")),
        _ => {
            let mut file = file;
            fill(&mut file)?;
            std::io::Write::flush(&mut file)
        }
    }
}
