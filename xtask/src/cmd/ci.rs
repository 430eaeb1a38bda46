//! `cargo xtask ci`: runs the full suite, cheapest step first, and stops at the first failure.

use anyhow::Result;

use super::suite::{self, OnFailure};
use crate::session::Session;

/// Arguments of `ci`: none.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
///
/// # Errors
/// Fails if a step fails.
pub fn run(_: &Args) -> Result<()> {
    suite::run(&Session::native()?, &suite::FULL, OnFailure::Stop)
}
