//! What `Debug` shows of things that hold many: how many there are and the first of them.
use std::fmt::{Debug, Formatter, Result};

/// Elements that are shown.
const SHOWN: usize = 8;

/// The first of some elements, as a list.
pub(crate) fn first<I: ExactSizeIterator<Item: Debug>>(f: &mut Formatter<'_>, mut all: I) -> Result {
    let mut list = f.debug_list();
    list.entries(all.by_ref().take(SHOWN));
    if all.len() > 0 {
        list.entry(&format_args!("…"));
    }
    list.finish()
}

/// The first of some elements, and how many there are where not all are shown.
pub(crate) struct Few<'a, T>(pub(crate) &'a [T]);

impl<T: Debug> Debug for Few<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.0.len() > SHOWN {
            write!(f, "{} of ", self.0.len())?;
        }
        first(f, self.0.iter())
    }
}

/// "m×n", or "of length n" of a vector, which is stored as a row.
pub(crate) struct Shape(pub(crate) (u64, u64), pub(crate) bool);

impl Debug for Shape {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self((rows, cols), vector) = self;
        if *vector { write!(f, "of length {cols}") } else { write!(f, "{rows}×{cols}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_shown_and_all_are_counted() {
        assert_eq!(format!("{:?}", Few(&[1, 2, 3])), "[1, 2, 3]");
        let many: Vec<u32> = (0..1000).collect();
        assert_eq!(format!("{:?}", Few(&many)), "1000 of [0, 1, 2, 3, 4, 5, 6, 7, …]");
    }
}
