//! cuDNN and the selection of convolution engines.

use crate::{Kind, settings};

settings! {
    /// cuDNN and the selection of convolution engines.
    pub struct CudnnSettings in Cudnn {
        /// How a convolution engine is chosen: 0 the first that fits, 1 the fastest that fits, 2 the fastest.
        autotune: u8 = 1, "MXNET_CUDNN_AUTOTUNE_DEFAULT" [D59 EveryUse Cudnn], Kind::int(0, 2);
        /// 1 logs the chosen engine, 2 every candidate.
        algo_verbose: u8 = 0, "MXNET_CUDNN_ALGO_VERBOSE_LEVEL" [D60 EveryUse Cudnn], Kind::int(0, 2);
        /// Allows engines that accumulate in reduced precision.
        allow_reduced_reduction: bool = 1, "MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION" [D63 EveryUse Cudnn];
        /// Allows engines that use Fourier transforms.
        allow_fft: bool = 1, "MXNET_CUDNN_ALLOW_FFT" [D64 EveryUse Cudnn];
        /// How the candidates are ordered: 0 by a decision tree, 1 by a neural network.
        heuristic_mode: Option<u8> = unset("1 from cuDNN 8.1 on, else 0"), "MXNET_CUDNN_HEUR_MODE" [D65 EveryUse Cudnn],
            Kind::int(0, 1);
        /// Allows engines that use Winograd transforms.
        allow_winograd: bool = 1, "MXNET_CUDNN_ALLOW_WINOGRAD" [D66 EveryUse Cudnn];
        /// Numbers of engines that are never used for the forward convolution.
        disabled_forward: Vec<u32> = "", "MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES" [D67 EveryUse Cudnn];
        /// Numbers of engines that are never used for the data gradient of a convolution.
        disabled_data_gradient: Vec<u32> = "", "MXNET_CUDNN_DISABLED_CONV_DGRAD_ENGINES" [D68 EveryUse Cudnn];
        /// Numbers of engines that are never used for the weight gradient of a convolution.
        disabled_weight_gradient: Vec<u32> = "", "MXNET_CUDNN_DISABLED_CONV_WGRAD_ENGINES" [D69 EveryUse Cudnn];
        /// Warns if cuDNN is old or has another version than at build time.
        check_cudnn: bool = 1, "MXNET_CUDNN_LIB_CHECKING" [D71 FirstUse Cudnn];
    }
}
