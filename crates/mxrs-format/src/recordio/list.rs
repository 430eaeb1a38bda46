//! Image lists (`.lst`): `<index>\t<label>...\t<path>` per line.

use super::index::decimal;
use crate::options::Warnings;
use crate::reader::read_text_file;
use crate::{Loaded, Options, fault, write_atomically};
use mxrs_types::{FormatErrorKind, Result};
use std::fmt::Write as _;
use std::path::Path;

/// An image list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageList {
    /// The lines, without the skipped ones.
    pub entries: Vec<ListEntry>,
    /// Number of skipped lines. Lines with fewer than three fields are skipped. Lenient reading also skips lines with
    /// invalid fields.
    pub n_skipped: u64,
}

/// One line of an image list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListEntry {
    /// Key of the record, an integer.
    pub index: u64,
    /// Labels of the image; at least one.
    pub labels: Vec<f32>,
    /// Path of the image, relative to the data folder; may contain spaces.
    pub path: String,
}

impl ImageList {
    /// Parses an image list. Lines with fewer than three fields are skipped and counted, with a warning each.
    ///
    /// # Errors
    /// Returns `InvalidValue`, with the line, for an index or label that is not a number or a path that is not UTF-8.
    /// Lenient reading skips these lines too.
    pub fn from_bytes(bytes: &[u8], options: &Options) -> Result<Loaded<Self>> {
        let mut warnings = Warnings::default();
        let mut list = Self::default();
        let mut start = 0;
        for (number, line) in bytes.split_inclusive(|&b| b == b'\n').enumerate() {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            match entry(text) {
                Ok(Some(entry)) => list.entries.push(entry),
                Ok(None) => {
                    list.n_skipped += 1;
                    warnings.push(|| format!("line {}: fewer than 3 fields, skipped", number + 1));
                }
                Err(what) if options.lenient => {
                    list.n_skipped += 1;
                    warnings.push(|| format!("line {}: {what}, skipped", number + 1));
                }
                Err(what) => {
                    let context = format!("line {}: {what}", number + 1);
                    return Err(fault::at(start, FormatErrorKind::InvalidValue, context));
                }
            }
            start += line.len() as u64;
        }
        Ok(warnings.with(list))
    }

    /// Reads an image list file.
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_bytes`] with the path, and I/O errors.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Loaded<Self>> {
        let path = path.as_ref();
        let bytes = read_text_file(path, u64::MAX, "image list")?;
        Self::from_bytes(&bytes, options).map_err(|e| e.with_path(path))
    }

    /// The text of the list; labels have six decimals.
    ///
    /// # Errors
    /// Returns `InvalidValue` for an entry without labels or with a tab or line end in its path.
    pub fn to_text(&self) -> Result<String> {
        let mut text = String::new();
        for ListEntry { index, labels, path } in &self.entries {
            if labels.is_empty() || path.is_empty() || path.contains(['\t', '\n', '\r']) {
                let context = format!(
                    "image {index}: {} labels and path `{}`, expected a label and a path without tabs",
                    labels.len(),
                    path.escape_debug()
                );
                return Err(fault::whole(FormatErrorKind::InvalidValue, context));
            }
            // Writing to a string cannot fail.
            let _ = write!(text, "{index}");
            for label in labels {
                let _ = write!(text, "\t{label:.6}");
            }
            let _ = writeln!(text, "\t{path}");
        }
        Ok(text)
    }

    /// Writes the list file, atomically.
    ///
    /// # Errors
    /// Returns the errors of [`Self::to_text`], and I/O errors with the path.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let text = self.to_text()?;
        write_atomically(path, |sink| sink.write_all(text.as_bytes()).map_err(|e| fault::io(&e)))
    }
}

/// Parses one line; `None` if it has too few fields.
fn entry(line: &[u8]) -> Result<Option<ListEntry>, String> {
    let fields: Vec<&[u8]> = line.split(|&b| b == b'\t').collect();
    let [index, labels @ .., path] = &fields[..] else { return Ok(None) };
    if labels.is_empty() {
        return Ok(None);
    }
    let shown = |field: &[u8]| String::from_utf8_lossy(field).chars().take(40).collect::<String>();
    let index = decimal(index).ok_or_else(|| format!("index `{}`, expected a whole number", shown(index)))?;
    let labels = labels
        .iter()
        .map(|field| {
            let number = std::str::from_utf8(field).ok().and_then(|t| t.trim().parse().ok());
            number.ok_or_else(|| format!("label `{}`, expected a number", shown(field)))
        })
        .collect::<Result<_, _>>()?;
    let path = std::str::from_utf8(path).map_err(|_| format!("path `{}` is not UTF-8", shown(path)))?;
    Ok(Some(ListEntry { index, labels, path: path.to_string() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let text = "5\t1.000000\ta b.jpg\n0\t0.5\t-2\tc.jpg\r\nshort\n1\tx.jpg\n";
        let loaded = ImageList::from_bytes(text.as_bytes(), &Options::strict()).unwrap();
        let list = loaded.value;
        assert_eq!((list.n_skipped, loaded.warnings.len()), (2, 2));
        assert_eq!(list.entries[0], ListEntry { index: 5, labels: vec![1.0], path: "a b.jpg".into() });
        assert_eq!(list.to_text().unwrap(), "5\t1.000000\ta b.jpg\n0\t0.500000\t-2.000000\tc.jpg\n");
    }

    #[test]
    fn bad_numbers() {
        for text in ["x\t1\ta.jpg\n", "1\ty\ta.jpg\n", "-1\t1\ta.jpg\n"] {
            assert!(ImageList::from_bytes(text.as_bytes(), &Options::strict()).is_err());
            assert_eq!(ImageList::from_bytes(text.as_bytes(), &Options::lenient()).unwrap().value.n_skipped, 1);
        }
        let unwritable =
            ImageList { entries: vec![ListEntry { path: "a\tb".into(), ..Default::default() }], n_skipped: 0 };
        assert!(unwritable.to_text().is_err());
    }
}
