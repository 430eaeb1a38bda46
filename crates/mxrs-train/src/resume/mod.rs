//! Checkpoints that training goes on from, bit for bit.
//!
//! One is three files: `<prefix>-symbol.json`, `<prefix>-NNNN.params` (NNNN epochs done; `<prefix>-NNNN-BBBBBB.params` after
//! BBBBBB batches of the next) and the same with `.states`. The states say how long the parameter file is and what its
//! checksum is, and are written last; each file appears whole or not at all. So whenever a process is killed, the newest
//! states whose parameter file is as they say are a whole checkpoint: the new one, or the one before. States hold what the
//! optimizer keeps, where the random numbers are, and the place in the data.
//!
//! Of a killed process files with names of their own stay, which go when training begins there again ([`clear_up`]).
//!
//! Read next: `states.rs` for what is in the file, `keep.rs` for which checkpoints stay.

mod disk;
mod keep;
mod states;

pub use disk::{check_room, clear_up};
pub use keep::Keeper;
pub use states::{Found, TrainingState, find, newest};

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
        let middle = name.strip_prefix(prefix)?.strip_prefix('-')?.strip_suffix(suffix)?;
        let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let position = match middle.split_once('-') {
            None => Self::epoch(number(middle)?),
            Some((epoch, batch)) => Self { epoch: number(epoch)?, batch: number(batch)? },
        };
        // As it is written here only: `net-1-0001` is epoch 1 of the prefix `net-1`.
        (position.to_string() == middle).then_some(position)
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

#[cfg(test)]
mod tests {
    use super::Position;
    use std::path::Path;

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
