//! Functions with a gradient that the user writes.

use super::flags;
use super::invoke::{Imperative, is_tracked};
use super::tape::{Desc, Entry, History, How, Link, Node, Saved};
use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result, ResultExt};
use std::panic::Location;
use std::sync::Arc;

type Forward = dyn Fn(&[NdArray]) -> Result<Vec<NdArray>> + Send + Sync;
type Backward = dyn Fn(&FunctionCall) -> Result<Vec<NdArray>> + Send + Sync;

/// The arguments of the backward closure of a [`Function`].
pub struct FunctionCall {
    /// The inputs of the call.
    pub inputs: Vec<NdArray>,
    /// The outputs that `forward` returned for these inputs.
    pub outputs: Vec<NdArray>,
    /// The gradients of the outputs. The gradient of an output that no head depends on is zero.
    pub out_grads: Vec<NdArray>,
}

/// A function of arrays whose forward and gradient are two closures.
#[derive(Clone)]
pub struct Function {
    name: Arc<str>,
    forward: Arc<Forward>,
    backward: Arc<Backward>,
}

/// The part of a [`Function`] that the tape keeps for a recorded call.
pub struct Recorded {
    pub backward: Arc<Backward>,
}

impl Function {
    /// `forward` makes the outputs and runs with recording off. `backward` makes one gradient per input. Both closures run
    /// on the calling thread and may wait for arrays.
    pub fn new(
        name: &str,
        forward: impl Fn(&[NdArray]) -> Result<Vec<NdArray>> + Send + Sync + 'static,
        backward: impl Fn(&FunctionCall) -> Result<Vec<NdArray>> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), forward: Arc::new(forward), backward: Arc::new(backward) }
    }

    /// Calls the function. A recorded call is one node of the tape.
    ///
    /// # Errors
    /// Returns the error of `forward`.
    #[track_caller]
    pub fn call(&self, inputs: &[&NdArray]) -> Result<Vec<NdArray>> {
        let site = Location::caller();
        let is_recorded = flags::is_recording() && inputs.iter().any(|a| is_tracked(a));
        let plain: Vec<NdArray> = inputs.iter().map(|a| a.detach()).collect();
        let made = {
            let _off = flags::set(false, flags::is_training());
            (self.forward)(&plain).context(|| format!("running `{}`", self.name))?
        };
        // `forward` may return an input, or an array that it keeps. The tape uses new handles, so that those arrays stay
        // untracked.
        let made: Vec<NdArray> = made.iter().map(NdArray::detach).collect();
        if is_recorded {
            let history = History {
                how: How::Function(Recorded { backward: self.backward.clone() }),
                inputs: inputs.iter().map(|a| Link::saved(a)).collect(),
                outputs: made.iter().map(|a| Some(Saved::new(a))).collect(),
            };
            Node::record(&self.name, site, made.iter().map(Desc::of).collect(), history, &made);
        }
        Ok(made)
    }
}

impl Recorded {
    /// Runs the backward closure.
    ///
    /// # Errors
    /// Returns the error of the closure, or an error if the number, a shape or a type of the gradients does not match the
    /// inputs.
    pub fn gradient(
        &self,
        imperative: &Imperative,
        node: &Arc<Node>,
        history: &History,
        out_grads: Vec<Option<NdArray>>,
        create: bool,
    ) -> Result<Vec<Option<NdArray>>> {
        let is_checked = imperative.checks_versions();
        let on = |array: &NdArray, entry: Option<Entry>| match entry.filter(|_| create) {
            Some(entry) => entry.on(array),
            None => array.clone(),
        };
        let mut call = FunctionCall { inputs: Vec::new(), outputs: Vec::new(), out_grads: Vec::new() };
        for (i, link) in history.inputs.iter().enumerate() {
            let Some(saved) = &link.saved else { continue };
            let array = saved.get(node, is_checked, || format!("input {i}"))?;
            call.inputs.push(on(array, link.from.clone()));
        }
        for (index, saved) in history.outputs.iter().enumerate() {
            let Some(saved) = saved else { continue };
            let array = saved.get(node, is_checked, || format!("output {index}"))?;
            call.outputs.push(on(array, Some(Entry { node: node.clone(), index })));
        }
        for (grad, desc) in out_grads.into_iter().zip(&node.outputs) {
            let zeros = || desc.zeros(imperative.context());
            call.out_grads.push(grad.map_or_else(zeros, Ok)?);
        }
        let grads = (self.backward)(&call)?;
        if grads.len() != history.inputs.len() {
            let expected = format!("one per input, {}", history.inputs.len());
            return Err(Error::invalid("number of gradients", grads.len(), expected));
        }
        for (i, (grad, link)) in grads.iter().zip(&history.inputs).enumerate() {
            if *grad.shape() != link.desc.shape || grad.dtype() != link.desc.dtype {
                let expected = format!("{} {}, as the input", link.desc.dtype, link.desc.shape);
                let got = format!("{} {}", grad.dtype(), grad.shape());
                return Err(Error::invalid(format!("gradient of input {i}"), got, expected));
            }
        }
        Ok(grads.into_iter().map(Some).collect())
    }
}
