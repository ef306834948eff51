//! Edge lists, files by the endings of their names, and what is said of bad ones.
use oplus::io::edge_list::{self, EdgeListOptions, Weights};
use oplus::prelude::*;

fn edges(text: &str, weights: Weights) -> oplus::Result<Vec<(u64, u64, f64)>> {
    let options = EdgeListOptions { weights, ..Default::default() };
    let coo = edge_list::read_bytes(text.as_bytes(), &options)?;
    Ok((0..coo.len()).map(|e| (coo.rows[e], coo.columns[e], coo.values[e])).collect())
}

#[test]
fn a_weight_may_be_nothing_or_an_empty_field() {
    let text = "0,1,\n1,2, \n2,0\n3,0,2.5\n";
    assert_eq!(edges(text, Weights::Optional).unwrap(), [(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0), (3, 0, 2.5)]);
    assert_eq!(edges(text, Weights::Ignored).unwrap().len(), 4);
    let told = |text, weights, what: &str| {
        let e = edges(text, weights).unwrap_err().to_string();
        assert_eq!(e, what);
    };
    told(text, Weights::Required, "input:1: the weight is missing");
    told("0,1,2\n1,2\n", Weights::Required, "input:2: the weight is missing");
    told("0,1,,5\n", Weights::Optional, "input:1: \"5\" is too much on this line");
}

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
    let twice = |at| format!("entry {at}, counted from 0, is there twice: here again");
    let text = format!("{head} symmetric\n% of three\n3 3 4\n1 1 1\n2 1 2\n\n% more\n3 1 3\n2 1 4\n");
    told("symmetric.mtx", &text, &format!("9: {}", twice("(1, 0)")));
    let text = format!("{head} symmetric\n3 3 3\n2 1 2\n3 1 3\n1 2 4\n");
    told("both_ways.mtx", &text, &format!("5: {}", twice("(0, 1)")));
    told("general.mtx", &format!("{head} general\n2 2 3\n1 1 1\n2 2 2\n1 1 3\n"), &format!("5: {}", twice("(0, 0)")));
    told("edges.csv", "# from, to\n0,1\n1,0\n\n0,1\n", &format!("5: {}", twice("(0, 1)")));
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

/// As `str::parse` has it; integers must fit.
#[test]
fn floats_beyond_their_range_are_infinite() {
    let text = b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e39\n";
    let read = oplus::io::matrix_market::read_bytes::<f32>(text).unwrap();
    assert_eq!(read.values, [f32::INFINITY]);
    assert!(oplus::io::matrix_market::read_bytes::<i64>(text).is_err());
}
