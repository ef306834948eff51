//! Products of known structure: positions are kept, and the places of all factors or else the analysis and its counts; values are
//! computed again and again.
use super::chunks;
use super::factor_places::FactorPlaces;
use super::ordered::{is_exact, mxm_ordered, values_in_order};
use super::run::{Listed, Run};
use super::{Job, mxm};
use crate::backend::MxmOptions;
use crate::backend::cuda::product::Product;
use crate::backend::cuda::{Buffer, DevicePattern, lock};
use crate::error::{Error, Result};
use crate::spgemm::Strategy;
use std::sync::Mutex;

/// What a product's values are computed by.
#[derive(Debug)]
pub(in crate::backend::cuda) struct Prepared {
    way: Way,
    /// Those of the product: where there is no memory for the way it is made by chunks, as it would be without a plan.
    options: MxmOptions,
}

/// How values are computed.
#[derive(Debug)]
enum Way {
    /// As the product itself: nothing is worth keeping, or there is no memory for it.
    Again,
    /// In the order of k.
    Ordered,
    /// From the places of all factors.
    Places(Box<FactorPlaces>),
    /// By row, from the lists of the analysis; one run at a time.
    Listed(Box<Mutex<Facts>>),
}

/// What the numeric phase needs beside operands.
#[derive(Debug)]
struct Facts {
    /// Lent to a run.
    listed: Option<Listed>,
    /// The control block before it: tickets are drawn from that.
    pristine: Buffer,
}

/// The positions of T⟨M⟩ = A ⊕.⊗ B, and what its values are computed by.
pub(in crate::backend::cuda) fn prepare(product: &Product, options: &MxmOptions) -> Result<(Prepared, DevicePattern)> {
    let (way, pattern) = match way(product, options) {
        Err(Error::OutOfMemory { .. }) => (Way::Again, chunks::mxm(product, options)?.0),
        found => found?,
    };
    Ok((Prepared { way, options: *options }, pattern))
}

/// The same, as long as there is memory for all rows at once.
fn way(product: &Product, options: &MxmOptions) -> Result<(Way, DevicePattern)> {
    product.check_written()?;
    let strategy = options.strategy;
    if product.by_columns {
        return Ok((Way::Again, mxm(product, strategy)?.0));
    }
    if options.reproducible && !is_exact(&product.semiring) {
        return Ok((Way::Ordered, mxm_ordered(product, strategy)?.0));
    }
    let job = Job::new(product)?;
    if let Some((pattern, places)) = job.factor_places(strategy)? {
        return Ok((Way::Places(Box::new(places)), pattern));
    }
    match job.unlisted(strategy)? {
        Some((pattern, _)) => Ok((Way::Again, pattern)),
        None => job.prepared(strategy),
    }
}

impl Job<'_> {
    fn prepared(&self, strategy: Strategy) -> Result<(Way, DevicePattern)> {
        let (mut run, room) = Run::begin(self, strategy)?;
        drop(room);
        run.count(None)?;
        let (nnz, longest) = run.size();
        let offsets = run.listed.c_offsets.duplicate()?;
        let indices = Buffer::alloc_for::<u32>(self.context, usize::try_from(nnz).unwrap_or(usize::MAX))?;
        let pristine = run.listed.work.control.buffer.duplicate()?;
        let mut facts = Facts { pristine, listed: Some(run.listed) };
        // Columns are written with the values.
        facts.values(self, nnz, &indices)?;
        let shape = (self.a.pattern.nrows, self.b.pattern.ncols);
        let pattern = DevicePattern::new(shape, nnz, offsets, indices).with_longest(longest);
        Ok((Way::Listed(Box::new(Mutex::new(facts))), pattern))
    }
}

impl Facts {
    /// Values, and columns that are written once more as they are.
    fn values(&mut self, job: &Job, nnz: u64, indices: &Buffer) -> Result<Buffer> {
        let values = Buffer::alloc(job.context, nnz.saturating_mul(job.semiring.c.size as u64))?;
        if nnz == 0 {
            return Ok(values);
        }
        let lost = || Error::InvalidValue { operation: "plan", reason: "an earlier run was interrupted".into() };
        let mut listed = self.listed.take().ok_or_else(lost)?;
        let renewed = listed.work.control.buffer.copy_range(0, &self.pristine, 0..self.pristine.bytes());
        let mut run = Run { job, listed };
        let made = renewed.and_then(|()| run.fill(indices, &values, None));
        self.listed = Some(run.listed);
        made.map(|()| values)
    }
}

impl Prepared {
    /// The values of the product at its positions; the operands have the structure that was prepared for.
    pub(in crate::backend::cuda) fn values(&self, product: &Product, c: &DevicePattern) -> Result<Buffer> {
        let made = match &self.way {
            _ if product.unwritten.is_some() => None,
            Way::Again => None,
            Way::Ordered => Some(values_in_order(product, c)),
            Way::Places(places) => Some(places.values(product)),
            Way::Listed(facts) => Some(lock(facts).values(&Job::new(product)?, c.nnz, &c.indices)),
        };
        match made {
            None | Some(Err(Error::OutOfMemory { .. })) => {}
            Some(made) => return made,
        }
        values_by_chunks(product, &self.options, c)
    }
}

/// The values of the product at its positions, by chunks of rows where it does not fit as a whole.
pub(in crate::backend::cuda) fn values_by_chunks(
    product: &Product,
    options: &MxmOptions,
    c: &DevicePattern,
) -> Result<Buffer> {
    let made = chunks::mxm(product, options)?;
    if made.0.nnz != c.nnz {
        let reason = format!("{} entries, the plan has {}", made.0.nnz, c.nnz);
        return Err(Error::InvalidValue { operation: "plan", reason });
    }
    Ok(made.1)
}
