//! A parameter file whose large arrays are read only when they are needed.

use mxrs_ndarray::NdArray;
use mxrs_sync::{Mutex, Team};
use mxrs_types::{Error, Result};
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Number of bytes that a thread reads at a time.
const PIECE: usize = 512 << 10;

/// An open parameter file, with its state when it was opened.
pub(crate) struct ParameterFile {
    path: PathBuf,
    file: Arc<File>,
    /// Length and modification time when the file was opened.
    opened: (u64, Option<SystemTime>),
}

impl ParameterFile {
    /// Whether this system supports reads at any offset by several threads at the same time.
    pub(crate) const CAN_BE_LATE: bool = cfg!(unix);

    /// Opens the file.
    ///
    /// # Errors
    /// Returns an error with the path if the file cannot be opened.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let open = || {
            let file = File::open(path)?;
            let opened = stamp(&file.metadata()?);
            Ok((file, opened))
        };
        let (file, opened) = open().map_err(|e| Error::io(path, &e))?;
        Ok(Self { path: path.to_owned(), file: Arc::new(file), opened })
    }

    /// Another handle to the same open file, for reading it from the start.
    ///
    /// # Errors
    /// Returns an error if the system has no more handles.
    pub(crate) fn handle(&self) -> Result<File> {
        self.file.try_clone().map_err(|e| Error::io(&self.path, &e))
    }

    /// Pushes a task that fills the array with the bytes from `offset` on, read by all threads of the team. Does not wait
    /// for the task.
    ///
    /// # Errors
    /// Fails as [`NdArray::write_later`] does. An error of reading the file is returned when the array is read.
    pub(crate) fn read_later(&self, offset: u64, array: &NdArray, team: &Arc<Team>) -> Result<()> {
        let (file, path, team) = (self.file.clone(), self.path.clone(), team.clone());
        array.write_later(move |bytes| read(&file, offset, bytes, &team).map_err(|e| Error::io(path, &e)))
    }

    /// Checks that the file was not written to since it was opened.
    ///
    /// # Errors
    /// Returns an error if the length or the modification time has changed.
    pub(crate) fn expect_unchanged(&self) -> Result<()> {
        let now = self.file.metadata().map_err(|e| Error::io(&self.path, &e))?;
        if stamp(&now) == self.opened {
            return Ok(());
        }
        let what = format!("parameter file {}", self.path.display());
        Err(Error::invalid(what, "written to while it was read", "a file that is whole"))
    }
}

fn stamp(metadata: &Metadata) -> (u64, Option<SystemTime>) {
    (metadata.len(), metadata.modified().ok())
}

fn read(file: &File, offset: u64, bytes: &mut [u8], team: &Team) -> io::Result<()> {
    let pieces: Vec<Mutex<&mut [u8]>> = bytes.chunks_mut(PIECE).map(Mutex::new).collect();
    let failed = Mutex::new(None);
    team.run(pieces.len(), &|i| {
        if let Err(error) = read_exact_at(file, &mut pieces[i].lock(), offset + (i * PIECE) as u64) {
            *failed.lock() = Some(error);
        }
    });
    failed.lock().take().map_or(Ok(()), Err)
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn read_exact_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Runtime;
    use mxrs_types::DType;
    use mxrs_types::Device;

    #[test]
    fn arrays_hold_what_the_file_has_from_there_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bytes");
        let bytes: Vec<u8> = (0..3 * PIECE + 5000).map(|i| (i % 251) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let file = ParameterFile::open(&path).unwrap();
        let runtime = Runtime::builder().build().unwrap();
        let array = |len: usize| NdArray::empty(runtime.arrays(), [len], DType::U8, Device::cpu(0), "test").unwrap();
        for (offset, len) in [(0, bytes.len()), (7, 2 * PIECE + 1), (100, 1)] {
            let array = array(len);
            file.read_later(offset as u64, &array, runtime.team()).unwrap();
            assert!(array.to_vec::<u8>().unwrap() == bytes[offset..offset + len], "{len} bytes from {offset}");
        }
        let past = array(PIECE + 1);
        file.read_later((bytes.len() - PIECE) as u64, &past, runtime.team()).unwrap();
        let error = past.to_vec::<u8>().unwrap_err().to_string();
        assert!(error.contains("bytes"), "{error}");
        file.expect_unchanged().unwrap();
        std::fs::write(&path, &bytes[1..]).unwrap();
        let error = file.expect_unchanged().unwrap_err().to_string();
        assert!(error.contains("written to"), "{error}");
    }
}
