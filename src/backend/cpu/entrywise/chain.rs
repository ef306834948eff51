//! Element-wise operations one after the other in one pass: a block of rows goes through all of them before the next.
use super::merge::{entry_blocks, meet, meet_both};
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::cpu::assemble::assemble;
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::rows::Rows;
use crate::backend::cpu::structure::ascending::{below, filter};
use crate::backend::ends::End;
use crate::backend::host::HostCsr;
use crate::backend::{MaskOn, Positions};
use crate::error::Result;
use crate::storage::pattern::Pattern;
use std::sync::Arc;

/// What is made of two rows.
pub(crate) type Merge<A, B, T> =
    Arc<dyn Fn(&'static str, (&[u32], &[A]), (&[u32], &[B]), &mut Rows<T>) -> Result<()> + Send + Sync>;

/// Entries of either, F where both are.
pub(crate) fn either<T: Scalar, F: BinaryOp<T, T, Out = T>>() -> Merge<T, T, T> {
    Arc::new(|operation, a, b, rows| {
        meet(operation, a, b, rows, |_, x, y| match (x, y) {
            (Some(x), Some(y)) => Some(F::apply(x, y)),
            (x, y) => x.or(y),
        })
    })
}
/// F where either is, of these where one is not.
pub(crate) fn filled<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(alpha: A, beta: B) -> Merge<A, B, F::Out> {
    Arc::new(move |operation, a, b, rows| {
        meet(operation, a, b, rows, |_, x, y| Some(F::apply(x.unwrap_or(alpha), y.unwrap_or(beta))))
    })
}
/// F where both are.
pub(crate) fn both<A: Scalar, B: Scalar, F: BinaryOp<A, B>>() -> Merge<A, B, F::Out> {
    Arc::new(meet_both::<A, B, F>)
}

/// Rows that are there, or are made a block at a time.
pub(crate) enum Source<T> {
    There(HostCsr<T>),
    Made(Box<dyn Making<T>>),
}
impl<T> std::fmt::Debug for Source<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("rows")
    }
}

pub(crate) trait Making<T>: Send + Sync {
    /// Appends the rows of a block.
    fn rows(&self, operation: &'static str, block: &Block, to: &mut Rows<T>) -> Result<()>;
    /// The patterns that tell the work.
    fn patterns(&self, each: &mut dyn FnMut(&Arc<Pattern>));
    fn whole_rows(&self) -> bool;
}

impl<T: Scalar> Source<T> {
    pub(crate) fn patterns(&self, each: &mut dyn FnMut(&Arc<Pattern>)) {
        match self {
            Source::There(list) => each(&list.pattern),
            Source::Made(making) => making.patterns(each),
        }
    }
    fn whole_rows(&self) -> bool {
        if let Source::Made(making) = self { making.whole_rows() } else { false }
    }
    /// The rows of a block, made in `room` where they are not there.
    fn view<'a>(&'a self, operation: &'static str, block: &'a Block, room: &'a mut Rows<T>) -> Result<View<'a, T>> {
        match self {
            Source::There(list) => Ok(View::There(list, block)),
            Source::Made(making) => {
                making.rows(operation, block, room)?;
                Ok(View::Made(room, block.rows.start))
            }
        }
    }
}

enum View<'a, T> {
    There(&'a HostCsr<T>, &'a Block),
    Made(&'a Rows<T>, usize),
}
impl<T> View<'_, T> {
    fn row(&self, r: usize) -> (&[u32], &[T]) {
        match self {
            View::There(list, block) => super::merge::part(list, block, r),
            View::Made(rows, first) => {
                let before = (r - first).checked_sub(1).map_or(0, |before| rows.ends[before] as usize);
                let range = before..rows.ends[r - first] as usize;
                (&rows.indices[range.clone()], &rows.values[range])
            }
        }
    }
}

/// Rows that are there, for a step that is given made ones.
pub(crate) struct There<T>(pub(crate) HostCsr<T>);
impl<T: Scalar> Making<T> for There<T> {
    fn rows(&self, operation: &'static str, block: &Block, to: &mut Rows<T>) -> Result<()> {
        to.reserve_rows(operation, block.rows.len())?;
        for r in block.rows.clone() {
            let (columns, values) = super::merge::part(&self.0, block, r);
            to.reserve(operation, columns.len())?;
            to.indices.extend_from_slice(columns);
            to.values.extend_from_slice(values);
            to.end_row();
        }
        Ok(())
    }
    fn patterns(&self, each: &mut dyn FnMut(&Arc<Pattern>)) {
        each(&self.0.pattern);
    }
    fn whole_rows(&self) -> bool {
        false
    }
}

/// Two merged.
pub(crate) struct Merging<A, B, T> {
    pub(crate) a: Source<A>,
    pub(crate) b: Source<B>,
    pub(crate) merge: Merge<A, B, T>,
}
impl<A: Scalar, B: Scalar, T: Scalar> Making<T> for Merging<A, B, T> {
    fn rows(&self, operation: &'static str, block: &Block, to: &mut Rows<T>) -> Result<()> {
        let (mut x, mut y) = (Rows::default(), Rows::default());
        let (a, b) = (self.a.view(operation, block, &mut x)?, self.b.view(operation, block, &mut y)?);
        to.reserve_rows(operation, block.rows.len())?;
        block.rows.clone().try_for_each(|r| (self.merge)(operation, a.row(r), b.row(r), to))
    }
    fn patterns(&self, each: &mut dyn FnMut(&Arc<Pattern>)) {
        self.a.patterns(each);
        self.b.patterns(each);
    }
    fn whole_rows(&self) -> bool {
        self.a.whole_rows() || self.b.whole_rows()
    }
}

/// A step after another.
pub(crate) struct Ending<C, T> {
    pub(crate) from: Box<dyn Making<C>>,
    pub(crate) end: Arc<dyn End<C, T>>,
    pub(crate) at: Positions,
}
impl<C: Scalar, T: Scalar> Making<T> for Ending<C, T> {
    fn rows(&self, operation: &'static str, block: &Block, to: &mut Rows<T>) -> Result<()> {
        let mut from = Rows::default();
        self.from.rows(operation, block, &mut from)?;
        self.end.rows(operation, block.rows.start, &self.at, &from, to)
    }
    fn patterns(&self, each: &mut dyn FnMut(&Arc<Pattern>)) {
        self.from.patterns(each);
    }
    fn whole_rows(&self) -> bool {
        self.from.whole_rows() || self.end.whole_rows()
    }
}

/// What a mask admits of another.
pub(crate) struct Admitting<T> {
    pub(crate) from: Box<dyn Making<T>>,
    pub(crate) mask: MaskOn<Arc<Pattern>>,
}
impl<T: Scalar> Making<T> for Admitting<T> {
    fn rows(&self, operation: &'static str, block: &Block, to: &mut Rows<T>) -> Result<()> {
        let mut from = Rows::default();
        self.from.rows(operation, block, &mut from)?;
        to.reserve(operation, from.indices.len())?;
        to.reserve_rows(operation, block.rows.len())?;
        let view = View::Made(&from, block.rows.start);
        for r in block.rows.clone() {
            let ((columns, values), start) = (view.row(r), to.indices.len());
            to.indices.extend_from_slice(columns);
            to.values.extend_from_slice(values);
            let mask = &self.mask.pattern.indices[block.range(&self.mask.pattern, r)];
            filter(to, start, &mask[below(mask, block.columns.start)..], self.mask.complement);
            to.end_row();
        }
        Ok(())
    }
    fn patterns(&self, each: &mut dyn FnMut(&Arc<Pattern>)) {
        self.from.patterns(each);
    }
    fn whole_rows(&self) -> bool {
        self.from.whole_rows()
    }
}

/// All of it.
pub(crate) fn chained<T: Scalar>(operation: &'static str, making: &dyn Making<T>) -> Result<HostCsr<T>> {
    let mut patterns = Vec::new();
    making.patterns(&mut |p| patterns.push(p.clone()));
    let patterns: Vec<&Pattern> = patterns.iter().map(|p| &**p).collect();
    let (shape, bound) =
        (patterns.first().map_or((0, 0), |p| (p.nrows, p.ncols)), patterns.iter().map(|p| p.nnz() as u64).sum::<u64>());
    let mut blocks = entry_blocks(operation, &patterns)?;
    if making.whole_rows() {
        crate::backend::cpu::mxm::ended::uncut(&mut blocks);
    }
    let kernel = |block: &Block, to: &mut Rows<T>, _: &mut ()| making.rows(operation, block, to);
    assemble::<T, ()>(operation, shape, bound, &blocks, &kernel)
}
