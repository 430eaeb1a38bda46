//! `cargo xtask tidy`: checks the project's own rules, each of which is one file in `tidy/`.

use anyhow::{Result, bail};

use super::generate;
use crate::session::Session;
use crate::tidy::{self, Level};

/// Arguments of `tidy`.
#[derive(clap::Args)]
pub struct Args {
    /// Do not check the generated tables, because that check has to build the generator
    #[arg(long)]
    no_gen: bool,
    /// Lower the limits in xtask/words.toml to the current numbers of refused phrases
    #[arg(long)]
    lower: bool,
}

/// Runs the command.
///
/// # Errors
/// Fails if a rule is broken.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    if args.lower {
        tidy::words::lower(&session.workspace)?;
    }
    check(&session, !args.no_gen)
}

/// Checks the rules; if `tables` is set, also that the generated tables are up to date.
///
/// # Errors
/// Fails if a rule is broken.
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
