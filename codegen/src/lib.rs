//! Generates specialised CUDA kernels: text in, text out; knows no driver and no matrix.
pub mod text;
