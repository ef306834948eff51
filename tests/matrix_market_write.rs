//! Matrix Market files of every layout and symmetry, written and read back; what a matrix is not is not written.
use oplus::io::matrix_market::{self as mm, Layout, Symmetry, WriteOptions};
use oplus::prelude::*;
use quickcheck::quickcheck;

/// As files are called, compressed where that is known.
const NAMES: &[&str] = if cfg!(feature = "compression") { &["a.mtx", "a.mtx.gz", "a.mtx.zst"] } else { &["a.mtx"] };

const LAYOUTS: [Layout; 2] = [Layout::Coordinate, Layout::Array];

/// Writes and reads; the same entries, and the header says what was asked for.
fn there_and_back<T: mm::FromMatrixMarket + mm::ToMatrixMarket>(a: &Matrix<T>, options: &WriteOptions) -> mm::Header {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAMES[a.nvals() as usize % NAMES.len()]);
    mm::write_with(&path, a, options).unwrap();
    let header = mm::read_header(&path).unwrap();
    assert_eq!((header.layout, header.symmetry), (options.layout, options.symmetry));
    let back: Matrix<T> = Matrix::read(&path).unwrap();
    assert_eq!(back.shape(), a.shape());
    // Debug tells NaN from numbers and −0 from 0.
    assert_eq!(format!("{:?}", back.entries()), format!("{:?}", a.entries()), "{options:?}");
    header
}

/// A matrix of this symmetry, with an entry where `there` says so, else only some.
fn of_symmetry(n: u64, symmetry: Symmetry, values: &[(i8, i8)], full: bool) -> Matrix<c64> {
    let mut coo = Coo::new(n, n);
    let mut next = values.iter().cycle().map(|(x, y)| (f64::from(*x) / 3.0, f64::from(*y)));
    for i in 0..n {
        for j in 0..=i {
            let (re, im) = next.next().unwrap_or((0.5, 0.0));
            let skipped = !full && (i * 7 + j * 3 + n).is_multiple_of(3);
            if skipped || (symmetry == Symmetry::SkewSymmetric && i == j) {
                continue;
            }
            let v = c64::new(re, if i == j && symmetry == Symmetry::Hermitian { 0.0 } else { im });
            coo.push(i, j, v);
            if i != j {
                coo.push(
                    j,
                    i,
                    match symmetry {
                        Symmetry::SkewSymmetric => -v,
                        Symmetry::Hermitian => v.conj(),
                        _ => v,
                    },
                );
            }
        }
    }
    Matrix::from_coo(&coo).unwrap()
}

quickcheck! {
    fn symmetric_files_read_back(n: u8, values: Vec<(i8, i8)>) -> bool {
        let n = u64::from(n % 12);
        for symmetry in [Symmetry::General, Symmetry::Symmetric, Symmetry::SkewSymmetric, Symmetry::Hermitian] {
            let a = of_symmetry(n, symmetry, &values, false);
            let stored = match symmetry {
                Symmetry::General => a.nvals(),
                _ => tril(&a, 0).eval().unwrap().nvals(),
            };
            let options = WriteOptions::default().with_symmetry(symmetry);
            assert_eq!(there_and_back(&a, &options).stored, stored);
            there_and_back(&of_symmetry(n, symmetry, &values, true), &options.with_layout(Layout::Array));
            if symmetry != Symmetry::Hermitian {
                let real = apply(&a, RealPart).eval().unwrap();
                there_and_back(&real, &options);
            }
        }
        true
    }
}

#[test]
fn arrays_of_every_type_and_shape() {
    fn check<T: mm::FromMatrixMarket + mm::ToMatrixMarket>(of: impl Fn(u64) -> T) {
        for (m, n) in [(3, 4), (4, 3), (1, 5), (5, 1), (0, 3), (3, 0), (0, 0), (150, 130)] {
            let entries: Vec<(u64, u64, T)> = (0..m * n).map(|e| (e / n, e % n, of(e))).collect();
            let a: Matrix<T> = Matrix::build(m, n, &entries).unwrap();
            for layout in LAYOUTS {
                there_and_back(&a, &WriteOptions::default().with_layout(layout));
            }
        }
    }
    check(|e| e as i8);
    check(|e| u64::MAX - e);
    check(|e| [0.0, -0.0, f64::NAN, f64::INFINITY, 0.1][e as usize % 5]);
    check(|e| 1.0 / (e as f32 + 0.5));
    check(|e| c32::new(e as f32, -0.25));
    check(|e| e % 3 == 0);
    check(|_| true);
    // Column by column, and a blank stands before no line.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (0, 1, 2), (1, 0, 3), (1, 1, 4)]).unwrap();
    mm::write_with(&path, &a, &WriteOptions::default().with_layout(Layout::Array)).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "%%MatrixMarket matrix array integer general\n2 2\n1\n3\n2\n4\n");
    let a: Matrix<bool> = Matrix::build(2, 2, &[(0, 1, true), (1, 0, true)]).unwrap();
    let symmetric = WriteOptions::default().with_symmetry(Symmetry::Symmetric);
    assert_eq!(there_and_back(&a, &symmetric).field, mm::Field::Pattern);
    // A stored zero is an entry, of skew-symmetric ones its own negative.
    let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 0), (1, 0, 0)]).unwrap();
    for symmetry in [Symmetry::Symmetric, Symmetry::SkewSymmetric] {
        there_and_back(&a, &WriteOptions::default().with_symmetry(symmetry));
    }
}

#[test]
fn what_a_matrix_is_not_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    let told = |a: &Matrix<f64>, layout, symmetry, what: &str| {
        let e =
            mm::write_with(&path, a, &WriteOptions::default().with_layout(layout).with_symmetry(symmetry)).unwrap_err();
        // What is refused for its values is told with the file that they were for.
        let file = if matches!(e, Error::InvalidValue { .. }) { format!("{}: ", path.display()) } else { "".into() };
        assert_eq!(e.to_string(), format!("write: {file}{what}"));
        assert!(!path.exists());
    };
    let a: Matrix<f64> =
        Matrix::build(3, 3, &[(0, 0, 1.0), (0, 2, 5.0), (1, 2, 3.0), (2, 0, 5.0), (2, 1, 4.0)]).unwrap();
    for layout in LAYOUTS {
        told(&a, layout, Symmetry::Symmetric, "the matrix is not symmetric: (1, 2) is 3.0, (2, 1) is 4.0");
        told(&a, layout, Symmetry::SkewSymmetric, "the matrix is not skew-symmetric: (0, 0) is 1.0, on the diagonal");
        told(&a, layout, Symmetry::Hermitian, "a Hermitian file holds complex values, not f64");
    }
    let off = select(&a, Offdiag, 0).eval().unwrap();
    told(
        &off,
        Layout::Coordinate,
        Symmetry::SkewSymmetric,
        "the matrix is not skew-symmetric: (0, 2) is 5.0, (2, 0) is 5.0",
    );
    told(
        &tril(&a, 0).eval().unwrap(),
        Layout::Coordinate,
        Symmetry::Symmetric,
        "the matrix is not symmetric: (2, 0) is 5.0, (0, 2) is absent",
    );
    let nan: Matrix<f64> = Matrix::build(2, 2, &[(0, 1, f64::NAN), (1, 0, f64::NAN)]).unwrap();
    there_and_back(&nan, &WriteOptions::default().with_symmetry(Symmetry::Symmetric));
    told(&a, Layout::Array, Symmetry::General, "(0, 1) is absent, an array has an entry everywhere");
    let last: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0)]).unwrap();
    told(&last, Layout::Array, Symmetry::Symmetric, "(1, 1) is absent, an array has an entry everywhere");
    let skew: Matrix<f64> = Matrix::build(3, 3, &[(0, 1, 1.0), (1, 0, -1.0), (0, 2, 2.0), (2, 0, -2.0)]).unwrap();
    told(&skew, Layout::Array, Symmetry::SkewSymmetric, "(1, 2) is absent, an array has an entry everywhere");
    let wide: Matrix<f64> = Matrix::build(2, 3, &[]).unwrap();
    told(&wide, Layout::Coordinate, Symmetry::Symmetric, "the matrix must be square, it is 2×3");
    told(&wide, Layout::Array, Symmetry::General, "(0, 0) is absent, an array has an entry everywhere");
    // Far more places than memory holds.
    let far: Matrix<f64> = Matrix::build(1 << 40, 1 << 40, &[(0, 0, 1.0)]).unwrap();
    told(&far, Layout::Array, Symmetry::General, "(0, 1) is absent, an array has an entry everywhere");
    let symmetry = Symmetry::Hermitian;
    let turned: Matrix<c64> = Matrix::build(2, 2, &[(0, 0, c64::new(1.0, 0.5)), (1, 1, c64::new(1.0, 0.0))]).unwrap();
    let e = mm::write_with(&path, &turned, &WriteOptions::default().with_symmetry(symmetry)).unwrap_err().to_string();
    assert!(e.contains("not hermitian: (0, 0) is") && e.ends_with("on the diagonal, and not real"), "{e}");
    // No −7 among them.
    let a: Matrix<u8> = Matrix::build(2, 2, &[(0, 1, 7), (1, 0, 7)]).unwrap();
    let symmetry = Symmetry::SkewSymmetric;
    let e = mm::write_with(&path, &a, &WriteOptions::default().with_symmetry(symmetry)).unwrap_err().to_string();
    assert!(e.ends_with("(0, 1) is 7, (1, 0) is 7"), "{e}");
}
