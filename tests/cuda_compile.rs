//! The real NVRTC, without a device. Where it is missing its typed error is what is tested; `OPLUS_REQUIRE_NVRTC=1` makes
//! that a failure.
#![cfg(feature = "cuda")]
use oplus::backend::cuda::nvrtc::{Nvrtc, OPTIONS};
use oplus::backend::cuda::{Compiled, Image, compile_for};
use oplus::error::{Error, Result};

fn compile(architecture: u32, text: &str) -> Option<Result<Compiled>> {
    match compile_for(architecture, "test.cu", text) {
        Err(Error::Unavailable { device, reason })
            if Nvrtc::get().is_err() && std::env::var_os("OPLUS_REQUIRE_NVRTC").is_none() =>
        {
            assert_eq!(device, "NVRTC");
            assert!(reason.contains("NVRTC"), "{reason}");
            None
        }
        other => Some(other),
    }
}

const TEXT: &str = r#"
extern "C" __global__ void plain(float* x) {
    __shared__ float tile[256];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[255 - threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(1024, 2) heavy(double* x, int n) {
    double v[96];
    for (int i = 0; i < 96; i++) v[i] = x[i * n];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 96; i++) v[i] = v[i] * v[(i + 7) % 96] + x[k];
    for (int i = 0; i < 96; i++) x[i * n] = v[i];
}
"#;

#[test]
fn machine_code_and_resources_for_each_architecture() {
    for architecture in [75, 80, 90, 100] {
        let Some(compiled) = compile(architecture, TEXT) else { return };
        let compiled = compiled.unwrap();
        assert!(matches!(&compiled.image, Image::Cubin(b) if b.starts_with(b"\x7fELF")));
        let of = |kernel| {
            let found = compiled.resources.get(kernel);
            *found.unwrap_or_else(|| panic!("sm_{architecture}, {kernel}: {:?}", compiled.resources))
        };
        let plain = of("plain");
        assert!(plain.registers > 0 && plain.spill_stores == 0, "{plain:?}");
        assert!(plain.shared >= 1024, "{plain:?}");
        let heavy = of("heavy");
        assert!(heavy.spill_stores > 0 && heavy.spill_loads > 0 && heavy.stack > 0, "{heavy:?}");
        // Two blocks of 1024 share 65536 registers; sm_75 holds one such block only.
        assert!(heavy.registers <= if architecture == 75 { 64 } else { 32 }, "{heavy:?}");
    }
}

#[test]
fn errors_name_the_kernel_and_the_line() {
    let Some(r) = compile(90, "\nextern \"C\" __global__ void f() { undeclared = 1; }") else { return };
    assert!(
        matches!(&r, Err(Error::Compile { kernel, log }) if kernel == "test.cu" && log.contains("test.cu(2)") && log.contains("undeclared")),
        "{r:?}"
    );
    let r = compile(90, "a\0b").unwrap();
    assert!(matches!(&r, Err(Error::Compile { .. })), "{r:?}");
}

#[test]
fn newer_and_older_architectures() {
    let Some(newer) = compile(990, TEXT) else { return };
    assert!(matches!(&newer.unwrap().image, Image::Ptx(text) if text.ends_with(b"\0") && text.starts_with(b"//")));
    let r = compile(35, TEXT).unwrap();
    assert!(matches!(&r, Err(Error::Unavailable { reason, .. }) if reason.contains("sm_35")), "{r:?}");
    // A minor version that does not exist runs what is made for the one before.
    assert!(matches!(compile(85, TEXT).unwrap().unwrap().image, Image::Cubin(_)));
}

#[test]
fn the_default_options_are_accepted_and_doubled_ones_are_not() {
    let Ok(nvrtc) = Nvrtc::get() else { return };
    assert!(nvrtc.version() >= (12, 0));
    assert!(nvrtc.compile(TEXT, "test.cu", 90, OPTIONS).is_ok());
    let r = nvrtc.compile(TEXT, "test.cu", 90, &["--no-such-option"]);
    assert!(matches!(&r, Err(Error::Compile { .. })), "{r:?}");
}

#[test]
fn threads_may_compile_at_once() {
    if compile(90, TEXT).is_none() {
        return;
    }
    std::thread::scope(|scope| {
        for i in 0..3 {
            scope.spawn(move || {
                let text = format!("extern \"C\" __global__ void k(int* x) {{ *x = {i}; }}");
                assert!(compile(80, &text).unwrap().unwrap().resources.contains_key("k"));
            });
        }
    });
}

/// Functions that no template of the library has by itself: those of complex numbers.
#[test]
fn functions_of_complex_numbers() {
    use oplus::algebra::{OperatorText, Scalar, c32, c64};
    let of = |scalar, all| {
        let text = OperatorText { parameters: &["x", "_", "_", "_"], expression: all };
        let place = <i64 as Scalar>::TEXT;
        let function = oplus_codegen::FunctionText::new("op", vec![scalar, place, place, place], scalar, text);
        let spec = oplus_codegen::Spec::new(oplus_codegen::Template::Map, 90).function(function);
        let read = [("value", true), ("row", false), ("column", false), ("thunk", false)];
        let spec = read.into_iter().fold(spec.number("select", 0), |spec, (name, is)| spec.flag(name, is));
        compile(90, &spec.source().unwrap())
    };
    let single = of(<c32 as Scalar>::TEXT, "acos(atan(asinh(acosh(exp2(expm1(log2(log10(log1p(x)))))))))");
    let double = of(<c64 as Scalar>::TEXT, "exp2(log1p(x))");
    for compiled in [single, double].into_iter().flatten() {
        assert!(!compiled.unwrap().resources.is_empty());
    }
}

/// Names that NVRTC has macros of, or that the text has for itself.
#[allow(non_camel_case_types, non_snake_case)]
mod taken {
    oplus::scalar! { pub struct user { NULL: u32, CUDART_VERSION: f32, __CUDACC__: u32, warpSize: f32 } }
    oplus::scalar! { pub struct max { max: f64, user: f64 } }
    oplus::scalar! { pub struct function_op { int: i32 } }
    oplus::scalar! { pub struct int { int: i32 } }
    oplus::index_operator! { pub Users[](user, user) -> user = |NULL, _, _, CUDART_VERSION| user::make(
    max(NULL.NULL, CUDART_VERSION.__CUDACC__), add(NULL.CUDART_VERSION, CUDART_VERSION.warpSize,), NULL.NULL, 1f32,) }
    oplus::index_operator! { pub Largest[](max, max) -> max = |cudaStreamLegacy, _, _, inf_f32|
    max::make(max(cudaStreamLegacy.max, inf_f32.user), inf_f32.max) }
    oplus::index_operator! { pub Op[](function_op, int) -> int = |_0i64, oplus_x, _, __LINE__|
    int::make(add(_0i64.int, select(oplus_x < 3i64, __LINE__.int, 1i32))) }
}

#[test]
fn names_of_macros_are_free() {
    use oplus::algebra::{IndexUnaryOp, Scalar};
    fn of<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>() {
        let place = <i64 as Scalar>::TEXT;
        let inputs = vec![A::TEXT, place, place, Y::TEXT];
        let function = oplus_codegen::FunctionText::new("op", inputs, <F::Out as Scalar>::TEXT, F::TEXT);
        let spec = oplus_codegen::Spec::new(oplus_codegen::Template::Map, 90).function(function);
        let read = [("value", true), ("row", true), ("column", false), ("thunk", true)];
        let spec = read.into_iter().fold(spec.number("select", 0), |spec, (name, is)| spec.flag(name, is));
        if let Some(compiled) = compile(90, &spec.source().unwrap()) {
            assert!(!compiled.unwrap().resources.is_empty());
        }
    }
    of::<taken::user, taken::user, taken::Users>();
    of::<taken::max, taken::max, taken::Largest>();
    of::<taken::function_op, taken::int, taken::Op>();
}
