//! Taps: the tensors of a program that a monitor can get. They are the inputs and visible outputs of every node, with
//! MXNet's names.

use crate::choose::choose_reorder;
use crate::device::backends_on;
use crate::options::BindOptions;
use crate::program::{Program, Step, ValueId};
use mxrs_graph::{Graph, Node};
use mxrs_op::Kernel;
use mxrs_types::{DType, Device, Layout, Result, ResultExt, Shape};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// One tensor that a step reads or makes, and how to copy it for a monitor.
#[derive(Clone)]
pub struct Tap {
    /// Name of the tensor, such as `fc1_output` or `fc1_weight`.
    pub name: String,
    /// Operator of the node.
    pub op: String,
    /// Whether the tensor is an input of the step; an output otherwise.
    pub is_input: bool,
    /// Position of the tensor among the step's inputs or outputs.
    pub position: usize,
    /// Shape of the tensor.
    pub shape: Shape,
    /// Element type of the tensor.
    pub dtype: DType,
    /// The device of the tensor.
    pub device: Device,
    /// A kernel that copies the tensor to row-major order; `None` if it is in that order.
    pub reorder: Option<Arc<dyn Kernel>>,
}

/// The taps of every step, inputs first. Copies between layouts have no taps. A step that makes a sum in place shows the
/// sum. A step that replaces several nodes of `graph` shows its own name and all its outputs. An input in a layout that no
/// backend copies from, such as a packed weight, has no tap.
///
/// # Errors
/// Returns an error if an output is in a layout that no backend copies from.
pub fn taps<'a>(graph: &'a Graph, program: &'a Program, options: &BindOptions) -> Result<Vec<Vec<Tap>>> {
    let mut nodes: FxHashMap<(&str, &str), VecDeque<&Node>> = FxHashMap::default();
    for node in graph.nodes() {
        nodes.entry((&node.name, node.op_name())).or_default().push_back(node);
    }
    let of = |(at, step): (usize, &'a Step)| {
        if step.op == REORDER {
            return Ok(Vec::new());
        }
        let node = nodes.get_mut(&(step.name.as_str(), step.op.as_str())).and_then(VecDeque::pop_front);
        of_step(node, program, at, options).context(|| format!("monitoring `{}`", step.name))
    };
    program.steps.iter().enumerate().map(of).collect()
}

/// The operator name of the copies that lowering inserts.
const REORDER: &str = "reorder";

fn of_step(node: Option<&Node>, program: &Program, at: usize, options: &BindOptions) -> Result<Vec<Tap>> {
    let step = &program.steps[at];
    let tap = |name: String, op: &str, is_input: bool, position: usize, value: ValueId| {
        let (desc, device) = (&program.values[value].desc, program.values[value].device);
        let backends = backends_on(options, device);
        let reorder = match desc.layout.is_row_major() {
            true => None,
            false => Some(choose_reorder(&backends, desc, &desc.with_layout(Layout::RowMajor))?.1),
        };
        let (shape, dtype) = (desc.shape.clone(), desc.dtype);
        Ok(Tap { name, op: op.to_owned(), is_input, position, shape, dtype, device, reorder })
    };
    let mut taps = Vec::new();
    let names = node.and_then(Node::call).map(|(op, params)| op.input_names(params)).unwrap_or_default();
    // If the step makes the sum of a left-out addition, its last input is the other term, which is not an input of its
    // node.
    let n_inputs = step.inputs.len() - program.left_out.iter().filter(|left| left.step == at).count();
    for (position, &value) in step.inputs.iter().enumerate().take(n_inputs) {
        if step.ignored_inputs.contains(&position) {
            continue;
        }
        let input = names.get(position).cloned().unwrap_or_else(|| position.to_string());
        // A packed constant may be in a layout that only its kernel reads. Such an input has no tap.
        if let Ok(tap) = tap(format!("{}_{input}", step.name), &step.op, true, position, value) {
            taps.push(tap);
        }
    }
    let n_plain = step.outputs.len() - step.n_rewrites;
    let n_visible = node.map_or(n_plain, |node| node.n_visible);
    for (position, &value) in step.outputs.iter().enumerate().take(n_visible) {
        taps.push(match (program.addition_at(at, position), node) {
            (Some((name, op)), _) => tap(format!("{name}_output"), op, false, position, value)?,
            (None, Some(node)) => tap(node.output_name(position), &step.op, false, position, value)?,
            (None, None) if n_plain == 1 => tap(format!("{}_output", step.name), &step.op, false, position, value)?,
            (None, None) => tap(format!("{}_output{position}", step.name), &step.op, false, position, value)?,
        });
    }
    Ok(taps)
}
