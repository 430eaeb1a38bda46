//! `--plot FILE`: curves of loss, accuracy, learning rate and speed over the epochs, drawn again after each epoch. Their
//! points are stored in a file next to the picture. A resumed training loads from that file the points before its position, if
//! the file belongs to the training that it resumes. The file identifies its training by the checkpoints of the training: if a
//! training writes none, no later training uses its points.

mod draw;
mod points;

use super::learning::Schedule;
use super::plan::Plan;
use crate::exit::{Failure, Outcome};
use mxrs::format::AtomicFile;
use mxrs::train::callback::{BatchEnd, BatchEndCallback, EpochEnd, EpochEndCallback};
use mxrs::train::resume::{Found, Position};
use mxrs::types::{Error, Result, ResultExt};
use points::Owner;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// File formats of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// SVG, a vector format.
    Svg,
    /// PNG, a pixel format.
    Png,
}

/// A curve: its name, whether it shows validation, and its points.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Curve {
    /// Name of the metric, as in log lines.
    pub name: String,
    /// Whether the values are from validation.
    pub is_validation: bool,
    /// Points: number of epochs done, and value.
    pub points: Vec<(f64, f64)>,
}

/// All curves of a training, shared by the callbacks that collect points.
#[derive(Clone)]
pub struct Curves {
    path: PathBuf,
    form: Form,
    epoch_size: u64,
    batch_size: usize,
    every: u64,
    schedule: Schedule,
    checkpoints: Option<Checkpoints>,
    collected: Arc<Mutex<Collected>>,
}

/// Where and when the training writes checkpoints.
#[derive(Clone)]
struct Checkpoints {
    prefix: PathBuf,
    period: u64,
    num_epochs: u64,
}

#[derive(Default)]
struct Collected {
    curves: Vec<Curve>,
    /// The training to which the points belong, once it is known.
    owner: Option<Owner>,
    since: Option<(u64, Instant)>,
}

impl Collected {
    fn add(&mut self, name: &str, is_validation: bool, at: f64, value: f64) {
        if !value.is_finite() {
            return;
        }
        match self.curves.iter_mut().find(|curve| curve.name == name && curve.is_validation == is_validation) {
            None => self.curves.push(Curve { name: name.into(), is_validation, points: vec![(at, value)] }),
            Some(curve) => match curve.points.last_mut() {
                // The epoch was validated before; the training was resumed and validates it again.
                Some(last) if last.0 == at => last.1 = value,
                _ => curve.points.push((at, value)),
            },
        }
    }
}

/// Names of the two curves that do not show metrics.
const LEARNING_RATE: &str = "learning rate";
const SPEED: &str = "images per second";

impl Curves {
    /// Empty curves, to be drawn into the file `path`.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the name ends in neither `.svg` nor `.png`; another failure if the file cannot be written.
    pub fn new(path: &Path, plan: &Plan, schedule: &Schedule, epoch_size: u64) -> Outcome<Self> {
        let form = match path.extension().map(|end| end.to_ascii_lowercase()) {
            Some(end) if end == "svg" => Form::Svg,
            Some(end) if end == "png" => Form::Png,
            _ => return Err(Failure::Usage(format!("--plot: `{}` does not end in .svg or .png", path.display()))),
        };
        try_out(path).context(|| format!("looking whether --plot {} can be written", path.display()))?;
        let checkpoints = plan.training.model_prefix.clone().map(|prefix| Checkpoints {
            prefix,
            period: plan.training.save_period,
            num_epochs: plan.num_epochs,
        });
        Ok(Self {
            path: path.into(),
            form,
            epoch_size,
            batch_size: plan.batch_size,
            every: plan.disp_batches,
            schedule: schedule.clone(),
            checkpoints,
            collected: Arc::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads the points up to `epochs` of the training that has the number `number` from the file next to the picture.
    /// `is_same` says whether that training itself continues; otherwise a new training starts from its checkpoint.
    pub fn go_on(&self, number: u64, is_same: bool, epochs: f64) {
        let Some(owner) = self.owner(number) else { return };
        let curves = points::load(&self.path, &owner, epochs);
        let mut all = self.lock();
        all.curves = curves;
        all.owner = is_same.then_some(owner);
    }

    fn owner(&self, number: u64) -> Option<Owner> {
        Owner::new(&self.checkpoints.as_ref()?.prefix, number)
    }

    /// Reads the number that identifies this training from the checkpoint that it has written at this position.
    pub fn identify(&self, position: Position) {
        let Some(Checkpoints { prefix, .. }) = &self.checkpoints else { return };
        if self.lock().owner.is_some() {
            return;
        }
        // If the checkpoint cannot be read, no later training uses these points.
        if let Ok((state, _)) = (Found { position, prefix: prefix.clone() }).read() {
            self.lock().owner = self.owner(state.run.number);
        }
    }

    /// Writes the picture with all points so far, and the file of the points.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn draw(&self) -> Result<()> {
        let collected = self.lock();
        points::save(&self.path, collected.owner.as_ref(), &collected.curves)?;
        write(&self.path, &draw::picture(&collected.curves, self.form)?)
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    mxrs::format::write_atomically(path, |sink| sink.write_all(bytes).map_err(|error| Error::io(path, &error)))
}

/// Checks that the file can be written, by creating it under a temporary name that is removed again.
fn try_out(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(Error::io(path, &std::io::ErrorKind::IsADirectory.into()));
    }
    AtomicFile::create(path).map(drop)
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
    fn epoch_end(&mut self, at: &EpochEnd<'_>) -> Result<()> {
        let done = at.epoch + 1;
        let is_saved = |saved: &Checkpoints| done.is_multiple_of(saved.period) || done == saved.num_epochs;
        // Only a checkpoint of this run identifies it. A file found after an epoch that saves none may be an older run's.
        if self.checkpoints.as_ref().is_some_and(is_saved) {
            self.identify(Position::epoch(done));
        }
        // The time between the epochs is not training time.
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
