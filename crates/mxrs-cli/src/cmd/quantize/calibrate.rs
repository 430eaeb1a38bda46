//! The calibration: runs the float network on records and collects the ranges of activations.

use super::Args;
use crate::exit::{Failure, Outcome};
use crate::records::ImageSource;
use crate::{interrupt, room, terminal};
use mxrs::data::ImageOptions;
use mxrs::quantize::{CalibrationTable, Quantizer};
use mxrs::types::{Error, ErrorKind, Shape};
use mxrs::{Result, Runtime};
use std::path::Path;

/// Bytes per image of a batch in addition to its pixels: its label and its record number.
const BESIDE_PIXELS: u64 = 12;

/// Runs the float network on the records and collects ranges. Returns an empty table if the mode needs no ranges.
///
/// # Errors
/// Fails if records cannot be read or there are none, if a shape does not fit the network, if the memory for a batch is not
/// available, or if the command is interrupted.
pub fn calibrate(
    args: &Args,
    runtime: &Runtime,
    quantizer: &Quantizer,
    with_progress: bool,
) -> Outcome<CalibrationTable> {
    let calibrator = quantizer.calibrator(runtime.arrays(), &runtime.bind_options()).map_err(Failure::binding)?;
    let (Some(mut calibrator), Some(path)) = (calibrator, &args.data_val) else {
        return Ok(CalibrationTable::empty());
    };
    let input = only_input(quantizer)?;
    expect_room(args)?;
    let mut source = source(args, path).map_err(Failure::input)?;
    let most = args.num_calib_batches.map(|batches| u64::from(batches) * u64::from(args.batch_size));
    let length = match (source.known_len(), most) {
        (Some(length), Some(most)) => Some(length.min(most)),
        (length, most) => length.or(most),
    };
    let progress = terminal::progress(length, "images", with_progress);
    let mut n_batches = 0;
    while args.num_calib_batches.is_none_or(|most| n_batches < most) {
        interrupt::check()?;
        let Some(batch) = source.next().transpose().map_err(Failure::input)? else { break };
        if batch.n == 0 {
            break;
        }
        let shape: Shape = std::iter::once(batch.n).chain(args.image_shape.iter().copied()).collect();
        calibrator.feed(&[(input.as_str(), shape, batch.data.as_slice())]).map_err(fed)?;
        progress.inc(batch.n as u64);
        n_batches += 1;
    }
    progress.finish_and_clear();
    if calibrator.examples() == 0 {
        let error = Error::invalid("calibration records", "none", "one record with an image at least");
        return Err(Failure::Input(error.with_path(path).context(format!("reading {}", path.display()))));
    }
    tracing::info!("Collected statistics from {n_batches} batches with batch_size={}", args.batch_size);
    let go_on = || interrupt::check().map_err(|_| Error::invalid("calibration", "an interrupt", "none"));
    let found = calibrator.finish_while(go_on);
    interrupt::check()?;
    Ok(found?)
}

/// Checks the memory for a batch of the full size, which is allocated even if there are fewer records.
fn expect_room(args: &Args) -> Outcome {
    let (n, image) = (args.batch_size, &args.image_shape);
    let pixels = image.iter().try_fold(size_of::<f32>() as u64, |n, size| n.checked_mul(*size as u64));
    let bytes = pixels.and_then(|bytes| bytes.checked_add(BESIDE_PIXELS)?.checked_mul(n.into()));
    let refused = |_| Failure::Usage(format!("--batch-size: {n} images of {image} do not fit into memory"));
    room::expect("a batch of images", bytes).map_err(refused)
}

/// Converts an error of a batch: values that are not finite are failures at run time, a shape that does not fit the network is
/// a usage error.
fn fed(error: Error) -> Failure {
    match error.kind() {
        ErrorKind::InvalidValue { .. } => Failure::Run(error),
        _ => Failure::binding(error),
    }
}

/// Name of the only input of the network. Fails if the network has none or several.
fn only_input(quantizer: &Quantizer) -> Outcome<String> {
    let inputs = quantizer.inputs();
    match inputs.as_slice() {
        [only] => Ok((*only).to_owned()),
        [] => Err(Failure::Usage("the network has no input: every argument has a parameter".into())),
        many => Err(Failure::Usage(format!("the network has inputs {}; records feed one", many.join(", ")))),
    }
}

fn source(args: &Args, path: &Path) -> Result<ImageSource> {
    let shape = &args.image_shape;
    let colors = |rgb: [f32; 3], alpha: f32| [rgb[0], rgb[1], rgb[2], alpha];
    let options = ImageOptions {
        scale: args.scale,
        mean: colors(args.rgb_mean.0, 0.0),
        std: colors(args.rgb_std.0, 1.0),
        resize: args.resize.map(|edge| edge as usize),
        ..ImageOptions::new([shape[0], shape[1], shape[2]])
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    ImageSource::records(path, &options, args.batch_size as usize, threads)
}
