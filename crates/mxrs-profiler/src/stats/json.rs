//! The statistics as JSON, with the keys of MXNet.

use super::order::sorted;
use super::{Entry, SortBy, Stats, Unit};
use crate::names::json_string;
use std::fmt::Write as _;

/// `{"Time": {category: {name: {"Count", "Total", "Min", "Max", "Avg", …}}}, "Memory": {… without "Total" …}, "Unit": …}`.
/// MXNet does not have the keys `P50`, `P90` and `P99`. It does not have `Counter` either: it prints counters of the user
/// among the times.
pub(super) fn print(stats: &Stats, sort_by: SortBy, ascending: bool) -> String {
    let mut text = "{\n".to_owned();
    let categories = sorted(stats, sort_by, ascending);
    for (key, unit) in [("Time", Unit::Time), ("Counter", Unit::Number), ("Memory", Unit::Memory)] {
        let _ = writeln!(text, "    \"{key}\": {{");
        let mut lead = "";
        for (category, entries) in &categories {
            let of_unit: Vec<_> = entries.iter().filter(|(_, entry)| entry.unit == unit).collect();
            // A category without entries is listed among the times, as in MXNet.
            if of_unit.is_empty() && !(entries.is_empty() && unit == Unit::Time) {
                continue;
            }
            let _ = writeln!(text, "{lead}        {}: {{", json_string(category));
            let lines: Vec<String> = of_unit.iter().map(|(name, entry)| line(name, entry)).collect();
            text.push_str(&lines.join(",\n"));
            let end = if lines.is_empty() { "        }" } else { "\n        }" };
            text.push_str(end);
            lead = ",\n";
        }
        text.push_str(if lead.is_empty() { "    },\n" } else { "\n    },\n" });
    }
    text.push_str("    \"Unit\": {\n        \"Time\": \"ms\",\n        \"Memory\": \"kB\"\n    }\n}\n");
    text
}

fn line(name: &str, entry: &Entry) -> String {
    let factor = entry.unit.factor();
    let [total, min, max] = [entry.total, entry.min, entry.max].map(|value| value as f64 * factor);
    let [p50, p90, p99] = [50, 90, 99].map(|percent| entry.percentile(percent) as f64 * factor);
    let total = if entry.unit == Unit::Memory { String::new() } else { format!("\"Total\": {total}, ") };
    format!(
        "            {}: {{ \"Count\": {}, {total}\"Min\": {min}, \"Max\": {max}, \"Avg\": {}, \"P50\": {p50}, \"P90\": {p90}, \
         \"P99\": {p99} }}",
        json_string(name),
        entry.count,
        entry.mean() * factor
    )
}
