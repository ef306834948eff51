//! Whole files in memory, decompressed by what they hold, not by their name.
use crate::error::{Error, Result};
use crate::memory;
use std::borrow::Cow;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

pub(super) fn io_error(path: &Path, e: &std::io::Error) -> Error {
    Error::Io { path: path.to_path_buf(), message: e.to_string() }
}

pub(super) fn out_of_memory(operation: &'static str, needed: u64) -> Error {
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
    while let Err(e) = file.fill_buf() {
        if e.kind() != ErrorKind::Interrupted {
            return Err(io_error(path, &e));
        }
    }
    Ok(file)
}

/// Whether nothing comes any more.
pub(crate) fn at_end(from: &mut dyn Read) -> std::io::Result<bool> {
    loop {
        match from.read(&mut [0]) {
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            read => return read.map(|n| n == 0),
        }
    }
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
pub(super) const GZIP: (usize, usize) = (64 << 10, 512 << 10);

/// Zstandard does not say how much it lacked; its window is the most.
pub(super) const WINDOW: u64 = 1 << WINDOW_LOG;
const WINDOW_LOG: u32 = 27;

#[cfg(feature = "compression")]
fn decoder<'a>(compression: Compression, from: impl BufRead + 'a, state: &'a mut State) -> Result<Box<dyn Read + 'a>> {
    Ok(match compression {
        Compression::Gzip => {
            drop(memory::with_capacity::<u8>("read", GZIP.0)?);
            Box::new(Members(Some(flate2::bufread::GzDecoder::new(from))))
        }
        Compression::Zstandard => {
            let mut new = zstd::zstd_safe::DCtx::try_create().ok_or_else(|| out_of_memory("read", WINDOW))?;
            let most = largest_window();
            if let Some(log) = most {
                let set = new.set_parameter(zstd::zstd_safe::DParameter::WindowLogMax(log));
                set.map_err(|_| out_of_memory("read", WINDOW))?;
            }
            let decoder = zstd::stream::read::Decoder::with_context(from, state.zstandard.insert(new));
            Box::new(Frames { decoder, bounded: most.is_some() })
        }
    })
}

/// The logarithm of the largest window that there is memory for, where that is not every one: zstd takes what a frame claims without a
/// look at what a process may hold.
#[cfg(feature = "compression")]
fn largest_window() -> Option<u32> {
    if memory::check("read", WINDOW).is_ok() {
        return None;
    }
    // None is smaller than 1 KiB.
    let left = memory::available().and_then(u64::checked_ilog2).unwrap_or(0);
    Some(left.clamp(10, WINDOW_LOG - 1))
}

/// Zstandard's frames, one after the other, as one text, whose errors are told apart from those of the file.
#[cfg(feature = "compression")]
struct Frames<'a, R> {
    decoder: zstd::stream::read::Decoder<'a, R>,
    /// Whether a window may be too large because memory is short.
    bounded: bool,
}

#[cfg(feature = "compression")]
impl<R: BufRead> Read for Frames<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode::{
            ZSTD_error_frameParameter_windowTooLarge as too_large, ZSTD_error_memory_allocation as lacking,
        };
        self.decoder.read(to).map_err(|e| match e.kind() {
            _ if is_zstandard(&e, lacking) || self.bounded && is_zstandard(&e, too_large) => {
                ErrorKind::OutOfMemory.into()
            }
            ErrorKind::Other if e.raw_os_error().is_none() => std::io::Error::new(ErrorKind::InvalidData, e),
            _ => e,
        })
    }
}

/// Whether an error is this one of Zstandard's, which are known by their texts alone.
#[cfg(feature = "compression")]
fn is_zstandard(e: &std::io::Error, code: zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode) -> bool {
    let text = zstd::zstd_safe::get_error_name(0usize.wrapping_sub(code as usize));
    e.kind() == ErrorKind::Other && e.raw_os_error().is_none() && e.to_string() == text
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
        let (zeros, all) = match from.fill_buf() {
            Ok(there) => (there.iter().take_while(|b| **b == 0).count(), there.len()),
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        from.consume(zeros);
        if zeros < all {
            drop(memory::with_capacity::<u8>("read", GZIP.0).map_err(|_| ErrorKind::OutOfMemory)?);
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

/// The error where it says that memory ran out.
pub(crate) fn memory_error(operation: &'static str, e: &std::io::Error) -> Option<Error> {
    #[cfg(feature = "compression")]
    let lacking = is_zstandard(e, zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode::ZSTD_error_memory_allocation);
    #[cfg(not(feature = "compression"))]
    let lacking = false;
    (lacking || e.kind() == ErrorKind::OutOfMemory).then(|| out_of_memory(operation, WINDOW))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Interrupted before each read.
    struct Interrupted<'a>(&'a [u8], bool);
    impl Read for Interrupted<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(ErrorKind::Interrupted.into()) } else { self.0.read(to) }
        }
    }

    #[test]
    fn what_is_interrupted_is_asked_again() {
        let mut from = Interrupted(b"7", false);
        assert!(!at_end(&mut from).unwrap() && at_end(&mut from).unwrap());
    }

    #[cfg(feature = "compression")]
    #[test]
    fn members_behind_an_interruption_are_read() {
        let packed = |text: &[u8]| {
            let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            std::io::Write::write_all(&mut to, text).unwrap();
            to.finish().unwrap()
        };
        let all = [packed(b"one"), vec![0; 40], packed(b"two"), vec![0; 3]].concat();
        for room in [1, 2, 7, 64, 1 << 10] {
            let from = BufReader::with_capacity(room, Interrupted(&all, false));
            let (mut state, mut text) = (State::default(), Vec::new());
            let mut from = decoder(Compression::Gzip, from, &mut state).unwrap();
            from.read_to_end(&mut text).unwrap();
            assert_eq!(text, b"onetwo", "{room}");
        }
    }
}
