//! `mxrs completions SHELL`: prints the completion script of a shell, generated from the definitions of the flags.

use crate::args::Cli;
use crate::exit::Outcome;
use clap::CommandFactory;
use clap_complete::Shell;

/// Arguments of `mxrs completions`.
#[derive(clap::Args)]
#[command(after_help = "Example: mxrs completions bash > ~/.local/share/bash-completion/completions/mxrs")]
pub struct Args {
    /// Shell for which the script is generated
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// Prints the script on stdout.
///
/// # Errors
/// Returns an error if stdout cannot be written.
pub fn run(args: &Args) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mxrs", &mut script);
    crate::terminal::print(&String::from_utf8_lossy(&script))
}
