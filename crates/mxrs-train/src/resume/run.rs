//! Which training wrote a checkpoint, and how it divided its data into batches.
//!
//! Checkpoints of several trainings may have the same prefix: a training that starts from the beginning overwrites the first
//! of the existing checkpoints and leaves the rest. So each training has a number, one more than the highest number found. A
//! resumed training keeps its number. The newest checkpoint is searched among those with the highest number (`choice.rs`).

use super::{Found, Position, TrainingState, find};
use indexmap::IndexMap;
use mxrs_format::Options;
use mxrs_types::{Error, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

const NUMBER: &str = "train.run";
const BATCH_SIZE: &str = "train.batch_size";
const EPOCH_SIZE: &str = "train.epoch_size";
const SEED: &str = "train.seed";
/// Key of the entry for [`Head::behind`] in a states file.
const BEHIND: &str = "train.behind";

/// Largest number of files that a warning names.
const N_NAMED: usize = 4;

/// The description of a training in its checkpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Number of the training among those with the same prefix, from 1; 0 if the checkpoint's states file holds no number.
    pub number: u64,
    /// Number of examples in a batch.
    pub batch_size: Option<u64>,
    /// Number of batches in an epoch.
    pub epoch_size: Option<u64>,
    /// The seed of the data's order and augmentation.
    pub data_seed: Option<u64>,
}

/// A property of a training that decides which examples are in which batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batching {
    /// The number of examples in a batch.
    BatchSize,
    /// The number of batches in an epoch.
    EpochSize,
    /// The seed of the data's order and augmentation.
    Seed,
}

/// A difference between the batches of two trainings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The property that differs.
    pub of: Batching,
    /// The value of this property in the running training.
    pub now: u64,
    /// The value of this property in the training that wrote the checkpoint.
    pub before: u64,
}

/// The description of a checkpoint that a module was [restored](crate::Module::restore) from, without its arrays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Restored {
    /// The batch that comes next.
    pub position: Position,
    /// The training that wrote the checkpoint.
    pub run: Run,
    /// The best epoch so far and its metric value.
    pub best: Option<(u64, f64)>,
}

impl From<&TrainingState> for Restored {
    fn from(state: &TrainingState) -> Self {
        Self { position: state.position, run: state.run, best: state.best }
    }
}

impl Restored {
    /// Checks that a checkpoint within an epoch was written by a training with the same batches as `now`, the running
    /// training.
    ///
    /// # Errors
    /// Returns an error if the position is within an epoch and `now` divides the data into other batches; the error names
    /// the first difference.
    pub(crate) fn check(&self, now: &Run) -> Result<()> {
        if self.position.batch == 0 {
            return Ok(());
        }
        let Some(Difference { of, now, before }) = self.run.difference(now) else { return Ok(()) };
        let what = match of {
            Batching::BatchSize => "batch size",
            Batching::EpochSize => "number of batches of an epoch",
            Batching::Seed => "seed of the data",
        };
        let expected = format!("{before}, for the checkpoint {} is within an epoch of such batches", self.position);
        Err(Error::invalid(format!("{what} of a training that goes on"), now, expected))
    }
}

impl Run {
    /// The first difference between the batches of this training and those of `now`. A value that one of them does not have
    /// is not compared.
    pub fn difference(&self, now: &Self) -> Option<Difference> {
        let all = [
            (Batching::BatchSize, self.batch_size, now.batch_size),
            (Batching::EpochSize, self.epoch_size, now.epoch_size),
            (Batching::Seed, self.data_seed, now.data_seed),
        ];
        all.into_iter().find_map(|(of, before, now)| {
            let (before, now) = before.zip(now)?;
            (before != now).then_some(Difference { of, now, before })
        })
    }

    /// The entries of a states file that describe the training.
    pub(super) fn entries(&self) -> impl Iterator<Item = (String, String)> + use<> {
        let number = Some(self.number).filter(|number| *number > 0);
        let all =
            [(NUMBER, number), (BATCH_SIZE, self.batch_size), (EPOCH_SIZE, self.epoch_size), (SEED, self.data_seed)];
        all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.to_string())))
    }

    /// Removes the entries that describe the training from the metadata of a states file and returns the description. Files
    /// of earlier versions have none of these entries.
    ///
    /// # Errors
    /// Returns an error if an entry is not a number.
    pub(super) fn take(metadata: &mut IndexMap<String, String>) -> Result<Self> {
        metadata.shift_remove(BEHIND);
        let mut number = |key: &str| {
            let Some(text) = metadata.shift_remove(key) else { return Ok(None) };
            let wrong = |_| Error::invalid(format!("`{key}` of a states file"), &text, "a number");
            text.parse::<u64>().map(Some).map_err(wrong)
        };
        Ok(Self {
            number: number(NUMBER)?.unwrap_or(0),
            batch_size: number(BATCH_SIZE)?,
            epoch_size: number(EPOCH_SIZE)?,
            data_seed: number(SEED)?,
        })
    }

    /// The number of a training that begins at `position`. A warning names checkpoints after that position: they stay until
    /// this training overwrites them.
    ///
    /// # Errors
    /// Fails as [`find`] does.
    pub(crate) fn next_number(prefix: &Path, position: Position) -> Result<u64> {
        let found = find(prefix)?;
        let last = found.iter().filter_map(|found| Some(found.head()?.number)).max().unwrap_or(0);
        let behind: Vec<&Found> = found.iter().filter(|found| found.position > position).collect();
        if !behind.is_empty() {
            tracing::warn!(
                "{} are of a training before this one, and stay until this one writes there. Once it has a checkpoint, \
                 resuming goes on from its own",
                named(&behind)
            );
        }
        Ok(last.saturating_add(1))
    }
}

/// The names of these files; of many, the first four and how many more there are.
pub(super) fn named(files: &[&Found]) -> String {
    let first = files.iter().take(N_NAMED).map(|found| format!("\"{}\"", found.states().display()));
    let first = first.collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(N_NAMED) {
        0 => first,
        n => format!("{first} and {n} more"),
    }
}

/// What the header of a states file says about the training that wrote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// Number of the training; 0 if the file has none or has another format.
    pub number: u64,
    /// The last position at which states without a number existed when this file was written. Only positions after this
    /// file's own count; `None` if there were no such states.
    pub behind: Option<Position>,
}

/// The metadata of a header. The tensor descriptions next to it are skipped: parsed as general JSON values they would take
/// many times the memory of their text.
#[derive(Deserialize)]
struct Header {
    #[serde(rename = "__metadata__", default)]
    metadata: BTreeMap<String, String>,
}

impl Head {
    /// Reads only the header of the file; `None` if it is damaged.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let mut file = File::open(path).ok()?;
        let mut len = [0; 8];
        file.read_exact(&mut len).ok()?;
        let len = u64::from_le_bytes(len);
        if len > Options::default().limits.max_header {
            return Some(Self::default());
        }
        let mut header = Vec::new();
        file.take(len).read_to_end(&mut header).ok()?;
        if *header.first()? != b'{' {
            return Some(Self::default());
        }
        let header: Header = serde_json::from_slice(&header).ok()?;
        let text = |key: &str| header.metadata.get(key).map(String::as_str);
        let number = text(NUMBER).map_or(Some(0), |text| text.parse().ok())?;
        Some(Self { number, behind: text(BEHIND).and_then(Position::of_text) })
    }

    /// The entry for [`Head::behind`] in a states file that is being written for `position`. `None` if no states without a
    /// number exist after `position`.
    ///
    /// # Errors
    /// Fails as [`find`] does.
    pub(super) fn behind_entry(prefix: &Path, position: Position) -> Result<Option<(String, String)>> {
        let is_unnumbered = |found: &Found| found.head().is_some_and(|head| head.number == 0);
        let mut behind = find(prefix)?.into_iter().take_while(|found| found.position > position);
        Ok(behind.find(is_unnumbered).map(|found| (BEHIND.to_owned(), found.position.to_string())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Run = Run { number: 3, batch_size: Some(8), epoch_size: Some(5), data_seed: Some(7) };

    #[test]
    fn what_is_written_is_taken_back_and_nothing_else() {
        let mut metadata: IndexMap<String, String> = RUN.entries().collect();
        metadata.insert("num_update".into(), "10".into());
        assert_eq!(Run::take(&mut metadata).unwrap(), RUN);
        assert_eq!(metadata.into_iter().collect::<Vec<_>>(), [("num_update".to_owned(), "10".to_owned())]);
        assert_eq!(Run::take(&mut IndexMap::new()).unwrap(), Run::default());
        assert_eq!(Run::default().entries().count(), 0);
        let error = Run::take(&mut IndexMap::from([(SEED.to_owned(), "x".to_owned())])).unwrap_err().to_string();
        assert!(error.contains(SEED), "{error}");
    }

    #[test]
    fn only_what_both_say_differs() {
        let now = Run { number: 4, ..RUN };
        assert_eq!(RUN.difference(&now), None);
        let seed = Run { data_seed: Some(8), ..now };
        assert_eq!(RUN.difference(&seed), Some(Difference { of: Batching::Seed, now: 8, before: 7 }));
        let smaller = Run { batch_size: Some(4), epoch_size: Some(10), ..seed };
        assert_eq!(RUN.difference(&smaller), Some(Difference { of: Batching::BatchSize, now: 4, before: 8 }));
        assert_eq!(RUN.difference(&Run::default()), None);
        assert_eq!(Run::default().difference(&RUN), None);
    }

    #[test]
    fn a_head_tells_the_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("net-0001.states");
        let of = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            Head::read(&path)
        };
        let numbered = |number: u64| Some(Head { number, behind: None });
        let file = |header: &str| [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 4]].concat();
        let twelve = file(r#"{"__metadata__":{"train.run":"12"},"w":{}}"#);
        assert_eq!(of(&twelve), numbered(12));
        let behind = Some(Head { number: 12, behind: Some(Position { epoch: 3, batch: 20 }) });
        assert_eq!(of(&file(r#"{"__metadata__":{"train.run":"12","train.behind":"0003-000020"}}"#)), behind);
        assert_eq!(of(&file(r#"{"__metadata__":{"format":"x"}}"#)), numbered(0));
        assert_eq!(of(&file("{}")), numbered(0));
        // The beginning of a pickle that MXNet wrote.
        assert_eq!(of(b"\x80\x03}q\x00(K\x00cnumpy"), numbered(0));
        for damaged in [&b""[..], &b"\x10"[..], &twelve[..8], &twelve[..20]] {
            assert_eq!(of(damaged), None, "{damaged:?}");
        }
        assert_eq!(Head::read(&dir.path().join("none")), None);
    }
}
