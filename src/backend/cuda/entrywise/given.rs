//! A value that a launch gives beside its buffers: what an operator is bound to, what stands for a missing entry.
use crate::backend::cuda::runtime::launch::{Argument, Launch};
use crate::backend::cuda::{Buffer, Context};
use crate::error::Result;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Bytes up to which a value is an argument itself, as in `kernels/thread/given.cuh`. A copy to the device and its memory cost more
/// than a launch.
const SMALL: usize = 64;

/// A value's bytes, or where they stand on the device.
#[derive(Debug)]
pub(crate) enum Given {
    Small(SmallVec<[u8; SMALL]>),
    Large(Buffer),
}

impl Given {
    pub(crate) fn new(context: &Arc<Context>, bytes: &[u8]) -> Result<Self> {
        match bytes.len() {
            0..=SMALL => Ok(Given::Small(SmallVec::from_slice(bytes))),
            _ => Buffer::from_host(context, bytes).map(Given::Large),
        }
    }
    /// In the place of one that the kernel does not look at, of whatever type.
    pub(crate) fn nothing() -> Self {
        Given::Small(smallvec![0; SMALL])
    }
}

impl<'a> Argument<'a> for &'a Given {
    fn push(self, launch: &mut Launch<'a>) {
        match self {
            Given::Small(bytes) => launch.bytes(bytes),
            Given::Large(buffer) => buffer.push(launch),
        }
    }
}
