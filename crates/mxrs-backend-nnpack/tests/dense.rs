//! Tests fully-connected layers of odd sizes against a sum of products in double precision.

mod copies;

use copies::copy;
use half::bf16;
use mxrs_backend_nnpack::{Nnpack, NnpackOptions, Weights};
use mxrs_op::{Attrs, Backend, KernelArgs, OpCall, RawTensor, TensorDesc};
use mxrs_processor::Isa;
use mxrs_sync::{Team, TeamConfig};
use mxrs_testkit::AlignedBuffer;
use mxrs_types::{DType, WriteReq};
use std::num::NonZeroUsize;

/// Numbers between -1 and 1 that repeat with a prime period.
fn numbers(n: usize, period: usize) -> Vec<f64> {
    (0..n).map(|i| f64::from((i * 7 % period) as f32 / period as f32 * 2.0 - 1.0)).collect()
}

/// Attributes that select the function of an epilogue, and the function.
type Act = (&'static [(&'static str, &'static str)], fn(f64) -> f64);

const RELU: Act = (&[("act", "relu")], |x| x.max(0.0));

/// Functions other than ReLU.
const FUNCTIONS: [Act; 6] = [
    (&[("act", "clip"), ("a_min", "-0.5"), ("a_max", "0.75")], |x| x.clamp(-0.5, 0.75)),
    (&[("act", "sigmoid")], |x| 1.0 / (1.0 + (-x).exp())),
    (&[("act", "tanh")], f64::tanh),
    (&[("act", "silu")], |x| x / (1.0 + (-x).exp())),
    (&[("act", "hard_sigmoid")], |x| (0.2 * x + 0.5).clamp(0.0, 1.0)),
    (&[("act", "hard_swish")], |x| x * (0.2 * x + 0.5).clamp(0.0, 1.0)),
];

/// Checks a layer with bias, sum and a function, with weights that are packed once or read in place.
fn check(backend: &Nnpack, team: &Team, [rows, steps, outputs]: [usize; 3], is_packed: bool, (act, function): Act) {
    let ops = mxrs_ops::catalog();
    let op = ops.get("_sg_fully_connected").expect("it is in the catalog");
    let hidden = outputs.to_string();
    let attrs = [("num_hidden", hidden.as_str()), ("with_sum", "True")].iter().chain(act).copied().collect::<Attrs>();
    let params = op.parse(&attrs).expect("the attributes are right");
    let inputs = [[rows, steps].as_slice(), &[outputs, steps], &[outputs], &[rows, outputs]]
        .map(|sizes| TensorDesc::dense(sizes, DType::F32));
    let out = [inputs[3].clone()];
    let call =
        OpCall { op, params: &params, inputs: &inputs, outputs: &out, is_constant: &[is_packed; 4], is_train: false };
    let planned = backend.plan(&call).expect("it plans");
    let is_bf16 = is_packed && backend.options().weights == Weights::Bfloat16;
    assert_eq!(planned.kernel.name().contains("bf16"), is_bf16, "{}", planned.kernel.name());
    let data = [113, 127, 131, 137].iter().zip(&inputs).map(|(period, desc)| numbers(desc.shape.n_elements(), *period));
    let data: Vec<Vec<f64>> = data.collect();
    let mut buffers: Vec<AlignedBuffer> = data.iter().map(|data| AlignedBuffer::from_f64(data, DType::F32)).collect();
    let weights = inputs[1].with_layout(planned.input_layouts[1].clone());
    buffers[1] = copy(backend, &buffers[1], &inputs[1], &weights, team);
    let is_half = buffers[1].len_bytes() <= outputs.next_multiple_of(16) * steps.next_multiple_of(16) * 2;
    assert!(is_half || !is_bf16, "{rows}x{steps}x{outputs}: {} bytes", buffers[1].len_bytes());
    let rounded = |w: f64| if is_bf16 { bf16::from_f64(w).to_f64() } else { w };
    let mut scratch = AlignedBuffer::poisoned(planned.scratch_bytes);
    let mut result = AlignedBuffer::poisoned(out[0].size_bytes());
    let args = KernelArgs {
        inputs: &buffers.iter().map(|b| RawTensor::from_slice(b.bytes())).collect::<Vec<_>>(),
        outputs: &[RawTensor::from_mut_slice(result.bytes_mut())],
        reqs: &[WriteReq::Write],
        scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
        team,
        random: None,
        stream: None,
    };
    mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("it runs");
    assert!(result.guard_is_intact() && scratch.guard_is_intact());
    for (at, got) in result.to_f64(DType::F32).into_iter().enumerate() {
        let (row, output) = (at / outputs, at % outputs);
        let (x, w) = (&data[0][row * steps..][..steps], &data[1][output * steps..][..steps]);
        let products: f64 = x.iter().zip(w).map(|(x, w)| x * rounded(*w)).sum();
        let sum = products + data[2][output] + data[3][at];
        let want = function(sum);
        // No function is steeper than 3, and the product of a value and a function of it grows with the value.
        let bound = 3e-7 * (steps as f64 + 4.0 + sum.abs()) * if act == RELU.0 { 1.0 } else { 3.0 };
        assert!((got - want).abs() <= bound, "{act:?} {rows}x{steps}x{outputs}: [{at}] {got}, expected {want}");
    }
}

#[test]
fn layers_of_odd_sizes_agree_with_double_precision() {
    for threads in [1, 3] {
        let threads = NonZeroUsize::new(threads).expect("a positive number");
        let team = Team::new(TeamConfig { threads, cpus: None }).expect("threads can be started");
        for isa in Isa::available() {
            let backend = |weights| Nnpack::new(&team, NnpackOptions { isa, weights, ..NnpackOptions::default() });
            for sizes in [
                [1, 1, 1],
                [1, 2500, 7],
                [2, 33, 130],
                [3, 1040, 9],
                [5, 15, 40],
                [16, 300, 21],
                [23, 1100, 6],
                [32, 2000, 70],
                [47, 64, 16],
            ] {
                for weights in [Weights::Float32, Weights::Bfloat16] {
                    check(&backend(weights), &team, sizes, false, RELU);
                    check(&backend(weights), &team, sizes, true, RELU);
                }
            }
        }
    }
}

#[test]
fn functions_behind_layers_agree_with_double_precision() {
    for threads in [1, 3] {
        let threads = NonZeroUsize::new(threads).expect("a positive number");
        let team = Team::new(TeamConfig { threads, cpus: None }).expect("threads can be started");
        for isa in Isa::available() {
            let backend = |weights| Nnpack::new(&team, NnpackOptions { isa, weights, ..NnpackOptions::default() });
            // The last size is large enough for several threads.
            let sizes = [[1, 70, 37], [2, 33, 130], [5, 15, 40], [23, 110, 6], [20, 300, 70]];
            for (sizes, act) in sizes.into_iter().flat_map(|sizes| FUNCTIONS.map(|act| (sizes, act))) {
                for weights in [Weights::Float32, Weights::Bfloat16] {
                    check(&backend(weights), &team, sizes, false, act);
                    check(&backend(weights), &team, sizes, true, act);
                }
            }
        }
    }
}
