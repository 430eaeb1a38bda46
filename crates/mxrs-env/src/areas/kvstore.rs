//! Reduction and exchange of arrays between devices and machines.

use crate::{Kind, settings};
use std::num::{NonZeroU64, NonZeroUsize};

settings! {
    /// Reduction and exchange of arrays between devices and machines.
    pub struct KvStoreSettings in KvStore {
        /// Number of threads that sum the copies of one large array from several devices in host memory.
        reduction_threads: NonZeroUsize = 4, "MXNET_KVSTORE_REDUCTION_NTHREADS" [D40 Owner KvStore];
        /// The fewest elements of a large array. Several threads sum a large array, and it is split over servers.
        big_array_elements: NonZeroU64 = 1000000, "MXNET_KVSTORE_BIGARRAY_BOUND" [D41 Owner KvStore];
        /// Reduces and broadcasts along trees that follow the links between GPUs.
        use_tree: bool = 0, "MXNET_KVSTORE_USETREE" [D42 Owner KvStore];
        /// Logs the links between GPUs and the trees that were built from them.
        log_tree: bool = 0, "MXNET_KVSTORE_LOGTREE" [D43 Process KvStore];
        /// Number of elements above which an array is split into one slice per device, each with its own tree.
        tree_array_elements: NonZeroU64 = 10000000, "MXNET_KVSTORE_TREE_ARRAY_BOUND" [D44 Owner KvStore];
        /// Searches all trees for the best one instead of partitioning the link matrix.
        tree_backtrack: bool = 0, "MXNET_KVSTORE_TREE_BACKTRACK" [D45 Owner KvStore];
        /// Factor by which the weight of a link is multiplied each time a tree uses it; 1 means no penalty.
        tree_link_penalty: f64 = 0.7, "MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY" [D46 Owner KvStore],
            Kind::Float { min: 0.0, above_min: true, max: 1.0 };
        /// Requests direct copies between GPUs from the driver; 0: copies go through the host.
        gpu_p2p: bool = 1, "MXNET_ENABLE_GPU_P2P" [D47 Owner Gpu];
        /// Runs the optimizer inside the store; 0: workers fetch summed gradients and update their own weights.
        update_on_kvstore: bool = 1, "MXNET_UPDATE_ON_KVSTORE" [D48 Owner KvStore];
        /// The most elements of one slice in the prioritized distributed store.
        slice_elements: NonZeroU64 = 40000, "MXNET_KVSTORE_SLICE_THRESHOLD" [D49 Owner Distributed];
        /// Logs pushes and pulls of row-sparse arrays with their numbers of rows.
        row_sparse_verbose: bool = 0, "MXNET_KVSTORE_DIST_ROW_SPARSE_VERBOSE" [B22 Owner Sparse];
        /// Sums row-sparse gradients on one thread.
        serial_push: bool = 0, "MXNET_KVSTORE_SERIAL_PUSH" [B23 Owner KvStore];
        /// Number of keys that one combined push and pull carries in stores of the NCCL kind.
        aggregation_keys: NonZeroUsize = 16, "MXNET_UPDATE_AGGREGATION_SIZE" [B24 EveryUse Cuda];
    }
}
