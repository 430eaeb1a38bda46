//! A second hand on a file: large reads are shared by two threads, each of which copies one half.
//!
//! What takes the time where a file is in the system's cache is copying, and touching new memory for the first time; one
//! processor does neither as fast as memory could.

use std::fs::File;
use std::io::{BufReader, Result};

/// Bytes from which on starting a thread pays.
pub const LARGE: usize = 1 << 20;

/// Reads at places of its own from the file that a reader reads from its position.
#[derive(Debug)]
pub struct Twin<R> {
    file: File,
    /// Lets the reader go on behind what was read for it.
    skip: fn(&mut R, i64) -> Result<()>,
}

impl Twin<BufReader<File>> {
    /// Of the file of a reader, where this system reads at any place and there are processors for two threads.
    pub fn of(reader: &BufReader<File>) -> Option<Self> {
        let is_useful = cfg!(unix) && std::thread::available_parallelism().is_ok_and(|n| n.get() > 1);
        let file = reader.get_ref().try_clone().ok().filter(|_| is_useful)?;
        Some(Self { file, skip: BufReader::seek_relative })
    }
}

impl<R> Twin<R> {
    /// Fills the second half of `bytes`, which begin at `offset` of the file, while `read` has the reader fill the first one; then
    /// lets the reader go on behind the second. Returns how much was filled.
    ///
    /// # Errors
    /// Those of `read`; what the system reports.
    pub fn fill(
        &self,
        reader: &mut R,
        (bytes, offset): (&mut [u8], u64),
        read: impl FnOnce(&mut R, &mut [u8]) -> Result<usize>,
    ) -> Result<usize> {
        let (first, second) = bytes.split_at_mut(bytes.len() / 2);
        let (wanted, offset) = (first.len(), offset + first.len() as u64);
        let file = &self.file;
        let (mine, others) = std::thread::scope(|scope| {
            let other = scope.spawn(move || fill_at(file, second, offset));
            (read(reader, first), other.join())
        });
        let n_first = mine?;
        if n_first < wanted {
            return Ok(n_first);
        }
        let n_second = others.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        (self.skip)(reader, n_second as i64)?;
        Ok(n_first + n_second)
    }
}

/// Fills as much as the file has left from this offset on.
fn fill_at(file: &File, buffer: &mut [u8], offset: u64) -> Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match read_at(file, &mut buffer[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(done)
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(not(unix))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> Result<usize> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    /// A file of these bytes, and a reader that has a part of it in its buffer.
    fn reader(bytes: &[u8]) -> (tempfile::NamedTempFile, BufReader<File>) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let mut reader = BufReader::with_capacity(64, File::open(file.path()).unwrap());
        reader.read_exact(&mut [0; 3]).unwrap();
        (file, reader)
    }

    fn whole(reader: &mut BufReader<File>, bytes: &mut [u8]) -> Result<usize> {
        reader.read_exact(bytes).map(|()| bytes.len())
    }

    #[test]
    fn both_halves_are_those_of_the_file() {
        let bytes: Vec<u8> = (0..1000u32).map(|i| (i * 7 % 251) as u8).collect();
        for len in [0, 1, 2, 60, 61, 200, 901] {
            let (_file, mut reader) = reader(&bytes);
            let Some(twin) = Twin::of(&reader) else { return };
            let mut filled = vec![0; len];
            assert_eq!(twin.fill(&mut reader, (&mut filled, 3), whole).unwrap(), len);
            assert_eq!(filled, bytes[3..3 + len]);
            let mut next = [0; 5];
            reader.read_exact(&mut next).unwrap();
            assert_eq!(next, bytes[3 + len..8 + len], "it goes on behind both");
        }
    }

    #[test]
    fn a_file_that_ends_early_fills_less() {
        let (_file, mut reader) = reader(&[9; 100]);
        let Some(twin) = Twin::of(&reader) else { return };
        let mut filled = vec![0; 120];
        assert_eq!(twin.fill(&mut reader, (&mut filled, 3), whole).unwrap(), 97);
        let (_file, mut reader) = self::reader(&[9; 100]);
        let failing = |_: &mut BufReader<File>, _: &mut [u8]| Err(std::io::ErrorKind::Other.into());
        assert!(Twin::of(&reader).unwrap().fill(&mut reader, (&mut filled, 3), failing).is_err());
    }
}
