//! Runs a bound graph: the forward half or the gradient as a whole, one step at a time, or with a monitor.

use crate::executor::Executor;
use crate::monitor::{Monitor, Monitored};
use crate::run_random::RunRandom;
use crate::runner::Runner;
use mxrs_ndarray::NdArray;
use mxrs_trace::api_call;
use mxrs_types::{Error, Result};
use std::ops::Range;

/// A training run whose gradient may still be computed.
#[derive(Clone)]
pub struct Recorded {
    random: RunRandom,
    /// The number that the memory pool gave to the run.
    run: u64,
}

/// A forward run that is pushed step by step.
#[derive(Clone)]
pub struct Partial {
    is_train: bool,
    next: usize,
    random: RunRandom,
    run: u64,
}

impl Executor {
    /// Pushes one inference run. Under `NaiveEngine` the run is over when this returns.
    ///
    /// # Errors
    /// Under `NaiveEngine` returns the error of a kernel that failed. Under other engines, reading an output returns that
    /// error.
    #[track_caller]
    pub fn forward(&self) -> Result<()> {
        let _call = api_call("Executor::forward");
        // This run overwrites the outputs. Tapes have to know that, because a gradient that reads the earlier outputs would
        // be wrong.
        self.note_writes(false)?;
        self.run_forward(false).map(drop)
    }

    /// Pushes one training run: operators use the statistics of the batch, drop elements out, and update auxiliary states.
    ///
    /// # Errors
    /// Returns the errors of [`Self::forward`].
    #[track_caller]
    pub fn forward_train(&self) -> Result<()> {
        let _call = api_call("Executor::forward_train");
        self.note_writes(true)?;
        let recorded = self.run_forward(true)?;
        *self.recorded.lock() = Some(recorded);
        Ok(())
    }

    fn run_forward(&self, is_train: bool) -> Result<Recorded> {
        let runner = self.runner(is_train)?;
        let random = runner.reserve(&self.context);
        *self.recorded.lock() = None;
        *self.partial.lock() = None;
        let mut turn = self.pool().turn();
        let run = turn.begin();
        match self.monitor() {
            None => runner.forward(&random)?,
            Some(monitor) => {
                // `turn`, the right to push runs of the pool, is given up before the callback is called, because the
                // callback may run other executors.
                drop(turn);
                runner.prepare()?;
                self.watch(runner, &monitor, runner.halves()[0].clone(), &random, run)?;
            }
        }
        Ok(Recorded { random, run })
    }

    /// Pushes the computation of the gradients of the last [`forward_train`](Self::forward_train). `head_grads` are the
    /// gradients of the outputs, in order. The list may be empty if every output is a loss, because a loss ignores the
    /// gradient of its output.
    ///
    /// # Errors
    /// Returns the errors of [`Self::forward`], or an error in one of these cases:
    /// - The graph was bound without gradients.
    /// - There was no `forward_train` since the last `backward` or `forward`.
    /// - Another executor of the same pool ran after the last `forward_train`.
    /// - The number, a shape or a dtype of the head gradients is wrong.
    #[track_caller]
    pub fn backward(&self, head_grads: &[NdArray]) -> Result<()> {
        let _call = api_call("Executor::backward");
        if self.training.gradients.is_empty() {
            return Err(Error::invalid(
                "backward",
                "a graph bound without gradients",
                "BindOptions::gradients at bind",
            ));
        }
        let recorded = self.recorded.lock().clone();
        let Some(Recorded { random, run }) = recorded else {
            return Err(Error::invalid(
                "backward",
                "no training run whose gradient is still to come",
                "forward_train before each backward, with no forward between them",
            ));
        };
        self.training.check_head_grads(head_grads)?;
        let turn = self.pool().turn();
        self.expect_run("backward", run, turn.last())?;
        self.training.set_head_grads(head_grads)?;
        for gradient in self.gradients() {
            gradient.array.note_write()?;
        }
        *self.recorded.lock() = None;
        let runner = self.runner(true)?;
        let Some(monitor) = self.monitor() else { return runner.backward(&random) };
        drop(turn);
        self.watch(runner, &monitor, runner.halves()[1].clone(), &random, run)
    }

    /// Pushes the step with number `step` of a forward run alone, and returns how many steps are left. Step 0 begins a run.
    /// After the last step of a run with `is_train`, [`backward`](Self::backward) may follow. Steps are numbered as in the
    /// report, without prepare steps.
    ///
    /// # Errors
    /// Returns the errors of [`Self::forward`]. Returns an error if steps are not pushed in order, or if another executor
    /// of the pool ran after step 0.
    #[track_caller]
    pub fn partial_forward(&self, is_train: bool, step: usize) -> Result<usize> {
        let runner = self.runner(is_train)?;
        let n_steps = runner.halves()[0].len();
        if step >= n_steps {
            return Ok(0);
        }
        let partial = if step == 0 {
            self.note_writes(is_train)?;
            *self.recorded.lock() = None;
            let random = runner.reserve(&self.context);
            let partial = Partial { is_train, next: 0, random, run: self.pool().turn().begin() };
            runner.prepare()?;
            partial
        } else {
            let partial = self.partial.lock().clone();
            let expected = partial.as_ref().filter(|p| p.is_train == is_train).map_or(0, |p| p.next);
            partial.filter(|p| p.is_train == is_train && p.next == step).ok_or_else(|| {
                Error::invalid("partial_forward", format!("step {step}"), format!("step {expected}: in order, from 0"))
            })?
        };
        self.expect_run("partial_forward", partial.run, self.pool().turn().last())?;
        *self.partial.lock() = None;
        let Partial { random, run, .. } = partial.clone();
        match self.monitor() {
            Some(monitor) => self.watch(runner, &monitor, step..step + 1, &random, run)?,
            None => runner.step(step, &random, &self.context, None).map(drop)?,
        }
        if step + 1 < n_steps {
            *self.partial.lock() = Some(Partial { next: step + 1, ..partial });
        } else if is_train {
            *self.recorded.lock() = Some(Recorded { random, run });
        }
        Ok(n_steps - step - 1)
    }

    /// Pushes steps one by one and calls the monitor for each.
    fn watch(
        &self,
        runner: &Runner,
        monitor: &Monitor,
        steps: Range<usize>,
        random: &RunRandom,
        run: u64,
    ) -> Result<()> {
        for step in steps {
            let watch = Some((monitor.with_inputs, &self.options));
            for (tap, array) in runner.step(step, random, &self.context, watch)? {
                (monitor.callback)(&Monitored { name: &tap.name, op: &tap.op, is_input: tap.is_input, array: &array });
            }
            self.expect_run("a run with a monitor", run, self.pool().turn().last())?;
        }
        Ok(())
    }

    /// Returns an error if another run has overwritten the temporaries of this run.
    fn expect_run(&self, what: &str, run: u64, last: u64) -> Result<()> {
        if run == last {
            return Ok(());
        }
        Err(Error::invalid(
            what,
            "temporaries that another run has overwritten: executors that share a pool were interleaved",
            "no run of another executor of the pool between forward_train and backward",
        ))
    }

    /// Reports to autograd tapes that an inference run will overwrite the outputs.
    pub(crate) fn note_outputs(&self) -> Result<()> {
        self.note_writes(false)
    }

    /// Reports to autograd tapes which arrays this run will overwrite.
    #[track_caller]
    fn note_writes(&self, is_train: bool) -> Result<()> {
        for output in &self.outputs {
            output.note_write()?;
        }
        if is_train {
            for (name, array) in self.arrays() {
                if self.graph.find(name).is_some_and(|id| self.graph.is_aux_state(id)) {
                    array.note_write()?;
                }
            }
        }
        Ok(())
    }
}
