//! Runs the library Candle as a peer, with Candle's evaluator of ONNX graphs. The evaluator reads the weights from the
//! decoded ONNX file again in every run.

use anyhow::{Context, Result, ensure};
use candle_core::{Device, Tensor};
use candle_onnx::onnx::ModelProto;
use mxrs_peers::serve::{Load, Network, serve};
use std::collections::HashMap;

fn main() -> Result<()> {
    serve("Candle 0.11", |load| Ok(Box::new(Graph::new(load)?)))
}

struct Graph {
    model: ModelProto,
    inputs: HashMap<String, Tensor>,
    input: String,
    output: String,
    shape: Vec<usize>,
}

impl Graph {
    fn new(load: &Load) -> Result<Self> {
        ensure!(load.mode == "inference", "it does not train");
        ensure!(load.dtype == "float32", "its evaluator runs a file as it is, in float32");
        let model = candle_onnx::read_file(&load.onnx)?;
        let graph = model.graph.as_ref().context("the file has no graph")?;
        let is_weight = |name: &str| graph.initializer.iter().any(|weight| weight.name == name);
        let input = graph.input.iter().find(|input| !is_weight(&input.name)).context("no input")?.name.clone();
        let output = graph.output.first().context("no output")?.name.clone();
        Ok(Self { model, inputs: HashMap::new(), input, output, shape: load.shape.clone() })
    }

    fn evaluate(&self) -> Result<Tensor> {
        let mut outputs = candle_onnx::simple_eval(&self.model, self.inputs.clone())?;
        outputs.remove(&self.output).context("the output is not there")
    }
}

impl Network for Graph {
    fn run(&mut self) -> Result<()> {
        self.evaluate().map(drop)
    }

    fn answer(&mut self, batch: &[f32]) -> Result<Vec<f32>> {
        let batch = Tensor::from_slice(batch, self.shape.as_slice(), &Device::Cpu)?;
        self.inputs.insert(self.input.clone(), batch);
        Ok(self.evaluate()?.flatten_all()?.to_vec1()?)
    }
}
