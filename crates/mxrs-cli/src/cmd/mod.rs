//! The subcommands: one file each, with the arguments and the function that runs it.

mod bandwidth;
mod completions;
mod convert;
mod diagnose;
mod env;
mod evaluate;
mod fine_tune;
mod im2rec;
#[cfg(unix)]
mod kill;
#[cfg(unix)]
mod launch;
mod man;
mod ops;
mod plan;
mod plot;
mod predict;
mod profile;
mod quantize;
mod rec;
mod rec2idx;
mod score;
mod summary;
mod train;
mod tune;

use crate::args::Cli;
use crate::exit::Outcome;

/// The subcommands of `mxrs`.
#[derive(clap::Subcommand)]
pub enum Command {
    /// List every environment variable with its value, origin, default and meaning
    Env(env::Args),
    /// Print the layers of a symbol file with their output shapes and parameters
    Summary(summary::Args),
    /// Plan the memory of a graph without running it, and compare the planning algorithms
    Plan(plan::Args),
    /// Draw a graph as SVG or as a Graphviz file
    Plot(plot::Args),
    /// Train a network on a record file
    Train(Box<train::Args>),
    /// Start the workers of a distributed training, and merge their output
    #[cfg(unix)]
    Launch(launch::Args),
    /// End jobs that `launch` has started, or list them
    #[cfg(unix)]
    Kill(kill::Args),
    /// Measure how fast the workers of a job exchange gradients
    Bandwidth(bandwidth::Args),
    /// Fine-tune a trained network on other classes
    FineTune(Box<fine_tune::Args>),
    /// Measure the accuracy of a checkpoint on a record file
    Evaluate(evaluate::Args),
    /// Classify the images of a record file, or image files, with a checkpoint; or run an ONNX model on arrays
    Predict(predict::Args),
    /// Convert a float32 checkpoint to an 8-bit integer checkpoint
    Quantize(quantize::Args),
    /// Measure the inference speed, in images per second, of the networks on MXNet's performance page
    Score(score::Args),
    /// Profile a subcommand: where its time and memory go
    Profile(Box<profile::Args>),
    /// Find the fastest kernels of networks by timing, and store them for later runs
    Tune(tune::Args),
    /// List the operators that are built, and the backends that support them
    Ops(ops::Args),
    /// Convert models between formats
    Convert(convert::Args),
    /// Create the image list of a folder, or pack the images of a list into a record file
    Im2rec(im2rec::Args),
    /// Create the index file of a record file
    Rec2idx(rec2idx::Args),
    /// List, verify, shuffle and split record files
    Rec(rec::Args),
    /// Describe this build and this machine, for bug reports
    Diagnose(diagnose::Args),
    /// Print the completion script of a shell
    Completions(completions::Args),
    /// Print the manual page, or write one page per command into a folder
    Man(man::Args),
}

impl Command {
    /// Whether the command checks for signals between batches, images or records. The other commands are short; a signal
    /// ends them immediately.
    pub fn checks_signals(&self) -> bool {
        use Command::{Evaluate, FineTune, Im2rec, Predict, Quantize, Rec, Score, Train, Tune};
        #[cfg(unix)]
        if matches!(self, Command::Launch(_)) {
            return true;
        }
        matches!(
            self,
            Train(_) | FineTune(_) | Evaluate(_) | Predict(_) | Quantize(_) | Score(_) | Tune(_) | Im2rec(_) | Rec(_)
        )
    }
}

/// Runs the command.
///
/// # Errors
/// Returns the error of the command.
pub fn run(cli: &Cli) -> Outcome {
    match &cli.command {
        Command::Env(args) => env::run(args),
        Command::Summary(args) => summary::run(args),
        Command::Plan(args) => plan::run(args),
        Command::Plot(args) => plot::run(args),
        Command::Predict(args) => predict::run(args, !cli.logging.quiet),
        Command::Train(args) => train::run(args, !cli.logging.quiet),
        #[cfg(unix)]
        Command::Launch(args) => launch::run(args),
        #[cfg(unix)]
        Command::Kill(args) => kill::run(args),
        Command::Bandwidth(args) => bandwidth::run(args),
        Command::FineTune(args) => fine_tune::run(args, !cli.logging.quiet),
        Command::Evaluate(args) => evaluate::run(args, !cli.logging.quiet),
        Command::Quantize(args) => quantize::run(args, !cli.logging.quiet),
        Command::Score(args) => score::run(args),
        Command::Profile(args) => profile::run(args),
        Command::Tune(args) => tune::run(args, !cli.logging.quiet),
        Command::Ops(args) => ops::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Im2rec(args) => im2rec::run(args, !cli.logging.quiet),
        Command::Rec2idx(args) => rec2idx::run(args),
        Command::Rec(args) => rec::run(args, !cli.logging.quiet),
        Command::Diagnose(args) => diagnose::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    }
}
