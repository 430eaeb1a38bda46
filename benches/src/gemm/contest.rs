//! Runs one product in all libraries, in alternating rounds.

use super::Peer;
use super::shapes::Shape;
use crate::score::Failure;
use crate::score::contest::{number, run_order};
use crate::score::process::Process;
use crate::summary::Summary;
use std::time::Duration;

/// How to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of measured rounds.
    pub rounds: usize,
    /// Seconds that each library runs per round; it computes at least one product.
    pub round_s: f64,
    /// A library that does not answer for this long is killed.
    pub limit: Duration,
}

/// Results of one library for one product.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Name and version of the library.
    pub name: String,
    /// What was called.
    pub call: String,
    /// Floating-point operations per second in each round.
    pub speeds: Vec<f64>,
}

/// A product and the results of all libraries, in the order of the libraries.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The product.
    pub shape: Shape,
    /// Results.
    pub outcomes: Vec<(Peer, Result<Measured, Failure>)>,
}

impl Contest {
    /// The results of a library, if it was measured.
    pub fn measured(&self, peer: Peer) -> Option<&Measured> {
        self.outcomes.iter().find(|(other, _)| *other == peer)?.1.as_ref().ok()
    }

    /// Speed of the fastest round of a library.
    pub fn fastest(&self, peer: Peer) -> Option<f64> {
        Some(Summary::of(&self.measured(peer)?.speeds)?.max)
    }

    /// Our speed divided by that of another library, round by round.
    pub fn ratio(&self, peer: Peer) -> Option<Summary> {
        Summary::of_ratios(&self.measured(Peer::Mxrs)?.speeds, &self.measured(peer)?.speeds)
    }

    /// The library other than mxrs with the fastest round, and our fastest round divided by it.
    pub fn best(&self) -> Option<(Peer, f64)> {
        let others = Peer::ALL.into_iter().filter(|peer| *peer != Peer::Mxrs);
        let speeds = others.filter_map(|peer| Some((peer, self.fastest(peer)?)));
        let (best, speed) = speeds.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((best, self.fastest(Peer::Mxrs)? / speed))
    }
}

/// A library with its running process, or the reason why it has none.
pub struct Seat {
    /// The library.
    pub peer: Peer,
    /// Its process.
    pub process: Result<Process, Failure>,
}

impl Seat {
    fn load(&mut self, shape: &Shape, plan: Plan) -> Result<Measured, Failure> {
        let process = self.process.as_mut().map_err(|failure| failure.clone())?;
        let answer = process.ask(&shape.to_order(), plan.limit)?;
        let text = |key: &str| answer[key].as_str().unwrap_or("?").to_owned();
        Ok(Measured { name: text("name"), call: text("call"), speeds: Vec::new() })
    }

    fn round(&mut self, shape: &Shape, plan: Plan) -> Result<f64, Failure> {
        let process = self.process.as_mut().map_err(|failure| failure.clone())?;
        // The first product of a round is not timed: it warms up threads and caches after the pause since the last round.
        let answer = process.ask(&run_order(plan.round_s, true), plan.limit)?;
        Ok(shape.operations() * number(&answer, "n")? / number(&answer, "seconds")?)
    }
}

/// Measures a product in all libraries. `seats` are in the order of [`Peer::ALL`].
pub fn contest(shape: &Shape, seats: &mut [Seat], plan: Plan) -> Contest {
    let mut outcomes: Vec<_> = seats.iter_mut().map(|seat| (seat.peer, seat.load(shape, plan))).collect();
    for round in 0..=plan.rounds {
        // In each round another library is the first to run. Round 0 is a warm-up and does not count.
        let n = seats.len();
        for at in (0..n).map(|i| (i + round) % n) {
            let Ok(measured) = &mut outcomes[at].1 else { continue };
            match seats[at].round(shape, plan) {
                Ok(speed) if round > 0 => measured.speeds.push(speed),
                Ok(_) => {}
                Err(failure) => outcomes[at].1 = Err(failure),
            }
        }
    }
    Contest { shape: shape.clone(), outcomes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::shapes::all;
    use std::process::Command;

    fn seat(peer: Peer, script: &str) -> Seat {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("while read -r line; do {script}; done")]);
        Seat { peer, process: Process::start(command, None) }
    }

    #[test]
    fn libraries_take_turns_and_one_that_fails_leaves_the_others() {
        let answer = "case $line in *load*) echo '{\"name\": \"a 1\", \"call\": \"b\"}';; \
                      *) echo '{\"n\": 4, \"seconds\": 2}';; esac";
        let wrong = "echo '{\"error\": \"wrong: value 0\"}'";
        let missing = Seat { peer: Peer::Onednn, process: Err(Failure::new("not run", "no file")) };
        let mut seats = [seat(Peer::Mxrs, answer), seat(Peer::Openblas, wrong), missing];
        let shape = &all().unwrap()[0];
        let plan = Plan { rounds: 3, round_s: 0.0, limit: Duration::from_secs(20) };
        let contest = contest(shape, &mut seats, plan);
        // 64 * 64 * 64 multiplications and additions, twice per second.
        assert_eq!(contest.measured(Peer::Mxrs).unwrap().speeds, [2.0 * 524_288.0; 3]);
        assert_eq!(contest.outcomes[1].1.as_ref().unwrap_err().why, "wrong: value 0");
        assert_eq!(contest.outcomes[2].1.as_ref().unwrap_err().why, "no file");
        assert_eq!(contest.best(), None);
    }
}
