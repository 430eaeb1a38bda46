//! Tests of the whole runtime through the facade, from files to outputs.

mod autocast;
mod bfloat16;
mod digits;
mod float16;
mod generated;
mod networks;
mod passes;
mod random;
mod side_by_side;
mod sums;
mod training_step;
