//! GPUs, their libraries and run-time compilation.

use crate::{Kind, settings};
use std::num::NonZeroUsize;
use std::path::PathBuf;

settings! {
    /// GPUs, their libraries and run-time compilation.
    pub struct CudaSettings in Cuda {
        /// Number of streams of each GPU worker. With 2, both halves of a convolution's backward pass run at the same time.
        worker_streams: u8 = 1, "MXNET_GPU_WORKER_NSTREAMS" [D58 FirstUse Gpu], Kind::int(1, 2);
        /// Allows tensor cores, and convolution engines that use them.
        allow_tensor_core: bool = 1, "MXNET_CUDA_ALLOW_TENSOR_CORE" [D61 FirstUse Cuda];
        /// Allows operators on float32 to use tensor cores by casting their inputs to float16.
        allow_conversion: bool = 0, "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION" [D62 EveryUse Cuda];
        /// Warns about a missing driver or GPU and about an old CUDA library.
        check_cuda: bool = 1, "MXNET_CUDA_LIB_CHECKING" [D70 FirstUse Cuda];
        /// Logs how many pointwise calls became how many fused calls, and how long that took. Fused kernels are not
        /// compiled at run time, so their source is not logged.
        rtc_verbose: bool = 0, "MXNET_RTC_VERBOSE" [D87 EveryUse Core];
        /// Accumulates float16 matrix products in float16 instead of float32.
        fc_true_fp16: bool = 0, "MXNET_FC_TRUE_FP16" [D90 EveryUse Cuda];
        /// The GPUs that the driver makes visible.
        visible_devices: Option<String> = unset("all"), "CUDA_VISIBLE_DEVICES" [B38 Process Cuda];
        /// Warns once when very many kernels were compiled at run time.
        rtc_size_warning: bool = 1, "MXNET_RTC_SIZE_WARNING" [B39 EveryUse Cuda];
        /// 0 forbids the TF32 format in NVIDIA's libraries.
        tf32_override: Option<u8> = unset, "NVIDIA_TF32_OVERRIDE" [B40 Process Cuda], Kind::int(0, 0);
        /// Computes the gradient of softmax without its vectorized kernel.
        debug_softmax_grad: bool = 0, "DEBUG_SOFTMAX_GRAD" [B41 EveryUse Cuda];
        /// Uses half precision in the TensorRT backend.
        tensorrt_fp16: bool = 1, "MXNET_TENSORRT_USE_FP16" [B42 EveryUse TensorRt];
        /// Largest batch of an engine of the TensorRT backend.
        tensorrt_max_batch: Option<NonZeroUsize> = unset("the batch of the first input"), "MXNET_TENSORRT_MAX_BATCH_SIZE"
            [B43 Owner TensorRt];
        /// Folder of the CUDA libraries, for the loader on Windows.
        cuda_path: Option<PathBuf> = unset, "CUDA_PATH" [B44 Process Cuda];
        /// Logs the work of the TensorRT backend. An older setting.
        tensorrt_verbose: bool = 0, "MXNET_TENSORRT_VERBOSE" [O19 EveryUse TensorRt];
    }
}
