//! `cargo xtask bless`: takes what the code does now as right: generated tables and golden files.

use anyhow::Result;

use super::generate;
use crate::session::Session;

/// Arguments of `bless`.
#[derive(clap::Args)]
pub struct Args {
    /// Bless only the golden files of tests whose name contains this
    filter: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// The generator or a test that is not about golden files fails.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::native()?;
    if args.filter.is_none() {
        generate::write(&session)?;
    }
    let flags = session.kernels.package_flags("mxrs-tests");
    session.cargo("test").args(flags).args(&args.filter).env("MXRS_BLESS", "1").stream()?;
    println!("read the difference (`git diff`) before you commit it");
    Ok(())
}
