//! The offset planner: places each tenant (a user of memory) into the tightest gap between the tenants alive at the
//! same time.

use super::occupied::Occupied;
use super::tenant::{Tenant, Tenants};
use mxrs_types::Device;
use std::cmp::Reverse;

/// The alignment of every tenant, in bytes.
pub(super) const ALIGNMENT: usize = 64;

/// A plan of the offset planner.
#[derive(Debug, Default)]
pub(super) struct OffsetPlan {
    /// The offset of each tenant in its device's arena.
    pub offsets: Vec<usize>,
    /// The devices in order of first use, with the size of their arena in bytes.
    pub arenas: Vec<(Device, usize)>,
}

impl OffsetPlan {
    /// The size of all arenas in bytes, saturating.
    pub fn bytes(&self) -> usize {
        self.arenas.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }
}

/// Rounds up to the alignment, saturating.
pub(super) fn aligned(bytes: usize) -> usize {
    bytes.checked_next_multiple_of(ALIGNMENT).unwrap_or(usize::MAX)
}

/// Two orders in which to place tenants: by size, and by the number of live bytes at the fullest step of a tenant's
/// lifetime, the step with the most live bytes. The second order packs the fullest steps without holes. Which order
/// packs better is not known in advance.
fn orders(list: &[Tenant], here: &[usize], n_steps: usize) -> [Vec<usize>; 2] {
    let live = FullestStep::new(here.iter().map(|t| &list[*t]), n_steps);
    let mut by_size = here.to_vec();
    by_size.sort_by_key(|t| (Reverse(list[*t].size_bytes), list[*t].first, *t));
    // The sort is stable: tenants whose fullest steps are equally full stay ordered by size.
    let mut by_fullness = by_size.clone();
    by_fullness.sort_by_cached_key(|t| Reverse(live.within(&list[*t])));
    [by_size, by_fullness]
}

/// Plans all tenants, each device independently.
pub(super) fn plan(tenants: &Tenants) -> OffsetPlan {
    let list = &tenants.list;
    let mut plan = OffsetPlan { offsets: vec![0; list.len()], arenas: Vec::new() };
    let n_steps = tenants.made_at.len();
    for tenant in list {
        if !plan.arenas.iter().any(|(d, _)| *d == tenant.device) {
            plan.arenas.push((tenant.device, 0));
        }
    }
    for (device, extent) in &mut plan.arenas {
        let here: Vec<usize> =
            (0..list.len()).filter(|t| list[*t].device == *device && list[*t].size_bytes > 0).collect();
        let bound = super::plan::live_bytes(here.iter().map(|t| &list[*t]), n_steps).into_iter().max().unwrap_or(0);
        let mut best: Option<(usize, Vec<usize>)> = None;
        for order in orders(list, &here, n_steps) {
            let found = place(list, &order, n_steps);
            if best.as_ref().is_none_or(|(least, _)| found.0 < *least) {
                best = Some(found);
            }
            if best.as_ref().is_some_and(|(least, _)| *least <= bound) {
                break;
            }
        }
        if let Some((least, offsets)) = best {
            *extent = least;
            here.iter().for_each(|t| plan.offsets[*t] = offsets[*t]);
        }
    }
    plan
}

/// Places the tenants in the order `order`. Returns the extent of the arena, and the offset of every tenant.
fn place(list: &[Tenant], order: &[usize], n_steps: usize) -> (usize, Vec<usize>) {
    let mut offsets = vec![0; list.len()];
    let mut extent = 0;
    let mut occupied = Occupied::new(n_steps + 1);
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &t in order {
        let Tenant { size_bytes, first, last, .. } = list[t];
        occupied.between(first, last, &mut ranges);
        let start = tightest_gap(&ranges, size_bytes);
        let end = start.saturating_add(size_bytes);
        occupied.insert(first, last, (start, aligned(end)));
        (offsets[t], extent) = (start, extent.max(end));
    }
    (extent, offsets)
}

/// The offset of the smallest gap that holds `size_bytes` between occupied ranges (sorted by start, aligned); otherwise
/// the end of all ranges.
fn tightest_gap(occupied: &[(usize, usize)], size_bytes: usize) -> usize {
    let mut best: Option<(usize, usize)> = None;
    let mut cursor = 0;
    for (start, end) in occupied {
        if *start >= cursor && start - cursor >= size_bytes && best.is_none_or(|(gap, _)| start - cursor < gap) {
            best = Some((start - cursor, cursor));
        }
        cursor = cursor.max(*end);
    }
    best.map_or(cursor, |(_, offset)| offset)
}

/// The live bytes of every step, as a tree of maxima.
struct FullestStep {
    n_leaves: usize,
    tree: Vec<usize>,
}

impl FullestStep {
    fn new<'a>(tenants: impl Iterator<Item = &'a Tenant>, n_steps: usize) -> Self {
        let live = super::plan::live_bytes(tenants, n_steps);
        let n_leaves = live.len();
        let mut tree = vec![0; n_leaves];
        tree.extend(live);
        for node in (1..n_leaves).rev() {
            tree[node] = tree[2 * node].max(tree[2 * node + 1]);
        }
        Self { n_leaves, tree }
    }

    /// The largest number of live bytes at any step of a tenant's lifetime.
    fn within(&self, tenant: &Tenant) -> usize {
        let (mut low, mut high) = (tenant.first + self.n_leaves, tenant.last + self.n_leaves + 1);
        let mut most = 0;
        while low < high {
            if low % 2 == 1 {
                most = most.max(self.tree[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                most = most.max(self.tree[high]);
            }
            low /= 2;
            high /= 2;
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same placement without the tree of placed tenants: it compares each tenant with every placed one.
    fn place_slowly(list: &[Tenant], order: &[usize]) -> (usize, Vec<usize>) {
        let mut offsets = vec![0; list.len()];
        let mut extent = 0;
        for (n_placed, &t) in order.iter().enumerate() {
            let placed = order[..n_placed].iter().copied();
            let together = placed.filter(|o| list[*o].first <= list[t].last && list[t].first <= list[*o].last);
            let mut ranges: Vec<(usize, usize)> =
                together.map(|o| (offsets[o], aligned(offsets[o] + list[o].size_bytes))).collect();
            ranges.sort_unstable();
            offsets[t] = tightest_gap(&ranges, list[t].size_bytes);
            extent = extent.max(offsets[t] + list[t].size_bytes);
        }
        (extent, offsets)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn looking_at_merged_ranges_changes_no_offset(
            wishes in prop::collection::vec((1usize..700, 0usize..50, 0usize..50), 1..80)
        ) {
            let tenant = |(size_bytes, a, b): (usize, usize, usize)| Tenant {
                size_bytes,
                device: Device::cpu(0),
                first: a.min(b),
                last: a.max(b),
                is_scratch: false,
            };
            let list: Vec<Tenant> = wishes.into_iter().map(tenant).collect();
            let all: Vec<usize> = (0..list.len()).collect();
            for order in orders(&list, &all, 50) {
                prop_assert_eq!(place(&list, &order, 50), place_slowly(&list, &order));
            }
        }
    }
}
