//! Compares gradients with MXNet 1.9.1 where finite differences are meaningless: at kinks, ties and special values.
//! `tests/mxnet/make_gradients.py` makes the recording. In it, the elements of every output's gradient are 1, 2, 3, ….

use crate::arrays::Array;
use mxrs_op::{Attrs, OpSet};
use mxrs_testkit::gradient::Tape;
use mxrs_testkit::{AlignedBuffer, Tolerance, compare};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Deserialize)]
struct Case {
    op: String,
    attrs: BTreeMap<String, String>,
    inputs: Vec<Array>,
    gradients: Vec<Array>,
}

#[derive(Deserialize)]
struct Recording {
    cases: Vec<Case>,
}

fn check(ops: &OpSet, case: &Case) -> Result<(), String> {
    let op = Arc::clone(ops.get(&case.op).map_err(|e| e.to_string())?);
    let attrs: Attrs = case.attrs.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let mut tape = Tape::new(ops, true);
    let mut inputs = Vec::new();
    for input in &case.inputs {
        inputs.push(tape.leaf(input.desc(), input.buffer()).map_err(|e| e.to_string())?);
    }
    let out = tape.apply(&op, attrs, &inputs).map_err(|e| e.to_string())?[0];
    let desc = tape.desc(out).clone();
    let heads: Vec<f64> = (1..=desc.shape.n_elements()).map(|k| k as f64).collect();
    let head = tape.leaf(desc.clone(), AlignedBuffer::from_f64(&heads, desc.dtype)).map_err(|e| e.to_string())?;
    let found = tape.gradients(&[(out, head)], &inputs).map_err(|e| e.to_string())?;
    for (i, (found, recorded)) in found.into_iter().zip(&case.gradients).enumerate() {
        let expected = recorded.numbers();
        let got = found.map_or_else(|| vec![0.0; expected.len()], |v| tape.numbers(v));
        compare(&got, &expected, Tolerance::T2).map_err(|e| format!("gradient of input {i}: {e}"))?;
    }
    Ok(())
}

#[test]
fn kinks_ties_and_special_values_are_as_in_mxnet() {
    let recording: Recording =
        serde_json::from_str(include_str!("../golden_gradients.json")).expect("a readable recording");
    let ops = mxrs_ops::catalog();
    let failures: Vec<String> = recording
        .cases
        .iter()
        .filter_map(|case| check(&ops, case).err().map(|what| format!("{} {:?}: {what}", case.op, case.attrs)))
        .collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), recording.cases.len(), failures.join("\n"));
    assert!(recording.cases.len() > 50, "only {} cases", recording.cases.len());
}
