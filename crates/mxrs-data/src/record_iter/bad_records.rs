//! Bad records: how many may be skipped, and which were skipped.

use mxrs_types::{Error, Result};
use std::collections::BTreeSet;
use std::path::Path;

/// Number of bad records that the log reports individually.
const N_NAMED: u64 = 10;

/// Counts skipped records, each once even if it is read several times.
#[derive(Debug, Default)]
pub(super) struct BadRecords {
    most: u64,
    /// The offsets of the skipped records; at most one entry per record of the file.
    offsets: BTreeSet<u64>,
}

impl BadRecords {
    pub(super) fn new(most: u64) -> Self {
        Self { most, offsets: BTreeSet::new() }
    }

    /// Offsets of the skipped records.
    pub(super) fn offsets(&self) -> impl Iterator<Item = u64> {
        self.offsets.iter().copied()
    }

    pub(super) fn len(&self) -> u64 {
        self.offsets.len() as u64
    }

    /// Registers a bad record.
    ///
    /// # Errors
    /// Returns `error` unchanged if the limit is 0, and `error` with context if the limit was already reached.
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
        if let Some(line) = self.line(path, offset, &error) {
            tracing::warn!("{line}");
        }
        Ok(())
    }

    /// The log line about the bad record that was registered last.
    fn line(&self, path: &Path, offset: u64, error: &Error) -> Option<String> {
        let (n, path) = (self.len(), path.display());
        match n {
            0..=N_NAMED => Some(format!("{path}: bad record at offset {offset} left out: {error}")),
            _ if n == N_NAMED + 1 => {
                Some(format!("{path}: more than {N_NAMED} bad records: further ones are only counted"))
            }
            _ => None,
        }
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

    #[test]
    fn a_file_of_bad_records_is_told_of_in_a_few_lines() {
        let mut bad = BadRecords::new(u64::MAX);
        let error = Error::invalid("image", "nothing", "an image");
        let path = Path::new("x.rec");
        let mut lines = Vec::new();
        for offset in 0..1000 {
            bad.note(path, offset, error.clone()).unwrap();
            lines.extend(bad.line(path, offset, &error));
        }
        let (last, named) = lines.split_last().unwrap();
        assert_eq!(named.len() as u64, N_NAMED);
        assert!(named.iter().all(|line| line.contains("x.rec: bad record at offset")), "{named:?}");
        assert!(last.contains("x.rec") && last.contains("only counted"), "{last}");
        assert_eq!((bad.len(), bad.offsets().count()), (1000, 1000));
    }
}
