//! The oneDNN backend and its fusions.

use crate::{Kind, settings};
use std::path::PathBuf;

settings! {
    /// The oneDNN backend and its fusions.
    pub struct OneDnnSettings in OneDnn {
        /// Uses oneDNN; 0: every operator runs on the kernels of mxrs.
        enabled: bool = 1, "MXNET_ONEDNN_ENABLED" [D74 FirstUse OneDnnFeature];
        /// The most compiled primitives that each thread keeps per kind of operator; -1 keeps all, 0 none.
        cache_entries: i64 = -1, "MXNET_ONEDNN_CACHE_NUM" [D75 FirstUse OneDnn], Kind::int(-1, i64::MAX as i128);
        /// Keeps the weights of a FullyConnected operator that oneDNN computes in row-major layout, in every element type.
        force_fc_ab: bool = 0, "MXNET_ONEDNN_FORCE_FC_AB_FORMAT" [D76 EveryUse OneDnn];
        /// File of oneDNN to load, in a build that loads oneDNN at run time. If unset, the first of these that can be loaded:
        /// `lib/libdnnl.so.3` in `$CONDA_PREFIX`, the `libdnnl.so.3` that the system's loader finds, that of Debian in
        /// `/usr/lib`.
        library: Option<PathBuf> = unset("the first that is found"), "MXRS_ONEDNN_LIB" [M28 FirstUse OneDnnDynamic];
        /// Uses the oneDNN backend for recurrent networks.
        use_rnn: bool = 1, "MXNET_USE_ONEDNN_RNN" [D89 EveryUse Rnn];
        /// Keeps prepared weights of recurrent networks at inference even if the parameters have changed.
        rnn_weight_cache: bool = 0, "MXNET_RNN_USE_WEIGHT_CACHE" [D91 EveryUse Rnn];
        /// Runs every operator a second time without oneDNN and fails if the results differ.
        debug: bool = 0, "MXNET_ONEDNN_DEBUG" [B45 FirstUse Reader];
        /// Prepares the weights of FullyConnected again in each call.
        disable_fc_cache: bool = 0, "MXNET_ONEDNN_DISABLE_FC_CACHE" [B46 FirstUse Reader];
        /// Checks ranges and weights of quantized FullyConnected in each call.
        qfc_dynamic_params: bool = 0, "MXNET_ONEDNN_QFC_DYNAMIC_PARAMS" [B47 EveryUse Reader];
        /// Fuses requantization with the operator before it.
        fuse_requantize: bool = 1, "MXNET_ONEDNN_FUSE_REQUANTIZE" [B48 Owner Core];
        /// Fuses dequantization with the operator before it.
        fuse_dequantize: bool = 1, "MXNET_ONEDNN_FUSE_DEQUANTIZE" [B49 Owner Core];
        /// Switches off every fusion of convolutions.
        disable_conv: bool = 0, "MXNET_DISABLE_ONEDNN_CONV_OPT" [B50 Owner Core];
        /// Switches off every fusion of FullyConnected.
        disable_fc: bool = 0, "MXNET_DISABLE_ONEDNN_FC_OPT" [B51 Owner Core];
        /// Switches off the fusion of FullyConnected with a sum.
        disable_fc_sum: bool = 0, "MXNET_DISABLE_ONEDNN_FC_SUM" [B52 Owner Core];
        /// Switches off the fusion of BatchNorm with relu.
        disable_bn_relu: bool = 0, "MXNET_DISABLE_ONEDNN_BN_RELU_OPT" [B53 Owner Core];
        /// Switches off the fusion of batched products.
        disable_batch_dot: bool = 0, "MXNET_DISABLE_ONEDNN_BATCH_DOT_FUSE" [B54 Owner Attention];
        /// Switches off the fusion of a power with the product by a number.
        disable_pow_mul: bool = 0, "MXNET_DISABLE_ONEDNN_POW_MUL_SCALAR_OPT" [B55 Owner Reader];
        /// Switches off the fusion of attention.
        disable_transformer: bool = 0, "MXNET_DISABLE_ONEDNN_TRANSFORMER_OPT" [B56 Owner Attention];
        /// Leaves BatchNorm out of the fusion of convolutions.
        disable_fuse_conv_bn: bool = 0, "MXNET_DISABLE_ONEDNN_FUSE_CONV_BN" [B57 Owner Core];
        /// Leaves activations out of the fusion of convolutions.
        disable_fuse_conv_relu: bool = 0, "MXNET_DISABLE_ONEDNN_FUSE_CONV_RELU" [B58 Owner Core];
        /// Leaves sums out of the fusion of convolutions.
        disable_fuse_conv_sum: bool = 0, "MXNET_DISABLE_ONEDNN_FUSE_CONV_SUM" [B59 Owner Core];
        /// Leaves elementwise operators out of the fusion of FullyConnected.
        disable_fuse_fc_eltwise: bool = 0, "MXNET_DISABLE_ONEDNN_FUSE_FC_ELTWISE" [B60 Owner Core];
        /// Leaves relu out of the fusion of BatchNorm.
        disable_fuse_bn_relu: bool = 0, "MXNET_DISABLE_ONEDNN_FUSE_BN_RELU" [B61 Owner Core];
        /// Keeps casts that change nothing.
        keep_casts: bool = 0, "MXNET_DISABLE_REMOVE_CASTS_PROPERTY" [B62 Owner Reader];
    }
}

impl OneDnnSettings {
    /// The most compiled primitives to keep per thread and kind of operator; `None` means no limit.
    pub fn cache_limit(&self) -> Option<usize> {
        usize::try_from(self.cache_entries).ok()
    }
}
