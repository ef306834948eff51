//! The values of a product whose positions are known: each row's sums are made where the row's columns say, in the order of
//! k as everywhere, and put in their places.
use super::accumulator::{Dense, Scratch, Table};
use super::analysis::OnMask;
use super::flat::Flat;
use super::job::Job;
use super::loops::Loops;
use super::need::Budget;
use crate::algebra::*;
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::parallel::{unwritten, written};
use crate::backend::cpu::rows::Rows;
use crate::backend::cpu::workers::{Parts, share_out};
use crate::backend::ring::Operators;
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;

/// Up to this many columns lie in cache.
const NEAR: usize = if cfg!(test) { 16 } else { 1 << 16 };
/// Rows with fewer entries than this part of their width are hashed.
const SPARSE: usize = if cfg!(test) { 2 } else { 64 };

/// How the sums of a row are made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// A row of B times one entry.
    Copy,
    /// A sum a column from the first to the last.
    Flat,
    /// A table.
    Table,
    /// A sum a column of C.
    Dense,
    /// The same, of the row's columns alone.
    Gated,
}

/// What the rows need together.
#[derive(Clone, Copy, Debug, Default)]
struct Demand {
    flat: usize,
    table: usize,
    dense: usize,
    gate: usize,
    longest: usize,
}

impl Demand {
    fn bytes(&self, value: usize) -> u64 {
        let dense = if self.dense > 0 { Dense::<u8>::bytes(self.dense, value) } else { 0 };
        let table = if self.table > 0 { Table::<u8>::bytes(self.table, value) + self.table * (4 + value) } else { 0 };
        let flat = if self.flat > 0 { Flat::<u8>::bytes(self.flat, value) } else { 0 };
        dense + (table + flat + self.gate.div_ceil(64) * 8) as u64
    }
}

fn way(a: &Pattern, mask: OnMask, c: &Pattern, i: usize, starts: bool) -> Option<Way> {
    let ([first, .., last] | [first @ last]) = c.row(i) else { return None };
    let width = (*last - *first) as usize + 1;
    Some(match mask {
        Some(_) => Way::Gated,
        None if a.range(i).len() == 1 => Way::Copy,
        None if width > NEAR && c.range(i).len() < width / SPARSE => Way::Table,
        None if starts => Way::Flat,
        None => Way::Dense,
    })
}

fn demand(a: &Pattern, mask: OnMask, c: &Pattern, starts: bool) -> Demand {
    let mut demand = Demand::default();
    for i in 0..c.nrows {
        let row = c.row(i);
        demand.longest = demand.longest.max(row.len());
        match way(a, mask, c, i, starts) {
            None | Some(Way::Copy) => {}
            Some(Way::Flat) => demand.flat = demand.flat.max((row[row.len() - 1] - row[0]) as usize + 1),
            Some(Way::Table) => demand.table = demand.table.max(row.len() + 1),
            Some(Way::Dense) => demand.dense = c.ncols,
            Some(Way::Gated) => (demand.dense, demand.gate) = (c.ncols, c.ncols),
        }
    }
    demand
}

/// The values of C, whose positions `c` are exactly those of the product. `taken`: bytes held already that count.
pub(crate) fn numeric<A: Scalar, B: Scalar, C: Scalar>(
    loops: &Loops<A, B, C>,
    operators: &Operators<A, B, C>,
    job: &Job<A, B>,
    c: &Pattern,
    taken: u64,
    budget: &Budget,
) -> Result<Vec<C>> {
    let (operation, start) = (job.operation, loops.start());
    let demand = demand(&job.a.pattern, job.mask, c, start.is_some());
    let each = demand.bytes(size_of::<C>());
    let base = taken.saturating_add((c.nnz() * size_of::<C>()) as u64);
    let least = (demand.longest.div_ceil(64) * 8) as u64;
    let fits = budget.fits(base.saturating_add(each));
    budget.check(operation, base.saturating_add(if fits { each } else { least }))?;
    let mut values = unwritten::<C>(operation, c.nnz())?;
    let to = Parts::of(&mut values);
    if !fits {
        let mut seen = memory::filled(operation, demand.longest.div_ceil(64), 0u64)?;
        for i in 0..c.nrows {
            // SAFETY: one thread, one row after the other.
            searched(operators, job, i, c.row(i), &mut seen, unsafe { to.part(c.range(i)) })?;
        }
    } else {
        let mut workers = memory::with_capacity(operation, budget.workers(operation, base, each)?)?;
        for _ in 0..workers.capacity().min(budget.threads.max(1)) {
            workers.push(Worker::new(operation, &demand, start)?);
        }
        share_out(&mut workers, c.nrows, &|worker, rows| {
            for i in rows {
                // SAFETY: each row has its part, and is handed out once.
                worker.row(loops, job, c, i, start, unsafe { to.part(c.range(i)) })?;
            }
            Ok(())
        })?;
    }
    // SAFETY: every row has written all of its part.
    Ok(unsafe { written(values, c.nnz()) })
}

/// Positions that are not the product's: a plan has compared them, `Way::Flat` relies on it.
fn mismatch(operation: &'static str) -> Error {
    Error::InvalidValue { operation, reason: "the positions given are not those of the product".into() }
}

/// A thread's accumulators, made before the rows come.
struct Worker<C> {
    scratch: Scratch<C>,
    row: Rows<C>,
}

impl<C: Scalar> Worker<C> {
    fn new(operation: &'static str, demand: &Demand, start: Option<C>) -> Result<Self> {
        let (mut scratch, mut row) = (Scratch::default(), Rows::default());
        if let Some(start) = start.filter(|_| demand.flat > 0) {
            scratch.flat.grow(operation, demand.flat, start)?;
        }
        if demand.table > 0 {
            scratch.table.grow(operation, demand.table)?;
            row.reserve(operation, demand.table)?;
        }
        if demand.dense > 0 {
            scratch.dense.grow(operation, demand.dense)?;
        }
        if demand.gate > 0 {
            scratch.gate.grow(operation, demand.gate)?;
        }
        Ok(Self { scratch, row })
    }

    fn row<A: Scalar, B: Scalar>(
        &mut self,
        loops: &Loops<A, B, C>,
        job: &Job<A, B>,
        c: &Pattern,
        i: usize,
        start: Option<C>,
        to: &mut [MaybeUninit<C>],
    ) -> Result<()> {
        let (operation, columns) = (job.operation, c.row(i));
        let Some(way) = way(&job.a.pattern, job.mask, c, i, start.is_some()) else { return Ok(()) };
        let block = Block { rows: i..i + 1, columns: 0..c.ncols as u32, whole: true };
        let Worker { scratch, row } = self;
        match (way, start) {
            (Way::Copy, _) => {
                let run = job.run(&block, i, job.a.pattern.range(i).start);
                if run.columns.len() != to.len() {
                    return Err(mismatch(operation));
                }
                loops.copied(&run, to);
                Ok(())
            }
            (Way::Flat, Some(start)) => {
                loops.flat(job, &block, i, columns[0], &mut scratch.flat);
                scratch.flat.take_listed(columns, start, to);
                Ok(())
            }
            (Way::Table, _) => {
                // Room for one more, which no product takes.
                scratch.table.grow(operation, columns.len() + 1)?;
                loops.hashed(job, &block, i, &mut scratch.table);
                row.clear();
                scratch.table.drain(operation, row)?;
                if row.indices != columns {
                    return Err(mismatch(operation));
                }
                to.iter_mut().zip(&row.values).for_each(|(z, v)| *z = MaybeUninit::new(*v));
                Ok(())
            }
            (Way::Gated, _) => {
                columns.iter().for_each(|j| scratch.gate.set(*j));
                loops.scattered(job, &block, i, scratch, true);
                columns.iter().for_each(|j| scratch.gate.clear_word(*j));
                if scratch.dense.take_listed(columns, to) { Ok(()) } else { Err(mismatch(operation)) }
            }
            _ => {
                loops.scattered(job, &block, i, scratch, false);
                if scratch.dense.take_listed(columns, to) { Ok(()) } else { Err(mismatch(operation)) }
            }
        }
    }
}

/// The sums of one row, each product's place searched for: no memory but a bit an entry.
fn searched<A: Scalar, B: Scalar, C: Scalar>(
    operators: &Operators<A, B, C>,
    job: &Job<A, B>,
    i: usize,
    columns: &[u32],
    seen: &mut [u64],
    to: &mut [MaybeUninit<C>],
) -> Result<()> {
    let mut found = 0;
    for e in job.a.pattern.range(i) {
        let (k, x) = (job.a.pattern.indices[e] as usize, job.a.values[e]);
        let (row, values) = job.b.row(k);
        let mut from = 0;
        for (j, y) in row.iter().zip(values) {
            from += crate::backend::cpu::structure::ascending::below(&columns[from..], *j);
            if columns.get(from) != Some(j) {
                continue;
            }
            let place = super::job::placed_for(operators.reads, job.at, i, k, *j as usize);
            let product = (operators.multiply)(x, *y, place);
            let (word, bit) = (&mut seen[from >> 6], 1 << (from & 63));
            to[from] = MaybeUninit::new(match *word & bit != 0 {
                // SAFETY: a place that was seen has a value.
                true => (operators.add)(unsafe { to[from].assume_init() }, product),
                false => product,
            });
            found += u64::from(*word & bit == 0);
            *word |= bit;
        }
    }
    seen[..columns.len().div_ceil(64)].fill(0);
    if found == columns.len() as u64 { Ok(()) } else { Err(mismatch(job.operation)) }
}
