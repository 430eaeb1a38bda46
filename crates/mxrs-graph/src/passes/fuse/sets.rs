//! Growing sets of calls along edges.

use super::{FusionRequest, Reach};
use crate::{EntryId, Graph, Node, NodeId};
use mxrs_op::{Pointwise, View};
use mxrs_types::{Device, Shape};
use rustc_hash::FxHashMap;

/// The largest number of inputs and outputs of a set.
pub(in crate::passes) const MAX_TENSORS: usize = 16;
/// The largest number of outputs of a set.
pub(in crate::passes) const MAX_OUTPUTS: usize = 8;
/// The largest number of calls of a set.
pub(in crate::passes) const MAX_CALLS: usize = 32;
/// The largest number of readers of one entry that are examined. If an entry has more, the set that makes it is not moved to
/// a later position. The limit keeps the time per edge constant.
const MAX_READERS: usize = 64;

/// Sets of nodes; each set has a position in an order of execution.
pub struct Sets<'g> {
    graph: &'g Graph,
    reach: Reach,
    /// For each node, a number that stands for the properties that all calls of a set must share; `None` for nodes that are
    /// not fused.
    classes: Vec<Option<u32>>,
    /// For each node, the representative of its set.
    set_of: Vec<NodeId>,
    /// For the representative of each set, the nodes of the set in order; empty if the set has only one node.
    members: Vec<Vec<NodeId>>,
    /// For the representative of each set, the position of the set, which is the id of one of its nodes.
    places: Vec<usize>,
    /// For each position: the position itself if a set with calls is at it, otherwise a later position to continue the
    /// search at.
    next_taken: Vec<usize>,
    is_head: Vec<bool>,
    /// For each node, the nodes that wait for it without reading it.
    waiting: Vec<Vec<NodeId>>,
    /// The bytes of one element of each entry; all tensors of a set have the same number of elements.
    item_bytes: Vec<usize>,
}

/// Finds the sets of a graph.
pub fn grow<'g>(graph: &'g Graph, request: &FusionRequest<'_>) -> Sets<'g> {
    let mut sets = Sets::singles(graph, request);
    // Walks twice over the graph, because an obstacle between two sets may disappear when their neighbors are merged.
    for (id, node) in graph.iter().chain(graph.iter()) {
        for input in &node.inputs {
            sets.join(input.node, id);
        }
    }
    sets
}

/// What calls of one class have in common: the shape, the context group, the device, the class that the request gives, and
/// whether they belong to the forward half.
type Class<'a> = (&'a Shape, Option<&'a str>, Option<Device>, u64, bool);

/// Returns a number for each node. Calls with the same number may be fused.
fn classes(graph: &Graph, request: &FusionRequest<'_>) -> Vec<Option<u32>> {
    let mut is_rewritten = vec![false; graph.n_nodes()];
    for node in graph.nodes() {
        let Some((op, params)) = node.call() else { continue };
        for &position in (op.rewrites)(params, request.is_train) {
            if let Some(input) = node.inputs.get(position) {
                is_rewritten[input.node.index()] = true;
            }
        }
    }
    let mut numbers: FxHashMap<Class<'_>, u32> = FxHashMap::default();
    let mut class = |(id, node): (NodeId, &'_ Node)| -> Option<u32> {
        let (op, params) = node.call()?;
        let is_plain = op.pointwise == Pointwise::Yes
            && op.n_aux == 0
            && (op.view)(params, request.is_train) == View::No
            && op.unread_inputs(request.is_train).next().is_none()
            && node.subgraphs.is_empty()
            && !node.inputs.iter().any(|e| is_rewritten[e.node.index()]);
        let shape = request.shapes.get(graph.output_id(id, 0).index()).filter(|_| is_plain && node.n_outputs > 0)?;
        let mut all = graph.input_ids(id).chain(graph.output_ids(id));
        if shape.n_elements() == 0 || all.any(|e| request.shapes[e.index()] != *shape) {
            return None;
        }
        let asked = (request.class)(id)?;
        let group = graph.node(id).attrs.get("__ctx_group__");
        let next = numbers.len() as u32;
        let class = (shape, group, node.device, asked, id.index() < request.n_forward_nodes);
        Some(*numbers.entry(class).or_insert(next))
    };
    graph.iter().map(&mut class).collect()
}

impl<'g> Sets<'g> {
    /// Makes a set of each node, at the node's own position.
    fn singles(graph: &'g Graph, request: &FusionRequest<'_>) -> Self {
        let n = graph.n_nodes();
        let mut is_head = vec![false; graph.n_entries()];
        graph.heads().iter().for_each(|h| is_head[graph.entry_id(*h).index()] = true);
        let mut waiting = vec![Vec::new(); n];
        for (id, node) in graph.iter() {
            node.control_deps.iter().for_each(|dep| waiting[dep.index()].push(id));
        }
        let mut next_taken: Vec<usize> = (0..=n).collect();
        for id in graph.variables() {
            next_taken[id.index()] = id.index() + 1;
        }
        Self {
            reach: request.reach,
            classes: classes(graph, request),
            set_of: (0..n).map(NodeId::new).collect(),
            members: vec![Vec::new(); n],
            places: (0..n).collect(),
            next_taken,
            is_head,
            waiting,
            item_bytes: request.dtypes.iter().map(|dtype| dtype.size_of()).collect(),
            graph,
        }
    }

    /// The representatives of all sets, by position.
    pub fn in_order(&self) -> Vec<NodeId> {
        let mut at: Vec<Option<NodeId>> = vec![None; self.places.len()];
        for (index, set) in self.set_of.iter().enumerate() {
            if set.index() == index {
                at[self.places[index]] = Some(*set);
            }
        }
        at.into_iter().flatten().collect()
    }

    /// The position of a set.
    pub fn place(&self, set: NodeId) -> usize {
        self.places[set.index()]
    }

    /// The nodes of a set, in order.
    pub fn members<'s>(&'s self, set: &'s NodeId) -> &'s [NodeId] {
        match self.members[set.index()].as_slice() {
            [] => std::slice::from_ref(set),
            members => members,
        }
    }

    /// The entries that a set reads, each once, in the order of its calls.
    pub fn inputs(&self, set: NodeId) -> Vec<EntryId> {
        self.inputs_of(self.members(&set), |other| other == set)
    }

    /// The entries of a set that are heads or that nodes outside the set read.
    pub fn outputs(&self, set: NodeId) -> Vec<EntryId> {
        self.outputs_of(self.members(&set), |other| other == set)
    }

    fn inputs_of(&self, members: &[NodeId], is_inside: impl Fn(NodeId) -> bool) -> Vec<EntryId> {
        let mut inputs: Vec<EntryId> = Vec::new();
        for id in members {
            for input in &self.graph.node(*id).inputs {
                let entry = self.graph.entry_id(*input);
                if !is_inside(self.set_of[input.node.index()]) && !inputs.contains(&entry) {
                    inputs.push(entry);
                }
            }
        }
        inputs
    }

    fn outputs_of(&self, members: &[NodeId], is_inside: impl Fn(NodeId) -> bool) -> Vec<EntryId> {
        let is_read_outside = |entry: &EntryId| {
            self.is_head[entry.index()]
                || self.graph.consumers(*entry).iter().any(|(reader, _)| !is_inside(self.set_of[reader.index()]))
        };
        members.iter().flat_map(|id| self.graph.output_ids(*id)).filter(is_read_outside).collect()
    }

    /// The first position from `place` on that a set with calls occupies.
    fn taken_from(&mut self, place: usize) -> usize {
        let mut root = place;
        while self.next_taken[root] != root {
            root = self.next_taken[root];
        }
        let mut at = place;
        while at != root {
            at = std::mem::replace(&mut self.next_taken[at], root);
        }
        root
    }

    /// Merges the sets of two calls, if nothing prevents that.
    fn join(&mut self, a: NodeId, b: NodeId) {
        let (class, other) = (self.classes[a.index()], self.classes[b.index()]);
        let (a, b) = (self.set_of[a.index()], self.set_of[b.index()]);
        if a == b || class.is_none() || class != other {
            return;
        }
        let (early, late) = if self.place(a) < self.place(b) { (a, b) } else { (b, a) };
        let mut members = [self.members(&early), self.members(&late)].concat();
        if members.len() > MAX_CALLS {
            return;
        }
        members.sort_unstable();
        let is_inside = |set: NodeId| set == early || set == late;
        let (inputs, outputs) = (self.inputs_of(&members, is_inside), self.outputs_of(&members, is_inside));
        if outputs.len() > MAX_OUTPUTS || inputs.len() + outputs.len() > MAX_TENSORS {
            return;
        }
        let is_next = self.taken_from(self.place(early) + 1) >= self.place(late);
        let is_free = is_next || self.reach == Reach::Any;
        let may_move = is_next || self.reach != Reach::Neighbors;
        let place = if may_move && self.may_wait(early, late) && (is_free || self.waits_for_free(early, late, &outputs))
        {
            self.place(late)
        } else if may_move && self.may_hurry(late, early) && (is_free || self.hurries_for_free(late, early, &outputs)) {
            self.place(early)
        } else {
            return;
        };
        for vacated in [self.place(early), self.place(late)].into_iter().filter(|p| *p != place) {
            self.next_taken[vacated] = vacated + 1;
        }
        for member in &members {
            self.set_of[member.index()] = early;
        }
        self.members[late.index()] = Vec::new();
        self.members[early.index()] = members;
        self.places[early.index()] = place;
    }

    /// Whether `early` may run at the position of `late`: all other nodes that read `early` or wait for it are after that
    /// position.
    fn may_wait(&self, early: NodeId, late: NodeId) -> bool {
        let limit = self.place(late);
        let is_behind = |reader: &NodeId| {
            let set = self.set_of[reader.index()];
            set == early || set == late || self.place(set) > limit
        };
        let readers_are_behind = |entry: EntryId| {
            let readers = self.graph.consumers(entry);
            readers.len() <= MAX_READERS && readers.iter().all(|(reader, _)| is_behind(reader))
        };
        self.members(&early).iter().all(|id| {
            self.waiting[id.index()].iter().all(is_behind) && self.graph.output_ids(*id).all(readers_are_behind)
        })
    }

    /// Whether `late` may run at the position of `early`: all other nodes that `late` reads or waits for are before that
    /// position.
    fn may_hurry(&self, late: NodeId, early: NodeId) -> bool {
        let limit = self.place(early);
        let is_before = |node: NodeId| {
            let set = self.set_of[node.index()];
            set == early || set == late || self.place(set) < limit
        };
        self.members(&late).iter().all(|id| {
            let node = self.graph.node(*id);
            node.inputs.iter().all(|e| is_before(e.node)) && node.control_deps.iter().all(|dep| is_before(*dep))
        })
    }

    /// The sum of the element sizes of these entries, in bytes.
    fn bytes(&self, entries: impl Iterator<Item = EntryId>) -> usize {
        entries.map(|e| self.item_bytes[e.index()]).sum()
    }

    /// Whether the planner places an entry: it is neither a variable nor a head.
    fn is_planned(&self, entry: EntryId) -> bool {
        !self.is_head[entry.index()] && !self.graph.node(self.graph.entry_at(entry).0).is_variable()
    }

    /// Whether a set outside `pair` reads the entry after position `place`.
    fn is_read_behind(&self, entry: EntryId, place: usize, pair: [NodeId; 2]) -> bool {
        let readers = self.graph.consumers(entry);
        readers.len() <= MAX_READERS
            && readers.iter().any(|(reader, _)| {
                let set = self.set_of[reader.index()];
                !pair.contains(&set) && self.place(set) > place
            })
    }

    /// Whether moving `early` to the position of `late` costs no memory: the inputs of `early` that live longer have at most
    /// as many bytes as the values that are no longer stored between the two sets.
    fn waits_for_free(&self, early: NodeId, late: NodeId, outputs: &[EntryId]) -> bool {
        let by_late = self.inputs(late);
        let is_kept_longer = |entry: &EntryId| {
            let lasts = by_late.contains(entry) || self.is_read_behind(*entry, self.place(late), [early, late]);
            self.is_planned(*entry) && !lasts
        };
        let lost = self.bytes(self.inputs(early).into_iter().filter(is_kept_longer));
        lost <= self.vanished(early, outputs)
    }

    /// Whether moving `late` to the position of `early` costs no memory: the outputs of `late`, which are made earlier,
    /// have at most as many bytes as the values that are no longer stored and the inputs of `late` that can be freed
    /// earlier.
    fn hurries_for_free(&self, late: NodeId, early: NodeId, outputs: &[EntryId]) -> bool {
        let made_earlier = |entry: &&EntryId| self.set_of[self.graph.entry_at(**entry).0.index()] == late;
        let lost = self.bytes(outputs.iter().filter(made_earlier).copied().filter(|e| self.is_planned(*e)));
        let is_freed = |entry: &EntryId| {
            let maker = self.set_of[self.graph.entry_at(*entry).0.index()];
            maker != early
                && self.is_planned(*entry)
                && self.graph.consumers(*entry).len() <= MAX_READERS
                && !self.is_read_behind(*entry, self.place(early), [early, late])
        };
        lost <= self.vanished(early, outputs) + self.bytes(self.inputs(late).into_iter().filter(is_freed))
    }

    /// The sum of the element sizes, in bytes, of those outputs of a set that are not outputs of the merged set.
    fn vanished(&self, set: NodeId, outputs: &[EntryId]) -> usize {
        self.bytes(self.outputs(set).into_iter().filter(|entry| !outputs.contains(entry)))
    }
}
