//! Where a program can be listened to: inputs and visible outputs of every node, by MXNet's names.

use crate::choose::choose_reorder;
use crate::options::BindOptions;
use crate::program::{Program, Step, ValueId};
use mxrs_graph::{Graph, Node};
use mxrs_op::Kernel;
use mxrs_types::{DType, Layout, Result, ResultExt, Shape};
use std::sync::Arc;

/// One tensor that a step reads or makes.
#[derive(Clone)]
pub struct Tap {
    /// `fc1_output`, `fc1_weight`.
    pub name: String,
    /// Operator of the node.
    pub op: String,
    /// Whether the step reads it.
    pub is_input: bool,
    /// Its position among the step's inputs or outputs.
    pub position: usize,
    /// Its shape.
    pub shape: Shape,
    /// Its element type.
    pub dtype: DType,
    /// Copies it to row-major order, where it is in another.
    pub reorder: Option<Arc<dyn Kernel>>,
}

/// The taps of every step, inputs first. Steps that are no node (copies between layouts) have none; a step that makes a
/// sum in place shows the sum.
///
/// # Errors
/// A layout that no backend copies from.
pub fn taps(graph: &Graph, program: &Program, options: &BindOptions) -> Result<Vec<Vec<Tap>>> {
    let mut taps: Vec<Vec<Tap>> = program.steps.iter().map(|_| Vec::new()).collect();
    let mut next = 0;
    // Steps are in the order of their nodes; some nodes have none.
    for node in graph.nodes() {
        let is_of = |step: &Step| step.name == node.name && step.op == node.op_name();
        if let Some(ahead) = program.steps[next..].iter().position(is_of) {
            let at = next + ahead;
            next = at + 1;
            taps[at] = of_step(node, program, at, options).context(|| format!("monitoring `{}`", node.name))?;
        }
    }
    Ok(taps)
}

fn of_step(node: &Node, program: &Program, at: usize, options: &BindOptions) -> Result<Vec<Tap>> {
    let step = &program.steps[at];
    let tap = |name: String, op: &str, is_input: bool, position: usize, value: ValueId| {
        let desc = &program.values[value].desc;
        let reorder = match desc.layout.is_row_major() {
            true => None,
            false => Some(choose_reorder(&options.backends, desc, &desc.with_layout(Layout::RowMajor))?.1),
        };
        let (shape, dtype) = (desc.shape.clone(), desc.dtype);
        Ok(Tap { name, op: op.to_owned(), is_input, position, shape, dtype, reorder })
    };
    let mut taps = Vec::new();
    let names = node.call().map(|(op, params)| op.input_names(params)).unwrap_or_default();
    for (position, &value) in step.inputs.iter().enumerate() {
        if step.ignored_inputs.contains(&position) {
            continue;
        }
        let input = names.get(position).cloned().unwrap_or_else(|| position.to_string());
        taps.push(tap(format!("{}_{input}", node.name), &step.op, true, position, value)?);
    }
    for (position, &value) in step.outputs.iter().enumerate().take(node.n_visible) {
        taps.push(match program.sums.iter().find(|sum| (sum.step, sum.output) == (at, position)) {
            Some(sum) => tap(format!("{}_output", sum.name), &sum.op, false, position, value)?,
            None => tap(node.output_name(position), &step.op, false, position, value)?,
        });
    }
    Ok(taps)
}
