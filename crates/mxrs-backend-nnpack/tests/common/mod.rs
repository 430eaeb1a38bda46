//! Runs calls on data in blocks of channels and compares them with the reference kernel.

use crate::copies::copy;
use mxrs_backend_nnpack::{Nnpack, NnpackOptions};
use mxrs_op::{Backend, KernelArgs, OpCall, RawTensor, Sample, TensorDesc};
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_testkit::conformance::{Prepared, check_images_apart, team};
use mxrs_testkit::{AlignedBuffer, Tolerance, compare};
use mxrs_types::{DType, Layout, WriteReq};
use std::sync::Arc;

/// The layout of an image in blocks of 16 channels.
pub fn blocked([n, c, h, w]: [usize; 4]) -> Layout {
    let padded = c.next_multiple_of(16);
    Layout::Blocked {
        padded: [n, padded, h, w].into_iter().collect(),
        strides: [padded * h * w, h * w * 16, w * 16, 16].into_iter().collect(),
        blocks: [(1, 16)].into_iter().collect(),
    }
}

/// Returns the description with a layout in blocks if the tensor is an image; otherwise unchanged.
pub fn in_blocks(desc: &TensorDesc) -> TensorDesc {
    match desc.shape[..] {
        [n, c, h, w] => desc.with_layout(blocked([n, c, h, w])),
        _ => desc.clone(),
    }
}

/// Backends for every instruction set, with teams of one thread and of three threads.
pub fn backends() -> Vec<(Arc<Nnpack>, Arc<Team>)> {
    let with = |isa, threads| {
        let team = team(threads);
        (Nnpack::new(&team, NnpackOptions { isa, ..NnpackOptions::default() }), team)
    };
    [1, 3].into_iter().flat_map(|threads| Isa::available().into_iter().map(move |isa| with(isa, threads))).collect()
}

/// Runs a sample with its images in blocks, and compares the outputs with those of the reference kernel: all outputs of
/// batch normalization, and the first output of other operators. Returns the kernel's name.
pub fn check(name: &str, sample: &Sample, backend: &Nnpack, team: &Team) -> String {
    let ops = mxrs_ops::catalog();
    let op = ops.get(name).expect("it is in the catalog");
    let prepared = Prepared::new(op, sample, DType::F32).expect("the reference runs it");
    let what = format!("{name} {} {:?} {}", sample.name, sample.attrs, backend.options().isa.name());
    // Weights, and tensors with other sizes than images, stay row-major.
    let is_image = |i: usize| i == 0 || name == "Concat" || i + 1 == prepared.inputs.len();
    let inputs: Vec<TensorDesc> =
        prepared.inputs.iter().enumerate().map(|(i, d)| if is_image(i) { in_blocks(d) } else { d.clone() }).collect();
    let is_constant: Vec<bool> = (0..inputs.len()).map(|i| i > 0).collect();
    let call = OpCall { inputs: &inputs, ..prepared.call(op, &is_constant) };
    let offer = backend.offer(&call).unwrap_or_else(|reason| panic!("{what}: {reason}"));
    let planned = offer.build().expect("it is built");
    let given = prepared.data.iter().zip(&prepared.inputs).zip(&planned.input_layouts);
    let given: Vec<AlignedBuffer> = given
        .map(|((data, desc), layout)| copy(backend, data, desc, &desc.with_layout(layout.clone()), team))
        .collect();
    let laid_out = |i: usize| prepared.outputs[i].with_layout(planned.output_layouts[i].clone());
    let mut outputs: Vec<AlignedBuffer> =
        (0..prepared.outputs.len()).map(|i| AlignedBuffer::poisoned(laid_out(i).size_bytes())).collect();
    let mut scratch = AlignedBuffer::poisoned(planned.scratch_bytes);
    let raw: Vec<RawTensor<'_>> = outputs.iter_mut().map(|b| RawTensor::from_mut_slice(b.bytes_mut())).collect();
    let args = KernelArgs {
        inputs: &given.iter().map(|b| RawTensor::from_slice(b.bytes())).collect::<Vec<_>>(),
        outputs: &raw,
        reqs: &vec![WriteReq::Write; raw.len()],
        scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
        team,
        random: None,
        stream: None,
    };
    mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("it runs");
    let is_apart = check_images_apart(&planned, &given, (&laid_out(0), &outputs[0]), team);
    let is_apart = is_apart.unwrap_or_else(|e| panic!("{what}: {e}"));
    let is_image = !laid_out(0).layout.is_row_major();
    let must_be = is_image && matches!(name, "Pooling" | "Concat");
    assert!(is_apart || !must_be, "{what}: images may not lie apart");
    assert!(outputs[0].guard_is_intact(), "{what}: wrote behind the end");
    assert!(scratch.guard_is_intact(), "{what}: wrote behind its scratch memory");
    let (from, to) = (laid_out(0), &prepared.outputs[0]);
    if !from.layout.is_row_major() {
        assert_padding_is_zero(&outputs[0], &from, &what);
    }
    let got = copy(backend, &outputs[0], &from, to, team).to_f64(DType::F32);
    let tolerance = Tolerance::of(op.accuracy, DType::F32);
    compare(&got, &prepared.expected[0].to_f64(DType::F32), tolerance).unwrap_or_else(|e| panic!("{what}: {e}"));
    // In batch normalization, the gradient reads hidden outputs, and later batches read the updated inputs. For other
    // calls at inference, no code reads the outputs after the first.
    let n_read = if name.contains("BatchNorm") || name.contains("bn_relu") { outputs.len() } else { 1 };
    for (i, (got, want)) in outputs.iter().zip(&prepared.expected).enumerate().take(n_read).skip(1) {
        assert!(got.guard_is_intact(), "{what}: output {i}: wrote behind the end");
        let got = copy(backend, got, &laid_out(i), &prepared.outputs[i], team).to_f64(DType::F32);
        compare(&got, &want.to_f64(DType::F32), tolerance).unwrap_or_else(|e| panic!("{what}: output {i}: {e}"));
    }
    planned.kernel.name().to_owned()
}

fn assert_padding_is_zero(buffer: &AlignedBuffer, desc: &TensorDesc, what: &str) {
    let [_, c, h, w] = desc.shape[..] else { panic!("{what}: blocks of {desc}") };
    let padded = c.next_multiple_of(16);
    for (at, x) in buffer.to_f64(DType::F32).into_iter().enumerate() {
        let channel = at / (16 * h * w) % (padded / 16) * 16 + at % 16;
        assert!(channel < c || x == 0.0, "{what}: padding channel {channel} holds {x}");
    }
}
