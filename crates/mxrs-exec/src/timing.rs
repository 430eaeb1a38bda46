//! Times each step of a bound graph.

use crate::executor::Executor;
use crate::runner::Runner;
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{Error, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The times that [`Executor::time_steps`] or [`Executor::time_training_steps`] measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepTimes {
    /// Mean time of each step over all runs that are timed step by step, in the order in which the steps run. Steps that
    /// run once when the graph is bound are not among them.
    pub steps: Vec<Duration>,
    /// Mean time of a whole run, over equally many runs without time stamps between steps. The two kinds of runs alternate.
    pub whole: Duration,
}

impl Executor {
    /// Runs inference `2 * n_runs` times. In every second run, each step is timed. Waits until all runs are done.
    ///
    /// # Errors
    /// Returns the errors of [`Executor::forward`] and of kernels. Returns an error on a device with streams, because a step
    /// there ends when it is enqueued, and for a graph on several devices.
    pub fn time_steps(&self, n_runs: usize) -> Result<StepTimes> {
        let device = self.options.device;
        let runner = self.runner(false)?;
        if runner.n_devices() > 1 {
            let reason = "the steps of one task are timed, and each device has tasks of its own";
            return Err(Error::not_built("timing steps of a graph on several devices", reason));
        }
        if !device.is_host() {
            return Err(Error::not_built(
                format!("timing steps on {device}"),
                "steps are timed by the clock of the host",
            ));
        }
        // The first run makes constants and is not timed.
        self.forward()?;
        self.pool().wait()?;
        let n_steps = runner.halves()[0].len();
        let times = Arc::new(RankedMutex::new(Rank::Leaf, (vec![Duration::ZERO; n_steps], Duration::ZERO)));
        for _ in 0..n_runs.max(1) {
            let of_run = Arc::clone(&times);
            self.note_outputs()?;
            let random = runner.reserve(&self.context).on(device);
            runner.push_timed(random, move |run| time(run, n_steps, &of_run))?;
        }
        self.pool().wait()?;
        let (steps, whole) = &*times.lock();
        let mean = |sum: &Duration| *sum / n_runs.max(1) as u32;
        Ok(StepTimes { steps: steps.iter().map(mean).collect(), whole: mean(whole) })
    }
}

impl Executor {
    /// Runs training with gradients `2 * n_runs` times. In every second run, each step is pushed alone and waited for. The
    /// times are in the order of the steps in [`Executor::training_report`], without prepare steps. Waits until all runs
    /// are done.
    ///
    /// # Errors
    /// Returns the errors of [`Executor::forward_train`], [`Executor::backward`] and kernels.
    pub fn time_training_steps(&self, n_runs: usize) -> Result<StepTimes> {
        let wait = || self.pool().wait();
        let run = || {
            self.forward_train()?;
            self.backward(&[])?;
            wait()
        };
        run()?;
        let runner = self.runner(true)?;
        let [_, backward] = runner.halves();
        let n_runs = n_runs.max(1) as u32;
        let mut steps = vec![Duration::ZERO; backward.end];
        let mut whole = Duration::ZERO;
        for _ in 0..n_runs {
            let start = Instant::now();
            run()?;
            whole += start.elapsed();
            let random = runner.reserve(&self.context);
            runner.prepare()?;
            wait()?;
            for (step, sum) in steps.iter_mut().enumerate() {
                let start = Instant::now();
                runner.step(step, &random, &self.context, None)?;
                wait()?;
                *sum += start.elapsed();
            }
        }
        Ok(StepTimes { steps: steps.iter().map(|sum| *sum / n_runs).collect(), whole: whole / n_runs })
    }
}

type Times = RankedMutex<(Vec<Duration>, Duration)>;

fn time(run: &dyn Fn(std::ops::Range<usize>) -> Result<()>, n_steps: usize, times: &Times) -> Result<()> {
    let start = Instant::now();
    run(0..n_steps)?;
    times.lock().1 += start.elapsed();
    let mut took = Vec::with_capacity(n_steps);
    let mut last = Instant::now();
    for step in 0..n_steps {
        run(step..step + 1)?;
        let now = Instant::now();
        took.push(now - last);
        last = now;
    }
    times.lock().0.iter_mut().zip(took).for_each(|(sum, took)| *sum += took);
    Ok(())
}

impl Runner {
    /// Pushes one task that holds all arrays of the forward steps. It calls `body` with a function that runs a range of
    /// steps.
    fn push_timed(
        &self,
        random: mxrs_ndarray::RandomCalls,
        body: impl FnOnce(&dyn Fn(std::ops::Range<usize>) -> Result<()>) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        self.push_forward(move |ready, task| {
            ready.prepare(task)?;
            body(&|steps| ready.run(steps, random, task))
        })
    }
}
