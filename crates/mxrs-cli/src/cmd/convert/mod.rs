//! `mxrs convert`: models from one format to another.

mod onnx;

use crate::exit::Outcome;

/// Arguments of `convert`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    format: Format,
}

/// The other format.
#[derive(clap::Subcommand)]
enum Format {
    /// ONNX models
    Onnx(onnx::Args),
}

/// Runs the command.
///
/// # Errors
/// What the conversion reports.
pub fn run(args: &Args) -> Outcome {
    match &args.format {
        Format::Onnx(args) => onnx::run(args),
    }
}
