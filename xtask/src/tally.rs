//! Sums the `test result:` lines of cargo's output into one closing line.

use std::fmt;

/// Numbers of tests over all test programs of a run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Tests that passed.
    pub passed: u64,
    /// Tests and other checks that failed.
    pub failed: u64,
    /// Tests marked as ignored, and checks that this machine cannot run.
    pub skipped: u64,
}

impl Tally {
    /// Adds the numbers in `line`, if it is the result line of a test program.
    pub fn read(&mut self, line: &str) {
        let Some(counts) = line.trim_start().strip_prefix("test result: ") else { return };
        for part in counts.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(word)) = (words.next(), words.next()) else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match word {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.skipped += number,
                _ => {}
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_add_up_and_others_do_not() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.52s",
            "test shape::tests::of_4_passed ... ok",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 9 filtered out; finished in 1.00s",
        ] {
            tally.read(line);
        }
        assert_eq!(tally, Tally { passed: 15, failed: 2, skipped: 1 });
        assert_eq!(tally.to_string(), "15 passed, 2 failed, 1 skipped");
    }

    #[test]
    fn nothing_skipped_is_not_mentioned() {
        assert_eq!(Tally { passed: 7, failed: 0, skipped: 0 }.to_string(), "7 passed, 0 failed");
    }
}
