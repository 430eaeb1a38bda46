//! The arrays of the training side of a bound graph: gradients, and gradients of the heads.

use crate::bind::Variables;
use crate::gradients::BoundGradient;
use crate::joined::{Joined, Wanted};
use crate::options::BindOptions;
use crate::runner::{Limits, Runner};
use mxrs_graph::Graph;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_types::{Error, Result};
use std::sync::Arc;

/// The joined graph with arrays for what it computes and reads.
pub struct Training {
    joined: Joined,
    /// The gradients asked for.
    pub gradients: Vec<BoundGradient>,
    /// Array of each head's gradient, where the gradient graph reads one.
    head_grads: Vec<Option<NdArray>>,
}

impl Training {
    /// Differentiates the graph and makes the gradient arrays.
    ///
    /// # Errors
    /// Names no argument has, an operator that is not differentiable, an array of the wrong shape or dtype.
    pub fn new(
        graph: &Arc<Graph>,
        context: &ArrayContext,
        variables: &Variables,
        options: &BindOptions,
    ) -> Result<Self> {
        let joined = Joined::new(graph, &variables.known, &variables.bound, options, true)?;
        let given = options.gradients.as_ref().map_or(&[][..], |requests| &requests.arrays);
        let bind = |wanted: &Wanted| {
            let array = match given.iter().rev().find(|(name, _)| *name == wanted.name) {
                Some((_, array)) => {
                    expect_like(array, wanted, || format!("gradient array of `{}`", wanted.name), "the argument")?;
                    array.clone()
                }
                None => NdArray::zeros(context, wanted.shape.clone(), wanted.dtype)?,
            };
            Ok(BoundGradient { name: wanted.name.clone(), request: wanted.request, array })
        };
        let gradients = joined.gradients.iter().map(bind).collect::<Result<_>>()?;
        let array = |wanted: &Option<Wanted>| {
            wanted.as_ref().map(|w| NdArray::zeros(context, w.shape.clone(), w.dtype)).transpose()
        };
        let head_grads = joined.head_grads.iter().map(array).collect::<Result<_>>()?;
        Ok(Self { joined, gradients, head_grads })
    }

    /// Lowers, plans and allocates.
    ///
    /// # Errors
    /// No backend runs some operator; out of memory.
    pub fn runner(
        &self,
        context: &ArrayContext,
        variables: &Variables,
        outputs: &[NdArray],
        options: &BindOptions,
    ) -> Result<Runner> {
        let program = self.joined.lower(options)?;
        let arrays = variables.arrays.iter().map(|(_, array)| array.clone());
        let bound = arrays.chain(self.head_grads.iter().flatten().cloned()).collect();
        let outputs = outputs.iter().chain(self.gradients.iter().map(|g| &g.array)).cloned().collect();
        let limits = Limits { forward: options.bulk_train_forward, backward: options.bulk_train_backward };
        Runner::new(program, context, bound, outputs, limits, options)
    }

    /// Copies the caller's head gradients to where the gradient graph reads them.
    ///
    /// # Errors
    /// Too few or too many, or another shape or dtype than the output's.
    pub fn set_head_grads(&self, given: &[NdArray]) -> Result<()> {
        let wanted = &self.joined.head_grads;
        if given.is_empty() {
            let Some(needed) = wanted.iter().flatten().next() else { return Ok(()) };
            return Err(Error::invalid(
                format!("head gradient of `{}`", needed.name),
                "none",
                "one array per output, because this output is not a loss",
            ));
        }
        if given.len() != wanted.len() {
            let expected = format!("{}, one per output", wanted.len());
            return Err(Error::invalid("number of head gradients", given.len(), expected));
        }
        for (wanted, from) in wanted.iter().zip(given) {
            if let Some(wanted) = wanted {
                expect_like(from, wanted, || format!("head gradient of `{}`", wanted.name), "the output")?;
            }
        }
        for (to, from) in self.head_grads.iter().zip(given) {
            if let Some(to) = to {
                to.copy_from_array(from)?;
            }
        }
        Ok(())
    }
}

fn expect_like(array: &NdArray, wanted: &Wanted, what: impl Fn() -> String, as_what: &str) -> Result<()> {
    if *array.shape() == wanted.shape && array.dtype() == wanted.dtype {
        return Ok(());
    }
    let got = format!("{} {}", array.dtype(), array.shape());
    Err(Error::invalid(what(), got, format!("{} {}, as {as_what}", wanted.dtype, wanted.shape)))
}
