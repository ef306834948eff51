//! Builds the emulated CUDA driver and NVRTC and makes this process use them, unless a real driver was asked for.
//!
//! `OPLUS_TEST_DEVICE=gpu` takes the machine's own driver; `OPLUS_EMULATOR_FLAGS` are further flags of the C++ compiler,
//! such as `-fsanitize=address,undefined` (then the sanitizer's library must be loaded first: see `.ci/run`). Without a
//! C++ compiler nothing is tested; `OPLUS_REQUIRE_CUDA=1` makes that a failure.
#![allow(dead_code)]
use oplus::prelude::Device;
use std::ffi::{CStr, c_char, c_long};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// What runs the CUDA tests in this process.
pub enum Cuda {
    Emulated(Emulator),
    Gpu,
}

/// The test functions of the emulated driver.
pub struct Emulator {
    pub folder: PathBuf,
    library: libloading::Library,
}

impl Emulator {
    fn function<T>(&self, name: &str) -> libloading::Symbol<'_, T> {
        // SAFETY: the functions below are given the types they have in tests/emulator.
        unsafe { self.library.get(name.as_bytes()) }.expect("the emulator has this function")
    }
    /// The n-th allocation from now fails, 0 is the next; negative: none.
    pub fn fail_allocation(&self, n: i64) {
        self.fail_allocations(n, 1);
    }
    /// `count` allocations from the n-th on fail.
    pub fn fail_allocations(&self, n: i64, count: i64) {
        // SAFETY: void emu_fail_allocations(long, long).
        unsafe { self.function::<unsafe extern "C" fn(c_long, c_long)>("emu_fail_allocations")(n, count) }
    }
    /// The next `count` allocations of at least so many bytes fail.
    pub fn fail_large(&self, bytes: usize, count: i64) {
        // SAFETY: void emu_fail_large(size_t, long).
        unsafe { self.function::<unsafe extern "C" fn(usize, c_long)>("emu_fail_large")(bytes, count) }
    }
    /// The n-th launch from now fails.
    pub fn fail_launch(&self, n: i64) {
        // SAFETY: void emu_fail_launch(long).
        unsafe { self.function::<unsafe extern "C" fn(c_long)>("emu_fail_launch")(n) }
    }
    /// There is no memory for `count` of the driver's own objects, streams and events say, from the n-th on; n negative: there is for all.
    pub fn fail_objects(&self, n: i64, count: i64) {
        // SAFETY: void emu_fail_objects(long, long).
        unsafe { self.function::<unsafe extern "C" fn(c_long, c_long)>("emu_fail_objects")(n, count) }
    }
    /// The n-th launch from now is said to have begun, and does nothing.
    pub fn lose_launch(&self, n: i64) {
        // SAFETY: void emu_lose_launch(long).
        unsafe { self.function::<unsafe extern "C" fn(c_long)>("emu_lose_launch")(n) }
    }
    /// Another schedule.
    pub fn seed(&self, seed: u64) {
        // SAFETY: void emu_seed(uint64_t).
        unsafe { self.function::<unsafe extern "C" fn(u64)>("emu_seed")(seed) }
    }
    /// Allocations alive, and their bytes.
    pub fn live(&self) -> (usize, usize) {
        let (mut count, mut bytes) = (0, 0);
        // SAFETY: void emu_live_allocations(size_t*, size_t*).
        unsafe {
            self.function::<unsafe extern "C" fn(*mut usize, *mut usize)>("emu_live_allocations")(
                &mut count, &mut bytes,
            )
        }
        (count, bytes)
    }
    /// Bytes copied so far: to the host, and to the device.
    pub fn copied(&self) -> (usize, usize) {
        let (mut to_host, mut to_device) = (0, 0);
        // SAFETY: void emu_copied(size_t*, size_t*).
        unsafe {
            self.function::<unsafe extern "C" fn(*mut usize, *mut usize)>("emu_copied")(&mut to_host, &mut to_device)
        }
        (to_host, to_device)
    }
    /// The last report.
    pub fn report(&self) -> String {
        // SAFETY: const char* emu_last_report(), never null.
        let text =
            unsafe { CStr::from_ptr(self.function::<unsafe extern "C" fn() -> *const c_char>("emu_last_report")()) };
        text.to_string_lossy().into_owned()
    }
    /// Forgets a failed launch, so that one process can test several.
    pub fn recover(&self) {
        // SAFETY: void emu_recover().
        unsafe { self.function::<unsafe extern "C" fn()>("emu_recover")() }
    }
}

/// For tests that count for the whole process or make a call of it fail, which others would show up in: one at a time; `None` without a
/// device.
pub fn alone() -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    cuda()?;
    Some(ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Of many like cases every so many are enough for the emulator, which takes its time over each; a GPU takes all.
pub fn every(cases: usize) -> usize {
    sized(1, cases)
}

/// How much of something a GPU takes, and how much is enough for the emulator. Less has to go the same ways: `EMU_PROFILE=1` tells
/// which kernels ran.
pub fn sized<T>(gpu: T, emulated: T) -> T {
    if matches!(cuda(), Some(Cuda::Gpu)) { gpu } else { emulated }
}

/// What results are held against: the reference, which takes its time, and where rows or entries are many the CPU, which other tests
/// hold against the reference.
pub fn oracle(many: u64) -> Device {
    if many > 30_000 { Device::Cpu } else { Device::Reference }
}

/// The flags asked for by the environment.
fn asked_flags() -> String {
    std::env::var("OPLUS_EMULATOR_FLAGS").unwrap_or_default()
}

/// The folder of built libraries, one for each version of the sources and flags.
pub fn build(flags: &str) -> Option<PathBuf> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emulator");
    let compiler = std::env::var("EMU_CXX").unwrap_or_else(|_| "c++".into());
    if Command::new(&compiler).arg("--version").output().is_err() {
        assert!(std::env::var_os("OPLUS_REQUIRE_CUDA").is_none(), "no C++ compiler ({compiler})");
        eprintln!("skipped: no C++ compiler ({compiler}), so no emulated CUDA driver");
        return None;
    }
    let Ok(listed) = std::fs::read_dir(&sources) else {
        assert!(std::env::var_os("OPLUS_REQUIRE_CUDA").is_none(), "no {}", sources.display());
        eprintln!("skipped: no {}, so no emulated CUDA driver", sources.display());
        return None;
    };
    let mut files: Vec<PathBuf> = listed.flatten().map(|f| f.path()).collect();
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for file in &files {
        let text = std::fs::read(file).ok()?;
        text.iter().chain(flags.as_bytes()).for_each(|b| hash = (hash ^ *b as u64).wrapping_mul(0x100_0000_01b3));
    }
    // The test binary lies in target/<profile>/deps, unless somebody moved it.
    let target = std::env::current_exe().ok()?.ancestors().nth(3).map_or_else(std::env::temp_dir, Path::to_path_buf);
    let folder = target.join(format!("emulator/{hash:016x}"));
    if folder.join("libnvrtc.so.13").exists() {
        return Some(folder);
    }
    let draft = target.join(format!("emulator/draft-{}-{:?}", std::process::id(), std::thread::current().id()));
    std::fs::create_dir_all(&draft).expect("the target folder can be written");
    let compile = |output: &str, inputs: &[&str]| {
        let mut command = Command::new(&compiler);
        command.args(["-std=c++20", "-O2", "-g", "-fPIC", "-shared", "-I"]).arg(&sources);
        command.args(flags.split_whitespace());
        // The emulator switches stacks, billions of times: it tells the sanitizers, but is not watched itself.
        if flags.split_whitespace().any(|f| f.starts_with("-fsanitize=") && f.contains("address")) {
            command.args(["-DEMU_ADDRESS_SANITIZER", "-fno-sanitize=all"]);
        }
        // A sanitizer's library that this process was started with is not for the compiler.
        command.env_remove("LD_PRELOAD");
        command.args(inputs.iter().map(|i| sources.join(i)));
        command.arg("-o").arg(draft.join(output)).arg(format!("-Wl,-soname,{output}")).args(["-ldl", "-lpthread"]);
        assert!(command.status().expect("the compiler starts").success(), "{output} does not compile");
    };
    compile("libcuda.so.1", &["fiber.cpp", "block.cpp", "memory.cpp", "profile.cpp", "driver.cpp"]);
    compile("libnvrtc.so.13", &["nvrtc.cpp"]);
    std::fs::copy(sources.join("cuda_host.h"), draft.join("cuda_host.h")).expect("copied");
    // Another process may have been first: its folder is as good.
    if std::fs::rename(&draft, &folder).is_err() {
        let _ = std::fs::remove_dir_all(&draft);
    }
    Some(folder)
}

/// The environment a process needs to use the libraries in `folder`.
pub fn environment(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    vec![
        ("OPLUS_CUDA_DRIVER_PATH", folder.to_path_buf()),
        ("OPLUS_NVRTC_PATH", folder.join("libnvrtc.so.13")),
        ("OPLUS_CACHE_DIR", folder.join("cache")),
        // Every allocation and every release is the driver's to see.
        ("OPLUS_CUDA_KEEP", "0".into()),
        ("EMU_HOME", folder.to_path_buf()),
        ("EMU_CXXFLAGS", asked_flags().into()),
    ]
}

/// The CUDA of this process's tests; `None`, with a message, where there is none.
pub fn cuda() -> Option<&'static Cuda> {
    static CUDA: OnceLock<Option<Cuda>> = OnceLock::new();
    CUDA.get_or_init(|| {
        if std::env::var("OPLUS_TEST_DEVICE").is_ok_and(|d| d == "gpu") {
            return Some(Cuda::Gpu);
        }
        let folder = build(&asked_flags())?;
        for (name, value) in environment(&folder) {
            // SAFETY: every test of this process begins here, before anything reads these variables.
            unsafe { std::env::set_var(name, value) };
        }
        // SAFETY: our own library; its initialisers do nothing.
        let library = unsafe { libloading::Library::new(folder.join("libcuda.so.1")) }.expect("the emulator loads");
        Some(Cuda::Emulated(Emulator { folder, library }))
    })
    .as_ref()
}

/// The emulator, where the tests run on it.
pub fn emulator() -> Option<&'static Emulator> {
    match cuda() {
        Some(Cuda::Emulated(e)) => Some(e),
        Some(Cuda::Gpu) => {
            eprintln!("skipped: faults are planted on the emulated driver only");
            None
        }
        None => None,
    }
}
