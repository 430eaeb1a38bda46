//! The plan of a training: all defaults are filled in and all values are checked before any work.

use super::Flags;
use super::data_flags::Data;
use super::flags::Training;
use super::kind::{Defaults, Kind};
use super::store;
use crate::exit::{Failure, Outcome};
use crate::profiling::Wanted;
use mxrs::models::{Initializer, Model, ModelOptions, RandomKind, model};
use mxrs::train::{Compression, LossScaler};
use mxrs::types::{DType, Device};

/// The checked flags and values of a training.
pub struct Plan {
    /// The trainer.
    pub kind: Kind,
    /// Defaults of this trainer.
    pub defaults: Defaults,
    /// The training flags as given.
    pub training: Training,
    /// The data flags as given.
    pub data: Data,
    /// Name of the network.
    pub network: String,
    /// Number of layers, for networks of several depths.
    pub num_layers: Option<usize>,
    /// Number of classes.
    pub num_classes: usize,
    /// Channels, height and width of an image.
    pub image: [usize; 3],
    /// Number of epochs.
    pub num_epochs: u64,
    /// Batch size.
    pub batch_size: usize,
    /// Batches between log lines.
    pub disp_batches: u64,
    /// Initial learning rate.
    pub lr: f64,
    /// The devices among which every batch is divided.
    pub contexts: Vec<Device>,
    /// The compression of gradients; `None` means no compression.
    pub compression: Option<Compression>,
    /// The loss scale; `None` means that losses are not scaled.
    pub loss_scaler: Option<LossScaler>,
    /// What to profile; `None` means nothing.
    pub profile: Option<Wanted>,
}

/// The error for an invalid value of a flag.
fn wrong(flag: &str, got: impl std::fmt::Display, expected: &str) -> Failure {
    Failure::Usage(format!("{flag}: `{got}` is not {expected}"))
}

impl Plan {
    /// Checks the flags and fills in the defaults.
    ///
    /// # Errors
    /// [`Failure::Usage`] that names the flag whose value is invalid.
    pub fn new(kind: Kind, flags: &Flags) -> Outcome<Self> {
        let (training, data) = (flags.training.clone(), flags.data.clone());
        let defaults = kind.defaults();
        let positive = |flag: &str, n: usize| if n > 0 { Ok(n) } else { Err(wrong(flag, n, "at least 1")) };
        let network = training.network.clone().unwrap_or_else(|| defaults.network.to_owned());
        let image = match data.image_shape.as_ref().map(|shape| &shape[..]) {
            Some(&[channels, height, width]) => [channels, height, width],
            _ => defaults.image_shape,
        };
        let lr = training.lr.unwrap_or(defaults.lr);
        if !lr.is_finite() || lr < 0.0 {
            return Err(wrong("--lr", lr, "a number of 0 or more"));
        }
        for (flag, value) in [("--mom", training.mom), ("--wd", training.wd), ("--lr-factor", Some(training.lr_factor))]
        {
            if value.is_some_and(|value| !value.is_finite() || value < 0.0) {
                return Err(wrong(flag, value.unwrap_or_default(), "a number of 0 or more"));
            }
        }
        if !(0.0..1.0).contains(&training.label_smoothing) {
            return Err(wrong("--label-smoothing", training.label_smoothing, "from 0 to below 1"));
        }
        if let Some(norm) = training.clip_norm.filter(|norm| *norm <= 0.0) {
            return Err(wrong("--clip-norm", norm, "a number above 0; leave the flag out for no limit"));
        }
        let loss_scaler = scaler(&training)?;
        if training.add_stn {
            return Err(Failure::Usage(
                "--add_stn: the operator SpatialTransformer is not built; leave the flag out".into(),
            ));
        }
        if kind == Kind::Mnist {
            data.refuse_records()?;
        }
        let validates = !data.benchmark && (data.data_val.is_some() || kind == Kind::Mnist);
        if training.keep_best && !validates {
            return Err(Failure::Usage(
                "--keep-best: validation finds the best checkpoint: give --data-val FILE, and no --benchmark".into(),
            ));
        }
        let profile = store::profile(&training)?;
        let compression = store::compression(&training)?;
        let contexts = training.contexts.devices(training.compute.device)?;
        let batch_size = positive("--batch-size", training.batch_size.unwrap_or(defaults.batch_size))?;
        if batch_size < contexts.len() {
            let expected = format!("at least {}, one example for each device", contexts.len());
            return Err(wrong("--batch-size", batch_size, &expected));
        }
        let plan = Self {
            kind,
            contexts,
            compression,
            loss_scaler,
            profile,
            batch_size,
            num_layers: training.num_layers.or(defaults.num_layers),
            num_classes: positive("--num-classes", data.num_classes.unwrap_or(defaults.num_classes))?,
            num_epochs: training.num_epochs.unwrap_or(defaults.num_epochs),
            disp_batches: positive("--disp-batches", training.disp_batches.unwrap_or(defaults.disp_batches))? as u64,
            defaults,
            training,
            data,
            network,
            image,
            lr,
        };
        plan.initializer()?;
        Ok(plan)
    }

    /// The dtype of mixed precision; `None` for float32.
    pub fn autocast(&self) -> Option<DType> {
        Some(self.training.dtype).filter(|dtype| *dtype != DType::F32)
    }

    /// Builds the network by its name. The number of layers is used if the network has several depths and its name contains
    /// none.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the name is unknown or the image shape does not fit the network.
    pub fn model(&self) -> Outcome<Model> {
        let family = mxrs::models::families().iter();
        let mut family = family.filter(|f| f.name == self.network || f.aliases.contains(&self.network.as_str()));
        let has_depths = family.next().is_some_and(|family| !family.layers.is_empty());
        let options = ModelOptions {
            n_classes: self.num_classes,
            image: Some(self.image),
            n_layers: self.num_layers.filter(|_| has_depths),
            label_smoothing: self.training.label_smoothing as f32,
            ..ModelOptions::default()
        };
        model(&self.network, &options).map_err(|error| Failure::Usage(error.to_string()))
    }

    /// The initializer of the weights.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the name is unknown.
    pub fn initializer(&self) -> Outcome<Initializer> {
        let gaussian =
            |rnd_type| Initializer::Xavier { rnd_type, factor_type: mxrs::models::FactorKind::In, magnitude: 2.0 };
        Ok(match self.training.initializer.as_str() {
            "default" if self.network == "alexnet" => Initializer::Normal { sigma: 0.01 },
            "default" if self.network.contains("vgg") => Initializer::create("xavier").map_err(failed)?,
            "default" => gaussian(RandomKind::Gaussian),
            name @ ("xavier" | "orthogonal" | "normal" | "uniform" | "one" | "zero") => {
                Initializer::create(name).map_err(failed)?
            }
            "msra" => Initializer::create("msraprelu").map_err(failed)?,
            other => {
                let known = "one of default, xavier, msra, orthogonal, normal, uniform, one, zero";
                return Err(wrong("--initializer", other, known));
            }
        })
    }
}

/// The loss scale of a training in float16.
fn scaler(training: &Training) -> Outcome<Option<LossScaler>> {
    let given = training.amp_loss_scale.as_deref();
    if training.dtype != DType::F16 {
        return match given {
            None => Ok(None),
            Some(_) => Err(Failure::Usage("--amp-loss-scale: only --dtype float16 scales the loss".into())),
        };
    }
    if training.gc_type != "none" {
        return Err(wrong("--gc-type", &training.gc_type, "none, which --dtype float16 requires"));
    }
    let expected = "`dynamic` or a positive number";
    let scaler = match given.unwrap_or("dynamic") {
        "dynamic" => LossScaler::dynamic(),
        text => {
            let fixed = text.parse().ok().map(LossScaler::fixed).and_then(Result::ok);
            fixed.ok_or_else(|| wrong("--amp-loss-scale", text, expected))?
        }
    };
    if training.monitor_nan && scaler.is_dynamic() {
        let text = "--monitor-nan: a dynamic loss scale makes gradients infinite at first, which would end the training; use \
                    --amp-loss-scale with a number";
        return Err(Failure::Usage(text.into()));
    }
    Ok(Some(scaler))
}

fn failed(error: mxrs::Error) -> Failure {
    Failure::Usage(error.to_string())
}
