//! Programs for tests: steps, entries and heads, written by hand or random.

use crate::EntryId;
use crate::memory::{EntryKind, MemoryPlan, PlanEntry, PlanOptions, PlanStep, plan_memory};
use mxrs_types::Device;
use proptest::prelude::*;

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub steps: Vec<PlanStep>,
    pub entries: Vec<PlanEntry>,
    pub heads: Vec<EntryId>,
}

impl Program {
    pub fn entry(&mut self, size_bytes: usize, kind: EntryKind) -> EntryId {
        self.entries.push(PlanEntry { size_bytes, device: Device::cpu(0), kind });
        EntryId::new(self.entries.len() - 1)
    }

    /// Adds a step with one planned output.
    pub fn step(&mut self, inputs: &[EntryId], size_bytes: usize, inplace: &[(usize, usize)]) -> EntryId {
        let output = self.entry(size_bytes, EntryKind::Planned);
        self.steps.push(PlanStep {
            inputs: inputs.to_vec(),
            outputs: vec![output],
            inplace: inplace.to_vec(),
            ..PlanStep::default()
        });
        output
    }

    pub fn plan(&self, options: &PlanOptions) -> MemoryPlan {
        plan_memory(&self.steps, &self.entries, &self.heads, options).unwrap()
    }

    /// The first and last step at which each entry's content matters; `None` if the content is never read. They are
    /// found by a search over all steps, independently of the planner, which counts reads.
    pub fn lifetimes(&self) -> Vec<Option<(usize, usize)>> {
        let mut found = vec![None; self.entries.len()];
        for (e, life) in found.iter_mut().enumerate() {
            let made = self.steps.iter().position(|s| s.outputs.iter().any(|o| o.index() == e));
            let reads = |step: &PlanStep| {
                step.inputs.iter().enumerate().any(|(i, x)| x.index() == e && !step.ignored_inputs.contains(&i))
            };
            let last = if self.heads.iter().any(|h| h.index() == e) {
                Some(self.steps.len())
            } else {
                self.steps.iter().rposition(reads)
            };
            *life = made.zip(last);
        }
        found
    }
}

/// Options that exercise every path of the planner.
pub fn all_options() -> Vec<PlanOptions> {
    let with = |match_range, num_colors, enable_inplace, auto_search| PlanOptions {
        match_range,
        num_colors,
        enable_inplace,
        auto_search,
        ..PlanOptions::default()
    };
    vec![
        PlanOptions::default(),
        with(None, 1, false, true),
        with(Some(0), 1, true, true),
        with(Some(0), 1, false, true),
        with(Some(1), 1, true, false),
        with(Some(16), 1, true, true),
        with(Some(10), 1, true, false),
        with(Some(16), 3, true, true),
        PlanOptions { allow_offset: false, ..PlanOptions::default() },
        PlanOptions { allow_pool: false, ..PlanOptions::default() },
        PlanOptions { allow_pool: false, enable_inplace: false, ..PlanOptions::default() },
    ]
}

/// The random choices for one step: the entries that it reads, the sizes of its outputs, its in-place pairs and its
/// scratch memory.
#[derive(Clone, Debug)]
struct Wish {
    reads: Vec<u16>,
    sizes: Vec<u8>,
    likes: (u8, u8, u8),
    scratch: u8,
}

/// Random programs of up to `n_steps` steps on two devices.
pub fn programs(n_steps: usize) -> impl Strategy<Value = Program> {
    let wish = (
        prop::collection::vec(any::<u16>(), 0..4),
        prop::collection::vec(any::<u8>(), 1..4),
        any::<(u8, u8, u8)>(),
        any::<u8>(),
    )
        .prop_map(|(reads, sizes, likes, scratch)| Wish { reads, sizes, likes, scratch });
    (prop::collection::vec(wish, 1..=n_steps), prop::collection::vec(any::<u16>(), 0..4)).prop_map(realize)
}

fn realize((wishes, heads): (Vec<Wish>, Vec<u16>)) -> Program {
    let mut p = Program::default();
    for _ in 0..2 {
        p.entry(96, EntryKind::External);
    }
    for wish in wishes {
        // Recent entries are read most, as in networks.
        let pick = |n: &u16| {
            let back = (*n as usize % p.entries.len()).min(*n as usize % 7);
            EntryId::new(p.entries.len() - 1 - back)
        };
        let inputs: Vec<EntryId> = wish.reads.iter().map(pick).collect();
        let mut step = PlanStep { inputs, ..PlanStep::default() };
        for (o, size) in wish.sizes.iter().enumerate() {
            // Few different sizes, so that reuse and in-place pairs happen; some sizes are 0.
            let mut size_bytes = [0, 1, 32, 64, 96, 100, 200, 640][*size as usize % 8];
            let mut device = Device::cpu(u32::from(size % 5 == 0));
            let kind = match size % 23 {
                0 => EntryKind::Dynamic,
                1 => EntryKind::External,
                _ => EntryKind::Planned,
            };
            let like = wish.likes.0 as usize + o;
            if let (Some(input), true) = (step.inputs.get(like % 4), wish.likes.1 % 3 != 0) {
                let model = p.entries[input.index()];
                (size_bytes, device) = (model.size_bytes, model.device);
                step.inplace.push((like % 4, o));
                if wish.likes.1 % 3 == 1 {
                    step.identity.push((like % 4, o));
                }
            }
            p.entries.push(PlanEntry { size_bytes, device, kind });
            step.outputs.push(EntryId::new(p.entries.len() - 1));
        }
        let ignored = wish.likes.2 as usize % 8;
        let is_copied = step.identity.iter().any(|(i, _)| *i == ignored);
        if ignored < step.inputs.len() && !is_copied {
            step.ignored_inputs.push(ignored);
        }
        step.scratch_bytes = if wish.scratch % 4 == 0 { wish.scratch as usize } else { 0 };
        p.steps.push(step);
    }
    p.heads = heads.iter().map(|h| EntryId::new(*h as usize % p.entries.len())).collect();
    p
}
