//! A lowered program with its memory, cut into segments and pushed to the engine.

use crate::machine::{Machine, Planned};
use crate::options::BindOptions;
use crate::program::Program;
use crate::report::{ExecutorReport, FusedReport, StepReport, step_reports};
use crate::segment::{Segment, segments};
use mxrs_engine::{Engine, Var};
use mxrs_graph::memory::PlanReport;
use mxrs_ndarray::{ArrayContext, NdArray, RandomCalls};
use mxrs_types::{Device, Result};
use std::sync::Arc;

/// Runs one program on one set of arrays. Runs never overlap: each push writes the runner's own variable.
pub struct Runner {
    machine: Option<Arc<Machine>>,
    machine_var: Var,
    engine: Engine,
    bound: Vec<Var>,
    outputs: Vec<Var>,
    forward: Vec<Segment>,
    backward: Vec<Segment>,
    /// What each step is.
    pub steps: Vec<StepReport>,
    n_random: u32,
    plan: PlanReport,
    fused: Vec<FusedReport>,
}

/// Most kernels in one push, forward and backward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub forward: usize,
    pub backward: usize,
}

impl Runner {
    /// Plans and allocates.
    ///
    /// # Errors
    /// Out of memory, or a contradiction in the plan.
    pub fn new(
        program: Program,
        context: &ArrayContext,
        bound: Vec<NdArray>,
        outputs: Vec<NdArray>,
        limits: Limits,
        options: &BindOptions,
    ) -> Result<Self> {
        let planned = Planned::new(program, &options.plan)?;
        let program = &planned.program;
        let vars = |arrays: &[NdArray]| arrays.iter().map(|a| a.var().clone()).collect();
        Ok(Self {
            bound: vars(&bound),
            outputs: vars(&outputs),
            machine: Some(Arc::new(Machine::new(&planned, context, bound, outputs, options.team.clone())?)),
            plan: planned.plan.report.clone(),
            machine_var: context.engine().new_var(),
            engine: context.engine().clone(),
            forward: segments(program, 0..program.n_forward, limits.forward),
            backward: segments(program, program.n_forward..program.steps.len(), limits.backward),
            steps: step_reports(program),
            n_random: program.n_random,
            fused: program.fused.clone(),
        })
    }

    /// Reserves the random calls of one run.
    pub fn reserve(&self, context: &ArrayContext) -> RandomCalls {
        match self.n_random {
            0 => RandomCalls { seed: 0, first: 0 },
            n => context.random().reserve(Device::cpu(0), u64::from(n)),
        }
    }

    /// Pushes the forward steps.
    ///
    /// # Errors
    /// Under `NaiveEngine` what a kernel reports.
    pub fn forward(&self, random: RandomCalls) -> Result<()> {
        let Some(machine) = &self.machine else { return Ok(()) };
        let is_one_push = self.forward.len() <= 1;
        if machine.has_prepare() && !is_one_push {
            let preparing = machine.clone();
            let task = self.engine.task("prepare").device(Device::cpu(0)).reads(&self.bound).write(&self.machine_var);
            task.push(move |_| preparing.prepare())?;
        }
        self.push_all(&self.forward, random, is_one_push)
    }

    /// Pushes the steps of the gradient.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn backward(&self, random: RandomCalls) -> Result<()> {
        self.push_all(&self.backward, random, false)
    }

    fn push_all(&self, segments: &[Segment], random: RandomCalls, prepares: bool) -> Result<()> {
        let Some(machine) = &self.machine else { return Ok(()) };
        for segment in segments {
            let machine = machine.clone();
            let steps = segment.steps.clone();
            let mut task = self.engine.task(segment.name.clone()).device(Device::cpu(0)).write(&self.machine_var);
            // Packing reads every bound array.
            task = if prepares && machine.has_prepare() {
                let rewritten = |i: &usize| segment.rewrites.contains(i);
                task.reads((0..self.bound.len()).filter(|i| !rewritten(i)).map(|i| &self.bound[i]))
            } else {
                task.reads(segment.reads.iter().map(|&i| &self.bound[i]))
            };
            task.reads(segment.reads_outputs.iter().map(|&i| &self.outputs[i]))
                .writes(segment.rewrites.iter().map(|&i| &self.bound[i]))
                .writes(segment.outputs.iter().map(|&i| &self.outputs[i]))
                .push(move |_| {
                    if prepares {
                        machine.prepare()?;
                    }
                    machine.run(steps, random)
                })?;
        }
        Ok(())
    }

    /// What was decided.
    pub fn report(&self) -> Option<ExecutorReport> {
        let machine = self.machine.as_ref()?;
        Some(ExecutorReport {
            steps: self.steps.clone(),
            plan: self.plan.clone(),
            arena_bytes: machine.arena_bytes,
            packed_bytes: machine.packed_bytes,
            fused: self.fused.clone(),
        })
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // The machine's memory goes after the last pending run.
        if let Some(machine) = self.machine.take() {
            self.engine.delete_var(self.machine_var.clone(), move || drop(machine));
        }
    }
}
