//! A pattern over the smooth test operators, and graphs in which to search for it.

use super::{Partitioned, Partitioning, partition};
use crate::test_ops::smooth;
use crate::{Entry, Graph, GraphBuilder, NodeId, constant_nodes};
use mxrs_op::{Attrs, Member, NewCall, OpSet, Operand, Pattern, Proposal, Stage, TensorDesc};
use mxrs_types::DType;

fn replace(chain: &[Member<'_>]) -> Option<Vec<NewCall>> {
    let input = |member, position| Operand::Input { member, position };
    let mut inputs = vec![input(0, 0), input(0, 1), input(0, 2)];
    let mut calls = Vec::new();
    let mut op = String::from("Scale");
    for (i, member) in chain.iter().enumerate() {
        match member.stage {
            "shift" => {
                let fold = vec![inputs[2], input(i, 1)];
                inputs[2] = Operand::Made(calls.len());
                calls.push(NewCall { op: "Sub", suffix: "_folded", attrs: Attrs::new(), inputs: fold });
            }
            "sum" => {
                op.push_str("Sum");
                inputs.push(input(i, 1 - member.entered_by));
            }
            "act" => op.push_str("Tanh"),
            _ => {}
        }
    }
    let op = ["Scale", "ScaleTanh", "ScaleSum", "ScaleSumTanh"].into_iter().find(|name| *name == op)?;
    calls.push(NewCall { op, suffix: "", attrs: Attrs::new(), inputs });
    Some(calls)
}

/// `Scale`, followed by a constant shift, a sum and a tanh.
pub fn pattern() -> Pattern {
    Pattern {
        name: "scale",
        seed: Stage::of("scale", &["Scale"]),
        then: vec![
            Stage {
                accepts: |chain, call| {
                    call.is_constant[1] && chain.iter().all(|m| m.is_constant[1] && m.is_constant[2])
                },
                ..Stage::of("shift", &["Shift"])
            },
            Stage { enters_by: &[0, 1], ..Stage::of("sum", &["Add"]) },
            Stage::of("act", &["Tanh"]),
        ],
        replace,
    }
}

/// Partitions a graph; variables whose names begin with `c` are constants.
pub fn partitioned_with(
    graph: &Graph,
    ops: &OpSet,
    patterns: &[Pattern],
    accept: &dyn Fn(&Proposal<'_>) -> bool,
) -> Partitioned {
    let descs = vec![TensorDesc::dense([3], DType::F64); graph.n_entries()];
    let is_constant = constant_nodes(graph, false, |id| graph.node(id).name.starts_with('c'));
    let with = Partitioning {
        patterns,
        ops,
        descs: &descs,
        is_constant: &is_constant,
        accept: &|proposal, _| accept(proposal),
    };
    partition(graph, &with).expect("a graph that can be partitioned")
}

/// Does the same as [`partitioned_with`] with [`pattern`], and accepts every proposal.
pub fn partitioned(graph: &Graph) -> Partitioned {
    partitioned_with(graph, &smooth::set(), &[pattern()], &|_| true)
}

/// Builds a graph from calls, each given by operator, name and names of the inputs. A name that belongs to no call is that
/// of a variable.
pub struct Net {
    builder: GraphBuilder,
    ops: OpSet,
    names: Vec<(String, NodeId)>,
}

impl Net {
    pub fn new() -> Self {
        Self { builder: GraphBuilder::new(), ops: smooth::set(), names: Vec::new() }
    }

    fn entry(&mut self, name: &str) -> Entry {
        let found = self.names.iter().find(|(known, _)| known == name).map(|(_, id)| *id);
        let id = found.unwrap_or_else(|| {
            let id = self.builder.add_variable(name, Attrs::new());
            self.names.push((name.into(), id));
            id
        });
        Entry::new(id, 0)
    }

    /// Adds a call that also waits for the nodes `deps`, without reading them.
    pub fn call_after(&mut self, op: &str, name: &str, inputs: &[&str], deps: &[&str]) -> NodeId {
        let inputs = inputs.iter().map(|input| self.entry(input)).collect();
        let id = self.builder.add_op(self.ops.get(op).unwrap(), name, Attrs::new(), inputs).unwrap();
        let deps: Vec<NodeId> = deps.iter().map(|dep| self.entry(dep).node).collect();
        self.builder.add_control_deps(id, &deps).unwrap();
        self.names.push((name.into(), id));
        id
    }

    pub fn call(&mut self, op: &str, name: &str, inputs: &[&str]) -> NodeId {
        self.call_after(op, name, inputs, &[])
    }

    /// Adds a `Scale` of `data`, whose weight and bias are new constants.
    pub fn scale(&mut self, name: &str, data: &str) -> NodeId {
        self.call("Scale", name, &[data, &format!("c{name}_weight"), &format!("c{name}_bias")])
    }

    pub fn heads(mut self, heads: &[&str]) -> Graph {
        let heads = heads.iter().map(|head| self.entry(head)).collect();
        self.builder.set_heads(heads);
        self.builder.build().unwrap()
    }
}

/// For each call: its kind, two operands, and whether it waits for some node without reading it.
pub type Choices = Vec<(u8, u16, u16, bool)>;

/// A random graph in which chains of the pattern are common; it also has forks, inner heads and control dependencies.
pub fn random_graph(choices: &Choices, heads: &[u16]) -> Graph {
    let ops = smooth::set();
    let mut b = GraphBuilder::new();
    let mut made: Vec<Entry> = ["x0", "x1"].map(|name| Entry::new(b.add_variable(name, Attrs::new()), 0)).to_vec();
    for (i, (kind, first, second, waits)) in choices.iter().enumerate() {
        // Every fourth kind adds a whole chain, any part of which other calls may also read.
        let kinds = if kind % 4 == 3 { vec![0, 2 + 2 * (first % 2), 4, 5] } else { vec![u16::from(*kind) / 4 % 8] };
        for (k, kind) in kinds.into_iter().enumerate() {
            // Most calls read the newest value, so that chains grow.
            let is_newest = first % 4 != 0 || k > 0;
            let at = if is_newest { made.len() - 1 } else { *first as usize / 4 % made.len() };
            let (p, q) = (made[at], made[*second as usize % made.len()]);
            let mut fresh = |name: &str| Entry::new(b.add_variable(format!("{name}{i}_{k}"), Attrs::new()), 0);
            let (op, inputs) = match kind {
                0 | 1 => ("Scale", vec![p, fresh("cw"), fresh("cb")]),
                // In half of the cases, the mean that `Shift` subtracts is a constant.
                2 => ("Shift", vec![p, fresh(if second % 2 == 0 { "cm" } else { "m" })]),
                3 => ("Add", vec![q, p]),
                4 => ("Add", vec![p, q]),
                5 => ("Tanh", vec![p]),
                6 => ("Sin", vec![p]),
                _ => ("Noise", vec![p]),
            };
            let id = b.add_op(ops.get(op).unwrap(), format!("n{i}_{k}"), Attrs::new(), inputs).unwrap();
            if *waits && second % 8 == 0 {
                b.add_control_deps(id, &[q.node]).unwrap();
            }
            made.push(Entry::new(id, 0));
        }
    }
    let mut list: Vec<Entry> = heads.iter().map(|h| made[*h as usize % made.len()]).collect();
    list.push(made[made.len() - 1]);
    b.set_heads(list);
    b.build().unwrap()
}
