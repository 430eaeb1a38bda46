//! Updates of weights, as optimizers call them: one file per family.
//!
//! The shared machinery, and the words the formulas are written in, are in `updates/`. None of these operators can be
//! differentiated.

pub mod adagrad;
pub mod adam;
pub mod adamw;
pub mod finite;
pub mod ftml;
pub mod ftrl;
pub mod lamb;
pub mod lars;
pub mod multi_adamw;
pub mod multi_lamb;
pub mod multi_sgd;
pub mod nag;
pub mod preloaded_sgd;
pub mod rmsprop;
pub mod sgd;
pub mod signum;
