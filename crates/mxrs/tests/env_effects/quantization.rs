//! Row B37 of `docs/env.md`: the log of how each node is treated when a network is quantized.

use crate::graphs::Calls;
use crate::log_lines::log_lines;
use crate::{Vars, runtime};
use mxrs::format::Tensor;
use mxrs::graph::Symbol;
use mxrs::quantize::{CalibMode, CalibrationTable, QuantizeOptions, Quantizer};

const VERBOSE: &str = "MXNET_QUANTIZATION_VERBOSE";

/// The log lines of quantizing a layer with an activation.
fn lines(vars: Vars<'_>) -> Vec<String> {
    let runtime = runtime(vars);
    let mut calls = Calls::new(&runtime);
    let fc =
        calls.named("fc", "FullyConnected", &[("num_hidden", "2"), ("no_bias", "True")], &[&Symbol::variable("x")]);
    let graph = calls.named("act", "tanh", &[], &[&fc]).graph().expect("a well-formed graph");
    let weight = Tensor::from_slice([2, 3], &[0.5f32; 6]).expect("six elements");
    let params = [("fc_weight".to_owned(), weight)].into_iter().collect();
    let options = QuantizeOptions { calib_mode: CalibMode::None, ..runtime.quantize_options() };
    let quantizer = Quantizer::new(&graph, &params, runtime.ops(), &options).expect("a layer to quantize");
    log_lines(|| quantizer.finish(&CalibrationTable::empty()).expect("it is quantized")).1
}

#[test]
fn b37_logs_each_node_that_is_changed_or_left() {
    assert_eq!(lines(&[]), [""; 0]);
    assert_eq!(lines(&[(VERBOSE, "0")]), [""; 0]);
    let logged = lines(&[(VERBOSE, "1")]);
    assert!(logged.contains(&"INFO fc is quantized.".to_owned()), "{logged:?}");
    assert!(logged.contains(&"INFO act is NOT quantized. (tanh: no quantized form)".to_owned()), "{logged:?}");
    assert!(logged.contains(&"INFO Can't find calibration result for x_quantize (x)".to_owned()), "{logged:?}");
}
