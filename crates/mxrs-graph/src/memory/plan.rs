//! The memory plan, and the choice between the pool and the offset planner.

use super::offset::{self, OffsetPlan, aligned};
use super::pool::{self, PoolPlan};
use super::tenant::{self, Tenants};
use super::{Algorithm, EntryKind, InplacePair, PlanEntry, PlanOptions, PlanReport, PlanStep, TriedRange, color};
use crate::EntryId;
use mxrs_types::{Device, Error, ErrorKind, Result};

/// The number of a storage of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StorageId(pub u32);

impl StorageId {
    /// The position in [`MemoryPlan::storages`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A piece of memory that one or several tenants use, one at a time. A tenant is an entry, a chain of entries that
/// share memory in place, or the scratch memory of a step.
///
/// Storages of a pool plan never overlap, so each may be a separate buffer. Storages of an offset plan may overlap in
/// the arena of their device if their tenants are not alive at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The device.
    pub device: Device,
    /// The size in bytes.
    pub size_bytes: usize,
    /// The offset in the device's arena, a multiple of 64.
    pub offset_bytes: usize,
}

/// The location of an entry's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// At the start of a storage.
    Storage(StorageId),
    /// In memory of the caller.
    External,
    /// Allocated at run time.
    Dynamic,
    /// No memory: no step reads the entry, so the step that makes it is requested not to write it.
    Unreferenced,
}

/// A memory plan. Equal input gives an equal plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// The placement of each entry.
    pub placements: Vec<Placement>,
    /// The storages.
    pub storages: Vec<Storage>,
    /// The scratch storage of each step that needs one.
    pub scratch: Vec<Option<StorageId>>,
    /// Outputs that take over their input's memory, in the order of their steps; they run with an in-place request.
    pub inplace: Vec<InplacePair>,
    /// For each device, the size in bytes of one arena for all storages of the device.
    pub arenas: Vec<(Device, usize)>,
    /// Statistics of the plan.
    pub report: PlanReport,
}

impl MemoryPlan {
    /// The storage of an entry, if it has one.
    pub fn storage(&self, entry: EntryId) -> Option<StorageId> {
        match self.placements.get(entry.index()) {
            Some(Placement::Storage(id)) => Some(*id),
            _ => None,
        }
    }
}

/// Plans the memory of `steps`. `entries` describes every entry that the steps name; `heads` stay alive to the end, and
/// may contain an entry twice. By default the smallest plan of all algorithms is chosen; if
/// [`PlanOptions::match_range`] is set, exactly the documented algorithm runs.
///
/// # Errors
/// Fails if an entry is read before it is made, made twice, or not in `entries`. Fails if the sum of the sizes overflows.
pub fn plan_memory(
    steps: &[PlanStep],
    entries: &[PlanEntry],
    heads: &[EntryId],
    options: &PlanOptions,
) -> Result<MemoryPlan> {
    let tenants = tenant::find(steps, entries, heads, options)?;
    let unshared_bytes = unshared_bytes(steps, entries, &tenants)?;
    let colors = color::paint(steps, entries.len(), options.num_colors);
    let may_offset = options.match_range.is_none() && options.allow_offset && options.num_colors <= 1;
    let ranges = if may_offset && !options.allow_pool { Vec::new() } else { ranges(options) };
    let mut tried = Vec::new();
    let mut pool: Option<(TriedRange, PoolPlan)> = None;
    for match_range in ranges {
        let plan = pool::plan(&tenants, &colors, match_range);
        let bytes = plan.bytes();
        tried.push(TriedRange { match_range, bytes });
        if pool.as_ref().is_none_or(|(least, _)| bytes < least.bytes) {
            pool = Some((TriedRange { match_range, bytes }, plan));
        }
    }
    let offsets = may_offset.then(|| offset::plan(&tenants));
    let report = PlanReport {
        algorithm: Algorithm::Offset,
        tried,
        offset_bytes: offsets.as_ref().map(OffsetPlan::bytes),
        bytes: 0,
        lower_bound_bytes: lower_bound(&tenants),
        unshared_bytes,
        n_inplace: tenants.inplace.len(),
        n_colors: colors.iter().max().map_or(1, |c| c + 1),
    };
    let plan = match (pool, offsets) {
        (Some((least, pool)), offsets) if offsets.as_ref().is_none_or(|o| o.bytes() >= least.bytes) => {
            let TriedRange { match_range, bytes } = least;
            let report = PlanReport { algorithm: Algorithm::Pool { match_range }, bytes, ..report };
            from_pool(pool, &tenants, entries, report)
        }
        (_, Some(offsets)) => from_offsets(offsets, &tenants, entries, report),
        _ => return Err(Error::invalid("memory plan: match ranges", "none", "at least one")),
    };
    if options.verbose {
        log(&plan, entries, &tenants);
    }
    Ok(plan)
}

/// The match ranges to try: 1, 2, 4, … below the limit, then the limit.
fn ranges(options: &PlanOptions) -> Vec<u32> {
    let limit = options.match_range.unwrap_or(PlanOptions::DEFAULT_MATCH_RANGE);
    if limit == 0 || !options.auto_search {
        return vec![limit];
    }
    let below = std::iter::successors(Some(1u32), |r| r.checked_mul(2)).take_while(|r| *r < limit);
    below.chain([limit]).collect()
}

fn unshared_bytes(steps: &[PlanStep], entries: &[PlanEntry], tenants: &Tenants) -> Result<usize> {
    let planned = entries.iter().enumerate().filter(|(i, _)| tenants.of_entry[*i].is_some());
    let sizes = planned.map(|(_, e)| e.size_bytes).chain(steps.iter().map(|s| s.scratch_bytes));
    let too_large = || Error::new(ErrorKind::Overflow { what: "sum of the bytes of all planned entries".into() });
    // This sum includes the alignment of every size. If it does not overflow, no offset can.
    sizes
        .clone()
        .try_fold(0usize, |sum, bytes| sum.checked_add(bytes.checked_next_multiple_of(offset::ALIGNMENT)?))
        .ok_or_else(too_large)?;
    Ok(sizes.sum())
}

/// The largest number of bytes alive at one step, found for each device and summed.
fn lower_bound(tenants: &Tenants) -> usize {
    let n_steps = tenants.made_at.len();
    let mut devices: Vec<Device> = Vec::new();
    for tenant in &tenants.list {
        if !devices.contains(&tenant.device) {
            devices.push(tenant.device);
        }
    }
    let on = |device: Device| tenants.list.iter().filter(move |t| t.device == device);
    devices.into_iter().map(|device| live_bytes(on(device), n_steps).into_iter().max().unwrap_or(0)).sum()
}

/// For each step, and for the time after the last step, the number of bytes of these tenants that are alive.
pub(super) fn live_bytes<'a>(tenants: impl Iterator<Item = &'a tenant::Tenant>, n_steps: usize) -> Vec<usize> {
    let (mut born, mut died) = (vec![0usize; n_steps + 1], vec![0usize; n_steps + 2]);
    for tenant in tenants {
        born[tenant.first] += tenant.size_bytes;
        died[tenant.last + 1] += tenant.size_bytes;
    }
    let mut live = 0;
    let change = |(born, died): (&usize, &usize)| {
        live = live - died + born;
        live
    };
    born.iter().zip(&died).map(change).collect()
}

fn placements(entries: &[PlanEntry], tenants: &Tenants, storage_of: impl Fn(usize) -> StorageId) -> Vec<Placement> {
    let place = |(i, entry): (usize, &PlanEntry)| match (entry.kind, tenants.of_entry[i]) {
        (EntryKind::External, _) => Placement::External,
        (EntryKind::Dynamic, _) => Placement::Dynamic,
        (EntryKind::Planned, Some(tenant)) => Placement::Storage(storage_of(tenant)),
        (EntryKind::Planned, None) => Placement::Unreferenced,
    };
    entries.iter().enumerate().map(place).collect()
}

fn from_pool(pool: PoolPlan, tenants: &Tenants, entries: &[PlanEntry], report: PlanReport) -> MemoryPlan {
    let mut arenas: Vec<(Device, usize)> = Vec::new();
    let mut storages = Vec::with_capacity(pool.storages.len());
    for (device, size_bytes) in pool.storages {
        let arena = match arenas.iter().position(|(d, _)| *d == device) {
            Some(at) => &mut arenas[at],
            None => {
                arenas.push((device, 0));
                let at = arenas.len() - 1;
                &mut arenas[at]
            }
        };
        let offset_bytes = aligned(arena.1);
        arena.1 = offset_bytes + size_bytes;
        storages.push(Storage { device, size_bytes, offset_bytes });
    }
    let storage_of = |tenant: usize| StorageId(pool.of_tenant[tenant] as u32);
    MemoryPlan {
        placements: placements(entries, tenants, storage_of),
        storages,
        scratch: tenants.scratch.iter().map(|t| t.map(storage_of)).collect(),
        inplace: tenants.inplace.clone(),
        arenas,
        report,
    }
}

fn from_offsets(offsets: OffsetPlan, tenants: &Tenants, entries: &[PlanEntry], report: PlanReport) -> MemoryPlan {
    let storage = |(tenant, offset): (&tenant::Tenant, &usize)| Storage {
        device: tenant.device,
        size_bytes: tenant.size_bytes,
        offset_bytes: *offset,
    };
    let storage_of = |tenant: usize| StorageId(tenant as u32);
    MemoryPlan {
        placements: placements(entries, tenants, storage_of),
        storages: tenants.list.iter().zip(&offsets.offsets).map(storage).collect(),
        scratch: tenants.scratch.iter().map(|t| t.map(storage_of)).collect(),
        inplace: tenants.inplace.clone(),
        report: PlanReport { algorithm: Algorithm::Offset, bytes: offsets.bytes(), ..report },
        arenas: offsets.arenas,
    }
}

/// Logs one line per entry.
fn log(plan: &MemoryPlan, entries: &[PlanEntry], tenants: &Tenants) {
    for (i, (entry, placement)) in entries.iter().zip(&plan.placements).enumerate() {
        let place = match placement {
            Placement::Storage(id) => {
                format!("storage {} at {}", id.0, plan.storages[id.index()].offset_bytes)
            }
            other => format!("{other:?}").to_lowercase(),
        };
        let origin = tenants.inplace_origin[i].map_or(String::new(), |e| format!(", in place of entry {e}"));
        tracing::info!("entry {i}: {} bytes on {}, {place}{origin}", entry.size_bytes, entry.device);
    }
    tracing::info!("{}", plan.report);
}
