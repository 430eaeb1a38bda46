//! `cargo xtask ci`: the full suite, cheapest step first, stopping at the first failure.

use anyhow::Result;

use super::suite::{self, OnFailure};
use crate::session::Session;

/// Arguments of `ci`: none.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
///
/// # Errors
/// A step failed.
pub fn run(_: &Args) -> Result<()> {
    suite::run(&Session::native()?, &suite::FULL, OnFailure::Stop)
}
