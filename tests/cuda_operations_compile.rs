//! The kernels of all operations besides products through the real NVRTC: they compile and keep to the registers.
//! Where it is missing nothing is tested; `OPLUS_REQUIRE_NVRTC=1` makes that a failure.
#![cfg(feature = "cuda")]
#[path = "common/shares.rs"]
mod shares;

use oplus::backend::cuda::compile_for;
use oplus::backend::cuda::nvrtc::Nvrtc;
use oplus_codegen::operations::operation_variants;
use shares::{Share, shared};

/// What a thread may have, as in cuda_templates.
const REGISTERS: u32 = 168;

#[test]
fn every_variant_compiles_without_spills() {
    if let Err(e) = Nvrtc::get() {
        assert!(std::env::var_os("OPLUS_REQUIRE_NVRTC").is_none(), "{e}");
        eprintln!("skipped: {e}");
        return;
    }
    shared("every_variant_compiles_without_spills", compile_share);
}

fn compile_share(share: Share) {
    let mut bad = Vec::new();
    // Before and after Hopper nothing else differs but limits, which a part of them shows.
    for (architecture, every) in [(90, 1), (100, 8), (75, 6)] {
        for (name, spec) in share.of(operation_variants(architecture).into_iter().step_by(every)) {
            let compiled = compile_for(architecture, &name, &spec.source().unwrap()).unwrap();
            assert!(!compiled.resources.is_empty(), "{name}");
            for (kernel, r) in &compiled.resources {
                if (r.spill_stores, r.spill_loads) != (0, 0) || r.shared > 48 << 10 || r.registers > REGISTERS {
                    bad.push(format!("{name} {kernel} sm_{architecture}: {r:?}"));
                }
                if architecture == 90 {
                    println!("{name} {kernel}: {} registers, {} shared, {} stack", r.registers, r.shared, r.stack);
                }
            }
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}
