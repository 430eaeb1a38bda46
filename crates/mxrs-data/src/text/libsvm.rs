//! Parses rows with a label and sparse values: `<label> <index>:<value> ...`.

use super::{in_line, lines, number, shown};
use mxrs_types::{FormatErrorKind, Result};

/// Rows of a sparse matrix.
#[derive(Debug, Default, PartialEq)]
pub(super) struct SparseRows {
    /// Label of each row.
    pub(super) labels: Vec<f32>,
    /// Start of each row in `columns`, and the end of the last row.
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl SparseRows {
    /// Parses rows whose columns are below `width`, counted from 0. Ignores a weight after a label (`1:0.5`), a query
    /// (`qid:3`) and everything after `#`. A column without a value has the value 1.
    ///
    /// # Errors
    /// Returns `Syntax` for text that is not a label, a column or a value, `InvalidValue` for a column that is not below the
    /// width, and `Duplicate` for a column that occurs twice in a row, each with the line.
    pub(super) fn parse(bytes: &[u8], width: usize) -> Result<Self> {
        let mut rows = Self { starts: vec![0], ..Self::default() };
        for (line, offset, text) in lines(bytes) {
            let fail = |kind, what: String| in_line(line, offset, kind, what);
            let text = text.split(|b| *b == b'#').next().unwrap_or_default();
            let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            let Some(label) = words.next() else { continue };
            let plain = label.split(|b| *b == b':').next().unwrap_or_default();
            let label = number(plain)
                .ok_or_else(|| fail(FormatErrorKind::Syntax, format!("`{}` is not a label", shown(label))))?;
            let before = rows.columns.len();
            for word in words.filter(|word| !word.starts_with(b"qid:")) {
                let mut parts = word.splitn(2, |b| *b == b':');
                let column = parts.next().and_then(|text| std::str::from_utf8(text).ok()?.parse::<u32>().ok());
                let value = parts.next().map_or(Some(1.0), number);
                let (Some(column), Some(value)) = (column, value) else {
                    let what = format!("`{}`, expected column and number as 3:0.5", shown(word));
                    return Err(fail(FormatErrorKind::Syntax, what));
                };
                if column as usize >= width {
                    let what = format!("column {column} (from 0) in rows of {width}");
                    return Err(fail(FormatErrorKind::InvalidValue, what));
                }
                rows.columns.push(column);
                rows.values.push(value);
            }
            let mut sorted = rows.columns[before..].to_vec();
            sorted.sort_unstable();
            if let Some(two) = sorted.windows(2).find(|two| two[0] == two[1]) {
                return Err(fail(FormatErrorKind::Duplicate, format!("column {} twice", two[0])));
            }
            rows.labels.push(label);
            rows.starts.push(rows.columns.len());
        }
        Ok(rows)
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Writes the nonzero values of one row. `out` must have the width of a row and contain zeros.
    pub(super) fn write(&self, row: usize, out: &mut [f32]) {
        let range = self.starts[row]..self.starts[row + 1];
        for (column, value) in self.columns[range.clone()].iter().zip(&self.values[range]) {
            out[*column as usize] = *value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(rows: &SparseRows, i: usize, width: usize) -> Vec<f32> {
        let mut out = vec![0.0; width];
        rows.write(i, &mut out);
        out
    }

    #[test]
    fn rows_and_errors() {
        let rows = SparseRows::parse(b"1 0:2 3:-1.5\n# nothing\n-1:0.5 qid:7 2 # 9:9\r\n\n0\n", 4).unwrap();
        assert_eq!((rows.len(), &rows.labels[..]), (3, &[1.0, -1.0, 0.0][..]));
        assert_eq!(row(&rows, 0, 4), [2.0, 0.0, 0.0, -1.5]);
        assert_eq!((row(&rows, 1, 4), row(&rows, 2, 4)), (vec![0.0, 0.0, 1.0, 0.0], vec![0.0; 4]));
        for (text, part) in [
            (&b"1 4:1"[..], "line 1: column 4 (from 0) in rows of 4"),
            (b"1\n1 0:x", "line 2: `0:x`"),
            (b"1 -1:1", "`-1:1`"),
            (b"x 1:1", "`x` is not a label"),
            (b"1 1:1 1:2", "column 1 twice"),
            (b"1 99999999999:1", "99999999999"),
        ] {
            let e = SparseRows::parse(text, 4).unwrap_err().to_string();
            assert!(e.contains(part), "{e}");
        }
    }

    proptest! {
        /// Written rows are read back. Any text gives rows or an error.
        #[test]
        fn any_text(dense in prop::collection::vec(prop::option::of(-9_i16..9), 1..60), width in 1_usize..7, noise in prop::collection::vec(any::<u8>(), 0..50)) {
            let chunks: Vec<_> = dense.chunks_exact(width).collect();
            let mut text = String::new();
            for (i, chunk) in chunks.iter().enumerate() {
                text += &i.to_string();
                for (column, value) in chunk.iter().enumerate() {
                    if let Some(value) = value {
                        text += &format!(" {column}:{value}");
                    }
                }
                text += "\n";
            }
            let rows = SparseRows::parse(text.as_bytes(), width).unwrap();
            prop_assert_eq!(rows.len(), chunks.len());
            for (i, chunk) in chunks.iter().enumerate() {
                let want: Vec<f32> = chunk.iter().map(|v| f32::from(v.unwrap_or(0))).collect();
                prop_assert_eq!(row(&rows, i, width), want);
            }
            let _ = SparseRows::parse(&noise, width);
            let digits: Vec<u8> = noise.iter().map(|b| b"0123456789:: \n-.#q"[usize::from(*b) % 18]).collect();
            let _ = SparseRows::parse(&digits, width);
        }
    }
}
