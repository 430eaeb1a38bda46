//! `mxrs predict`: classifies images with a checkpoint, or runs an ONNX model on arrays.

mod contents;
mod file_names;
mod onnx;
mod outcome;

use crate::args::{Compute, Format, Rgb, finite, image_shape, positive_rgb, rgb};
use crate::exit::{Failure, Outcome, expect_writable};
use crate::picture::{self, Picture};
use crate::records::ImageSource;
use crate::{interrupt, start, terminal};
use mxrs::data::ImageOptions;
use mxrs::format::{ArrayFile, Tensor, npy, write_atomically};
use mxrs::types::Shape;
use mxrs::{Model, Predictor};
use onnx::OnnxArgs;
use outcome::{Prediction, Predictions, percent};
use std::path::{Path, PathBuf};
use std::time::Instant;

const EXAMPLES: &str = "Examples:
  mxrs predict --model data/digits/lenet --epoch 10 --data data/digits/digits_val.rec \\
      --data-shape 1,28,28 --scale 0.00392156862745098
  mxrs predict --model bert.onnx --input input_ids=ids.npy --input attention_mask=mask.npy --output-dir outputs";

/// Arguments of `predict`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model prefix of the checkpoint: `PREFIX-symbol.json` and `PREFIX-NNNN.params`; or an ONNX model, a file that ends in
    /// .onnx
    #[arg(long, value_name = "PREFIX|FILE.onnx")]
    model: PathBuf,
    /// Epoch of the checkpoint, the NNNN in its file name
    #[arg(long, value_name = "N", default_value_t = 0)]
    epoch: u64,
    /// Record file with images and labels
    #[arg(long, value_name = "FILE.rec", conflicts_with = "images")]
    data: Option<PathBuf>,
    /// Image files (JPEG or PNG)
    #[arg(value_name = "IMAGE")]
    images: Vec<PathBuf>,
    /// Shape of the images fed into the network: channels, height, width
    #[arg(long, value_name = "C,H,W", default_value = "3,224,224", value_parser = image_shape)]
    data_shape: Shape,
    /// Batch size
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    batch_size: u32,
    /// Resize the shorter edge of images to this size before the center is cropped [default: the longer edge of data-shape
    /// for image files, none for records]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    resize: Option<u32>,
    /// Factor by which pixel values are multiplied after the mean is subtracted
    #[arg(long, value_name = "F", default_value = "1", value_parser = finite, allow_hyphen_values = true)]
    scale: f32,
    /// Mean of red, green and blue, subtracted from the pixel values (0 to 255)
    #[arg(long, value_name = "R,G,B", default_value = "0,0,0", value_parser = rgb, allow_hyphen_values = true)]
    mean_rgb: Rgb,
    /// Standard deviation of red, green and blue, by which the pixel values are divided
    #[arg(long, value_name = "R,G,B", default_value = "1,1,1", value_parser = positive_rgb)]
    std_rgb: Rgb,
    /// Device, backend and threads.
    #[command(flatten)]
    compute: Compute,
    /// Number of classes shown per image, most probable first
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    top: u32,
    /// File with one class name per line, in the order of the classes
    #[arg(long, value_name = "FILE")]
    synset: Option<PathBuf>,
    /// Write all probabilities to this file: `.npy`, or `.npz` with `prob` and `label`
    #[arg(long, value_name = "FILE.npy|FILE.npz")]
    output: Option<PathBuf>,
    /// Draw the first N images in the terminal
    #[arg(long, value_name = "N", default_value_t = 0)]
    draw: u32,
    /// Arguments for ONNX models.
    #[command(flatten)]
    onnx: OnnxArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// File format of `--output`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OutputForm {
    Npy,
    Npz,
}

/// Runs the command.
///
/// # Errors
/// Fails if the checkpoint or the images cannot be read, if a shape does not fit the network, or if a kernel fails. For an
/// ONNX model, fails as [`onnx::run`] does.
pub fn run(args: &Args, with_progress: bool) -> Outcome {
    let is_onnx = onnx::is_onnx(&args.model);
    expect_what_the_model_takes(args, is_onnx)?;
    if is_onnx {
        return onnx::run(&args.model, &args.onnx, &args.compute, args.format);
    }
    let form = args.output.as_deref().map(output_form).transpose()?;
    args.output.as_deref().map_or(Ok(()), expect_writable)?;
    let runtime = start::runtime(Some(&args.compute))?;
    let classes = args.synset.as_deref().map(read_synset).transpose()?;
    let model = Model::load(&runtime, &args.model, args.epoch).map_err(Failure::input)?;
    let predictor = model.predictor(args.batch_size as usize, &args.data_shape).map_err(Failure::binding)?;
    if let Some(names) = classes.as_ref().filter(|names| names.len() != predictor.row_len()) {
        let (got, expected) = (names.len(), predictor.row_len());
        return Err(Failure::Usage(format!("--synset names {got} classes, the network has {expected}")));
    }
    let mut source = source(args).map_err(Failure::input)?;
    let progress = terminal::progress(source.known_len(), "images", with_progress);
    let mut predictions = Predictions::new(predictor.row_len(), args.top as usize, classes);
    let mut pictures = Vec::new();
    let start = Instant::now();
    while let Some(batch) = source.next().transpose().map_err(Failure::input)? {
        interrupt::check()?;
        let first = predictions.len();
        predictions.add(&batch, predict(&predictor, &batch.data)?);
        for (image, row) in batch.images.iter().take(batch.n).zip(predictions.rows_from(first)) {
            if pictures.len() >= args.draw as usize {
                break;
            }
            let picture = Picture::new(image, 40, terminal::stdout_has_colors());
            pictures.push((caption(row), picture));
        }
        progress.inc(batch.n as u64);
    }
    progress.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    if let (Some(path), Some(form)) = (&args.output, form) {
        write_output(path, form, &predictions)?;
    }
    match args.format {
        Format::Json => terminal::print_json(&predictions.report(seconds)),
        Format::Table => {
            if !pictures.is_empty() {
                terminal::print(&picture::gallery(&pictures, 120))?;
                terminal::print_line("")?;
            }
            terminal::print(&predictions.text(seconds))
        }
    }
}

/// Checks that a checkpoint gets images, and an ONNX model arrays.
fn expect_what_the_model_takes(args: &Args, is_onnx: bool) -> Outcome {
    let has_images = args.data.is_some() || !args.images.is_empty();
    let has_arrays = !args.onnx.input.is_empty() || args.onnx.output_dir.is_some();
    let message = match is_onnx {
        true if has_images => "an ONNX model does not take images: give an array for each input, --input NAME=FILE.npy",
        true if args.output.is_some() => {
            "--output is for checkpoints: give --output-dir for the outputs of an ONNX model"
        }
        false if has_arrays => "--input and --output-dir are for ONNX models: --model does not end in .onnx",
        false if !has_images => "give image files, or a record file with --data; an ONNX model takes --input",
        _ => return Ok(()),
    };
    Err(Failure::Usage(message.into()))
}

/// Runs one batch and reads its result. Kernels may run on other threads: their errors are returned when the result is read.
fn predict(predictor: &Predictor, data: &[f32]) -> Outcome<Vec<f32>> {
    Ok(predictor.predict(data)?)
}

fn source(args: &Args) -> mxrs::Result<ImageSource> {
    let shape = &args.data_shape;
    let colors = |rgb: Rgb, alpha: f32| [rgb.0[0], rgb.0[1], rgb.0[2], alpha];
    let edge = args.resize.map(|edge| edge as usize);
    let mut options = ImageOptions {
        scale: args.scale,
        mean: colors(args.mean_rgb, 0.0),
        std: colors(args.std_rgb, 1.0),
        resize: edge,
        ..ImageOptions::new([shape[0], shape[1], shape[2]])
    };
    match &args.data {
        Some(path) => {
            let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
            ImageSource::records(path, &options, args.batch_size as usize, threads)
        }
        None => {
            options.resize = edge.or(Some(shape[1].max(shape[2])));
            ImageSource::files(&args.images, &options, args.batch_size as usize)
        }
    }
}

fn output_form(path: &Path) -> Outcome<OutputForm> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npy") => Ok(OutputForm::Npy),
        Some("npz") => Ok(OutputForm::Npz),
        _ => Err(Failure::Usage(format!("--output {}: expected a name that ends in .npy or .npz", path.display()))),
    }
}

fn read_synset(path: &Path) -> Outcome<Vec<String>> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::Input(mxrs::Error::io(path, &error)))?;
    Ok(text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect())
}

fn write_output(path: &Path, form: OutputForm, predictions: &Predictions) -> Outcome {
    let prob = Tensor::from_slice([predictions.len(), predictions.n_classes()], predictions.probabilities())?;
    let written = match form {
        OutputForm::Npy => write_atomically(path, |sink| npy::write(sink, prob.as_dense()?)),
        OutputForm::Npz => {
            let mut arrays = vec![("prob".to_owned(), prob)];
            if let Some(labels) = predictions.labels() {
                arrays.push(("label".to_owned(), Tensor::from_slice([labels.len()], labels)?));
            }
            ArrayFile::named(arrays).save_npz(path)
        }
    };
    written.map_err(Failure::Run)
}

fn caption(prediction: &Prediction) -> String {
    let best = prediction.top.first();
    let guess = best.map_or_else(String::new, |top| format!("{} ({})", top.class_text(), percent(top.prob)));
    match &prediction.label {
        Some(label) => format!("label {label}: {guess}"),
        None => guess,
    }
}
