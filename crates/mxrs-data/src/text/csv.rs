//! Parses rows of comma-separated numbers.

use super::{in_line, lines, number, shown};
use mxrs_types::{FormatErrorKind, Result};

/// Parses all rows; returns their numbers in sequence. Each row must have `width` numbers.
///
/// # Errors
/// Returns `Truncated` for a row with fewer numbers, `Inconsistent` for one with more, and `Syntax` for text that is not a
/// number, each with the line.
pub(super) fn parse(bytes: &[u8], width: usize) -> Result<Vec<f32>> {
    let mut values = Vec::new();
    for (line, offset, text) in lines(bytes) {
        let before = values.len();
        for field in text.split(|b| *b == b',') {
            if values.len() - before == width {
                let what = format!("more than {width} numbers, as the shape of an example has");
                return Err(in_line(line, offset, FormatErrorKind::Inconsistent, what));
            }
            let value = number(field).ok_or_else(|| {
                in_line(line, offset, FormatErrorKind::Syntax, format!("`{}` is not a number", shown(field)))
            })?;
            values.push(value);
        }
        let have = values.len() - before;
        if have < width {
            let kind = FormatErrorKind::Truncated { need: width as u64, have: have as u64 };
            return Err(in_line(line, offset, kind, format!("{have} numbers, expected {width} (counted in numbers)")));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_types::ErrorKind;
    use proptest::prelude::*;

    #[test]
    fn rows_and_errors() {
        assert_eq!(parse(b"1,2\r\n\n 3.5 , -4e1\n5,inf", 2).unwrap(), [1.0, 2.0, 3.5, -40.0, 5.0, f32::INFINITY]);
        assert!(parse(b"", 3).unwrap().is_empty());
        for (text, part, at) in [
            (&b"1,2\n3\n"[..], "line 2: 1 numbers, expected 2", 4),
            (b"1,2,3", "line 1: more than 2", 0),
            (b"1,2\n\n3,x\n", "line 3: `x`", 5),
            (b"1,\n", "line 1: ``", 0),
            (b"1,\xff", "not a number", 0),
        ] {
            let e = parse(text, 2).unwrap_err();
            assert!(e.to_string().contains(part), "{e}");
            assert!(matches!(e.kind(), ErrorKind::Format { offset: Some(offset), .. } if *offset == at), "{e}");
        }
    }

    proptest! {
        /// Written numbers are read back. Any bytes give complete rows or an error.
        #[test]
        fn any_text(values in prop::collection::vec(-1e6_f32..1e6, 1..40), width in 1_usize..6, noise in prop::collection::vec(any::<u8>(), 0..40)) {
            let whole = &values[..values.len() / width * width];
            let rows: Vec<String> =
                whole.chunks(width).map(|r| r.iter().map(f32::to_string).collect::<Vec<_>>().join(",")).collect();
            prop_assert_eq!(&parse(rows.join("\n").as_bytes(), width).unwrap()[..], whole);
            let _ = parse(&noise, width);
            let digits: Vec<u8> = noise.iter().map(|b| b"0123456789.,,,\n-e"[usize::from(*b) % 17]).collect();
            if let Ok(read) = parse(&digits, width) {
                prop_assert!(read.len().is_multiple_of(width));
            }
        }
    }
}
