//! The drawing of a graph, independent of the output format: nodes with labels and colors, edges with shapes.

use mxrs::graph::{Graph, Inferred, Node, NodeId};
use mxrs::types::PartialShape;

/// Suffixes of the names of parameters, which MXNet's plots hide as well.
const PARAMETERS: [&str; 8] =
    ["_weight", "_bias", "_beta", "_gamma", "_moving_var", "_moving_mean", "_running_var", "_running_mean"];

/// One node.
pub struct Drawn {
    /// Lines of the label: the name and, for a call, the operator and its main attributes.
    pub lines: Vec<String>,
    /// Fill color.
    pub color: &'static str,
    /// Whether the node is a variable, which is drawn with round ends.
    pub is_variable: bool,
}

/// One edge.
pub struct Edge {
    /// Index of the producer in the nodes.
    pub from: usize,
    /// Index of the reader in the nodes.
    pub to: usize,
    /// Shapes of the tensors without the batch axis; empty if unknown.
    pub label: String,
}

/// Nodes and edges.
pub struct Drawing {
    /// Nodes in the order of the graph.
    pub nodes: Vec<Drawn>,
    /// Edges; at most one between two nodes.
    pub edges: Vec<Edge>,
}

impl Drawing {
    /// The drawing of a graph. Parameters are included only if `with_weights` is set.
    pub fn new(graph: &Graph, shapes: &Inferred<PartialShape>, with_weights: bool) -> Self {
        let mut nodes = Vec::new();
        let mut edges: Vec<Edge> = Vec::new();
        let mut position: Vec<Option<usize>> = vec![None; graph.n_nodes()];
        for (id, node) in graph.iter() {
            if !with_weights && is_parameter(graph, id, node) {
                continue;
            }
            let to = nodes.len();
            position[id.index()] = Some(to);
            nodes.push(Drawn { lines: lines(node), color: color(node.op_name()), is_variable: node.is_variable() });
            let first = edges.len();
            for input in &node.inputs {
                let Some(from) = position[input.node.index()] else { continue };
                let shape = shapes.known(graph.entry_id(*input));
                let label = shape.map_or(String::new(), |shape| joined(shape.iter().skip(1)));
                match edges[first..].iter_mut().find(|edge| edge.from == from) {
                    None => edges.push(Edge { from, to, label }),
                    Some(edge) if !label.is_empty() && edge.label != label => edge.label += &format!(", {label}"),
                    Some(_) => {}
                }
            }
        }
        Self { nodes, edges }
    }
}

fn is_parameter(graph: &Graph, id: NodeId, node: &Node) -> bool {
    node.is_variable() && (graph.is_aux_state(id) || PARAMETERS.iter().any(|ending| node.name.ends_with(ending)))
}

fn joined<'a>(sizes: impl Iterator<Item = &'a usize>) -> String {
    sizes.map(ToString::to_string).collect::<Vec<_>>().join("x")
}

/// The lines of a label: name, operator, attributes.
fn lines(node: &Node) -> Vec<String> {
    let mut lines = vec![node.name.clone()];
    if !node.is_variable() {
        lines.push(node.op_name().to_owned());
        lines.extend(Some(key_attributes(node)).filter(|text| !text.is_empty()));
    }
    lines
}

fn key_attributes(node: &Node) -> String {
    let attr = |key: &str| node.attrs.get(key);
    // Writes `(3, 3)` as `3x3`.
    let sizes = |key: &str| {
        let digits = |size: &str| size.chars().filter(char::is_ascii_digit).collect::<String>();
        attr(key).map(|text| text.split(',').map(digits).filter(|d| !d.is_empty()).collect::<Vec<_>>().join("x"))
    };
    let window = || match (sizes("kernel"), sizes("stride").filter(|stride| !stride.is_empty())) {
        (Some(kernel), Some(stride)) => Some(format!("{kernel}/{stride}")),
        (kernel, _) => kernel,
    };
    let text = |key: &str| attr(key).map(str::to_owned);
    let parts: Vec<Option<String>> = match node.op_name() {
        "Convolution" | "Deconvolution" => vec![window(), text("num_filter")],
        "FullyConnected" => vec![text("num_hidden")],
        "Activation" | "LeakyReLU" => vec![text("act_type")],
        "Pooling" if attr("global_pool").is_some_and(|on| matches!(on, "True" | "true" | "1")) => {
            vec![text("pool_type"), Some("global".into())]
        }
        "Pooling" => vec![text("pool_type"), window()],
        "Dropout" => vec![text("p")],
        "Reshape" => vec![text("shape")],
        "Concat" => vec![attr("dim").map(|dim| format!("axis {dim}"))],
        _ => Vec::new(),
    };
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// MXNet's color for a kind of operator.
fn color(op: &str) -> &'static str {
    match op {
        "null" => "#8dd3c7",
        "Convolution" | "Deconvolution" | "FullyConnected" => "#fb8072",
        "Activation" | "LeakyReLU" | "relu" | "sigmoid" | "tanh" => "#ffffb3",
        "BatchNorm" | "LayerNorm" | "InstanceNorm" | "LRN" => "#bebada",
        "Pooling" => "#80b1d3",
        "Concat" | "Flatten" | "Reshape" | "transpose" | "expand_dims" => "#fdb462",
        "softmax" | "SoftmaxOutput" | "log_softmax" => "#b3de69",
        _ => "#fccde5",
    }
}
