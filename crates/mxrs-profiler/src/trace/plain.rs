//! A trace as plain text, which is valid JSON after every single write, so that a process may be killed at any time.
//!
//! ```text
//! | head and lines | spaces: the gap | closing text |
//! ```
//!
//! Lines are written into the gap. Even if the process is killed, the system completes a write that stays within a memory
//! page. So lines are written in groups that do not cross pages, and the rest of a page stays filled with spaces. When the
//! gap is full, the closing text moves: spaces are appended to the file, the closing text is written behind them, and then
//! it is overwritten with spaces in its former place. Only between the last two writes, a microsecond for every quarter of a
//! megabyte, the file is not valid.

use super::medium::Medium;
use std::io;

/// The smallest page of the systems that mxrs runs on.
const PAGE: u64 = 4096;
/// The bytes by which the gap grows.
const GAP: u64 = 64 * PAGE;

/// A text file with a gap before its closing text.
pub(super) struct PlainFile {
    medium: Box<dyn Medium>,
    /// The offset of the end of the lines.
    end: u64,
    /// The offset of the closing text.
    closing_at: u64,
    closing: String,
}

impl PlainFile {
    /// Writes the head and the closing text, which is shorter than a page.
    ///
    /// # Errors
    /// The error of the write.
    pub(super) fn start(mut medium: Box<dyn Medium>, head: &str, closing: &str) -> io::Result<Self> {
        let mut text = head.as_bytes().to_vec();
        let end = text.len() as u64;
        // The closing text must not cross a page, because it is overwritten later by one write.
        if end % PAGE + closing.len() as u64 > PAGE {
            text.resize(end.next_multiple_of(PAGE) as usize, b' ');
        }
        let closing_at = text.len() as u64;
        text.extend_from_slice(closing.as_bytes());
        medium.write_at(0, &text)?;
        Ok(Self { medium, end, closing_at, closing: closing.to_owned() })
    }

    /// Appends lines. Each line begins with a line feed, or with a comma and a line feed.
    ///
    /// # Errors
    /// The error of a write. The file is valid then, and has the lines of the writes before.
    pub(super) fn append(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text;
        while !rest.is_empty() {
            let (group, after) = rest.split_at(self.group(rest));
            let (at, len) = (self.place(group.len() as u64), group.len() as u64);
            if at + len > self.closing_at {
                self.widen(at + len - self.closing_at)?;
            }
            self.medium.write_at(at, group.as_bytes())?;
            self.end = at + len;
            rest = after;
        }
        Ok(())
    }

    /// The length of the lines to write next: as many as fit into the rest of the page; if none does, as many as fit into a
    /// page, and at least one.
    fn group(&self, text: &str) -> usize {
        let left = (PAGE - self.end % PAGE) as usize;
        let mut ends = line_ends(text);
        let Some(first) = ends.next() else { return text.len() };
        let room = if first <= left { left } else { PAGE as usize };
        ends.take_while(|end| *end <= room).last().unwrap_or(first)
    }

    /// Where a group of lines is written: at the end of the lines, or at the start of the next page if it would cross into
    /// that page.
    fn place(&self, len: u64) -> u64 {
        let next = self.end.next_multiple_of(PAGE);
        if len <= PAGE && self.end + len > next && self.end < next { next } else { self.end }
    }

    /// Makes room for at least `more` bytes.
    fn widen(&mut self, more: u64) -> io::Result<()> {
        let after = self.closing_at + self.closing.len() as u64;
        let closing_at = (after + more.max(GAP)).next_multiple_of(PAGE);
        let moved = self.move_closing(after, closing_at);
        if moved.is_err() {
            // Removes the appended bytes after a failure, so that the former closing text is the end of the file again.
            let _ = self.medium.set_len(after);
            return moved;
        }
        self.closing_at = closing_at;
        Ok(())
    }

    fn move_closing(&mut self, after: u64, to: u64) -> io::Result<()> {
        let spaces = [b' '; GAP as usize];
        let mut at = after;
        while at < to {
            let len = (to - at).min(GAP);
            self.medium.write_at(at, &spaces[..len as usize])?;
            at += len;
        }
        self.medium.write_at(to, self.closing.as_bytes())?;
        self.medium.write_at(self.closing_at, &spaces[..self.closing.len()])
    }

    /// Replaces the closing text by one of the same length.
    ///
    /// # Errors
    /// The error of the write.
    pub(super) fn set_closing(&mut self, closing: &str) -> io::Result<()> {
        debug_assert_eq!(closing.len(), self.closing.len());
        if closing != self.closing {
            closing.clone_into(&mut self.closing);
            self.medium.write_at(self.closing_at, closing.as_bytes())?;
        }
        Ok(())
    }

    /// Removes the gap.
    ///
    /// # Errors
    /// The error of a write.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.medium.write_at(self.end, self.closing.as_bytes())?;
        self.closing_at = self.end;
        self.medium.set_len(self.end + self.closing.len() as u64)
    }
}

/// The ends of the lines of a text: the offsets of the commas or line feeds with which the next lines begin, and its length.
fn line_ends(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let starts = text.match_indices('\n').map(move |(at, _)| if at > 0 && bytes[at - 1] == b',' { at - 1 } else { at });
    starts.filter(|at| *at > 0).chain([text.len()])
}

#[cfg(test)]
mod tests {
    use super::super::medium::Disk;
    use super::*;
    use serde_json::Value;

    const CLOSING: &str = "\n],\"n\":\"0\"}\n";

    fn values(bytes: &[u8]) -> Vec<u64> {
        let value: Value =
            serde_json::from_slice(bytes).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(bytes)));
        value["a"].as_array().unwrap().iter().map(|v| v["v"].as_u64().unwrap()).collect()
    }

    const HEAD: &str = "{\"a\":[\n{\"v\":0}";

    fn line(number: u64) -> String {
        format!(",\n{{\"v\":{number},\"x\":\"{}\"}}", "x".repeat((number * 7919 % 900) as usize))
    }

    /// The file is valid JSON after every write, except after one write of each move of the closing text. This also holds if
    /// the disk is full.
    #[test]
    fn every_write_leaves_valid_json() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static INVALID: AtomicUsize = AtomicUsize::new(0);
        fn check(bytes: &[u8]) {
            if serde_json::from_slice::<Value>(bytes).is_err() {
                INVALID.fetch_add(1, Ordering::Relaxed);
            }
        }
        const ROOM: usize = 3 * GAP as usize;
        let disk = Disk { bytes: Default::default(), room: ROOM, check };
        let mut file = PlainFile::start(Box::new(disk.clone()), HEAD, CLOSING).unwrap();
        let (mut expected, mut next, mut failed) = (vec![0], 1, false);
        for round in 0..150_u64 {
            let numbers: Vec<u64> = (next..next + round % 50).collect();
            let result = file.append(&numbers.iter().map(|n| line(*n)).collect::<String>());
            next += round % 50;
            let now = values(&disk.bytes.lock().unwrap());
            if result.is_ok() {
                expected.extend(numbers);
                assert_eq!(now, expected);
            } else {
                failed = true;
                assert!(now.starts_with(&expected) && now.len() <= expected.len() + numbers.len());
                expected = now;
            }
        }
        assert!(failed, "the disk did not fill");
        // The closing text has moved twice, and a third move failed because the disk was full. Each may leave one invalid
        // state.
        assert!(INVALID.load(Ordering::Relaxed) <= 3, "{INVALID:?}");
        file.set_closing(&CLOSING.replace('0', "7")).unwrap();
        file.finish().unwrap();
        let bytes = disk.bytes.lock().unwrap().clone();
        assert_eq!(values(&bytes), expected);
        assert!(bytes.ends_with(b"}\n],\"n\":\"7\"}\n"), "no gap is left");
    }

    /// A group of lines never crosses a page, unless a line is longer than a page.
    #[test]
    fn writes_stay_within_pages() {
        struct Pages(Disk);
        impl Medium for Pages {
            fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
                let is_spaces = bytes.iter().all(|byte| *byte == b' ');
                let pages = (offset + bytes.len() as u64 - 1) / PAGE - offset / PAGE;
                assert!(is_spaces || bytes.len() as u64 > PAGE || pages == 0, "{} bytes at {offset}", bytes.len());
                self.0.write_at(offset, bytes)
            }
            fn set_len(&mut self, len: u64) -> io::Result<()> {
                self.0.set_len(len)
            }
        }
        let disk = Disk { bytes: Default::default(), room: 64 << 20, check: |_| () };
        let mut file = PlainFile::start(Box::new(Pages(disk.clone())), HEAD, CLOSING).unwrap();
        for batch in 0..50 {
            file.append(&(0..40).map(|i| line(batch * 40 + i + 1)).collect::<String>()).unwrap();
            file.append(&format!(",\n{{\"v\":1,\"x\":\"{}\"}}", "y".repeat(batch as usize * 300))).unwrap();
        }
        assert_eq!(values(&disk.bytes.lock().unwrap()).len(), 1 + 50 * 41);
    }
}
