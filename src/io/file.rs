//! Whole files in memory, decompressed by what they hold, not by their name.
use crate::error::{Error, Result};
use std::io::Read;
use std::path::Path;

fn io_error(path: &Path, e: &std::io::Error) -> Error {
    Error::Io { path: path.to_path_buf(), message: e.to_string() }
}

/// Everything a reader gives, growing by what is really there: a file that claims more than memory holds is an error.
#[cfg(feature = "compression")]
fn drain(path: &Path, mut from: impl Read) -> Result<Vec<u8>> {
    let (mut bytes, mut block) = (Vec::new(), vec![0u8; 1 << 16]);
    loop {
        let n = from.read(&mut block).map_err(|e| Error::Parse {
            path: Some(path.to_path_buf()),
            line: None,
            reason: format!("cannot be decompressed: {e}"),
        })?;
        if n == 0 {
            return Ok(bytes);
        }
        crate::memory::reserve("read", &mut bytes, n)?;
        bytes.extend_from_slice(&block[..n]);
    }
}

/// The file's text; gzip and Zstandard are known by their first bytes.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut file = std::fs::File::open(path).map_err(|e| io_error(path, &e))?;
    let size = file.metadata().map_err(|e| io_error(path, &e))?.len();
    let mut bytes = crate::memory::with_capacity("read", usize::try_from(size).unwrap_or(usize::MAX))?;
    file.read_to_end(&mut bytes).map_err(|e| io_error(path, &e))?;
    decompress(path, bytes)
}

#[cfg(feature = "compression")]
fn decompress(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        drain(path, flate2::read::MultiGzDecoder::new(&bytes[..]))
    } else if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let decoder = zstd::stream::read::Decoder::new(&bytes[..]).map_err(|e| io_error(path, &e))?;
        drain(path, decoder)
    } else {
        Ok(bytes)
    }
}

#[cfg(not(feature = "compression"))]
fn decompress(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>> {
    if bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let reason = "the file is compressed and oplus was built without the feature `compression`".to_string();
        return Err(Error::Parse { path: Some(path.to_path_buf()), line: None, reason });
    }
    Ok(bytes)
}

/// Writes through a temporary file beside `path`, so that a failure leaves what was there; compressed by ending.
pub(crate) fn write(path: &Path, fill: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = write_to(&temporary, path, fill).and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // The first failure is the one to tell.
        let _ = std::fs::remove_file(&temporary);
    }
    written.map_err(|e| io_error(path, &e))
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
