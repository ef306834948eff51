//! What a product with select or top-k holds at once, by a counting allocator: never the product.
#[path = "common/allocator.rs"]
mod allocator;
#[path = "common/random.rs"]
mod random;

use allocator::{alone, measured};
use oplus::prelude::*;
use random::Rng;

fn random(n: u64, entries: u64, seed: u64) -> Matrix<f64> {
    let mut coo = Coo::new(n, n);
    let mut random = Rng(seed | 1);
    let mut next = |below| random.below(below);
    (0..entries).for_each(|_| coo.push(next(n), next(n), next(1000) as f64 / 1000.0));
    Matrix::build_with(&coo, Plus).unwrap()
}

#[test]
fn what_is_dropped_is_never_stored() {
    let _alone = alone();
    let n = 4000;
    let (a, b) = (random(n, 25 * n, 1), random(n, 25 * n, 2));
    let (c, unfused) = measured(|| mxm(&a, &b).eval().unwrap());
    let product = c.memory_bytes();
    assert!(unfused >= product && product > 20 << 20, "{product} of {unfused} bytes");
    let (top, most) = measured(|| mxm(&a, &b).top_k(4).eval().unwrap());
    assert!(most < product / 3, "top_k held {most} bytes, the product is {product}");
    assert_eq!(top.entries().unwrap(), top_k(&c, 4).eval().unwrap().entries().unwrap());
    let (kept, most) = measured(|| mxm(&a, &b).select(ValueGt, 1.2).eval().unwrap());
    assert!(kept.nvals() > 0 && kept.nvals() < c.nvals() / 10);
    assert!(most < product / 3, "select held {most} bytes, the product is {product}");
    assert_eq!(kept.entries().unwrap(), select(&c, ValueGt, 1.2).eval().unwrap().entries().unwrap());
    // And under a limit that the product does not keep.
    let limit = product / 2;
    assert!(mxm(&a, &b).memory_limit(limit).eval().is_err());
    let (limited, most) = measured(|| mxm(&a, &b).memory_limit(limit).top_k(4).eval().unwrap());
    assert!(most <= limit, "{most} bytes under a limit of {limit}");
    assert_eq!(limited.entries().unwrap(), top.entries().unwrap());
}
