//! Runs a program on real bytes, twice: with separate memory for every entry, and in the plan's memory, where every byte is
//! overwritten as soon as it is not needed. The outputs of a step depend on every byte that the step reads, so one wrong
//! byte is detected.

use super::program::Program;
use crate::EntryId;
use crate::memory::{MemoryPlan, Placement};
use mxrs_types::Device;

const POISON: u8 = 0xA5;

/// The observations of a run: a digest of each step's inputs, and the bytes of the heads.
#[derive(Debug, PartialEq, Eq)]
pub struct Observed {
    digests: Vec<u64>,
    heads: Vec<Vec<u8>>,
}

/// The memory of entries: separate buffers, or ranges of arenas.
struct Memory<'a> {
    own: Vec<Vec<u8>>,
    arenas: Vec<(Device, Vec<u8>)>,
    plan: Option<&'a MemoryPlan>,
}

impl Memory<'_> {
    fn slice(&mut self, device: Device, offset: usize, len: usize) -> &mut [u8] {
        let arena = self.arenas.iter_mut().find(|(d, _)| *d == device).expect("arena of the device");
        &mut arena.1[offset..offset + len]
    }

    /// The bytes of an entry; none if no step reads it.
    fn of(&mut self, program: &Program, entry: EntryId) -> &mut [u8] {
        let described = program.entries[entry.index()];
        match self.plan.map(|p| p.placements[entry.index()]) {
            Some(Placement::Storage(id)) => {
                let storage = self.plan.map(|p| p.storages[id.index()]).expect("a plan");
                assert_eq!(storage.device, described.device, "P4");
                assert!(storage.size_bytes >= described.size_bytes, "P3");
                self.slice(storage.device, storage.offset_bytes, described.size_bytes)
            }
            Some(Placement::Unreferenced) => &mut [],
            _ => &mut self.own[entry.index()],
        }
    }
}

fn digest(seed: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(seed ^ 0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

fn fill(bytes: &mut [u8], mut seed: u64) {
    for b in bytes {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *b = (seed >> 56) as u8;
    }
}

/// Runs the program in its own order, in the plan's memory if a plan is given.
pub fn run(program: &Program, plan: Option<&MemoryPlan>) -> Observed {
    let order: Vec<usize> = (0..program.steps.len()).collect();
    run_in_order(program, plan, &order)
}

/// Runs the steps in this order, which must respect what steps read and write.
pub fn run_in_order(program: &Program, plan: Option<&MemoryPlan>, order: &[usize]) -> Observed {
    let mut has_run = vec![false; program.steps.len()];
    let mut memory = Memory {
        own: program.entries.iter().map(|e| vec![0; e.size_bytes]).collect(),
        arenas: plan.map_or(Vec::new(), |p| p.arenas.iter().map(|(d, n)| (*d, vec![POISON; *n])).collect()),
        plan,
    };
    let mut digests = vec![0; program.steps.len()];
    for &s in order {
        let step = &program.steps[s];
        let inplace: Vec<usize> = plan
            .map_or(Vec::new(), |p| p.inplace.iter().filter(|pair| pair.step == s).map(|pair| pair.output).collect());
        // Simulates the worst kernel, which first overwrites its scratch memory and every output that does not share the
        // memory of an input.
        if let Some((plan, id)) = plan.and_then(|p| p.scratch[s].map(|id| (p, id))) {
            let storage = plan.storages[id.index()];
            assert!(storage.size_bytes >= step.scratch_bytes, "P3");
            memory.slice(storage.device, storage.offset_bytes, step.scratch_bytes).fill(!POISON);
        }
        for (o, output) in step.outputs.iter().enumerate() {
            if !inplace.contains(&o) {
                memory.of(program, *output).fill(POISON);
            }
        }
        let mut seen = s as u64;
        for (i, input) in step.inputs.iter().enumerate() {
            if !step.ignored_inputs.contains(&i) {
                seen = digest(seen, memory.of(program, *input));
            }
        }
        digests[s] = seen;
        // All outputs are computed before any is written, because an identity reads an input that another output may
        // overwrite.
        let mut written: Vec<(usize, Vec<u8>)> = Vec::new();
        for (o, output) in step.outputs.iter().enumerate() {
            let copied = step.identity.iter().find(|(_, to)| *to == o);
            let len = program.entries[output.index()].size_bytes;
            let bytes = match copied {
                Some((i, _)) => memory.of(program, step.inputs[*i]).to_vec(),
                None => {
                    let mut bytes = vec![0; len];
                    fill(&mut bytes, seen ^ (o as u64) << 7);
                    bytes
                }
            };
            written.push((o, bytes));
        }
        for (o, bytes) in written {
            let to = memory.of(program, step.outputs[o]);
            if !to.is_empty() {
                to.copy_from_slice(&bytes);
            }
        }
        has_run[s] = true;
        if let Some(plan) = plan {
            poison_the_dead(program, plan, &has_run, &mut memory);
        }
    }
    let heads = program.heads.iter().map(|h| memory.of(program, *h).to_vec()).collect();
    Observed { digests, heads }
}

/// Overwrites every arena byte that belongs to no live entry. An entry is live if it has been made, and is a head or will be
/// read by a later step.
fn poison_the_dead(program: &Program, plan: &MemoryPlan, has_run: &[bool], memory: &mut Memory<'_>) {
    let mut is_wanted = vec![false; program.entries.len()];
    let mut is_made = vec![false; program.entries.len()];
    program.heads.iter().for_each(|h| is_wanted[h.index()] = true);
    for (step, has_run) in program.steps.iter().zip(has_run) {
        if *has_run {
            step.outputs.iter().for_each(|o| is_made[o.index()] = true);
        } else {
            let read = step.inputs.iter().enumerate().filter(|(i, _)| !step.ignored_inputs.contains(i));
            read.for_each(|(_, e)| is_wanted[e.index()] = true);
        }
    }
    let mut alive: Vec<(Device, usize, usize)> = Vec::new();
    for (e, placement) in plan.placements.iter().enumerate() {
        if let Placement::Storage(id) = placement
            && is_made[e]
            && is_wanted[e]
        {
            let storage = plan.storages[id.index()];
            alive.push((storage.device, storage.offset_bytes, program.entries[e].size_bytes));
        }
    }
    for (device, bytes) in &mut memory.arenas {
        let mut keep = vec![false; bytes.len()];
        alive.iter().filter(|(d, _, _)| d == device).for_each(|(_, at, len)| keep[*at..at + len].fill(true));
        bytes.iter_mut().zip(keep).filter(|(_, keep)| !keep).for_each(|(b, _)| *b = POISON);
    }
}
