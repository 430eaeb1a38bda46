//! `mxrs bandwidth simulate`: how long a training step takes with more workers than a machine can run, by a model of messages
//! whose costs are fitted to what `mxrs bandwidth --format json` has measured.

mod draw;
mod fit;
mod table;

use crate::args::ListFormat;
use crate::exit::{Failure, Outcome, expect_writable};
use crate::networks::{ParameterWork, parameter_work};
use crate::terminal;
use fit::Costs;
use mxrs::kvstore::dist::{Machine, SimulatedKey, SimulatedStore, simulate};
use mxrs::types::Error;
use serde::Serialize;
use std::path::PathBuf;

/// Size in bytes above which MPI announces a message and waits for the receiver before it sends the data over a network.
/// This is Open MPI's limit for TCP.
const EAGER_BYTES: usize = 64 << 10;
/// Keys with at least this many elements are divided among all workers (`MXNET_KVSTORE_BIGARRAY_BOUND`).
const BIG_ARRAY: u64 = 1_000_000;
/// Number of elements of one message of the store `p3` (`MXNET_KVSTORE_SLICE_THRESHOLD`).
const SLICE: u64 = 40_000;

/// Arguments of `bandwidth simulate`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  mxrs launch -n 2 --launcher mpi -- mxrs bandwidth --format json > two.json\n  \
                        mxrs bandwidth simulate --measured two.json --network resnet-50,vgg-16 --link 10")]
pub struct Args {
    /// Reports of `mxrs bandwidth --format json`. The costs are fitted to all but those of the most workers, which are
    /// predicted [default: costs of a Xeon with AMX, fitted to 2 workers on 2 cores]
    #[arg(long, value_name = "FILE", num_args = 1..)]
    measured: Vec<PathBuf>,
    /// Networks, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "resnet-50")]
    network: Vec<String>,
    /// Stores, separated by commas: dist_sync, p3
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "dist_sync,p3")]
    kv_store: Vec<String>,
    /// Numbers of workers, separated by commas, each on a machine of its own
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "8,16,32,64,128,256,512,1024")]
    workers: Vec<usize>,
    /// Speed of the links in Gbit/s, separated by commas
    #[arg(long, value_name = "GBIT", value_delimiter = ',', default_value = "10")]
    link: Vec<f64>,
    /// Latency of a message in microseconds
    #[arg(long, value_name = "US", default_value_t = 20.0)]
    latency: f64,
    /// Examples of one worker in a step
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    batch_size: u32,
    /// Examples per second of one worker alone
    #[arg(long, value_name = "N", default_value_t = 100.0)]
    speed: f64,
    /// Draw the efficiency of all cases into this SVG file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    format: ListFormat,
}

/// The result of one simulated training step.
#[derive(Clone, Serialize)]
pub struct Cell {
    network: String,
    kv_store: String,
    link_gbit: f64,
    workers: usize,
    step_ms: f64,
    /// Examples per second, divided by the examples per second of the same workers without communication.
    efficiency: f64,
    /// The part of the step in which the workers only wait for communication.
    exposed: f64,
    /// The time from the end of the backward pass until the weights of the first layer have arrived.
    first_layer_ms: f64,
    /// Megabytes that the worker with the most messages sends in a step.
    sent_mb: f64,
    /// Megabytes of weights, gradients and received values at the owner that needs the most memory.
    memory_mb: f64,
    messages: u64,
}

/// Runs the command.
///
/// # Errors
/// Fails if a network or store is unknown, if a number is out of range, or if a file cannot be read or written.
pub fn run(args: &Args) -> Outcome {
    let positive = args.link.iter().chain([&args.speed]).find(|number| !(number.is_finite() && **number > 0.0));
    if let Some(number) = positive {
        return Err(Failure::Usage(Error::invalid("--link or --speed", number, "a positive number").to_string()));
    }
    if !(0.0..=1e6).contains(&args.latency) {
        return Err(Failure::Usage(Error::invalid("--latency", args.latency, "microseconds from 0").to_string()));
    }
    args.plot.as_deref().map_or(Ok(()), expect_writable)?;
    let stores = args.kv_store.iter().map(|name| store(name)).collect::<Outcome<Vec<_>>>()?;
    let mut costs = Costs::default();
    if !args.measured.is_empty() {
        let fitted = fit::fit(&args.measured)?;
        terminal::print(&table::fitted(&fitted, args.format))?;
        costs = fitted.costs;
    }
    let mut cells = Vec::new();
    for network in &args.network {
        let work = parameter_work(network).map_err(Failure::binding)?;
        let keys = keys(&work, f64::from(args.batch_size) / args.speed);
        for (name, store) in &stores {
            for &link in &args.link {
                let machine = Machine {
                    latency_s: args.latency * 1e-6,
                    link_s_per_byte: 8e-9 / link,
                    eager_bytes: EAGER_BYTES,
                    ..costs.machine(usize::MAX, None)
                };
                for &workers in &args.workers {
                    let step = simulate(&keys, workers, *store, &machine).map_err(Failure::binding)?;
                    cells.push(Cell {
                        network: network.clone(),
                        kv_store: name.clone(),
                        link_gbit: link,
                        workers,
                        step_ms: step.seconds * 1e3,
                        efficiency: step.compute_s / step.seconds,
                        exposed: 1.0 - step.compute_s / step.seconds,
                        first_layer_ms: step.first_layer_s * 1e3,
                        sent_mb: step.sent_bytes as f64 * 1e-6,
                        memory_mb: step.memory_bytes as f64 * 1e-6,
                        messages: step.n_messages,
                    });
                }
            }
        }
    }
    if let Some(path) = &args.plot {
        crate::svg::write(path, &draw::picture(&cells).map_err(Failure::Run)?)?;
    }
    match args.format {
        ListFormat::Json => terminal::print_json(&cells),
        format => terminal::print(&table::cells(&cells, format)),
    }
}

fn store(name: &str) -> Outcome<(String, SimulatedStore)> {
    let store = |slice_elements| SimulatedStore { big_array_elements: BIG_ARRAY, slice_elements, by_priority: true };
    match name {
        "dist_sync" => Ok((name.to_owned(), store(None))),
        "p3" => Ok((name.to_owned(), store(Some(SLICE)))),
        _ => Err(Failure::Usage(format!("--kv-store: `{name}` is not simulated; dist_sync and p3 are"))),
    }
}

/// The keys of a network, each with its share of the time of a step. The backward pass counts as twice as long as the
/// forward pass, and the time of a layer as proportional to its number of multiplications.
fn keys(work: &[ParameterWork], seconds: f64) -> Vec<SimulatedKey> {
    let all: f64 = work.iter().map(|parameter| parameter.n_products).sum::<f64>().max(1.0);
    let of = |parameter: &ParameterWork| {
        let share = seconds * parameter.n_products / all;
        SimulatedKey { n_elements: parameter.n_elements, forward_s: share / 3.0, backward_s: share * 2.0 / 3.0 }
    };
    work.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_resnet_50_is_known() {
        let work = parameter_work("resnetv1-50").unwrap();
        // 25.6 million parameters and 3.9 billion products for an image of 224 x 224 (He et al., arXiv:1512.03385, table 1).
        let n_elements: usize = work.iter().map(|parameter| parameter.n_elements).sum();
        let n_products: f64 = work.iter().map(|parameter| parameter.n_products).sum();
        assert!((25_500_000..25_700_000).contains(&n_elements), "{n_elements}");
        assert!((3.7e9..4.2e9).contains(&n_products), "{n_products}");
        let keys = keys(&work, 3.0);
        let forward: f64 = keys.iter().map(|key| key.forward_s).sum();
        assert!((forward - 1.0).abs() < 1e-9, "{forward}");
    }
}
