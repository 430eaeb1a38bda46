//! Runs contestants in alternating rounds, A, B, A, B, …, until the time is spent.

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// After this time no further round starts, provided that `min_rounds` are done.
    pub time: Duration,
    /// Minimum number of rounds.
    pub min_rounds: usize,
}

impl Budget {
    /// Divides `seconds` equally among `n_cases`. Each case gets at least three rounds, or one if `seconds` is below 1,
    /// which is meant for trial runs.
    pub fn share(seconds: f64, n_cases: usize) -> Self {
        let min_rounds = if seconds < 1.0 { 1 } else { 3 };
        let time = Duration::try_from_secs_f64(seconds.max(0.0) / n_cases.max(1) as f64);
        Self { time: time.unwrap_or(Duration::MAX), min_rounds }
    }
}

/// One of the compared programs: its name, and a function that runs one round and returns the measured value.
pub struct Contestant<'a> {
    name: String,
    round: Box<dyn FnMut() -> Result<f64> + 'a>,
}

impl<'a> Contestant<'a> {
    /// A contestant with this name and round.
    pub fn new(name: impl Into<String>, round: impl FnMut() -> Result<f64> + 'a) -> Self {
        Self { name: name.into(), round: Box::new(round) }
    }
}

/// Runs one uncounted round of each contestant, then counted rounds in alternation. Returns the measured values of each
/// contestant, in the order of `contestants`; all have the same number of rounds.
///
/// # Errors
/// Fails if a round fails; the error names the contestant.
pub fn interleave(contestants: &mut [Contestant<'_>], budget: Budget, progress: &Progress) -> Result<Vec<Vec<f64>>> {
    let mut measured = vec![Vec::new(); contestants.len()];
    let run = |contestant: &mut Contestant<'_>| {
        progress.tick();
        (contestant.round)().with_context(|| contestant.name.clone())
    };
    for contestant in contestants.iter_mut() {
        run(contestant)?;
    }
    let started = Instant::now();
    let mut n_rounds = 0;
    while n_rounds < budget.min_rounds || started.elapsed() < budget.time {
        for (contestant, measured) in contestants.iter_mut().zip(&mut measured) {
            measured.push(run(contestant)?);
        }
        n_rounds += 1;
    }
    Ok(measured)
}

/// Shows on stderr what is being measured: a bar on a terminal, otherwise a line per case.
pub struct Progress {
    bar: ProgressBar,
    is_terminal: bool,
}

impl Progress {
    /// Progress of a program that measures `n_cases` cases.
    pub fn new(n_cases: usize) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let target = if is_terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(n_cases as u64), target);
        let style = ProgressStyle::with_template("{spinner} {bar:20} {pos}/{len} {msg} {elapsed}");
        // The template is a constant and valid; the plain style is only a fallback.
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, is_terminal }
    }

    /// Progress that shows nothing.
    pub fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), is_terminal: true }
    }

    /// Announces the next case.
    pub fn case(&self, name: &str) {
        if !self.is_terminal {
            eprintln!("{}/{} {name}", self.bar.position() + 1, self.bar.length().unwrap_or(0));
        }
        self.bar.set_message(name.to_owned());
    }

    /// Counts one case as done.
    pub fn case_done(&self) {
        self.bar.inc(1);
    }

    /// Prints a line of its own, such as why a result is missing.
    pub fn note(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{text}"));
    }

    /// Moves the spinner, to show that the program is alive.
    pub fn tick(&self) {
        self.bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn contestants_take_turns_and_the_first_round_does_not_count() {
        let log = RefCell::new(String::new());
        let contestant = |name: &'static str| {
            let log = &log;
            Contestant::new(name, move || {
                log.borrow_mut().push_str(name);
                Ok(log.borrow().len() as f64)
            })
        };
        let budget = Budget { time: Duration::ZERO, min_rounds: 3 };
        let measured = interleave(&mut [contestant("a"), contestant("b")], budget, &Progress::hidden()).unwrap();
        assert_eq!(measured, [vec![3.0, 5.0, 7.0], vec![4.0, 6.0, 8.0]]);
        assert_eq!(*log.borrow(), "abababab");
    }

    #[test]
    fn a_failure_names_the_contestant() {
        let mut bad = [Contestant::new("peer", || anyhow::bail!("gone"))];
        let error = interleave(&mut bad, Budget::share(0.0, 1), &Progress::hidden()).unwrap_err();
        assert_eq!(format!("{error:#}"), "peer: gone");
    }
}
