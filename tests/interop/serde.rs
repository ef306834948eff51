use super::cases::{Any, bits, vector};
use oplus::prelude::*;
use quickcheck::quickcheck;

oplus::scalar! {
    #[derive(serde::Serialize, serde::Deserialize)]
    pub struct Hop { dist: f32, hops: u32 }
}

#[test]
fn structs_of_the_users() {
    let a: Matrix<Hop> = Matrix::build(1, 2, &[(0, 1, Hop::make(1.5, 3))]).unwrap();
    let text = serde_json::to_string(&a).unwrap();
    let expected = r#"{"nrows":1,"ncols":2,"row_ids":null,"column_ids":null,"offsets":[0,1],"indices":[1],"values":[{"dist":1.5,"hops":3}]}"#;
    assert_eq!(text, expected);
    assert_eq!(serde_json::from_str::<Matrix<Hop>>(&text).unwrap().entries().unwrap(), a.entries().unwrap());
}

#[test]
fn complex_numbers_and_halves() {
    fn back<T: Scalar + serde::Serialize + serde::de::DeserializeOwned>(a: &Matrix<T>) {
        let b: Matrix<T> = serde_json::from_str(&serde_json::to_string(a).unwrap()).unwrap();
        assert_eq!(b.entries().unwrap(), a.entries().unwrap());
    }
    let a: Matrix<c64> = Matrix::build(1, 2, &[(0, 1, c64::new(1.5, -0.25))]).unwrap();
    back(&a);
    back(&a.cast::<c32>().unwrap());
    #[cfg(feature = "half")]
    {
        back(&a.cast::<f16>().unwrap());
        back(&a.cast::<bf16>().unwrap());
    }
}

#[test]
fn hostile_input_is_an_error() {
    let good =
        r#"{"nrows":2,"ncols":2,"row_ids":null,"column_ids":null,"offsets":[0,1,2],"indices":[1,0],"values":[1,2]}"#;
    assert!(serde_json::from_str::<Matrix<i32>>(good).is_ok());
    for (from, to, told) in [
        ("[0,1,2]", "[0,2]", "2 offsets for 2 rows"),
        ("[0,1,2]", "[0,18446744073709551615,2]", "decrease"),
        ("[1,0]", "[1,2]", "column 2"),
        ("[1,0]", "[1,4294967296]", "u32"),
        ("[1,2]", "[1]", "1 values"),
        ("[1,2]", "[1,true]", "boolean"),
        ("\"nrows\":2", "\"nrows\":18446744073709551615", "list of those"),
        ("\"row_ids\":null", "\"row_ids\":[1]", "3 offsets for 1 rows"),
        ("\"ncols\"", "\"columns\"", "unknown field"),
    ] {
        let error = serde_json::from_str::<Matrix<i32>>(&good.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(told), "{error:?} does not say {told:?}");
    }
    // Names of this library's insides say nothing to anybody.
    assert!(serde_json::from_str::<Matrix<i32>>("5").unwrap_err().to_string().contains("expected a matrix"));
    assert!(serde_json::from_str::<Vector<i32>>("5").unwrap_err().to_string().contains("expected a vector"));
    assert!(serde_json::from_str::<Vector<i32>>(r#"{"len":3,"indices":[2,1],"values":[1,2]}"#).is_err());
    assert!(serde_json::from_str::<Vector<i32>>(r#"{"len":3,"indices":[1,2],"values":[1,2]}"#).is_ok());
}

quickcheck! {
    fn matrices(a: Any<i64>) -> bool {
        let back: Matrix<i64> = serde_json::from_str(&serde_json::to_string(&a.0).unwrap()).unwrap();
        back.shape() == a.0.shape() && back.entries().unwrap() == a.0.entries().unwrap()
    }
    fn vectors(entries: Vec<(u8, bool)>) -> bool {
        let x = vector(&entries);
        let back: Vector<bool> = serde_json::from_value(serde_json::to_value(&x).unwrap()).unwrap();
        back.len() == x.len() && back.entries().unwrap() == x.entries().unwrap()
    }
    fn mutated_text_never_panics(a: Any<i64>, at: usize, with: u8) -> bool {
        let mut text = serde_json::to_vec(&a.0).unwrap();
        let at = at % text.len();
        text[at] = with;
        match serde_json::from_slice::<Matrix<i64>>(&text) {
            Ok(b) => b.entries().unwrap().iter().all(|(i, j, _)| *i < b.nrows() && *j < b.ncols()),
            Err(e) => !e.to_string().is_empty(),
        }
    }
    fn floats_keep_their_bits(a: Any<f64>) -> bool {
        // JSON has no NaN and no infinity; values are not printed here, parsers of decimals may round.
        let a: Matrix<f64> = select(&a.0, ValueGt, -1e300).eval().unwrap();
        let a: Matrix<f64> = select(&a, ValueLt, 1e300).eval().unwrap();
        let back: Matrix<f64> = serde_json::from_value(serde_json::to_value(&a).unwrap()).unwrap();
        bits(&back) == bits(&a)
    }
}
