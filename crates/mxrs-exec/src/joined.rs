//! The graph that training runs: the forward graph joined with its gradient, before any array or kernel exists.

use crate::bind::{Known, infer};
use crate::fuse::lower_fused;
use crate::gradients::{GradReq, GradRequests};
use crate::lower::{Bound, Source, lower};
use crate::options::BindOptions;
use crate::pairs::with_pairs;
use crate::program::Program;
use crate::recompute::recomputed;
use crate::widen::{Described, lower_wide, on_wide};
use mxrs_graph::{
    Entry, GradientGraph, GradientRequest, Graph, HeadGrads, NodeId, Unreachable, autocast, eliminate_common, gradient,
};
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
    typed: Typed,
    is_train: bool,
    /// Gradients asked for, in the order of the arguments.
    pub gradients: Vec<Wanted>,
    /// For each head, the gradient that somebody must give.
    pub head_grads: Vec<Option<Wanted>>,
}

/// What lowering must know of a graph besides its nodes.
struct Typed {
    known: Known,
    bound: FxHashMap<NodeId, Bound>,
}

impl Typed {
    fn parts(&self) -> (&Known, &FxHashMap<NodeId, Bound>) {
        (&self.known, &self.bound)
    }
}

impl Joined {
    /// Differentiates the graph as [`BindOptions::gradients`] says, and lets the gradient compute again what
    /// [`BindOptions::recompute`] says. `bound` lists the variables that have arrays; operators work as in training or as
    /// at inference. Where 16 bits lack kernels, the graph is widened first.
    ///
    /// # Errors
    /// Names no argument has; an operator that is not differentiable; a budget of bytes that cannot be met; no backend for
    /// an operator, where memory has to be planned.
    pub fn new(
        graph: &Arc<Graph>,
        known: &Known,
        bound: &FxHashMap<NodeId, Bound>,
        options: &BindOptions,
        is_train: bool,
    ) -> Result<Self> {
        let plain = || {
            let n_heads = graph.heads().len();
            Self {
                graph: graph.clone(),
                n_forward_nodes: graph.n_nodes(),
                n_forward_heads: n_heads,
                typed: Typed { known: known.clone(), bound: bound.clone() },
                is_train,
                gradients: Vec::new(),
                head_grads: vec![None; n_heads],
            }
        };
        let Some(requests) = &options.gradients else { return Ok(plain()) };
        if wanted(graph, requests)?.is_empty() {
            return Ok(plain());
        }
        let make = |described: Described<'_>| Self::differentiated(described, requests, options, is_train);
        let check = |joined: &Self| joined.lower(options).map(drop);
        Ok(on_wide((graph, known, bound), options, is_train, make, check)?.0)
    }

    /// The graph joined with the gradients that are requested of it.
    fn differentiated(
        (graph, known, bound): Described<'_>,
        requests: &GradRequests,
        options: &BindOptions,
        is_train: bool,
    ) -> Result<Self> {
        let n_heads = graph.heads().len();
        let wanted = wanted(graph, requests)?;
        let forward = Forward { graph, known, bound };
        let describe = |id: &NodeId| {
            let name = &graph.node(*id).name;
            forward.describe(name.clone(), requests.of(name), graph.output_id(*id, 0).index())
        };
        let gradients: Vec<Wanted> = wanted.iter().map(describe).collect();
        let mut differentiated = gradient(
            graph,
            &options.ops,
            &GradientRequest {
                wanted: wanted.iter().map(|id| Entry::new(*id, 0)).collect(),
                head_grads: HeadGrads::Variables,
                sum_cap: options.grad_sum_cap,
                unreachable: Unreachable::Zeros,
            },
        )?;
        if eliminates(options) {
            differentiated = differentiated.eliminate_common(&options.ops)?;
        }
        if options.autocast.is_some() {
            differentiated = differentiated.wide_sums(&known.dtypes)?;
        }
        if let Some(paired) = with_pairs(&differentiated, known, options, is_train)? {
            differentiated = paired;
        }
        let requests: Vec<GradReq> = gradients.iter().map(|g| g.request).collect();
        let lower = |candidate: &GradientGraph| {
            let typed = forward.typed(candidate, options)?;
            let source = (&candidate.graph, candidate.n_forward_nodes, n_heads, typed.parts());
            lower_typed(source, &requests, options, is_train, lower)
        };
        let typed = forward.typed(&differentiated, options)?;
        if let Some(less) = recomputed(&differentiated, &typed.known, options, is_train, lower)? {
            differentiated = less;
        }
        Ok(Self {
            typed: forward.typed(&differentiated, options)?,
            head_grads: forward.head_grads(&differentiated),
            n_forward_nodes: differentiated.n_forward_nodes,
            n_forward_heads: n_heads,
            graph: Arc::new(differentiated.graph),
            is_train,
            gradients,
        })
    }

    /// The graph that [`Self::lower`] is given; a program of another one names that ([`Program::rewritten`]).
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Chooses kernels and layouts.
    ///
    /// # Errors
    /// No backend runs some operator.
    pub fn lower(&self, options: &BindOptions) -> Result<Program> {
        let requests: Vec<GradReq> = self.gradients.iter().map(|g| g.request).collect();
        let (n_nodes, n_heads) = (self.n_forward_nodes, self.n_forward_heads);
        let (known, bound) = self.typed.parts();
        if requests.is_empty() {
            let lower = |(graph, known, bound): Described<'_>| {
                let source = (graph, graph.n_nodes(), n_heads, (known, bound));
                lower_typed(source, &requests, options, self.is_train, lower_fused)
            };
            return lower_wide((&self.graph, known, bound), options, self.is_train, lower);
        }
        let source = (&*self.graph, n_nodes, n_heads, (known, bound));
        lower_typed(source, &requests, options, self.is_train, lower_fused)
    }
}

/// Whether common subexpressions are merged.
fn eliminates(options: &BindOptions) -> bool {
    options.eliminate_common && options.ops.get("_copy").is_ok()
}

/// The graph to bind: in mixed precision where [`BindOptions::autocast`] says so, and without common subexpressions where
/// [`BindOptions::eliminate_common`] says so. Variables keep their order and names; heads keep their order, and may have
/// another name.
///
/// # Errors
/// None that a graph causes.
pub fn forward_graph(graph: &Graph, options: &BindOptions) -> Result<Graph> {
    let cast = match options.autocast {
        Some(short @ (DType::BF16 | DType::F16)) => Some(autocast(graph, &options.ops, short)?),
        Some(other) => return Err(Error::invalid("type of mixed precision", other.name(), "bfloat16 or float16")),
        None => None,
    };
    let graph = cast.as_ref().unwrap_or(graph);
    if eliminates(options) { eliminate_common(graph, &options.ops) } else { Ok(graph.clone()) }
}

/// A graph, how many of its nodes and heads are forward, and what lowering must know besides.
type Counted<'a> = (&'a Graph, usize, usize, (&'a Known, &'a FxHashMap<NodeId, Bound>));

/// Lowers a graph.
fn lower_typed(
    (graph, n_forward_nodes, n_forward_heads, (known, bound)): Counted<'_>,
    requests: &[GradReq],
    options: &BindOptions,
    is_train: bool,
    lower: fn(Source<'_>, &BindOptions) -> Result<Program>,
) -> Result<Program> {
    let mut output_reqs = vec![WriteReq::Write; n_forward_heads];
    output_reqs.extend(requests.iter().map(|request| request.write_req()));
    let source = Source {
        graph,
        n_forward_nodes,
        shapes: &known.shapes,
        dtypes: &known.dtypes,
        bound,
        output_reqs: &output_reqs,
        n_forward_heads,
        is_train,
    };
    lower(source, options)
}

/// The graph that was differentiated.
struct Forward<'a> {
    graph: &'a Graph,
    known: &'a Known,
    bound: &'a FxHashMap<NodeId, Bound>,
}

impl Forward<'_> {
    fn describe(&self, name: String, request: GradReq, entry: usize) -> Wanted {
        Wanted { name, request, shape: self.known.shapes[entry].clone(), dtype: self.known.dtypes[entry] }
    }

    /// For each head, the gradient that somebody must give.
    fn head_grads(&self, joined: &GradientGraph) -> Vec<Option<Wanted>> {
        let wanted = |(head, variable): (usize, &Option<NodeId>)| {
            let entry = self.graph.entry_id(self.graph.heads()[head]);
            variable.map(|_| self.describe(self.graph.entry_name(entry), GradReq::Write, entry.index()))
        };
        joined.head_grads.iter().enumerate().map(wanted).collect()
    }

    /// Shapes and types of every entry of a joined graph, and the arrays of its variables: those of the forward graph,
    /// then those of the head gradients.
    fn typed(&self, joined: &GradientGraph, options: &BindOptions) -> Result<Typed> {
        let mut given: Vec<(String, Shape, DType)> = Vec::new();
        for &id in self.graph.variables() {
            let entry = self.graph.output_id(id, 0).index();
            let (shape, dtype) = (self.known.shapes[entry].clone(), self.known.dtypes[entry]);
            given.push((self.graph.node(id).name.clone(), shape, dtype));
        }
        // Forward nodes may have become fewer.
        let moved = |(id, bound): (&NodeId, &Bound)| {
            let now = joined.graph.find(&self.graph.node(*id).name)?;
            joined.graph.node(now).is_variable().then_some((now, *bound))
        };
        let mut bound: FxHashMap<NodeId, Bound> = self.bound.iter().filter_map(moved).collect();
        let mut next = self.bound.len();
        for (variable, wanted) in joined.head_grads.iter().zip(self.head_grads(joined)) {
            let (Some(id), Some(wanted)) = (*variable, wanted) else { continue };
            given.push((joined.graph.node(id).name.clone(), wanted.shape, wanted.dtype));
            bound.insert(id, Bound { index: next, is_constant: false });
            next += 1;
        }
        Ok(Typed { known: infer(&joined.graph, &given, options)?, bound })
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
