//! The documented algorithm: a free list of released storages, searched within a size range.

use super::tenant::Tenants;
use mxrs_types::Device;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A plan of the pool.
#[derive(Debug, Default)]
pub(super) struct PoolPlan {
    /// Device and capacity of each storage.
    pub storages: Vec<(Device, usize)>,
    /// Storage of each tenant.
    pub of_tenant: Vec<usize>,
}

impl PoolPlan {
    /// Sum of capacities, saturating.
    pub fn bytes(&self) -> usize {
        self.storages.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }
}

/// A released storage: who may take it.
struct Free {
    storage: usize,
    colour: u32,
}

/// Plans with match range `range`: a request of `b` bytes takes the smallest released storage in `[b, b·range]`, else
/// the largest in `[b/range, b)`, which grows; device and colour must match. Range 0 never reuses.
///
/// Scratch gets one workspace per device and colour (so there are never more than colours), except at range 0.
pub(super) fn plan(tenants: &Tenants, colours: &[u32], range: u32) -> PoolPlan {
    let range = range as usize;
    let mut plan = PoolPlan { storages: Vec::new(), of_tenant: vec![usize::MAX; tenants.list.len()] };
    // Ordered by capacity, then by time of release.
    let mut free: BTreeMap<(usize, usize), Free> = BTreeMap::new();
    let mut n_released = 0;
    let mut workspaces: FxHashMap<(Device, u32), usize> = FxHashMap::default();
    for (step, made) in tenants.made_at.iter().enumerate() {
        let colour = colours[step];
        for &t in made {
            let tenant = &tenants.list[t];
            let (bytes, device) = (tenant.size_bytes, tenant.device);
            let fits = |f: &Free| f.colour == colour && plan.storages[f.storage].0 == device;
            let found = (range > 0 && bytes > 0)
                .then(|| {
                    let above = free.range((bytes, 0)..=(bytes.saturating_mul(range), usize::MAX));
                    let below = free.range((bytes.div_ceil(range), 0)..(bytes, 0)).rev();
                    above.chain(below).find(|(_, f)| fits(f)).map(|(key, _)| *key)
                })
                .flatten();
            plan.of_tenant[t] = match found.and_then(|key| free.remove(&key)) {
                Some(reused) => {
                    let capacity = &mut plan.storages[reused.storage].1;
                    *capacity = bytes.max(*capacity);
                    reused.storage
                }
                None => {
                    plan.storages.push((device, bytes));
                    plan.storages.len() - 1
                }
            };
        }
        if let Some(t) = tenants.scratch[step] {
            let tenant = &tenants.list[t];
            let storages = &mut plan.storages;
            let mut make = || {
                storages.push((tenant.device, 0));
                storages.len() - 1
            };
            let storage =
                if range == 0 { make() } else { *workspaces.entry((tenant.device, colour)).or_insert_with(make) };
            plan.storages[storage].1 = plan.storages[storage].1.max(tenant.size_bytes);
            plan.of_tenant[t] = storage;
        }
        for &t in &tenants.released_at[step] {
            let storage = plan.of_tenant[t];
            let capacity = plan.storages[storage].1;
            if capacity > 0 {
                free.insert((capacity, n_released), Free { storage, colour });
                n_released += 1;
            }
        }
    }
    plan
}
