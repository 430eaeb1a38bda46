//! Checkpoints that training goes on from, bit for bit.
//!
//! One is three files: `<prefix>-symbol.json`, `<prefix>-NNNN.params` (NNNN epochs done; `<prefix>-NNNN-BBBBBB.params` after
//! BBBBBB batches of the next) and the same with `.states`. The states say how long the parameter file is and what its
//! checksum is, and are written last; each file appears whole or not at all. So whenever a process is killed, the newest
//! states whose parameter file is as they say are a whole checkpoint: the new one, or the one before. States hold what the
//! optimizer keeps, where the random numbers are, and the place in the data.
//!
//! Of a killed process files with names of their own stay. They go when training begins there again ([`clear_up`]): at once on
//! the same machine, elsewhere and in another container once they are a minute old.
//!
//! A training that begins anew where others left checkpoints leaves those it has not come to yet, and going on goes on from
//! its own (`run.rs`), or from what MXNet left behind them (`choice.rs`). Within an epoch, what is left of it is only there with
//! batches of the same size, number and seed: going on with others is refused.
//!
//! States may be MXNet's too, which are pickles under the same name. They hold what the optimizer keeps, and no checksum:
//! their parameters are taken as they are. Random numbers stay where they are, and updates are counted from the optimizer's
//! `begin_num_update` where the file does not say how many there were.
//!
//! Where the best checkpoint is kept, its states tell so once its epoch is validated. A kill or an interrupt may come before
//! that; then the epoch is validated when training goes on.
//!
//! One training at a time writes with a prefix (`lock.rs`). It ends with an error before it writes a parameter that is not
//! finite, so the checkpoints before it stay as they are.
//!
//! Read next: `states.rs` for what is in the file, `choice.rs` for which is taken, `keep.rs` for which checkpoints stay.

mod choice;
mod disk;
mod keep;
mod lock;
mod run;
mod states;

pub use choice::newest;
pub(crate) use choice::{goes_on, own_epochs};
pub use disk::{check_room, clear_up};
pub use keep::Keeper;
pub use lock::PrefixLock;
pub use run::{Batching, Difference, Restored, Run};
pub(crate) use states::set_best;
pub use states::{Found, OptimizerStates, TrainingState, find};

use mxrs_types::{Error, Result};
use std::fmt;
use std::path::{Path, PathBuf};

/// A place in the training: the batch that comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Epochs done.
    pub epoch: u64,
    /// Batches done of the next.
    pub batch: u64,
}

impl Position {
    /// After so many epochs.
    pub fn epoch(epoch: u64) -> Self {
        Self { epoch, batch: 0 }
    }

    /// `<prefix>-0001<suffix>`, or `<prefix>-0001-000020<suffix>` within an epoch.
    pub fn path(&self, prefix: &Path, suffix: &str) -> PathBuf {
        let mut name = prefix.as_os_str().to_os_string();
        name.push(format!("-{self}{suffix}"));
        name.into()
    }

    /// The place that a file name tells, of a file of this prefix and suffix.
    fn parse(name: &str, prefix: &str, suffix: &str) -> Option<Self> {
        Self::of_text(name.strip_prefix(prefix)?.strip_prefix('-')?.strip_suffix(suffix)?)
    }

    /// The place that is written so.
    fn of_text(text: &str) -> Option<Self> {
        let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let position = match text.split_once('-') {
            None => Self::epoch(number(text)?),
            Some((epoch, batch)) => Self { epoch: number(epoch)?, batch: number(batch)? },
        };
        // As it is written here only: `net-1-0001` is epoch 1 of the prefix `net-1`.
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

/// The folder of this prefix's files, and what their names begin with. Taken from a path as it is written, for a prefix may
/// end in `/`: its files are in that folder, and their names begin with `-`.
///
/// # Errors
/// Names that are not UTF-8, which would not be found again.
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

/// One path for a prefix, however it is written: its folder without links and detours, if it is there.
///
/// # Errors
/// Names that are not UTF-8.
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
        // Nobody looks for a folder by parts of its name.
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
