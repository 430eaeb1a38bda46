//! `mxrs tune`: finds the fastest kernels of networks by timing, and stores them for later runs.

use crate::args::{Compute, Format, float_dtype, image_shape};
use crate::exit::{Failure, Outcome};
use crate::networks::{self, Network};
use crate::{interrupt, start, terminal};
use indicatif::ProgressBar;
use mxrs::Runtime;
use mxrs::exec::{Search, TunedCall};
use mxrs::types::{DType, Error, Shape};
use mxrs_sync::Mutex;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Operators with several kernels. The number of their calls in a network is the length of the progress bar.
const TUNED: [&str; 2] = ["Convolution", "FullyConnected"];

/// Arguments of `tune`.
#[derive(clap::Args)]
#[command(
    after_help = "Example: mxrs tune --network resnet-50 --batch-size 1,32\n\nResults are kept in the file that \
                        MXRS_TUNING_CACHE names. They hold for this processor, version, number of threads and settings."
)]
pub struct Args {
    /// Networks to tune, separated by commas, such as resnet-50
    #[arg(long, value_name = "NAME", value_delimiter = ',', required_unless_present = "symbol")]
    network: Vec<String>,
    /// Batch sizes, separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1",
          value_parser = clap::value_parser!(u32).range(1..))]
    batch_size: Vec<u32>,
    /// Time budget per layer in milliseconds, in addition to two runs of each kernel
    #[arg(long, value_name = "MS", default_value_t = 500)]
    budget: u64,
    /// Also time layers whose result is already stored
    #[arg(long)]
    again: bool,
    /// Data types, separated by commas: float32, float16 (parameters, inputs and outputs are stored in float16; computed in
    /// float32), bfloat16. The products of a network from a symbol file compute in this type, everything else in float32
    #[arg(long, value_name = "TYPE", value_delimiter = ',', default_value = "float32", value_parser = float_dtype)]
    dtype: Vec<DType>,
    /// Symbol file of a network to tune, instead of --network
    #[arg(long, value_name = "FILE", conflicts_with = "network")]
    symbol: Option<PathBuf>,
    /// Parameter file for `--symbol`, required for quantized networks; random parameters otherwise
    #[arg(long, value_name = "FILE", requires = "symbol")]
    params: Option<PathBuf>,
    /// Shape of one image for `--symbol`: channels, height, width
    #[arg(long, value_name = "C,H,W", default_value = "3,224,224", value_parser = image_shape)]
    data_shape: Shape,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Device, backend and threads.
    #[command(flatten)]
    compute: Compute,
}

/// The tuning result of one layer.
#[derive(Serialize)]
struct Layer {
    name: String,
    operator: &'static str,
    output: String,
    kernel: String,
    microseconds: f64,
    /// The kernel that the estimates choose; `None` if the result was already stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<String>,
    microseconds_of_estimate: f64,
    /// Number of kernels that were timed; 0 if the result was already stored.
    tried: usize,
}

/// The tuning results of one network with one batch size and dtype.
#[derive(Serialize)]
struct Found {
    network: String,
    batch_size: u32,
    dtype: &'static str,
    layers: Vec<Layer>,
    milliseconds: f64,
    milliseconds_of_estimates: f64,
    /// File in which the results are stored.
    file: Option<PathBuf>,
}

/// The results and the progress bar of a running search.
struct Watch {
    calls: Vec<TunedCall>,
    bar: ProgressBar,
}

/// Runs the command.
///
/// # Errors
/// Fails if a network is unknown, if a flag or file is not valid, if an environment variable forbids timing, if the command is
/// interrupted, or if the results cannot be written.
pub fn run(args: &Args, show_progress: bool) -> Outcome {
    let watch = Arc::new(Mutex::new(Watch { calls: Vec::new(), bar: ProgressBar::hidden() }));
    let told = Arc::clone(&watch);
    let mut search = Search::new(Duration::from_millis(args.budget)).looked_on_by(move |call| {
        let mut watch = told.lock();
        watch.bar.inc(1);
        watch.calls.push(call.clone());
        interrupt::check().map_err(|_| Error::invalid("search for kernels", "an interrupt", "none"))
    });
    search.again = args.again;
    let runtime = start::runtime_searching(&args.compute, search)?;
    if runtime.settings().tuning_cache().is_none() {
        tracing::warn!("results are not kept: MXRS_TUNING_CACHE is 0, or there is no folder for caches");
    }
    // The dtypes are checked before the first search, because a search takes long.
    if let Some(symbol) = &args.symbol {
        for &dtype in &args.dtype {
            if let Some(why) = networks::refusal(&runtime, symbol, dtype)? {
                return Err(Failure::Usage(why));
            }
        }
    }
    let names = match &args.symbol {
        None => args.network.clone(),
        Some(path) => vec![path.file_name().unwrap_or_default().to_string_lossy().into_owned()],
    };
    let mut all = Vec::new();
    for name in &names {
        for &batch_size in &args.batch_size {
            for &dtype in &args.dtype {
                interrupt::check()?;
                let found = network(args, &runtime, (name.as_str(), batch_size, dtype), &watch, show_progress)?;
                if args.format == Format::Table {
                    found.print()?;
                }
                all.push(found);
            }
        }
    }
    if args.format == Format::Json { terminal::print_json(&all) } else { Ok(()) }
}

fn network(
    args: &Args,
    runtime: &Runtime,
    (name, batch_size, dtype): (&str, u32, DType),
    watch: &Mutex<Watch>,
    show_progress: bool,
) -> Outcome<Found> {
    let network = match &args.symbol {
        None => Network::named(name, dtype).map_err(Failure::binding)?,
        Some(symbol) => Network::from_files(runtime, symbol, args.params.as_deref(), &args.data_shape, dtype)?,
    };
    let (model, input) = network.into_model(runtime)?;
    let n_calls = model.graph().nodes().iter().filter(|node| TUNED.contains(&node.op_name())).count();
    let bar = terminal::progress(Some(n_calls as u64), "layers", show_progress);
    *watch.lock() = Watch { calls: Vec::new(), bar: bar.clone() };
    let bound = model.bind(&[(&input.name, input.shape(batch_size as usize))]);
    bar.finish_and_clear();
    interrupt::check()?;
    bound?;
    let calls = std::mem::take(&mut watch.lock().calls);
    let sum = |seconds: fn(&TunedCall) -> f64| calls.iter().map(seconds).sum::<f64>() * 1e3;
    Ok(Found {
        network: name.to_owned(),
        batch_size,
        dtype: dtype.name(),
        milliseconds: sum(|call| call.seconds),
        milliseconds_of_estimates: sum(|call| call.seconds_of_estimate),
        layers: calls.into_iter().map(Layer::of).collect(),
        file: runtime.keep_kernels()?,
    })
}

impl Layer {
    fn of(call: TunedCall) -> Self {
        Self {
            name: call.node,
            operator: call.op,
            output: call.output,
            kernel: format!("{} {}", call.backend, call.algorithm),
            microseconds: call.seconds * 1e6,
            estimate: call.estimate,
            microseconds_of_estimate: call.seconds_of_estimate * 1e6,
            tried: call.n_tried,
        }
    }
}

impl Found {
    fn print(&self) -> Outcome {
        let headings = ["layer", "output", "kernel", "us", "estimate's choice", "us", "gain", "tried"];
        let mut table = terminal::table(&headings);
        for layer in &self.layers {
            let gain = 1.0 - layer.microseconds / layer.microseconds_of_estimate.max(1e-9);
            let is_same = layer.estimate.as_ref() == Some(&layer.kernel);
            table.add_row([
                layer.name.clone(),
                layer.output.clone(),
                layer.kernel.clone(),
                format!("{:.1}", layer.microseconds),
                if is_same { "the same".into() } else { layer.estimate.clone().unwrap_or_default() },
                format!("{:.1}", layer.microseconds_of_estimate),
                format!("{:.0} %", gain * 100.0),
                if layer.tried == 0 { "known".into() } else { layer.tried.to_string() },
            ]);
        }
        for column in [3, 5, 6, 7] {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(comfy_table::CellAlignment::Right);
            }
        }
        let (after, before) = (self.milliseconds, self.milliseconds_of_estimates);
        let kept = self.file.as_ref().map_or(String::new(), |file| format!("; kept in {}", file.display()));
        terminal::print(&format!(
            "{} at batch size {}, {}\n{table}\n{} layers: {after:.3} ms, by estimates {before:.3} ms{kept}\n",
            self.network,
            self.batch_size,
            self.dtype,
            self.layers.len()
        ))
    }
}
