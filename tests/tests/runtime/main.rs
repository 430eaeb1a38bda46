//! The whole runtime through the facade: files in, answers out.

mod digits;
mod generated;
mod networks;
mod side_by_side;
mod training_step;
