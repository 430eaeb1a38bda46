//! Runs one case: every peer loads the network, then the peers take turns in rounds, then their outputs are compared with
//! ours.

use super::agreement::Agreement;
use super::check::{self, Expected};
use super::files::Files;
use super::load::Moment;
use super::peers::{Peer, Tools};
use super::process::Process;
use super::{Case, Dtype, Failure, agreement, converted, eight_bits};
use crate::memory::Mode;
use crate::memory::resident;
use crate::rounds::Progress;
use crate::summary::Summary;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// Bytes of memory that must be available before one more process is started.
const SPARE_BYTES: u64 = 1 << 30;

/// How to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of measured rounds.
    pub rounds: usize,
    /// Seconds that each peer runs per round; it runs at least one batch.
    pub round_s: f64,
    /// Number of images for which outputs are compared.
    pub n_checked: usize,
    /// A peer that does not answer for this long is killed.
    pub limit: Duration,
}

/// Results of one peer in one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Name and version, as the peer reports them.
    pub name: String,
    /// Images per second of each round.
    pub speeds: Vec<f64>,
    /// Seconds to load the network.
    pub load_s: f64,
    /// Seconds of the first batch after loading.
    pub first_s: f64,
    /// Peak of the process's resident bytes after the rounds.
    pub peak_bytes: Option<u64>,
    /// Comparison of the peer's outputs with ours, which are in float32 if the peer's are in 8 bits; `None` if they were not
    /// compared.
    pub agreement: Option<Result<Agreement, Failure>>,
}

impl Measured {
    /// Summary of the speeds of all rounds.
    pub fn speed(&self) -> Option<Summary> {
        Summary::of(&self.speeds)
    }
}

/// A case and the results of all requested peers.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The case that was run.
    pub case: Case,
    /// Results in the order of the requested peers.
    pub outcomes: Vec<(Peer, Result<Measured, Failure>)>,
    /// CPUs that programs other than the peers kept busy during the rounds, on average.
    pub others: Option<f64>,
}

impl Contest {
    /// A contest in which no program could take part.
    pub fn of_failure(case: &Case, peers: &[Peer], failure: &Failure) -> Self {
        let outcomes = peers.iter().map(|peer| (*peer, Err(failure.clone()))).collect();
        Self { case: case.clone(), outcomes, others: None }
    }

    /// The results of a peer, if it was measured.
    pub fn measured(&self, peer: Peer) -> Option<&Measured> {
        self.outcomes.iter().find(|(other, _)| *other == peer)?.1.as_ref().ok()
    }

    /// The peer other than mxrs with the highest median speed.
    pub fn best_peer(&self) -> Option<Peer> {
        let speed = |peer: Peer| Some((peer, self.measured(peer)?.speed()?.median));
        let peers = self.outcomes.iter().map(|(peer, _)| *peer).filter(|peer| *peer != Peer::Mxrs);
        let (best, _) = peers.filter_map(speed).max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(best)
    }

    /// Our speed divided by that of a peer, round by round.
    pub fn ratio(&self, peer: Peer) -> Option<Summary> {
        Summary::of_ratios(&self.measured(Peer::Mxrs)?.speeds, &self.measured(peer)?.speeds)
    }

    /// Images per second of a peer's fastest round.
    pub fn fastest(&self, peer: Peer) -> Option<f64> {
        Some(self.measured(peer)?.speed()?.max)
    }

    /// Our fastest round divided by the fastest round of all other peers.
    pub fn fastest_ratio(&self) -> Option<f64> {
        let peers = self.outcomes.iter().map(|(peer, _)| *peer).filter(|peer| *peer != Peer::Mxrs);
        let others = peers.filter_map(|peer| self.fastest(peer)).reduce(f64::max)?;
        Some(self.fastest(Peer::Mxrs)? / others)
    }
}

/// A peer that takes part, with its process.
struct Seat {
    peer: Peer,
    process: Process,
    measured: Measured,
    /// Seconds per batch in the last round.
    batch_s: f64,
}

impl Seat {
    fn take(peer: Peer, tools: Tools<'_>, case: &Case, order: &Value, plan: Plan) -> Result<Self, Failure> {
        let command = peer.command(tools, case)?;
        let available = resident::available().map_err(|error| Failure::new("failed", error.to_string()))?;
        if available < SPARE_BYTES {
            return Err(Failure::new("no room", format!("{} MiB of memory are left", available >> 20)));
        }
        let mut process = Process::start(command, None)?;
        let (name, load_s, first_s) = loaded(&mut process, order, plan.limit)?;
        let measured =
            Measured { name, speeds: Vec::new(), load_s, first_s, peak_bytes: process.peak_bytes(), agreement: None };
        Ok(Self { peer, process, measured, batch_s: first_s })
    }

    /// Images per second of one round.
    fn round(&mut self, batch: usize, plan: Plan) -> Result<f64, Failure> {
        // The pause since the last round may have put the peer's threads to sleep and emptied its caches. An uncounted batch
        // warms up threads and caches. It is left out if a batch is so long that the pause does not matter.
        let warm = self.batch_s < plan.round_s / 4.0;
        let answer = self.process.ask(&run_order(plan.round_s, warm), plan.limit)?;
        let (n, seconds) = (number(&answer, "n")?, number(&answer, "seconds")?);
        self.batch_s = seconds / n;
        Ok(n * batch as f64 / seconds)
    }
}

/// Outputs of a process for each of these input files.
pub(super) fn answers(process: &mut Process, inputs: &[PathBuf], limit: Duration) -> Result<Vec<Vec<f32>>, Failure> {
    let mut all = Vec::new();
    for input in inputs {
        let answer = process.ask(&json!({ "do": "answer", "input": input }), limit)?;
        let outputs = answer["outputs"].as_array().ok_or_else(|| Failure::new("failed", "it answers no outputs"))?;
        all.push(outputs.iter().map(|x| x.as_f64().unwrap_or(f64::NAN) as f32).collect());
    }
    Ok(all)
}

/// The order (a JSON object) that makes a peer run batches.
pub(crate) fn run_order(seconds: f64, warm: bool) -> Value {
    json!({ "do": "run", "seconds": seconds, "warm": warm })
}

/// Lets a peer load the network. Returns its name, the seconds of loading and the seconds of the first batch.
pub(super) fn loaded(process: &mut Process, load: &Value, limit: Duration) -> Result<(String, f64, f64), Failure> {
    let answer = process.ask(load, limit)?;
    let name = answer["name"].as_str().unwrap_or("?").to_owned();
    Ok((name, number(&answer, "load_s")?, number(&answer, "first_s")?))
}

/// Reads a number from an answer, and checks it because another program wrote the answer.
pub(crate) fn number(answer: &Value, key: &str) -> Result<f64, Failure> {
    let number = answer[key].as_f64().filter(|n| n.is_finite() && *n >= 0.0);
    let number = number.filter(|n| *n > 0.0 || !matches!(key, "n" | "seconds"));
    number.ok_or_else(|| Failure::new("failed", format!("its answer has no `{key}`: {answer}")))
}

/// Runs a case.
pub fn contest(
    case: &Case,
    peers: &[Peer],
    tools: Tools<'_>,
    files: &Files,
    plan: Plan,
    progress: &Progress,
) -> Contest {
    let mut out: Vec<(Peer, Failure)> = Vec::new();
    // Files are made before any peer is started, because making them takes memory.
    let mut orders: Vec<(Peer, Value)> = Vec::new();
    for peer in peers {
        progress.tick();
        let its = match case.dtype {
            Dtype::Int8 => eight_bits::load(*peer, case, files, tools, plan.limit),
            _ => converted::load(*peer, case, files, tools, plan.limit),
        };
        match its {
            Ok(load) => orders.push((*peer, load.to_order())),
            Err(failure) => out.push((*peer, failure)),
        }
    }
    let mut seats: Vec<Seat> = Vec::new();
    for (peer, order) in &orders {
        progress.tick();
        match Seat::take(*peer, tools, case, order, plan) {
            Ok(seat) => seats.push(seat),
            Err(failure) => out.push((*peer, failure)),
        }
    }
    let mut begin = None;
    for round in 0..=plan.rounds {
        // The first round is a warm-up and does not count.
        if round == 1 {
            begin = Moment::now(processor_seconds(&seats));
        }
        // Each round starts with a different peer.
        if !seats.is_empty() {
            seats.rotate_left(1);
        }
        let mut next = Vec::new();
        for mut seat in seats {
            progress.tick();
            match seat.round(case.batch, plan) {
                Ok(speed) => {
                    if round > 0 {
                        seat.measured.speeds.push(speed);
                    }
                    next.push(seat);
                }
                Err(failure) => out.push((seat.peer, failure)),
            }
        }
        seats = next;
    }
    let others = begin.zip(Moment::now(processor_seconds(&seats))).map(|(begin, end)| begin.others_since(&end));
    for seat in &mut seats {
        seat.measured.peak_bytes = seat.process.peak_bytes().or(seat.measured.peak_bytes);
    }
    if case.mode == Mode::Inference && (plan.n_checked > 0 || files.expected().is_some()) {
        let (right, wrong) = check(seats, case, tools, files, plan);
        seats = right;
        out.extend(wrong);
    }
    let mut outcomes: Vec<(Peer, Result<Measured, Failure>)> = Vec::new();
    outcomes.extend(out.into_iter().map(|(peer, failure)| (peer, Err(failure))));
    outcomes.extend(seats.into_iter().map(|seat| (seat.peer, Ok(seat.measured))));
    outcomes.sort_by_key(|(peer, _)| peers.iter().position(|other| other == peer));
    Contest { case: case.clone(), outcomes, others }
}

fn processor_seconds(seats: &[Seat]) -> f64 {
    seats.iter().filter_map(|seat| seat.process.processor_seconds()).sum()
}

/// Compares the outputs of all peers with PyTorch's if it exported the network, otherwise with ours if mxrs takes part. A
/// peer whose outputs differ from PyTorch's leaves the contest. For 8-bit integers, the reference is our output in float32,
/// and our 8-bit output is compared too.
fn check(
    seats: Vec<Seat>,
    case: &Case,
    tools: Tools<'_>,
    files: &Files,
    plan: Plan,
) -> (Vec<Seat>, Vec<(Peer, Failure)>) {
    match files.expected() {
        Some(expected) => against_pytorch(seats, expected, files, plan),
        None => {
            let mut seats = seats;
            against_ours(&mut seats, case, tools, files, plan);
            (seats, Vec::new())
        }
    }
}

fn against_pytorch(
    seats: Vec<Seat>,
    expected: &Expected,
    files: &Files,
    plan: Plan,
) -> (Vec<Seat>, Vec<(Peer, Failure)>) {
    let (mut right, mut out) = (Vec::new(), Vec::new());
    let inputs = check::inputs(files, expected.n_batches());
    for mut seat in seats {
        let judged = inputs.clone().and_then(|inputs| {
            let theirs = answers(&mut seat.process, &inputs, plan.limit)?;
            expected.judge(&theirs, files.shape()[0])
        });
        match judged {
            Ok(agreement) => {
                seat.measured.agreement = Some(Ok(agreement));
                right.push(seat);
            }
            Err(failure) => out.push((seat.peer, failure)),
        }
    }
    (right, out)
}

fn against_ours(seats: &mut [Seat], case: &Case, tools: Tools<'_>, files: &Files, plan: Plan) {
    let Some(ours_at) = seats.iter().position(|seat| seat.peer == Peer::Mxrs) else { return };
    let batch = files.shape().first().copied().unwrap_or(1).max(1);
    let inputs = match check::inputs(files, plan.n_checked.div_ceil(batch)) {
        Ok(inputs) => inputs,
        Err(failure) => {
            seats.iter_mut().for_each(|seat| seat.measured.agreement = Some(Err(failure.clone())));
            return;
        }
    };
    let ours = match case.dtype {
        Dtype::Int8 => check::in_float32(case, &inputs, tools, files, plan),
        _ => answers(&mut seats[ours_at].process, &inputs, plan.limit),
    };
    let ours = match ours {
        Ok(ours) => ours,
        Err(failure) => {
            seats[ours_at].measured.agreement = Some(Err(failure));
            return;
        }
    };
    let tolerance = agreement::tolerance(case.dtype);
    for seat in seats.iter_mut().filter(|seat| seat.peer != Peer::Mxrs || case.dtype == Dtype::Int8) {
        let theirs = answers(&mut seat.process, &inputs, plan.limit);
        seat.measured.agreement = Some(theirs.and_then(|theirs| check::agreement(&ours, &theirs, batch, tolerance)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Dtype;

    fn measured(speeds: &[f64]) -> Measured {
        let speeds = speeds.to_vec();
        Measured { name: "x 1".into(), speeds, load_s: 1.0, first_s: 0.5, peak_bytes: Some(1 << 20), agreement: None }
    }

    #[test]
    fn the_best_peer_is_never_ours_and_the_ratio_is_of_neighbors() {
        let case =
            Case { network: "alexnet".into(), batch: 1, dtype: Dtype::Float32, threads: 2, mode: Mode::Inference };
        let outcomes = vec![
            (Peer::Mxrs, Ok(measured(&[10.0, 20.0, 40.0]))),
            (Peer::Mxnet, Ok(measured(&[5.0, 10.0, 20.0]))),
            (Peer::Tract, Err(Failure::new("died", "why"))),
            (Peer::Openvino, Ok(measured(&[5.0, 16.0, 20.0]))),
        ];
        let contest = Contest { case: case.clone(), outcomes, others: None };
        assert_eq!(contest.best_peer(), Some(Peer::Openvino));
        // Our fastest round has 40 images per second. The fastest rounds of MXNet and OpenVINO have 20.
        assert_eq!(contest.fastest_ratio(), Some(2.0));
        assert_eq!(contest.ratio(Peer::Mxnet).unwrap().median, 2.0);
        assert_eq!((contest.ratio(Peer::Tract), contest.ratio(Peer::Candle)), (None, None));
        let nobody = Contest::of_failure(&case, &[Peer::Mxrs, Peer::Tract], &Failure::new("no file", "why"));
        assert_eq!((nobody.best_peer(), nobody.fastest_ratio(), nobody.outcomes.len()), (None, None, 2));
    }

    #[test]
    fn answers_that_make_no_sense_are_failures() {
        assert_eq!(number(&json!({ "n": 3 }), "n").unwrap(), 3.0);
        assert_eq!(number(&json!({ "load_s": 0 }), "load_s").unwrap(), 0.0);
        for (answer, key) in [
            (json!({}), "n"),
            (json!({ "n": 0 }), "n"),
            (json!({ "seconds": 0.0 }), "seconds"),
            (json!({ "n": "3" }), "n"),
        ] {
            assert_eq!(number(&answer, key).unwrap_err().word, "failed", "{answer}");
        }
        assert!(number(&json!({ "load_s": -1 }), "load_s").is_err());
    }
}
