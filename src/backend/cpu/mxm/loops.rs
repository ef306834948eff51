//! The inner loops of mxm and vxm over the products of one row, compiled for each semiring.
use super::accumulator::{Scratch, Table};
use super::flat::Flat;
use super::job::{Job, Run, at, read};
use super::pick::Picked;
use super::tiny::{Listed, add_listed};
use crate::algebra::*;
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::neutral::neutral;
use std::mem::MaybeUninit;

/// The loops over the products of one row, compiled for one semiring.
#[derive(Debug)]
pub(crate) struct Loops<A, B, C> {
    pub(crate) neutral: fn() -> Option<(C, bool)>,
    pub(crate) add: fn(C, C) -> C,
    pub(crate) dense: fn(&Job<A, B>, &Block, usize, &mut Scratch<C>, bool) -> bool,
    pub(crate) gated: fn(&Job<A, B>, &Block, usize, &mut Scratch<C>, bool) -> bool,
    pub(crate) close: fn(&Job<A, B>, &Block, usize, u32, &mut Flat<C>),
    pub(crate) far: fn(&Job<A, B>, &Block, usize, u32, &mut Flat<C>),
    pub(crate) picked: fn(&Job<A, B>, usize, &Picked, &mut Flat<C>),
    /// Not where it matters where a product stands.
    pub(crate) listed: Option<unsafe fn(&Job<A, B>, &Listed, &mut [MaybeUninit<C>])>,
    pub(crate) hash: fn(&Job<A, B>, &Block, usize, &mut Table<C>),
    pub(crate) multiples: fn(&Run<A, B>, &mut [MaybeUninit<C>]),
    pub(crate) add_multiples: unsafe fn(&Run<A, B>, &mut [MaybeUninit<C>]),
}
impl<A: Scalar, B: Scalar, C: Scalar> Loops<A, B, C> {
    pub(crate) const fn of<S: Semiring<A, B, Out = C>>() -> Self {
        Loops {
            neutral: neutral::<C, S::Add>,
            add: S::Add::apply,
            dense: dense::<A, B, S, false>,
            gated: dense::<A, B, S, true>,
            close: close::<A, B, S, false>,
            far: close::<A, B, S, true>,
            picked: add_picked::<A, B, S>,
            listed: if S::Multiply::READS.position { None } else { Some(add_listed::<A, B, S>) },
            hash: hash::<A, B, S>,
            multiples: multiples::<A, B, S>,
            add_multiples: add_multiples::<A, B, S>,
        }
    }
    /// The value that sums can start from, where there is one.
    pub(crate) fn start(&self) -> Option<C> {
        (self.neutral)().map(|(start, _)| start)
    }
    /// Whether rows of few products can be done many at a time.
    pub(crate) fn lists(&self) -> bool {
        self.listed.is_some()
    }
    /// A run times its entry of A.
    pub(crate) fn copied(&self, run: &Run<A, B>, to: &mut [MaybeUninit<C>]) {
        (self.multiples)(run, to);
    }
    /// The sums of a row, from column `first` on: it has none before, and none behind the room that was made.
    pub(crate) fn flat(&self, job: &Job<A, B>, block: &Block, i: usize, first: u32, flat: &mut Flat<C>) {
        (self.close)(job, block, i, first, flat);
    }
    /// The sums of a row of no more columns than the table has room for.
    pub(crate) fn hashed(&self, job: &Job<A, B>, block: &Block, i: usize, table: &mut Table<C>) {
        (self.hash)(job, block, i, table);
    }
    /// The sums of a row, with `gated` of the columns set in the gate alone.
    pub(crate) fn scattered(&self, job: &Job<A, B>, block: &Block, i: usize, scratch: &mut Scratch<C>, gated: bool) {
        let sum = if gated { self.gated } else { self.dense };
        sum(job, block, i, scratch, gated);
    }
}

/// z = x ⊗ y along a run.
fn multiples<A: Scalar, B: Scalar, S: Semiring<A, B>>(run: &Run<A, B>, to: &mut [MaybeUninit<S::Out>]) {
    for ((z, y), j) in to.iter_mut().zip(run.values).zip(run.columns) {
        *z = MaybeUninit::new(run.product::<S>(*y, *j));
    }
}

/// z = z ⊕ x ⊗ y along a run.
/// # Safety
/// Every z has a value.
unsafe fn add_multiples<A: Scalar, B: Scalar, S: Semiring<A, B>>(run: &Run<A, B>, to: &mut [MaybeUninit<S::Out>]) {
    for ((z, y), j) in to.iter_mut().zip(run.values).zip(run.columns) {
        // SAFETY: the contract.
        *z = MaybeUninit::new(S::Add::apply(unsafe { z.assume_init() }, run.product::<S>(*y, *j)));
    }
}

/// Adds products that were found.
fn add_picked<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    job: &Job<A, B>,
    i: usize,
    picked: &Picked,
    flat: &mut Flat<S::Out>,
) {
    let (a, b, first, flat) = (&job.a_rows, &job.b_rows, job.a.pattern.range(i).start, flat.open());
    for (entry, place) in picked.found() {
        // SAFETY: entries of A's row and places in the row of B that they meet, which lie within all arrays as `Job::new`
        // asserted; columns are below ncols, for which there is room.
        unsafe {
            let e = first + entry as usize;
            let (k, x) = (read(a.columns, e) as usize, read(a.values, e));
            let f = read(b.offsets, k) as usize + place as usize;
            let (j, y) = (read(b.columns, f) as usize, read(b.values, f));
            flat.add(j, S::Multiply::multiply(x, y, at::<A, B, S>(job.at, i, k, j)), S::Add::apply);
        }
    }
}

/// Whether there was a product.
fn dense<A: Scalar, B: Scalar, S: Semiring<A, B>, const GATED: bool>(
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    scratch: &mut Scratch<S::Out>,
    admitted: bool,
) -> bool {
    let mut met = false;
    for e in job.entries(block, i) {
        let run = job.run(block, i, e);
        for (j, y) in run.columns.iter().zip(run.values) {
            if GATED && scratch.gate.get(*j) != admitted {
                continue;
            }
            let product = run.product::<S>(*y, *j);
            // SAFETY: columns are below ncols in every pattern, and the accumulator was grown to ncols.
            unsafe { scratch.dense.add(*j, product, S::Add::apply) };
            met = true;
        }
    }
    met
}

/// Products from the column `first` on, close together or far apart.
fn close<A: Scalar, B: Scalar, S: Semiring<A, B>, const FAR: bool>(
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    first: u32,
    flat: &mut Flat<S::Out>,
) {
    let flat = flat.open();
    for e in job.entries(block, i) {
        let run = job.run(block, i, e);
        for (j, y) in run.columns.iter().zip(run.values) {
            let product = run.product::<S>(*y, *j);
            // SAFETY: the survey's first and last column enclose all others, and room for what is between was made.
            unsafe {
                match FAR {
                    true => flat.add_far((*j - first) as usize, product, S::Add::apply),
                    false => flat.add((*j - first) as usize, product, S::Add::apply),
                }
            }
        }
    }
}

fn hash<A: Scalar, B: Scalar, S: Semiring<A, B>>(job: &Job<A, B>, block: &Block, i: usize, table: &mut Table<S::Out>) {
    for e in job.entries(block, i) {
        let run = job.run(block, i, e);
        for (j, y) in run.columns.iter().zip(run.values) {
            let product = run.product::<S>(*y, *j);
            // SAFETY: the table was grown for as many columns as there are products.
            unsafe { table.add(*j, product, S::Add::apply) };
        }
    }
}
