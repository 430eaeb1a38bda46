//! The graph that training runs: the forward graph joined with its gradient, before any array or kernel exists.

use crate::bind::{Known, infer};
use crate::gradients::{GradReq, GradRequests};
use crate::lower::{Bound, Source, lower};
use crate::options::BindOptions;
use crate::program::Program;
use mxrs_graph::{Entry, GradientRequest, Graph, HeadGrads, NodeId, Unreachable, gradient};
use mxrs_types::{DType, Error, Result, Shape, WriteReq};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A tensor somebody has to provide an array for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Argument, or output for head gradients.
    pub name: String,
    /// What to do with it.
    pub request: GradReq,
    /// Its shape.
    pub shape: Shape,
    /// Its element type.
    pub dtype: DType,
}

/// Forward graph and gradient; without gradients the forward graph itself.
pub struct Joined {
    graph: Arc<Graph>,
    n_forward_nodes: usize,
    n_forward_heads: usize,
    known: Known,
    bound: FxHashMap<NodeId, Bound>,
    /// Gradients asked for, in the order of the arguments.
    pub gradients: Vec<Wanted>,
    /// For each head, the gradient that somebody must give.
    pub head_grads: Vec<Option<Wanted>>,
}

impl Joined {
    /// Differentiates the graph as [`BindOptions::gradients`] says. `bound` lists the variables that have arrays.
    ///
    /// # Errors
    /// Names no argument has; an operator that is not differentiable.
    pub fn new(
        graph: &Arc<Graph>,
        known: &Known,
        bound: &FxHashMap<NodeId, Bound>,
        options: &BindOptions,
    ) -> Result<Self> {
        let n_heads = graph.heads().len();
        let mut joined = Self {
            graph: graph.clone(),
            n_forward_nodes: graph.n_nodes(),
            n_forward_heads: n_heads,
            known: known.clone(),
            bound: bound.clone(),
            gradients: Vec::new(),
            head_grads: vec![None; n_heads],
        };
        let Some(requests) = &options.gradients else { return Ok(joined) };
        let wanted = wanted(graph, requests)?;
        if wanted.is_empty() {
            return Ok(joined);
        }
        let describe = |name: String, request: GradReq, entry: usize| Wanted {
            name,
            request,
            shape: known.shapes[entry].clone(),
            dtype: known.dtypes[entry],
        };
        for &id in &wanted {
            let name = &graph.node(id).name;
            joined.gradients.push(describe(name.clone(), requests.of(name), graph.output_id(id, 0).index()));
        }
        let differentiated = gradient(
            graph,
            &options.ops,
            &GradientRequest {
                wanted: wanted.iter().map(|id| Entry::new(*id, 0)).collect(),
                head_grads: HeadGrads::Variables,
                sum_cap: options.grad_sum_cap,
                unreachable: Unreachable::Zeros,
            },
        )?;
        joined.n_forward_nodes = differentiated.n_forward_nodes;
        // Shapes of the forward variables are known; those of the head gradients are the heads'.
        let mut given: Vec<(String, Shape, DType)> = Vec::new();
        for &id in graph.variables() {
            let entry = graph.output_id(id, 0).index();
            given.push((graph.node(id).name.clone(), known.shapes[entry].clone(), known.dtypes[entry]));
        }
        let mut n_bound = bound.len();
        for (head, variable) in differentiated.head_grads.iter().enumerate() {
            let Some(id) = *variable else { continue };
            let entry = graph.entry_id(graph.heads()[head]);
            let wanted = describe(graph.entry_name(entry), GradReq::Write, entry.index());
            given.push((differentiated.graph.node(id).name.clone(), wanted.shape.clone(), wanted.dtype));
            joined.head_grads[head] = Some(wanted);
            joined.bound.insert(id, Bound { index: n_bound, is_constant: false });
            n_bound += 1;
        }
        joined.known = infer(&differentiated.graph, &given, options)?;
        joined.graph = Arc::new(differentiated.graph);
        Ok(joined)
    }

    /// Chooses kernels and layouts.
    ///
    /// # Errors
    /// No backend runs some operator.
    pub fn lower(&self, options: &BindOptions) -> Result<Program> {
        self.lower_as(options, true)
    }

    /// As [`Self::lower`], with operators as in training or as at inference.
    ///
    /// # Errors
    /// As [`Self::lower`].
    pub fn lower_as(&self, options: &BindOptions, is_train: bool) -> Result<Program> {
        let mut output_reqs = vec![WriteReq::Write; self.n_forward_heads];
        output_reqs.extend(self.gradients.iter().map(|g| g.request.write_req()));
        let source = Source {
            graph: &self.graph,
            n_forward_nodes: self.n_forward_nodes,
            shapes: &self.known.shapes,
            dtypes: &self.known.dtypes,
            bound: &self.bound,
            output_reqs: &output_reqs,
            n_forward_heads: self.n_forward_heads,
            is_train,
        };
        lower(source, options)
    }
}

/// Arguments whose gradient is asked for.
fn wanted(graph: &Graph, requests: &GradRequests) -> Result<Vec<NodeId>> {
    let is_argument = |name: &str| graph.arguments().any(|id| graph.node(id).name == name);
    if let Some(unknown) = requests.names().find(|name| !is_argument(name)) {
        let known: Vec<&str> = graph.argument_names().into_iter().take(12).collect();
        return Err(Error::invalid("grad_req for", unknown, format!("an argument: {}, …", known.join(", "))));
    }
    Ok(graph.arguments().filter(|id| requests.of(&graph.node(*id).name) != GradReq::Null).collect())
}
