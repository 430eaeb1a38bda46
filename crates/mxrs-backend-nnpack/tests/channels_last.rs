//! Runs calls in bfloat16 and on quantized tensors whose images have channels last, as they have between the layers of a
//! network, and compares them with the reference kernels.

mod copies;

use copies::copy;
use mxrs_backend_nnpack::{Nnpack, NnpackOptions};
use mxrs_op::{Backend, KernelArgs, OpCall, RawTensor, TensorDesc};
use mxrs_processor::Isa;
use mxrs_testkit::conformance::{Prepared, team};
use mxrs_testkit::{AlignedBuffer, Tolerance, compare};
use mxrs_types::{DType, Layout, WriteReq};

/// The description with channels last if the tensor is an image.
fn with_channels_last(desc: &TensorDesc) -> TensorDesc {
    let [n, c, h, w] = desc.shape[..] else { return desc.clone() };
    desc.with_layout(Layout::Blocked {
        padded: [n, c, h, w].into_iter().collect(),
        strides: [h * w * c, 1, w * c, c].into_iter().collect(),
        blocks: [].into_iter().collect(),
    })
}

/// Runs all samples of an operator in this type, and returns how many have an offer.
fn check(name: &str, dtype: DType, backend: &Nnpack) -> usize {
    let ops = mxrs_ops::catalog();
    let op = ops.get(name).expect("it is in the catalog");
    let team = team(2);
    let mut n_taken = 0;
    for sample in (op.samples)() {
        let Ok(prepared) = Prepared::new(op, &sample, dtype) else { continue };
        let inputs: Vec<TensorDesc> = prepared.inputs.iter().map(with_channels_last).collect();
        let is_constant = vec![false; inputs.len()];
        let call = OpCall { inputs: &inputs, ..prepared.call(op, &is_constant) };
        let Ok(offer) = backend.offer(&call) else { continue };
        let what = format!("{name} {} {dtype} {}", sample.name, backend.options().isa.name());
        let planned = offer.build().expect("it is built");
        let given: Vec<AlignedBuffer> = inputs
            .iter()
            .zip(&prepared.data)
            .zip(&planned.input_layouts)
            .map(|((from, data), layout)| {
                let rows = from.with_layout(Layout::RowMajor);
                copy(backend, data, &rows, &from.with_layout(layout.clone()), &team)
            })
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
            team: &team,
            random: None,
            stream: None,
        };
        mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("it runs");
        // The gradient of batch normalization reads hidden outputs, and later batches read the updated inputs.
        let n_read = if name.contains("bn_relu") && sample.is_train { outputs.len() } else { prepared.n_visible };
        for i in 0..n_read {
            assert!(outputs[i].guard_is_intact(), "{what}: output {i}: wrote behind the end");
            let desc = &prepared.outputs[i];
            let got = copy(backend, &outputs[i], &laid_out(i), desc, &team).to_f64(desc.dtype);
            let tolerance = Tolerance::of(op.accuracy, desc.dtype);
            let want = prepared.expected[i].to_f64(desc.dtype);
            compare(&got, &want, tolerance).unwrap_or_else(|e| panic!("{what}: output {i}: {e}"));
        }
        n_taken += 1;
    }
    n_taken
}

#[test]
fn images_with_channels_last_are_concatenated_pooled_and_normalized() {
    for isa in Isa::available() {
        let backend = Nnpack::new(&team(2), NnpackOptions { isa, ..NnpackOptions::default() });
        for (name, least) in [("Concat", 2), ("Pooling", 8), ("BatchNorm", 6), ("_sg_bn_relu", 4)] {
            let n = check(name, DType::BF16, &backend);
            assert!(n >= least, "{name}: only {n} samples are taken");
        }
    }
}

#[test]
fn training_on_images_with_channels_last_agrees_with_the_reference() {
    for isa in Isa::available() {
        let backend = Nnpack::new(&team(2), NnpackOptions { isa, ..NnpackOptions::default() });
        for (name, least) in [
            ("BatchNorm", 8),
            ("_bn_relu", 2),
            ("_bn_relu_recompute", 1),
            ("_backward_bn_relu", 2),
            ("_backward_BatchNorm", 2),
            ("_backward_Pooling", 5),
            ("_backward_Pooling_average", 5),
            ("_backward_Concat", 1),
            ("_backward_Convolution_bias", 1),
            ("_backward_FullyConnected_bias", 1),
        ] {
            let n = check(name, DType::BF16, &backend);
            assert!(n >= least, "{name}: only {n} samples are taken");
        }
    }
}

#[test]
fn quantized_images_with_channels_last_agree_with_the_reference() {
    for isa in Isa::available() {
        let backend = Nnpack::new(&team(2), NnpackOptions { isa, ..NnpackOptions::default() });
        for (name, least) in [
            ("_contrib_requantize", 5),
            ("_contrib_dequantize", 7),
            ("_contrib_quantized_concat", 6),
            ("_contrib_quantized_elemwise_add", 4),
            ("_contrib_quantized_act", 3),
            ("_contrib_quantized_flatten", 3),
            ("_contrib_quantized_pooling", 7),
            ("_sg_bn_relu_quantize", 12),
            ("_sg_quantized_conv", 12),
        ] {
            let n = check(name, DType::I8, &backend);
            assert!(n >= least, "{name}: only {n} samples are taken");
        }
    }
}
