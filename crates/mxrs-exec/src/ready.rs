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

use crate::packed::Packed;
use crate::program::{Action, Origin, Program, Step, ValueId};
use crate::program_passes::Planned;
use crate::program_passes::plan_memory::arena_bytes;
use crate::tap::Tap;
use mxrs_graph::{MemoryPlan, Placement};
use mxrs_ndarray::{ArrayContext, NdArray, RandomCalls};
use mxrs_op::{Kernel, KernelArgs, RandomCall, RawTensor, TensorDesc, accumulate};
use mxrs_storage::Block;
use mxrs_sync::Team;
use mxrs_types::{Result, ResultExt, WriteReq};
use std::ops::Range;
use std::sync::Arc;

type Tensor = RawTensor<'static>;

struct ReadyStep {
    name: String,
    kernel: Option<Arc<dyn Kernel>>,
    inputs: Vec<Tensor>,
    outputs: Vec<Tensor>,
    reqs: Vec<WriteReq>,
    scratch: Tensor,
    random: Option<u32>,
    /// Description of the first output, for a view that adds to its output.
    desc: TensorDesc,
}

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
    packed: Arc<Packed>,
    pub arena_bytes: usize,
    pub packed_bytes: usize,
    // Owned because raw tensors of the steps point into them.
    _outputs: Vec<NdArray>,
    _arena: Option<Arc<Block>>,
}

/// The arena for temporaries, and the packed constants of a program.
pub type Memory = (Option<Arc<Block>>, Arc<Packed>);

/// Index of a step, among the steps of a run or among the prepare steps.
#[derive(Clone, Copy)]
enum Position {
    Run(usize),
    Prepare(usize),
}

struct Addresses<'a> {
    program: &'a Program,
    plan: &'a MemoryPlan,
    arena: *mut u8,
    bound: &'a [NdArray],
    outputs: &'a [NdArray],
    packed: &'a Packed,
}

impl<'a> Addresses<'a> {
    fn new(
        planned: &'a Planned,
        arena: Option<&Arc<Block>>,
        packed: &'a Packed,
        bound: &'a [NdArray],
        outputs: &'a [NdArray],
    ) -> Self {
        let arena = arena.map_or(std::ptr::null_mut(), |block| block.as_ptr());
        Self { program: &planned.program, plan: &planned.plan, arena, bound, outputs, packed }
    }

    fn tensor(&self, value: ValueId) -> Tensor {
        let v = &self.program.values[value];
        let (ptr, len) = match v.origin {
            Origin::Part { whole, offset_bytes } => {
                (self.tensor(whole).as_ptr().wrapping_add(offset_bytes), v.desc.size_bytes())
            }
            Origin::Bound(index) => (self.bound[index].as_ptr(), v.desc.size_bytes()),
            Origin::Output(index) => (self.outputs[index].as_ptr(), v.desc.size_bytes()),
            Origin::Packed => (self.packed.place(value), v.desc.size_bytes()),
            Origin::Temporary => match self.plan.placements[value] {
                Placement::Storage(id) => {
                    (self.arena.wrapping_add(self.plan.storages[id.index()].offset_bytes), v.desc.size_bytes())
                }
                // No step reads the value, so it has no memory. Its request is Null.
                _ => (std::ptr::null_mut(), 0),
            },
        };
        // SAFETY: the program that is being built owns the memory of each origin. The memory has at least `len` bytes: an
        // array that a step uses has the shape and dtype of the value, a packed block or an arena storage was made with the
        // size of the value, and a part ends within its whole. The head of this file says why this memory may be used
        // during runs.
        unsafe { RawTensor::new(ptr, len) }
    }

    /// A tensor without bytes, for inputs whose content is ignored.
    fn nothing(&self) -> Tensor {
        // SAFETY: the tensor has no bytes, so the pointer is never read or written.
        unsafe { RawTensor::new(std::ptr::null_mut(), 0) }
    }

    fn scratch(&self, step: usize, len_bytes: usize) -> Tensor {
        let at = self.plan.scratch.get(step).copied().flatten();
        let offset = at.map(|id| self.plan.storages[id.index()].offset_bytes);
        let (ptr, len) = offset.map_or((std::ptr::null_mut(), 0), |o| (self.arena.wrapping_add(o), len_bytes));
        // SAFETY: the planner gave this step a storage of at least `len_bytes` in the arena; without a storage `len` is 0.
        unsafe { RawTensor::new(ptr, len) }
    }

    fn prepare_scratch(&self, step: usize, len_bytes: usize) -> Tensor {
        let ptr = self.packed.scratch(step);
        // SAFETY: the planner gave this prepare step `len_bytes` at this offset of a block that the ready program owns; if
        // it did not, the pointer is null and the length is 0. Prepare steps run one after another.
        unsafe { RawTensor::new(ptr, if ptr.is_null() { 0 } else { len_bytes }) }
    }

    /// Finds the addresses and requests of a step of a run or of the preparation.
    fn ready(&self, step: &Step, at: Position) -> ReadyStep {
        let position = match at {
            Position::Run(position) => Some(position),
            Position::Prepare(_) => None,
        };
        // The plan lists in-place pairs in the order of their steps.
        let pairs = position.map_or(&[][..], |p| {
            let first = self.plan.inplace.partition_point(|pair| pair.step < p);
            let n_pairs = self.plan.inplace[first..].partition_point(|pair| pair.step == p);
            &self.plan.inplace[first..first + n_pairs]
        });
        let is_inplace = |output: usize| pairs.iter().any(|pair| pair.output == output && !pair.is_identity);
        let n_plain = step.outputs.len() - step.n_rewrites;
        // Whether the content of the output is unused: no step reads the output, or all steps that read it ignore its
        // content.
        let is_unread = |output: usize| {
            let value = step.outputs[output];
            !step.is_output_used[output]
                || (self.program.values[value].origin == Origin::Temporary
                    && self.plan.placements[value] == Placement::Unreferenced)
        };
        let is_sum =
            |output: usize| self.program.sums.iter().any(|sum| Some(sum.step) == position && sum.output == output);
        let req = |output: usize| match (is_unread(output), self.program.values[step.outputs[output]].origin) {
            (true, _) => WriteReq::Null,
            (false, _) if is_sum(output) => WriteReq::Add,
            (false, Origin::Output(index)) => self.program.output_reqs[index],
            (false, _) if output >= n_plain || is_inplace(output) => WriteReq::Inplace,
            (false, _) => WriteReq::Write,
        };
        let input = |(position, &value): (usize, &ValueId)| {
            if step.ignored_inputs.contains(&position) { self.nothing() } else { self.tensor(value) }
        };
        ReadyStep {
            name: step.name.clone(),
            kernel: match &step.action {
                Action::Run(kernel) => Some(kernel.clone()),
                Action::View => None,
            },
            inputs: step.inputs.iter().enumerate().map(input).collect(),
            outputs: step.outputs.iter().map(|&v| self.tensor(v)).collect(),
            reqs: (0..step.outputs.len()).map(req).collect(),
            scratch: match at {
                Position::Run(position) => self.scratch(position, step.scratch_bytes),
                Position::Prepare(position) => self.prepare_scratch(position, step.scratch_bytes),
            },
            random: step.random,
            desc: self.program.values[step.outputs[0]].desc.clone(),
        }
    }
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
        let at = Addresses::new(planned, memory.0.as_ref(), &memory.1, bound, outputs);
        // Frozen constants are never made again, and the arrays that they were made from may have been released.
        let prepare = if memory.1.is_frozen() { &[][..] } else { &program.prepare };
        let prepare = prepare.iter().enumerate().map(|(i, step)| at.ready(step, Position::Prepare(i))).collect();
        let first = range.start;
        let steps = range.map(|i| at.ready(&program.steps[i], Position::Run(i))).collect();
        Self { prepare, steps, first }
    }
}

impl ReadyStep {
    fn run(&self, team: &Team, random: RandomCalls) -> Result<()> {
        let Some(kernel) = &self.kernel else {
            let (from, to) = (&self.inputs[0], &self.outputs[0]);
            if from.as_ptr() != to.as_ptr() && to.len_bytes() > 0 {
                // SAFETY: `from` and `to` are valid for their lengths, as the head of this file argues. Their addresses
                // differ, so the step does not run in place, and the planner keeps the tensors of such a step from
                // overlapping.
                let (from, to) = unsafe { (from.bytes(), to.bytes_mut()) };
                match self.reqs[0] {
                    WriteReq::Add => accumulate(&self.desc, to, from)?,
                    _ => to.copy_from_slice(from),
                }
            }
            return Ok(());
        };
        let call = |k: u32| RandomCall { seed: random.seed, number: random.first.wrapping_add(u64::from(k)) };
        let args = KernelArgs {
            inputs: &self.inputs,
            outputs: &self.outputs,
            reqs: &self.reqs,
            scratch: self.scratch,
            team,
            random: self.random.map(call),
        };
        // SAFETY: the tensors are those of the step that the kernel was planned for: the planner gives each the size of
        // its layout, and keeps tensors from overlapping unless they are in place. The task that runs the step holds
        // the engine variables of all these tensors, as the head of this file argues.
        unsafe { kernel.run(&args) }.context(|| format!("running `{}` ({})", self.name, kernel.name()))
    }
}

impl ReadyProgram {
    /// Resolves all addresses. The arena must have at least [`arena_bytes`].
    ///
    /// # Errors
    /// Returns an error if memory runs out.
    pub fn in_arena(
        planned: &Planned,
        context: &ArrayContext,
        arena: Option<Arc<Block>>,
        bound: Vec<NdArray>,
        outputs: Vec<NdArray>,
        team: Arc<Team>,
    ) -> Result<Self> {
        let packed = Arc::new(Packed::new(planned, context, None)?);
        Ok(Self::over(planned, (arena, packed), bound, outputs, 0..planned.program.steps.len(), team))
    }

    /// Like [`Self::in_arena`], for these steps only and with given packed constants. Arrays that none of the steps uses
    /// are ignored.
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
        (arena, packed): Memory,
        bound: Vec<NdArray>,
        outputs: Vec<NdArray>,
        team: Arc<Team>,
    ) -> Self {
        let at = Addresses::new(planned, arena.as_ref(), &packed, &bound, &outputs);
        let own = own.iter().map(|&i| (i, at.ready(&planned.program.steps[i], Position::Run(i)))).collect();
        Self {
            shared,
            own,
            bound,
            team,
            arena_bytes: arena_bytes(&planned.plan),
            packed_bytes: packed.bytes,
            packed,
            _outputs: outputs,
            _arena: arena,
        }
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

    /// Packs and computes constants whose sources changed since they were last made.
    ///
    /// # Errors
    /// Returns the errors of kernels, or an error if a constant is shared with a frozen executor and is out of date.
    pub fn prepare(&self) -> Result<()> {
        let run = |step: usize| self.shared.prepare[step].run(&self.team, RandomCalls { seed: 0, first: 0 });
        self.packed.update(&self.bound, run)
    }

    /// Runs one prepare step, which packs or computes constants.
    ///
    /// # Errors
    /// Returns the errors of kernels, or an error if a constant is shared with a frozen executor and is out of date.
    pub fn prepare_step(&self, step: usize) -> Result<()> {
        let run = |step: usize| self.shared.prepare[step].run(&self.team, RandomCalls { seed: 0, first: 0 });
        self.packed.make_alone(step, &self.bound, run)
    }

    /// The bound arrays.
    pub fn bound(&self) -> &[NdArray] {
        &self.bound
    }

    /// Releases a bound array that no remaining step uses, by putting `nothing` in its place.
    pub fn let_go(&mut self, index: usize, nothing: &NdArray) {
        self.bound[index] = nothing.clone();
    }

    /// Runs these steps. Random steps take their numbers from `random`.
    ///
    /// # Errors
    /// Returns the error of a kernel, with the name of its step.
    pub fn run(&self, steps: Range<usize>, random: RandomCalls) -> Result<()> {
        steps.into_iter().try_for_each(|step| self.step(step).run(&self.team, random))
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
    pub fn copy_out(&self, step: usize, tap: &Tap, to: &NdArray) -> Result<()> {
        let ready = self.step(step);
        let from = if tap.is_input { ready.inputs[tap.position] } else { ready.outputs[tap.position] };
        // SAFETY: the caller made the array with the shape and type in `tap`, and its task holds the array for writing.
        let to: Tensor = unsafe { RawTensor::new(to.as_ptr(), to.size_bytes()) };
        match &tap.reorder {
            Some(kernel) => {
                let args = KernelArgs {
                    inputs: &[from],
                    outputs: &[to],
                    reqs: &[WriteReq::Write],
                    scratch: RawTensor::from_slice(&[]),
                    team: &self.team,
                    random: None,
                };
                // SAFETY: the kernel was made to copy from the tensor's layout to row-major order in the shape of
                // `tap`. The same task runs the step before or after this copy, so no kernel writes the tensor
                // meanwhile. The tensor and the array do not overlap.
                unsafe { kernel.run(&args) }
            }
            None => {
                // SAFETY: the same task runs the step before or after this copy, so no kernel writes the tensor
                // meanwhile. The array does not belong to the program, so it does not overlap the tensor.
                unsafe { to.bytes_mut().copy_from_slice(from.bytes()) };
                Ok(())
            }
        }
    }
}
