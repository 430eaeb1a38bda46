//! Tests of `mxrs ops`.

use crate::mxrs::mxrs;

#[test]
fn every_operator_names_its_backends() {
    let ops = mxrs(["ops", "--format", "json"]).json();
    let ops = ops.as_array().expect("an array");
    let has = |name: &str| ops.iter().any(|op| op["name"] == name);
    assert!(["Convolution", "BatchNorm", "Pooling", "SoftmaxOutput"].into_iter().all(has));
    for op in ops {
        let backends = op["backends"].as_array().expect("backends");
        // Other operators take the place of these, so they have no kernel.
        let replaced = [
            "_foreach",
            "_while_loop",
            "_cond",
            "_contrib_boolean_mask",
            "_npi_bincount",
            "_npi_delete",
            "_npi_unique",
            "_npx_nonzero",
        ];
        let is_replaced = replaced.iter().any(|name| op["name"] == *name);
        assert_eq!(backends.iter().any(|backend| backend == "reference"), !is_replaced, "{op}");
    }
}

#[test]
fn a_call_is_explained_for_every_backend() {
    let ops = mxrs(["ops", "--explain", "Convolutoin", "--format", "json"]);
    assert!(ops.failed(2).contains("Convolution"));
    let ops = mxrs(["ops", "--explain", "Convolution", "--format", "json"]).json();
    let calls = ops[0]["calls"].as_array().expect("calls");
    assert!(calls.len() > 5);
    for answer in calls.iter().flat_map(|call| call["answers"].as_array().expect("answers")) {
        let seconds = answer["seconds"].as_f64().filter(|seconds| (1e-6..1.0).contains(seconds));
        assert!(answer["runs"] == seconds.is_some() && answer["reason"].is_string() != seconds.is_some(), "{answer}");
    }
}

#[test]
fn an_operator_that_is_not_built_is_no_unknown_one() {
    assert!(mxrs(["ops", "_contrib_dgl_adjacency"]).failed(2).contains("not built"));
    let table = mxrs(["ops", "--explain"]).ok();
    assert!(table.contains("padded_3x3") && table.contains("estimated ms") && table.contains("reference: "));
}
