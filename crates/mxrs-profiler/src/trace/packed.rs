//! A trace as a gzip file: a member for each append, and one for the closing text.

use super::medium::Medium;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};

/// A gzip file that ends with its closing text after every append. If the process is killed during an append, the members
/// before it can still be read.
pub(super) struct PackedFile {
    medium: Box<dyn Medium>,
    /// The offset of the closing member.
    end: u64,
    closing: Vec<u8>,
}

impl PackedFile {
    /// Writes the head and the closing text.
    ///
    /// # Errors
    /// The error of the write.
    pub(super) fn start(medium: Box<dyn Medium>, head: &str, closing: &str) -> io::Result<Self> {
        let mut file = Self { medium, end: 0, closing: Vec::new() };
        file.append(head, closing)?;
        Ok(file)
    }

    /// Appends `text`, and `closing` in the place of the former closing text.
    ///
    /// # Errors
    /// The error of the write, for example if the disk is full. The file then ends as before.
    pub(super) fn append(&mut self, text: &str, closing: &str) -> io::Result<()> {
        let result = self.try_append(text, closing);
        if result.is_err() {
            // The former closing text had its place on the disk, so writing it again succeeds even if the disk is full.
            let restored = self.medium.write_at(self.end, &self.closing);
            let _ = restored.and_then(|()| self.medium.set_len(self.end + self.closing.len() as u64));
        }
        result
    }

    fn try_append(&mut self, text: &str, closing: &str) -> io::Result<()> {
        let mut bytes = if text.is_empty() { Vec::new() } else { packed(text)? };
        let n_text = bytes.len() as u64;
        let closing = packed(closing)?;
        bytes.extend_from_slice(&closing);
        self.medium.write_at(self.end, &bytes)?;
        self.medium.set_len(self.end + bytes.len() as u64)?;
        self.end += n_text;
        self.closing = closing;
        Ok(())
    }
}

/// A gzip member. Members that follow each other are one gzip file.
fn packed(text: &str) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::super::medium::Disk;
    use super::*;
    use std::io::Read;

    #[test]
    fn a_full_disk_leaves_what_was_there_and_its_end() {
        let disk = Disk { bytes: Default::default(), room: 600, check: |_| () };
        let mut file = PackedFile::start(Box::new(disk.clone()), "[0", "]").unwrap();
        let (mut expected, mut failed) = ("[0".to_owned(), false);
        for number in 0..100 {
            let text = format!(",{number}{}", " ".repeat(number % 7));
            match file.append(&text, "]") {
                Ok(()) => expected.push_str(&text),
                Err(_) => failed = true,
            }
            let mut found = String::new();
            flate2::read::MultiGzDecoder::new(&disk.bytes.lock().unwrap()[..]).read_to_string(&mut found).unwrap();
            assert_eq!(found, format!("{expected}]"));
        }
        assert!(failed, "the disk did not fill");
    }
}
