//! Values and positions as matrices and vectors hold them.
use super::spare;
use crate::algebra::Scalar;
use crate::algebra::scalar::as_bytes;
use crate::shown::Few;
use std::fmt::{Debug, Formatter};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// A vector whose room is kept for the next one when it is dropped.
pub(crate) struct Buffer<T> {
    all: Vec<T>,
    /// 0 where nobody has asked since somebody could last write.
    state: AtomicU64,
    /// Whether all are one value: one of the three below.
    uniform: AtomicU8,
}
const UNKNOWN: u8 = 0;
const UNIFORM: u8 = 1;
const DIFFERENT: u8 = 2;

impl<T: Scalar> Buffer<T> {
    /// The value that all are, bit for bit. Looked at once until somebody can write.
    pub(crate) fn uniform(&self) -> Option<T> {
        let value = *self.all.first()?;
        let known = match self.uniform.load(Ordering::Relaxed) {
            UNKNOWN => {
                let bytes = as_bytes(&self.all);
                let same = bytes[..bytes.len() - size_of::<T>()] == bytes[size_of::<T>()..];
                let found = if same { UNIFORM } else { DIFFERENT };
                self.uniform.store(found, Ordering::Relaxed);
                found
            }
            known => known,
        };
        (known == UNIFORM).then_some(value)
    }
}
impl<T> Buffer<T> {
    /// A number that no other values in this process have, nor these once somebody could write to them.
    pub(crate) fn state(&self) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        match self.state.load(Ordering::Relaxed) {
            0 => {
                let next = NEXT.fetch_add(1, Ordering::Relaxed);
                self.state
                    .compare_exchange(0, next, Ordering::Relaxed, Ordering::Relaxed)
                    .map_or_else(|known| known, |_| next)
            }
            known => known,
        }
    }
    /// The vector, for somebody who does not know how much room it has.
    pub(crate) fn into_vec(mut self) -> Vec<T> {
        let mut v = std::mem::take(&mut self.all);
        if v.capacity() > v.len() + v.len() / 8 {
            v.shrink_to_fit();
        }
        v
    }
}
impl<T: Debug> Debug for Buffer<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        Few(&self.all).fmt(f)
    }
}
impl<T> Drop for Buffer<T> {
    #[inline]
    fn drop(&mut self) {
        if self.all.capacity() >= spare::LEAST / size_of::<T>().max(1) {
            spare::keep(std::mem::take(&mut self.all));
        }
    }
}
impl<T> Default for Buffer<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}
impl<T> From<Vec<T>> for Buffer<T> {
    fn from(all: Vec<T>) -> Self {
        Self { all, state: AtomicU64::new(0), uniform: AtomicU8::new(UNKNOWN) }
    }
}
impl<T: Clone> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        self.all.clone().into()
    }
}
impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}
impl<T: Eq> Eq for Buffer<T> {}
impl<T> Deref for Buffer<T> {
    type Target = Vec<T>;
    #[inline(always)]
    fn deref(&self) -> &Vec<T> {
        &self.all
    }
}
impl<T> DerefMut for Buffer<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        (*self.state.get_mut(), *self.uniform.get_mut()) = (0, UNKNOWN);
        &mut self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_for_others_has_no_hidden_room() {
        let mut v = Vec::<u32>::with_capacity(1 << 20);
        v.push(7);
        let v = Buffer::from(v).into_vec();
        assert_eq!(v, [7]);
        assert!(v.capacity() < 1000);
    }

    #[test]
    fn a_state_ends_with_a_chance_to_write() {
        let mut values: Buffer<u8> = vec![1, 2].into();
        let first = values.state();
        assert_eq!((first != 0, values.state(), values.len()), (true, first, 2));
        let copy = values.clone();
        assert!(copy.state() != first && copy == values);
        values[0] = 1;
        assert!(values.state() != first && copy == values);
    }

    #[test]
    fn one_value_is_known_until_somebody_can_write() {
        let mut values: Buffer<f64> = vec![0.0; 3].into();
        assert_eq!((values.uniform(), values.uniform()), (Some(0.0), Some(0.0)));
        let copy = values.clone();
        values[2] = -0.0;
        assert_eq!((values.uniform(), values.uniform(), copy.uniform()), (None, None, Some(0.0)));
        values[2] = 0.0;
        assert_eq!(values.uniform(), Some(0.0));
        values.clear();
        assert_eq!(values.uniform(), None);
        assert_eq!(Buffer::from(vec![true]).uniform(), Some(true));
    }
}
