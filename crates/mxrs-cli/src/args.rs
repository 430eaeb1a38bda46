//! Arguments that all subcommands share, and functions that parse their values.

use crate::cmd::Command;
use clap::{Args, Parser, ValueEnum};
use mxrs::types::{DType, Shape};
use mxrs::{Weights, Winograd};

/// MXNet's command-line tools, rebuilt in Rust.
#[derive(Parser)]
#[command(name = "mxrs", version, infer_long_args = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 success, 1 failure at run time, 2 bad usage, 3 bad input file, 130 interrupted (143 by SIGTERM, 129 by SIGHUP)."
)]
pub struct Cli {
    /// Options of the log.
    #[command(flatten)]
    pub logging: Logging,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of the log lines that are written to stderr.
#[derive(Args, Clone, Debug)]
pub struct Logging {
    /// Format of the log lines on stderr
    #[arg(long, value_enum, default_value_t = LogFormat::Mxnet, global = true, help_heading = "Logging")]
    pub log_format: LogFormat,
    /// Log only errors, and show no progress bar
    #[arg(long, global = true, conflicts_with = "verbose", help_heading = "Logging")]
    pub quiet: bool,
    /// Log debug messages too
    #[arg(long, global = true, help_heading = "Logging")]
    pub verbose: bool,
}

/// Formats of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// `INFO:root:<message>`, as MXNet's tools print
    Mxnet,
    /// Time, level and message
    Time,
    /// One JSON object per line
    Json,
    /// The message alone
    Plain,
}

/// The device and backend that compute, and the number of threads.
#[derive(Args, Clone, Debug)]
pub struct Compute {
    /// Device to compute on; this version has only `cpu`
    #[arg(long, default_value = "cpu", value_parser = device)]
    pub device: mxrs::types::Device,
    /// Backend that runs the operators; operators that it does not support use the reference kernels [default: all that are
    /// built]
    #[arg(long, value_name = "NAME")]
    pub backend: Option<String>,
    /// Number of threads that share the loop of one operator [default: OMP_NUM_THREADS, or the number of physical cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Run convolutions as direct sums, without Winograd's algorithms, which have larger rounding errors
    #[arg(long)]
    pub no_winograd: bool,
    /// Largest difference that Winograd's algorithms may have from direct sums
    #[arg(long, value_enum, default_value_t = AccuracyArg::Close, conflicts_with = "no_winograd")]
    pub accuracy: AccuracyArg,
    /// Type in which float32 inference stores the weights of layers that are limited by memory bandwidth: fully-connected
    /// layers, and convolutions with few output pixels
    #[arg(long, value_enum, default_value_t = WeightsArg::Float32)]
    pub weights: WeightsArg,
}

impl Compute {
    /// The Winograd algorithms that convolutions may use.
    pub fn winograd(&self) -> Winograd {
        match (self.no_winograd, self.accuracy) {
            (true, _) => Winograd::Off,
            (false, AccuracyArg::Close) => Winograd::Close,
            (false, AccuracyArg::Loose) => Winograd::Loose,
        }
    }

    /// The type in which packed weights are stored.
    pub fn weights(&self) -> Weights {
        match self.weights {
            WeightsArg::Float32 => Weights::Float32,
            WeightsArg::Bfloat16 => Weights::Bfloat16,
        }
    }
}

/// Type in which packed weights are stored; sums are always computed in float32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WeightsArg {
    /// Store weights unchanged
    Float32,
    /// Store weights rounded to about three decimal digits, which halves the memory traffic
    Bfloat16,
}

/// Largest difference of convolutions from direct sums, relative to the largest output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AccuracyArg {
    /// Differences of at most 8e-6, with 256 input channels
    Close,
    /// Differences of at most 5e-5: larger tiles, up to 10 % faster
    Loose,
}

/// Output formats of a subcommand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table
    Table,
    /// JSON
    Json,
}

/// Output formats of lists that are also used in documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// A table
    Table,
    /// JSON
    Json,
    /// A Markdown table
    Markdown,
}

/// Parses a device. Returns an error for devices other than the CPU.
pub fn device(text: &str) -> Result<mxrs::types::Device, String> {
    let device: mxrs::types::Device = text.parse().map_err(|error: mxrs::Error| error.to_string())?;
    match device.kind {
        mxrs::types::DeviceKind::Cpu => Ok(device),
        _ => Err(format!("{device} is not built: this version computes on the CPU only")),
    }
}

/// Parses `0`, `1`, `false` or `true`.
pub fn switch(text: &str) -> Result<bool, String> {
    match text {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err("expected 0 or 1".into()),
    }
}

/// Parses the name of a floating-point dtype that networks can have.
pub fn float_dtype(text: &str) -> Result<DType, String> {
    match text {
        "float32" => Ok(DType::F32),
        "float16" => Ok(DType::F16),
        "bfloat16" => Ok(DType::BF16),
        _ => Err("expected float32, float16 or bfloat16".into()),
    }
}

/// Parses `NAME=VALUE`.
pub fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("expected NAME=VALUE, such as NNVM_EXEC_MATCH_RANGE=16".into()),
    }
}

/// Parses `NAME=DEVICE`, the device of a group of nodes.
pub fn group(text: &str) -> Result<(String, mxrs::types::Device), String> {
    let (name, device) = text.split_once('=').unwrap_or_default();
    match device.parse() {
        Ok(device) if !name.is_empty() => Ok((name.into(), device)),
        _ => Err("expected NAME=DEVICE, such as layer0=cpu(1)".into()),
    }
}

/// Parses a shape such as `1,28,28`, `(1, 28, 28)` or `1x28x28`.
pub fn shape(text: &str) -> Result<Shape, String> {
    let inner = text.trim().trim_start_matches('(').trim_end_matches(')').trim_end_matches(',');
    let sizes: Result<Vec<usize>, _> = inner.split([',', 'x']).map(|size| size.trim().parse::<usize>()).collect();
    match sizes {
        Ok(sizes) if sizes.len() <= Shape::MAX_NDIM && !sizes.contains(&0) => Ok(Shape::new(sizes)),
        _ => Err("expected sizes of 1 or more, separated by commas, such as 3,224,224".into()),
    }
}

/// Parses the shape of an image: channels, height, width.
pub fn image_shape(text: &str) -> Result<Shape, String> {
    let shape = shape(text)?;
    match (shape.ndim(), shape.first()) {
        (3, Some(1 | 3 | 4)) => Ok(shape),
        (3, _) => Err("expected 1, 3 or 4 channels first, such as 3,224,224".into()),
        _ => Err("expected three sizes, C,H,W, such as 3,224,224".into()),
    }
}

/// Parses `name=1,3,224,224`. A shape without a name is that of `data`.
pub fn named_shape(text: &str) -> Result<(String, Shape), String> {
    let (name, sizes) = text.split_once('=').unwrap_or(("data", text));
    if name.is_empty() {
        return Err("expected name=sizes, such as data=1,3,224,224".into());
    }
    Ok((name.into(), shape(sizes)?))
}

/// One number for each of red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rgb(pub [f32; 3]);

/// Parses three finite numbers, or one number for all colors.
pub fn rgb(text: &str) -> Result<Rgb, String> {
    let numbers: Option<Vec<f32>> = text.split(',').map(|number| finite(number).ok()).collect();
    match numbers.as_deref() {
        Some(&[r, g, b]) => Ok(Rgb([r, g, b])),
        Some(&[gray]) => Ok(Rgb([gray; 3])),
        _ => Err("expected R,G,B, such as 123.68,116.779,103.939, or one number for all".into()),
    }
}

/// Like [`rgb`], but all numbers must be above 0.
pub fn positive_rgb(text: &str) -> Result<Rgb, String> {
    let rgb = rgb(text)?;
    if rgb.0.iter().all(|&number| number > 0.0) { Ok(rgb) } else { Err("expected numbers above 0".into()) }
}

/// Parses a finite number.
pub fn finite(text: &str) -> Result<f32, String> {
    match text.trim().parse::<f32>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("expected a number".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn shapes_are_read_in_each_spelling() {
        for text in ["1,28,28", "(1, 28, 28)", "1x28x28", "1,28,28,"] {
            assert_eq!(image_shape(text), Ok(Shape::from([1, 28, 28])), "{text}");
        }
        for text in ["", "1,28", "2,28,28", "1,0,28", "1,-1,28", "1,28,28,28", "a"] {
            assert!(image_shape(text).is_err(), "{text}");
        }
        assert_eq!(named_shape("x=2,3"), Ok(("x".into(), Shape::from([2, 3]))));
        assert_eq!(named_shape("5"), Ok(("data".into(), Shape::from([5]))));
        assert!(named_shape("=5").is_err());
    }

    #[test]
    fn colors_are_three_numbers_or_one() {
        assert_eq!(rgb("1,2.5,-3"), Ok(Rgb([1.0, 2.5, -3.0])));
        assert_eq!(rgb("0"), Ok(Rgb([0.0; 3])));
        assert!(rgb("1,2").is_err() && rgb("1,2,nan").is_err() && positive_rgb("1,0,1").is_err());
    }

    #[test]
    fn only_the_cpu_computes() {
        assert!(device("cpu(0)").is_ok());
        assert!(device("gpu:0").unwrap_err().contains("not built"));
        assert!(device("tpu").is_err());
    }
}
