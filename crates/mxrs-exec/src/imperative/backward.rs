//! Computes gradients along the tape. `backward` writes the gradients of marked arrays to their gradient arrays; `grad`
//! returns the gradients of given variables as new arrays.

use super::tape::{Entry, entry_of};
use super::walk::{Head, Walk};
use super::{Imperative, flags};
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_trace::api_call;
use mxrs_types::{Error, Result, ResultExt};

/// How `backward` and `grad` compute gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackwardOptions {
    /// Keep the tape, so that its gradients can be computed again.
    pub retain_graph: bool,
    /// Record the computation of the gradients, so that they can be differentiated. Keeps the tape too.
    pub create_graph: bool,
    /// Run operators as in training.
    pub train_mode: bool,
}

impl Default for BackwardOptions {
    fn default() -> Self {
        Self { retain_graph: false, create_graph: false, train_mode: true }
    }
}

impl Imperative {
    /// Computes the gradients of the heads with respect to every marked array that the heads depend on. Each gradient is
    /// put into the gradient array of the marked array. `head_grads` are the gradients of the heads, in order; `None`
    /// stands for an array of ones, and an empty list for ones for all heads.
    ///
    /// # Errors
    /// Returns an error if a head was not made by a recorded call, or if the heads depend on no marked array. Returns an
    /// error if gradients were computed along this tape before without retaining it, or if a saved value was overwritten.
    /// Returns an error if an operator has no gradient or fails.
    pub fn backward(
        &self,
        heads: &[&NdArray],
        head_grads: &[Option<&NdArray>],
        options: BackwardOptions,
    ) -> Result<()> {
        let _call = api_call("Imperative::backward");
        let _scope = flags::set(options.create_graph, options.train_mode);
        let heads = self.heads(heads, head_grads)?;
        let _bulk = self.context().engine().bulk(self.options().bulk_train_backward);
        self.walk(options).to_marks(&heads).context(|| "computing gradients")
    }

    /// The gradients of the heads with respect to `variables`, as new arrays. The gradient is zero if no head depends on
    /// the variable. The gradient arrays of marked arrays do not change.
    ///
    /// # Errors
    /// Returns an error if a variable is not tracked, and the errors of [`Self::backward`].
    pub fn grad(
        &self,
        heads: &[&NdArray],
        variables: &[&NdArray],
        head_grads: &[Option<&NdArray>],
        options: BackwardOptions,
    ) -> Result<Vec<NdArray>> {
        let _call = api_call("Imperative::grad");
        let _scope = flags::set(options.create_graph, options.train_mode);
        let mut targets = Vec::with_capacity(variables.len());
        for (i, variable) in variables.iter().enumerate() {
            targets.push(entry_of(variable).ok_or_else(|| {
                let expected = "a marked array (attach_grad), or one made by a recorded call";
                Error::invalid(format!("variable {i} of grad"), "an array that is not tracked", expected)
            })?);
        }
        let heads = self.heads(heads, head_grads)?;
        let _bulk = self.context().engine().bulk(self.options().bulk_train_backward);
        let grads = self.walk(options).of(&heads, &targets).context(|| "computing gradients")?;
        let made = grads.into_iter().zip(&targets).map(|(grad, target)| match grad {
            Some(grad) => Ok(grad),
            None => target.desc().zeros(self.context()),
        });
        made.collect()
    }

    fn walk(&self, options: BackwardOptions) -> Walk<'_> {
        let retain = options.retain_graph || options.create_graph;
        Walk { imperative: self, retain, create: options.create_graph, stops_at_targets: false }
    }

    fn heads(&self, heads: &[&NdArray], head_grads: &[Option<&NdArray>]) -> Result<Vec<Head>> {
        if !head_grads.is_empty() && head_grads.len() != heads.len() {
            let expected = format!("{}, one per head, or none", heads.len());
            return Err(Error::invalid("number of head gradients", head_grads.len(), expected));
        }
        let mut found = Vec::with_capacity(heads.len());
        for (i, head) in heads.iter().enumerate() {
            let entry: Entry = entry_of(head).ok_or_else(|| {
                Error::invalid(
                    format!("head {i} of backward"),
                    "an array that no recorded call made",
                    "one computed within autograd::record from marked arrays, and not detached since",
                )
            })?;
            let grad = match head_grads.get(i).copied().flatten() {
                None => {
                    let _off = flags::set(false, flags::is_training());
                    self.invoke("ones_like", &Attrs::new(), &[head])?.swap_remove(0)
                }
                Some(grad) if grad.shape() == head.shape() && grad.dtype() == head.dtype() => grad.clone(),
                Some(grad) => {
                    let got = format!("{} {}", grad.dtype(), grad.shape());
                    let expected = format!("{} {}, as the head", head.dtype(), head.shape());
                    return Err(Error::invalid(format!("gradient of head {i}"), got, expected));
                }
            };
            found.push(Head { entry, grad });
        }
        Ok(found)
    }
}
