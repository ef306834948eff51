//! Whole files in memory, decompressed by what they hold, not by their name.
use crate::error::{Error, Result};
use crate::memory;
use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

fn io_error(path: &Path, e: &std::io::Error) -> Error {
    Error::Io { path: path.to_path_buf(), message: e.to_string() }
}

fn out_of_memory(operation: &'static str, needed: u64) -> Error {
    Error::OutOfMemory { operation, device: "host".into(), needed, available: None }
}

/// What the system says is the file's; what a decoder says, the text's.
fn failed(path: &Path, e: &std::io::Error) -> Error {
    match e.raw_os_error() {
        Some(_) => memory_error("read", e).unwrap_or_else(|| io_error(path, e)),
        None => broken(e),
    }
}

/// The file, to be read, its first bytes there.
pub(crate) fn readable(path: &Path) -> Result<BufReader<std::fs::File>> {
    let mut file = BufReader::new(std::fs::File::open(path).map_err(|e| io_error(path, &e))?);
    file.fill_buf().map_err(|e| io_error(path, &e))?;
    Ok(file)
}

/// Bytes unpacked at a time.
const PIECE: usize = 1 << 20;

/// Looks at a text as it is unpacked: at all that there is so far, and whether it is the whole. An error ends it: what is small
/// when it is packed may be larger than memory.
pub(crate) type Look<'a> = &'a mut dyn FnMut(&[u8], bool) -> Result<()>;

/// The file's text; gzip and Zstandard are known by their first bytes.
pub(crate) fn read(path: &Path, look: Look<'_>) -> Result<Vec<u8>> {
    let mut file = readable(path)?;
    let size = file.get_ref().metadata().map_err(|e| io_error(path, &e))?.len();
    let mut state = State::default();
    match compression(file.buffer()) {
        None => text(&mut file, usize::try_from(size).ok(), look),
        Some(compression) => text(&mut *decoder(compression, file, &mut state)?, None, look),
    }
    .map_err(|e| e.of(|e| failed(path, e)))
}

/// All that comes, about `size` bytes where that is known.
fn text(from: &mut dyn Read, size: Option<usize>, look: Look<'_>) -> Result<Vec<u8>, Stopped> {
    let mut text = Vec::new();
    // One byte more than there should be shows the end. Grown by what is really there: a file that unpacks to more than
    // memory holds is an error.
    let left =
        |there: usize| size.and_then(|size| size.checked_sub(there)).map_or(PIECE, |left| left.saturating_add(1));
    let mut more = left(0).min(PIECE);
    loop {
        let whole = !append(&mut text, from, more)?;
        look(&text, whole).map_err(Stopped::Ours)?;
        if whole {
            return Ok(text);
        }
        more = left(text.len());
        if more > PIECE {
            // In large pages, where there are some.
            let mut room = memory::with_capacity("read", text.len().saturating_add(more)).map_err(Stopped::Ours)?;
            room.extend_from_slice(&text);
            text = room;
        }
    }
}

/// What `find` finds in a beginning of the file's text, `find(text, whole)` with ever longer ones; no more is read.
pub(crate) fn read_until<X>(path: &Path, find: impl Fn(&[u8], bool) -> Result<Option<X>>) -> Result<X> {
    let file = readable(path)?;
    let mut state = State::default();
    let mut from: Box<dyn Read + '_> = match compression(file.buffer()) {
        None => Box::new(file),
        Some(compression) => decoder(compression, file, &mut state)?,
    };
    let (mut bytes, mut more) = (Vec::new(), 1 << 12);
    loop {
        let whole = !append(&mut bytes, &mut from, more).map_err(|e| e.of(|e| failed(path, e)))?;
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
    let mut file = readable(path)?;
    let about = file.get_ref().metadata().map_err(|e| io_error(path, &e))?;
    // A pipe's size says nothing.
    let size = about.is_file().then_some(about.len());
    match compression(file.buffer()) {
        None => take(&mut file, size),
        Some(compression) => take(&mut decoder(compression, file, &mut State::default())?, None),
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Compression {
    Gzip,
    Zstandard,
}

fn compression(bytes: &[u8]) -> Option<Compression> {
    match bytes {
        [0x1f, 0x8b, ..] => Some(Compression::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstandard),
        // A frame to be skipped, as pzstd puts before each other one.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstandard),
        _ => None,
    }
}

/// How a file of this name is packed, capitals or not.
pub(crate) fn packing(path: &Path) -> Option<Compression> {
    match path.extension()?.to_str()? {
        ending if ending.eq_ignore_ascii_case("gz") => Some(Compression::Gzip),
        ending if ending.eq_ignore_ascii_case("zst") => Some(Compression::Zstandard),
        _ => None,
    }
}

/// What a decoder works on while it reads.
#[derive(Default)]
struct State {
    #[cfg(feature = "compression")]
    zstandard: Option<zstd::zstd_safe::DCtx<'static>>,
}

/// Bytes that gzip's state takes at most, of its reader and of its writer, whatever the data. The crate allocates them as Rust
/// does it, which ends the process where memory has run out; taken and given back before, they are there nearly surely.
#[cfg(feature = "compression")]
const GZIP: (usize, usize) = (64 << 10, 512 << 10);

/// Zstandard does not say how much it lacked; its window is the most.
const WINDOW: u64 = 1 << 27;

#[cfg(feature = "compression")]
fn decoder<'a>(compression: Compression, from: impl BufRead + 'a, state: &'a mut State) -> Result<Box<dyn Read + 'a>> {
    Ok(match compression {
        Compression::Gzip => {
            drop(memory::with_capacity::<u8>("read", GZIP.0)?);
            Box::new(Members(Some(flate2::bufread::GzDecoder::new(from))))
        }
        Compression::Zstandard => {
            let new = zstd::zstd_safe::DCtx::try_create().ok_or_else(|| out_of_memory("read", WINDOW))?;
            Box::new(zstd::stream::read::Decoder::with_context(from, state.zstandard.insert(new)))
        }
    })
}

/// gzip's members, one after the other, as one text; zeros behind one are none, they fill the block of a tape.
#[cfg(feature = "compression")]
struct Members<R>(Option<flate2::bufread::GzDecoder<R>>);

#[cfg(feature = "compression")]
impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let n = member.read(to)?;
            if n > 0 || to.is_empty() {
                return Ok(n);
            }
            self.0 = self.0.take().map(|member| next_member(member.into_inner())).transpose()?.flatten();
        }
        Ok(0)
    }
}

#[cfg(feature = "compression")]
fn next_member<R: BufRead>(mut from: R) -> std::io::Result<Option<flate2::bufread::GzDecoder<R>>> {
    loop {
        let there = from.fill_buf()?;
        let (zeros, all) = (there.iter().take_while(|b| **b == 0).count(), there.len());
        from.consume(zeros);
        if zeros < all {
            drop(memory::with_capacity::<u8>("read", GZIP.0).map_err(|_| std::io::ErrorKind::OutOfMemory)?);
            return Ok(Some(flate2::bufread::GzDecoder::new(from)));
        }
        if all == 0 {
            return Ok(None);
        }
    }
}

#[cfg(not(feature = "compression"))]
fn decoder<'a>(_: Compression, _: impl BufRead + 'a, _: &'a mut State) -> Result<Box<dyn Read + 'a>> {
    let reason = "the file is compressed and oplus was built without the feature `compression`".to_string();
    Err(Error::Parse { path: None, line: None, reason })
}

fn broken(e: &std::io::Error) -> Error {
    let reason = || format!("cannot be decompressed: {e}");
    memory_error("read", e).unwrap_or_else(|| Error::Parse { path: None, line: None, reason: reason() })
}

/// The error where it says that memory ran out: those of Zstandard are known by their texts alone.
pub(crate) fn memory_error(operation: &'static str, e: &std::io::Error) -> Option<Error> {
    #[cfg(feature = "compression")]
    let lacking = {
        use zstd::zstd_safe::{get_error_name, zstd_sys::ZSTD_ErrorCode};
        let code = 0usize.wrapping_sub(ZSTD_ErrorCode::ZSTD_error_memory_allocation as usize);
        e.kind() == std::io::ErrorKind::Other && e.to_string() == get_error_name(code)
    };
    #[cfg(not(feature = "compression"))]
    let lacking = false;
    (lacking || e.kind() == std::io::ErrorKind::OutOfMemory).then(|| out_of_memory(operation, WINDOW))
}

/// The text of compressed bytes, other bytes as they are.
pub(crate) fn decompressed<'a>(bytes: Cow<'a, [u8]>, look: Look<'_>) -> Result<Cow<'a, [u8]>> {
    let Some(compression) = compression(&bytes) else { return Ok(bytes) };
    let mut state = State::default();
    let text = text(&mut *decoder(compression, &bytes[..], &mut state)?, None, look).map_err(|e| e.of(broken))?;
    Ok(text.into())
}

enum Stopped {
    Io(std::io::Error),
    Ours(Error),
}

impl Stopped {
    fn of(self, f: impl Fn(&std::io::Error) -> Error) -> Error {
        match self {
            Stopped::Io(e) => f(&e),
            Stopped::Ours(e) => e,
        }
    }
}

/// Up to `n` bytes more; whether there may be others after them.
fn append(bytes: &mut Vec<u8>, from: &mut dyn Read, n: usize) -> Result<bool, Stopped> {
    memory::reserve("read", bytes, n).map_err(Stopped::Ours)?;
    let read = from.take(n as u64).read_to_end(bytes).map_err(Stopped::Io)?;
    Ok(read == n)
}

/// Where the links that `path` may be lead to, there or not.
fn linked(path: &Path) -> std::io::Result<PathBuf> {
    let mut at = path.to_path_buf();
    // As many as Linux follows.
    for _ in 0..=40 {
        let Ok(to) = std::fs::read_link(&at) else { return Ok(at) };
        at = at.with_file_name("").join(to);
    }
    // More, or a circle: the system says what it thinks of them.
    std::fs::canonicalize(path)
}

/// Writes through a temporary file beside `path`, so that a failure leaves what was there; compressed by ending. A link stays, and
/// so does what is no file, a pipe or a device: that is written to itself.
pub(crate) fn write(path: &Path, fill: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Result<()> {
    let written = linked(path).and_then(|target| match std::fs::metadata(&target) {
        Ok(there) if !there.is_file() => write_to(std::fs::File::create(&target)?, path, fill),
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => replaced(&target, path, fill),
    });
    // `fill` may have run out of memory.
    written.map_err(|e| match e.get_ref().and_then(|e| e.downcast_ref::<Error>()) {
        Some(ours) => ours.clone(),
        None => memory_error("write", &e).unwrap_or_else(|| io_error(path, &e)),
    })
}

/// The file, whole, in the place of what was there.
fn replaced(
    target: &Path,
    path: &Path,
    fill: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let (temporary, file) = new_beside(target)?;
    // Who may read what was there may read what is there now.
    let allowed =
        || std::fs::metadata(target).map_or(Ok(()), |there| std::fs::set_permissions(&temporary, there.permissions()));
    let written =
        write_to(file, path, fill).and_then(|()| allowed()).and_then(|()| std::fs::rename(&temporary, target));
    if written.is_err() {
        // The first failure is the one to tell.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// A file that was not there, in the folder of another, by a name that is short whatever the other's is.
fn new_beside(target: &Path) -> std::io::Result<(PathBuf, std::fs::File)> {
    // Two threads may write the same path, and so may processes of one number on two machines.
    static WRITES: AtomicU64 = AtomicU64::new(0);
    loop {
        let n = WRITES.fetch_add(1, Ordering::Relaxed);
        let path = target.with_file_name(format!(".{}.{n}.tmp", std::process::id()));
        match std::fs::File::create_new(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => continue,
            made => return made.map(|file| (path, file)),
        }
    }
}

fn write_to(
    file: std::fs::File,
    path: &Path,
    fill: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let file = std::io::BufWriter::new(file);
    match packing(path) {
        #[cfg(feature = "compression")]
        Some(Compression::Gzip) => {
            drop(memory::with_capacity::<u8>("write", GZIP.1).map_err(std::io::Error::other)?);
            let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::default());
            fill(&mut encoder)?;
            std::io::Write::flush(&mut encoder.finish()?)
        }
        #[cfg(feature = "compression")]
        Some(Compression::Zstandard) => {
            let new = zstd::zstd_safe::CCtx::try_create();
            let mut state = new.ok_or_else(|| std::io::Error::other(out_of_memory("write", WINDOW)))?;
            let room = memory::with_capacity("write", 1 << 15).map_err(std::io::Error::other)?;
            let encoder = zstd::stream::raw::Encoder::with_context(&mut state);
            let mut encoder = zstd::stream::zio::Writer::with_output_buffer(room, file, encoder);
            fill(&mut encoder)?;
            encoder.finish()?;
            std::io::Write::flush(&mut encoder.into_inner().0)
        }
        #[cfg(not(feature = "compression"))]
        Some(_) => Err(std::io::Error::other("oplus was built without the feature `compression`")),
        None => {
            let mut file = file;
            fill(&mut file)?;
            std::io::Write::flush(&mut file)
        }
    }
}
