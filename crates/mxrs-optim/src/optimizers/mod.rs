//! The optimizers: one file each, with formula, settings and defaults.
//!
//! Terms used by all: `g = rescale_grad · grad`; `clip(x)` limits x to ±`clip_gradient`; `lr` and `wd` are learning rate and
//! weight decay of the parameter; `t` is the number of the parameter's update, starting at 1. Defaults are MXNet 1.9.1's; if
//! MXNet has no default for `lr`, it is 0.01.
//!
//! Each optimizer is a struct of its settings, from which an [`Updater`](crate::Updater) is made:
//!
//! ```
//! use mxrs_optim::{Updater, optimizers::Adam};
//!
//! let mut updater = Updater::new(Adam { lr: 3e-4, beta2: 0.99, ..Adam::default() });
//! assert!(updater.check().is_ok());
//! let refused = Updater::new(Adam { beta2: 1.0, ..Adam::default() });
//! assert!(refused.check().unwrap_err().to_string().contains("`beta2`: got \"1.0\", expected 0 to below 1"));
//! ```

mod adadelta;
mod adagrad;
mod adam;
mod adamax;
mod adamw;
mod dcasgd;
mod ftml;
mod ftrl;
mod lamb;
mod lars;
mod lbsgd;
mod nadam;
mod nag;
mod rmsprop;
mod sgd;
mod sgld;
mod signum;
mod test;

pub use adadelta::AdaDelta;
pub use adagrad::{AdaGrad, GroupAdaGrad};
pub use adam::Adam;
pub use adamax::Adamax;
pub use adamw::AdamW;
pub use dcasgd::DcAsgd;
pub use ftml::Ftml;
pub use ftrl::Ftrl;
pub use lamb::Lamb;
pub use lars::Lars;
pub use lbsgd::{LbSgd, WarmupStrategy};
pub use nadam::Nadam;
pub use nag::Nag;
pub use rmsprop::RmsProp;
pub use sgd::Sgd;
pub use sgld::Sgld;
pub use signum::Signum;
pub use test::Test;

/// An optimizer: its own settings, and what all optimizers have (common settings and counts of updates).
#[derive(Clone, Debug)]
pub(crate) struct Rule<C> {
    common: crate::Common,
    config: C,
}

impl<C> Rule<C> {
    fn new(common: crate::Common, config: C) -> Self {
        Self { common, config }
    }
}

/// Declares an optimizer as a struct of its settings. The arguments are its documentation; MXNet's name; `lr`, the
/// default learning rate of the struct; `text`, the default learning rate if the settings are given as texts (`None`:
/// the rate of the schedule, or 0.01 without a schedule); the function that makes the optimizer; and its own settings,
/// each with default and range.
macro_rules! optimizer {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident[$mxnet:literal, lr = $lr:literal, text $text_lr:expr, $make:path] {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:expr, $range:ident;)*
        }
    ) => {
        $(#[doc = $about])+
        #[doc = concat!(
            "\n\n```\nuse mxrs_optim::{Updater, optimizers::", stringify!($name), "};\n\n",
            "let updater = Updater::new(", stringify!($name), " { lr: 0.5, wd: 1e-4, ..Default::default() });\n",
            "assert_eq!((updater.optimizer().name(), updater.learning_rate()), (\"", $mxnet, "\", 0.5));\n```"
        )]
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            #[doc = concat!("Learning rate; ", stringify!($lr), ".")]
            pub lr: f64,
            /// Weight decay. Default: 0.
            pub wd: f64,
            /// Each element of a gradient is limited to ± this bound; `None` or 0 for no limit.
            pub clip_gradient: Option<f64>,
            /// Whether weights of 16 bits have a master weight in float32. Default: false.
            pub multi_precision: bool,
            $($(#[doc = $doc])+ pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                let (wd, clip_gradient, multi_precision) = (0.0, None, false);
                Self { lr: $lr, wd, clip_gradient, multi_precision, $($field: $default,)* }
            }
        }

        impl $crate::config::Config for $name {
            const NAME: &'static str = $mxnet;
            const TEXT_LR: Option<f64> = $text_lr;

            fn basics(&self) -> $crate::config::Basics {
                let Self { lr, wd, clip_gradient, multi_precision, .. } = *self;
                $crate::config::Basics { lr, wd, clip_gradient, multi_precision }
            }

            #[allow(unused_variables, reason = "an optimizer may have no settings of its own")]
            fn read(settings: &$crate::Settings<'_>) -> mxrs_types::Result<Self> {
                $(let $field = settings.value(stringify!($field), $default, $crate::settings::Range::$range)?;)*
                Ok(Self { $($field,)* ..Self::default() })
            }

            fn check(&self) -> mxrs_types::Result<()> {
                $($crate::settings::check($mxnet, stringify!($field), &self.$field, $crate::settings::Range::$range)?;)*
                Ok(())
            }

            fn own(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($field), format!("{:?}", self.$field))),*]
            }

            fn with(self, common: $crate::Common) -> Box<dyn $crate::Optimizer> {
                Box::new($make(common, self))
            }
        }

        impl From<$name> for $crate::Updater {
            /// Always succeeds; [`Updater::check`](crate::Updater::check) reports settings out of range.
            fn from(settings: $name) -> Self {
                $crate::config::updater(settings)
            }
        }
    };
}
pub(crate) use optimizer;

/// The methods of [`crate::Optimizer`] that have the same code in all optimizers: name, common settings, and own settings as
/// texts.
macro_rules! described {
    () => {
        fn name(&self) -> &'static str {
            crate::config::name(&self.config)
        }

        fn common(&self) -> &crate::Common {
            &self.common
        }

        fn common_mut(&mut self) -> &mut crate::Common {
            &mut self.common
        }

        fn settings(&self) -> Vec<(&'static str, String)> {
            crate::config::Config::own(&self.config)
        }
    };
}
pub(crate) use described;

/// An optimizer that updates each weight by one call, whose inputs are the weight, the gradient and the states.
pub(crate) trait PerWeight {
    /// Returns what [`Optimizer::slots`](crate::Optimizer::slots) returns.
    fn slots(&self) -> Vec<&'static str>;

    /// Returns what [`Optimizer::is_mixed`](crate::Optimizer::is_mixed) returns.
    fn is_mixed(&self) -> bool {
        false
    }

    /// Makes the call for update number `t` of a parameter.
    fn call(&self, param: &crate::Param<'_>, t: u64) -> crate::call::Call;
}

impl<C: crate::config::Config + Send> crate::Optimizer for Rule<C>
where
    Self: PerWeight,
{
    described!();

    fn slots(&self) -> Vec<&'static str> {
        PerWeight::slots(self)
    }

    fn is_mixed(&self) -> bool {
        PerWeight::is_mixed(self)
    }

    fn update(&mut self, nd: &dyn mxrs_ndarray::Invoke, batch: &mut [crate::Param<'_>]) -> mxrs_types::Result<()> {
        for param in batch.iter() {
            let t = self.common.count(param.name);
            self.call(param, t).into(nd, &interleaved(&[*param]), &[param.weight])?;
        }
        Ok(())
    }
}

/// Most operators that update several weights take at most this many per call.
pub(crate) const MOST_WEIGHTS: usize = 60;

/// Computes `1 - beta^t`: after `t` updates of a moving average that began at 0, this is the sum of the weights of its
/// terms.
pub(crate) fn correction(beta: f64, t: u64) -> f64 {
    1.0 - beta.powi(i32::try_from(t).unwrap_or(i32::MAX))
}

/// Inputs of a call that updates several weights: for each parameter in turn, the weight, the gradient and the states.
pub(crate) fn interleaved<'a>(batch: &[crate::Param<'a>]) -> Vec<&'a mxrs_ndarray::NdArray> {
    let of = |param: &crate::Param<'a>| {
        let state = param.state;
        [param.weight, param.grad].into_iter().chain(state.all().map(|(_, array)| array)).collect::<Vec<_>>()
    };
    batch.iter().flat_map(of).collect()
}

/// The weights of a batch.
pub(crate) fn weights<'a>(batch: &[crate::Param<'a>]) -> Vec<&'a mxrs_ndarray::NdArray> {
    batch.iter().map(|param| param.weight).collect()
}

/// Whether the weights of the batch have master weights. All weights of a batch have the same dtype, so either all have one
/// or none has.
pub(crate) fn has_masters(batch: &[crate::Param<'_>]) -> bool {
    batch.iter().any(|param| param.state.master.is_some())
}

/// The device of the weights of a batch.
pub(crate) fn device_of(batch: &[crate::Param<'_>]) -> mxrs_types::Device {
    batch.first().map(|param| param.weight.device()).unwrap_or_default()
}

/// Makes a float32 vector of numbers, one per weight of a batch, on `device`.
pub(crate) fn vector(
    nd: &dyn mxrs_ndarray::Invoke,
    device: mxrs_types::Device,
    values: impl Iterator<Item = f64>,
) -> mxrs_types::Result<mxrs_ndarray::NdArray> {
    let values: Vec<f32> = values.map(|value| value as f32).collect();
    mxrs_ndarray::NdArray::from_slice_on(nd.context(), [values.len()], &values, device)
}
