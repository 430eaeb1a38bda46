//! Counts steps: prints `[2/6] lint …` at the start of each step, and its time at the end.

use std::io::IsTerminal;
use std::time::Instant;

use anyhow::Result;

use crate::elapsed;

/// Counts the steps of one command.
pub struct Steps {
    n_steps: usize,
    n_begun: usize,
    started: Instant,
}

impl Steps {
    /// The counter of a command with `n_steps` steps.
    pub fn new(n_steps: usize) -> Self {
        Steps { n_steps, n_begun: 0, started: Instant::now() }
    }

    /// Runs one step and prints a line before and after it.
    ///
    /// # Errors
    /// Returns the error of the step.
    pub fn run<T>(&mut self, title: &str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        self.n_begun += 1;
        let head = format!("[{}/{}] {title}", self.n_begun, self.n_steps);
        say(&head, "1");
        let started = Instant::now();
        let result = step();
        let time = elapsed::show(started.elapsed());
        match &result {
            Ok(_) => say(&format!("{head}: done in {time}"), "32"),
            Err(error) => say(&format!("{head}: FAILED after {time}: {error:#}"), "31"),
        }
        result
    }

    /// Time since this counter was created.
    pub fn elapsed(&self) -> String {
        elapsed::show(self.started.elapsed())
    }
}

/// Prints a line on the error stream, in a color (an SGR code) if it is a terminal.
fn say(line: &str, color: &str) {
    if std::io::stderr().is_terminal() {
        eprintln!("\x1b[{color}m{line}\x1b[0m");
    } else {
        eprintln!("{line}");
    }
}
