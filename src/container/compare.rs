//! Containers compared and shown: what is in them, not how it is stored.
use super::{Matrix, Vector};
use crate::algebra::Scalar;
use crate::device::Device;
use crate::error::Result;
use crate::iterate::Iter;
use crate::shown::first;
use crate::storage::store::Store;
use std::fmt::{Debug, Formatter};

fn equal<T: Scalar>(a: &Store<T>, b: &Store<T>) -> Result<bool> {
    if a.shape() != b.shape() || a.nvals() != b.nvals() {
        return Ok(false);
    }
    Ok(Iter::of("equals", a)?.eq(Iter::of("equals", b)?))
}

/// The first entries: `part` says of each what is shown.
struct First<'a, T, P>(&'a Store<T>, fn((u64, u64, T)) -> P);

impl<T: Scalar, P: Debug> Debug for First<'_, T, P> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        // All of them are downloaded to see the first.
        const DOWNLOADED: u64 = 1 << 12;
        if matches!(self.0.device, Device::Cuda(_)) && self.0.nvals() > DOWNLOADED {
            return f.write_str("[…]");
        }
        let all = match Iter::of("fmt", self.0) {
            Ok(all) => all,
            Err(e) => return write!(f, "[{e}]"),
        };
        first(f, all.map(self.1))
    }
}

macro_rules! compared {
    ($name:ident $label:literal |$it:ident| $shape:expr, $entry:expr) => {
        /// The same shape and the same entries, whatever the format and the device. O(m + nnz), after a download from CUDA.
        /// Where entries cannot be read (`OutOfMemory`, on CUDA `Driver`) it is `false`: nobody knows that they are equal;
        /// [`equals`](Self::equals) gives the error.
        impl<T: Scalar, S> PartialEq for $name<T, S> {
            fn eq(&self, other: &Self) -> bool {
                equal(&self.store, &other.store).unwrap_or(false)
            }
        }
        impl<T: Scalar, S> $name<T, S> {
            /// Whether A = B: shape and entries are the same, whatever the semiring, the format and the device; values by their
            /// `PartialEq`: NaN equals nothing. O(m + nnz), after a download from CUDA.
            ///
            /// # Errors
            /// `OutOfMemory`; on CUDA `Driver`.
            /// ```
            /// use oplus::prelude::*;
            /// # fn main() -> oplus::Result<()> {
            /// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 3)])?;
            /// assert!(a.equals(&a.to_format(Format::Csc)?)?);
            /// let x: Vector<i32> = Vector::build(2, &[(1, 3)])?;
            /// assert!(!x.equals(&Vector::<i32>::new(2)?)?);
            /// # Ok(()) }
            /// ```
            #[doc(alias = "isequal")]
            pub fn equals<R>(&self, other: &$name<T, R>) -> Result<bool> {
                equal(&self.store, &other.store)
            }
        }
        /// Scalar, shape, number of entries, format, device and the first entries.
        impl<T: Scalar, S> Debug for $name<T, S> {
            fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
                let ($it, format) = (self, self.format());
                write!(f, concat!($label, "<{}> "), T::TEXT.name)?;
                write!(f, "{}, {} entries, {format:?} on {}: ", $shape, self.nvals(), self.device())?;
                First(&self.store, $entry).fmt(f)
            }
        }
    };
}
compared!(Matrix "Matrix" |a| format_args!("{}×{}", a.nrows(), a.ncols()), |e| e);
compared!(Vector "Vector" |x| format_args!("of length {}", x.len()), |(_, j, v)| (j, v));
