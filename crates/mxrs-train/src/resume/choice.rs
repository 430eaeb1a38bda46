//! Chooses the checkpoint that training resumes from if several trainings wrote checkpoints under one prefix.
//!
//! Each training has a number, which its states files contain (`run.rs`). The training with the highest number is chosen.
//! States without a number were written by MXNet or by an earlier version of this crate. They are chosen instead only if their
//! position shows that they are newer: it lies after the last position of the numbered training, and after all states without
//! a number that existed when this training wrote its states (its states record their last position). If only the modification
//! times of files contradict this choice, a warning names the files.

use super::run::{Head, named};
use super::{Found, Position, Restored, TrainingState, find};
use mxrs_format::Checkpoint;
use mxrs_types::Result;
use std::path::Path;
use std::time::SystemTime;

/// The states files under a prefix, newest first.
struct Choice {
    /// States from which training can resume: the first one whose checkpoint is complete is used.
    candidates: Vec<Found>,
    /// States without a number that are considered older than the numbered training.
    passed_over: Vec<Found>,
}

impl Choice {
    fn of(prefix: &Path) -> Result<Self> {
        let heads = find(prefix)?.into_iter().map(|found| (found.head(), found));
        let all: Vec<(Option<Head>, Found)> = heads.collect();
        let last = all.iter().filter_map(|(head, _)| Some(head.as_ref()?.number)).max().unwrap_or(0);
        let mut numbered = all.iter().filter_map(|(head, found)| Some((head.as_ref()?, found.position)));
        let newest = numbered.find(|(head, _)| last > 0 && head.number == last);
        let known = newest.map(|(head, position)| position.max(head.behind.unwrap_or_default()));
        let mut choice = Self { candidates: Vec::new(), passed_over: Vec::new() };
        for (head, found) in all {
            match head.map(|head| head.number) {
                Some(0) if known.is_some_and(|known| found.position <= known) => choice.passed_over.push(found),
                Some(number) if number > 0 && number < last => {}
                // States whose header cannot be read are candidates too: nothing shows which training wrote them.
                _ => choice.candidates.push(found),
            }
        }
        Ok(choice)
    }

    /// Warns about states in `passed_over` that were modified later than `taken`, or about all of them if no complete
    /// checkpoint was found.
    fn tell(&self, taken: Option<&Found>) {
        let since = taken.and_then(written);
        let is_later = |found: &&Found| since.zip(written(found)).is_none_or(|(since, own)| own > since);
        let later: Vec<&Found> = self.passed_over.iter().filter(is_later).collect();
        if later.is_empty() {
            return;
        }
        let why = match taken {
            Some(taken) => format!("for \"{}\", though written after it", taken.states().display()),
            None => "though the training that began last left nothing whole".to_owned(),
        };
        tracing::warn!("{} do not say which training wrote them, and are passed over {why}", named(&later));
    }
}

/// The modification time of the states file, if the system knows it.
fn written(found: &Found) -> Option<SystemTime> {
    std::fs::metadata(found.states()).and_then(|file| file.modified()).ok()
}

/// The newest complete checkpoint of the training with the highest [number](super::Run::number) under this prefix. If a newer
/// checkpoint without a number exists, it is used instead; MXNet writes such a checkpoint after it resumed from the numbered
/// one. Incomplete checkpoints are skipped with a warning. Checkpoints of other trainings are not considered.
///
/// # Errors
/// Fails as [`find`] does.
pub fn newest(prefix: &Path) -> Result<Option<(TrainingState, Checkpoint)>> {
    let choice = Choice::of(prefix)?;
    for found in &choice.candidates {
        match found.read() {
            Ok(whole) => {
                choice.tell(Some(found));
                return Ok(Some(whole));
            }
            Err(error) => tracing::warn!("checkpoint {} is passed over: {error}", found.position),
        }
    }
    choice.tell(None);
    Ok(None)
}

/// Whether a training restored from `from` continues a training under this prefix: `from` has a number, and is the
/// checkpoint that [`newest`] finds under the prefix.
///
/// # Errors
/// Fails as [`find`] does.
pub(crate) fn goes_on(prefix: &Path, from: &Restored) -> Result<bool> {
    if from.run.number == 0 {
        return Ok(false);
    }
    for found in Choice::of(prefix)?.candidates {
        if found.position == from.position && found.head().is_some_and(|head| head.number == from.run.number) {
            return Ok(true);
        }
        if found.read().is_ok() {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Epochs up to `position` after which the training with this number wrote a checkpoint, oldest first.
///
/// # Errors
/// Fails as [`find`] does.
pub(crate) fn own_epochs(prefix: &Path, number: u64, position: Position) -> Result<Vec<u64>> {
    let is_own = |found: &Found| {
        let is_end = found.position.batch == 0 && found.position <= position;
        is_end && found.head().is_some_and(|head| head.number == number)
    };
    let mut own: Vec<u64> = find(prefix)?.into_iter().filter(is_own).map(|found| found.position.epoch).collect();
    own.reverse();
    Ok(own)
}
