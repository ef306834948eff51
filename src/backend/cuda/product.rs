//! What a product on the device is of: operands, mask, and the ids of places.
use super::storage::values::One;
use super::{Buffer, Context, DevicePattern, DevicePlaces};
use crate::backend::{MaskOn, Positions};
use crate::error::{Error, Result};
use crate::storage::axis::Ids;
use oplus_codegen::{SemiringText, Shared};
use std::sync::Arc;

/// One operand's positions and values.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    pub(crate) pattern: &'a DevicePattern,
    pub(crate) values: &'a Buffer,
}

/// Whether the kernels may count the entries of both in 32 bits, with room for a step beyond the last.
pub(crate) fn is_narrow(a: &DevicePattern, b: &DevicePattern) -> bool {
    a.nnz.max(b.nnz) < 1 << 31
}

pub(crate) type MaskBits = MaskOn<Arc<DevicePlaces>>;
pub(crate) type DeviceMask<'a> = Option<&'a MaskOn<Arc<DevicePattern>>>;

/// A product to be computed: its operands, and what their places are called.
#[derive(Clone)]
pub(crate) struct Product<'a> {
    pub(crate) context: &'a Arc<Context>,
    pub(crate) semiring: Shared<SemiringText>,
    pub(crate) a: Operand<'a>,
    /// Its rows, or with `by_columns` its columns: then the mask's entries are dot products.
    pub(crate) b: Operand<'a>,
    pub(crate) by_columns: bool,
    pub(crate) mask: DeviceMask<'a>,
    /// The mask of a product with a vector, where it comes as bits and not as a list.
    pub(crate) bits: Option<&'a MaskBits>,
    pub(crate) at: &'a Positions,
    /// The value of all of A's entries, where there was no room to write it out: then rows are made by chunks alone.
    pub(crate) unwritten: Option<&'a One>,
}

impl Product<'_> {
    /// `OutOfMemory` where A's values are not there.
    pub(crate) fn check_written(&self) -> Result<()> {
        let Some(one) = self.unwritten else { return Ok(()) };
        let needed = self.a.pattern.nnz.saturating_mul(one.size());
        Err(Error::OutOfMemory { operation: "mxm", device: self.context.device().to_string(), needed, available: None })
    }
    /// An operand has no entries: neither has the product.
    pub(crate) fn is_empty(&self) -> bool {
        self.a.pattern.nnz == 0 || self.b.pattern.nnz == 0
    }
    /// Columns of the product.
    pub(crate) fn columns(&self) -> usize {
        if self.by_columns { self.b.pattern.nrows } else { self.b.pattern.ncols }
    }
    pub(crate) fn is_masked(&self) -> bool {
        self.mask.is_some() || self.bits.is_some()
    }
    /// The mask of a product with a vector as bits.
    pub(crate) fn mask_bits(&self) -> Result<Option<MaskBits>> {
        match self.bits {
            Some(bits) => Ok(Some(bits.clone())),
            None => self.mask.map(DevicePlaces::of_mask).transpose(),
        }
    }
}

/// Ids of listed axes on the device; null where a place is its id.
pub(crate) struct DeviceIds {
    pub(crate) i: Option<Buffer>,
    pub(crate) k: Option<Buffer>,
    pub(crate) j: Option<Buffer>,
}
impl DeviceIds {
    pub(crate) fn upload(context: &Arc<Context>, at: &Positions, positional: bool) -> Result<Self> {
        let one = |ids: &Ids| ids.as_ref().filter(|_| positional).map(|i| Buffer::from_host(context, i)).transpose();
        Ok(Self { i: one(&at.i)?, k: one(&at.k)?, j: one(&at.j)? })
    }
    pub(crate) fn mapped(&self) -> bool {
        self.i.is_some() || self.k.is_some() || self.j.is_some()
    }
}
