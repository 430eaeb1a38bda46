//! The trainers, with their defaults for flags that are not given.

/// The trainers, each named after a training script of MXNet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The trainer like `train_imagenet.py`.
    Imagenet,
    /// The trainer like `train_mnist.py`.
    Mnist,
    /// The trainer like `train_cifar10.py`.
    Cifar10,
    /// The trainer like `fine-tune.py`.
    FineTune,
}

/// Defaults of a trainer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Defaults {
    /// Default of `--network`.
    pub network: &'static str,
    /// Default of `--num-layers`.
    pub num_layers: Option<usize>,
    /// Default of `--num-classes`.
    pub num_classes: usize,
    /// Default of `--num-examples`; 0 means the number of records in the file.
    pub num_examples: u64,
    /// Default of `--image-shape`.
    pub image_shape: [usize; 3],
    /// Default of `--num-epochs`.
    pub num_epochs: u64,
    /// Default of `--lr`.
    pub lr: f64,
    /// Default of `--lr-step-epochs`.
    pub lr_step_epochs: &'static str,
    /// Default of `--mom`.
    pub mom: f64,
    /// Default of `--wd`.
    pub wd: f64,
    /// Default of `--batch-size`.
    pub batch_size: usize,
    /// Default of `--disp-batches`.
    pub disp_batches: usize,
    /// Default of `--pad-size`.
    pub pad_size: usize,
}

/// Defaults that most trainers share.
const COMMON: Defaults = Defaults {
    network: "resnet",
    num_layers: Some(50),
    num_classes: 1000,
    num_examples: 1_281_167,
    image_shape: [3, 224, 224],
    num_epochs: 80,
    lr: 0.1,
    lr_step_epochs: "30,60",
    mom: 0.9,
    wd: 1e-4,
    batch_size: 128,
    disp_batches: 20,
    pad_size: 0,
};

impl Kind {
    /// Default values of this trainer's flags.
    pub fn defaults(self) -> Defaults {
        match self {
            Self::Imagenet => COMMON,
            Self::Mnist => Defaults {
                network: "mlp",
                num_layers: None,
                num_classes: 10,
                num_examples: 60_000,
                image_shape: [1, 28, 28],
                num_epochs: 20,
                lr: 0.05,
                lr_step_epochs: "10",
                batch_size: 64,
                disp_batches: 100,
                ..COMMON
            },
            Self::Cifar10 => Defaults {
                num_layers: Some(110),
                num_classes: 10,
                num_examples: 50_000,
                image_shape: [3, 28, 28],
                num_epochs: 300,
                lr: 0.05,
                lr_step_epochs: "200,250",
                pad_size: 4,
                ..COMMON
            },
            Self::FineTune => Defaults {
                num_epochs: 30,
                lr: 0.01,
                lr_step_epochs: "20",
                mom: 0.0,
                wd: 0.0,
                num_examples: 0,
                ..COMMON
            },
        }
    }
}
