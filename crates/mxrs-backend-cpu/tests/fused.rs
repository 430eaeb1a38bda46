//! Tests that fused calls give the same bits as the single calls, for outputs in their own memory and in that of an input.

use mxrs_backend_cpu::{CpuBackend, Level};
use mxrs_op::{
    Attrs, Backend, Fused, FusedCall, FusedValue, KernelArgs, OpCall, OpDef, OpParams, OpSet, RawTensor, TensorDesc,
    fused_op,
};
use mxrs_sync::Team;
use mxrs_testkit::conformance::team;
use mxrs_testkit::{AlignedBuffer, Seeded};
use mxrs_types::{DType, WriteReq};
use std::sync::Arc;

const N_INPUTS: usize = 3;
const UNARY: [&str; 9] = ["relu", "tanh", "sigmoid", "exp", "negative", "abs", "square", "_copy", "zeros_like"];
const BINARY: [&str; 7] = [
    "elemwise_add",
    "elemwise_sub",
    "elemwise_mul",
    "_grad_add",
    "_backward_relu",
    "_backward_tanh",
    "_backward_sigmoid",
];

/// Inputs, outputs with their old values, and the request of each output.
struct Tensors {
    inputs: Vec<AlignedBuffer>,
    outputs: Vec<AlignedBuffer>,
    reqs: Vec<WriteReq>,
}

/// Runs a call on copies of the inputs. An output whose request is to write in place has the memory of input `shared`.
fn run(
    backend: &CpuBackend,
    op: &OpDef,
    params: &OpParams,
    given: &Tensors,
    descs: &[Vec<TensorDesc>],
    shared: usize,
) -> Vec<AlignedBuffer> {
    let [ins, outs] = descs else { panic!("descriptions of inputs and outputs") };
    let is_constant = vec![false; ins.len()];
    let call = OpCall { op, params, inputs: ins, outputs: outs, is_constant: &is_constant, is_train: true };
    let planned = backend.plan(&call).expect("it is supported");
    let (mut inputs, mut outputs) = (given.inputs.clone(), given.outputs.clone());
    let mut scratch = AlignedBuffer::poisoned(planned.scratch_bytes);
    let in_raw: Vec<RawTensor<'_>> = inputs.iter_mut().map(|b| RawTensor::from_mut_slice(b.bytes_mut())).collect();
    let out_raw: Vec<RawTensor<'_>> = outputs
        .iter_mut()
        .zip(&given.reqs)
        .map(
            |(b, req)| {
                if *req == WriteReq::Inplace { in_raw[shared] } else { RawTensor::from_mut_slice(b.bytes_mut()) }
            },
        )
        .collect();
    let args = KernelArgs {
        inputs: &in_raw,
        outputs: &out_raw,
        reqs: &given.reqs,
        scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
        team: &team(2),
        random: None,
        stream: None,
    };
    mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("a run");
    assert!(scratch.guard_is_intact() && outputs.iter().chain(&inputs).all(AlignedBuffer::guard_is_intact));
    outputs
        .into_iter()
        .zip(&given.reqs)
        .map(|(b, req)| if *req == WriteReq::Inplace { inputs[shared].clone() } else { b })
        .collect()
}

/// Random calls, each reading earlier values; some convert to f64 and back.
fn random_calls(ops: &OpSet, seed: &mut Seeded, dtype: DType) -> Fused {
    let mut values: Vec<FusedValue> = (0..N_INPUTS as u32).map(FusedValue::Input).collect();
    let mut calls: Vec<FusedCall> = Vec::new();
    let push = |calls: &mut Vec<FusedCall>, name: &str, attrs: Attrs, inputs: &[FusedValue]| {
        let op = Arc::clone(ops.get(name).expect("it is in the catalog"));
        let params = op.parse(&attrs).expect("the attributes are right");
        calls.push(FusedCall { op, params, inputs: inputs.to_vec() });
        FusedValue::Call(calls.len() as u32 - 1, 0)
    };
    let n_calls = seed.integer(1, 12);
    for _ in 0..n_calls {
        let mut any = || values[seed.integer(0, values.len() as i64) as usize];
        let (a, b) = (any(), any());
        let pick = |names: &[&'static str], seed: &mut Seeded| names[seed.integer(0, names.len() as i64) as usize];
        let made = match seed.integer(0, 10) {
            0..4 => push(&mut calls, pick(&UNARY, seed), Attrs::new(), &[a]),
            4..8 => push(&mut calls, pick(&BINARY, seed), Attrs::new(), &[a, b]),
            8 => push(&mut calls, "_plus_scalar", Attrs::from([("scalar", "0.3")]), &[a]),
            _ => {
                let wide = push(&mut calls, "Cast", Attrs::from([("dtype", "float64")]), &[a]);
                push(&mut calls, "Cast", Attrs::from([("dtype", dtype.name())]), &[wide])
            }
        };
        values.push(made);
    }
    // The outputs are the last value and a random value.
    let other = values[seed.integer(0, values.len() as i64) as usize];
    Fused::new(N_INPUTS, calls, vec![*values.last().expect("inputs are values"), other]).expect("well-formed calls")
}

/// Computes the values of all outputs by single calls on the same backend.
fn one_by_one(
    backend: &CpuBackend,
    fused: &Fused,
    inputs: &[AlignedBuffer],
    n: usize,
    dtype: DType,
) -> Vec<AlignedBuffer> {
    let dtypes = fused.dtypes(&[dtype; N_INPUTS]).expect("consistent types");
    let mut made: Vec<AlignedBuffer> = Vec::new();
    let of = |value: &FusedValue, made: &[AlignedBuffer]| match *value {
        FusedValue::Input(i) => (inputs[i as usize].clone(), dtype),
        FusedValue::Call(call, _) => (made[call as usize].clone(), dtypes[call as usize][0]),
    };
    for (call, dtypes) in fused.calls.iter().zip(&dtypes) {
        let (inputs, types): (Vec<_>, Vec<_>) = call.inputs.iter().map(|value| of(value, &made)).unzip();
        let descs =
            [types, dtypes.clone()].map(|types| types.iter().map(|t| TensorDesc::dense([n], *t)).collect::<Vec<_>>());
        let outputs = vec![AlignedBuffer::poisoned(n * dtypes[0].size_of())];
        let given = Tensors { inputs, outputs, reqs: vec![WriteReq::Write] };
        made.extend(run(backend, &call.op, &call.params, &given, &descs, 0));
    }
    fused.outputs.iter().map(|value| of(value, &made).0).collect()
}

#[test]
fn f3_fused_calls_give_the_bits_of_their_calls() {
    let (ops, op) = (mxrs_ops::catalog(), fused_op());
    let mut seed = Seeded::from_text("fused calls");
    for round in 0..300 {
        let dtype = [DType::F32, DType::F32, DType::F16, DType::BF16, DType::F64][round % 5];
        let n = [0, 1, 7, 65, 1000, 4096, 50_001][round % 7];
        let levels = Level::available();
        let backend = CpuBackend::with_level(&team(2), levels[round % levels.len()]);
        let fused = random_calls(&ops, &mut seed, dtype);
        let numbers = |seed: &mut Seeded| (0..n).map(|_| seed.uniform(-3.0, 3.0)).collect::<Vec<f64>>();
        let inputs: Vec<AlignedBuffer> =
            (0..N_INPUTS).map(|_| AlignedBuffer::from_f64(&numbers(&mut seed), dtype)).collect();
        let expected = one_by_one(&backend, &fused, &inputs, n, dtype);
        let text = format!("{n} {dtype} {fused:?}");
        let params = OpParams::new(fused);
        let desc = TensorDesc::dense([n], dtype);
        let descs = [vec![desc.clone(); N_INPUTS], vec![desc; 2]];
        let base = AlignedBuffer::from_f64(&numbers(&mut seed), dtype);
        for reqs in [
            [WriteReq::Write, WriteReq::Write],
            [WriteReq::Inplace, WriteReq::Write],
            [WriteReq::Write, WriteReq::Inplace],
            [WriteReq::Null, WriteReq::Inplace],
            [WriteReq::Add, WriteReq::Inplace],
            [WriteReq::Inplace, WriteReq::Add],
        ] {
            for shared in 0..N_INPUTS {
                let given = Tensors { inputs: inputs.clone(), outputs: vec![base.clone(); 2], reqs: reqs.to_vec() };
                let got = run(&backend, &op, &params, &given, &descs, shared);
                for ((got, expected), req) in got.iter().zip(&expected).zip(reqs) {
                    let mut expected = expected.clone();
                    match req {
                        WriteReq::Null => expected = base.clone(),
                        WriteReq::Add => {
                            let mut sum = base.clone();
                            mxrs_op::accumulate(&descs[1][0], sum.bytes_mut(), expected.bytes()).expect("floats add");
                            expected = sum;
                        }
                        WriteReq::Write | WriteReq::Inplace => {}
                    }
                    assert!(got.bytes() == expected.bytes(), "{reqs:?} in place of {shared}: {text}");
                }
            }
        }
    }
}

#[test]
fn a_fused_call_without_a_kernel_for_a_part_is_refused_with_its_name() {
    let ops = mxrs_ops::catalog();
    let op = Arc::clone(ops.get("exp").expect("it is in the catalog"));
    let params = op.parse(&Attrs::new()).expect("no attributes");
    let calls = vec![FusedCall { op, params, inputs: vec![FusedValue::Input(0)] }];
    let fused = Fused::new(1, calls, vec![FusedValue::Call(0, 0)]).expect("well-formed calls");
    let (op, params) = (fused_op(), OpParams::new(fused));
    let desc = [TensorDesc::dense([3], DType::U16)];
    let call =
        OpCall { op: &op, params: &params, inputs: &desc, outputs: &desc, is_constant: &[false], is_train: false };
    let backend = CpuBackend::new(&Team::serial());
    assert_eq!(backend.offer(&call).err().as_deref(), Some("exp on uint16"));
}
