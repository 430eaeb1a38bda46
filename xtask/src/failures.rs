//! Collects the tests that failed, with what they said, from cargo's output, for the end of a long run: CI may keep only
//! the last lines.

use std::fmt;

/// Lines kept of what one test said.
const MAX_LINES: usize = 12;
/// Tests that are reported with what they said. A broken build can fail thousands.
const MAX_REPORTED: usize = 20;

/// The failed tests of a run.
#[derive(Debug, Default)]
pub struct Failures {
    failed: Vec<Failure>,
    /// Index in `failed` of the test whose output is being read.
    reading_of: Option<usize>,
    /// Whether a test program has begun and has not printed its result.
    running: bool,
    last_line: String,
}

#[derive(Debug)]
struct Failure {
    name: String,
    said: Vec<String>,
}

impl Failures {
    /// Reads one line of cargo's standard output.
    pub fn read(&mut self, line: &str) {
        if line.starts_with("running ") && line.ends_with(['s', 't']) {
            self.end();
            self.running = true;
        } else if line.starts_with("test result: ") {
            self.running = false;
            self.reading_of = None;
        } else if let Some(name) = line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED")) {
            self.failed.push(Failure { name: name.to_owned(), said: Vec::new() });
        } else if let Some(name) = line.strip_prefix("---- ").and_then(|line| line.strip_suffix(" stdout ----")) {
            self.reading_of = Some(self.index_of(name));
        } else if line == "failures:" {
            self.reading_of = None;
        } else if let Some(failure) = self.reading_of.and_then(|at| self.failed.get_mut(at))
            && !line.is_empty()
            && failure.said.len() < MAX_LINES
        {
            failure.said.push(line.to_owned());
        }
        if !line.is_empty() {
            self.last_line = line.to_owned();
        }
    }

    /// Ends the output: a test program without a result line has crashed.
    pub fn end(&mut self) {
        self.reading_of = None;
        if std::mem::take(&mut self.running) {
            let said = vec![format!("its last line: {}", self.last_line)];
            self.failed.push(Failure { name: "a test program ended before its result".to_owned(), said });
        }
    }

    /// The last failed test called `name`, which is added if its line was mixed with the output of other tests.
    fn index_of(&mut self, name: &str) -> usize {
        self.failed.iter().rposition(|failure| failure.name == name).unwrap_or_else(|| {
            self.failed.push(Failure { name: name.to_owned(), said: Vec::new() });
            self.failed.len() - 1
        })
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in self.failed.iter().take(MAX_REPORTED) {
            writeln!(f, "failed test: {}", failure.name)?;
            for line in &failure.said {
                writeln!(f, "    {line}")?;
            }
        }
        if self.failed.len() > MAX_REPORTED {
            writeln!(f, "and {} more", self.failed.len() - MAX_REPORTED)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let mut failures = Failures::default();
        text.lines().for_each(|line| failures.read(line));
        failures.end();
        failures.to_string()
    }

    #[test]
    fn failed_tests_are_reported_with_what_they_said() {
        let text = "running 2 tests\ntest a::b ... ok\ntest a::c ... FAILED\n\nfailures:\n\n---- a::c stdout ----\n\n\
                    thread 'a::c' panicked at src/a.rs:3:5:\nleft: 1\n\nfailures:\n    a::c\n\n\
                    test result: FAILED. 1 passed; 1 failed; 0 ignored\n\nrunning 0 tests\n\ntest result: ok. 0 passed\n";
        assert_eq!(read(text), "failed test: a::c\n    thread 'a::c' panicked at src/a.rs:3:5:\n    left: 1\n");
    }

    #[test]
    fn a_program_without_a_result_has_crashed() {
        let text = "running 2 tests\ntest a ... ok\n\nrunning 1 test\ntest b ... ok\n\ntest result: ok. 1 passed\n";
        assert_eq!(
            read(text),
            "failed test: a test program ended before its result\n    its last line: test a ... ok\n"
        );
        assert!(read("running 2 tests\ntest a ... ok\n").contains("ended before its result"));
    }

    #[test]
    fn passing_tests_are_not_reported() {
        assert_eq!(read("running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed\n"), "");
    }
}
