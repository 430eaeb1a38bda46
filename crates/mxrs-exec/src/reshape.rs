//! Executors for other input shapes that share the arrays of an existing one: MXNet's `Executor.reshape`.

use crate::bind::{Variables, known, seeds};
use crate::executor::Executor;
use crate::freeze::refusal;
use crate::gradients::GradRequests;
use crate::lower::Bound;
use crate::options::BindOptions;
use crate::pipeline::prepare_graph;
use crate::pool::prefix;
use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result, Shape};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Which changes reshaping an executor allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReshapeOptions {
    /// Whether arrays for which no new shape is given may change their shape too.
    pub partial_shaping: bool,
    /// Whether arrays may grow. An array that grows is new and filled with zeros.
    pub allow_up_sizing: bool,
}

impl Executor {
    /// An executor of the same graph for inputs of other shapes. Arrays that keep their shape are shared. An array that
    /// shrinks becomes a view of the beginning of the old array. The same rules apply to gradient arrays. Both executors
    /// share temporaries, so the rules of [`MemoryPool`](crate::MemoryPool) apply to them.
    ///
    /// # Errors
    /// Returns the errors of [`Executor::simple_bind`], or an error in one of these cases:
    /// - An array that `shapes` does not name would change its shape, and [`ReshapeOptions::partial_shaping`] is false.
    /// - An array would grow, and [`ReshapeOptions::allow_up_sizing`] is false.
    /// - The executor is [frozen](Executor::freeze).
    pub fn reshape(&self, shapes: &[(&str, Shape)], options: ReshapeOptions) -> Result<Self> {
        if self.is_frozen {
            return Err(refusal("reshape"));
        }
        let dtypes = self.arrays().iter().map(|(name, array)| (name.clone(), array.dtype())).collect();
        let typed = BindOptions { dtypes, ..self.options.clone() };
        let graph = match &self.source {
            Some(source) => {
                let seeds = seeds(shapes, &[], &typed);
                Arc::new(prepare_graph(source, &seeds, typed.gradients.is_some(), &typed)?.0)
            }
            None => self.graph.clone(),
        };
        let known = known(&graph, shapes, &[], &typed)?;
        let is_named = |name: &str| shapes.iter().any(|(named, _)| *named == name);
        let mut variables = Variables { known, arrays: Vec::new(), bound: FxHashMap::default() };
        let mut gradients = Vec::new();
        for (name, old) in self.arrays() {
            let (Some(old_id), Some(id)) = (self.graph.find(name), graph.find(name)) else { continue };
            let shape = variables.known.shapes[graph.output_id(id, 0).index()].clone();
            if *old.shape() != shape && !is_named(name) && !options.partial_shaping {
                let expected = format!(
                    "{}, as before, because it is not among the shapes given; partial_shaping allows it, and then the \
                     executors have different arrays",
                    old.shape()
                );
                return Err(Error::invalid(format!("shape of `{name}`"), shape, expected));
            }
            if let Some(gradient) = self.gradients().iter().find(|g| g.name == *name) {
                gradients.push((name.clone(), self.resized(name, &gradient.array, &shape, options)?));
            }
            let index = variables.arrays.len();
            variables.arrays.push((name.clone(), self.resized(name, old, &shape, options)?));
            if let Some(bound) = self.variables.bound.get(&old_id) {
                let is_constant = bound.is_constant && !is_named(name);
                variables.bound.insert(id, Bound { index, is_constant });
            }
        }
        let requests = self.options.gradients.clone();
        let gradients = requests.map(|requests| GradRequests { arrays: gradients, ..requests });
        let bind = BindOptions { gradients, ..self.options.clone() };
        let graph = (graph, self.source.clone(), self.output_names.clone());
        Self::assemble(graph, self.arrays.clone(), variables, &self.context, &bind)
    }

    fn resized(&self, name: &str, old: &NdArray, shape: &Shape, options: ReshapeOptions) -> Result<NdArray> {
        if old.shape() == shape {
            return Ok(old.clone());
        }
        if shape.n_elements() <= old.shape().n_elements() {
            return prefix(old, shape);
        }
        if options.allow_up_sizing {
            return NdArray::zeros_on(&self.context, shape.clone(), old.dtype(), old.device());
        }
        let expected = format!(
            "at most the elements of {}: bind the largest shapes first and reshape to smaller ones, which needs no new \
             memory, or set allow_up_sizing",
            old.shape()
        );
        Err(Error::invalid(format!("shape of `{name}`"), shape, expected))
    }
}
