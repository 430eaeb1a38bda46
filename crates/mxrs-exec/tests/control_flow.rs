//! Tests loops and branches. Outputs and gradients are compared with those of MXNet 1.9.1, which
//! `tests/mxnet/make_control_flow.py` recorded, for every way to run a graph. Broken graphs must be refused.

mod common;
#[path = "control_flow/composed.rs"]
mod composed;
#[path = "control_flow/hostile.rs"]
mod hostile;
#[path = "control_flow/recorded.rs"]
mod recorded;
#[path = "control_flow/ways.rs"]
mod ways;

use mxrs_graph::Graph;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_symbol::{Registry, graph_from_bytes};
use mxrs_types::{Result, Shape};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Tensor {
    shape: Vec<usize>,
    values: Vec<f32>,
}

impl Tensor {
    fn array(&self, context: &ArrayContext) -> NdArray {
        NdArray::from_slice(context, Shape::from(self.shape.as_slice()), &self.values)
            .expect("as many values as the shape")
    }

    fn shape(&self) -> Shape {
        Shape::from(self.shape.as_slice())
    }
}

/// A recorded graph with its numbers.
#[derive(Deserialize)]
struct Case {
    name: String,
    symbol: String,
    inputs: BTreeMap<String, Tensor>,
    outputs: Vec<Tensor>,
    head_grads: Vec<Tensor>,
    gradients: BTreeMap<String, Tensor>,
    /// Indices of the outputs that have a row for each step of a while loop. Of these outputs, only the rows of the steps
    /// that ran are recorded.
    #[serde(default)]
    stacked: Vec<usize>,
}

#[derive(Deserialize)]
struct Recording {
    cases: Vec<Case>,
}

fn cases() -> Vec<Case> {
    let recording: Recording = serde_json::from_str(include_str!("golden/control_flow.json")).expect("a recording");
    recording.cases
}

fn case(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).expect("a recorded case")
}

fn read(text: &str) -> Result<Graph> {
    let ops = mxrs_ops::catalog();
    graph_from_bytes(text.as_bytes(), &Registry::new(&ops), &Default::default()).map(|loaded| loaded.value)
}

impl Case {
    fn graph(&self) -> Graph {
        read(&self.symbol).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    fn shapes(&self) -> Vec<(&str, Shape)> {
        self.inputs.iter().map(|(name, tensor)| (name.as_str(), tensor.shape())).collect()
    }

    /// Compares outputs with the recorded ones. Rows after the last step of a while loop must be 0.
    fn check_outputs(&self, outputs: &[NdArray], what: &str) {
        assert_eq!(outputs.len(), self.outputs.len(), "{}: {what}", self.name);
        for (i, (got, expected)) in outputs.iter().zip(&self.outputs).enumerate() {
            let what = format!("{}: {what}: output {i}", self.name);
            assert_eq!(*got.shape(), expected.shape(), "{what}");
            let got = got.to_vec::<f32>().unwrap_or_else(|e| panic!("{what}: {e}"));
            let (taken, others) = got.split_at(expected.values.len());
            close(taken, &expected.values, &what);
            assert!(others.iter().all(|v| *v == 0.0), "{what}: {others:?} behind the last step");
            assert!(others.is_empty() || self.stacked.contains(&i), "{what}");
        }
    }

    fn check_gradient(&self, name: &str, got: &NdArray, what: &str) {
        let what = format!("{}: {what}: gradient of {name}", self.name);
        close(&got.to_vec::<f32>().unwrap_or_else(|e| panic!("{what}: {e}")), &self.gradients[name].values, &what);
    }
}

/// Compares with a tolerance, because MXNet adds up float32 numbers in another order.
fn close(got: &[f32], expected: &[f32], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (i, (g, e)) in got.iter().zip(expected).enumerate() {
        assert!((g - e).abs() <= 2e-5 * (1.0 + e.abs()), "{what}[{i}]: {g}, MXNet {e}");
    }
}
