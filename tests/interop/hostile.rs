//! Bytes that mean no good: typed errors, no panic, no large allocation.
use super::watched::LARGEST;
use oplus::prelude::*;
use quickcheck::{Arbitrary, Gen};

/// What a reader of a small file makes of it: a whole matrix or an error of the file, and no allocation above 1 MiB but for the places
/// of a dimension that is not listed.
pub fn survived<T: Scalar>(read: impl FnOnce() -> oplus::Result<Matrix<T>>) -> oplus::Result<Matrix<T>> {
    LARGEST.set(0);
    let read = read();
    let largest = LARGEST.get();
    let short = |n: u64| if n < 1 << 24 { 8 * (n as usize + 1) } else { 0 };
    let places = match &read {
        Ok(a) => short(a.nrows()).max(short(a.ncols())),
        // Entries were in their rows already.
        Err(Error::Parse { reason, .. }) if reason.contains("is there twice") => short((1 << 24) - 1),
        Err(_) => 0,
    };
    assert!(largest <= places.max(1 << 20), "{largest} bytes at once for a file of a few");
    match &read {
        Ok(a) => {
            let whole: Matrix<T> = Matrix::from_csr_parts(a.clone().into_csr_parts().unwrap()).unwrap();
            assert_eq!((whole.shape(), whole.nvals()), (a.shape(), a.nvals()));
        }
        Err(e) => assert!(matches!(e, Error::Parse { .. } | Error::OutOfMemory { .. }), "{e}"),
    }
    read
}

/// Some changes of a file: bytes replaced or bits of them turned, words of eight set to extremes, a cut.
#[derive(Clone, Debug)]
pub struct Damage(Vec<(usize, u8, u8)>);

impl Arbitrary for Damage {
    fn arbitrary(g: &mut Gen) -> Self {
        let n = 1 + usize::arbitrary(g) % 4;
        Damage((0..n).map(|_| Arbitrary::arbitrary(g)).collect())
    }
}

impl Damage {
    pub fn of(&self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for (at, how, with) in &self.0 {
            if bytes.is_empty() {
                break;
            }
            let at = at % bytes.len();
            match how % 8 {
                0 | 1 => bytes[at] = *with,
                2 | 3 => bytes[at] ^= 1 << (with % 8),
                4 | 5 => {
                    let at = at & !7;
                    let word = [0, 1, u32::MAX as u64, 1 << 32, i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX];
                    for (byte, new) in bytes[at..].iter_mut().zip(word[*with as usize % 8].to_le_bytes()) {
                        *byte = new;
                    }
                }
                6 => bytes.truncate(at),
                _ => bytes.push(*with),
            }
        }
        bytes
    }
}
