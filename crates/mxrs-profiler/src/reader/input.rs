//! The bytes of a trace, with a limit for the size of one event.

use flate2::bufread::MultiGzDecoder;
use mxrs_types::{Error, ErrorKind, FormatErrorKind};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

/// The most bytes between the ends of two events. The largest events that the profiler writes have a few kilobytes, and the gap
/// before the closing text of a trace that is still being written has a quarter of a megabyte.
const MOST_BYTES: u64 = 4 << 20;

/// The number of bytes that were read since the end of the last event. The reader of events and the reader of bytes share
/// it.
#[derive(Debug, Default)]
pub(super) struct Progress {
    n_bytes: Cell<u64>,
}

impl Progress {
    /// Counts from 0 again.
    pub(super) fn restart(&self) {
        self.n_bytes.set(0);
    }

    /// Whether reading has stopped because an event is too large.
    pub(super) fn is_exceeded(&self) -> bool {
        self.n_bytes.get() > MOST_BYTES
    }

    /// The error of a file with an event that is too large.
    pub(super) fn exceeded(&self, path: &Path, line: usize) -> Error {
        let kind = FormatErrorKind::LimitExceeded { value: self.n_bytes.get(), max: MOST_BYTES };
        let context = "the bytes of one event of a trace".to_owned();
        Error::new(ErrorKind::Format { path: Some(path.into()), offset: Some(line as u64), kind, context })
    }
}

/// The unpacked bytes of a file.
pub(super) struct Input {
    bytes: Box<dyn Read>,
    progress: Rc<Progress>,
}

impl Input {
    /// Opens a file; unpacks it if its name ends in `.gz`.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn open(path: &Path, progress: Rc<Progress>) -> io::Result<Self> {
        let file = BufReader::with_capacity(1 << 16, File::open(path)?);
        let bytes: Box<dyn Read> = match path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("gz")) {
            true => Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(file))),
            false => Box::new(file),
        };
        Ok(Self { bytes, progress })
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.bytes.read(buffer)?;
        let n_bytes = &self.progress.n_bytes;
        n_bytes.set(n_bytes.get() + n as u64);
        match self.progress.is_exceeded() {
            true => Err(io::Error::other("an event is too large")),
            false => Ok(n),
        }
    }
}
