//! Settings of optimizers as structs. A program fills the structs, or they are parsed from the texts of a command line.

use crate::settings::{Range, check};
use crate::{Common, Optimizer, Settings, Updater};
use mxrs_types::Result;

/// Settings that every optimizer has.
pub(crate) struct Basics {
    pub lr: f64,
    pub wd: f64,
    pub clip_gradient: Option<f64>,
    pub multi_precision: bool,
}

/// The settings of one optimizer.
pub(crate) trait Config: Clone + Sized {
    /// MXNet's name of the optimizer, in lower case.
    const NAME: &'static str;
    /// The learning rate if the settings are texts without a learning rate; `None` means the learning rate of the schedule,
    /// or 0.01.
    const TEXT_LR: Option<f64>;

    /// Settings that every optimizer has.
    fn basics(&self) -> Basics;

    /// Reads the settings that only this optimizer has; the settings of every optimizer keep their defaults.
    fn read(settings: &Settings<'_>) -> Result<Self>;

    /// Checks that the settings that only this optimizer has are in range.
    fn check(&self) -> Result<()>;

    /// The names and texts of the settings that only this optimizer has.
    fn own(&self) -> Vec<(&'static str, String)>;

    /// Makes the optimizer with these settings and `common`.
    fn with(self, common: Common) -> Box<dyn Optimizer>;
}

pub(crate) fn name<C: Config>(_: &C) -> &'static str {
    C::NAME
}

/// Makes the optimizer from settings that are texts.
pub(crate) fn read<C: Config>(settings: &Settings<'_>) -> Result<Box<dyn Optimizer>> {
    let common = Common::read(settings, C::TEXT_LR)?;
    Ok(C::read(settings)?.with(common))
}

/// Makes an updater from a struct of settings. [`Updater::check`] reports the first setting that is out of range.
pub(crate) fn updater<C: Config>(config: C) -> Updater {
    let Basics { lr, wd, clip_gradient, multi_precision } = config.basics();
    let faults = [
        check(C::NAME, "lr", &lr, Range::Finite),
        check(C::NAME, "wd", &wd, Range::NotNegative),
        check(C::NAME, "clip_gradient", &clip_gradient, Range::NotNegative),
        config.check(),
    ];
    let fault = faults.into_iter().find_map(Result::err);
    let mut common = Common::default();
    (common.learning_rate, common.wd) = (Some(lr), wd);
    (common.clip_gradient, common.multi_precision) = (clip_gradient, multi_precision);
    Updater::with_fault(config.with(common), fault)
}
