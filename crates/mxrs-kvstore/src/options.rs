//! Settings of the stores of this crate.

use crate::tree::{LinkFacts, TreeOptions};
use mxrs_sync::Team;
use mxrs_types::Device;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Returns what is known about the links between these devices, in this order.
pub type LinkSource = Arc<dyn Fn(&[Device]) -> LinkFacts + Send + Sync>;

/// A function that each thread calls before it sums a part of an array, or copies it to several devices. Its argument is the
/// number of elements of the part.
pub type SumWatch = Arc<dyn Fn(usize) + Send + Sync>;

/// Settings of a store. The defaults are MXNet's.
#[derive(Clone)]
pub struct KvStoreOptions {
    /// The most threads that sum one large array (`MXNET_KVSTORE_REDUCTION_NTHREADS`).
    pub reduction_threads: NonZeroUsize,
    /// The number of elements from which an array counts as large (`MXNET_KVSTORE_BIGARRAY_BOUND`).
    pub big_array_elements: u64,
    /// The most elements of one message of the store `p3` (`MXNET_KVSTORE_SLICE_THRESHOLD`).
    pub slice_elements: u64,
    /// The threads that sum large arrays. If there is no team, the store starts one when it needs it.
    pub team: Option<Arc<Team>>,
    /// Whether one thread sums all rows of row-sparse values, however many they are (`MXNET_KVSTORE_SERIAL_PUSH`).
    pub serial_rows: bool,
    /// Called for each part of a sum, for tests and statistics.
    pub watch: Option<SumWatch>,
    /// If set, stores that sum on a device sum along trees that follow the links between devices (`MXNET_KVSTORE_USETREE`).
    pub tree: Option<TreeOptions>,
    /// The source of facts about the links between devices. Without it, no pair of devices counts as able to copy directly.
    pub links: Option<LinkSource>,
}

impl Default for KvStoreOptions {
    fn default() -> Self {
        Self {
            reduction_threads: NonZeroUsize::MIN.saturating_add(3),
            big_array_elements: 1_000_000,
            slice_elements: 40_000,
            team: None,
            serial_rows: false,
            watch: None,
            tree: None,
            links: None,
        }
    }
}

impl KvStoreOptions {
    /// The links between these devices.
    pub(crate) fn facts(&self, devices: &[Device]) -> LinkFacts {
        self.links.as_ref().map_or_else(|| LinkFacts::indirect(devices.len()), |links| links(devices))
    }

    /// Logs a warning if some of these devices, which are distinct, cannot copy to each other directly. Host memory does not
    /// count. Without a [source of links](Self::links) there is no warning: copies through the host are then what the user
    /// wants.
    pub(crate) fn warn_of_indirect_copies(&self, devices: &[Device]) {
        let Some(links) = &self.links else { return };
        let devices: Vec<Device> = devices.iter().copied().filter(|device| !device.is_host()).collect();
        if devices.len() < 2 {
            return;
        }
        let facts = links(&devices);
        let (n_direct, n_pairs) = (facts.n_direct(), devices.len() * (devices.len() - 1));
        if n_direct < n_pairs {
            let names = devices.iter().map(Device::to_string).collect::<Vec<_>>().join(", ");
            tracing::warn!(
                "only {n_direct} of {n_pairs} pairs of {names} copy directly; the others copy through host memory, which is \
                 slower. In this matrix a `v` stands for a direct copy:\n{}",
                facts.direct_matrix()
            );
        }
    }
}

impl fmt::Debug for KvStoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KvStoreOptions")
            .field("reduction_threads", &self.reduction_threads)
            .field("big_array_elements", &self.big_array_elements)
            .field("slice_elements", &self.slice_elements)
            .field("serial_rows", &self.serial_rows)
            .field("tree", &self.tree)
            .finish_non_exhaustive()
    }
}
