//! What a caller may choose: names, initial values, the loop.

use crate::resume::{PrefixLock, Restored};
use mxrs_models::Initializer;
use mxrs_sync::atomic::AtomicBool;
use std::path::PathBuf;
use std::sync::Arc;

/// Which variables are fed, and which stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleNames {
    /// Inputs; `data`.
    pub data: Vec<String>,
    /// Labels; `softmax_label`. Names the network does not have are left out.
    pub labels: Vec<String>,
    /// Parameters without gradient.
    pub fixed_params: Vec<String>,
}

impl Default for ModuleNames {
    fn default() -> Self {
        Self { data: vec!["data".into()], labels: vec!["softmax_label".into()], fixed_params: Vec::new() }
    }
}

/// How parameters begin.
#[derive(Clone, Debug, PartialEq)]
pub struct InitOptions {
    /// For weights without an initializer of their own; uniform in ±0.01.
    pub initializer: Initializer,
    /// Of the random numbers.
    pub seed: u64,
    /// Whether parameters that are there already begin anew.
    pub force: bool,
    /// Whether parameters that a checkpoint lacks are initialized; otherwise they are an error.
    pub allow_missing: bool,
    /// Whether arrays that the network lacks are left out; otherwise they are an error.
    pub allow_extra: bool,
}

impl Default for InitOptions {
    fn default() -> Self {
        let initializer = Initializer::Uniform { scale: 0.01 };
        Self { initializer, seed: 0, force: false, allow_missing: false, allow_extra: false }
    }
}

/// Where and when checkpoints are written that training goes on from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointOptions {
    /// Beginning of the files' names, which are UTF-8 text. One that ends in `/` is a folder.
    pub prefix: PathBuf,
    /// After every so many epochs; 1.
    pub period: u64,
    /// And after every so many batches of an epoch; never.
    pub every_n_batches: Option<u64>,
    /// How many of the epochs' checkpoints stay; all.
    pub keep_last: Option<usize>,
    /// Whether the best one by the first validation metric stays beside them. An epoch that was perhaps not validated before
    /// the training ended is validated when it goes on.
    pub keep_best: bool,
}

impl CheckpointOptions {
    /// After every epoch, all kept.
    pub fn new(prefix: impl Into<PathBuf>) -> Self {
        Self { prefix: prefix.into(), period: 1, every_n_batches: None, keep_last: None, keep_best: false }
    }
}

/// The training loop.
#[derive(Clone, Debug)]
pub struct FitOptions {
    /// First epoch.
    pub begin_epoch: u64,
    /// Epoch to stop before.
    pub num_epoch: u64,
    /// How parameters begin, where they are not there yet.
    pub init: InitOptions,
    /// MXNet's name of the optimizer of a module that has none, and none is given; `sgd`.
    pub optimizer: String,
    /// Its settings; a `learning_rate` of 0.01.
    pub optimizer_params: Vec<(String, String)>,
    /// Checkpoints; none. That of an epoch's end is written before callbacks of it are called, and before validation.
    pub checkpoint: Option<CheckpointOptions>,
    /// Goes on from the newest whole checkpoint of that prefix, if there is one. Within an epoch that needs batches of the same
    /// size, as many, and the same [`data_seed`](Self::data_seed).
    pub resume: bool,
    /// Goes on from there instead: the module is at that place already. Where it is what [`newest`](crate::resume::newest) finds
    /// with the prefix of [`checkpoint`](Self::checkpoint), the training keeps its number, and the checkpoints that have it are
    /// among those that may go. Otherwise, and from states without a number, it gets one of its own, and what is there stays
    /// until it is written over.
    pub restored: Option<Restored>,
    /// The lock of the checkpoints' prefix, if the caller holds it already. Otherwise [`fit`](crate::Module::fit) takes it.
    pub lock: Option<Arc<PrefixLock>>,
    /// What the order of the training data depends on, for the checkpoints to tell; not told.
    pub data_seed: Option<u64>,
    /// Once true, the batch is finished, a checkpoint written, and [`Outcome::Interrupted`](crate::Outcome::Interrupted)
    /// returned. After the last batch of an epoch, callbacks of its end and its validation are left out, and a validation ends
    /// with the batch it is at, without figures; a training that goes on makes up for it where the best checkpoint is kept.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Whether the labels of the first epoch are compared with the number of classes.
    pub check_labels: bool,
    /// Whether outputs are watched for numbers that are not finite, which is told once.
    pub check_finite: bool,
    /// Gradients are scaled so that their norm over all parameters is at most this, after they are divided by the batch size.
    pub clip_global_norm: Option<f64>,
}

impl FitOptions {
    /// So many epochs, and nothing else.
    pub fn new(num_epoch: u64) -> Self {
        Self {
            begin_epoch: 0,
            num_epoch,
            init: InitOptions::default(),
            optimizer: "sgd".into(),
            optimizer_params: vec![("learning_rate".into(), "0.01".into())],
            checkpoint: None,
            resume: false,
            restored: None,
            lock: None,
            data_seed: None,
            interrupt: None,
            check_labels: true,
            check_finite: true,
            clip_global_norm: None,
        }
    }
}
