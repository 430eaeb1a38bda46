//! A lowered program with its memory, cut into segments and pushed to the engine.

mod cross;
mod freeze;
mod step;

use crate::options::BindOptions;
use crate::packed::Packed;
use crate::pool::{MemoryPool, Temporaries};
use crate::program::Program;
use crate::program_passes::Planned;
use crate::program_passes::plan_memory::arena_bytes_on;
use crate::ready::{Home, Memory, ReadyProgram};
use crate::report::{ExecutorReport, StepReport, device_bytes, step_reports};
use crate::run_random::{RunRandom, random_devices};
use crate::segment::{Segment, push, push_prepare, segments};
use crate::store::PackedStore;
use crate::tap::Tap;
use cross::{Cross, crosses, crossing_arrays};
use mxrs_engine::{Engine, RunContext, Var};
use mxrs_graph::Graph;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_types::{Device, Error, Result};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Runs one program on one set of arrays. Runs never overlap, because each task writes the variable of the pool's
/// temporaries on its device, and copies between devices write arrays of their own.
pub struct Runner {
    /// The graph from which the program was made.
    graph: Arc<Graph>,
    planned: Planned,
    ready: Arc<ReadyProgram>,
    engine: Engine,
    device: Device,
    /// The temporaries on each device of the program, the default device first.
    temporaries: Vec<Arc<Temporaries>>,
    bound: Vec<Var>,
    outputs: Vec<Var>,
    forward: Vec<Segment>,
    backward: Vec<Segment>,
    /// The copies between devices, in the order of their steps.
    crosses: Vec<Cross>,
    /// The devices that draw random numbers.
    random: Vec<Device>,
    /// Bound arrays that every task holds although its steps may not read them: constants that are shared with other
    /// executors are made from them, and no executor may make these constants again while a task reads them.
    held: Vec<(Device, usize)>,
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
        let shares = options.packed.as_ref().map(|store| (store, &bound[..]));
        let devices = program.devices();
        let memory = memory(&planned, &devices, (context, pool), shares)?;
        let sources = |home: &Home| {
            let sources = home.packed.sources().iter().filter(|_| shares.is_some());
            sources.map(|index| (home.device, *index)).collect::<Vec<_>>()
        };
        let held: Vec<(Device, usize)> = memory.homes().flat_map(sources).collect();
        let (steps, team) = (0..program.steps.len(), options.team.clone());
        let mut forward = segments(program, 0..program.n_forward, limits.forward);
        let mut backward = segments(program, program.n_forward..program.steps.len(), limits.backward);
        for segment in forward.iter_mut().chain(&mut backward) {
            segment.hold(held_on(&held, segment.device));
        }
        if let ([only], false) = (&mut forward[..], program.prepare.is_empty()) {
            // The forward half is a single task, which also makes constants. To find constants that are out of date, it
            // looks at every bound array.
            only.hold(0..bound.len());
        }
        let temporaries = devices.iter().map(|device| pool.on(*device)).collect();
        Ok(Self {
            crosses: crosses(program, &bound, &outputs, &memory.crossings)?,
            random: random_devices(program),
            bound: vars(&bound),
            outputs: vars(&outputs),
            ready: Arc::new(ReadyProgram::over(&planned, memory, bound, outputs, steps, team)),
            engine: context.engine().clone(),
            device: options.device,
            temporaries,
            held,
            forward,
            backward,
            steps: step_reports(program),
            taps: OnceLock::new(),
            graph,
            planned,
        })
    }

    /// The number of devices of the program.
    pub fn n_devices(&self) -> usize {
        self.temporaries.len()
    }

    /// The bound arrays that the tasks of a device hold.
    fn held_on(&self, device: Device) -> impl Iterator<Item = usize> {
        held_on(&self.held, device)
    }

    /// The variable of the temporaries on a device.
    fn var(&self, device: Device) -> &Var {
        let of = self.temporaries.iter().find(|of| of.device == device);
        &of.unwrap_or(&self.temporaries[0]).var
    }

    /// Reserves the random calls of one run.
    pub fn reserve(&self, context: &ArrayContext) -> RunRandom {
        RunRandom::reserve(context, &self.planned.program, &self.random)
    }

    /// Pushes the forward steps.
    ///
    /// # Errors
    /// Under `NaiveEngine` returns the error of a kernel.
    pub fn forward(&self, random: &RunRandom) -> Result<()> {
        let is_one_push = self.forward.len() <= 1;
        if !is_one_push {
            self.prepare()?;
        }
        self.push_all(&self.forward, random, is_one_push)
    }

    /// Pushes one task that runs `body`, which may run all forward steps and the prepare steps in the context of the task.
    /// The program must have one device.
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

    /// Pushes tasks that make the constants that are out of date, one task per device that has constants.
    ///
    /// # Errors
    /// Returns the errors of [`Self::forward`].
    pub fn prepare(&self) -> Result<()> {
        if !self.ready.has_prepare() {
            return Ok(());
        }
        if self.n_devices() == 1 {
            return self.prepare_on(self.device, &self.bound);
        }
        let has_some = |home: &&Home| self.planned.program.prepare.iter().any(|step| step.device == home.device);
        for home in self.ready.memory().homes().filter(has_some) {
            let sources: Vec<Var> = home.packed.sources().iter().map(|index| self.bound[*index].clone()).collect();
            self.prepare_on(home.device, &sources)?;
        }
        Ok(())
    }

    fn prepare_on(&self, device: Device, sources: &[Var]) -> Result<()> {
        let ready = self.ready.clone();
        push_prepare((&self.engine, device), self.var(device), sources, move |task| ready.prepare(task))
    }

    /// Pushes one task that runs steps of a segment. It also writes the variables `others`.
    fn push(
        &self,
        segment: &Segment,
        others: &[Var],
        body: impl FnOnce(&RunContext) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let writes = std::iter::once(self.var(segment.device)).chain(others);
        push(
            (&self.engine, segment.device),
            segment,
            writes,
            |index| &self.bound[index],
            |index| &self.outputs[index],
            &self.ready.memory().crossings,
            body,
        )
    }

    /// Pushes the copy between devices that is step `step`.
    fn cross(&self, step: usize) -> Result<&Cross> {
        let at = self.crosses.binary_search_by_key(&step, |cross| cross.step);
        let what = || Error::invalid("copy between devices", format!("step {step}"), "a step that copies");
        let cross = &self.crosses[at.map_err(|_| what())?];
        cross.push()?;
        Ok(cross)
    }

    /// The steps of the forward half, and the steps of the gradient.
    pub fn halves(&self) -> [Range<usize>; 2] {
        let Program { n_forward, steps, .. } = &*self.planned.program;
        [0..*n_forward, *n_forward..steps.len()]
    }

    /// Pushes the steps of the gradient.
    ///
    /// # Errors
    /// Returns the errors of [`Self::forward`].
    pub fn backward(&self, random: &RunRandom) -> Result<()> {
        self.push_all(&self.backward, random, false)
    }

    /// Pushes segments. If `prepares` is set or constants are shared, each task first makes the constants that are out of
    /// date. With shared constants that is needed because another executor may have begun to make them since this run was
    /// pushed.
    fn push_all(&self, segments: &[Segment], random: &RunRandom, prepares: bool) -> Result<()> {
        let prepares = prepares || !self.held.is_empty();
        for segment in segments {
            if segment.crosses {
                self.cross(segment.steps.start)?;
                continue;
            }
            let (ready, steps, random) = (self.ready.clone(), segment.steps.clone(), random.on(segment.device));
            self.push(segment, &[], move |task| {
                if prepares {
                    ready.prepare(task)?;
                }
                ready.run(steps, random, task)
            })?;
        }
        Ok(())
    }

    /// The report about steps and memory.
    pub fn report(&self) -> ExecutorReport {
        let (program, plan) = (&self.planned.program, &self.planned.plan);
        let packed = |home: &Home| (home.device, home.packed.bytes);
        let packed: Vec<(Device, usize)> = self.ready.memory().homes().map(packed).collect();
        let devices = device_bytes(program, plan, &packed);
        ExecutorReport {
            steps: self.steps.clone(),
            plan: self.planned.plan.report.clone(),
            arena_bytes: devices.iter().map(|of| of.arena_bytes).sum(),
            packed_bytes: devices.iter().map(|of| of.packed_bytes).sum(),
            devices,
            fused: self.planned.program.fused.clone(),
            inplace_adds: self.planned.program.additions().cloned().collect(),
        }
    }
}

fn held_on(held: &[(Device, usize)], device: Device) -> impl Iterator<Item = usize> {
    held.iter().filter(move |(of, _)| *of == device).map(|(_, index)| *index)
}

/// Allocates the memory of a planned program on these devices, of which the first is the default.
fn memory(
    planned: &Planned,
    devices: &[Device],
    (context, pool): (&ArrayContext, &MemoryPool),
    shares: Option<(&PackedStore, &[NdArray])>,
) -> Result<Memory> {
    let home = |device: &Device| {
        let arena = pool.arena(*device, arena_bytes_on(&planned.plan, *device))?;
        Ok(Home { device: *device, arena, packed: Arc::new(Packed::new(planned, context, *device, shares)?) })
    };
    let (main, others) = devices.split_first().unwrap_or((&planned.program.device, &[]));
    Ok(Memory {
        main: home(main)?,
        others: others.iter().map(home).collect::<Result<_>>()?,
        crossings: crossing_arrays(&planned.program, pool)?,
    })
}
