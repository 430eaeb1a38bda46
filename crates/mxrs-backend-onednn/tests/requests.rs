//! Tests calls for which only some outputs are requested. The other outputs have no memory.

use mxrs_backend_onednn::{OneDnn, OneDnnConfig};
use mxrs_op::{Backend, KernelArgs, OpDef, PlannedKernel, RawTensor};
use mxrs_sync::Team;
use mxrs_testkit::AlignedBuffer;
use mxrs_testkit::conformance::Prepared;
use mxrs_types::{DType, WriteReq};
use std::collections::BTreeSet;

/// Runs the kernel with memory only for the outputs that `wanted` marks. Returns all outputs, then the rewritten inputs.
fn run(op: &OpDef, prepared: &Prepared, planned: &PlannedKernel, wanted: &[bool]) -> Vec<AlignedBuffer> {
    let n_plain = prepared.outputs.len() - prepared.rewrites.len();
    let mut outputs: Vec<AlignedBuffer> = (0..prepared.outputs.len())
        .map(|i| match (wanted[i], i.checked_sub(n_plain)) {
            (_, Some(k)) => prepared.data[prepared.rewrites[k]].clone(),
            (true, None) => {
                let desc = prepared.outputs[i].with_layout(planned.output_layouts[i].clone());
                AlignedBuffer::poisoned(desc.size_bytes())
            }
            (false, None) => AlignedBuffer::poisoned(0),
        })
        .collect();
    let mut scratch = AlignedBuffer::poisoned(planned.scratch_bytes);
    let raw: Vec<RawTensor<'_>> = outputs.iter_mut().map(|b| RawTensor::from_mut_slice(b.bytes_mut())).collect();
    let mut inputs: Vec<RawTensor<'_>> = prepared.data.iter().map(|b| RawTensor::from_slice(b.bytes())).collect();
    for (input, output) in prepared.rewrites.iter().zip(&raw[n_plain..]) {
        inputs[*input] = *output;
    }
    op.unread_inputs(prepared.is_train).for_each(|i| {
        if let Some(input) = inputs.get_mut(i) {
            *input = RawTensor::from_slice(&[]);
        }
    });
    let request = |(i, wanted): (usize, &bool)| match (wanted, i < n_plain) {
        (false, _) => WriteReq::Null,
        (true, true) => WriteReq::Write,
        (true, false) => WriteReq::Inplace,
    };
    let reqs: Vec<WriteReq> = wanted.iter().enumerate().map(request).collect();
    // Outputs that are not requested are empty buffers; rewritten inputs always have memory.
    let args = KernelArgs {
        inputs: &inputs,
        outputs: &raw,
        reqs: &reqs,
        scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
        team: &Team::serial(),
        random: Some(Prepared::RANDOM),
        stream: None,
    };
    mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("the kernel runs");
    outputs
}

#[test]
fn an_output_does_not_depend_on_which_others_are_wanted() {
    let backend = OneDnn::new(OneDnnConfig { team: Team::serial(), cache_entries: None, row_major_weights: false })
        .expect("oneDNN is built in");
    let ops = mxrs_ops::catalog();
    let mut checked: BTreeSet<&str> = BTreeSet::new();
    for op in ops.iter().chain(ops.companions()) {
        for sample in (op.samples)() {
            let Ok(prepared) = Prepared::new(op, &sample, DType::F32) else { continue };
            let is_constant = vec![false; prepared.inputs.len()];
            let call = prepared.call(op, &is_constant);
            if prepared.outputs.len() < 2 || backend.offer(&call).is_err() {
                continue;
            }
            let planned = backend.plan(&call).expect("it supports the call");
            // The layouts of inputs that are read must be row-major, because all buffers of this test are.
            let is_read = |i: &usize| !op.unread_inputs(prepared.is_train).any(|unread| unread == *i);
            let mut read = (0..prepared.inputs.len()).filter(is_read);
            if !read.all(|i| planned.input_layouts[i].is_row_major()) {
                continue;
            }
            let n = prepared.outputs.len();
            let all = run(op, &prepared, &planned, &vec![true; n]);
            let n_plain = n - prepared.rewrites.len();
            for k in prepared.compared() {
                for wanted in [(0..n).map(|i| i == k).collect::<Vec<_>>(), (0..n).map(|i| i != k).collect()] {
                    let some = run(op, &prepared, &planned, &wanted);
                    for i in prepared.compared() {
                        let what = format!("{}/{}: output {i}, wanted {wanted:?}", op.name, sample.name);
                        if wanted[i] {
                            assert_eq!(some[i].bytes(), all[i].bytes(), "{what}");
                        } else if i >= n_plain {
                            let old = &prepared.data[prepared.rewrites[i - n_plain]];
                            assert_eq!(some[i].bytes(), old.bytes(), "{what}: a rewritten input, but was not to be");
                        }
                        assert!(some[i].guard_is_intact(), "{what}");
                    }
                }
            }
            checked.insert(op.name);
        }
    }
    for name in ["BatchNorm", "_backward_BatchNorm", "_backward_Concat", "Pooling"] {
        assert!(checked.contains(name), "{name} is not among {checked:?}");
    }
}
