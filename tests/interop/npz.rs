//! SciPy's files: what is written is read, and hostile archives are errors. `tests/scipy` has SciPy's side.
use super::cases::{Any, Stored, bits};
use super::hostile::{Damage, survived};
use oplus::io::npz;
use oplus::prelude::*;
use quickcheck::quickcheck;
use std::io::{Read, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// An array as NumPy writes it.
fn array(descr: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(values);
    bytes
}

fn list<const N: usize>(descr: &str, values: &[[u8; N]]) -> Vec<u8> {
    array(descr, &format!("({},)", values.len()), &values.concat())
}

fn archive(path: &Path, members: &[(String, Vec<u8>)]) {
    let mut archive = ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, bytes) in members {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap();
}

fn members(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut archive = ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    let read = |name: String| {
        let mut bytes = Vec::new();
        archive.by_name(&name).unwrap().read_to_end(&mut bytes).unwrap();
        (name, bytes)
    };
    names.into_iter().map(read).collect()
}

/// The arrays of a csr file, to be changed.
fn small() -> Vec<(String, Vec<u8>)> {
    [
        ("indices", list("<i4", &[2i32, 0, 1].map(i32::to_le_bytes))),
        ("indptr", list("<i4", &[0i32, 1, 3].map(i32::to_le_bytes))),
        ("format", array("|S3", "()", b"csr")),
        ("shape", list("<i8", &[2i64, 3].map(i64::to_le_bytes))),
        ("data", list("<f8", &[0.5f64, 1.5, 2.5].map(f64::to_le_bytes))),
    ]
    .map(|(name, bytes)| (format!("{name}.npy"), bytes))
    .to_vec()
}

fn with(name: &str, bytes: Vec<u8>) -> oplus::Result<Matrix<f64>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let mut all = small();
    all.retain(|(n, _)| *n != format!("{name}.npy"));
    all.push((format!("{name}.npy"), bytes));
    archive(&path, &all);
    survived(|| npz::read(&path))
}

#[test]
fn what_numpy_may_write_is_read() {
    let expected = [(0, 2, 0.5), (1, 0, 1.5), (1, 1, 2.5)];
    let whole = with("none", Vec::new()).unwrap();
    assert_eq!((whole.shape(), whole.entries().unwrap()), ((2, 3), expected.to_vec()));
    let word: Vec<u8> = "csr".chars().flat_map(|c| (c as u32).to_be_bytes()).collect();
    for (name, bytes) in [
        ("data", list(">f8", &[0.5f64, 1.5, 2.5].map(f64::to_be_bytes))),
        ("indices", list(">i2", &[2i16, 0, 1].map(i16::to_be_bytes))),
        ("indptr", list("<u8", &[0u64, 1, 3].map(u64::to_le_bytes))),
        ("indptr", list("|i1", &[[0], [1], [3]])),
        ("format", array(">U3", "()", &word)),
        ("shape", list("<i4", &[2i32, 3].map(i32::to_le_bytes))),
        ("_is_array", array("|b1", "()", &[1])),
        // Rows that are not sorted.
        ("indices", list("<i4", &[2i32, 0, 1].map(i32::to_le_bytes))),
    ] {
        assert_eq!(with(name, bytes).unwrap().entries().unwrap(), expected, "{name}");
    }
    let turned = with("indices", list("<i4", &[2i32, 1, 0].map(i32::to_le_bytes))).unwrap();
    assert_eq!(turned.entries().unwrap(), [(0, 2, 0.5), (1, 0, 2.5), (1, 1, 1.5)]);
}

#[test]
fn complex_numbers_and_halves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let c = |re, im| c64::new(re, im);
    // Each part in the file's order of bytes.
    let parts = [0.5f64, -1.0, 1.5, 2.0, 2.5, 3.0].map(f64::to_be_bytes).concat();
    let mut all = small();
    all.retain(|(n, _)| n != "data.npy");
    all.push(("data.npy".into(), array(">c16", "(3,)", &parts)));
    archive(&path, &all);
    let a: Matrix<c64> = npz::read(&path).unwrap();
    assert_eq!(a.entries().unwrap(), [(0, 2, c(0.5, -1.0)), (1, 0, c(1.5, 2.0)), (1, 1, c(2.5, 3.0))]);
    fn back<T: Scalar>(a: &Matrix<T>, path: &Path, dtype: &str) {
        npz::write_uncompressed(path, a).unwrap();
        let b: Matrix<T> = npz::read(path).unwrap();
        assert_eq!(b.entries().unwrap(), a.entries().unwrap());
        let data = members(path).into_iter().find(|m| m.0 == "data.npy").unwrap().1;
        assert!(String::from_utf8_lossy(&data).contains(dtype), "{dtype}");
    }
    back(&a, &path, "'<c16'");
    back(&a.cast::<c32>().unwrap(), &path, "'<c8'");
    #[cfg(feature = "half")]
    back(&a.cast::<f16>().unwrap(), &path, "'<f2'");
}

#[test]
fn what_is_wrong_in_columns_is_named_by_rows_and_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    for (rows, told) in
        [([2i32, 0, 0], "entry (0, 1), counted from 0, is there twice"), ([2, 0, 3], "row 3 at position 2")]
    {
        let mut all = small();
        all.retain(|(n, _)| !["format.npy", "shape.npy", "indices.npy"].contains(&n.as_str()));
        all.push(("format.npy".into(), array("|S3", "()", b"csc")));
        all.push(("shape.npy".into(), list("<i8", &[3i64, 2].map(i64::to_le_bytes))));
        all.push(("indices.npy".into(), list("<i4", &rows.map(i32::to_le_bytes))));
        archive(&path, &all);
        let error = survived(|| npz::read::<f64, PlusTimes>(&path)).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (name, bytes, told) in [
        ("indices", list("<i4", &[2i32, 0, 3].map(i32::to_le_bytes)), "column 3 at position 2 is out of range"),
        ("indices", list("<i4", &[2i32, 0, -1].map(i32::to_le_bytes)), "index -1 at position 2"),
        ("indices", list("<i4", &[2i32, 0].map(i32::to_le_bytes)), "run to 3, there are 2"),
        ("indices", list("<f8", &[2f64, 0., 1.].map(f64::to_le_bytes)), "indices of type <f8"),
        ("indices", list("<i4", &[2i32, 1, 1].map(i32::to_le_bytes)), "is there twice"),
        ("indptr", list("<i4", &[0i32, 3].map(i32::to_le_bytes)), "2 offsets for 2 rows"),
        ("indptr", list("<i4", &[0i32, 4, 3].map(i32::to_le_bytes)), "decrease at row 1"),
        ("indptr", list("<i4", &[1i32, 1, 3].map(i32::to_le_bytes)), "begin with 1, not 0"),
        ("data", list("<f4", &[0.5f32, 1.5, 2.5].map(f32::to_le_bytes)), "values are f32 (<f4), not f64"),
        ("data", list("<u8", &[1u64, 2, 3].map(u64::to_le_bytes)), "values are u64 (<u8), not f64"),
        ("data", list("<c16", &[0u128; 3].map(u128::to_le_bytes)), "values are c64 (<c16), not f64"),
        ("data", list("<f8", &[0.5f64, 1.5].map(f64::to_le_bytes)), "3 indices and 2 values"),
        ("data", array("<f8", "(3, 1)", &[0; 24]), "not that of a list"),
        ("data", array("|O", "(3,)", &[0; 24]), "\"|O\" are not read"),
        ("data", array("<f8", "(3,)", &[0; 23]), "ends too early"),
        ("data", array("<f8", "(3,)", &[0; 25]), "behind the last value"),
        ("data", array("<f8", "(3", &[0; 24]), "not understood"),
        ("data", b"\x93NUMPX\x01\x00\x00\x00".to_vec(), "no array of NumPy"),
        ("format", array("|S3", "()", b"dia"), "format \"dia\""),
        ("shape", list("<i8", &[2i64, 3, 4].map(i64::to_le_bytes)), "not a matrix"),
        ("shape", list("<i8", &[2i64, -3].map(i64::to_le_bytes)), "index -3"),
    ] {
        let error = with(name, bytes).unwrap_err().to_string();
        assert!(error.contains(told), "{error:?} does not say {told:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    archive(&path, &small()[1..]);
    assert!(npz::read::<f64, PlusTimes>(&path).unwrap_err().to_string().contains("indices.npy"));
    std::fs::write(&path, b"PK").unwrap();
    assert!(npz::read::<f64, PlusTimes>(&path).unwrap_err().to_string().contains("not an archive"));
    let system = std::fs::read(folder.path()).unwrap_err().to_string();
    let told = npz::read::<f64, PlusTimes>(folder.path()).unwrap_err();
    assert_eq!(told, Error::Io { path: folder.path().into(), message: system });
    let hop: Matrix<u64> = Matrix::new(1, u64::MAX).unwrap();
    assert!(matches!(npz::write(&path, &hop), Err(Error::IndexOverflow { .. })));
    // Nobody reads an archive that is packed once more, SciPy neither.
    let small: Matrix<u64> = Matrix::new(1, 1).unwrap();
    for name in ["b.npz.gz", "b.npz.zst", "b.NPZ.GZ"] {
        let path = folder.path().join(name);
        assert!(matches!(small.write(&path), Err(Error::NotSupported { .. })), "{name}");
        assert!(matches!(npz::write_uncompressed(&path, &small), Err(Error::NotSupported { .. })), "{name}");
        assert!(!path.exists(), "{name}");
    }
}

#[test]
fn bombs_stay_packed() {
    let error = with("data", array("<f8", "(1000000000000,)", &[0; 24])).unwrap_err().to_string();
    assert!(error.contains("truncated"), "{error}");
    let error = with("indptr", array("<i8", "(18446744073709551615,)", &[0; 24])).unwrap_err().to_string();
    assert!(error.contains("truncated") || error.contains("one more"), "{error}");
    // 64 MiB of zeros in 64 kB: they are there, but the shape has no use for them.
    let zeros = vec![0; 64 << 20];
    let error = with("indptr", array("<i8", "(8388608,)", &zeros)).unwrap_err().to_string();
    assert!(error.contains("8388608 offsets for 2 rows"), "{error}");
    let error = with("data", array("<f8", "(8388608,)", &zeros)).unwrap_err().to_string();
    assert!(error.contains("3 indices and 8388608 values"), "{error}");
    let mut header = b"\x93NUMPY\x02\x00\xff\xff\xff\x7f".to_vec();
    header.extend(&zeros);
    let error = with("data", header).unwrap_err().to_string();
    assert!(error.contains("a header of"), "{error}");
}

/// End records of a sparse file, whose members would be listed before one is looked for.
#[test]
fn claims_of_members_are_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let told = |start: u64, records: &[u8]| {
        std::fs::write(&path, b"PK\x01\x02").unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(start).unwrap();
        std::fs::File::options().append(true).open(&path).unwrap().write_all(records).unwrap();
        survived(|| npz::read::<f64, PlusTimes>(&path)).unwrap_err().to_string()
    };
    let words = |words: &[u64]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let end = |members: u16, offset: u32| {
        let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
        end.extend([members.to_le_bytes(), members.to_le_bytes()].concat());
        end.extend([0x10_0000u32.to_le_bytes(), offset.to_le_bytes()].concat());
        end.extend([0, 0]);
        end
    };
    let large = |start: u64, members: u64, size: u64| {
        let mut all = b"PK\x06\x06".to_vec();
        all.extend(words(&[size, 0, 0, members, members, start - 100_000, 100_000]));
        // Versions are two halves, disks two words.
        all.drain(12..16);
        all.truncate(56);
        all.extend(b"PK\x06\x07\0\0\0\0");
        all.extend(words(&[start]));
        all.extend([1, 0, 0, 0]);
        all.extend(end(u16::MAX, u32::MAX));
        all
    };
    let start = 64 << 20;
    for members in [257, 20_000, 1 << 40, u64::MAX] {
        let told = told(start, &large(start, members, 44));
        assert!(told.contains(&format!("{members} members claimed, of 256 at most")), "{told}");
    }
    let elsewhere = "the end record of a large archive does not stand where it should";
    assert!(told(start, &large(start, 5, 1 << 20)).contains(elsewhere));
    assert!(told(start, &large(start + 4, 5, 44)).contains(elsewhere));
    assert!(told(start, &end(60_000, 0)).contains("60000 members claimed"));
    // The same behind others, and before a comment.
    let others = [end(60_000, 0), vec![7; 60_000], end(0, 0)].concat();
    assert!(told(start, &others).contains("60000 members claimed"));
}

/// What is longer than 4 GiB ends with records of its own, here of a short one.
#[test]
fn archives_may_end_as_large_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    archive(&path, &small());
    let mut bytes = std::fs::read(&path).unwrap();
    let mut end = bytes.split_off(bytes.len() - 22);
    assert!(end.starts_with(b"PK\x05\x06"));
    let start = bytes.len() as u64;
    let field = |at: usize| u64::from(u32::from_le_bytes(end[at..at + 4].try_into().unwrap()));
    let (size, offset) = (field(12), field(16));
    end[8..20].fill(0xff);
    bytes.extend(b"PK\x06\x06");
    bytes.extend(44u64.to_le_bytes());
    bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend([5, 5, size, offset].map(u64::to_le_bytes).concat());
    bytes.extend(b"PK\x06\x07\0\0\0\0");
    bytes.extend(start.to_le_bytes());
    bytes.extend([1, 0, 0, 0]);
    bytes.extend(end);
    std::fs::write(&path, bytes).unwrap();
    let a = survived(|| npz::read::<f64, PlusTimes>(&path)).unwrap();
    assert_eq!(a.entries().unwrap(), [(0, 2, 0.5), (1, 0, 1.5), (1, 1, 2.5)]);
}

/// Reads every file of the folder that SciPy wrote and writes it back for SciPy to check: `tests/scipy/npz.py`.
#[test]
#[ignore = "needs SciPy: python3 tests/scipy/npz.py make DIR; OPLUS_NPZ=DIR cargo test … -- --ignored scipy; … check DIR"]
fn files_of_scipy() {
    fn through<T: Scalar>(path: &Path) -> bool
    where
        Plus: BinaryOp<T, T, Out = T>,
    {
        let coo = npz::read_coo::<T>(path).unwrap();
        let folded: Matrix<T> = Matrix::build_with(&coo, Plus).unwrap();
        let repeated = path.to_str().unwrap().contains("repeated");
        match npz::read::<T, PlusTimes>(path) {
            // As text: NaN is itself.
            Ok(a) => assert_eq!(format!("{:?}", a.entries()), format!("{:?}", folded.entries())),
            Err(e) => assert!(repeated && e.to_string().contains("twice"), "{e}"),
        }
        npz::write(path.with_extension("back.npz"), &folded).unwrap();
        npz::write_uncompressed(path.with_extension("plain.back.npz"), &folded).unwrap();
        true
    }
    let folder = std::env::var("OPLUS_NPZ").expect("OPLUS_NPZ names the folder");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if name.contains(".back.") {
            continue;
        }
        // 017-csr-f64.npz
        let known = match name.trim_end_matches(".npz").rsplit('-').next().unwrap() {
            "int8" => through::<i8>(&path),
            "int16" => through::<i16>(&path),
            "int32" => through::<i32>(&path),
            "int64" => through::<i64>(&path),
            "uint8" => through::<u8>(&path),
            "uint16" => through::<u16>(&path),
            "uint32" => through::<u32>(&path),
            "uint64" => through::<u64>(&path),
            "float32" => through::<f32>(&path),
            "float64" => through::<f64>(&path),
            "complex64" => through::<c32>(&path),
            "complex128" => through::<c64>(&path),
            "bool" => {
                let a: Matrix<bool> = npz::read(&path).unwrap();
                npz::write(path.with_extension("back.npz"), &a).unwrap();
                npz::write_uncompressed(path.with_extension("plain.back.npz"), &a).unwrap();
                true
            }
            _ => false,
        };
        assert!(known, "{name}");
        count += 1;
    }
    assert!(count > 0);
}

/// A shape with many more rows than there are entries is no damage: a place is made for each.
#[test]
fn few_entries_in_many_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let a: Matrix<bool> = Matrix::build(8, 5, &[(1, 2, true), (7, 0, true)]).unwrap();
    npz::write(&path, &a.to_format(Format::Hypersparse).unwrap()).unwrap();
    let mut all = members(&path);
    let shape = &mut all.iter_mut().find(|member| member.0.contains("shape")).unwrap().1;
    let rows = shape.len() - 16;
    shape[rows..rows + 8].copy_from_slice(&524_296u64.to_le_bytes());
    archive(&path, &all);
    let read = survived(|| npz::read::<bool, PlusTimes>(&path)).unwrap();
    assert_eq!((read.shape(), read.entries().unwrap()), ((524_296, 5), a.entries().unwrap()));
    for (_, bytes) in all.iter_mut().filter(|member| member.0.contains("row") || member.0.contains("col")) {
        let last = bytes.len() - 8;
        bytes.copy_within(last - 8..last, last);
    }
    archive(&path, &all);
    let twice = survived(|| npz::read::<bool, PlusTimes>(&path)).unwrap_err();
    assert!(twice.to_string().contains("(1, 2), counted from 0, is there twice"), "{twice}");
}

quickcheck! {
    fn matrices(a: Any<f64>) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        if a.0.nrows().max(a.0.ncols()) > i64::MAX as u64 {
            return matches!(npz::write(&path, &a.0), Err(Error::IndexOverflow { .. }));
        }
        a.0.write(&path).unwrap();
        let packed = bits(&Matrix::<f64>::read(&path).unwrap());
        npz::write_uncompressed(&path, &a.0).unwrap();
        packed == bits(&a.0) && bits(&npz::read::<f64, PlusTimes>(&path).unwrap()) == bits(&a.0)
    }
    fn hypersparse(entries: Vec<(u64, u64, i32)>) -> bool {
        let n = i64::MAX as u64;
        let mut coo = Coo::new(n, n);
        entries.iter().for_each(|(i, j, v)| coo.push(i % n, j % n, *v));
        let a: Matrix<i32> = Matrix::build_with(&coo, First).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        npz::write(&path, &a).unwrap();
        npz::read::<i32, PlusTimes>(&path).unwrap().entries().unwrap() == a.entries().unwrap()
    }
    fn damaged_archives_are_survived(a: Stored<bool>, damage: Damage) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        npz::write(&path, &a.0).unwrap();
        std::fs::write(&path, damage.of(&std::fs::read(&path).unwrap())).unwrap();
        let _ = survived(|| npz::read::<bool, PlusTimes>(&path));
        true
    }
    fn damaged_arrays_are_survived(a: Stored<bool>, which: usize, damage: Damage) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        npz::write(&path, &a.0).unwrap();
        let mut all = members(&path);
        let which = which % all.len();
        all[which].1 = damage.of(&all[which].1);
        archive(&path, &all);
        let _ = survived(|| npz::read::<bool, PlusTimes>(&path));
        true
    }
}
