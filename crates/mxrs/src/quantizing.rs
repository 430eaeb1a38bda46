//! The runtime's options for quantization.

use crate::Runtime;
use mxrs_quantize::QuantizeOptions;

impl Runtime {
    /// Default options of quantization. `MXNET_QUANTIZATION_VERBOSE` decides whether the treatment of each node is logged.
    pub fn quantize_options(&self) -> QuantizeOptions {
        QuantizeOptions { verbose: self.settings().graph.quantization_verbose, ..QuantizeOptions::default() }
    }
}
