//! `mxrs evaluate`: measures the accuracy of a checkpoint on a record file, with the flags and log lines of MXNet's
//! `score.py`.

use crate::args::{Compute, Rgb, image_shape, positive_rgb, rgb};
use crate::batches::{self, Parameters};
use crate::cmd::train::metrics;
use crate::contexts::{self, Contexts};
use crate::exit::{Failure, Outcome};
use crate::{interrupt, start, terminal};
use mxrs::data::DataIter;
use mxrs::train::metric::EvalMetric;
use mxrs::train::{BindFor, InitOptions, Module, ModuleNames};
use mxrs::types::Shape;
use std::path::PathBuf;
use std::time::Instant;

/// Arguments of `evaluate`.
#[derive(clap::Args)]
pub struct Args {
    /// Model prefix of the checkpoint
    #[arg(long, value_name = "PREFIX")]
    model: PathBuf,
    /// Epoch of the checkpoint
    #[arg(long, alias = "epoch", value_name = "EPOCH", default_value_t = 0)]
    load_epoch: u64,
    /// Record file (.rec) with the validation data
    #[arg(long, value_name = "FILE")]
    data_val: PathBuf,
    /// Batch size
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..))]
    batch_size: u64,
    /// Mean of red, green and blue, subtracted from the pixel values
    #[arg(long, value_name = "R,G,B", default_value = "0,0,0", value_parser = rgb)]
    rgb_mean: Rgb,
    /// Standard deviation of red, green and blue, by which the pixel values are divided
    #[arg(long, value_name = "R,G,B", default_value = "1,1,1", value_parser = positive_rgb)]
    rgb_std: Rgb,
    /// Shape of the images fed into the network
    #[arg(long, value_name = "C,H,W", default_value = "3,224,224", value_parser = image_shape)]
    image_shape: Shape,
    /// Number of threads for data decoding
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    data_nthreads: u16,
    /// Stop at the first record that cannot be decoded, instead of counting and skipping it
    #[arg(long)]
    strict: bool,
    /// Report the top-K accuracy too, if the network has more than K classes; 0 means no report
    #[arg(long, value_name = "K", default_value_t = 5)]
    top_k: usize,
    /// The devices among which every batch is divided.
    #[command(flatten)]
    contexts: Contexts,
    /// Also print the results as JSON on stdout
    #[arg(long)]
    json: bool,
    /// Device, backend and threads.
    #[command(flatten)]
    compute: Compute,
}

/// Runs the command.
///
/// # Errors
/// Fails if the checkpoint or the record file cannot be read, if shapes do not fit the network, or if the command is
/// interrupted.
pub fn run(args: &Args, shows_progress: bool) -> Outcome {
    let devices = args.contexts.devices(args.compute.device)?;
    let runtime = start::runtime(Some(&args.compute))?;
    contexts::check(&runtime, &devices)?;
    let mut records = records(args)?;
    let names = ModuleNames::default();
    let module = Module::load(&args.model, args.load_epoch, &runtime, names).map_err(Failure::input)?;
    let mut module = module.contexts(devices).map_err(Failure::binding)?;
    let (data, labels) = (records.provide_data().to_vec(), records.provide_label().to_vec());
    module.bind(&data, &labels, BindFor::inference()).map_err(Failure::binding)?;
    module.init_params(None, &InitOptions::default()).map_err(Failure::input)?;
    let n_classes = module.get_outputs()?.first().and_then(|output| output.shape().get(1).copied()).unwrap_or(0);
    let mut metric = metrics(if args.top_k < n_classes { args.top_k } else { 0 }, "")?;
    let n_batches = records.n_examples().map(|n| n.div_ceil(args.batch_size));
    let bar = terminal::progress(n_batches, "batches", shows_progress);
    let (start, mut n_images) = (Instant::now(), 0);
    while let Some(batch) = records.next_batch().map_err(Failure::input)? {
        interrupt::check()?;
        let pad = batch.pad;
        n_images += batch.n_valid();
        module.forward(batch, false)?;
        module.update_metric(&mut metric, pad)?;
        bar.inc(1);
    }
    let values = metric.get_global()?;
    let speed = n_images as f64 / start.elapsed().as_secs_f64();
    bar.finish_and_clear();
    tracing::info!("Finished with {speed:.6} images per second");
    for (name, value) in &values {
        tracing::info!("('{name}', {value})");
    }
    batches::tell_bad_records(&records);
    if args.json {
        let values: serde_json::Map<String, serde_json::Value> =
            values.into_iter().map(|(name, value)| (name, value.into())).collect();
        let bad_records = records.n_bad_records();
        let figures = serde_json::json!({
            "images": n_images, "bad_records": bad_records, "images_per_second": speed, "metrics": values
        });
        terminal::print_json(&figures)?;
    }
    Ok(())
}

/// Opens the record file. Records are read in file order.
fn records(args: &Args) -> Outcome<Box<dyn DataIter>> {
    let sizes: Vec<String> = args.image_shape.iter().map(ToString::to_string).collect();
    let mut parameters: Parameters = vec![
        ("path_imgrec", args.data_val.display().to_string()),
        ("data_shape", format!("({})", sizes.join(","))),
        ("batch_size", args.batch_size.to_string()),
        ("preprocess_threads", args.data_nthreads.to_string()),
        batches::max_bad_records(args.strict),
    ];
    let names = ["mean_r", "mean_g", "mean_b", "std_r", "std_g", "std_b"];
    let values = args.rgb_mean.0.into_iter().chain(args.rgb_std.0);
    parameters.extend(names.into_iter().zip(values).map(|(name, value)| (name, value.to_string())));
    batches::open(&parameters)
}
