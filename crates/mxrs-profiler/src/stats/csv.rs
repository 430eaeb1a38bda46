//! The statistics as comma-separated values.

use super::order::sorted;
use super::{SortBy, Stats, Unit};
use std::fmt::Write as _;

/// One line per entry, after a line with the names of the columns. Times are milliseconds, memory is kB.
pub(super) fn print(stats: &Stats, sort_by: SortBy, ascending: bool) -> String {
    let mut text = "Category,Name,Count,Total,Min,Max,Avg,P50,P90,P99,Unit\n".to_owned();
    for (category, entries) in sorted(stats, sort_by, ascending) {
        for (name, entry) in entries {
            let factor = entry.unit.factor();
            // For memory, `total` is the last value and not a sum. MXNet does not print it.
            let total =
                if entry.unit == Unit::Memory { String::new() } else { (entry.total as f64 * factor).to_string() };
            let [min, max] = [entry.min, entry.max].map(|value| value as f64 * factor);
            let [p50, p90, p99] = [50, 90, 99].map(|percent| entry.percentile(percent) as f64 * factor);
            let (category, name, mean) = (quoted(category), quoted(name), entry.mean() * factor);
            let (count, unit) = (entry.count, entry.unit.word());
            let _ = writeln!(text, "{category},{name},{count},{total},{min},{max},{mean},{p50},{p90},{p99},{unit}");
        }
    }
    text
}

/// A text as one cell: in quotes if it contains a separator.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { in_quotes(text) } else { text.to_owned() }
}

/// A text in quotes, with its own quotes doubled.
pub(crate) fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
