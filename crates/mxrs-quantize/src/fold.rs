//! Folds batch normalization into the convolution or fully-connected layer before it.
//!
//! At inference `gamma · (conv(x) - mean) / sqrt(var + eps) + beta` is itself a convolution: channel c of the weight is
//! multiplied by `s = gamma / sqrt(var + eps)`, and its bias is `(bias - mean) · s + beta`. These are computed in float64
//! and stored in float32.

use crate::report::{NodeReport, Outcome};
use indexmap::IndexMap;
use mxrs_format::Tensor;
use mxrs_graph::{Entry, Graph, GraphBuilder, Node, NodeId};
use mxrs_op::{Attrs, OpSet};
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_ops::nn::fully_connected::FullyConnectedParams;
use mxrs_types::{DType, Result, ResultExt};
use rustc_hash::FxHashMap;

/// A network after folding, with its parameters (arguments and auxiliary states) and the list of folded normalizations.
pub(crate) struct Folded {
    pub graph: Graph,
    pub params: IndexMap<String, Tensor>,
    pub nodes: Vec<NodeReport>,
}

/// A normalization that can be folded, and the layer that it is folded into.
struct Fold {
    layer: NodeId,
    /// The new weight of the layer; `bias` is the new bias of the layer.
    weight: Tensor,
    bias: Tensor,
}

/// Folds every normalization that can be folded, except those for which `is_excluded` holds. The layer keeps its name;
/// consumers of the normalization read the layer instead.
///
/// # Errors
/// Fails if the shapes of the parameters are not those of the graph.
pub(crate) fn fold_batch_norms(
    graph: &Graph,
    params: &IndexMap<String, Tensor>,
    ops: &OpSet,
    is_excluded: &dyn Fn(&Node) -> bool,
) -> Result<Folded> {
    let mut folds: FxHashMap<NodeId, Fold> = FxHashMap::default();
    let mut nodes = Vec::new();
    for (id, node) in graph.iter() {
        if is_excluded(node) {
            continue;
        }
        let found = foldable(graph, params, id).context(|| format!("folding `{}`", node.name))?;
        if let Some(fold) = found {
            let into = graph.node(fold.layer).name.clone();
            nodes.push(NodeReport {
                name: node.name.clone(),
                op: node.op_name().into(),
                outcome: Outcome::Folded { into },
            });
            folds.insert(id, fold);
        }
    }
    let by_layer: FxHashMap<NodeId, NodeId> = folds.iter().map(|(norm, fold)| (fold.layer, *norm)).collect();
    let mut params = params.clone();
    let mut builder = GraphBuilder::new();
    for (key, value) in graph.attrs() {
        builder.set_attr(key.clone(), value.clone());
    }
    let mut new_ids: Vec<NodeId> = Vec::with_capacity(graph.n_nodes());
    for (id, node) in graph.iter() {
        let moved = |entry: &Entry| Entry { node: new_ids[entry.node.index()], ..*entry };
        let mut inputs: Vec<Entry> = node.inputs.iter().map(moved).collect();
        let Some((op, parsed)) = node.call() else {
            new_ids.push(builder.add_variable(&node.name, node.attrs.clone()));
            continue;
        };
        if let Some(fold) = folds.get(&id) {
            new_ids.push(new_ids[fold.layer.index()]);
            continue;
        }
        let new = match by_layer.get(&id).and_then(|norm| folds.get(norm)) {
            None => builder.add_parsed_op(op, &node.name, node.attrs.clone(), parsed.clone(), inputs)?,
            Some(fold) => {
                let weight = &graph.node(node.inputs[1].node).name;
                params.insert(weight.clone(), fold.weight.clone());
                let mut attrs = node.attrs.clone();
                let bias = match node.inputs.get(2) {
                    Some(bias) => graph.node(bias.node).name.clone(),
                    None => {
                        attrs.set("no_bias", "False");
                        let name = unused_name(graph, &format!("{}_bias", node.name));
                        inputs.push(Entry::new(builder.add_variable(&name, Attrs::new()), 0));
                        name
                    }
                };
                params.insert(bias, fold.bias.clone());
                builder.add_op(ops.get(op.name)?, &node.name, attrs, inputs)?
            }
        };
        let deps: Vec<NodeId> = node.control_deps.iter().map(|dep| new_ids[dep.index()]).collect();
        builder.add_control_deps(new, &deps)?;
        builder.set_subgraphs(new, node.subgraphs.clone())?;
        new_ids.push(new);
    }
    builder.set_heads(graph.heads().iter().map(|head| Entry { node: new_ids[head.node.index()], ..*head }).collect());
    let graph = builder.build()?;
    params.retain(|name, _| graph.find(name).is_some_and(|id| graph.node(id).is_variable()));
    Ok(Folded { graph, params, nodes })
}

/// `wanted`, or `wanted` with a number after it that makes the name unique among the nodes.
pub(crate) fn unused_name(graph: &Graph, wanted: &str) -> String {
    let mut name = wanted.to_owned();
    let mut suffix = 1;
    while graph.find(&name).is_some() {
        name = format!("{wanted}{suffix}");
        suffix += 1;
    }
    name
}

/// If node `id` is a normalization that can be folded, returns the layer before it, with the layer's new parameters.
fn foldable(graph: &Graph, params: &IndexMap<String, Tensor>, id: NodeId) -> Result<Option<Fold>> {
    let norm = graph.node(id);
    let Some((op, parsed)) = norm.call().filter(|(op, _)| op.name == "BatchNorm") else { return Ok(None) };
    let norm_params: &BatchNormParams = parsed.get();
    let layer_id = norm.inputs[0].node;
    let layer = graph.node(layer_id);
    let is_head = graph.heads().iter().any(|head| head.node == id || head.node == layer_id);
    let statistics_are_read = graph.output_ids(id).skip(1).any(|entry| !graph.consumers(entry).is_empty());
    let is_only_reader = graph.consumers(graph.output_id(layer_id, 0)).len() == 1;
    if op.n_aux != 2 || norm_params.output_mean_var || statistics_are_read || is_head || !is_only_reader {
        return Ok(None);
    }
    if norm_params.axis != 1 || !has_channels_second(layer) {
        return Ok(None);
    }
    // The layer is folded only if no other node reads its parameters, because folding changes them.
    let is_own =
        |entry: &Entry| graph.node(entry.node).is_variable() && graph.consumers(graph.entry_id(*entry)).len() == 1;
    if !layer.inputs[1..].iter().all(is_own) {
        return Ok(None);
    }
    let read = |entry: &Entry| values(params, &graph.node(entry.node).name);
    let Some(weight) = layer.inputs.get(1).and_then(read) else { return Ok(None) };
    let statistics: Option<Vec<Floats>> = norm.inputs[1..].iter().map(read).collect();
    let Some([gamma, beta, mean, var]) = statistics.and_then(|all| <[Floats; 4]>::try_from(all).ok()) else {
        return Ok(None);
    };
    let n_channels = weight.shape.first().copied().unwrap_or(0);
    let bias = match layer.inputs.get(2) {
        Some(entry) => match read(entry) {
            Some(bias) => bias.values,
            None => return Ok(None),
        },
        None => vec![0.0; n_channels],
    };
    let all_fit = [&beta.values, &mean.values, &var.values, &bias].iter().all(|v| v.len() == n_channels);
    if n_channels == 0 || !all_fit || gamma.values.len() != n_channels {
        return Ok(None);
    }
    let scale = |channel: usize| {
        let gamma = if norm_params.fix_gamma { 1.0 } else { f64::from(gamma.values[channel]) };
        gamma / (f64::from(var.values[channel]) + norm_params.eps).sqrt()
    };
    let row = weight.values.len() / n_channels;
    let scaled = weight.values.iter().enumerate().map(|(i, w)| (f64::from(*w) * scale(i / row)) as f32);
    let shifted = (0..n_channels).map(|c| {
        let shift = (f64::from(bias[c]) - f64::from(mean.values[c])) * scale(c);
        (shift + f64::from(beta.values[c])) as f32
    });
    Ok(Some(Fold {
        layer: layer_id,
        weight: Tensor::from_slice(weight.shape, &scaled.collect::<Vec<_>>())?,
        bias: Tensor::from_slice([n_channels], &shifted.collect::<Vec<_>>())?,
    }))
}

/// Whether the node is a layer whose output has its channels on axis 1.
fn has_channels_second(layer: &Node) -> bool {
    let Some((op, parsed)) = layer.call() else { return false };
    match op.name {
        "Convolution" => !parsed.get::<ConvolutionParams>().is_channels_last(),
        "FullyConnected" => parsed.get::<FullyConnectedParams>().flatten,
        _ => false,
    }
}

/// The shape and the values of a float32 parameter.
pub(crate) struct Floats {
    pub shape: mxrs_types::Shape,
    pub values: Vec<f32>,
}

/// The values of a parameter; `None` if it is missing, not dense or not float32.
pub(crate) fn values(params: &IndexMap<String, Tensor>, name: &str) -> Option<Floats> {
    let dense = params.get(name)?.as_dense().ok()?;
    let values = (dense.dtype() == DType::F32).then(|| dense.to_f32_vec())?;
    Some(Floats { shape: dense.shape().clone(), values })
}
