//! The flags of all trainers, spelled as in MXNet's scripts. A flag whose default depends on the trainer is an `Option`.

use crate::args::{Compute, finite, float_dtype, switch};
use crate::contexts::Contexts;
use mxrs::types::DType;
use std::path::PathBuf;

/// Largest seed: seeds of the iterators are signed 64-bit integers.
const MOST_SEED: u64 = i64::MAX as u64;

/// Options of the network and its training.
#[derive(clap::Args, Clone, Debug)]
pub struct Training {
    /// The neural network to use; a name may include the number of layers, such as resnet-50 [default: resnet; mnist: mlp]
    #[arg(long, value_name = "NAME")]
    pub network: Option<String>,
    /// Number of layers in the neural network, for networks such as resnet [default: 50; cifar10: 110]
    #[arg(long, value_name = "N")]
    pub num_layers: Option<usize>,
    /// Maximum number of epochs [default: imagenet 80, mnist 20, cifar10 300, fine-tune 30]
    #[arg(long, value_name = "N")]
    pub num_epochs: Option<u64>,
    /// Initial learning rate [default: imagenet 0.1, mnist and cifar10 0.05, fine-tune 0.01]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub lr: Option<f64>,
    /// Ratio by which the learning rate is reduced at each step; 1 or more keeps it constant
    #[arg(long, value_name = "FACTOR", default_value_t = 0.1)]
    pub lr_factor: f64,
    /// Epochs at which the learning rate is reduced, such as 30,60; `pow2` decays it to 0 as a polynomial of power 2
    /// [default: imagenet 30,60; mnist 10; cifar10 200,250; fine-tune 20]
    #[arg(long, value_name = "EPOCHS")]
    pub lr_step_epochs: Option<String>,
    /// Initializer type: default, xavier, msra, orthogonal, normal, uniform, one, zero
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub initializer: String,
    /// Optimizer type, such as sgd or adam
    #[arg(long, value_name = "NAME", default_value = "sgd")]
    pub optimizer: String,
    /// Momentum, for optimizers such as sgd [default: 0.9; fine-tune: 0]
    #[arg(long, value_name = "X")]
    pub mom: Option<f64>,
    /// Weight decay [default: 1e-4; fine-tune: 0]
    #[arg(long, value_name = "X")]
    pub wd: Option<f64>,
    /// Batch size [default: 128; mnist: 64]
    #[arg(long, value_name = "N")]
    pub batch_size: Option<usize>,
    /// Show progress every N batches [default: 20; mnist: 100]
    #[arg(long, value_name = "N")]
    pub disp_batches: Option<usize>,
    /// Model prefix of the checkpoints; without it none are written
    #[arg(long, value_name = "PREFIX")]
    pub model_prefix: Option<PathBuf>,
    /// Save a checkpoint every N epochs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub save_period: u64,
    /// Start from the checkpoint of this epoch under the model prefix
    #[arg(long, value_name = "EPOCH", requires = "model_prefix", conflicts_with = "resume")]
    pub load_epoch: Option<u64>,
    /// Resume from the newest complete checkpoint of the last training with this prefix, also in the middle of an epoch;
    /// start from the beginning if there is none
    #[arg(long, requires = "model_prefix")]
    pub resume: bool,
    /// Save a checkpoint every N batches within an epoch, in addition; without this flag none are saved within an epoch
    #[arg(long, value_name = "N", requires = "model_prefix", value_parser = clap::value_parser!(u64).range(1..))]
    pub save_batches: Option<u64>,
    /// Keep only the newest N checkpoints of epochs
    #[arg(long, value_name = "N", requires = "model_prefix")]
    pub keep_last: Option<usize>,
    /// Also keep the checkpoint with the best validation metric; needs --data-val
    #[arg(long, requires = "model_prefix")]
    pub keep_best: bool,
    /// Log statistics of every tensor every N batches; 0 means never
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub monitor: u64,
    /// Check every tensor of every batch, and stop with the name of the first one that contains a value that is not finite
    #[arg(long)]
    pub monitor_nan: bool,
    /// Report the top-K accuracy too; 0 means no report
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub top_k: usize,
    /// Losses to report too, separated by commas: ce (cross-entropy), nll-loss
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true)]
    pub loss: String,
    /// Add a spatial transformer network layer; refused, because its operator is not built
    #[arg(long, alias = "add_stn")]
    pub add_stn: bool,
    /// If 1, measure the speed of reading the data without training
    #[arg(long, value_name = "0|1", default_value = "0", default_missing_value = "1", num_args = 0..=1, value_parser = switch)]
    pub test_io: bool,
    /// Data type of the computation: float32, or bfloat16 or float16 for mixed precision, in which convolutions,
    /// fully-connected layers and the operators after them compute in 16 bits; parameters and checkpoints stay in float32
    #[arg(long, value_name = "TYPE", default_value = "float32", value_parser = float_dtype)]
    pub dtype: DType,
    /// Loss scale, for --dtype float16 only: a number by which the loss is multiplied, so that small gradients do not become
    /// 0. A step with infinite gradients is skipped. `dynamic` begins with 65536, halves the number after such a step, and
    /// doubles it after 2000 other steps [default: dynamic]
    #[arg(long, value_name = "dynamic|N", allow_negative_numbers = true)]
    pub amp_loss_scale: Option<String>,
    /// Label smoothing: the share of each label's probability that is spread over the other classes
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    pub label_smoothing: f64,
    /// Clip the gradients to this norm over all parameters
    #[arg(long, value_name = "X", value_parser = finite)]
    pub clip_norm: Option<f32>,
    /// Seed of initial weights, data order, augmentation and dropout
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=MOST_SEED))]
    pub seed: u64,
    /// Draw curves of loss, accuracy, learning rate and images per second to FILE.svg or FILE.png. Their points are stored
    /// next to it, in FILE.svg.json or FILE.png.json, for resumed trainings
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// The devices among which every batch is divided.
    #[command(flatten)]
    pub contexts: Contexts,
    /// Key-value store that sums gradients: local sums those of several devices on the host, device on one of the devices.
    /// dist_sync, dist_device_sync, p3 and horovod also sum those of several workers, which `mxrs launch` or mpirun starts; each
    /// reads its share of the data, and --batch-size is the number of examples of one worker. dist_async (with the feature grpc)
    /// has servers that update the weights by each gradient, and no worker waits for another
    #[arg(long, value_name = "KIND", default_value = "device")]
    pub kv_store: String,
    /// Type of gradient compression: none, 2bit or 1bit; 2bit and 1bit require --kv-store device, dist_sync or
    /// dist_async
    #[arg(long, value_name = "KIND", default_value = "none")]
    pub gc_type: String,
    /// Threshold of --gc-type 2bit or 1bit [default: 0.5]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub gc_threshold: Option<f64>,
    /// Number of examples per update, for --optimizer lbsgd only: gradients of several batches are summed up to this number;
    /// at least the batch size [default: 0]
    #[arg(long, value_name = "N")]
    pub macrobatch_size: Option<u64>,
    /// Number of epochs in which the learning rate rises to that of the macrobatch, for --optimizer lbsgd only [default: 5]
    #[arg(long, value_name = "N")]
    pub warmup_epochs: Option<u64>,
    /// How the learning rate rises, for --optimizer lbsgd only: linear, power2, sqrt; or lars, with a rate for each layer
    /// [default: linear]
    #[arg(long, value_name = "NAME")]
    pub warmup_strategy: Option<String>,
    /// Profile the training: write a trace to this file, and print the costs of operators at the end
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "profile.json")]
    pub profile: Option<PathBuf>,
    /// The same as --profile, by the name that MXNet's scripts have for it
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    pub profile_worker_suffix: String,
    /// File suffix of the profiles of servers; refused: only dist_async has servers, and a server is a process of its own, which
    /// --profile in its command profiles
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    pub profile_server_suffix: String,
    /// Device, backend and threads.
    #[command(flatten)]
    pub compute: Compute,
}
