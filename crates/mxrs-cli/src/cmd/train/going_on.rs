//! `--load-epoch` and `--resume`: finds the checkpoint and checks whether the flags fit it.

use super::learning::Anchor;
use super::plan::Plan;
use crate::exit::{Failure, Outcome};
use mxrs::format::params::checkpoint_path;
use mxrs::format::{Checkpoint, Options};
use mxrs::train::LossScaler;
use mxrs::train::resume::{self, Batching, Difference, OptimizerStates, Position, Restored, Run, TrainingState};
use std::path::PathBuf;

/// A checkpoint from which training resumes.
pub struct GoingOn {
    /// Parameters of the checkpoint.
    pub params: Checkpoint,
    /// The state that was saved with the parameters; some checkpoints of MXNet have none.
    pub state: Option<TrainingState>,
    /// The batch that comes next.
    pub position: Position,
    /// Whether the training that wrote the checkpoint continues (`--resume`). With `--load-epoch` a new training starts from
    /// the checkpoint.
    is_resumed: bool,
    /// Path of the states file, or of the parameter file if there are no states.
    path: PathBuf,
}

impl GoingOn {
    /// Opens the checkpoint that the flags name. `None` if they name none, or if there is none to resume from.
    ///
    /// # Errors
    /// Returns an error if the files cannot be read.
    pub fn open(plan: &Plan) -> Outcome<Option<Self>> {
        let training = &plan.training;
        let Some(prefix) = &training.model_prefix else { return Ok(None) };
        if training.resume {
            let newest = resume::newest(prefix).map_err(Failure::input)?;
            return Ok(newest.map(|(state, params)| {
                let position = state.position;
                let path = position.path(prefix, ".states");
                Self { params, state: Some(state), position, is_resumed: true, path }
            }));
        }
        let Some(epoch) = training.load_epoch else { return Ok(None) };
        let (position, params) = (Position::epoch(epoch), checkpoint_path(prefix, epoch));
        let found = resume::find(prefix).map_err(Failure::input)?;
        let states = found.into_iter().find(|found| found.position == position);
        let (path, state, loaded) = match states {
            Some(found) => {
                let (state, loaded) = found.read().map_err(Failure::input)?;
                (found.states(), Some(state), loaded)
            }
            None => {
                let loaded = Checkpoint::open(&params, &Options::default()).map_err(Failure::input)?;
                (params.clone(), None, loaded.value)
            }
        };
        tracing::info!("Loaded model {}", params.display());
        Ok(Some(Self { params: loaded, state, position, is_resumed: false, path }))
    }

    /// Checks that training can resume with the batches that the flags describe. If the checkpoint lies within an epoch, the
    /// batches must be the same as before, because they complete that epoch. At the end of an epoch, differences are only
    /// logged.
    ///
    /// # Errors
    /// [`Failure::Usage`] that names the flag, its value and the value in the checkpoint.
    pub fn check(&self, now: &Run) -> Outcome {
        let Some(state) = &self.state else { return Ok(()) };
        let Position { epoch, batch } = self.position;
        if batch == 0 {
            // Sizes and seed are compared separately, because `difference` returns only the first difference.
            let sizes = Run { data_seed: None, ..*now };
            if state.run.difference(&sizes).is_some() {
                tracing::info!(
                    "Epoch[{epoch}] begins with other batches than before: the learning rate goes by epochs"
                );
            }
            let seed = Run { batch_size: None, epoch_size: None, ..*now };
            if let Some(Difference { now, before, .. }) = state.run.difference(&seed) {
                tracing::warn!(
                    "--seed is {now}, and was {before}: order and augmentation go by the new one, dropout goes on as it was"
                );
            }
            return Ok(());
        }
        let Some(Difference { of, now, before }) = state.run.difference(now) else { return Ok(()) };
        let (flag, what) = match of {
            Batching::BatchSize => ("--batch-size", "batches of that size"),
            Batching::EpochSize => ("--data-train", "that many batches in all"),
            Batching::Seed => ("--seed", "the order of that seed"),
        };
        let got = match of {
            Batching::EpochSize => format!("{now} batches of an epoch"),
            _ => now.to_string(),
        };
        Err(Failure::Usage(format!(
            "{flag}: got {got}, expected {before}: {} is of batch {batch} of an epoch of {what}; go on with them, or from the end \
             of an epoch with --load-epoch",
            self.path.display()
        )))
    }

    /// The epoch from which on every epoch has `epoch_size` batches with `per_batch` updates each. It is the first epoch if
    /// the recorded number of updates, plus the skipped steps, is what the epochs done give at that rate. Otherwise earlier
    /// epochs had other numbers of updates, and it is the current epoch.
    pub fn anchor(&self, epoch_size: u64, per_batch: u64) -> Anchor {
        let Position { epoch, batch } = self.position;
        let by_epochs = epoch.saturating_mul(epoch_size.saturating_mul(per_batch));
        let batch = batch.saturating_mul(per_batch);
        // Batches whose step was skipped have no update.
        let scaler = self.state.as_ref().and_then(|state| state.loss_scaler.as_ref());
        let n_skipped = scaler.map_or(0, LossScaler::n_skipped);
        match self.state.as_ref().and_then(n_updates).map(|n| n.saturating_sub(batch)) {
            // If the states record no update count, it is computed from the epochs done.
            None => Anchor { epoch, num_update: by_epochs },
            Some(counted) if counted.saturating_add(n_skipped) == by_epochs => Anchor::default(),
            Some(counted) => Anchor { epoch, num_update: counted },
        }
    }

    /// The number that identifies the training that wrote the checkpoint; 0 if the checkpoint has no states file.
    pub fn number(&self) -> u64 {
        self.state.as_ref().map_or(0, |state| state.run.number)
    }

    /// The description of the checkpoint for the training loop; `None` if a new training starts from it.
    pub fn restored(&self) -> Option<Restored> {
        self.state.as_ref().filter(|_| self.is_resumed).map(Restored::from)
    }
}

/// Number of updates that the states record.
fn n_updates(state: &TrainingState) -> Option<u64> {
    match &state.optimizer {
        OptimizerStates::Own(states) => states.metadata.get("num_update")?.parse().ok(),
        OptimizerStates::Pickled(states) => {
            let optimizer = states.optimizer.as_ref()?;
            let counted = optimizer.counts.iter().map(|(_, n)| *n).max();
            optimizer.num_update.max(counted)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs::train::resume::DeviceCopies;

    /// A checkpoint after these epochs and batches, of a training with 30 batches of 50 examples per epoch; `num_update` is
    /// the recorded number of updates.
    fn checkpoint(epoch: u64, batch: u64, num_update: Option<u64>) -> GoingOn {
        let position = Position { epoch, batch };
        let mut states = mxrs::optim::SavedStates::default();
        states.metadata.extend(num_update.map(|n| ("num_update".to_owned(), n.to_string())));
        let run = Run { number: 1, batch_size: Some(50), epoch_size: Some(30), data_seed: Some(0) };
        let optimizer = OptimizerStates::Own(states);
        let (random, copies) = (Vec::new(), DeviceCopies::default());
        let state = Some(TrainingState { position, optimizer, random, copies, best: None, loss_scaler: None, run });
        GoingOn { params: Checkpoint::default(), state, position, is_resumed: true, path: "net.states".into() }
    }

    #[test]
    fn other_batches_within_an_epoch_are_bad_usage() {
        let same = Run { number: 0, batch_size: Some(50), epoch_size: Some(30), data_seed: Some(0) };
        let within = checkpoint(1, 7, Some(37));
        assert!(within.check(&same).is_ok());
        for (now, words) in [
            (Run { batch_size: Some(25), epoch_size: Some(60), ..same }, ["--batch-size: got 25", "expected 50"]),
            (Run { epoch_size: Some(31), ..same }, ["--data-train: got 31 batches", "expected 30"]),
            (Run { data_seed: Some(9), ..same }, ["--seed: got 9", "expected 0"]),
        ] {
            let Err(Failure::Usage(text)) = within.check(&now) else { panic!("{words:?} is refused") };
            assert!(words.iter().all(|word| text.contains(word)) && text.contains("net.states"), "{text}");
            assert!(checkpoint(1, 0, Some(30)).check(&now).is_ok());
        }
        assert!(GoingOn { state: None, ..within }.check(&Run { data_seed: Some(9), ..same }).is_ok());
    }

    #[test]
    fn updates_are_counted_from_the_epoch_with_other_batches() {
        let anchor = |epoch, num_update| Anchor { epoch, num_update };
        assert_eq!(checkpoint(2, 0, Some(60)).anchor(30, 1), Anchor::default());
        assert_eq!(checkpoint(2, 7, Some(67)).anchor(30, 1), Anchor::default());
        assert_eq!(checkpoint(2, 0, Some(60)).anchor(15, 1), anchor(2, 60));
        assert_eq!(checkpoint(2, 7, Some(90)).anchor(15, 1), anchor(2, 83));
        assert_eq!(checkpoint(2, 0, None).anchor(30, 1), anchor(2, 60));
        // With four workers and servers, a batch has four updates. In the last case some updates of the workers are still
        // missing.
        assert_eq!(checkpoint(2, 0, Some(240)).anchor(30, 4), Anchor::default());
        assert_eq!(checkpoint(2, 7, Some(268)).anchor(30, 4), Anchor::default());
        assert_eq!(checkpoint(2, 7, Some(250)).anchor(30, 4), anchor(2, 222));
    }
}
