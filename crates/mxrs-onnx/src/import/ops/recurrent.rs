//! Import of recurrent layers as `RNN` with one layer.
//!
//! ONNX has a weight of the input, one of the state and a bias, each with an axis of directions, and its gates are in another
//! order than those of MXNet. MXNet has one vector of all parameters. So the weights and biases are cut into gates, which are
//! concatenated in MXNet's order. Binding computes this once if the weights are constants.

use crate::import::node::{Answer, Reading, flag, tuple};
use crate::refusal::{Refusal, refuse};
use mxrs_graph::Entry;
use mxrs_types::{DType, PartialShape};

/// How an operator of ONNX is expressed.
struct Cell {
    /// The mode of `RNN`.
    mode: &'static str,
    /// Number of gates.
    n_gates: i64,
    /// ONNX's gates in the order of MXNet: the first and the end of each group of neighbors.
    order: &'static [[i64; 2]],
    /// The activation functions that `RNN` has, in the order of ONNX.
    activations: &'static [&'static str],
}

/// ONNX has the input, output, forget and cell gates; MXNet has input, forget, cell, output.
const LSTM: Cell =
    Cell { mode: "lstm", n_gates: 4, order: &[[0, 1], [2, 4], [1, 2]], activations: &["Sigmoid", "Tanh", "Tanh"] };
/// ONNX has the update, reset and hidden gates; MXNet has reset, update, hidden.
const GRU: Cell = Cell { mode: "gru", n_gates: 3, order: &[[1, 2], [0, 1], [2, 3]], activations: &["Sigmoid", "Tanh"] };
const TANH: Cell = Cell { mode: "rnn_tanh", n_gates: 1, order: &[[0, 1]], activations: &["Tanh"] };
const RELU: Cell = Cell { mode: "rnn_relu", n_gates: 1, order: &[[0, 1]], activations: &["Relu"] };

/// The largest number of hidden units. With it, products of sizes do not overflow.
const MOST_HIDDEN: i64 = 1 << 20;

/// Imports `LSTM`.
pub(crate) fn lstm(node: &mut Reading<'_, '_>) -> Answer {
    node.require_int("input_forget", 0)?;
    if node.has_input(7) {
        return refuse("weights of peepholes are not read");
    }
    recurrent(node, &LSTM)
}

/// Imports `GRU` whose reset gate is applied after the product of the state, as in MXNet and PyTorch.
pub(crate) fn gru(node: &mut Reading<'_, '_>) -> Answer {
    if node.int("linear_before_reset", 0)? == 0 {
        return refuse(
            "a reset gate that is applied before the product of the state (`linear_before_reset` 0) is not read",
        );
    }
    recurrent(node, &GRU)
}

/// Imports `RNN`.
pub(crate) fn rnn(node: &mut Reading<'_, '_>) -> Answer {
    let is_relu = node.texts("activations")?.is_some_and(|names| names.first().is_some_and(|name| name == "Relu"));
    recurrent(node, if is_relu { &RELU } else { &TANH })
}

fn recurrent(node: &mut Reading<'_, '_>, cell: &Cell) -> Answer {
    node.require_int("layout", 0)?;
    // The activation functions that are read have no parameters.
    node.ignore(&["activation_alpha", "activation_beta"]);
    let direction = node.text("direction")?.unwrap_or_else(|| "forward".into());
    let n_directions: usize = match direction.as_str() {
        "forward" | "reverse" => 1,
        "bidirectional" => 2,
        other => return refuse(format!("direction {other}")),
    };
    if let Some(names) = node.texts("activations")?
        && names != cell.activations.repeat(n_directions)
    {
        return refuse(format!("activation functions {}", names.join(", ")));
    }
    let (data, weight, of_state) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    let sizes = node.shape(data);
    if let Some(lengths) = node.constant_ints(4)? {
        let Some(n_steps) = sizes.dim(0) else {
            return node.unknown(data, "its input, which has the number of steps,");
        };
        if lengths.iter().any(|length| *length != n_steps as i64) {
            return refuse("sequences that are not as long as the data are not read");
        }
    }
    let known = node.shape(of_state).dim(2).map(|n| n as i64);
    let hidden = node.int("hidden_size", known.unwrap_or(0))?;
    if hidden == 0 && known.is_none() {
        return node.unknown(of_state, "the weight of its state");
    }
    if !(1..=MOST_HIDDEN).contains(&hidden) {
        return refuse(format!("{hidden} hidden units"));
    }
    check_sizes(node, cell, [n_directions, hidden as usize])?;
    let dtype = node.dtype(weight).unwrap_or(DType::F32);
    let parameters = parameters(node, cell, [weight, of_state], [n_directions as i64, hidden], dtype)?;
    let mut inputs = vec![data, parameters];
    let n_states = if cell.mode == "lstm" { 2 } else { 1 };
    // A size of 0 is unknown, and follows from the data when the graph is bound.
    let batch = sizes.dim(1).map_or(0, |n| n as i64);
    for index in 5..5 + n_states {
        inputs.push(match node.has_input(index) {
            true => node.operand(index)?,
            false => zeros(node, &[n_directions as i64, batch, hidden], dtype)?,
        });
    }
    let (n_wanted, is_reverse) = (node.n_wanted(), direction == "reverse");
    let turned = |node: &mut Reading<'_, '_>, entry: Entry| match is_reverse {
        true => node.call("reverse", &[("axis", tuple(&[0]))], vec![entry]),
        false => Ok(entry),
    };
    inputs[0] = turned(node, data)?;
    let attrs = [
        ("mode", cell.mode.to_owned()),
        ("state_size", hidden.to_string()),
        ("num_layers", "1".into()),
        ("bidirectional", flag(n_directions == 2)),
        ("state_outputs", flag(n_wanted > 1)),
    ];
    let out = node.call("RNN", &attrs, inputs)?;
    for index in (1..=n_states).take_while(|index| *index < n_wanted) {
        node.set_output(index, node.output_of(out, index as u32));
    }
    let out = turned(node, out)?;
    // MXNet has the directions next to each other in the last axis, ONNX in an axis of their own.
    if n_directions == 1 {
        return node.call("expand_dims", &[("axis", "1".into())], vec![out]);
    }
    let apart = node.call("Reshape", &[("shape", tuple(&[0, 0, 2, hidden]))], vec![out])?;
    node.call("transpose", &[("axes", "(0, 2, 1, 3)".into())], vec![apart])
}

/// Checks the sizes of the weights and of the bias, as far as they are known. Otherwise, gates that do not exist would be cut.
fn check_sizes(node: &mut Reading<'_, '_>, cell: &Cell, [n_directions, hidden]: [usize; 2]) -> Result<(), Refusal> {
    let n_rows = cell.n_gates as usize * hidden;
    let of_weight = |columns| PartialShape::new([Some(n_directions), Some(n_rows), columns]);
    let bias = PartialShape::new([Some(n_directions), Some(2 * n_rows)]);
    for (index, expected) in [(1, of_weight(None)), (2, of_weight(Some(hidden))), (3, bias)] {
        if !node.has_input(index) {
            continue;
        }
        let entry = node.operand(index)?;
        let shape = node.shape(entry);
        if expected.clone().merge(&shape).is_err() {
            return refuse(format!("input {index} of shape {shape}, expected {expected}"));
        }
    }
    Ok(())
}

/// The vector of parameters: for each direction the weights of the input and of the state, then for each direction their biases.
fn parameters(
    node: &mut Reading<'_, '_>,
    cell: &Cell,
    weights: [Entry; 2],
    [n_directions, hidden]: [i64; 2],
    dtype: DType,
) -> Answer {
    let n_rows = cell.n_gates * hidden;
    let mut parts = Vec::new();
    for direction in 0..n_directions {
        for weight in weights {
            push_gates(node, &mut parts, cell, weight, [direction, 0, hidden])?;
        }
    }
    if node.has_input(3) {
        let bias = node.operand(3)?;
        for direction in 0..n_directions {
            for start in [0, n_rows] {
                push_gates(node, &mut parts, cell, bias, [direction, start, hidden])?;
            }
        }
    } else {
        parts.push(zeros(node, &[n_directions * 2 * n_rows], dtype)?);
    }
    node.call("Concat", &[("dim", "0".into()), ("num_args", parts.len().to_string())], parts)
}

/// Appends the gates of one direction of a weight or bias, each as a vector, in MXNet's order. The first gate begins at `start`
/// of axis 1.
fn push_gates(
    node: &mut Reading<'_, '_>,
    parts: &mut Vec<Entry>,
    cell: &Cell,
    from: Entry,
    [direction, start, hidden]: [i64; 3],
) -> Result<(), Refusal> {
    for [first, end] in cell.order {
        let ends = [
            ("begin", tuple(&[direction, start + first * hidden])),
            ("end", tuple(&[direction + 1, start + end * hidden])),
        ];
        let part = node.call("slice", &ends, vec![from])?;
        parts.push(node.call("Reshape", &[("shape", tuple(&[-1]))], vec![part])?);
    }
    Ok(())
}

fn zeros(node: &mut Reading<'_, '_>, sizes: &[i64], dtype: DType) -> Answer {
    node.call("_zeros", &[("shape", tuple(sizes)), ("dtype", dtype.name().into())], Vec::new())
}
