//! Reading of a whole file whose name comes from untrusted input, such as a list of images.

use mxrs_types::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads the bytes of a regular file of at most `max_bytes`. A list may name any path: a device such as `/dev/zero` has no
/// end, and opening a pipe would block until another process writes to it, so both are refused.
///
/// # Errors
/// Returns the errors of opening and reading, and an error if `path` is not a regular file or is larger than `max_bytes`.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("image.jpg");
/// # std::fs::write(&path, [0xFF, 0xD8]).unwrap();
/// assert_eq!(mxrs_format::read_file(&path, 2)?, [0xFF, 0xD8]);
/// assert!(mxrs_format::read_file(&path, 1).unwrap_err().to_string().contains("1 byte"));
/// # Ok::<(), mxrs_types::Error>(())
/// ```
pub fn read_file(path: impl AsRef<Path>, max_bytes: u64) -> Result<Vec<u8>> {
    let path = path.as_ref();
    read(path, max_bytes).map_err(|error| Error::io(path, &error))
}

fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "a folder" } else { "a device or a pipe" };
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, expected a file")));
    }
    let mut bytes = Vec::new();
    // A sparse file can report any length, so the memory reserved is limited by `max_bytes`.
    let len = usize::try_from(metadata.len().min(max_bytes)).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(len).map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error))?;
    // The file may grow while it is read: one byte more than allowed is read, so that growth is noticed.
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        let plural = if max_bytes == 1 { "" } else { "s" };
        let message = format!("it has more than {max_bytes} byte{plural}, the most that is read of such a file");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Opens the file for reading, without waiting for the writer of a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn devices_pipes_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let refused = |path: &Path, what: &str| {
            let error = read_file(path, 1 << 20).unwrap_err().to_string();
            assert!(error.contains(what) && error.contains(path.to_str().unwrap()), "{error}");
        };
        refused(&pipe, "a device or a pipe");
        refused(Path::new("/dev/zero"), "a device or a pipe");
        refused(folder.path(), "a folder");
    }

    #[test]
    fn a_file_of_exactly_the_limit_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [7; 100]).unwrap();
        assert_eq!(read_file(&path, 100).unwrap(), [7; 100]);
        let error = read_file(&path, 99).unwrap_err().to_string();
        assert!(error.contains("more than 99 bytes"), "{error}");
    }
}
