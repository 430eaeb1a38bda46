//! The list of subcommands. Each has a file of its own with its arguments and its implementation.

mod ci;
mod compare;
mod demo;
mod doc;
mod fmt;
mod fuzz;
mod generate;
mod leaks;
mod lint;
mod loom;
mod miri;
mod package;
mod read;
mod setup;
mod stress;
mod suite;
mod test;
mod tidy;
mod tsan;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// The runner of mxrs: every check, CI step and README command.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Find or install the C++ compiler that oneDNN needs
    Setup(setup::Args),
    /// Build in release, classify digits with both checkpoints, time resnet-50
    Demo(demo::Args),
    /// Run every check and every test
    Test(test::Args),
    /// Run the steps of CI, cheapest first; stop at the first failure
    Ci(ci::Args),
    /// Run clippy on everything; warnings are errors
    Lint(lint::Args),
    /// Format the code, or check that it is formatted
    Fmt(fmt::Args),
    /// Check the project's own rules: dependencies between crates, module docs, tables that must match the code
    Tidy(tidy::Args),
    /// Print randomly chosen comments, to judge whether a newcomer understands them
    Read(read::Args),
    /// Build the documentation; warnings are errors
    Doc(doc::Args),
    /// Write the generated tables of docs/, or check that they are up to date
    Gen(generate::Args),
    /// Run the fuzz targets
    Fuzz(fuzz::Args),
    /// Check the protocols of the engine, the storage pools and the thread team with loom
    Loom(loom::Args),
    /// Run random programs on every kind of engine and compare them with a serial interpreter of the rules
    Stress(stress::Args),
    /// Run the tests of the crates with unsafe code under Miri
    Miri(miri::Args),
    /// Measure mxrs and other libraries on this machine: engine, memory, score, storage, team
    Compare(compare::Args),
    /// Pack every crate and build programs outside the workspace from the packed files
    Package(package::Args),
    /// Run the tests of the crates with threads under the thread sanitizer
    Tsan(tsan::Args),
    /// Run tests and examples of the crates that own memory and threads under the leak sanitizer
    Leaks(leaks::Args),
}

/// Runs the chosen subcommand.
///
/// # Errors
/// Returns the error of the subcommand.
pub fn run(cli: Cli) -> Result<()> {
    match cli.command {
        Command::Setup(args) => setup::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Ci(args) => ci::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::Tidy(args) => tidy::run(&args),
        Command::Read(args) => read::run(&args),
        Command::Doc(args) => doc::run(&args),
        Command::Gen(args) => generate::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Loom(args) => loom::run(&args),
        Command::Stress(args) => stress::run(&args),
        Command::Miri(args) => miri::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Package(args) => package::run(&args),
        Command::Tsan(args) => tsan::run(&args),
        Command::Leaks(args) => leaks::run(&args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Wrong values end with exit code 2, before anything is built.
    #[test]
    fn wrong_values_are_bad_usage() {
        for line in [
            "stress --programs two",
            "stress --programs 0",
            "stress --threads 0",
            "stress --kind Naive",
            "compare",
            "compare bandwidth --megabytes ten",
            "compare bandwidth --format xml",
            "compare engine --operators 0",
            "compare memory --steps 0",
            "compare memory --format xml",
            "compare score --network resnet-7",
            "compare score --network alexnet,resnet",
            "compare score --batch 0",
            "compare score --batch 1,0",
            "compare score --threads 0",
            "compare score --rounds 0",
            "compare score --dtype int4",
            "compare score --from a.json --peer mxrs",
            "compare score --from a.json --check 1",
            "compare score --from a.json --round-seconds 1",
            "compare score --from a.json --timeout 1",
            "compare score --from a.json --set A=0",
            "compare score --from a.json --python /a/python",
            "compare score --from a.json --upgrade-peers",
            "compare score --upgrade-peers --offline",
            "compare storage --iterations 0",
            "compare storage --pairs 0",
            "compare team --round-us 0",
            "compare team --seconds=-1",
            "compare team --format xml",
            "loom --max-preemptions -1",
            "fuzz --execs 0",
            "leaks some_test",
            "package mxrs-types",
            "read --count 0",
            "read --seed x",
            "nonsense",
        ] {
            let error = Cli::try_parse_from(["xtask"].into_iter().chain(line.split(' '))).err();
            assert_eq!(error.map(|error| error.exit_code()), Some(2), "{line}");
        }
    }
}
