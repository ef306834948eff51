//! Edge lists: weights, shapes, delimiters, columns, quotes, comments, and bad ones.
#[path = "common/random.rs"]
mod random;

use oplus::io::edge_list::{self, Columns, Delimiter, EdgeListOptions, Shape, Weights};
use oplus::prelude::*;

fn edges(text: &str, weights: Weights) -> oplus::Result<Vec<(u64, u64, f64)>> {
    let options = EdgeListOptions::default().with_weights(weights);
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
    let way = "`edge_list::read` passes over further columns with `EdgeListOptions::default().with_columns(Columns::Chosen { .. })`";
    told("0,1,,5\n", Weights::Optional, &format!("input:1: \"5\" is too much on this line: {way}"));
}

type Edges = Vec<(u64, u64, f64)>;

fn read_with(text: &str, options: &EdgeListOptions) -> Result<((u64, u64), Edges)> {
    let coo = edge_list::read_bytes::<f64>(text.as_bytes(), options)?;
    Ok(((coo.nrows, coo.ncols), (0..coo.len()).map(|e| (coo.rows[e], coo.columns[e], coo.values[e])).collect()))
}

#[test]
fn vertices_may_count_from_one() {
    let options = EdgeListOptions::default().with_one_based(true);
    assert_eq!(read_with("1 2\n3 1 0.5\n", &options).unwrap(), ((3, 3), vec![(0, 1, 1.0), (2, 0, 0.5)]));
    let e = read_with("1 2\n2 0\n", &options).unwrap_err();
    assert_eq!(e.to_string(), "input:2: target 0 in a list that counts from 1");
    // The last vertex number that has an index, and one beyond.
    let far = read_with("18446744073709551615 1\n", &options).unwrap();
    assert_eq!(far, ((u64::MAX, u64::MAX), vec![(u64::MAX - 1, 0, 1.0)]));
    assert!(read_with("18446744073709551615 1\n", &Default::default()).unwrap_err().to_string().contains("range"));
}

#[test]
fn shapes_are_met_or_given() {
    let text = "0 7\n2 1\n";
    let shape = |shape| read_with(text, &EdgeListOptions::default().with_shape(shape));
    assert_eq!(shape(Shape::Square).unwrap().0, (8, 8));
    assert_eq!(shape(Shape::Bipartite).unwrap().0, (3, 8));
    assert_eq!(shape(Shape::Given(5, 9)).unwrap().0, (5, 9));
    for (given, what) in [
        (Shape::Given(2, 8), "input:2: source 2 is out of range, there are 2"),
        (Shape::Given(3, 7), "input:1: target 7 is out of range, there are 7"),
        (Shape::Given(0, 0), "input:1: source 0 is out of range, there are 0"),
    ] {
        assert_eq!(shape(given).unwrap_err().to_string(), what);
    }
    for (of, expected) in [(Shape::Square, (0, 0)), (Shape::Bipartite, (0, 0)), (Shape::Given(0, 4), (0, 4))] {
        assert_eq!(read_with("# none\n", &EdgeListOptions::default().with_shape(of)).unwrap(), (expected, vec![]));
    }
}

#[test]
fn delimiters() {
    let with =
        |delimiter, text| read_with(text, &EdgeListOptions::default().with_delimiter(delimiter)).map(|found| found.1);
    let expected = vec![(0, 1, 2.5), (1, 2, 1.0)];
    for (delimiter, text) in [
        (Delimiter::Auto, "0,1,2.5\n1 , 2\n"),
        (Delimiter::Auto, "0;1;2.5\n1; 2\n"),
        (Delimiter::Auto, "0 1\t2.5\n 1  2 \r\n"),
        // Each line is looked at by itself, and a comma comes before a semicolon.
        (Delimiter::Auto, "0;1;2.5\n1,2\n"),
        (Delimiter::Whitespace, "0\t 1 2.5\r\n1 2\n"),
        (Delimiter::Byte(b' '), "0  1 2.5\n1\t2\n"),
        (Delimiter::Byte(b','), "0,1,2.5\n1 ,\t2\n"),
        (Delimiter::Byte(b';'), "0;1;2.5\n1;2\n"),
        (Delimiter::Byte(b'\t'), "0\t1\t2.5\n1\t 2\t\n"),
        (Delimiter::Byte(b'|'), "0|1|2.5\n1|2|\n"),
    ] {
        assert_eq!(with(delimiter, text).unwrap(), expected, "{delimiter:?} {text:?}");
    }
    for (delimiter, text, what) in [
        (Delimiter::Whitespace, "0,1\n", "input:1: source: \"0,1\" is not a vertex number"),
        (Delimiter::Byte(b','), "0 1\n", "input:1: source: \"0·1\" is not a vertex number"),
        (Delimiter::Byte(b'\t'), "0\t\t1\n", "input:1: the target is missing"),
        (Delimiter::Auto, "0,1;2\n", "input:1: target: \"1;2\" is not a vertex number"),
        (Delimiter::Byte(b';'), ";1\n", "input:1: the source is missing"),
    ] {
        assert_eq!(with(delimiter, text).unwrap_err().to_string(), what, "{delimiter:?} {text:?}");
    }
    for byte in *b"\n\r\"059.+-eEn" {
        let e = with(Delimiter::Byte(byte), "0 1\n").unwrap_err();
        assert!(matches!(&e, Error::InvalidValue { operation: "edge_list::read", .. }), "{e}");
    }
}

#[test]
fn comments_and_column_names() {
    let text = "# a\n% b\n// c\n\n  # e\n0 1\n\t// f\n1 2\n";
    assert_eq!(read_with(text, &Default::default()).unwrap().1, [(0, 1, 1.0), (1, 2, 1.0)]);
    let named = "# a\n\nfrom,to,km\n0,1,7\n// b\n";
    let options = EdgeListOptions::default().with_header(true);
    assert_eq!(read_with(named, &options).unwrap().1, [(0, 1, 7.0)]);
    let e = read_with(named, &Default::default()).unwrap_err();
    let way = ": `edge_list::read` passes over a line of names with `EdgeListOptions::default().with_header(true)`";
    assert_eq!(e.to_string(), format!("input:3: source: \"from\" is not a vertex number{way}"));
    // Only the first line may have names, and names have letters.
    for (text, what) in [("0 1\nfrom to\n", "input:2: source: \"from\""), ("0.5 1\n", "input:1: source: \"0.5\"")] {
        let e = read_with(text, &Default::default()).unwrap_err();
        assert_eq!(e.to_string(), format!("{what} is not a vertex number"));
    }
    // Lines are counted from the file's first.
    let e = read_with(&named.replace("0,1", "0,x"), &options).unwrap_err();
    assert_eq!(e.to_string(), "input:4: target: \"x\" is not a vertex number");
    assert!(read_with("from to\n", &options).unwrap().1.is_empty());
    assert!(read_with("", &options).unwrap().1.is_empty());
}

#[test]
fn chosen_columns() {
    let with = |(source, target, weight), weights, text| {
        let columns = Columns::Chosen { source, target, weight };
        read_with(text, &EdgeListOptions::default().with_columns(columns).with_weights(weights)).map(|found| found.1)
    };
    let (optional, required, ignored) = (Weights::Optional, Weights::Required, Weights::Ignored);
    let table = "0,1,2.5,2024-01-01\n1,2,,x,y\n";
    for (columns, weights, text, expected) in [
        ((0, 1, Some(2)), optional, table, [(0, 1, 2.5), (1, 2, 1.0)]),
        ((0, 1, None), optional, table, [(0, 1, 1.0), (1, 2, 1.0)]),
        ((0, 1, Some(2)), ignored, table, [(0, 1, 1.0), (1, 2, 1.0)]),
        // What is not read may be missing.
        ((0, 1, Some(9)), ignored, table, [(0, 1, 1.0), (1, 2, 1.0)]),
        ((1, 0, None), optional, "0 1\n1 2 a b c d", [(1, 0, 1.0), (2, 1, 1.0)]),
        ((3, 1, Some(0)), required, "7;1;e;0\n8;2;f;1;g\n", [(0, 1, 7.0), (1, 2, 8.0)]),
        // A diagonal.
        ((0, 0, Some(1)), required, "3 7\n4 8 9\n", [(3, 3, 7.0), (4, 4, 8.0)]),
    ] {
        assert_eq!(with(columns, weights, text).unwrap(), expected, "{columns:?} {weights:?} {text:?}");
    }
    let missing = |what: &str, column, n| {
        format!("input:2: the {what} is missing: column {column}, counted from 0, of a line that has {n}")
    };
    for (columns, weights, text, what) in [
        ((1, 2, None), optional, "9,0,1\n9,0\n", missing("target", 2, 2)),
        ((2, 1, None), optional, "9,0,1\n9,0\n", missing("source", 2, 2)),
        ((usize::MAX, 1, None), optional, "# c\n9,0,1\n", missing("source", usize::MAX, 3)),
        ((0, 1, Some(2)), optional, "0 1 2\n0 1\n", missing("weight", 2, 2)),
        ((0, 1, Some(2)), required, "0,1,2\n0,1,,3\n", "input:2: the weight is missing".into()),
        ((0, 2, None), optional, "0,1,2\n0,1,,3\n", "input:2: the target is missing".into()),
        ((0, 1, Some(3)), optional, "0,1,2,x\n", "input:1: weight \"x\" is no number for f64".into()),
    ] {
        assert_eq!(with(columns, weights, text).unwrap_err().to_string(), what, "{columns:?} {text:?}");
    }
    let e = with((0, 1, None), required, "").unwrap_err();
    assert_eq!(e.to_string(), "edge_list::read: weights are required, and no column of them is chosen");
    // Nobody chose: a field more may be a mistake.
    let e = read_with("0,1,2\n0,1,2,2024\n", &Default::default()).unwrap_err().to_string();
    assert!(
        e.starts_with("input:2: \"2024\" is too much on this line: ") && e.contains("with_columns(Columns::Chosen"),
        "{e}"
    );
    // Many pieces.
    let long: String = (0..200_000).map(|i| format!("e{i},{i},{},{}.5,more\n", i % 1000, i % 10)).collect();
    let found = with((2, 1, Some(3)), required, &long).unwrap();
    assert!(found.iter().zip(0..).all(|(e, i)| *e == (i % 1000, i, (i % 10) as f64 + 0.5)) && found.len() == 200_000);
    let e = with((2, 1, Some(3)), required, &format!("{long}e,1,2\n")).unwrap_err().to_string();
    assert!(e.starts_with("input:200001: the weight is missing"), "{e}");
}

#[test]
fn fields_in_double_quotes() {
    let expected = vec![(12, 15, 2.5), (1, 2, 1.0)];
    for text in ["\"12\",\"15\",\"2.5\"\n1,2\n", "\"12\" ; 15;2.5\r\n\"1\"; \"2\" ;\"\"\r\n"] {
        assert_eq!(read_with(text, &Default::default()).unwrap().1, expected, "{text:?}");
    }
    let columns = Columns::Chosen { source: 1, target: 2, weight: Some(3) };
    let options = EdgeListOptions::default().with_columns(columns).with_header(true);
    let text = "name,from,to,km\n\"Smith, \"\"J.\"\"; x\",\"12\",15,2.5\n5\" disk,1,2,\n";
    assert_eq!(read_with(text, &options).unwrap().1, expected);
    // A semicolon stands between the fields where the commas are in quotes.
    assert_eq!(read_with("h\n\"a, b\";12;15;2.5\n;1;2;\n", &options).unwrap().1, expected);
    for (text, what) in [
        ("\"1,2\n", "source: \"\\\"1,2\" is not a vertex number"),
        ("0,\"1\"2,3\n", "target: \"\\\"1\\\"2,3\" is not a vertex number"),
        ("0,1,\"2\n", "weight \"\\\"2\" is no number for f64"),
        ("\"\",1\n", "the source is missing"),
        // Without a character between fields quotes are none.
        ("\"1\" 2\n", "source: \"\\\"1\\\"\" is not a vertex number"),
    ] {
        assert_eq!(read_with(text, &Default::default()).unwrap_err().to_string(), format!("input:1: {what}"));
    }
    // What follows a quote that is not closed is missing.
    let e = read_with("h\n\"a,0,1,2\n", &options).unwrap_err().to_string();
    assert!(e.starts_with("input:2: the source is missing: column 1"), "{e}");
}

#[cfg(feature = "compression")]
#[test]
fn packed_edge_lists() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let text = "# from to\n0\t1\t2.5\n2\t0\n";
    for (name, text) in [("a.tsv.gz", text.to_string()), ("a.csv.zst", text.replace('\t', ","))] {
        let path = folder.path().join(name);
        let file = std::fs::File::create(&path).unwrap();
        if name.ends_with("gz") {
            let mut to = flate2::write::GzEncoder::new(file, flate2::Compression::default());
            to.write_all(text.as_bytes()).unwrap();
            to.finish().unwrap();
        } else {
            let mut to = zstd::stream::write::Encoder::new(file, 0).unwrap();
            to.write_all(text.as_bytes()).unwrap();
            to.finish().unwrap();
        }
        let a: Matrix<f64> = Matrix::read(&path).unwrap();
        assert_eq!((a.shape(), a.entries().unwrap()), ((3, 3), vec![(0, 1, 2.5), (2, 0, 1.0)]), "{name}");
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        let e = Matrix::<f64>::read(&path).unwrap_err();
        assert!(matches!(&e, Error::Parse { path: Some(p), .. } if *p == path), "{e}");
    }
}

/// Valid lists, bent: whatever comes is a value or an error that names a line there is.
#[test]
fn mutated_edge_lists_never_panic() {
    let seeds = [
        "# c\n0,1,2.5\n1,2\n",
        "0 1 -3\n2 0 7e3\n% c\n",
        "from;to\n1;2;0.5\n2;3;\n",
        "0\t1\n// c\n18446744073709551614\t0\n",
        "\"0\",1,\"a,\"\"b\"\"\",3\n1,\"2\",,4\n",
    ];
    let pieces: [&[u8]; 9] = [b"18446744073709551615", b"-1", b"1e999", b"\n", b";", b"\xff\xfe", b",,", b" ", b"\""];
    let mut numbers = random::Rng(0x2545_f491_4f6c_dd1d);
    let mut random = |n: usize| numbers.below(n as u64) as usize;
    let delimiters = [Delimiter::Auto, Delimiter::Whitespace, Delimiter::Byte(b','), Delimiter::Byte(b'\t')];
    let shapes = [Shape::Square, Shape::Bipartite, Shape::Given(3, 4)];
    let weights = [Weights::Optional, Weights::Required, Weights::Ignored];
    let columns = [
        Columns::InOrder,
        Columns::InOrder,
        Columns::Chosen { source: 1, target: 0, weight: Some(3) },
        Columns::Chosen { source: 0, target: 1, weight: Some(usize::MAX) },
    ];
    let (mut errors, mut read) = (0, 0);
    for round in 0..20_000 {
        let mut text = seeds[round % seeds.len()].as_bytes().to_vec();
        for _ in 0..random(4) {
            let at = random(text.len().max(1)).min(text.len().saturating_sub(1));
            match random(4) {
                _ if text.is_empty() => break,
                0 => text[at] = random(256) as u8,
                1 => text.truncate(at),
                2 => drop(text.remove(at)),
                _ => drop(text.splice(at..at, pieces[random(pieces.len())].iter().copied())),
            }
        }
        let options = EdgeListOptions::default()
            .with_one_based(random(2) == 0)
            .with_shape(shapes[random(3)])
            .with_delimiter(delimiters[random(4)])
            .with_columns(columns[random(4)])
            .with_weights(weights[random(3)])
            .with_header(random(2) == 0);
        match edge_list::read_bytes::<f64>(&text, &options) {
            Ok(coo) => {
                read += coo.len();
                assert!(coo.rows.iter().all(|i| *i < coo.nrows) && coo.columns.iter().all(|j| *j < coo.ncols));
                assert!(coo.rows.capacity() <= text.len(), "{} for {} bytes", coo.rows.capacity(), text.len());
            }
            Err(Error::Parse { line: Some(line), .. }) => {
                errors += 1;
                let lines = text.iter().filter(|b| **b == b'\n').count() as u64 + 1;
                assert!((1..=lines).contains(&line), "line {line} of {lines}");
            }
            Err(e) => panic!("{e}"),
        }
    }
    assert!(errors > 1000 && read > 1000, "{errors} errors, {read} edges");
}
