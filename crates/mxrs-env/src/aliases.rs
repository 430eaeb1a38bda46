//! Older and alternative names of environment variables, and the canonical names that they stand for.

/// An older name of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Number of the older name in the documentation, such as `O1`. Several older names may share a number.
    pub id: &'static str,
    /// The older name.
    pub name: &'static str,
    /// The name to use instead.
    pub canonical: &'static str,
}

macro_rules! aliases {
    ($($id:ident $name:literal => $canonical:literal;)+) => {
        &[$(Alias { id: stringify!($id), name: $name, canonical: $canonical }),+]
    };
}

/// Every older name that is still read. `O1`, `O18` and `O19` are not in the list, because they are separate variables.
pub const ALIASES: &[Alias] = aliases! {
    O2 "MXNET_EXEC_MATCH_RANGE" => "NNVM_EXEC_MATCH_RANGE";
    O3 "MXNET_ENABLE_OPERATOR_TUNING" => "MXNET_USE_OPERATOR_TUNING";
    O4 "MXNET_USE_NAIVE_STORAGE_MANAGER" => "MXNET_USE_NAIVE_STORAGE_MANAGERS";
    O5 "MXNET_GPU_POOL_PAGE_SIZE" => "MXNET_GPU_MEM_POOL_PAGE_SIZE";
    O6 "MXNET_CPU_POOL_PAGE_SIZE" => "MXNET_CPU_MEM_POOL_PAGE_SIZE";
    O7 "MXNET_CPU_PINNED_POOL_PAGE_SIZE" => "MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE";
    O8 "NNVM_EXEC_NUM_TEMP" => "MXNET_EXEC_NUM_TEMP";
    O9 "MXNET_MKLDNN_ENABLED" => "MXNET_ONEDNN_ENABLED";
    O10 "MXNET_MKLDNN_CACHE_NUM" => "MXNET_ONEDNN_CACHE_NUM";
    O11 "MXNET_MKLDNN_FORCE_FC_AB_FORMAT" => "MXNET_ONEDNN_FORCE_FC_AB_FORMAT";
    O12 "MXNET_USE_MKLDNN_RNN" => "MXNET_USE_ONEDNN_RNN";
    O13 "MXNET_MKLDNN_DEBUG" => "MXNET_ONEDNN_DEBUG";
    O14 "MXNET_FUSION_VERBOSE" => "MXNET_RTC_VERBOSE";
    O15 "MXNET_FUSION_SIZE_WARNING" => "MXNET_RTC_SIZE_WARNING";
    O16 "MXNET_DISABLE_MKLDNN_CONV_OPT" => "MXNET_DISABLE_ONEDNN_CONV_OPT";
    O16 "MXNET_DISABLE_MKLDNN_FC_OPT" => "MXNET_DISABLE_ONEDNN_FC_OPT";
    O16 "MXNET_DISABLE_MKLDNN_FC_SUM" => "MXNET_DISABLE_ONEDNN_FC_SUM";
    O16 "MXNET_DISABLE_MKLDNN_FUSE_CONV_BN" => "MXNET_DISABLE_ONEDNN_FUSE_CONV_BN";
    O16 "MXNET_DISABLE_MKLDNN_FUSE_CONV_RELU" => "MXNET_DISABLE_ONEDNN_FUSE_CONV_RELU";
    O16 "MXNET_DISABLE_MKLDNN_FUSE_CONV_SUM" => "MXNET_DISABLE_ONEDNN_FUSE_CONV_SUM";
    O16 "MXNET_DISABLE_MKLDNN_FUSE_FC_ELTWISE" => "MXNET_DISABLE_ONEDNN_FUSE_FC_ELTWISE";
    O16 "MXNET_DISABLE_MKLDNN_TRANSFORMER_OPT" => "MXNET_DISABLE_ONEDNN_TRANSFORMER_OPT";
    O17 "MXNET_MKLDNN_QFC_DYNAMIC_PARAMS" => "MXNET_ONEDNN_QFC_DYNAMIC_PARAMS";
};

/// The older names of `canonical`.
pub(crate) fn aliases_of(canonical: &str) -> impl Iterator<Item = &'static Alias> {
    ALIASES.iter().filter(move |alias| alias.canonical == canonical)
}
