//! `mxrs convert`: converts models between formats.

mod onnx;

use crate::exit::Outcome;

/// Arguments of `convert`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    format: Format,
}

/// The format to convert from or to.
#[derive(clap::Subcommand)]
enum Format {
    /// ONNX models
    Onnx(onnx::Args),
}

/// Runs the command.
///
/// # Errors
/// Returns the error of the conversion.
pub fn run(args: &Args) -> Outcome {
    match &args.format {
        Format::Onnx(args) => onnx::run(args),
    }
}
