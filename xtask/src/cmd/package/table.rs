//! The results of `package` as a table.

use std::time::Duration;

use crate::elapsed;

/// Results of one program.
pub struct Row {
    /// Name of the program: its crate and features.
    pub program: String,
    /// Bytes of the packed crate.
    packed: u64,
    /// Number of crates that the program depends on.
    pub n_crates: usize,
    /// Time of the build.
    pub time: Duration,
    /// Why the program failed; `None` if it did not.
    pub failure: Option<String>,
}

impl Row {
    /// A program that has not been built.
    pub fn new(program: String, packed: u64) -> Self {
        Row { program, packed, n_crates: 0, time: Duration::ZERO, failure: None }
    }

    /// One line about the program, printed while the command runs.
    pub fn summary(&self) -> String {
        match &self.failure {
            None => format!("package: {}: built in {}", self.program, elapsed::show(self.time)),
            Some(failure) => format!("package: {}: FAILED: {failure}", self.program),
        }
    }

    fn cells(&self) -> [String; 5] {
        [
            self.program.clone(),
            format!("{} kB", self.packed.div_ceil(1000)),
            self.n_crates.to_string(),
            elapsed::show(self.time),
            if self.failure.is_none() { "ok" } else { "FAILED" }.to_owned(),
        ]
    }
}

/// Makes the table. A program's build time does not include crates that were already built for an earlier program. The
/// program with the facade (the crate `mxrs`) without features is an exception: all its crates are built again.
pub fn show(rows: &[Row]) -> String {
    let head = ["crate", "packed", "crates", "build", "result"].map(str::to_owned);
    let lines: Vec<[String; 5]> = std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
    let mut widths = [0; 5];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.len().max(*width);
        }
    }
    let show = |line: &[String; 5]| {
        let [first, second, third, fourth, _] = widths;
        let [program, packed, n_crates, time, result] = line;
        format!("{program:<first$}  {packed:>second$}  {n_crates:>third$}  {time:>fourth$}  {result}\n")
    };
    lines.iter().map(show).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut failed = Row::new("b".to_owned(), 1);
        failed.failure = Some("why".to_owned());
        failed.n_crates = 12;
        let text = show(&[Row::new("a long name".to_owned(), 1_234_567), failed]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "a long name  1235 kB       0  0.0 s  ok");
        assert_eq!(lines[2], "b               1 kB      12  0.0 s  FAILED");
    }
}
