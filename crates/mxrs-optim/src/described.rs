//! Updaters as names and texts, for servers that update weights: nothing else of an optimizer leaves its process.
//!
//! The settings are those of the optimizer under MXNet's names, such as `momentum` and `learning_rate`, and these:
//! `lr_scheduler` is the name of the schedule, `lr_scheduler.<setting>` are its settings, `lr_mult.<parameter>` and
//! `wd_mult.<parameter>` are factors, and `decayed` says which parameters have a weight decay.

use crate::mult::Decayed;
use crate::schedule::from_description;
use crate::{Optimizer, Updater, create};
use mxrs_types::{Error, Result};

/// A description is complete only if the schedule that is made from it gives the same rates. They are compared at these
/// updates, counted from the next one.
const COMPARED: [u64; 9] = [0, 1, 2, 10, 100, 1000, 10_000, 100_000, 1_000_000];

impl Updater {
    /// The name of the optimizer and all settings as text, from which [`Self::from_description`] makes it again. States and
    /// counts of updates are not among them.
    ///
    /// ```
    /// use mxrs_optim::{Updater, optimizers::Sgd};
    ///
    /// let (name, settings) = Updater::new(Sgd { lr: 0.1, momentum: 0.9, ..Sgd::default() }).describe()?;
    /// assert_eq!(name, "sgd");
    /// assert!(settings.contains(&("momentum".into(), "0.9".into())));
    /// assert_eq!(Updater::from_description(&name, &settings)?.learning_rate(), 0.1);
    /// # Ok::<(), mxrs_types::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if a setting is out of range, or if the schedule is not one of MXNet's, so that text cannot express it.
    pub fn describe(&self) -> Result<(String, Vec<(String, String)>)> {
        self.check()?;
        let (optimizer, common) = (self.optimizer(), self.optimizer().common());
        let optional = |value: Option<f64>| value.map_or("None".to_owned(), |value| value.to_string());
        let mut all: Vec<(String, String)> = Vec::new();
        let mut put = |key: &str, text: String| all.push((key.to_owned(), text));
        optimizer.settings().into_iter().for_each(|(key, text)| put(key, text));
        put("learning_rate", optional(common.learning_rate));
        put("wd", common.wd.to_string());
        put("rescale_grad", common.rescale_grad.to_string());
        put("clip_gradient", optional(common.clip_gradient));
        put("multi_precision", common.multi_precision.to_string());
        put("begin_num_update", common.begin_num_update.to_string());
        put("decayed", common.mult.decayed.word().to_owned());
        for (kind, factors) in [("lr_mult", common.mult.lr_factors()), ("wd_mult", common.mult.wd_factors())] {
            factors.into_iter().for_each(|(name, factor)| put(&format!("{kind}.{name}"), factor.to_string()));
        }
        if let Some(schedule) = common.scheduler() {
            let (name, settings) = schedule.describe();
            let texts: Vec<(&str, &str)> = settings.iter().map(|(key, text)| (*key, text.as_str())).collect();
            let again = from_description(name, &texts)?;
            let now = common.num_update;
            if COMPARED.iter().any(|n| again.lr(now + n) != schedule.lr(now + n)) {
                let reason = "servers know MXNet's schedules only, and this one is your own";
                return Err(Error::not_built(format!("the schedule {name} of an optimizer on servers"), reason));
            }
            put("lr_scheduler", name.to_owned());
            settings.into_iter().for_each(|(key, text)| put(&format!("lr_scheduler.{key}"), text));
        }
        Ok((optimizer.name().to_owned(), all))
    }

    /// Makes an updater from a name and settings, as [`Self::describe`] returns them.
    ///
    /// # Errors
    /// Fails if the name or a setting is unknown, or if a value is out of range.
    pub fn from_description(name: &str, settings: &[(String, String)]) -> Result<Self> {
        Ok(Self::from(described(name, settings)?))
    }

    /// Changes the settings to those of a description. States and counts of updates stay.
    ///
    /// # Errors
    /// Fails as [`Self::from_description`] does, or if the description is one of another optimizer. Then nothing changes.
    pub fn set_description(&mut self, name: &str, settings: &[(String, String)]) -> Result<()> {
        let mut optimizer = described(name, settings)?;
        let own = self.optimizer();
        if optimizer.name() != own.name() || optimizer.slots() != own.slots() {
            let expected = format!("{} with the same states", own.name());
            return Err(Error::invalid("optimizer", optimizer.name(), expected));
        }
        for (key, value) in own.scalars() {
            optimizer.set_scalar(key, value)?;
        }
        let common = own.common();
        optimizer.common_mut().set_counts(common.num_update, common.counts().clone());
        self.replace_optimizer(optimizer);
        Ok(())
    }
}

fn described(name: &str, settings: &[(String, String)]) -> Result<Box<dyn Optimizer>> {
    let (mut own, mut of_schedule, mut schedule) = (Vec::new(), Vec::new(), None);
    let (mut lr, mut wd, mut decayed) = (Vec::new(), Vec::new(), Decayed::default());
    for (key, text) in settings {
        let factor = || {
            let factor = text.parse().ok().filter(|factor: &f64| factor.is_finite());
            factor.ok_or_else(|| Error::invalid(format!("setting {key}"), text, "a finite number"))
        };
        match key.split_once('.') {
            Some(("lr_mult", name)) => lr.push((name.to_owned(), factor()?)),
            Some(("wd_mult", name)) => wd.push((name.to_owned(), factor()?)),
            Some(("lr_scheduler", key)) => of_schedule.push((key, text.as_str())),
            _ if key == "lr_scheduler" => schedule = Some(text),
            _ if key == "decayed" => decayed = Decayed::of_word(text)?,
            _ => own.push((key.as_str(), text.as_str())),
        }
    }
    let mut optimizer = create(name, &own)?;
    let common = optimizer.common_mut();
    common.mult.decayed = decayed;
    common.mult.set_lr_mult(lr);
    common.mult.set_wd_mult(wd);
    match schedule {
        Some(name) => common.set_scheduler(from_description(name, &of_schedule)?),
        None if of_schedule.is_empty() => {}
        None => return Err(Error::invalid("lr_scheduler", "settings without a name", "the name of a schedule")),
    }
    Ok(optimizer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NAMES;
    use crate::schedule::{LrScheduler, MultiFactor, Poly, Shifted, Warmup};
    use std::sync::Arc;

    #[test]
    fn every_optimizer_is_made_again() {
        for name in NAMES {
            let mut updater = Updater::from(create(name, &[("learning_rate", "0.37"), ("wd", "0.003")]).unwrap());
            let common = updater.optimizer_mut().common_mut();
            common.rescale_grad = 1.0 / 3.0;
            common.clip_gradient = Some(0.7);
            common.mult.set_lr_mult([("a.b".to_owned(), 0.1)]);
            common.mult.set_wd_mult([("c".to_owned(), 0.0)]);
            common.mult.decayed = Decayed::All;
            let steps = MultiFactor::new(vec![3, 9], 0.1, Warmup::none(0.37)).unwrap();
            common.set_scheduler(Arc::new(steps));
            let (own, settings) = updater.describe().unwrap();
            let again = Updater::from_description(&own, &settings).unwrap();
            assert_eq!(again.describe().unwrap(), (own, settings), "{name}");
            let (a, b) = (updater.optimizer().common(), again.optimizer().common());
            assert_eq!((a.mult.clone(), a.lr_at(10)), (b.mult.clone(), b.lr_at(10)), "{name}");
        }
    }

    #[test]
    fn settings_change_and_counts_stay() {
        let mut updater = Updater::from(create("sgd", &[("learning_rate", "0.1"), ("momentum", "0.9")]).unwrap());
        updater.optimizer_mut().common_mut().count("w");
        let (name, mut settings) = updater.describe().unwrap();
        settings.iter_mut().filter(|(key, _)| key == "learning_rate").for_each(|(_, text)| *text = "0.01".to_owned());
        updater.set_description(&name, &settings).unwrap();
        assert_eq!((updater.learning_rate(), updater.num_update()), (0.01, 1));
        let error = updater.set_description("adam", &[]).unwrap_err().to_string();
        assert!(error.contains("adam") && error.contains("sgd"), "{error}");
        for (key, text) in
            [("lr_mult.w", "x"), ("decayed", "some"), ("lr_scheduler", "Mine"), ("lr_scheduler.step", "1")]
        {
            let wrong = [(key.to_owned(), text.to_owned())];
            assert!(Updater::from_description("sgd", &wrong).is_err(), "{key}");
        }
    }

    /// A schedule that is not one of MXNet's. Its description gives another schedule.
    #[derive(Debug)]
    struct Own;

    impl LrScheduler for Own {
        fn lr(&self, _: u64) -> f64 {
            0.5
        }

        fn base_lr(&self) -> f64 {
            0.37
        }

        fn rebased(&self, _: f64) -> Arc<dyn LrScheduler> {
            Arc::new(Self)
        }

        fn describe(&self) -> (&'static str, Vec<(&'static str, String)>) {
            MultiFactor::new(vec![3], 0.1, Warmup::none(0.37)).unwrap().describe()
        }
    }

    /// A resumed training counts updates from another number, so its schedule is shifted. Servers must get the same shifted
    /// schedule.
    #[test]
    fn a_shifted_schedule_is_made_again() {
        for (from, to) in [(7, 20), (20, 7), (1_000_000, 3)] {
            let poly = Poly::new(100, 2.0, 0.0, Warmup::none(0.37)).unwrap();
            let mut updater = Updater::from(create("sgd", &[("learning_rate", "0.37")]).unwrap());
            updater.set_schedule(Arc::new(Shifted { schedule: Arc::new(poly), from, to }));
            let (name, settings) = updater.describe().unwrap();
            let again = Updater::from_description(&name, &settings).unwrap();
            let rates = |updater: &Updater| (0..200).map(|n| updater.optimizer().common().lr_at(n)).collect::<Vec<_>>();
            assert_eq!(rates(&again), rates(&updater));
            assert_eq!(again.describe().unwrap().1, settings);
        }
    }

    #[test]
    fn schedules_that_text_does_not_express_are_refused() {
        let mut updater = Updater::from(create("sgd", &[("learning_rate", "0.37")]).unwrap());
        updater.set_schedule(Arc::new(Own));
        assert!(updater.describe().unwrap_err().to_string().contains("MultiFactorScheduler"));
    }
}
