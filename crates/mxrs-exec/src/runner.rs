//! A lowered program with its memory, cut into segments and pushed to the engine.

use crate::machine::Machine;
use crate::options::BindOptions;
use crate::packed::Packed;
use crate::planned::{Planned, arena_bytes};
use crate::pool::MemoryPool;
use crate::program::{Origin, Program};
use crate::report::{ExecutorReport, StepReport, step_reports};
use crate::segment::{Segment, segments};
use crate::tap::{Tap, taps};
use mxrs_engine::{Engine, Var};
use mxrs_graph::Graph;
use mxrs_ndarray::{ArrayContext, NdArray, RandomCalls};
use mxrs_types::{Device, Result};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Runs one program on one set of arrays. Runs never overlap: each push writes the variable of the pool.
pub struct Runner {
    /// The graph the program was made of.
    graph: Arc<Graph>,
    planned: Planned,
    machine: Arc<Machine>,
    pool: MemoryPool,
    engine: Engine,
    bound: Vec<Var>,
    outputs: Vec<Var>,
    forward: Vec<Segment>,
    backward: Vec<Segment>,
    /// Bound arrays that a run must hold although its steps do not read them: constants are made of them that other
    /// executors use too.
    held: Vec<usize>,
    packed: Arc<Packed>,
    /// What each step is.
    pub steps: Vec<StepReport>,
    taps: OnceLock<Vec<Vec<Tap>>>,
}

/// Has the content of a bound array put there; by its index.
pub type ReadArray<'a> = dyn FnMut(usize, &NdArray) -> Result<()> + 'a;

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
        (graph, program): (Arc<Graph>, Program),
        (context, pool): (&ArrayContext, &MemoryPool),
        bound: Vec<NdArray>,
        outputs: Vec<NdArray>,
        limits: Limits,
        options: &BindOptions,
    ) -> Result<Self> {
        let planned = Planned::new(program, &options.plan)?;
        let vars = |arrays: &[NdArray]| arrays.iter().map(|a| a.var().clone()).collect();
        let program = &planned.program;
        let arena = pool.arena(arena_bytes(&planned.plan))?;
        let shares = options.packed.as_ref().map(|store| (store, &bound[..]));
        let packed = Arc::new(Packed::new(program, context, shares)?);
        let held = if shares.is_some() { packed.sources().to_vec() } else { Vec::new() };
        let (steps, team) = (0..program.steps.len(), options.team.clone());
        Ok(Self {
            bound: vars(&bound),
            outputs: vars(&outputs),
            machine: Arc::new(Machine::over(&planned, (arena, packed.clone()), bound, outputs, steps, team)),
            pool: pool.clone(),
            engine: context.engine().clone(),
            held,
            packed,
            forward: segments(program, 0..program.n_forward, limits.forward),
            backward: segments(program, program.n_forward..program.steps.len(), limits.backward),
            steps: step_reports(program),
            taps: OnceLock::new(),
            graph,
            planned,
        })
    }

    /// Reserves the random calls of one run.
    pub fn reserve(&self, context: &ArrayContext) -> RandomCalls {
        match self.planned.program.n_random {
            0 => RandomCalls { seed: 0, first: 0 },
            n => context.random().reserve(Device::cpu(0), u64::from(n)),
        }
    }

    /// Pushes the forward steps.
    ///
    /// # Errors
    /// Under `NaiveEngine` what a kernel reports.
    pub fn forward(&self, random: RandomCalls) -> Result<()> {
        let is_one_push = self.forward.len() <= 1;
        if !is_one_push {
            self.prepare()?;
        }
        self.push_all(&self.forward, random, is_one_push)
    }

    /// Pushes one task that may run all forward steps, and the packing of constants.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn push_forward(&self, body: impl FnOnce(&Machine) -> Result<()> + Send + 'static) -> Result<()> {
        let all = segments(&self.planned.program, 0..self.planned.program.n_forward, usize::MAX);
        let Some(segment) = all.into_iter().next() else { return Ok(()) };
        let machine = self.machine.clone();
        let others = (0..self.bound.len()).filter(|i| !segment.rewrites.contains(i));
        let reads = if machine.has_prepare() { others.collect() } else { segment.reads.clone() };
        let task = self.engine.task(segment.name.clone()).device(Device::cpu(0)).write(self.pool.var());
        task.reads(reads.iter().map(|&i| &self.bound[i]))
            .reads(segment.reads_outputs.iter().map(|&i| &self.outputs[i]))
            .writes(segment.rewrites.iter().map(|&i| &self.bound[i]))
            .writes(segment.outputs.iter().map(|&i| &self.outputs[i]))
            .push(move |_| body(&machine))
    }

    /// Pushes the packing of constants, if there are any.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn prepare(&self) -> Result<()> {
        if !self.machine.has_prepare() {
            return Ok(());
        }
        let machine = self.machine.clone();
        let task = self.engine.task("prepare").device(Device::cpu(0)).reads(&self.bound).write(self.pool.var());
        task.push(move |_| machine.prepare())
    }

    /// Steps of the forward half, and of the gradient.
    pub fn halves(&self) -> [Range<usize>; 2] {
        let Program { n_forward, steps, .. } = &self.planned.program;
        [0..*n_forward, *n_forward..steps.len()]
    }

    /// Pushes one step alone. With `watch`, which says whether inputs are wanted too, returns copies of what the step reads
    /// and makes, with names and operator.
    ///
    /// # Errors
    /// As [`Self::forward`]; out of memory; layouts that no backend copies from.
    pub fn step(
        &self,
        step: usize,
        random: RandomCalls,
        context: &ArrayContext,
        watch: Option<(bool, &BindOptions)>,
    ) -> Result<Vec<(Tap, NdArray)>> {
        let mut copies = Vec::new();
        if let Some((with_inputs, options)) = watch {
            for tap in &self.taps(options)?[step] {
                if (tap.is_input && !with_inputs) || !self.machine.has_memory(step, tap) {
                    continue;
                }
                let copy = NdArray::empty(context, tap.shape.clone(), tap.dtype, Device::cpu(0), "monitor")?;
                copies.push((tap.clone(), copy));
            }
        }
        for segment in segments(&self.planned.program, step..step + 1, 1) {
            let (machine, copies) = (self.machine.clone(), copies.clone());
            let vars: Vec<Var> = copies.iter().map(|(_, copy)| copy.var().clone()).collect();
            let body = move || {
                let copy = |is_input: bool| {
                    let wanted = copies.iter().filter(|(tap, _)| tap.is_input == is_input);
                    wanted.cloned().try_for_each(|(tap, to)| machine.copy_out(step, &tap, &to))
                };
                copy(true)?;
                machine.run(step..step + 1, random)?;
                copy(false)
            };
            let task = self.engine.task(segment.name.clone()).device(Device::cpu(0)).write(self.pool.var());
            task.reads(self.reads(&segment))
                .reads(segment.reads_outputs.iter().map(|&i| &self.outputs[i]))
                .writes(segment.rewrites.iter().map(|&i| &self.bound[i]))
                .writes(segment.outputs.iter().map(|&i| &self.outputs[i]))
                .writes(&vars)
                .push(move |_| body())?;
        }
        Ok(copies)
    }

    fn taps(&self, options: &BindOptions) -> Result<&[Vec<Tap>]> {
        if let Some(taps) = self.taps.get() {
            return Ok(taps);
        }
        let taps = taps(&self.graph, &self.planned.program, options)?;
        Ok(self.taps.get_or_init(|| taps))
    }

    /// Pushes the steps of the gradient.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn backward(&self, random: RandomCalls) -> Result<()> {
        self.push_all(&self.backward, random, false)
    }

    fn push_all(&self, segments: &[Segment], random: RandomCalls, prepares: bool) -> Result<()> {
        for segment in segments {
            let machine = self.machine.clone();
            let steps = segment.steps.clone();
            let mut task = self.engine.task(segment.name.clone()).device(Device::cpu(0)).write(self.pool.var());
            // Packing reads every bound array.
            task = if prepares && machine.has_prepare() {
                let rewritten = |i: &usize| segment.rewrites.contains(i);
                task.reads((0..self.bound.len()).filter(|i| !rewritten(i)).map(|i| &self.bound[i]))
            } else {
                task.reads(self.reads(segment))
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

    /// What a push of the segment reads of the bound arrays.
    fn reads<'a>(&'a self, segment: &'a Segment) -> impl Iterator<Item = &'a Var> {
        let is_other = |i: &&usize| !segment.reads.contains(i) && !segment.rewrites.contains(i);
        segment.reads.iter().chain(self.held.iter().filter(is_other)).map(|&i| &self.bound[i])
    }

    /// Bound arrays that nothing needs any more once all constants are made: those that only the making of them reads.
    pub fn used_up(&self) -> Vec<usize> {
        let program = &self.planned.program;
        let is_read = |index: usize| {
            let mut of_run = program.steps.iter().flat_map(|step| step.inputs.iter().chain(&step.outputs));
            of_run.any(|value| program.values[*value].origin == Origin::Bound(index))
        };
        self.packed.sources().iter().copied().filter(|index| !is_read(*index)).collect()
    }

    /// Makes all constants, some at a time, and lets go of the arrays that are then [used up](Self::used_up); after that
    /// constants stay as they are. `bound` are the arrays it has, to which nobody else should have handles, and nothing of
    /// it may be running. The first of the two calls has the content of an array put there, by its index, before anything
    /// reads it; the second is made when much has been let go of.
    ///
    /// # Errors
    /// What a kernel reports: then it cannot be used any more.
    pub fn freeze(
        &mut self,
        (bound, outputs): (Vec<NdArray>, Vec<NdArray>),
        nothing: &NdArray,
        options: &BindOptions,
        (read, release): (&mut ReadArray<'_>, &dyn Fn()),
    ) -> Result<()> {
        const MUCH: usize = 8 << 20;
        let used_up = self.used_up();
        let is_kept = |(index, _): &(usize, &NdArray)| !used_up.contains(index);
        bound.iter().enumerate().filter(is_kept).try_for_each(|(index, array)| read(index, array))?;
        let mut is_read: Vec<bool> = (0..bound.len()).map(|index| !used_up.contains(&index)).collect();
        let arena = self.pool.arena(arena_bytes(&self.planned.plan))?;
        let n_steps = self.planned.program.steps.len();
        let mut left = bound.clone();
        used_up.iter().for_each(|index| left[*index] = nothing.clone());
        let machine = |arena, bound, range| {
            let memory = (arena, self.packed.clone());
            Arc::new(Machine::over(&self.planned, memory, bound, outputs.clone(), range, options.team.clone()))
        };
        let mut packing = machine(None, bound, 0..0);
        self.packed.freeze();
        self.machine = machine(arena, left, 0..n_steps);
        let is_needed = self.packed.needed(packing.bound());
        let n_prepare = is_needed.len();
        // Where each array is read last.
        let mut last: Vec<Vec<usize>> = vec![Vec::new(); n_prepare];
        for index in &used_up {
            let reader = (0..n_prepare).rfind(|step| self.packed.sources_of(*step).contains(index));
            reader.into_iter().for_each(|step| last[step].push(*index));
        }
        let mut first = 0;
        while first < n_prepare {
            // One task for as many steps as leave much to let go of.
            let (mut end, mut n_bytes) = (first, 0);
            while end < n_prepare && n_bytes <= MUCH {
                n_bytes += last[end].iter().map(|index| packing.bound()[*index].size_bytes()).sum::<usize>();
                end += 1;
            }
            let needed: Vec<usize> = (first..end).filter(|step| is_needed[*step]).collect();
            let mut sources: Vec<usize> =
                needed.iter().flat_map(|step| self.packed.sources_of(*step)).copied().collect();
            sources.sort_unstable();
            sources.dedup();
            for index in &sources {
                if !std::mem::replace(&mut is_read[*index], true) {
                    read(*index, &packing.bound()[*index])?;
                }
            }
            if !needed.is_empty() {
                let packing = packing.clone();
                let task = self.engine.task("freeze").device(Device::cpu(0)).write(self.pool.var());
                task.reads(sources.iter().map(|i| &self.bound[*i])).push(move |_| {
                    let made = needed.into_iter().try_for_each(|step| packing.prepare_step(step));
                    drop(packing);
                    made
                })?;
                self.engine.wait_to_write(self.pool.var())?;
            }
            // The task is over; should it still hold its machine, the arrays go later.
            if let Some(packing) = Arc::get_mut(&mut packing) {
                last[..end].iter_mut().flat_map(std::mem::take).for_each(|index| packing.let_go(index, nothing));
                if n_bytes > MUCH {
                    release();
                }
            }
            first = end;
        }
        self.packed.fix();
        // Nobody writes what it reads any more, and the variables of arrays that are gone may be too.
        self.held.clear();
        Ok(())
    }

    /// What was decided.
    pub fn report(&self) -> ExecutorReport {
        let machine = &self.machine;
        ExecutorReport {
            steps: self.steps.clone(),
            plan: self.planned.plan.report.clone(),
            arena_bytes: machine.arena_bytes,
            packed_bytes: machine.packed_bytes,
            fused: self.planned.program.fused.clone(),
            inplace_adds: self.planned.program.additions().cloned().collect(),
        }
    }
}
