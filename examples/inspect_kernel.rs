//! The CUDA source generated for a semiring, and what its kernels take of an NVIDIA GPU: registers, shared memory, spills.
//!
//! `cargo run --release --example inspect_kernel -- --semiring min_plus --type f64 --strategy esc --arch 90 --source`
//!
//! Needs NVRTC (found at run time), and but for `--start` no GPU. Shared memory is what the kernel declares itself; what a launch adds is not in it.
mod common;
#[path = "common/names.rs"]
mod names;

use clap::{Parser, ValueEnum};
use names::{SemiringName, over_booleans, over_complex, over_numbers};
use oplus::algebra::semiring_text;
use oplus::backend::cuda::{Context, Source, compile_for};
use oplus::prelude::*;
use oplus_codegen::{SemiringText, Spec, Template};

#[derive(Parser)]
#[command(after_help = several())]
struct Options {
    /// ⊕.⊗
    #[arg(long, default_value = "plus_times")]
    semiring: SemiringName,
    /// bool, i32, i64, u64, f32, f64, c32, c64, f16 or bf16
    #[arg(long = "type", default_value = "f64")]
    scalar: String,
    /// What is generated: a strategy's kernel of numbers, or one that another kernel goes before or after
    #[arg(long, default_value = "esc")]
    strategy: Strategies,
    /// The strategy's kernel, compiled as a product has it; `all` of them. By default the one that rows of medium length take
    #[arg(long)]
    kernel: Option<String>,
    /// Rows of at most so many products (esc), so many columns (window, block)
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    width: Option<u64>,
    /// 75, 80, 86, 89, 90, 100 or 120
    #[arg(long, default_value_t = 90)]
    arch: u32,
    /// With a structural mask
    #[arg(long)]
    masked: bool,
    /// For operands of 2³¹ entries and more
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

#[derive(ValueEnum, Clone, Copy, PartialEq)]
#[value(rename_all = "snake_case")]
enum Strategies {
    Analyze,
    Symbolic,
    Hash,
    #[value(alias = "hash-table")]
    HashTable,
    #[value(alias = "hash-thread")]
    HashThread,
    Band,
    Thread,
    #[value(alias = "thread-count")]
    ThreadCount,
    Esc,
    Window,
    #[value(alias = "bitmap_rank")]
    Block,
    #[value(alias = "block-count")]
    BlockCount,
    Slices,
    #[value(alias = "esc_global")]
    Expand,
    ColumnRow,
    Contract,
    #[value(alias = "segmented-merge")]
    SegmentedMerge,
    #[value(alias = "row_row")]
    Rows,
    #[value(alias = "rows-count")]
    RowsCount,
    Dot,
    Masked,
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
            Self::Expand | Self::ColumnRow => Template::SpgemmExpand,
            Self::Contract => Template::SpgemmContract,
            Self::SegmentedMerge => Template::SegmentedMerge,
            Self::Rows => Template::SpgemmRows,
            Self::RowsCount => Template::SpgemmRowsCount,
            Self::Dot => Template::SpgemmDot,
            Self::Masked => Template::SpgemmMasked,
            Self::Spmv => Template::Spmv,
            Self::Spmspv => Template::Spmspv,
        }
    }
    /// The kernel that rows of medium length take, or the one with most of the work.
    fn ordinary(self) -> &'static str {
        match self {
            Self::Symbolic => "spgemm_symbolic_table2",
            Self::Hash => "spgemm_numeric_table2",
            Self::Slices => "slice_marks",
            Self::SegmentedMerge => "merge_level",
            Self::Spmv => "spmv_lanes8",
            Self::Spmspv => "spmspv_push",
            _ => self.template().name(),
        }
    }
    /// Without a mask there is no such kernel.
    fn needs_mask(self) -> bool {
        matches!(self, Self::Dot | Self::Masked)
    }
}

/// The strategies that have several kernels, for `--help`.
fn several() -> String {
    let mut text = "Kernels of strategies that have several, * by default:".to_string();
    for strategy in Strategies::value_variants() {
        let names = strategy.template().kernel_names();
        if let (Some(value), true) = (strategy.to_possible_value(), names.len() > 1) {
            let names: Vec<_> =
                names.iter().map(|n| format!("{n}{}", if n == strategy.ordinary() { "*" } else { "" })).collect();
            text += &format!("\n  {}: {}", value.get_name(), names.join(", "));
        }
    }
    text
}

fn semiring(name: SemiringName, scalar: &str) -> Option<SemiringText> {
    macro_rules! of {
        ($t:ty, $s:ty) => {
            semiring_text::<$t, $t, $s>()
        };
    }
    macro_rules! numbers {
        ($t:ty, $count:ty) => {
            over_numbers!(name, $t, $count, of, return None)
        };
    }
    Some(match scalar {
        "bool" => over_booleans!(name, of),
        "i32" => numbers!(i32, i32),
        "i64" => numbers!(i64, i64),
        "u64" => numbers!(u64, u64),
        "f32" => numbers!(f32, f32),
        "f64" => numbers!(f64, f64),
        "c32" => over_complex!(name, c32, of, return None),
        "c64" => over_complex!(name, c64, of, return None),
        #[cfg(feature = "half")]
        "f16" => numbers!(f16, f32),
        #[cfg(feature = "half")]
        "bf16" => numbers!(bf16, f32),
        _ => return None,
    })
}

/// Refuses what the strategy's kernels do not know: it would be ignored.
fn known(options: &Options) -> std::result::Result<(), String> {
    let template = options.strategy.template();
    let (flag, number) =
        (|name| template.flags().contains(&name), |name| template.numbers().iter().any(|(known, _)| *known == name));
    let asked = [
        ("--masked", options.masked, flag("masked")),
        ("--wide", options.wide, flag("narrow")),
        ("--whole", options.whole, flag("whole")),
        ("--width", options.width.is_some(), number("width") || number("slots")),
    ];
    let Some((option, ..)) = asked.iter().find(|(_, asked, known)| *asked && !known) else { return Ok(()) };
    let strategy = options.strategy.to_possible_value().map(|v| v.get_name().to_string()).unwrap_or_default();
    Err(format!("`{strategy}` knows no {option}"))
}

fn run(options: Options) -> std::result::Result<(), Box<dyn std::error::Error>> {
    known(&options)?;
    let template = options.strategy.template();
    let mut spec = Spec::new(template, options.arch);
    if template.needs_semiring() {
        let name = options.semiring.to_possible_value().map(|v| v.get_name().to_string()).unwrap_or_default();
        let text = semiring(options.semiring, &options.scalar)
            .ok_or_else(|| format!("there is no {name} over {}", options.scalar))?;
        spec = spec.semiring(text);
    }
    if template.flags().contains(&"masked") {
        spec = spec.flag("masked", options.masked || options.strategy.needs_mask());
    }
    if options.strategy == Strategies::ColumnRow {
        spec = spec.flag("by_columns", true);
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
    let name = options.kernel.as_deref().unwrap_or(options.strategy.ordinary());
    let all = name == "all";
    let asked = if all { template.kernel_names() } else { vec![name.to_string()] };
    let one = match all {
        true => spec.clone(),
        false => spec.clone().taken(name).map_err(|e| format!("{e}, all"))?,
    };
    let source = one.source()?;
    let start = std::time::Instant::now();
    let compiled = compile_for(options.arch, template.name(), &source)?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    if let oplus::backend::cuda::Image::Ptx(_) = compiled.image {
        return Err(format!("this NVRTC makes no machine code for sm_{}, only PTX", options.arch).into());
    }
    // Said at the end, all together: an error leaves nothing on stdout.
    let mut text = if options.source { format!("{source}\n") } else { String::new() };
    let lines = source.lines().count();
    text += &format!("// {}, sm_{}, {lines} lines\n// compiled in {ms:.0} ms\n", one.key(), options.arch);
    let beside: Vec<_> = compiled.resources.keys().filter(|name| !asked.contains(name)).map(String::as_str).collect();
    if !beside.is_empty() {
        text += &format!("// compiled together with {}, as products have it\n", beside.join(", "));
    }
    text += &format!("{:32} {:>9} {:>8} {:>8} {:>8}\n", "// kernel", "registers", "shared", "stack", "spilled");
    for (name, r) in compiled.resources.iter().filter(|(name, _)| asked.contains(name)) {
        let spilled = r.spill_stores + r.spill_loads;
        text += &format!("{name:32} {:>9} {:>8} {:>8} {spilled:>8}\n", r.registers, r.shared, r.stack);
    }
    if options.start {
        text += &started_twice(&spec, &asked)?;
    }
    if let (Some(path), oplus::backend::cuda::Image::Cubin(code)) = (&options.cubin, &compiled.image) {
        std::fs::write(path, code).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(common::say(text)?)
}

/// How long it takes on the machine's device until each kernel could be launched, compiled as a product has it: in a process that finds
/// none on disk, and in one that does.
fn started_twice(spec: &Spec, kernels: &[String]) -> std::result::Result<String, Box<dyn std::error::Error>> {
    let mut times = String::new();
    // What starts a device and the compiler at all is not the kernel's.
    let cache = tempfile::tempdir()?;
    // SAFETY: this program has one thread, and nothing has read the variable yet.
    unsafe { std::env::set_var("OPLUS_CACHE_DIR", cache.path()) };
    Context::separate(0)?;
    let mut modules = std::collections::BTreeMap::new();
    for kernel in kernels {
        let spec = spec.clone().taken(kernel)?;
        let (text, key) = (spec.source()?, spec.key());
        if let Some(first) = modules.insert(key.clone(), kernel) {
            times += &format!("// {kernel}: in one module with {first}\n");
            continue;
        }
        let source = Source { name: spec.template.name(), key: &key, text: &text };
        for how in ["compiled", "found on disk"] {
            let context = Context::separate(0)?;
            let start = std::time::Instant::now();
            context.kernel(&source, kernel)?;
            let ms = start.elapsed().as_secs_f64() * 1e3;
            times += &format!("// {kernel}: {how} and loaded in {ms:.1} ms\n");
        }
    }
    Ok(times)
}

fn main() -> std::process::ExitCode {
    // NVRTC keeps what it compiled with the driver's own cache: `--start` would not be told how long that took.
    // SAFETY: this program has one thread, and nothing has read the variable yet.
    unsafe { std::env::set_var("CUDA_CACHE_DISABLE", "1") };
    common::single_threaded(run)
}
