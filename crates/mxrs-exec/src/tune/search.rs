//! Finds the fastest kernel for a call on this machine by timing all algorithms of all backends.

use super::bench::{Bench, DeviceBench, Timer};
use super::candidates::{Candidate, prepared};
use super::{ChosenBy, KnownKernel};
use crate::choose::{Choice, Refusal, offers};
use mxrs_ndarray::ArrayContext;
use mxrs_op::{Backend, OpCall, TensorDesc};
use mxrs_sync::{Mutex, Team};
use mxrs_types::{Device, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most runs of one candidate.
const ROUNDS: usize = 8;
/// A candidate is not run again if its time divided by the time of the fastest candidate exceeds this factor. The first
/// factor applies after one round, the second after more rounds.
const HOPELESS: [f64; 2] = [1.6, 1.25];
/// If the fastest candidate takes fewer seconds than this, all candidates run a second time, because another process may
/// have disturbed the first round.
const SHORT: f64 = 0.01;
/// A candidate whose time is within this factor of the fastest runs a second time even if the time budget is used up.
const CLOSE: f64 = 1.1;
/// A kernel other than the one that estimates would choose is chosen only if it is faster by at least this fraction.
/// Smaller differences are noise.
const LEAST_GAIN: f64 = 0.01;

/// A tuned call of a network, with the kernel that was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedCall {
    /// Name of the node.
    pub node: String,
    /// Name of the operator.
    pub op: &'static str,
    /// The device of the call.
    pub device: Device,
    /// Type and shape of the first output.
    pub output: String,
    /// Name of the chosen backend.
    pub backend: String,
    /// Name of the backend's algorithm.
    pub algorithm: String,
    /// Name of the kernel.
    pub kernel: String,
    /// Backend and algorithm that estimates would choose; `None` if the result was known already.
    pub estimate: Option<String>,
    /// Seconds of a run, including copies to the layouts of the kernel.
    pub seconds: f64,
    /// Seconds of a run of the kernel that estimates would choose.
    pub seconds_of_estimate: f64,
    /// Number of kernels that were timed; 0 if the result was known already.
    pub n_tried: usize,
}

impl TunedCall {
    pub(super) fn known(node: &str, call: &OpCall<'_>, device: Device, known: &KnownKernel, choice: &Choice) -> Self {
        Self {
            node: node.into(),
            op: call.op.name,
            device,
            output: call.outputs.first().map(TensorDesc::to_string).unwrap_or_default(),
            backend: known.backend.clone(),
            algorithm: known.algorithm.clone(),
            kernel: choice.planned.kernel.name().into(),
            estimate: None,
            seconds: known.seconds,
            seconds_of_estimate: known.seconds_of_estimate,
            n_tried: 0,
        }
    }
}

type Look = dyn Fn(&TunedCall) -> Result<()> + Send + Sync;

/// A search by timing, with tensors of their real sizes and with weights that are not in a cache.
pub struct Search {
    /// Time to spend on one call, in addition to two runs of each kernel.
    pub budget: Duration,
    /// Whether to time calls again whose result is known from an earlier process.
    pub again: bool,
    look: Option<Box<Look>>,
    /// Memory and streams of devices; without it only kernels of the host are timed.
    devices: Option<ArrayContext>,
    /// Host memory for timing. Its lock lets only one call be timed at a time, because concurrent timings disturb each
    /// other.
    bench: Mutex<Bench>,
}

impl Default for Search {
    fn default() -> Self {
        Self::new(Duration::from_millis(500))
    }
}

impl Search {
    /// A search that takes about this time for each call.
    pub fn new(budget: Duration) -> Self {
        Self { budget, again: false, look: None, devices: None, bench: Mutex::new(Bench::default()) }
    }

    /// Calls `look` after each decision about a call. An error of `look` ends the binding.
    #[must_use]
    pub fn looked_on_by(mut self, look: impl Fn(&TunedCall) -> Result<()> + Send + Sync + 'static) -> Self {
        self.look = Some(Box::new(look));
        self
    }

    /// Times kernels of devices too, whose memory the host cannot access: with arrays of this context, on the streams of its
    /// engine. Without a context, estimates choose the kernels of such devices.
    #[must_use]
    pub fn on_devices(mut self, context: &ArrayContext) -> Self {
        self.devices = Some(context.clone());
        self
    }

    pub(super) fn tell(&self, tuned: &TunedCall) -> Result<()> {
        self.look.as_ref().map_or(Ok(()), |look| look(tuned))
    }

    /// Times the kernels of a call. Returns the fastest kernel, the report about the call and the result to store. Returns
    /// `None` if there are fewer than two kernels, if no kernel runs without an error, or if the search has no
    /// [memory](Self::on_devices) of the device.
    pub(super) fn run(
        &self,
        backends: &[Arc<dyn Backend>],
        call: &OpCall<'_>,
        (device, team): (Device, &Team),
        node: &str,
    ) -> Option<(Choice, TunedCall, KnownKernel)> {
        let (offers, refusals) = offers(backends, call);
        let able = offers.into_iter().filter(|(offer, _)| !offer.is_reference()).map(|(_, backend)| backend);
        let algorithms = |backend: &Arc<dyn Backend>| {
            backend.algorithms(call).into_iter().map(|algorithm| (Arc::clone(backend), algorithm)).collect::<Vec<_>>()
        };
        let names: Vec<(Arc<dyn Backend>, String)> = able.flat_map(algorithms).collect();
        if names.len() < 2 {
            return None;
        }
        let mut host = self.bench.lock();
        let mut of_device = match &self.devices {
            _ if device.is_host() => None,
            Some(context) => Some(DeviceBench::new(context, device)),
            None => return None,
        };
        let bench: &mut dyn Timer = match &mut of_device {
            Some(bench) => bench,
            None => &mut *host,
        };
        let mut all = prepared(bench, backends, call, team, names);
        self.race(bench, call, team, &mut all);
        all.retain(|candidate| candidate.time.is_some());
        decided(all, refusals, (call, device), node)
    }

    /// Times the candidates, each once per round.
    fn race(&self, bench: &mut dyn Timer, call: &OpCall<'_>, team: &Team, all: &mut Vec<Candidate>) {
        let start = Instant::now();
        for round in 0..ROUNDS {
            let best = all.iter().map(Candidate::total).min().unwrap_or_default().as_secs_f64();
            let is_over = start.elapsed() > self.budget;
            if round > 1 && is_over {
                return;
            }
            all.retain_mut(|candidate| {
                let behind = candidate.total().as_secs_f64() / best.max(1e-9);
                let is_out = match round {
                    0 => false,
                    1 if best < SHORT && !is_over => false,
                    1 => behind > if is_over { CLOSE } else { HOPELESS[0] },
                    _ => behind > HOPELESS[1],
                };
                if is_out {
                    return true;
                }
                match bench.time(call, &candidate.planned, team) {
                    Ok(time) => candidate.time = Some(candidate.time.map_or(time, |best| best.min(time))),
                    Err(error) => {
                        tracing::debug!(op = call.op.name, algorithm = candidate.algorithm, %error, "a kernel on trial failed");
                        return false;
                    }
                }
                true
            });
        }
    }
}

/// Chooses the fastest candidate. If it is hardly faster than the first candidate, which is the estimated choice, chooses
/// the first.
fn decided(
    mut all: Vec<Candidate>,
    refusals: Vec<Refusal>,
    (call, device): (&OpCall<'_>, Device),
    node: &str,
) -> Option<(Choice, TunedCall, KnownKernel)> {
    let first = all.first()?;
    let seconds_of_estimate = first.total().as_secs_f64();
    let estimate = format!("{} {}", first.backend.name(), first.algorithm);
    let n_tried = all.len();
    let fastest = (0..n_tried).min_by_key(|i| all[*i].total())?;
    let is_worth_it = all[fastest].total().as_secs_f64() < seconds_of_estimate * (1.0 - LEAST_GAIN);
    let chosen = all.swap_remove(if is_worth_it { fastest } else { 0 });
    let seconds = chosen.total().as_secs_f64();
    let Candidate { backend, algorithm, planned, .. } = chosen;
    let name = backend.name();
    let found =
        KnownKernel { backend: name.into(), algorithm: algorithm.clone(), seconds, seconds_of_estimate, is_new: true };
    let tuned = TunedCall {
        node: node.into(),
        op: call.op.name,
        device,
        output: call.outputs.first().map(TensorDesc::to_string).unwrap_or_default(),
        backend: name.into(),
        algorithm,
        kernel: planned.kernel.name().into(),
        estimate: Some(estimate),
        seconds,
        seconds_of_estimate,
        n_tried,
    };
    Some((Choice { backend: name, planned, refusals, chosen_by: ChosenBy::Search }, tuned, found))
}
