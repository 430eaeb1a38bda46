//! Tests the rules A1 and C1 for every differentiable operator. Gradients along the tape and gradients of a cached graph
//! have the same bits as the declared gradient. The tests of the catalog compare the declared gradient with central
//! differences.

mod common;

use common::*;
use mxrs_exec::{BackwardOptions, CachedOp, CachedOpFlags, GradReq, Imperative, autograd};
use mxrs_graph::{Entry, Graph, GraphBuilder};
use mxrs_ndarray::NdArray;
use mxrs_op::{Attrs, GradValue, Gradient, OpDef, Sample, TensorDesc};
use mxrs_testkit::conformance::Prepared;
use mxrs_testkit::gradient::Tape;
use mxrs_testkit::{AlignedBuffer, Seeded};
use mxrs_types::{DType, Device, Result};
use std::sync::Arc;

/// Gradients of all marked inputs, as bytes.
type Gradients = Vec<Vec<u8>>;

fn weights(desc: &TensorDesc) -> AlignedBuffer {
    let mut seed = Seeded::new(5);
    let values: Vec<f64> = (0..desc.shape.n_elements()).map(|_| seed.uniform(-1.5, 1.5)).collect();
    AlignedBuffer::from_f64(&values, desc.dtype)
}

/// The gradients as the independent tape of the test kit computes them.
fn expected(p: &Prepared, op: &Arc<OpDef>, sample: &Sample, wants: &[bool]) -> Result<Gradients> {
    let ops = mxrs_ops::catalog();
    let mut tape = Tape::new(&ops, p.is_train);
    let leaves = p.inputs.iter().zip(&p.data).map(|(d, b)| tape.leaf(d.clone(), b.clone()));
    let inputs = leaves.collect::<Result<Vec<GradValue>>>()?;
    let outputs = tape.apply(op, sample.attrs.clone(), &inputs)?;
    let mut heads = Vec::new();
    for (output, desc) in outputs.iter().zip(&p.outputs[..p.n_visible]) {
        heads.push((*output, tape.leaf(desc.clone(), weights(desc))?));
    }
    let wrt: Vec<GradValue> = inputs.iter().zip(wants).filter(|(_, w)| **w).map(|(v, _)| *v).collect();
    let found = tape.gradients(&heads, &wrt)?;
    let bytes = |(grad, of): (&Option<GradValue>, &GradValue)| match grad {
        Some(grad) => tape.bytes(*grad).to_vec(),
        None => vec![0; tape.desc(*of).size_bytes()],
    };
    Ok(found.iter().zip(&wrt).map(bytes).collect())
}

/// The gradients of the inputs that `wants` marks. `call` runs the operator, and is recorded.
fn gradients(
    nd: &Imperative,
    p: &Prepared,
    wants: &[bool],
    call: impl Fn(&[&NdArray]) -> Result<Vec<NdArray>>,
) -> Result<Gradients> {
    // The test kit draws from a generator with seed 1, call 2. The generator of cpu(0) has the global seed times 127,
    // modulo 2^64, so the global seed must be the inverse of 127. Each step of Newton's method doubles the number of
    // correct bits of the inverse.
    let inverse = (0..6).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(127u64.wrapping_mul(x))));
    nd.context().random().seed(inverse);
    nd.context().random().reserve(Device::cpu(0), 2);
    let array = |d: &TensorDesc, b: &AlignedBuffer| {
        NdArray::from_bytes(nd.context(), d.shape.clone(), d.dtype, &b.bytes()[..d.size_bytes()])
    };
    let inputs = p.inputs.iter().zip(&p.data).map(|(d, b)| array(d, b)).collect::<Result<Vec<_>>>()?;
    for (input, wanted) in inputs.iter().zip(wants) {
        if *wanted {
            nd.attach_grad(input, GradReq::Write)?;
        }
    }
    let outputs = {
        let _record = autograd::set(true, p.is_train);
        call(&inputs.iter().collect::<Vec<_>>())?
    };
    let heads = p.outputs[..p.n_visible].iter().map(|d| array(d, &weights(d))).collect::<Result<Vec<_>>>()?;
    let options = BackwardOptions { train_mode: p.is_train, ..BackwardOptions::default() };
    let outputs: Vec<&NdArray> = outputs.iter().collect();
    nd.backward(&outputs, &heads.iter().map(Some).collect::<Vec<_>>(), options)?;
    let grads = inputs.iter().filter_map(autograd::grad_of);
    grads.map(|grad| grad.read_bytes(<[u8]>::to_vec)).collect()
}

fn graph_of(op: &Arc<OpDef>, attrs: &Attrs, n_inputs: usize, n_visible: usize) -> Result<Graph> {
    let mut builder = GraphBuilder::new();
    let inputs = (0..n_inputs).map(|i| Entry::new(builder.add_variable(format!("in{i}"), Attrs::new()), 0));
    let inputs = inputs.collect();
    let node = builder.add_op(op, "node", attrs.clone(), inputs)?;
    builder.set_heads((0..n_visible).map(|i| Entry::new(node, i as u32)).collect());
    builder.build()
}

#[test]
fn a1_c1_every_sample_of_every_differentiable_operator() {
    let nd = imperative();
    let ops = mxrs_ops::catalog();
    let (mut n_compared, mut wrong) = (0, Vec::new());
    for op in ops.iter().filter(|op| matches!(op.gradient, Gradient::By(_))) {
        for sample in (op.samples)() {
            let dtype = if op.dtypes.contains(&DType::F64) { DType::F64 } else { DType::F32 };
            let p = Prepared::new(op, &sample, dtype).unwrap();
            let n_plain = p.inputs.len() - op.n_aux;
            let floats: Vec<bool> = (0..p.inputs.len()).map(|i| i < n_plain && p.inputs[i].dtype.is_float()).collect();
            // Choices of the gradients to compute: first those of all inputs, then that of each input alone. The tape
            // keeps different values for each choice.
            let mut choices = vec![floats.clone()];
            choices.extend((0..n_plain).filter(|i| floats[*i]).map(|i| (0..floats.len()).map(|j| i == j).collect()));
            for wants in choices.into_iter().filter(|wants| wants.contains(&true)) {
                let case = format!("{} {} {wants:?}", op.name, sample.name);
                let expected = expected(&p, op, &sample, &wants).unwrap();
                let tape = gradients(&nd, &p, &wants, |inputs| nd.invoke(op.name, &sample.attrs, inputs));
                let cached = gradients(&nd, &p, &wants, |inputs| {
                    let flags = CachedOpFlags { static_alloc: true, ..CachedOpFlags::default() };
                    let graph = graph_of(op, &sample.attrs, inputs.len(), p.n_visible)?;
                    CachedOp::new(&nd, &graph, flags)?.call(inputs)
                });
                for (how, got) in [("tape", tape), ("cached graph", cached)] {
                    n_compared += 1;
                    match got {
                        Ok(got) if got == expected => {}
                        Ok(_) => wrong.push(format!("{case}: {how}: other numbers")),
                        Err(error) => wrong.push(format!("{case}: {how}: {error}")),
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {n_compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(n_compared > 300, "{n_compared}");
}
