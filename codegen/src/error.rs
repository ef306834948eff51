//! What can be wrong with a specification.
use std::fmt;

/// A specification that no kernel can be written for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Two scalars share a name and differ in their definition.
    ScalarConflict {
        /// The name.
        name: String,
    },
    /// A name is not a C++ identifier.
    Name {
        /// What the name is of: "scalar", "parameter", …
        of: &'static str,
        /// The name.
        name: String,
    },
    /// An operator has more or fewer parameters than its place takes.
    Parameters {
        /// The operator.
        function: String,
        /// How many there are.
        found: usize,
        /// How many there must be.
        expected: usize,
    },
    /// The template needs something the specification lacks.
    Missing {
        /// The template.
        template: &'static str,
        /// What is missing.
        what: String,
    },
    /// The template does not know this flag, number or type alias.
    Unknown {
        /// The template.
        template: &'static str,
        /// The name given.
        what: String,
    },
    /// A template or kernel file includes a file that does not exist.
    Include {
        /// The including file.
        file: String,
        /// The file asked for.
        include: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::ScalarConflict { name } => write!(f, "two different definitions of scalar type `{name}`"),
            Error::Name { of, name } => write!(f, "`{name}` cannot be the name of a {of} in CUDA"),
            Error::Parameters { function, found, expected } => {
                write!(f, "`{function}` has {found} parameters, its place takes {expected}")
            }
            Error::Missing { template, what } => write!(f, "template `{template}` needs {what}"),
            Error::Unknown { template, what } => write!(f, "template `{template}` knows no {what}"),
            Error::Include { file, include } => write!(f, "`{file}` includes `{include}`, which is not in the catalog"),
        }
    }
}

impl std::error::Error for Error {}
