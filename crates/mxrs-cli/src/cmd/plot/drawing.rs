//! What is drawn of a graph: nodes with labels and colors, edges with shapes. The same for every form of output.

use mxrs::graph::{Graph, Inferred, Node, NodeId};
use mxrs::types::PartialShape;

/// Endings of the names of parameters, which MXNet's plots hide too.
const PARAMETERS: [&str; 8] =
    ["_weight", "_bias", "_beta", "_gamma", "_moving_var", "_moving_mean", "_running_var", "_running_mean"];

/// One node.
pub struct Drawn {
    /// Name; then, for a call, operator and key attributes.
    pub lines: Vec<String>,
    /// Fill color.
    pub color: &'static str,
    /// Whether it is a variable, which is drawn round.
    pub is_variable: bool,
}

/// One edge.
pub struct Edge {
    /// Position of the producer among the nodes.
    pub from: usize,
    /// Position of the reader.
    pub to: usize,
    /// Shapes of what flows, behind the batch axis; empty when not known.
    pub label: String,
}

/// Nodes and edges.
pub struct Drawing {
    /// In the graph's order.
    pub nodes: Vec<Drawn>,
    /// At most one between two nodes.
    pub edges: Vec<Edge>,
}

impl Drawing {
    /// Of a graph; without parameters unless they are wanted.
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

/// Name, operator, attributes: a line each.
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
    // `(3, 3)` as `3x3`.
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

/// MXNet's color of a kind of operator.
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
