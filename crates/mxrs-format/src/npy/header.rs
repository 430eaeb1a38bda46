//! The header of an npy file: a Python dictionary in text.

use crate::{Limits, fault};
use mxrs_types::{DType, Error, FormatErrorKind, Result, Shape};

/// The content of the dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub dtype: DType,
    pub big_endian: bool,
    pub fortran_order: bool,
    pub shape: Shape,
}

impl Header {
    /// Parses the dictionary, which starts at `offset` in the file.
    pub(crate) fn parse(text: &[u8], offset: u64, limits: &Limits) -> Result<Self> {
        let mut p = Parser { text, pos: 0, offset };
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        p.expect(b'{')?;
        while !p.accept(b'}') {
            let place = p.pos;
            let key = p.string()?;
            p.expect(b':')?;
            let again = match key {
                b"descr" => descr.replace(p.descr()?).is_some(),
                b"fortran_order" => fortran_order.replace(p.boolean()?).is_some(),
                b"shape" => shape.replace(p.shape(limits)?).is_some(),
                other => {
                    let context = format!("npy header key `{}`", String::from_utf8_lossy(other));
                    return Err(p.error(FormatErrorKind::InvalidValue, place, context));
                }
            };
            if again {
                let context = format!("npy header key `{}`", String::from_utf8_lossy(key));
                return Err(p.error(FormatErrorKind::Duplicate, place, context));
            }
            if !p.accept(b',') {
                p.expect(b'}')?;
                break;
            }
        }
        p.skip_space();
        if p.pos != text.len() {
            return Err(p.error(FormatErrorKind::Syntax, p.pos, "text after the npy header"));
        }
        match (descr, fortran_order, shape) {
            (Some((dtype, big_endian)), Some(fortran_order), Some(shape)) => {
                Ok(Self { dtype, big_endian, fortran_order, shape })
            }
            _ => {
                let context = "npy header without all of `descr`, `fortran_order` and `shape`";
                Err(p.error(FormatErrorKind::Inconsistent, 0, context))
            }
        }
    }
}

/// The NumPy name of an element type with little-endian byte order.
pub(super) fn descr_of(dtype: DType) -> &'static str {
    match dtype {
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::BF16 => "<b2",
        DType::Bool => "|b1",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::U8 => "|u1",
        DType::U16 => "<u2",
        DType::U32 => "<u4",
        DType::U64 => "<u8",
    }
}

struct Parser<'a> {
    text: &'a [u8],
    pos: usize,
    offset: u64,
}

impl<'a> Parser<'a> {
    fn error(&self, kind: FormatErrorKind, pos: usize, context: impl Into<String>) -> Error {
        fault::at(self.offset + pos as u64, kind, context)
    }

    fn skip_space(&mut self) {
        while self.text.get(self.pos).is_some_and(u8::is_ascii_whitespace) {
            self.pos += 1;
        }
    }

    fn accept(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.text.get(self.pos) == Some(&byte);
        self.pos += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.accept(byte) {
            return Ok(());
        }
        Err(self.error(FormatErrorKind::Syntax, self.pos, format!("npy header: expected `{}`", byte as char)))
    }

    /// Reads a quoted string without escapes; no key or type name contains an escape.
    fn string(&mut self) -> Result<&'a [u8]> {
        self.skip_space();
        let quote = self.text.get(self.pos).copied().filter(|q| matches!(q, b'\'' | b'"'));
        let rest = self.text.get(self.pos + 1..).unwrap_or_default();
        let end = quote.and_then(|q| rest.iter().position(|&b| b == q));
        let Some(end) = end else {
            return Err(self.error(FormatErrorKind::Syntax, self.pos, "npy header: expected a quoted string"));
        };
        self.pos += end + 2;
        Ok(&rest[..end])
    }

    fn word(&mut self) -> &'a [u8] {
        self.skip_space();
        let rest = &self.text[self.pos..];
        let len = rest.iter().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(rest.len());
        self.pos += len;
        &rest[..len]
    }

    fn boolean(&mut self) -> Result<bool> {
        let place = self.pos;
        match self.word() {
            b"True" => Ok(true),
            b"False" => Ok(false),
            _ => Err(self.error(FormatErrorKind::InvalidValue, place, "fortran_order, expected True or False")),
        }
    }

    fn shape(&mut self, limits: &Limits) -> Result<Shape> {
        let mut shape = Shape::scalar();
        self.expect(b'(')?;
        while !self.accept(b')') {
            self.skip_space();
            let place = self.pos;
            if shape.ndim() as u64 >= limits.max_ndim {
                let (value, max) = (shape.ndim() as u64 + 1, limits.max_ndim);
                return Err(self.error(FormatErrorKind::LimitExceeded { value, max }, place, "number of axes"));
            }
            if self.text.get(self.pos) == Some(&b'-') {
                return Err(self.error(FormatErrorKind::InvalidValue, place, "negative axis"));
            }
            let word = self.word();
            // Python 2 wrote long integers as `3L`.
            let digits = word.strip_suffix(b"L").unwrap_or(word);
            if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
                return Err(self.error(FormatErrorKind::Syntax, place, "npy header: expected a number"));
            }
            let size = digits.iter().try_fold(0usize, |n, d| n.checked_mul(10)?.checked_add(usize::from(d - b'0')));
            let Some(size) = size else {
                return Err(self.error(FormatErrorKind::Overflow, place, "axis of an npy array"));
            };
            shape.push(size);
            if !self.accept(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(shape)
    }

    /// The element type and whether it is big-endian.
    fn descr(&mut self) -> Result<(DType, bool)> {
        self.skip_space();
        let place = self.pos;
        let unsupported = |p: &Self, what: &str| {
            let context = format!("npy arrays of {what}; save numbers or bools");
            Err(p.error(FormatErrorKind::UnsupportedFeature, place, context))
        };
        if self.text.get(self.pos) == Some(&b'[') {
            return unsupported(self, "structures");
        }
        let descr = self.string()?;
        let shown = String::from_utf8_lossy(descr).into_owned();
        let (order, name) = match descr {
            [order @ (b'<' | b'>' | b'|' | b'='), name @ ..] => (*order, name),
            name => (b'=', name),
        };
        let dtype = match name {
            b"f2" => DType::F16,
            b"f4" => DType::F32,
            b"f8" => DType::F64,
            b"b2" => DType::BF16,
            b"b1" => DType::Bool,
            b"i1" => DType::I8,
            b"i2" => DType::I16,
            b"i4" => DType::I32,
            b"i8" => DType::I64,
            b"u1" => DType::U8,
            b"u2" => DType::U16,
            b"u4" => DType::U32,
            b"u8" => DType::U64,
            [b'O', ..] => return unsupported(self, "Python objects"),
            [b'S' | b'U' | b'a', ..] => return unsupported(self, "strings"),
            [b'V' | b'M' | b'm' | b'c' | b'f' | b'g', ..] => return unsupported(self, &format!("type `{shown}`")),
            _ => {
                let context = format!("npy element type `{shown}`");
                return Err(self.error(FormatErrorKind::InvalidValue, place, context));
            }
        };
        if order == b'|' && dtype.size_of() > 1 {
            let context = format!("npy element type `{shown}` without a byte order");
            return Err(self.error(FormatErrorKind::InvalidValue, place, context));
        }
        Ok((dtype, order == b'>'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Header> {
        Header::parse(text.as_bytes(), 10, &Limits::default())
    }

    #[test]
    fn any_order_spacing_and_quotes() {
        let h = parse("{ \"shape\":(2L, 3,),'descr' : '>i2', 'fortran_order': True }  \n").unwrap();
        assert_eq!(h, Header { dtype: DType::I16, big_endian: true, fortran_order: true, shape: [2, 3].into() });
        let scalar = parse("{'descr': '|u1', 'fortran_order': False, 'shape': (), }\n").unwrap();
        assert_eq!(scalar.shape, Shape::scalar());
    }

    #[test]
    fn bad_headers_have_their_category() {
        let with = |descr: &str, rest: &str| format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {rest}}}");
        let cases = [
            (with("'|O'", "(1,)"), FormatErrorKind::UnsupportedFeature),
            (with("'<U5'", "(1,)"), FormatErrorKind::UnsupportedFeature),
            (with("[('a', '<f4')]", "(1,)"), FormatErrorKind::UnsupportedFeature),
            (with("'<c8'", "(1,)"), FormatErrorKind::UnsupportedFeature),
            (with("'<x4'", "(1,)"), FormatErrorKind::InvalidValue),
            (with("'|f4'", "(1,)"), FormatErrorKind::InvalidValue),
            (with("'<f4'", "(-1,)"), FormatErrorKind::InvalidValue),
            (with("'<f4'", "(99999999999999999999,)"), FormatErrorKind::Overflow),
            (with("'<f4'", "(1,), 'shape': (2,)"), FormatErrorKind::Duplicate),
            (with("'<f4'", "(1,), 'x': (2,)"), FormatErrorKind::InvalidValue),
            (with("'<f4'", "(1,"), FormatErrorKind::Syntax),
            (with("'<f4'", "(1,)") + "x", FormatErrorKind::Syntax),
            ("{'descr': '<f4'}".to_string(), FormatErrorKind::Inconsistent),
            (with("'<f4'", &format!("({})", "1,".repeat(33))), FormatErrorKind::LimitExceeded { value: 33, max: 32 }),
            (String::new(), FormatErrorKind::Syntax),
        ];
        for (text, kind) in cases {
            let e = parse(&text).unwrap_err();
            assert_eq!(fault::category(&e), Some(&kind), "{text}");
        }
    }
}
