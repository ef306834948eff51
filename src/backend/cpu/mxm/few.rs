//! A row of few products that lie apart: they are listed, put in order by column, and summed one behind the other.
use super::job::Job;
use super::keys::sort;
use super::loops::Loops;
use crate::algebra::Scalar;
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::rows::Rows;
use crate::error::Result;
use crate::memory;

/// Products of a row, and a column and a place for each.
#[derive(Debug)]
pub(crate) struct Few<T> {
    keys: Vec<u64>,
    spare: Vec<u64>,
    products: Vec<T>,
}
impl<T> Default for Few<T> {
    fn default() -> Self {
        Self { keys: Vec::new(), spare: Vec::new(), products: Vec::new() }
    }
}

/// At most so many products that lie apart: sorted by column, in each in the order of k.
pub(crate) fn few<A: Scalar, B: Scalar, C: Scalar>(
    loops: &Loops<A, B, C>,
    job: &Job<A, B>,
    block: &Block,
    (i, most): (usize, usize),
    rows: &mut Rows<C>,
    Few { keys, spare, products }: &mut Few<C>,
) -> Result<()> {
    keys.clear();
    products.clear();
    memory::reserve(job.operation, keys, most)?;
    memory::reserve(job.operation, products, most)?;
    for e in job.a.pattern.range(i) {
        let run = job.run(block, i, e);
        let (before, n) = (products.len(), run.columns.len());
        keys.extend((before as u64..).zip(run.columns).map(|(place, j)| (*j as u64) << 32 | place));
        (loops.multiples)(&run, &mut products.spare_capacity_mut()[..n]);
        // SAFETY: as many values as columns were reserved and have just been written.
        unsafe { products.set_len(before + n) };
    }
    sort(job.operation, keys, spare)?;
    rows.reserve(job.operation, keys.len())?;
    let mut last = u64::MAX;
    for key in keys.iter() {
        let product = products[*key as u32 as usize];
        if *key >> 32 == last
            && let Some(sum) = rows.values.last_mut()
        {
            *sum = (loops.add)(*sum, product);
            continue;
        }
        last = *key >> 32;
        // SAFETY: room for every product was reserved.
        unsafe { rows.push_unchecked(last as u32, product) };
    }
    Ok(())
}
