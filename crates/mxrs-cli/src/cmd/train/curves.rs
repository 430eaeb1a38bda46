//! `--plot FILE`: loss, accuracy, learning rate and speed over the epochs, drawn anew after each.

mod draw;

use super::learning::Schedule;
use crate::exit::{Failure, Outcome};
use mxrs::train::callback::{BatchEnd, BatchEndCallback, EpochEnd, EpochEndCallback};
use mxrs::types::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The forms of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Scalable vector graphics.
    Svg,
    /// Pixels.
    Png,
}

/// A curve: its name, whether it is of validation, and its points (epochs, value).
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name, as in log lines.
    pub name: String,
    /// Whether it is of validation.
    pub is_validation: bool,
    /// Points: epochs done, value.
    pub points: Vec<(f64, f64)>,
}

/// All curves of a training, shared between what collects them.
#[derive(Clone)]
pub struct Curves {
    path: PathBuf,
    form: Form,
    epoch_size: u64,
    batch_size: usize,
    every: u64,
    schedule: Schedule,
    collected: Arc<Mutex<Collected>>,
}

#[derive(Default)]
struct Collected {
    curves: Vec<Curve>,
    since: Option<(u64, Instant)>,
}

impl Collected {
    fn add(&mut self, name: &str, is_validation: bool, at: f64, value: f64) {
        if !value.is_finite() {
            return;
        }
        match self.curves.iter_mut().find(|curve| curve.name == name && curve.is_validation == is_validation) {
            Some(curve) => curve.points.push((at, value)),
            None => self.curves.push(Curve { name: name.into(), is_validation, points: vec![(at, value)] }),
        }
    }
}

/// Names of the curves that no metric has.
const LEARNING_RATE: &str = "learning rate";
const SPEED: &str = "images per second";

impl Curves {
    /// Curves drawn into this file; a point every `every` batches.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a name that ends in neither `.svg` nor `.png`.
    pub fn new(path: &Path, schedule: &Schedule, epoch_size: u64, batch_size: usize, every: u64) -> Outcome<Self> {
        let form = match path.extension().map(|end| end.to_ascii_lowercase()) {
            Some(end) if end == "svg" => Form::Svg,
            Some(end) if end == "png" => Form::Png,
            _ => return Err(Failure::Usage(format!("--plot: `{}` does not end in .svg or .png", path.display()))),
        };
        let collected = Arc::default();
        Ok(Self { path: path.into(), form, epoch_size, batch_size, every, schedule: schedule.clone(), collected })
    }

    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the picture as it is now.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn draw(&self) -> Result<()> {
        let bytes = draw::picture(&self.lock().curves, self.form)?;
        let failed = |error: std::io::Error| Error::io(&self.path, &error);
        mxrs::format::write_atomically(&self.path, |sink| sink.write_all(&bytes).map_err(failed))
    }
}

impl BatchEndCallback for Curves {
    fn batch_end(&mut self, at: &mut BatchEnd<'_>) -> Result<()> {
        let count = at.nbatch + 1;
        if !count.is_multiple_of(self.every) && count != self.epoch_size {
            return Ok(());
        }
        let Some(metric) = at.metric.as_mut() else { return Ok(()) };
        let values = metric.get_global()?;
        let num_update = at.epoch * self.epoch_size + count;
        let place = num_update as f64 / self.epoch_size as f64;
        let now = Instant::now();
        let mut all = self.lock();
        for (name, value) in values {
            all.add(&name, false, place, value);
        }
        all.add(LEARNING_RATE, false, place, self.schedule.lr(num_update));
        if let Some((before, since)) = all.since.filter(|(before, _)| *before < num_update) {
            let images = (num_update - before) as f64 * self.batch_size as f64;
            all.add(SPEED, false, place, images / now.duration_since(since).as_secs_f64());
        }
        all.since = Some((num_update, now));
        Ok(())
    }
}

impl EpochEndCallback for Curves {
    fn epoch_end(&mut self, _at: &EpochEnd<'_>) -> Result<()> {
        // What comes between the epochs is no time of training.
        self.lock().since = None;
        self.draw()
    }

    fn validation_end(&mut self, at: &EpochEnd<'_>) -> Result<()> {
        let mut all = self.lock();
        for (name, value) in at.validation {
            all.add(name, true, (at.epoch + 1) as f64, *value);
        }
        drop(all);
        self.draw()
    }
}
