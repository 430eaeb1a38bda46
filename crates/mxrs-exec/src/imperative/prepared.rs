//! A prepared call: checked, with shapes and types inferred, lowered and planned, but without arrays.

use super::probe::{Reads, probe};
use super::signature::{Mode, Query};
use crate::bind::{Given, known};
use crate::lower::{Bound, Source, lower_with_values};
use crate::options::BindOptions;
use crate::pipeline::plan_program;
use crate::program_passes::Planned;
use crate::segment::{Segment, segments};
use mxrs_graph::{Entry, GraphBuilder};
use mxrs_op::{Attrs, Gradient, OpDef, OpParams, OpSet, View};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{DType, Error, Result, ResultExt, Shape, WriteReq};
use std::sync::Arc;

/// An operator with its attributes, both as text and parsed.
pub struct Parsed {
    pub op: Arc<OpDef>,
    pub attrs: Attrs,
    pub params: OpParams,
}

impl Parsed {
    /// Parses the attributes. For an operator with a variable number of inputs, a missing count becomes `n_inputs`.
    ///
    /// # Errors
    /// Returns an error if the operator is unknown, refuses the attributes, or has another number of inputs.
    pub fn new(ops: &OpSet, name: &str, attrs: &Attrs, n_inputs: usize) -> Result<Self> {
        let op = ops.get(name)?.clone();
        let mut attrs = attrs.clone();
        if let Some(key) = op.variable_count_key()
            && attrs.get(key).is_none()
        {
            attrs.set(key, op.variable_count(n_inputs).to_string());
        }
        let params = op.parse(&attrs)?;
        let expected = op.n_inputs(&params);
        if expected != n_inputs {
            let names = op.input_names(&params).join(", ");
            let expected = format!("{expected} ({names})");
            return Err(Error::invalid(format!("{}: number of inputs", op.name), n_inputs, expected));
        }
        Ok(Self { op, attrs, params })
    }

    pub fn view(&self, is_train: bool) -> View {
        (self.op.view)(&self.params, is_train)
    }
}

/// Whether a call that rewrites this input may make values that were saved from the input out of date. A differentiable
/// operator rewrites an argument only to the value that its gradient assumes: batch normalization sets a fixed gamma to 1.
/// Saved values of such an argument stay valid.
pub fn spoils(op: &OpDef, params: &OpParams, input: usize) -> bool {
    let n_inputs = op.n_inputs(params);
    let is_argument = input < n_inputs - op.n_aux.min(n_inputs);
    !(is_argument && matches!(op.gradient, Gradient::By(_)))
}

/// A planned program of one call.
pub struct Prepared {
    pub call: Parsed,
    pub planned: Planned,
    pub segment: Segment,
    /// Shape and type of each output that the call makes: of the visible outputs, or of all outputs if hidden ones were
    /// requested.
    pub outputs: Vec<(Shape, DType)>,
    pub n_visible: usize,
    /// Pairs (input, output) for which the kernel can run in place. Empty if the call takes several steps.
    pub can_inplace: Vec<(usize, usize)>,
    pub is_train: bool,
    /// The values that the gradient reads, for each set of inputs whose gradients were requested so far.
    reads: RankedMutex<Vec<(Vec<bool>, Arc<Reads>)>>,
}

impl Prepared {
    /// Prepares a call.
    ///
    /// # Errors
    /// Returns the errors of [`Parsed::new`], or an error if shapes or types contradict the operator, or no backend runs
    /// it.
    pub fn new(query: &Query<'_>, options: &BindOptions) -> Result<Self> {
        if options.ops.find(query.op).is_some_and(|op| op.control_flow.is_some()) {
            let what = format!("{}: control flow on arrays", query.op);
            let expected = "a symbol with this node, which an executor or a cached graph runs";
            return Err(Error::invalid(what, "a call without subgraphs", expected));
        }
        let call = Parsed::new(&options.ops, query.op, query.attrs, query.inputs.len())?;
        let Mode { is_train, with_hidden } = query.mode;
        let op = &call.op;
        let mut names = op.input_names(&call.params);
        for at in 1..names.len() {
            // The variables of the graph need different names, but some gradient operators have several inputs with the
            // same name.
            if names[..at].contains(&names[at]) {
                names[at] = format!("{}_{at}", names[at]);
            }
        }
        let mut builder = GraphBuilder::new();
        let variables: Vec<Entry> =
            names.iter().map(|name| Entry::new(builder.add_variable(name, Attrs::new()), 0)).collect();
        let node = builder.add_parsed_op(op, op.name, call.attrs.clone(), call.params.clone(), variables)?;
        let n_all = op.n_outputs.get(&call.params);
        let n_visible = op.n_visible.get(&call.params).min(n_all);
        // Hidden outputs are made only if they were requested. A call that makes a view has none.
        let n_made = if with_hidden && call.view(is_train) == View::No { n_all } else { n_visible };
        builder.set_heads((0..n_made).map(|i| Entry::new(node, i as u32)).collect());
        let graph = builder.build()?;
        let shapes: Vec<Given<'_>> =
            names.iter().zip(query.inputs).map(|(name, i)| (name.as_str(), i.shape(), i.dtype())).collect();
        let known = known(&graph, &[], &shapes, options)?;
        let place = |(index, name): (usize, &String)| {
            let id = graph.find(name)?;
            Some((id, Bound { index, is_constant: false }))
        };
        let bound = names.iter().enumerate().filter_map(place).collect();
        let mut output_reqs = vec![WriteReq::Write; n_made];
        for (_, output) in query.inplace {
            output_reqs[*output] = WriteReq::Inplace;
        }
        let source = Source {
            graph: &graph,
            n_forward_nodes: graph.n_nodes(),
            shapes: &known.shapes,
            dtypes: &known.dtypes,
            bound: &bound,
            output_reqs: &output_reqs,
            n_forward_heads: n_made,
            is_train,
        };
        let program = lower_with_values(source, options)?.0;
        let can_inplace = match program.steps.as_slice() {
            [one] if !one.is_view() => one.inplace.clone(),
            _ => Vec::new(),
        };
        let entry = |i: usize| graph.entry_id(graph.heads()[i]).index();
        let outputs = (0..n_made).map(|i| (known.shapes[entry(i)].clone(), known.dtypes[entry(i)])).collect();
        let planned = plan_program(Arc::new(program), options)?;
        let mut pieces = segments(&planned.program, 0..planned.program.steps.len(), usize::MAX);
        let mut segment = pieces.pop().ok_or_else(|| Error::invalid(op.name, "no output", "at least one"))?;
        // Profiles show the operator's name for the whole task, including its copies between layouts.
        segment.name = op.name.into();
        let reads = RankedMutex::new(Rank::Leaf, Vec::new());
        Ok(Self { call, planned, segment, outputs, n_visible, can_inplace, is_train, reads })
    }

    /// Inputs that every call rewrites.
    pub fn rewrites(&self) -> &'static [usize] {
        (self.call.op.rewrites)(&self.call.params, self.is_train)
    }

    /// The values that the gradient of the call reads. `wants` marks the inputs whose gradients are requested.
    ///
    /// # Errors
    /// Returns an error if the operator declares its gradient wrongly.
    pub fn reads(&self, wants: &[bool], ops: &OpSet) -> Result<Arc<Reads>> {
        let known = self.reads.lock().iter().find(|(of, _)| of == wants).map(|(_, reads)| reads.clone());
        if let Some(reads) = known {
            return Ok(reads);
        }
        let op = self.call.op.name;
        let reads = Arc::new(probe(&self.call, wants, ops).context(|| format!("recording `{op}`"))?);
        self.reads.lock().push((wants.to_vec(), reads.clone()));
        Ok(reads)
    }
}
