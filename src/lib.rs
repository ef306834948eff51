//! Sparse linear algebra over any semiring, on CPUs and NVIDIA GPUs.
//!
//! The GraphBLAS's observation: many algorithms on graphs and networks are matrix products in which + and × are replaced. With
//! (min, +) a product composes shortest paths, with (∨, ∧) it takes a step of a search, with (+, pair) it counts triangles, with
//! (+, ×) it is the product of numerical analysis. This crate has one product for all of them, the other operations of the standard
//! around it, and graph algorithms that are written with these alone. The same program runs on the host and on a GPU.
//!
//! # Notation
//! | written | means | in Rust |
//! | --- | --- | --- |
//! | C = A ⊕.⊗ B | C(i, j) = ⊕ₖ A(i, k) ⊗ B(k, j), over the k for which both are there | `mxm(&a, &b).eval()?` |
//! | A min.+ B | the same with min for ⊕ and + for ⊗ | `a.over::<MinPlus>()`, or `Matrix<f64, MinPlus>` |
//! | t = A ⊕.⊗ x, t = xᵀ ⊕.⊗ A | a matrix with a vector | `mxv(&a, &x)`, `vxm(&x, &a)` |
//! | A ⊕ B, A ⊗ B | element by element, where either, where both have an entry | `ewise_add(&a, &b, Plus)`, `ewise_mult(…)` |
//! | Aᵀ | transposed: (j, i) for (i, j) | `a.transposed()`, `.transpose_a()`, `.transpose_b()` |
//! | C⟨M⟩ = … | only where the mask M admits; elsewhere C stays | `.mask(&m).into(&mut c)?` |
//! | C⟨¬M⟩ | only where it does not | `.mask(&!m.structure())` |
//! | C⟨M, replace⟩ | what the mask does not admit is deleted | `.replace()` |
//! | C ⊙= … | old and new entries meet by ⊙ | `.accumulate(Plus)` |
//! | m × n, nnz, e | rows and columns, entries stored, entries given | [`shape`](Matrix::shape), [`nvals`](Matrix::nvals) |
//!
//! All of an operation in one line: **C⟨M, replace⟩ ⊙= op(inputs)**. A function of [`operation`] says what, methods say mask and
//! accumulator, and `.eval()?` makes a new matrix or vector, `.into(&mut c)?` writes to one that is there.
//!
//! # Matrices, entries, semirings
//! A [`Matrix<T, S>`](Matrix) is m × n with values of T at the positions where it has **entries**. What is not there has no implicit
//! value: it is no zero, and takes part in nothing. So a stored 0 is an entry like any other, a sum that cancels keeps an entry of 0, and
//! a (min, +) product has no entry where there is no path, not ∞. Indices are `u64`; a dimension of 2⁴⁰ costs what its entries cost.
//!
//! S is a **label**, the semiring of its products (default [`PlusTimes`](algebra::PlusTimes)). [`over`](Matrix::over) gives the same
//! entries another one and copies nothing; operands of different labels do not compile. Clones share their entries. How entries are
//! stored is a [`Format`], which no result shows.
//!
//! # A first program
//! ```
//! use oplus::prelude::*;
//!
//! fn main() -> Result<()> {
//!     // Roads between four towns, an entry (from, to, kilometres).
//!     let roads: Matrix<f64> = Matrix::build(4, 4, &[(0, 1, 5.0), (0, 2, 1.0), (2, 1, 2.0), (1, 3, 1.0)])?;
//!     let roads = roads.to(&Device::best())?;
//!
//!     // C = A min.+ A: the shortest way of exactly two roads.
//!     let two_roads = roads.over::<MinPlus>().mxm(&roads.over())?;
//!     assert_eq!(two_roads.entries()?, [(0, 1, 3.0), (0, 3, 6.0), (2, 3, 3.0)]);
//!
//!     // C = A +.pair A: how many such ways there are, whatever their length.
//!     let ways = mxm(&roads.over::<PlusPair>(), &roads.over()).eval()?;
//!     assert_eq!(ways.get(0, 3)?, Some(1));
//!
//!     // C⟨¬A⟩ = A ∨.∧ A: which towns are two roads apart and not one.
//!     let linked = roads.cast::<bool>()?.over::<LorLand>();
//!     let apart = mxm(&linked, &linked).mask(&roads.structure().complement()).eval()?;
//!     assert_eq!(apart.entries()?, [(0, 3, true), (2, 3, true)]);
//!
//!     // D min= D min.+ A, twice: what is there already meets what is new.
//!     let mut distances = roads.over::<MinPlus>();
//!     for _ in 0..2 {
//!         mxm(&distances, &roads.over()).accumulate(Min).into(&mut distances)?;
//!     }
//!     assert_eq!(distances.get(0, 3)?, Some(4.0));
//!
//!     // Algorithms are written with the same operations and run wherever the matrix is.
//!     let shortest = algorithm::sssp(&roads, 0, &Default::default())?;
//!     assert_eq!(shortest.distances.entries()?, [(0, 0.0), (1, 3.0), (2, 1.0), (3, 4.0)]);
//!     Ok(())
//! }
//! ```
//! Files: [`Matrix::read`] and [`Matrix::write`] go by the ending of the name, [`io`] has the formats, [`generate`] seeded graphs,
//! [`interop`] the types of other crates.
//!
//! # Masks
//! A matrix or vector as a mask admits where its values are true; [`structure`](Matrix::structure) admits wherever it has an entry;
//! [`complement`](mask::Mask::complement), or `!`, turns either round. Products compute only what a mask admits, so that one step of a search is a
//! masked product and costs what is new. [`operation`] has the rule in full, [`mask`] an example.
//!
//! # Semirings of your own
//! One definition, which rustc compiles for the host and NVRTC for the GPU, over the functions of [`algebra::portable`]:
//! ```
//! use oplus::prelude::*;
//! oplus::scalar! { /// A length and a number of roads.
//!     pub struct Hop { dist: f32, hops: u32 } }
//! oplus::semiring! {
//!     /// Shortest, then fewest roads.
//!     pub struct Shortest[](Hop, Hop) -> Hop;
//!     identity = Hop::make(f32::INFINITY, u32::MAX);
//!     add = |x, y| (select(x.dist < y.dist || (x.dist == y.dist && x.hops <= y.hops), x, y));
//!     multiply = |a, b, _| (Hop::make(add(a.dist, b.dist), add(a.hops, b.hops)));
//! }
//! # fn main() -> oplus::Result<()> {
//! let roads: Matrix<Hop, Shortest> = Matrix::build(3, 3, &[(0, 1, Hop::make(1.0, 1)), (1, 2, Hop::make(2.0, 1))])?;
//! assert_eq!(roads.mxm(&roads)?.get(0, 2)?, Some(Hop::make(3.0, 2)));
//! # Ok(()) }
//! ```
//! Its name is that of ⊕ too: `.accumulate(Shortest)`, `reduce(&d, Shortest)`.
//! Functions for `apply`, `accumulate`, `select` and the others are defined alike, by [`unary_operator!`], [`operator!`] and
//! [`index_operator!`]: `unary_operator! { pub OneRoad[](f32) -> Hop = |km| Hop::make(km, 1u32) }`.
//! Monoids and operators that exist are put together without a definition: `a.over::<Compose<Max, First>>()`. [`algebra`] lists the
//! named semirings and says what integers, NaN and ∞ do.
//!
//! # Devices
//! Data lives on a [`Device`](device::Device), and operations run where their operands are: [`Device::best`](device::Device::best) is
//! GPU 0 where it can be used, else the CPU, and `OPLUS_DEVICE` overrides it; `a.to(&device)?` is A in the memory of another, and `a`
//! stays where it is. Operands on different devices are an error, nothing is moved in secret. Nothing is linked for CUDA: driver and NVRTC
//! are looked for at run time, their absence, or an NVRTC of a newer major version than the driver's, is an
//! [`Unavailable`](Error::Unavailable) that says what would help. Kernels are generated for the semiring, compiled when they are first
//! needed, and kept on disk. `Device::Reference` is the oracle of the tests, one thread and no tricks.
//!
//! # Errors
//! What does not fit in types does not compile. All else is an [`Error`] that names operation, operand, position and sizes: no call panics
//! on bad input, and one that fails has changed nothing. Running out of memory is such an error too, on the host and on the device, which
//! may name the step that failed where there is no limit; a product is done by chunks of rows before it comes to that, and within
//! [`memory_limit`](operation::Operation::memory_limit) where one is set.
//!
//! # Determinism
//! The result is the same, to the bit, for every number of threads, format and run:
//! - everywhere, for integers, booleans, minima, maxima, and whatever sums nothing, but for what [operators](algebra::operator#bits) of
//!   floats leave to the device: elementary functions and what a NaN looks like; [`Any`](algebra::Any) picks the smallest index;
//! - on the host, for floating sums too: those of products run in the order of k, others in one that the operands determine (and the room,
//!   where a product that is not stored is summed within a memory limit);
//! - on CUDA, for floating products that are asked to be [`reproducible`](operation::Operation::reproducible) or take a
//!   [`Strategy`](spgemm::Strategy) that sums in order: the bits of the host. Else the last bits may differ from run to run where rows have
//!   many products, where vectors are pushed, and in sums over a product that is not stored. Sums of rows and of everything have bits of their own, the same in every run.
//!
//! # Threads
//! Matrices and vectors are `Send` and `Sync`, and shared by reference across threads. Operations on the host run on
//! [rayon](https://docs.rs/rayon)'s current pool: `pool.install(|| …)` bounds them. Calls on a device wait for what they need to know of a
//! result, its number of entries say; work of several threads on one device is queued one after the other.
//!
//! # Features
//! | feature | |
//! | --- | --- |
//! | `cuda-13` (default), `cuda-12`, `cuda` | the CUDA backend with cudarc's types for CUDA 13, for 12.8, or with those that your crate chooses; drivers from CUDA 12.0 on will do with each |
//! | `compression` (default) | `.gz` and `.zst` files |
//! | `half` (default) | `f16` and `bf16` as scalars |
//! | `sprs`, `nalgebra-sparse`, `petgraph`, `ndarray`, `serde`, `npz`; `interop-all` | other crates' types and files; [`interop`] says of which versions |
//!
//! # Environment variables
//! | variable | |
//! | --- | --- |
//! | `OPLUS_DEVICE` | `cpu`, `cuda`, `cuda:N` or `reference` instead of what `Device::best` would find; set to nothing: as if not set |
//! | `OPLUS_CACHE_DIR` | where compiled kernels are kept; else `oplus` in `XDG_CACHE_HOME`, `~/.cache` or, on Windows, `LOCALAPPDATA`; set to nothing: nowhere |
//! | `OPLUS_NVRTC_PATH` | NVRTC's library or its folder, where it is not found by itself; no other is tried |
//! | `OPLUS_NVRTC_OPTIONS` | more options for NVRTC, for looking into kernels |
//! | `OPLUS_CUDA_DRIVER_PATH` | the driver's library or its folder instead of the system's; no other is tried |
//! | `OPLUS_CUDA_KEEP` | bytes of freed buffers that a device keeps for the next ones (256 MiB) |
//! | `OPLUS_HOST_KEEP` | bytes of large freed blocks that the host keeps for the next results (256 MiB; 0: none) |
//! | `OPLUS_HOST_MEMORY` | bytes that the process may hold on the host (Linux alone); what Linux says is free (in a container: of its limit) bounds it besides. A request beyond is `OutOfMemory`, before Linux ends the process |
//! | `RAYON_NUM_THREADS` | threads of the host, rayon's own |
//!
//! Bytes are a number, or one with K, M, G or T for powers of 1024: `512M`, `1.5GiB`. One that is none of these is not heeded;
//! [`Device::check`](device::Device::check) and [`Device::try_best`](device::Device::try_best) say so.
//!
//! # Where to go next
//! [`operation`] for all operations and the rule of masks; [`algebra`] for scalars, operators and semirings; [`algorithm`] for searches, paths
//! and triangles; [`spgemm`] for what a product will do ([`explain`](operation::Operation::explain)), what it did
//! ([`traced`](operation::Operation::traced)) and the strategies; [`plan`](operation::Operation::plan) for products whose values alone
//! change; `primitive` (feature `cuda`) for device memory and a segmented merge beside kernels of your own.
//! The examples of the repository are programs of the same kind as the one above: `quick_start`, `custom_semiring`, `multi_source_bfs`,
//! `triangle_count`, `apsp`, `pagerank`, `multigrid`.
#![warn(missing_docs)]
// Tests that are shared with integration tests name the library.
#[cfg(test)]
extern crate self as oplus;

pub mod algebra;
pub mod algorithm;
#[doc(hidden)]
pub mod backend;
pub mod container;
pub mod device;
pub mod error;
#[cfg(doctest)]
mod forbidden;
mod format;
pub mod generate;
pub mod interop;
pub mod io;
pub mod iterate;
pub mod mask;
mod memory;
pub mod operation;
mod options;
mod precompiled;
pub mod prelude;
#[cfg(feature = "cuda")]
pub mod primitive;
mod shown;
pub mod spgemm;
pub mod storage;

pub use error::{Error, Result};
pub use format::Format;

#[cfg(doc)]
use container::Matrix;

/// The examples of the README compile, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
