//! Cuts the rows of a batch into one part per context.

use mxrs_types::{Error, Result};
use std::ops::Range;

/// The rows of a batch of `n` rows that each context gets, in proportion to its work load: MXNet's `_split_input_slice`.
/// Shares are rounded to the nearest number of rows, ties to the even one; the last context gets what is left over.
///
/// # Errors
/// Returns an error if a context would get no row.
pub fn split_rows(n: usize, work_load: &[f64]) -> Result<Vec<Range<usize>>> {
    let total: f64 = work_load.iter().sum();
    let mut shares: Vec<usize> =
        work_load.iter().map(|load| (load * n as f64 / total).round_ties_even() as usize).collect();
    let n_shared: usize = shares.iter().sum();
    if let Some(last) = shares.last_mut() {
        *last += n.saturating_sub(n_shared);
    }
    let mut end = 0usize;
    let rows = shares.iter().enumerate().map(|(context, share)| {
        let begin = end;
        end = begin.saturating_add(*share).min(n);
        if begin >= end {
            let expected = format!("at least one row for each of {} contexts", work_load.len());
            return Err(Error::invalid("rows of a batch", format!("{n}, none for context {context}"), expected));
        }
        Ok(begin..end)
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::split_rows;

    /// Cases computed by `mxnet.executor_manager._split_input_slice` of MXNet 1.9.1.
    #[test]
    fn shares_are_those_of_mxnet() {
        for (n, loads, ends) in [
            (6, &[1.0, 1.0][..], &[3, 6][..]),
            (5, &[1.0, 1.0], &[2, 5]),
            (7, &[1.0, 1.0], &[4, 7]),
            (10, &[1.0, 1.0, 1.0], &[3, 6, 10]),
            (11, &[1.0, 1.0, 1.0], &[4, 8, 11]),
            (8, &[1.0, 3.0], &[2, 8]),
            (9, &[0.5, 0.25, 0.25], &[4, 6, 9]),
            (3, &[1.0, 1.0, 1.0], &[1, 2, 3]),
            (1, &[7.0], &[1]),
        ] {
            let got: Vec<usize> = split_rows(n, loads).unwrap().iter().map(|rows| rows.end).collect();
            assert_eq!(got, ends, "{n} rows, {loads:?}");
        }
    }

    #[test]
    fn empty_parts_are_refused() {
        for (n, loads) in [(1, &[1.0, 1.0][..]), (2, &[1.0, 1.0, 1.0]), (0, &[1.0]), (4, &[1.0, 1000.0])] {
            let error = split_rows(n, loads).unwrap_err().to_string();
            assert!(error.contains(&format!("{n}, none for context")), "{error}");
        }
    }
}
