//! What every subcommand shares: the head of the command line, and texts that become values.

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
    /// How much is logged, and in which form.
    #[command(flatten)]
    pub logging: Logging,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// How much is logged to stderr, and in which form.
#[derive(Args, Clone, Debug)]
pub struct Logging {
    /// Form of log lines on stderr
    #[arg(long, value_enum, default_value_t = LogFormat::Mxnet, global = true, help_heading = "Logging")]
    pub log_format: LogFormat,
    /// Log errors only, and show no progress bar
    #[arg(long, global = true, conflicts_with = "verbose", help_heading = "Logging")]
    pub quiet: bool,
    /// Log details too
    #[arg(long, global = true, help_heading = "Logging")]
    pub verbose: bool,
}

/// Forms of log lines.
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

/// Which machine part computes, and with how many threads.
#[derive(Args, Clone, Debug)]
pub struct Compute {
    /// Device that computes: `cpu` is what this version has
    #[arg(long, default_value = "cpu", value_parser = device)]
    pub device: mxrs::types::Device,
    /// Backend that runs the operators, with the reference kernels for what it cannot run [default: all that are built]
    #[arg(long, value_name = "NAME")]
    pub backend: Option<String>,
    /// Threads that share the loop of one operator [default: OMP_NUM_THREADS, or the number of physical cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Run convolutions as direct sums: without Winograd's algorithms, which round more
    #[arg(long)]
    pub no_winograd: bool,
    /// How far Winograd's algorithms may be from direct sums
    #[arg(long, value_enum, default_value_t = AccuracyArg::Close, conflicts_with = "no_winograd")]
    pub accuracy: AccuracyArg,
    /// How inference in float32 keeps the weights of layers that wait for them: fully-connected layers, and convolutions of
    /// few pixels
    #[arg(long, value_enum, default_value_t = WeightsArg::Float32)]
    pub weights: WeightsArg,
}

impl Compute {
    /// Which of Winograd's algorithms may run convolutions.
    pub fn winograd(&self) -> Winograd {
        match (self.no_winograd, self.accuracy) {
            (true, _) => Winograd::Off,
            (false, AccuracyArg::Close) => Winograd::Close,
            (false, AccuracyArg::Loose) => Winograd::Loose,
        }
    }

    /// How packed weights are kept.
    pub fn weights(&self) -> Weights {
        match self.weights {
            WeightsArg::Float32 => Weights::Float32,
            WeightsArg::Bfloat16 => Weights::Bfloat16,
        }
    }
}

/// How packed weights are kept; sums are made in float32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WeightsArg {
    /// As they are
    Float32,
    /// Rounded to three digits: half the bytes to read
    Bfloat16,
}

/// How far convolutions may be from direct sums, relative to the largest output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AccuracyArg {
    /// Within 8 millionths, with 256 input channels
    Close,
    /// Within 50 millionths: larger tiles, up to a tenth faster
    Loose,
}

/// Forms of what a subcommand prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people
    Table,
    /// JSON
    Json,
}

/// Forms of lists that also go into documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// A table for people
    Table,
    /// JSON
    Json,
    /// A Markdown table
    Markdown,
}

/// Reads a device; only the CPU computes in this version.
pub fn device(text: &str) -> Result<mxrs::types::Device, String> {
    let device: mxrs::types::Device = text.parse().map_err(|error: mxrs::Error| error.to_string())?;
    match device.kind {
        mxrs::types::DeviceKind::Cpu => Ok(device),
        _ => Err(format!("{device} is not built: this version computes on the CPU only")),
    }
}

/// Reads `0`, `1`, `false` or `true`.
pub fn switch(text: &str) -> Result<bool, String> {
    match text {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err("expected 0 or 1".into()),
    }
}

/// Reads an element type that networks compute in.
pub fn float_dtype(text: &str) -> Result<DType, String> {
    match text {
        "float32" => Ok(DType::F32),
        "float16" => Ok(DType::F16),
        "bfloat16" => Ok(DType::BF16),
        _ => Err("expected float32, float16 or bfloat16".into()),
    }
}

/// Reads `NAME=VALUE`.
pub fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("expected NAME=VALUE, such as NNVM_EXEC_MATCH_RANGE=16".into()),
    }
}

/// Reads a shape such as `1,28,28`, `(1, 28, 28)` or `1x28x28`.
pub fn shape(text: &str) -> Result<Shape, String> {
    let inner = text.trim().trim_start_matches('(').trim_end_matches(')').trim_end_matches(',');
    let sizes: Result<Vec<usize>, _> = inner.split([',', 'x']).map(|size| size.trim().parse::<usize>()).collect();
    match sizes {
        Ok(sizes) if sizes.len() <= Shape::MAX_NDIM && !sizes.contains(&0) => Ok(Shape::new(sizes)),
        _ => Err("expected sizes of 1 or more, separated by commas, such as 3,224,224".into()),
    }
}

/// Reads a shape of an image: channels, height, width.
pub fn image_shape(text: &str) -> Result<Shape, String> {
    let shape = shape(text)?;
    match (shape.ndim(), shape.first()) {
        (3, Some(1 | 3 | 4)) => Ok(shape),
        (3, _) => Err("expected 1, 3 or 4 channels first, such as 3,224,224".into()),
        _ => Err("expected three sizes, C,H,W, such as 3,224,224".into()),
    }
}

/// Reads `name=1,3,224,224`, or a shape alone, which is that of `data`.
pub fn named_shape(text: &str) -> Result<(String, Shape), String> {
    let (name, sizes) = text.split_once('=').unwrap_or(("data", text));
    if name.is_empty() {
        return Err("expected name=sizes, such as data=1,3,224,224".into());
    }
    Ok((name.into(), shape(sizes)?))
}

/// One number per color.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rgb(pub [f32; 3]);

/// Reads three finite numbers, or one for all colors.
pub fn rgb(text: &str) -> Result<Rgb, String> {
    let numbers: Option<Vec<f32>> = text.split(',').map(|number| finite(number).ok()).collect();
    match numbers.as_deref() {
        Some(&[r, g, b]) => Ok(Rgb([r, g, b])),
        Some(&[gray]) => Ok(Rgb([gray; 3])),
        _ => Err("expected R,G,B, such as 123.68,116.779,103.939, or one number for all".into()),
    }
}

/// As [`rgb`], with numbers above 0.
pub fn positive_rgb(text: &str) -> Result<Rgb, String> {
    let rgb = rgb(text)?;
    if rgb.0.iter().all(|&number| number > 0.0) { Ok(rgb) } else { Err("expected numbers above 0".into()) }
}

/// Reads a finite number.
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
