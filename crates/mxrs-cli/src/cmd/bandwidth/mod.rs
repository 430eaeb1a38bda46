//! `mxrs bandwidth`: measures how fast the workers of a job exchange gradients, as MXNet's `tools/bandwidth/measure.py`
//! does. Also measures the all-reduce of the MPI library that carries the messages, for comparison.

mod report;
mod simulate;

use crate::args::Format;
use crate::exit::{Failure, Outcome};
use crate::networks::parameter_work;
use crate::{start, terminal};
use mxrs::kvstore::bandwidth::{Load, measure};
use mxrs::kvstore::{Compression, StoreType};
use mxrs::types::Error;
use report::{Case, Report};

/// Bytes of an element.
const ELEMENT_BYTES: usize = 4;
/// The largest number of bytes of one measurement. It keeps the number of elements within 31 bits, as `MPI_Allreduce`
/// requires.
const MOST_BYTES: usize = 4 << 30;

/// Arguments of `bandwidth`.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:\n  mxrs launch -n 2 --launcher mpi -- mxrs bandwidth --size 1M,4M,64M\n  \
                        mxrs launch -n 2 -- mxrs bandwidth --network resnet-50")]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// Store of several workers: dist_sync, one of its aliases, p3 or horovod
    #[arg(long, value_name = "NAME", default_value = "dist_sync")]
    kv_store: String,
    /// Bytes of each key, separated by commas: one measurement for each size. K, M and G are powers of 1024
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "1M,4M,16M,64M", value_parser = size)]
    size: Vec<usize>,
    /// Number of keys of each size
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    keys: u32,
    /// Measure the parameters of a network, all together, instead of keys of one size
    #[arg(long, value_name = "NAME", conflicts_with_all = ["size", "keys"])]
    network: Option<String>,
    /// Number of measured rounds
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    num_batches: u32,
    /// Number of rounds before the measured ones
    #[arg(long, value_name = "N", default_value_t = 3)]
    warmup: u32,
    /// Send the gradients in the order of the backward pass, without priorities
    #[arg(long)]
    no_priority: bool,
    /// Compression of gradients: none, 2bit or 1bit
    #[arg(long, value_name = "TYPE", default_value = "none")]
    gc_type: String,
    /// Do not measure the all-reduce of the MPI library
    #[arg(long)]
    no_peer: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// What is done instead of a measurement.
#[derive(clap::Subcommand)]
enum What {
    /// Simulate training steps of more workers than a machine can run
    Simulate(Box<simulate::Args>),
}

/// Reads a number of bytes, such as `10240`, `64K` or `1M`.
fn size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        _ => return Err("expected a number of bytes, such as 64K or 1M".to_owned()),
    };
    let n: usize = digits.parse().map_err(|_| "expected a number of bytes, such as 64K or 1M".to_owned())?;
    match n.checked_mul(1 << shift) {
        Some(n) if (ELEMENT_BYTES..=MOST_BYTES).contains(&n) && n.is_multiple_of(ELEMENT_BYTES) => Ok(n),
        _ => Err(format!("expected a multiple of {ELEMENT_BYTES} of at most {MOST_BYTES} bytes")),
    }
}

/// Runs the command. Only the first worker prints the results.
///
/// # Errors
/// Fails if the store does not connect several processes, if no launcher has started this process, or if a worker is lost.
pub fn run(args: &Args) -> Outcome {
    if let Some(What::Simulate(args)) = &args.what {
        return simulate::run(args);
    }
    let store_type: StoreType = args.kv_store.parse().map_err(Failure::binding)?;
    if !store_type.is_distributed() {
        let text =
            format!("--kv-store: `{store_type}` is a store of one process; those of several: dist_sync, p3, horovod");
        return Err(Failure::Usage(text));
    }
    let cases = cases(args)?;
    let runtime = start::runtime(None)?;
    let store = runtime.kvstore(&args.kv_store).map_err(Failure::binding)?;
    if args.gc_type != "none" {
        let compression = Compression::new(&args.gc_type, 0.5);
        store.set_gradient_compression(compression.map_err(|error| Failure::Usage(format!("--gc-type: {error}")))?)?;
    }
    let (is_first, n_workers) = (store.rank() == 0, store.num_workers());
    let mut report = Report::new(&args.kv_store, n_workers, &args.gc_type, args.num_batches);
    let mut first_key = 0;
    for sizes in cases {
        let load = Load {
            first_key,
            by_priority: !args.no_priority,
            n_warmup: args.warmup as usize,
            n_rounds: args.num_batches as usize,
            with_transport: !args.no_peer,
            sizes,
        };
        first_key += i64::try_from(load.sizes.len()).unwrap_or(i64::MAX);
        let rounds = measure(&*store, runtime.arrays(), &load)?;
        let case = Case::new(&load.sizes, n_workers, &rounds);
        if is_first {
            case.log(&rounds, n_workers);
        }
        report.add(case);
    }
    if !is_first {
        return Ok(());
    }
    match args.format {
        Format::Table => terminal::print(&report.table()),
        Format::Json => terminal::print_json(&report),
    }
}

/// For each measurement, the number of elements of each of its keys.
fn cases(args: &Args) -> Outcome<Vec<Vec<usize>>> {
    if let Some(network) = &args.network {
        let work = parameter_work(network).map_err(Failure::binding)?;
        return Ok(vec![work.iter().map(|parameter| parameter.n_elements).collect()]);
    }
    let n_keys = args.keys as usize;
    if let Some(bytes) = args.size.iter().find(|bytes| bytes.saturating_mul(n_keys) > MOST_BYTES) {
        let got = format!("{n_keys} keys of {bytes} bytes");
        let error = Error::invalid("--size with --keys", got, format!("at most {MOST_BYTES} bytes together"));
        return Err(Failure::Usage(error.to_string()));
    }
    Ok(args.size.iter().map(|bytes| vec![bytes / ELEMENT_BYTES; n_keys]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(["4", "10240", "64K", "1m", "2MiB"].map(size), [4, 10_240, 65_536, 1 << 20, 2 << 20].map(Ok));
        for text in ["", "M", "3", "-4", "1T", "1.5M", "5G", "99999999999G", "0"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
