//! Tests that sums of 16-bit numbers are computed with more digits and rounded once: a sum slightly more than halfway
//! between two numbers is rounded up. Each image of the test has one nonzero number per channel, because the numbers of one
//! image are summed in float32.

use mxrs_backend_onednn::{OneDnn, OneDnnConfig};
use mxrs_op::{Backend, Fill, Sample};
use mxrs_sync::Team;
use mxrs_testkit::conformance::{Prepared, run_once};
use mxrs_types::DType;

const CHANNELS: usize = 19;

#[test]
fn sums_of_short_numbers_are_rounded_once() {
    let team = Team::serial();
    let backend = OneDnn::new(OneDnnConfig { team: team.clone(), cache_entries: None, row_major_weights: false })
        .expect("oneDNN is built in");
    let ops = mxrs_ops::catalog();
    let op = ops.get("_backward_Convolution_bias").expect("it is in the catalog");
    let filters = CHANNELS.to_string();
    // Each case: a dtype, half a unit in the last place of 1, and a number so small that adding it to 1 gives 1.
    for (dtype, half, little) in
        [(DType::BF16, 0.5f64.powi(8), 0.5f64.powi(40)), (DType::F16, 0.5f64.powi(11), 0.5f64.powi(24))]
    {
        let images = [1.0, half, little].into_iter().flat_map(|x| [[x, 0.0]; CHANNELS]).flatten().collect();
        let sample =
            Sample::new("ties", [("kernel", "(1, 1)"), ("num_filter", &filters)], &[&[3, CHANNELS, 1, 2], &[CHANNELS]]);
        let prepared = Prepared::new(op, &sample.fill(0, Fill::Values(images)), dtype).expect("the reference runs it");
        let call = prepared.call(op, &[false; 2]);
        assert!(backend.offer(&call).is_ok(), "{dtype}");
        let planned = backend.plan(&call).expect("it supports the call");
        assert!(planned.input_layouts.iter().all(|layout| layout.is_row_major()), "{dtype}");
        let inputs: Vec<_> = prepared.data.iter().collect();
        let n_bytes = prepared.outputs[0].size_bytes();
        let sums = run_once(&*planned.kernel, &inputs, n_bytes, planned.scratch_bytes, &team).expect("it runs");
        assert_eq!(sums.to_f64(dtype), [1.0 + 2.0 * half; CHANNELS], "{dtype}");
    }
}
