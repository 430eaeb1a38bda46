//! NumPy's operators, which `mxnet.numpy` calls: `_np_*`, `_npi_*` and `_npx_*`. Many share the function of an older operator.

pub mod atleast;
pub mod average;
pub mod axes;
pub mod binary;
pub mod choices;
pub mod creation;
pub mod diagonals;
pub mod differences;
pub mod drawn;
pub mod einsum;
pub mod facts;
pub mod insert;
pub mod joined;
pub mod masks;
pub mod norm;
pub mod pad;
pub mod percentile;
pub mod products;
pub mod random;
pub mod reductions;
pub mod sums;
pub mod tensordot;
pub mod unary;
pub mod views;
