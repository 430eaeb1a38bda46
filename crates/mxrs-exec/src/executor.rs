//! The bound graph.

use crate::bind::{Missing, variables};
use crate::lower::lower;
use crate::machine::Machine;
use crate::options::BindOptions;
use crate::program::{Origin, Program};
use crate::report::{ExecutorReport, StepReport, step_reports};
use indexmap::IndexMap;
use mxrs_engine::{Engine, Var};
use mxrs_graph::Graph;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_types::{Device, Error, Result, Shape};
use std::sync::Arc;

/// A graph with arrays, kernels and memory: MXNet's executor, for inference.
///
/// Outputs are the same arrays at every forward. `forward` returns at once; reading an output waits for it and delivers
/// errors.
pub struct Executor {
    machine: Option<Arc<Machine>>,
    /// Held for writing by every run: the arena and the packed constants belong to one run at a time.
    machine_var: Var,
    engine: Engine,
    arrays: Vec<(String, NdArray)>,
    outputs: Vec<NdArray>,
    output_names: Vec<String>,
    is_bulk: bool,
    steps: Vec<StepReport>,
}

impl Executor {
    /// Binds with shapes of the inputs only: every other variable gets an array of zeros that the caller fills.
    ///
    /// # Errors
    /// Unknown names, contradictory or unresolved shapes, an operator no backend runs, out of memory.
    pub fn simple_bind(
        graph: &Graph,
        context: &ArrayContext,
        inputs: &[(&str, Shape)],
        options: &BindOptions,
    ) -> Result<Self> {
        Self::build(graph, context, inputs, &IndexMap::new(), Missing::Allocate, options)
    }

    /// Binds to existing parameter arrays (arguments and auxiliary states by name; extra names are ignored). The inputs
    /// listed get arrays of their own; labels that inference ignores need not be given.
    ///
    /// # Errors
    /// As [`Self::simple_bind`]; parameters that are missing or have another shape.
    pub fn bind(
        graph: &Graph,
        context: &ArrayContext,
        inputs: &[(&str, Shape)],
        params: &IndexMap<String, NdArray>,
        options: &BindOptions,
    ) -> Result<Self> {
        Self::build(graph, context, inputs, params, Missing::Refuse, options)
    }

    fn build(
        graph: &Graph,
        context: &ArrayContext,
        inputs: &[(&str, Shape)],
        params: &IndexMap<String, NdArray>,
        missing: Missing,
        options: &BindOptions,
    ) -> Result<Self> {
        let v = variables(graph, context, inputs, params, missing, options)?;
        let program = lower(graph, &v.shapes, &v.dtypes, &v.bound, options)?;
        let outputs = output_arrays(&program, context)?;
        let bound = v.arrays.iter().map(|(_, array)| array.clone()).collect();
        let machine = Machine::new(&program, context, bound, outputs.clone(), options.team.clone(), &options.plan)?;
        Ok(Self {
            machine: Some(Arc::new(machine)),
            machine_var: context.engine().new_var(),
            engine: context.engine().clone(),
            arrays: v.arrays,
            outputs,
            output_names: graph.output_names(),
            is_bulk: options.bulk_inference,
            steps: step_reports(&program),
        })
    }

    /// The array of an argument or auxiliary state.
    ///
    /// # Errors
    /// A name the graph does not have.
    pub fn argument(&self, name: &str) -> Result<&NdArray> {
        self.arrays.iter().find(|(n, _)| n == name).map(|(_, array)| array).ok_or_else(|| {
            let known: Vec<&str> = self.arrays.iter().map(|(n, _)| n.as_str()).take(12).collect();
            Error::invalid("argument name", name, format!("one of {}, …", known.join(", ")))
        })
    }

    /// Every bound array with its name, in graph order, auxiliary states included.
    pub fn arrays(&self) -> &[(String, NdArray)] {
        &self.arrays
    }

    /// The outputs; the same arrays at every forward.
    pub fn outputs(&self) -> &[NdArray] {
        &self.outputs
    }

    /// Names of the outputs.
    pub fn output_names(&self) -> &[String] {
        &self.output_names
    }

    /// Pushes one run. Under `NaiveEngine` it happens before this returns.
    ///
    /// # Errors
    /// Under `NaiveEngine` what a kernel reports; otherwise errors surface when an output is read.
    pub fn forward(&self) -> Result<()> {
        let Some(machine) = &self.machine else { return Ok(()) };
        if self.is_bulk {
            let machine = machine.clone();
            return self.push("forward", move || machine.run());
        }
        let first = machine.clone();
        if machine.has_prepare() {
            self.push("prepare", move || first.prepare())?;
        }
        for index in 0..machine.n_steps() {
            let machine = machine.clone();
            self.push(self.step_name(index), move || machine.run_step(index))?;
        }
        Ok(())
    }

    fn step_name(&self, index: usize) -> &str {
        self.steps.iter().filter(|s| !s.is_prepare).nth(index).map_or("step", |s| s.name.as_str())
    }

    fn push(&self, name: &str, run: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
        self.engine
            .task(name.to_owned())
            .device(Device::cpu(0))
            .reads(self.arrays.iter().map(|(_, array)| array.var()))
            .writes(self.outputs.iter().map(NdArray::var))
            .write(&self.machine_var)
            .push(move |_| run())
    }

    /// What was decided at binding.
    pub fn report(&self) -> Option<ExecutorReport> {
        let machine = self.machine.as_ref()?;
        Some(ExecutorReport {
            steps: self.steps.clone(),
            plan: machine.plan.report.clone(),
            arena_bytes: machine.arena_bytes,
            packed_bytes: machine.packed_bytes,
        })
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        // The machine's memory goes after the last pending run.
        if let Some(machine) = self.machine.take() {
            self.engine.delete_var(self.machine_var.clone(), move || drop(machine));
        }
    }
}

fn output_arrays(program: &Program, context: &ArrayContext) -> Result<Vec<NdArray>> {
    let array = |(index, &value): (usize, &usize)| {
        let v = &program.values[value];
        debug_assert_eq!(v.origin, Origin::Output(index), "every output value writes its own array");
        NdArray::zeros(context, v.desc.shape.clone(), v.desc.dtype)
    };
    program.outputs.iter().enumerate().map(array).collect()
}
