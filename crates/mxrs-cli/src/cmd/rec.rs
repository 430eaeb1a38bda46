//! `mxrs rec`: lists, verifies, shuffles and splits record files.

use crate::exit::{Failure, Outcome};
use crate::{interrupt, terminal};
use mxrs::data::record_tools::{RecordInfo, shuffle_records, split_records, survey_records, verify_records};
use mxrs::types::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Arguments of `rec`.
#[derive(clap::Args)]
pub struct Args {
    /// The subcommand of `rec`.
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Print number, offset, id, labels, size in bytes and image format of every record, separated by tabs
    Ls {
        /// Record file
        record: PathBuf,
    },
    /// Read every record and decode its image; ends with exit code 3 if a record is bad
    Verify {
        /// Record file
        record: PathBuf,
        /// Index file to compare with the records
        #[arg(long)]
        index: Option<PathBuf>,
        /// Number of threads for decoding
        #[arg(long, default_value = "2")]
        threads: NonZeroUsize,
    },
    /// Write the records in random order into a new file, with an index
    Shuffle {
        /// Record file
        record: PathBuf,
        /// Record file to write
        out: PathBuf,
        /// Seed of the random order
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Split the records evenly into several files PREFIX_0.rec, ..., with indices
    Split {
        /// Record file
        record: PathBuf,
        /// Prefix of the names of the files
        prefix: PathBuf,
        /// Number of files
        #[arg(long)]
        parts: NonZeroUsize,
    },
}

/// Runs the command.
///
/// # Errors
/// Fails if a file cannot be read or written, or if a record is bad.
pub fn run(args: &Args, is_progress_wanted: bool) -> Outcome {
    let bar = terminal::progress(None, "records", is_progress_wanted);
    let mut tell = |done: u64| {
        bar.set_position(done);
        interrupt::check().map_err(|_| Error::invalid("interrupt", "one", "none"))
    };
    let outcome = match &args.what {
        What::Ls { record } => list(record),
        What::Verify { record, index, threads } => {
            verify_records(record, index.as_deref(), *threads, &mut tell).map_err(Failure::input).and_then(|report| {
                bar.finish_and_clear();
                conclude(record, &report)
            })
        }
        What::Shuffle { record, out, seed } => shuffle_records(record, out, *seed, &mut tell)
            .map(|n| tracing::info!("{}: {n} records", out.display()))
            .map_err(Failure::input),
        What::Split { record, prefix, parts } => split_records(record, prefix, parts.get(), &mut tell)
            .map(|files| files.iter().for_each(|file| tracing::info!("wrote {}", file.display())))
            .map_err(Failure::input),
    };
    bar.finish_and_clear();
    interrupt::check()?;
    outcome
}

fn list(record: &std::path::Path) -> Outcome {
    let mut printed = Ok(());
    let read = survey_records(record, &mut |info: RecordInfo| {
        let RecordInfo { number, offset, len_bytes, id, labels, format } = info;
        let id = id.map_or_else(|| "-".into(), |id| id.to_string());
        let labels: Vec<String> = labels.iter().map(f32::to_string).collect();
        printed =
            terminal::print_line(format!("{number}\t{offset}\t{id}\t{}\t{len_bytes}\t{format}", labels.join(",")));
        // The error of printing is in `printed`; the error that is returned here only ends the reading of records.
        if printed.is_err() { Err(Error::invalid("output", "closed", "open")) } else { Ok(()) }
    });
    printed?;
    read.map_err(Failure::input)
}

fn conclude(record: &std::path::Path, report: &mxrs::data::record_tools::VerifyReport) -> Outcome {
    for bad in &report.bad {
        let id = bad.id.map_or_else(|| "-".into(), |id| id.to_string());
        terminal::print_line(format!("bad\t{}\t{}\t{id}\t{}", bad.number, bad.offset, bad.reason))?;
    }
    if report.skipped_bytes > 0 {
        terminal::print_line(format!("damaged\t{} bytes belong to no record", report.skipped_bytes))?;
    }
    if let Some(e) = &report.index {
        terminal::print_line(format!("index\t{e}"))?;
    }
    terminal::print_line(format!("{} records, {} bad", report.n_records, report.bad.len()))?;
    if report.is_good() {
        return Ok(());
    }
    Err(Failure::Input(Error::invalid(record.display().to_string(), "damage", "records that can all be used")))
}
