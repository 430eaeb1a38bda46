//! `cargo xtask tidy`: the project's own rules, one file each in `tidy/`.

use anyhow::{Result, bail};

use super::generate;
use crate::session::Session;
use crate::tidy::{self, Level};

/// Arguments of `tidy`.
#[derive(clap::Args)]
pub struct Args {
    /// Leave out the generated tables, which need the generator built
    #[arg(long)]
    no_gen: bool,
    /// Lower the ceilings of refused phrases in xtask/words.toml to what is left
    #[arg(long)]
    lower: bool,
}

/// Runs the command.
///
/// # Errors
/// A rule is broken.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    if args.lower {
        tidy::words::lower(&session.workspace)?;
    }
    check(&session, !args.no_gen)
}

/// Checks the rules; with `tables`, also that the generated tables are fresh.
///
/// # Errors
/// A rule is broken.
pub fn check(session: &Session, tables: bool) -> Result<()> {
    let findings = tidy::findings(&session.workspace)?;
    for finding in &findings {
        eprintln!("{finding}");
    }
    let n_errors = findings.iter().filter(|finding| finding.level == Level::Error).count();
    if n_errors > 0 {
        bail!("{n_errors} broken rules");
    }
    if tables {
        generate::check(session)?;
    }
    Ok(())
}
