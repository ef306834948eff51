//! The built-in specialisations that are checked in under `kernels/generated/`, to read and to compare against.
use crate::catalog::Template;
use crate::error::Error;
use crate::literal;
use crate::spec::{FunctionText, SemiringText, Spec};
use crate::text::{Atomic, OperatorText, Reads, ScalarText, Terminal};

/// A scalar that CUDA knows under its Rust name.
#[must_use]
pub const fn built_in(name: &'static str, size: usize) -> ScalarText {
    ScalarText { name, definition: "", size }
}

const XY: &[&str] = &["x", "y"];
const BOTH: Reads = Reads { a: true, b: true, position: false, flipped: false };

fn uniform(name: &str, scalar: ScalarText, add: &'static str, atomic: Atomic, multiply: &'static str) -> SemiringText {
    SemiringText {
        name: name.to_string(),
        a: scalar,
        b: scalar,
        c: scalar,
        counted: None,
        add: OperatorText { parameters: XY, expression: add },
        atomic,
        multiply: OperatorText { parameters: XY, expression: multiply },
        reads: BOTH,
        identity: String::new(),
        terminal: Terminal::Never,
    }
}

/// (+, ×), (min, +) in both floats, and (∨, ∧).
#[must_use]
pub fn semirings() -> Vec<SemiringText> {
    let (f32, f64) = (built_in("f32", 4), built_in("f64", 8));
    let plus = |scalar, zero| SemiringText {
        identity: zero,
        ..uniform("plus_times", scalar, "add(x, y)", Atomic::Add, "mul(x, y)")
    };
    let min = |scalar, infinity, terminal| SemiringText {
        identity: infinity,
        terminal: Terminal::Value(terminal),
        ..uniform("min_plus", scalar, "min(x, y)", Atomic::Min, "add(x, y)")
    };
    vec![
        plus(f64, literal::f64(0.0)),
        plus(f32, literal::f32(0.0)),
        min(f64, literal::f64(f64::INFINITY), literal::f64(f64::NEG_INFINITY)),
        min(f32, literal::f32(f32::INFINITY), literal::f32(f32::NEG_INFINITY)),
        SemiringText {
            identity: literal::bool(false),
            terminal: Terminal::Value(literal::bool(true)),
            ..uniform("lor_land", built_in("bool", 1), "x || y", Atomic::Or, "x && y")
        },
    ]
}

/// Paths under `kernels/generated/` and the texts that belong there.
///
/// # Errors
/// None for the built-in semirings, unless a template is broken.
pub fn files() -> Result<Vec<(String, String)>, Error> {
    let mut files = Vec::new();
    for semiring in semirings() {
        for template in Template::ALL.iter().filter(|t| t.needs_semiring() && t.functions().is_empty()) {
            let path = format!("{}_{}/{}.cu", semiring.name, semiring.c.name, template.name());
            files.push((path, Spec::new(*template, 90).semiring(semiring.clone()).source()?));
        }
    }
    for template in
        Template::ALL.iter().filter(|t| !t.needs_semiring() && t.functions().is_empty() && t.types().is_empty())
    {
        files.push((format!("{}.cu", template.name()), Spec::new(*template, 90).source()?));
    }
    Ok(files)
}

/// (or, second) of column sets.
fn sets() -> SemiringText {
    SemiringText {
        reads: Reads { a: false, ..BOTH },
        identity: literal::u32(0),
        ..uniform("or_second", built_in("u32", 4), "x | y", Atomic::Or, "y")
    }
}

/// Semirings that between them take every path of the kernels: native, swapped, locked, value-free, positional, wide, and
/// wider than any that the device moves at once.
#[must_use]
pub fn trial_semirings() -> Vec<SemiringText> {
    let mut all = semirings();
    let (i32, i64, u8, u64) = (built_in("i32", 4), built_in("i64", 8), built_in("u8", 1), built_in("u64", 8));
    let f32 = built_in("f32", 4);
    let bool = built_in("bool", 1);
    all.push(SemiringText {
        identity: literal::i64(0),
        ..uniform("plus_times", i64, "add(x, y)", Atomic::Add, "mul(x, y)")
    });
    all.push(SemiringText {
        identity: literal::i32(i32::MAX),
        terminal: Terminal::Value(literal::i32(i32::MIN)),
        ..uniform("min_plus_sat", i32, "min(x, y)", Atomic::Min, "add_sat(x, y)")
    });
    all.push(SemiringText {
        identity: literal::u8(0),
        ..uniform("plus_times", u8, "add(x, y)", Atomic::Add, "mul(x, y)")
    });
    all.push(SemiringText {
        identity: literal::i64(i64::MIN),
        ..uniform("max_plus_user", i64, "max(x, y)", Atomic::None, "add(x, y)")
    });
    let blind: &[&str] = &["_", "_"];
    let none = Reads { a: false, b: false, position: false, flipped: false };
    all.push(SemiringText {
        name: "any_secondi".to_string(),
        a: bool,
        b: f32,
        c: u64,
        counted: None,
        add: OperatorText { parameters: &["x", "_"], expression: "x" },
        atomic: Atomic::First,
        multiply: OperatorText { parameters: &["_", "_", "at"], expression: "at.k" },
        reads: Reads { position: true, ..none },
        identity: literal::u64(0),
        terminal: Terminal::Always,
    });
    all.push(SemiringText {
        name: "any_pair".to_string(),
        multiply: OperatorText { parameters: blind, expression: "true" },
        reads: none,
        add: OperatorText { parameters: &["x", "_"], expression: "x" },
        atomic: Atomic::First,
        terminal: Terminal::Always,
        identity: literal::bool(false),
        ..uniform("", bool, "", Atomic::None, "")
    });
    all.push(SemiringText {
        multiply: OperatorText { parameters: blind, expression: "one::<C>()" },
        reads: none,
        identity: literal::u64(0),
        ..uniform("plus_pair", u64, "add(x, y)", Atomic::Add, "")
    });
    all.push(SemiringText {
        a: bool,
        b: bool,
        counted: Some(built_in("f64", 8)),
        multiply: OperatorText { parameters: blind, expression: "one::<C>()" },
        reads: none,
        identity: literal::u32(0),
        ..uniform("count", built_in("u32", 4), "add(x, y)", Atomic::Add, "")
    });
    let hop = ScalarText {
        name: "Hop",
        definition: "struct Hop { f64 length; u64 parent; static __device__ Hop make(f64 length, u64 parent) { return {length, parent}; } };",
        size: 16,
    };
    let shorter = "select(lt(x.length, y.length) || (eq(x.length, y.length) && lt(x.parent, y.parent)), x, y)";
    all.push(SemiringText {
        multiply: OperatorText {
            parameters: &["x", "y", "at"],
            expression: "Hop::make(add(x.length, y.length), at.k)",
        },
        reads: Reads { position: true, ..BOTH },
        identity: "Hop::make(infinity<f64>(), max_value<u64>())".to_string(),
        ..uniform("shortest_hop", hop, shorter, Atomic::None, "")
    });
    let route = ScalarText {
        name: "Route",
        definition: "struct Route { f64 length; u64 first; i64 toll; static __device__ Route make(f64 length, u64 first, i64 toll) { return {length, first, toll}; } };",
        size: 24,
    };
    let together = "Route::make(min(x.length, y.length), max(x.first, y.first), add(x.toll, y.toll))";
    let on = "Route::make(add(x.length, y.length), y.first, mul(x.toll, y.toll))";
    all.push(SemiringText {
        identity: "Route::make(infinity<f64>(), zero<u64>(), zero<i64>())".to_string(),
        ..uniform("route_together", route, together, Atomic::None, on)
    });
    all
}

/// The monoid of a semiring as function `reduce`.
#[must_use]
pub fn reduce_by_add(s: &SemiringText) -> FunctionText {
    FunctionText::new("reduce", vec![s.c, s.c], s.c, s.add).monoid(s.identity.clone(), s.terminal.clone(), s.atomic)
}

/// Every template over every trial semiring, in its variants, by name: what tests compile and run.
#[must_use]
pub fn variants(architecture: u32) -> Vec<(String, Spec)> {
    let mut all = crate::operations::operation_variants(architecture);
    all.extend(product_variants(architecture));
    all
}

/// [`variants`] but for those of [`operation_variants`](crate::operations::operation_variants): products, what they are
/// prepared by and what follows them.
#[must_use]
pub fn product_variants(architecture: u32) -> Vec<(String, Spec)> {
    let mut all = vec![("band_diagonals".to_string(), Spec::new(Template::BandDiagonals, architecture))];
    all.push(("spgemm_band_count".to_string(), Spec::new(Template::SpgemmBandCount, architecture)));
    for scalar in [built_in("u64", 8), crate::operations::BYTES16, crate::operations::WIDE] {
        let spec = Spec::new(Template::BandValues, architecture).scalar("V", scalar);
        all.push((format!("band_values-{}", scalar.name), spec));
    }
    // The host asks for values of up to eight bytes.
    for (scalar, valued) in [(built_in("u64", 8), true), (built_in("u16", 2), true), (built_in("u8", 1), false)] {
        let spec = Spec::new(Template::PackRows, architecture).scalar("V", scalar).flag("valued", valued);
        all.push((format!("pack_rows-{}", scalar.name), spec));
    }
    for (from, to) in [(built_in("u64", 8), built_in("u64", 8)), (built_in("u32", 4), built_in("f64", 8))] {
        let spec = Spec::new(Template::SpgemmCompact, architecture).scalar("V", from).scalar("W", to);
        all.push((format!("spgemm_compact-{}_{}", from.name, to.name), spec));
    }
    all.push(("segmented_merge".to_string(), Spec::new(Template::SegmentedMerge, architecture)));
    for mask in ["", "masked", "complement"] {
        let with_mask = |spec: Spec| spec.flag("masked", !mask.is_empty()).flag("complement", mask == "complement");
        let name = |name: &str| if mask.is_empty() { name.to_string() } else { format!("{name}-{mask}") };
        for reduce in [false, true] {
            let spec = with_mask(Spec::new(Template::SpgemmAnalyze, architecture)).flag("reduce", reduce);
            all.push((name(if reduce { "spgemm_analyze-reduce" } else { "spgemm_analyze" }), spec));
        }
        for template in [
            Template::SpgemmSymbolic,
            Template::SpgemmThreadCount,
            Template::SpgemmHashCount,
            Template::SpgemmEscCount,
            Template::SpgemmSortCount,
            Template::SpgemmWindowCount,
            Template::SpgemmBlockCount,
        ] {
            for narrow in [false, true] {
                let spec = with_mask(Spec::new(template, architecture)).flag("narrow", narrow);
                all.push((name(&format!("{}{}", template.name(), if narrow { "-narrow" } else { "" })), spec));
            }
        }
        let split =
            with_mask(Spec::new(Template::SpgemmBlockCount, architecture)).flag("narrow", true).flag("split", true);
        all.push((name("spgemm_block_count_split"), split));
        if mask.is_empty() {
            for split in [false, true] {
                let spec =
                    Spec::new(Template::SpgemmBlockCount, architecture).flag("narrow", true).flag("split", split);
                let label = if split { "_split" } else { "" };
                all.push((format!("spgemm_block_count{label}_row_bits"), spec.clone().flag("row_bits", true)));
                let sets = spec.flag("column_sets", true);
                all.push((format!("spgemm_block_count{label}_column_sets"), sets.clone()));
                let both = sets.flag("row_bits", true).flag("supernodes", true);
                all.push((format!("spgemm_block_count{label}_column_sets_row_bits"), both));
            }
            let window = Spec::new(Template::SpgemmWindowCount, architecture).flag("narrow", true);
            all.push(("spgemm_window_count_column_sets".to_string(), window.flag("column_sets", true)));
            let window = Spec::new(Template::SpgemmWindow, architecture).semiring(sets()).number("width", 1024);
            all.push(("spgemm_window_united".to_string(), window.flag("narrow", true).flag("united", true)));
        }
        for template in [Template::SpgemmBlockCount, Template::SpgemmWindowCount] {
            let spec = with_mask(Spec::new(template, architecture)).flag("narrow", true).flag("supernodes", true);
            all.push((name(&format!("{}_supernodes", template.name())), spec));
        }
        let far = with_mask(Spec::new(Template::SpgemmBlockCount, architecture)).flag("narrow", true).flag("far", true);
        all.push((name("spgemm_block_count_far"), far));
        for threads in [128, 512] {
            let spec = with_mask(Spec::new(Template::SpgemmRowsCount, architecture)).number("threads", threads);
            all.push((name(&format!("spgemm_rows_count{threads}")), spec));
        }
        all.push((name("spgemm_slices"), with_mask(Spec::new(Template::SpgemmSlices, architecture))));
        for s in trial_semirings() {
            if mask.is_empty() {
                let new = |template| Spec::new(template, architecture).semiring(s.clone());
                let label = format!("{}_{}", s.name, s.c.name);
                all.push((format!("spgemm_expand-{label}"), new(Template::SpgemmExpand)));
                if s.reads.position {
                    let spec = new(Template::SpgemmExpand).flag("by_columns", true).flag("mapped", true);
                    all.push((format!("spgemm_expand_outer-{label}"), spec));
                }
                all.push((format!("spgemm_contract-{label}"), new(Template::SpgemmContract)));
            }
            if mask.is_empty() {
                let spec = Spec::new(Template::SpmvFull, architecture).semiring(s.clone());
                all.push((format!("spmv_full-{}_{}", s.name, s.c.name), spec.clone()));
                // The host moves no others side by side, and there is no such alignment.
                let widths = if s.c.size.is_power_of_two() { [1u64, 2].as_slice() } else { &[1] };
                for width in widths.iter().copied() {
                    let spec =
                        Spec::new(Template::SpmmFull, architecture).semiring(s.clone()).flag("mapped", width == 1);
                    all.push((
                        format!("spmm_full{width}-{}_{}", s.name, s.c.name),
                        spec.clone().number("width", width),
                    ));
                    let left = spec.number("width", width).flag("vector_left", true);
                    all.push((format!("spmm_full_left{width}-{}_{}", s.name, s.c.name), left));
                }
                let band = Spec::new(Template::SpmvBand, architecture).semiring(s.clone());
                all.push((format!("spmv_band-{}_{}", s.name, s.c.name), band));
                if s.is_constant() {
                    let spec = Spec::new(Template::SpgemmExpand, architecture).semiring(s.clone());
                    all.push((format!("spgemm_expand_places-{}_{}", s.name, s.c.name), spec.flag("places", true)));
                } else if !s.reads.position {
                    let spec = spec.flag("vector_left", true).flag("gathered", true);
                    all.push((format!("spmv_full_gathered-{}_{}", s.name, s.c.name), spec));
                }
            }
            for template in [Template::SpgemmNumeric, Template::Spmv, Template::Spmspv, Template::SpgemmBlock] {
                let spec = with_mask(Spec::new(template, architecture).semiring(s.clone()));
                if template != Template::SpgemmBlock || spec.sums_anywhere() {
                    all.push((name(&format!("{}-{}_{}", template.name(), s.name, s.c.name)), spec));
                }
            }
            for (template, width) in [
                (Template::SpgemmEsc, 64),
                (Template::SpgemmEsc, 512),
                (Template::SpgemmSort, 4096),
                (Template::SpgemmWindow, 1024),
            ] {
                let spec = with_mask(Spec::new(template, architecture).semiring(s.clone())).number("width", width);
                let spec = spec.flag("staged", s.counted.is_some());
                let label = format!("{}{width}-{}_{}", template.name(), s.name, s.c.name);
                all.push((name(&label), spec.flag("narrow", true)));
            }
            let spec = with_mask(Spec::new(Template::SpgemmEsc, architecture).semiring(s.clone())).number("width", 256);
            let label = format!("spgemm_esc_whole-{}_{}", s.name, s.c.name);
            all.push((name(&label), spec.flag("narrow", true).flag("whole", true).number("rows", 8)));
            let block = Spec::new(Template::SpgemmBlock, architecture).semiring(s.clone());
            if block.sums_anywhere() && mask.is_empty() {
                let split = block.clone().flag("narrow", true).flag("split", true);
                all.push((format!("spgemm_block_split-{}_{}", s.name, s.c.name), split));
                let far = block.clone().flag("narrow", true).flag("far", true);
                all.push((format!("spgemm_block_far-{}_{}", s.name, s.c.name), far));
            }
            if block.sums_anywhere() {
                let spec = with_mask(block.clone()).flag("narrow", true).flag("staged", true).flag("supernodes", true);
                let shape = spec.dense_shape(2048);
                all.push((name(&format!("spgemm_block_staged-{}_{}", s.name, s.c.name)), spec.block(shape)));
            }
            for (threads, at_once) in [(256, false), (1024, true)] {
                let spec = with_mask(block.clone()).flag("narrow", true).flag("whole", true).flag("at_once", at_once);
                if let Some(shape) = spec.copies_shape(300, threads, 227 << 10) {
                    let spec = spec.block(shape).number("copies", u64::from(threads / 32));
                    all.push((name(&format!("spgemm_block_copies{threads}-{}_{}", s.name, s.c.name)), spec));
                }
            }
            let window = with_mask(Spec::new(Template::SpgemmWindow, architecture).semiring(s.clone()));
            let window = window.number("width", 1024).flag("narrow", true).flag("supernodes", true);
            all.push((name(&format!("spgemm_window_supernodes-{}_{}", s.name, s.c.name)), window));
            if mask.is_empty() && s.is_constant() {
                for supernodes in [false, true] {
                    let with = |spec: Spec| {
                        let spec = spec.semiring(s.clone()).flag("narrow", true).flag("column_sets", true);
                        spec.flag("supernodes", supernodes)
                    };
                    let label =
                        format!("column_sets{}-{}_{}", if supernodes { "_supernodes" } else { "" }, s.name, s.c.name);
                    let window = with(Spec::new(Template::SpgemmWindow, architecture)).number("width", 1024);
                    all.push((format!("spgemm_window_{label}"), window));
                    let block = with(Spec::new(Template::SpgemmBlock, architecture));
                    all.push((format!("spgemm_block_whole_{label}"), block.clone().flag("whole", true)));
                    let shape = block.dense_shape(2048);
                    all.push((format!("spgemm_block_staged_{label}"), block.flag("staged", true).block(shape)));
                }
            }
            let whole = block.flag("whole", true);
            if whole.sums_anywhere() {
                all.push((name(&format!("spgemm_block_whole-{}_{}", s.name, s.c.name)), with_mask(whole)));
            }
            if mask.is_empty() {
                let spec = Spec::new(Template::SpgemmBand, architecture).semiring(s.clone());
                all.push((format!("spgemm_band-{}_{}", s.name, s.c.name), spec));
            }
            if mask.is_empty() {
                for narrow in [false, true] {
                    let spec = Spec::new(Template::SpgemmDot, architecture).semiring(s.clone()).flag("narrow", narrow);
                    let label = if narrow { "spgemm_dot_narrow" } else { "spgemm_dot" };
                    all.push((format!("{label}-{}_{}", s.name, s.c.name), spec.flag("mapped", !narrow)));
                }
            }
            if mask == "masked" {
                for (entries, lanes) in [(16, 4), (128, 32)] {
                    let spec = with_mask(Spec::new(Template::SpgemmMasked, architecture).semiring(s.clone()));
                    let spec = spec.flag("narrow", true).number("entries", entries).number("lanes", lanes);
                    all.push((format!("spgemm_masked{entries}x{lanes}-{}_{}", s.name, s.c.name), spec));
                }
            }
            if mask.is_empty() {
                let spec = Spec::new(Template::SpgemmOrdered, architecture).semiring(s.clone());
                all.push((format!("spgemm_ordered-{}_{}", s.name, s.c.name), spec));
            }
            // The larger block differs in its registers alone.
            for threads in [128, 512].into_iter().filter(|t| *t == 128 || s.c.size >= 8) {
                let spec = with_mask(Spec::new(Template::SpgemmRows, architecture).semiring(s.clone()));
                let label = format!("spgemm_rows{threads}-{}_{}", s.name, s.c.name);
                all.push((name(&label), spec.number("threads", threads)));
            }
            for (slots, lanes, batch) in [(128, 32, 2), (64, 4, 4), (128, 8, 2)] {
                let spec = with_mask(Spec::new(Template::SpgemmHash, architecture).semiring(s.clone()));
                let spec = spec.flag("narrow", true).number("slots", slots).number("lanes", lanes);
                let label = format!("spgemm_hash{slots}x{lanes}x{batch}-{}_{}", s.name, s.c.name);
                all.push((name(&label), spec.number("batch", batch)));
            }
            for (slots, lanes, packed) in [(16u32, 4, 0), (16, 4, 2), (32, 1, 0)] {
                let spec = with_mask(Spec::new(Template::SpgemmHashThread, architecture).semiring(s.clone()));
                let spec = spec.flag("narrow", true).number("slots", u64::from(slots)).number("lanes", lanes);
                let label = format!("spgemm_hash_thread{slots}x{lanes}x{packed}-{}_{}", s.name, s.c.name);
                if spec.hash_bytes(slots, 1) <= 16 << 10 {
                    let block = if packed > 0 { 64 } else { 128 };
                    all.push((name(&label), spec.number("packed", packed).number("block", block)));
                }
            }
            for (width, whole, wide) in [(16, false, false), (32, true, false), (32, false, true)] {
                if width as usize * s.c.size > 256 {
                    continue; // the host asks for no more
                }
                let spec = with_mask(Spec::new(Template::SpgemmThread, architecture).semiring(s.clone()));
                let spec = spec.flag("narrow", !wide).flag("whole", whole).flag("wide", wide).number("width", width);
                let spec = spec.flag("staged", s.counted.is_some() && !whole);
                let Some((block, _)) = spec.thread_launch(width as u32, 64 << 10) else { continue };
                let label = format!("spgemm_thread{width}-{}_{}", s.name, s.c.name);
                all.push((name(&label), spec.number("block", block as u64)));
            }
            for same in [false, true] {
                let spec =
                    Spec::new(Template::SpgemmReduce, architecture).semiring(s.clone()).function(reduce_by_add(&s));
                let label = if same { "spgemm_reduce_same" } else { "spgemm_reduce" };
                all.push((name(&format!("{label}-{}_{}", s.name, s.c.name)), with_mask(spec).flag("same", same)));
            }
        }
    }
    all
}
