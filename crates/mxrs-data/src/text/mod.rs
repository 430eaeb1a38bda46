//! Iterators over text files: rows of numbers (CSV), and sparse rows of indices with values (LibSVM).

mod csv;
mod csv_iter;
mod libsvm;
mod libsvm_iter;

pub use csv_iter::CsvIter;
pub use libsvm_iter::{LibSvmIter, LibSvmSettings};

/// Parsers of untrusted text, for the targets in `fuzz/`.
#[cfg(fuzzing)]
pub mod fuzzing {
    /// Parses CSV rows; returns the number of values.
    pub fn csv(bytes: &[u8], width: usize) -> Option<usize> {
        super::csv::parse(bytes, width).ok().map(|values| values.len())
    }

    /// Parses LibSVM rows and expands each; returns the number of rows.
    pub fn libsvm(bytes: &[u8], width: usize) -> Option<usize> {
        let rows = super::libsvm::SparseRows::parse(bytes, width).ok()?;
        (0..rows.len()).for_each(|row| rows.write(row, &mut vec![0.0; width]));
        Some(rows.len())
    }
}

use crate::fault;
use mxrs_types::{Error, FormatErrorKind, Result};
use std::path::Path;

/// Reads the bytes of a text file.
fn read_file(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| Error::io(path, &e))
}

/// Iterates over lines with their number, counted from 1, and their offset. Line ends and surrounding blanks are removed;
/// empty lines are skipped.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, usize, &[u8])> {
    let mut start = 0;
    let lines = bytes.split_inclusive(|b| *b == b'\n').zip(1..).map(move |(line, number)| {
        let offset = start;
        start += line.len();
        (number, offset, line.trim_ascii())
    });
    lines.filter(|(_, _, line)| !line.is_empty())
}

/// Parses a number, ignoring surrounding blanks.
fn number(text: &[u8]) -> Option<f32> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}

/// A format error with the number of its line.
fn in_line(number: usize, offset: usize, kind: FormatErrorKind, what: String) -> Error {
    fault::at(offset, kind, format!("line {number}: {what}"))
}

/// The start of a line, for an error message.
fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(60)]).escape_debug().to_string()
}
