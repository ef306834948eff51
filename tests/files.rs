//! Edge lists, files by the endings of their names, and what is said of bad ones.
use oplus::io::edge_list::{self, EdgeListOptions, Weights};

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
