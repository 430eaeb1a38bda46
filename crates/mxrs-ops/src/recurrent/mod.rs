//! Recurrent layers.

mod cell;
pub mod param_concat;
mod pass;
pub mod rnn;
