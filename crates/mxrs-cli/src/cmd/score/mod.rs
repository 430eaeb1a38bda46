//! `mxrs score`: measures images per second of inference, with the flags and log lines of MXNet's `benchmark_score.py`.

mod explain;
mod measure;
mod report;

use crate::args::{Compute, float_dtype, image_shape};
use crate::exit::{Failure, Outcome, expect_writable};
use crate::networks::{self, Network, WITHOUT_FLOAT16, is_built};
use crate::profiling::{Wanted, profiled};
use crate::{interrupt, start};
use explain::Explained;
use measure::{Plan, measure};
use mxrs::Runtime;
use mxrs::exec::Search;
use mxrs::models::BENCHMARK_NETWORKS;
use mxrs::types::{DType, ErrorKind, Shape};
use report::{Cell, Report, Status};
use std::path::PathBuf;
use std::time::Duration;

/// How long the processor's peak is measured.
const PEAK_PATIENCE: Duration = Duration::from_millis(200);

/// Batch sizes of `--batch-size 0`.
const BATCH_SIZES: [usize; 5] = [1, 32, 64, 128, 256];

/// Arguments of `score`.
#[derive(clap::Args)]
pub struct Args {
    /// Networks to measure, separated by commas; `all` means those of MXNet's benchmark in its order: alexnet, vgg-16,
    /// resnetv1-50, resnet-50, resnet-152, inception-bn, inception-v3, inception-v4, inception-resnet-v2, mobilenet,
    /// densenet121, squeezenet1.1
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "all")]
    network: Vec<String>,
    /// Batch size; 0 means 1, 32, 64, 128 and 256 in turn
    #[arg(long, value_name = "N", default_value_t = 0)]
    batch_size: usize,
    /// Number of timed runs
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    num_batches: u32,
    /// Number of warm-up runs before the timed ones
    #[arg(long, value_name = "N", default_value_t = 5)]
    warmup: u32,
    /// Data types, separated by commas: float32, float16 (parameters, inputs and outputs are stored in float16; computed in
    /// float32), bfloat16. The products of a network from a symbol file compute in this type, everything else in float32
    #[arg(long, value_name = "TYPE", value_delimiter = ',', default_value = "float32", value_parser = float_dtype)]
    dtype: Vec<DType>,
    /// Number of repetitions of each measurement; above 1 a second line shows median and spread
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Print for each layer its time, its kernel, how the kernel was chosen, and the share of the processor's peak that it
    /// reaches
    #[arg(long)]
    explain: bool,
    /// Profile the runs, warm-up included: write a trace to this file, and print the costs of operators at the end
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "profile.json")]
    profile: Option<PathBuf>,
    /// Before measuring, find the fastest kernels by timing and store them for later runs, as `mxrs tune` does
    #[arg(long)]
    tune: bool,
    /// Write all results to this file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Symbol file of a network to measure, instead of --network
    #[arg(long, value_name = "FILE", conflicts_with = "network")]
    symbol: Option<PathBuf>,
    /// Parameter file for `--symbol`; random parameters otherwise
    #[arg(long, value_name = "FILE", requires = "symbol")]
    params: Option<PathBuf>,
    /// Shape of one image for `--symbol`: channels, height, width
    #[arg(long, value_name = "C,H,W", default_value = "3,224,224", value_parser = image_shape)]
    data_shape: Shape,
    /// Device, backend and threads.
    #[command(flatten)]
    compute: Compute,
}

/// Runs the command.
///
/// # Errors
/// Fails if a network is unknown, if a flag or file is not valid, or if the command is interrupted. A failed measurement is
/// reported after the other measurements.
pub fn run(args: &Args) -> Outcome {
    let names = names(args)?;
    args.json.as_deref().map_or(Ok(()), expect_writable)?;
    let runtime = match args.tune {
        true => start::runtime_searching(&args.compute, Search::default())?,
        false => start::runtime(Some(&args.compute))?,
    };
    let wanted = args.profile.as_deref().map(Wanted::all);
    profiled(wanted.as_ref(), || measure_all(args, &names, &runtime))
}

fn measure_all(args: &Args, names: &[String], runtime: &Runtime) -> Outcome {
    let mut report = Report::new(runtime, args.compute.device, args.num_batches, args.warmup);
    tracing::info!("{}", report.header());
    let outcome = names.iter().try_for_each(|name| network(args, runtime, name, &mut report));
    // The results before an interrupt are written too.
    if let Some(path) = &args.json {
        report.write(path)?;
    }
    outcome?;
    report.failure().map_or(Ok(()), Err)
}

fn names(args: &Args) -> Outcome<Vec<String>> {
    if let Some(symbol) = &args.symbol {
        let name = symbol.file_name().unwrap_or_default().to_string_lossy();
        return Ok(vec![name.trim_end_matches(".json").trim_end_matches("-symbol").to_owned()]);
    }
    if args.network.iter().any(|name| name == "all") {
        return Ok(BENCHMARK_NETWORKS.map(str::to_owned).to_vec());
    }
    if let Some(unknown) = args.network.iter().find(|name| !is_built(name)) {
        let error = mxrs::models::model(unknown, &Default::default()).map(|_| ());
        let text = error.map_err(|error| error.to_string()).err().unwrap_or_else(|| format!("network `{unknown}`"));
        return Err(Failure::Usage(text));
    }
    Ok(args.network.clone())
}

/// Measures one network with every batch size and dtype.
fn network(args: &Args, runtime: &Runtime, name: &str, report: &mut Report) -> Outcome {
    tracing::info!("network: {name}");
    tracing::info!("device: {}", args.compute.device);
    let sizes = if args.batch_size == 0 { BATCH_SIZES.to_vec() } else { vec![args.batch_size] };
    for batch_size in sizes {
        for &dtype in &args.dtype {
            interrupt::check()?;
            let (status, explained) = cell(args, runtime, name, batch_size, dtype)?;
            let mut cell = Cell::new(name, Some(batch_size), Some(dtype), status);
            cell.explained = explained;
            for line in cell.lines() {
                tracing::info!("{line}");
            }
            cell.explained.as_ref().map_or(Ok(()), Explained::print)?;
            report.add(cell);
        }
    }
    Ok(())
}

/// Measures one network with one batch size and dtype. A problem that concerns only this measurement is returned as its
/// status; an example is a dtype without effect, if several dtypes are given. Invalid flags, invalid files and interrupts end
/// the command.
fn cell(
    args: &Args,
    runtime: &Runtime,
    name: &str,
    batch_size: usize,
    dtype: DType,
) -> Outcome<(Status, Option<Explained>)> {
    if args.symbol.is_none() && dtype == DType::F16 && WITHOUT_FLOAT16.contains(&name) {
        return Ok((Status::NotBuilt(format!("Model definition for {name} does not support float16")), None));
    }
    if let Some(symbol) = args.symbol.as_ref().filter(|_| args.dtype.len() > 1)
        && let Some(why) = networks::refusal(runtime, symbol, dtype)?
    {
        return Ok((Status::NotBuilt(why), None));
    }
    let network = match &args.symbol {
        None => Network::named(name, dtype).map_err(Failure::from),
        Some(symbol) => Network::from_files(runtime, symbol, args.params.as_deref(), &args.data_shape, dtype),
    };
    let plan = Plan { batch_size, warmup: args.warmup, num_batches: args.num_batches, repeat: args.repeat };
    let measured = network.and_then(|network| Ok(network.into_model(runtime)?));
    let measured = measured.and_then(|(model, input)| measure(&model, &input, plan));
    let explained = measured.and_then(|(figures, bound)| {
        let explain = || Explained::measure(bound.executor(), args.num_batches, |dtype| peak(runtime, dtype));
        Ok((Status::Measured(figures), args.explain.then(explain).transpose()?))
    });
    match explained {
        Err(Failure::Run(error)) => {
            let status = match error.kind() {
                ErrorKind::OutOfMemory { .. } | ErrorKind::Overflow { .. } => Status::OutOfMemory(error.to_string()),
                ErrorKind::NotBuilt { .. } => Status::NotBuilt(error.to_string()),
                _ => Status::Failed(error.to_string()),
            };
            Ok((status, None))
        }
        other => other,
    }
}

/// Peak operations per second of the processor for numbers of this dtype, if known.
fn peak(runtime: &Runtime, dtype: DType) -> Option<f64> {
    runtime.peak_ops(dtype, PEAK_PATIENCE)
}
