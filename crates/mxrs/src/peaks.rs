//! What the machine can do at best, measured on the threads of a runtime.

use crate::Runtime;
use mxrs_types::DType;
use std::time::Duration;

impl Runtime {
    /// Peak float32 operations per second of the team's threads, without memory access, where a multiply-add counts as two.
    /// Kernel speeds are compared with it. The measurement takes `patience`.
    pub fn peak_flops(&self, patience: Duration) -> f64 {
        mxrs_processor::peak_flops(self.team(), patience)
    }

    /// Peak operations per second of the team's threads on numbers of a dtype, without memory access, where a multiply-add
    /// counts as two. Supports float32, bfloat16 (widened to float32 if the processor does not multiply it), int8 and uint8.
    /// Returns `None` for other dtypes, and for integers if the processor has no instruction that multiplies and adds them.
    /// Also returns `None` if the processor has matrix units for the dtype, because these are not measured. The measurement
    /// takes `patience`.
    pub fn peak_ops(&self, dtype: DType, patience: Duration) -> Option<f64> {
        mxrs_processor::peak_ops(self.team(), dtype, patience)
    }

    /// Bytes per second that the team's threads read from and write to memory together, measured on arrays of 192 MiB. Kernels
    /// with little arithmetic are compared with it. The measurement takes `patience`.
    pub fn peak_bandwidth(&self, patience: Duration) -> f64 {
        mxrs_processor::peak_bandwidth(self.team(), patience)
    }
}
