//! A program with memory: all addresses are fixed. The program can run any number of times, one run at a time.
//!
//! Why kernels may use the raw tensors of a ready program:
//! 1. Addresses stay valid, because the ready program owns the bound and output arrays, the packed constants and the arena.
//!    Other ready programs may own them too.
//! 2. A run consists of engine tasks. Each task holds the variables of the bound arrays and outputs that its steps use. It
//!    also writes a variable that stands for the arena and the packed constants, unless these belong to one task only.
//!    Therefore no other task uses this memory at the same time, and no two runs on one memory overlap.
//! 3. Within a run, the planner guarantees that tensors alive at the same step do not overlap, except for in-place pairs.
//!    The parts of one tensor do not overlap each other. The planner reserves the memory of that tensor from the step that
//!    makes its first part.
//!
//! The steps of a task are on one device, and use only memory of this device. Each device has an arena and packed constants,
//! and a variable that stands for them. Tensors that are copied between devices are arrays with variables of their own.
//!
//! On a device whose memory the host cannot access, steps are enqueued on the stream of the task, and the engine orders the
//! work of tasks by events. So 2. holds for that work too. `ready/on_device.rs` keeps the memory until the work is done.

mod addresses;
mod memory;
mod on_device;
mod record;
mod step;

use crate::program_passes::Planned;
use crate::tap::Tap;
use addresses::{Addresses, Position};
pub use memory::{Home, Memory};
use mxrs_engine::RunContext;
use mxrs_ndarray::{NdArray, RandomCalls};
use mxrs_op::{KernelArgs, RawTensor};
use mxrs_sync::Team;
use mxrs_trace::{Kinds, is_on, span};
use mxrs_types::{Device, Result, WriteReq};
use on_device::OnDevice;
pub use record::{Labels, RecordAs};
use std::ops::Range;
use std::sync::Arc;
use step::{Means, ReadyStep, Tensor, copy_bytes};

/// Steps with their addresses. Several ready programs with the same memory can share them.
pub struct ReadySteps {
    prepare: Vec<ReadyStep>,
    steps: Vec<ReadyStep>,
    /// Index in the program of the step `steps[0]`.
    first: usize,
}

pub struct ReadyProgram {
    /// Steps that other ready programs may share.
    shared: Arc<ReadySteps>,
    /// Steps whose addresses differ in this program, by ascending index. They replace the steps in `shared`.
    own: Vec<(usize, ReadyStep)>,
    bound: Vec<NdArray>,
    team: Arc<Team>,
    labels: Arc<Labels>,
    record_as: RecordAs,
    /// The work of this program on the default device, if the host cannot access its memory; `None` on the host.
    on_device: Option<OnDevice>,
    /// As `on_device`, for each of the other devices of [`Self::memory`], in their order.
    on_others: Vec<Option<OnDevice>>,
    /// Arenas, packed constants and crossing arrays. Owned because raw tensors of the steps point into them, as are the
    /// outputs.
    memory: Memory,
    _outputs: Vec<NdArray>,
}

impl ReadySteps {
    /// Computes the addresses of the steps in `range`. The addresses are valid for ready programs with the same memory and
    /// the same arrays. A program that uses other arrays in some steps must replace those steps.
    pub fn new(
        planned: &Planned,
        memory: &Memory,
        bound: &[NdArray],
        outputs: &[NdArray],
        range: Range<usize>,
    ) -> Self {
        let program = &planned.program;
        let at = Addresses::new(planned, memory, bound, outputs);
        // Frozen constants are never made again, and the arrays that they were made from may have been released.
        let prepare = if memory.main.packed.is_frozen() { &[][..] } else { &program.prepare };
        let prepare = prepare.iter().enumerate().map(|(i, step)| at.ready(step, Position::Prepare(i))).collect();
        let first = range.start;
        let steps = range.map(|i| at.ready(&program.steps[i], Position::Run(i))).collect();
        Self { prepare, steps, first }
    }
}

impl ReadyProgram {
    /// Resolves the addresses of these steps. The arena must have at least [`arena_bytes`]. Arrays that none of the steps
    /// uses are ignored.
    pub fn over(
        planned: &Planned,
        memory: Memory,
        bound: Vec<NdArray>,
        outputs: Vec<NdArray>,
        range: Range<usize>,
        team: Arc<Team>,
    ) -> Self {
        let shared = Arc::new(ReadySteps::new(planned, &memory, &bound, &outputs, range));
        Self::of(shared, &[], planned, memory, bound, outputs, team)
    }

    /// A program that takes the addresses of its steps from `shared`. Only the addresses of the steps `own` are computed
    /// now. `own` must contain every step that uses a different array than the one for which `shared` was made.
    pub fn of(
        shared: Arc<ReadySteps>,
        own: &[usize],
        planned: &Planned,
        memory: Memory,
        bound: Vec<NdArray>,
        outputs: Vec<NdArray>,
        team: Arc<Team>,
    ) -> Self {
        let at = Addresses::new(planned, &memory, &bound, &outputs);
        let own = own.iter().map(|&i| (i, at.ready(&planned.program.steps[i], Position::Run(i)))).collect();
        Self {
            shared,
            own,
            bound,
            team,
            labels: planned.labels.clone(),
            record_as: RecordAs::Graph,
            on_device: OnDevice::new(&memory.main),
            on_others: memory.others.iter().map(OnDevice::new).collect(),
            memory,
            _outputs: outputs,
        }
    }

    /// This program, whose runs a profiler shows as calls of one operator.
    pub fn recorded_as(self, record_as: RecordAs) -> Self {
        Self { record_as, ..self }
    }

    fn step(&self, step: usize) -> &ReadyStep {
        match self.own.binary_search_by_key(&step, |(at, _)| *at) {
            Ok(own) => &self.own[own].1,
            Err(_) => &self.shared.steps[step - self.shared.first],
        }
    }

    /// Whether there are prepare steps, which pack and compute constants.
    pub fn has_prepare(&self) -> bool {
        !self.shared.prepare.is_empty()
    }

    /// The memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Packs and computes the constants on the device of the task whose sources changed since they were last made.
    ///
    /// # Errors
    /// Returns the errors of kernels, or an error if a constant is shared with a frozen executor and is out of date.
    pub fn prepare(&self, task: &RunContext) -> Result<()> {
        self.with(task, |means| {
            self.memory.on(task.device()).packed.update(&self.bound, means.stream(), |step| self.make(step, means))
        })
    }

    /// Runs one prepare step, which packs or computes constants.
    ///
    /// # Errors
    /// Returns the errors of kernels, or an error if a constant is shared with a frozen executor and is out of date.
    pub fn prepare_step(&self, step: usize, task: &RunContext) -> Result<()> {
        self.with(task, |means| {
            let packed = &self.memory.on(task.device()).packed;
            packed.make_alone(step, &self.bound, means.stream(), |step| self.make(step, means))
        })
    }

    /// Runs a prepare step.
    fn make(&self, step: usize, means: &Means<'_>) -> Result<()> {
        let _span = is_on(Kinds::SYMBOLIC).then(|| span(self.labels.prepare(step)));
        self.shared.prepare[step].run(means, RandomCalls { seed: 0, first: 0 })
    }

    /// Gives `run` what the task offers to steps. On a device, the memory of this program then stays allocated until the
    /// work that `run` enqueued is done.
    fn with(&self, task: &RunContext, run: impl FnOnce(&Means<'_>) -> Result<()>) -> Result<()> {
        match self.on_device(task.device()) {
            None => run(&Means { team: &self.team, on_device: None }),
            Some(on_device) => on_device.run(task, &self.team, run),
        }
    }

    fn on_device(&self, device: Device) -> &Option<OnDevice> {
        match self.memory.others.iter().position(|home| home.device == device) {
            None => &self.on_device,
            Some(other) => &self.on_others[other],
        }
    }

    /// The bound arrays.
    pub fn bound(&self) -> &[NdArray] {
        &self.bound
    }

    /// Releases a bound array that no remaining step uses, by putting `nothing` in its place.
    pub fn let_go(&mut self, index: usize, nothing: &NdArray) {
        self.bound[index] = nothing.clone();
    }

    /// Runs these steps, which are on the device of the task, or enqueues them on the stream of the task. Random steps take
    /// their numbers from `random`.
    ///
    /// # Errors
    /// Returns the error of a kernel, with the name of its step.
    pub fn run(&self, steps: Range<usize>, random: RandomCalls, task: &RunContext) -> Result<()> {
        if is_on(self.record_as.kinds()) {
            return self.run_recorded(steps, random, task);
        }
        self.run_unrecorded(steps, random, task)
    }

    #[inline(always)]
    fn run_unrecorded(&self, steps: Range<usize>, random: RandomCalls, task: &RunContext) -> Result<()> {
        self.with(task, |means| steps.into_iter().try_for_each(|step| self.step(step).run(means, random)))
    }

    /// [`Self::run`] while a profiler records these steps. On a device with streams, a span of a step is the time in which
    /// it is enqueued.
    #[cold]
    fn run_recorded(&self, steps: Range<usize>, random: RandomCalls, task: &RunContext) -> Result<()> {
        if self.record_as == RecordAs::Call {
            let _call = span(self.labels.call());
            return self.run_unrecorded(steps, random, task);
        }
        self.labels.note_plan();
        let _segment = span(self.labels.segment(&steps));
        self.with(task, |means| {
            steps.into_iter().try_for_each(|step| {
                let _step = span(self.labels.step(step));
                self.step(step).run(means, random)
            })
        })
    }

    /// Whether the tensor that `tap` describes has memory. It has if the step reads it, or makes it for another step.
    pub fn has_memory(&self, step: usize, tap: &Tap) -> bool {
        let ready = self.step(step);
        let is_written = tap.is_input || ready.reqs[tap.position] != WriteReq::Null;
        let tensor = if tap.is_input { ready.inputs[tap.position] } else { ready.outputs[tap.position] };
        is_written && (tensor.len_bytes() > 0 || tap.shape.n_elements() == 0)
    }

    /// Copies an input or an output of a step to an array in row-major order. Called by the task that runs the step, which
    /// holds the array for writing.
    ///
    /// # Errors
    /// Returns the error of the kernel that copies between layouts.
    pub fn copy_out(&self, step: usize, tap: &Tap, to: &NdArray, task: &RunContext) -> Result<()> {
        let ready = self.step(step);
        let from = if tap.is_input { ready.inputs[tap.position] } else { ready.outputs[tap.position] };
        // SAFETY: the caller made the array with the shape and type in `tap`, and its task holds the array for writing.
        let to: Tensor = unsafe { RawTensor::new(to.as_ptr(), to.size_bytes()) };
        self.with(task, |means| {
            let Some(kernel) = &tap.reorder else {
                // SAFETY: the same task runs the step before or after this copy, so no kernel writes the tensor
                // meanwhile. The array does not belong to the program, so it does not overlap the tensor. Both are on the
                // device of the program.
                return unsafe { copy_bytes(&from, &to, means) };
            };
            let args = KernelArgs {
                inputs: &[from],
                outputs: &[to],
                reqs: &[WriteReq::Write],
                scratch: RawTensor::from_slice(&[]),
                team: means.team,
                random: None,
                stream: means.stream(),
            };
            // SAFETY: the kernel was made to copy from the tensor's layout to row-major order in the shape of `tap`. The
            // same task runs the step before or after this copy, so no kernel writes the tensor meanwhile. The tensor and
            // the array do not overlap.
            unsafe { kernel.run(&args) }
        })
    }
}
