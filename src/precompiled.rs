//! What of built-in scalars is compiled with this crate. Of a product over f64, say, a crate that uses this one compiles the
//! loops of its semiring alone: all around them, which no semiring changes, is here already. Products that mix scalars,
//! or are over a user's own, are compiled where they are used.
//!
//! The tables are statics: a function that a constant or a generic one refers to is compiled wherever that is used.
use crate::algebra::Scalar;
use crate::backend::Body;
use crate::backend::ring::{Equals, HostOperands, MxmRing, MxvRing, VxmRing};
use crate::backend::untyped::{UntypedBody, UntypedCsr};
use crate::container::Owned;
use crate::device::Device;
use crate::error::Result;
use crate::mask::Mask;
use crate::operation::{Core, made};
use crate::spgemm::Analysis;
use crate::storage::pattern::Pattern;
use std::fmt::Debug;
use std::sync::Arc;

/// The products of one scalar with itself on the host.
#[derive(Debug)]
pub struct Products<T> {
    pub(crate) mxm: Doors<MxmRing<T, T, T>>,
    pub(crate) mxv: Doors<MxvRing<T, T, T>>,
    pub(crate) vxm: Doors<VxmRing<T, T, T>>,
}
impl<T: Scalar> Products<T> {
    pub(crate) const fn here() -> Self {
        Self { mxm: MxmRing::DOORS, mxv: MxvRing::DOORS, vxm: VxmRing::DOORS }
    }
}

/// What a semiring's table is asked for.
#[derive(Debug)]
pub(crate) struct Doors<R> {
    pub(crate) on_host: fn(&R, Device, &HostOperands) -> Result<UntypedCsr>,
    pub(crate) at_positions: fn(&R, Device, &HostOperands, &Arc<Pattern>) -> Result<UntypedCsr>,
    pub(crate) explain: fn(&R, Device, &HostOperands) -> Result<Analysis>,
    pub(crate) foreseen: fn(&R, Option<&[u8]>, Option<&[u8]>) -> Result<Option<Equals>>,
}

/// Entries of one scalar: with and without it in their type, and as an operation makes them.
pub struct Entries<T> {
    pub(crate) untyped: fn(&Body<T>) -> UntypedBody,
    pub(crate) typed: fn(&UntypedBody) -> Result<Body<T>>,
    pub(crate) made: fn(&dyn Core<T>, Option<&Mask>) -> Result<Owned<T>>,
    pub(crate) blank: fn(Body<u8>) -> Body<T>,
}
impl<T: Scalar> Entries<T> {
    pub(crate) const fn here() -> Self {
        Self { untyped: UntypedBody::of, typed: UntypedBody::typed, made, blank: Body::without_values }
    }
}
impl<T> Debug for Entries<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Entries")
    }
}

/// The tables of a built-in scalar, as items of its `impl Scalar`.
macro_rules! precompiled {
    ($t:ty) => {
        const PRODUCTS: Option<&'static crate::precompiled::Products<Self>> = {
            static HERE: crate::precompiled::Products<$t> = crate::precompiled::Products::here();
            Some(&HERE)
        };
        fn entries() -> &'static crate::precompiled::Entries<Self> {
            static HERE: crate::precompiled::Entries<$t> = crate::precompiled::Entries::here();
            &HERE
        }
    };
}
pub(crate) use precompiled;

/// Whether all are one scalar whose products are here: known when a caller is compiled, which then leaves out the other way.
pub(crate) const fn are_here<A: Scalar, B: Scalar, C: Scalar>() -> bool {
    let here = A::PRODUCTS.is_some() && B::PRODUCTS.is_some() && C::PRODUCTS.is_some();
    here && same(A::TEXT.name, C::TEXT.name) && same(B::TEXT.name, C::TEXT.name)
}

const fn same(x: &str, y: &str) -> bool {
    let (x, y) = (x.as_bytes(), y.as_bytes());
    let mut i = 0;
    while i < x.len() && i < y.len() && x[i] == y[i] {
        i += 1;
    }
    i == x.len() && i == y.len()
}

/// By the scalar's products where they are here; otherwise compiled where this is.
macro_rules! door {
    ($step:ident $A:ident $B:ident $C:ident $door:ident($ring:expr, $($argument:expr),*)) => {{
        let ring = $ring;
        if const { crate::precompiled::are_here::<$A, $B, $C>() } {
            let same = (ring as &dyn std::any::Any).downcast_ref();
            return match (<$C as Scalar>::PRODUCTS, same) {
                (Some(here), Some(ring)) => (door!(@$step here).$door)(ring, $($argument),*),
                _ => Err(crate::backend::untyped::mistyped(<$C as Scalar>::TEXT)),
            };
        }
        (Self::DOORS.$door)(ring, $($argument),*)
    }};
    (@Mxm $here:ident) => { $here.mxm };
    (@Mxv $here:ident) => { $here.mxv };
    (@Vxm $here:ident) => { $here.vxm };
}
pub(crate) use door;
