//! The table of statistics, laid out as MXNet prints it.

use super::order::sorted;
use super::{SortBy, Stats, Unit};
use crate::names;
use std::fmt::Write as _;

pub(super) fn print(stats: &Stats, sort_by: SortBy, ascending: bool) -> String {
    let mut text = "\nProfile Statistics:\n\tNote the difference in units for different entries.\n".to_owned();
    for (category, entries) in sorted(stats, sort_by, ascending) {
        let of_memory = [names::DEVICE_STORAGE, names::POOL_MEMORY].contains(&category);
        let _ = writeln!(text, "{category}\n=================");
        if of_memory {
            row(&mut text, "Name", &["Total Count", "Min Use  (kB)", "Max Use  (kB)", "Avg Use  (kB)"]);
            row(&mut text, "----", &["-----------", "-------------", "-------------", "-------------"]);
        } else {
            let columns = ["Total Count", "Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)"];
            row(&mut text, "Name", &columns);
            row(&mut text, "----", &["-----------", "---------", "-------------", "-------------", "-------------"]);
        }
        for (name, entry) in entries {
            let number = |value: f64| format!("{:.4}", value * entry.unit.factor());
            let [total, min, max] = [entry.total, entry.min, entry.max].map(|value| number(value as f64));
            let (count, mean) = (entry.count.to_string(), number(entry.mean()));
            match entry.unit {
                Unit::Memory => row(&mut text, name, &[&count, &min, &max, &mean]),
                Unit::Time | Unit::Number => row(&mut text, name, &[&count, &total, &min, &max, &mean]),
            }
        }
        text.push('\n');
    }
    text
}

/// Writes a line. The name takes 25 columns. Each cell takes 16 columns, and cells after the first are preceded by a space.
fn row(text: &mut String, name: &str, cells: &[&str]) {
    let _ = write!(text, "{name:<25}");
    for (at, cell) in cells.iter().enumerate() {
        let _ = if at == 0 { write!(text, "{cell:>16}") } else { write!(text, " {cell:>16}") };
    }
    text.push('\n');
}
