//! Convolutions as sums over the window: products over blocks of channels, and the first layer over single taps; and
//! fully-connected layers.

pub mod dense;
mod grid;
mod pack;
pub mod product;
mod tap_rows;
pub mod taps;
