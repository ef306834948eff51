//! How vectors are made and looked at.
use super::full::full_row;
use super::{Vector, built, element, entries};
use crate::algebra::{BinaryOp, First, Scalar};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::format::filled;
use crate::storage::{
    axis::{Axis, counted},
    store::{Store, axes_for},
};

impl<T: Scalar, S> Vector<T, S> {
    /// x(i) = nothing for all i < n, on the CPU. O(1).
    ///
    /// # Errors
    /// `OutOfMemory`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<f64> = Vector::new(1 << 40)?;
    /// assert_eq!((x.len(), x.nvals()), (1 << 40, 0));
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Vector_new", "zeros"))]
    pub fn new(n: u64) -> Result<Self> {
        Store::empty("new", 1, n, Device::Cpu).map(Self::of)
    }
    /// x(i) = v for each (i, v), in any order; the same index twice is an error. O(e) where they ascend, else O(e log e).
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `DuplicateIndex`, `OutOfMemory`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut x: Vector<f64> = Vector::new(3)?;
    /// assert_eq!(x.nvals(), 0);
    /// x = Vector::build(3, &[(2, 2.0), (0, 1.5)])?;
    /// assert_eq!((x.entries()?, x.get(1)?), (vec![(0, 1.5), (2, 2.0)], None));
    /// assert!(Vector::<f64>::build(3, &[(3, 1.0)]).is_err());
    /// # Ok(()) }
    /// ```
    #[doc(alias = "GrB_Vector_build")]
    pub fn build(n: u64, entries: &[(u64, T)]) -> Result<Self> {
        let operation = "build";
        let (rows, indices, values) = split_vector(operation, entries)?;
        let made = built::<T, First>(operation, axes_for((1, n), 0), (&rows, &indices, &values), true, Device::Cpu);
        made.map(Self::of).map_err(Error::of_elements)
    }
    /// x(i) = v₁ ⊕ v₂ ⊕ …, the values given for i folded by `fold` = ⊕ in input order. O(e log e) at most.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `OutOfMemory`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<i32> = Vector::build_with(3, &[(2, 5), (0, 1), (2, 3)], Minus)?;
    /// assert_eq!(x.entries()?, [(0, 1), (2, 2)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias = "GrB_Vector_build")]
    pub fn build_with<F: BinaryOp<T, T, Out = T>>(n: u64, entries: &[(u64, T)], fold: F) -> Result<Self> {
        Self::folded("build_with", n, entries, fold, &Device::Cpu)
    }
    /// x(i) = ⊕ of the values given for i, in their order, as [`build_with`](Self::build_with), in the memory of `device` and by its
    /// kernels: a stable sort by the digits of indices on CUDA.
    /// O(e log e) at most; the same bits on every device.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `OutOfMemory`, `Unavailable`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let device = Device::best();
    /// let x: Vector<f64> = Vector::build_on(3, &[(2, 0.5), (0, 1.0), (2, 0.25)], Plus, &device)?;
    /// assert_eq!((x.device(), x.entries()?), (device, vec![(0, 1.0), (2, 0.75)]));
    /// # Ok(()) }
    /// ```
    pub fn build_on<F: BinaryOp<T, T, Out = T>>(
        n: u64,
        entries: &[(u64, T)],
        fold: F,
        device: &Device,
    ) -> Result<Self> {
        Self::folded("build_on", n, entries, fold, device)
    }
    fn folded<F: BinaryOp<T, T, Out = T>>(
        operation: &'static str,
        n: u64,
        entries: &[(u64, T)],
        _fold: F,
        device: &Device,
    ) -> Result<Self> {
        let (rows, indices, values) = split_vector(operation, entries)?;
        let made = built::<T, F>(operation, axes_for((1, n), 0), (&rows, &indices, &values), false, *device);
        made.map(Self::of).map_err(Error::of_elements)
    }
    /// x(i) = value at each of these indices, given in any order and counted once: it is stored once. O(e log e) in the worst case.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `OutOfMemory`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let sources: Vector<bool> = Vector::from_pattern(5, &[4, 0, 4], true)?;
    /// assert!(sources.is_iso());
    /// assert_eq!(sources.entries()?, [(0, true), (4, true)]);
    /// # Ok(()) }
    /// ```
    pub fn from_pattern(n: u64, indices: &[u64], value: T) -> Result<Self> {
        let operation = "from_pattern";
        let rows = crate::memory::zeroed(operation, indices.len())?;
        let marks = crate::memory::zeroed(operation, indices.len())?;
        let marks = built::<u8, First>(operation, axes_for((1, n), 0), (&rows, indices, &marks), false, Device::Cpu);
        filled(&marks.map_err(Error::of_elements)?, value).map(Self::of)
    }
    /// x(i) = value at every index i < n. O(n).
    ///
    /// # Errors
    /// `IndexOverflow` from 2³² on; `OutOfMemory`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// assert_eq!(Vector::<f64>::full(2, 0.5)?.entries()?, [(0, 0.5), (1, 0.5)]);
    /// # Ok(()) }
    /// ```
    pub fn full(n: u64, value: T) -> Result<Self> {
        let operation = "full";
        let places = counted(operation, "length", n)?;
        let pattern = full_row(operation, places)?;
        let values = crate::memory::filled(operation, places as usize, value)?;
        Ok(Self::of(Store::host(Axis::Full(1), Axis::Full(places), pattern, values, Device::Cpu)))
    }
    /// Its length, entries or not.
    #[doc(alias("GrB_Vector_size", "size"))]
    pub fn len(&self) -> u64 {
        self.store.cols.n()
    }
    /// Whether its length is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// All (i, v) where x(i) = v, ascending. O(nnz), O(n) of a bitmap; downloaded from a device.
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<i32> = Vector::build(3, &[(2, 5), (0, 0)])?;
    /// assert_eq!(x.entries()?, [(0, 0), (2, 5)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Vector_extractTuples", "find"))]
    pub fn entries(&self) -> Result<Vec<(u64, T)>> {
        Ok(entries(&self.store)?.into_iter().map(|(_, j, v)| (j, v)).collect())
    }
    /// v = x(index), `None` where there is no entry. O(log nnz), O(1) of a bitmap or full vector; on CUDA the host waits for it.
    ///
    /// # Errors
    /// `IndexOutOfBounds`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<i32> = Vector::build(3, &[(2, 5)])?;
    /// assert_eq!((x.get(2)?, x.get(0)?, x.get(3).is_err()), (Some(5), None, true));
    /// # Ok(()) }
    /// ```
    #[doc(alias = "GrB_Vector_extractElement")]
    #[inline]
    pub fn get(&self, index: u64) -> Result<Option<T>> {
        element(&self.store, 0, index).map_err(Error::of_elements)
    }
}

type Arrays<T> = (Vec<u64>, Vec<u64>, Vec<T>);

fn split_vector<T: Scalar>(operation: &'static str, entries: &[(u64, T)]) -> Result<Arrays<T>> {
    let mut indices = crate::memory::with_capacity(operation, entries.len())?;
    indices.extend(entries.iter().map(|e| e.0));
    let mut values = crate::memory::with_capacity(operation, entries.len())?;
    values.extend(entries.iter().map(|e| e.1));
    Ok((crate::memory::filled(operation, entries.len(), 0)?, indices, values))
}
