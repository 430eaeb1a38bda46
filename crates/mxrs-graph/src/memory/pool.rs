//! The pool, which is the algorithm that MXNet documents: it searches a free list of released storages within a size range.

use super::tenant::Tenants;
use mxrs_types::Device;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A plan of the pool.
#[derive(Debug, Default)]
pub(super) struct PoolPlan {
    /// The device and capacity of each storage.
    pub storages: Vec<(Device, usize)>,
    /// The storage of each tenant.
    pub of_tenant: Vec<usize>,
}

impl PoolPlan {
    /// The sum of capacities in bytes, saturating.
    pub fn bytes(&self) -> usize {
        self.storages.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }
}

/// Released storages of one device and color, ordered by capacity, then by time of release.
type Free = BTreeMap<(usize, usize), usize>;

/// Plans with match range `range`: a request of `b` bytes takes the smallest released storage in `[b, b·range]`;
/// otherwise the largest in `[b/range, b)`, which grows. Device and color must match. Range 0 never reuses.
///
/// Scratch memory gets one workspace per device and color; with range 0, each step gets its own workspace.
pub(super) fn plan(tenants: &Tenants, colors: &[u32], range: u32) -> PoolPlan {
    let range = range as usize;
    let mut plan = PoolPlan { storages: Vec::new(), of_tenant: vec![usize::MAX; tenants.list.len()] };
    let mut free: FxHashMap<(Device, u32), Free> = FxHashMap::default();
    let mut n_released = 0;
    let mut workspaces: FxHashMap<(Device, u32), usize> = FxHashMap::default();
    for (step, made) in tenants.made_at.iter().enumerate() {
        let color = colors[step];
        for &t in made {
            let tenant = &tenants.list[t];
            let (bytes, device) = (tenant.size_bytes, tenant.device);
            let reused = match free.get_mut(&(device, color)) {
                Some(free) if range > 0 && bytes > 0 => take(free, bytes, range),
                _ => None,
            };
            plan.of_tenant[t] = match reused {
                Some(storage) => {
                    let capacity = &mut plan.storages[storage].1;
                    *capacity = bytes.max(*capacity);
                    storage
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
                if range == 0 { make() } else { *workspaces.entry((tenant.device, color)).or_insert_with(make) };
            plan.storages[storage].1 = plan.storages[storage].1.max(tenant.size_bytes);
            plan.of_tenant[t] = storage;
        }
        for &t in &tenants.released_at[step] {
            let storage = plan.of_tenant[t];
            let (device, capacity) = plan.storages[storage];
            if capacity > 0 {
                free.entry((device, color)).or_default().insert((capacity, n_released), storage);
                n_released += 1;
            }
        }
    }
    plan
}

/// Takes the smallest storage in `[bytes, bytes·range]`, otherwise the largest in `[bytes/range, bytes)`.
fn take(free: &mut Free, bytes: usize, range: usize) -> Option<usize> {
    let above = free.range((bytes, 0)..=(bytes.saturating_mul(range), usize::MAX)).next();
    let below = || free.range((bytes.div_ceil(range), 0)..(bytes, 0)).next_back();
    let key = *above.or_else(below)?.0;
    free.remove(&key)
}
