//! Operators without inputs.

pub mod arange;
pub mod eye;
pub mod full;
pub mod linspace;
pub mod ones;
pub mod random_exponential;
pub mod random_normal;
pub mod random_uniform;
pub mod set_value;
pub mod zeros;
pub mod zeros_without_dtype;
