//! `.npz` files of `scipy.sparse.save_npz`: formats csr, csc and coo, indices of any integer type, compressed or not.
//!
//! What SciPy writes is read: rows that are not sorted are sorted, compressed columns are transposed, either byte order.
//! The type of values has to be that of the file, [`cast`](crate::operation::cast) converts: `bool`, `i8` to `i64`, `u8` to
//! `u64`, `f32`, `f64`, `c32`, `c64`, `f16`. SciPy adds values of one position up; here [`read`] takes none and [`read_coo`] keeps them for
//! [`Matrix::build_with`](crate::container::Matrix::build_with). What is written, `load_npz` gives back as csr, or as coo
//! where the matrix is hypersparse.
//!
//! A stored 0 is an entry, written and read as one. SciPy keeps it in a file, but many of its operations and other libraries drop it
//! (`eliminate_zeros`, comparisons, sums that are 0): what has been through them may have fewer entries.
//!
//! Of a file no more is unpacked than its arrays claim, and they have to agree with each other first. Archives that claim more than
//! 256 members are refused; SciPy's have up to six.
mod array;
mod dtype;
mod end;
mod reader;
mod writer;

pub use reader::{read, read_coo};
pub use writer::{write, write_uncompressed};
