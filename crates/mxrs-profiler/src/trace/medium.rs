//! The file to which a trace is written: opening, locking and naming it.

use mxrs_types::{Error, Result};
use std::fs::{File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The operations on a file that a trace needs. Tests replace the file by one whose writes fail.
pub(super) trait Medium: Send {
    /// Writes all bytes at this offset.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Cuts or extends the file.
    fn set_len(&mut self, len: u64) -> io::Result<()>;
}

impl Medium for File {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(offset))?;
        self.write_all(bytes)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        // Pipes and devices, such as `/dev/null`, have no length.
        if self.metadata()?.is_file() { File::set_len(self, len) } else { Ok(()) }
    }
}

/// Creates or empties a file, and locks it. If another process writes a file of this name, `-pid_` and the number of this
/// process are added to the name.
///
/// # Errors
/// [`mxrs_types::ErrorKind::Io`] if the file cannot be created, or both names are taken.
pub(super) fn open(path: &Path) -> Result<(PathBuf, File)> {
    if let Some(file) = open_unlocked(path)? {
        return Ok((path.to_path_buf(), file));
    }
    let own = with_pid(path);
    tracing::warn!(
        target: "mxrs_profiler",
        "{} is being written by another process; this process writes {}", path.display(), own.display()
    );
    match open_unlocked(&own)? {
        Some(file) => Ok((own, file)),
        None => {
            let message = "it is being written by another profiler; choose another `filename`";
            Err(Error::io(&own, &io::Error::new(io::ErrorKind::ResourceBusy, message)))
        }
    }
}

/// Opens, locks and empties a file; `None` if another process, or another profiler of this process, has locked it.
fn open_unlocked(path: &Path) -> Result<Option<File>> {
    let failed = |error: io::Error| Error::io(path, &error);
    // Opening does not empty the file: until it is locked, its content may belong to another process.
    let mut file = File::options().write(true).create(true).truncate(false).open(path).map_err(failed)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        // The file system has no locks, so the file is used without one.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    Medium::set_len(&mut file, 0).map_err(failed)?;
    Ok(Some(file))
}

/// Adds the process number to a file name: `profile.json` becomes `profile-pid_123.json`. The ending `.json.gz` stays whole.
fn with_pid(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let at = name.strip_suffix(".gz").unwrap_or(&name).rfind('.').filter(|at| *at > 0).unwrap_or(name.len());
    path.with_file_name(format!("{}-pid_{}{}", &name[..at], std::process::id(), &name[at..]))
}

/// A disk with room for `room` bytes, for tests. A write that does not fit writes what fits, and fails.
#[cfg(test)]
#[derive(Clone)]
pub(super) struct Disk {
    pub(super) bytes: std::sync::Arc<std::sync::Mutex<Vec<u8>>>,
    pub(super) room: usize,
    /// A function that is called with the whole content after each write.
    pub(super) check: fn(&[u8]),
}

#[cfg(test)]
impl Medium for Disk {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.bytes.lock().unwrap();
        let offset = offset as usize;
        let fits = bytes.len().min(self.room.saturating_sub(offset));
        if disk.len() < offset + fits {
            disk.resize(offset + fits, 0);
        }
        disk[offset..offset + fits].copy_from_slice(&bytes[..fits]);
        (self.check)(&disk);
        if fits == bytes.len() { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.bytes.lock().unwrap().resize(len as usize, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_use_gets_the_number_of_the_process() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.json.gz");
        std::fs::write(&path, "old").unwrap();
        let first = open(&path).unwrap();
        let second = open(&path).unwrap();
        let expected = dir.path().join(format!("p-pid_{}.json.gz", std::process::id()));
        assert_eq!((&first.0, &second.0), (&path, &expected));
        assert_eq!(std::fs::read(&path).unwrap(), b"", "emptied");
        let error = open(&path).unwrap_err().to_string();
        assert!(error.contains("another profiler"), "{error}");
        drop(first);
        assert_eq!(open(&path).unwrap().0, path, "free again");
    }

    #[test]
    fn the_number_goes_before_the_extension() {
        let pid = std::process::id();
        for (name, expected) in [("a", "a-pid_"), ("d/a.b.json", "d/a.b-pid_"), (".json", ".json-pid_")] {
            assert!(with_pid(Path::new(name)).to_string_lossy().starts_with(&format!("{expected}{pid}")), "{name}");
        }
        assert!(with_pid(Path::new("a.json")).to_string_lossy().ends_with(".json"));
    }
}
