//! Options of a module: names, initial values, checkpoints, the training loop.

use crate::exchange::{KvStoreChoice, StoreOptions};
use crate::resume::{PrefixLock, Restored};
use mxrs_kvstore::Compression;
use mxrs_models::Initializer;
use mxrs_sync::atomic::AtomicBool;
use std::path::PathBuf;
use std::sync::Arc;

/// Names of the variables that a batch fills, and of the parameters that are not trained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleNames {
    /// Names of the inputs; default `data`.
    pub data: Vec<String>,
    /// Names of the labels; default `softmax_label`. Names that the network does not have are ignored.
    pub labels: Vec<String>,
    /// Names of parameters that have no gradient and are not updated.
    pub fixed_params: Vec<String>,
}

impl Default for ModuleNames {
    fn default() -> Self {
        Self { data: vec!["data".into()], labels: vec!["softmax_label".into()], fixed_params: Vec::new() }
    }
}

/// How parameters are initialized.
#[derive(Clone, Debug, PartialEq)]
pub struct InitOptions {
    /// Initializer of weights that have none of their own; default uniform in ±0.01.
    pub initializer: Initializer,
    /// Seed of the random initial values.
    pub seed: u64,
    /// Whether parameters that already have values are initialized again.
    pub force: bool,
    /// Whether parameters that a checkpoint lacks are initialized; otherwise they are an error.
    pub allow_missing: bool,
    /// Whether arrays that the network lacks are ignored; otherwise they are an error.
    pub allow_extra: bool,
}

impl Default for InitOptions {
    fn default() -> Self {
        let initializer = Initializer::Uniform { scale: 0.01 };
        Self { initializer, seed: 0, force: false, allow_missing: false, allow_extra: false }
    }
}

/// Options of the checkpoints from which training can resume: where and when they are written, and how many are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointOptions {
    /// Beginning of the file names, which must be UTF-8. A prefix that ends in `/` is a folder.
    pub prefix: PathBuf,
    /// Number of epochs between checkpoints; default 1.
    pub period: u64,
    /// Number of batches between checkpoints within an epoch; `None` means no such checkpoints.
    pub every_n_batches: Option<u64>,
    /// How many of the checkpoints at the end of an epoch are kept, counted from the newest; `None` means all.
    pub keep_last: Option<usize>,
    /// Whether the checkpoint whose first validation metric is best is kept in addition. If the training ended before an epoch
    /// was validated, the epoch is validated when training resumes.
    pub keep_best: bool,
}

impl CheckpointOptions {
    /// Checkpoints after every epoch, all of them kept.
    pub fn new(prefix: impl Into<PathBuf>) -> Self {
        Self { prefix: prefix.into(), period: 1, every_n_batches: None, keep_last: None, keep_best: false }
    }
}

/// Options of the training loop.
#[derive(Clone, Debug)]
pub struct FitOptions {
    /// Number of the first epoch.
    pub begin_epoch: u64,
    /// The training ends before the epoch with this number.
    pub num_epoch: u64,
    /// How parameters that have no values yet are initialized.
    pub init: InitOptions,
    /// MXNet's name of the optimizer that is created if the module has none and `fit` is given none; default `sgd`.
    pub optimizer: String,
    /// Settings of that optimizer; default `learning_rate` 0.01.
    pub optimizer_params: Vec<(String, String)>,
    /// The key-value store that sums gradients over the contexts, if `fit` makes or is given the optimizer; default `local`.
    pub kvstore: KvStoreChoice,
    /// How this store compresses gradients; `None` means that it does not.
    pub compression: Option<Compression>,
    /// Checkpoints; `None` means none. The checkpoint of an epoch's end is written before the epoch's callbacks and before
    /// validation.
    pub checkpoint: Option<CheckpointOptions>,
    /// Whether to resume from the newest complete checkpoint under the prefix of [`checkpoint`](Self::checkpoint), if there is
    /// one. Resuming within an epoch needs the same batch size, number of batches and [`data_seed`](Self::data_seed).
    pub resume: bool,
    /// A checkpoint that was already restored into the module; training resumes from it, even without
    /// [`resume`](Self::resume). If it is the checkpoint that [`newest`](crate::resume::newest) finds under the prefix
    /// of [`checkpoint`](Self::checkpoint), the training keeps the [number](crate::resume::Run::number) in the
    /// checkpoint's states and may remove checkpoints with that number. In other cases, or if the states have no
    /// number, the training gets a new number, and existing checkpoints stay until they are overwritten.
    pub restored: Option<Restored>,
    /// The lock of the checkpoints' prefix, if the caller holds it already. Otherwise [`fit`](crate::Module::fit) takes it.
    pub lock: Option<Arc<PrefixLock>>,
    /// The seed of the training data's order. Checkpoints record it, unless it is `None`.
    pub data_seed: Option<u64>,
    /// Request to stop. Once it is true, the current batch is finished, a checkpoint is written, and
    /// [`Outcome::Interrupted`](crate::Outcome::Interrupted) is returned. After the last batch of an epoch, the callbacks of
    /// its end and its validation are skipped. A running validation ends after its current batch, without metrics. A resumed
    /// training validates the epoch again if the best checkpoint is kept.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Whether the labels of the first epoch are compared with the number of classes.
    pub check_labels: bool,
    /// Whether outputs are checked for elements that are not finite; the first one is reported in a warning.
    pub check_finite: bool,
    /// Largest norm of the gradients over all parameters, after division by the batch size. Larger gradients are scaled down
    /// to it.
    pub clip_global_norm: Option<f64>,
}

impl FitOptions {
    /// Options for `num_epoch` epochs, with defaults for everything else.
    pub fn new(num_epoch: u64) -> Self {
        Self {
            begin_epoch: 0,
            num_epoch,
            init: InitOptions::default(),
            optimizer: "sgd".into(),
            optimizer_params: vec![("learning_rate".into(), "0.01".into())],
            kvstore: KvStoreChoice::default(),
            compression: None,
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
    /// The choice of the store.
    pub(crate) fn store(&self) -> StoreOptions {
        StoreOptions { kvstore: self.kvstore.clone(), update_on_kvstore: None, compression: self.compression }
    }
}
