//! What all tests of semantics use.
use oplus::prelude::*;

/// Runs on every device there is; a failure shows which was last.
pub fn each(run: impl Fn(Device)) {
    #[cfg(feature = "cuda")]
    let cuda = crate::common::emulator::cuda().map(|_| Device::Cuda(0));
    #[cfg(not(feature = "cuda"))]
    let cuda = None;
    for device in [Device::Reference, Device::Cpu].into_iter().chain(cuda) {
        eprintln!("on {device}");
        run(device);
    }
}

/// Whether this device takes a C++ compiler's time for every kernel, and a fiber for every thread.
pub fn emulated(d: Device) -> bool {
    #[cfg(feature = "cuda")]
    let gpu = matches!(crate::common::emulator::cuda(), Some(crate::common::emulator::Cuda::Gpu));
    #[cfg(not(feature = "cuda"))]
    let gpu = false;
    matches!(d, Device::Cuda(_)) && !gpu
}

/// Ways to compute a masked product; all of them but bands, which take few matrices, where kernels compile fast.
pub fn strategies(d: Device) -> Vec<Strategy> {
    if emulated(d) {
        return vec![Strategy::Auto, Strategy::Hash, Strategy::Esc, Strategy::Dot];
    }
    Strategy::ALL.iter().copied().filter(|s| *s != Strategy::Band).collect()
}

/// A dimension beyond 2³²: its indices in use are listed.
pub const HUGE: u64 = 1 << 40;

pub fn matrix<T: Scalar>(d: Device, (m, n): (u64, u64), entries: &[(u64, u64, T)]) -> Matrix<T> {
    Matrix::build(m, n, entries).unwrap().to(&d).unwrap()
}
pub fn vector<T: Scalar>(d: Device, n: u64, entries: &[(u64, T)]) -> Vector<T> {
    Vector::build(n, entries).unwrap().to(&d).unwrap()
}
/// The value at every index.
pub fn full<T: Scalar>(d: Device, n: u64, value: T) -> Vector<T> {
    Vector::full(n, value).unwrap().to(&d).unwrap()
}
pub fn got<T: Scalar, S>(m: &Matrix<T, S>) -> Vec<(u64, u64, T)> {
    m.entries().unwrap()
}
pub fn made<T: Scalar, S, K: Compute<Target = Matrix<T, S>>>(operation: Operation<K>) -> Vec<(u64, u64, T)> {
    got(&operation.eval().unwrap())
}
pub fn made_vector<T: Scalar, S, K: Compute<Target = Vector<T, S>>>(operation: Operation<K>) -> Vec<(u64, T)> {
    operation.eval().unwrap().entries().unwrap()
}

/// The same matrix, surely in this format.
pub fn in_format<T: Scalar, S>(a: &Matrix<T, S>, format: Format) -> Matrix<T, S> {
    let a = a.to_format(format).unwrap();
    assert_eq!(a.format(), format);
    a
}

/// A matrix with entries of all kinds of rows: none, one, many.
pub fn some(d: Device, m: u64, n: u64, salt: u64) -> Matrix<i32> {
    let mut coo = Coo::new(m, n);
    for e in 0..(m * n / 3).min(600) {
        let (i, j) = (e * e * (3 + salt) % m, (e * 7 + salt) % n);
        if i % 4 != 3 {
            coo.push(i, j, (e * 5 % 9) as i32 - 4);
        }
    }
    Matrix::build_with(&coo, Second).unwrap().to(&d).unwrap()
}
