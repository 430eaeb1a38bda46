//! `mxrs rec2idx`: the index of a record file.

use crate::exit::{Failure, Outcome};
use mxrs::data::record_tools::index_records;
use std::path::PathBuf;

/// Arguments of `rec2idx`.
#[derive(clap::Args)]
pub struct Args {
    /// Record file
    record: PathBuf,
    /// Index to write
    index: PathBuf,
    /// Number records 0, 1, 2, ... as MXNet's tool does, instead of taking the ids of their images
    #[arg(long)]
    sequential: bool,
}

/// Runs the command.
///
/// # Errors
/// A record file that cannot be read, an id that comes twice, an index that cannot be written.
pub fn run(args: &Args) -> Outcome {
    let n = index_records(&args.record, &args.index, args.sequential).map_err(Failure::input)?;
    tracing::info!("{}: {n} records", args.index.display());
    Ok(())
}
