//! A program with memory: every address fixed, ready to run any number of times, one run at a time.
//!
//! Why kernels may use the raw tensors here:
//! 1. Bound and output arrays, packed constants and the arena are owned by the machine, alone or together with other
//!    machines, so addresses stay valid.
//! 2. Runs happen inside engine tasks that hold the bound arrays and outputs they use, and a variable for writing that
//!    stands for arena and packed constants (none is needed where a machine is made for one task); the engine lets nobody
//!    else touch them meanwhile, and no two runs on one memory overlap.
//! 3. Within a run, the planner guarantees that tensors alive at the same step do not overlap unless declared in place.

use crate::packed::Packed;
use crate::program::{Action, Origin, Program, Step, ValueId};
use mxrs_graph::{EntryId, EntryKind, MemoryPlan, Placement, PlanEntry, PlanOptions, PlanStep, plan_memory};
use mxrs_ndarray::{ArrayContext, NdArray, RandomCalls};
use mxrs_op::{Kernel, KernelArgs, RandomCall, RawTensor, TensorDesc, accumulate};
use mxrs_storage::{Block, Tag};
use mxrs_sync::Team;
use mxrs_types::{Device, Result, ResultExt, WriteReq};
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

struct PrepareStep {
    step: ReadyStep,
    /// Bound array it reads.
    source: usize,
}

pub struct Machine {
    prepare: Vec<PrepareStep>,
    steps: Vec<ReadyStep>,
    bound: Vec<NdArray>,
    team: Arc<Team>,
    packed: Arc<Packed>,
    pub arena_bytes: usize,
    pub packed_bytes: usize,
    /// Step of the program that `steps[0]` is.
    first: usize,
    // Kept alive for the raw tensors above.
    _outputs: Vec<NdArray>,
    _arena: Option<Arc<Block>>,
}

/// Memory for the temporaries of a program, when there are any.
///
/// # Errors
/// Out of memory.
pub fn allocate_arena(plan: &MemoryPlan, context: &ArrayContext) -> Result<Option<Arc<Block>>> {
    match arena_bytes(plan) {
        0 => Ok(None),
        n => Ok(Some(Arc::new(context.storage().allocate(Device::cpu(0), n, Tag::new("executor:arena"))?))),
    }
}

fn arena_bytes(plan: &MemoryPlan) -> usize {
    plan.arenas.iter().map(|(_, bytes)| bytes).sum()
}

/// A program and where its values are, without memory: machines are made of it, any number of them.
pub struct Planned {
    pub program: Program,
    pub plan: MemoryPlan,
}

impl Planned {
    /// Plans the memory of a program.
    ///
    /// # Errors
    /// A contradiction in the program, sizes that do not fit.
    pub fn new(program: Program, options: &PlanOptions) -> Result<Self> {
        let plan = plan(&program, options)?;
        Ok(Self { program, plan })
    }
}

/// What the planner is told of a program, and what it answers.
///
/// # Errors
/// As [`Planned::new`].
pub fn plan(program: &Program, options: &PlanOptions) -> Result<MemoryPlan> {
    let entries: Vec<PlanEntry> = program
        .values
        .iter()
        .map(|value| PlanEntry {
            size_bytes: value.desc.size_bytes(),
            device: Device::cpu(0),
            kind: if value.origin == Origin::Temporary { EntryKind::Planned } else { EntryKind::External },
        })
        .collect();
    let ids = |values: &[ValueId]| values.iter().map(|&v| EntryId::new(v)).collect();
    let steps: Vec<PlanStep> = program
        .steps
        .iter()
        .map(|step| PlanStep {
            inputs: ids(&step.inputs),
            outputs: ids(&step.outputs),
            inplace: step.inplace.clone(),
            identity: if matches!(step.action, Action::View) { vec![(0, 0)] } else { Vec::new() },
            ignored_inputs: step.ignored_inputs.clone(),
            scratch_bytes: step.scratch_bytes,
        })
        .collect();
    let heads: Vec<EntryId> = program.outputs.iter().map(|&v| EntryId::new(v)).collect();
    plan_memory(&steps, &entries, &heads, options)
}

/// Bytes of the arena that a program would have.
///
/// # Errors
/// As [`Planned::new`].
pub fn planned_arena_bytes(program: &Program, options: &PlanOptions) -> Result<usize> {
    Ok(arena_bytes(&plan(program, &PlanOptions { verbose: false, ..*options })?))
}

struct Addresses<'a> {
    program: &'a Program,
    plan: &'a MemoryPlan,
    arena: *mut u8,
    bound: &'a [NdArray],
    outputs: &'a [NdArray],
    packed: &'a Packed,
}

impl Addresses<'_> {
    fn tensor(&self, value: ValueId) -> Tensor {
        let v = &self.program.values[value];
        let (ptr, len) = match v.origin {
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
        // SAFETY: each origin's memory is owned by the machine being built and at least this large (arrays were made
        // with the value's shape and dtype, packed blocks and arena storages with its size); the module head says why
        // it may be used during runs.
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

    fn ready(&self, step: &Step, position: Option<usize>) -> ReadyStep {
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
        let req = |output: usize| match (is_unread(output), self.program.values[step.outputs[output]].origin) {
            (true, _) => WriteReq::Null,
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
            scratch: position.map_or(self.nothing(), |p| self.scratch(p, step.scratch_bytes)),
            random: step.random,
            desc: self.program.values[step.outputs[0]].desc.clone(),
        }
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

impl Machine {
    /// Allocates and resolves every address.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(
        planned: &Planned,
        context: &ArrayContext,
        bound: Vec<NdArray>,
        outputs: Vec<NdArray>,
        team: Arc<Team>,
    ) -> Result<Self> {
        let arena = allocate_arena(&planned.plan, context)?;
        let packed = Arc::new(Packed::new(&planned.program, context)?);
        Ok(Self::over(planned, (arena, packed), bound, outputs, 0..planned.program.steps.len(), team))
    }

    /// As [`Self::new`], for these steps only, with memory of [`allocate_arena`] and [`Packed::new`]. Arrays that none of
    /// the steps uses may be any.
    pub fn over(
        planned: &Planned,
        (arena, packed): (Option<Arc<Block>>, Arc<Packed>),
        bound: Vec<NdArray>,
        outputs: Vec<NdArray>,
        range: Range<usize>,
        team: Arc<Team>,
    ) -> Self {
        let Planned { program, plan } = planned;
        let arena_bytes = arena_bytes(plan);
        let arena_ptr = arena.as_ref().map_or(std::ptr::null_mut(), |block| block.as_ptr());
        let at = Addresses { program, plan, arena: arena_ptr, bound: &bound, outputs: &outputs, packed: &packed };
        let source = |step: &Step| match program.values[step.inputs[0]].origin {
            Origin::Bound(index) => index,
            // Constants are packed straight from their arrays; anything else would be a bug in lowering.
            other => unreachable!("a constant packed from {other:?}"),
        };
        let prepare =
            program.prepare.iter().map(|step| PrepareStep { step: at.ready(step, None), source: source(step) });
        let prepare = prepare.collect();
        let first = range.start;
        let steps = range.map(|i| at.ready(&program.steps[i], Some(i))).collect();
        Self {
            prepare,
            steps,
            bound,
            team,
            arena_bytes,
            packed_bytes: packed.bytes,
            packed,
            first,
            _outputs: outputs,
            _arena: arena,
        }
    }

    /// Whether constants are packed at all.
    pub fn has_prepare(&self) -> bool {
        !self.prepare.is_empty()
    }

    /// Packs constants that changed since they were last packed.
    ///
    /// # Errors
    /// What a kernel reports.
    pub fn prepare(&self) -> Result<()> {
        for (index, prepare) in self.prepare.iter().enumerate() {
            let run = || prepare.step.run(&self.team, RandomCalls { seed: 0, first: 0 });
            self.packed.update(index, &self.bound[prepare.source], run)?;
        }
        Ok(())
    }

    /// Runs these steps; random steps take their calls from `random`.
    ///
    /// # Errors
    /// What the kernel reports, with the step's name.
    pub fn run(&self, steps: Range<usize>, random: RandomCalls) -> Result<()> {
        self.steps[steps.start - self.first..steps.end - self.first]
            .iter()
            .try_for_each(|step| step.run(&self.team, random))
    }
}
