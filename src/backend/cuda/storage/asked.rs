//! What is found out of a matrix when it is asked for a second time, and kept with it.
use crate::backend::cuda::lock;
use crate::error::{Error, Result};
use std::sync::{Arc, Mutex};

/// What is known so far.
#[derive(Debug, Default)]
pub(crate) enum Asked<T> {
    #[default]
    Not,
    Once,
    /// There is nothing of the kind.
    Without,
    With(Arc<T>),
}

impl<T> Asked<T> {
    pub(crate) fn kept(&self) -> Option<Arc<T>> {
        if let Self::With(found) = self { Some(found.clone()) } else { None }
    }
}

/// What `look` finds, if it is asked for a second time and `likely` to be there.
pub(crate) fn second_time<T>(
    known: &Mutex<Asked<T>>,
    likely: impl FnOnce() -> bool,
    look: impl FnOnce() -> Result<Option<T>>,
) -> Result<Option<Arc<T>>> {
    let mut known = lock(known);
    match &*known {
        Asked::Without | Asked::With(_) => return Ok(known.kept()),
        Asked::Not => {
            *known = if likely() { Asked::Once } else { Asked::Without };
            return Ok(None);
        }
        Asked::Once => {}
    }
    // What it takes counts as the operation's; without room for it, nobody looks now.
    let found = match look() {
        Err(Error::OutOfMemory { .. }) => return Ok(None),
        found => found?.map(Arc::new),
    };
    *known = found.map_or(Asked::Without, Asked::With);
    Ok(known.kept())
}
