//! Checks of an ONNX model: supported versions, unique and known names, nodes in execution order, and arrays whose data has
//! the length that their shape requires.

use super::tensor::check_tensor;
use super::{AttributeKind, AttributeProto, GraphProto, ModelProto, NodeProto};
use crate::{Limits, Options, fault};
use mxrs_types::{Error, FormatErrorKind, Result};
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// Versions of the ONNX format that can be read.
const IR_VERSIONS: RangeInclusive<i64> = 3..=10;
/// Versions of ONNX's own operators that can be read.
const OPSETS: RangeInclusive<i64> = 7..=21;

/// Checks a model; returns warnings about unusual but harmless properties.
///
/// # Errors
/// Returns `UnsupportedVersion` for other versions of the format or operators; `UnsupportedFeature` for functions, sparse
/// constants and graphs inside nodes; `InvalidValue` for a missing graph or name; `Duplicate` for a value that is computed
/// twice; `Inconsistent` for a value that is read before it is computed; and the errors of [`super::to_tensor`] for arrays.
pub fn check(model: &ModelProto, options: &Options) -> Result<Vec<String>> {
    require_version("ONNX format", Some(model.ir_version), &IR_VERSIONS)?;
    require_version("ONNX operators", model.opset(), &OPSETS)?;
    let Some(graph) = &model.graph else {
        return Err(fault::whole(FormatErrorKind::InvalidValue, "the ONNX model has no graph"));
    };
    if !model.functions.is_empty() {
        return Err(unsupported("functions of the model's own"));
    }
    if !graph.sparse_initializer.is_empty() {
        return Err(unsupported("sparse constants"));
    }
    check_names(graph, &options.limits)?;
    check_arrays(graph, &options.limits)?;
    let known = check_values(graph)?;
    for output in &graph.output {
        if !known.contains(output.name.as_str()) {
            return Err(inconsistent(format!("output `{}` is made by no node", output.name)));
        }
    }
    let other_domains = graph.node.iter().filter(|node| !node.is_own_domain()).count();
    Ok(match other_domains {
        0 => Vec::new(),
        n => vec![format!("{n} nodes are of operators that are not ONNX's own")],
    })
}

fn require_version(what: &str, version: Option<i64>, known: &RangeInclusive<i64>) -> Result<()> {
    if version.is_some_and(|version| known.contains(&version)) {
        return Ok(());
    }
    let got = version.map_or("none".into(), |version| version.to_string());
    let context = format!("version {got} of the {what}, expected {} to {}", known.start(), known.end());
    Err(fault::whole(FormatErrorKind::UnsupportedVersion, context))
}

fn unsupported(what: &str) -> Error {
    fault::whole(FormatErrorKind::UnsupportedFeature, format!("{what} in an ONNX model"))
}

fn inconsistent(context: String) -> Error {
    fault::whole(FormatErrorKind::Inconsistent, context)
}

fn check_names(graph: &GraphProto, limits: &Limits) -> Result<()> {
    let values = graph.input.iter().chain(&graph.output).map(|value| &value.name);
    let of_nodes = graph.node.iter().flat_map(|node| node.input.iter().chain(&node.output));
    let longest = values.chain(of_nodes).map(String::len).max().unwrap_or(0) as u64;
    if longest > limits.max_name {
        let kind = FormatErrorKind::LimitExceeded { value: longest, max: limits.max_name };
        return Err(fault::whole(kind, "bytes of a name"));
    }
    let unnamed = |what: &str| fault::whole(FormatErrorKind::InvalidValue, format!("{what} has no name"));
    if graph.input.iter().any(|value| value.name.is_empty()) {
        return Err(unnamed("an input"));
    }
    if graph.initializer.iter().any(|array| array.name.is_empty()) {
        return Err(unnamed("a constant"));
    }
    Ok(())
}

fn check_arrays(graph: &GraphProto, limits: &Limits) -> Result<()> {
    let n_arrays = graph.initializer.len() as u64;
    if n_arrays > limits.max_tensors {
        let kind = FormatErrorKind::LimitExceeded { value: n_arrays, max: limits.max_tensors };
        return Err(fault::whole(kind, "constants of an ONNX model"));
    }
    graph.initializer.iter().try_for_each(|array| check_tensor(array, limits).map(|_| ()))?;
    graph.node.iter().try_for_each(|node| node.attribute.iter().try_for_each(|a| check_attribute(node, a, limits)))
}

fn check_attribute(node: &NodeProto, attribute: &AttributeProto, limits: &Limits) -> Result<()> {
    let place = || format!("attribute `{}` of node `{}` ({})", attribute.name, node.name, node.op_type);
    let kind = AttributeKind::try_from(attribute.kind).unwrap_or(AttributeKind::Undefined);
    match kind {
        AttributeKind::Float
        | AttributeKind::Int
        | AttributeKind::String
        | AttributeKind::Floats
        | AttributeKind::Ints
        | AttributeKind::Strings => Ok(()),
        AttributeKind::Tensor => match &attribute.t {
            Some(tensor) => check_tensor(tensor, limits).map(|_| ()),
            None => Err(fault::whole(FormatErrorKind::InvalidValue, format!("{} has no array", place()))),
        },
        AttributeKind::Undefined => {
            Err(fault::whole(FormatErrorKind::InvalidValue, format!("{} has no kind", place())))
        }
        AttributeKind::Graph | AttributeKind::Graphs => {
            Err(unsupported(&format!("{}: a graph inside a node", place())))
        }
        other => Err(unsupported(&format!("{}: kind {other:?}", place()))),
    }
}

/// Checks that every value is computed once, before it is read; returns the names of all values.
fn check_values(graph: &GraphProto) -> Result<HashSet<&str>> {
    let mut known = HashSet::new();
    for input in &graph.input {
        if !known.insert(input.name.as_str()) {
            return Err(fault::whole(FormatErrorKind::Duplicate, format!("input `{}`", input.name)));
        }
    }
    let mut constants = HashSet::new();
    for array in &graph.initializer {
        if !constants.insert(array.name.as_str()) {
            return Err(fault::whole(FormatErrorKind::Duplicate, format!("constant `{}`", array.name)));
        }
        // A constant may also be listed as an input: before version 4 of the format always, and later if it is the default
        // value of the input. Such a name is not a duplicate.
        known.insert(array.name.as_str());
    }
    for node in &graph.node {
        for input in node.input.iter().filter(|input| !input.is_empty()) {
            if !known.contains(input.as_str()) {
                let context =
                    format!("node `{}` ({}) reads `{input}`, which no node before it makes", node.name, node.op_type);
                return Err(inconsistent(context));
            }
        }
        for output in node.output.iter().filter(|output| !output.is_empty()) {
            if !known.insert(output.as_str()) {
                let context = format!("value `{output}`, made again by node `{}` ({})", node.name, node.op_type);
                return Err(fault::whole(FormatErrorKind::Duplicate, context));
            }
        }
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::category;
    use crate::onnx::{TensorProto, Unread, ValueInfoProto};
    use mxrs_types::{DType, Shape};

    fn graph() -> GraphProto {
        let value = |name: &str| ValueInfoProto::of(name, DType::F32, &Shape::from([2]));
        GraphProto {
            node: vec![NodeProto::new("Relu", "r", ["x"], ["h"]), NodeProto::new("Relu", "s", ["h"], ["y"])],
            input: vec![value("x")],
            output: vec![value("y")],
            ..GraphProto::default()
        }
    }

    #[track_caller]
    fn refused(change: impl FnOnce(&mut ModelProto), expected: FormatErrorKind, words: &str) {
        let mut model = ModelProto::of(graph(), 13);
        change(&mut model);
        let error = check(&model, &Options::default()).unwrap_err();
        assert_eq!(category(&error), Some(&expected), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }

    fn graph_of(model: &mut ModelProto) -> &mut GraphProto {
        model.graph.get_or_insert_default()
    }

    #[test]
    fn a_sound_model_passes() {
        assert_eq!(check(&ModelProto::of(graph(), 13), &Options::default()).unwrap(), Vec::<String>::new());
        let mut foreign = graph();
        foreign.node[0].domain = "com.example".into();
        assert_eq!(check(&ModelProto::of(foreign, 13), &Options::default()).unwrap().len(), 1);
    }

    #[test]
    fn each_rule_has_its_error() {
        use FormatErrorKind as K;
        refused(|m| m.ir_version = 2, K::UnsupportedVersion, "version 2 of the ONNX format");
        refused(|m| m.opset_import[0].version = 22, K::UnsupportedVersion, "7 to 21");
        refused(|m| m.opset_import.clear(), K::UnsupportedVersion, "version none");
        refused(|m| m.graph = None, K::InvalidValue, "no graph");
        refused(|m| m.functions.push(Unread {}), K::UnsupportedFeature, "functions");
        refused(|m| graph_of(m).sparse_initializer.push(Unread {}), K::UnsupportedFeature, "sparse");
        refused(|m| graph_of(m).node.swap(0, 1), K::Inconsistent, "`s` (Relu) reads `h`");
        refused(|m| graph_of(m).node[1].output[0] = "h".into(), K::Duplicate, "`h`");
        refused(|m| graph_of(m).output[0].name = "z".into(), K::Inconsistent, "`z`");
        refused(|m| graph_of(m).input[0].name.clear(), K::InvalidValue, "no name");
        let lying = TensorProto { name: "w".into(), dims: vec![3], data_type: 1, ..TensorProto::default() };
        refused(|m| graph_of(m).initializer.push(lying.clone()), K::Inconsistent, "`w`");
        let unread = |kind: AttributeKind| AttributeProto { kind: kind as i32, ..AttributeProto::int("a", 0) };
        refused(|m| graph_of(m).node[0].attribute.push(unread(AttributeKind::Graph)), K::UnsupportedFeature, "graph");
        refused(|m| graph_of(m).node[0].attribute.push(unread(AttributeKind::Undefined)), K::InvalidValue, "no kind");
        let long = "n".repeat((64 << 10) + 1);
        let limit = K::LimitExceeded { value: (64 << 10) + 1, max: 64 << 10 };
        refused(|m| graph_of(m).node[0].output.push(long), limit, "name");
    }
}
