//! The replacement of a chain: [`Emission::propose`] makes and checks it, [`Emission::emit`] adds it to the new graph.

use super::grow::ChainCall;
use super::{Partitioning, Rewrite, UniqueNames};
use crate::{Entry, Graph, NodeId};
use mxrs_op::{Member, NewCall, OpCall, OpDef, OpParams, Operand, Pattern, Proposal, TensorDesc};
use mxrs_types::{Error, PartialShape, Result};
use std::sync::Arc;

/// A new call with everything that is known about it.
struct Planned {
    call: NewCall,
    op: Arc<OpDef>,
    params: OpParams,
    outputs: Vec<TensorDesc>,
    is_constant: bool,
}

/// An accepted replacement.
pub struct Emission {
    pub pattern: &'static str,
    pub members: Vec<NodeId>,
    calls: Vec<Planned>,
}

impl Emission {
    /// The replacement of `chain`. `None` if the pattern offers no replacement, if the outputs of the replacement differ
    /// from those of the chain, or if the request does not accept the replacement.
    pub fn propose(
        graph: &Graph,
        with: &Partitioning<'_>,
        pattern: &Pattern,
        chain: &[ChainCall],
    ) -> Result<Option<Self>> {
        let members: Vec<Member<'_>> = chain.iter().filter_map(|call| call.member(graph)).collect();
        let Some(new) = (pattern.replace)(&members) else { return Ok(None) };
        let mut calls: Vec<Planned> = Vec::with_capacity(new.len());
        let mut of_last = None;
        for call in new {
            let (mut inputs, mut is_constant) = (Vec::new(), Vec::new());
            for operand in &call.inputs {
                let (desc, constant) = describe(*operand, chain, &members, &calls, pattern)?;
                inputs.push(desc);
                is_constant.push(constant);
            }
            let op = with.ops.get(call.op)?.clone();
            let params = op.parse(&call.attrs)?;
            let Some(outputs) = outputs(&op, &params, &inputs)? else { return Ok(None) };
            let constant = is_constant.iter().all(|c| *c);
            calls.push(Planned { call, op, params, outputs, is_constant: constant });
            of_last = Some((inputs, is_constant));
        }
        let (Some(last), Some((inputs, is_constant)), Some(end)) = (calls.last(), of_last, members.last()) else {
            return Ok(None);
        };
        // The first output of the replacement must have the shape and type of the chain's output. Other outputs must too if
        // they are read.
        let is_read = |i: usize| i == 0 || chain.last().is_some_and(|call| call.is_read.get(i) == Some(&true));
        let is_same = |i: usize| !is_read(i) || last.outputs.get(i) == end.outputs.get(i);
        if !(0..end.outputs.len()).all(is_same) {
            return Ok(None);
        }
        let call = OpCall {
            op: &last.op,
            params: &last.params,
            inputs: &inputs,
            outputs: &last.outputs,
            is_constant: &is_constant,
            is_train: false,
        };
        // All calls but the last prepare operands, such as a folded weight. The replacement pays off only if they depend on
        // constants alone, because then they run once and not in every run.
        let device = chain.last().and_then(|call| graph.node(call.id).device);
        let prepares_once = calls.iter().rev().skip(1).all(|c| c.is_constant);
        let is_wanted = prepares_once && (with.accept)(&Proposal { pattern, members: &members, call }, device);
        let members = chain.iter().map(|call| call.id).collect();
        Ok(is_wanted.then_some(Self { pattern: pattern.name, members, calls }))
    }

    /// The call of the chain whose position the replacement takes, and the other calls of the chain, which are removed.
    pub fn last_and_inner(&self) -> (NodeId, &[NodeId]) {
        match self.members.split_last() {
            Some((last, inner)) => (*last, inner),
            // Never reached, because a chain has at least two calls.
            None => (NodeId(0), &[]),
        }
    }

    /// Adds the calls to the new graph, and the descriptions of their outputs to `made`. The last added call has the name of
    /// the chain's last call, so that outputs keep their names. It waits for everything that any call of the chain waited
    /// for.
    pub fn emit(
        &self,
        graph: &Graph,
        rewrite: &mut Rewrite<'_>,
        names: &mut UniqueNames,
        made: &mut Vec<Vec<TensorDesc>>,
    ) -> Result<NodeId> {
        let (end, _) = self.last_and_inner();
        let seed = self.members.first().copied().unwrap_or(end);
        let mut added: Vec<NodeId> = Vec::with_capacity(self.calls.len());
        for (i, planned) in self.calls.iter().enumerate() {
            let is_last = i + 1 == self.calls.len();
            let entry = |operand: &Operand| match *operand {
                Operand::Input { member, position } => rewrite.entry(graph.node(self.members[member]).inputs[position]),
                Operand::Made(index) => Entry::new(added[index], 0),
            };
            let inputs = planned.call.inputs.iter().map(entry).collect();
            let name = match is_last {
                true => graph.node(end).name.clone(),
                false => names.take(format!("{}{}", graph.node(seed).name, planned.call.suffix)),
            };
            let node = rewrite.out.add_op(&planned.op, name, planned.call.attrs.clone(), inputs)?;
            rewrite.out.set_device(node, graph.node(end).device)?;
            made.push(planned.outputs.clone());
            added.push(node);
            if is_last {
                let mut deps: Vec<NodeId> = Vec::new();
                for dep in self.members.iter().flat_map(|id| &graph.node(*id).control_deps) {
                    let dep = rewrite.id(*dep);
                    if !deps.contains(&dep) {
                        deps.push(dep);
                    }
                }
                rewrite.out.add_control_deps(node, &deps)?;
                rewrite.merge(end, node);
            }
        }
        Ok(rewrite.id(end))
    }
}

/// The shape and type of an input of a new call, and whether it is constant.
fn describe(
    operand: Operand,
    chain: &[ChainCall],
    members: &[Member<'_>],
    calls: &[Planned],
    pattern: &Pattern,
) -> Result<(TensorDesc, bool)> {
    let found = match operand {
        Operand::Input { member, position } => members.get(member).and_then(|m| {
            // A replacement cannot read a value that is made inside the chain.
            let is_inner = chain.get(member).is_some_and(|call| call.is_inner(position));
            let desc = (!is_inner).then(|| m.inputs.get(position)).flatten()?;
            Some((desc.clone(), m.is_constant.get(position).copied()?))
        }),
        Operand::Made(index) => calls.get(index).and_then(|c| Some((c.outputs.first()?.clone(), c.is_constant))),
    };
    found.ok_or_else(|| {
        let expected = "an input of the chain, or a call before";
        Error::invalid(format!("operand of pattern `{}`", pattern.name), format!("{operand:?}"), expected)
    })
}

/// The shapes and types of a call's outputs; `None` if they do not follow from its inputs.
fn outputs(op: &OpDef, params: &OpParams, inputs: &[TensorDesc]) -> Result<Option<Vec<TensorDesc>>> {
    let n_outputs = op.n_outputs.get(params);
    if inputs.len() != op.n_inputs(params) {
        return Err(Error::invalid(
            format!("inputs of a new {}", op.name),
            inputs.len(),
            op.n_inputs(params).to_string(),
        ));
    }
    let mut in_shapes: Vec<PartialShape> = inputs.iter().map(|d| PartialShape::from(&d.shape)).collect();
    let mut out_shapes = vec![PartialShape::unknown(); n_outputs];
    op.infer_shapes(params, &mut in_shapes, &mut out_shapes)?;
    let mut in_types: Vec<_> = inputs.iter().map(|d| Some(d.dtype)).collect();
    let mut out_types = vec![None; n_outputs];
    op.infer_dtypes(params, &mut in_types, &mut out_types)?;
    let descs = out_shapes.iter().zip(out_types).map(|(s, t)| Some(TensorDesc::dense(s.known()?, t?)));
    Ok(descs.collect())
}
