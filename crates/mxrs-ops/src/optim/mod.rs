//! Updates of weights, as optimizers call them: one file per family.
//!
//! Code that the files share, and the terms of their formulas, are in `families/updates/`. None of these operators has a
//! gradient.

pub(crate) mod adadelta;
pub mod adagrad;
pub mod adam;
pub(crate) mod adamax;
pub mod adamw;
pub(crate) mod dcasgd;
pub mod finite;
pub mod ftml;
pub mod ftrl;
pub mod lamb;
pub mod lars;
pub(crate) mod multi_adam;
pub mod multi_adamw;
pub mod multi_lamb;
pub mod multi_sgd;
pub(crate) mod nadam;
pub mod nag;
pub mod preloaded_sgd;
pub mod reset_arrays;
pub mod rmsprop;
pub mod sgd;
pub(crate) mod sgld;
pub mod signum;
pub(crate) mod two_bit;
