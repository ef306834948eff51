//! Files by the endings of their names, packed or not, and what is said of bad ones.
#[cfg(feature = "compression")]
#[path = "common/allocator.rs"]
mod allocator;

use oplus::io::edge_list::{self, EdgeListOptions};
use oplus::prelude::*;

#[test]
fn what_is_there_twice_is_told_by_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let told = |name: &str, text: &str, what: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let error = Matrix::<i32>::read(&path).unwrap_err();
        assert!(matches!(error, Error::Parse { .. }), "{error:?}");
        assert_eq!(error.to_string(), format!("{}:{what}", path.display()));
    };
    let head = "%%MatrixMarket matrix coordinate integer";
    let twice = |at| {
        let way = "`build_with` folds what `matrix_market::read` reads";
        format!("entry {at}, counted from 0, is there twice: here again; {way}")
    };
    let text = format!("{head} symmetric\n% of three\n3 3 4\n1 1 1\n2 1 2\n\n% more\n3 1 3\n2 1 4\n");
    told("symmetric.mtx", &text, &format!("9: {}", twice("(1, 0)")));
    let text = format!("{head} symmetric\n3 3 3\n2 1 2\n3 1 3\n1 2 4\n");
    told("both_ways.mtx", &text, &format!("5: {}", twice("(0, 1)")));
    told("general.mtx", &format!("{head} general\n2 2 3\n1 1 1\n2 2 2\n1 1 3\n"), &format!("5: {}", twice("(0, 0)")));
    // A zero ahead makes no other index: the first two are on the diagonal, of one entry each.
    let text = format!("{head} symmetric\n3 3 5\n01 1 1\n2 002 2\n3 1 3\n2 1 4\n03 01 5\n");
    told("zeros.mtx", &text, &format!("7: {}", twice("(2, 0)")));
    let list = twice("(0, 1)").replace("matrix_market", "edge_list");
    told("edges.csv", "# from, to\n0,1\n1,0\n\n0,1\n", &format!("5: {list}"));
    // And what it names does.
    let coo = edge_list::read::<i32>(folder.path().join("edges.csv"), &Default::default()).unwrap();
    assert_eq!(Matrix::<i32>::build_with(&coo, Plus).unwrap().entries().unwrap(), [(0, 1, 2), (1, 0, 1)]);
    let path = folder.path().join("zeros.mtx");
    let coo = oplus::io::matrix_market::read::<i32>(path).unwrap();
    assert_eq!(Matrix::<i32>::build_with(&coo, Max).unwrap().get(0, 2).unwrap(), Some(5));
}

#[test]
fn endings_may_be_capitals() {
    let folder = tempfile::tempdir().unwrap();
    let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 5), (1, 0, 7)]).unwrap();
    for name in ["A.CSV", "A.Tsv", "A.EL"] {
        std::fs::write(folder.path().join(name), "0 1 5\n1 0 7\n").unwrap();
        assert_eq!(Matrix::<i32>::read(folder.path().join(name)).unwrap().entries().unwrap(), a.entries().unwrap());
    }
    let path = folder.path().join("A.OPLUS");
    a.write(&path).unwrap();
    assert_eq!(oplus::io::binary::read::<i32, PlusTimes>(&path).unwrap().entries().unwrap(), a.entries().unwrap());
}

/// An ending says what it says whatever stands before it.
#[cfg(target_os = "linux")]
#[test]
fn names_need_not_be_text() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &[u8]| folder.path().join(OsStr::from_bytes(name));
    let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 5), (1, 0, 7)]).unwrap();
    std::fs::write(path(b"g\xe9.csv"), "0,1,5\n1,0,7\n").unwrap();
    assert_eq!(Matrix::<i32>::read(path(b"g\xe9.csv")).unwrap(), a);
    assert!(matches!(a.write(path(b"g\xe9.csv")), Err(Error::NotSupported { .. })));
    // A name that is all ending too.
    for name in [&b"caf\xe9.oplus"[..], b"\xff.OPLUS", b".oplus", b"caf\xe9.oplus.gz", b".oplus.zst"] {
        let packed = name.ends_with(b"gz") || name.ends_with(b"zst");
        if packed && !cfg!(feature = "compression") {
            continue;
        }
        let path = path(name);
        a.write(&path).unwrap();
        assert_eq!(oplus::io::binary::read::<i32, PlusTimes>(&path).unwrap(), a, "{path:?}");
        assert_eq!(std::fs::read(&path).unwrap().starts_with(b"\x89OPLUS"), !packed, "{path:?}");
        assert_eq!(Matrix::<i32>::read(&path).unwrap(), a, "{path:?}");
    }
    #[cfg(feature = "npz")]
    for name in [&b"caf\xe9.npz"[..], b".npz"] {
        a.write(path(name)).unwrap();
        assert_eq!(oplus::io::npz::read::<i32, PlusTimes>(path(name)).unwrap(), a, "{name:?}");
    }
    a.write(path(b"caf\xe9.mtx")).unwrap();
    assert_eq!(oplus::io::matrix_market::read::<i32>(path(b"caf\xe9.mtx")).unwrap().values, [5, 7]);
}

#[cfg(feature = "compression")]
#[test]
fn endings_that_compress_may_be_capitals() {
    let folder = tempfile::tempdir().unwrap();
    let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 5), (1, 0, 7)]).unwrap();
    for (name, begins) in [("A.MTX.GZ", &[0x1f, 0x8b][..]), ("A.OPLUS.Zst", &[0x28, 0xb5, 0x2f, 0xfd])] {
        let path = folder.path().join(name);
        a.write(&path).unwrap();
        assert!(std::fs::read(&path).unwrap().starts_with(begins), "{name}");
        assert_eq!(Matrix::<i32>::read(&path).unwrap(), a, "{name}");
    }
}

/// What is there under the name stays what it is: a link leads where it led, a pipe is written to.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_replaced_by_one() {
    use std::io::Read;
    use std::os::unix::fs::FileTypeExt;
    let folder = tempfile::tempdir().unwrap();
    let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 5), (1, 0, 7)]).unwrap();
    let (real, link) = (folder.path().join("real.mtx"), folder.path().join("link.mtx"));
    std::fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink("real.mtx", &link).unwrap();
    a.write(&link).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(Matrix::<i32>::read(&real).unwrap(), a);
    let text = std::fs::read(&real).unwrap();
    // A link to what is not there yet.
    std::fs::remove_file(&real).unwrap();
    a.write(&link).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::read(&real).unwrap(), text);

    let pipe = folder.path().join("pipe.mtx");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut end = std::fs::File::options().read(true).write(true).open(&pipe).unwrap();
    a.write(&pipe).unwrap();
    assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    let mut read = vec![0; text.len()];
    end.read_exact(&mut read).unwrap();
    assert_eq!(read, text);
    assert!(matches!(a.write(folder.path()), Err(Error::Io { .. })));
    // Nothing else is left behind.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

/// What is open is written to where it stands, by whatever name: another's pipe, what `>>` appends to.
#[cfg(target_os = "linux")]
#[test]
fn what_is_open_is_written_to_itself() {
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 5), (1, 0, 7)]).unwrap();
    let path = folder.path().join("a.mtx");
    a.write(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let link = folder.path().join("link.mtx");
    for name in ["/dev/fd/", "/proc/self/fd/", "link"] {
        let named = |number: i32| match name {
            "link" => {
                let _ = std::fs::remove_file(&link);
                std::os::unix::fs::symlink(format!("/dev/fd/{number}"), &link).unwrap();
                link.clone()
            }
            _ => format!("{name}{number}").into(),
        };
        let (mut from, to) = std::io::pipe().unwrap();
        a.write(named(to.as_raw_fd())).unwrap();
        drop(to);
        let mut read = String::new();
        from.read_to_string(&mut read).unwrap();
        assert_eq!(read, text, "{name}");
        for append in [true, false] {
            std::fs::write(&path, "old\n").unwrap();
            let mut open = std::fs::File::options().append(append).write(true).truncate(!append).open(&path).unwrap();
            open.write_all(b"before\n").unwrap();
            a.write(named(open.as_raw_fd())).unwrap();
            open.write_all(b"after\n").unwrap();
            let old = if append { "old\n" } else { "" };
            assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{old}before\n{text}after\n"), "{name}");
        }
    }
    // Another process's.
    std::fs::write(&path, "old\n").unwrap();
    let out = std::fs::File::options().append(true).open(&path).unwrap();
    let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(out).spawn().unwrap();
    a.write(format!("/proc/{}/fd/1", cat.id())).unwrap();
    cat.stdin.take().unwrap().write_all(b"after\n").unwrap();
    assert!(cat.wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("old\n{text}after\n"));
    assert!(matches!(a.write("/dev/fd/1000000"), Err(Error::Io { .. })));
    // Nothing else is left behind.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// What came through a pipe does not come again: nobody waits for it to tell a line.
#[cfg(unix)]
#[test]
fn what_is_there_twice_in_a_pipe_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let twice = "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 1\n1 1 2\n";
    for (name, text) in [("a.mtx", twice), ("a.csv", "0,0\n0,0\n")] {
        let path = folder.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let (there, to) = (path.clone(), path.clone());
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || tell.send(Matrix::<i32>::read(there).unwrap_err()));
        std::fs::write(&to, text).unwrap();
        let told = told.recv_timeout(std::time::Duration::from_secs(20)).expect("an answer").to_string();
        assert!(told.contains("is there twice: again at entry 1") && !told.contains(".mtx:4"), "{told}");
    }
}

#[test]
fn what_a_file_is_not_is_told_with_its_name() {
    let told = |e: Error, what: &str| {
        assert!(matches!(e, Error::NotSupported { .. }), "{e:?}");
        assert_eq!(e.to_string(), what);
    };
    told(Vector::<i32>::read("no/x.csv").unwrap_err(), "read: no/x.csv: an edge list is no vector");
    let a: Matrix<i32> = Matrix::new(2, 2).unwrap();
    told(a.write("no/x.csv").unwrap_err(), "write: no/x.csv: edge lists are read, not written");
}

/// As long as the system lets them be; and links that lead nowhere are its error.
#[cfg(target_os = "linux")]
#[test]
fn names_may_be_long_and_links_circles() {
    let folder = tempfile::tempdir().unwrap();
    let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 5), (1, 0, 7)]).unwrap();
    for (length, ending) in [(240, ".mtx"), (255, ".mtx"), (255, ".oplus")] {
        let path = folder.path().join("n".repeat(length - ending.len()) + ending);
        a.write(&path).unwrap();
        assert_eq!(Matrix::<i32>::read(&path).unwrap(), a, "{length}");
        std::fs::remove_file(&path).unwrap();
    }
    assert!(matches!(a.write(folder.path().join("n".repeat(256))), Err(Error::Io { .. })));
    let link = |name: &str, to: &str| std::os::unix::fs::symlink(to, folder.path().join(name)).unwrap();
    link("self.mtx", "self.mtx");
    link("there.mtx", "back.mtx");
    link("back.mtx", "there.mtx");
    for name in ["self.mtx", "there.mtx"] {
        let path = folder.path().join(name);
        let (told, system) = (a.write(&path).unwrap_err(), std::fs::File::create(&path).unwrap_err());
        assert_eq!(told, Error::Io { path: path.clone(), message: system.to_string() });
        assert!(std::fs::symlink_metadata(&path).unwrap().is_symlink());
    }
    // As many one after the other as the system follows.
    (1..40).for_each(|n| link(&format!("{n}.mtx"), &format!("{}.mtx", n + 1)));
    a.write(folder.path().join("1.mtx")).unwrap();
    assert_eq!(Matrix::<i32>::read(folder.path().join("40.mtx")).unwrap(), a);
    // Nothing else is left behind.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3 + 40);
}

/// A file keeps who may read and write it when it is written again.
#[cfg(unix)]
#[test]
fn permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 5), (1, 0, 7)]).unwrap();
    for (name, mode) in [("a.mtx", 0o600), ("a.oplus", 0o664)] {
        let path = folder.path().join(name);
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        a.write(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{name}");
        assert_eq!(Matrix::<i32>::read(&path).unwrap(), a);
    }
}

/// As `str::parse` has it; integers must fit.
#[test]
fn floats_beyond_their_range_are_infinite() {
    let text = b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e39\n";
    let read = oplus::io::matrix_market::read_bytes::<f32>(text).unwrap();
    assert_eq!(read.values, [f32::INFINITY]);
    assert!(oplus::io::matrix_market::read_bytes::<i64>(text).is_err());
}

/// A file of a few kilobytes that unpacks to 64 MiB of one byte behind a beginning.
#[cfg(feature = "compression")]
fn bomb(path: &std::path::Path, beginning: &str, byte: u8) {
    use std::io::Write;
    let (file, block) = (std::fs::File::create(path).unwrap(), vec![byte; 1 << 20]);
    let fill = |to: &mut dyn Write| {
        to.write_all(beginning.as_bytes()).unwrap();
        (0..64).for_each(|_| to.write_all(&block).unwrap());
    };
    if path.extension().is_some_and(|e| e == "gz") {
        let mut to = flate2::write::GzEncoder::new(file, flate2::Compression::default());
        fill(&mut to);
        to.finish().unwrap();
    } else {
        let mut to = zstd::stream::write::Encoder::new(file, 0).unwrap();
        fill(&mut to);
        to.finish().unwrap();
    }
}

/// What is no Matrix Market file, has a line without an end or comments without one is not unpacked.
#[cfg(feature = "compression")]
#[test]
fn bombs_stay_packed() {
    use oplus::io::matrix_market as mm;
    let _alone = allocator::alone();
    let folder = tempfile::tempdir().unwrap();
    let head = "%%MatrixMarket matrix coordinate real general\n";
    let cases = [
        ("zeros.mtx", String::new(), 0, "1: not a Matrix Market file"),
        ("banner.mtx", head.trim_end().to_string(), b' ', "1: the line is longer than"),
        ("comment.mtx", format!("{head}%"), b'c', "2: the line is longer than"),
        ("lines.mtx", head.to_string(), b'\n', ": no size line in the first"),
        ("entry.mtx", format!("{head}% c\n9 9 2\n1 1 5\n2 2 7"), b' ', "5: the line is longer than"),
        ("edges.csv", "0,1\n1,2".to_string(), b'1', "2: the line is longer than"),
    ];
    for (name, beginning, byte, what) in cases {
        for ending in ["gz", "zst"] {
            let path = folder.path().join(format!("{name}.{ending}"));
            bomb(&path, &beginning, byte);
            let (read, most) = allocator::measured(|| Matrix::<f64>::read(&path));
            let told = read.unwrap_err().to_string();
            assert!(told.contains(&format!("{name}.{ending}:")) && told.contains(what), "{told}");
            assert!(most < 32 << 20, "{name}.{ending}: {most} bytes");
            let bytes = std::fs::read(&path).unwrap();
            let (read, most) = allocator::measured(|| match name.ends_with("csv") {
                true => edge_list::read_bytes::<f64>(&bytes, &Default::default()).map(drop),
                false => mm::read_bytes::<f64>(&bytes).map(drop).and(mm::read_header(&path).map(drop)),
            });
            let told = read.unwrap_err().to_string();
            assert!(told.contains(what) && most < 32 << 20, "{told}: {most} bytes");
        }
    }
}

/// The same where nothing is packed.
#[test]
fn lines_end_somewhere() {
    use oplus::io::matrix_market as mm;
    let head = "%%MatrixMarket matrix coordinate real general\n";
    let (blanks, short) = (" ".repeat((1 << 20) + 1), " ".repeat((1 << 20) - 10));
    let told = |text: String, line: u64| {
        let error = mm::read_bytes::<f64>(text.as_bytes()).unwrap_err();
        assert!(matches!(&error, Error::Parse { line: Some(l), .. } if *l == line), "{error}");
        assert!(error.to_string().contains("longer than"), "{error}");
    };
    told(format!("{head}%{blanks}\n1 1 1\n1 1 5\n"), 2);
    told(format!("{head}1 1{blanks}1\n1 1 5\n"), 2);
    told(format!("{head}9 9 2\n1 1 5\n2 2{blanks}7\n"), 4);
    told(format!("{head}9 9 2\n{}1 1 5{blanks}\n2 2 7", "% c\n".repeat(1000)), 1003);
    let good = format!("{head}%{short}\n9 9 2\n1 1{short}5\n2 2{short}7");
    assert_eq!(mm::read_bytes::<f64>(good.as_bytes()).unwrap().values, [5.0, 7.0]);
    let error = edge_list::read_bytes::<f64>(format!("0 1\n1{blanks}2\n").as_bytes(), &Default::default()).unwrap_err();
    assert_eq!(error.to_string(), "input:2: the line is longer than 1048576 bytes");
}

/// What editors, tapes and parallel compressors put around a text is no part of it.
#[test]
fn marks_and_padding_are_passed_over() {
    use oplus::io::matrix_market as mm;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    let text = b"\xef\xbb\xbf%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 5\n";
    std::fs::write(&path, text).unwrap();
    assert_eq!(mm::read_bytes::<i32>(text).unwrap().values, [5]);
    assert_eq!((mm::read::<i32>(&path).unwrap().values, mm::read_header(&path).unwrap().stored), (vec![5], 1));
    for (list, header) in [("0,1,5\n", false), ("# c\n0,1,5\n", false), ("a,b,c\n0,1,5\n", true)] {
        let options = EdgeListOptions::default().with_header(header);
        let coo = edge_list::read_bytes::<f64>(format!("\u{feff}{list}").as_bytes(), &options).unwrap();
        assert_eq!((coo.rows, coo.columns, coo.values), (vec![0], vec![1], vec![5.0]), "{list:?}");
    }
    let path = folder.path().join("twice.csv");
    std::fs::write(&path, "\u{feff}# c\n0,1\n0,1\n").unwrap();
    assert!(Matrix::<i32>::read(&path).unwrap_err().to_string().contains("twice.csv:3: entry (0, 1)"));
}

#[cfg(feature = "compression")]
#[test]
fn packed_files_may_be_padded() {
    use std::io::Write;
    let gz = |text: &[u8]| {
        let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        to.write_all(text).unwrap();
        to.finish().unwrap()
    };
    let zst = |text: &[u8]| zstd::stream::encode_all(text, 0).unwrap();
    let skipped = |first: u8| [&[first, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"any"].concat();
    let (one, two) = (&b"0 1 2.5\n"[..], &b"1 2\n"[..]);
    let edges = |bytes: &[u8]| edge_list::read_bytes::<f64>(bytes, &Default::default()).map(|coo| coo.values);
    let zeros = |n: usize| vec![0; n];
    for n in [1, 9, 512, 100_000] {
        assert_eq!(edges(&[gz(one), zeros(n)].concat()).unwrap(), [2.5]);
        assert_eq!(edges(&[gz(one), zeros(n), gz(two), zeros(n)].concat()).unwrap(), [2.5, 1.0]);
    }
    assert_eq!(edges(&[gz(one), gz(b""), gz(two)].concat()).unwrap(), [2.5, 1.0]);
    assert_eq!(edges(&[skipped(0x50), zst(one), skipped(0x5f), zst(two)].concat()).unwrap(), [2.5, 1.0]);
    for broken in [[gz(one), vec![7]].concat(), [gz(one), zeros(5), vec![7; 20]].concat(), gz(one)[..20].to_vec()] {
        assert!(matches!(edges(&broken), Err(Error::Parse { .. })));
    }
}

/// Files of matrices without rows, without columns, without either.
#[test]
fn dimensions_may_be_zero() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (m, n) in [(0, 5), (5, 0), (0, 0)] {
        for (layout, size) in [("coordinate", format!("{m} {n} 0")), ("array", format!("{m} {n}"))] {
            for field in ["real", "integer", "complex"] {
                let text = format!("%%MatrixMarket matrix {layout} {field} general\n{size}\n");
                std::fs::write(path("a.mtx"), &text).unwrap();
                let a: Matrix<c64> = Matrix::read(path("a.mtx")).unwrap();
                assert_eq!((a.shape(), a.nvals()), ((m, n), 0), "{text}");
                std::fs::write(path("a.mtx"), text + "1 1 1 1\n").unwrap();
                let e = Matrix::<c64>::read(path("a.mtx")).unwrap_err();
                assert!(matches!(e, Error::Parse { line: Some(3), .. }), "{e}");
            }
        }
        let a: Matrix<f64> = Matrix::build(m, n, &[]).unwrap();
        for name in ["a.mtx", "a.oplus"] {
            a.write(path(name)).unwrap();
            let back: Matrix<f64> = Matrix::read(path(name)).unwrap();
            assert_eq!((back.shape(), back.nvals()), ((m, n), 0), "{name}");
        }
        let b: Matrix<f64> = transpose(&a).eval().unwrap();
        assert_eq!(mxm(&a, &b).eval().unwrap().shape(), (m, m));
    }
    for symmetry in ["symmetric", "skew-symmetric"] {
        std::fs::write(path("a.mtx"), format!("%%MatrixMarket matrix array real {symmetry}\n0 0\n")).unwrap();
        assert_eq!(Matrix::<f64>::read(path("a.mtx")).unwrap().shape(), (0, 0));
    }
    std::fs::write(path("x.mtx"), "%%MatrixMarket matrix array real general\n0 1\n").unwrap();
    assert_eq!(Vector::<f64>::read(path("x.mtx")).unwrap().len(), 0);
    std::fs::write(path("a.csv"), "").unwrap();
    assert_eq!(Matrix::<f64>::read(path("a.csv")).unwrap().shape(), (0, 0));
}
