//! Runs one call in all libraries, in alternating rounds.

use super::Peer;
use super::list::{Pass, Row};
use super::sample::Sample;
use crate::score::Failure;
use crate::score::contest::{number, run_order};
use crate::score::process::Process;
use crate::summary::Summary;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// How to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of measured rounds.
    pub rounds: usize,
    /// Seconds that each library calls the operator per round; it calls it at least once.
    pub round_s: f64,
    /// If a call of any library takes more seconds, only one round is measured.
    pub slow_s: f64,
    /// Threads of each library.
    pub threads: usize,
    /// A library that does not answer for this long is killed.
    pub limit: Duration,
}

/// Results of one library for one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Name and version of the library.
    pub name: String,
    /// Seconds per call in each round.
    pub times: Vec<f64>,
    /// Seconds of the last call that was timed.
    pub call_s: f64,
    /// The first output, if the library reports it.
    pub output: Option<Sample>,
    /// The gradients of all inputs together.
    pub gradients: Option<Sample>,
}

impl Measured {
    /// Seconds per call of the fastest round.
    pub fn fastest(&self) -> Option<f64> {
        Some(Summary::of(&self.times)?.min)
    }
}

/// A call and the results of all libraries, in the order of the libraries.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The call.
    pub row: Row,
    /// How the operator was called.
    pub pass: Pass,
    /// Results.
    pub outcomes: Vec<(Peer, Result<Measured, Failure>)>,
}

impl Contest {
    /// Name of the call and of the pass.
    pub fn name(&self) -> String {
        format!("{} ({})", self.row.name, self.pass.word())
    }

    /// The results of a library, if it was measured.
    pub fn measured(&self, peer: Peer) -> Option<&Measured> {
        self.outcomes.iter().find(|(other, _)| *other == peer)?.1.as_ref().ok()
    }

    /// Seconds per call of a library's fastest round.
    pub fn fastest(&self, peer: Peer) -> Option<f64> {
        self.measured(peer)?.fastest()
    }

    /// The library other than mxrs with the fastest round, and its time divided by ours.
    pub fn best(&self) -> Option<(Peer, f64)> {
        let others = Peer::ALL.into_iter().filter(|peer| *peer != Peer::Mxrs);
        let times = others.filter_map(|peer| Some((peer, self.fastest(peer)?)));
        let (best, time) = times.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((best, time / self.fastest(Peer::Mxrs)?))
    }

    /// The time of the library that [`Self::best`] names divided by ours, round by round.
    pub fn median_ratio(&self) -> Option<Summary> {
        let (best, _) = self.best()?;
        Summary::of_ratios(&self.measured(best)?.times, &self.measured(Peer::Mxrs)?.times)
    }
}

/// Starts the process of a library.
pub type Start<'a> = Box<dyn Fn() -> Result<Process, Failure> + 'a>;

/// A library with its running process, or the reason why it has none. If the process ends during a call, another one is
/// started for the next call.
pub struct Seat<'a> {
    peer: Peer,
    start: Start<'a>,
    process: Result<Process, Failure>,
    /// Whether the process has answered an order. A process that ends before is not started again.
    has_answered: bool,
}

impl<'a> Seat<'a> {
    /// Starts the library.
    pub fn new(peer: Peer, start: Start<'a>) -> Self {
        let process = start();
        Self { peer, start, process, has_answered: false }
    }

    fn ask(&mut self, order: &Value, limit: Duration) -> Result<Value, Failure> {
        let process = self.process.as_mut().map_err(|failure| failure.clone())?;
        let answer = process.ask(order, limit);
        match &answer {
            Ok(_) => self.has_answered = true,
            Err(failure) if has_ended(failure) => {
                self.process = if self.has_answered { (self.start)() } else { Err(failure.clone()) };
                self.has_answered = false;
            }
            // A process that reports an error goes on.
            Err(_) => self.has_answered = true,
        }
        answer
    }

    fn load(&mut self, row: &Row, order: &Value, limit: Duration) -> Result<Measured, Failure> {
        if self.peer == Peer::Torch && row.torch.is_none() {
            return Err(Failure::new("", "it has no such operator"));
        }
        let answer = self.ask(order, limit)?;
        Ok(Measured {
            name: answer["name"].as_str().unwrap_or("?").to_owned(),
            times: Vec::new(),
            call_s: number(&answer, "first_s")?,
            output: Sample::from_json(&answer["output"]),
            gradients: Sample::from_json(&answer["gradients"]),
        })
    }

    /// Seconds per call in one round, of which the first call is not timed: it warms up threads and caches after the pause
    /// since the last round. It is left out if a call is so long that the pause does not matter.
    fn round(&mut self, call_s: f64, plan: Plan) -> Result<f64, Failure> {
        let answer = self.ask(&run_order(plan.round_s, call_s < plan.round_s), plan.limit)?;
        Ok(number(&answer, "seconds")? / number(&answer, "n")?)
    }
}

fn has_ended(failure: &Failure) -> bool {
    matches!(&*failure.word, "died" | "no answer")
}

/// Measures a call in all libraries. `seats` are in the order of [`Peer::ALL`]; `files` contain the inputs.
pub fn contest(row: &Row, pass: Pass, files: &[PathBuf], seats: &mut [Seat<'_>], plan: Plan) -> Contest {
    let order = row.to_order(pass, files, plan.threads);
    let mut outcomes: Vec<_> = seats.iter_mut().map(|seat| (seat.peer, seat.load(row, &order, plan.limit))).collect();
    if row.is_checked {
        check(&mut outcomes);
    }
    let (mut round, mut rounds) = (0, plan.rounds);
    while round <= rounds {
        // In each round another library is the first to run. Round 0 is a warm-up and does not count.
        let n = seats.len();
        for at in (0..n).map(|i| (i + round) % n) {
            let Ok(measured) = &mut outcomes[at].1 else { continue };
            match seats[at].round(measured.call_s, plan) {
                Ok(time) => {
                    measured.call_s = time;
                    if round > 0 {
                        measured.times.push(time);
                    }
                }
                Err(failure) => outcomes[at].1 = Err(failure),
            }
        }
        let is_slow = |outcome: &Result<Measured, Failure>| outcome.as_ref().is_ok_and(|it| it.call_s > plan.slow_s);
        if outcomes.iter().any(|(_, outcome)| is_slow(outcome)) {
            rounds = rounds.min(1);
        }
        round += 1;
    }
    Contest { row: row.clone(), pass, outcomes }
}

/// Compares the results of the other libraries with ours. A library whose results differ leaves the contest.
fn check(outcomes: &mut [(Peer, Result<Measured, Failure>)]) {
    let ours = outcomes.iter().find(|(peer, _)| *peer == Peer::Mxrs);
    let Some(ours) = ours.and_then(|(_, outcome)| outcome.as_ref().ok()).cloned() else { return };
    for (_, outcome) in outcomes.iter_mut().filter(|(peer, _)| *peer != Peer::Mxrs) {
        let Ok(theirs) = outcome else { continue };
        let pairs = [("output", ours.output, theirs.output), ("gradients", ours.gradients, theirs.gradients)];
        let differs = pairs.into_iter().find_map(|(what, ours, theirs)| {
            let (ours, theirs) = ours.zip(theirs)?;
            (!ours.agrees_with(&theirs)).then(|| format!("{what}: {theirs}; those of mxrs: {ours}"))
        });
        if let Some(why) = differs {
            *outcome = Err(Failure::new("differs", why));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::list::all;
    use std::cell::Cell;
    use std::process::Command;

    fn process(script: &str) -> Result<Process, Failure> {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("while read -r line; do {script}; done")]);
        Process::start(command, None)
    }

    fn seat(peer: Peer, script: &'static str) -> Seat<'static> {
        Seat::new(peer, Box::new(move || process(script)))
    }

    fn answering(output: &str, seconds: &str) -> String {
        let load = format!(r#"{{"name": "a 1", "first_s": 0.001, "output": {output}}}"#);
        format!(r#"case $line in *load*) echo '{load}';; *) echo '{{"n": 4, "seconds": {seconds}}}';; esac"#)
    }

    const SOON: Plan = Plan { rounds: 3, round_s: 0.0, slow_s: 0.5, threads: 1, limit: Duration::from_secs(20) };

    fn row(name: &str) -> Row {
        all().unwrap().into_iter().find(|row| row.name == name).unwrap()
    }

    #[test]
    fn libraries_take_turns_and_one_with_other_results_leaves() {
        let [ours, mxnet, torch] = [("[4, 0.5, 0.5]", "0.4"), ("[4, 0.5, 0.5]", "0.2"), ("[4, 0.5, 0.6]", "0.1")]
            .map(|(output, seconds)| answering(output, seconds));
        let seats = |torch: &str| {
            let seat = |peer, script: &str| {
                let script = script.to_owned();
                Seat::new(peer, Box::new(move || process(&script)))
            };
            [seat(Peer::Mxrs, &ours), seat(Peer::Mxnet, &mxnet), seat(Peer::Torch, torch)]
        };
        let found = contest(&row("exp"), Pass::Forward, &[], &mut seats(&torch), SOON);
        assert_eq!(found.measured(Peer::Mxrs).unwrap().times, [0.1; 3]);
        assert_eq!(found.best(), Some((Peer::Mxnet, 0.5)));
        assert_eq!(found.median_ratio().unwrap().median, 0.5);
        let failure = found.outcomes[2].1.as_ref().unwrap_err();
        assert!(failure.word == "differs" && failure.why.starts_with("output: 4 numbers"), "{failure}");
        // Results are not compared if the call says so, and PyTorch does not run a call that it has no text for.
        let unchecked = Row { is_checked: false, ..row("exp") };
        let found = contest(&unchecked, Pass::Forward, &[], &mut seats(&torch), SOON);
        assert_eq!(found.best(), Some((Peer::Torch, 0.25)));
        let without = Row { torch: None, ..unchecked };
        let found = contest(&without, Pass::Forward, &[], &mut seats(&torch), SOON);
        assert_eq!((found.best(), &*found.outcomes[2].1.as_ref().unwrap_err().word), (Some((Peer::Mxnet, 0.5)), ""));
    }

    #[test]
    fn slow_calls_have_one_round() {
        let script = r#"case $line in *load*) echo '{"first_s": 9}';; *) echo '{"n": 1, "seconds": 9}';; esac"#;
        let mut seats = [seat(Peer::Mxrs, script)];
        let found = contest(&row("exp"), Pass::Forward, &[], &mut seats, SOON);
        assert_eq!(found.measured(Peer::Mxrs).unwrap().times, [9.0]);
        assert_eq!(found.name(), "exp (forward)");
    }

    #[test]
    fn a_process_that_ends_is_started_again_unless_it_never_answered() {
        let starts = Cell::new(0);
        let tried = |script: &str, n_calls: usize| {
            starts.set(0);
            let start = || {
                starts.set(starts.get() + 1);
                process(script)
            };
            let mut seats = [Seat::new(Peer::Mxnet, Box::new(start))];
            let words = (0..n_calls).map(|_| {
                let found = contest(&row("exp"), Pass::Forward, &[], &mut seats, SOON);
                found.outcomes[0].1.as_ref().unwrap_err().word.to_string()
            });
            let words: Vec<String> = words.collect();
            drop(seats);
            (words, starts.get())
        };
        let (words, n_starts) = tried("exit 3", 3);
        assert_eq!((words, n_starts), (vec!["died".to_owned(); 3], 1));
        let (words, n_starts) = tried(r#"case $line in *load*) echo '{"first_s": 0}';; *) exit 3;; esac"#, 3);
        assert_eq!((words, n_starts), (vec!["died".to_owned(); 3], 4));
    }
}
