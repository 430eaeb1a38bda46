//! NumPy's operators, which `mxnet.numpy` calls: `_np_*`, `_npi_*` and `_npx_*`. Many share the function of an older operator.

pub mod axes;
pub mod binary;
pub mod choices;
pub mod creation;
pub mod diagonals;
pub mod joined;
pub mod products;
pub mod random;
pub mod reductions;
pub mod sums;
pub mod unary;
pub mod views;
