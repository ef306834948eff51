//! Machines with something missing, old or broken, each the emulated driver in a process of its own.
use super::common::emulator::{self, Emulator};
use super::device;
use super::fault_steps::*;
use oplus::backend::cuda::cache::{Cache, Key, Status};
use oplus::backend::cuda::{Buffer, Compiled, Context, Image};
use oplus::prelude::*;
use oplus_codegen::{Spec, TABLES, Template, Tuning};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs `child` in a process of its own on the emulator, with these variables; its words.
fn child(task: &str, variables: &[(&str, OsString)]) -> Option<String> {
    let Emulator { folder, .. } = emulator::emulator()?;
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "machines::in_a_process_of_its_own", "--ignored", "--nocapture"])
        .envs(emulator::environment(folder))
        .env(TASK, task)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{task} {variables:?}: {text}");
    Some(text)
}

const TASK: &str = "OPLUS_TEST_TASK";

/// A product on the device, or why there is none; the same on the CPU; and what a program that asks no device gets.
#[test]
#[ignore = "runs in the processes that the other tests start"]
fn in_a_process_of_its_own() {
    let Ok(task) = std::env::var(TASK) else { return };
    let step = |o: &Operands| mxm(&o.a, &o.b).eval()?.entries();
    let expected = step(&Operands::on(Device::Cpu).unwrap()).unwrap();
    if task == "objects" {
        return objects_fail_once(|| Operands::on(GPU).and_then(|o| step(&o)), &expected);
    }
    match Operands::on(GPU).and_then(|o| step(&o)) {
        Ok(entries) => {
            assert_eq!(entries, expected);
            let masked = |o: Operands| mxm(&o.a, &o.b).mask(&o.mask.structure()).eval()?.entries();
            assert_eq!(
                Operands::on(GPU).and_then(masked).unwrap(),
                Operands::on(Device::Cpu).and_then(masked).unwrap()
            );
            println!("ANSWER product");
        }
        Err(Error::Unavailable { device, reason }) => println!("ANSWER unavailable {device}: {reason}"),
        Err(e @ Error::OutOfMemory { .. }) => println!("ANSWER {e}"),
        Err(e) => panic!("{e:?}"),
    }
    match task.as_str() {
        "best" => {
            println!("BEST {}", Device::best());
            let best = Operands::on(Device::best()).and_then(|o| step(&o)).unwrap();
            assert_eq!(best, expected);
        }
        "lost" => lost_kernels_tell_nothing(),
        "two" => two_devices_are_not_mixed(),
        "lanes" => products_do_without_lanes(),
        "trim" => {
            let (Some(emulator), context) = (emulator::emulator(), Context::get(0).unwrap()) else { return };
            context.trim().unwrap();
            let (free, total) = context.memory().unwrap();
            assert_eq!(total - free, emulator.live().1 as u64, "the pool has something yet");
        }
        "cache" => {
            let (hits, misses) = Cache::get().counts();
            println!("CACHE {hits} hits {misses} misses {:?}", Cache::get().status());
        }
        _ => {}
    }
}

fn words(text: &str) -> OsString {
    text.into()
}

/// What was read over the page of host memory that kernels write to is no kernel's answer.
fn lost_kernels_tell_nothing() {
    let Some((emulator, _one)) = device() else { return };
    let context = Context::get(0).unwrap();
    let x = Vector::<i64>::full(20_000, 1).unwrap();
    let x: Vec<(u64, i64)> = x.entries().unwrap().into_iter().map(|(i, _)| (i, i as i64 % 5)).collect();
    let x = Vector::<i64>::build(20_000, &x).unwrap().to(&GPU).unwrap();
    let sum = reduce(&x, Plus).unwrap();
    assert_eq!(sum, 40_000);
    for (words, told) in [(512, 0), (511, 96)] {
        // Two numbers are told by each round, and some before the first.
        for next in (0..48).map(|round| told + 2 * round + round % 16) {
            let page = Buffer::from_host(&context, &vec![next; words]).unwrap();
            assert_eq!(page.to_host::<u64>().unwrap(), vec![next; words]);
            emulator.lose_launch(0);
            let lost = reduce(&x, Plus);
            assert!(lost.as_ref().is_err_and(|e| e.to_string().contains("has told nothing")), "{next}: {lost:?}");
            assert_eq!(reduce(&x, Plus).unwrap(), sum);
        }
    }
}

/// Operands on two GPUs: both work alone, and together are an error that changes nothing.
fn two_devices_are_not_mixed() {
    let on = |device| Operands::on(device).unwrap();
    let (here, there) = (on(GPU), on(Device::Cuda(1)));
    let before = (here.contents(), there.contents());
    assert_eq!(before.0, before.1);
    assert_eq!(mxm(&here.a, &here.b).eval().unwrap().entries(), mxm(&there.a, &there.b).eval().unwrap().entries());
    assert_eq!(there.a.device(), Device::Cuda(1));
    let refused = |what: &str, result: Result<()>| match result {
        Err(Error::DeviceMismatch { left, right, .. }) => {
            assert!(left != right && [left, right].iter().all(|d| [GPU, Device::Cuda(1)].contains(d)), "{what}");
        }
        other => panic!("{what}: {other:?}"),
    };
    let (a, b, x) = (&here.a, &there.b, &there.x);
    let mask = there.mask.structure();
    refused("mxm", mxm(a, b).eval().map(drop));
    refused("mxm, transposed", mxm(a, b).transpose_a().transpose_b().eval().map(drop));
    refused("a mask", mxm(a, &here.b).mask(&mask).eval().map(drop));
    refused("a sum", mxm(a, &here.b).mask(&mask).reduce(Plus).map(drop));
    refused("mxv", mxv(a, x).eval().map(drop));
    refused("vxm", vxm(x, a).eval().map(drop));
    refused("ewise_add", ewise_add(a, b, Plus).eval().map(drop));
    refused("ewise_mult", ewise_mult(a, b, Times).eval().map(drop));
    refused("apply", apply(a, Negate).mask(&mask).eval().map(drop));
    refused("kronecker", kronecker(a, b, Times).eval().map(drop));
    refused("scaled", scale_rows(x, a, Times).eval().map(drop));
    refused("concat", concat(&[[a, b]]).map(drop));
    let plan = mxm(a, &here.b).plan().unwrap();
    assert_eq!(plan.run(a, b).unwrap_err().to_string(), "plan: B is on cuda:1, the plan on cuda:0");
    let _ = plan.run(a, &here.b).unwrap();
    let mut c = there.a.clone();
    refused("an output", mxm(a, &here.b).accumulate(Plus).into(&mut c));
    refused("assign", assign(a, .., ..).into(&mut c));
    assert_eq!(c.entries().unwrap(), there.a.entries().unwrap());
    // Moved, it is as all others.
    assert_eq!(mxm(a, &b.to(&GPU).unwrap()).eval().unwrap().entries(), mxm(a, &here.b).eval().unwrap().entries());
    assert_eq!((here.contents(), there.contents()), before);
    println!("ANSWER two");
}

#[test]
fn two_devices_do_not_mix() {
    let Some(text) = child("two", &[("EMU_DEVICES", words("2"))]) else { return };
    assert!(text.contains("ANSWER two"), "{text}");
}

/// Streams and events for kernels beside each other are made when they are first wanted: without memory for one of them the kernels
/// run one after the other.
fn products_do_without_lanes() {
    let Some((emulator, _one)) = device() else { return };
    // Rows of few and of many products: several kernels.
    let length = |i: u64| if i.is_multiple_of(16) { 150 } else { i % 5 };
    let wide = |i: u64| (0..length(i)).map(move |e| (i, (7 * i + 3 * e) % 200, 1 + e as i64));
    let entries: Vec<_> = (0..200).flat_map(wide).collect();
    let a = Matrix::<i64>::build(200, 200, &entries).unwrap();
    let step = |a: &Matrix<i64>| mxm(a, a).strategy(Strategy::Hash).eval()?.entries();
    let (expected, a) = (step(&a).unwrap(), a.to(&GPU).unwrap());
    // Kernels that are timed one by one stay on one stream: all but the lanes is there afterwards.
    assert!(Context::get(0).unwrap().trace(|| step(&a)).unwrap().0 == expected);
    let mut refused = Vec::new();
    for n in 0.. {
        // All from there on: a product begins twice.
        emulator.fail_objects(n, 1000);
        let made = step(&a);
        emulator.fail_objects(-1, 1);
        assert!(made.as_ref().is_ok_and(|made| *made == expected), "{n}: {:?}", made.err());
        let report = emulator.report();
        emulator.recover();
        match report.strip_suffix(" was asked to fail") {
            Some(what) => refused.push(what.to_string()),
            None => break,
        }
    }
    assert!(refused.len() == 9 && refused.iter().all(|what| what == "an event" || what == "a stream"), "{refused:?}");
}

#[test]
fn streams_beside_each_other_are_no_need() {
    child("lanes", &[]);
}

#[test]
fn all_that_is_kept_is_given_back_by_one_trim() {
    child("trim", &[("OPLUS_CUDA_KEEP", words("1000000"))]);
}

#[test]
fn a_kernel_that_tells_nothing_is_an_error() {
    child("lost", &[("OPLUS_CUDA_KEEP", words("1000000"))]);
}

/// The driver had no memory for one of its objects; the next time it has.
fn objects_fail_once(step: impl Fn() -> Result<Vec<(u64, u64, i64)>>, expected: &[(u64, u64, i64)]) {
    match step() {
        Ok(entries) => assert_eq!(entries, expected),
        Err(e @ (Error::OutOfMemory { .. } | Error::Driver { .. } | Error::Unavailable { .. })) => {
            println!("FAILED {e}")
        }
        Err(e) => panic!("{e:?}"),
    }
    assert_eq!(step().unwrap(), expected);
}

/// Contexts, streams, events, modules, memory of the host that the device sees: each in turn.
#[test]
fn the_drivers_own_objects_may_fail() {
    let (mut asked_of, mut failed) = (Vec::new(), Vec::new());
    let cache = tempfile::tempdir().unwrap();
    let written = || -> Vec<_> {
        files(cache.path()).into_iter().map(|f| (std::fs::metadata(&f).unwrap().modified().unwrap(), f)).collect()
    };
    for n in 0..100 {
        let variables =
            [("EMU_FAIL_OBJECT", words(&n.to_string())), ("OPLUS_CACHE_DIR", cache.path().as_os_str().to_owned())];
        let before = written();
        let Some(text) = child("objects", &variables) else { return };
        let Some(asked) = text.lines().find(|l| l.ends_with("was asked to fail")) else { break };
        asked_of.push(asked.to_string());
        // Others may be wanted where less is tried.
        let after = written();
        assert!(before.iter().all(|kernel| after.contains(kernel)), "{asked}: a kernel is compiled again");
        assert!(n == 0 || !before.is_empty());
        // Else what there is to fall back to was enough: what a kernel tells is copied.
        failed.extend(text.lines().find(|l| l.contains("FAILED ")).map(|error| format!("{asked}: {error}")));
    }
    for what in ["a context", "a stream", "a module", "host memory"] {
        assert!(asked_of.iter().any(|text| text.contains(what)), "{what}: {asked_of:?}");
    }
    assert!(failed.len() >= 2 && failed.iter().all(|text| text.contains("out of memory")), "{failed:?}");
}

#[test]
fn machines_that_cannot_be_used_leave_the_cpu() {
    for (variables, reason) in [
        (vec![("EMU_DEVICES", words("0"))], "unavailable cuda:0: "),
        (vec![("EMU_DRIVER_VERSION", words("11080"))], "serves CUDA 11.8, at least 12.0 is needed"),
        (vec![("EMU_DRIVER_VERSION", words("12040"))], "is NVRTC 13.0, and the NVIDIA driver serves CUDA 12.4"),
        (
            vec![("OPLUS_CUDA_DRIVER_PATH", words("/nowhere/libcuda.so.1"))],
            "OPLUS_CUDA_DRIVER_PATH is /nowhere/libcuda.so.1, and no CUDA driver library is there",
        ),
        (vec![("OPLUS_NVRTC_PATH", words("/nowhere"))], "OPLUS_NVRTC_PATH is /nowhere, and no NVRTC is there"),
        (vec![("EMU_ARCHITECTURE", words("35"))], "sm_35"),
    ] {
        let Some(text) = child("best", &variables) else { return };
        assert!(text.contains("ANSWER unavailable") && text.contains(reason), "{variables:?}: {text}");
        assert!(text.contains("BEST cpu"), "{variables:?}: {text}");
    }
    // Where nothing says where NVRTC is and there is none, the message says what to do.
    let nowhere =
        ["VIRTUAL_ENV", "CONDA_PREFIX", "HOME", "OPLUS_NVRTC_PATH", "LD_LIBRARY_PATH"].map(|v| (v, words("")));
    let Some(text) = child("best", &nowhere) else { return };
    if text.contains("ANSWER product") {
        eprintln!("skipped: this machine has an NVRTC of its own");
    } else {
        assert!(
            text.contains("unavailable NVRTC") && text.contains("`pip install 'nvidia-cuda-nvrtc==13.*'`"),
            "{text}"
        );
        assert!(text.contains("BEST cpu"), "{text}");
    }
}

/// Shared memory a block can have, by architecture, from the CUDA programming guide's table of compute capabilities.
const SHARED: [(u32, u32); 11] = [
    (75, 64),
    (80, 163),
    (86, 99),
    (87, 163),
    (89, 99),
    (90, 227),
    (100, 227),
    (103, 227),
    (110, 227),
    (120, 99),
    (121, 99),
];

#[test]
fn every_table_fits_every_architecture() {
    for (architecture, kilobytes) in SHARED {
        let tuning = Tuning::of(architecture);
        for (threads, slots, _) in tuning.tables() {
            assert!(
                slots.is_power_of_two() && slots / 2 > threads,
                "sm_{architecture}: {threads} threads, {slots} slots"
            );
        }
        let specs = [false, true].map(|masked| {
            let spec = |t| Spec::new(t, architecture).flag("masked", masked);
            let numeric = spec(Template::SpgemmNumeric);
            [
                spec(Template::SpgemmSymbolic),
                numeric.clone().semiring(semiring_text::<bool, bool, AnyPair>()),
                numeric.clone().semiring(semiring_text::<bool, bool, LxorLand>()),
                numeric.clone().semiring(semiring_text::<f32, f32, PlusTimes>()),
                numeric.clone().semiring(semiring_text::<f64, f64, AnyFirst>()),
                numeric.semiring(semiring_text::<f64, f64, PlusTimes>()),
            ]
        });
        for spec in specs.iter().flatten() {
            for table in 0..TABLES {
                let launch = spec.table_launch(table).unwrap();
                let (needed, limit) = (launch.shared, kilobytes << 10);
                assert!(needed <= limit, "sm_{architecture}, table {table}: {needed} bytes of {limit}: {}", spec.key());
            }
        }
    }
}

#[test]
fn other_machines() {
    // The tables of the other architectures, and one not known yet.
    for architecture in ["75", "80", "89", "121", "200"] {
        let Some(text) = child("", &[("EMU_ARCHITECTURE", words(architecture))]) else { return };
        assert!(text.contains("ANSWER product"), "{text}");
    }
    // 20 kB of device memory are enough for chunks of rows.
    let Some(text) = child("", &[("EMU_MEMORY", words("20480"))]) else { return };
    assert!(text.contains("ANSWER product"), "{text}");
    let Some(text) = child("", &[("EMU_MEMORY", words("3000"))]) else { return };
    assert!(text.contains("ANSWER ") && text.contains("out of memory on cuda:0: "), "{text}");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_damaged_or_useless_cache_costs_time_only() {
    let root = tempfile::tempdir().unwrap();
    let at = |folder: &Path| [("OPLUS_CACHE_DIR", folder.as_os_str().to_owned())];
    let folder = root.path().join("kernels");
    let Some(text) = child("cache", &at(&folder)) else { return };
    let stored = files(&folder);
    let all = stored.len();
    assert!(all > 1 && text.contains(&format!("CACHE 0 hits {all} misses Ready(")), "{all} files: {text}");
    let whole: Vec<Vec<u8>> = stored.iter().map(|f| std::fs::read(f).unwrap()).collect();
    let hits = format!("CACHE {all} hits 0 misses Ready(");
    assert!(child("cache", &at(&folder)).unwrap().contains(&hits));
    // Kernels with other options are others, though these be no text.
    let [place] = at(&folder);
    let odd = ("OPLUS_NVRTC_OPTIONS", OsString::from_vec(b"-lineinfo \xff".to_vec()));
    let text = child("cache", &[place, odd]).unwrap();
    assert!(text.contains(&format!("CACHE 0 hits {all} misses Ready(")), "{text}");
    for (damage, counted) in [
        ("flipped", format!("CACHE 0 hits {all} misses Ready(")),
        ("cut", format!("CACHE 0 hits {all} misses Ready(")),
        ("empty", format!("CACHE 0 hits {all} misses Ready(")),
        // Whole, and no code: found, refused by the driver, compiled anew.
        ("nonsense", hits.clone()),
        ("folders", format!("CACHE 0 hits {all} misses Off(")),
    ] {
        for (file, bytes) in stored.iter().zip(&whole) {
            let mut bytes = bytes.clone();
            match damage {
                "flipped" => {
                    let middle = bytes.len() / 2;
                    bytes[middle] ^= 1;
                }
                "cut" => bytes.truncate(bytes.len() / 3),
                "empty" => bytes.clear(),
                "nonsense" => {
                    let name = file.file_stem().unwrap().to_str().unwrap();
                    let key = Key(u128::from_str_radix(name, 16).unwrap());
                    let image = Image::Cubin([b"\x7fELF".as_slice(), &[0; 60]].concat());
                    Cache::at(Some(folder.clone())).write(key, &Compiled { image, resources: BTreeMap::new() });
                    continue;
                }
                _ => {
                    std::fs::remove_file(file).unwrap();
                    std::fs::create_dir(file).unwrap();
                    continue;
                }
            }
            std::fs::write(file, bytes).unwrap();
        }
        let text = child("cache", &at(&folder)).unwrap();
        assert!(text.contains("ANSWER product") && text.contains(&counted), "{damage}: {text}");
        if damage != "folders" {
            let text = child("cache", &at(&folder)).unwrap();
            assert!(text.contains(&hits), "{damage}: the cache is not mended: {text}");
        }
    }
    // A file where the folder should be: not writable for any user.
    let file = root.path().join("file");
    std::fs::write(&file, "").unwrap();
    for (folder, why) in [(file.join("kernels"), "file/kernels"), (PathBuf::new(), "OPLUS_CACHE_DIR is empty")] {
        let text = child("cache", &at(&folder)).unwrap();
        assert!(text.contains("ANSWER product") && text.contains("misses Off(") && text.contains(why), "{text}");
    }
    assert!(matches!(Cache::at(Some(folder)).status(), Status::Ready(_)));
}
