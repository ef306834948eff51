//! Whether results are those of others, as far as there are others.
use std::fmt::{Display, Formatter};

/// What comparing one product after the other has shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    /// The first result that differs.
    differs: Option<String>,
    /// Whether anybody else had a result of this product.
    compared: bool,
    /// Whether nobody had one of a product before.
    missed: bool,
}

impl Verdict {
    /// One other result of this product, which is the same or else `what`.
    pub(crate) fn compared(&mut self, same: bool, what: impl FnOnce() -> String) {
        self.compared = true;
        if !same && self.differs.is_none() {
            self.differs = Some(what());
        }
    }
    /// What comes now is of the next product.
    pub(crate) fn next(&mut self) {
        self.missed |= !std::mem::take(&mut self.compared);
    }
}

/// Of the products that are done.
impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match &self.differs {
            Some(what) => write!(f, "DIFFER from {what}"),
            None if self.missed => f.write_str("not compared"),
            None => f.write_str("equal"),
        }
    }
}
