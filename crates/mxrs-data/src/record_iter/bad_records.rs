//! Records that could not be used: how many may be passed over, and which they were.

use mxrs_types::{Error, Result};
use std::collections::BTreeSet;
use std::path::Path;

/// Counts records that are passed over, each once however often it comes.
#[derive(Debug, Default)]
pub(super) struct BadRecords {
    most: u64,
    offsets: BTreeSet<u64>,
}

impl BadRecords {
    pub(super) fn new(most: u64) -> Self {
        Self { most, offsets: BTreeSet::new() }
    }

    /// Offsets of the records passed over.
    pub(super) fn offsets(&self) -> impl Iterator<Item = u64> {
        self.offsets.iter().copied()
    }

    pub(super) fn len(&self) -> u64 {
        self.offsets.len() as u64
    }

    /// Takes note of a record.
    ///
    /// # Errors
    /// The error itself when that is one more than may be.
    pub(super) fn note(&mut self, path: &Path, offset: u64, error: Error) -> Result<()> {
        if self.offsets.contains(&offset) {
            return Ok(());
        }
        if self.len() >= self.most {
            return Err(match self.most {
                0 => error,
                most => error.context(format!("passing over at most {most} bad records (max_bad_records)")),
            });
        }
        self.offsets.insert(offset);
        tracing::warn!("{}: bad record at offset {offset} left out: {error}", path.display());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_record_counts_once() {
        let mut bad = BadRecords::new(2);
        let error = || Error::invalid("image", "nothing", "an image");
        let path = Path::new("x.rec");
        for offset in [4, 4, 8, 4, 8] {
            bad.note(path, offset, error()).unwrap();
        }
        assert_eq!(bad.offsets().collect::<Vec<_>>(), [4, 8]);
        assert!(bad.note(path, 12, error()).unwrap_err().to_string().contains("at most 2 bad records"));
        assert_eq!(BadRecords::new(0).note(path, 4, error()), Err(error()));
    }
}
