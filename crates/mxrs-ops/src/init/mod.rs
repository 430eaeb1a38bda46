//! Operators without inputs.

pub mod full;
pub mod ones;
pub mod zeros;
