//! Examples in text files: rows of numbers (CSV), and rows of indices with numbers (LibSVM).

mod csv;
mod csv_iter;
mod libsvm;
mod libsvm_iter;

pub use csv_iter::CsvIter;
pub use libsvm_iter::{LibSvmIter, LibSvmSettings};

/// Parsers of text, for the targets of `fuzz/`.
#[cfg(fuzzing)]
pub mod fuzzing {
    /// Parses rows of numbers and returns how many numbers there are.
    pub fn csv(bytes: &[u8], width: usize) -> Option<usize> {
        super::csv::parse(bytes, width).ok().map(|values| values.len())
    }

    /// Parses rows of indices with numbers, writes out each, and returns how many rows there are.
    pub fn libsvm(bytes: &[u8], width: usize) -> Option<usize> {
        let rows = super::libsvm::SparseRows::parse(bytes, width).ok()?;
        (0..rows.len()).for_each(|row| rows.write(row, &mut vec![0.0; width]));
        Some(rows.len())
    }
}

use crate::fault;
use mxrs_types::{Error, FormatErrorKind, Result};
use std::path::Path;

/// The bytes of a text file.
fn read_file(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| Error::io(path, &e))
}

/// Lines with their number, from 1, and their offset. Line ends and surrounding blanks are removed; empty lines are
/// left out.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, usize, &[u8])> {
    let mut start = 0;
    let lines = bytes.split_inclusive(|b| *b == b'\n').zip(1..).map(move |(line, number)| {
        let offset = start;
        start += line.len();
        (number, offset, line.trim_ascii())
    });
    lines.filter(|(_, _, line)| !line.is_empty())
}

/// A number in text.
fn number(text: &[u8]) -> Option<f32> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}

/// An error in a line.
fn in_line(number: usize, offset: usize, kind: FormatErrorKind, what: String) -> Error {
    fault::at(offset, kind, format!("line {number}: {what}"))
}

/// Part of a line for an error message.
fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(60)]).escape_debug().to_string()
}
