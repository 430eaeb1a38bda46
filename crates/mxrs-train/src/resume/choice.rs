//! Which checkpoint training goes on from, where several trainings left some under one prefix.
//!
//! Of states with a number those of the highest count (`run.rs`). States without one are MXNet's, or of an earlier version.
//! They come first where they are newer: behind the last place of the numbered training, and behind what lay there already
//! when that was written, which its states tell. Where times of files are all that says otherwise, a warning names them.

use super::run::{Head, named};
use super::{Found, Position, Restored, TrainingState, find};
use mxrs_format::Checkpoint;
use mxrs_types::Result;
use std::path::Path;
use std::time::SystemTime;

/// What there is under a prefix, newest first.
struct Choice {
    /// What training may go on from: the first that is whole.
    candidates: Vec<Found>,
    /// States without a number that are taken for older ones.
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
                // Without a head it is too damaged to say whose it is.
                _ => choice.candidates.push(found),
            }
        }
        Ok(choice)
    }

    /// Names what is passed over for `taken`, or because nothing is whole, though it was written later.
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

/// When the states were written, as far as the system says.
fn written(found: &Found) -> Option<SystemTime> {
    std::fs::metadata(found.states()).and_then(|file| file.modified()).ok()
}

/// The newest whole checkpoint of the training that began last with this prefix, by its [number](super::Run::number), or of
/// one without a number that went on behind it, as MXNet does. Those that are not whole are told of and passed over, those of
/// other trainings are not looked at.
///
/// # Errors
/// As [`find`].
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

/// Whether the training that left `from` goes on under this prefix: it has a number, and is what [`newest`] finds there.
///
/// # Errors
/// As [`find`].
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

/// Ends of epochs up to `position` of which the training with this number says that it wrote them, oldest first.
///
/// # Errors
/// As [`find`].
pub(crate) fn own_epochs(prefix: &Path, number: u64, position: Position) -> Result<Vec<u64>> {
    let is_own = |found: &Found| {
        let is_end = found.position.batch == 0 && found.position <= position;
        is_end && found.head().is_some_and(|head| head.number == number)
    };
    let mut own: Vec<u64> = find(prefix)?.into_iter().filter(is_own).map(|found| found.position.epoch).collect();
    own.reverse();
    Ok(own)
}
