//! Compares reference kernels and inference with MXNet 1.9.1, from the recordings of `tests/mxnet/make_golden.py`,
//! `make_quantized.py`, `make_updates.py` and `make_operators.py`.

mod arrays;
mod first_principles;
mod own;

use arrays::Array;
use mxrs_op::{Attrs, Backend, KernelArgs, OpCall, OpDef, OpSet, RandomCall, RawTensor, ReferenceBackend, TensorDesc};
use mxrs_sync::Team;
use mxrs_testkit::gradient::Tape;
use mxrs_testkit::{AlignedBuffer, Tolerance, compare};
use mxrs_types::{DType, PartialShape, Shape, WriteReq};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A recorded call with its numbers.
#[derive(Deserialize)]
struct Values {
    name: String,
    attrs: BTreeMap<String, String>,
    is_train: bool,
    inputs: Vec<Array>,
    outputs: Vec<Array>,
    /// Contents of rewritten inputs after the call, in the order of the inputs.
    #[serde(default)]
    rewritten: Vec<Array>,
    /// MXNet's names of the inputs, auxiliary states last. Empty if MXNet does not report them.
    input_names: Vec<String>,
    n_aux: usize,
    /// Number of outputs of a graph node, including hidden ones.
    n_outputs: usize,
    /// Outputs whose numbers differ from MXNet's on purpose. The module documentation of the operator says how.
    #[serde(default)]
    not_compared: Vec<usize>,
    /// Gradients of the inputs if the gradient of every visible output is 1, 2, 3, …; `None` for inputs without gradient.
    #[serde(default)]
    gradients: Vec<Option<Array>>,
    /// The outputs that have these gradients, if not all visible outputs have.
    #[serde(default)]
    heads: Option<Vec<usize>>,
}

type Dims = Option<Vec<Option<usize>>>;

/// A call of shape inference, with MXNet's result or refusal.
#[derive(Deserialize)]
struct Shapes {
    attrs: BTreeMap<String, String>,
    given: Vec<Dims>,
    #[serde(default)]
    inputs: Vec<Dims>,
    #[serde(default)]
    outputs: Vec<Dims>,
    #[serde(default)]
    is_refused: bool,
}

/// Types that MXNet infers from the type of the first input.
#[derive(Deserialize)]
struct Types {
    attrs: BTreeMap<String, String>,
    given: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

#[derive(Deserialize)]
struct Golden {
    op: String,
    values: Vec<Values>,
    shapes: Vec<Shapes>,
    types: Vec<Types>,
}

fn dtype(name: &str) -> DType {
    name.parse().expect("a dtype")
}

fn attrs(map: &BTreeMap<String, String>) -> Attrs {
    map.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect()
}

/// All recordings, with their operators.
fn recordings() -> Vec<(Golden, OpDef)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let ops = mxrs_ops::catalog();
    let mut all: Vec<(Golden, OpDef)> = std::fs::read_dir(folder)
        .expect("the folder of recordings")
        .map(|entry| {
            let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a readable recording");
            let golden: Golden = serde_json::from_str(&text).expect("a recording");
            let op = ops.get(&golden.op).expect("a built operator");
            let op = OpDef::clone(op);
            (golden, op)
        })
        .collect();
    all.sort_by(|a, b| a.0.op.cmp(&b.0.op));
    all
}

/// Runs a recorded call on the reference kernel. Returns the visible outputs with their descriptions, then the
/// rewritten inputs if those were recorded.
fn run(op: &OpDef, case: &Values) -> mxrs_types::Result<Vec<(TensorDesc, Vec<f64>)>> {
    let mut attrs = attrs(&case.attrs);
    if op.name == "_set_value" {
        // MXNet takes shape and type from the array that it writes to. Here they are parameters, so they are set from the
        // output.
        let sizes: String = case.outputs[0].desc().shape.iter().map(|size| format!("{size},")).collect();
        attrs.set("shape", format!("({sizes})"));
        attrs.set("dtype", case.outputs[0].desc().dtype.name());
    }
    let params = op.parse(&attrs)?;
    let inputs: Vec<TensorDesc> = case.inputs.iter().map(Array::desc).collect();
    let mut in_shapes: Vec<PartialShape> = inputs.iter().map(|d| PartialShape::from(&d.shape)).collect();
    let mut in_types: Vec<Option<DType>> = inputs.iter().map(|d| Some(d.dtype)).collect();
    let n_outputs = op.n_outputs.get(&params);
    let (mut out_shapes, mut out_types) = (vec![PartialShape::unknown(); n_outputs], vec![None; n_outputs]);
    op.infer_shapes(&params, &mut in_shapes, &mut out_shapes)?;
    op.infer_dtypes(&params, &mut in_types, &mut out_types)?;
    let outputs: Vec<TensorDesc> = out_shapes
        .iter()
        .zip(&out_types)
        .map(|(s, t)| TensorDesc::dense(s.known().expect("a known shape"), t.expect("a known type")))
        .chain((op.rewrites)(&params, case.is_train).iter().map(|i| inputs[*i].clone()))
        .collect();
    let call = OpCall {
        op,
        params: &params,
        inputs: &inputs,
        outputs: &outputs,
        is_constant: &vec![false; inputs.len()],
        is_train: case.is_train,
    };
    let planned = ReferenceBackend.plan(&call)?;
    let data: Vec<AlignedBuffer> =
        case.inputs.iter().zip(&inputs).map(|(a, d)| AlignedBuffer::from_f64(&a.numbers(), d.dtype)).collect();
    let mut results: Vec<AlignedBuffer> = outputs.iter().map(|d| AlignedBuffer::poisoned(d.size_bytes())).collect();
    let raw_inputs: Vec<RawTensor<'_>> = data.iter().map(|b| RawTensor::from_slice(b.bytes())).collect();
    let raw_outputs: Vec<RawTensor<'_>> =
        results.iter_mut().map(|b| RawTensor::from_mut_slice(b.bytes_mut())).collect();
    let args = KernelArgs {
        inputs: &raw_inputs,
        outputs: &raw_outputs,
        reqs: &vec![WriteReq::Write; raw_outputs.len()],
        scratch: RawTensor::from_slice(&[]),
        team: &Team::serial(),
        random: Some(RandomCall { seed: 1, number: 1 }),
        stream: None,
    };
    mxrs_testkit::run_kernel(&*planned.kernel, &args)?;
    let n_visible = op.n_visible.get(&params);
    let is_compared = |i: usize| i < n_visible || (i >= n_outputs && !case.rewritten.is_empty());
    let made = outputs.into_iter().zip(results).enumerate().filter(|(i, _)| is_compared(*i));
    Ok(made.map(|(_, (d, b))| (d.clone(), b.to_f64(d.dtype))).collect())
}

fn check_values(op: &OpDef, case: &Values) -> Result<(), String> {
    let results = run(op, case).map_err(|e| e.to_string())?;
    let n_recorded = case.outputs.len() + case.rewritten.len();
    if results.len() != n_recorded {
        return Err(format!("{} visible outputs and rewritten inputs, MXNet has {n_recorded}", results.len()));
    }
    for (i, ((desc, got), recorded)) in results.iter().zip(case.outputs.iter().chain(&case.rewritten)).enumerate() {
        if *desc != recorded.desc() {
            return Err(format!("result is {desc}, MXNet's {}", recorded.desc()));
        }
        if case.not_compared.contains(&i) {
            continue;
        }
        // The recording has the shortest decimal numbers that round to the recorded values, so they are rounded to the
        // element type first.
        let expected = AlignedBuffer::from_f64(&recorded.numbers(), desc.dtype).to_f64(desc.dtype);
        compare(got, &expected, Tolerance::of(op.accuracy, desc.dtype)).map_err(|e| e.to_string())?;
    }
    Ok(())
}

#[test]
fn reference_kernels_give_mxnets_numbers() {
    let mut failures = Vec::new();
    let mut n_compared = 0;
    for (golden, op) in recordings() {
        for case in &golden.values {
            n_compared += 1;
            if let Err(what) = check_values(&op, case) {
                failures.push(format!("{}/{}: {what}", golden.op, case.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {n_compared} cases:\n{}", failures.len(), failures.join("\n"));
    assert!(n_compared > 250, "only {n_compared} recorded cases were found");
}

/// Compares the declared gradient with the recorded one.
fn check_gradients(ops: &OpSet, op: &OpDef, case: &Values) -> Result<(), String> {
    let op = ops.get(op.name).map_err(|e| e.to_string())?;
    let text = |e: mxrs_types::Error| e.to_string();
    let mut tape = Tape::new(ops, case.is_train);
    let mut inputs = Vec::new();
    for input in &case.inputs {
        inputs.push(tape.leaf(input.desc(), input.buffer()).map_err(text)?);
    }
    let outputs = tape.apply(op, attrs(&case.attrs), &inputs).map_err(text)?;
    let mut heads = Vec::new();
    let with_heads = |i: &usize| case.heads.as_ref().is_none_or(|heads| heads.contains(i));
    for output in (0..case.outputs.len()).filter(with_heads).map(|i| outputs[i]) {
        let desc = tape.desc(output).clone();
        let values: Vec<f64> = (1..=desc.shape.n_elements()).map(|k| k as f64).collect();
        let head = tape.leaf(desc.clone(), AlignedBuffer::from_f64(&values, desc.dtype)).map_err(text)?;
        heads.push((output, head));
    }
    let found = tape.gradients(&heads, &inputs).map_err(text)?;
    for (i, (found, recorded)) in found.into_iter().zip(&case.gradients).enumerate() {
        let Some(recorded) = recorded else { continue };
        let dtype = recorded.desc().dtype;
        let expected = AlignedBuffer::from_f64(&recorded.numbers(), dtype).to_f64(dtype);
        let got = found.map_or_else(|| vec![0.0; expected.len()], |v| tape.numbers(v));
        // The kernels of mxrs round gradients once, those of MXNet after every operation, so the results differ a little.
        let tolerance = Tolerance::of(op.accuracy, dtype).widest(Tolerance { rtol: 1e-4, atol: 2e-6 });
        compare(&got, &expected, tolerance).map_err(|e| format!("gradient of input {i}: {e}"))?;
    }
    Ok(())
}

#[test]
fn gradients_are_mxnets() {
    let mut failures = Vec::new();
    let mut n_compared = 0;
    let ops = mxrs_ops::catalog();
    for (golden, op) in recordings() {
        for case in golden.values.iter().filter(|case| !case.gradients.is_empty()) {
            n_compared += 1;
            if let Err(what) = check_gradients(&ops, &op, case) {
                failures.push(format!("{}/{}: {what}", golden.op, case.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {n_compared} cases:\n{}", failures.len(), failures.join("\n"));
    assert!(n_compared > 100, "only {n_compared} recorded gradients were found");
}

#[test]
fn inputs_are_named_and_outputs_counted_as_in_graphs() {
    for (golden, op) in recordings() {
        for case in &golden.values {
            let params = op.parse(&attrs(&case.attrs)).expect("readable parameters");
            let context = format!("{}/{}", golden.op, case.name);
            if !case.input_names.is_empty() {
                assert_eq!(op.input_names(&params), case.input_names, "{context}");
            }
            assert_eq!(op.n_inputs(&params), case.inputs.len(), "{context}");
            assert_eq!(op.input_names(&params).len(), case.inputs.len(), "{context}");
            // MXNet counts every rewritten input as auxiliary, including weights and states of optimizers.
            let expected = if case.rewritten.is_empty() { case.n_aux } else { 0 };
            assert_eq!(op.n_aux, expected, "{context}");
            assert_eq!(op.n_outputs.get(&params), case.n_outputs, "{context}");
        }
    }
}

#[test]
fn every_operator_is_recorded() {
    let recorded: Vec<String> = recordings().into_iter().map(|(golden, _)| golden.op).collect();
    for op in mxrs_ops::catalog().iter() {
        let is_known = recorded.iter().any(|name| name == op.name) || own::OWN.contains(&op.name);
        // Operators that others replace are recorded in `tests/golden` of `mxrs-exec`.
        assert!(
            is_known || op.is_replaced() || op.name == "Custom",
            "{} has no recording, and is not in tests/own/mod.rs",
            op.name
        );
    }
}

fn partial(dims: &Dims) -> PartialShape {
    dims.as_ref().map_or_else(PartialShape::unknown, |d| PartialShape::new(d.iter().copied()))
}

/// Checks that our result does not contradict MXNet's, and leaves no size open that MXNet infers.
fn check_shape(ours: &PartialShape, mxnets: &Dims, what: &str) -> Result<(), String> {
    let mxnets = partial(mxnets);
    match ours.clone().merge(&mxnets) {
        Ok(false) => Ok(()),
        _ => Err(format!("{what}: {ours}, MXNet says {mxnets}")),
    }
}

fn check_shapes(op: &OpDef, case: &Shapes) -> Result<(), String> {
    let params = op.parse(&attrs(&case.attrs)).map_err(|e| e.to_string())?;
    let mut inputs: Vec<PartialShape> = case.given.iter().map(partial).collect();
    let mut outputs = vec![PartialShape::unknown(); op.n_outputs.get(&params)];
    // Inference runs twice, because a second run must change nothing.
    let mut result = op.infer_shapes(&params, &mut inputs, &mut outputs);
    if result.is_ok() {
        result = op.infer_shapes(&params, &mut inputs, &mut outputs);
    }
    match result {
        Err(_) if case.is_refused => return Ok(()),
        Err(e) => return Err(format!("refused: {e}")),
        Ok(()) if case.is_refused => return Err(format!("accepted as {inputs:?} {outputs:?}, MXNet refuses")),
        Ok(()) => {}
    }
    let names = op.input_names(&params);
    for ((ours, mxnets), name) in inputs.iter().zip(&case.inputs).zip(&names) {
        check_shape(ours, mxnets, name)?;
    }
    for (ours, mxnets) in outputs.iter().zip(&case.outputs) {
        check_shape(ours, mxnets, "output")?;
    }
    Ok(())
}

#[test]
fn shape_inference_knows_what_mxnet_knows() {
    let mut failures = Vec::new();
    let mut n_compared = 0;
    for (golden, op) in recordings() {
        for case in &golden.shapes {
            n_compared += 1;
            if let Err(what) = check_shapes(&op, case) {
                failures.push(format!("{} {:?} {:?}: {what}", golden.op, case.attrs, case.given));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {n_compared}:\n{}", failures.len(), failures.join("\n"));
    assert!(n_compared > 50, "only {n_compared} recorded cases were found");
}

#[test]
fn type_inference_says_what_mxnet_says() {
    for (golden, op) in recordings() {
        for case in &golden.types {
            let params = op.parse(&attrs(&case.attrs)).expect("readable parameters");
            let mut inputs = vec![None; op.n_inputs(&params)];
            inputs[0] = Some(dtype(&case.given));
            let mut outputs = vec![None; op.n_outputs.get(&params)];
            op.infer_dtypes(&params, &mut inputs, &mut outputs).expect("consistent types");
            let named = |types: &[Option<DType>]| -> Vec<String> {
                types.iter().map(|t| t.map_or("unknown".into(), |t| t.name().to_string())).collect()
            };
            let context = format!("{} of {} {:?}", golden.op, case.given, case.attrs);
            assert_eq!(named(&inputs), case.inputs, "inputs of {context}");
            assert_eq!(named(&outputs[..case.outputs.len()]), case.outputs, "outputs of {context}");
        }
    }
}
