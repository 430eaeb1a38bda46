//! The whole runtime through the facade: files in, answers out.

mod autocast;
mod digits;
mod float16;
mod generated;
mod networks;
mod side_by_side;
mod sums;
mod training_step;
