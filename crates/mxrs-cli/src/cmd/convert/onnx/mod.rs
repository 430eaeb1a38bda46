//! `mxrs convert onnx`: a checkpoint as an ONNX model, and back.

mod comparison;
mod export;
mod import;

use crate::exit::Outcome;

/// Arguments of `convert onnx`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    direction: Direction,
}

/// From here to there.
#[derive(clap::Subcommand)]
enum Direction {
    /// Write an ONNX model of a symbol file and its parameters, or of one of our networks
    Export(export::Args),
    /// Write the symbol file and the parameters of an ONNX model
    Import(import::Args),
}

/// Runs the command.
///
/// # Errors
/// What the conversion reports.
pub fn run(args: &Args) -> Outcome {
    match &args.direction {
        Direction::Export(args) => export::run(args),
        Direction::Import(args) => import::run(args),
    }
}
