//! serde: matrices and vectors as their arrays, with the fields of [`CsrParts`] and [`VectorParts`].
//!
//! What comes in is checked as [`Matrix::from_csr_parts`] does and grows with what is really there: no input, however
//! hostile, panics or allocates for entries it only promises.
//!
//! JSON has no NaN and no infinity: serde_json writes them as `null`, which it does not read as a number. The
//! [binary format](crate::io::binary) keeps every bit.
//!
//! ```
//! use oplus::prelude::*;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let a: Matrix<f64> = Matrix::build(2, 3, &[(0, 2, 1.5)])?;
//! let text = serde_json::to_string(&a)?;
//! assert_eq!(serde_json::from_str::<Matrix<f64>>(&text)?.entries()?, a.entries()?);
//! assert!(serde_json::from_str::<Matrix<f64>>(&text.replace("[2]", "[3]")).is_err());
//! # Ok(()) }
//! ```
use super::{CsrParts, VectorParts};
use crate::algebra::Scalar;
use crate::container::{Matrix, Vector};
use crate::memory;
use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, Serializer};
use std::marker::PhantomData;

/// A list read fallibly.
struct List<X>(Vec<X>);

impl<'de, X: Deserialize<'de>> Deserialize<'de> for List<X> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Items<X>(PhantomData<X>);
        impl<'de, X: Deserialize<'de>> Visitor<'de> for Items<X> {
            type Value = List<X>;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<List<X>, A::Error> {
                let mut list = Vec::new();
                // The length the input claims is not believed.
                while let Some(item) = from.next_element()? {
                    memory::reserve("deserialize", &mut list, 1).map_err(A::Error::custom)?;
                    list.push(item);
                }
                Ok(List(list))
            }
        }
        from.deserialize_seq(Items(PhantomData))
    }
}

#[derive(serde::Serialize)]
#[serde(rename = "Matrix")]
struct MatrixOut<'a, T> {
    nrows: u64,
    ncols: u64,
    row_ids: Option<&'a [u64]>,
    column_ids: Option<&'a [u64]>,
    offsets: &'a [u64],
    indices: &'a [u32],
    values: &'a [T],
}

#[derive(serde::Deserialize)]
#[serde(rename = "Matrix", expecting = "a matrix", deny_unknown_fields, bound = "T: Deserialize<'de>")]
struct MatrixIn<T> {
    nrows: u64,
    ncols: u64,
    row_ids: Option<List<u64>>,
    column_ids: Option<List<u64>>,
    offsets: List<u64>,
    indices: List<u32>,
    values: List<T>,
}

#[derive(serde::Serialize)]
#[serde(rename = "Vector")]
struct VectorOut<'a, T> {
    len: u64,
    ids: Option<&'a [u64]>,
    indices: &'a [u32],
    values: &'a [T],
}

#[derive(serde::Deserialize)]
#[serde(rename = "Vector", expecting = "a vector", deny_unknown_fields, bound = "T: Deserialize<'de>")]
struct VectorIn<T> {
    len: u64,
    ids: Option<List<u64>>,
    indices: List<u32>,
    values: List<T>,
}

impl<T: Scalar + Serialize, S> Serialize for Matrix<T, S> {
    fn serialize<Z: Serializer>(&self, to: Z) -> Result<Z::Ok, Z::Error> {
        let a = self.csr_parts().map_err(Z::Error::custom)?;
        let (nrows, ncols, row_ids, column_ids) = (a.nrows(), a.ncols(), a.row_ids(), a.column_ids());
        let (offsets, indices, values) = (a.offsets(), a.indices(), a.values());
        MatrixOut { nrows, ncols, row_ids, column_ids, offsets, indices, values }.serialize(to)
    }
}

impl<'de, T: Scalar + Deserialize<'de>, S> Deserialize<'de> for Matrix<T, S> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let a = MatrixIn::<T>::deserialize(from)?;
        let parts = CsrParts {
            nrows: a.nrows,
            ncols: a.ncols,
            row_ids: a.row_ids.map(|ids| ids.0),
            column_ids: a.column_ids.map(|ids| ids.0),
            offsets: a.offsets.0,
            indices: a.indices.0,
            values: a.values.0,
        };
        Matrix::from_csr_parts(parts).map_err(D::Error::custom)
    }
}

impl<T: Scalar + Serialize, S> Serialize for Vector<T, S> {
    fn serialize<Z: Serializer>(&self, to: Z) -> Result<Z::Ok, Z::Error> {
        let x = self.csr_parts().map_err(Z::Error::custom)?;
        VectorOut { len: x.ncols(), ids: x.column_ids(), indices: x.indices(), values: x.values() }.serialize(to)
    }
}

impl<'de, T: Scalar + Deserialize<'de>, S> Deserialize<'de> for Vector<T, S> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let x = VectorIn::<T>::deserialize(from)?;
        let parts = VectorParts { len: x.len, ids: x.ids.map(|ids| ids.0), indices: x.indices.0, values: x.values.0 };
        Vector::from_parts(parts).map_err(D::Error::custom)
    }
}
