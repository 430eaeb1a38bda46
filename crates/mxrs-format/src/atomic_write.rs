//! Writing a file so that a crash leaves either the old one or the new one, never half of one.

use crate::leftovers::{remove_leftovers, temporary_name};
use mxrs_types::{Error, Result};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file written under `<name>.tmp.<process id>` that takes its real name in [`Self::commit`].
///
/// Dropped without commit, it removes the temporary file; one of a process that was killed goes when the same name is
/// written next ([`remove_leftovers`]). Two writers of one process must not write the same name at the same time.
#[derive(Debug)]
pub struct AtomicFile {
    sink: Option<BufWriter<File>>,
    temporary: PathBuf,
    target: PathBuf,
}

impl AtomicFile {
    /// Starts to write what will become `path`.
    ///
    /// # Errors
    /// Those of creating the temporary file.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let target = path.as_ref().to_path_buf();
        let Some(name) = target.file_name() else {
            return Err(Error::invalid("file to write", target.display(), "a path that ends in a file name"));
        };
        let folder = target.parent().unwrap_or(Path::new(""));
        if let Some(name) = name.to_str() {
            remove_leftovers(folder, &|leftover| leftover == name);
        }
        let temporary = target.with_file_name(temporary_name(name));
        let file = File::create(&temporary).map_err(|e| Error::io(&temporary, &e))?;
        // It tells others that the file is being written; where files have no locks, nobody removes leftovers.
        let _ = file.try_lock();
        Ok(Self { sink: Some(BufWriter::with_capacity(256 << 10, file)), temporary, target })
    }

    /// The name it will have.
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// Flushes everything to the disk and takes the real name.
    ///
    /// # Errors
    /// Those of writing, syncing or renaming; the temporary file is then removed.
    pub fn commit(mut self) -> Result<()> {
        let Some(sink) = self.sink.take() else { return Ok(()) };
        let result = sink
            .into_inner()
            .map_err(|e| e.into_error())
            // Renamed while it is open, that is, locked.
            .and_then(|file| file.sync_all().and_then(|()| fs::rename(&self.temporary, &self.target)))
            .and_then(|()| sync_folder(&self.target));
        result.map_err(|e| {
            // The first error is the one to report; a leftover temporary file harms nobody.
            let _ = fs::remove_file(&self.temporary);
            Error::io(&self.target, &e)
        })
    }
}

/// Makes the new name durable. Only Unix lets a folder be opened and synced.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    if cfg!(unix) {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.sink {
            Some(sink) => sink.write(bytes),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.sink.as_mut().map_or(Ok(()), |sink| sink.flush())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(sink) = self.sink.take() {
            drop(sink.into_parts());
            // Nobody is left to tell; the next writer of this name in this process truncates it.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes a whole file with `write` and commits it.
///
/// # Errors
/// Those of `write` (I/O errors get the path), of creating and of committing.
pub fn write_atomically(path: impl AsRef<Path>, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut file = AtomicFile::create(&path)?;
    write(&mut file).map_err(|e| e.with_path(path.as_ref()))?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_stays_until_commit_and_nothing_is_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("w.params");
        fs::write(&path, "old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let temporary = dir.path().join(format!("w.params.tmp.{}", std::process::id()));
        assert!(temporary.exists());
        drop(file);
        assert!(!temporary.exists());
        assert_eq!(fs::read(&path).unwrap(), b"old");

        write_atomically(&path, |sink| sink.write_all(b"new").map_err(|e| crate::fault::io(&e))).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_names_the_file_and_keeps_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("w.params");
        fs::write(&path, "old").unwrap();
        let e = write_atomically(&path, |_| Err(crate::fault::io(&std::io::Error::other("disk full")))).unwrap_err();
        assert!(e.to_string().contains("w.params: disk full"), "{e}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }
}
