//! Tests that the instruction set does not change the bits, because the loops fix every rounding.

use mxrs_backend_cpu::{CpuBackend, Level};
use mxrs_op::{Backend, Fill, KernelArgs, OpDef, RawTensor, Sample};
use mxrs_sync::Team;
use mxrs_testkit::AlignedBuffer;
use mxrs_testkit::conformance::Prepared;
use mxrs_types::{DType, WriteReq};

/// All outputs of a call, with all NaNs replaced by the same one; `None` if the backend has no kernel for the call.
fn outputs(op: &OpDef, prepared: &Prepared, level: Level) -> Option<Vec<Vec<u64>>> {
    let team = Team::serial();
    let backend = CpuBackend::with_level(&team, level);
    let is_constant = vec![false; prepared.inputs.len()];
    let call = prepared.call(op, &is_constant);
    let planned = backend.offer(&call).ok()?.build().expect("it is built");
    let mut scratch = AlignedBuffer::poisoned(planned.scratch_bytes);
    let mut outputs: Vec<AlignedBuffer> =
        prepared.outputs.iter().map(|desc| AlignedBuffer::poisoned(desc.size_bytes())).collect();
    let raw: Vec<RawTensor<'_>> = outputs.iter_mut().map(|b| RawTensor::from_mut_slice(b.bytes_mut())).collect();
    let args = KernelArgs {
        inputs: &prepared.data.iter().map(|b| RawTensor::from_slice(b.bytes())).collect::<Vec<_>>(),
        outputs: &raw,
        reqs: &vec![WriteReq::Write; raw.len()],
        scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
        team: &team,
        random: Some(Prepared::RANDOM),
        stream: None,
    };
    mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("a run");
    let bits = |x: f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    let numbers = outputs.iter().zip(&prepared.outputs).map(|(b, desc)| b.to_f64(desc.dtype));
    Some(numbers.map(|numbers| numbers.into_iter().map(bits).collect()).collect())
}

#[test]
fn every_level_gives_the_same_bits() {
    let ops = mxrs_ops::catalog();
    let mut n_compared = 0;
    for op in ops.iter().chain(ops.companions()) {
        for sample in (op.samples)() {
            for dtype in op.dtypes {
                let sample = Sample { is_train: true, ..sample.clone() };
                let Ok(prepared) = Prepared::new(op, &sample, *dtype) else { continue };
                let Some(expected) = outputs(op, &prepared, Level::PORTABLE) else { continue };
                for level in Level::available() {
                    let got = outputs(op, &prepared, level).expect("every level takes the same calls");
                    assert!(got == expected, "{}/{}/{dtype} on {}", op.name, sample.name, level.name());
                    n_compared += 1;
                }
            }
        }
    }
    assert!(n_compared > 500, "only {n_compared} comparisons");
}

/// A number slightly above the middle between two 16-bit floats must be rounded up.
#[test]
fn conversions_to_sixteen_bits_round_once() {
    let ops = mxrs_ops::catalog();
    let two = |power: i32| 2f64.powi(power);
    let cases = [
        ("bfloat16", DType::F64, 1.0 + two(-8) + two(-40), 1.0 + two(-7)),
        ("float16", DType::F64, 1.0 + two(-11) + two(-40), 1.0 + two(-10)),
        ("bfloat16", DType::I32, two(30) + two(22) + 1.0, two(30) + two(23)),
        ("bfloat16", DType::I64, -two(40) - two(32) - 1.0, -two(40) - two(33)),
    ];
    for (to, from, value, expected) in cases {
        let sample = Sample::new("ties", [("dtype", to)], &[&[19]]).fill(0, Fill::Values(vec![value; 19]));
        let op = ops.get("Cast").expect("it is in the catalog");
        let prepared = Prepared::new(op, &sample, from).expect("the reference runs it");
        for level in Level::available() {
            let got = outputs(op, &prepared, level).expect("it is taken");
            assert!(got[0].iter().all(|bits| *bits == expected.to_bits()), "{from} to {to} on {}", level.name());
        }
    }
}

/// Tests long rows, whose loops have a vectorized part and a remainder.
#[test]
fn every_level_gives_the_same_bits_on_long_rows() {
    let ops = mxrs_ops::catalog();
    let none: [(&str, &str); 0] = [];
    let shape: &[usize] = &[3, 1037];
    for name in [
        "exp",
        "log",
        "tanh",
        "sigmoid",
        "sum",
        "mean",
        "max",
        "softmax",
        "_backward_softmax",
        "Dropout",
        "elemwise_div",
    ] {
        let op = ops.get(name).expect("it is in the catalog");
        let n_inputs = op.n_inputs(&op.parse(&mxrs_op::Attrs::new()).expect("no attributes"));
        let sample = Sample { is_train: true, ..Sample::new("long", none, &vec![shape; n_inputs]) };
        let prepared = Prepared::new(op, &sample, DType::F32).expect("a possible call");
        let expected = outputs(op, &prepared, Level::PORTABLE).expect("it is taken");
        for level in Level::available() {
            assert!(outputs(op, &prepared, level).as_ref() == Some(&expected), "{name} on {}", level.name());
        }
    }
}
