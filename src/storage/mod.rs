pub mod coo;
