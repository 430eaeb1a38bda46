//! `mxrs man [--output FOLDER]`: writes manual pages, generated from the definitions of the flags.

use crate::args::Cli;
use crate::exit::{Outcome, written};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::path::{Path, PathBuf};

/// Arguments of `mxrs man`.
#[derive(clap::Args)]
#[command(after_help = "Examples: mxrs man | man -l -\n          mxrs man --output ~/.local/share/man/man1")]
pub struct Args {
    /// Folder into which one page per command is written (`mxrs.1`, `mxrs-train.1` and so on); created if it does not exist
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// Prints the page of the whole program, or writes all pages into a folder.
///
/// # Errors
/// Returns an error if stdout, the folder or a page cannot be written.
pub fn run(args: &Args) -> Outcome {
    // clap adds global flags to the subcommands only when the command is built.
    let mut command = Cli::command();
    command.build();
    let Some(folder) = &args.output else {
        return crate::terminal::print(&String::from_utf8_lossy(&page(&command)?));
    };
    std::fs::create_dir_all(folder).map_err(written(folder))?;
    write(folder, &command)
}

/// Writes the page of a command, and those of its subcommands.
fn write(folder: &Path, command: &Command) -> Outcome {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let path = folder.join(format!("{name}.1"));
    std::fs::write(&path, page(command)?).map_err(written(&path))?;
    command.get_subcommands().filter(|sub| sub.get_name() != "help").try_for_each(|sub| write(folder, sub))
}

fn page(command: &Command) -> Outcome<Vec<u8>> {
    let mut page = Vec::new();
    let title = command.get_display_name().unwrap_or_else(|| command.get_name());
    Man::new(command.clone()).title(title).render(&mut page).map_err(written(Path::new("manual page")))?;
    Ok(page)
}
