//! What a product on the device is of: operands, mask, and the ids of places.
use super::{Buffer, Context, DevicePattern, DevicePlaces};
use crate::backend::{MaskOn, Positions};
use crate::error::Result;
use crate::storage::axis::Ids;
use oplus_codegen::{SemiringText, Shared};
use std::sync::Arc;

/// One operand's positions and values.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    pub(super) pattern: &'a DevicePattern,
    pub(super) values: &'a Buffer,
}

/// Whether the kernels may count the entries of both in 32 bits, with room for a step beyond the last.
pub(super) fn is_narrow(a: &DevicePattern, b: &DevicePattern) -> bool {
    a.nnz.max(b.nnz) < 1 << 31
}

pub(super) type MaskBits = MaskOn<Arc<DevicePlaces>>;
pub(super) type DeviceMask<'a> = Option<&'a MaskOn<Arc<DevicePattern>>>;

/// A product to be computed: its operands, and what their places are called.
#[derive(Clone)]
pub(super) struct Product<'a> {
    pub(super) context: &'a Arc<Context>,
    pub(super) semiring: Shared<SemiringText>,
    pub(super) a: Operand<'a>,
    /// Its rows, or with `by_columns` its columns: then the mask's entries are dot products.
    pub(super) b: Operand<'a>,
    pub(super) by_columns: bool,
    pub(super) mask: DeviceMask<'a>,
    /// The mask of a product with a vector, where it comes as bits and not as a list.
    pub(super) bits: Option<&'a MaskBits>,
    pub(super) at: &'a Positions,
}

impl Product<'_> {
    /// Columns of the product.
    pub(super) fn columns(&self) -> usize {
        if self.by_columns { self.b.pattern.nrows } else { self.b.pattern.ncols }
    }
    pub(super) fn is_masked(&self) -> bool {
        self.mask.is_some() || self.bits.is_some()
    }
    /// The mask of a product with a vector as bits.
    pub(super) fn mask_bits(&self) -> Result<Option<MaskBits>> {
        match self.bits {
            Some(bits) => Ok(Some(bits.clone())),
            None => self.mask.map(DevicePlaces::of_mask).transpose(),
        }
    }
}

/// Ids of listed axes on the device; null where a place is its id.
pub(super) struct DeviceIds {
    pub(super) i: Option<Buffer>,
    pub(super) k: Option<Buffer>,
    pub(super) j: Option<Buffer>,
}
impl DeviceIds {
    pub(super) fn upload(context: &Arc<Context>, at: &Positions, positional: bool) -> Result<Self> {
        let one = |ids: &Ids| ids.as_ref().filter(|_| positional).map(|i| Buffer::from_host(context, i)).transpose();
        Ok(Self { i: one(&at.i)?, k: one(&at.k)?, j: one(&at.j)? })
    }
    pub(super) fn mapped(&self) -> bool {
        self.i.is_some() || self.k.is_some() || self.j.is_some()
    }
}
