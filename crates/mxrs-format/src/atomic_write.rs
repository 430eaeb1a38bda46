//! Atomic writing of files: after a crash, the path holds either the complete old file or the complete new one.

use crate::leftovers::{remove_leftovers, temporary_name};
use mxrs_types::{Error, Result};
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Number of attempts to open and lock the temporary file. An attempt fails if another writer renames or removes the file
/// after it was opened and before it is locked.
const TRIES: usize = 3;

/// A file that is written under a temporary name and gets its real name in [`Self::commit`]. The temporary name is
/// `<name>.tmp.<process id>-<system>`, where `<system>` is 16 hexadecimal digits that identify the boot and PID namespace of
/// the process. If the system does not reveal those, the name is `<name>.tmp.<process id>`.
///
/// Dropping an `AtomicFile` without a commit removes the temporary file. The temporary file of a killed process is
/// removed when the same name is written later ([`remove_leftovers`]). Two processes may write the same name at the
/// same time; the last commit wins. Each temporary file has only one writer: a second writer in the same process, or in
/// a process with the same id that writes to the same folder, is refused. On file systems without locks, a second
/// writer is not noticed.
#[derive(Debug)]
pub struct AtomicFile {
    sink: Option<BufWriter<File>>,
    temporary: PathBuf,
    target: PathBuf,
}

impl AtomicFile {
    /// Starts to write the file that will get the name `path`.
    ///
    /// # Errors
    /// Fails if the temporary file cannot be created, or if another writer holds it.
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
        let file = open_locked(&temporary).map_err(|e| Error::io(&temporary, &e))?;
        let file = file.ok_or_else(|| {
            let message = "it is being written by another process; let that one finish, or give this one another name";
            Error::io(&target, &io::Error::new(io::ErrorKind::ResourceBusy, message))
        })?;
        Ok(Self { sink: Some(BufWriter::with_capacity(256 << 10, file)), temporary, target })
    }

    /// The final name of the file.
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// Flushes all data to the disk and renames the file to its real name.
    ///
    /// # Errors
    /// Fails if writing, syncing or renaming fails; the temporary file is then removed.
    pub fn commit(mut self) -> Result<()> {
        let Some(sink) = self.sink.take() else { return Ok(()) };
        let result = sink
            .into_inner()
            .map_err(|e| e.into_error())
            // The file is renamed while it is open, and therefore still locked.
            .and_then(|file| file.sync_all().and_then(|()| fs::rename(&self.temporary, &self.target)))
            .and_then(|()| sync_folder(&self.target));
        result.map_err(|e| {
            // The first error is the one to report; a leftover temporary file does no harm.
            let _ = fs::remove_file(&self.temporary);
            Error::io(&self.target, &e)
        })
    }
}

/// Opens a temporary file, empties it and locks it; the lock shows other processes that it is being written. Returns `None`
/// if another writer has locked it.
fn open_locked(temporary: &Path) -> io::Result<Option<File>> {
    for _ in 0..TRIES {
        // Opening does not empty the file: until this call holds the lock, the content may belong to another writer.
        let file = open_no_link(temporary)?;
        if is_held(&file.try_lock()) {
            return Ok(None);
        }
        // Between opening and locking, another writer may have renamed the file to its real name; it must not be truncated
        // then.
        if has_name(&file, temporary)? {
            file.set_len(0)?;
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Opens the regular file with this name, or creates it. The name is predictable, so in a shared folder another user may
/// have created a symbolic link, a hard link to another file, or a pipe with this name. All three are refused, because the
/// target of the link would be emptied, or opening would block.
#[cfg(unix)]
fn open_no_link(temporary: &Path) -> io::Result<File> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    let mut options = File::options();
    // O_NONBLOCK makes opening a pipe without a reader fail immediately; it has no effect on a regular file.
    options.write(true).create(true).truncate(false).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let refused = |what: &str| {
        let message = format!("the name of the temporary file is taken by {what}; remove it and write again");
        io::Error::new(io::ErrorKind::AlreadyExists, message)
    };
    let file = options.open(temporary).map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => refused("a symbolic link"),
        Some(libc::ENXIO) => refused("a pipe or a device"),
        _ => error,
    })?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(refused("a pipe or a device"));
    }
    // A link count of 0 means that another writer has just removed the file; the caller then opens it again.
    if metadata.nlink() > 1 {
        return Err(refused("a second name of another file"));
    }
    Ok(file)
}

/// Opens the file with this name, or creates it.
#[cfg(not(unix))]
fn open_no_link(temporary: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(false).open(temporary)
}

/// Whether another writer holds the lock. A file system without locks never reports that, and writing proceeds.
fn is_held(lock: &Result<(), TryLockError>) -> bool {
    matches!(lock, Err(TryLockError::WouldBlock))
}

/// Whether `file` is still the file that has the name `path`.
#[cfg(unix)]
fn has_name(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (own.dev(), own.ino())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Whether any file has this name. On this system two files cannot be compared.
#[cfg(not(unix))]
fn has_name(_file: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}

/// Makes the new name durable by syncing the folder. Only Unix allows opening and syncing a folder.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Some(sink) => sink.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.as_mut().map_or(Ok(()), |sink| sink.flush())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(sink) = self.sink.take() {
            // The file is removed while it is open, and therefore still locked. `drop` cannot report an error; the file is
            // then a leftover.
            let _ = fs::remove_file(&self.temporary);
            drop(sink.into_parts());
        }
    }
}

/// Writes a whole file with `write` and commits it.
///
/// # Errors
/// Returns the errors of `write` (I/O errors get the path), and those of creating and committing the file.
pub fn write_atomically(path: impl AsRef<Path>, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut file = AtomicFile::create(&path)?;
    write(&mut file).map_err(|e| e.with_path(path.as_ref()))?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    fn temporary_path(dir: &Path) -> PathBuf {
        dir.join(temporary_name(OsStr::new("w.params")))
    }

    #[test]
    fn the_old_file_stays_until_commit_and_nothing_is_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("w.params");
        fs::write(&path, "old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let temporary = temporary_path(dir.path());
        assert!(temporary.exists());
        drop(file);
        assert!(!temporary.exists());
        assert_eq!(fs::read(&path).unwrap(), b"old");

        write_atomically(&path, |sink| sink.write_all(b"new").map_err(|e| crate::fault::io(&e))).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    /// In a folder that other users write to, the temporary name may already exist and link to another file of the user.
    #[test]
    #[cfg(unix)]
    fn a_link_of_the_temporary_name_is_not_followed() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let (path, precious) = (dir.path().join("w.params"), dir.path().join("precious"));
        fs::write(&precious, "precious").unwrap();
        let temporary = temporary_path(dir.path());
        let refused = |what: &str| {
            let error = AtomicFile::create(&path).unwrap_err().to_string();
            assert!(error.contains(what) && error.contains("w.params.tmp."), "{error}");
            assert_eq!(fs::read(&precious).unwrap(), b"precious");
            fs::remove_file(&temporary).unwrap();
        };
        symlink(&precious, &temporary).unwrap();
        refused("a symbolic link");
        symlink(dir.path().join("nothing yet"), &temporary).unwrap();
        refused("a symbolic link");
        assert!(!dir.path().join("nothing yet").exists());
        fs::hard_link(&precious, &temporary).unwrap();
        refused("a second name of another file");
        assert!(std::process::Command::new("mkfifo").arg(&temporary).status().unwrap().success());
        refused("a pipe");
        write_atomically(&path, |sink| sink.write_all(b"new").map_err(|e| crate::fault::io(&e))).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    /// Two containers on one volume can have processes with the same process id. The second process must not overwrite
    /// what the first one writes.
    #[test]
    fn a_second_writer_of_one_temporary_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("w.params");
        let mut first = File::create(temporary_path(dir.path())).unwrap();
        first.lock().unwrap();
        first.write_all(b"first").unwrap();
        let e = AtomicFile::create(&path).unwrap_err().to_string();
        assert!(e.contains("w.params: it is being written by another process"), "{e}");
        assert_eq!(fs::metadata(temporary_path(dir.path())).unwrap().len(), 5);
        first.unlock().unwrap();

        // An unlocked temporary file is a leftover of a killed process: the next writer takes it over and empties it.
        let mut taken = AtomicFile::create(&path).unwrap();
        assert!(AtomicFile::create(&path).is_err(), "nor may one process write it twice");
        taken.write_all(b"new").unwrap();
        taken.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn without_locks_writing_goes_on() {
        let unsupported = TryLockError::Error(io::ErrorKind::Unsupported.into());
        assert!(!is_held(&Err(unsupported)) && !is_held(&Ok(())) && is_held(&Err(TryLockError::WouldBlock)));
    }

    /// A writer that opened the temporary file before another writer committed it must not truncate the committed file.
    #[test]
    #[cfg(unix)]
    fn a_file_that_got_its_real_name_is_not_taken_up() {
        let dir = tempfile::tempdir().unwrap();
        let (temporary, path) = (temporary_path(dir.path()), dir.path().join("w.params"));
        let file = File::create(&temporary).unwrap();
        assert!(has_name(&file, &temporary).unwrap());
        fs::rename(&temporary, &path).unwrap();
        assert!(!has_name(&file, &temporary).unwrap() && has_name(&file, &path).unwrap());
        fs::write(&temporary, "").unwrap();
        assert!(!has_name(&file, &temporary).unwrap(), "it is another file");
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
