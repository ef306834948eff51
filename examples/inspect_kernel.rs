//! The CUDA source generated for a semiring, and what its kernels take of an NVIDIA GPU: registers, shared memory, spills.
//!
//! `cargo run --release --example inspect_kernel -- --semiring min_plus --type f64 --strategy esc --arch 90 --source`
//!
//! Needs NVRTC (found at run time), and but for `--start` no GPU. Shared memory is what the kernel declares itself; what a launch adds is not in it.
use clap::{Parser, ValueEnum};
use oplus::algebra::semiring_text;
use oplus::backend::cuda::{Context, Source, compile_for};
use oplus::prelude::*;
use oplus_codegen::{SemiringText, Spec, Template};

#[derive(Parser)]
struct Options {
    /// plus_times, min_plus, max_plus, min_max, max_min, plus_pair, any_pair, lor_land (bool only); plus_times alone of complex
    /// numbers
    #[arg(long, default_value = "plus_times")]
    semiring: String,
    /// bool, i32, i64, u64, f32, f64, c32, c64, f16 or bf16
    #[arg(long = "type", default_value = "f64")]
    scalar: String,
    /// What is generated
    #[arg(long, default_value = "esc")]
    strategy: Strategies,
    /// Rows of at most so many products (esc), so many columns (window, block)
    #[arg(long)]
    width: Option<u64>,
    /// 75, 80, 86, 89, 90, 100 or 120
    #[arg(long, default_value_t = 90)]
    arch: u32,
    /// With a structural mask
    #[arg(long)]
    masked: bool,
    /// For operands of 2³² entries and more
    #[arg(long)]
    wide: bool,
    /// For products whose rows are all short
    #[arg(long)]
    whole: bool,
    /// Print the source too
    #[arg(long)]
    source: bool,
    /// Load it on device 0 too, from nothing and from the cache on disk, and print how long each takes
    #[arg(long)]
    start: bool,
    /// Write the machine code here
    #[arg(long)]
    cubin: Option<std::path::PathBuf>,
}

#[derive(ValueEnum, Clone, Copy)]
enum Strategies {
    Analyze,
    Symbolic,
    Hash,
    HashTable,
    HashThread,
    Band,
    Thread,
    ThreadCount,
    Esc,
    Window,
    Block,
    BlockCount,
    Slices,
    Expand,
    Contract,
    SegmentedMerge,
    Rows,
    RowsCount,
    Spmv,
    Spmspv,
}
impl Strategies {
    fn template(self) -> Template {
        match self {
            Self::Analyze => Template::SpgemmAnalyze,
            Self::Symbolic => Template::SpgemmSymbolic,
            Self::Hash => Template::SpgemmNumeric,
            Self::HashTable => Template::SpgemmHash,
            Self::HashThread => Template::SpgemmHashThread,
            Self::Thread => Template::SpgemmThread,
            Self::ThreadCount => Template::SpgemmThreadCount,
            Self::Esc => Template::SpgemmEsc,
            Self::Window => Template::SpgemmWindow,
            Self::Band => Template::SpgemmBand,
            Self::Block => Template::SpgemmBlock,
            Self::BlockCount => Template::SpgemmBlockCount,
            Self::Slices => Template::SpgemmSlices,
            Self::Expand => Template::SpgemmExpand,
            Self::Contract => Template::SpgemmContract,
            Self::SegmentedMerge => Template::SegmentedMerge,
            Self::Rows => Template::SpgemmRows,
            Self::RowsCount => Template::SpgemmRowsCount,
            Self::Spmv => Template::Spmv,
            Self::Spmspv => Template::Spmspv,
        }
    }
}

/// `Count` is what `plus_pair` counts in.
fn numbers<T: Ordered, Count: HasOne>(name: &str) -> Option<SemiringText>
where
    PlusTimes: Semiring<T, T>,
    MinPlus: Semiring<T, T>,
    MaxPlus: Semiring<T, T>,
    MinMax: Semiring<T, T>,
    MaxMin: Semiring<T, T>,
    PlusPair<Count>: Semiring<T, T>,
    AnyPair<T>: Semiring<T, T>,
{
    Some(match name {
        "plus_times" => semiring_text::<T, T, PlusTimes>(),
        "min_plus" => semiring_text::<T, T, MinPlus>(),
        "max_plus" => semiring_text::<T, T, MaxPlus>(),
        "min_max" => semiring_text::<T, T, MinMax>(),
        "max_min" => semiring_text::<T, T, MaxMin>(),
        "plus_pair" => semiring_text::<T, T, PlusPair<Count>>(),
        "any_pair" => semiring_text::<T, T, AnyPair<T>>(),
        _ => return None,
    })
}

fn semiring(name: &str, scalar: &str) -> Option<SemiringText> {
    match (scalar, name) {
        ("bool", "lor_land") => Some(semiring_text::<bool, bool, LorLand>()),
        ("bool", "any_pair") => Some(semiring_text::<bool, bool, AnyPair>()),
        ("i32", _) => numbers::<i32, i32>(name),
        ("i64", _) => numbers::<i64, i64>(name),
        ("u64", _) => numbers::<u64, u64>(name),
        ("f32", _) => numbers::<f32, f32>(name),
        ("f64", _) => numbers::<f64, f64>(name),
        ("c32", "plus_times") => Some(semiring_text::<c32, c32, PlusTimes>()),
        ("c64", "plus_times") => Some(semiring_text::<c64, c64, PlusTimes>()),
        #[cfg(feature = "half")]
        ("f16", _) => numbers::<f16, f32>(name),
        #[cfg(feature = "half")]
        ("bf16", _) => numbers::<bf16, f32>(name),
        _ => None,
    }
}

fn run(options: &Options) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let template = options.strategy.template();
    let mut spec = Spec::new(template, options.arch);
    if template.needs_semiring() {
        let text = semiring(&options.semiring, &options.scalar)
            .ok_or_else(|| format!("there is no {} over {}", options.semiring, options.scalar))?;
        spec = spec.semiring(text);
    }
    if template.flags().contains(&"masked") {
        spec = spec.flag("masked", options.masked);
    }
    if template.flags().contains(&"narrow") {
        spec = spec.flag("narrow", !options.wide);
    }
    if let Some(width) = options.width.filter(|_| template.numbers().iter().any(|n| n.0 == "width")) {
        spec = spec.number("width", width);
    }
    if let Some(slots) = options.width.filter(|_| template.numbers().iter().any(|n| n.0 == "slots")) {
        spec = spec.number("slots", slots);
    }
    if let Some((block, _)) = spec.thread_launch(options.width.unwrap_or(32) as u32, 56 << 10)
        && template.numbers().iter().any(|n| n.0 == "block")
    {
        spec = spec.number("block", block as u64);
    }
    if template.flags().contains(&"whole") {
        spec = spec.flag("whole", options.whole);
    }
    let source = spec.source()?;
    if options.source {
        println!("{source}");
    }
    println!("// {}, sm_{}, {} lines", spec.key(), options.arch, source.lines().count());
    let start = std::time::Instant::now();
    let compiled = compile_for(options.arch, template.name(), &source)?;
    println!("// compiled in {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    println!("{:32} {:>9} {:>8} {:>8} {:>8}", "// kernel", "registers", "shared", "stack", "spilled");
    for (name, r) in &compiled.resources {
        println!("{name:32} {:>9} {:>8} {:>8} {:>8}", r.registers, r.shared, r.stack, r.spill_stores + r.spill_loads);
    }
    if options.start {
        start_twice(&spec, &source, compiled.resources.keys().next().ok_or("no kernel")?)?;
    }
    if let (Some(path), oplus::backend::cuda::Image::Cubin(code)) = (&options.cubin, &compiled.image) {
        std::fs::write(path, code)?;
    }
    Ok(())
}

/// How long it takes on the machine's device until the kernel could be launched: in a process that finds no kernel on disk, and
/// in one that does.
fn start_twice(spec: &Spec, text: &str, kernel: &str) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let cache = tempfile::tempdir()?;
    // SAFETY: this program has one thread, and nothing has read the variable yet.
    unsafe { std::env::set_var("OPLUS_CACHE_DIR", cache.path()) };
    let key = spec.key();
    let source = Source { name: spec.template.name(), key: &key, text };
    // What starts a device and the compiler at all is not the kernel's.
    Context::separate(0)?;
    for how in ["compiled", "found on disk"] {
        let context = Context::separate(0)?;
        let start = std::time::Instant::now();
        context.kernel(&source, kernel)?;
        println!("// {how} and loaded in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}

fn main() -> std::process::ExitCode {
    // NVRTC keeps what it compiled with the driver's own cache: `--start` would not be told how long that took.
    // SAFETY: this program has one thread, and nothing has read the variable yet.
    unsafe { std::env::set_var("CUDA_CACHE_DISABLE", "1") };
    match run(&Options::parse()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            std::process::ExitCode::from(2)
        }
    }
}
