//! Entries that go elsewhere with the values they have: builds, transposes, rectangles, sorts.
pub(crate) mod build;
#[cfg(all(test, target_os = "linux"))]
mod build_tests;
pub(crate) mod columns;
pub(crate) mod kronecker;
pub(crate) mod reshape;
pub(crate) mod segmented_merge;
pub(crate) mod sort;
pub(crate) mod transpose;
