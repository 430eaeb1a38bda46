//! `mxrs train`: trains networks on record files, with the flags, files and log lines of MXNet's training scripts.
//!
//! `flags.rs` and `data_flags.rs` define the flags, `plan.rs` checks them and fills in defaults, `run.rs` trains.

mod curves;
mod data_flags;
mod examples;
mod flags;
mod going_on;
mod kind;
mod learning;
mod metrics;
mod network;
mod plan;
mod run;
mod store;
mod test_io;
mod together;

use data_flags::Data;
use flags::Training;
pub use kind::Kind;
pub use metrics::metrics;
pub use plan::Plan;
pub use run::{Given, run as run_plan};

use crate::exit::Outcome;
use crate::profiling::profiled;

/// Arguments of `train`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    trainer: Trainer,
}

/// The trainers.
#[derive(clap::Subcommand)]
enum Trainer {
    /// Train on the images of a record file, as train_imagenet.py does
    Imagenet(Flags),
    /// Train on the handwritten digits of MNIST's four files, as train_mnist.py does
    Mnist(Flags),
    /// Train on the small images of a record file, as train_cifar10.py does
    Cifar10(Flags),
}

/// All flags of a trainer.
#[derive(clap::Args, Clone, Debug)]
pub struct Flags {
    /// Options of the network and its training.
    #[command(flatten)]
    pub training: Training,
    /// Options of the data.
    #[command(flatten)]
    pub data: Data,
}

/// Runs the command.
///
/// # Errors
/// Fails if a flag or file is not valid, if training fails, or if it is interrupted (after a checkpoint is written).
pub fn run(args: &Args, shows_progress: bool) -> Outcome {
    let (kind, flags) = match &args.trainer {
        Trainer::Imagenet(flags) => (Kind::Imagenet, flags),
        Trainer::Mnist(flags) => (Kind::Mnist, flags),
        Trainer::Cifar10(flags) => (Kind::Cifar10, flags),
    };
    let plan = Plan::new(kind, flags)?;
    profiled(plan.profile.as_ref(), || run_plan(&plan, None, shows_progress))
}
