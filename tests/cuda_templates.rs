//! Every template, with the real NVRTC, for sm_75, 80, 90 and 100: it compiles, fits, and hardly spills; those of the operations
//! for sm_75, 90 and 100 in cuda_operations_compile. Needs no device. Where NVRTC is missing the test says so; `OPLUS_REQUIRE_NVRTC=1`
//! makes that a failure.
#![cfg(feature = "cuda")]
#[path = "common/shares.rs"]
mod shares;

use oplus::backend::cuda::compile_for;
use oplus::backend::cuda::nvrtc::Nvrtc;
use oplus_codegen::Spec;
use oplus_codegen::golden::product_variants;
use oplus_codegen::operations::operation_variants;
use shares::{Share, shared};

/// Of the operations' kernels one of so many: their text is the same for all kinds of GPUs, and what differs are limits.
const OPERATIONS: usize = 8;
/// Bytes a thread may spill, stores and loads together, and registers it may have.
const SPILLED: u32 = 1024;
const REGISTERS: u32 = 168;

/// The variants a machine compiles in reasonable time: semirings of every kind without a mask for Hopper, of those of a template by turns
/// every other one, for the other architectures those that differ most, masks with one semiring.
fn chosen(architecture: u32) -> Vec<(String, Spec)> {
    // While a template is being written, those of one name; `all` are also those that are left out for time.
    let asked = std::env::var("OPLUS_TEST_TEMPLATES").unwrap_or_default();
    let kept = |nth: usize, name: &str| {
        let semiring = |some: &[&str]| some.iter().any(|s| name.contains(s));
        let masked = name.ends_with("masked") || name.ends_with("complement");
        // Modules of many large kernels, seconds each, of which a few semirings show all that there is: one that computes, one that
        // compares, one of a place, one without values, one of the user's.
        if asked.is_empty()
            && (name.starts_with("spgemm_reduce") || name.starts_with("spgemm_numeric"))
            && !semiring(&["plus_times_f64", "min_plus_f64", "any_secondi", "any_pair", "shortest_hop"])
        {
            return false;
        }
        let free = !name.contains('_') || !semiring(&["_f32", "_f64", "_bool", "_i", "_u", "_Hop", "_Route", "_u8"]);
        match (architecture, masked) {
            // What these have, doubles have too, or integers that are compared.
            (90, false) => {
                let others =
                    ["plus_times_f32", "min_plus_f32", "min_plus_f64", "plus_times_i64", "plus_pair", "route_together"];
                (free || !asked.is_empty() || nth.is_multiple_of(2)) && !semiring(&others)
            }
            // Before Hopper and after it nothing else differs but limits, which these show, each for one or the other.
            (80 | 100, false) => {
                free && nth.is_multiple_of(2) == (architecture == 80)
                    || semiring(&["numeric-plus_times_f64", "block-plus_times_f64", "reduce-plus_times_f64"])
            }
            // Values too large for some kernels are here alone.
            (_, false) => free || semiring(&["plus_times_f64", "shortest_hop", "route_together"]),
            (90, true) => free || semiring(&["min_plus_f64"]),
            (_, true) => false,
        }
    };
    let only = if asked == "all" { "" } else { &asked };
    let mut all = product_variants(architecture);
    // cuda_operations_compile has all of those for the others, and forbids all spills.
    let (every, from) = match architecture {
        _ if !asked.is_empty() => (1, 0),
        80 => (OPERATIONS, 1),
        100 => (OPERATIONS, 5),
        _ => (usize::MAX, usize::MAX),
    };
    all.extend(operation_variants(architecture).into_iter().skip(from).step_by(every));
    let chosen = |(nth, (name, spec)): (usize, (String, Spec))| {
        (name.contains(only) && kept(nth, &name)).then_some((name, spec))
    };
    let all = all.into_iter().enumerate().filter_map(chosen);
    if asked.is_empty() { by_turns(architecture, all.collect()) } else { all.collect() }
}

/// A mask and its complement differ by what one comparison says: templates have one or the other by turns. Modules of several large
/// kernels have some of them with each, and some alone where limits are all that differs from Hopper and where values are large.
fn by_turns(architecture: u32, mut all: Vec<(String, Spec)>) -> Vec<(String, Spec)> {
    let mut turns = [0, 1];
    all.retain_mut(|(name, spec)| {
        let mask = ["masked", "complement"].iter().position(|end| name.ends_with(end));
        let half = match (architecture, mask) {
            (90, Some(kind)) => kind,
            (80, _) => 0,
            (100, _) => 1,
            (75, _) if name.contains("shortest_hop") => 0,
            _ => return true,
        };
        if spec.template.numbers().iter().any(|(number, _)| *number == "kernels") {
            *spec = spec.clone().number("kernels", [0b01_0101, 0b10_1010][half]);
            return true;
        }
        mask.is_none_or(|kind| {
            turns[kind] += 1;
            turns[kind] % 2 == 0
        })
    });
    all
}

#[test]
fn every_template_compiles_for_every_architecture() {
    if let Err(e) = Nvrtc::get() {
        assert!(std::env::var_os("OPLUS_REQUIRE_NVRTC").is_none(), "{e}");
        eprintln!("skipped: {e}");
        return;
    }
    shared("every_template_compiles_for_every_architecture", compile_share);
}

fn compile_share(share: Share) {
    for architecture in [75, 80, 90, 100] {
        let all = chosen(architecture);
        assert!(all.len() > 20 || std::env::var_os("OPLUS_TEST_TEMPLATES").is_some(), "{}", all.len());
        let (mut modules, mut kernels, mut most) = (0, 0, None);
        for (name, spec) in share.of(&all) {
            let compiled = compile_for(architecture, name, &spec.source().unwrap());
            let compiled = compiled.unwrap_or_else(|e| panic!("{name} for sm_{architecture}: {e}"));
            assert!(!compiled.resources.is_empty(), "{name}");
            modules += 1;
            for (kernel, r) in compiled.resources {
                let spilled = r.spill_stores + r.spill_loads;
                assert!(
                    spilled <= SPILLED && r.registers <= REGISTERS,
                    "sm_{architecture}, {name}: {kernel}: {} registers, {spilled} bytes spilled",
                    r.registers
                );
                kernels += 1;
                most = most.max(Some((spilled, r.registers, format!("{name}: {kernel}"))));
            }
        }
        println!("sm_{architecture}: {modules} modules, {kernels} kernels, most spilled: {most:?}");
    }
}

/// Scalars whose text is a file of its own, in kernels that add, compare, convert and move them.
#[test]
#[cfg(feature = "half")]
fn complex_numbers_and_halves_compile() {
    use oplus::prelude::*;
    use oplus_codegen::Template;
    if Nvrtc::get().is_err() {
        assert!(std::env::var_os("OPLUS_REQUIRE_NVRTC").is_none());
        return;
    }
    let semirings = [
        semiring_text::<c32, c32, PlusTimes>(),
        semiring_text::<c64, c64, PlusTimes>(),
        semiring_text::<f16, f32, PlusTimesMixed>(),
        semiring_text::<bf16, bf16, MinPlus>(),
    ];
    let templates = [Template::SpgemmBlock, Template::Spmspv];
    let spec = |template| Spec::new(template, 90);
    let mut all: Vec<Spec> =
        semirings.iter().flat_map(|s| templates.map(|template| spec(template).semiring(s.clone()))).collect();
    let convert = |input, output, text| {
        let place = <i64 as Scalar>::TEXT;
        let op = oplus_codegen::FunctionText::new("op", vec![input, place, place, place], output, text);
        let op =
            oplus_codegen::FunctionText { text: OperatorText { parameters: &["x", "_", "_", "_"], ..op.text }, ..op };
        spec(Template::Map).function(op).number("select", 0).flag("value", true)
    };
    all.push(convert(c64::TEXT, f16::TEXT, <Cast<f16> as UnaryOp<c64>>::TEXT));
    all.push(convert(i64::TEXT, bf16::TEXT, <Cast<bf16> as UnaryOp<i64>>::TEXT));
    all.push(convert(u64::TEXT, f16::TEXT, <Cast<f16> as UnaryOp<u64>>::TEXT));
    all.push(convert(bf16::TEXT, c32::TEXT, <Cast<c32> as UnaryOp<bf16>>::TEXT));
    all.push(convert(c64::TEXT, f64::TEXT, <Argument as UnaryOp<c64>>::TEXT));
    let before = <Lt as BinaryOp<f16, f16>>::TEXT;
    let lower = oplus_codegen::FunctionText::new("op", vec![f16::TEXT, f16::TEXT], bool::TEXT, before);
    all.push(spec(Template::SortRows).function(lower));
    all.iter().for_each(|spec| {
        let compiled = compile_for(90, &spec.key(), &spec.source().unwrap());
        let compiled = compiled.unwrap_or_else(|e| panic!("{}: {e}", spec.key()));
        let worst = compiled.resources.values().map(|r| r.spill_stores + r.spill_loads).max();
        assert!(worst.is_some_and(|spilled| spilled <= SPILLED), "{}: {worst:?}", spec.key());
    });
}
