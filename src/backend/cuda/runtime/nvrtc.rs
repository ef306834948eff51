//! Source text to machine code, through NVRTC. Needs no device.
use super::api::{NvrtcApi, NvrtcArchitectures, Program, Status};
pub use super::log::Resources;
pub use super::nvrtc_search::NVRTC_PATH;
use super::nvrtc_search::{self, load, package, unavailable};
use super::probe::{Driver, probe};
use crate::error::{Error, Result};
use crate::memory::{self, setting};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The compiler found on this machine.
#[derive(Clone)]
pub struct Nvrtc {
    api: NvrtcApi,
    /// Where it was found.
    file: PathBuf,
    version: (u32, u32),
    /// Architectures it makes machine code for, ascending; empty if it does not say.
    architectures: Vec<u32>,
}

impl std::fmt::Debug for Nvrtc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Nvrtc").field("version", &self.version).field("architectures", &self.architectures).finish()
    }
}

/// Which it is, for messages.
impl std::fmt::Display for Nvrtc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = if nvrtc_search::named().is_some() { format!(" ({NVRTC_PATH})") } else { String::new() };
        write!(f, "{}{named} is NVRTC {}.{}", self.file.display(), self.version.0, self.version.1)
    }
}

/// How good one is for this machine, ascending: it only starts, it goes with the driver and serves so many of its devices, or all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Merit {
    Starts,
    Serves(usize),
    ServesAll,
}

/// What a compilation gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// What is loaded.
    pub image: Image,
    /// What each kernel takes, by name. Empty for PTX, where the driver decides, and for code from NVRTC's own cache.
    pub resources: BTreeMap<String, Resources>,
}

/// Machine code or what the driver makes it from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Image {
    /// Machine code of one architecture.
    Cubin(Vec<u8>),
    /// Portable code with its ending NUL, for a device newer than the compiler.
    Ptx(Vec<u8>),
}

impl Image {
    /// The bytes to load.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Image::Cubin(bytes) | Image::Ptx(bytes) => bytes,
        }
    }
}

/// What every kernel is compiled with, besides the architecture.
pub const OPTIONS: &[&str] = &["--std=c++17", "-default-device", "--fmad=false"];

/// Environment variable with further options for every kernel, separated by blanks: `-lineinfo` for a profiler.
pub const NVRTC_OPTIONS: &str = "OPLUS_NVRTC_OPTIONS";

/// [`OPTIONS`] and those of [`NVRTC_OPTIONS`], read once.
pub(crate) fn options() -> &'static [&'static str] {
    static ALL: OnceLock<Vec<&'static str>> = OnceLock::new();
    static ASKED: OnceLock<String> = OnceLock::new();
    ALL.get_or_init(|| {
        let asked = ASKED.get_or_init(|| setting::set(NVRTC_OPTIONS).unwrap_or_default());
        OPTIONS.iter().copied().chain(asked.split_whitespace()).collect()
    })
}

/// Compiles for an architecture (90 for sm_90), with [`OPTIONS`]. Needs no device, no driver, and uses no cache: that of
/// NVRTC, from 12.9 on where there is a driver, gives machine code without saying what a kernel takes.
pub fn compile_for(architecture: u32, name: &str, source: &str) -> Result<Compiled> {
    let nvrtc = Nvrtc::get()?;
    let uncached = (nvrtc.version >= (12, 9)).then_some("--no-cache");
    nvrtc.compile(source, name, architecture, &OPTIONS.iter().copied().chain(uncached).collect::<Vec<_>>())
}

impl Nvrtc {
    /// The compiler, looked for at the first call; the answer stands for the life of the process.
    pub fn get() -> Result<&'static Nvrtc> {
        static NVRTC: OnceLock<Result<Nvrtc>> = OnceLock::new();
        NVRTC.get_or_init(Nvrtc::find).as_ref().map_err(Clone::clone)
    }

    /// Of several the first that goes with the driver and all its devices; without a driver the first.
    fn find() -> Result<Nvrtc> {
        let driver = probe().ok();
        let architectures: Vec<u32> = driver.map_or_else(Vec::new, |driver| {
            (0..driver.devices()).flat_map(|i| driver.device(i).and_then(|d| driver.architecture(d))).collect()
        });
        let merit = |found: &Nvrtc| match driver {
            Some(driver) if found.goes_with(driver).is_err() => Merit::Starts,
            _ => match architectures.iter().filter(|&&a| found.serves(a).is_ok()).count() {
                all if all == architectures.len() => Merit::ServesAll,
                some => Merit::Serves(some),
            },
        };
        nvrtc_search::best(
            driver,
            |file| Some(load(file)?.and_then(|(api, library)| Nvrtc::start(file, api, library))),
            merit,
        )
    }

    fn start(file: &Path, api: NvrtcApi, library: libloading::Library) -> Result<Nvrtc> {
        let (mut major, mut minor): (c_int, c_int) = (0, 0);
        // SAFETY: valid places to write to.
        let status = unsafe { (api.version)(&mut major, &mut minor) };
        if status != 0 {
            return Err(unavailable(format!("{} does not start: {}", file.display(), words(&api, status))));
        }
        let architectures = NvrtcArchitectures::load(library).ok().and_then(|a| architectures(&a)).unwrap_or_default();
        let version = (major.max(0) as u32, minor.max(0) as u32);
        Ok(Nvrtc { api, file: file.to_path_buf(), version, architectures })
    }

    /// Major and minor version.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Architectures it makes machine code for, ascending; empty if it does not say.
    pub fn architectures(&self) -> &[u32] {
        &self.architectures
    }

    /// Compiles to a CUBIN for the architecture. If the compiler does not know it: to the CUBIN of the newest earlier one
    /// of the same major version, which runs there, or else to PTX of the newest one known.
    pub fn compile(&self, source: &str, name: &str, architecture: u32, options: &[&str]) -> Result<Compiled> {
        let (arch, machine_code) = match self.target(architecture)? {
            Target::Real(a) => (format!("--gpu-architecture=sm_{a}"), true),
            Target::Virtual(a) => (format!("--gpu-architecture=compute_{a}"), false),
        };
        let mut all = vec![arch];
        if machine_code {
            all.push("--ptxas-options=-v".into());
        }
        // Without declarations that no kernel uses: the same machine code, 7 ms sooner.
        if self.version >= (12, 4) {
            all.push("--minimal".into());
        }
        all.extend(options.iter().map(|&o| o.to_owned()));
        self.run(source, name, &all, machine_code)
    }

    /// Whether it compiles for the architecture, or why not.
    pub fn serves(&self, architecture: u32) -> Result<()> {
        self.target(architecture).map(|_| ())
    }

    fn target(&self, architecture: u32) -> Result<Target> {
        target(&self.architectures, architecture).ok_or_else(|| {
            unavailable(format!(
                "{self} and compiles for nothing before sm_{}, sm_{architecture} is asked for: {} brings an older one, for sm_50 \
                 and newer",
                self.architectures.first().copied().unwrap_or_default(),
                package(12)
            ))
        })
    }

    /// Whether the driver loads what it makes, or why not: machine code of a major version is for drivers of that version and newer.
    pub fn goes_with(&self, driver: &Driver) -> Result<()> {
        let (major, minor) = (driver.version() / 1000, driver.version() % 1000 / 10);
        if self.version.0 <= major {
            return Ok(());
        }
        Err(unavailable(format!(
            "{self}, and the NVIDIA driver serves CUDA {major}.{minor}, which does not load what a newer major version makes: update the \
             driver, or {} brings one that goes with it",
            package(major)
        )))
    }

    /// Threads may compile at once; NVRTC optimises them together from CUDA 12.3 on.
    fn run(&self, source: &str, name: &str, options: &[String], machine_code: bool) -> Result<Compiled> {
        let failed = |log: String| Error::Compile { kernel: name.to_owned(), log };
        let text = |s: &str| CString::new(s).map_err(|_| failed("the text contains a NUL".into()));
        let (source, file) = (text(source)?, text(name)?);
        let options = options.iter().map(|o| text(o)).collect::<Result<Vec<_>>>()?;
        let options: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();

        let mut program = OwnedProgram { api: &self.api, raw: std::ptr::null_mut() };
        // SAFETY: the texts end in NUL and outlive the program; no headers.
        let status = unsafe {
            (self.api.create_program)(
                &mut program.raw,
                source.as_ptr(),
                file.as_ptr(),
                0,
                std::ptr::null(),
                std::ptr::null(),
            )
        };
        if status != 0 {
            return Err(failed(words(&self.api, status)));
        }
        // SAFETY: a program of this compiler; as many options as said, which outlive the call.
        let status = unsafe { (self.api.compile_program)(program.raw, options.len() as c_int, options.as_ptr()) };
        let log = program.read(self.api.program_log_size, self.api.program_log).map_err(failed)?;
        let log = String::from_utf8_lossy(log.strip_suffix(&[0]).unwrap_or(&log)).into_owned();
        if status != 0 {
            let words = words(&self.api, status);
            return Err(failed(if log.trim().is_empty() { words } else { format!("{words}\n{log}") }));
        }
        let image = match machine_code {
            true => Image::Cubin(program.read(self.api.cubin_size, self.api.cubin).map_err(failed)?),
            false => Image::Ptx(program.read(self.api.ptx_size, self.api.ptx).map_err(failed)?),
        };
        if image.bytes().is_empty() {
            return Err(failed("the compiler made no code".into()));
        }
        Ok(Compiled { image, resources: super::log::parse(&log) })
    }
}

struct OwnedProgram<'a> {
    api: &'a NvrtcApi,
    raw: Program,
}

impl OwnedProgram<'_> {
    /// What a pair of NVRTC's functions, size and contents, gives.
    fn read(
        &self,
        size: unsafe extern "C" fn(Program, *mut usize) -> Status,
        contents: unsafe extern "C" fn(Program, *mut c_char) -> Status,
    ) -> Result<Vec<u8>, String> {
        let mut length = 0usize;
        // SAFETY: a program of this compiler; a valid place to write to.
        let status = unsafe { size(self.raw, &mut length) };
        if status != 0 {
            return Err(words(self.api, status));
        }
        let mut bytes = memory::filled("compile", length, 0u8).map_err(|e| e.to_string())?;
        if length > 0 {
            // SAFETY: room for as many bytes as the compiler said.
            let status = unsafe { contents(self.raw, bytes.as_mut_ptr().cast()) };
            if status != 0 {
                return Err(words(self.api, status));
            }
        }
        Ok(bytes)
    }
}

impl Drop for OwnedProgram<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: created by this compiler and destroyed once.
            unsafe { (self.api.destroy_program)(&mut self.raw) };
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Target {
    Real(u32),
    Virtual(u32),
}

/// What to compile for, given the architectures known (ascending; none: try it). `None` if all are newer than the device.
fn target(known: &[u32], architecture: u32) -> Option<Target> {
    if known.is_empty() {
        return Some(Target::Real(architecture));
    }
    let newest = known.iter().copied().filter(|&a| a <= architecture).max()?;
    match newest / 10 == architecture / 10 {
        true => Some(Target::Real(newest)),
        false => Some(Target::Virtual(newest)),
    }
}

fn architectures(api: &NvrtcArchitectures) -> Option<Vec<u32>> {
    let mut count: c_int = 0;
    // SAFETY: a valid place to write to.
    if unsafe { (api.count)(&mut count) } != 0 || !(0..=1024).contains(&count) {
        return None;
    }
    let mut list = vec![0 as c_int; count as usize];
    // SAFETY: room for as many as it said.
    if unsafe { (api.list)(list.as_mut_ptr()) } != 0 {
        return None;
    }
    let mut list: Vec<u32> = list.into_iter().filter_map(|a| u32::try_from(a).ok()).collect();
    list.sort_unstable();
    Some(list)
}

fn words(api: &NvrtcApi, status: Status) -> String {
    // SAFETY: any number may be asked for; the answer is a static string or null.
    let text = unsafe { (api.get_error_string)(status) };
    if text.is_null() {
        return format!("NVRTC error {status}");
    }
    // SAFETY: not null, static, ends in NUL.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_architecture_is_chosen() {
        let known = [75, 80, 86, 90, 100, 103];
        assert_eq!(target(&known, 90), Some(Target::Real(90)));
        assert_eq!(target(&known, 87), Some(Target::Real(86)));
        assert_eq!(target(&known, 130), Some(Target::Virtual(103)));
        assert_eq!(target(&known, 70), None);
        assert_eq!(target(&[], 70), Some(Target::Real(70)));
    }
}
