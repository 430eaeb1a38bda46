//! The flags of all trainers, in the reference's spelling. A flag whose default depends on the trainer is an `Option`.

use crate::args::{Compute, finite, float_dtype, switch};
use mxrs::types::DType;
use std::path::PathBuf;

/// Seeds of the iterators are signed.
const MOST_SEED: u64 = i64::MAX as u64;

/// What is trained, and how.
#[derive(clap::Args, Clone, Debug)]
pub struct Training {
    /// Network; a name with its depth, such as resnet-50, is one too [default: resnet; mnist: mlp]
    #[arg(long, value_name = "NAME")]
    pub network: Option<String>,
    /// Layers, for networks of several depths [default: 50; cifar10: 110]
    #[arg(long, value_name = "N")]
    pub num_layers: Option<usize>,
    /// Passes over the data [default: imagenet 80, mnist 20, cifar10 300, fine-tune 30]
    #[arg(long, value_name = "N")]
    pub num_epochs: Option<u64>,
    /// Learning rate [default: imagenet 0.1, mnist and cifar10 0.05, fine-tune 0.01]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub lr: Option<f64>,
    /// Factor of the learning rate at each step; 1 or more keeps it constant
    #[arg(long, value_name = "FACTOR", default_value_t = 0.1)]
    pub lr_factor: f64,
    /// Epochs at which the learning rate changes, separated by commas; `pow2` is a polynomial of power 2 down to 0
    /// [default: imagenet 30,60; mnist 10; cifar10 200,250; fine-tune 20]
    #[arg(long, value_name = "EPOCHS")]
    pub lr_step_epochs: Option<String>,
    /// Initializer of the weights: default, xavier, msra, orthogonal, normal, uniform, one, zero
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub initializer: String,
    /// Optimizer
    #[arg(long, value_name = "NAME", default_value = "sgd")]
    pub optimizer: String,
    /// Momentum, for optimizers that have one [default: 0.9; fine-tune: 0]
    #[arg(long, value_name = "X")]
    pub mom: Option<f64>,
    /// Weight decay [default: 1e-4; fine-tune: 0]
    #[arg(long, value_name = "X")]
    pub wd: Option<f64>,
    /// Examples of a step [default: 128; mnist: 64]
    #[arg(long, value_name = "N")]
    pub batch_size: Option<usize>,
    /// Batches between log lines [default: 20; mnist: 100]
    #[arg(long, value_name = "N")]
    pub disp_batches: Option<usize>,
    /// Prefix of the files of checkpoints; none are written without
    #[arg(long, value_name = "PREFIX")]
    pub model_prefix: Option<PathBuf>,
    /// Epochs between checkpoints
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub save_period: u64,
    /// Go on from the checkpoint of this epoch
    #[arg(long, value_name = "EPOCH", requires = "model_prefix", conflicts_with = "resume")]
    pub load_epoch: Option<u64>,
    /// Go on from the newest whole checkpoint of the training that began last with this prefix, in the middle of an epoch
    /// too; begin anew if there is none
    #[arg(long, requires = "model_prefix")]
    pub resume: bool,
    /// Batches between checkpoints within an epoch; none are written without
    #[arg(long, value_name = "N", requires = "model_prefix", value_parser = clap::value_parser!(u64).range(1..))]
    pub save_batches: Option<u64>,
    /// Keep the checkpoints of so many epochs only, the newest
    #[arg(long, value_name = "N", requires = "model_prefix")]
    pub keep_last: Option<usize>,
    /// Keep the best checkpoint too, by validation, which needs --data-val
    #[arg(long, requires = "model_prefix")]
    pub keep_best: bool,
    /// Batches between lines about every tensor; 0 is never
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub monitor: u64,
    /// Look at every tensor of every batch, and stop at the first that has a number that is not finite, with its name
    #[arg(long)]
    pub monitor_nan: bool,
    /// Report the accuracy among the K likeliest classes too; 0 does not
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub top_k: usize,
    /// Report losses too: ce, nll-loss, separated by commas
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true)]
    pub loss: String,
    /// A spatial transformer before the network; refused, because its operator is not built
    #[arg(long, alias = "add_stn")]
    pub add_stn: bool,
    /// Only read the data, to see how fast that is
    #[arg(long, value_name = "0|1", default_value = "0", default_missing_value = "1", num_args = 0..=1, value_parser = switch)]
    pub test_io: bool,
    /// Element type that the network computes with: float32; bfloat16 is mixed precision, where convolutions and
    /// fully-connected layers and what follows them compute in 16 bits, parameters and checkpoints stay in float32
    #[arg(long, value_name = "TYPE", default_value = "float32", value_parser = float_dtype)]
    pub dtype: DType,
    /// Label smoothing: this much of each label is spread over the other classes
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    pub label_smoothing: f64,
    /// Largest norm of all gradients together; larger ones are scaled down to it
    #[arg(long, value_name = "X", value_parser = finite)]
    pub clip_norm: Option<f32>,
    /// Seed of weights, order, augmentation and dropout
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=MOST_SEED))]
    pub seed: u64,
    /// Draw the curves of loss, accuracy, learning rate and images per second: FILE.svg or FILE.png. Their points are kept
    /// beside it, in FILE.svg.json or FILE.png.json, for trainings that go on
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Devices; none is the CPU, which is what this version computes on
    #[arg(long, value_name = "LIST")]
    pub gpus: Option<String>,
    /// Key-value store: local or device, which differ in --gc-type only. This version trains on one machine
    #[arg(long, value_name = "KIND", default_value = "device")]
    pub kv_store: String,
    /// Compression of gradients: none, or 2bit, which --kv-store device applies to one device's gradients too
    #[arg(long, value_name = "KIND", default_value = "none")]
    pub gc_type: String,
    /// Threshold of --gc-type 2bit [default: 0.5]
    #[arg(long, value_name = "X")]
    pub gc_threshold: Option<f64>,
    /// Examples of an update of the weights, of --optimizer lbsgd only: gradients of so many are summed; at least those
    /// of a step [default: 0]
    #[arg(long, value_name = "N")]
    pub macrobatch_size: Option<u64>,
    /// Epochs in which the learning rate rises to that of the macrobatch, of --optimizer lbsgd only [default: 5]
    #[arg(long, value_name = "N")]
    pub warmup_epochs: Option<u64>,
    /// How it rises, of --optimizer lbsgd only: linear, power2, sqrt; or lars, a rate for each layer [default: linear]
    #[arg(long, value_name = "NAME")]
    pub warmup_strategy: Option<String>,
    /// File of a profile; refused, because this version has no profiler
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    pub profile_worker_suffix: String,
    /// File of a server's profile; refused, because this version has neither servers nor a profiler
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    pub profile_server_suffix: String,
    /// Device, backend and threads.
    #[command(flatten)]
    pub compute: Compute,
}
