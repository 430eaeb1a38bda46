//! `mxrs rec2idx`: creates the index file of a record file.

use crate::exit::{Failure, Outcome};
use mxrs::data::record_tools::index_records;
use std::path::PathBuf;

/// Arguments of `rec2idx`.
#[derive(clap::Args)]
pub struct Args {
    /// Record file
    record: PathBuf,
    /// Index file to write
    index: PathBuf,
    /// Use 0, 1, 2, ... as keys, as MXNet's tool does, instead of the ids of the images
    #[arg(long)]
    sequential: bool,
}

/// Runs the command.
///
/// # Errors
/// Fails if the record file cannot be read, if an id occurs twice, or if the index file cannot be written.
pub fn run(args: &Args) -> Outcome {
    let n = index_records(&args.record, &args.index, args.sequential).map_err(Failure::input)?;
    tracing::info!("{}: {n} records", args.index.display());
    Ok(())
}
