//! The entries of what is no list as compressed rows, once somebody has asked for them.
use crate::backend::cuda::DeviceCsr;
use crate::error::Result;
use oplus_codegen::text::ScalarText;
use std::sync::{Arc, OnceLock};

#[derive(Debug)]
struct Made {
    scalar: ScalarText,
    rows: OnceLock<DeviceCsr<()>>,
}

/// Clones and casts share it.
#[derive(Debug)]
pub(crate) struct List<T> {
    made: Arc<Made>,
    /// The same, of its scalar.
    typed: OnceLock<Box<DeviceCsr<T>>>,
}

impl<T> List<T> {
    /// Of entries whose values are of this scalar; known or not.
    pub(crate) fn new(scalar: ScalarText, known: Option<DeviceCsr<()>>) -> Self {
        let rows = known.map_or_else(OnceLock::new, OnceLock::from);
        Self { made: Arc::new(Made { scalar, rows }), typed: OnceLock::new() }
    }
    /// The same bytes by another name.
    pub(crate) fn cast<U>(&self) -> List<U> {
        List { made: self.made.clone(), typed: OnceLock::new() }
    }
    pub(crate) fn scalar(&self) -> ScalarText {
        self.made.scalar
    }
    pub(crate) fn known(&self) -> Option<&DeviceCsr<()>> {
        self.made.rows.get()
    }
    /// What it is or becomes.
    pub(crate) fn get(&self, make: impl FnOnce() -> Result<DeviceCsr<()>>) -> Result<&DeviceCsr<T>> {
        if let Some(typed) = self.typed.get() {
            return Ok(typed);
        }
        let listed = match self.known() {
            Some(listed) => listed,
            None => {
                let made = make()?;
                self.made.rows.get_or_init(|| made)
            }
        };
        Ok(self.typed.get_or_init(|| Box::new(listed.cast())))
    }
}
