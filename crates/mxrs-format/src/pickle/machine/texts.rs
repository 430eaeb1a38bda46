//! Texts and integers of a pickle.

use super::{Machine, Node};
use mxrs_types::{FormatErrorKind, Result};

/// Longest line in bytes.
const LONGEST_LINE: usize = 1 << 16;

impl Machine<'_> {
    pub(super) fn line(&mut self) -> Result<String> {
        let start = self.r.position() as usize;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let len = rest.iter().take(LONGEST_LINE).position(|b| *b == b'\n');
        let len = len.ok_or_else(|| self.wrong(FormatErrorKind::Syntax, "a line without end"))?;
        let line = self.r.bytes(len as u64 + 1, "line")?;
        String::from_utf8(line[..len].to_vec())
            .map(|line| line.trim_end_matches('\r').to_string())
            .map_err(|_| self.wrong(FormatErrorKind::Syntax, "a line that is not UTF-8"))
    }

    pub(super) fn text(&mut self, len: u64) -> Result<()> {
        let bytes = self.r.bytes(len, "text")?;
        let text =
            String::from_utf8(bytes).map_err(|_| self.wrong(FormatErrorKind::Syntax, "a text that is not UTF-8"))?;
        self.push(Node::Text(text));
        Ok(())
    }

    /// Pushes a `str` of Python 2, which holds bytes. If all bytes are ASCII, it becomes a text.
    pub(super) fn old_text(&mut self, bytes: Vec<u8>) {
        let node = match String::from_utf8(bytes) {
            Ok(text) if text.is_ascii() => Node::Text(text),
            Ok(text) => Node::Bytes(text.into_bytes()),
            Err(e) => Node::Bytes(e.into_bytes()),
        };
        self.push(node);
    }

    /// Reads an integer in little-endian two's complement.
    pub(super) fn long(&mut self, len: u64) -> Result<()> {
        if len > 8 {
            return Err(self.wrong(FormatErrorKind::Overflow, "an integer of more than 64 bits"));
        }
        let bytes = self.r.bytes(len, "integer")?;
        let fill = if bytes.last().is_some_and(|b| b & 0x80 != 0) { 0xFF } else { 0 };
        let mut word = [fill; 8];
        word[..bytes.len()].copy_from_slice(&bytes);
        self.push(Node::Int(i64::from_le_bytes(word)));
        Ok(())
    }

    pub(super) fn integer_line(&mut self) -> Result<()> {
        let line = self.line()?;
        let node = match line.as_str() {
            "00" => Node::Bool(false),
            "01" => Node::Bool(true),
            text => {
                let value = text.strip_suffix('L').unwrap_or(text).parse();
                Node::Int(value.map_err(|_| self.wrong(FormatErrorKind::Syntax, "an integer that is not a number"))?)
            }
        };
        self.push(node);
        Ok(())
    }
}
