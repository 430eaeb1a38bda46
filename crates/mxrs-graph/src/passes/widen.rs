//! Half precision as a storage format: calls compute in float32.
//!
//! Every call that reads or makes the half-precision type is replaced by a call on float32. Variables, heads and results of
//! a `Cast` from other types keep the half-precision type, and are converted where a call reads them. A `Cast` from half
//! precision to float32 is removed. So constant parameters are converted only once, and values between calls are neither
//! rounded nor limited to the range of half precision.
//!
//! A graph is not changed if it has control dependencies, subgraphs, gradients, auxiliary states in half precision, or calls
//! whose output types do not follow from their input types.

use super::infer_dtypes;
use super::names::UniqueNames;
use crate::{Entry, EntryId, Graph, GraphBuilder, Node, NodeId};
use mxrs_op::{Attrs, OpSet, TensorDesc};
use mxrs_types::{DType, Error, Result};
use rustc_hash::FxHashMap;

/// A graph whose calls compute in float32.
pub struct Widened {
    /// The new graph, with the heads of the old graph.
    pub graph: Graph,
    /// The shape and type of each entry.
    pub descs: Vec<TensorDesc>,
    /// The new id of each old variable; `None` for calls, and for variables that no head needs.
    pub new_ids: Vec<Option<NodeId>>,
}

/// Replaces the half-precision type `half` by float32; `descs` are the shape and type of each entry. Returns `None` if the
/// graph cannot be changed, or if `ops` has no `Cast`.
///
/// # Errors
/// Never fails if `descs` describes the graph.
pub fn widen(graph: &Graph, ops: &OpSet, descs: &[TensorDesc], half: DType) -> Result<Option<Widened>> {
    if ops.get(CAST).is_err() {
        return Ok(None);
    }
    let widening = Widening {
        graph,
        ops,
        descs,
        half,
        out: GraphBuilder::new(),
        out_descs: Vec::new(),
        names: UniqueNames::of(graph),
        stored: FxHashMap::default(),
        wide: FxHashMap::default(),
    };
    widening.run()
}

const CAST: &str = "Cast";
/// The operators that convert: `Cast`, and the operator that mixed precision inserts.
const CASTS: [&str; 2] = [CAST, "amp_cast"];

struct Widening<'g> {
    graph: &'g Graph,
    ops: &'g OpSet,
    descs: &'g [TensorDesc],
    /// The half-precision type.
    half: DType,
    out: GraphBuilder,
    /// For each node of the new graph, the shape and type of each output.
    out_descs: Vec<Vec<TensorDesc>>,
    names: UniqueNames,
    /// For each old entry, the new entry that has the same type.
    stored: FxHashMap<EntryId, Entry>,
    /// For each old entry in half precision, the new entry in float32.
    wide: FxHashMap<EntryId, Entry>,
}

impl Widening<'_> {
    fn run(mut self) -> Result<Option<Widened>> {
        let graph = self.graph;
        for (key, value) in graph.attrs() {
            self.out.set_attr(key, value.clone());
        }
        let mut variables = Vec::new();
        for (id, node) in graph.iter() {
            if node.is_variable() {
                let new = self.add(id, node.clone(), false);
                variables.push((id, new));
            } else if !self.call(id, node)? {
                return Ok(None);
            }
        }
        let mut heads = Vec::with_capacity(graph.heads().len());
        for head in graph.heads() {
            heads.push(self.in_its_type(*head)?);
        }
        let Self { mut out, out_descs, .. } = self;
        out.set_heads(heads);
        let (new, of_added) = out.build_in_order()?;
        let mut descs: Vec<Option<TensorDesc>> = vec![None; new.n_entries()];
        for (of_node, added) in out_descs.into_iter().zip(&of_added) {
            let Some(id) = *added else { continue };
            new.output_ids(id).zip(of_node).for_each(|(entry, desc)| descs[entry.index()] = Some(desc));
        }
        let Some(descs) = descs.into_iter().collect::<Option<Vec<TensorDesc>>>() else { return Ok(None) };
        // Infers the types again, because a call may return half precision even for float32 inputs. A graph with such a call
        // is not changed.
        let of_variables = new.variables().iter().map(|id| {
            let entry = new.output_id(*id, 0).index();
            (new.node(*id).name.as_str(), descs[entry].dtype)
        });
        let Ok(types) = infer_dtypes(&new, of_variables, None).and_then(|types| types.complete(&new)) else {
            return Ok(None);
        };
        if types.iter().ne(descs.iter().map(|desc| &desc.dtype)) {
            return Ok(None);
        }
        let mut new_ids = vec![None; graph.n_nodes()];
        variables.iter().for_each(|(id, added)| new_ids[id.index()] = of_added[added.index()]);
        Ok(Some(Widened { graph: new, descs, new_ids }))
    }

    fn desc(&self, entry: Entry) -> &TensorDesc {
        &self.descs[self.graph.entry_id(entry).index()]
    }

    fn is_half(&self, entry: Entry) -> bool {
        self.desc(entry).dtype == self.half
    }

    fn outputs(node: NodeId, n: usize) -> impl Iterator<Item = Entry> {
        (0..n as u32).map(move |index| Entry::new(node, index))
    }

    /// Adds `node`, which replaces the node `old`. If `is_widened`, half-precision outputs of `old` become float32.
    fn add(&mut self, old: NodeId, node: Node, is_widened: bool) -> NodeId {
        let n = node.n_outputs;
        let new = self.out.push(node);
        let mut descs = Vec::with_capacity(n);
        for (from, to) in Self::outputs(old, n).zip(Self::outputs(new, n)) {
            let mut desc = self.desc(from).clone();
            if is_widened && desc.dtype == self.half {
                desc.dtype = DType::F32;
                self.wide.insert(self.graph.entry_id(from), to);
            } else {
                self.stored.insert(self.graph.entry_id(from), to);
            }
            descs.push(desc);
        }
        self.out_descs.push(descs);
        new
    }

    /// Whether the call has an input in half precision that it or another call rewrites: an auxiliary state, or a variable
    /// of a version above 0.
    fn rewrites_half(&self, node: &Node) -> bool {
        let inputs = node.inputs.iter().enumerate();
        inputs.into_iter().any(|(i, input)| self.is_half(*input) && (i >= node.n_arguments() || input.version > 0))
    }

    /// Adds a call; `false` if it cannot be widened.
    fn call(&mut self, id: NodeId, node: &Node) -> Result<bool> {
        let is_plain = node.control_deps.is_empty()
            && node.subgraphs.is_empty()
            && node.backward_of.is_none()
            && node.clone_of.is_none();
        if !is_plain || self.rewrites_half(node) {
            return Ok(false);
        }
        let is_cast = node.call().is_some_and(|(op, _)| CASTS.contains(&op.name));
        let makes_half = Self::outputs(id, node.n_outputs).any(|entry| self.is_half(entry));
        let reads_half = node.inputs.iter().any(|entry| self.is_half(*entry));
        if is_cast && reads_half {
            // A conversion between half precision and float32 is dropped: its readers use the float32 value. A conversion
            // from half precision to a third type stays, and reads the float32 value.
            let (from, to) = (node.inputs[0], Entry::new(id, 0));
            let wide = self.in_float32(from)?;
            let made = self.desc(to).dtype;
            let known = match made {
                _ if made == self.half => &mut self.wide,
                DType::F32 => &mut self.stored,
                _ => {
                    self.add(id, Node { inputs: vec![wide], ..node.clone() }, false);
                    return Ok(true);
                }
            };
            known.insert(self.graph.entry_id(to), wide);
            return Ok(true);
        }
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            inputs.push(if self.is_half(*input) { self.in_float32(*input)? } else { self.in_its_type(*input)? });
        }
        // A call without a half-precision input, such as one that only makes half-precision values, keeps the type of its
        // outputs.
        self.add(id, Node { inputs, ..node.clone() }, makes_half && reads_half);
        Ok(true)
    }

    /// The new float32 entry of a half-precision entry.
    fn in_float32(&mut self, old: Entry) -> Result<Entry> {
        self.in_type(old, DType::F32, false)
    }

    /// The new entry of an old entry, in the type of the old entry.
    fn in_its_type(&mut self, old: Entry) -> Result<Entry> {
        self.in_type(old, self.desc(old).dtype, true)
    }

    /// The new entry of an old entry: in the old entry's type if `is_stored`, otherwise in float32. Adds a conversion if the
    /// new entry exists only in the other type.
    fn in_type(&mut self, old: Entry, dtype: DType, is_stored: bool) -> Result<Entry> {
        let id = self.graph.entry_id(old);
        let (here, there) = match is_stored {
            true => (self.stored.get(&id), self.wide.get(&id)),
            false => (self.wide.get(&id), self.stored.get(&id)),
        };
        let new = match (here, there) {
            (Some(here), _) => *here,
            (None, Some(there)) => self.cast(old, *there, dtype)?,
            (None, None) => {
                let name = &self.graph.node(old.node).name;
                return Err(Error::invalid("order of a graph's nodes", format!("`{name}` is read first"), "its maker"));
            }
        };
        let known = if is_stored { &mut self.stored } else { &mut self.wide };
        known.insert(id, new);
        Ok(Entry { version: if is_stored { old.version } else { 0 }, ..new })
    }

    fn cast(&mut self, old: Entry, from: Entry, to: DType) -> Result<Entry> {
        let name = self.names.take(format!("{}_{}", self.graph.node(old.node).name, to.name()));
        let attrs = Attrs::from([("dtype", to.name())]);
        let id = self.out.add_op(self.ops.get(CAST)?, name, attrs, vec![from])?;
        self.out.set_device(id, self.graph.node(old.node).device)?;
        let desc = self.desc(old).clone();
        self.out_descs.push(vec![TensorDesc { dtype: to, ..desc }]);
        Ok(Entry::new(id, 0))
    }
}
