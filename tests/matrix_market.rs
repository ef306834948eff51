//! The Matrix Market reader and writer: every field and symmetry, malformed files.
#[path = "common/random.rs"]
mod random;

use oplus::io::matrix_market as mm;
use oplus::prelude::*;
use quickcheck::quickcheck;
use random::Rng;

/// As files are called, compressed where that is known.
const NAMES: &[&str] = if cfg!(feature = "compression") { &["a.mtx", "a.mtx.gz", "a.mtx.zst"] } else { &["a.mtx"] };

fn read(text: &str) -> Result<Vec<(u64, u64, f64)>> {
    let coo = mm::read_bytes::<f64>(text.as_bytes())?;
    Ok((0..coo.len()).map(|e| (coo.rows[e], coo.columns[e], coo.values[e])).collect())
}

#[test]
fn fields_and_symmetries() {
    let general = "%%MatrixMarket matrix coordinate real general\n% c\n\n2 3 2\n1 3 0.5\r\n\n% c\n2 1\t-1e3";
    assert_eq!(read(general).unwrap(), [(0, 2, 0.5), (1, 0, -1000.0)]);
    let pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n";
    assert_eq!(read(pattern).unwrap(), [(0, 0, 1.0), (1, 0, 1.0), (0, 1, 1.0)]);
    let skew = "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 7\n";
    assert_eq!(read(skew).unwrap(), [(1, 0, 7.0), (0, 1, -7.0)]);
    let upper = "%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n1 2 7\n";
    assert_eq!(read(upper).unwrap(), [(0, 1, 7.0), (1, 0, 7.0)]);
    let array = "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n";
    assert_eq!(read(array).unwrap(), [(0, 0, 1.0), (1, 0, 2.0), (0, 1, 3.0), (1, 1, 4.0)]);
    let lower = "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n";
    let entries = read(lower).unwrap();
    assert_eq!(entries.len(), 9);
    assert!(entries.contains(&(1, 2, 5.0)) && entries.contains(&(2, 2, 6.0)) && entries.contains(&(0, 2, 3.0)));
    let skew = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n";
    assert_eq!(read(skew).unwrap()[4..], [(2, 1, 3.0), (1, 2, -3.0)]);
    assert!(read("%%MatrixMarket matrix coordinate real general\n0 0 0\n").unwrap().is_empty());
    let bools =
        mm::read_bytes::<bool>(b"%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 0\n1 2 nan\n").unwrap();
    assert_eq!(bools.values, [false, true]);
}

#[test]
fn malformed_files_name_the_line() {
    let head = "%%MatrixMarket matrix coordinate real general\n";
    for (text, line, word) in [
        ("", 1, "%%MatrixMarket"),
        ("%%MatrixMarket matrix coordinate real\n1 1 0\n", 1, "symmetry"),
        ("%%MatrixMarket matrix array pattern general\n1 1\n", 1, "field"),
        ("%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n", 1, "symmetry"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n", 1, "complex"),
        ("%%MatrixMarket matrix coordinate real symmetric\n1 2 0\n", 2, "square"),
        (head, 2, "size line"),
        (&format!("{head}2 2\n"), 2, "entries"),
        (&format!("{head}2 -2 1\n1 1 1\n"), 2, "columns"),
        (&format!("{head}2 2 1 9\n1 1 1\n"), 2, "too many"),
        (&format!("{head}2 2 999999999999999999\n1 1 1\n"), 3, "truncated"),
        (&format!("{head}2 2 99999999999999999999\n1 1 1\n"), 2, "not below"),
        (&format!("{head}2 2 x\n1 1 1\n"), 2, "not a count"),
        (&format!("{head}2 2 1\n18446744073709551617 1 1\n"), 3, "out of range"),
        (&format!("{head}2 2 1\n% c\n\n 1\n"), 5, "column is missing"),
        ("%%MatrixMarket vector coordinate real general\n1 1 0\n", 1, "object"),
        ("%%MatrixMarket matrix sparse real general\n1 1 0\n", 1, "format"),
        ("%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n", 1, "symmetry"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n5\n", 7, "one more"),
        ("%%MatrixMarket matrix array real general\n2 2\n1 2\n3\n4\n5\n", 3, "too much"),
        ("%%MatrixMarket matrix array real general\n18446744073709551615 18446744073709551615\n1\n", 2, "2⁶⁴"),
        (&format!("{head}2 2 2\n1 1 1.0\n"), 4, "truncated"),
        (&format!("{head}2 2 1\n1 1 1\n\n2 2 1\n"), 5, "one more"),
        (&format!("{head}2 2 1\n0 1 1\n"), 3, "counts from 1"),
        (&format!("{head}2 2 1\n1 3 1\n"), 3, "out of range"),
        (&format!("{head}2 2 1\n1 1\n"), 3, "value is missing"),
        (&format!("{head}2 2 1\n1 1 1 1\n"), 3, "too much"),
        (&format!("{head}2 2 1\n1 x 1\n"), 3, "not a number"),
        (&format!("{head}2 2 1\n1 1 \u{7}\u{1}\n"), 3, "not a number"),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n", 3, "diagonal"),
        ("%%MatrixMarket matrix array real general\n99999999999 99999999999\n1\n", 2, "2⁶⁴"),
        (
            "%%MatrixMarket matrix array real general\n4294967296 4294967296\n1\n",
            2,
            "4294967296×4294967296: 2⁶⁴ values or more",
        ),
        ("%%MatrixMarket matrix array real general\n99999 99999\n1\n", 3, "truncated"),
        (
            &format!("{head}2 2 1\n1 1 123456789012345678901234\u{7f}\n"),
            3,
            "\"123456789012345678901234…\" is not a number",
        ),
        (&format!("{head}2 2 1\n1 1 12345678901234567890123x\n"), 3, "\"12345678901234567890123x\" is not a number"),
    ] {
        match read(text) {
            Err(Error::Parse { line: Some(l), reason, .. }) => {
                assert_eq!(l, line, "{text:?}: {reason}");
                assert!(reason.contains(word), "{text:?}: {reason}");
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }
    let integer = b"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 300\n";
    assert!(mm::read_bytes::<u8>(integer).unwrap_err().to_string().contains("300 does not fit u8"));
    let half = b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 0.5\n";
    assert!(mm::read_bytes::<i32>(half).unwrap_err().to_string().contains("does not fit i32"));
    assert!(matches!(mm::read::<f64>("/nonexistent/x.mtx"), Err(Error::Io { .. })));
}

/// Valid files, bent: whatever comes must be a value or an error.
#[test]
fn mutated_files_never_panic() {
    let seeds = [
        "%%MatrixMarket matrix coordinate real general\n3 4 3\n1 3 0.5\n2 1 -1e3\n3 4 7\n",
        "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 3 -7\n",
        "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",
        "%%MatrixMarket matrix coordinate pattern general\n9 9 2\n9 9\n1 1\n",
    ];
    let pieces: [&[u8]; 8] =
        [b"18446744073709551615", b"-1", b"1e999", b"\n", b"%", b"\xff\xfe", b"4294967296 4294967296 9", b" "];
    let mut numbers = Rng(0x9e37_79b9_7f4a_7c15);
    let mut random = |n: usize| numbers.below(n as u64) as usize;
    let mut errors = 0;
    for round in 0..20_000 {
        let mut text = seeds[round % seeds.len()].as_bytes().to_vec();
        for _ in 0..1 + random(4) {
            let at = random(text.len());
            match random(5) {
                0 => text[at] = random(256) as u8,
                1 => text.truncate(at),
                2 => drop(text.remove(at)),
                3 => drop(text.splice(at..at, pieces[random(pieces.len())].iter().copied())),
                _ => {
                    let to = (at + random(30)).min(text.len());
                    let copy = text[at..to].to_vec();
                    drop(text.splice(at..at, copy));
                }
            }
            if text.is_empty() {
                break;
            }
        }
        if let Ok(coo) = mm::read_bytes::<f64>(&text) {
            // Each entry stands behind a byte of text at least, two where it is mirrored.
            assert!(coo.rows.capacity() <= 2 * text.len(), "{} for {} bytes", coo.rows.capacity(), text.len());
            assert!(coo.rows.iter().all(|i| *i < coo.nrows) && coo.columns.iter().all(|j| *j < coo.ncols));
        } else {
            errors += 1;
        }
        let _ = mm::read_bytes::<i8>(&text);
    }
    assert!(errors > 1000, "the mutations hardly bent anything: {errors}");
}

quickcheck! {
    fn written_files_read_back(entries: Vec<(u8, u8, f64)>) -> bool {
        let mut coo = Coo::new(256, 256);
        entries.iter().for_each(|(i, j, v)| coo.push(*i as u64, *j as u64, *v));
        let a: Matrix<f64> = Matrix::build_with(&coo, Second).unwrap();
        let folder = tempfile::tempdir().unwrap();
        NAMES.iter().all(|name| {
            let path = folder.path().join(name);
            mm::write(&path, &a).unwrap();
            let b: Matrix<f64> = Matrix::from_coo(&mm::read(&path).unwrap()).unwrap();
            let bits = |m: &Matrix<f64>| m.entries().unwrap().iter().map(|e| (e.0, e.1, e.2.to_bits())).collect::<Vec<_>>();
            bits(&a) == bits(&b)
        })
    }
}

#[cfg(feature = "compression")]
#[test]
fn compressed_files_that_are_cut_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let a: Matrix<f64> =
        Matrix::build(300, 300, &(0..300).map(|i| (i, i, 1.0 / i as f64)).collect::<Vec<_>>()).unwrap();
    for name in ["a.mtx.gz", "a.mtx.zst"] {
        let path = folder.path().join(name);
        mm::write(&path, &a).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let e = mm::read::<f64>(&path).unwrap_err();
        assert!(matches!(e, Error::Parse { .. }) && e.to_string().contains(name), "{e}");
        std::fs::write(&path, &bytes[..12]).unwrap();
        let e = mm::read_header(&path).unwrap_err();
        assert!(matches!(e, Error::Parse { .. }) && e.to_string().contains(name), "{e}");
    }
}

/// A text longer than several pieces, in which line 4 + n holds entry n.
fn long(entries: u64) -> String {
    let mut text = format!("%%MatrixMarket matrix coordinate real general\n% c\n{entries} 9 {entries}\n");
    (0..entries).for_each(|i| text += &format!("{} {} {}.25\n", i + 1, i % 9 + 1, i));
    text
}

#[test]
fn errors_in_long_files_name_the_first_line_for_any_number_of_threads() {
    let text = long(200_000);
    let good = mm::read_bytes::<f64>(text.as_bytes()).unwrap();
    assert!(good.values.iter().enumerate().all(|(n, v)| *v == n as f64 + 0.25));
    assert!(good.rows.iter().enumerate().all(|(n, i)| *i == n as u64));
    let bent = text.replace("\n199000 ", "\n199000x ").replace("\n150000 ", "\n\n\n0 ").replace("\n160000 ", "\n-1 ");
    let more = format!("{text}1 1 1\n");
    let fewer = &text[..text.len() - 3000];
    let fewer = &fewer[..fewer.rfind('\n').unwrap() + 1];
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let line = |text: &str| match pool.install(|| mm::read_bytes::<f64>(text.as_bytes())) {
            Err(Error::Parse { line: Some(line), .. }) => line,
            other => panic!("{:?}", other.map(|coo| coo.len())),
        };
        assert_eq!(line(&bent), 3 + 150_000 + 2);
        assert_eq!(line(&more), 3 + 200_001);
        assert_eq!(line(fewer), fewer.lines().count() as u64 + 1);
        assert_eq!(pool.install(|| mm::read_bytes::<f64>(text.as_bytes())).unwrap(), good);
    }
}

#[test]
fn complex_files() {
    let head = "%%MatrixMarket matrix coordinate complex";
    let entries = |text: String| -> Result<Vec<(u64, u64, f64, f64)>> {
        let coo = mm::read_bytes::<c64>(text.as_bytes())?;
        Ok((0..coo.len()).map(|e| (coo.rows[e], coo.columns[e], coo.values[e].re, coo.values[e].im)).collect())
    };
    let lower = "2 2 2\n1 1 3 0\n2 1 1 -2\n";
    assert_eq!(entries(format!("{head} general\n{lower}")).unwrap(), [(0, 0, 3., 0.), (1, 0, 1., -2.)]);
    assert_eq!(
        entries(format!("{head} symmetric\n{lower}")).unwrap(),
        [(0, 0, 3., 0.), (1, 0, 1., -2.), (0, 1, 1., -2.)]
    );
    assert_eq!(
        entries(format!("{head} hermitian\n{lower}")).unwrap(),
        [(0, 0, 3., 0.), (1, 0, 1., -2.), (0, 1, 1., 2.)]
    );
    assert_eq!(
        entries(format!("{head} skew-symmetric\n2 2 1\n2 1 1 -2\n")).unwrap(),
        [(1, 0, 1., -2.), (0, 1, -1., 2.)]
    );
    let array = "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n";
    assert_eq!(entries(array.into()).unwrap(), [(0, 0, 1., 0.), (1, 0, 2., 3.), (0, 1, 2., -3.), (1, 1, 4., 0.)]);
    let real = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 7\n";
    assert_eq!(entries(real.into()).unwrap(), [(0, 0, 7., 0.)]);
    // Nearest to the text, not to the nearest f64: 1 + 2⁻²⁴ and a bit is above the tie.
    let tie = format!("{head} general\n1 1 1\n1 1 1.000000059604644775390626 1.000000059604644775390624\n");
    let coo = mm::read_bytes::<c32>(tie.as_bytes()).unwrap();
    assert_eq!(coo.values, [c32::new(1.0 + f32::EPSILON, 1.0)]);
    for (rest, word) in [
        ("hermitian\n1 1 1\n1 1 3 1\n", "diagonal"),
        ("general\n1 1 1\n1 1 3\n", "imaginary"),
        ("general\n1 1 1\n1 1 3 x\n", "not a number"),
        ("general\n1 1 1\n1 1 3 1 2\n", "too much"),
    ] {
        let e = entries(format!("{head} {rest}")).unwrap_err();
        assert!(matches!(e, Error::Parse { line: Some(3), .. }) && e.to_string().contains(word), "{e}");
    }
    for e in [
        mm::read_bytes::<f64>(format!("{head} general\n{lower}").as_bytes()).unwrap_err(),
        mm::read_bytes::<bool>(format!("{head} general\n{lower}").as_bytes()).unwrap_err(),
    ] {
        assert!(e.to_string().contains("complex values cannot be read as"), "{e}");
    }
}

#[test]
fn numbers_keep_their_digits() {
    let values = |field: &str, v: &str| format!("%%MatrixMarket matrix coordinate {field} general\n1 1 1\n1 1 {v}\n");
    fn one<T: mm::FromMatrixMarket>(text: String) -> Result<T> {
        mm::read_bytes::<T>(text.as_bytes()).map(|coo| coo.values[0])
    }
    assert_eq!(one::<u64>(values("integer", "18446744073709551615")).unwrap(), u64::MAX);
    assert_eq!(one::<u64>(values("unsigned-integer", "0000000000000000000000000000001")).unwrap(), 1);
    assert_eq!(one::<i64>(values("real", "9007199254740993")).unwrap(), 9007199254740993);
    assert_eq!(one::<i64>(values("real", "-9223372036854775808")).unwrap(), i64::MIN);
    assert_eq!(one::<i32>(values("double", "-1.2e3")).unwrap(), -1200);
    assert_eq!(
        one::<f64>(values("integer", "123456789012345678901234567890")).unwrap(),
        123456789012345678901234567890.0
    );
    assert!(one::<f64>(values("real", "NaN")).unwrap().is_nan());
    assert_eq!(one::<f64>(values("real", "-inf")).unwrap(), f64::NEG_INFINITY);
    // Just above the middle of 1 and its successor in f32; the nearest f64 is the middle itself.
    assert_eq!(one::<f32>(values("real", "1.00000005960464477540")).unwrap(), 1.0 + f32::EPSILON);
    for (v, reason) in [
        ("18446744073709551616", "does not fit u64"),
        ("-1", "does not fit u64"),
        ("99999999999999999999999999999999999999999999", "does not fit u64"),
        ("1.0", "is not a number"),
    ] {
        let e = one::<u64>(values("integer", v)).unwrap_err().to_string();
        assert!(e.contains(reason), "{e}");
    }
    for v in ["inf", "nan", "1e19", "9223372036854775808", "0.5"] {
        assert!(one::<i64>(values("real", v)).unwrap_err().to_string().contains("does not fit i64"), "{v}");
    }
    let skew = |v: &str| format!("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 {v}\n");
    assert!(one::<u8>(skew("1")).unwrap_err().to_string().contains("no negative"));
    assert!(one::<i8>(skew("-128")).unwrap_err().to_string().contains("no negative"));
    assert_eq!(one::<i8>(skew("-127")).unwrap(), -127);
}

/// What a text says, not the f64 next to it.
#[test]
fn reals_are_read_as_integers_digit_by_digit() {
    fn read<T: mm::FromMatrixMarket>(field: &str, v: &str) -> Result<T> {
        let text = format!("%%MatrixMarket matrix coordinate {field} general\n1 1 1\n1 1 {v}\n");
        mm::read_bytes::<T>(text.as_bytes()).map(|coo| coo.values[0])
    }
    let long = |zeros: usize, e: i64| format!("1{}e{e}", "0".repeat(zeros));
    for (v, expected) in [
        ("9007199254740993.0", 9007199254740993),
        ("9007199254740993e0", 9007199254740993),
        ("-900719925474099.30D1", -9007199254740993),
        ("9223372036854775807.0", i64::MAX),
        ("-9.223372036854775808e18", i64::MIN),
        ("+0.00000000000000000000000000000000000000007e41", 7),
        ("1000000000000000000000000000000000000000000e-42", 1),
        (&long(1000, -1000), 1),
        (&long(100_000, -100_000), 1),
        ("1.", 1),
        ("0e400", 0),
        ("-0.000e-99999999999999999999999999999999999999999999", 0),
    ] {
        assert_eq!(read::<i64>("real", v).unwrap(), expected, "{v:.50}");
    }
    assert_eq!(read::<u64>("real", "18446744073709551615.0").unwrap(), u64::MAX);
    assert_eq!(read::<u64>("real", "1844674407370955161.5e1").unwrap(), u64::MAX);
    for v in [
        "0.99999999999999999999",
        "9007199254740993.1",
        "1.00000000000000000000000000000000000000001",
        "1e-400",
        "1e-99999999999999999999999999999999999999999999",
        "1e-18446744073709551616",
        "1e18446744073709551616",
        "1e99999999999999999999999999999999999999999999",
        "18446744073709551616.0",
        "1e400",
        "-1.0",
        "-infinity",
        "NaN",
    ] {
        let e = read::<u64>("real", v).unwrap_err().to_string();
        assert!(e.contains("does not fit u64"), "{e}");
    }
    assert!(read::<u64>("real", "1.0x").unwrap_err().to_string().contains("is not a number"));
    // Anything but zero is true, and floats take the nearest, of whole numbers too.
    for (v, expected) in [("1e-400", true), ("-0.0000", false), ("0e7", false), ("nan", true), ("0.5", true)] {
        assert_eq!(read::<bool>("real", v).unwrap(), expected, "{v}");
    }
    let whole = "1".to_string() + &"0".repeat(39);
    assert_eq!(read::<f64>("integer", &whole).unwrap(), 1e39);
    assert_eq!(read::<f64>("integer", &format!("-{whole}")).unwrap(), -1e39);
    assert_eq!(read::<f32>("integer", &whole).unwrap(), f32::INFINITY);
    assert_eq!(read::<c64>("integer", &whole).unwrap(), c64::new(1e39, 0.0));
    assert!(read::<bool>("integer", &(whole.clone() + "00")).unwrap());
    assert!(!read::<bool>("integer", &"0".repeat(50)).unwrap());
    assert!(read::<i64>("integer", &whole).unwrap_err().to_string().contains("does not fit i64"));
    let weights = oplus::io::edge_list::read_bytes::<i64>(b"0 1 9007199254740993.0\n", &Default::default());
    assert_eq!(weights.unwrap().values, [9007199254740993]);
}

#[test]
fn compressed_and_odd_files() {
    let folder = tempfile::tempdir().unwrap();
    let coo = Coo {
        nrows: 3,
        ncols: 4,
        rows: vec![2, 0, 0],
        columns: vec![3, 0, 0],
        values: vec![1.5, -0.0, f64::MIN_POSITIVE],
    };
    for &name in NAMES {
        let path = folder.path().join(name);
        mm::write_coo(&path, &coo).unwrap();
        let same = |c: Coo<f64>| c.values.iter().zip(&coo.values).all(|(a, b)| a.to_bits() == b.to_bits()) && c == coo;
        assert!(same(mm::read(&path).unwrap()));
        // The name means nothing to the reader.
        let other = folder.path().join("plain");
        std::fs::rename(&path, &other).unwrap();
        assert!(same(mm::read(&other).unwrap()));
        let bytes = std::fs::read(&other).unwrap();
        assert!(same(mm::read_bytes(&bytes).unwrap()));
        let header = mm::read_header(&other).unwrap();
        assert_eq!((header.nrows, header.ncols, header.stored), (3, 4, 3));
        assert_eq!(
            (header.layout, header.field, header.symmetry),
            (mm::Layout::Coordinate, mm::Field::Real, mm::Symmetry::General)
        );
        if name != "a.mtx" {
            // Several frames after one another are one text.
            let twice = [bytes.clone(), std::fs::read(&other).unwrap()].concat();
            assert!(mm::read_bytes::<f64>(&twice).unwrap_err().to_string().contains("one more"));
        }
        for cut in 0..bytes.len() {
            assert!(mm::read_bytes::<f64>(&bytes[..cut]).is_err() || name == "a.mtx");
        }
    }
    let comments = format!("%%MatrixMarket matrix coordinate real general\n{}1000 1000 0\n", "% c\n".repeat(50_000));
    let path = folder.path().join("long");
    std::fs::write(&path, &comments).unwrap();
    assert_eq!(mm::read_header(&path).unwrap().nrows, 1000);
    std::fs::write(&path, &comments[..comments.len() - 13]).unwrap();
    assert!(matches!(mm::read_header(&path), Err(Error::Parse { line: Some(50_002), path: Some(_), .. })));
    // A directory and a missing folder are errors of the system.
    assert!(matches!(mm::read::<f64>(folder.path()), Err(Error::Io { .. })));
    assert!(matches!(mm::write_coo(folder.path().join("no/such.mtx"), &coo), Err(Error::Io { .. })));
    assert!(matches!(mm::write_coo(folder.path(), &coo), Err(Error::Io { .. })));
    // Nothing temporary is left.
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert!(names.iter().all(|n| !n.to_string_lossy().ends_with(".tmp")), "{names:?}");
}

#[test]
fn triplets_that_are_wrong_are_not_written() {
    let path = tempfile::tempdir().unwrap().path().join("a.mtx");
    let outside = Coo { nrows: 2, ncols: 2, rows: vec![0, 1], columns: vec![1, 2], values: vec![1u8, 1] };
    let e = mm::write_coo(&path, &outside).unwrap_err();
    assert!(matches!(e, Error::IndexOutOfBounds { what: "column", position: Some(1), index: 2, bound: 2, .. }), "{e}");
    let uneven = Coo { nrows: 2, ncols: 2, rows: vec![0], columns: vec![1, 1], values: vec![1u8, 1] };
    assert!(matches!(mm::write_coo(&path, &uneven), Err(Error::InvalidValue { .. })));
    assert!(!path.exists());
}

#[test]
fn booleans_are_patterns_unless_one_is_false() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    for (values, field) in [(vec![true, true], mm::Field::Pattern), (vec![true, false], mm::Field::Integer)] {
        let coo = Coo { nrows: 2, ncols: 2, rows: vec![0, 1], columns: vec![1, 1], values };
        mm::write_coo(&path, &coo).unwrap();
        assert_eq!(mm::read_header(&path).unwrap().field, field);
        assert_eq!(mm::read::<bool>(&path).unwrap(), coo);
    }
}

fn round_trip<T: mm::FromMatrixMarket + mm::ToMatrixMarket>(entries: Vec<(u8, u8, T)>) -> bool {
    let mut coo = Coo::new(256, 300);
    entries.iter().for_each(|(i, j, v)| coo.push(*i as u64, *j as u64, *v));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    mm::write_coo(&path, &coo).unwrap();
    let back = mm::read::<T>(&path).unwrap();
    // Debug tells NaN from numbers and −0 from 0.
    format!("{back:?}") == format!("{coo:?}")
}

quickcheck! {
    fn integers_round_trip(a: Vec<(u8, u8, i64)>, b: Vec<(u8, u8, u64)>, c: Vec<(u8, u8, i8)>) -> bool {
        round_trip(a) && round_trip(b) && round_trip(c)
    }
    fn floats_round_trip(a: Vec<(u8, u8, u64)>, b: Vec<(u8, u8, u32)>) -> bool {
        round_trip(a.iter().map(|e| (e.0, e.1, f64::from_bits(e.2))).collect())
            && round_trip(b.iter().map(|e| (e.0, e.1, f32::from_bits(e.2))).collect())
    }
    fn complex_and_bool_round_trip(a: Vec<(u8, u8, f64)>, b: Vec<(u8, u8, bool)>) -> bool {
        round_trip(a.iter().map(|e| (e.0, e.1, c64::new(e.2, -e.2 / 3.0))).collect())
            && round_trip(a.iter().map(|e| (e.0, e.1, c32::new(-e.2 as f32, e.2 as f32 / 3.0))).collect())
            && round_trip(b)
    }
    /// Symmetric storage of every kind, as a coordinate file and as an array, against its definition.
    fn symmetries(n: u8, values: Vec<(i8, i8)>) -> bool {
        let n = n as u64 % 9;
        let kinds = [("general", 0u64), ("symmetric", 1), ("hermitian", 2), ("skew-symmetric", 3)];
        kinds.iter().all(|(kind, rule)| {
            let mut expected = std::collections::BTreeMap::new();
            let (mut coordinate, mut array, mut stored) = (String::new(), String::new(), 0);
            for j in 0..n {
                for i in if *rule == 0 { 0 } else { j + (*rule == 3) as u64 }..n {
                    let (re, im) = values.get(stored).copied().unwrap_or_default();
                    let (re, im) = (re as f64, if *rule == 2 && i == j { 0.0 } else { im as f64 });
                    stored += 1;
                    coordinate += &format!("{} {} {re} {im}\n", i + 1, j + 1);
                    array += &format!("{re} {im}\n");
                    expected.insert((i, j), (re, im));
                    if *rule > 0 && i != j {
                        expected.insert((j, i), [(re, im), (re, -im), (-re, -im)][*rule as usize - 1]);
                    }
                }
            }
            let coordinate = format!("%%MatrixMarket matrix coordinate complex {kind}\n{n} {n} {stored}\n{coordinate}");
            let array = format!("%%MatrixMarket matrix array complex {kind}\n{n} {n}\n{array}");
            [coordinate, array].iter().all(|text| {
                let coo = mm::read_bytes::<c64>(text.as_bytes()).unwrap();
                let found: std::collections::BTreeMap<_, _> =
                    (0..coo.len()).map(|e| ((coo.rows[e], coo.columns[e]), (coo.values[e].re, coo.values[e].im))).collect();
                coo.len() == expected.len() && found == expected
            })
        })
    }
}

/// Compressed files, bent: their errors are errors too.
#[cfg(feature = "compression")]
#[test]
fn mutated_compressed_files_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let coo = oplus::generate::uniform(20, 20, 4, 1).unwrap();
    let mut random = oplus::generate::Random::new(3, 0);
    let mut errors = 0;
    for name in ["a.gz", "a.zst"] {
        let path = folder.path().join(name);
        mm::write_coo(&path, &coo).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for _ in 0..1500 {
            let mut bent = bytes.clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(bent.len() as u64) as usize;
                bent[at] = random.bits() as u8;
            }
            errors += mm::read_bytes::<f64>(&bent).is_err() as usize;
        }
    }
    assert!(errors > 2000, "{errors}");
}

/// Prints the speed of reading; run in release.
#[test]
#[ignore = "a measurement"]
fn speed() {
    let mut random = oplus::generate::Random::new(1, 0);
    let n = 1_000_000;
    for (field, digits) in [("real", 10), ("real", 17), ("integer", 6), ("pattern", 0)] {
        let entries = 3_000_000;
        let mut text = format!("%%MatrixMarket matrix coordinate {field} general\n{n} {n} {entries}\n");
        for _ in 0..entries {
            text += &format!("{} {}", random.below(n) + 1, random.below(n) + 1);
            let value = random.unit() * 100.0;
            text += &match digits {
                10 => format!(" {value:.8}\n"),
                17 => format!(" {value:?}\n"),
                6 => format!(" {}\n", random.below(1_000_000)),
                _ => "\n".to_string(),
            };
        }
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut seconds: Vec<f64> = (0..7)
                .map(|_| {
                    let start = std::time::Instant::now();
                    let coo = pool.install(|| mm::read_bytes::<f64>(text.as_bytes())).unwrap();
                    let seconds = start.elapsed().as_secs_f64();
                    assert_eq!(coo.len(), entries);
                    seconds
                })
                .collect();
            seconds.sort_by(f64::total_cmp);
            println!("{field} {digits} digits, {threads} threads: {:.0} MB/s", text.len() as f64 / 1e6 / seconds[3]);
        }
    }
}
