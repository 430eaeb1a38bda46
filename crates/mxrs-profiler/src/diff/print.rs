//! A comparison as text.

use super::{Comparison, Row, Verdict};
use std::fmt;

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Same => "same",
            Self::OnlyInA => "only in a",
            Self::OnlyInB => "only in b",
        })
    }
}

const HEAD: [&str; 9] =
    ["Operator", "Calls a", "Calls b", "Time a (ms)", "Time b (ms)", "Share b", "Ratio", "95 % interval", "Verdict"];

/// A table of the operators and of the nodes that changed, and sentences about what it means.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = vec![HEAD.map(str::to_owned)];
        lines.extend(self.operators.iter().map(|row| cells(row, row.operator.clone())));
        let changed = || self.nodes.iter().filter(|row| row.verdict != Verdict::Same);
        lines.extend(changed().map(|row| cells(row, format!("  {} ({})", row.node, row.operator))));
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; HEAD.len()] = std::array::from_fn(width);
        for line in &lines {
            let mut text = format!("{:<width$}", line[0], width = widths[0]);
            for (cell, width) in line.iter().zip(widths).skip(1) {
                text.push_str(&format!("  {cell:>width$}"));
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        let [in_a, in_b] = self.iterations;
        if self.pairs > 1 {
            writeln!(f, "\nPairs of runs: {}.", self.pairs)?;
        }
        writeln!(f, "\nIterations: {in_a} in a, {in_b} in b. Times are those of a typical iteration.")?;
        let [low, high] = self.machine_interval;
        writeln!(
            f,
            "All operators together: x {:.3} (95 % interval {low:.3} to {high:.3}). Ratios are relative to it.",
            self.machine
        )?;
        for note in &self.notes {
            writeln!(f, "Note: {note}.")?;
        }
        if self.operators.iter().all(|row| row.verdict == Verdict::Same) && changed().next().is_none() {
            writeln!(f, "No operator changed by more than the noise.")?;
        }
        Ok(())
    }
}

fn cells(row: &Row, name: String) -> [String; HEAD.len()] {
    let ms = |us: f64, calls: usize| if calls == 0 { "-".to_owned() } else { format!("{:.3}", us / 1000.0) };
    [
        name,
        row.a.calls.to_string(),
        row.b.calls.to_string(),
        ms(row.a.typical_us, row.a.calls),
        ms(row.b.typical_us, row.b.calls),
        format!("{:.1} %", row.b.share * 100.0),
        row.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}")),
        row.interval.map_or("-".to_owned(), |[low, high]| format!("{low:.3} to {high:.3}")),
        row.verdict.to_string(),
    ]
}
