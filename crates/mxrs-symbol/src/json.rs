//! A small pull parser for JSON. It limits the depth, detects duplicate keys, and reports line and column.

use mxrs_format::{Limits, fault};
use mxrs_types::{Error, FormatErrorKind, Result};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Parser state: a position in JSON text, and the depth.
pub(crate) struct Json<'a> {
    text: &'a str,
    pos: usize,
    depth: u64,
    max_depth: u64,
}

impl<'a> Json<'a> {
    pub(crate) fn new(bytes: &'a [u8], limits: &Limits) -> Result<Self> {
        if bytes.len() as u64 > limits.max_json {
            let kind = FormatErrorKind::LimitExceeded { value: bytes.len() as u64, max: limits.max_json };
            return Err(fault::whole(kind, "bytes of JSON"));
        }
        let max_depth = limits.max_json_depth.min(Limits::DEEPEST_JSON);
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self { text, pos: 0, depth: 0, max_depth }),
            Err(e) => {
                let (good, _) = bytes.split_at(e.valid_up_to());
                let text = std::str::from_utf8(good).unwrap_or_default();
                let json = Self { text, pos: good.len(), depth: 0, max_depth };
                Err(json.error(FormatErrorKind::InvalidValue, good.len(), "text that is not UTF-8"))
            }
        }
    }

    pub(crate) fn position(&self) -> usize {
        self.pos
    }

    /// An error at a position in the text, with line and column (both counted from 1, the column in characters).
    pub(crate) fn error(&self, kind: FormatErrorKind, pos: usize, what: impl AsRef<str>) -> Error {
        let before = &self.text[..pos.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        fault::at(pos as u64, kind, format!("line {line}, column {column}: {}", what.as_ref()))
    }

    pub(crate) fn syntax(&self, pos: usize, what: impl AsRef<str>) -> Error {
        self.error(FormatErrorKind::Syntax, pos, what)
    }

    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.pos..];
        self.pos += rest.iter().position(|b| !matches!(b, b' ' | b'\t' | b'\r' | b'\n')).unwrap_or(rest.len());
        self.text.as_bytes().get(self.pos).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.pos += usize::from(found);
        found
    }

    fn wrong(&mut self, expected: &str) -> Error {
        let found = match self.peek() {
            None => "the end of the text",
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') => "a string",
            Some(b'-' | b'0'..=b'9') => "a number",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            Some(_) => "something else",
        };
        self.syntax(self.pos, format!("expected {expected}, found {found}"))
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > self.max_depth {
            let kind = FormatErrorKind::LimitExceeded { value: self.depth, max: self.max_depth };
            return Err(self.error(kind, self.pos, "nesting of objects and arrays"));
        }
        Ok(())
    }

    /// Reads an object; `member` reads one value. A key that occurs twice is an error.
    pub(crate) fn object(&mut self, mut member: impl FnMut(&mut Self, &str) -> Result<()>) -> Result<()> {
        let mut keys = BTreeSet::new();
        self.members(|json, key, pos| {
            member(json, &key)?;
            if keys.contains(&key) {
                return Err(json.error(FormatErrorKind::Duplicate, pos, format!("key `{key}`")));
            }
            keys.insert(key);
            Ok(())
        })
    }

    fn members(&mut self, mut member: impl FnMut(&mut Self, Cow<'a, str>, usize) -> Result<()>) -> Result<()> {
        if !self.accept(b'{') {
            return Err(self.wrong("an object"));
        }
        self.deeper()?;
        if !self.accept(b'}') {
            loop {
                self.peek();
                let pos = self.pos;
                let key = self.string()?;
                if !self.accept(b':') {
                    return Err(self.wrong("`:`"));
                }
                member(self, key, pos)?;
                if self.accept(b'}') {
                    break;
                }
                if !self.accept(b',') {
                    return Err(self.wrong("`,` or `}`"));
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads an object of strings, in file order.
    pub(crate) fn string_pairs(&mut self) -> Result<Vec<(Box<str>, Box<str>)>> {
        let mut pairs = Vec::new();
        self.members(|json, key, _| {
            let value = json.string()?;
            pairs.push((key.into(), value.into()));
            Ok(())
        })?;
        Ok(pairs)
    }

    /// Reads an array; `item` reads one value.
    pub(crate) fn array(&mut self, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        if !self.accept(b'[') {
            return Err(self.wrong("an array"));
        }
        self.deeper()?;
        if !self.accept(b']') {
            loop {
                item(self)?;
                if self.accept(b']') {
                    break;
                }
                if !self.accept(b',') {
                    return Err(self.wrong("`,` or `]`"));
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads an integer.
    pub(crate) fn integer<T: TryFrom<i64>>(&mut self) -> Result<T> {
        if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.wrong("an integer"));
        }
        let start = self.pos;
        let word = self.number_word();
        if word.contains(['.', 'e', 'E']) {
            return Err(self.syntax(start, format!("expected an integer, found `{word}`")));
        }
        let value = word.parse::<i64>().ok().and_then(|v| T::try_from(v).ok());
        value.ok_or_else(|| self.error(FormatErrorKind::InvalidValue, start, format!("number `{word}` out of range")))
    }

    fn number_word(&mut self) -> &'a str {
        let rest = &self.text[self.pos..];
        let len = rest.bytes().position(|b| !matches!(b, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'));
        let word = &rest[..len.unwrap_or(rest.len())];
        self.pos += word.len();
        word
    }

    /// Reads a string. Control characters other than line ends need no escape, because MXNet writes them unescaped.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>> {
        if !self.accept(b'"') {
            return Err(self.wrong("a string"));
        }
        let start = self.pos;
        let mut unescaped: Option<String> = None;
        let mut plain = start;
        loop {
            let rest = &self.text.as_bytes()[self.pos..];
            let Some(len) = rest.iter().position(|b| matches!(b, b'"' | b'\\' | b'\n' | b'\r')) else {
                return Err(self.syntax(start - 1, "string without an end"));
            };
            self.pos += len;
            match rest[len] {
                b'"' => {
                    let last = &self.text[plain..self.pos];
                    self.pos += 1;
                    return Ok(match unescaped {
                        None => Cow::Borrowed(last),
                        Some(text) => Cow::Owned(text + last),
                    });
                }
                b'\\' => {
                    let mut text = unescaped.take().unwrap_or_default();
                    text.push_str(&self.text[plain..self.pos]);
                    text.push(self.escape()?);
                    unescaped = Some(text);
                    plain = self.pos;
                }
                _ => return Err(self.syntax(self.pos, "line end inside a string")),
            }
        }
    }

    /// Reads an escape sequence; the current position is at its backslash.
    fn escape(&mut self) -> Result<char> {
        let place = self.pos;
        let kind = self.text.as_bytes().get(place + 1).copied();
        self.pos += 2;
        Ok(match kind {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => self.unicode(place)?,
            _ => return Err(self.syntax(place, "unknown escape in a string")),
        })
    }

    fn unicode(&mut self, place: usize) -> Result<char> {
        let bad = |json: &Self| json.error(FormatErrorKind::InvalidValue, place, "`\\u` escape of no character");
        let high = self.four_hex().ok_or_else(|| bad(self))?;
        if let Some(c) = char::from_u32(high) {
            return Ok(c);
        }
        let low = match self.text.get(self.pos..self.pos + 2) {
            Some("\\u") => {
                self.pos += 2;
                self.four_hex()
            }
            _ => None,
        };
        let pair = low.filter(|low| (0xDC00..0xE000).contains(low) && (0xD800..0xDC00).contains(&high));
        pair.and_then(|low| char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))).ok_or_else(|| bad(self))
    }

    fn four_hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.pos..self.pos + 4)?;
        self.pos += 4;
        if digits.bytes().all(|b| b.is_ascii_hexdigit()) { u32::from_str_radix(digits, 16).ok() } else { None }
    }

    /// Skips one value of any type.
    pub(crate) fn skip(&mut self) -> Result<()> {
        match self.peek() {
            Some(b'{') => self.members(|json, _, _| json.skip()),
            Some(b'[') => self.array(Self::skip),
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => {
                let start = self.pos;
                let word = self.number_word();
                word.parse::<f64>().map(drop).map_err(|_| self.syntax(start, format!("`{word}` is not a number")))
            }
            _ => {
                let rest = &self.text[self.pos..];
                match ["true", "false", "null"].iter().find(|word| rest.starts_with(**word)) {
                    Some(word) => {
                        self.pos += word.len();
                        Ok(())
                    }
                    None => Err(self.wrong("a value")),
                }
            }
        }
    }

    /// Number of bytes left, not counting leading white space.
    pub(crate) fn left(&mut self) -> u64 {
        self.peek();
        (self.text.len() - self.pos) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_format::fault::category;

    fn json(text: &str) -> Json<'_> {
        Json::new(text.as_bytes(), &Limits::default()).unwrap()
    }

    #[test]
    fn strings() {
        let text = r#" "a\"\\\/\n\r\t\b\f\u00e9\u4e2d\ud83d\ude00é" "#;
        assert_eq!(json(text).string().unwrap(), "a\"\\/\n\r\t\u{8}\u{c}é中😀é");
        assert_eq!(json("\"\u{1}\"").string().unwrap(), "\u{1}");
        for bad in [r#""\ud83d""#, r#""\ud83dx""#, r#""\ude00""#, r#""\u12""#, r#""\u+123""#, r#""\ud83d\u0041""#] {
            assert_eq!(category(&json(bad).string().unwrap_err()), Some(&FormatErrorKind::InvalidValue), "{bad}");
        }
        for bad in ["\"abc", "\"a\nb\"", r#""\x""#, "\"\\", "abc", ""] {
            assert_eq!(category(&json(bad).string().unwrap_err()), Some(&FormatErrorKind::Syntax), "{bad}");
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(json("-12").integer::<i64>().unwrap(), -12);
        let kind = |text: &str| category(&json(text).integer::<u32>().unwrap_err()).cloned().unwrap();
        assert_eq!(kind("4294967296"), FormatErrorKind::InvalidValue);
        assert_eq!(kind("-1"), FormatErrorKind::InvalidValue);
        assert_eq!(kind("1-2"), FormatErrorKind::InvalidValue);
        assert_eq!(kind("1.5"), FormatErrorKind::Syntax);
        assert_eq!(kind("\"1\""), FormatErrorKind::Syntax);
    }

    #[test]
    fn errors_have_line_and_column() {
        let e = json("{\n  \"é\": [1,\n 2 3]}").skip().unwrap_err();
        assert!(e.to_string().contains("line 3, column 4: expected `,` or `]`, found a number"), "{e}");
        let e = Json::new(b"{\n\"\xff\"}", &Limits::default()).err().unwrap();
        assert!(e.to_string().contains("line 2, column 2: text that is not UTF-8"), "{e}");
    }

    #[test]
    fn depth_is_limited_whatever_the_setting() {
        let deep = "[".repeat(100_000);
        let e = json(&deep).skip().unwrap_err();
        assert_eq!(category(&e), Some(&FormatErrorKind::LimitExceeded { value: 65, max: 64 }));
        let limits = Limits { max_json_depth: u64::MAX, ..Limits::default() };
        let e = Json::new(deep.as_bytes(), &limits).unwrap().skip().unwrap_err();
        assert_eq!(category(&e), Some(&FormatErrorKind::LimitExceeded { value: 513, max: 512 }));
    }
}
