//! A lowered program with its memory, cut into segments and pushed to the engine.

use crate::options::BindOptions;
use crate::packed::Packed;
use crate::pool::MemoryPool;
use crate::program::{Origin, Program};
use crate::program_passes::Planned;
use crate::program_passes::plan_memory::arena_bytes;
use crate::ready::ReadyProgram;
use crate::report::{ExecutorReport, StepReport, step_reports};
use crate::segment::{Segment, push, push_prepare, segments};
use crate::tap::{Tap, taps};
use mxrs_engine::{Engine, RunContext, Var};
use mxrs_graph::Graph;
use mxrs_ndarray::{ArrayContext, NdArray, RandomCalls};
use mxrs_types::{Device, Result};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Runs one program on one set of arrays. Runs never overlap, because each task writes the variable of the pool.
pub struct Runner {
    /// The graph from which the program was made.
    graph: Arc<Graph>,
    planned: Planned,
    ready: Arc<ReadyProgram>,
    pool: MemoryPool,
    engine: Engine,
    device: Device,
    bound: Vec<Var>,
    outputs: Vec<Var>,
    forward: Vec<Segment>,
    backward: Vec<Segment>,
    /// Bound arrays that every task holds although its steps may not read them: constants that are shared with other
    /// executors are made from them, and no executor may make these constants again while a task reads them.
    held: Vec<usize>,
    packed: Arc<Packed>,
    /// The report of each step.
    pub steps: Vec<StepReport>,
    taps: OnceLock<Vec<Vec<Tap>>>,
}

/// A function that pushes a write of the content of a bound array. Its arguments are the index of the array and the array.
pub type ReadArray<'a> = dyn FnMut(usize, &NdArray) -> Result<()> + 'a;

/// The most kernels in one task, for the forward half and for the gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub forward: usize,
    pub backward: usize,
}

impl Runner {
    /// Allocates the memory of a planned program and makes it ready to run.
    ///
    /// # Errors
    /// Returns an error if memory runs out.
    pub fn new(
        (graph, planned): (Arc<Graph>, Planned),
        (context, pool): (&ArrayContext, &MemoryPool),
        bound: Vec<NdArray>,
        outputs: Vec<NdArray>,
        limits: Limits,
        options: &BindOptions,
    ) -> Result<Self> {
        let vars = |arrays: &[NdArray]| arrays.iter().map(|a| a.var().clone()).collect();
        let program = &planned.program;
        let arena = pool.arena(arena_bytes(&planned.plan))?;
        let shares = options.packed.as_ref().map(|store| (store, &bound[..]));
        let packed = Arc::new(Packed::new(&planned, context, options.device, shares)?);
        let held = if shares.is_some() { packed.sources().to_vec() } else { Vec::new() };
        let (steps, team) = (0..program.steps.len(), options.team.clone());
        let mut forward = segments(program, 0..program.n_forward, limits.forward);
        let mut backward = segments(program, program.n_forward..program.steps.len(), limits.backward);
        forward.iter_mut().chain(&mut backward).for_each(|segment| segment.hold(held.iter().copied()));
        if let ([only], false) = (&mut forward[..], program.prepare.is_empty()) {
            // The forward half is a single task, which also makes constants. To find constants that are out of date, it
            // looks at every bound array.
            only.hold(0..bound.len());
        }
        Ok(Self {
            bound: vars(&bound),
            outputs: vars(&outputs),
            ready: Arc::new(ReadyProgram::over(&planned, (arena, packed.clone()), bound, outputs, steps, team)),
            pool: pool.clone(),
            engine: context.engine().clone(),
            device: options.device,
            held,
            packed,
            forward,
            backward,
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
            n => context.random().reserve(self.device, u64::from(n)),
        }
    }

    /// Pushes the forward steps.
    ///
    /// # Errors
    /// Under `NaiveEngine` returns the error of a kernel.
    pub fn forward(&self, random: RandomCalls) -> Result<()> {
        let is_one_push = self.forward.len() <= 1;
        if !is_one_push {
            self.prepare()?;
        }
        self.push_all(&self.forward, random, is_one_push)
    }

    /// Pushes one task that runs `body`, which may run all forward steps and the prepare steps in the context of the task.
    ///
    /// # Errors
    /// Returns the errors of [`Self::forward`].
    pub fn push_forward(
        &self,
        body: impl FnOnce(&ReadyProgram, &RunContext) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let all = segments(&self.planned.program, 0..self.planned.program.n_forward, usize::MAX);
        let Some(mut segment) = all.into_iter().next() else { return Ok(()) };
        if self.ready.has_prepare() {
            segment.hold(0..self.bound.len());
        }
        let ready = self.ready.clone();
        self.push(&segment, &[], move |task| body(&ready, task))
    }

    /// Pushes a task that makes the constants that are out of date, if the program has constants.
    ///
    /// # Errors
    /// Returns the errors of [`Self::forward`].
    pub fn prepare(&self) -> Result<()> {
        if !self.ready.has_prepare() {
            return Ok(());
        }
        let ready = self.ready.clone();
        push_prepare((&self.engine, self.device), self.pool.var(), &self.bound, move |task| ready.prepare(task))
    }

    /// Pushes one task that runs steps of a segment. It also writes the variables `others`.
    fn push(
        &self,
        segment: &Segment,
        others: &[Var],
        body: impl FnOnce(&RunContext) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let writes = std::iter::once(self.pool.var()).chain(others);
        push(
            (&self.engine, self.device),
            segment,
            writes,
            |index| &self.bound[index],
            |index| &self.outputs[index],
            body,
        )
    }

    /// The steps of the forward half, and the steps of the gradient.
    pub fn halves(&self) -> [Range<usize>; 2] {
        let Program { n_forward, steps, .. } = &*self.planned.program;
        [0..*n_forward, *n_forward..steps.len()]
    }

    /// Pushes one step alone. If `watch` is given, returns copies of the outputs of the step, with their names and
    /// operator. If the flag in `watch` is true, returns copies of the inputs too.
    ///
    /// # Errors
    /// Returns the errors of [`Self::forward`], or an error if memory runs out or no backend copies from some layout.
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
                if (tap.is_input && !with_inputs) || !self.ready.has_memory(step, tap) {
                    continue;
                }
                let copy = NdArray::empty(context, tap.shape.clone(), tap.dtype, self.device, "monitor")?;
                copies.push((tap.clone(), copy));
            }
        }
        for mut segment in segments(&self.planned.program, step..step + 1, 1) {
            segment.hold(self.held.iter().copied());
            let (ready, copies, prepares) = (self.ready.clone(), copies.clone(), !self.held.is_empty());
            let vars: Vec<Var> = copies.iter().map(|(_, copy)| copy.var().clone()).collect();
            self.push(&segment, &vars, move |task| {
                let copy = |is_input: bool| {
                    let wanted = copies.iter().filter(|(tap, _)| tap.is_input == is_input);
                    wanted.cloned().try_for_each(|(tap, to)| ready.copy_out(step, &tap, &to, task))
                };
                if prepares {
                    ready.prepare(task)?;
                }
                copy(true)?;
                ready.run(step..step + 1, random, task)?;
                copy(false)
            })?;
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
    /// Returns the errors of [`Self::forward`].
    pub fn backward(&self, random: RandomCalls) -> Result<()> {
        self.push_all(&self.backward, random, false)
    }

    /// Pushes segments. If `prepares` is set or constants are shared, each task first makes the constants that are out of
    /// date. With shared constants that is needed because another executor may have begun to make them since this run was
    /// pushed.
    fn push_all(&self, segments: &[Segment], random: RandomCalls, prepares: bool) -> Result<()> {
        let prepares = prepares || !self.held.is_empty();
        for segment in segments {
            let (ready, steps) = (self.ready.clone(), segment.steps.clone());
            self.push(segment, &[], move |task| {
                if prepares {
                    ready.prepare(task)?;
                }
                ready.run(steps, random, task)
            })?;
        }
        Ok(())
    }

    /// Bound arrays that are not needed once all constants are made, because only prepare steps read them.
    pub fn used_up(&self) -> Vec<usize> {
        let program = &self.planned.program;
        let is_read = |index: usize| {
            let mut of_run = program.steps.iter().flat_map(|step| step.inputs.iter().chain(&step.outputs));
            of_run.any(|value| program.values[*value].origin == Origin::Bound(index))
        };
        self.packed.sources().iter().copied().filter(|index| !is_read(*index)).collect()
    }

    /// Makes all constants, several prepare steps at a time, and releases the bound arrays that are [not
    /// needed](Self::used_up) afterwards. The constants are never made again. The caller should keep no other handles
    /// to the bound arrays `bound`, and no run may be in progress. `read` gets an array and its index, and pushes a
    /// write of the content of the array before a step reads it. `release` is called whenever many bytes have been
    /// released.
    ///
    /// # Errors
    /// Returns the error of a kernel or of `read`. The runner cannot be used after an error.
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
        let ready = |arena, bound, range| {
            let memory = (arena, self.packed.clone());
            Arc::new(ReadyProgram::over(&self.planned, memory, bound, outputs.clone(), range, options.team.clone()))
        };
        let mut packing = ready(None, bound, 0..0);
        self.packed.freeze();
        self.ready = ready(arena, left, 0..n_steps);
        let is_needed = self.packed.needed(packing.bound());
        let n_prepare = is_needed.len();
        // For each prepare step, the arrays that it reads and that no later prepare step reads.
        let mut last: Vec<Vec<usize>> = vec![Vec::new(); n_prepare];
        for index in &used_up {
            let reader = (0..n_prepare).rfind(|step| self.packed.sources_of(*step).contains(index));
            reader.into_iter().for_each(|step| last[step].push(*index));
        }
        let mut first = 0;
        while first < n_prepare {
            // Adds steps to one task until the arrays that can be released after the task have more than `MUCH` bytes.
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
                let task = self.engine.task("freeze").device(self.device).write(self.pool.var());
                task.reads(sources.iter().map(|i| &self.bound[*i])).push(move |task| {
                    let made = needed.into_iter().try_for_each(|step| packing.prepare_step(step, task));
                    drop(packing);
                    made
                })?;
                self.engine.wait_to_write(self.pool.var())?;
            }
            // The task has run. If its handle to `packing` has not been dropped yet, the arrays are released in a later
            // round.
            if let Some(packing) = Arc::get_mut(&mut packing) {
                last[..end].iter_mut().flat_map(std::mem::take).for_each(|index| packing.let_go(index, nothing));
                if n_bytes > MUCH {
                    release();
                }
            }
            first = end;
        }
        self.packed.fix();
        // The constants are never made again, and the variables of arrays that were released may be gone.
        self.held.clear();
        self.forward.iter_mut().chain(&mut self.backward).for_each(|segment| segment.hold([]));
        Ok(())
    }

    /// The report about steps and memory.
    pub fn report(&self) -> ExecutorReport {
        let ready = &self.ready;
        ExecutorReport {
            steps: self.steps.clone(),
            plan: self.planned.plan.report.clone(),
            arena_bytes: ready.arena_bytes,
            packed_bytes: ready.packed_bytes,
            fused: self.planned.program.fused.clone(),
            inplace_adds: self.planned.program.additions().cloned().collect(),
        }
    }
}
