//! The training graph of an executor, with its arrays: gradients, and gradients of the heads.

use crate::bind::Variables;
use crate::device::expect_device;
use crate::gradients::BoundGradient;
use crate::graph_passes::gradient;
use crate::options::BindOptions;
use crate::pipeline::{Context, Lowered, Wanted, lower_graph};
use crate::pool::{Arrays, MemoryPool, Role};
use crate::runner::{Limits, Runner};
use mxrs_graph::Graph;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_sync::Mutex;
use mxrs_types::{Error, Result};
use std::sync::Arc;

/// The training graph with the arrays of its gradients and head gradients.
pub struct Training {
    /// The lowered training graph, until [`Self::runner`] takes it. If no gradients are requested, the graph is lowered at
    /// its first run.
    lowered: Mutex<Option<Lowered>>,
    /// For each head, the description of its gradient; `None` if the training graph does not read it.
    wanted_head_grads: Vec<Option<Wanted>>,
    /// The requested gradients.
    pub gradients: Vec<BoundGradient>,
    /// For each head, the array of its gradient; `None` if the training graph does not read it.
    head_grads: Vec<Option<NdArray>>,
}

impl Training {
    /// Differentiates the graph and makes the gradient arrays.
    ///
    /// # Errors
    /// Returns an error if a name belongs to no argument, an operator is not differentiable, or an array has the wrong
    /// shape or dtype.
    pub fn new(graph: &Arc<Graph>, from: &Arrays, variables: &Variables, options: &BindOptions) -> Result<Self> {
        let arguments = options.gradients.as_ref().map(|requests| gradient::arguments(graph, requests)).transpose()?;
        let context = Context::new(options, true, true);
        let lower = || lower_graph(graph, &variables.known, &variables.bound, &context);
        let lowered = arguments.filter(|wanted| !wanted.is_empty()).map(|_| lower()).transpose()?;
        let wanted = lowered.as_ref().map_or(&[][..], |lowered| &lowered.gradients);
        let wanted_head_grads = match &lowered {
            Some(lowered) => lowered.head_grads.clone(),
            None => vec![None; graph.heads().len()],
        };
        let given = options.gradients.as_ref().map_or(&[][..], |requests| &requests.arrays);
        let bind = |wanted: &Wanted| {
            let bound = graph.find(&wanted.name).and_then(|id| variables.bound.get(&id));
            let is_parameter = bound.is_some_and(|bound| bound.is_constant);
            let role = if is_parameter { Role::Gradient } else { Role::PerShape };
            let device = wanted.device.unwrap_or(options.device);
            let array = match given.iter().rev().find(|(name, _)| *name == wanted.name) {
                Some((_, array)) => {
                    expect_like(array, wanted, || format!("gradient array of `{}`", wanted.name), "the argument")?;
                    expect_device(array, device, || format!("the gradient array of `{}`", wanted.name))?;
                    from.give(role, &wanted.name, array);
                    array.clone()
                }
                None if is_parameter => from.get(role, &wanted.name, (&wanted.shape, wanted.dtype), device)?,
                None => {
                    let name = format!("gradient of {}", wanted.name);
                    from.get(role, &name, (&wanted.shape, wanted.dtype), device)?
                }
            };
            Ok(BoundGradient { name: wanted.name.clone(), request: wanted.request, array })
        };
        let gradients = wanted.iter().map(bind).collect::<Result<_>>()?;
        let array = |(head, wanted): (usize, &Option<Wanted>)| {
            let name = format!("gradient of output {head}");
            let on = |w: &Wanted| w.device.unwrap_or(options.device);
            wanted.as_ref().map(|w| from.get(Role::PerShape, &name, (&w.shape, w.dtype), on(w))).transpose()
        };
        let head_grads = wanted_head_grads.iter().enumerate().map(array).collect::<Result<_>>()?;
        Ok(Self { lowered: Mutex::new(lowered), wanted_head_grads, gradients, head_grads })
    }

    /// Makes the runner of the training graph: lowers the graph if that has not been done, and allocates its memory.
    ///
    /// # Errors
    /// Returns an error if no backend runs some operator, or memory runs out.
    pub fn runner(
        &self,
        graph: &Arc<Graph>,
        memory: (&ArrayContext, &MemoryPool),
        variables: &Variables,
        outputs: &[NdArray],
        options: &BindOptions,
    ) -> Result<Runner> {
        let made = self.lowered.lock().take();
        let lowered = match made {
            Some(lowered) => lowered,
            None => {
                let context = Context::new(options, true, true);
                lower_graph(graph, &variables.known, &variables.bound, &context)?
            }
        };
        let arrays = variables.arrays.iter().map(|(_, array)| array.clone());
        let bound = arrays.chain(self.head_grads.iter().flatten().cloned()).collect();
        let outputs = outputs.iter().chain(self.gradients.iter().map(|g| &g.array)).cloned().collect();
        let limits = Limits { forward: options.bulk_train_forward, backward: options.bulk_train_backward };
        Runner::new((lowered.graph, lowered.planned), memory, bound, outputs, limits, options)
    }

    /// Checks that the caller's head gradients match the outputs.
    ///
    /// # Errors
    /// Returns an error if the number of arrays is wrong, or if one has another shape or dtype than its output.
    pub fn check_head_grads(&self, given: &[NdArray]) -> Result<()> {
        let wanted = &self.wanted_head_grads;
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
        for ((wanted, from), to) in wanted.iter().zip(given).zip(&self.head_grads) {
            if let (Some(wanted), Some(to)) = (wanted, to) {
                expect_like(from, wanted, || format!("head gradient of `{}`", wanted.name), "the output")?;
                expect_device(from, to.device(), || format!("the head gradient of `{}`", wanted.name))?;
            }
        }
        Ok(())
    }

    /// Copies the caller's head gradients, which were checked, to the arrays that the training graph reads.
    ///
    /// # Errors
    /// Returns the errors of the engine.
    pub fn set_head_grads(&self, given: &[NdArray]) -> Result<()> {
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
