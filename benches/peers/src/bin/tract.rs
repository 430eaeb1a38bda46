//! Runs the library tract as a peer: its optimized plan, with matrix products on several threads.

use anyhow::{Context, Result, ensure};
use mxrs_peers::serve::{Load, Network, serve};
use std::sync::Arc;
use tract_linalg::multithread::{Executor, set_default_executor};
use tract_onnx::prelude::*;

fn main() -> Result<()> {
    serve("tract 0.23", |load| Ok(Box::new(Plan::new(load)?)))
}

struct Plan {
    plan: Arc<TypedRunnableModel>,
    shape: Vec<usize>,
    batch: Option<Tensor>,
}

impl Plan {
    fn new(load: &Load) -> Result<Self> {
        ensure!(load.mode == "inference", "it does not train");
        ensure!(load.dtype == "float32", "it has no kernels for {}", load.dtype);
        set_default_executor(if load.threads > 1 {
            Executor::multithread(load.threads)
        } else {
            Executor::SingleThread
        });
        let model = tract_onnx::onnx().model_for_path(&load.onnx)?;
        let model = model.with_input_fact(0, f32::fact(&load.shape).into())?;
        Ok(Self { plan: model.into_optimized()?.into_runnable()?, shape: load.shape.clone(), batch: None })
    }

    fn evaluate(&self) -> Result<TVec<TValue>> {
        let batch = self.batch.clone().context("no batch was given")?;
        self.plan.run(tvec!(batch.into()))
    }
}

impl Network for Plan {
    fn run(&mut self) -> Result<()> {
        self.evaluate().map(drop)
    }

    fn answer(&mut self, batch: &[f32]) -> Result<Vec<f32>> {
        self.batch = Some(Tensor::from_shape(&self.shape, batch)?);
        let outputs = self.evaluate()?;
        let output = outputs.first().context("no output")?;
        Ok(output.to_plain_array_view::<f32>()?.iter().copied().collect())
    }
}
