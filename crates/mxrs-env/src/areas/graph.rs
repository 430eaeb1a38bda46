//! Passes over the graph.

use crate::{Kind, settings};

settings! {
    /// Passes over the graph.
    pub struct GraphSettings in Graph {
        /// Fuses pointwise operators into kernels that do not write the values between them to memory.
        use_fusion: bool = 1, "MXNET_USE_FUSION" [D86 Owner Core];
        /// Computes equal operators with equal inputs once.
        eliminate_common: bool = 1, "MXNET_ELIMINATE_COMMON_EXPR" [D88 Owner Core];
        /// Backend for which graphs are partitioned at inference: if the backend has one kernel for a chain of calls, the
        /// chain becomes one call. `MKLDNN` and `ONEDNN` mean the same; `NONE` leaves graphs whole. If unset, every backend
        /// decides.
        subgraph_backend: Option<String> = unset("all that have fused kernels"), "MXNET_SUBGRAPH_BACKEND"
            [D92 Owner Core];
        /// If a gradient has at least this many terms, the terms are added in place, one after another. Fewer terms are
        /// added by one operator.
        grad_sum_cap: usize = 8, "MXNET_EXEC_INPLACE_GRAD_SUM_CAP" [B27 FirstUse Core],
            Kind::int(2, usize::MAX as i128);
        /// Makes the backward pass of recorded operators fail if a value that it reads was overwritten meanwhile. The error
        /// names the place of the write. 0: the backward pass computes with the new value.
        autograd_version_check: bool = 1, "MXRS_AUTOGRAD_VERSION_CHECK" [M10 Owner Core];
        /// Logs the storage types and dispatch modes of each graph.
        storage_type_verbose: bool = 0, "MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING" [B30 FirstUse Sparse];
        /// Logs the memory plan of each graph, like `MXNET_MEM_PLAN_VERBOSE_LOGGING`. An older setting.
        exec_verbose: bool = 0, "MXNET_EXEC_VERBOSE_LOGGING" [B31 Owner Core];
        /// Merges equal nodes of partitioned graphs.
        node_elimination: bool = 1, "MXNET_NODE_ELIMINATION" [B32 EveryUse Reader];
        /// 1 logs which backend is active, 2 also each decision of the partitioning.
        subgraph_verbose: u8 = 1, "MXNET_SUBGRAPH_VERBOSE" [B33 FirstUse Core], Kind::int(0, 2);
        /// Logs each node that the quantization pass changes or leaves unchanged.
        quantization_verbose: bool = 0, "MXNET_QUANTIZATION_VERBOSE" [B37 FirstUse Core];
    }
}
