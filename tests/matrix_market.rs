//! The Matrix Market reader and writer: every field and symmetry, malformed files, the real matrices where they are.
use oplus::io::matrix_market as mm;
use oplus::prelude::*;
use quickcheck::quickcheck;

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
        (&format!("{head}2 2 99999999999999999999\n1 1 1\n"), 2, "not a count"),
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
        ("%%MatrixMarket matrix array real general\n99999 99999\n1\n", 3, "truncated"),
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
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n.max(1) as u64) as usize
    };
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
        errors += mm::read_bytes::<f64>(&text).is_err() as usize;
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
        ["a.mtx", "a.mtx.gz", "a.mtx.zst"].iter().all(|name| {
            let path = folder.path().join(name);
            mm::write(&path, &a).unwrap();
            let b: Matrix<f64> = Matrix::from_coo(&mm::read(&path).unwrap()).unwrap();
            let bits = |m: &Matrix<f64>| m.entries().unwrap().iter().map(|e| (e.0, e.1, e.2.to_bits())).collect::<Vec<_>>();
            bits(&a) == bits(&b)
        })
    }
}

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
    }
}

#[test]
fn real_matrices() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let Ok(index) = std::fs::read_to_string(folder.join("index.tsv")) else {
        return eprintln!("skipped: no real matrices at {}", folder.display());
    };
    let mut lines = index.lines();
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let column = |name: &str| names.iter().position(|n| *n == name).unwrap();
    for line in lines {
        let cell: Vec<&str> = line.split('\t').collect();
        let coo = mm::read::<f64>(folder.join(cell[column("file")])).unwrap_or_else(|e| panic!("{e}"));
        let expected: Vec<u64> = ["rows", "cols", "nnz"].iter().map(|n| cell[column(n)].parse().unwrap()).collect();
        assert_eq!([coo.nrows, coo.ncols, coo.len() as u64], expected[..], "{}", cell[0]);
    }
}
