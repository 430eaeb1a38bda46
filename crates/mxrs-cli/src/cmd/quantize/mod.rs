//! `mxrs quantize`: converts a float32 checkpoint to 8-bit integers, with ranges from calibration records.

mod calibrate;
mod report;

use crate::args::{Compute, Format, Rgb, finite, image_shape, positive_rgb, rgb};
use crate::exit::{Failure, Outcome};
use crate::{start, terminal};
use calibrate::calibrate;
use mxrs::format::params::{checkpoint_path, symbol_path};
use mxrs::format::{Checkpoint, Options};
use mxrs::quantize::{
    CalibMode, CalibrationTable, Granularity, QuantizeMode, QuantizeOptions, QuantizedDType, QuantizedNetwork,
    Quantizer,
};
use mxrs::symbol::graph_to_file;
use mxrs::types::Shape;
use mxrs::{Error, Model};
use report::Report;
use std::path::{Path, PathBuf};

/// Arguments of `quantize`.
#[derive(clap::Args)]
#[command(after_help = "\
Writes PREFIX-quantized-symbol.json, PREFIX-quantized-NNNN.params and PREFIX-quantized-calibration.json.
The first two are a checkpoint like any other: mxrs predict --model PREFIX-quantized --epoch NNNN.

Example:
  mxrs quantize --prefix data/digits/resnet8 --epoch 10 --data-val data/digits/digits_train.rec \\
      --image-shape 1,28,28 --scale 0.00392156862745098 --num-calib-batches 10 --output /tmp/resnet8")]
pub struct Args {
    /// Model prefix of the checkpoint: `PREFIX-symbol.json` and `PREFIX-NNNN.params`
    #[arg(long, visible_alias = "model", value_name = "PREFIX", required_unless_present = "symbol")]
    #[arg(conflicts_with_all = ["symbol", "params"])]
    prefix: Option<PathBuf>,
    /// Epoch of the checkpoint, the NNNN in the names of the files that are read and written
    #[arg(long, value_name = "N", default_value_t = 0)]
    epoch: u64,
    /// Symbol file, instead of --prefix
    #[arg(long, value_name = "FILE", requires = "params")]
    symbol: Option<PathBuf>,
    /// Parameter file that belongs to --symbol
    #[arg(long, value_name = "FILE", requires = "symbol")]
    params: Option<PathBuf>,
    /// Record file (.rec) with calibration images; a few hundred are enough
    #[arg(long, visible_aliases = ["data", "rec"], value_name = "FILE.rec")]
    data_val: Option<PathBuf>,
    /// Shape of the images fed into the network: channels, height, width
    #[arg(long, visible_alias = "data-shape", value_name = "C,H,W", default_value = "3,224,224", value_parser = image_shape)]
    image_shape: Shape,
    /// Batch size
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    batch_size: u32,
    /// Number of batches for calibration, from the beginning of the file [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    num_calib_batches: Option<u32>,
    /// Resize the shorter edge of images to this size before the center is cropped [default: none]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    resize: Option<u32>,
    /// Factor by which pixel values are multiplied after the mean is subtracted
    #[arg(long, value_name = "F", default_value = "1", value_parser = finite, allow_hyphen_values = true)]
    scale: f32,
    /// Mean of red, green and blue, subtracted from the pixel values (0 to 255)
    #[arg(long, visible_alias = "mean-rgb", value_name = "R,G,B", default_value = "0,0,0", value_parser = rgb, allow_hyphen_values = true)]
    rgb_mean: Rgb,
    /// Standard deviation of red, green and blue, by which the pixel values are divided
    #[arg(long, visible_alias = "std-rgb", value_name = "R,G,B", default_value = "1,1,1", value_parser = positive_rgb)]
    rgb_std: Rgb,
    /// Calibration mode: none (ranges are computed in every run), naive (smallest and largest value), entropy (the threshold
    /// that loses the least information, by KL divergence)
    #[arg(long, value_name = "MODE", default_value_t, value_parser = word::<CalibMode>)]
    calib_mode: CalibMode,
    /// Data type of quantized activations: int8, uint8, or auto (uint8 if no value is negative)
    #[arg(long, value_name = "TYPE", default_value_t, value_parser = word::<QuantizedDType>)]
    quantized_dtype: QuantizedDType,
    /// Operators to quantize besides convolutions and fully-connected layers: smart (only those between two of these) or
    /// full (all that can be quantized)
    #[arg(long, value_name = "MODE", default_value_t, value_parser = word::<QuantizeMode>)]
    quantize_mode: QuantizeMode,
    /// Granularity of the weights' ranges: channel-wise (one for each output channel) or tensor-wise (one per tensor, which
    /// MXNet 1.9.1 can read)
    #[arg(long, value_name = "KIND", default_value_t, value_parser = word::<Granularity>)]
    granularity: Granularity,
    /// Names of nodes to exclude from quantization, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    exclude: Vec<String>,
    /// Names of operators to exclude from quantization, separated by commas
    #[arg(long, value_name = "OP", value_delimiter = ',')]
    exclude_op: Vec<String>,
    /// Do not fold batch normalization into the convolution before it
    #[arg(long)]
    no_fold: bool,
    /// Prefix of the names of the written files
    #[arg(long, value_name = "PREFIX")]
    output: PathBuf,
    /// Device, backend and threads.
    #[command(flatten)]
    compute: Compute,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Parses an option whose value is one of several words.
fn word<T: std::str::FromStr<Err = Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

/// Runs the command.
///
/// # Errors
/// Fails if the checkpoint or the records cannot be read, if there are no records, if a shape does not fit the network, if
/// no operator can be quantized, or if a file cannot be written.
pub fn run(args: &Args, with_progress: bool) -> Outcome {
    if args.data_val.is_none() && args.calib_mode != CalibMode::None {
        let text = format!("--calib-mode {} needs --data-val; without records use --calib-mode none", args.calib_mode);
        return Err(Failure::Usage(text));
    }
    let folder = args.output.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(Failure::Usage(format!(
            "--output {}: there is no folder {}",
            args.output.display(),
            folder.display()
        )));
    }
    let runtime = start::runtime(Some(&args.compute))?;
    let (symbol, params) = match (&args.prefix, &args.symbol, &args.params) {
        (Some(prefix), ..) => (symbol_path(prefix), checkpoint_path(prefix, args.epoch)),
        (None, Some(symbol), Some(params)) => (symbol.clone(), params.clone()),
        _ => return Err(Failure::Usage("give --prefix, or --symbol and --params".into())),
    };
    let graph = Model::load_graph(&runtime, &symbol).map_err(Failure::input)?;
    let loaded = Checkpoint::open(&params, &Options::default()).map_err(Failure::input)?;
    for warning in &loaded.warnings {
        tracing::warn!("{}: {warning}", params.display());
    }
    let params = loaded.value.arg.into_iter().chain(loaded.value.aux).collect();
    let quantizer =
        Quantizer::new(&graph, &params, runtime.ops(), &options(args, &runtime)).map_err(Failure::binding)?;
    let table = calibrate(args, &runtime, &quantizer, with_progress)?;
    let quantized = quantizer.finish(&table).map_err(Failure::binding)?;
    let files = write(args, &quantized, &table)?;
    let report = Report::new(&quantized.report, &table, files);
    match args.format {
        Format::Json => terminal::print_json(&report),
        Format::Table => terminal::print(&report.text()),
    }
}

fn options(args: &Args, runtime: &mxrs::Runtime) -> QuantizeOptions {
    QuantizeOptions {
        calib_mode: args.calib_mode,
        dtype: args.quantized_dtype,
        mode: args.quantize_mode,
        granularity: args.granularity,
        excluded_names: args.exclude.clone(),
        excluded_ops: args.exclude_op.clone(),
        fold_batch_norm: !args.no_fold,
        ..runtime.quantize_options()
    }
}

/// Writes the table, then the parameters, then the symbol file: if the symbol file exists, all files do. Each file appears
/// complete or not at all.
fn write(args: &Args, quantized: &QuantizedNetwork, table: &CalibrationTable) -> Outcome<Vec<PathBuf>> {
    let prefix = with_suffix(&args.output, "-quantized");
    let mut files = vec![symbol_path(&prefix), checkpoint_path(&prefix, args.epoch)];
    if args.calib_mode != CalibMode::None {
        let path = with_suffix(&prefix, "-calibration.json");
        table.save(&path).map_err(Failure::Run)?;
        files.push(path);
    }
    quantized.checkpoint.clone().save(&files[1]).map_err(Failure::Run)?;
    graph_to_file(&quantized.graph).save(&files[0]).map_err(Failure::Run)?;
    Ok(files)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    name.into()
}
