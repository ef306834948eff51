//! What can go wrong at run time; what can go wrong in types is a compile error instead.
use crate::device::Device;
use std::path::PathBuf;

/// The result of every operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Every failure of the library. An operation that fails has changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two shapes do not fit together.
    #[error("{operation}: {left_name} {}, {right_name} {}: they do not fit", size(*left, vectors.0), size(*right, vectors.1))]
    DimensionMismatch {
        /// The operation asked for.
        operation: &'static str,
        /// Which operand has `left`.
        left_name: &'static str,
        /// Rows and columns, after the transpose options.
        left: (u64, u64),
        /// Which operand has `right`.
        right_name: &'static str,
        /// Rows and columns, after the transpose options.
        right: (u64, u64),
        /// Whether left and right are vectors: rows or columns of that length.
        vectors: (bool, bool),
    },
    /// A matrix must be square here.
    #[error("{operation}: the matrix must be square, it is {}×{}", shape.0, shape.1)]
    NotSquare {
        /// The operation asked for.
        operation: &'static str,
        /// Its rows and columns.
        shape: (u64, u64),
    },
    /// An index lies outside its dimension.
    #[error("{operation}: {what} {index}{} is out of range, the bound is {bound}", position.map(|p| format!(" at position {p}")).unwrap_or_default())]
    IndexOutOfBounds {
        /// The operation asked for.
        operation: &'static str,
        /// What kind of index: "row", "column", "source", …
        what: &'static str,
        /// Where in a list, a range or other input it stands, from 0; `None` of an index that was given alone.
        position: Option<u64>,
        /// The index given.
        index: u64,
        /// Indices must be below this.
        bound: u64,
    },
    /// The same position twice and no operator to combine the values, which [`build_with`](crate::container::Matrix::build_with) takes.
    #[error(
        "{operation}: duplicate entry ({row}, {column}) at position {position} and no operator to combine the values: `build_with` takes one"
    )]
    DuplicateEntry {
        /// The operation asked for.
        operation: &'static str,
        /// Its row.
        row: u64,
        /// Its column.
        column: u64,
        /// Position in the input of the second one.
        position: u64,
    },
    /// The same index of a vector twice and no operator to combine the values, which [`build_with`](crate::container::Vector::build_with) takes.
    #[error(
        "{operation}: duplicate index {index} at position {position} and no operator to combine the values: `build_with` takes one"
    )]
    DuplicateIndex {
        /// The operation asked for.
        operation: &'static str,
        /// The index.
        index: u64,
        /// Position in the input of the second one.
        position: u64,
    },
    /// A value, an option or a structure that the operation cannot take.
    #[error("{operation}: {reason}")]
    InvalidValue {
        /// The operation asked for, or what was given to it: `indices`, `strategy`, `OPLUS_DEVICE`.
        operation: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Operands live on different devices.
    #[error("{operation}: {left_name} is on {left}, {right_name} is on {right}: move one with .to(&device)")]
    DeviceMismatch {
        /// The operation asked for.
        operation: &'static str,
        /// Which operand is on `left`.
        left_name: &'static str,
        /// Its device.
        left: Device,
        /// Which operand is on `right`.
        right_name: &'static str,
        /// Its device.
        right: Device,
    },
    /// Memory ran out, or a limit does not suffice.
    #[error("{operation}: out of memory on {device}: {needed} bytes needed{}", available.map(|a| format!(", {a} available")).unwrap_or_default())]
    OutOfMemory {
        /// The operation asked for; of a device without a memory limit perhaps the step that failed, `allocate`.
        operation: &'static str,
        /// "host" or the device's name.
        device: String,
        /// Bytes asked for.
        needed: u64,
        /// Bytes that were there, where known.
        available: Option<u64>,
    },
    /// A count does not fit its type.
    #[error("{operation}: {what} is {value}, the limit is {limit}")]
    IndexOverflow {
        /// The operation asked for.
        operation: &'static str,
        /// What was counted.
        what: &'static str,
        /// How many.
        value: u128,
        /// The most there can be.
        limit: u128,
    },
    /// This combination is not offered.
    #[error("{operation}: {reason}")]
    NotSupported {
        /// The operation asked for.
        operation: &'static str,
        /// What and why.
        reason: String,
    },
    /// The device asked for cannot be used on this machine.
    #[error("{device} is not available: {reason}")]
    Unavailable {
        /// The device asked for, `cuda:0`, or a part of it, `NVRTC`.
        device: String,
        /// Why, and what would help.
        reason: String,
    },
    /// The CUDA driver reported an error.
    #[error("{operation}: CUDA driver error {code}: {message}")]
    Driver {
        /// What was being done.
        operation: &'static str,
        /// The driver's number.
        code: u32,
        /// The driver's words.
        message: String,
    },
    /// A kernel did not compile.
    #[error("kernel {kernel} does not compile:\n{log}")]
    Compile {
        /// What was compiled: the template's name, `spgemm_hash`, or that of a source of one's own; the kernel's key where no
        /// source could be written.
        kernel: String,
        /// The compiler's words.
        log: String,
    },
    /// A file does not hold what it should.
    #[error("{}{}: {reason}", path.as_ref().map(|p| p.display().to_string()).unwrap_or_else(|| "input".into()), line.map(|l| format!(":{l}")).unwrap_or_default())]
    Parse {
        /// The file, where there is one.
        path: Option<PathBuf>,
        /// The line, from 1.
        line: Option<u64>,
        /// What is wrong there.
        reason: String,
    },
    /// The operating system reported an error.
    #[error("{}: {message}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        message: String,
    },
    /// A negative cycle: no shortest paths exist.
    #[error("{operation}: negative cycle through vertex {vertex}")]
    NegativeCycle {
        /// The algorithm.
        operation: &'static str,
        /// A vertex on it.
        vertex: u64,
    },
}

/// What a shape is of an operand, in words.
fn size((nrows, ncols): (u64, u64), vector: bool) -> String {
    // One of the two is 1.
    if vector { format!("has length {}", nrows.saturating_mul(ncols)) } else { format!("is {nrows}×{ncols}") }
}

impl Error {
    /// The same error of a vector's element, whose column is its index.
    pub(crate) fn of_elements(self) -> Self {
        match self {
            Error::IndexOutOfBounds { operation, what: "column", position, index, bound } => {
                Error::IndexOutOfBounds { operation, what: "index", position, index, bound }
            }
            Error::DuplicateEntry { operation, column: index, position, .. } => {
                Error::DuplicateIndex { operation, index, position }
            }
            other => other,
        }
    }
    /// The same error of a matrix that was made as its transpose.
    #[cfg(any(feature = "npz", feature = "nalgebra-sparse"))]
    pub(crate) fn transposed(self) -> Self {
        match self {
            Error::IndexOutOfBounds { operation, what: "column", position, index, bound } => {
                Error::IndexOutOfBounds { operation, what: "row", position, index, bound }
            }
            Error::DuplicateEntry { operation, row, column, position } => {
                Error::DuplicateEntry { operation, row: column, column: row, position }
            }
            Error::IndexOverflow { operation, what: "rows", value, limit } => {
                Error::IndexOverflow { operation, what: "columns", value, limit }
            }
            Error::IndexOverflow { operation, what: "columns", value, limit } => {
                Error::IndexOverflow { operation, what: "rows", value, limit }
            }
            other => other,
        }
    }
    /// The same error of an operation that makes vectors, which are stored as rows.
    pub(crate) fn of_vectors(self) -> Self {
        match self {
            Error::DimensionMismatch {
                operation,
                left_name,
                left: left @ (1, _),
                right_name,
                right: right @ (1, _),
                vectors: (false, false),
            } => Error::DimensionMismatch { operation, left_name, left, right_name, right, vectors: (true, true) },
            other => other,
        }
    }
    /// The same error of two operands that are vectors, rows or columns.
    pub(crate) fn told_of_vectors(mut self) -> Self {
        if let Error::DimensionMismatch { vectors, .. } = &mut self {
            *vectors = (true, true);
        }
        self
    }
    /// The same error of an operation whose parts are others: of the one asked for.
    pub(crate) fn of_parts(mut self, part: &'static str, whole: &'static str) -> Self {
        if let Error::DimensionMismatch { operation, .. }
        | Error::DeviceMismatch { operation, .. }
        | Error::InvalidValue { operation, .. }
        | Error::IndexOverflow { operation, .. }
        | Error::NotSupported { operation, .. }
        | Error::OutOfMemory { operation, .. } = &mut self
            && *operation == part
        {
            *operation = whole;
        }
        self
    }
    /// Memory that ran out in a part of an operation ran out in that.
    pub(crate) fn in_operation(self, operation: &'static str) -> Self {
        match self {
            // A device says which step of it failed.
            Error::OutOfMemory { device, needed, available, .. } if device == "host" => {
                Error::OutOfMemory { operation, device, needed, available }
            }
            other => other,
        }
    }
}
