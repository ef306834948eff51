//! Real matrices as the Matrix Market reader gives them.
#[path = "common/data.rs"]
mod data;

use oplus::io::matrix_market as mm;
use oplus::prelude::*;

#[test]
fn a_stiffness_matrix() {
    let Some(path) = data::real("bcsstk13.mtx.zst") else { return };
    let a: Matrix<f64> = Matrix::from_coo(&mm::read(path).unwrap()).unwrap();
    assert_eq!((a.shape(), a.nvals()), ((2003, 2003), 83_883));
    assert_eq!((a.get(0, 0).unwrap(), a.get(1, 0).unwrap()), (Some(277281165.183), Some(3101923.80092)));
    assert_eq!(a.entries().unwrap(), transpose(&a).eval().unwrap().entries().unwrap());
}

#[test]
fn real_matrices() {
    let Some(folder) = data::folder() else {
        return eprintln!("skipped: no folder of real matrices, OPLUS_DATA names it");
    };
    let path = folder.join("index.tsv");
    let index = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    if !cfg!(feature = "compression") {
        return eprintln!("skipped: real matrices are compressed");
    }
    let mut lines = index.lines();
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let column = |name: &str| names.iter().position(|n| *n == name).unwrap();
    let mut files = 0;
    for line in lines {
        let cell: Vec<&str> = line.split('\t').collect();
        let path = folder.join(cell[column("file")]);
        let header = mm::read_header(&path).unwrap_or_else(|e| panic!("{e}"));
        // Complex takes every field.
        let coo = mm::read::<c64>(&path).unwrap_or_else(|e| panic!("{e}"));
        let expected: Vec<u64> = ["rows", "cols", "nnz"].iter().map(|n| cell[column(n)].parse().unwrap()).collect();
        assert_eq!([coo.nrows, coo.ncols, coo.len() as u64], expected[..], "{}", cell[0]);
        let field = match header.field {
            mm::Field::Real => "real",
            mm::Field::Integer => "integer",
            mm::Field::Complex => "complex",
            mm::Field::Pattern => "pattern",
            other => panic!("{other:?}"),
        };
        assert_eq!(field, cell[column("field")], "{}", cell[0]);
        if header.symmetry == mm::Symmetry::Symmetric {
            assert_eq!(cell[column("symmetric")], "yes", "{}", cell[0]);
        }
        files += 1;
    }
    eprintln!("{files} files read");
}
