//! Direct convolutions, which sum over the window: products over blocks of channels, in one group or several; the first
//! layer of a network, over single taps; and fully-connected layers.

pub mod conv_depthwise;
pub mod dense;
pub mod depthwise;
mod grid;
pub mod grouped;
mod pack;
pub mod product;
pub mod rows;
pub mod small_groups;
mod tap_rows;
pub mod taps;
