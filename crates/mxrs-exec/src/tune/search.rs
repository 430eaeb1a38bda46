//! Which kernel is fastest here: by trying all ways of all backends.

use super::bench::Bench;
use super::candidates::{Candidate, prepared};
use super::{ChosenBy, KnownKernel};
use crate::choose::{Choice, Refusal, offers};
use mxrs_op::{Backend, OpCall, TensorDesc};
use mxrs_sync::{Mutex, Team};
use mxrs_types::Result;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most runs of a candidate.
const ROUNDS: usize = 8;
/// Slower than the fastest by so much after one round, or after several, a candidate is not tried again.
const HOPELESS: [f64; 2] = [1.6, 1.25];
/// Where the fastest takes less, in seconds, everybody has a second run: something else may have come in between.
const SHORT: f64 = 0.01;
/// Within this of the fastest, a candidate has a second run even if time is up.
const CLOSE: f64 = 1.1;
/// Another way than the estimate's is taken if it is faster by this part at least: less is noise.
const LEAST_GAIN: f64 = 0.01;

/// One call of a network, and what runs it.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedCall {
    /// Node.
    pub node: String,
    /// Operator.
    pub op: &'static str,
    /// What comes out: type and shape.
    pub output: String,
    /// Backend chosen.
    pub backend: String,
    /// Its way to run the call.
    pub way: String,
    /// Its kernel.
    pub kernel: String,
    /// Backend and way that estimates would take; `None` where the result was known.
    pub estimate: Option<String>,
    /// Seconds of a run, copies to its layouts included.
    pub seconds: f64,
    /// Seconds of what estimates would take.
    pub seconds_of_estimate: f64,
    /// How many kernels were tried; 0 where the result was known.
    pub n_tried: usize,
}

impl TunedCall {
    pub(super) fn known(node: &str, call: &OpCall<'_>, known: &KnownKernel, choice: &Choice) -> Self {
        Self {
            node: node.into(),
            op: call.op.name,
            output: call.outputs.first().map(TensorDesc::to_string).unwrap_or_default(),
            backend: known.backend.clone(),
            way: known.way.clone(),
            kernel: choice.planned.kernel.name().into(),
            estimate: None,
            seconds: known.seconds,
            seconds_of_estimate: known.seconds_of_estimate,
            n_tried: 0,
        }
    }
}

type Look = dyn Fn(&TunedCall) -> Result<()> + Send + Sync;

/// A search by timing, on memory of the real size and with cold weights.
pub struct Search {
    /// How long one call is tried, beyond two runs of each kernel.
    pub budget: Duration,
    /// Tries calls again whose result is known from an earlier process.
    pub again: bool,
    look: Option<Box<Look>>,
    /// Only one call is tried at a time, or they would disturb each other.
    bench: Mutex<Bench>,
}

impl Default for Search {
    fn default() -> Self {
        Self::new(Duration::from_millis(500))
    }
}

impl Search {
    /// A search that takes about so long for each call.
    pub fn new(budget: Duration) -> Self {
        Self { budget, again: false, look: None, bench: Mutex::new(Bench::default()) }
    }

    /// Tells somebody of each call when it is decided; an error ends the binding.
    #[must_use]
    pub fn looked_on_by(mut self, look: impl Fn(&TunedCall) -> Result<()> + Send + Sync + 'static) -> Self {
        self.look = Some(Box::new(look));
        self
    }

    pub(super) fn tell(&self, tuned: &TunedCall) -> Result<()> {
        self.look.as_ref().map_or(Ok(()), |look| look(tuned))
    }

    /// The fastest, what there is to tell and to keep of it; `None` where there is nothing to choose from.
    pub(super) fn run(
        &self,
        backends: &[Arc<dyn Backend>],
        call: &OpCall<'_>,
        team: &Team,
        node: &str,
    ) -> Option<(Choice, TunedCall, KnownKernel)> {
        let (offers, refusals) = offers(backends, call);
        let able = offers.into_iter().filter(|(offer, _)| !offer.is_reference()).map(|(_, backend)| backend);
        let ways = |backend: &Arc<dyn Backend>| {
            backend.ways(call).into_iter().map(|way| (Arc::clone(backend), way)).collect::<Vec<_>>()
        };
        let names: Vec<(Arc<dyn Backend>, String)> = able.flat_map(ways).collect();
        if names.len() < 2 {
            return None;
        }
        let mut bench = self.bench.lock();
        let mut all = prepared(&mut bench, backends, call, team, names);
        self.race(&mut bench, call, team, &mut all);
        all.retain(|candidate| candidate.time.is_some());
        decided(all, refusals, call, node)
    }

    /// Runs the candidates in turn.
    fn race(&self, bench: &mut Bench, call: &OpCall<'_>, team: &Team, all: &mut Vec<Candidate>) {
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
                        tracing::debug!(op = call.op.name, way = candidate.way, %error, "a kernel on trial failed");
                        return false;
                    }
                }
                true
            });
        }
    }
}

/// The fastest of all; the first where others are hardly faster.
fn decided(
    mut all: Vec<Candidate>,
    refusals: Vec<Refusal>,
    call: &OpCall<'_>,
    node: &str,
) -> Option<(Choice, TunedCall, KnownKernel)> {
    let first = all.first()?;
    let seconds_of_estimate = first.total().as_secs_f64();
    let estimate = format!("{} {}", first.backend.name(), first.way);
    let n_tried = all.len();
    let fastest = (0..n_tried).min_by_key(|i| all[*i].total())?;
    let is_worth_it = all[fastest].total().as_secs_f64() < seconds_of_estimate * (1.0 - LEAST_GAIN);
    let chosen = all.swap_remove(if is_worth_it { fastest } else { 0 });
    let seconds = chosen.total().as_secs_f64();
    let Candidate { backend, way, planned, .. } = chosen;
    let name = backend.name();
    let found = KnownKernel { backend: name.into(), way: way.clone(), seconds, seconds_of_estimate, is_new: true };
    let tuned = TunedCall {
        node: node.into(),
        op: call.op.name,
        output: call.outputs.first().map(TensorDesc::to_string).unwrap_or_default(),
        backend: name.into(),
        way,
        kernel: planned.kernel.name().into(),
        estimate: Some(estimate),
        seconds,
        seconds_of_estimate,
        n_tried,
    };
    Some((Choice { backend: name, planned, refusals, chosen_by: ChosenBy::Search }, tuned, found))
}
