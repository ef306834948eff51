//! The records that end an archive, looked at before anything is taken for what they claim.
use super::array::{bad, io_failed};
use crate::error::Result;
use crate::memory;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// More members than any of SciPy's files has, and few enough to be listed.
const MOST: u64 = 256;
/// Where end records may stand: before a comment of up to 64 KiB, and some bytes for what stands before them.
const LAST: u64 = (1 << 16) + 512;

const END: &[u8] = b"PK\x05\x06";
const LOCATOR: &[u8] = b"PK\x06\x07";
const LARGE_END: &[u8] = b"PK\x06\x06";
/// Bytes of the locator and of the end record of large archives, which stand before the other in this order.
const LOCATOR_BYTES: usize = 20;
const LARGE_BYTES: usize = 56;

/// Refuses an archive of which some end record claims more members than are read: the reader lists them as claimed, and keeps what a large
/// archive's end record has behind its fields.
pub(super) fn check(file: &mut File) -> Result<()> {
    let (start, bytes) = last(file).map_err(|e| io_failed("the end", &e))??;
    for at in 0..bytes.len() {
        let Some(end) = bytes[at..].strip_prefix(END).and_then(|fields| fields.get(..18)) else { continue };
        let half = |n: usize| u64::from(u16::from_le_bytes([end[n], end[n + 1]]));
        let locator = at.checked_sub(LOCATOR_BYTES).filter(|locator| bytes[*locator..].starts_with(LOCATOR));
        let members = match locator {
            // Where the fields before it suffice they may be what counts.
            Some(locator) => large(&bytes, start, locator)?.max(half(6) % 0xffff),
            // What the reader does not take for an end is none: of many disks, or of fewer members here than in all.
            None if half(0) != 0 || half(2) != 0 || half(4) != half(6) => continue,
            None => half(6),
        };
        if members > MOST {
            return bad(format!("{members} members claimed, of {MOST} at most an archive is read"));
        }
    }
    Ok(())
}

/// The file's last bytes, and where they begin.
fn last(file: &mut File) -> std::io::Result<Result<(u64, Vec<u8>)>> {
    let length = file.seek(SeekFrom::End(0))?;
    let count = length.min(LAST);
    let mut bytes = match memory::filled("npz::read", count as usize, 0) {
        Ok(bytes) => bytes,
        Err(e) => return Ok(Err(e)),
    };
    file.seek(SeekFrom::Start(length - count))?;
    file.read_exact(&mut bytes)?;
    Ok(Ok((length - count, bytes)))
}

/// Members that the end record of a large archive claims, which has to stand just before its locator and to be no longer than its fields.
fn large(bytes: &[u8], start: u64, locator: usize) -> Result<u64> {
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|n| bytes[at + n]));
    match locator.checked_sub(LARGE_BYTES) {
        Some(at)
            if bytes[at..].starts_with(LARGE_END)
                && word(at + 4) == LARGE_BYTES as u64 - 12
                && word(locator + 8) == start + at as u64 =>
        {
            Ok(word(at + 32))
        }
        _ => bad("the end record of a large archive does not stand where it should"),
    }
}
