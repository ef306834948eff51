//! Products with a vector, pushed and pulled, and sums of rows and columns, which are such products.
mod bins;
mod by_columns;
pub(crate) mod columns;
mod cut;
pub(crate) mod even;
mod final_soon;
pub(crate) mod met;
pub(crate) mod pull;
pub(crate) mod push;
pub(crate) mod repeated;
pub(crate) mod vector;
