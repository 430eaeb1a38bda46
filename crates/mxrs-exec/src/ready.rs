//! A program with memory: every address fixed, ready to run any number of times, one run at a time.
//!
//! Why kernels may use the raw tensors here:
//! 1. Bound and output arrays, packed constants and the arena are owned by the ready program, alone or together with other
//!    ready programs, so addresses stay valid.
//! 2. Runs happen inside engine tasks that hold the bound arrays and outputs they use, and a variable for writing that
//!    stands for arena and packed constants (none is needed if it is made for one task); the engine lets nobody
//!    else touch them meanwhile, and no two runs on one memory overlap.
//! 3. Within a run, the planner guarantees that tensors alive at the same step do not overlap unless declared in place.
//!    Parts of one tensor do not overlap, and to the planner it lives from when the first of them is made.

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
    /// Description of a view's output, which may have to be added to.
    desc: TensorDesc,
}

/// Steps with their addresses. Several ready programs on one memory can share them.
pub struct ReadySteps {
    prepare: Vec<ReadyStep>,
    steps: Vec<ReadyStep>,
    /// Step of the program that `steps[0]` is.
    first: usize,
}

pub struct ReadyProgram {
    /// Steps whose addresses other programs may share.
    shared: Arc<ReadySteps>,
    /// Steps that have other addresses in this program, in order.
    own: Vec<(usize, ReadyStep)>,
    bound: Vec<NdArray>,
    team: Arc<Team>,
    packed: Arc<Packed>,
    pub arena_bytes: usize,
    pub packed_bytes: usize,
    // Kept alive for the raw tensors above.
    _outputs: Vec<NdArray>,
    _arena: Option<Arc<Block>>,
}

/// Temporaries and packed constants of a program.
pub type Memory = (Option<Arc<Block>>, Arc<Packed>);

/// Which step of a program.
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
                // Nobody reads it: no memory, and its request is Null.
                _ => (std::ptr::null_mut(), 0),
            },
        };
        // SAFETY: each origin's memory is owned by the program being built and at least this large (arrays were made
        // with the value's shape and dtype, packed blocks and arena storages with its size, and a part ends within its
        // whole); the module head says why it may be used during runs.
        unsafe { RawTensor::new(ptr, len) }
    }

    /// A tensor nobody looks into.
    fn nothing(&self) -> Tensor {
        // SAFETY: no bytes.
        unsafe { RawTensor::new(std::ptr::null_mut(), 0) }
    }

    fn scratch(&self, step: usize, len_bytes: usize) -> Tensor {
        let at = self.plan.scratch.get(step).copied().flatten();
        let offset = at.map(|id| self.plan.storages[id.index()].offset_bytes);
        let (ptr, len) = offset.map_or((std::ptr::null_mut(), 0), |o| (self.arena.wrapping_add(o), len_bytes));
        // SAFETY: the planner gave this step a storage of at least this size in the arena.
        unsafe { RawTensor::new(ptr, len) }
    }

    fn prepare_scratch(&self, step: usize, len_bytes: usize) -> Tensor {
        let ptr = self.packed.scratch(step);
        // SAFETY: planned for this prepare step with this size, in a block that the ready program owns; they run one by one.
        unsafe { RawTensor::new(ptr, if ptr.is_null() { 0 } else { len_bytes }) }
    }

    /// Makes a step ready: of a run, with its position there, or of the preparation.
    fn ready(&self, step: &Step, at: Position) -> ReadyStep {
        let position = match at {
            Position::Run(position) => Some(position),
            Position::Prepare(_) => None,
        };
        // The plan lists pairs by their steps.
        let pairs = position.map_or(&[][..], |p| {
            let first = self.plan.inplace.partition_point(|pair| pair.step < p);
            let n_pairs = self.plan.inplace[first..].partition_point(|pair| pair.step == p);
            &self.plan.inplace[first..first + n_pairs]
        });
        let is_inplace = |output: usize| pairs.iter().any(|pair| pair.output == output && !pair.is_identity);
        let n_plain = step.outputs.len() - step.n_rewrites;
        // Nobody reads it, or only those who ignore its content.
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
    /// Finds the addresses of these steps. They are good for ready programs with the same memory and the same arrays; steps that
    /// use other arrays must be the program's own.
    pub fn new(
        planned: &Planned,
        memory: &Memory,
        bound: &[NdArray],
        outputs: &[NdArray],
        range: Range<usize>,
    ) -> Self {
        let program = &planned.program;
        let at = Addresses::new(planned, memory.0.as_ref(), &memory.1, bound, outputs);
        // Frozen constants are not made again, and what they were made from may be gone.
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
                // SAFETY: both are valid for their (equal) sizes; they are either the same memory or disjoint.
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
        kernel.run(&args).context(|| format!("running `{}` ({})", self.name, kernel.name()))
    }
}

impl ReadyProgram {
    /// Resolves every address, with an arena of at least [`arena_bytes`].
    ///
    /// # Errors
    /// Out of memory.
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

    /// As [`Self::in_arena`], for these steps only, with packed constants of [`Packed::new`]. Arrays that none of the steps
    /// uses may be any.
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

    /// A program whose addresses have been found before, except for those of the steps `own`: all that use an array
    /// which is not the one they were found for.
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

    /// Whether constants are packed or computed at all.
    pub fn has_prepare(&self) -> bool {
        !self.shared.prepare.is_empty()
    }

    /// Packs and computes constants whose sources changed since they were last made.
    ///
    /// # Errors
    /// What a kernel reports.
    pub fn prepare(&self) -> Result<()> {
        let run = |step: usize| self.shared.prepare[step].run(&self.team, RandomCalls { seed: 0, first: 0 });
        self.packed.update(&self.bound, run)
    }

    /// Packs or computes what one prepare step makes.
    ///
    /// # Errors
    /// What a kernel reports.
    pub fn prepare_step(&self, step: usize) -> Result<()> {
        let run = |step: usize| self.shared.prepare[step].run(&self.team, RandomCalls { seed: 0, first: 0 });
        self.packed.make_alone(step, &self.bound, run)
    }

    /// The bound arrays.
    pub fn bound(&self) -> &[NdArray] {
        &self.bound
    }

    /// Lets go of a bound array that none of the steps still to be run uses.
    pub fn let_go(&mut self, index: usize, nothing: &NdArray) {
        self.bound[index] = nothing.clone();
    }

    /// Runs these steps; random steps take their calls from `random`.
    ///
    /// # Errors
    /// What the kernel reports, with the step's name.
    pub fn run(&self, steps: Range<usize>, random: RandomCalls) -> Result<()> {
        steps.into_iter().try_for_each(|step| self.step(step).run(&self.team, random))
    }

    /// Whether a step really reads or makes what a tap is for.
    pub fn has_memory(&self, step: usize, tap: &Tap) -> bool {
        let ready = self.step(step);
        let is_written = tap.is_input || ready.reqs[tap.position] != WriteReq::Null;
        let tensor = if tap.is_input { ready.inputs[tap.position] } else { ready.outputs[tap.position] };
        is_written && (tensor.len_bytes() > 0 || tap.shape.n_elements() == 0)
    }

    /// Copies what a step reads or has made, to an array in row-major order. Called by the task that runs the step, which
    /// holds the array for writing.
    ///
    /// # Errors
    /// What the kernel that copies between layouts reports.
    pub fn copy_out(&self, step: usize, tap: &Tap, to: &NdArray) -> Result<()> {
        let ready = self.step(step);
        let from = if tap.is_input { ready.inputs[tap.position] } else { ready.outputs[tap.position] };
        // SAFETY: the array is as large as the tap's shape and type say, and held for writing (see above).
        let to: Tensor = unsafe { RawTensor::new(to.as_ptr(), to.size_bytes()) };
        match &tap.reorder {
            Some(kernel) => kernel.run(&KernelArgs {
                inputs: &[from],
                outputs: &[to],
                reqs: &[WriteReq::Write],
                scratch: RawTensor::from_slice(&[]),
                team: &self.team,
                random: None,
            }),
            None => {
                // SAFETY: the step does not run now, so nobody writes its tensors; the array is no tensor of the program.
                unsafe { to.bytes_mut().copy_from_slice(from.bytes()) };
                Ok(())
            }
        }
    }
}
