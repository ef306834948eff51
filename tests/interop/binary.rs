//! The binary format: what is read is what was written, and nothing else is.
use super::cases::{Any, bits, vector};
use super::hostile::{Damage, survived};
use oplus::io::binary;
use oplus::prelude::*;
use quickcheck::quickcheck;

oplus::scalar! { pub struct Hop { dist: f32, hops: u32 } }

fn written<T: Scalar>(a: &Matrix<T>) -> Vec<u8> {
    let mut bytes = Vec::new();
    binary::write_to(&mut bytes, a).unwrap();
    bytes
}

/// The checksums a file would have had, as far as its claims reach.
fn sealed<T>(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() < 128 {
        return bytes;
    }
    let checksum = crc32fast::hash(&bytes[..124]);
    bytes[124..128].copy_from_slice(&checksum.to_le_bytes());
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as u128;
    let (flags, rows, columns, entries) = (bytes[11], word(32), word(40), word(48));
    let values = if flags & 1 != 0 { 1 } else { entries };
    let sections = [
        if flags & 2 != 0 { Some(8 * rows) } else { None },
        if flags & 4 != 0 { Some(8 * columns) } else { None },
        Some(8 * (rows + 1)),
        Some(4 * entries),
        Some(size_of::<T>() as u128 * values),
    ];
    let mut at = 128u128;
    for length in sections.into_iter().flatten() {
        let end = at + length;
        if end + 4 > bytes.len() as u128 {
            break;
        }
        let (from, to) = (at as usize, end as usize);
        let checksum = crc32fast::hash(&bytes[from..to]);
        bytes[to..to + 4].copy_from_slice(&checksum.to_le_bytes());
        at = end + 4;
    }
    bytes
}

#[test]
fn the_layout_is_the_documented_one() {
    let a: Matrix<f32> = Matrix::build(2, 3, &[(0, 2, 1.5), (1, 0, 2.0)]).unwrap();
    let mut expected = vec![0u8; 128];
    expected[..8].copy_from_slice(&[0x89, 0x4f, 0x50, 0x4c, 0x55, 0x53, 0x0d, 0x0a]);
    expected[8..16].copy_from_slice(&[1, 0, 0, 0, 128, 0, 8, 4]);
    for (n, count) in [2u64, 3, 2, 3, 2].into_iter().enumerate() {
        expected[16 + 8 * n..24 + 8 * n].copy_from_slice(&count.to_le_bytes());
    }
    expected[56] = 4;
    expected[60] = 3;
    expected[64..67].copy_from_slice(b"f32");
    for section in [&[0u64, 1, 2].map(u64::to_le_bytes).concat(), &[2u32, 0].map(u32::to_le_bytes).concat()] {
        expected.extend(section);
        expected.extend([0; 4]);
    }
    expected.extend([1.5f32, 2.0].map(f32::to_le_bytes).concat());
    expected.extend([0; 4]);
    assert_eq!(written(&a), sealed::<f32>(expected));
}

#[test]
fn one_value_is_stored_once() {
    let entries: Vec<(u64, u64, f64)> = (0..1000).map(|i| (i / 40, i % 40, f64::NAN)).collect();
    let a: Matrix<f64> = Matrix::build(25, 40, &entries).unwrap();
    let bytes = written(&a);
    assert!(bytes.len() < 128 + 8 * 26 + 4 * 1000 + 8 + 13, "{}", bytes.len());
    assert_eq!(bits(&binary::read_from::<f64, PlusTimes>(&mut &bytes[..]).unwrap()), bits(&a));
    let zeros: Matrix<f64> = Matrix::build(1, 2, &[(0, 0, 0.0), (0, 1, -0.0)]).unwrap();
    let back = binary::read_from::<f64, PlusTimes>(&mut &written(&zeros)[..]).unwrap();
    assert_eq!(bits(&back), bits(&zeros));
}

#[test]
fn files_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let a: Matrix<i16> = Matrix::build(1 << 50, 3, &[(1 << 49, 2, -7), (5, 0, 3)]).unwrap();
    for name in ["a.oplus", "a.oplus.gz", "a.oplus.zst", "a.mtx"] {
        if !cfg!(feature = "compression") && (name.ends_with("gz") || name.ends_with("zst")) {
            continue;
        }
        let path = folder.path().join(name);
        a.write(&path).unwrap();
        let b: Matrix<i16> = Matrix::read(&path).unwrap();
        assert_eq!((b.shape(), b.entries().unwrap()), (a.shape(), a.entries().unwrap()), "{name}");
    }
    let path = folder.path().join("a.oplus");
    let error = binary::read::<f32, PlusTimes>(&path).unwrap_err();
    let told = "values are i16 of 2 bytes, not f32 of 4";
    assert!(matches!(&error, Error::Parse { path: Some(_), .. } if error.to_string().contains(told)), "{error}");
    assert!(binary::read_vector::<i16, PlusTimes>(&path).unwrap_err().to_string().contains("a matrix"));
    let mut longer = std::fs::read(&path).unwrap();
    longer.push(0);
    std::fs::write(&path, &longer).unwrap();
    assert!(Matrix::<i16>::read(&path).unwrap_err().to_string().contains("behind the last section"));
    std::fs::write(&path, &longer[..longer.len() - 3]).unwrap();
    assert!(Matrix::<i16>::read(&path).unwrap_err().to_string().contains("truncated"));
    assert!(matches!(a.write(folder.path().join("a.tsv")), Err(Error::NotSupported { .. })));
    assert!(matches!(Matrix::<i16>::read(folder.path().join("none.oplus")), Err(Error::Io { .. })));
}

#[test]
fn several_in_one_stream_and_structs() {
    let a: Matrix<Hop> = Matrix::build(2, 2, &[(1, 0, Hop::make(0.5, 3))]).unwrap();
    let x: Vector<bool> = Vector::build(1 << 40, &[(1 << 39, true)]).unwrap();
    let mut bytes = written(&a);
    binary::write_vector_to(&mut bytes, &x).unwrap();
    let from = &mut &bytes[..];
    assert_eq!(binary::read_from::<Hop, PlusTimes>(from).unwrap().entries().unwrap(), a.entries().unwrap());
    let y: Vector<bool> = binary::read_vector_from(from).unwrap();
    assert_eq!((y.len(), y.entries().unwrap()), (x.len(), x.entries().unwrap()));
    assert!(from.is_empty());
}

#[test]
fn every_beginning_is_an_error() {
    let a: Matrix<u32> = Matrix::build(1 << 40, 3, &[(1, 2, 5), (7, 0, 6), (7, 1, 6)]).unwrap();
    let bytes = written(&a);
    for length in 0..bytes.len() {
        let error = survived(|| binary::read_from::<u32, PlusTimes>(&mut &bytes[..length])).unwrap_err();
        assert!(error.to_string().contains("ends too early"), "{error}");
    }
}

#[test]
fn every_damaged_byte_is_noticed() {
    let a: Matrix<u32> = Matrix::build(4, 3, &[(1, 2, 5), (3, 0, 6), (3, 1, 6)]).unwrap();
    let bytes = written(&a);
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x10;
        assert!(survived(|| binary::read_from::<u32, PlusTimes>(&mut &bytes[..])).is_err(), "byte {at}");
    }
}

/// What the format has no use for is 0.
#[test]
fn what_means_nothing_is_refused() {
    let a: Matrix<u32> = Matrix::build(4, 3, &[(1, 2, 5)]).unwrap();
    for at in [61, 62, 63, 67, 100, 123] {
        let mut bytes = written(&a);
        assert_eq!(bytes[at], 0);
        bytes[at] = 1;
        let error = binary::read_from::<u32, PlusTimes>(&mut &sealed::<u32>(bytes)[..]).unwrap_err();
        assert!(error.to_string().contains("that are not 0"), "{error}");
    }
    // A vector has the one row.
    let (x, mut bytes): (Vector<u32>, _) = (Vector::build(3, &[(2, 5)]).unwrap(), Vec::new());
    binary::write_vector_to(&mut bytes, &x).unwrap();
    bytes[11] |= 2;
    bytes.splice(128..128, [0; 12]);
    let bytes = sealed::<u32>(bytes);
    let error = binary::read_vector_from::<u32, PlusTimes>(&mut &bytes[..]).unwrap_err();
    assert!(error.to_string().contains("a vector with a list of rows"), "{error}");
}

/// No vector is written with a list of rows, whatever it came from.
#[test]
fn vectors_of_every_kind_are_read_back() {
    let x: Vector<u32> = Vector::build(9, &[(2, 5), (7, 6)]).unwrap();
    let a: Matrix<u32> = Matrix::build(1 << 40, 1 << 40, &[(1 << 39, 2, 5), (3, 1 << 39, 7)]).unwrap();
    let sums = reduce_rows(&a, Plus).eval().unwrap();
    let row = extract_row(&a, 1 << 39, ..).eval().unwrap();
    let column = extract_column(&a, .., 2).eval().unwrap();
    let product = mxv(&a, &sums).eval().unwrap();
    for x in [x, Vector::full(9, 4).unwrap(), sums, row, column, product] {
        let mut bytes = Vec::new();
        binary::write_vector_to(&mut bytes, &x).unwrap();
        let y: Vector<u32> = binary::read_vector_from(&mut &bytes[..]).unwrap();
        assert_eq!((y.len(), y.entries().unwrap()), (x.len(), x.entries().unwrap()));
    }
}

/// A source that fails is no damaged file; what is interrupted is gone on with.
#[test]
fn sources_may_fail() {
    struct Failing<'a>(&'a [u8], std::io::ErrorKind, bool);
    impl std::io::Read for Failing<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            self.2 = !self.2;
            if self.2 {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            let n = to.len().min(7);
            match self.0.read(&mut to[..n]) {
                Ok(0) => Err(std::io::Error::new(self.1, "no more of it")),
                read => read,
            }
        }
    }
    use std::io::ErrorKind;
    let a: Matrix<u32> = Matrix::build(4, 3, &[(1, 2, 5)]).unwrap();
    let bytes = written(&a);
    let read = |n: usize, kind| binary::read_from::<u32, PlusTimes>(&mut Failing(&bytes[..n], kind, false));
    assert_eq!(read(bytes.len(), ErrorKind::Other).unwrap().entries().unwrap(), a.entries().unwrap());
    for n in [0, 5, 127, 128, 150, bytes.len() - 1] {
        for kind in [ErrorKind::Other, ErrorKind::ConnectionReset] {
            let told = Error::Io { path: "input".into(), message: "no more of it".into() };
            assert_eq!(read(n, kind).unwrap_err(), told);
        }
        assert!(matches!(read(n, ErrorKind::InvalidData), Err(Error::Parse { .. })));
        assert!(matches!(read(n, ErrorKind::UnexpectedEof), Err(Error::Parse { .. })));
    }
}

#[test]
fn huge_claims_allocate_nothing() {
    let a: Matrix<f64> = Matrix::build(4, 3, &[(1, 2, 5.0), (3, 0, 6.0)]).unwrap();
    let hypersparse: Matrix<f64> = Matrix::build(1 << 40, 3, &[(1, 2, 5.0), (3, 0, 6.0)]).unwrap();
    for (a, field) in [(&a, 16), (&a, 24), (&a, 32), (&a, 48), (&hypersparse, 32), (&hypersparse, 48)] {
        for claim in [1u64 << 20, 1 << 31, u32::MAX as u64, 1 << 40, 1 << 61, u64::MAX] {
            let mut bytes = written(a);
            bytes[field..field + 8].copy_from_slice(&claim.to_le_bytes());
            if field == 16 {
                bytes[32..40].copy_from_slice(&claim.to_le_bytes());
            }
            // A wider matrix of the same entries is none the worse.
            if field == 24 {
                bytes[40..48].copy_from_slice(&claim.to_le_bytes());
            }
            let read = survived(|| binary::read_from::<f64, PlusTimes>(&mut &sealed::<f64>(bytes)[..]));
            assert_eq!(read.is_ok(), field == 24 && claim <= u32::MAX as u64, "{field} {claim}");
        }
    }
}

quickcheck! {
    fn matrices(a: Any<f64>) -> bool {
        bits(&binary::read_from::<f64, PlusTimes>(&mut &written(&a.0)[..]).unwrap()) == bits(&a.0)
    }
    fn vectors(entries: Vec<(u8, i64)>) -> bool {
        let (x, mut bytes) = (vector(&entries), Vec::new());
        binary::write_vector_to(&mut bytes, &x).unwrap();
        let y: Vector<i64> = binary::read_vector_from(&mut &bytes[..]).unwrap();
        y.len() == x.len() && y.entries().unwrap() == x.entries().unwrap()
    }
    fn damage_is_survived(a: Any<bool>, damage: Vec<Damage>) -> bool {
        let good = written(&a.0);
        for damage in damage {
            let bytes = damage.of(&good);
            let _ = survived(|| binary::read_from::<bool, PlusTimes>(&mut &bytes[..]));
            // With its checksums right, so that it gets as far as it can.
            let _ = survived(|| binary::read_from::<bool, PlusTimes>(&mut &sealed::<bool>(bytes)[..]));
        }
        true
    }
    fn damaged_files_are_survived(a: Any<f64>, damage: Damage) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.oplus");
        std::fs::write(&path, sealed::<f64>(damage.of(&written(&a.0)))).unwrap();
        let _ = survived(|| binary::read::<f64, PlusTimes>(&path));
        true
    }
}
