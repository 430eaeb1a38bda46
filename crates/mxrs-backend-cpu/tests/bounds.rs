//! Compares softmax, its logarithm and their gradients with their formulas in `f64`, within the bounds that the kernels
//! state.

use mxrs_backend_cpu::{CpuBackend, Level};
use mxrs_op::{Attrs, Backend, Fill, KernelArgs, OpDef, RawTensor, Sample};
use mxrs_testkit::AlignedBuffer;
use mxrs_testkit::conformance::{Prepared, team};
use mxrs_types::{DType, WriteReq};
use std::sync::Arc;

/// The unit roundoff of `f32`.
const U: f64 = 1.0 / 16_777_216.0;

/// The inputs and the output of a call, on three threads with the widest instructions.
fn run(op: &OpDef, sample: &Sample) -> (Vec<Vec<f64>>, Vec<f64>) {
    let team = team(3);
    let backend = CpuBackend::with_level(&team, Level::best());
    let prepared = Prepared::new(op, sample, DType::F32).expect("a possible call");
    let is_constant = vec![false; prepared.inputs.len()];
    let planned = backend.offer(&prepared.call(op, &is_constant)).expect("an offer").build().expect("it is built");
    let mut scratch = AlignedBuffer::poisoned(planned.scratch_bytes);
    let mut output = AlignedBuffer::poisoned(prepared.outputs[0].size_bytes());
    let args = KernelArgs {
        inputs: &prepared.data.iter().map(|data| RawTensor::from_slice(data.bytes())).collect::<Vec<_>>(),
        outputs: &[RawTensor::from_mut_slice(output.bytes_mut())],
        reqs: &[WriteReq::Write],
        scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
        team: &team,
        random: None,
        stream: None,
    };
    mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("a run");
    let inputs = prepared.data.iter().zip(&prepared.inputs).map(|(data, desc)| data.to_f64(desc.dtype)).collect();
    (inputs, output.to_f64(DType::F32))
}

/// Shapes for which the backend uses each of its softmax kernels: short rows, rows longer than a cache, interleaved rows,
/// and long interleaved rows.
const SHAPES: [(&[usize], usize); 8] = [
    (&[7, 1], 1),
    (&[40, 63], 1),
    (&[33, 1000], 1),
    (&[3, 40_003], 1),
    (&[11, 33_000], 1),
    (&[3, 37, 130], 1),
    (&[1001, 70], 0),
    (&[2, 4500, 5], 1),
];

/// The flat positions of each row.
fn rows(shape: &[usize], axis: usize) -> Vec<Vec<usize>> {
    let inner: usize = shape[axis + 1..].iter().product();
    let (size, outer): (usize, usize) = (shape[axis], shape[..axis].iter().product());
    let row = |o: usize, i: usize| (0..size).map(|k| (o * size + k) * inner + i).collect();
    (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))).map(|(o, i)| row(o, i)).collect()
}

fn operator(name: &str) -> Arc<OpDef> {
    Arc::clone(mxrs_ops::catalog().get(name).expect("it is in the catalog"))
}

#[test]
fn results_are_within_their_bounds() {
    for ((shape, axis), t) in SHAPES.into_iter().flat_map(|shape| [1.0, 0.7].map(|t| (shape, t))) {
        for name in ["softmax", "log_softmax"] {
            let attrs: Attrs = [("axis", axis.to_string()), ("temperature", t.to_string())].into_iter().collect();
            let none: [(&str, &str); 0] = [];
            let sample = Sample { attrs, ..Sample::new("bound", none, &[shape]) }.fill(0, Fill::Uniform(-60.0, 60.0));
            let (inputs, got) = run(&operator(name), &sample);
            for row in rows(shape, axis) {
                let x: Vec<f64> = row.iter().map(|at| inputs[0][*at]).collect();
                let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = x.iter().map(|x| ((x - largest) / t).exp()).sum();
                for (at, x) in row.iter().zip(&x) {
                    let d = (largest - x) / t;
                    let bound = (4.0 * d + 5.0 * (row.len() as f64).ln() + 8.0) * U;
                    let (want, most) = match name {
                        "softmax" => ((-d).exp() / sum, (-d).exp() / sum * bound + f64::from(f32::MIN_POSITIVE)),
                        _ => (-d - sum.ln(), bound),
                    };
                    let error = (got[*at] - want).abs();
                    assert!(error <= most, "{name} of {shape:?}: {}, expected {want}, within {most:e}", got[*at]);
                }
            }
        }
    }
}

#[test]
fn gradients_are_within_their_bounds() {
    for (shape, axis) in SHAPES {
        for name in ["_backward_softmax", "_backward_log_softmax"] {
            let is_log = name.ends_with("log_softmax");
            let output = if is_log { Fill::Uniform(-20.0, 0.0) } else { Fill::Uniform(0.0, 1.0) };
            let attrs: Attrs = [("axis", axis.to_string()), ("temperature", "0.7".into())].into_iter().collect();
            let none: [(&str, &str); 0] = [];
            let sample = Sample { attrs, ..Sample::new("bound", none, &[shape, shape, shape]) }.fill(1, output);
            let (inputs, got) = run(&operator(name), &sample);
            let (g, y) = (&inputs[0], &inputs[1]);
            for row in rows(shape, axis) {
                let term = |at: &usize| if is_log { g[*at] } else { g[*at] * y[*at] };
                let sum: f64 = row.iter().map(term).sum();
                let magnitude: f64 = row.iter().map(|at| term(at).abs()).sum();
                for at in &row {
                    let (g, y) = (g[*at], y[*at]);
                    let (want, scale) = match is_log {
                        true => (g - y.exp() * sum, g.abs() + y.exp() * magnitude),
                        false => (y * (g - sum), y * (g.abs() + magnitude)),
                    };
                    let (want, most) = (want / 0.7, 8.0 * U * scale / 0.7);
                    let error = (got[*at] - want).abs();
                    assert!(error <= most, "{name} of {shape:?}: {}, expected {want}, within {most:e}", got[*at]);
                }
            }
        }
    }
}
