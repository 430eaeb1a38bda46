//! Fully-connected layers in training: the output and both gradients.

use super::{MatrixProblem, MatrixProduct, Order};
use crate::convolve::Convolve;
use crate::direct::dense::DenseProblem;
use crate::epilogue::Epilogue;
use crate::gradients::Gradient;
use crate::kernel::ConvKernel;
use crate::layouts::NAME;
use mxrs_op::{OpCall, PlannedKernel};
use mxrs_processor::Isa;
use mxrs_types::{DType, Layout};
use std::sync::Arc;

/// Time of a gradient relative to a vendor library.
const COST: f64 = 1.1;

/// The product that computes the output of a layer whose weights are not packed: `[rows][steps]` by `[outputs][steps]`.
pub fn forward(p: DenseProblem, isa: Isa, threads: usize) -> MatrixProduct {
    let DenseProblem { rows, steps, outputs } = p;
    let problem = MatrixProblem { rows, columns: outputs, steps, left: Order::StepsInside, right: Order::StepsInside };
    MatrixProduct::new(problem, isa, threads)
}

/// Returns the gradient of a call, or the reason why there is none. Returns `None` if the call is not a gradient of a
/// fully-connected layer.
pub fn gradient<'a>(call: &'a OpCall<'a>, isa: Isa, threads: usize) -> Option<Result<Gradient<'a>, String>> {
    let problem: fn(Layer) -> MatrixProblem = match call.op.name {
        // Gradient of the output `[rows][outputs]` by weights `[outputs][inputs]`.
        "_backward_FullyConnected_data" => |layer| MatrixProblem {
            rows: layer.rows,
            columns: layer.inputs,
            steps: layer.outputs,
            left: Order::StepsInside,
            right: Order::StepsOutside,
        },
        // Gradient of the output `[rows][outputs]` by data `[rows][inputs]`: the sums are over the rows.
        "_backward_FullyConnected_weight" => |layer| MatrixProblem {
            rows: layer.outputs,
            columns: layer.inputs,
            steps: layer.rows,
            left: Order::StepsOutside,
            right: Order::StepsOutside,
        },
        _ => return None,
    };
    Some(Layer::of(call).map(|layer| {
        let problem = problem(layer);
        Gradient { cost: COST, build: Box::new(move || Ok(planned(call, problem, isa, threads))) }
    }))
}

/// Sizes of a layer.
#[derive(Clone, Copy)]
struct Layer {
    rows: usize,
    inputs: usize,
    outputs: usize,
}

impl Layer {
    fn of(call: &OpCall<'_>) -> Result<Self, String> {
        let ([ograd, ..], Some(out)) = (call.inputs, call.outputs.first()) else {
            return Err("the call lacks tensors".into());
        };
        let mut tensors = call.inputs.iter().chain(call.outputs);
        if let Some(other) = tensors.clone().find(|t| t.dtype != DType::F32) {
            return Err(format!("no kernel for {}", other.dtype));
        }
        if tensors.any(|t| t.shape.n_elements() == 0) {
            return Err("no kernel for tensors without elements".into());
        }
        let weight = if call.op.name.ends_with("_weight") { Some(out) } else { call.inputs.get(1) };
        let weight = weight.ok_or("the call lacks a weight")?;
        let [outputs, inputs] = weight.shape[..] else {
            return Err(format!("no kernel for weights of shape {}", weight.shape));
        };
        Ok(Self { rows: ograd.shape.n_elements() / outputs, inputs, outputs })
    }
}

fn planned(call: &OpCall<'_>, problem: MatrixProblem, isa: Isa, threads: usize) -> PlannedKernel {
    let product = MatrixProduct::new(problem, isa, threads);
    PlannedKernel {
        input_layouts: vec![Layout::RowMajor; call.inputs.len()],
        output_layouts: vec![Layout::RowMajor],
        scratch_bytes: product.scratch_bytes(),
        can_run_inplace: false,
        kernel: Arc::new(ConvKernel {
            name: format!("{NAME}:matrix_product:{}:{threads}", isa.name()),
            algorithm: Arc::new(product),
            epilogue: Epilogue::plain(true),
            dtype: DType::F32,
        }),
    }
}
