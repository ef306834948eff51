//! Compiled kernels on disk, so that a later process does not compile them again.
//!
//! The key is the 128-bit FNV-1a hash of everything the machine code depends on, each part with its length in front:
//! source, options, NVRTC version, architecture. A file is a header (magic, key, length and FNV-1a checksum of what
//! follows), the resources and the code; one that does not check out is as if it were not there, and written anew.
//! Files appear by rename, so a reader sees all of one or none. A folder that cannot be written costs only the time.
use super::log::Resources;
use super::nvrtc::{Compiled, Image};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};
use std::{env, fs, io, process};

/// Environment variable: the cache's folder. Set to nothing it switches the cache off.
pub const CACHE_DIR: &str = "OPLUS_CACHE_DIR";

const HOME: &str = "HOME";

/// Variables with the folder for caches, in the order they are asked for; in the home folder it is `.cache`.
const PLACES: &[&str] =
    if cfg!(windows) { &["XDG_CACHE_HOME", "LOCALAPPDATA", HOME] } else { &["XDG_CACHE_HOME", HOME] };

const MAGIC: [u8; 8] = *b"oplusK01";

/// Names a compiled kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(pub u128);

impl Key {
    /// The key of a list of texts; `["ab", "c"]` and `["a", "bc"]` differ.
    pub fn of(parts: &[&str]) -> Key {
        let mut hash = FNV_OFFSET;
        for part in parts {
            hash = fnv(fnv(hash, &(part.len() as u64).to_le_bytes()), part.as_bytes());
        }
        Key(hash)
    }
}

const FNV_OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;

fn fnv(hash: u128, bytes: &[u8]) -> u128 {
    bytes.iter().fold(hash, |h, &b| (h ^ u128::from(b)).wrapping_mul(FNV_PRIME))
}

/// How the cache does, for [`Cache::status`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It works, in this folder.
    Ready(PathBuf),
    /// It does not, and kernels are compiled in each process; why.
    Off(String),
}

/// A folder of compiled kernels.
#[derive(Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
    trouble: Mutex<Option<String>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Cache {
    /// The cache in `folder`, which need not exist yet; `None` is a cache that holds nothing.
    pub fn at(folder: Option<PathBuf>) -> Cache {
        let trouble = folder
            .is_none()
            .then(|| format!("no folder: {CACHE_DIR} is empty, or none of {} is set", PLACES.join(", ")));
        Cache { folder, trouble: Mutex::new(trouble), hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    /// The cache of this process: `OPLUS_CACHE_DIR`, or `oplus` in `XDG_CACHE_HOME`, on Windows in `LOCALAPPDATA`, or in `~/.cache`.
    pub fn get() -> &'static Cache {
        static CACHE: OnceLock<Cache> = OnceLock::new();
        CACHE.get_or_init(|| Cache::at(folder(|name| env::var_os(name).map(PathBuf::from))))
    }

    /// Where it is, or why there is none.
    pub fn status(&self) -> Status {
        match (crate::backend::cuda::lock(&self.trouble).clone(), &self.folder) {
            (None, Some(folder)) => Status::Ready(folder.clone()),
            (trouble, _) => Status::Off(trouble.unwrap_or_default()),
        }
    }

    /// Kernels found, and kernels not found, since the start.
    pub fn counts(&self) -> (u64, u64) {
        (self.hits.load(Relaxed), self.misses.load(Relaxed))
    }

    fn path(&self, key: Key) -> Option<PathBuf> {
        self.folder.as_ref().map(|f| f.join(format!("{:032x}.kernel", key.0)))
    }

    /// What is stored under `key`, if it is whole.
    pub fn read(&self, key: Key) -> Option<Compiled> {
        let found = self.path(key).and_then(|path| fs::read(path).ok()).and_then(|bytes| decode(key, &bytes));
        let count = if found.is_some() { &self.hits } else { &self.misses };
        count.fetch_add(1, Relaxed);
        found
    }

    /// Stores under `key`. Failure shows in [`Cache::status`] and nowhere else.
    pub fn write(&self, key: Key, compiled: &Compiled) {
        let Some(path) = self.path(key) else { return };
        *crate::backend::cuda::lock(&self.trouble) =
            store(&path, &encode(key, compiled)).err().map(|e| format!("{}: {e}", path.display()));
    }

    /// Forgets what is stored under `key`.
    pub fn remove(&self, key: Key) {
        if let Some(path) = self.path(key) {
            // Not there, or not ours to remove: the next write says so.
            let _ = fs::remove_file(path);
        }
    }
}

fn folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let filled = |name: &str| variable(name).filter(|p| !p.as_os_str().is_empty());
    if let Some(own) = variable(CACHE_DIR) {
        return Some(own).filter(|p| !p.as_os_str().is_empty());
    }
    let place = |name: &&str| filled(name).map(|f| if *name == HOME { f.join(".cache") } else { f });
    PLACES.iter().find_map(place).map(|f| f.join("oplus"))
}

/// Writes a file so that others see all of it or none.
fn store(path: &std::path::Path, bytes: &[u8]) -> io::Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // Processes of other containers may have the same number.
    let (temporary, mut file) = loop {
        let temporary = path.with_extension(format!("{}.{}.tmp", process::id(), NUMBER.fetch_add(1, Relaxed)));
        match fs::File::create_new(&temporary) {
            Ok(file) => break (temporary, file),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => (),
            Err(e) => return Err(e),
        }
    };
    let written = file.write_all(bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn encode(key: Key, compiled: &Compiled) -> Vec<u8> {
    let mut payload = Vec::new();
    let (kind, code) = match &compiled.image {
        Image::Cubin(bytes) => (0u8, bytes),
        Image::Ptx(bytes) => (1, bytes),
    };
    payload.push(kind);
    payload.extend((compiled.resources.len() as u32).to_le_bytes());
    for (name, r) in &compiled.resources {
        payload.extend((name.len() as u32).to_le_bytes());
        payload.extend(name.as_bytes());
        for number in [r.registers, r.stack, r.spill_stores, r.spill_loads, r.shared] {
            payload.extend(number.to_le_bytes());
        }
    }
    payload.extend(code);
    let mut file = Vec::from(MAGIC);
    file.extend(key.0.to_le_bytes());
    file.extend((payload.len() as u64).to_le_bytes());
    file.extend(fnv(FNV_OFFSET, &payload).to_le_bytes());
    file.extend(payload);
    file
}

fn decode(key: Key, bytes: &[u8]) -> Option<Compiled> {
    let (magic, rest) = bytes.split_first_chunk::<8>()?;
    let (stored, rest) = rest.split_first_chunk::<16>()?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let (checksum, payload) = rest.split_first_chunk::<16>()?;
    let whole = *magic == MAGIC
        && u128::from_le_bytes(*stored) == key.0
        && u64::from_le_bytes(*length) == payload.len() as u64
        && u128::from_le_bytes(*checksum) == fnv(FNV_OFFSET, payload);
    if !whole {
        return None;
    }
    let (kind, mut rest) = payload.split_first()?;
    let number = |rest: &mut &[u8]| -> Option<u32> {
        let (n, after) = rest.split_first_chunk::<4>()?;
        *rest = after;
        Some(u32::from_le_bytes(*n))
    };
    let mut resources = BTreeMap::new();
    for _ in 0..number(&mut rest)? {
        let length = number(&mut rest)? as usize;
        let (name, after) = rest.split_at_checked(length)?;
        rest = after;
        let mut next = || number(&mut rest);
        let r = Resources {
            registers: next()?,
            stack: next()?,
            spill_stores: next()?,
            spill_loads: next()?,
            shared: next()?,
        };
        resources.insert(String::from_utf8(name.to_vec()).ok()?, r);
    }
    let image = match kind {
        // The driver is given no length.
        0 if rest.starts_with(b"\x7fELF") => Image::Cubin(rest.to_vec()),
        1 if rest.ends_with(&[0]) => Image::Ptx(rest.to_vec()),
        _ => return None,
    };
    Some(Compiled { image, resources })
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
