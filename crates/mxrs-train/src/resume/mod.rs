//! Checkpoints from which training resumes with bit-identical results.
//!
//! A checkpoint is three files: `<prefix>-symbol.json`; `<prefix>-NNNN.params`, where NNNN is the number of epochs done, or
//! `<prefix>-NNNN-BBBBBB.params` after BBBBBB batches of the next epoch; and the same names with `.states`. The states
//! contain the length and checksum of the parameter file and are written last. Each file appears complete or not at all. So
//! if a process is killed at any moment, the newest states that match their parameter file belong to a complete checkpoint,
//! either the new one or the one before. States hold the states of the optimizer, the states of the random numbers and the
//! position in the data. Of a training on several contexts they hold the random numbers of each context, and the parameters
//! and auxiliary states of each context where these differ from the means in the parameter file.
//!
//! A killed process may leave temporary files. They are removed when a training starts under the same prefix ([`clear_up`]):
//! immediately if the process ran on the same machine; after a minute if it ran on another machine or in another container.
//!
//! A training that starts from the beginning under a prefix with older checkpoints overwrites them one by one. Resuming uses
//! the checkpoints of the last training (`run.rs`), or newer ones that MXNet wrote after it (`choice.rs`). The rest of a
//! partly done epoch is only the same with the same batch size, number of batches and data seed: resuming with others is
//! refused.
//!
//! States may also be MXNet's, which are pickles under the same name. They hold the states of the optimizer, but not a
//! checksum, so their parameters are not checked. The random number generators keep their current state. If the file has no
//! update counts, updates are counted from the optimizer's `begin_num_update`.
//!
//! If the best checkpoint is kept, its states record that it is the best once its epoch is validated. If the training is
//! killed or interrupted before that, the epoch is validated when training resumes.
//!
//! Only one training at a time writes under a prefix (`lock.rs`). It ends with an error before it writes a parameter that is
//! not finite, so the earlier checkpoints stay usable.
//!
//! Read next: `states.rs` for the contents of the states file, `choice.rs` for which checkpoint is used, `keep.rs` for which
//! checkpoints are kept.

mod choice;
mod contexts;
mod disk;
mod keep;
mod lock;
mod run;
mod states;

pub use choice::newest;
pub(crate) use choice::{goes_on, own_epochs};
pub use contexts::DeviceCopies;
pub use disk::{check_room, clear_up};
pub use keep::Keeper;
pub use lock::PrefixLock;
pub use run::{Batching, Difference, Restored, Run};
pub(crate) use states::set_best;
pub use states::{Found, OptimizerStates, TrainingState, find};

use mxrs_types::{Error, Result};
use std::fmt;
use std::path::{Path, PathBuf};

/// A position in the training, given by the batch that comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Number of epochs done.
    pub epoch: u64,
    /// Number of batches done in the next epoch.
    pub batch: u64,
}

impl Position {
    /// The position after `epoch` epochs.
    pub fn epoch(epoch: u64) -> Self {
        Self { epoch, batch: 0 }
    }

    /// `<prefix>-0001<suffix>`, or `<prefix>-0001-000020<suffix>` within an epoch.
    pub fn path(&self, prefix: &Path, suffix: &str) -> PathBuf {
        let mut name = prefix.as_os_str().to_os_string();
        name.push(format!("-{self}{suffix}"));
        name.into()
    }

    /// The position in a file name that has this prefix and suffix.
    fn parse(name: &str, prefix: &str, suffix: &str) -> Option<Self> {
        Self::of_text(name.strip_prefix(prefix)?.strip_prefix('-')?.strip_suffix(suffix)?)
    }

    /// The position that is written as `0001` or `0001-000020`.
    fn of_text(text: &str) -> Option<Self> {
        let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let position = match text.split_once('-') {
            None => Self::epoch(number(text)?),
            Some((epoch, batch)) => Self { epoch: number(epoch)?, batch: number(batch)? },
        };
        // Only the exact spelling counts: `net-1-0001` is epoch 1 of the prefix `net-1`, not batch 1 of epoch 1 of `net`.
        (position.to_string() == text).then_some(position)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.batch {
            0 => write!(f, "{:04}", self.epoch),
            batch => write!(f, "{:04}-{batch:06}", self.epoch),
        }
    }
}

/// The folder of the files with this prefix, and the beginning of their names. The prefix is used as it is written, because
/// it may end in `/`: then the files are in that folder, and their names begin with `-`.
///
/// # Errors
/// Returns an error if the name is not UTF-8: its files would not be found again.
fn split(prefix: &Path) -> Result<(PathBuf, String)> {
    let any = Position::default();
    let (path, ending) = (any.path(prefix, ""), format!("-{any}"));
    let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(ending.as_str()));
    let Some(name) = name else {
        return Err(Error::invalid("prefix of checkpoints", prefix.display(), "one whose file names are UTF-8 text"));
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((folder.to_path_buf(), name.to_owned()))
}

/// One path for all spellings of a prefix: its folder with symbolic links and `..` resolved, if the folder exists.
///
/// # Errors
/// Returns an error if the name is not UTF-8.
pub(crate) fn resolved(prefix: &Path) -> Result<PathBuf> {
    let (folder, name) = split(prefix)?;
    Ok(folder.canonicalize().unwrap_or(folder).join(name))
}

#[cfg(test)]
mod tests {
    use super::{Position, resolved, split};
    use std::path::Path;

    #[test]
    fn a_prefix_is_split_where_its_files_are_written() {
        for (prefix, folder, name) in [
            ("net", ".", "net"),
            ("a/net-1", "a", "net-1"),
            ("a/b/", "a/b", ""),
            ("a/.", "a", "."),
            ("a/..", "a", ".."),
            ("", ".", ""),
        ] {
            let expected = (Path::new(folder).to_path_buf(), name.to_owned());
            assert_eq!(split(Path::new(prefix)).unwrap(), expected, "{prefix}");
        }
    }

    #[test]
    fn a_prefix_is_the_same_however_it_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let [plain, detour] = ["net", "./new/../net"].map(|prefix| dir.path().join(prefix));
        std::fs::create_dir(dir.path().join("new")).unwrap();
        assert_eq!(resolved(&plain).unwrap(), resolved(&detour).unwrap());
        assert!(resolved(&plain).unwrap() != resolved(&dir.path().join("new/net")).unwrap());
    }

    #[test]
    #[cfg(unix)]
    fn names_that_are_no_text_are_refused() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let prefix = |bytes: &'static [u8]| Path::new(OsStr::from_bytes(bytes));
        let error = split(prefix(b"a/net\xff")).unwrap_err().to_string();
        assert!(error.contains("prefix of checkpoints") && error.contains("UTF-8"), "{error}");
        // A folder's name need not be UTF-8, because folders are not searched by parts of their names.
        assert_eq!(split(prefix(b"\xff/net")).unwrap(), (prefix(b"\xff").to_path_buf(), "net".to_owned()));
    }

    #[test]
    fn places_are_in_names() {
        for position in [Position::epoch(0), Position::epoch(12_345), Position { epoch: 3, batch: 20 }] {
            let path = position.path(Path::new("a/net-1"), ".states");
            let name = path.file_name().unwrap().to_str().unwrap();
            assert_eq!(Position::parse(name, "net-1", ".states"), Some(position), "{name}");
        }
        assert_eq!(Position::epoch(10).path(Path::new("net"), ".params"), Path::new("net-0010.params"));
        for other in [
            "net-0001.params",
            "net-best.states",
            "net-0001-x.states",
            "other-0001.states",
            "net-.states",
            "net-1-0001.states",
        ] {
            assert_eq!(Position::parse(other, "net", ".states"), None, "{other}");
        }
        assert!(
            Position { epoch: 1, batch: 5 } > Position::epoch(1)
                && Position::epoch(2) > Position { epoch: 1, batch: 9 }
        );
    }
}
