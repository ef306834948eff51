//! Where NVRTC may lie: it is no part of the driver, and its Python wheels are on no loader's path.
use super::api::NvrtcApi;
use super::nvrtc::Merit;
use super::probe::{Driver, open};
use crate::error::Error;
use libloading::Library;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Environment variable: NVRTC's library, a file or the folder it lies in. Looked for here first.
pub const NVRTC_PATH: &str = "OPLUS_NVRTC_PATH";

/// What `OPLUS_NVRTC_PATH` names: it is used or refused, never passed over in silence.
pub(crate) fn named() -> Option<PathBuf> {
    env::var_os(NVRTC_PATH).filter(|p| !p.is_empty()).map(PathBuf::from)
}

/// The best one, of equals the first, in the order of: `OPLUS_NVRTC_PATH`, and then no other; the loader's own search; the
/// wheels in `VIRTUAL_ENV`, `CONDA_PREFIX` and the user's and system's Python folders; the CUDA toolkits under `/usr/local`.
/// `start` gives `None` where there is no library. The search ends with one that serves all.
pub(super) fn best<T>(
    driver: Option<&Driver>,
    start: impl Fn(&Path) -> Option<Result<T, Error>>,
    merit: impl Fn(&T) -> Merit,
) -> Result<T, Error> {
    if let Some(path) = named() {
        return best_of(within(&path), start, merit)
            .unwrap_or_else(|| Err(unavailable(format!("{NVRTC_PATH} is {}, and no NVRTC is there", path.display()))));
    }
    // Folders are listed only if need be.
    let folders = std::iter::once_with(folders).flatten();
    let files = names().iter().map(PathBuf::from).chain(folders.flat_map(|folder| within(&folder)));
    best_of(files, start, merit).unwrap_or_else(|| {
        Err(unavailable(format!(
            "NVRTC, NVIDIA's run-time compiler, was not found; {} or the CUDA toolkit brings it ({NVRTC_PATH} names a folder outside \
             the usual ones); the CPU backend works without it",
            driver.map_or("`pip install nvidia-cuda-nvrtc`".into(), |driver| package(driver.version() / 1000))
        )))
    })
}

fn best_of<T>(
    files: impl IntoIterator<Item = PathBuf>,
    start: impl Fn(&Path) -> Option<Result<T, Error>>,
    merit: impl Fn(&T) -> Merit,
) -> Option<Result<T, Error>> {
    let mut best = None;
    for file in files {
        let Some(found) = start(&file) else { continue };
        // One that is too old or does not start says so where there is no better one.
        let rank = found.as_ref().ok().map(&merit);
        if rank == Some(Merit::ServesAll) {
            return Some(found);
        }
        if best.as_ref().is_none_or(|(before, _)| rank > *before) {
            best = Some((rank, found));
        }
    }
    best.map(|(_, found)| found)
}

/// What brings NVRTC of a major version.
pub(super) fn package(major: u32) -> String {
    match major {
        ..=12 => "`pip install nvidia-cuda-nvrtc-cu12`".into(),
        newer => format!("`pip install 'nvidia-cuda-nvrtc=={newer}.*'`"),
    }
}

pub(crate) fn unavailable(reason: String) -> Error {
    Error::Unavailable { device: "NVRTC".into(), reason }
}

fn names() -> &'static [&'static str] {
    match cfg!(windows) {
        true => &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"],
        false => &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"],
    }
}

/// Where NVRTC would be at `path`, a file or a folder.
fn within(path: &Path) -> Vec<PathBuf> {
    let mut files = match path.is_dir() {
        true => names().iter().map(|name| path.join(name)).collect(),
        false => vec![path.to_path_buf()],
    };
    files.retain(|file| file.is_file());
    files
}

/// The library's functions, and itself for those that it may lack; `None` if there is none. It stays loaded.
pub(super) fn load(file: &Path) -> Option<Result<(NvrtcApi, Library), Error>> {
    preload_builtins(file);
    let library = open(&[file])?;
    // A second handle keeps the optional functions within reach; the first is kept by the table.
    let second = open(&[file])?;
    Some(match NvrtcApi::load(library) {
        Ok(api) => Ok((api, second)),
        Err(symbol) => Err(unavailable(format!("{} lacks {symbol}: it is too old", file.display()))),
    })
}

/// NVRTC opens libnvrtc-builtins by its bare name, which finds it only if it is loaded already: wheels set no run path.
fn preload_builtins(file: &Path) {
    let Some(folder) = file.parent().filter(|f| !f.as_os_str().is_empty()) else { return };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if name.starts_with("libnvrtc-builtins.so") {
            std::mem::forget(open(&[entry.path()]));
        }
    }
}

/// Folders with a wheel or a toolkit, in the order they are tried.
fn folders() -> Vec<PathBuf> {
    let roots = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(env::var_os).map(PathBuf::from);
    let home = env::var_os("HOME").map(|h| PathBuf::from(h).join(".local"));
    let roots: Vec<PathBuf> = roots.chain(home).chain(["/usr/local", "/usr"].map(PathBuf::from)).collect();
    let mut folders = Vec::new();
    for root in &roots {
        folders.extend(wheels(root));
    }
    // A conda package puts it beside all other libraries.
    folders.extend(env::var_os("CONDA_PREFIX").map(|p| PathBuf::from(p).join("lib")));
    folders.extend(toolkits(Path::new("/usr/local")));
    folders
}

/// `<root>/lib/pythonX.Y/{site,dist}-packages/nvidia/{cu13,cu12,cuda_nvrtc}/lib`.
fn wheels(root: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for lib in ["lib", "lib64"] {
        for python in entries(&root.join(lib), "python3") {
            for packages in ["site-packages", "dist-packages"] {
                let nvidia = python.join(packages).join("nvidia");
                folders.extend(["cu13", "cuda_nvrtc", "cu12"].map(|p| nvidia.join(p).join("lib")));
            }
        }
    }
    folders.retain(|f| f.is_dir());
    folders
}

/// `/usr/local/cuda*/lib64`, the plain name first, then the newest.
fn toolkits(root: &Path) -> Vec<PathBuf> {
    entries(root, "cuda").into_iter().map(|c| c.join("lib64")).filter(|f| f.is_dir()).collect()
}

/// Entries of `folder` whose names start with `prefix`: the bare name first, then descending.
fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).map(|all| all.flatten().map(|e| e.path()).collect()).unwrap_or_default();
    found.retain(|p| p.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(prefix)));
    let rank = |p: &PathBuf| {
        let name = p.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        let numbers: Vec<u32> =
            name[prefix.len()..].split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
        (name == prefix, numbers)
    };
    found.sort_by_key(|p| std::cmp::Reverse(rank(p)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheels_and_toolkits_are_found_newest_first() {
        let root = tempfile::tempdir().unwrap();
        let make = |p: &str| fs::create_dir_all(root.path().join(p)).unwrap();
        make("lib/python3.9/site-packages/nvidia/cuda_nvrtc/lib");
        make("lib/python3.12/site-packages/nvidia/cu13/lib");
        make("lib/python3.12/site-packages/numpy/lib");
        make("cuda-12.9/lib64");
        make("cuda-13.0/lib64");
        make("cuda/lib64");
        make("cuda-13.1/doc");
        let strip = |v: Vec<PathBuf>| -> Vec<String> {
            v.iter().map(|p| p.strip_prefix(root.path()).unwrap().display().to_string()).collect()
        };
        assert_eq!(
            strip(wheels(root.path())),
            ["lib/python3.12/site-packages/nvidia/cu13/lib", "lib/python3.9/site-packages/nvidia/cuda_nvrtc/lib"]
        );
        assert_eq!(strip(toolkits(root.path())), ["cuda/lib64", "cuda-13.0/lib64", "cuda-12.9/lib64"]);
    }

    #[test]
    fn a_folder_without_it_gives_nothing() {
        let root = tempfile::tempdir().unwrap();
        assert!(within(root.path()).is_empty());
        assert!(within(&root.path().join("absent")).is_empty());
    }

    /// Names stand for files: `start` is asked for each, and `None` is no library.
    #[test]
    fn the_first_of_the_best_is_taken() {
        let chosen = |files: &[(&str, Option<Result<Merit, ()>>)]| {
            let asked = std::cell::Cell::new(0);
            let start = |file: &Path| {
                asked.set(asked.get() + 1);
                let (name, found) = *files.iter().find(|(name, _)| Path::new(name) == file)?;
                Some(found?.map(|merit| (name, merit)).map_err(|()| unavailable(name.into())))
            };
            let best = best_of(files.iter().map(|(name, _)| PathBuf::from(name)), start, |(_, merit)| *merit);
            let name = best.map(|found| match found {
                Ok((name, _)) => name.to_string(),
                Err(e) => e.to_string(),
            });
            (name, asked.get())
        };
        let (old, starts, all) = (Some(Err(())), Some(Ok(Merit::Starts)), Some(Ok(Merit::ServesAll)));
        let serves = |n| Some(Ok(Merit::Serves(n)));
        assert_eq!(chosen(&[("a", None)]), (None, 1));
        assert_eq!(chosen(&[("a", None), ("b", old), ("c", old)]), (Some("NVRTC is not available: b".into()), 3));
        assert_eq!(chosen(&[("a", old), ("b", starts), ("c", starts)]), (Some("b".into()), 3));
        assert_eq!(chosen(&[("a", starts), ("b", serves(0)), ("c", serves(1))]), (Some("c".into()), 3));
        assert_eq!(chosen(&[("a", old), ("b", serves(1)), ("c", all), ("d", all)]), (Some("c".into()), 3));
    }
}
