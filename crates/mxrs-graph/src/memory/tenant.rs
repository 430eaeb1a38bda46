//! Reference counts, in-place decisions and lifetimes: the input of both planning algorithms.
//!
//! A *tenant* needs one piece of memory during its lifetime: an entry, a chain of entries that share memory in place,
//! or the scratch memory of one step.

use super::{EntryKind, InplacePair, PlanEntry, PlanOptions, PlanStep};
use crate::EntryId;
use mxrs_types::{Device, Error, Result};

/// A tenant: it needs `size_bytes` of memory from the start of step `first` to the end of step `last`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tenant {
    pub size_bytes: usize,
    pub device: Device,
    pub first: usize,
    /// The last step of the lifetime. For heads, which are never released, it is the number of steps.
    pub last: usize,
    pub is_scratch: bool,
}

/// The tenants and their lifetimes, for both algorithms.
#[derive(Debug, Default)]
pub(super) struct Tenants {
    pub list: Vec<Tenant>,
    /// The tenant of each entry that has memory.
    pub of_entry: Vec<Option<usize>>,
    /// The tenant of each step's scratch memory.
    pub scratch: Vec<Option<usize>>,
    /// For each step, the tenants other than scratch memory whose lifetime begins at that step, largest first.
    pub made_at: Vec<Vec<usize>>,
    /// For each step, the tenants that are released after this step, in the order of its inputs.
    pub released_at: Vec<Vec<usize>>,
    pub inplace: Vec<InplacePair>,
    /// For each in-place entry, the entry whose memory it took over.
    pub inplace_origin: Vec<Option<EntryId>>,
    /// For each entry, whether the planner should place it but no step reads it.
    pub is_unreferenced: Vec<bool>,
}

/// Checks the steps and finds the tenants.
pub(super) fn find(
    steps: &[PlanStep],
    entries: &[PlanEntry],
    heads: &[EntryId],
    options: &PlanOptions,
) -> Result<Tenants> {
    check(steps, entries, heads)?;
    let n = entries.len();
    // The number of remaining reads of each entry; a head counts as read once, after the last step.
    let mut reads = vec![0usize; n];
    for step in steps {
        for (_, input) in counted_inputs(step) {
            reads[input.index()] += 1;
        }
    }
    heads.iter().for_each(|h| reads[h.index()] += 1);
    let mut found = Tenants {
        of_entry: vec![None; n],
        inplace_origin: vec![None; n],
        is_unreferenced: vec![false; n],
        scratch: vec![None; steps.len()],
        made_at: vec![Vec::new(); steps.len()],
        released_at: vec![Vec::new(); steps.len()],
        ..Tenants::default()
    };
    // The number of remaining reads of each tenant.
    let mut tenant_reads: Vec<usize> = Vec::new();
    for (s, step) in steps.iter().enumerate() {
        let pairs = if options.enable_inplace { step_pairs(step) } else { Vec::new() };
        for (input, output, is_identity) in pairs {
            let (from, to) = (step.inputs[input], step.outputs[output]);
            let (a, b) = (&entries[from.index()], &entries[to.index()]);
            let Some(tenant) = found.of_entry[from.index()] else { continue };
            let is_free = b.kind == EntryKind::Planned && found.of_entry[to.index()].is_none();
            let is_same = a.size_bytes == b.size_bytes && a.size_bytes > 0 && a.device == b.device;
            let is_last_read = tenant_reads[tenant] == 1 && !step.ignored_inputs.contains(&input);
            if is_free && reads[to.index()] > 0 && is_same && (is_last_read || is_identity) {
                tenant_reads[tenant] += reads[to.index()];
                found.of_entry[to.index()] = Some(tenant);
                found.inplace_origin[to.index()] = Some(from);
                found.inplace.push(InplacePair { step: s, input, output, is_identity });
            }
        }
        for to in &step.outputs {
            let entry = &entries[to.index()];
            if entry.kind != EntryKind::Planned || found.of_entry[to.index()].is_some() {
                continue;
            }
            if reads[to.index()] == 0 {
                found.is_unreferenced[to.index()] = true;
                continue;
            }
            found.of_entry[to.index()] = Some(found.list.len());
            found.made_at[s].push(found.list.len());
            tenant_reads.push(reads[to.index()]);
            found.list.push(Tenant {
                size_bytes: entry.size_bytes,
                device: entry.device,
                first: s,
                last: steps.len(),
                is_scratch: false,
            });
        }
        let list = &found.list;
        found.made_at[s].sort_by_key(|t| std::cmp::Reverse(list[*t].size_bytes));
        if step.scratch_bytes > 0 {
            let of = |ids: &[EntryId]| ids.first().map(|e| entries[e.index()].device);
            let device = of(&step.outputs).or_else(|| of(&step.inputs)).unwrap_or(Device::cpu(0));
            found.scratch[s] = Some(found.list.len());
            tenant_reads.push(0);
            let size_bytes = step.scratch_bytes;
            found.list.push(Tenant { size_bytes, device, first: s, last: s, is_scratch: true });
        }
        for (_, input) in counted_inputs(step) {
            if let Some(tenant) = found.of_entry[input.index()] {
                tenant_reads[tenant] -= 1;
                if tenant_reads[tenant] == 0 {
                    found.list[tenant].last = s;
                    found.released_at[s].push(tenant);
                }
            }
        }
    }
    Ok(found)
}

/// The inputs whose content is read.
fn counted_inputs(step: &PlanStep) -> impl Iterator<Item = (usize, EntryId)> + '_ {
    let inputs = step.inputs.iter().copied().enumerate();
    inputs.filter(|(position, _)| !step.ignored_inputs.contains(position))
}

/// The in-place pairs of a step as (input, output, whether the pair is an identity). Each pair occurs once; identities come
/// first, and otherwise the order is that of declaration.
fn step_pairs(step: &PlanStep) -> Vec<(usize, usize, bool)> {
    let mut pairs: Vec<(usize, usize, bool)> = step.identity.iter().map(|(i, o)| (*i, *o, true)).collect();
    let rest = step.inplace.iter().filter(|pair| !step.identity.contains(pair));
    pairs.extend(rest.map(|(i, o)| (*i, *o, false)));
    pairs
}

/// Rejects inconsistent steps; the error names the step and the position.
fn check(steps: &[PlanStep], entries: &[PlanEntry], heads: &[EntryId]) -> Result<()> {
    let exists = |e: &EntryId, what: &dyn Fn() -> String| {
        if e.index() < entries.len() {
            return Ok(());
        }
        Err(Error::invalid(what(), format!("entry {e}"), format!("an entry below {}", entries.len())))
    };
    let mut maker: Vec<Option<usize>> = vec![None; entries.len()];
    for (s, step) in steps.iter().enumerate() {
        for (i, input) in step.inputs.iter().enumerate() {
            let what = || format!("memory plan: input {i} of step {s}");
            exists(input, &what)?;
            if entries[input.index()].kind == EntryKind::Planned && maker[input.index()].is_none() {
                return Err(Error::invalid(what(), format!("entry {input}"), "an entry some earlier step makes"));
            }
        }
        for (o, output) in step.outputs.iter().enumerate() {
            let what = || format!("memory plan: output {o} of step {s}");
            exists(output, &what)?;
            if let Some(other) = maker[output.index()].replace(s)
                && entries[output.index()].kind == EntryKind::Planned
            {
                return Err(Error::invalid(
                    what(),
                    format!("entry {output}, made by step {other} before"),
                    "an entry that is made once",
                ));
            }
        }
        let has = |(i, o): &&(usize, usize)| *i >= step.inputs.len() || *o >= step.outputs.len();
        if let Some((i, o)) = step.inplace.iter().chain(&step.identity).find(has) {
            return Err(Error::invalid(
                format!("memory plan: in-place pair of step {s}"),
                format!("({i}, {o})"),
                format!("positions below {} and {}", step.inputs.len(), step.outputs.len()),
            ));
        }
    }
    for (h, head) in heads.iter().enumerate() {
        let what = || format!("memory plan: head {h}");
        exists(head, &what)?;
        if entries[head.index()].kind == EntryKind::Planned && maker[head.index()].is_none() {
            return Err(Error::invalid(what(), format!("entry {head}"), "an entry some step makes"));
        }
    }
    Ok(())
}
