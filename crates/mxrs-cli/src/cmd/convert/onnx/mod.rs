//! `mxrs convert onnx`: converts a checkpoint to an ONNX model, or an ONNX model to a checkpoint.

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

/// Direction of the conversion.
#[derive(clap::Subcommand)]
enum Direction {
    /// Export a symbol file and its parameters, or a network by name, to an ONNX model
    Export(export::Args),
    /// Import an ONNX model to a symbol file and a parameter file
    Import(import::Args),
}

/// Runs the command.
///
/// # Errors
/// Returns the error of the conversion.
pub fn run(args: &Args) -> Outcome {
    match &args.direction {
        Direction::Export(args) => export::run(args),
        Direction::Import(args) => import::run(args),
    }
}
