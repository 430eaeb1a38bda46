//! Writes random ONNX models, reads and imports them as files, binds them and runs them.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use mxrs_format::{Options, onnx};
use mxrs_fuzz::model::random_model;
use mxrs_fuzz::run::{Case, OPS, run};
use mxrs_onnx::{exported_operators, import};
use mxrs_op::OpDef;
use std::sync::{Arc, LazyLock};

static EXPORTED: LazyLock<Vec<Arc<OpDef>>> =
    LazyLock::new(|| exported_operators().filter_map(|name| OPS.find(name).cloned()).collect());

fuzz_target!(|bytes: &[u8]| {
    let mut from = Unstructured::new(bytes);
    let Ok(Some(model)) = random_model(&EXPORTED, 4, &mut from) else { return };
    let options = Options::default();
    let Ok(bytes) = onnx::to_bytes(&model) else { return };
    let Ok(read) = onnx::from_bytes(&bytes, &options) else { return };
    let Ok(imported) = import(&read.value, &options) else { return };
    let inputs = imported.inputs.iter();
    let mut variables: Vec<_> =
        inputs.filter_map(|input| Some((input.name.clone(), input.shape.known()?, input.dtype))).collect();
    for (name, tensor) in &imported.params {
        if let (Some(shape), Some(dtype)) = (tensor.shape(), tensor.dtype()) {
            variables.push((name.clone(), shape.clone(), dtype));
        }
    }
    let _ = run(&Case { graph: imported.graph, variables }, &mut from);
});
