//! Where a file is written: through a temporary one beside it, or straight into what is no file.
#[cfg(feature = "compression")]
use super::file::{Compression, GZIP, WINDOW, out_of_memory};
use super::file::{io_error, memory_error, packing};
#[cfg(feature = "compression")]
use crate::memory;
use std::fs::File;
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a path leads to.
enum Target {
    /// A name, there or not, whose file is replaced.
    Name(PathBuf),
    /// What is written to itself: a pipe, a device, what a process has open.
    Open(File),
}

/// Writes through a temporary file beside `path`, so that a failure leaves what was there; compressed by ending. A link stays, and
/// so does what is no file, a pipe or a device: that is written to itself. So is what this process has open (`/dev/stdout`,
/// `/dev/fd/3`), a file too: behind what was written to it, and before what follows.
pub(crate) fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> crate::error::Result<()> {
    let written = target(path).and_then(|target| match target {
        Target::Open(file) => write_to(file, path, fill).map(drop),
        Target::Name(name) => replaced(&name, path, fill),
    });
    // `fill` may have run out of memory.
    written.map_err(|e| match e.get_ref().and_then(|e| e.downcast_ref::<crate::error::Error>()) {
        Some(ours) => ours.clone(),
        None => memory_error("write", &e).unwrap_or_else(|| io_error(path, &e)),
    })
}

fn target(path: &Path) -> Result<Target> {
    let name = linked(path)?;
    if let Some(file) = descriptor(&name) {
        return file.map(Target::Open);
    }
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => File::create(path).map(Target::Open),
        // Another process has it open: nothing of it is to be lost.
        Ok(_) if is_magic(&name) => File::options().append(true).open(path).map(Target::Open),
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
        _ => Ok(Target::Name(name)),
    }
}

/// Where the links that `path` may be lead to, there or not, as far as a text says where.
fn linked(path: &Path) -> Result<PathBuf> {
    let mut at = path.to_path_buf();
    // As many as Linux follows.
    for _ in 0..=40 {
        let Ok(to) = std::fs::read_link(&at) else { return Ok(at) };
        if is_magic(&at) {
            return Ok(at);
        }
        at = at.with_file_name("").join(to);
    }
    // More, or a circle: the system says what it thinks of them.
    std::fs::canonicalize(path)
}

/// Whether a link is one of Linux's `/proc`, which leads to what is open, whatever its text says: `pipe:[7]`, or the name of a file that
/// may be another's by now.
#[cfg(unix)]
fn is_magic(link: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let link = std::fs::symlink_metadata(link).ok().filter(|about| about.is_symlink()).map(|about| about.dev());
    link.is_some() && link == std::fs::metadata("/proc").ok().map(|about| about.dev())
}
#[cfg(not(unix))]
fn is_magic(_: &Path) -> bool {
    false
}

/// What this process has open by the number that `path` is the name of: not opened once more, so that it goes on where it stands.
#[cfg(unix)]
fn descriptor(path: &Path) -> Option<Result<File>> {
    let number: std::os::fd::RawFd = path.file_name()?.to_str()?.parse().ok().filter(|n| *n >= 0)?;
    let folder = std::fs::canonicalize(path.parent()?).ok()?;
    let own = ["/proc/self/fd", "/dev/fd"].iter().any(|own| std::fs::canonicalize(own).is_ok_and(|own| own == folder));
    if !own || std::fs::symlink_metadata(path).is_err() {
        return None;
    }
    // SAFETY: it was open just now. Whoever closes it meanwhile has the system refuse this, or what took its number written to, as
    // where it is opened by name.
    let open = unsafe { std::os::fd::BorrowedFd::borrow_raw(number) };
    Some(open.try_clone_to_owned().map(File::from))
}
#[cfg(not(unix))]
fn descriptor(_: &Path) -> Option<Result<File>> {
    None
}

/// The file, whole, in the place of what was there.
fn replaced(target: &Path, path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let there = std::fs::metadata(target).ok();
    let (temporary, file) = new_beside(target, there.is_some())?;
    let finished = || {
        let file = write_to(file, path, fill)?;
        // Who may read what was there may read what is there now.
        if let Some(there) = &there {
            file.set_permissions(there.permissions())?;
        }
        synced(&file)?;
        drop(file);
        std::fs::rename(&temporary, target)
    };
    let written = finished();
    if written.is_err() {
        // The first failure is the one to tell.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// A system that writes later, over a network for one, tells here that it could not; when the file is closed nobody hears it. A disk
/// takes some milliseconds more for a small file, and no longer for a large one.
fn synced(file: &File) -> Result<()> {
    match file.sync_all() {
        // Not every system has it.
        Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

/// A file that was not there, in the folder of another, by a name that is short whatever the other's is; nobody else's to read while
/// it is written, if it is `private`.
fn new_beside(target: &Path, private: bool) -> Result<(PathBuf, File)> {
    // Two threads may write the same path, and so may processes of one number on two machines.
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = private;
    loop {
        let n = WRITES.fetch_add(1, Ordering::Relaxed);
        let path = target.with_file_name(format!(".{}.{n}.tmp", std::process::id()));
        match options.open(&path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
            made => return made.map(|file| (path, file)),
        }
    }
}

/// All that `fill` writes, packed as the name says; the file, so that more can be asked of it.
fn write_to(file: File, path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<File> {
    let mut file = std::io::BufWriter::new(file);
    match packing(path) {
        #[cfg(feature = "compression")]
        Some(Compression::Gzip) => {
            drop(memory::with_capacity::<u8>("write", GZIP.1).map_err(Error::other)?);
            let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::default());
            fill(&mut encoder)?;
            file = encoder.finish()?;
        }
        #[cfg(feature = "compression")]
        Some(Compression::Zstandard) => {
            let new = zstd::zstd_safe::CCtx::try_create();
            let mut state = new.ok_or_else(|| Error::other(out_of_memory("write", WINDOW)))?;
            let room = memory::with_capacity("write", 1 << 15).map_err(Error::other)?;
            let encoder = zstd::stream::raw::Encoder::with_context(&mut state);
            let mut encoder = zstd::stream::zio::Writer::with_output_buffer(room, file, encoder);
            fill(&mut encoder)?;
            encoder.finish()?;
            file = encoder.into_inner().0;
        }
        #[cfg(not(feature = "compression"))]
        Some(_) => return Err(Error::other("oplus was built without the feature `compression`")),
        None => fill(&mut file)?,
    }
    file.into_inner().map_err(|e| e.into_error())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// The temporary file too.
    #[test]
    fn what_others_may_not_read_they_never_may() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for (before, meanwhile) in [(0o600, 0o600), (0o644, 0o600), (0o400, 0o600)] {
            std::fs::write(&path, "old").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(before)).unwrap();
            let mut seen = Vec::new();
            write(&path, |to| {
                to.write_all(b"new")?;
                let others = std::fs::read_dir(folder.path())?.map(|file| file.unwrap().path());
                seen.extend(others.filter(|other| *other != path).map(|other| mode(&other)));
                Ok(())
            })
            .unwrap();
            assert_eq!((seen, mode(&path)), (vec![meanwhile], before));
            assert_eq!(std::fs::read(&path).unwrap(), b"new");
            std::fs::remove_file(&path).unwrap();
        }
    }
}
