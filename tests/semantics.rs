//! The semantics of the GraphBLAS, line by line, on the reference, the CPU and CUDA (emulated or real). Rules of products are held against
//! every strategy but bands, on the emulator against `Auto`, `Hash`, `Esc` and `Dot` alone (`kit.rs`): `cuda_strategies.rs` has the others there.
//!
//! The labels at the beginnings of the names: e mask, accumulator and replace; a aliasing; s shapes; z explicit zeros; r
//! semirings; b building and l elements; x extract and assign; d reduce; o operators; t transpose, kronecker, select and apply; f formats;
//! g errors and scale (failing allocations and launches have processes of their own: `semantics_faults.rs`, and tests of these labels
//! in `host_memory.rs`, `host_memory_limit.rs`, `cuda_memory_limit.rs`, `cuda_memory.rs`, `cuda_faults.rs`, `cuda_operations_faults.rs`
//! and `cuda_extremes.rs`); ss with a number is a bug that SuiteSparse:GraphBLAS once had. What the types forbid is in `src/forbidden.rs`.
#[path = "semantics/alias.rs"]
mod alias;
#[path = "semantics/build.rs"]
mod build;
mod common;
#[path = "semantics/error.rs"]
mod error;
#[path = "semantics/fold.rs"]
mod fold;
#[path = "semantics/format.rs"]
mod format;
#[path = "semantics/kit.rs"]
mod kit;
#[path = "semantics/mask.rs"]
mod mask;
#[path = "semantics/operator.rs"]
mod operator;
#[path = "semantics/pairs.rs"]
mod pairs;
#[path = "semantics/part.rs"]
mod part;
#[path = "semantics/regression.rs"]
mod regression;
#[path = "semantics/ring.rs"]
mod ring;
#[path = "semantics/rule.rs"]
mod rule;
#[path = "semantics/shape.rs"]
mod shape;
#[path = "semantics/zero.rs"]
mod zero;
