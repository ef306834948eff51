//! All-pairs shortest paths on CUDA: the array of Floyd–Warshall on the device, against the CPU to the bit and against Floyd's
//! three loops.
#![cfg(all(feature = "cuda", target_os = "linux"))]
mod common;
mod oracles;

use common::emulator;
use oplus::algorithm::{Apsp, ApspMethod, ApspOptions, apsp};
use oplus::prelude::*;
use oracles::*;

const GPU: Device = Device::Cuda(0);

fn options(method: ApspMethod, next_hops: bool) -> ApspOptions {
    ApspOptions::default().with_method(method).with_next_hops(next_hops)
}

/// Distances to the bit, and next hops.
fn bits(found: &Apsp) -> String {
    let distances: Vec<_> =
        found.distances.entries().unwrap().into_iter().map(|(i, j, d)| (i, j, d.to_bits())).collect();
    format!("{:?} {distances:?} {:?}", found.distances.shape(), found.next.as_ref().map(|next| next.entries().unwrap()))
}

/// The device's result, which is the CPU's to the bit; a negative cycle is the same error.
fn found(weights: &Matrix<f64>, options: &ApspOptions) -> Result<Apsp> {
    let cpu = apsp(weights, options);
    let gpu = apsp(&weights.to(&GPU).unwrap(), options);
    match (&cpu, &gpu) {
        (Ok(cpu), Ok(gpu)) => {
            assert_eq!((cpu.dense, cpu.squarings), (gpu.dense, gpu.squarings));
            assert_eq!(gpu.distances.device(), GPU);
            assert_eq!(bits(cpu), bits(gpu), "{options:?}");
        }
        (Err(cpu), Err(gpu)) => assert_eq!(cpu.to_string(), gpu.to_string()),
        _ => panic!("{cpu:?} on the CPU, {gpu:?} on the device"),
    }
    gpu
}

fn check(n: usize, edges: &[Edge], method: ApspMethod) {
    for next_hops in [false, true] {
        match (found(&matrix(n, edges), &options(method, next_hops)), floyd_warshall(n, edges)) {
            (Ok(found), Some(d)) => {
                let finite = |i: usize, j: usize| (d[i][j] < f64::INFINITY).then_some((i as u64, j as u64, d[i][j]));
                let expected: Vec<_> = (0..n).flat_map(|i| (0..n).filter_map(move |j| finite(i, j))).collect();
                assert_eq!(found.distances.entries().unwrap(), expected, "{n}");
                if next_hops && n > 0 {
                    // Somewhere far.
                    let (i, j, d) = expected.iter().copied().fold((0, 0, 0.0), |x, y| if y.2 > x.2 { y } else { x });
                    let path = found.path(i, j).unwrap().unwrap();
                    let weight = |w: &[u64]| edges.iter().find(|e| (e.0 as u64, e.1 as u64) == (w[0], w[1])).unwrap().2;
                    assert_eq!(path.windows(2).map(weight).sum::<f64>(), d);
                }
            }
            (Err(Error::NegativeCycle { operation: "apsp", vertex }), None) => {
                assert!(on_negative_cycle(n, edges, vertex as usize), "{n} {vertex}");
            }
            other => panic!("{n}: {:?}", other.0),
        }
    }
}

/// About `degree` edges a vertex; the same for each seed.
fn graph(n: usize, degree: usize, seed: u64, weight: impl Fn(usize, usize, u64) -> f64) -> Vec<Edge> {
    let mut random = oplus::generate::Random::new(seed, 3);
    let places: std::collections::BTreeSet<_> = (0..n * degree)
        .map(|_| (random.below(n as u64) as usize, random.below(n as u64) as usize))
        .filter(|(i, j)| i != j)
        .collect();
    places.into_iter().map(|(i, j)| (i, j, weight(i, j, random.below(20)))).collect()
}

#[test]
fn arrays_of_every_size() {
    let Some(_one) = emulator::alone() else { return };
    for n in [0, 1, 2, 31, 32, 33, 63, 64, 65, 130] {
        check(n, &graph(n, 2, n as u64, |_, _, w| w as f64), ApspMethod::FloydWarshall);
    }
    // In two parts that nothing connects, of which one has no edges.
    let some: Vec<Edge> =
        graph(70, 3, 5, |_, _, w| w as f64).into_iter().map(|(i, j, w)| (i + 20, j + 20, w)).collect();
    check(100, &some, ApspMethod::FloydWarshall);
    check(100, &some, ApspMethod::Auto);
}

#[test]
fn negative_weights_and_cycles() {
    let Some(_one) = emulator::alone() else { return };
    for (n, seed) in [(20, 1), (66, 2), (100, 3)] {
        // Potentials: every cycle keeps a length that is not negative.
        let edges = graph(n, 3, seed, |i, j, w| w as f64 + (i * 13 % 37) as f64 - (j * 13 % 37) as f64);
        assert!(edges.iter().any(|e| e.2 < 0.0));
        check(n, &edges, ApspMethod::FloydWarshall);
        check(n, &edges, ApspMethod::Auto);
        let mut edges = edges;
        // A cycle of −1 through the last block.
        edges.retain(|e| (e.0, e.1) != (n - 1, 1) && (e.0, e.1) != (1, n - 1));
        edges.extend([(n - 1, 1, 4.0), (1, n - 1, -5.0)]);
        check(n, &edges, ApspMethod::FloydWarshall);
    }
}

#[test]
fn sums_that_are_rounded_are_those_of_the_cpu() {
    let Some(_one) = emulator::alone() else { return };
    for (n, degree) in [(70, 6), (140, 3)] {
        let edges = graph(n, degree, n as u64, |i, j, w| 0.1 + w as f64 / 7.0 + 1.0 / (1 + i + 3 * j) as f64);
        for next_hops in [false, true] {
            let found = found(&matrix(n, &edges), &options(ApspMethod::FloydWarshall, next_hops)).unwrap();
            assert!(found.dense && found.distances.nvals() > (n * n / 2) as u64);
        }
    }
}

#[test]
fn sums_at_the_ends_of_the_range_are_those_of_the_cpu() {
    let Some(_one) = emulator::alone() else { return };
    let back = [(0, 1, f64::MAX), (1, 2, f64::MAX), (2, 3, -f64::MAX), (4, 0, f64::MAX)];
    let below = [(0, 1, -f64::MAX), (1, 2, -f64::MAX), (3, 4, f64::MAX), (4, 0, f64::MAX)];
    let cycle = [(0, 1, f64::MAX), (1, 2, -f64::MAX), (2, 1, 1.0), (1, 0, 1.0)];
    for method in [ApspMethod::FloydWarshall, ApspMethod::RepeatedSquaring] {
        for next_hops in [false, true] {
            let options = options(method, next_hops);
            let paths = found(&matrix(5, &back), &options).unwrap();
            assert_eq!((paths.distances.nvals(), paths.distances.get(0, 3).unwrap()), (11, Some(f64::MAX)));
            assert!(!next_hops || paths.path(0, 3).unwrap() == Some(vec![0, 1, 2, 3]));
            assert!(!next_hops || paths.path(0, 2).unwrap().is_none());
            let error = found(&matrix(5, &below), &options).unwrap_err();
            assert!(matches!(&error, Error::InvalidValue { reason, .. } if reason.contains("0 to 2")), "{error}");
            let error = found(&matrix(3, &cycle), &options).unwrap_err();
            assert!(matches!(error, Error::NegativeCycle { vertex: 1 | 2, .. }), "{error}");
        }
    }
}

#[test]
fn auto_goes_on_densely_on_the_device() {
    let Some(_one) = emulator::alone() else { return };
    let ring: Vec<Edge> = (0..64).map(|i| (i, (i + 1) % 64, 1.0)).collect();
    let weights = matrix(64, &ring);
    let all = found(&weights, &ApspOptions::default()).unwrap();
    assert!(all.dense && (1..6).contains(&all.squarings), "{} {}", all.dense, all.squarings);
    let mut small = ApspOptions::default();
    small.memory = 100;
    assert!(!found(&weights, &small).unwrap().dense);
    small.method = ApspMethod::FloydWarshall;
    let error = apsp(&weights.to(&GPU).unwrap(), &small).unwrap_err();
    assert!(
        matches!(&error, Error::OutOfMemory { needed: 32768, available: Some(100), device, .. } if device == "cuda:0"),
        "{error}"
    );
}

#[test]
fn nothing_of_the_array_goes_through_the_host() {
    let Some(_one) = emulator::alone() else { return };
    let Some(emulator) = emulator::emulator() else { return };
    let n = 128;
    let ring: Vec<Edge> = (0..n).flat_map(|i| [(i, (i + 1) % n, 1.0), (i, (i + 9) % n, 3.0)]).collect();
    for next_hops in [false, true] {
        let weights = matrix(n, &ring).to(&GPU).unwrap();
        let before = emulator.copied();
        let found = apsp(&weights, &options(ApspMethod::FloydWarshall, next_hops)).unwrap();
        let after = emulator.copied();
        assert!(found.dense && found.distances.nvals() == (n * n) as u64);
        let copied = after.0 - before.0 + after.1 - before.1;
        assert!(copied < n * n, "{copied} bytes were copied");
    }
}

#[test]
fn allocations_that_fail_are_errors() {
    let Some(_one) = emulator::alone() else { return };
    let Some(emulator) = emulator::emulator() else { return };
    let edges = graph(70, 3, 7, |_, _, w| w as f64);
    let weights = matrix(70, &edges).to(&GPU).unwrap();
    let options = options(ApspMethod::FloydWarshall, false);
    let expected = bits(&apsp(&weights, &options).unwrap());
    let live = emulator.live().0;
    for n in 0.. {
        emulator.fail_allocations(n, 2);
        let found = apsp(&weights, &options);
        emulator.fail_allocations(-1, 1);
        match found {
            Ok(found) => {
                assert!(n > 5);
                assert_eq!(bits(&found), expected);
                break;
            }
            Err(e) => assert!(matches!(e, Error::OutOfMemory { .. }), "allocation {n}: {e}"),
        }
        assert_eq!(emulator.live().0, live, "allocation {n}");
        assert!(n < 300, "it never ends");
    }
}
