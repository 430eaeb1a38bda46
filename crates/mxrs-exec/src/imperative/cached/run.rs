//! The gradient of a recorded call of a cached graph.

use super::plan::{Plan, State, push_segments};
use super::replay::replay;
use crate::imperative::tape::{Desc, Entry, History, How, Link, Node, Saved, entry_of};
use crate::imperative::walk::{Head, Walk};
use crate::imperative::{Imperative, flags};
use mxrs_ndarray::{NdArray, RandomCalls};
use mxrs_sync::Mutex;
use mxrs_types::{Error, Result};
use std::sync::Arc;

/// A recorded call whose gradient may still be computed.
pub struct CachedRun {
    plan: Arc<Plan>,
    /// The intermediate values; `None` once a gradient has been computed without retaining the tape.
    state: Mutex<Option<State>>,
    random: RandomCalls,
}

impl CachedRun {
    pub fn new(plan: Arc<Plan>, state: State, random: RandomCalls) -> Self {
        Self { plan, state: Mutex::new(Some(state)), random }
    }

    /// Computes one gradient per input.
    ///
    /// # Errors
    /// Returns an error if a saved value was overwritten, memory runs out, or the engine fails.
    pub fn gradient(
        &self,
        imperative: &Imperative,
        node: &Arc<Node>,
        history: &History,
        wants: &[bool],
        out_grads: Vec<Option<NdArray>>,
        (create, retain): (bool, bool),
    ) -> Result<Vec<Option<NdArray>>> {
        let inputs = self.inputs(imperative, node, history, create)?;
        if create {
            return self.differentiable(imperative, node, history, wants, out_grads, &inputs);
        }
        let outputs = self.outputs(imperative, node, history)?;
        let state = {
            let mut place = self.state.lock();
            let Some(state) = place.take() else {
                return Err(Error::invalid("gradient of a cached graph", "a call without state", "one backward"));
            };
            if retain {
                // The gradient overwrites values that it no longer needs. Therefore it is computed on a copy of the state,
                // so that the tape stays valid for another gradient.
                let copy = state.duplicate(imperative.context());
                *place = Some(state);
                copy?
            } else {
                state
            }
        };
        self.push_backward(imperative, inputs, outputs, out_grads, state)
    }

    /// The outputs of the call that the gradient reads. Returns an error if one of them was overwritten. An empty array
    /// stands for each output that the gradient does not read.
    fn outputs(&self, imperative: &Imperative, node: &Arc<Node>, history: &History) -> Result<Vec<NdArray>> {
        let is_checked = imperative.checks_versions();
        let get = |(i, saved): (usize, &Option<Saved>)| match saved {
            None => Ok(imperative.void().clone()),
            Some(saved) => Ok(saved.get(node, is_checked, || format!("output {i}"))?.clone()),
        };
        history.outputs.iter().enumerate().map(get).collect()
    }

    /// The inputs of the call. Returns an error if an input that the gradient reads was overwritten. With `all`, this check
    /// covers every argument.
    fn inputs(&self, imperative: &Imperative, node: &Arc<Node>, history: &History, all: bool) -> Result<Vec<NdArray>> {
        let mut inputs = Vec::with_capacity(history.inputs.len());
        for (i, link) in history.inputs.iter().enumerate() {
            let id = self.plan.graph.variables()[i];
            let matters = self.plan.reads.contains(&i) || (all && !self.plan.graph.is_aux_state(id));
            let is_checked = imperative.checks_versions() && matters;
            let Some(saved) = &link.saved else {
                return Err(Error::invalid("gradient of a cached graph", "an input that was not kept", "all inputs"));
            };
            let name = || format!("input `{}`", self.plan.graph.node(id).name);
            inputs.push(saved.get(node, is_checked, name)?.clone());
        }
        Ok(inputs)
    }

    fn push_backward(
        &self,
        imperative: &Imperative,
        inputs: Vec<NdArray>,
        mut outputs: Vec<NdArray>,
        out_grads: Vec<Option<NdArray>>,
        mut state: State,
    ) -> Result<Vec<Option<NdArray>>> {
        let (plan, context) = (&*self.plan, imperative.context());
        let n_inputs = inputs.len();
        let mut bound = inputs;
        for (wanted, grad) in plan.head_grads.iter().zip(out_grads) {
            let Some(wanted) = wanted else { continue };
            let zeros = || NdArray::zeros_on(context, wanted.shape.clone(), wanted.dtype, plan.device());
            let grad = grad.map_or_else(zeros, Ok)?;
            let is_aligned = crate::imperative::invoke::is_aligned(&grad);
            bound.push(if is_aligned { grad } else { imperative.copy(&grad)? });
        }
        let mut grads = vec![None; n_inputs];
        for (input, wanted) in &plan.gradients {
            let (shape, device) = (wanted.shape.clone(), plan.device());
            let grad = NdArray::empty(context, shape, wanted.dtype, device, "gradient of a cached graph")?;
            outputs.push(grad.clone());
            grads[*input] = Some(grad);
        }
        let team = imperative.options().team.clone();
        let (ready, _) = state.ready(plan, true, bound.clone(), outputs.clone(), team);
        push_segments(
            (context.engine(), plan.device()),
            &plan.backward,
            Arc::new(ready),
            &state,
            &bound,
            &outputs,
            self.random,
        )?;
        plan.give_back(state);
        Ok(grads)
    }

    /// Computes the gradient as recorded calls: runs the graph again operator by operator and differentiates along the tape
    /// of this second run. The second run draws the same random numbers and does not rewrite auxiliary states.
    fn differentiable(
        &self,
        imperative: &Imperative,
        node: &Arc<Node>,
        history: &History,
        wants: &[bool],
        out_grads: Vec<Option<NdArray>>,
        inputs: &[NdArray],
    ) -> Result<Vec<Option<NdArray>>> {
        // Each input becomes a new node of the tape. Thus an input that was computed from another input, outside the graph,
        // counts as independent of it: the gradient through that computation is not part of the gradient of this call.
        let mut handles = Vec::with_capacity(inputs.len());
        for (array, link) in inputs.iter().zip(&history.inputs) {
            let handle = array.detach();
            if let Some(from) = &link.from {
                let link = Link { from: Some(from.clone()), desc: Desc::of(array), saved: None };
                let history = History { how: How::Reshape, inputs: vec![link], outputs: vec![None] };
                let made = std::slice::from_ref(&handle);
                Node::record("an input of a cached graph", node.site, vec![Desc::of(array)], history, made);
            }
            handles.push(handle);
        }
        let outputs = {
            let _scope = flags::set(true, self.plan.is_train);
            replay(imperative, &self.plan.graph, &handles, Some(self.random), node.site)?
        };
        let mut heads = Vec::new();
        for (output, grad) in outputs.iter().zip(out_grads) {
            if let (Some(entry), Some(grad)) = (entry_of(output), grad) {
                heads.push(Head { entry, grad });
            }
        }
        let wanted: Vec<(usize, Entry)> = (0..handles.len())
            .filter(|i| wants[*i])
            .filter_map(|i| entry_of(&handles[i]).map(|entry| (i, entry)))
            .collect();
        let targets: Vec<Entry> = wanted.iter().map(|(_, entry)| entry.clone()).collect();
        let walk = Walk { imperative, retain: true, create: true, stops_at_targets: true };
        let found = walk.of(&heads, &targets)?;
        let mut grads = vec![None; handles.len()];
        for ((i, _), grad) in wanted.into_iter().zip(found) {
            grads[i] = grad;
        }
        Ok(grads)
    }
}

impl Drop for CachedRun {
    fn drop(&mut self) {
        if let Some(state) = self.state.get_mut().take() {
            self.plan.give_back(state);
        }
    }
}
