//! Real matrices: those in `tests/data`, and a folder of more of them.
use std::path::{Path, PathBuf};

/// The folder that `OPLUS_DATA` names, else the one beside the repository where it is there.
pub fn folder() -> Option<PathBuf> {
    match std::env::var_os("OPLUS_DATA") {
        Some(named) => Some(named.into()),
        None => Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data")).filter(|beside| beside.is_dir()),
    }
}

/// The file of this name; `None`, which is said, where it is not here or nothing reads it.
#[allow(dead_code, reason = "what reads all of them asks for the folder")]
pub fn real(name: &str) -> Option<PathBuf> {
    if !cfg!(feature = "compression") {
        eprintln!("skipped: {name} is compressed");
        return None;
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let found = [Some(own), folder().map(|folder| folder.join(name))].into_iter().flatten().find(|path| path.exists());
    if found.is_none() {
        eprintln!("skipped: {name} is not here, OPLUS_DATA names the folder");
    }
    found
}
